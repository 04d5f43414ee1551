//! Locks of handles: a call on a handle waits while another coroutine is suspended in a call on the same handle.
//!
//! Calls in progress that use handles, or a whole extension, are on a list of their coroutine ([`CallRecord`]). The
//! handles that they use are only determined when the coroutine is suspended, for whatever reason; they are then locked
//! until the calls return. Handles that share a connection have one lock (see `groups`). Waiters are served in order of
//! arrival; a stream may have one reader and one writer at a time.
//!
//! A coroutine that is suspended in a callback of such a call may wait for a coroutine that waits for the lock. In such a cycle the
//! wait for the lock is refused with an error, whichever wait has closed the cycle (see `dependencies`).

use crate::c;
use crate::handles::{
    calls::{self, CallRecord},
    classify::{self, handles, only_stream},
    groups,
    kinds::{CallKind, Mode, kind_of_calls},
    multi,
};
use crate::runtime::{
    classes,
    coroutine::{Held as Listed, Holders, Info, Wants},
    ctx::{Ctx, Held},
    dependencies,
    park::throw_cancellation,
    pending_cancel::{self, refresh_checks},
    scheduler::{self, Runtime},
};
use spindle_core::locks::{Locks, Users};
use spindle_core::sched::{CoroutineId, Ticket, WakeReason};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use spindle_zend::{Frame, Object, PhpStatic, engine, exception};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ptr::null_mut;

/// A coroutine that waits for a lock.
struct Waiter {
    ticket: Ticket,
    mode: Mode,
    /// The wait was refused, because it would never end.
    is_refused: bool,
}

/// A coroutine that holds a lock, and how it uses the handle.
type Holder = (CoroutineId, Mode);

fn is_held_by(holders: &[Holder], co: CoroutineId) -> bool {
    holders.iter().any(|(holder, _)| *holder == co)
}

/// Returns `true` if a holder excludes the use of the handle in this mode.
fn conflict_with(holders: &[Holder], mode: Mode) -> bool {
    holders.iter().any(|(_, held)| held.conflicts_with(mode))
}

/// Locks by the address of a handle, or by another key of what calls use. User code does not choose these.
///
/// While a close is in the queue (`closing`) calls before it in the queue run, but their parks fail.
static LOCKS: PhpStatic<RefCell<Locks<Holder, Waiter>>> = PhpStatic::new(RefCell::new(Locks::new()));

/// Runs `body`, C code that uses `key` outside of a function call, with the lock of that key. A cancellation does not
/// prevent this. Returns `None`, and has thrown, if waiting for the lock would be a deadlock; `body` was not run then.
pub(crate) fn with_lock<R>(key: usize, body: impl FnOnce() -> R) -> Option<R> {
    // A bailout jumps over the end of the call, and the request ends.
    let call = CallRecord::of_key(key);
    if calls::are_checked()
        && let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch())
    {
        rt.core.borrow_mut().shield();
        let is_locked = lock(rt, &call, key, Mode::Both);
        rt.core.borrow_mut().unshield();
        if !is_locked {
            return None;
        }
    }
    let result = call.run(body);
    spindle_release_locks(&call);
    Some(result)
}

/// Waits until none of `keys` is used by a suspended call of another coroutine, all at the same time. Returns `false`,
/// and has thrown, if that would be a deadlock.
pub(crate) fn wait_until_unused(keys: &[usize]) -> bool {
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return true };
    let co = running(rt);
    let is_mine = |key| LOCKS.borrow().users(key).is_some_and(|lock| is_held_by(lock.holders, co));
    while let Some(key) = keys.iter().find(|key| is_used_by_another(rt, co, **key) && !is_mine(**key)) {
        if with_lock(*key, || ()).is_none() {
            return false;
        }
    }
    true
}

/// Returns `true` if the lock of a key is held.
pub(crate) fn is_held(key: usize) -> bool {
    LOCKS.borrow().users(key).is_some_and(|users| !users.holders.is_empty())
}

/// Removes all locks: in the child of a fork, and at the request's end.
pub fn forget_all() {
    LOCKS.borrow_mut().clear();
    calls::set_checked(false);
}

