//! What follows from ends, failures and events.

use super::*;
use spindle_core::sched::{Event, Route, ToCancel};

impl Host {
    pub(super) fn body_ends(&mut self, co: CoroutineId, how: Ends) {
        let scope = self.core.scope_of(co);
        let name = self.name(co);
        self.say(match how {
            Ends::Returns => format!("{name} returns"),
            Ends::Throws(word) => format!("{name} fails: {word}"),
            Ends::Cancelled(word) => format!("{name} is cancelled: {word}"),
        });
        let body = self.body_mut(co);
        assert_eq!(body.ended.replace(how), None, "{name} ends twice");
        let callback = body.callback.take();
        let end = self.core.end(co, outcome(how));
        let takes = |it: &Body| {
            let for_it = it.waits.is_some_and(|wait| wait.what == For::Coroutine(co));
            for_it && !(it.pending && it.shields == 0)
        };
        let few = self.bodies.len() < 1_000;
        assert!(end.awaited || !(few && self.bodies.values().any(takes)), "{name} is awaited");
        for orphan in end.orphans {
            for co in self.core.cancel_targets(orphan) {
                self.cancels_one(co, "parent ended");
            }
        }
        if let Ends::Throws(word) = how {
            *self.thrown.entry(word).or_default() += 1;
            if end.awaited {
                self.fated(word, Fate::Awaiters);
            } else {
                let secondary = self.core.is_secondary_failure(scope);
                let route = self.core.failure(scope);
                self.goes_to(scope, route, word, secondary);
            }
        }
        if let Some(handler) = callback {
            self.runs(scope, Some(scope), Job::Callback { handler, scope });
        }
        if end.complete {
            self.completes(co);
        }
        self.drain();
    }

    fn completes(&mut self, co: CoroutineId) {
        let name = self.name(co);
        self.say(format!("{name} complete"));
        assert!(!std::mem::replace(&mut self.body_mut(co).complete, true), "{name} completes twice");
        self.core.complete(co);
    }

    fn fated(&mut self, word: Word, fate: Fate) {
        self.fates.entry(word).or_default().push(fate);
    }

    /// A coroutine for callbacks and handlers.
    fn runs(&mut self, scope: ScopeId, holds: Option<ScopeId>, job: Job) {
        let co = self.core.spawn_runner(scope, holds);
        self.born(co, "runner", scope, None);
        let body = self.body_mut(co);
        (body.zombie, body.holds, body.job) = (false, holds, Some(job));
    }

    /// A failure of `origin` on its way.
    fn goes_to(&mut self, origin: ScopeId, route: Route, word: Word, mut secondary: bool) {
        let mut route = route;
        loop {
            route = match route {
                Route::Handler(at) => {
                    self.fated(word, Fate::Handler(at));
                    let handler = self.place(at).own.expect("a handler");
                    return self.runs(at, Some(origin), Job::Handle { handler, at, word, of_child: false });
                }
                Route::ChildHandler(at) => {
                    self.fated(word, Fate::ChildHandler(at));
                    let handler = self.place(at).child.expect("a handler");
                    return self.runs(at, Some(origin), Job::Handle { handler, at, word, of_child: true });
                }
                Route::Cancelled { scope, order, notify, handled } => {
                    assert!(handled || notify.is_empty());
                    self.place(scope).cancelled_by.get_or_insert(word);
                    self.place(scope).errors.push(word);
                    for co in order {
                        self.cancels_one_after_failure(co, word);
                    }
                    self.core.notify_cancelled(scope);
                    for co in notify {
                        self.core.deliver(co, scope, word);
                    }
                    if handled {
                        return self.fated(word, Fate::Waiters(scope));
                    }
                    let parent = self.core.parent_scope(scope);
                    let above_too = parent.is_some_and(|above| self.core.is_secondary_failure(above));
                    let next = self.core.failure_above(scope, secondary);
                    secondary |= above_too;
                    next
                }
                Route::Stays => {
                    assert!(secondary, "a first failure ends something");
                    self.say(format!("stays {word}"));
                    return self.fated(word, Fate::Stays);
                }
                Route::Unhandled => {
                    self.fated(word, Fate::Unhandled);
                    self.say(format!("unhandled {word}"));
                    return self.shuts_down();
                }
            }
        }
    }

