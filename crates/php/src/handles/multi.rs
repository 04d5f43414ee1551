//! `curl_multi_exec()` and `curl_multi_select()`: several coroutines may drive the transfers of one handle together, as they do where
//! they share a client of Guzzle or Symfony.
//!
//! On stock PHP `curl_multi_exec()` never waits, and callers rely on nothing else running meanwhile. So it is not suspended by Spindle,
//! but for what callbacks of user code wait for, and it yields only at its end, if its caller polls (see `polling`). While another
//! coroutine is inside a call on the handle, it reports that transfers are still running.
//!
//! `curl_multi_select()` does not wait inside libcurl, which refuses other calls on a handle that is waited on (since 8.15): it asks what
//! is ready, and its trampoline waits for what libcurl would have waited for. Nothing is locked then. If another coroutine changes
//! the transfers meanwhile, the wait ends, because its descriptors are those from before the change.

use crate::c;
use crate::handles::{after_call::spindle_after_call, calls::Trampolined, classify, groups, handle_locks, polling};
use crate::runtime::{
    ctx::Ctx,
    park::throw_cancellation,
    pick::CALLS_PER_POLL,
    scheduler::{self, Runtime},
};
use spindle_interpose::hooks::poll::wait_left;
use spindle_interpose::host::{Host, Wake, current_host};
use spindle_php_sys as sys;
use spindle_reactor::{Reactor, Waiter};
use spindle_zend::{Frame, PhpStatic, Value, engine, exception};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_short;
use std::os::fd::RawFd;

/// How many handles a coroutine knows before it forgets those without data.
const MANY: usize = 16;

/// Data about a handle, by its address.
#[derive(Default)]
struct Multi {
    /// How many transfers ran at the end of the last call of `curl_multi_exec()`.
    running: i64,
    /// The number of the last change.
    changed: u64,
    /// The coroutines that wait in `curl_multi_select()`, and have not been woken.
    watchers: Vec<Waiter>,
    /// How many are in that function.
    watching: u32,
}

/// The wait that a call of `curl_multi_select()` would have made.
#[derive(Default)]
struct Wait {
    fds: Vec<(RawFd, c_short)>,
    deadline: Option<u64>,
}

struct State {
    multis: RefCell<BTreeMap<usize, Multi>>,
    /// Counts the changes of all handles.
    changes: Cell<u64>,
    /// The last call of `curl_multi_exec()` was not made, because another one is in progress.
    is_refused: Cell<bool>,
    left: RefCell<Option<Wait>>,
}

static STATE: PhpStatic<State> = PhpStatic::new(State {
    multis: RefCell::new(BTreeMap::new()),
    changes: Cell::new(0),
    is_refused: Cell::new(false),
    left: RefCell::new(None),
});

/// Records that the present call of `curl_multi_exec()` is not made.
pub(crate) fn refuse() {
    STATE.is_refused.set(true);
}

/// Forgets all handles at the end of the request.
pub(crate) fn forget_all() {
    STATE.multis.borrow_mut().clear();
    STATE.is_refused.set(false);
    STATE.left.take();
}

/// Returns `true` if the running function is a `curl_multi_select()` that leaves its wait to its trampoline.
#[inline(always)]
pub fn leaves_waits(rt: &'static Runtime) -> bool {
    let frame = rt.context().leaves_waits_in.get();
    frame.is_some() && frame == Frame::current()
}

/// Keeps what the running function would have waited for.
pub fn leave_wait(fds: &[libc::pollfd], deadline: Option<u64>) {
    let fds = fds.iter().filter(|one| one.fd >= 0).map(|one| (one.fd, one.events)).collect();
    *STATE.left.borrow_mut() = Some(Wait { fds, deadline });
}

/// Returns the address of the handle that a call is made on.
fn handle(frame: Frame) -> Option<usize> {
    frame.arguments().first().and_then(|value| value.dereferenced().as_object()).map(|object| object.address())
}

/// Records a change of a handle, and ends the waits for it.
fn change(rt: &'static Runtime, multi: &mut Multi) {
    STATE.changes.set(STATE.changes.get() + 1);
    multi.changed = STATE.changes.get();
    for waiter in multi.watchers.drain(..) {
        rt.wake(waiter);
    }
}

/// Called when the lock of a group of handles was released: coroutines that wait for the end of the call that held it
/// continue.
pub(crate) fn released(rt: &'static Runtime, group: usize) {
    for (address, multi) in STATE.multis.borrow_mut().iter_mut() {
        if !multi.watchers.is_empty() && groups::group_id(*address) == group {
            change(rt, multi);
        }
    }
}

/// Records that the running coroutine knows all that was done for a handle.
fn has_seen(rt: &'static Runtime, address: usize) {
    let mut performed = rt.context().performed.borrow_mut();
    let now = STATE.changes.get();
    match performed.iter_mut().find(|(known, _)| *known == address) {
        Some((_, seen)) => *seen = now,
        None => {
            if performed.len() >= MANY {
                let multis = STATE.multis.borrow();
                performed.retain(|(known, _)| multis.contains_key(known));
            }
            performed.push((address, now));
        }
    }
}

/// Returns the number of the last change of a handle that the running coroutine knows of.
fn seen(rt: &'static Runtime, address: usize) -> u64 {
    let performed = rt.context().performed.borrow();
    performed.iter().find(|(known, _)| *known == address).map_or(STATE.changes.get(), |(_, seen)| *seen)
}