/// Locks what the calls in progress of the running coroutine use, which is about to be suspended, until they return.
#[inline(always)]
pub fn suspending(rt: &'static Runtime) {
    if calls::are_any() {
        lock_used(rt);
    }
}

#[cold]
fn lock_used(rt: &'static Runtime) {
    // After a bailout that an extension has caught, the list may contain calls that have ended. The request ends then.
    if engine::has_bailed_out() {
        return;
    }
    for call in calls::running().take_while(|call| !call.is_marked()) {
        call.set_marked();
        match call.frame() {
            None => lock_one(rt, call, call.key(), Mode::Both),
            Some(frame) => handles(frame, kind_of_calls(frame.function()), |key, mode| lock_one(rt, call, key, mode)),
        }
    }
}

/// Returns `true` if a call in progress of the running coroutine uses the handle with this key.
pub(crate) fn is_in_use(key: usize) -> bool {
    // After a bailout the list may contain calls that have ended.
    !engine::has_bailed_out()
        && calls::running().any(|call| match call.frame() {
            None => call.key() == key,
            Some(frame) => {
                let mut is_used = false;
                handles(frame, kind_of_calls(frame.function()), |used, _| is_used |= used == key);
                is_used
            }
        })
}

/// Returns `true` if a function in progress has locks.
pub fn is_inside_marked() -> bool {
    calls::running().any(|call| call.has_locks() && call.frame().is_some())
}

/// Returns the running coroutine.
fn running(rt: &'static Runtime) -> CoroutineId {
    rt.context().co.get()
}

/// Returns the context of a coroutine, if it has one.
fn context_of(rt: &'static Runtime, co: CoroutineId) -> Option<&'static Ctx> {
    rt.find_object(co)?.ctx.get()
}

fn lock_one(rt: &'static Runtime, call: &CallRecord, key: usize, mode: Mode) {
    let (ctx, co) = (rt.context(), running(rt));
    if ctx.locked.borrow().iter().any(|held| held.call == call.as_raw() && held.key == key) {
        return; // it already has the lock, for which it has waited
    }
    LOCKS.borrow_mut().hold(key, (co, mode));
    note_lock(ctx, call, key);
    calls::set_checked(true);
}

/// Records that the coroutine of this context holds a lock for a call.
fn note_lock(ctx: &Ctx, call: &CallRecord, key: usize) {
    ctx.locked.borrow_mut().push(Held { call: call.as_raw(), key });
    call.set_holder(ctx.co.get());
}

/// Releases a coroutine's lock of a handle, and grants it to the waiters that can have it now.
fn release(rt: &'static Runtime, co: CoroutineId, key: usize) {
    multi::released(rt, key);
    let next = {
        let mut locks = LOCKS.borrow_mut();
        if locks.end_only_use(key, |(holder, _)| *holder == co) {
            if locks.is_empty() {
                calls::set_checked(false);
            }
            return;
        }
        let Some(lock) = locks.get_mut(key) else { return };
        if let Some(at) = lock.holders.iter().rposition(|(holder, _)| *holder == co) {
            lock.holders.remove(at);
        }
        let mut next = Vec::new();
        let mut waiting: VecDeque<Waiter> = VecDeque::new();
        for waiter in std::mem::take(&mut lock.queue) {
            let before = waiting.iter().any(|earlier| earlier.mode.conflicts_with(waiter.mode));
            if before || conflict_with(&lock.holders, waiter.mode) {
                waiting.push_back(waiter);
            } else {
                lock.holders.push((waiter.ticket.co, waiter.mode)); // it has the lock from now on, before it runs
                next.push(waiter.ticket);
            }
        }
        lock.queue = waiting;
        locks.tidy(key);
        if locks.is_empty() {
            calls::set_checked(false);
        }
        next
    };
    for ticket in next {
        rt.core.borrow_mut().wake(ticket);
    }
}

/// The slow path of the trampoline before a call: waits for the locks of the call's handles. Returns how the trampoline
/// continues (`SPINDLE_CALL_…`).
#[unsafe(no_mangle)]
extern "C" fn spindle_before_call(call: &CallRecord) -> sys::spindle_before {
    let Some(frame) = call.frame() else { return sys::SPINDLE_CALL_MADE };
    let kind = kind_of_calls(frame.function());
    match only_stream(frame, kind) {
        Some(stream) if !LOCKS.borrow().may_have(stream) => sys::SPINDLE_CALL_MADE,
        _ => wait_before_call(call, frame, kind),
    }
}

fn wait_before_call(call: &CallRecord, frame: Frame, kind: CallKind) -> sys::spindle_before {
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return sys::SPINDLE_CALL_MADE };
    let co = running(rt);
    if !may_be_locked(frame, kind) {
        return sys::SPINDLE_CALL_MADE;
    }
    // While the call waits for one lock, another may be taken; it then waits for that one without holding any, since
    // two calls that each hold what the other waits for would be a deadlock.
    while let Some((key, mode)) = first_locked(frame, kind, co) {
        if kind == CallKind::Performs && is_used_by_another(rt, co, key) {
            multi::refuse();
            return sys::SPINDLE_CALL_IS_RUNNING;
        }
        spindle_release_locks(call);
        if !lock(rt, call, key, mode) {
            return sys::SPINDLE_CALL_HAS_THROWN;
        }
        if kind == CallKind::Closes && is_closed(frame) {
            // Another coroutine has closed it meanwhile; it was open when this call was made.
            spindle_release_locks(call);
            return sys::SPINDLE_CALL_HAS_CLOSED;
        }
    }
    if matches!(kind, CallKind::Reads | CallKind::Writes) {
        begin_encrypted(rt, co, call, frame);
    }
    sys::SPINDLE_CALL_MADE
}

