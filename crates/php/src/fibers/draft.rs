//! A fiber of the draft: its state, and how it is suspended, resumed and destroyed.

use crate::fibers::errors::{error, error_class, report_lost};
use crate::fibers::table::{STATE, Sched};
use crate::runtime::scheduler::{Runtime, existing, rt};
use crate::runtime::wait_queue::WaitQueue;
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{Object, Owned, OwnedCell, PhpResult, Thrown, Value, exception};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::{Rc, Weak};

/// The kind of a fiber.
pub enum Kind {
    /// `Fiber::create()` has made it.
    Created,
    /// A coroutine that has suspended into a scheduler, main's or one of user code, or that code knows by its `Fiber`.
    Flow,
    /// The coroutine of a scheduler, for reflection.
    OfScheduler(Weak<Sched>),
}

/// The state of a fiber.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It has not been started.
    Init,
    /// It runs, or blocks.
    Running,
    /// It runs the callback of `Fiber::suspend()`.
    Enqueuing,
    /// It is suspended into a scheduler.
    Suspended,
    /// It has ended.
    Ended,
}

impl Status {
    /// Returns the number by which the glue knows it.
    pub fn number(self) -> u32 {
        match self {
            Status::Init => sys::SPINDLE_DRAFT_INIT,
            Status::Running | Status::Enqueuing => sys::SPINDLE_DRAFT_RUNNING,
            Status::Suspended => sys::SPINDLE_DRAFT_SUSPENDED,
            Status::Ended => sys::SPINDLE_DRAFT_ENDED,
        }
    }
}

/// How a suspended fiber continues.
pub enum Sent {
    /// `Fiber::suspend()` returns this value.
    Value(Value),
    /// `Fiber::suspend()` throws this exception.
    Throw(Owned<Object>),
    /// `Fiber::suspend()` throws a `FiberError`: `run()` has returned.
    Returned,
    /// `Fiber::suspend()` throws a `FiberExit`: `run()` has thrown this.
    Threw(Option<Owned<Object>>),
    /// `Fiber::suspend()` throws a `FiberExit`: the object of the fiber, which only main's code or a coroutine's can have
    /// lost, is destroyed.
    Dropped,
    /// The fiber is destroyed: only its `finally` blocks run.
    Close,
}

/// A fiber.
pub struct Draft {
    /// Its kind.
    pub kind: Kind,
    /// Its coroutine, once there is one.
    pub co: Cell<CoroutineId>,
    /// The id of the coroutine; 0 before there is one.
    pub id: Cell<u64>,
    /// Its state.
    pub status: Cell<Status>,
    /// It is being destroyed.
    pub is_closing: Cell<bool>,
    /// A coroutine waits for its destruction.
    pub is_destroyed: Cell<bool>,
    /// The scheduler that has resumed it last.
    pub resumer: RefCell<Option<Rc<Sched>>>,
    /// How it continues.
    pub sent: Cell<Option<Sent>>,
    /// What it has thrown, for the scheduler that waits for it, or for the code that destroys it.
    pub failure: OwnedCell<Object>,
    /// How often it has suspended.
    pub suspensions: Cell<u64>,
    /// Where it waits.
    pub resumed: WaitQueue,
    /// Where others wait for its end, or for the end of its callback.
    pub changed: WaitQueue,
    into: RefCell<Option<Rc<Sched>>>,
    /// Its key among those that are suspended there.
    place: Cell<u64>,
    /// Its object, while there is one.
    pub object: Cell<Option<NonNull<Object>>>,
    /// `Fiber::getCurrent()` has returned its object: the coroutine holds that, unless it is suspended.
    pub is_known: Cell<bool>,
}

impl Draft {
    /// Returns a fiber that has not been started.
    pub fn new(kind: Kind) -> Draft {
        Draft {
            kind,
            co: Cell::new(CoroutineId(u32::MAX)),
            id: Cell::new(0),
            status: Cell::new(Status::Init),
            is_closing: Cell::new(false),
            is_destroyed: Cell::new(false),
            resumer: RefCell::new(None),
            sent: Cell::new(None),
            failure: OwnedCell::new(),
            suspensions: Cell::new(0),
            resumed: WaitQueue::new(),
            changed: WaitQueue::new(),
            into: RefCell::new(None),
            place: Cell::new(0),
            object: Cell::new(None),
            is_known: Cell::new(false),
        }
    }

    /// Returns its object, if there is one that will not be destroyed.
    pub fn live_object(&self) -> Option<Owned<Object>> {
        // SAFETY: an object that is freed removes itself.
        let object = unsafe { self.object.get()?.as_ref() };
        if object.is_destructed() { None } else { Some(Owned::of(object)) }
    }

    /// Makes its coroutine hold its object, if code knows that object: such code keeps state by it, some in a `WeakMap`. So the
    /// object stays the same while the coroutine runs, like that of a native fiber, which the call that has resumed it holds.
    pub fn hold(&self, rt: &Runtime) {
        if self.is_known.get()
            && let Some(coroutine) = rt.find_object(self.co.get())
        {
            coroutine.identity.set(self.live_object());
        }
    }

