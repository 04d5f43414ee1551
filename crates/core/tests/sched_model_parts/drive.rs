//! Each step, in the scheduler and in the model.

use super::*;

impl Both {
    pub fn new(now: u64, order: Order) -> Both {
        let core = Core::new(now, order, Lifetime::Scope);
        let mut main = Coroutine::new(Core::<u32>::MAIN, 1, 0);
        main.state = State::Running;
        main.started = true;
        Both {
            core,
            fifo: matches!(order, Order::Fifo),
            now,
            all: vec![main],
            points: Vec::new(),
            tickets: Vec::new(),
            queue: Vec::new(),
            running: Some(0),
            parks: 0,
            deadlines_set: 0,
            reasons: 0,
            events: Vec::new(),
        }
    }

    pub fn step(&mut self, step: Step) {
        match (step, self.running) {
            (Step::WakeAny(index), _) if !self.tickets.is_empty() => self.wake(index.index(self.tickets.len())),
            (Step::WakeParked(index), _) => {
                let parked: Vec<_> = self.all.iter().filter(|it| it.state == State::Parked).collect();
                if let Some(ticket) = pick(&parked, index).and_then(|it| it.ticket) {
                    self.wake(ticket);
                }
            }
            (Step::Cancel(index), _) => self.cancel(index, false),
            (Step::CancelAfterFailure(index), _) => self.cancel(index, true),
            (Step::Force(index), _) => self.force(index),
            (Step::BreakOff(index), _) => {
                if let Some(n) = pick(&self.held(), index) {
                    self.core.abort_park(self.all[n].co);
                    let it = &self.all[n];
                    if it.state == State::Parked && it.shields == 0 && !it.held {
                        self.ready(n, WakeReason::Cancelled);
                    }
                }
            }
            (Step::Release(index), _) => self.release(index),
            (Step::Timeout(after), _) => {
                let deadline = self.deadline(after);
                let id = self.core.add_timeout(deadline.0);
                assert!(self.points.iter().all(|it| it.dropped || it.id != id), "{id:?} is in use");
                let point = Point { id, deadline: Some(deadline), done: false, dropped: false, waiters: Vec::new() };
                self.points.push(point);
            }
            (Step::DropTimeout(index), _) => {
                let there: Vec<_> = (0..self.points.len()).filter(|n| !self.points[*n].dropped).collect();
                if let Some(n) = pick(&there, index) {
                    self.core.drop_timeout(self.points[n].id);
                    let point = &mut self.points[n];
                    point.dropped = true;
                    point.waiters.clear();
                    if point.deadline.take().is_some() {
                        self.events.push("timeout dropped");
                    }
                }
            }
            (Step::Expire(after), _) => self.expire(self.now + after),
            (Step::ExpireAtNext { early }, _) => {
                if let Some((at, ..)) = self.deadlines().first() {
                    self.expire(at.saturating_sub(early.into()).max(self.now));
                }
            }
            (Step::Interrupt { restart }, _) => {
                let fits = |on| match on {
                    WaitReason::External { interruptible, restart: restarts } => {
                        interruptible && !(restart && restarts)
                    }
                    _ => false,
                };
                let found = self.first_that(fits);
                assert_eq!(self.core.interrupt(restart).is_some(), found.is_some());
                let older = |it: &Coroutine| it.parked_on(fits) && it.parked < self.all[0].parked;
                if found == Some(0) && self.all.iter().any(older) {
                    self.events.push("interrupted: main before an older");
                }
                found.into_iter().for_each(|n| self.ready(n, WakeReason::Interrupted));
            }
            (Step::Nudge, _) => {
                let found = self.first_that(|on| matches!(on, WaitReason::Coroutines | WaitReason::Timer));
                assert_eq!(self.core.wake_for_signal().is_some(), found.is_some());
                found.into_iter().for_each(|n| self.ready(n, WakeReason::Interrupted));
            }
            (Step::Next { discard }, None) => self.next(discard),
            // Whatever else a running coroutine does.
            (_, None) => self.next(true),
            (Step::Spawn, Some(n)) => self.spawn(n),
            (Step::BeginWait, Some(n)) => {
                self.begin_wait(n);
            }
            (Step::Wait(wait), Some(n)) => self.wait(n, wait),
            (Step::GiveTurn, Some(n)) => self.yield_now(n),
            (Step::Take, Some(n)) => self.take(n),
            (Step::Shield, Some(n)) => {
                self.core.shield();
                self.all[n].shields += 1;
            }
            (Step::Unshield, Some(n)) => {
                self.core.unshield();
                self.all[n].shields = self.all[n].shields.saturating_sub(1);
            }
            (Step::Finish(_), Some(0)) if self.all.len() < 10 => {} // main lives long
            (Step::Finish(outcome), Some(n)) => self.finish(n, outcome),
            (Step::Fork, Some(n)) => self.fork(n),
            (Step::WakeAny(_) | Step::Next { .. }, _) => {}
        }
    }

