//! Whose wait a caught signal ends.

use super::{Core, Coroutine, CoroutineId, State, WaitReason, WakeReason};

/// Does a signal end this wait? `restart`: it has `SA_RESTART`.
fn is_interruptible(on: WaitReason, restart: bool) -> bool {
    matches!(on, WaitReason::External { interruptible: true, restart: r } if !(restart && r))
}

/// Can this wait be taken up again?
fn is_resumable(on: WaitReason) -> bool {
    matches!(on, WaitReason::Coroutines | WaitReason::Timer)
}

impl<X> Core<X> {
    /// [`Core::interrupt`] of this one alone: does its park allow it?
    pub fn interrupt_one(&mut self, co: CoroutineId, restart: bool) -> bool {
        let slot = self.slot(co);
        let fits = slot.state == State::Parked && is_interruptible(slot.on, restart);
        if fits {
            self.make_ready(co, WakeReason::Interrupted);
        }
        fits
    }

    /// Returns `true` if it was in the middle of a call of the outside, or on its turn in one, and will go on.
    pub fn will_resume_call(&self, co: CoroutineId) -> bool {
        let slot = self.slot(co);
        slot.state == State::Ready && matches!(slot.on, WaitReason::External { .. } | WaitReason::Yield)
    }

    /// [`Core::wake_for_signal`] of this one alone.
    pub fn wake_one_for_signal(&mut self, co: CoroutineId) -> bool {
        let slot = self.slot(co);
        let fits = slot.state == State::Parked && is_resumable(slot.on);
        if fits {
            self.make_ready(co, WakeReason::Interrupted);
        }
        fits
    }

    /// A caught signal: ends the park of main, else of the one that has been parked longest, if the park allows.
    /// `restart`: the signal has `SA_RESTART`. Says which one it is.
    pub fn interrupt(&mut self, restart: bool) -> Option<CoroutineId> {
        let fits = |slot: &Coroutine<X>| slot.state == State::Parked && is_interruptible(slot.on, restart);
        let co = if fits(self.slot(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.slots.iter().enumerate().filter(|(_, s)| fits(s));
            parked.min_by_key(|(_, s)| s.parked_at).map(|(i, _)| CoroutineId(i as u32))
        };
        co.inspect(|&co| self.make_ready(co, WakeReason::Interrupted))
    }

    /// A caught signal wants PHP code to run, and nobody is ready: wakes main, else the one parked longest, out of
    /// a wait that can be taken up again. Says which one it is.
    pub fn wake_for_signal(&mut self) -> Option<CoroutineId> {
        let fits = |slot: &Coroutine<X>| slot.state == State::Parked && is_resumable(slot.on);
        let co = if fits(self.slot(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.slots.iter().enumerate().filter(|(_, s)| fits(s));
            parked.min_by_key(|(_, s)| s.parked_at).map(|(i, _)| CoroutineId(i as u32))
        };
        co.inspect(|&co| self.make_ready(co, WakeReason::Interrupted))
    }
}
