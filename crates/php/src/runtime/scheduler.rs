//! The runtime: binds the core's decisions to stacks, the engine's state and the reactor. All switching happens in
//! [`Runtime::switch`].
//!
//! A coroutine that parks picks the next one and switches to it directly; if none is ready, it waits for events on its own
//! stack. A stack whose coroutine has ended starts the next fresh one in place.
//!
//! ```text
//!   park ─► pick ─┬─ one is ready ──► switch (or return, if it is this one)
//!                 ├─ none is ready ─► wait for events ─► again
//!                 ├─ nothing to wait for ─► deadlock: all are cancelled ─► again
//!                 └─ all have ended ─► main's stack, where the script's end waits
//! ```
//! Borrows of the cells here are short: none is held across a switch or a call that can run PHP code.

use crate::c;
use crate::isolation::{Inherited, SuspendedIn};
use crate::runtime::cancellation::Notes;
use crate::runtime::coroutine::{COROUTINE, Coroutine, CoroutineObject, Info, Wants};
use crate::runtime::ctx::Ctx;
use crate::runtime::group::Groups;
use crate::runtime::report::Reports;
use crate::runtime::runner::Job;
use crate::runtime::scope::{self, Record};
use crate::runtime::signals::{Owners, SignalTarget};
use crate::runtime::{classes, failure, fork, moments, observers, signal_waits, suspension};
use crate::settings;
use crate::stack::arch;
use crate::stack::stacks::{self, Stacks};
use spindle_core::sched::{self, CoroutineId, Next, Order, ScopeId, Ticket, WaitReason, WakeReason};
use spindle_interpose::host;
use spindle_reactor::{Reactor, Waiter};
use spindle_zend::{FiberContext, Frame, Object, Owned, OwnedCell, PhpStatic, Text, engine, exception, sys};
use std::cell::{Cell, OnceCell, RefCell};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

/// The core, with exceptions (owned references) as reasons.
pub type Core = sched::Core<Reason>;

/// An exception, as the core keeps it. The caller that takes it out releases it when no borrow of the core is alive.
pub type Reason = ManuallyDrop<Owned<Object>>;

/// The phase of the application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The script runs.
    Running,
    /// Graceful shutdown: all coroutines were cancelled and run to their ends.
    ShuttingDown,
    /// No coroutine runs again.
    Ended,
}

/// Why main's stack ends the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaving {
    /// A coroutine exits.
    Exit,
    /// No other coroutine is left, and main's can never go on: in the child of a fork by another coroutine, or where main waits
    /// for something that will never come.
    Over,
    /// A fatal error has been reported in a coroutine.
    Fatal,
}

/// The reactor is polled once in so many picks even if coroutines are ready.
const PICKS_PER_POLL: u32 = 64;

/// How many calls that did not wait a coroutine makes before it looks for events.
pub const CALLS_PER_LOOK: u32 = sys::SPINDLE_CALLS_PER_LOOK;

/// How far ahead in the run queue memory is prefetched.
const AHEAD: usize = 3;

