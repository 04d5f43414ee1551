//! The time limits of requests whose code computes, so that the loop of the server does not get to them: `request_timeout`, and
//! PHP's `max_execution_time`.

use crate::ending::{self, Limits};
use crate::error_log::{self, Subject};
use crate::handling::Handling;
use crate::{errors, request, slow, worker};
use spindle_php::limits::{self, Checks, Stretch};
use spindle_php::{coroutine, error_log as log};
use spindle_server::{Reason, Settings};
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::rc::Rc;

const SECOND: u64 = 1_000_000_000;

/// The longest stretch of a request or of such an end, in nanoseconds: `request_timeout` of the last server.
static LONGEST: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// How many servers run.
static SERVERS: PhpStatic<Cell<u32>> = PhpStatic::new(Cell::new(0));

/// No server runs any more. At the end of PHP's request.
pub fn process_request_ends() {
    SERVERS.set(0);
    ending::forget_all();
    log::watch_no_more();
}

/// A server has ended.
pub fn unwatch() {
    SERVERS.set(SERVERS.get().saturating_sub(1));
    if SERVERS.get() == 0 {
        limits::stop();
        log::watch_no_more();
    }
}

/// Watches the limits of all requests from now on, as a server with these settings begins to run, and what is logged of them.
pub fn watch(settings: &Settings) {
    SERVERS.set(SERVERS.get() + 1);
    LONGEST.set(settings.request_timeout);
    limits::watch(settings.request_timeout, Checks { check, limit, describe });
    limits::check_within(limits::usual_limit().unsigned_abs().saturating_mul(SECOND));
    limits::check_within(settings.slow_request);
    error_log::watch(settings, || Some(Subject::of(&running()?.exchange, coroutine::running_id())));
}

/// Returns the request that runs.
pub fn running() -> Option<Rc<Handling>> {
    worker::running().map_or_else(request::current_handling, worker::Worker::handled)
}

fn describe() -> Option<String> {
    let handling = running()?;
    let head = handling.exchange.head();
    let target = head.uri.path_and_query().map_or("*", |target| target.as_str());
    Some(format!("{} {}, request {}", head.method, target.escape_debug(), handling.exchange.id()))
}

/// PHP's limit is set.
fn limit(seconds: i64) -> bool {
    let Some(handling) = running() else { return false };
    let limits = &handling.limits;
    limits.seconds.set(seconds.max(0));
    limits.computed.set(0);
    limits.has_set.set(true);
    limits::check_within(seconds.max(0).unsigned_abs().saturating_mul(SECOND));
    true
}

/// Checks the time limits of the running request.
fn check(stretch: Stretch) {
    slow::check();
    if let Some(handling) = running() {
        if check_execution_time(&handling.limits, stretch.computed) {
            handling.limits.seconds.set(0); // what follows, as functions for its end, has the other limit only
        }
        check_request_timeout(&handling, stretch.length);
        return;
    }
    if let Some(limits) = ending::limits()
        && !check_execution_time(&limits, stretch.computed)
        && LONGEST.get() > 0
        && stretch.length >= LONGEST.get()
    {
        end_for_timeout(LONGEST.get());
    }
}

/// Ends code that has computed for longer than PHP's limit. Returns whether it does.
fn check_execution_time(limits: &Limits, time: u64) -> bool {
    let seconds = limits.seconds.get();
    if seconds == 0 {
        return false;
    }
    limits.computed.set(limits.computed.get().saturating_add(time));
    let plural = if seconds == 1 { "" } else { "s" };
    let is_over = limits.computed.get() >= seconds.unsigned_abs().saturating_mul(SECOND)
        && end(&format!("Maximum execution time of {seconds} second{plural} exceeded"));
    if is_over {
        limits.computed.set(0);
    }
    is_over
}

/// Ends code that has run for this many nanoseconds, which is the limit of a request.
fn end_for_timeout(limit: u64) {
    end(&format!("Maximum time of a request of {} seconds exceeded", limit as f64 / SECOND as f64));
}

/// Cancels a request that computes past its time limit, and kills it if it ignores that.
fn check_request_timeout(handling: &Handling, length: u64) {
    let exchange = &handling.exchange;
    let (settings, limits, now) = (exchange.settings(), &handling.limits, coroutine::now());
    let cancelled_at = limits.cancelled_at.get();
    if cancelled_at != 0 && cancelled_at >= now.saturating_sub(length) {
        if now - cancelled_at >= settings.cancel_grace {
            end_for_timeout(settings.request_timeout);
        }
        return;
    }
    // What is cancelled for other reasons, and a response that has begun, is left to the loop.
    let is_cancelled = matches!(exchange.cancelled(), Some(Reason::Timeout | Reason::Shutdown | Reason::SlowBody));
    let is_over = exchange.is_overdue(now)
        || settings.request_timeout > 0 && length >= settings.request_timeout
        || is_cancelled && length >= settings.cancel_grace;
    if is_over {
        limits.cancelled_at.set(now);
        exchange.time_out(now);
        handling.cancel_scope(&errors::cancellation(exchange, Reason::Timeout));
        limits::throw_cancellation();
    }
}

/// Ends the running coroutine with a fatal error that affects no other one.
fn end(error: &str) -> bool {
    let ends = limits::end_coroutine(error);
    if ends && let Some(worker) = worker::running() {
        worker.fail();
    }
    ends
}
