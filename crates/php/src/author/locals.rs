//! Values that extensions keep for a coroutine.

use super::arguments::Callback;
use crate::coroutine;
use crate::runtime::scheduler::rt;
use rustc_hash::FxBuildHasher;
use spindle_zend::{PhpStatic, engine, exception};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::rc::Rc;

/// The value of a coroutine for one key.
struct Local {
    key: usize,
    /// It stays in its place, which C code knows.
    value: Rc<Cell<*mut c_void>>,
    free: Option<Callback>,
}

/// The values of all coroutines, by the ids of these.
static LOCALS: PhpStatic<RefCell<Locals>> = PhpStatic::new(RefCell::new(HashMap::with_hasher(FxBuildHasher)));

type Locals = HashMap<u64, Vec<Local>, FxBuildHasher>;

/// Whether there are any.
static ANY: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Returns the place of the running coroutine's value for a key.
pub unsafe extern "C" fn local(key: *const c_void, free: Option<Callback>) -> *mut *mut c_void {
    if !super::has_objects() {
        return null_mut();
    }
    rt(); // which sees the end of the request
    let id = coroutine::current_id();
    let mut locals = LOCALS.borrow_mut();
    let own = locals.entry(id).or_default();
    ANY.set(true);
    let at = own.iter().position(|local| local.key == key.addr()).unwrap_or_else(|| {
        own.push(Local { key: key.addr(), value: Rc::new(Cell::new(null_mut())), free });
        own.len() - 1
    });
    own[at].value.as_ptr()
}

/// Frees the values that a coroutine has now, one after the other: code that this calls may ask for new ones, and if it dies of a fatal
/// error the others are still there.
fn free_all_of(id: u64) {
    let next = || LOCALS.borrow_mut().get_mut(&id).filter(|own| !own.is_empty()).map(|own| own.remove(0));
    let count = LOCALS.borrow().get(&id).map_or(0, Vec::len);
    for local in std::iter::from_fn(next).take(count) {
        let value = local.value.take();
        if let Some(free) = local.free.filter(|_| !value.is_null()) {
            // SAFETY: by the contract of `local`: once, with its value.
            unsafe { free(value) };
        }
    }
}

/// Frees the values of a coroutine whose body has ended. An exception in flight is put aside meanwhile.
#[inline]
pub fn body_ended(id: u64) {
    if ANY.get() && !exception::is_exit_in_flight() {
        engine::in_a_frame(|| exception::put_aside(|| free_all_of(id)));
    }
}

/// Frees values that the coroutine has been given since.
#[inline]
pub fn ended(id: u64) {
    if ANY.get() {
        free_all_of(id);
        LOCALS.borrow_mut().retain(|other, own| *other != id || !own.is_empty());
    }
}

/// Forgets the values of coroutines that only the parent of a fork has. What they stand for may be the parent's.
pub fn forked(id: u64) {
    LOCALS.borrow_mut().retain(|other, _| *other == id);
}

/// How often values are freed at the end of a request which the freeing of others has made, as at the end of a thread by POSIX.
const ROUNDS: usize = 4;

/// Frees the values of all coroutines, at the end of the request. The next one begins with none.
pub fn end_all() {
    if !ANY.replace(false) {
        return;
    }
    for _ in 0..ROUNDS {
        let mut ids: Vec<u64> = LOCALS.borrow().keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().for_each(free_all_of);
    }
    LOCALS.take();
    ANY.set(false);
}
