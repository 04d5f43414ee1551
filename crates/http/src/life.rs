//! The life of an instance: what it has from its beginning to its end.

use crate::ending::Ending;
use spindle_php::coroutine::{self, Scope};
use spindle_php::sapi::{self, Client, Instance, Sapi, Seed};
use spindle_zend::exception;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

/// How long the coroutines of an instance that ends may take after they were cancelled, in steps of this many milliseconds.
pub const STEP: u64 = 10;
const MOST_STEPS: usize = 500;
const YIELDS: usize = 3;

/// Waits while something is so, for a time that is limited. Returns `false` if the coroutine was cancelled.
pub fn wait_while(is_so: impl Fn() -> bool) -> bool {
    for step in 0..MOST_STEPS {
        if !is_so() {
            return true;
        }
        // As a rule what ends has nothing to wait for.
        let waited = if step < YIELDS { coroutine::suspend() } else { coroutine::sleep(Duration::from_millis(STEP)) };
        if waited.is_err() {
            drop(exception::take());
            return false;
        }
    }
    true
}

/// An instance, and what it has while it lives. Afterwards it is empty, and may begin again.
pub struct Life {
    seed: Seed,
    instance: Cell<Option<Instance>>,
    /// The request in which it has begun, and the scope of its coroutines.
    own: RefCell<Option<Rc<Sapi>>>,
    scope: RefCell<Option<Scope>>,
}

impl Life {
    /// Returns that of an instance, which is empty.
    pub fn new(seed: Seed, instance: Instance) -> Life {
        Life { seed, instance: Cell::new(Some(instance)), own: RefCell::new(None), scope: RefCell::new(None) }
    }

    /// Returns the instance; `None` if there are too many.
    pub fn instance(&self) -> Option<Instance> {
        self.instance.get()
    }

    /// Returns the request in which it has begun, while it lives.
    pub fn request(&self) -> Option<Rc<Sapi>> {
        self.own.borrow().clone()
    }

    /// Returns the scope for its coroutines, while it lives.
    pub fn scope(&self) -> Option<Scope> {
        self.scope.borrow().clone()
    }

    /// Begins, with this scope for its coroutines. Returns the request for the first of them; `None` if there is no instance.
    pub fn begin(&self, scope: Scope, client: Script) -> Option<Rc<Sapi>> {
        let instance = self.instance.get()?;
        instance.begin();
        let own = Sapi::new(Some(instance), None, |_| Box::new(client));
        self.own.replace(Some(Rc::clone(&own)));
        self.scope.replace(Some(scope));
        Some(own)
    }

    /// Cancels its coroutines.
    pub fn cancel_coroutines(&self) {
        if let Some(scope) = self.scope() {
            scope.cancel(&coroutine::new_cancellation("The instance of the application ends"));
        }
    }

    /// Ends what the instance has, which is the running one. `release` drops what else there is of its values. Returns `false` if a
    /// fatal error has damaged memory, maybe.
    pub fn end(&self, release: impl FnOnce()) -> bool {
        self.cancel_coroutines();
        drop(self.scope.take());
        // They must not see the instance that follows.
        let others = || self.own.borrow().as_ref().map_or(0, Rc::strong_count) > 2;
        wait_while(others);
        let is_left = others();
        let is_sound = Cell::new(true);
        let step = |step: &dyn Fn()| {
            let is_survived = sapi::survive(step) || sapi::fatal_error_was_asked_for();
            is_sound.set(is_survived && is_sound.get());
            if let Some(thrown) = exception::take().filter(|thrown| !exception::is_exit(thrown)) {
                is_sound.set(sapi::survive(|| sapi::report_uncaught(&thrown)) && is_sound.get());
                drop(exception::take());
            }
        };
        let limits = Ending::begin();
        step(&sapi::end::call_shutdown_functions);
        step(&sapi::end::close_session);
        step(&sapi::end::end_buffers);
        release();
        if !is_left {
            step(&Instance::call_destructors);
            step(&sapi::end::release);
            step(&Instance::empty);
        }
        step(&sapi::end::forget_client);
        limits.end();
        // Coroutines that destructors have spawned, too, must not see another one.
        if is_left || others() || !is_sound.get() {
            self.instance.set(Instance::new(self.seed)); // nothing else uses this one again
        }
        drop(self.own.take());
        is_sound.get()
    }
}

/// The client of the request in which an instance begins: it prints where the script does.
pub struct Script {
    /// Called when a fatal error that PHP code has not asked for has ended one of its coroutines.
    pub dies: Box<dyn Fn()>,
    /// Called when one of its coroutines has exited, and not the first one.
    pub exits: Box<dyn Fn()>,
}

impl Client for Script {
    fn write(&self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(bytes).and_then(|()| out.flush()); // as the script's own output
    }

    fn flush(&self) {}

    fn send_headers(&self, _: i32, _: &[Vec<u8>]) {}

    fn read(&self, _: &mut [u8]) -> usize {
        0
    }

    fn exits(&self) {
        (self.exits)();
    }

    fn dies(&self) {
        if !sapi::fatal_error_was_asked_for() {
            (self.dies)();
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
