//! The switch from the running coroutine to another one. All switching happens in [`Runtime::transfer`].
//!
//! A coroutine that parks picks the next one and switches to it directly; if none is ready, it waits for events on its own
//! stack. A stack whose coroutine has ended starts the next fresh one in place.
//!
//! # One switch in seven steps
//!
//! | | step | what runs is suspended | it has ended | it is abandoned, by an exit or a fatal error |
//! |---|---|---|---|---|
//! | 1 | pick | [`Runtime::pick`] | the same | main |
//! | 2 | announce to observers | the next one | that it is dead, and the next one | the same |
//! | 3 | save what travels with it | all, and what other modules keep | nothing is left | what main takes over |
//! | 4 | load what travels with the next one, or make it for a fresh one | | | and hand over |
//! | 5 | make the next one the running one | | not if it is fresh: it begins on this stack | |
//! | 6 | announce the end to observers | | of the one that has ended | the same |
//! | 7 | exchange the stacks: [`arch::switch`] | it returns when it is resumed: [`Runtime::back_on`] | never returns, or the next one begins on this stack | never returns |
//!
//! Rules:
//! 1. Between 3 and 5 the engine's state belongs to no coroutine: nothing there may run PHP code, or allocate in the engine.
//! 2. No borrow, guard or lock is alive at 7, and nothing on the stack whose destructor matters: an abandoned stack never
//!    returns.
//! 3. Whether a coroutine may be suspended is asked before it parks or yields ([`Runtime::can_switch`]), not here.

use crate::isolation::{self, SuspendedIn};
use crate::runtime::coroutine::Coroutine;
use crate::runtime::ctx::Ctx;
use crate::runtime::pick::To;
use crate::runtime::scheduler::Runtime;
use crate::runtime::{failure, life, moments, observers, report};
use crate::stack::{arch, stacks};
use spindle_core::lifecycle::Leaving;
use spindle_core::sched::CoroutineId;
use spindle_zend::{FiberContext, engine};
use std::ptr::null_mut;

/// What becomes of the coroutine that runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// It is suspended; `in_c`: in C code that has called a blocking function of libc.
    Suspended { in_c: bool },
    /// It has ended, and left nothing in the engine's state.
    Ended,
    /// It is never resumed, and main continues in its place.
    Abandoned,
}