/// Returns `false` if no call uses the handles of this one, and `true` if one may.
#[inline(always)]
fn may_be_locked(frame: Frame, kind: CallKind) -> bool {
    let locks = LOCKS.borrow();
    let mut may_be = false;
    handles(frame, kind, |key, _| may_be |= locks.may_have(key));
    may_be
}

/// Returns `true` if the first argument of a call is a resource that has been closed.
fn is_closed(frame: Frame) -> bool {
    let first = frame.arguments().first().and_then(|value| value.as_resource());
    first.is_some_and(|resource| !resource.is_open())
}

/// Returns the first handle of a call for which it has to wait.
fn first_locked(frame: Frame, kind: CallKind, co: CoroutineId) -> Option<(usize, Mode)> {
    let mut first = None;
    handles(frame, kind, |key, mode| {
        if first.is_none() && must_wait(co, key, mode) {
            first = Some((key, mode));
        }
    });
    first
}

/// Returns `true` if another coroutine is suspended in a call on this handle. A coroutine that was granted the lock and
/// has not run since does not count.
pub(crate) fn is_used_by_another(rt: &'static Runtime, co: CoroutineId, key: usize) -> bool {
    LOCKS.borrow().users(key).is_some_and(|lock| {
        lock.holders.iter().any(|(holder, _)| {
            *holder != co
                && context_of(rt, *holder).is_some_and(|ctx| ctx.locked.borrow().iter().any(|held| held.key == key))
        })
    })
}

/// Prepares a call on a stream: if another coroutine's call is in progress on an encrypted stream, this call has to
/// find the stream in the same mode as that one did. ext/openssl keeps the mode that it has set on the socket in the stream.
fn begin_encrypted(rt: &'static Runtime, co: CoroutineId, call: &CallRecord, frame: Frame) {
    if is_first_used_by_another(rt, co, frame) && c::spindle_tls_begins(frame) {
        call.set_holder(co); // so that `end_encrypted` is called
    }
}

/// Completes a call that was suspended, or was made during another one: a call that is still in progress needs the
/// encrypted stream in non-blocking mode.
fn end_encrypted(rt: &'static Runtime, call: &CallRecord) {
    if let Some(frame) = call.frame().filter(|frame| is_first_used_by_another(rt, call.holder(), *frame)) {
        c::spindle_tls_ends(frame); // its arguments still exist
    }
}

