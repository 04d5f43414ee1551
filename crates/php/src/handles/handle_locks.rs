//! Busy handles: a call on a handle that another coroutine's call is in the middle of waits its turn.
//!
//! Calls that use handles, or an extension as a whole, are on a list of their coroutine while they are in progress
//! (`spindle_call`, on the C stack). Nobody looks for what they use until the coroutine is suspended, by whatever: then it
//! is held until the calls return. Handles that share a connection count as one (see `links`). First come, first served;
//! one reader and one writer of a stream at once.
//!
//! A coroutine that is suspended in a callback of such a call may wait for another one, and that one for its turn. Such a
//! circle is refused with an error.

use crate::handles::{
    classify::{self, Kind, Mode, handles, kind_from},
    streams,
};
use crate::runtime::{
    coroutine::Info,
    ctx::{Ctx, Failing, Held},
    dependencies,
    pending_cancel::{self, refresh_checks},
    scheduler::{self, Runtime},
};
use crate::zend::{call_info::info_of, exception};
use spindle_core::sched::{CoroutineId, Ticket, WaitReason, WakeReason};
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ptr::null_mut;

/// Somebody who waits for a turn.
struct Waiter {
    ticket: Ticket,
    mode: Mode,
    /// It would wait for ever.
    is_refused: bool,
}

#[derive(Default)]
struct Busy {
    holders: Vec<(CoroutineId, Mode)>,
    queue: VecDeque<Waiter>,
    /// A close waits in the queue: calls before it may finish, but not wait any more.
    closing: bool,
}

struct Table(RefCell<HashMap<usize, Busy>>);
// SAFETY: used on the PHP thread only: by internal functions and by the module's life.
unsafe impl Sync for Table {}
// SAFETY: as above.
unsafe impl Send for Table {}
static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(|| Table(RefCell::new(HashMap::new())));

fn table() -> &'static RefCell<HashMap<usize, Busy>> {
    &TABLE.0
}

/// Runs `what`, C code that uses `key` without being a call of a function, in its turn. A cancellation does not keep it
/// from being run. `None`: it was not run, for its turn would never come; that was thrown.
pub(crate) fn in_turn<R>(key: usize, what: impl FnOnce() -> R) -> Option<R> {
    let mut call =
        sys::spindle_call { outer: null_mut(), frame: null_mut(), key, co: 0, is_marked: false, holds: false };
    // SAFETY: on the PHP thread; the record lies on this stack until the call is over. A bailout jumps over its end, and
    // the request ends.
    unsafe {
        if sys::spindle_check_before != 0
            && let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch())
        {
            rt.core.borrow_mut().shield();
            let has_come = turn(rt, &mut call, key, Mode::Both);
            rt.core.borrow_mut().unshield();
            if !has_come {
                return None;
            }
        }
        call.outer = sys::spindle_calls;
        sys::spindle_calls = &mut call;
        let result = what();
        if sys::spindle_calls == &raw mut call {
            sys::spindle_calls = call.outer;
        }
        if call.holds {
            spindle_let_go(&mut call);
        }
        Some(result)
    }
}

/// Waits until none of `keys` is used by a suspended call of another coroutine, all of them at one moment. `false`: that
/// would never be; it was thrown.
pub(crate) fn wait_until_unused(keys: &[usize]) -> bool {
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return true };
    // SAFETY: the running context.
    let co = CoroutineId(unsafe { (*rt.context()).co });
    let is_mine =
        |key| table().borrow().get(&key).is_some_and(|busy| busy.holders.iter().any(|(holder, _)| *holder == co));
    while let Some(key) = keys.iter().find(|key| is_used_by_another(rt, co, **key) && !is_mine(**key)) {
        if in_turn(*key, || ()).is_none() {
            return false;
        }
    }
    true
}

/// Nothing is busy any more: in the child of a fork, at request end.
pub fn forget_all() {
    table().borrow_mut().clear();
    // SAFETY: on the PHP thread.
    unsafe { sys::spindle_check_before = 0 };
}

/// The running coroutine is about to be suspended: what its calls in progress use is busy until they return.
#[inline(always)]
pub fn parking(rt: &'static Runtime) {
    // SAFETY: the list of the running coroutine.
    if !unsafe { sys::spindle_calls }.is_null() {
        mark(rt);
    }
}