    fn deadline(&mut self, after: i64) -> (u64, usize) {
        self.deadlines_set += 1;
        (self.now.saturating_add_signed(after), self.deadlines_set)
    }

    fn spawn(&mut self, parent: usize) {
        let co = self.core.spawn();
        assert!(self.all.iter().all(|it| it.released || it.co != co), "{co:?} is in use");
        if self.all.iter().any(|it| it.co == co) {
            self.events.push("spawned in a used slot");
        }
        self.queue.push(self.all.len());
        self.all.push(Coroutine::new(co, self.all.len() as u64 + 1, self.all[parent].id));
    }

    fn next(&mut self, discard: bool) {
        let next = self.core.next_to_run();
        self.chosen(next, discard);
    }

    fn yield_now(&mut self, n: usize) {
        let next = self.core.yield_now();
        assert_eq!(next.is_none(), self.all[n].deliverable());
        let Some(next) = next else { return };
        self.parks += 1;
        let it = &mut self.all[n];
        (it.on, it.cancellable, it.held, it.parked) = (WaitReason::Yield, true, false, self.parks);
        (it.state, it.reason, it.ticket, it.in_one_step) = (State::Ready, WakeReason::Woken, None, true);
        it.keeps = false;
        self.queue.push(n);
        self.running = None;
        self.events.push("gave way in one step");
        self.chosen(next, true);
    }

    fn chosen(&mut self, next: Next, discard: bool) {
        let co = match next {
            Next::Idle => {
                assert!(self.queue.is_empty(), "a lost wake-up");
                self.events.push("nobody ready");
                if !self.hope() && self.all.iter().any(|it| it.state == State::Parked) {
                    self.events.push("deadlock");
                }
                return;
            }
            Next::Over => {
                assert!(self.queue.is_empty(), "a lost wake-up");
                return assert_eq!(self.core.live(), 0);
            }
            Next::Start(co) | Next::Resume(co) | Next::CancelledBeforeStart(co) => co,
        };
        let at = self.queue.iter().position(|n| self.all[*n].co == co).expect("it is not ready");
        assert!(at == 0 || !self.fifo, "not the first in the queue");
        let n = self.queue.remove(at);
        let it = &mut self.all[n];
        assert_eq!(self.core.running(), co);
        self.running = Some(n);
        it.state = State::Running;
        if it.started {
            assert_eq!(next, Next::Resume(co));
            self.goes_on(n);
        } else if it.cancellation.is_some() {
            assert_eq!(next, Next::CancelledBeforeStart(co));
            self.events.push("never started");
            if discard {
                assert_eq!(self.core.discard_cancellation(co), it.cancellation.take());
            }
            self.finish(n, Outcome::Cancelled);
        } else {
            assert_eq!(next, Next::Start(co));
            it.started = true;
        }
    }

    fn goes_on(&mut self, n: usize) {
        let it = &mut self.all[n];
        // Who waits until its turn comes meets the cancellation, unless what has woken it is for it alone.
        let expected =
            if it.cancellable && it.deliverable() && !it.holds_on() { WakeReason::Cancelled } else { it.reason };
        it.held = false;
        it.ticket = None;
        if std::mem::take(&mut it.in_one_step) {
            assert_eq!(self.core.cancellation_waits(), expected == WakeReason::Cancelled);
        } else {
            assert_eq!(self.core.resumed(it.cancellable), expected);
        }
        self.events.push(match expected {
            WakeReason::Woken => "went on: Woken",
            WakeReason::TimedOut => "went on: TimedOut",
            WakeReason::Cancelled => "went on: Cancelled",
            WakeReason::Interrupted => "went on: Interrupted",
        });
        self.after_wait(n, expected);
    }

    fn after_wait(&mut self, n: usize, reason: WakeReason) {
        if self.all[n].careless {
            self.all[n].awaits.clear();
            return;
        }
        self.unsubscribe(n);
        if reason == WakeReason::Cancelled {
            self.take(n);
        }
    }

    fn take(&mut self, n: usize) {
        let waits = self.all[n].deliverable();
        assert_eq!(self.core.take_cancellation(), self.all[n].cancellation.take_if(|_| waits));
    }

    fn begin_wait(&mut self, n: usize) -> usize {
        let ticket = self.core.begin_wait();
        assert_eq!(ticket.co, self.all[n].co);
        assert_eq!(Wakeup::from_u64(Wakeup::Park(ticket).to_u64()), Wakeup::Park(ticket));
        self.tickets.push(ticket);
        self.all[n].ticket = Some(self.tickets.len() - 1);
        self.all[n].woken_early = false;
        self.all[n].keeps = false;
        self.tickets.len() - 1
    }

