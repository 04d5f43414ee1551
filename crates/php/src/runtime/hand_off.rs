//! Waits that another coroutine ends by handing something over: it wakes one particular coroutine, or finds out that it cannot.

use crate::runtime::awaiting::{self, Delivered};
pub use crate::runtime::coroutine::{Held, Holders};
use crate::runtime::coroutine::{Info, Wants};
use crate::runtime::failure::{self, Level};
use crate::runtime::park::{after_signal, cannot_await, may_wait, try_begin_wait};
use crate::runtime::scheduler::{Runtime, existing, rt};
use spindle_core::sched::{ScopeId, Target, Ticket, WaitReason, WakeReason};
use spindle_reactor::Reactor;
use spindle_zend::{Object, Owned, Thrown};

/// Wakes one wait of one coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waker(Ticket);

impl Waker {
    /// Ends the wait. Returns `false` if it has ended, or is about to end by something else: what was to be handed over
    /// goes to another coroutine. Runs no other code.
    #[inline]
    pub fn wake(self) -> bool {
        existing().is_some_and(|rt| rt.core.borrow_mut().wake(self.0))
    }

    /// Returns `true` if [`Waker::wake`] would end the wait.
    pub fn is_waiting(self) -> bool {
        existing().is_some_and(|rt| rt.core.borrow().can_wake(self.0))
    }
}

/// What a coroutine waits for.
#[derive(Clone, Copy)]
pub struct Wait<'a> {
    /// The wait's name in diagnostics.
    pub name: &'static str,
    /// How to find the coroutines that hold what it waits for, if only these can end it.
    pub holders: Option<Holders>,
    /// Nothing but an awaitable that it [watches](Begun::watch) can end it.
    pub only_watches: bool,
    /// A cancellation token, whose completion ends the wait.
    pub token: Option<&'a Object>,
    /// When the wait ends in any case, by the event loop's clock.
    pub deadline: Option<u64>,
}

impl<'a> Wait<'a> {
    /// Returns the description of a wait that a token may end.
    pub const fn new(name: &'static str, token: Option<&'a Object>) -> Wait<'a> {
        Wait { name, holders: None, only_watches: false, token, deadline: None }
    }

    /// Begins the wait: the code that gets the waker may use it from now on, and [`Begun::park`] follows.
    ///
    /// # Errors
    /// The coroutine is cancelled, or cannot be suspended here, or the token is complete.
    #[inline(always)]
    pub fn begin(self) -> Result<Begun<'a>, Thrown> {
        let rt = rt();
        let target = match self.token {
            None => None,
            Some(token) => Some(open_target(rt, token)?),
        };
        if !rt.can_switch() {
            return Err(cannot_await(rt));
        }
        let ticket = try_begin_wait(rt)?;
        Ok(Begun { rt, wait: self, ticket, target })
    }
}

/// Returns the target of a token that is not complete.
///
/// # Errors
/// The token is complete, or can never be.
#[inline(never)]
fn open_target(rt: &'static Runtime, token: &Object) -> Result<Target, Thrown> {
    let target = awaiting::target(token)?;
    let is_done = rt.core.borrow().is_done(target);
    if is_done { Err(awaiting::token_was_first(rt, token)) } else { Ok(target) }
}

/// A wait that has begun.
pub struct Begun<'a> {
    rt: &'static Runtime,
    wait: Wait<'a>,
    ticket: Ticket,
    target: Option<Target>,
}

impl<'a> Begun<'a> {
    /// Returns its waker.
    pub fn waker(&self) -> Waker {
        Waker(self.ticket)
    }

    /// Adds an awaitable that is not complete, whose completion wakes it, too.
    ///
    /// # Errors
    /// It can never complete, or not while this coroutine waits for it.
    pub fn watch(&self, awaitable: &Object) -> Result<(), Thrown> {
        let target = awaiting::target(awaitable)?;
        awaiting::may_await(self.rt, target, awaitable)?;
        self.rt.core.borrow_mut().subscribe_to_one(target, self.ticket);
        Ok(())
    }

    /// Removes an awaitable. If that is a scope which has failed meanwhile, returns the failure, which no other coroutine gets: the
    /// caller throws it, or [passes it on](Begun::pass_on).
    pub fn unwatch(&self, awaitable: &Object) -> Option<Owned<Object>> {
        let target = awaiting::target(awaitable).ok()?;
        self.rt.core.borrow_mut().unsubscribe(target, self.ticket);
        let Target::Scope(id) = target else { return None };
        self.rt.take_delivery(id)
    }

    /// Routes a failure of a scope, which [`Begun::unwatch`] has returned, to the scopes above.
    pub fn pass_on(&self, awaitable: &Object, failure: Owned<Object>) {
        if let Ok(Target::Scope(id)) = awaiting::target(awaitable) {
            pass_on(self.rt, id, failure);
        }
    }

    /// Suspends the coroutine until it is woken, is cancelled, or the token is complete. The caller then checks what it was handed,
    /// before any other code runs.
    #[inline(always)]
    pub fn park(&self) -> Parked<'a> {
        if let Some(target) = self.target {
            self.rt.core.borrow_mut().subscribe(target, self.ticket);
        }
        let wants = match self.wait.holders {
            Some(holders) => Wants::Held(holders),
            None if self.wait.only_watches => Wants::Subscribed,
            None => Wants::Unknown,
        };
        let limit = self.target;
        let info = Info { call: self.wait.name, wants, limit, since: Reactor::recently(), ..Info::NONE };
        let reason = self.rt.park_inline(self.wait.deadline, WaitReason::Coroutines, true, info);
        let mut delivered = None;
        if let Some(target) = self.target {
            self.rt.core.borrow_mut().unsubscribe(target, self.ticket);
            if let Target::Scope(id) = target {
                delivered = self.rt.take_delivery(id).map(|failure| (id, failure));
            }
        }
        Parked { rt: self.rt, token: self.wait.token, target: self.target, reason, delivered }
    }
}