/// The trampoline of `curl_multi_exec()`.
pub(super) fn perform(call: Trampolined) {
    let runtime = scheduler::existing().filter(|rt| rt.can_switch());
    let (Some(rt), Some(address)) = (runtime, handle(call.frame)) else {
        return call.call(sys::spindle_trampoline_holding);
    };
    let before = (polling::done(), rt.picks());
    STATE.is_refused.set(false); // of a call that has not come back here
    call.call(sys::spindle_trampoline_holding);
    let is_refused = STATE.is_refused.replace(false);
    let running = call.frame.arguments().get(1).and_then(|value| value.dereferenced().as_long()).unwrap_or(0);
    let has_changed = {
        let mut multis = STATE.multis.borrow_mut();
        let multi = multis.entry(address).or_default();
        let has_done = before != (polling::done(), rt.picks());
        let has_changed = !is_refused && (has_done || multi.running != running);
        if has_changed {
            multi.running = running;
            change(rt, multi);
        }
        if running == 0 && multi.watching == 0 {
            multis.remove(&address);
        }
        has_changed
    };
    has_seen(rt, address);
    rt.count_call();
    if has_changed {
        yield_if(rt, polling::has_made_many());
    } else {
        had_nothing_to_do(rt, address);
    }
}

/// Yields if the caller polls.
fn had_nothing_to_do(rt: &'static Runtime, address: usize) {
    yield_if(rt, polling::finds_nothing(rt, address));
}

/// Yields if it is due, and possible.
fn yield_if(rt: &'static Runtime, is_due: bool) {
    let yields =
        is_due && !exception::is_in_flight() && !engine::is_writing() && !classify::is_performing() && rt.can_switch();
    if yields && rt.maybe_yield() {
        throw_cancellation(rt);
    }
}

/// Returns the time that the caller of `curl_multi_select()` gives, in seconds.
fn time_of(frame: Frame) -> f64 {
    let time = frame.arguments().get(1).map(Value::dereferenced);
    time.and_then(|time| time.as_double().or_else(|| time.as_long().map(|seconds| seconds as f64))).unwrap_or(1.0)
}

/// Records that a coroutine no longer watches a handle.
fn leave(address: usize) {
    let mut multis = STATE.multis.borrow_mut();
    if let Some(multi) = multis.get_mut(&address) {
        multi.watching = multi.watching.saturating_sub(1);
        if multi.watching == 0 && multi.running == 0 {
            multis.remove(&address);
        }
    }
}

/// The trampoline of `curl_multi_select()`.
pub(super) fn watch(call: Trampolined) {
    let runtime = scheduler::existing().filter(|rt| rt.can_switch());
    let (Some(rt), Some(host), Some(address)) = (runtime, current_host(), handle(call.frame)) else {
        return call.call(sys::spindle_trampoline_holding);
    };
    let waits = time_of(call.frame) > 0.0;
    let is_due = c::spindle_calls_without_park.get() >= CALLS_PER_POLL;
    if waits && is_due && !classify::is_performing() && rt.maybe_yield() {
        throw_cancellation(rt);
        return;
    }
    STATE.multis.borrow_mut().entry(address).or_default().watching += 1;
    wait(rt, host, call, address, waits);
    leave(address);
    if c::spindle_check_after.get() != 0 {
        spindle_after_call(call.frame);
    }
    if !waits && call.result().as_long() == Some(0) {
        had_nothing_to_do(rt, address);
    }
}

fn wait(rt: &'static Runtime, host: &'static dyn Host, call: Trampolined, address: usize, waits: bool) {
    let seen = seen(rt, address);
    let mut limit = u64::MAX;
    let mut is_over = false;
    loop {
        let wait = ask(rt, call, address, waits);
        if exception::is_in_flight() || call.result().as_long() != Some(0) {
            return;
        }
        if STATE.multis.borrow().get(&address).is_some_and(|multi| multi.changed > seen) {
            has_seen(rt, address);
            return call.set_result(1);
        }
        let Some(wait) = wait.filter(|_| !is_over) else { return };
        limit = limit.min(wait.deadline.unwrap_or(u64::MAX));
        if limit <= Reactor::now() {
            return;
        }
        let mut own = None;
        let wake = wait_left(host, &wait.fds, Some(limit).filter(|limit| *limit != u64::MAX), |waiter| {
            let mut multis = STATE.multis.borrow_mut();
            multis.entry(address).or_default().watchers.push(waiter);
            own = Some(waiter);
        });
        if let Some(multi) = STATE.multis.borrow_mut().get_mut(&address) {
            multi.watchers.retain(|waiter| Some(*waiter) != own);
        }
        match wake {
            Wake::Woken => {}
            Wake::TimedOut => is_over = true,
            Wake::Cancelled | Wake::Interrupted => return,
        }
    }
}

/// Makes the call without waiting. Returns the wait that has to follow, if nothing is ready.
fn ask(rt: &'static Runtime, call: Trampolined, address: usize, waits: bool) -> Option<Wait> {
    if handle_locks::is_used_by_another(rt, rt.context().co.get(), groups::group_id(address)) {
        call.set_result(0);
        let time = std::time::Duration::try_from_secs_f64(time_of(call.frame)).unwrap_or(std::time::Duration::MAX);
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        return waits.then(|| Wait { fds: Vec::new(), deadline: Some(Reactor::now().saturating_add(time)) });
    }
    let ctx: &Ctx = rt.context();
    let outer = ctx.leaves_waits_in.replace(Some(call.frame));
    call.call(sys::spindle_trampoline_holding);
    ctx.leaves_waits_in.set(outer);
    STATE.left.borrow_mut().take()
}
