//! The class `Async\Timeout`: a point in time that can be awaited. Its timer is dropped with the object.

use crate::runtime::{
    classes,
    scheduler::{self, Runtime},
};
use spindle_core::sched::{Target, TimeoutId};
use spindle_reactor::Reactor;
use spindle_zend::{Class, Instance, Owned, State, object_class, sys};
use std::cell::Cell;

/// The state of an object of the class. An object that reflection has made has no timer.
#[derive(Default)]
pub struct Timeout {
    id: Cell<Option<TimeoutId>>,
    milliseconds: Cell<i64>,
}

object_class!(
    /// The class.
    pub static TIMEOUT: Timeout
);

/// Registers the class. At module start.
pub fn register() {
    TIMEOUT.register(classes::timeout(), sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
}

impl State for Timeout {
    fn new(_: Class) -> Timeout {
        Timeout::default()
    }

    fn free(this: &Instance<Timeout>) {
        if let (Some(id), Some(rt)) = (this.id.get(), scheduler::existing()) {
            rt.core.borrow_mut().drop_timeout(id);
        }
    }
}

impl Timeout {
    /// Returns a new object that completes `nanoseconds` from now. `milliseconds` is the same time as user code has
    /// given it.
    pub fn start(rt: &Runtime, milliseconds: i64, nanoseconds: u64) -> Owned<Instance<Timeout>> {
        let timeout = TIMEOUT.make();
        let id = rt.core.borrow_mut().add_timeout(Reactor::now().saturating_add(nanoseconds));
        timeout.id.set(Some(id));
        timeout.milliseconds.set(milliseconds);
        timeout
    }

    /// Returns its time in milliseconds.
    pub fn milliseconds(&self) -> i64 {
        self.milliseconds.get()
    }

    /// Returns it as the core's target of a wait.
    pub fn target(&self) -> Option<Target> {
        self.id.get().map(Target::Timeout)
    }
}