#[cold]
fn mark(rt: &'static Runtime) {
    let ctx = rt.context();
    // SAFETY: calls in progress of the running coroutine, on its stack, and their frames. After a bailout that an extension
    // has caught the list may have calls that are over; then the request ends.
    unsafe {
        if sys::compiler_globals.unclean_shutdown {
            return;
        }
        let mut call = sys::spindle_calls;
        while !call.is_null() && !(*call).is_marked {
            (*call).is_marked = true;
            let frame = (*call).frame;
            if frame.is_null() {
                hold(ctx, call, (*call).key, Mode::Both);
            } else {
                let kind = info_of((*frame).func.cast()).map_or(Kind::Plain, kind_from);
                handles(frame, kind, |key, mode| hold(ctx, call, key, mode));
            }
            call = (*call).outer;
        }
    }
}

/// Is a function in progress whose handles are busy?
pub fn is_inside_marked() -> bool {
    // SAFETY: calls in progress of the running coroutine.
    unsafe {
        let mut call = sys::spindle_calls;
        while !call.is_null() {
            if (*call).holds && !(*call).frame.is_null() {
                return true;
            }
            call = (*call).outer;
        }
        false
    }
}

unsafe fn hold(ctx: *mut Ctx, call: *mut sys::spindle_call, key: usize, mode: Mode) {
    // SAFETY: the running context, and a call in progress.
    unsafe {
        if (*ctx).busy.iter().any(|held| held.call == call && held.key == key) {
            return; // it was given its turn
        }
        table().borrow_mut().entry(key).or_default().holders.push((CoroutineId((*ctx).co), mode));
        (*ctx).busy.push(Held { call, key });
        ((*call).co, (*call).holds) = ((*ctx).co, true);
        sys::spindle_check_before = 1;
    }
}

pub(crate) fn let_go(rt: &'static Runtime, co: CoroutineId, key: usize) {
    let next = {
        let mut table = table().borrow_mut();
        let Some(busy) = table.get_mut(&key) else { return };
        if let Some(at) = busy.holders.iter().rposition(|(holder, _)| *holder == co) {
            busy.holders.remove(at);
        }
        let mut next = Vec::new();
        let mut waiting: VecDeque<Waiter> = VecDeque::new();
        for waiter in std::mem::take(&mut busy.queue) {
            let before = waiting.iter().any(|earlier| earlier.mode.disturbs(waiter.mode));
            if before || busy.holders.iter().any(|(_, held)| held.disturbs(waiter.mode)) {
                waiting.push_back(waiter);
            } else {
                busy.holders.push((waiter.ticket.co, waiter.mode)); // it is its turn, whoever comes in between
                next.push(waiter.ticket);
            }
        }
        busy.queue = waiting;
        if busy.holders.is_empty() && busy.queue.is_empty() {
            table.remove(&key);
        }
        if table.is_empty() {
            // SAFETY: on the PHP thread.
            unsafe { sys::spindle_check_before = 0 };
        }
        next
    };
    for ticket in next {
        rt.core.borrow_mut().wake(ticket);
    }
}

/// The slow half of the trampoline before a call: queues for busy handles. `false`: the call is not to be made; something
/// was thrown, or it has its result.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_before_call(
    call: *mut sys::spindle_call,
    info: *const sys::spindle_call_info,
    result: *mut sys::zval,
) -> bool {
    let kind = kind_from(info);
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return true };
    // Another one may be taken while it waits for the first. Then it waits for that one, and holds none meanwhile: two
    // calls that each hold what the other one waits for would wait for good.
    // SAFETY: the running context, and the frame of the call that is about to begin.
    unsafe {
        let frame = (*call).frame;
        let co = CoroutineId((*rt.context()).co);
        while let Some((key, mode)) = first_busy(frame, kind, co) {
            if kind == Kind::Performs {
                sys::spindle_answer_still_running(frame, result);
                return false;
            }
            spindle_let_go(call);
            if !turn(rt, call, key, mode) {
                return false;
            }
            if kind == Kind::Closes && sys::spindle_is_closed(frame) {
                // Another one was about to close it, and has: this one asked for the same while it was open.
                spindle_let_go(call);
                sys::spindle_answer_closed(frame, result);
                return false;
            }
        }
        if matches!(kind, Kind::Reads | Kind::Writes) {
            streams::begins(rt, call);
        }
    }
    true
}

