//! Which park a caught signal interrupts.

use super::{Core, Coroutine, CoroutineId, State, WaitReason, WakeReason};

/// Returns `true` if a signal ends such a wait. `restart`: it has `SA_RESTART`.
fn is_interruptible(on: WaitReason, restart: bool) -> bool {
    matches!(on, WaitReason::External { interruptible: true, restart: r } if !(restart && r))
}

/// Returns `true` if the coroutine can wait again after running a handler.
fn is_resumable(on: WaitReason) -> bool {
    matches!(on, WaitReason::Coroutines | WaitReason::Timer)
}

impl<X> Core<X> {
    /// Interrupts the park of this coroutine if a signal may. Returns whether it did.
    pub fn interrupt_one(&mut self, co: CoroutineId, restart: bool) -> bool {
        let coroutine = self.coroutine(co);
        let fits = coroutine.state == State::Parked && is_interruptible(coroutine.park.on, restart);
        if fits {
            self.make_ready(co, WakeReason::Interrupted);
        }
        fits
    }

    /// Returns `true` if it is about to resume in the middle of a call that waits outside, or has yielded in one.
    pub fn will_resume_call(&self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        coroutine.state == State::Ready && matches!(coroutine.park.on, WaitReason::External { .. } | WaitReason::Yield)
    }

    /// Wakes this coroutine as [`Core::wake_for_signal`] does. Returns whether it did.
    pub fn wake_one_for_signal(&mut self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine(co);
        let fits = coroutine.state == State::Parked && is_resumable(coroutine.park.on);
        if fits {
            self.make_ready(co, WakeReason::Interrupted);
        }
        fits
    }

    /// Ends the park that a caught signal interrupts: main's, or else that of the coroutine parked longest, if there is one
    /// that the signal may interrupt. `restart`: the signal has `SA_RESTART`. Returns whose park it was.
    pub fn interrupt(&mut self, restart: bool) -> Option<CoroutineId> {
        self.interrupt_longest_parked(|on| is_interruptible(on, restart))
    }

    /// Wakes a coroutine so that PHP's handler of a caught signal can run, when none is ready: main, or else the one parked
    /// longest, out of a wait that can be resumed. Returns which one it is.
    pub fn wake_for_signal(&mut self) -> Option<CoroutineId> {
        self.interrupt_longest_parked(is_resumable)
    }

    fn interrupt_longest_parked(&mut self, may_end: impl Fn(WaitReason) -> bool) -> Option<CoroutineId> {
        let fits = |coroutine: &Coroutine<X>| coroutine.state == State::Parked && may_end(coroutine.park.on);
        let co = if fits(self.coroutine(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.coroutines.iter().filter(|(_, coroutine)| fits(coroutine));
            let longest = parked.min_by_key(|(_, coroutine)| coroutine.park.number);
            longest.map(|(key, _)| CoroutineId(key.index))
        };
        co.inspect(|&co| self.make_ready(co, WakeReason::Interrupted))
    }
}