/// What runs next.
enum Enter<'a> {
    /// A suspended coroutine.
    Suspended,
    /// This fresh one, on a stack of its own, which was prepared.
    Fresh(&'a Coroutine),
    /// This fresh one, on the stack of the one that has ended.
    InPlace(&'a Coroutine),
}

impl Runtime {
    /// Transfers control from the running context to another one: steps 2 to 7. Returns when `from` is resumed, or immediately for
    /// [`Enter::InPlace`].
    #[inline(always)]
    fn transfer(&self, from: &'static Ctx, leave: Leave, to: &'static Ctx, enter: Enter<'_>) {
        let in_place = matches!(enter, Enter::InPlace(_));
        let dead = if matches!(leave, Leave::Suspended { .. }) { None } else { observers::end() };
        let fresh = match enter {
            Enter::Fresh(this) | Enter::InPlace(this) => Some((this, observers::begin(to, this))),
            Enter::Suspended => {
                observers::switch(to);
                None
            }
        };
        match leave {
            Leave::Suspended { in_c } => {
                let place = SuspendedIn { in_c, loads_classes: from.loads.get() > 0 };
                // SAFETY: the running context. The engine does nothing until another one was loaded.
                unsafe { from.travelling.suspend(place) };
                moments::suspended(from);
            }
            Leave::Ended => {}
            // SAFETY: as above.
            Leave::Abandoned => unsafe { from.travelling.abandon() },
        }
        match fresh {
            // The bottom of this stack stays the target of bailouts.
            Some((this, fiber)) if in_place => isolation::keep_bailout_target(|| self.adopt(to, this, fiber)),
            Some((this, fiber)) => self.adopt(to, this, fiber),
            // SAFETY: `to` is suspended, and what belongs to `from` was saved, or it has ended.
            None => unsafe { to.travelling.resume() },
        }
        if leave == Leave::Abandoned {
            from.travelling.hand_over(); // as the script's own
        }
        if !in_place {
            stacks::set_running(Some(to));
            moments::resumed(to);
        }
        dead.inspect(|dead| dead.announce_end());
        if !in_place {
            // SAFETY: `from` runs; `to` was left by this function, or was prepared. No borrow is alive here that another coroutine
            // could meet.
            unsafe { arch::switch(&from.stack, &to.stack) };
        }
    }

    /// Makes `ctx` the context of a fresh coroutine, with a fresh state of the engine and this fiber context.
    #[inline(always)]
    fn adopt(&self, ctx: &'static Ctx, this: &Coroutine, fiber: &FiberContext) {
        let co = this.co.get();
        ctx.co.set(co);
        ctx.calls.set(null_mut());
        ctx.id.set(self.core.borrow().id(co));
        this.ctx.set(Some(ctx));
        // SAFETY: the state of the coroutine that ran was saved, or it has ended; no coroutine uses the stack.
        unsafe { ctx.travelling.begin(&ctx.stack, &this.inherited, fiber) };
    }

    /// Suspends the running coroutine, which the core has parked or queued, until it is picked again. `in_c`: it is in C code that
    /// has called a blocking function of libc.
    pub(super) fn suspend(&'static self, in_c: bool) {
        moments::run_ends(self);
        self.suspend_for(self.pick(), in_c);
    }

    /// Does the same, after the run has ended and `to` was picked.
    #[inline(always)]
    pub(super) fn suspend_for(&'static self, to: To, in_c: bool) {
        let me = self.context();
        self.leave_for(to, me, in_c);
        self.back_on(me);
    }

    /// Runs all coroutines until none is left, after the script's own code has ended. Returns `false` if one of them exits.
    pub fn drain(&'static self) -> bool {
        while !self.is_left() {
            if self.core.borrow().is_over() {
                return true;
            }
            moments::run_ends(self);
            self.leave_for(self.pick(), self.context(), false);
            if self.ends_request() == Some(Leaving::Fatal) {
                engine::bail_out();
            }
        }
        false
    }

    /// Resumes or starts the coroutine that was picked. Returns when `me` is resumed.
    #[inline(always)]
    fn leave_for(&'static self, mut to: To, me: &'static Ctx, in_c: bool) {
        loop {
            match to {
                To::Ctx(to) if to == me => return,
                To::Ctx(to) => return self.transfer(me, Leave::Suspended { in_c }, to, Enter::Suspended),
                To::Fresh(co) if self.start(me, co, in_c) => return,
                To::Fresh(_) => to = self.pick(), // it has failed
            }
        }
    }

    /// Starts a fresh coroutine on a stack of its own, and returns `true` when `me` is resumed; `false` if there is no stack for it.
    fn start(&'static self, me: &'static Ctx, co: CoroutineId, in_c: bool) -> bool {
        let taken = self.stacks.borrow_mut().take();
        let Some(ctx) = taken.or_else(|| self.further_stack(co)) else { return false };
        #[cfg(asan)]
        crate::stack::asan::begin(&ctx.stack);
        // SAFETY: nothing uses the stack.
        unsafe { arch::prepare(&ctx.stack, life::stack_main) };
        self.transfer(me, Leave::Suspended { in_c }, ctx, Enter::Fresh(self.object(co)));
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

    /// Leaves a stack whose coroutine has ended: returns if the next one is fresh, and has begun on it.
    pub(super) fn next_on(&'static self, ctx: &'static Ctx) {
        match self.pick() {
            To::Fresh(co) => {
                arch::reset_modes();
                self.transfer(ctx, Leave::Ended, ctx, Enter::InPlace(self.object(co)));
            }
            To::Ctx(to) => {
                self.stacks.borrow_mut().put(ctx);
                self.transfer(ctx, Leave::Ended, to, Enter::Suspended);
            }
        }
    }

    /// Ends the request on main's stack, because a coroutine has bailed out or exits.
    pub(super) fn end_on_main(&'static self, ctx: &'static Ctx, why: Leaving) -> ! {
        self.end(Some(why));
        self.transfer(ctx, Leave::Abandoned, &self.main, Enter::Suspended);
        std::process::abort()
    }

    /// Completes a switch back to `me`.
    #[inline(always)]
    fn back_on(&'static self, me: &Ctx) {
        if *me == *self.main && self.ends_request().is_some() {
            // On main's own stack, inside the engine's outermost try block. The Rust frames in between own nothing that matters (see
            // `Host`).
            engine::bail_out();
        }
        if me.stack.overflowed.get() {
            engine::request_interrupt(); // another coroutine may have consumed the request
        }
    }

    /// Ends the application if main's stack, which runs again, is to end the request. Returns why it is.
    #[inline]
    fn ends_request(&'static self) -> Option<Leaving> {
        let why = self.core.borrow().life().leaving()?;
        self.end(None);
        if why == Leaving::Over {
            failure::report_unseen(self);
        }
        report::report_rest(self, why != Leaving::Over);
        Some(why)
    }
}
