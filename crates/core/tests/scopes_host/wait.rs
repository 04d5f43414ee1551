//! Waiting, and whose turn it is.

use super::*;
use spindle_core::sched::{Next, WakeReason};

impl Host {
    /// The running one waits for the world, until [`Host::wakes`].
    pub fn waits(&mut self) {
        self.parks(For::Nothing, None, SOCKET, None);
    }

    /// The running one waits for what only another one can do.
    pub fn waits_for_others(&mut self) {
        self.parks(For::Nothing, None, WaitReason::Coroutines, None);
    }

    /// The running one sleeps.
    pub fn sleeps(&mut self, time: u64) {
        let deadline = self.now + time;
        self.parks(For::Nothing, None, WaitReason::Timer, Some(deadline));
    }

    /// The running coroutine yields.
    pub fn turns(&mut self) {
        self.parks(For::Nothing, None, WaitReason::Yield, None);
    }

    /// The running one awaits something. It may be there at once, or throw at once.
    pub fn awaits(&mut self, what: For, token: Option<Target>) {
        let wait = Wait { what, token, on: WaitReason::Coroutines, ticket: None };
        match self.answer(&wait) {
            Some(Ok(())) => {}
            Some(Err(thrown)) => self.throws(thrown),
            None => self.parks(what, token, WaitReason::Coroutines, None),
        }
    }

    fn parks(&mut self, what: For, token: Option<Target>, on: WaitReason, deadline: Option<u64>) {
        let co = self.current.expect("a body runs");
        let ticket = self.core.begin_wait();
        let wait = Wait { what, token, on, ticket: Some(ticket) };
        for target in targets(&wait) {
            self.core.subscribe(target, ticket);
        }
        match self.core.park(deadline, on, true) {
            None => {
                self.body_mut(co).waits = Some(wait);
                self.current = None;
            }
            Some(reason) => {
                assert_eq!(reason, WakeReason::Cancelled);
                self.wait_is_over(&wait);
                let word = self.core.take_cancellation().expect("a cancellation");
                self.body_mut(co).pending = false;
                self.throws(Thrown::Cancellation(word));
            }
        }
    }

    fn wait_is_over(&mut self, wait: &Wait) {
        let ticket = wait.ticket.expect("a ticket");
        for target in targets(wait) {
            self.core.unsubscribe(target, ticket);
        }
    }

    /// What the running one gets for its wait. `None`: it is not over.
    fn answer(&mut self, wait: &Wait) -> Option<Result<(), Thrown>> {
        match wait.what {
            For::Nothing => return Some(Ok(())),
            For::Coroutine(co) if self.core.is_done(Target::Coroutine(co)) => {
                self.core.mark_awaited(co);
                return Some(self.outcome_of(co));
            }
            For::Scope(scope, way) => {
                if let Some(word) = self.core.take_delivery(scope) {
                    return Some(Err(Thrown::Failure(word)));
                }
                let cancelled = self.cancelled_by(scope).filter(|_| way == Way::Completion);
                if let Some(word) = cancelled {
                    return Some(Err(Thrown::Cancellation(word)));
                }
                if self.core.is_finished(scope) {
                    return Some(Ok(()));
                }
            }
            For::Set(set) if self.core.is_done(Target::Set(set)) => {
                let failed = self.core.failed_in_set(set);
                return Some(failed.map_or(Ok(()), |co| self.outcome_of(co)));
            }
            For::Coroutine(_) | For::Set(_) => {}
        }
        let token = wait.token.filter(|token| self.core.is_done(*token));
        token.map(|_| Err(Thrown::Failure("await cancelled")))
    }

    /// Runs coroutines until a body has to act, and returns it; `None` if none is ready.
    pub fn next(&mut self) -> Option<CoroutineId> {
        assert_eq!(self.current, None, "one runs");
        loop {
            self.drain();
            self.core.update_zombie_timer(self.now, self.grace);
            match self.core.next_to_run() {
                Next::Idle | Next::Over => return None,
                Next::CancelledBeforeStart(co) => {
                    let word = self.core.discard_cancellation(co).expect("a cancellation");
                    self.body_ends(co, Ends::Cancelled(word));
                }
                Next::Start(co) | Next::Resume(co) if self.body(co).job.is_some() => {
                    let first = !std::mem::replace(&mut self.body_mut(co).catches, true);
                    self.runner(co, first);
                }
                Next::Start(co) => {
                    self.current = Some(co);
                    return Some(co);
                }
                Next::Resume(co) => {
                    self.current = Some(co);
                    self.resumes(co);
                    if self.current.is_some() {
                        return self.current;
                    }
                }
            }
        }
    }

    fn resumes(&mut self, co: CoroutineId) {
        let reason = self.core.resumed(true);
        let wait = self.body_mut(co).waits.take().expect("it waited");
        self.wait_is_over(&wait);
        if reason == WakeReason::Cancelled {
            let word = self.core.take_cancellation().expect("a cancellation");
            self.body_mut(co).pending = false;
            return self.throws(Thrown::Cancellation(word));
        }
        match self.answer(&wait) {
            Some(Ok(())) => self.say(format!("{} goes on", self.name(co))),
            Some(Err(thrown)) => self.throws(thrown),
            None => self.parks(wait.what, wait.token, wait.on, None),
        }
    }

    /// Runs all until none is ready; each acts as given.
    pub fn run(&mut self, mut act: impl FnMut(&mut Host, CoroutineId)) {
        while let Some(co) = self.next() {
            act(self, co);
            assert_ne!(self.current, Some(co), "it has to wait or end");
        }
    }

    /// Runs all until none is ready; each that has to act returns.
    pub fn all_return(&mut self) {
        self.run(|host, _| host.ends(Ends::Returns));
    }

    /// Each of these starts and waits for the world. Main waits at first, if it runs, and in the end again.
    pub fn all_wait(&mut self) {
        if self.current.is_some() {
            self.waits();
        }
        self.run(|host, _| host.waits());
    }

    /// A scope with coroutines of these names, which all wait for the world, as does main.
    pub fn waiting<const N: usize>(&mut self, names: [Word; N]) -> (ScopeId, [CoroutineId; N]) {
        let scope = self.scope("s", None, Lifetime::Scope);
        let members = names.map(|name| self.member(scope, name));
        self.all_wait();
        (scope, members)
    }

    /// Main, which waits for the world, waits for this from now on.
    pub fn main_awaits(&mut self, scope: ScopeId, way: Way) {
        self.wakes(MAIN);
        while self.next().expect("main is ready") != MAIN {
            self.waits();
        }
        self.awaits(For::Scope(scope, way), None);
    }

    /// Ends the wait of this one.
    pub fn wakes(&mut self, co: CoroutineId) {
        let ticket = self.body(co).waits.and_then(|wait| wait.ticket).expect("it waits");
        self.core.wake(ticket);
    }

    /// It is this one's turn.
    pub fn turn_of(&mut self, co: CoroutineId) {
        assert_eq!(self.next(), Some(co), "{:#?}", self.log);
    }

    /// This one waits, and goes on now.
    pub fn resume(&mut self, co: CoroutineId) {
        self.wakes(co);
        self.turn_of(co);
    }
}

fn targets(wait: &Wait) -> Vec<Target> {
    let what = match wait.what {
        For::Nothing => None,
        For::Coroutine(co) => Some(Target::Coroutine(co)),
        For::Scope(scope, _) => Some(Target::Scope(scope)),
        For::Set(set) => Some(Target::Set(set)),
    };
    what.into_iter().chain(wait.token).collect()
}
