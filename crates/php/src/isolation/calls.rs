//! State that a call in progress has set in the engine for itself only: exchanged when its stack is suspended and resumed.
//!
//! Such calls are on a list of the fiber context in which they run: a coroutine's, or that of one of the engine's fibers
//! in it, which may be resumed in another coroutine. All switches between contexts are announced to observers, and this
//! module is one of them from the first such call in a process on. A context that ends has no calls any more; one that is
//! abandoned, at the end of a request, is never resumed.

use spindle_zend::{FiberContext, PhpStatic, engine, fiber};
use std::cell::{Cell, RefCell};
use std::ptr::null;

/// State of a call in progress.
pub trait CallState {
    /// Restores what others are to see, when the call is suspended.
    fn suspend(&self);

    /// Restores what the call has set, when it is resumed.
    fn resume(&self);
}

/// A call in progress, on its stack.
struct Entry<'a> {
    outer: Calls,
    state: &'a dyn CallState,
}

/// The calls of a context, the innermost first.
type Calls = *const Entry<'static>;

/// The calls of the running context.
static RUNNING: PhpStatic<Cell<Calls>> = PhpStatic::new(Cell::new(null()));

/// The calls of suspended contexts that have any, by the addresses of the contexts.
static SUSPENDED: PhpStatic<RefCell<Vec<(usize, Calls)>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Set once switches are observed.
static IS_OBSERVER: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Makes a call, whose state is exchanged whenever its stack is suspended before it returns.
pub fn during(state: &dyn CallState, call: impl FnOnce()) {
    if !IS_OBSERVER.replace(true) {
        fiber::observe(switches);
    }
    let entry = Entry { outer: RUNNING.get(), state };
    RUNNING.set((&raw const entry).cast());
    let returned = engine::guarded(call);
    RUNNING.set(entry.outer);
    if !returned {
        engine::bail_out();
    }
}

/// Clears the lists at the end of the request.
pub fn forget_all() {
    RUNNING.set(null());
    SUSPENDED.borrow_mut().clear();
}

/// Exchanges the state of calls when the context `from` is about to be suspended, and `to` to be resumed or started.
extern "C" fn switches(from: &FiberContext, to: &FiberContext) {
    let list = RUNNING.replace(null());
    if !list.is_null() {
        suspend_each(list);
        SUSPENDED.borrow_mut().push((from.address(), list));
    }
    if let Some(list) = take_list_of(to) {
        RUNNING.set(list);
        resume_each(list);
    }
}

fn take_list_of(context: &FiberContext) -> Option<Calls> {
    let mut suspended = SUSPENDED.borrow_mut();
    let place = suspended.iter().position(|(address, _)| *address == context.address())?;
    Some(suspended.swap_remove(place).1)
}

fn innermost(list: Calls) -> Option<&'static Entry<'static>> {
    // SAFETY: null, or a call in progress on the stack that is switched from or to: `during` has not returned.
    unsafe { list.as_ref() }
}

/// Calls `suspend` for each entry, the innermost first.
fn suspend_each(list: Calls) {
    let mut next = innermost(list);
    while let Some(call) = next {
        call.state.suspend();
        next = innermost(call.outer);
    }
}

/// Calls `resume` for each entry, the outermost first. Such calls are nested only a few levels deep.
fn resume_each(list: Calls) {
    if let Some(call) = innermost(list) {
        resume_each(call.outer);
        call.state.resume();
    }
}