    /// Graceful shutdown.
    pub fn shuts_down(&mut self) {
        if std::mem::replace(&mut self.shut_down, true) {
            return;
        }
        let ToCancel::Gently(order) = self.core.shut_down() else { panic!("gracefully at first") };
        for co in order {
            self.cancels_one(co, "shutdown");
        }
        for scope in self.core.child_scopes(GLOBAL) {
            self.place(scope).cancelled_by.get_or_insert("shutdown");
        }
        self.core.notify_cancelled(GLOBAL);
    }

    /// Events, until there is none.
    pub fn drain(&mut self) {
        while let Some(event) = self.core.next_event() {
            match event {
                Event::Complete(co) => self.completes(co),
                Event::Finished(scope) => self.finished(scope),
                Event::Bound(scope, _) => _ = self.cancels_scope(scope, "bounded"),
                Event::DisposalDue(scope) => {
                    self.zombies_in(scope, true, false);
                    self.core.make_zombies(scope);
                    self.cancels_scope(scope, "disposed");
                }
                Event::Failed(set) => self.say(format!("set failed: {set:?}")),
                Event::ZombiesDue => {
                    self.say("zombies are due".to_owned());
                    assert!(self.bodies.values().all(|it| it.complete || it.zombie), "others live");
                    for co in self.core.zombies() {
                        self.cancels_one(co, "zombie");
                    }
                }
                Event::Overdue(co) | Event::Unawaited(co) => unreachable!("nobody has asked about {co:?}"),
                Event::ReportsDue => unreachable!("nobody expects reports"),
                Event::Idle(_) => {} // what is kept of it may go: this host keeps nothing
                Event::Gone(scope) => {
                    if self.core.release_scope(scope) {
                        self.is_gone(scope);
                    }
                }
            }
        }
    }

    pub(super) fn is_gone(&mut self, scope: ScopeId) {
        let place = self.places.remove(&scope).expect("gone twice");
        self.say(format!("{} gone", place.name));
    }

    fn finished(&mut self, scope: ScopeId) {
        match self.place(scope).callback.take() {
            Some(handler) => self.runs(scope, None, Job::ScopeCallback { handler, scope }),
            None => self.tells_finished(scope),
        }
    }

    fn tells_finished(&mut self, scope: ScopeId) {
        if self.core.scope_exists(scope) && self.core.is_finished(scope) {
            let below = self.core.child_scopes(scope);
            assert!(below.iter().all(|it| self.core.is_finished(*it)), "finished before one below it");
            self.say(format!("{} finished", self.scope_name(scope)));
        }
        self.core.notify_finished(scope);
        self.drain();
    }

    /// Runs a runner, which ends unless it yields.
    pub(super) fn runner(&mut self, co: CoroutineId, first: bool) {
        let job = self.body(co).job.expect("a runner");
        let (Job::Handle { handler, .. } | Job::Callback { handler, .. } | Job::ScopeCallback { handler, .. }) = job;
        if handler == Handler::Turns && first {
            self.core.begin_wait();
            if self.core.park(None, WaitReason::Yield, true).is_none() {
                return;
            }
        }
        // Whatever cancels a runner, it does its work.
        self.core.take_cancellation();
        let scope = self.core.scope_of(co);
        if handler == Handler::Spawns && self.spawns("of a handler").is_none() {
            self.say("a handler may not spawn".to_owned());
        }
        let thrown = match handler {
            Handler::Throws(word) => Some(word),
            _ => None,
        };
        let name = self.scope_name(scope);
        if let Some(word) = thrown {
            *self.thrown.entry(word).or_default() += 1;
        }
        self.core.end(co, if thrown.is_some() { Outcome::Failed } else { Outcome::Returned });
        match job {
            Job::Handle { at, word, of_child, .. } => {
                let whose = if of_child { "child handler" } else { "handler" };
                self.say(format!("{name} {whose}: {word}"));
                if let Some(new) = thrown {
                    let secondary = self.core.is_secondary_failure(at);
                    let route = self.core.failure_above(at, secondary);
                    self.goes_to(at, route, new, secondary);
                }
            }
            Job::Callback { .. } | Job::ScopeCallback { .. } => {
                self.say(format!("{name} callback"));
                if let Some(new) = thrown {
                    let secondary = self.core.is_secondary_failure(scope);
                    let route = self.core.failure(scope);
                    self.goes_to(scope, route, new, secondary);
                }
            }
        }
        self.core.complete(co);
        if let Job::ScopeCallback { scope, .. } = job {
            self.tells_finished(scope);
        }
        self.bodies.remove(&co);
        self.core.release(co);
        self.drain();
    }
}