/// The first handle of a call for which it has to wait.
unsafe fn first_busy(frame: *mut sys::zend_execute_data, kind: Kind, co: CoroutineId) -> Option<(usize, Mode)> {
    let mut first = None;
    // SAFETY: the caller passes the frame of a call.
    unsafe {
        handles(frame, kind, |key, mode| {
            if first.is_none() && must_wait(co, key, mode) {
                first = Some((key, mode));
            }
        });
    }
    first
}

/// Is another coroutine suspended in a call on this handle? Not if it was given its turn and has not run since.
pub(crate) fn is_used_by_another(rt: &'static Runtime, co: CoroutineId, key: usize) -> bool {
    table().borrow().get(&key).is_some_and(|busy| {
        busy.holders.iter().any(|(holder, _)| {
            let ctx = context_of(rt, *holder);
            // SAFETY: the context of a coroutine that has not ended.
            *holder != co && !ctx.is_null() && unsafe { (*ctx).busy.iter().any(|held| held.key == key) }
        })
    })
}

/// Is it another's turn on this handle?
fn must_wait(co: CoroutineId, key: usize, mode: Mode) -> bool {
    let table = table().borrow();
    let Some(busy) = table.get(&key) else { return false };
    let mine = busy.holders.iter().any(|(holder, _)| *holder == co); // its own call, further up
    let others = busy.holders.iter().any(|(_, held)| held.disturbs(mode));
    !mine && (others || busy.queue.iter().any(|earlier| earlier.mode.disturbs(mode)))
}

/// Lets go of what a call has kept busy.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn spindle_let_go(call: *mut sys::spindle_call) {
    // SAFETY: the caller passes a call that is over or has not begun. It may have been suspended in another coroutine than
    // the running one, if it was made in a fiber; that one's context is there as long as it has not ended.
    unsafe {
        if !std::mem::take(&mut (*call).holds) {
            return;
        }
        (*call).is_marked = false;
        let Some(rt) = scheduler::existing() else { return };
        let co = CoroutineId((*call).co);
        let running = rt.context();
        let ctx = if (*running).co == co.0 { running } else { context_of(rt, co) };
        if ctx.is_null() {
            return;
        }
        while let Some(at) = (*ctx).busy.iter().position(|held| held.call == call) {
            let held = (*ctx).busy.swap_remove(at);
            let_go(rt, co, held.key);
        }
        streams::ends(rt, call);
    }
}

fn context_of(rt: &'static Runtime, co: CoroutineId) -> *mut Ctx {
    rt.find_object(co).map_or(null_mut(), |this| this.ctx.get())
}

/// Waits for one handle, if it is busy. `false`: something was thrown.
unsafe fn turn(rt: &'static Runtime, call: *mut sys::spindle_call, key: usize, mode: Mode) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context.
    let co = CoroutineId(unsafe { (*ctx).co });
    if !must_wait(co, key, mode) {
        return true;
    }
    if mode == Mode::Close
        && let Some(busy) = table().borrow_mut().get_mut(&key)
    {
        busy.closing = true;
        for (holder, held) in &busy.holders {
            if held.disturbs(mode) {
                fail_quietly(rt, *holder);
            }
        }
    }
    // SAFETY: the running context.
    unsafe { take_turn(rt, ctx, call, key, mode) }
}

/// The call in which `co` is parked fails, because its handle is being closed.
fn fail_quietly(rt: &'static Runtime, co: CoroutineId) {
    // SAFETY: a coroutine that holds a handle has a context.
    unsafe {
        let this = rt.object(co);
        let ctx = this.ctx.get();
        if !ctx.is_null() && (*ctx).failing == Failing::No {
            (*ctx).failing = Failing::Quietly;
            (*ctx).failing_in =
                pending_cancel::internal(rt.frame_of(this).map_or(null_mut(), spindle_zend::Frame::as_raw));
            rt.core.borrow_mut().abort_park(co);
        }
    }
}

