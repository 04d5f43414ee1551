//! What should happen, in the model alone.

use super::*;

impl Coroutine {
    pub fn new(co: CoroutineId, id: u64, parent: u64) -> Coroutine {
        Coroutine {
            co,
            id,
            parent,
            state: State::Queued,
            started: false,
            ends: 0,
            shields: 0,
            ticket: None,
            woken_early: false,
            keeps: false,
            on: WaitReason::Yield,
            cancellable: true,
            careless: false,
            in_one_step: false,
            deadline: None,
            parked: 0,
            reason: WakeReason::Woken,
            held: false,
            cancellation: None,
            cancel_requested: false,
            outcome: Outcome::Returned,
            awaited: false,
            released: false,
            awaits: Vec::new(),
            waiters: Vec::new(),
        }
    }

    pub(super) fn parked_on(&self, fits: impl Fn(WaitReason) -> bool) -> bool {
        self.state == State::Parked && fits(self.on)
    }

    pub(super) fn holds_on(&self) -> bool {
        self.keeps && self.reason != WakeReason::Cancelled
    }

    pub(super) fn deliverable(&self) -> bool {
        self.shields == 0 && !self.held && self.cancellation.is_some()
    }
}

/// The model's half.
impl Both {
    pub(super) fn ready(&mut self, n: usize, reason: WakeReason) {
        let it = &mut self.all[n];
        assert_eq!(it.state, State::Parked);
        it.state = State::Ready;
        it.reason = reason;
        it.deadline = None;
        self.queue.push(n);
    }

    pub(super) fn wake_in_model(&mut self, ticket: usize) {
        let named = self.all.iter_mut().position(|it| it.ticket == Some(ticket) && it.state != State::Done);
        match named {
            Some(n) if self.all[n].state == State::Parked => self.ready(n, WakeReason::Woken),
            Some(n) if self.all[n].state == State::Running => self.all[n].woken_early = true,
            _ => self.events.push("stale ticket"),
        }
    }

    /// Who has been cancelled, or has gone on, does not see what it waited for.
    pub(super) fn will_take(&self, ticket: usize) -> bool {
        self.all.iter().filter(|it| it.ticket == Some(ticket)).any(|it| match it.state {
            State::Parked => true,
            State::Ready => it.reason != WakeReason::Cancelled,
            _ => false,
        })
    }

    pub(super) fn cancel_in_model(&mut self, n: usize, reason: u32) -> Cancel {
        let it = &mut self.all[n];
        if it.state == State::Done {
            return Cancel::TooLate;
        }
        if it.cancellation.is_some() {
            return Cancel::Pending;
        }
        it.cancellation = Some(reason);
        it.cancel_requested = true;
        if it.state == State::Ready && it.deliverable() && !it.holds_on() {
            it.reason = WakeReason::Cancelled;
            self.events.push("cancelled: woken");
        } else if it.state == State::Ready && it.deliverable() {
            self.events.push("cancelled: woken with what it keeps");
        } else if it.state == State::Parked {
            if it.deliverable() { self.ready(n, WakeReason::Cancelled) } else { self.events.push("held off") }
        }
        Cancel::Accepted
    }

    /// Main if it fits, else the one that has been parked longest.
    pub(super) fn first_that(&self, fits: impl Fn(WaitReason) -> bool) -> Option<usize> {
        let fitting = (0..self.all.len()).filter(|n| self.all[*n].parked_on(&fits));
        fitting.min_by_key(|n| (*n != 0, self.all[*n].parked))
    }

    /// Every pending deadline, as it is due: when, the how manieth that was set, whose.
    pub(super) fn deadlines(&self) -> Vec<(u64, usize, What)> {
        let parks = self.all.iter().enumerate().map(|(n, it)| (it.deadline, What::Coroutine(n)));
        let points = self.points.iter().enumerate().map(|(n, it)| (it.deadline, What::Timeout(n)));
        let mut pending: Vec<_> = parks.chain(points).filter_map(|(d, whose)| d.map(|d| (d.0, d.1, whose))).collect();
        pending.sort_by_key(|(at, nth, _)| (*at, *nth));
        pending
    }

    pub(super) fn expire_in_model(&mut self) {
        let due: Vec<_> = self.deadlines().into_iter().filter(|(at, ..)| *at <= self.now).collect();
        if due.len() > 1 {
            self.events.push("several fired");
        }
        for (_, _, whose) in due {
            match whose {
                // Unless what fired just before has woken it.
                What::Coroutine(n) if self.all[n].state == State::Parked => self.ready(n, WakeReason::TimedOut),
                What::Coroutine(_) => {}
                What::Timeout(n) => {
                    self.events.push("timeout passed");
                    self.points[n].done = true;
                    self.points[n].deadline = None;
                    for ticket in std::mem::take(&mut self.points[n].waiters) {
                        self.wake_in_model(ticket);
                    }
                }
            }
        }
    }

    pub(super) fn waiters(&mut self, what: What) -> &mut Vec<usize> {
        match what {
            What::Coroutine(n) => &mut self.all[n].waiters,
            What::Timeout(n) => &mut self.points[n].waiters,
        }
    }

    pub(super) fn target(&self, what: What) -> Target {
        match what {
            What::Coroutine(n) => Target::Coroutine(self.all[n].co),
            What::Timeout(n) => Target::Timeout(self.points[n].id),
        }
    }

    /// Whether it is complete; gone counts as that.
    pub(super) fn complete(&self, what: What) -> bool {
        match what {
            What::Coroutine(n) => self.all[n].state == State::Done,
            What::Timeout(n) => self.points[n].done || self.points[n].dropped,
        }
    }

    pub(super) fn hope(&self) -> bool {
        let outside = |it: &Coroutine| it.parked_on(|on| matches!(on, WaitReason::External { .. }));
        // A timeout that is not awaited wakes nothing.
        let wakes = |(_, _, whose): &(u64, usize, What)| match whose {
            What::Coroutine(_) => true,
            What::Timeout(n) => !self.points[*n].waiters.is_empty(),
        };
        self.all.iter().any(outside) || self.deadlines().iter().any(wakes)
    }

    /// The coroutines that the host still holds, as numbers.
    pub(super) fn held(&self) -> Vec<usize> {
        (0..self.all.len()).filter(|n| !self.all[*n].released).collect()
    }
}
