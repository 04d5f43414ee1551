//! Persistent connections, each of one coroutine at a time.
//!
//! Extensions keep them in `EG(persistent_list)`, by what the call that asks for one names, and return the one that they find
//! there to any caller, in use or not. Here what is asked for (a hash of the call's arguments) has *partitions* of that list,
//! each with a connection of its own, that belong to the coroutine that asked first for as long as any handle on it is alive.
//! The first partition is the engine's list as it is. The entries of the others are in the list under keys with a mark, which
//! no extension looks for; while a call for such a partition runs, it is the other way round (a [`View`]). All stay in the one
//! list, for the code that closes a connection looks through it.

use crate::c;
use crate::isolation::calls::{self, CallState};
use crate::runtime::scheduler::{self, Core};
use spindle_zend::{PhpStatic, Resource, Text};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::rc::{Rc, Weak};

/// What all marks begin with.
const MARK: &CStr = c"\x01spindle ";
/// The mark of the engine's own list, while the entries of another partition have none.
const HIDDEN: &CStr = c"\x01spindle hidden";

struct Partition {
    asked: u64,
    /// It is not the engine's own list.
    is_marked: bool,
    owner: u64,
    /// Handles on it, and calls that ask for one.
    users: usize,
    /// Streams on it, by number and address.
    streams: Vec<(i64, usize)>,
}

static PARTITIONS: PhpStatic<RefCell<Vec<Partition>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// A call during which the engine's list shows the entries of one partition.
struct View {
    this: Weak<View>,
    mark: CString,
    /// The one that it is within, of the same coroutine. Only the innermost has its entries shown.
    outer: Option<Rc<View>>,
    is_innermost: Cell<bool>,
}

/// Returns the number of the partition that a group is on. The ids of such groups are odd, as no handle's address is.
fn index(group: usize) -> Option<usize> {
    (group & 1 == 1).then_some(group >> 1)
}

/// Takes a partition for what is asked for: the running coroutine's own, or one that is not in use. Returns the id of its
/// group; [`unused`] when the call is over.
pub(crate) fn take(asked: u64) -> usize {
    let me = scheduler::existing().map_or(Core::MAIN_ID, |rt| {
        let core = rt.core.borrow();
        core.id(core.running())
    });
    let mut partitions = PARTITIONS.borrow_mut();
    for partition in partitions.iter_mut() {
        partition.streams.retain(|(number, address)| is_open(*number, *address));
    }
    let in_use = |partition: &Partition| partition.users > 0 || !partition.streams.is_empty();
    let find = |wanted: &dyn Fn(&Partition) -> bool| partitions.iter().position(|p| p.asked == asked && wanted(p));
    let found = find(&|p| in_use(p) && p.owner == me).or_else(|| find(&|p| !in_use(p)));
    let at = found.unwrap_or_else(|| {
        let is_marked = partitions.iter().any(|partition| partition.asked == asked);
        partitions.push(Partition { asked, is_marked, owner: me, users: 0, streams: Vec::new() });
        partitions.len() - 1
    });
    partitions[at].owner = me;
    partitions[at].users += 1;
    at << 1 | 1
}

fn is_open(number: i64, address: usize) -> bool {
    Resource::find(number, |resource| resource.address() == address && resource.is_open()).unwrap_or(false)
}

/// Calls `change` with the partition of a group, if it is one of a persistent connection.
fn change(group: usize, change: impl FnOnce(&mut Partition)) {
    if let Some(at) = index(group)
        && let Some(partition) = PARTITIONS.borrow_mut().get_mut(at)
    {
        change(partition);
    }
}

/// Counts one more handle, if the group is one of a persistent connection.
pub(crate) fn used(group: usize) {
    change(group, |partition| partition.users += 1);
}

/// Counts one handle less.
pub(crate) fn unused(group: usize) {
    change(group, |partition| partition.users = partition.users.saturating_sub(1));
}

/// A stream is on it: it uses the partition until it is closed.
pub(crate) fn used_by_stream(group: usize, stream: &Resource) {
    let known = (stream.number(), stream.address());
    change(group, |partition| {
        if !partition.streams.contains(&known) {
            partition.streams.push(known);
        }
    });
}

/// Runs `body`, which may look for its connection in the engine's list or put it there, with the list of its partition.
pub(crate) fn within(group: usize, body: impl FnOnce()) {
    let is_marked =
        index(group).is_some_and(|at| PARTITIONS.borrow().get(at).is_some_and(|partition| partition.is_marked));
    if !is_marked {
        return body();
    }
    let view = View::open(group);
    // If a bailout passes, `settle` puts the list right.
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

    /// Hides them.
    fn hide(&self) {
        swap_marks(HIDDEN, &self.mark);
    }
}

/// Takes the mark `shown` from the keys that have it, and gives `hidden` to those that had none.
fn swap_marks(shown: &CStr, hidden: &CStr) {
    c::spindle_list_show(Text::of(shown), Text::of(hidden), Text::of(MARK));
}

impl CallState for View {
    fn leave(&self) {
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

/// The script is over, perhaps in the middle of such calls, which are never resumed: the engine's list is as it was.
pub fn settle() {
    if let Some(innermost) = INNERMOST.take() {
        innermost.hide();
    }
}

/// After the request's objects are gone: what the list has of marked partitions is closed, as no call would find it.
pub fn forget_all() {
    let partitions = PARTITIONS.take();
    if partitions.iter().any(|partition| partition.is_marked) {
        c::spindle_list_drop(Text::of(MARK));
    }
}
