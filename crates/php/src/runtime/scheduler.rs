//! The runtime: binds the core's decisions to stacks, the engine's state and the reactor. The work of its coroutines is in files of
//! its own: [`park`](super::park), [`pick`](super::pick) and [`switch`](super::switch).
//!
//! Borrows of the cells here are short: none is held across a switch or a call that can run PHP code.

use crate::c;
use crate::isolation::Inherited;
use crate::runtime::cancellation::Notes;
use crate::runtime::coroutine::{COROUTINE, Coroutine, CoroutineObject};
use crate::runtime::ctx::Ctx;
use crate::runtime::group::Groups;
use crate::runtime::report::Reports;
use crate::runtime::scope::{self, Record};
use crate::runtime::signals::{Owners, SignalTarget};
use crate::runtime::{classes, failure, fork, gate, moments, request};
use crate::stack::stacks::{self, Stacks};
use spindle_core::lifecycle::Leaving;
use spindle_core::sched::{self, CoroutineId, Order, ScopeId, Wakeup};
use spindle_reactor::{Reactor, Waiter};
use spindle_zend::{Frame, Object, Owned, OwnedCell, PhpStatic, Text, Thrown, engine, exception};
use std::cell::{Cell, OnceCell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;

/// The core, with exceptions (owned references) as reasons.
pub type Core = sched::Core<Reason>;

/// An exception, as the core keeps it. The caller that takes it out releases it when no borrow of the core is alive.
pub type Reason = ManuallyDrop<Owned<Object>>;

/// The coroutines of a request, and what the process keeps for those of the next.
pub struct Runtime {
    pub(crate) core: RefCell<Core>,
    /// The objects of coroutines by slot. All are alive: an object that is freed removes itself. Until a coroutine is complete,
    /// the runtime owns one reference to its object.
    pub(super) objects: RefCell<Vec<Option<NonNull<CoroutineObject>>>>,
    /// The records of scopes, by slot.
    pub(crate) scopes: RefCell<Vec<Option<Rc<Record>>>>,
    /// User code's groups.
    pub(crate) groups: Groups,
    /// Failures that nothing handles, to be reported.
    pub(crate) reports: Reports,
    /// Exceptions with which user code has cancelled, and their previous ones at that time.
    pub(crate) given: Notes,
    /// Copies of exceptions that coroutines were cancelled with, and their originals.
    pub(crate) copies: Notes,
    /// The deadlock error that will be reported.
    pub(crate) deadlock: OwnedCell<Object>,
    /// The message of the cancellations by the shutdown that has begun.
    pub(crate) shutdown: RefCell<String>,
    reactor: OnceCell<Reactor>,
    pub(crate) stacks: RefCell<Stacks<Ctx>>,
    pub(super) main: Box<Ctx>,
    pub(super) picks: Cell<u64>,
    pub(crate) turns: Turns,
    /// The id of the coroutine whose cancellation was deferred because it ran in a callback of C code; 0 if there is none.
    pub(crate) cancelled_in_callback: Cell<u64>,
    pub(crate) signal_target: Cell<Option<SignalTarget>>,
    pub(crate) signal_owners: RefCell<Owners>,
    /// The coroutines whose waits are given up if another one closes a cycle with them, and some that have been abandoned.
    pub(crate) waits_to_give_up: RefCell<Vec<CoroutineId>>,
}

/// The turns of the event loop.
#[derive(Default)]
pub(crate) struct Turns {
    pub(crate) count: Cell<u64>,
    /// How long it has waited for events, in nanoseconds.
    pub(crate) idle: Cell<u64>,
    /// How late the timers of the last turn were, in nanoseconds.
    pub(crate) lag: Cell<u64>,
}

/// The runtime of this request.
static RUNTIME: PhpStatic<Cell<Option<NonNull<Runtime>>>> = PhpStatic::new(Cell::new(None));

/// The last epoch of the requests so far: code outside may use the ticket of a request that is over, which must name no park of
/// another one.
static LAST_EPOCH: PhpStatic<Cell<u32>> = PhpStatic::new(Cell::new(0));

/// The part of the last request's runtime that is left for the next.
static KEPT: PhpStatic<Cell<Option<Kept>>> = PhpStatic::new(Cell::new(None));

/// Returns the runtime, if this request has one.
#[inline(always)]
pub fn existing() -> Option<&'static Runtime> {
    // SAFETY: lasts until `give_back`, when nothing uses it.
    RUNTIME.get().map(|rt| unsafe { rt.as_ref() })
}

/// Returns the runtime, which is created at its first use in a request. An entry point (a function that the engine, PHP code or
/// `interpose` calls) fetches it and passes it on.
#[inline(always)]
pub fn rt() -> &'static Runtime {
    existing().unwrap_or_else(begin)
}