/// A wait that has been parked. It has to be ended by one of its methods.
#[must_use]
pub struct Parked<'a> {
    rt: &'static Runtime,
    token: Option<&'a Object>,
    target: Option<Target>,
    reason: WakeReason,
    delivered: Option<Delivered>,
}

impl Parked<'_> {
    /// Returns `true` if the coroutine is cancelled, and the wait fails, whatever it was handed: that is to be given back.
    pub fn is_cancelled(&self) -> bool {
        self.reason == WakeReason::Cancelled
    }

    /// Ends a wait that was handed something, which the caller takes.
    #[inline(always)]
    pub fn taken(self) {
        if self.target.is_some() {
            self.pass_on();
        }
    }

    /// Ends a wait that was handed nothing, or has given it back. If this returns, it has to begin again, unless its deadline is over.
    ///
    /// # Errors
    /// The coroutine is cancelled, the token was first, or a signal handler has thrown.
    pub fn failed(mut self) -> Result<(), Thrown> {
        if self.reason == WakeReason::Cancelled {
            let rt = self.rt;
            self.pass_on();
            return may_wait(rt);
        }
        if let Some((_, failure)) = self.delivered.take() {
            let thrown = awaiting::token_has_failed(failure);
            self.pass_on();
            return Err(thrown);
        }
        if let (Some(token), Some(target)) = (self.token, self.target)
            && self.rt.core.borrow().is_done(target)
        {
            return Err(awaiting::token_was_first(self.rt, token));
        }
        if self.reason == WakeReason::Interrupted {
            after_signal()?;
        }
        Ok(())
    }

    /// Routes the failure of a token that is a scope to others.
    fn pass_on(mut self) {
        if let Some((id, failure)) = self.delivered.take() {
            pass_on(self.rt, id, failure);
        }
        if let Some(target) = self.target {
            awaiting::pass_on(self.rt, &[target]);
        }
    }
}

/// Routes a failure of a scope, which was delivered to the running coroutine, to the scopes above.
pub fn pass_on(rt: &'static Runtime, id: ScopeId, failure: Owned<Object>) {
    failure::route(rt, failure, Level::Beyond(id), id, rt.running());
}

/// Waits for many awaitables together, until `count` of them are complete, or with `fails_fast` until one has failed, or until
/// scopes among them have failed. Returns the failures of those scopes, which only a coroutine that waits for them gets.
///
/// # Errors
/// The coroutine is cancelled, or the token was first.
pub fn wait_for_some(
    wait: Wait<'_>,
    targets: &[Target],
    count: usize,
    fails_fast: bool,
) -> Result<Vec<Delivered>, Thrown> {
    let rt = rt();
    let limit = wait.token.map(awaiting::target).transpose()?;
    let set = rt.core.borrow_mut().add_watch(targets, count, fails_fast);
    let info = Info { call: wait.name, ..awaiting::info_of(Target::Set(set), limit) };
    let over = |core: &crate::runtime::scheduler::Core| {
        core.is_done(Target::Set(set)) || limit.is_some_and(|limit| core.is_done(limit))
    };
    let (both, alone) = ([Target::Set(set), limit.unwrap_or(Target::Set(set))], [Target::Set(set)]);
    let mut waited_for = if limit.is_some() { &both[..] } else { &alone[..] };
    let is_scope = |target: &Target| matches!(target, Target::Scope(_));
    let with_scopes: Vec<Target>;
    if targets.iter().any(is_scope) {
        // Waited for by itself, too: a set gets no failure of a scope.
        let scopes = targets.iter().copied().filter(is_scope);
        with_scopes = waited_for.iter().copied().chain(scopes).collect();
        waited_for = &with_scopes;
    }
    let waited = awaiting::wait(rt, waited_for, info, over);
    let in_time = {
        let mut core = rt.core.borrow_mut();
        let in_time = core.is_done(Target::Set(set));
        core.drop_watch(set, targets.iter().copied());
        in_time
    };
    let thrown = match (waited, wait.token) {
        (Err(thrown), _) => thrown,
        (Ok(Some(failure)), _) => {
            let mut failures = vec![failure];
            for target in waited_for {
                if let Target::Scope(id) = *target {
                    failures.extend(rt.take_delivery(id).map(|failure| (id, failure)));
                }
            }
            let is_token = |id: ScopeId| limit == Some(Target::Scope(id)) && !targets.contains(&Target::Scope(id));
            let of_token = failures.iter().position(|(id, _)| is_token(*id));
            let Some(at) = of_token else { return Ok(failures) };
            let (_, of_token) = failures.swap_remove(at);
            if failures.is_empty() {
                awaiting::token_has_failed(of_token)
            } else {
                pass_on_token(rt, limit, of_token);
                return Ok(failures);
            }
        }
        (Ok(None), Some(token)) if !in_time => awaiting::token_was_first(rt, token),
        (Ok(None), _) => return Ok(Vec::new()),
    };
    awaiting::pass_on(rt, waited_for);
    Err(thrown)
}

fn pass_on_token(rt: &'static Runtime, token: Option<Target>, failure: Owned<Object>) {
    if let Some(Target::Scope(id)) = token {
        pass_on(rt, id, failure);
    }
}
