//! Awaitables of parts: the completion of something that is no coroutine, and the classes whose objects have one.

use crate::runtime::awaiting;
use crate::runtime::scheduler::{existing, rt};
use spindle_core::sched::{Maker, SetId, Target};
use spindle_zend::{Object, Owned, PhpResult, PhpStatic};
use std::cell::{Cell, RefCell};

/// The completion of something that can be awaited. It costs the scheduler nothing until something awaits it.
#[derive(Default)]
pub struct Completion {
    set: Cell<Option<SetId>>,
    is_complete: Cell<bool>,
    is_external: bool,
    /// The only thing that brings it about, if that is known.
    maker: Cell<Option<Maker>>,
}

impl Completion {
    /// Returns a completion that has not happened.
    pub const fn new() -> Completion {
        Completion { set: Cell::new(None), is_complete: Cell::new(false), is_external: false, maker: Cell::new(None) }
    }

    /// Returns one that something outside the process's own coroutines brings about: code that awaits it is not
    /// deadlocked.
    pub const fn external() -> Completion {
        Completion { set: Cell::new(None), is_complete: Cell::new(false), is_external: true, maker: Cell::new(None) }
    }

    /// Returns `true` if something has begun to await it.
    #[inline]
    pub fn is_asked_for(&self) -> bool {
        self.set.get().is_some()
    }

    /// Declares the only thing that can bring it about from now on; `None` if that is unknown.
    pub fn depends_on(&self, maker: Option<Maker>) {
        self.maker.set(maker);
        if let (Some(set), Some(rt)) = (self.set.get(), existing()) {
            rt.core.borrow_mut().set_maker(set, maker);
        }
    }

    /// Returns it as the maker of another one.
    pub fn as_maker(&self) -> Maker {
        let target = self.target();
        rt().core.borrow().maker(target)
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
            core.set_maker(set, self.maker.get());
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

/// Returns an awaitable as the maker of a completion, if it can complete.
pub fn maker(awaitable: &Object) -> Option<Maker> {
    let target = awaiting::known_target(awaitable)?;
    Some(rt().core.borrow().maker(target))
}

/// Returns the running coroutine as the maker of a completion.
pub fn running_maker() -> Maker {
    let core = rt().core.borrow();
    core.maker(Target::Coroutine(core.running()))
}

/// A class of a part whose objects can be awaited: it implements `Async\Awaitable`.
#[derive(Clone, Copy)]
pub struct AwaitableClass {
    /// Returns the completion of an object, or `None` if it is of another class.
    pub completion: fn(&Object) -> Option<&Completion>,
    /// Returns the result of an object that is complete, or throws its failure.
    pub deliver: fn(&Object) -> PhpResult,
    /// Returns the failure of an object, which does not count as received.
    pub failure: fn(&Object) -> Option<Owned<Object>>,
}

static CLASSES: PhpStatic<RefCell<Vec<AwaitableClass>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Adds a class. At module start.
pub fn register(class: AwaitableClass) {
    CLASSES.borrow_mut().push(class);
}

/// Returns the result of `ask` for the class of an object, if it is a part's class.
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

/// Returns the failure of an object of a part's class, which does not count as received.
pub(crate) fn failure(object: &Object) -> Option<Owned<Object>> {
    find(object, |class, _| class.failure).and_then(|failure| failure(object))
}
