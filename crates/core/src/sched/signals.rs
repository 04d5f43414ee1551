//! Whose wait a caught signal ends.

use super::{Co, Core, On, Reason, Slot, State};

impl<X> Core<X> {
    /// A caught signal: ends the park of main, else of the one that has been parked longest, if the park allows.
    /// `restart`: the signal has `SA_RESTART`. Says which one it is.
    pub fn interrupt(&mut self, restart: bool) -> Option<Co> {
        let fits = |slot: &Slot<X>| {
            slot.state == State::Parked
                && matches!(slot.on, On::Outside { interruptible: true, restart: r } if !(restart && r))
        };
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
        let fits = |slot: &Slot<X>| slot.state == State::Parked && matches!(slot.on, On::Coroutines | On::Timer);
        let co = if fits(self.slot(Self::MAIN)) {
            Some(Self::MAIN)
        } else {
            let parked = self.slots.iter().enumerate().filter(|(_, s)| fits(s));
            parked.min_by_key(|(_, s)| s.parked_at).map(|(i, _)| Co(i as u32))
        };
        co.inspect(|&co| self.make_ready(co, Reason::Interrupted))
    }
}
