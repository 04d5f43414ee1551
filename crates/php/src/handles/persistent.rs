//! Persistent connections, each of one coroutine at a time.
//!
//! Extensions keep them in `EG(persistent_list)`, by what the call that asks for one names, and give the one they find
//! there to whoever asks, in use or not. Here what is asked for (a hash of the call's arguments) has *places*, each
//! with a connection of its own, that belong to the coroutine that asked first for as long as any handle of it is
//! alive. The first place is the engine's list as it is. The others' entries stand there under keys with a mark, which
//! nobody looks for; while a call for such a place runs, it is the other way round (a [`Window`]). All stay in the one list,
//! for who closes a connection looks through it.

use crate::isolation::calls::{self, CallState};
use crate::runtime::scheduler::{self, Core};
use spindle_php_sys as sys;
use spindle_zend::PhpStatic;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::ptr::addr_of_mut;
use std::rc::{Rc, Weak};

/// What all marks begin with.
const MARK: &CStr = c"\x01spindle ";
/// The mark of the engine's own list, while another place's entries stand there without.
const HIDDEN: &CStr = c"\x01spindle hidden";

struct Place {
    asked: u64,
    /// Not the engine's own list.
    marked: bool,
    owner: u64,
    /// Handles on it, and calls that ask for one.
    users: usize,
    /// Streams on it, by number and address.
    streams: Vec<(i64, usize)>,
}

struct Places(RefCell<Vec<Place>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Places {}
static PLACES: Places = Places(RefCell::new(Vec::new()));

/// A call during which the engine's list shows the entries of one place.
struct Window {
    this: Weak<Window>,
    mark: CString,
    /// The one that it is within, of the same coroutine. Only the innermost has its entries shown.
    outer: Option<Rc<Window>>,
    is_innermost: Cell<bool>,
}

/// Roots of persistent connections are odd, as no handle's address is.
fn index(root: usize) -> Option<usize> {
    (root & 1 == 1).then_some(root >> 1)
}

/// A place for what is asked for: the running coroutine's own, or one that nobody uses. Its root; [`unused`] when
/// the call is over.
pub(crate) fn take(asked: u64) -> usize {
    let me = scheduler::existing().map_or(Core::MAIN_ID, |rt| {
        let core = rt.core.borrow();
        core.id(core.running())
    });
    let mut places = PLACES.0.borrow_mut();
    for place in places.iter_mut() {
        // SAFETY: on the PHP thread.
        place.streams.retain(|(handle, address)| unsafe { is_open(*handle, *address) });
    }
    let in_use = |place: &Place| place.users > 0 || !place.streams.is_empty();
    let find = |wanted: &dyn Fn(&Place) -> bool| places.iter().position(|p| p.asked == asked && wanted(p));
    let found = find(&|p| in_use(p) && p.owner == me).or_else(|| find(&|p| !in_use(p)));
    let at = found.unwrap_or_else(|| {
        let marked = places.iter().any(|place| place.asked == asked);
        places.push(Place { asked, marked, owner: me, users: 0, streams: Vec::new() });
        places.len() - 1
    });
    places[at].owner = me;
    places[at].users += 1;
    at << 1 | 1
}

unsafe fn is_open(handle: i64, address: usize) -> bool {
    // SAFETY: the engine's table of resources, by number.
    unsafe {
        let found = sys::zend_hash_index_find(addr_of_mut!(sys::executor_globals.regular_list), handle as u64);
        !found.is_null() && (*found).value.res as usize == address && (*(*found).value.res).type_ >= 0
    }
}

/// One more handle, if `root` is a persistent connection's.
pub(crate) fn used(root: usize) {
    if let Some(at) = index(root)
        && let Some(place) = PLACES.0.borrow_mut().get_mut(at)
    {
        place.users += 1;
    }
}

/// One handle less.
pub(crate) fn unused(root: usize) {
    if let Some(at) = index(root)
        && let Some(place) = PLACES.0.borrow_mut().get_mut(at)
    {
        place.users = place.users.saturating_sub(1);
    }
}

/// A stream is on it: it uses the place until it is closed.
pub(crate) unsafe fn used_by_stream(root: usize, stream: *mut sys::zend_resource) {
    if let Some(at) = index(root)
        && let Some(place) = PLACES.0.borrow_mut().get_mut(at)
    {
        // SAFETY: the caller passes a live resource.
        let known = (unsafe { (*stream).handle }, stream as usize);
        if !place.streams.contains(&known) {
            place.streams.push(known);
        }
    }
}

/// Runs `what`, which may look for its connection in the engine's list or put it there, with the list of its place.
pub(crate) fn within(root: usize, what: impl FnOnce()) {
    let marked = index(root).is_some_and(|at| PLACES.0.borrow().get(at).is_some_and(|place| place.marked));
    if !marked {
        return what();
    }
    let window = Window::open(root);
    // If a bailout passes, `settle` puts the lists right.
    calls::during(&*window, what);
    window.close();
}

/// The window of the running code.
static INNERMOST: PhpStatic<RefCell<Option<Rc<Window>>>> = PhpStatic::new(RefCell::new(None));

impl Window {
    fn open(root: usize) -> Rc<Window> {
        let outer = INNERMOST.borrow().clone();
        if let Some(outer) = &outer {
            outer.hide();
            outer.is_innermost.set(false);
        }
        let mark = CString::new([MARK.to_bytes(), root.to_string().as_bytes()].concat()).unwrap_or_default();
        let is_innermost = Cell::new(true);
        let window = Rc::new_cyclic(|this| Window { this: this.clone(), mark, outer, is_innermost });
        window.show();
        INNERMOST.replace(Some(window.clone()));
        window
    }

    fn close(&self) {
        self.hide();
        if let Some(outer) = &self.outer {
            outer.show();
            outer.is_innermost.set(true);
        }
        INNERMOST.replace(self.outer.clone());
    }

    /// Shows the entries of its place in the engine's list.
    fn show(&self) {
        // SAFETY: terminated texts.
        unsafe { sys::spindle_list_show(self.mark.as_ptr(), HIDDEN.as_ptr(), MARK.as_ptr()) };
    }

    /// Hides them.
    fn hide(&self) {
        // SAFETY: as above.
        unsafe { sys::spindle_list_show(HIDDEN.as_ptr(), self.mark.as_ptr(), MARK.as_ptr()) };
    }
}

impl CallState for Window {
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

/// The script is over, perhaps in the middle of such calls, which will not go on: the engine's list is as it was.
pub fn settle() {
    if let Some(innermost) = INNERMOST.take() {
        innermost.hide();
    }
}

/// After the request's objects are gone: what the list has of marked places is closed, as nobody would find it.
pub fn forget_all() {
    let places = std::mem::take(&mut *PLACES.0.borrow_mut());
    if places.iter().any(|place| place.marked) {
        // SAFETY: the engine's list.
        unsafe { sys::spindle_list_drop(MARK.as_ptr(), MARK.count_bytes()) };
    }
}