/// The coroutines of a request, and what the process keeps for those of the next.
pub struct Runtime {
    pub(crate) core: RefCell<Core>,
    /// The objects of coroutines by slot. All are alive: an object that is freed removes itself. Until a coroutine is complete,
    /// the runtime owns one reference to its object.
    objects: RefCell<Vec<Option<NonNull<CoroutineObject>>>>,
    /// What is kept of scopes, by slot.
    pub(crate) scopes: RefCell<Vec<Option<Rc<Record>>>>,
    /// User code's groups.
    pub(crate) groups: Groups,
    /// How often zombies were cancelled because their time was over, and whether the runtime has given up waiting for them.
    pub(crate) zombie_rounds: Cell<u8>,
    pub(crate) zombies_given_up: Cell<bool>,
    /// Failures that nothing handles, to be reported.
    pub(crate) reports: Reports,
    /// Exceptions that user code has handed in to cancel with, and their previous ones then.
    pub(crate) given: Notes,
    /// Copies of exceptions that coroutines were cancelled with, and their originals.
    pub(crate) copies: Notes,
    /// The deadlock error that will be reported.
    pub(crate) deadlock: OwnedCell<Object>,
    /// The message of the cancellations of the shutdown that has begun.
    pub(crate) shutdown: RefCell<String>,
    pub(crate) phase: Cell<Phase>,
    reactor: OnceCell<Reactor>,
    pub(crate) stacks: RefCell<Stacks<Ctx>>,
    main: Box<Ctx>,
    no_switch: Cell<u32>,
    picks: Cell<u32>,
    main_gone: Cell<bool>,
    /// The id of the coroutine whose cancellation was deferred because it ran in a callback of C code; 0 if there is none.
    pub(crate) cancelled_in_callback: Cell<u64>,
    /// Why main's stack ends the request when it is switched to.
    leaving: Cell<Option<Leaving>>,
    /// Main's own code has ended, and its stack waits for the others.
    draining: Cell<bool>,
    pub(crate) signal_target: Cell<Option<SignalTarget>>,
    pub(crate) signal_owners: RefCell<Owners>,
    /// The coroutines whose waits are given up if another one closes a cycle with them, and some that have been abandoned.
    pub(crate) waits_to_give_up: RefCell<Vec<CoroutineId>>,
    /// The first `spawn` of the request has been seen.
    pub(crate) active: Cell<bool>,
}

/// The runtime of this request.
static RUNTIME: PhpStatic<Cell<Option<NonNull<Runtime>>>> = PhpStatic::new(Cell::new(None));

/// What the last request has left for the next.
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
        rt.end();
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
    std::mem::forget(rt.main.cancellation.take());
    stacks::set_running::<Ctx>(None);
    let Some(made) = RUNTIME.take() else { return };
    // SAFETY: made by `begin`. No code of the request runs any more, nor does its watchdog: nothing uses the runtime.
    let rt = unsafe { Box::from_raw(made.as_ptr()) };
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
    Core::new(Reactor::now(), order, scope::default_lifetime())
}

impl Runtime {
    /// Returns a runtime in which nothing has run.
    fn new(kept: Kept) -> Runtime {
        Runtime {
            core: RefCell::new(new_core()),
            objects: RefCell::new(Vec::new()),
            scopes: RefCell::new(Vec::new()),
            groups: Groups::default(),
            zombie_rounds: Cell::new(0),
            zombies_given_up: Cell::new(false),
            reports: Reports::new(),
            given: Notes::new(),
            copies: Notes::new(),
            deadlock: OwnedCell::new(),
            shutdown: RefCell::default(),
            phase: Cell::new(Phase::Ended),
            reactor: kept.reactor,
            stacks: RefCell::new(kept.stacks),
            main: Box::new(Ctx::of_main()),
            no_switch: Cell::new(0),
            picks: Cell::new(0),
            main_gone: Cell::new(false),
            cancelled_in_callback: Cell::new(0),
            leaving: Cell::new(None),
            draining: Cell::new(false),
            signal_target: Cell::new(None),
            signal_owners: RefCell::new(Owners::new()),
            waits_to_give_up: RefCell::new(Vec::new()),
            active: Cell::new(false),
        }
    }

