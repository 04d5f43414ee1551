//! The end of an instance, in which destructors and functions for the end are called: they have the limits of a request.

use spindle_php::coroutine::{self, Coroutine};
use spindle_php::limits;
use spindle_zend::PhpStatic;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How often an end is cancelled at most, in nanoseconds.
const MOST_OFTEN: u64 = 100_000_000;

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

/// The coroutines in which instances end, which may take a limited time: what waits there for longer is cancelled.
#[derive(Default)]
pub struct Ends {
    all: RefCell<Vec<End>>,
    has_stopped: Cell<bool>,
}

struct End {
    coroutine: Coroutine,
    /// When it is cancelled; `None`: never.
    until: Option<u64>,
    /// How much longer it may take each time that it was.
    again: u64,
}

impl Ends {
    /// Adds one that begins now. The limits are nanoseconds: the first one, 0 for none, and that after it was cancelled.
    pub fn add(&self, coroutine: Coroutine, (longest, again): (u64, u64)) {
        let longest = if self.has_stopped.get() { again.max(MOST_OFTEN) } else { longest };
        let until = (longest > 0).then(|| coroutine::now().saturating_add(longest));
        self.all.borrow_mut().push(End { coroutine, until, again });
    }

    /// The server has stopped: each may take no longer than one that was cancelled.
    pub fn stop(&self) {
        self.has_stopped.set(true);
        let now = coroutine::now();
        for end in self.all.borrow_mut().iter_mut() {
            let until = now.saturating_add(end.again.max(MOST_OFTEN));
            end.until = Some(end.until.map_or(until, |before| before.min(until)));
        }
    }

    /// Cancels those whose time is over. Returns when that is for the next one.
    pub fn cut(&self) -> Option<u64> {
        if self.all.borrow().is_empty() {
            return None;
        }
        let now = coroutine::now();
        let done: Vec<End> = self.all.borrow_mut().extract_if(.., |end| end.coroutine.is_done()).collect();
        drop(done); // not during the borrow: that may run PHP code
        let mut over = Vec::new();
        for end in self.all.borrow_mut().iter_mut().filter(|end| end.until.is_some_and(|until| until <= now)) {
            end.until = Some(now.saturating_add(end.again.max(MOST_OFTEN)));
            over.push(end.coroutine.clone());
        }
        for coroutine in over {
            coroutine.cancel_with(&coroutine::new_cancellation("The end of the instance waits for too long"));
        }
        self.all.borrow().iter().filter_map(|end| end.until).min()
    }
}
