//! The timers of the scheduler, and what happens when each is due.

use super::{Core, CoroutineId, Ends, Event, ScopeId, State, Ticket, TimeoutId, WaitReason, Waits, WakeReason};

/// What happens when a timer is due.
pub(super) enum Alarm {
    Park(Ticket),
    Timeout(TimeoutId),
    Bound(ScopeId),
    Disposal(ScopeId),
    Zombies,
    Overdue { co: CoroutineId, id: u64 },
    Unawaited { co: CoroutineId, id: u64 },
    Reports,
}

impl<X> Core<X> {
    /// Fires all timers that are due at `now`.
    pub fn expire(&mut self, now: u64) {
        self.count_until(now);
        if self.timers.next_deadline().is_none_or(|d| d > now) {
            return;
        }
        let mut due = Vec::new();
        self.timers.expire(now, |_, alarm| due.push(alarm));
        for alarm in due {
            match alarm {
                Alarm::Park(ticket) => {
                    let coroutine = self.coroutine_mut(ticket.co);
                    if coroutine.epoch == ticket.epoch && coroutine.state == State::Parked {
                        coroutine.park.timer = None;
                        self.timed -= 1;
                        self.make_ready(ticket.co, WakeReason::TimedOut);
                    }
                }
                Alarm::Timeout(id) => self.timeout_is_over(id),
                Alarm::Bound(scope) => self.time_is_over(scope),
                Alarm::Disposal(scope) => self.disposal_is_due(scope),
                Alarm::Overdue { co, id } => {
                    let coroutine = self.coroutine(co);
                    if coroutine.id == id && !matches!(coroutine.state, State::Done | State::Ending) {
                        self.events.push_back(Event::Overdue(co));
                    }
                }
                Alarm::Unawaited { co, id } => {
                    let coroutine = self.coroutine(co);
                    if coroutine.id == id && coroutine.state == State::Done && !coroutine.is_taken() {
                        self.events.push_back(Event::Unawaited(co));
                    }
                }
                Alarm::Reports => self.events.push_back(Event::ReportsDue),
                Alarm::Zombies => {
                    self.grace = None;
                    if self.only_zombies() {
                        self.events.push_back(Event::ZombiesDue);
                    }
                }
            }
        }
    }

    /// When to call [`Core::expire`] next, as [`crate::timers::Timers::next_deadline`].
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next_deadline()
    }

    /// Counts the time of the waits until now, in which coroutines ran: of those that have lasted. A wait that has begun or ended meanwhile
    /// counts by [`Core::count_idle`], where nearly all of its time is.
    pub fn count_until(&mut self, now: u64) {
        let time = now.saturating_sub(self.counted_until);
        for (waits, before) in self.waits.iter_mut().zip(self.counted) {
            waits.nanoseconds += time * before.min(waits.now) as u64;
        }
        self.count_from(self.counted_until + time);
    }

    /// Counts the time of the waits until now, in which the process has waited for events: all that there were when it began to.
    pub fn count_idle(&mut self, now: u64) {
        let time = now.saturating_sub(self.counted_until);
        for (waits, before) in self.waits.iter_mut().zip(self.counted) {
            waits.nanoseconds += time * before as u64;
        }
        self.count_from(self.counted_until + time);
    }

    fn count_from(&mut self, time: u64) {
        self.counted_until = time;
        self.waits_are_settled();
    }

    /// The waits that have ended by events and timers have: coroutines run now.
    pub fn waits_are_settled(&mut self) {
        self.counted = self.waits.map(|waits| waits.now);
    }

    /// The waits for coroutines, for something outside, and for time, until [`Core::count_until`].
    pub fn waits(&self) -> [Waits; WaitReason::KINDS] {
        self.waits
    }

    /// How many coroutines there were, main included, and how they have ended.
    pub fn ends(&self) -> Ends {
        self.ends
    }

    /// The number of pending timers.
    pub fn deadlines(&self) -> usize {
        self.timers.len()
    }

    /// Queues [`Event::Overdue`] at this moment if the coroutine, which was cancelled, has not ended by then.
    pub fn schedule_overdue_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.coroutine(co).id;
        self.timers.insert(deadline, Alarm::Overdue { co, id });
    }

    /// Queues [`Event::Unawaited`] at this moment if the coroutine, which has failed, was not awaited by then.
    pub fn schedule_unawaited_check(&mut self, co: CoroutineId, deadline: u64) {
        let id = self.coroutine(co).id;
        self.timers.insert(deadline, Alarm::Unawaited { co, id });
    }

    /// Queues [`Event::ReportsDue`] at this moment.
    pub fn schedule_reports(&mut self, deadline: u64) {
        self.timers.insert(deadline, Alarm::Reports);
    }
}