/// Returns `true` if the first argument of a call is a resource, and another coroutine is suspended in a call on it.
fn is_first_used_by_another(rt: &'static Runtime, co: CoroutineId, frame: Frame) -> bool {
    let first = frame.arguments().first().and_then(|value| value.as_resource());
    first.is_some_and(|resource| is_used_by_another(rt, co, resource.address()))
}

/// Returns `true` if another coroutine is suspended in a method of this object.
pub(crate) fn is_in_suspended_call(object: &Object) -> bool {
    let Some(rt) = scheduler::existing() else { return false };
    let is_one = |call: &CallRecord| {
        call.frame().is_some_and(|frame| frame.this().is_some_and(|this| this.address() == object.address()))
    };
    LOCKS.borrow().users(groups::group_id(object.address())).is_some_and(|lock| {
        lock.holders.iter().any(|(holder, _)| {
            *holder != running(rt)
                && context_of(rt, *holder).is_some_and(|ctx| calls::of_list(ctx.calls.get()).any(is_one))
        })
    })
}

/// Returns `true` if the coroutine has to wait before it may use the handle in this mode.
fn must_wait(co: CoroutineId, key: usize, mode: Mode) -> bool {
    let locks = LOCKS.borrow();
    let Some(lock) = locks.users(key) else { return false };
    // One of its own outer calls may hold it.
    !is_held_by(lock.holders, co)
        && (conflict_with(lock.holders, mode) || lock.waiters().any(|earlier| earlier.mode.conflicts_with(mode)))
}

/// Releases the locks of a call that has ended or has not begun.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn spindle_release_locks(call: &CallRecord) {
    if !call.clear_holder() {
        return;
    }
    let Some(rt) = scheduler::existing() else { return };
    // If the call was made in a fiber, it may have been suspended in a coroutine other than the running one. That one's
    // context exists until it has ended.
    let co = call.holder();
    let ctx = if running(rt) == co { Some(rt.context()) } else { context_of(rt, co) };
    let Some(ctx) = ctx else { return };
    loop {
        let held = {
            let mut locked = ctx.locked.borrow_mut();
            let Some(at) = locked.iter().position(|held| held.call == call.as_raw()) else { break };
            locked.swap_remove(at)
        };
        release(rt, co, held.key);
    }
    end_encrypted(rt, call);
}

/// Releases all locks of the coroutine of this context, which has ended.
pub(crate) fn release_all(rt: &'static Runtime, ctx: &Ctx) {
    loop {
        let held = ctx.locked.borrow_mut().pop();
        let Some(held) = held else { break };
        release(rt, ctx.co.get(), held.key);
    }
}

/// Waits for the lock of a handle, if it is not free. Returns `false` if an exception was thrown.
fn lock(rt: &'static Runtime, call: &CallRecord, key: usize, mode: Mode) -> bool {
    if !must_wait(running(rt), key, mode) {
        return true;
    }
    if mode == Mode::Close
        && let Some(lock) = LOCKS.borrow_mut().get_mut(key)
    {
        lock.closing = true;
        for (holder, held) in &lock.holders {
            if held.conflicts_with(mode) {
                fail_quietly(rt, *holder);
            }
        }
    }
    wait_for_lock(rt, call, key, mode)
}

/// Makes the call in which a coroutine is parked fail, because its handle is being closed.
fn fail_quietly(rt: &'static Runtime, co: CoroutineId) {
    if let Some(this) = rt.find_object(co)
        && let Some(ctx) = context_of(rt, co)
        && pending_cancel::fail_quietly(ctx, pending_cancel::internal(rt.frame_of(&this)))
    {
        rt.core.borrow_mut().abort_park(co);
    }
}