/// Returns the runtime to code of further crates.
///
/// # Errors
/// An exception is in flight, so no other code must run.
pub fn runtime() -> Result<&'static Runtime, Thrown> {
    request::check_place();
    exception::check().map(|()| rt())
}

#[cold]
fn begin() -> &'static Runtime {
    let new = || Kept { reactor: OnceCell::new(), stacks: Stacks::new(stacks::wanted_size()) };
    let made = Box::into_raw(Box::new(Runtime::new(KEPT.take().unwrap_or_else(new))));
    RUNTIME.set(NonNull::new(made));
    // SAFETY: just made.
    let rt: &'static Runtime = unsafe { &*made };
    stacks::set_running(Some(&*rt.main));
    c::spindle_calls_without_park.set(0);
    rt.begin_request();
    rt
}

/// Ends the request: no coroutine runs again. The runtime stays until [`give_back`], because objects are destroyed after this, and
/// other modules may run code at their request's end.
pub fn end_request() {
    if let Some(rt) = existing() {
        rt.end(None);
        moments::request_ended();
    }
}

/// Makes the event loop forget all descriptors and waiters. To be called before descriptors are closed unseen.
pub fn forget_events() {
    if let Some(reactor) = existing().and_then(|rt| rt.reactor.get()) {
        reactor.forget_all();
    }
}

/// Frees the runtime, after the request's objects. The event loop, its threads and some stacks stay for the next request.
pub fn give_back() {
    let Some(rt) = existing() else { return };
    scope::forget_all(rt);
    rt.reports.forget();
    rt.given.forget();
    rt.copies.forget();
    std::mem::forget(rt.deadlock.take());
    stacks::set_running::<Ctx>(None);
    let Some(made) = RUNTIME.take() else { return };
    // SAFETY: made by `begin`. No code of the request runs any more, nor does its watchdog: nothing uses the runtime.
    let rt = unsafe { Box::from_raw(made.as_ptr()) };
    LAST_EPOCH.set(rt.core.borrow().last_epoch());
    let mut stacks = rt.stacks.into_inner();
    if !stacks.are_worth_keeping() {
        stacks = Stacks::new(stacks::wanted_size());
    }
    KEPT.set(Some(Kept { reactor: rt.reactor, stacks }));
}

/// What stays from one request to the next.
struct Kept {
    reactor: OnceCell<Reactor>,
    stacks: Stacks<Ctx>,
}

/// Returns a core for a request, by the present settings.
fn new_core() -> Core {
    // `async.seed`: 0 runs the ready ones first in, first out.
    let seed = engine::setting(c"async.seed").trim().parse().unwrap_or(0);
    let order = if seed == 0 { Order::Fifo } else { Order::Seeded(seed) };
    Core::new(Reactor::now(), order, scope::default_lifetime()).with_epochs_after(LAST_EPOCH.get())
}

impl Runtime {
    /// Returns a runtime in which nothing has run.
    fn new(kept: Kept) -> Runtime {
        Runtime {
            core: RefCell::new(new_core()),
            objects: RefCell::new(Vec::new()),
            scopes: RefCell::new(Vec::new()),
            groups: Groups::default(),
            reports: Reports::new(),
            given: Notes::new(),
            copies: Notes::new(),
            deadlock: OwnedCell::new(),
            shutdown: RefCell::default(),
            reactor: kept.reactor,
            stacks: RefCell::new(kept.stacks),
            main: Box::new(Ctx::of_main()),
            picks: Cell::new(0),
            turns: Turns::default(),
            cancelled_in_callback: Cell::new(0),
            signal_target: Cell::new(None),
            signal_owners: RefCell::new(Owners::new()),
            waits_to_give_up: RefCell::new(Vec::new()),
        }
    }

    fn begin_request(&'static self) {
        *self.core.borrow_mut() = new_core();
        let size = stacks::wanted_size();
        if !self.stacks.borrow().have_size(size) {
            *self.stacks.borrow_mut() = Stacks::new(size);
        }
        if request::is_winding_down() {
            self.core.borrow_mut().end_all(None);
            gate::close_for_good();
        }
        let object = COROUTINE.make();
        object.co.set(Core::MAIN);
        object.ctx.set(Some(&self.main));
        self.main.id.set(self.core.borrow().id(Core::MAIN));
        self.objects.borrow_mut().push(NonNull::new(object.into_raw()));
        if !self.has_ended() {
            c::spindle_watch_request_end();
        }
        if fork::forked_unseen() {
            fork::in_child(self);
        }
    }
}

/// Calls `ask` with the core.
pub fn core<R>(ask: impl FnOnce(&Core) -> R) -> R {
    ask(&rt().core.borrow())
}

impl Runtime {
    /// Takes the pending cancellation of the running coroutine.
    pub fn take_cancellation(&self) -> Option<Owned<Object>> {
        self.core.borrow_mut().take_cancellation().map(ManuallyDrop::into_inner)
    }

