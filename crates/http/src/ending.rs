//! The end of an instance, in which destructors and functions for the end are called: they have the limits of a request.

use spindle_php::coroutine;
use spindle_php::limits;
use spindle_zend::PhpStatic;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The limits of a request, or of such an end.
#[derive(Default)]
pub struct Limits {
    /// How many seconds of processor time its code may take; 0 for no limit.
    pub seconds: Cell<i64>,
    /// How much of that was seen, in nanoseconds.
    pub computed: Cell<u64>,
    /// It has changed PHP's setting.
    pub has_set: Cell<bool>,
    /// When it was cancelled where it computes; 0: it was not.
    pub cancelled_at: Cell<u64>,
}

impl Limits {
    /// Returns the limits of a request that begins.
    pub fn usual() -> Limits {
        Limits { seconds: Cell::new(limits::usual_limit()), ..Limits::default() }
    }

    /// The handler has ended, in a request that has no settings of its own.
    pub fn restore_setting(&self) {
        if self.has_set.get() {
            limits::restore_setting();
        }
    }
}

/// The ids of coroutines in which instances end, and the limits of what is called there: destructors, and functions for the end.
type Endings = Vec<(u64, Rc<Limits>)>;

static ENDINGS: PhpStatic<RefCell<Endings>> = PhpStatic::new(RefCell::new(Endings::new()));

/// The end of an instance in the running coroutine, which has the limits of a request.
pub struct Ending(u64);

impl Ending {
    /// Begins it.
    pub fn begin() -> Ending {
        let id = coroutine::running_id();
        ENDINGS.borrow_mut().push((id, Rc::new(Limits::usual())));
        Ending(id)
    }

    /// It is over.
    pub fn end(self) {
        ENDINGS.borrow_mut().retain(|(id, _)| *id != self.0);
    }
}

/// Returns the limits of the end in the running coroutine, if there is one in it.
pub fn limits() -> Option<Rc<Limits>> {
    let id = coroutine::running_id();
    ENDINGS.borrow().iter().find(|(ends, _)| *ends == id).map(|(_, limits)| Rc::clone(limits))
}

/// Forgets all. At the end of PHP's request.
pub fn forget_all() {
    ENDINGS.take();
}
