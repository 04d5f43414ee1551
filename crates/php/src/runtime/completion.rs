//! Awaitables of parts: the completion of something that is no coroutine, and the classes whose objects have one.

use crate::runtime::scheduler::{existing, rt};
use spindle_core::sched::{SetId, Target};
use spindle_zend::{Object, PhpResult, PhpStatic};
use std::cell::{Cell, RefCell};

/// The completion of something that can be awaited. It costs the scheduler nothing until something awaits it.
#[derive(Default)]
pub struct Completion {
    set: Cell<Option<SetId>>,
    is_complete: Cell<bool>,
    is_external: bool,
}

impl Completion {
    /// Returns a completion that has not happened.
    pub const fn new() -> Completion {
        Completion { set: Cell::new(None), is_complete: Cell::new(false), is_external: false }
    }

    /// Returns one that something outside the process's own coroutines brings about: who awaits it is not deadlocked.
    pub const fn external() -> Completion {
        Completion { set: Cell::new(None), is_complete: Cell::new(false), is_external: true }
    }

    /// Returns `true` if it has happened.
    pub fn is_complete(&self) -> bool {
        self.is_complete.get()
    }

    /// Wakes what awaits it. `fails`: what is complete has failed. Returns `true` if something awaits it, which takes the
    /// failure. Does nothing the second time.
    pub fn complete(&self, fails: bool) -> bool {
        if self.is_complete.replace(true) {
            return false;
        }
        match (self.set.get(), existing()) {
            (Some(set), Some(rt)) => rt.core.borrow_mut().complete_set(set, fails),
            _ => false,
        }
    }

    /// Returns it as the core's target of a wait.
    pub(crate) fn target(&self) -> Target {
        let set = self.set.get().unwrap_or_else(|| {
            let mut core = rt().core.borrow_mut();
            let set = if self.is_external { core.add_external_set() } else { core.add_open_set() };
            if self.is_complete.get() {
                core.complete_set(set, false); // one that was dropped is complete
            }
            self.set.set(Some(set));
            set
        });
        Target::Set(set)
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        self.complete(false);
    }
}

/// A class of a part whose objects can be awaited: it implements `Async\Awaitable`.
#[derive(Clone, Copy)]
pub struct AwaitableClass {
    /// Returns the completion of an object, or `None` if it is of another class.
    pub completion: fn(&Object) -> Option<&Completion>,
    /// Returns the result of an object that is complete, or throws its failure.
    pub deliver: fn(&Object) -> PhpResult,
}

static CLASSES: PhpStatic<RefCell<Vec<AwaitableClass>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Adds a class. At module start.
pub fn register(class: AwaitableClass) {
    CLASSES.borrow_mut().push(class);
}

/// Returns what `ask` returns for the class of an object, if that is a part's.
fn find<'a, R>(object: &'a Object, ask: impl Fn(AwaitableClass, &'a Completion) -> R) -> Option<R> {
    let mut at = 0;
    loop {
        let class = *CLASSES.borrow().get(at)?;
        if let Some(completion) = (class.completion)(object) {
            return Some(ask(class, completion));
        }
        at += 1;
    }
}

/// Returns the core's target for an object of a part's class.
pub(crate) fn target(object: &Object) -> Option<Target> {
    find(object, |_, completion| completion.target())
}

/// Returns the result of a complete object of a part's class, or throws its failure. `None` for other objects.
pub(crate) fn deliver(object: &Object) -> Option<PhpResult> {
    find(object, |class, _| class.deliver).map(|deliver| deliver(object))
}
