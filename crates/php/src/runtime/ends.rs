//! What parts do when a coroutine ends.

use spindle_zend::{PhpStatic, engine, exception};
use std::cell::{Cell, RefCell};

type Callback = fn(u64);
type Notice = fn();

static CALLBACKS: PhpStatic<RefCell<Vec<Callback>>> = PhpStatic::new(RefCell::new(Vec::new()));

static BODY_ENDS: PhpStatic<RefCell<Vec<Callback>>> = PhpStatic::new(RefCell::new(Vec::new()));

static INTERRUPTS: PhpStatic<RefCell<Vec<Notice>>> = PhpStatic::new(RefCell::new(Vec::new()));

static FORKS: PhpStatic<RefCell<Vec<Callback>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// How many things are held that a coroutine's end releases. As long as there are none, ends cost one test.
static HELD: PhpStatic<Cell<usize>> = PhpStatic::new(Cell::new(0));

/// Adds a function that is called with the id of a coroutine that ends, while something is [held](hold). At module start.
pub fn register(callback: Callback) {
    CALLBACKS.borrow_mut().push(callback);
}

/// Adds to the number of things that are held: 1 for one more, -1 for one fewer.
pub fn hold(change: isize) {
    HELD.set(HELD.get().saturating_add_signed(change));
}

/// Calls the functions.
#[inline]
pub fn announce(id: u64) {
    if HELD.get() > 0 {
        call_all(&CALLBACKS, id);
    }
}

/// Adds a function that is called with the id of a coroutine whose body has ended, while something is [held](hold). It may run
/// PHP code and wait, as the destructors of the coroutine's values may, and leaves no exception in flight. At module start.
pub fn register_body_end(callback: Callback) {
    BODY_ENDS.borrow_mut().push(callback);
}

/// Calls the functions for the end of a body, unless it exits. An exception in flight is put aside meanwhile.
#[inline]
pub fn announce_body_end(id: u64) {
    if HELD.get() > 0 && !exception::is_exit_in_flight() {
        engine::in_a_frame(|| exception::put_aside(|| call_all(&BODY_ENDS, id)));
    }
}

/// Adds a function that is called when a cancellation has made a wait of C code fail in the running coroutine, or makes further
/// ones fail, while something is [held](hold). It is called in the middle of that code, and must not run any other. At module
/// start.
pub fn register_interrupt(callback: fn()) {
    INTERRUPTS.borrow_mut().push(callback);
}

/// Calls the functions for a wait that has failed.
pub fn announce_interrupt() {
    if HELD.get() > 0 {
        INTERRUPTS.borrow().iter().for_each(|callback| callback());
    }
}

/// Adds a function that is called in the child of a fork, with the id of the coroutine that lives on there. It must not run PHP
/// code. At module start.
pub fn register_fork(callback: Callback) {
    FORKS.borrow_mut().push(callback);
}

/// Calls the functions for a fork.
pub fn announce_fork(id: u64) {
    call_all(&FORKS, id);
}

#[cold]
fn call_all(callbacks: &RefCell<Vec<Callback>>, id: u64) {
    let callbacks = callbacks.borrow().clone();
    callbacks.into_iter().for_each(|callback| callback(id));
}