fn wait_for_lock(rt: &'static Runtime, call: &CallRecord, key: usize, mode: Mode) -> bool {
    let (ctx, co) = (rt.context(), running(rt));
    let closes = mode == Mode::Close;
    loop {
        if LOCKS.borrow().users(key).is_none() {
            return true;
        }
        let ticket = rt.begin_wait();
        if let Some(lock) = LOCKS.borrow_mut().get_mut(key) {
            lock.queue.push_back(Waiter { ticket, mode, is_refused: false });
        }
        let wants = Wants::Held(Holders(waited_for, key));
        let info = Info { call: "locked handle", wants, since: Reactor::recently(), ..Info::NONE };
        let reason = dependencies::park(rt, info);
        let (granted, refused) = {
            let mut locks = LOCKS.borrow_mut();
            let state = locks.get_mut(key).map_or((false, false), |lock| {
                if lock.closing && !closes {
                    pending_cancel::fail_quietly(ctx, call.frame());
                }
                let refused = lock.queue.iter().any(|waiter| waiter.ticket == ticket && waiter.is_refused);
                lock.queue.retain(|waiter| waiter.ticket != ticket);
                (is_held_by(&lock.holders, co), refused)
            });
            locks.tidy(key);
            state
        };
        if granted {
            note_lock(ctx, call, key);
            refresh_checks(ctx);
        }
        if reason == WakeReason::Cancelled || refused {
            if granted {
                spindle_release_locks(call);
            } else {
                release(rt, co, key); // others may be queued behind it
            }
            if closes && let Some(lock) = LOCKS.borrow_mut().get_mut(key) {
                lock.closing = false; // it is not closed after all: its waiters may park again
            }
            if !throw_cancellation(rt) && refused {
                let holder = LOCKS.borrow().users(key).and_then(|lock| lock.holders.first().map(|(co, _)| *co));
                refuse(rt, holder.unwrap_or(co), call.frame());
            }
            return false;
        }
        if granted {
            return true;
        }
    }
}

/// Throws the error for a call that would wait for `holder` for ever.
fn refuse(rt: &'static Runtime, holder: CoroutineId, frame: Option<Frame>) {
    let id = rt.core.borrow().id(holder);
    let name = classify::name_of_call(frame);
    let list = context_of(rt, holder).map_or(null_mut(), |ctx| ctx.calls.get());
    let held_by = calls::of_list(list).find_map(CallRecord::frame);
    let inside = held_by
        .map_or(String::new(), |frame| format!(" is in the middle of {} and", classify::name_of_call(Some(frame))));
    let text = format!("{name} would deadlock: coroutine #{id}{inside} waits for this one");
    let _ = exception::throw_new(classes::async_exception(), &text);
}

/// Returns the coroutines that have to continue before `co` gets the lock in this mode, for which it waits: the holders
/// that exclude it, and if there are none, the last one before it in the queue that does.
fn obstacles(lock: Users<'_, Holder, Waiter>, mode: Mode, co: CoroutineId) -> Vec<CoroutineId> {
    let holders = lock.holders.iter().filter(|(holder, held)| *holder != co && held.conflicts_with(mode));
    let mut found: Vec<CoroutineId> = holders.map(|(holder, _)| *holder).collect();
    if found.is_empty() {
        let before = lock.waiters().take_while(|waiter| waiter.ticket.co != co);
        found.extend(before.filter(|waiter| waiter.mode.conflicts_with(mode)).last().map(|waiter| waiter.ticket.co));
    }
    found
}

/// Lists the coroutines that have to continue before `co` gets the lock of a key for which it waits.
fn waited_for(held: &mut Listed<'_>, key: usize, co: CoroutineId) {
    let locks = LOCKS.borrow();
    let Some(lock) = locks.users(key) else { return };
    let Some(mode) = lock.waiters().find(|waiter| waiter.ticket.co == co).map(|waiter| waiter.mode) else { return };
    obstacles(lock, mode, co).into_iter().for_each(|other| held.by_coroutine(other));
}

/// Refuses the call of a coroutine that waits for a lock, because this wait, or that of the running coroutine, has closed a cycle.
pub fn give_up(rt: &'static Runtime, co: CoroutineId) {
    let Some(this) = rt.find_object(co) else { return };
    let Wants::Held(Holders(_, key)) = this.info().wants else { return };
    let mut ticket = None;
    if let Some(lock) = LOCKS.borrow_mut().get_mut(key)
        && let Some(waiter) = lock.queue.iter_mut().find(|waiter| waiter.ticket.co == co)
    {
        waiter.is_refused = true;
        ticket = Some(waiter.ticket);
    }
    if let Some(ticket) = ticket {
        rt.core.borrow_mut().wake(ticket);
    }
}
