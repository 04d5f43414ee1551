//! Time slices (`async.time_slice_ms`): PHP code that computes gives way to other coroutines when it has run for that long.
//!
//! PHP code is interrupted twice a slice ([`limits`]); what then has run for one is a yield like any other. It is made between
//! two instructions of PHP code, and only where all code below is PHP's as well: C code that has called it (a sort, a
//! destructor, an output callback, an autoloader) may be in the middle of what other coroutines must not see. An exception to that is
//! named by `is_transparent`. Where C code has called C code, as a comparison does a `__toString()` of an extension, there is no frame
//! of it when the engine interrupts; but what it has pushed on the VM stack is there still.

use crate::c::spindle_is_innermost;
use crate::engine::loading;
use crate::observe::limits;
use crate::runtime::{preempted, runner, scheduler};
use crate::settings;
use spindle_reactor::Reactor;
use spindle_zend::{Frame, Function, PhpStatic, Str, exception, sys};
use std::cell::Cell;
use std::time::Duration;

/// When code has last given way and continued, or could not give way.
static RESUMED: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// How many servers with instances of an application run.
static SERVERS: PhpStatic<Cell<u32>> = PhpStatic::new(Cell::new(0));

/// The time of a slice in milliseconds where there are instances, if the setting is off.
const OF_INSTANCES: i64 = 10;

/// A server with instances of an application begins to run: from now on code gives way to that of other instances only, and does so
/// even if the setting is off.
pub fn server_began() {
    SERVERS.set(SERVERS.get() + 1);
    begin();
}

/// It has ended: maybe after PHP's request.
pub fn server_ended() {
    SERVERS.set(SERVERS.get().saturating_sub(1));
}

/// No server runs any more. At the end of PHP's request.
pub fn forget_servers() {
    SERVERS.set(0);
    preempted::forget();
}

/// The process is the child of a fork: coroutines that had given way are not there.
pub fn forked() {
    preempted::forget();
}

/// Returns the time of a slice in milliseconds; 0: there are none.
fn slice() -> u64 {
    let set = settings::current().time_slice_ms;
    (if set == 0 && SERVERS.get() > 0 { OF_INSTANCES } else { set }).unsigned_abs()
}

/// Begins, if the setting is on: at the first `spawn` of a request or of the child of a fork, and as a server begins to run.
pub fn begin() {
    if let slice @ 1.. = slice() {
        limits::tick_within(Duration::from_micros(slice * 500));
    }
}

/// PHP code was interrupted for a tick: it gives way to other coroutines if its slice has passed.
pub fn ticked(frame: Option<Frame>) {
    let slice = slice() * 1_000_000;
    if slice == 0 {
        return;
    }
    let Some(length) = limits::stretch() else { return };
    let since = length.min(Reactor::now().saturating_sub(RESUMED.get()));
    let Some(rt) = scheduler::existing().filter(|rt| since >= slice && rt.can_switch()) else { return };
    RESUMED.set(Reactor::now()); // where it cannot give way, a slice passes until it is tried again
    if rt.may_have_others()
        && !exception::is_in_flight()
        && frame.is_some_and(|frame| spindle_is_innermost(frame) && is_all_php(frame))
        && !loading::is_loading(rt)
    {
        let paused = limits::pause(length);
        if SERVERS.get() > 0 {
            let me = rt.core.borrow().running();
            preempted::during(me, || {
                rt.maybe_yield();
            });
        } else {
            rt.maybe_yield();
        }
        limits::resume(&paused);
        RESUMED.set(Reactor::now());
    }
}

/// Returns `true` if this frame of PHP code was called by PHP code alone, down to the function of the coroutine.
pub fn is_all_php(frame: Frame) -> bool {
    frame.and_callers().all(|frame| {
        let is_called_by_c = frame.flags() & sys::ZEND_CALL_TOP != 0;
        match frame.function() {
            Some(function) if function.is_php_code() => {
                !is_called_by_c || frame.caller().is_none_or(|caller| caller.function().is_some_and(is_transparent))
            }
            function => function.is_some_and(is_transparent),
        }
    })
}

/// Returns `true` if there is no C code in the middle of a call of this function: it is the bottom of a coroutine, or passes a call on,
/// and has nothing else to do.
fn is_transparent(function: Function) -> bool {
    let Some(internal) = function.internal() else { return false };
    let passes_on = |name: &Str| matches!(name.as_bytes(), b"call_user_func" | b"call_user_func_array");
    internal.handler.is_none()
        || runner::is_body(function)
        || function.class().is_none() && function.name().is_some_and(passes_on)
}