    fn begin_request(&'static self) {
        *self.core.borrow_mut() = new_core();
        let size = stacks::wanted_size();
        if !self.stacks.borrow().have_size(size) {
            *self.stacks.borrow_mut() = Stacks::new(size);
        }
        self.phase.set(if suspension::script_is_over() { Phase::Ended } else { Phase::Running });
        self.no_switch.set(suspension::no_switch());
        let object = COROUTINE.make();
        object.co.set(Core::MAIN);
        object.ctx.set(Some(&self.main));
        self.main.id.set(self.core.borrow().id(Core::MAIN));
        self.objects.borrow_mut().push(NonNull::new(object.into_raw()));
        if self.phase.get() == Phase::Running {
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

/// Returns the coroutine with this id, if its object still exists.
pub fn find(rt: &Runtime, id: u64) -> Option<Owned<CoroutineObject>> {
    let slot = {
        let core = rt.core.borrow();
        let objects = rt.objects.borrow();
        (0..).zip(objects.iter()).find(|(slot, this)| this.is_some() && core.id(CoroutineId(*slot)) == id)?.0
    };
    rt.find_object(CoroutineId(slot))
}

/// A coroutine that was picked.
pub(crate) enum To {
    Fresh(CoroutineId),
    Ctx(&'static Ctx),
}

impl Runtime {
    /// Returns the object of a coroutine that is not complete, or of one whose object is known to be alive.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn object(&self, co: CoroutineId) -> &CoroutineObject {
        let object = self.objects.borrow()[co.0 as usize].expect("the object of a coroutine that is not complete");
        // SAFETY: alive, by the runtime's reference or as the caller says.
        unsafe { object.as_ref() }
    }

    /// Returns the object in a coroutine's slot, if there is one.
    pub fn find_object(&self, co: CoroutineId) -> Option<Owned<CoroutineObject>> {
        let object = (*self.objects.borrow().get(co.0 as usize)?)?;
        // SAFETY: those in the table are alive.
        Some(Owned::of(unsafe { object.as_ref() }))
    }

    /// Returns `true` if this is the object in a coroutine's slot.
    pub fn is_object(&self, co: CoroutineId, this: &Coroutine) -> bool {
        let object = self.objects.borrow().get(co.0 as usize).copied().flatten();
        // An object begins with its state.
        object.is_some_and(|object| std::ptr::eq(object.as_ptr().cast(), this))
    }

    /// Returns all objects, those of complete coroutines too.
    pub fn all_objects(&self) -> Vec<Owned<CoroutineObject>> {
        // SAFETY: those in the table are alive.
        self.objects.borrow().iter().flatten().map(|object| Owned::of(unsafe { object.as_ref() })).collect()
    }

    /// Removes the object in a coroutine's slot, which is being freed.
    pub fn forget_object(&self, co: CoroutineId) {
        self.objects.borrow_mut()[co.0 as usize] = None;
    }

    /// Puts a new object in the place of one that is being freed, whose coroutine is complete.
    pub fn replace_object(&self, this: &Coroutine) -> Owned<CoroutineObject> {
        let other = COROUTINE.make();
        other.take_over(this);
        self.objects.borrow_mut()[this.co.get().0 as usize] = Some(NonNull::from(&*other));
        other
    }

    /// Returns the reference that the runtime has owned until now to the object of a coroutine, which is complete.
    pub fn take_reference(&self, this: &CoroutineObject) -> Option<Owned<CoroutineObject>> {
        // SAFETY: taken once, when the coroutine is complete.
        unsafe { Owned::from_raw(std::ptr::from_ref(this).cast_mut()) }
    }

    /// Keeps the main coroutine's object until the request ends.
    pub fn keep_main(&self) {
        std::mem::forget(Owned::of(self.object(Core::MAIN)));
    }

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

    /// Returns the running coroutine. On main's stack it is the main coroutine even when that has ended: shutdown functions run
    /// there.
    #[inline(always)]
    pub fn running(&self) -> &CoroutineObject {
        if self.is_on_main() {
            return self.object(Core::MAIN);
        }
        let co = self.core.borrow().running();
        self.object(co)
    }

    /// Returns the coroutine as which the running code acts: the running one, or that for whose end a runner calls callbacks.
    pub fn acting(&self) -> Owned<CoroutineObject> {
        let running = self.running();
        running.job().and_then(Job::acts_as).unwrap_or_else(|| Owned::of(running))
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
    fn is_on_main(&self) -> bool {
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

    /// Returns `true` if the running coroutine can be suspended here.
    #[inline(always)]
    pub fn can_switch(&self) -> bool {
        self.no_switch.get() == 0 && self.phase.get() != Phase::Ended
    }

    /// Forbids switches until [`Runtime::allow_switch`]. Nests.
    pub fn forbid_switch(&self) {
        self.no_switch.set(self.no_switch.get() + 1);
        host::disable_suspension();
    }

    /// Ends one [`Runtime::forbid_switch`].
    pub fn allow_switch(&self) {
        self.no_switch.set(self.no_switch.get() - 1);
        self.set_gate();
    }

    /// Allows switches again in a coroutine that a fatal error has left.
    pub fn survived(&self) {
        self.no_switch.set(0);
        self.set_gate();
    }

    /// Enables or disables suspension by hooked calls, as switching is allowed or not.
    pub fn set_gate(&self) {
        if self.can_switch() && self.active.get() {
            host::enable_suspension();
        } else {
            host::disable_suspension();
        }
    }

    /// Ends the application: the script has ended, or it exits. No coroutine runs again.
    pub fn end(&'static self) {
        if self.phase.get() != Phase::Ended {
            for this in self.all_objects() {
                self.abandon(&this);
            }
        }
        self.switch_no_more();
        self.core.borrow_mut().run_as_main();
    }

    /// Abandons a coroutine: if it is suspended, it is never resumed.
    fn abandon(&'static self, this: &Coroutine) {
        let Some(ctx) = this.ctx.get().filter(|ctx| *ctx != self.context()) else { return };
        if let Some(frame) = ctx.travelling.frame() {
            c::spindle_abandon(frame);
            ctx.travelling.forget_marks();
        }
    }

    /// Returns `true` if main's stack has been left for good without a fatal error.
    pub fn is_left(&self) -> bool {
        self.leaving.get().is_some_and(|why| why != Leaving::Fatal)
    }

    fn switch_no_more(&self) {
        self.phase.set(Phase::Ended);
        moments::loop_waits();
        host::disable_suspension();
    }

    /// Adds a new coroutine by `spawn`. The runtime takes over the reference to its object.
    #[inline(always)]
    pub fn enqueue(
        &'static self,
        object: Owned<CoroutineObject>,
        spawn: impl FnOnce(&mut Core) -> CoroutineId,
    ) -> CoroutineId {
        let running = if self.is_on_main() { Core::MAIN } else { self.core.borrow().running() };
        let spawner = self.objects.borrow().get(running.0 as usize).copied().flatten();
        // SAFETY: those in the table are alive. There is none if the coroutine is complete and this is about its end.
        if let Some(spawner) = spawner.map(|spawner| unsafe { spawner.as_ref() }) {
            if spawner.runs_file.get() {
                moments::spawning(self);
            }
            object.inside.set(spawner.inside.get());
        }
        let co = spawn(&mut self.core.borrow_mut());
        object.co.set(co);
        let mut objects = self.objects.borrow_mut();
        if objects.len() <= co.0 as usize {
            objects.resize(co.0 as usize + 1, None);
        }
        objects[co.0 as usize] = NonNull::new(object.into_raw());
        co
    }

    /// Returns a ticket for the running coroutine's next park.
    #[inline(always)]
    pub fn begin_wait(&self) -> Ticket {
        self.core.borrow_mut().begin_wait()
    }

    /// Parks the running coroutine (after [`Runtime::begin_wait`]) until it is woken, while others run, and returns the reason of
    /// the wake-up. Only where [`Runtime::can_switch`].
    pub fn park(&'static self, deadline: Option<u64>, on: WaitReason, cancellable: bool, info: Info) -> WakeReason {
        self.park_inline(deadline, on, cancellable, info)
    }

    /// Does the same, for the waits that are the most frequent ones.
    #[inline(always)]
    pub fn park_inline(
        &'static self,
        deadline: Option<u64>,
        on: WaitReason,
        cancellable: bool,
        info: Info,
    ) -> WakeReason {
        if fork::forked_unseen() {
            fork::in_child(self);
        }
        if spindle_reactor::signals::pending() {
            self.poll(Some(0)); // a signal interrupts what was blocked when it came, not what comes after
        }
        if self.is_interrupted_before(on) {
            return WakeReason::Interrupted;
        }
        if let Some(reason) = self.core.borrow_mut().park(deadline, on, cancellable) {
            return reason;
        }
        let this = self.running();
        c::spindle_calls_without_park.set(0);
        this.suspended_at.set_to_code_of(Frame::current());
        this.waits(info);
        moments::suspending(self);
        if !matches!(info.wants, Wants::Unknown) && !self.waits_to_give_up.borrow().is_empty() {
            moments::awaits_others(self);
        }
        self.suspend(matches!(on, WaitReason::External { .. }));
        this.waits_no_more();
        self.interrupt_signal_target();
        self.core.borrow_mut().resumed(cancellable)
    }

    /// Yields to the coroutines that are ready, in as few steps as possible. Returns `true` if a cancellation is pending then.
    #[inline]
    pub fn yield_now(&'static self) -> bool {
        if fork::forked_unseen() {
            fork::in_child(self);
        }
        moments::run_ends(self);
        let picks = self.picks.get().wrapping_add(1);
        self.picks.set(picks);
        if picks.is_multiple_of(PICKS_PER_POLL) || spindle_reactor::signals::pending() {
            self.poll(Some(0));
        }
        let this = self.running();
        c::spindle_calls_without_park.set(0);
        this.suspended_at.set_to_code_of(Frame::current());
        moments::suspending(self);
        if self.zombies_given_up.get() && self.is_over() {
            self.begin_wait();
            self.core.borrow_mut().park(None, WaitReason::Yield, false);
            self.suspend(false); // for good
        }
        let next = {
            let mut core = self.core.borrow_mut();
            let next = core.yield_now();
            self.warm(&core);
            next
        };
        let me = self.context();
        match next {
            None => {}
            Some(Next::Resume(co)) => {
                let to = self.context_of(co);
                if to != me {
                    self.switch(me, to, false);
                    self.back_on(me);
                }
            }
            Some(Next::Start(co) | Next::CancelledBeforeStart(co)) => match self.start(me, co, false) {
                true => self.back_on(me),
                false => self.suspend(false), // it is queued behind those that can run
            },
            Some(Next::Idle) => self.suspend(false), // it has been abandoned, or it would be ready itself
        }
        self.interrupt_signal_target();
        self.core.borrow().cancellation_waits()
    }

    /// Prefetches what the next coroutines in the run queue will touch: with thousands of them, none is in the caches any more
    /// when it is resumed. Each step reads what the one before it has prefetched.
    #[inline(always)]
    fn warm(&self, core: &Core) {
        let Some(next) = core.nth_ready(AHEAD) else { return };
        if let Some(ctx) = self.object(next).ctx.get() {
            prefetch(ctx.stack.sp.get(), 0..10); // the frames of C in which it was suspended
            prefetch(ctx, 1..7);
            if let Some(fiber) = ctx.travelling.fiber() {
                prefetch(fiber, 0..1);
            }
            if let Some(frame) = ctx.travelling.frame() {
                prefetch(frame.as_raw(), -3..2); // with that of the caller, which lies below
            }
        }
        let Some(second) = core.nth_ready(2 * AHEAD) else { return };
        if let Some(ctx) = self.object(second).ctx.get() {
            prefetch(ctx, 0..1);
        }
        let Some(third) = core.nth_ready(3 * AHEAD) else { return };
        prefetch(self.object(third), 0..4);
        prefetch(core.place_of(third), 1..3);
    }

    /// Completes a switch back to `me`.
    #[inline(always)]
    fn back_on(&'static self, me: &Ctx) {
        if let Some(why) = self.leaving.get()
            && *me == *self.main
        {
            self.end();
            if why == Leaving::Over {
                failure::report_unseen(self);
            }
            crate::runtime::report::report_rest(self, why != Leaving::Over);
            if self.draining.get() && self.is_left() {
                return; // `drain` says so
            }
            // On main's own stack, inside the engine's outermost try block. The Rust frames in between own nothing that
            // matters (see `Host`).
            engine::bail_out();
        }
        if me.stack.overflowed.get() {
            engine::request_interrupt(); // another coroutine may have consumed the request
        }
    }

    /// Suspends the running coroutine, which the core has parked or queued, until it is picked again. `in_c`: it is in C code that
    /// has called a blocking function of libc.
    fn suspend(&'static self, in_c: bool) {
        moments::run_ends(self);
        let me = self.context();
        loop {
            match self.pick() {
                To::Ctx(to) if to == me => break,
                To::Ctx(to) => {
                    self.switch(me, to, in_c);
                    break;
                }
                To::Fresh(co) if self.start(me, co, in_c) => break,
                To::Fresh(_) => {} // it has failed: the next one is picked
            }
        }
        self.back_on(me);
    }

    /// Suspends the running coroutine, which has ended and waits for those that it has spawned, until it is resumed.
    pub fn linger(&'static self) {
        self.suspend(false);
    }

    /// Returns the context of a coroutine that has started and has not ended.
    ///
    /// # Panics
    /// It has none.
    #[inline(always)]
    fn context_of(&self, co: CoroutineId) -> &'static Ctx {
        self.object(co).ctx.get().expect("a coroutine that has started has a context")
    }

    /// Suspends `from`, which runs, and resumes `to`, which the core has picked.
    #[inline(always)]
    fn switch(&self, from: &'static Ctx, to: &'static Ctx, in_c: bool) {
        observers::switch(to);
        depart(from, in_c);
        // SAFETY: `to` was left, and what belongs to `from` was taken.
        unsafe { to.travelling.resume() };
        arrive(to);
        // SAFETY: `from` runs, and `to` was left. No borrow is alive here that another coroutine could meet.
        unsafe { arch::switch(&from.stack, &to.stack) };
    }

    /// Starts a fresh coroutine on a stack of its own, and returns `true` when `me` is resumed; `false` if there is no stack for it.
    fn start(&'static self, me: &'static Ctx, co: CoroutineId, in_c: bool) -> bool {
        let taken = self.stacks.borrow_mut().take();
        let Some(ctx) = taken.or_else(|| self.further_stack(co)) else { return false };
        #[cfg(asan)]
        crate::stack::asan::begin(&ctx.stack);
        // SAFETY: nothing uses the stack.
        unsafe { arch::prepare(&ctx.stack, crate::runtime::life::stack_main) };
        let this = self.object(co);
        let fiber = observers::begin(ctx, this);
        depart(me, in_c);
        self.adopt(ctx, this, fiber);
        arrive(ctx);
        // SAFETY: `me` runs, and `ctx` was prepared. No borrow is alive here that another coroutine could meet.
        unsafe { arch::switch(&me.stack, &ctx.stack) };
        true
    }

    /// Returns a new stack for a fresh coroutine, or the last free one; `None` if there is none, and the coroutine has failed. The
    /// frames of this function lie on the stack of each coroutine that is suspended for a fresh one: they have to be small.
    #[cold]
    #[inline(never)]
    fn further_stack(&'static self, co: CoroutineId) -> Option<&'static Ctx> {
        // A coroutine that works for others, or was cancelled, ends soon and gets the last one.
        let last = self.object(co).job().is_some() || !self.core.borrow().is_started(co);
        let made = self.stacks.borrow_mut().make_or_last(last);
        made.inspect_err(|why| failure::never_starts(self, co, *why)).ok()
    }

    /// Makes `ctx` the context of a coroutine, with a fresh state of the engine and what [`observers::begin`] has returned. The
    /// state of the coroutine that ran has been saved, or that one has ended; no coroutine uses the stack.
    #[inline(always)]
    pub(crate) fn adopt(&self, ctx: &'static Ctx, this: &Coroutine, fiber: &FiberContext) {
        let co = this.co.get();
        ctx.co.set(co);
        ctx.calls.set(null_mut());
        ctx.id.set(self.core.borrow().id(co));
        this.ctx.set(Some(ctx));
        // SAFETY: as said above.
        unsafe { ctx.travelling.begin(&ctx.stack, &this.inherited, fiber) };
    }

    /// Picks the coroutine that runs next. Waits for events while none is ready.
    #[inline(always)]
    pub(crate) fn pick(&'static self) -> To {
        let picks = self.picks.get().wrapping_add(1);
        self.picks.set(picks);
        if picks.is_multiple_of(PICKS_PER_POLL) {
            self.poll(Some(0));
        }
        if self.zombies_given_up.get() && self.is_over() {
            return self.back_to_main();
        }
        let next = {
            let mut core = self.core.borrow_mut();
            let next = core.next_to_run();
            self.warm(&core);
            next
        };
        match next {
            Next::Start(co) | Next::CancelledBeforeStart(co) => To::Fresh(co),
            Next::Resume(co) => To::Ctx(self.context_of(co)),
            Next::Idle => self.pick_when_idle(),
        }
    }

    /// Picks the coroutine that runs next, when none is ready.
    #[cold]
    #[inline(never)]
    fn pick_when_idle(&'static self) -> To {
        loop {
            if self.is_over() {
                return self.back_to_main();
            }
            let (hope, deadline) = {
                let mut core = self.core.borrow_mut();
                core.update_zombie_timer(Reactor::now(), zombie_grace());
                (core.has_wake_source(), core.next_deadline())
            };
            if !hope {
                if !moments::stalled(self) {
                    failure::deadlock(self);
                }
            } else {
                self.poll(deadline.map(|d| d.saturating_sub(Reactor::now())));
            }
            if self.zombies_given_up.get() && self.is_over() {
                return self.back_to_main();
            }
            let next = self.core.borrow_mut().next_to_run();
            match next {
                Next::Start(co) | Next::CancelledBeforeStart(co) => return To::Fresh(co),
                Next::Resume(co) => return To::Ctx(self.context_of(co)),
                Next::Idle => {}
            }
        }
    }

    /// Waits for events for at most `timeout` nanoseconds, wakes coroutines and fires timers.
    pub fn poll(&'static self, timeout: Option<u64>) {
        moments::run_ends(self);
        if timeout != Some(0) {
            moments::loop_waits();
        }
        let turn = self.reactor().turn(timeout, |waiter| {
            self.core.borrow_mut().wake_number(waiter.0);
        });
        if timeout != Some(0) {
            moments::loop_wakes();
        }
        let events = {
            let mut core = self.core.borrow_mut();
            let now = Reactor::now();
            core.expire(now);
            core.update_zombie_timer(now, zombie_grace());
            core.has_events()
        };
        if events {
            failure::carry_out(self);
        }
        if turn.signals != 0 {
            self.signalled(turn.signals, turn.from_outside);
            signal_waits::caught(turn.signals);
        }
        if turn.report {
            moments::dump_requested(self);
        }
    }

    /// Returns how often a coroutine was picked: what has not changed says that no other one has run.
    pub fn picks(&self) -> u32 {
        self.picks.get()
    }

    /// Counts a call that did not wait. Returns how many there were since the last park.
    pub fn count_call(&self) -> u32 {
        let calls = c::spindle_calls_without_park.get().wrapping_add(1);
        c::spindle_calls_without_park.set(calls);
        calls
    }

    /// Counts a call that did not wait. Returns `true` every `calls_per_look` calls: [`Runtime::maybe_yield`] is due.
    #[inline]
    pub fn is_look_due(&self, calls_per_look: u32) -> bool {
        self.count_call() >= calls_per_look
    }

    /// Yields if others are ready, after a look at the reactor if none is but something may come. Returns `true` if a cancellation is
    /// pending, which came meanwhile or during a call that could not be given up.
    pub fn maybe_yield(&'static self) -> bool {
        c::spindle_calls_without_park.set(0);
        if !self.core.borrow().has_ready() {
            if self.may_have_events() {
                self.poll(Some(0));
            } else {
                moments::run_ends(self); // it blocks nobody
            }
        }
        if self.core.borrow().has_ready() {
            self.begin_wait();
            self.park(None, WaitReason::Yield, false, Info::NONE);
        }
        self.core.borrow().cancellation_waits()
    }

    /// Returns `false` if an event could do nothing: the running coroutine is the only one, without a time limit, and there was no
    /// signal.
    pub fn may_have_events(&self) -> bool {
        let core = self.core.borrow();
        core.live() > 1 || core.deadlines() > 0 || spindle_reactor::signals::pending()
    }

    /// Yields at once if others are ready; polls for events only now and then. Returns what [`Runtime::maybe_yield`] returns.
    pub fn yield_if_ready(&'static self) -> bool {
        let calls_per_look = if self.core.borrow().has_ready() { 0 } else { CALLS_PER_LOOK };
        self.is_look_due(calls_per_look) && self.maybe_yield()
    }

    /// Keeps only the running coroutine, in the child of a fork.
    pub fn after_fork(&'static self) {
        let main_runs = self.is_on_main();
        let main_had_ended = self.core.borrow().is_done(sched::Target::Coroutine(Core::MAIN));
        let dropped = self.core.borrow_mut().after_fork();
        self.main_gone.set(!main_runs && !main_had_ended);
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

    /// Returns main's stack, which ends the request: at once in the child of a fork where the main coroutine does not exist, and where
    /// the main coroutine waits for something that will never come.
    fn back_to_main(&'static self) -> To {
        let waits = self.core.borrow().state(Core::MAIN) != sched::State::Done;
        if self.main_gone.get() || waits {
            self.leaving.set(Some(Leaving::Over));
        }
        To::Ctx(&self.main)
    }

    /// Returns `true` if no coroutine is left but those that were abandoned or given up.
    #[inline]
    fn is_over(&self) -> bool {
        let core = self.core.borrow();
        core.live() == core.abandoned() || self.zombies_given_up.get() && core.only_zombies()
    }

    /// Runs all coroutines until none is left, after the script's own code has ended. Returns `false` if one of them exits.
    pub fn drain(&'static self) -> bool {
        self.draining.set(true);
        while !self.is_over() && !self.is_left() {
            self.suspend(false);
        }
        self.draining.set(false);
        !self.is_left()
    }

    /// Ends the request on main's stack, because a coroutine has bailed out or exits.
    pub(crate) fn end_on_main(&'static self, ctx: &'static Ctx, why: Leaving) -> ! {
        self.end();
        self.leaving.set(Some(why));
        let fiber = observers::end();
        let main: &'static Ctx = &self.main;
        observers::switch(main);
        // SAFETY: the running context, which is never resumed.
        unsafe { ctx.travelling.abandon() };
        // SAFETY: main was left by `switch` or `start`.
        unsafe { main.travelling.resume() };
        ctx.travelling.hand_over(); // as the script's own
        arrive(main);
        fiber.inspect(|fiber| fiber.announce_end());
        // SAFETY: as above. The Rust frames of this stack own nothing that matters.
        unsafe { arch::switch(&ctx.stack, &main.stack) };
        std::process::abort()
    }
}

/// Prefetches these lines of the processor's cache, counted from an address, which may be any.
#[inline(always)]
fn prefetch<T>(address: *const T, lines: Range<isize>) {
    for line in lines {
        arch::prefetch(address.cast::<i8>().wrapping_offset(line * 64));
    }
}

/// Saves what travels with `from`, which is being suspended in C code that blocks (`in_c`) or elsewhere.
#[inline(always)]
fn depart(from: &Ctx, in_c: bool) {
    // SAFETY: the running context. The engine does nothing until another one is resumed, or begins, as both callers do next.
    unsafe { from.travelling.suspend(SuspendedIn { in_c, loads_classes: from.loads.get() > 0 }) };
    moments::suspended(from);
}

/// Makes `to` the running context and announces that.
#[inline(always)]
pub(crate) fn arrive(to: &'static Ctx) {
    stacks::set_running(Some(to));
    moments::resumed(to);
}

/// Returns for how many nanoseconds zombies may run when nothing else is left.
fn zombie_grace() -> u64 {
    (settings::current().zombie_timeout * 1e9) as u64
}

/// Returns the reactor's waiter for a ticket.
pub fn waiter(ticket: Ticket) -> Waiter {
    Waiter(ticket.to_u64())
}

impl Runtime {
    /// Returns how many stacks there are, and the bytes of each C stack.
    pub fn stack_figures(&self) -> (usize, usize) {
        let stacks = self.stacks.borrow();
        (stacks.count(), stacks.size())
    }
}