    fn wait(&mut self, n: usize, wait: Wait) {
        let ticket = self.begin_wait(n);
        let coroutines = self.held().into_iter().filter(|other| *other != n).map(What::Coroutine);
        let all: Vec<_> = coroutines.chain((0..self.points.len()).map(What::Timeout)).collect();
        for what in wait.awaits.iter().filter_map(|index| pick(&all, *index)) {
            if !self.complete(what) {
                self.core.subscribe(self.target(what), self.tickets[ticket]);
                self.waiters(what).push(ticket);
                self.all[n].awaits.push((what, ticket));
            }
        }
        self.all[n].careless = wait.careless;
        if wait.keeps {
            self.core.prioritize_wake();
            self.all[n].keeps = true;
        }
        if wait.woken_early {
            self.wake(ticket);
        }
        let expected = match &self.all[n] {
            it if wait.cancellable && it.deliverable() => Some(WakeReason::Cancelled),
            it if it.woken_early => Some(WakeReason::Woken),
            _ => None,
        };
        let deadline = wait.after.map(|after| self.deadline(after));
        assert_eq!(self.core.park(deadline.map(|d| d.0), wait.on, wait.cancellable), expected);
        if let Some(reason) = expected {
            let cancelled = reason == WakeReason::Cancelled;
            self.events.push(if cancelled { "did not park: cancelled" } else { "did not park: woken early" });
            self.after_wait(n, reason);
            return;
        }
        self.running = None;
        self.parks += 1;
        let it = &mut self.all[n];
        (it.on, it.cancellable, it.held, it.parked) = (wait.on, wait.cancellable, !wait.cancellable, self.parks);
        if wait.on == WaitReason::Yield {
            it.state = State::Ready;
            it.reason = WakeReason::Woken;
            self.queue.push(n);
            self.events.push("gave way");
        } else {
            it.state = State::Parked;
            it.deadline = deadline;
            self.events.push("parked");
        }
    }

    /// The running one takes its subscriptions back. What it awaited may be gone, and its slot another's.
    fn unsubscribe(&mut self, n: usize) {
        for (what, ticket) in std::mem::take(&mut self.all[n].awaits) {
            self.core.unsubscribe(self.target(what), self.tickets[ticket]);
            let waiters = self.waiters(what);
            if let Some(at) = waiters.iter().position(|t| *t == ticket) {
                waiters.remove(at);
            }
        }
    }

    fn wake(&mut self, ticket: usize) {
        self.core.wake(self.tickets[ticket]);
        self.wake_in_model(ticket);
    }

    fn cancel(&mut self, index: Index, after_failure: bool) {
        let Some(n) = pick(&self.held(), index) else { return };
        self.reasons += 1;
        let it = &mut self.all[n];
        let (answer, _) = if after_failure {
            it.keeps |= it.state == State::Ready && it.on != WaitReason::Yield;
            self.core.cancel_after_failure(it.co, self.reasons)
        } else {
            self.core.cancel(it.co, self.reasons)
        };
        assert_eq!(answer, self.cancel_in_model(n, self.reasons));
        self.events.push(match answer {
            Cancel::Accepted => "cancel: Accepted",
            Cancel::Pending => "cancel: Pending",
            Cancel::TooLate => "cancel: TooLate",
        });
    }

    fn force(&mut self, index: Index) {
        let Some(n) = pick(&self.held(), index) else { return };
        self.reasons += 1;
        let it = &mut self.all[n];
        let unused = self.core.cancel_by_force(it.co, self.reasons);
        if it.state == State::Done {
            assert_eq!(unused, Some(self.reasons));
            return;
        }
        let earlier = it.cancellation.take();
        assert_eq!(unused, earlier);
        it.shields = 0;
        it.held = false;
        assert_eq!(self.cancel_in_model(n, self.reasons), Cancel::Accepted);
        if earlier.is_some() {
            self.events.push("forced: in place of another");
        }
    }

    fn finish(&mut self, n: usize, outcome: Outcome) {
        self.running = None;
        let it = &mut self.all[n];
        it.state = State::Done;
        it.ends += 1;
        it.outcome = outcome;
        let waiters = std::mem::take(&mut it.waiters);
        let co = it.co;
        let told = waiters.iter().any(|ticket| self.will_take(*ticket));
        self.all[n].awaited |= told;
        if outcome == Outcome::Failed {
            for ticket in waiters.iter().copied().filter(|ticket| self.will_take(*ticket)).collect::<Vec<_>>() {
                let takes = self.all.iter().position(|it| it.ticket == Some(ticket)).expect("one that takes it");
                self.all[takes].keeps = true;
            }
        }
        assert_eq!(self.core.end(co, outcome).awaited, told);
        self.core.complete(co);
        self.events.push(if told { "ended: awaited" } else { "ended: not awaited" });
        for ticket in waiters {
            self.wake_in_model(ticket);
        }
    }

