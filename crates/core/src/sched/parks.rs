//! The run queue and parks: which coroutine runs next, how one begins to wait, and what ends that.
//!
//! A wait begins with a ticket ([`Core::begin_wait`]), which may be used before the park: then the park ends immediately. The first
//! of these to come ends a park: a use of its ticket, its deadline, a cancellation, a signal.

use super::alarms::Alarm;
use super::coroutine::{Begun, SpawnKind};
use super::{Core, CoroutineId, Next, Order, State, Ticket, WaitReason, WakeReason};

impl<X> Core<X> {
    /// Takes the next coroutine from the run queue and makes it the running one.
    #[inline(always)]
    pub fn next_to_run(&mut self) -> Next {
        if self.gives_up() {
            return self.over();
        }
        let index = match self.order {
            Order::Fifo => self.ready.pop_front(),
            Order::Seeded(_) => self.take_by_seed(),
        };
        let Some(index) = index else { return if self.is_over() { self.over() } else { Next::Idle } };
        let co = CoroutineId(index);
        self.running = co;
        let coroutine = self.coroutine_mut(co);
        coroutine.state = State::Running;
        if coroutine.begun != Begun::No {
            Next::Resume(co)
        } else if coroutine.cancellation.is_requested() && !matches!(coroutine.kind, SpawnKind::Runner { .. }) {
            coroutine.begun = Begun::Cancelled;
            Next::CancelledBeforeStart(co)
        } else {
            coroutine.begun = Begun::Yes;
            Next::Start(co)
        }
    }

    /// Queues the coroutine that [`Core::next_to_run`] has picked again, at the tail: it must not run yet. Another one that is
    /// ready may.
    #[cold]
    pub fn defer(&mut self, next: Next) {
        let (co, begun) = match next {
            Next::Start(co) | Next::CancelledBeforeStart(co) => (co, Begun::No),
            Next::Resume(co) => (co, Begun::Yes),
            Next::Idle | Next::Over => return,
        };
        let coroutine = self.coroutine_mut(co);
        coroutine.state = State::Ready;
        if begun == Begun::No {
            coroutine.begun = begun;
        }
        self.ready.push_back(co.0);
    }

