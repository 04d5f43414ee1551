//! Persistent connections, each of one coroutine at a time.
//!
//! Extensions keep them in `EG(persistent_list)`, by what the call that asks for one names, and give the one they find
//! there to whoever asks, in use or not. Here what is asked for (a hash of the call's arguments) has *places*, each
//! with a connection of its own, that belong to the coroutine that asked first for as long as any handle of it is
//! alive. The first place is the engine's list as it is. The others' entries stand there under keys with a mark, which
//! nobody looks for; while a call for such a place runs, it is the other way round (a [`Window`]). All stay in the one list,
//! for who closes a connection looks through it.

use crate::isolation::switch_hooks::{self, Aside, Turn};
use crate::runtime::scheduler::{self, Core};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString};
use std::ptr::{addr_of_mut, null_mut};

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
#[repr(C)]
pub struct Window {
    aside: Aside,
    mark: CString,
    /// The one that it is within, of the same coroutine. Only the innermost has its entries shown.
    outer: *mut Window,
    innermost: bool,
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
    // SAFETY: the running context, if there is one. If a bailout passes, `settle` puts the lists right.
    unsafe {
        let window = open(root);
        what();
        close(window);
    }
}

struct Windows {
    /// That of the running code.
    innermost: Cell<*mut Window>,
    open: RefCell<Vec<*mut Window>>,
}
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Windows {}
static WINDOWS: Windows = Windows { innermost: Cell::new(null_mut()), open: RefCell::new(Vec::new()) };

unsafe fn show(window: *mut Window) {
    // SAFETY: the caller passes an open window; terminated texts.
    unsafe { sys::spindle_list_show((*window).mark.as_ptr(), HIDDEN.as_ptr(), MARK.as_ptr()) };
}

unsafe fn hide(window: *mut Window) {
    // SAFETY: as `show`.
    unsafe { sys::spindle_list_show(HIDDEN.as_ptr(), (*window).mark.as_ptr(), MARK.as_ptr()) };
}

unsafe fn open(root: usize) -> *mut Window {
    // SAFETY: the window lives until `close` or `settle`.
    unsafe {
        let outer = WINDOWS.innermost.get();
        if !outer.is_null() {
            hide(outer);
            (*outer).innermost = false;
        }
        let mark = CString::new([MARK.to_bytes(), root.to_string().as_bytes()].concat()).unwrap_or_default();
        let window = Box::into_raw(Box::new(Window { aside: Aside::new(switched), mark, outer, innermost: true }));
        show(window);
        WINDOWS.open.borrow_mut().push(window);
        WINDOWS.innermost.set(window);
        switch_hooks::begin(window.cast());
        window
    }
}

unsafe fn close(window: *mut Window) {
    // SAFETY: as `open`, which made it.
    unsafe {
        switch_hooks::end(window.cast());
        hide(window);
        let window = Box::from_raw(window);
        WINDOWS.open.borrow_mut().retain(|open| *open != (&raw const *window).cast_mut());
        if !window.outer.is_null() {
            show(window.outer);
            (*window.outer).innermost = true;
        }
        WINDOWS.innermost.set(window.outer);
    }
}

unsafe fn switched(aside: *mut Aside, turn: Turn) {
    let window: *mut Window = aside.cast();
    // SAFETY: the beginning of a window that is open.
    unsafe {
        if (*window).innermost {
            match turn {
                Turn::Left => hide(window),
                Turn::GoesOn => show(window),
            }
            WINDOWS.innermost.set(if turn == Turn::GoesOn { window } else { null_mut() });
        }
    }
}

/// The script is over, perhaps in the middle of such calls, which will not go on: the engine's list is as it was.
pub fn settle() {
    let innermost = WINDOWS.innermost.replace(null_mut());
    // SAFETY: the windows of code that was left for good; only the running one's entries are shown.
    unsafe {
        if !innermost.is_null() {
            hide(innermost);
        }
        for window in std::mem::take(&mut *WINDOWS.open.borrow_mut()) {
            drop(Box::from_raw(window));
        }
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