    fn release(&mut self, index: Index) {
        // The host keeps main's.
        let ended: Vec<_> = self.held().into_iter().filter(|n| *n > 0 && self.all[*n].state == State::Done).collect();
        let Some(n) = pick(&ended, index) else { return };
        let it = &mut self.all[n];
        it.released = true;
        let left = it.cancellation.take();
        assert_eq!(self.core.release(it.co), left);
        if left.is_some() {
            self.events.push("left undelivered");
        }
    }

    fn expire(&mut self, now: u64) {
        self.now = now;
        self.core.expire(now);
        self.expire_in_model();
    }

    fn fork(&mut self, n: usize) {
        let mut others = self.held();
        others.retain(|other| *other != n && self.all[*other].state != State::Done);
        let mut cos: Vec<_> = others.iter().map(|other| self.all[*other].co).collect();
        cos.sort_by_key(|co| co.0);
        assert_eq!(self.core.after_fork(), cos);
        for other in others {
            let it = &mut self.all[other];
            (it.state, it.outcome, it.awaited, it.deadline) = (State::Done, Outcome::Cancelled, true, None);
            it.ends += 1;
        }
        self.all.iter_mut().for_each(|it| it.waiters.clear());
        self.points.iter_mut().for_each(|it| it.waiters.clear());
        self.queue.clear();
        self.events.push("forked");
    }

    /// All that can be asked, of both.
    pub fn compare(&self) {
        let core = &self.core;
        for it in self.held().into_iter().map(|n| &self.all[n]) {
            let co = it.co;
            assert_eq!((core.state(co), core.is_started(co)), (it.state, it.started), "{co:?}");
            assert_eq!((core.id(co), core.parent_id(co)), (it.id, it.parent));
            assert_eq!(core.is_cancel_requested(co), it.cancel_requested);
            assert_eq!(core.was_awaited(co), it.awaited);
            assert_eq!(core.is_done(Target::Coroutine(co)), it.state == State::Done);
            assert!(it.state != State::Done || core.outcome(co) == it.outcome);
            assert_eq!(it.ends, u32::from(it.state == State::Done), "each ends once");
        }
        for point in self.points.iter().filter(|point| !point.dropped) {
            assert_eq!(core.is_done(Target::Timeout(point.id)), point.done);
        }
        let mut live: Vec<_> = self.all.iter().filter(|it| it.state != State::Done).map(|it| it.co).collect();
        live.sort_by_key(|co| co.0);
        let in_state = |states: &[State]| live.iter().filter(|co| states.contains(&core.state(**co))).count();
        assert_eq!(core.coroutines().collect::<Vec<_>>(), live);
        assert_eq!(core.live(), live.len());
        assert_eq!(in_state(&[State::Running]), usize::from(self.running.is_some()));
        // With what `next` checks: the queue holds each ready one, and once.
        assert_eq!(core.ready(), in_state(&[State::Queued, State::Ready]));
        assert_eq!((core.ready(), core.has_ready()), (self.queue.len(), !self.queue.is_empty()));
        if self.fifo {
            let upcoming = (0..=self.queue.len()).map_while(|after| core.nth_ready(after));
            assert_eq!(upcoming.collect::<Vec<_>>(), self.queue.iter().map(|n| self.all[*n].co).collect::<Vec<_>>());
        }
        if let Some(n) = self.running {
            assert_eq!(core.running(), self.all[n].co);
            assert_eq!(core.cancellation_waits(), self.all[n].deliverable());
        }
        let deadlines = self.deadlines();
        let earliest = deadlines.first().map(|d| d.0);
        assert_eq!(core.deadlines(), deadlines.len());
        assert_eq!(core.next_deadline().is_some(), earliest.is_some());
        assert!(core.next_deadline() <= earliest, "would be late");
        assert_eq!(core.has_wake_source(), self.hope());
    }

    /// Wakes all that wait and ends all that run, after which nothing is left.
    pub fn wind_down(&mut self) {
        while self.core.live() > 0 {
            match self.running {
                Some(n) => self.finish(n, Outcome::Returned),
                None if self.queue.is_empty() => {
                    let parked = self.all.iter().find(|it| it.state == State::Parked);
                    let ticket = parked.and_then(|it| it.ticket).expect("a live one that is nowhere");
                    self.wake(ticket);
                }
                None => self.next(true),
            }
            self.compare();
        }
        self.expire(u64::MAX);
        self.compare();
        assert!(!self.core.has_wake_source());
        let next = if self.core.live() == 0 { Next::Over } else { Next::Idle };
        assert_eq!((self.core.next_to_run(), self.core.deadlines()), (next, 0));
    }
}

fn pick<T: Copy>(from: &[T], index: Index) -> Option<T> {
    (!from.is_empty()).then(|| from[index.index(from.len())])
}
