//! What parts do when a coroutine ends.

use spindle_zend::PhpStatic;
use std::cell::{Cell, RefCell};

type Callback = fn(u64);

static CALLBACKS: PhpStatic<RefCell<Vec<Callback>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// How many things are held that a coroutine's end releases. As long as there are none, ends cost one test.
static HELD: PhpStatic<Cell<usize>> = PhpStatic::new(Cell::new(0));

/// Adds a function that is called with the id of a coroutine that ends, while something is [held](hold). At module start.
pub fn register(callback: Callback) {
    CALLBACKS.borrow_mut().push(callback);
}

/// Notes that one thing more is held, or with -1 one less.
pub fn hold(change: isize) {
    HELD.set(HELD.get().saturating_add_signed(change));
}

/// Calls the functions.
#[inline]
pub fn announce(id: u64) {
    if HELD.get() > 0 {
        announce_to_all(id);
    }
}

#[cold]
fn announce_to_all(id: u64) {
    let callbacks = CALLBACKS.borrow().clone();
    callbacks.into_iter().for_each(|callback| callback(id));
}