    /// Takes a coroutine, chosen by the seed, from the run queue: the one that has just yielded only if it is alone, since a yield
    /// promises to let another one run.
    #[cold]
    fn take_by_seed(&mut self) -> Option<u32> {
        let Order::Seeded(seed) = &mut self.order else { return None };
        let has_yielded = self.ready.len() > 1 && self.ready.back() == Some(&self.running.0);
        let choices = self.ready.len() - usize::from(has_yielded);
        if choices == 0 {
            return None;
        }
        // xorshift64*: any order that the seed reproduces will do.
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        let at = (seed.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % choices;
        self.ready.remove(at)
    }

    /// Yields: [`Core::begin_wait`], [`Core::park`] with [`WaitReason::Yield`] and [`Core::next_to_run`] in one. Returns `None`
    /// if a cancellation is pending instead. When the coroutine is resumed it asks [`Core::refuses_wait`], not
    /// [`Core::resumed`].
    pub fn yield_now(&mut self) -> Option<Next> {
        let (co, parks) = (self.running, self.parks);
        if self.refuses_wait() && !self.gives_up() {
            return None;
        }
        let is_abandoned = self.life.is_forced() && self.abandon_if_unstoppable();
        if !is_abandoned {
            let coroutine = self.coroutine_mut(co);
            coroutine.begin_wait();
            coroutine.park.on = WaitReason::Yield;
            coroutine.park.number = parks;
            coroutine.state = State::Ready;
            coroutine.park.woken = Some(WakeReason::Woken);
            self.parks += 1;
            self.ready.push_back(co.0);
        }
        Some(self.next_to_run())
    }

    /// Does what [`Core::begin_wait`] does, unless it [must not](Core::refuses_wait).
    #[inline(always)]
    pub fn try_begin_wait(&mut self) -> Option<Ticket> {
        let co = self.running;
        let coroutine = self.coroutine_mut(co);
        if coroutine.cancellation.refuses_wait() {
            return None;
        }
        coroutine.begin_wait();
        Some(Ticket { co, epoch: coroutine.epoch })
    }

    /// Returns a ticket for the running coroutine's next park, and voids earlier ones.
    pub fn begin_wait(&mut self) -> Ticket {
        let co = self.running;
        let coroutine = self.coroutine_mut(co);
        coroutine.begin_wait();
        Ticket { co, epoch: coroutine.epoch }
    }

    /// Declares that a use of the running coroutine's ticket gives it something that would otherwise be lost: once woken, it
    /// resumes as woken, and a cancellation that comes later is delivered at the next park.
    pub fn prioritize_wake(&mut self) {
        self.coroutine_mut(self.running).park.prioritized = true;
    }

    /// Parks the running coroutine (after [`Core::begin_wait`]); with [`WaitReason::Yield`] at the tail of the run queue. Returns
    /// a reason if the park has ended already.
    #[inline]
    pub fn park(&mut self, deadline: Option<u64>, on: WaitReason, cancellable: bool) -> Option<WakeReason> {
        let (co, parks) = (self.running, self.parks);
        if self.life.is_forced() && cancellable && self.abandon_if_unstoppable() {
            return None;
        }
        let coroutine = &mut self.coroutines[co.0];
        if cancellable && coroutine.cancellation.ends_park() {
            return Some(WakeReason::Cancelled);
        }
        if coroutine.park.woken.is_some() {
            return Some(WakeReason::Woken);
        }
        coroutine.park.on = on;
        coroutine.park.number = parks;
        if !cancellable {
            coroutine.cancellation.shield();
        }
        self.parks = parks + 1;
        if on == WaitReason::Yield {
            coroutine.state = State::Ready;
            coroutine.park.woken = Some(WakeReason::Woken);
            self.ready.push_back(co.0);
            return None;
        }
        coroutine.state = State::Parked;
        if let Some(deadline) = deadline {
            let ticket = Ticket { co, epoch: coroutine.epoch };
            coroutine.park.timer = Some(self.timers.insert(deadline, Alarm::Park(ticket)));
            self.timed += 1;
        }
        let waits = &mut self.waits[on.kind()];
        waits.now += 1;
        waits.total += 1;
        None
    }

    /// Why the running coroutine was resumed after a park. `cancellable` as it was for [`Core::park`].
    pub fn resumed(&mut self, cancellable: bool) -> WakeReason {
        let coroutine = self.coroutine_mut(self.running);
        coroutine.epoch = coroutine.epoch.wrapping_add(1);
        if !cancellable {
            coroutine.cancellation.unshield();
        }
        if cancellable && coroutine.cancellation.ends_park() && !coroutine.wake_wins() {
            return WakeReason::Cancelled;
        }
        coroutine.park.woken.unwrap_or(WakeReason::Woken)
    }

    pub(super) fn make_ready(&mut self, co: CoroutineId, reason: WakeReason) {
        let coroutine = &mut self.coroutines[co.0];
        coroutine.state = State::Ready;
        coroutine.park.woken = Some(reason);
        self.waits[coroutine.park.on.kind()].now -= 1;
        if let Some(timer) = coroutine.park.timer.take() {
            self.timers.cancel(timer);
            self.timed -= 1;
        }
        self.ready.push_back(co.0);
    }

    /// Uses a ticket: ends its park, or the one about to begin. Returns `false`, and does nothing, if the ticket is void or its
    /// park has already ended.
    pub fn wake(&mut self, ticket: Ticket) -> bool {
        let Some(coroutine) = self.coroutines.at_mut(ticket.co.0) else { return false };
        if coroutine.epoch != ticket.epoch {
            return false;
        }
        match coroutine.state {
            State::Parked => self.make_ready(ticket.co, WakeReason::Woken),
            State::Running => {
                coroutine.park.woken.get_or_insert(WakeReason::Woken);
            }
            _ => return false,
        }
        true
    }

    /// Returns `true` if [`Core::wake`] would end a park by this ticket.
    pub fn can_wake(&self, ticket: Ticket) -> bool {
        self.coroutines.at(ticket.co.0).is_some_and(|coroutine| {
            coroutine.epoch == ticket.epoch && matches!(coroutine.state, State::Parked | State::Running)
        })
    }
}
