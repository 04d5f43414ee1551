//! Persistent connections, each used by one coroutine at a time.
//!
//! Extensions keep them in `EG(persistent_list)` under keys made of the arguments of the call that requests one, and
//! return an entry to any caller, in use or not. Here each such request (a hash of the call's arguments) has
//! *partitions* of that list, each with a connection of its own. A partition belongs to the first coroutine that
//! requests it as long as any handle on its connection is alive. One partition is the engine's list as it is. The
//! entries of the others are in the list under keys with a mark, which no extension looks up; during a call for such a
//! partition the marks are exchanged (a [`View`]). All entries stay in the one list because code that closes a
//! connection searches it.
//!
//! Requests with other arguments may have the same key (an empty text for null, another timeout). So what is in the engine's list
//! as it is belongs, for each extension, to one coroutine at a time.

use crate::c;
use crate::isolation::calls::{self, CallState};
use crate::runtime::scheduler::{self, Core, Runtime};
use spindle_zend::{PhpStatic, Resource, Text};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::rc::{Rc, Weak};

/// The prefix of all marks.
const MARK: &CStr = c"\x01spindle ";
/// The mark of entries of the engine's own list, during a view of another partition.
const HIDDEN: &CStr = c"\x01spindle hidden";

/// A request for a persistent connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Asked {
    /// Which extension is asked, as a hash: those that may have the same entries of the list.
    pub(crate) of: u64,
    /// For what, as a hash.
    pub(crate) what: u64,
}

struct Partition {
    asked: Asked,
    /// Whether its entries have a mark: all but those of the engine's own list.
    is_marked: bool,
    owner: u64,
    /// The number of handles on it, and of calls that request one.
    users: usize,
    /// Streams on it: their numbers and addresses.
    streams: Vec<(i64, usize)>,
}

impl Partition {
    fn is_in_use(&self) -> bool {
        self.users > 0 || !self.streams.is_empty()
    }
}

static PARTITIONS: PhpStatic<RefCell<Vec<Partition>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// A call during which the engine's list shows the entries of one partition.
struct View {
    this: Weak<View>,
    mark: CString,
    /// The outer view of the same coroutine. Only the entries of the innermost one are shown.
    outer: Option<Rc<View>>,
    is_innermost: Cell<bool>,
}

/// Returns the index of a group's partition. The ids of such groups are odd, which no handle's address is.
fn index(group: usize) -> Option<usize> {
    (group & 1 == 1).then_some(group >> 1)
}

/// Takes a partition for a request: the running coroutine's own, or one that is not in use. Returns its group id.
/// [`remove_user`] has to be called at the call's end.
pub(crate) fn take(asked: Asked) -> usize {
    let me = scheduler::existing().map_or(Core::MAIN_ID, Runtime::owner_id);
    let mut partitions = PARTITIONS.borrow_mut();
    for partition in partitions.iter_mut() {
        partition.streams.retain(|(number, address)| is_open(*number, *address));
    }
    let is_list_free = is_list_free(&partitions, asked.of, me);
    let find = |wanted: &dyn Fn(&Partition) -> bool| partitions.iter().position(|p| p.asked == asked && wanted(p));
    let found = find(&|p| p.is_in_use() && p.owner == me)
        .or_else(|| find(&|p| !p.is_in_use() && (p.is_marked || is_list_free)));
    let is_marked = !is_list_free || find(&|p| !p.is_marked).is_some();
    let at = found.unwrap_or_else(|| {
        partitions.push(Partition { asked, is_marked, owner: me, users: 0, streams: Vec::new() });
        partitions.len() - 1
    });
    partitions[at].owner = me;
    partitions[at].users += 1;
    at << 1 | 1
}

/// Returns `true` if what an extension has in the list as it is may be used by this coroutine, because no other one does.
fn is_list_free(partitions: &[Partition], of: u64, owner: u64) -> bool {
    !partitions.iter().any(|p| p.asked.of == of && !p.is_marked && p.is_in_use() && p.owner != owner)
}