    /// Makes its coroutine, which is suspended, no longer hold its object: it is destroyed where nothing else has it.
    fn release(&self) {
        if self.is_known.get()
            && let Some(rt) = existing()
        {
            drop(rt.object(self.co.get()).identity.take());
        }
    }

    /// Returns the scheduler that it is suspended into.
    pub fn scheduler(&self) -> Option<Rc<Sched>> {
        self.into.borrow().clone()
    }

    /// Checks that no suspension of it is in progress, which has called a destructor: what the fiber continues with may have been
    /// sent already, and is for that suspension.
    ///
    /// # Errors
    /// `FiberError` in such a destructor.
    pub fn may_suspend(&self) -> Result<(), Thrown> {
        let sent = self.sent.take();
        let is_sent = sent.is_some();
        self.sent.set(sent);
        if is_sent || self.status.get() == Status::Suspended {
            return Err(error("Cannot suspend a fiber that is being suspended"));
        }
        Ok(())
    }

    /// Makes it suspended until something resumes its object.
    pub fn suspend(&self) {
        self.status.set(Status::Suspended);
        self.suspensions.set(self.suspensions.get() + 1);
        self.release();
    }

    /// Makes it suspended into a scheduler, which continues.
    pub fn suspend_into(self: &Rc<Draft>, sched: &Rc<Sched>) {
        self.suspend();
        drop(self.into.replace(Some(Rc::clone(sched))));
        self.place.set(sched.enter(self));
        sched.turn.wake_all();
        self.changed.wake_all();
        self.wake_resumer();
        if let (Kind::Created, Some(rt)) = (&self.kind, existing()) {
            rt.core.borrow_mut().detach(self.co.get());
        }
    }

    /// Makes the application wait for it after the script, while it runs.
    pub fn keep_alive(&self) {
        if let (Kind::Created, true, Some(rt)) = (&self.kind, STATE.is_finishing.get(), existing()) {
            rt.core.borrow_mut().attach(self.co.get());
        }
    }

    /// Makes it run, whether it was suspended or not.
    pub fn leave(&self) {
        self.status.set(Status::Running);
        if let Some(sched) = self.into.take() {
            sched.leave(self, self.place.get());
            STATE.forget_unused(&sched);
        }
    }

    /// Resumes it with this.
    pub fn wake(&self, sent: Sent) {
        self.leave();
        existing().inspect(|rt| self.hold(rt));
        self.keep_alive();
        self.sent.set(Some(sent));
        self.resumed.wake_all();
    }

    /// Destroys it: its `finally` blocks run in its own coroutine.
    pub fn close(&self) {
        self.is_closing.set(true);
        drop(self.resumer.take());
        self.wake(Sent::Close);
    }

    /// Records its end.
    pub fn end(&self) {
        self.leave();
        self.status.set(Status::Ended);
        self.wake_resumer();
        self.changed.wake_all();
    }

    /// Returns a number for it, which no other one has at the same time.
    pub fn address(&self) -> usize {
        (&raw const *self).addr()
    }

    fn wake_resumer(&self) {
        let resumer = self.resumer.borrow().clone();
        if let Some(resumer) = resumer {
            resumer.turn.wake_all();
        }
    }
}

/// Takes what the code of a fiber has thrown.
///
/// # Errors
/// It exits.
pub fn ends(draft: &Draft) -> PhpResult {
    let Some(thrown) = exception::in_flight() else { return Ok(Value::NULL) };
    if exception::is_graceful_exit(&thrown) {
        drop(exception::take());
        return Ok(Value::NULL);
    }
    if exception::is_exit(&thrown) {
        return Err(Thrown::is_in_flight());
    }
    drop(exception::take());
    let resumer = draft.resumer.borrow().clone();
    let is_awaited = draft.is_destroyed.get() || resumer.is_some_and(|sched| sched.control.get() == draft.address());
    if is_awaited {
        draft.failure.set(Some(thrown));
    } else {
        report_lost(rt(), Some(thrown));
    }
    Ok(Value::NULL)
}

/// Records the end of a created fiber when its body is dropped, which happens even if it has never begun.
pub struct Life {
    draft: Rc<Draft>,
    has_begun: Cell<bool>,
}

impl Life {
    /// Returns the value for the body of this fiber.
    pub fn new(draft: &Rc<Draft>) -> Life {
        Life { draft: Rc::clone(draft), has_begun: Cell::new(false) }
    }

    /// Returns the fiber.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Records that the body runs.
    pub fn begins(&self) {
        self.has_begun.set(true);
    }
}

/// Returns `true` while coroutines run.
pub fn are_running() -> bool {
    existing().is_some_and(|rt| !rt.has_ended())
}

impl Drop for Life {
    fn drop(&mut self) {
        if are_running() {
            if !self.has_begun.get() {
                let error = exception::detached(error_class(), "The fiber cannot start: there is no stack for it");
                self.draft.failure.set(Some(error));
            }
            self.draft.end();
            STATE.remove_fiber(&self.draft);
        }
    }
}
