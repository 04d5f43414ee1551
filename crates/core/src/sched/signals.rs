//! Whose wait a caught signal ends.

use super::{Co, Core, On, Reason, Slot, State};

/// Does a signal end this wait? `restart`: it has `SA_RESTART`.
fn is_interruptible(on: On, restart: bool) -> bool {
    matches!(on, On::Outside { interruptible: true, restart: r } if !(restart && r))
}

/// Can this wait be taken up again?
fn is_resumable(on: On) -> bool {
    matches!(on, On::Coroutines | On::Timer)
}

impl<X> Core<X> {
    /// [`Core::interrupt`] of this one alone: does its park allow it?
    pub fn interrupt_one(&mut self, co: Co, restart: bool) -> bool {
        let slot = self.slot(co);
        let fits = slot.state == State::Parked && is_interruptible(slot.on, restart);
        if fits {
            self.make_ready(co, Reason::Interrupted);
        }
        fits
    }

    /// Returns `true` if it was in the middle of a call of the outside, or on its turn in one, and will go on.
    pub fn is_about_to_go_on(&self, co: Co) -> bool {
        let slot = self.slot(co);
        slot.state == State::Ready && matches!(slot.on, On::Outside { .. } | On::Turn)
    }

    /// [`Core::nudge`] of this one alone.
    pub fn nudge_one(&mut self, co: Co) -> bool {
        let slot = self.slot(co);
        let fits = slot.state == State::Parked && is_resumable(slot.on);
        if fits {
            self.make_ready(co, Reason::Interrupted);
        }
        fits
    }

    /// A caught signal: ends the park of main, else of the one that has been parked longest, if the park allows.
    /// `restart`: the signal has `SA_RESTART`. Says which one it is.
    pub fn interrupt(&mut self, restart: bool) -> Option<Co> {
        let fits = |slot: &Slot<X>| slot.state == State::Parked && is_interruptible(slot.on, restart);
        let co = if fits(self.slot(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.slots.iter().enumerate().filter(|(_, s)| fits(s));
            parked.min_by_key(|(_, s)| s.parked_at).map(|(i, _)| Co(i as u32))
        };
        co.inspect(|&co| self.make_ready(co, Reason::Interrupted))
    }

    /// A caught signal wants PHP code to run, and nobody is ready: wakes main, else the one parked longest, out of
    /// a wait that can be taken up again. Says which one it is.
    pub fn nudge(&mut self) -> Option<Co> {
        let fits = |slot: &Slot<X>| slot.state == State::Parked && is_resumable(slot.on);
        let co = if fits(self.slot(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.slots.iter().enumerate().filter(|(_, s)| fits(s));
            parked.min_by_key(|(_, s)| s.parked_at).map(|(i, _)| Co(i as u32))
        };
        co.inspect(|&co| self.make_ready(co, Reason::Interrupted))
    }
}