fn is_open(number: i64, address: usize) -> bool {
    Resource::find(number, |resource| resource.address() == address && resource.is_open()).unwrap_or(false)
}

/// Calls `change` with the partition of a group, if the group is that of a persistent connection.
fn change(group: usize, change: impl FnOnce(&mut Partition)) {
    if let Some(at) = index(group)
        && let Some(partition) = PARTITIONS.borrow_mut().get_mut(at)
    {
        change(partition);
    }
}

/// Counts one more user, if the group is that of a persistent connection.
pub(crate) fn add_user(group: usize) {
    change(group, |partition| partition.users += 1);
}

/// Counts one user fewer.
pub(crate) fn remove_user(group: usize) {
    change(group, |partition| partition.users = partition.users.saturating_sub(1));
}

/// Adds a stream, which uses the partition until it is closed.
pub(crate) fn add_stream(group: usize, stream: &Resource) {
    let known = (stream.number(), stream.address());
    change(group, |partition| {
        if !partition.streams.contains(&known) {
            partition.streams.push(known);
        }
    });
}

/// Runs `body`, which may look up its connection in the engine's list or add it there, with a view of its partition.
pub(crate) fn with_view(group: usize, body: impl FnOnce()) {
    let is_marked =
        index(group).is_some_and(|at| PARTITIONS.borrow().get(at).is_some_and(|partition| partition.is_marked));
    if !is_marked {
        return body();
    }
    let view = View::open(group);
    // If a bailout jumps over this, `restore_list` closes the view.
    calls::during(&*view, body);
    view.close();
}

/// The view of the running code.
static INNERMOST: PhpStatic<RefCell<Option<Rc<View>>>> = PhpStatic::new(RefCell::new(None));

impl View {
    fn open(group: usize) -> Rc<View> {
        let outer = INNERMOST.borrow().clone();
        if let Some(outer) = &outer {
            outer.hide();
            outer.is_innermost.set(false);
        }
        let mark = CString::new([MARK.to_bytes(), group.to_string().as_bytes()].concat()).unwrap_or_default();
        let is_innermost = Cell::new(true);
        let view = Rc::new_cyclic(|this| View { this: this.clone(), mark, outer, is_innermost });
        view.show();
        INNERMOST.replace(Some(view.clone()));
        view
    }

    fn close(&self) {
        self.hide();
        if let Some(outer) = &self.outer {
            outer.show();
            outer.is_innermost.set(true);
        }
        INNERMOST.replace(self.outer.clone());
    }

    /// Shows the entries of its partition in the engine's list.
    fn show(&self) {
        swap_marks(&self.mark, HIDDEN);
    }

    /// Hides the entries of its partition.
    fn hide(&self) {
        swap_marks(HIDDEN, &self.mark);
    }
}

/// Removes the mark `shown` from the keys that have it, and adds `hidden` to the keys without a mark.
fn swap_marks(shown: &CStr, hidden: &CStr) {
    c::spindle_list_show(Text::of(shown), Text::of(hidden), Text::of(MARK));
}

impl CallState for View {
    fn suspend(&self) {
        if self.is_innermost.get() {
            self.hide();
            INNERMOST.take();
        }
    }

    fn resume(&self) {
        if self.is_innermost.get() {
            self.show();
            INNERMOST.replace(self.this.upgrade());
        }
    }
}

/// Closes the view of a call that was abandoned in its middle, at the script's end.
pub fn restore_list() {
    if let Some(innermost) = INNERMOST.take() {
        innermost.hide();
    }
}

/// Closes the connections of marked partitions after the request's objects were freed, because no later call would find
/// them.
pub fn forget_all() {
    let partitions = PARTITIONS.take();
    if partitions.iter().any(|partition| partition.is_marked) {
        c::spindle_list_drop(Text::of(MARK));
    }
}