    /// Takes the pending cancellation of a coroutine to which it will not be delivered any more.
    pub fn discard_cancellation(&self, co: CoroutineId) -> Option<Owned<Object>> {
        self.core.borrow_mut().discard_cancellation(co).map(ManuallyDrop::into_inner)
    }

    /// Delivers a failure of a scope to a coroutine that waits for the scope.
    pub fn deliver(&self, co: CoroutineId, scope: ScopeId, failure: Owned<Object>) {
        self.core.borrow_mut().deliver(co, scope, ManuallyDrop::new(failure));
    }

    /// Takes a failure of a scope that the running coroutine waits for.
    pub fn take_delivery(&self, scope: ScopeId) -> Option<Owned<Object>> {
        self.core.borrow_mut().take_delivery(scope).map(ManuallyDrop::into_inner)
    }

    /// Puts what the main coroutine hands down into `inherited`, whichever runs.
    pub fn inherit_from_main(&self, inherited: &Inherited) {
        if self.is_on_main() {
            inherited.capture();
        } else {
            self.main.travelling.hand_down(inherited);
        }
    }

    /// Returns `true` if none of its parts is being changed.
    pub fn is_whole(&self) -> bool {
        self.core.try_borrow_mut().is_ok() && self.stacks.try_borrow_mut().is_ok()
    }

    /// Returns the running context.
    #[inline(always)]
    pub fn context(&'static self) -> &'static Ctx {
        Ctx::running().unwrap_or(&self.main)
    }

    /// Returns `true` if main's stack runs.
    #[inline(always)]
    pub(super) fn is_on_main(&self) -> bool {
        Ctx::running().is_none_or(|ctx| *ctx == *self.main)
    }

    /// Returns the innermost frame of a coroutine that has started and not ended. A coroutine that the core has parked still runs
    /// while it picks the next one, whose start may fail.
    pub fn frame_of(&'static self, this: &Coroutine) -> Option<Frame> {
        let ctx = this.ctx.get()?;
        if ctx == self.context() { Frame::current() } else { ctx.travelling.frame() }
    }

    /// Returns the reactor, which is created at its first use.
    pub fn reactor(&self) -> &Reactor {
        self.reactor.get_or_init(|| {
            Reactor::new().unwrap_or_else(|error| {
                let text = exception::c_text(&format!("Spindle cannot make its event loop: {error}"));
                // Ends the request like any fatal error, before anything depends on the reactor.
                c::spindle_fatal(Text::of(&text));
                std::process::abort()
            })
        })
    }

    /// Returns `true` for the error that a deadlock has given a coroutine.
    pub fn is_deadlock(&self, exception: &Object) -> bool {
        !self.deadlock.is_empty() && exception.class() == classes::deadlock()
    }

    /// Returns `true` if no coroutine runs again.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.core.borrow().life().has_ended()
    }

    /// Ends the application: no coroutine runs again. `why`: main's stack ends the request in place of the script's own end.
    pub fn end(&'static self, why: Option<Leaving>) {
        if !self.has_ended() {
            for this in self.all_objects() {
                self.abandon(&this);
            }
        }
        self.core.borrow_mut().end_all(why);
        moments::loop_waits();
        gate::close_for_good();
    }

    /// Abandons a coroutine: if it is suspended, it is never resumed.
    fn abandon(&'static self, this: &Coroutine) {
        let Some(ctx) = this.ctx.get().filter(|ctx| *ctx != self.context()) else { return };
        if let Some(frame) = ctx.travelling.frame() {
            c::spindle_abandon(frame);
            ctx.travelling.forget_marks();
        }
    }

    /// Returns `true` if main's stack ends the request, and not for a fatal error.
    pub fn is_left(&self) -> bool {
        matches!(self.core.borrow().life().leaving(), Some(Leaving::Exit | Leaving::Over))
    }

    /// Keeps only the running coroutine, in the child of a fork.
    pub fn after_fork(&'static self) {
        let dropped = self.core.borrow_mut().after_fork();
        moments::forked(self);
        for co in dropped {
            // Its object stays alive by the runtime's reference, which is never given back: nothing of a coroutine that
            // lives on in the parent may be released here.
            let this = self.object(co);
            failure::disown(self, this);
            self.abandon(this);
        }
        if let Some(reactor) = self.reactor.get() {
            reactor.after_fork();
        }
    }
}

/// Returns how the reactor knows what it wakes.
pub fn waiter(wakeup: Wakeup) -> Waiter {
    Waiter(wakeup.to_u64())
}

impl Runtime {
    /// Wakes what the reactor knows as this waiter.
    pub fn wake(&self, waiter: Waiter) {
        self.core.borrow_mut().wake_up(Wakeup::from_u64(waiter.0));
    }

    /// Returns how many stacks there are, and the bytes of each C stack.
    pub fn stack_figures(&self) -> (usize, usize) {
        let stacks = self.stacks.borrow();
        (stacks.count(), stacks.size())
    }
}