unsafe fn take_turn(rt: &'static Runtime, ctx: *mut Ctx, call: *mut sys::spindle_call, key: usize, mode: Mode) -> bool {
    // SAFETY: the running context, and a call that has not begun.
    unsafe {
        let co = CoroutineId((*ctx).co);
        let closes = mode == Mode::Close;
        loop {
            let mut awaits = [0; 2];
            let circle = {
                let table = table().borrow();
                let Some(busy) = table.get(&key) else { return true };
                for (id, (holder, _)) in awaits.iter_mut().zip(&busy.holders) {
                    *id = rt.core.borrow().id(*holder);
                }
                busy.holders.iter().map(|(holder, _)| *holder).find(|holder| dependencies::depends_on(*holder, co))
            };
            if let Some(holder) = circle {
                refuse(rt, holder, (*call).frame);
                return false;
            }
            let ticket = rt.begin_wait();
            if let Some(busy) = table().borrow_mut().get_mut(&key) {
                busy.queue.push_back(Waiter { ticket, mode, is_refused: false });
            }
            let info = Info { call: "busy handle", awaits, since: spindle_reactor::Reactor::now(), ..Info::NONE };
            let reason = rt.park(None, WaitReason::Coroutines, true, info);
            let (granted, refused) = {
                let mut table = table().borrow_mut();
                let busy = table.entry(key).or_default();
                if busy.closing && !closes && (*ctx).failing == Failing::No {
                    (*ctx).failing = Failing::Quietly;
                    (*ctx).failing_in = (*call).frame;
                }
                let refused = busy.queue.iter().any(|waiter| waiter.ticket == ticket && waiter.is_refused);
                busy.queue.retain(|waiter| waiter.ticket != ticket);
                (busy.holders.iter().any(|(holder, _)| *holder == co), refused)
            };
            if granted {
                (*ctx).busy.push(Held { call, key });
                ((*call).co, (*call).holds) = ((*ctx).co, true);
                refresh_checks(ctx);
            }
            if reason == WakeReason::Cancelled || refused {
                if granted {
                    spindle_let_go(call);
                } else {
                    let_go(rt, co, key); // others may have waited behind it
                }
                if closes && let Some(busy) = table().borrow_mut().get_mut(&key) {
                    busy.closing = false; // it is not closed after all: who waits may go on waiting
                }
                let reason = rt.core.borrow_mut().take_cancellation();
                if let Some(reason) = reason {
                    sys::spindle_throw(reason);
                } else if refused {
                    let holder = table().borrow().get(&key).and_then(|busy| busy.holders.first().map(|(co, _)| *co));
                    refuse(rt, holder.unwrap_or(co), (*call).frame);
                }
                return false;
            }
            if granted {
                return true;
            }
        }
    }
}

/// Throws what tells that the running call would wait for ever for `holder`.
unsafe fn refuse(rt: &'static Runtime, holder: CoroutineId, frame: *mut sys::zend_execute_data) {
    let id = rt.core.borrow().id(holder);
    // SAFETY: the frame of a call that is about to begin, or null.
    let name = unsafe { classify::name_of_call(frame) };
    // SAFETY: as above: the innermost call of a coroutine that was left.
    let held_by = unsafe {
        let ctx = context_of(rt, holder);
        let mut call = if ctx.is_null() { null_mut() } else { (*ctx).calls };
        while !call.is_null() && (*call).frame.is_null() {
            call = (*call).outer;
        }
        if call.is_null() { None } else { Some(classify::name_of_call((*call).frame)) }
    };
    let inside = held_by.map_or(String::new(), |name| format!(" is in the middle of {name} and"));
    let text = format!("{name} would wait for ever for its turn: coroutine #{id}{inside} waits for this one");
    // SAFETY: filled at module start.
    exception::throw(unsafe { sys::spindle_ce.async_exception }, &text);
}

/// The running coroutine, which keeps handles busy, is about to wait for other coroutines: those that wait for one of its
/// handles, and for which it waits in turn, are refused.
#[cold]
pub fn refuse_circles(rt: &'static Runtime) {
    // SAFETY: the running context.
    if unsafe { (*rt.context()).busy.is_empty() } {
        return;
    }
    // SAFETY: the running context.
    let (me, keys) = unsafe {
        let ctx = rt.context();
        (CoroutineId((*ctx).co), (*ctx).busy.iter().map(|held| held.key).collect::<Vec<_>>())
    };
    let mut refused = Vec::new();
    for key in keys {
        let waiting: Vec<Ticket> = {
            let table = table().borrow();
            let Some(busy) = table.get(&key) else { continue };
            busy.queue.iter().map(|waiter| waiter.ticket).collect()
        };
        let circles: Vec<Ticket> =
            waiting.into_iter().filter(|ticket| dependencies::depends_on(me, ticket.co)).collect();
        if let Some(busy) = table().borrow_mut().get_mut(&key) {
            for waiter in busy.queue.iter_mut().filter(|waiter| circles.contains(&waiter.ticket)) {
                waiter.is_refused = true;
                refused.push(waiter.ticket);
            }
        }
    }
    for ticket in refused {
        rt.core.borrow_mut().wake(ticket);
    }
}
