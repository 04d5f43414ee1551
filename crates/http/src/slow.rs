//! The log of slow requests (`slow_request`): where each of them is when it has run for that long.

use crate::error_log::{self, Subject};
use crate::handling::Handling;
use crate::state;
use spindle_php::coroutine;
use spindle_server::Handler;
use std::rc::Rc;

/// Logs that a request is slow, and where its coroutines are.
pub fn log(handling: &Handling, duration: u64) {
    let places = handling.places();
    write(handling, &format!("has run for {} seconds:\n{}", seconds(duration), places.trim_end()));
}

/// The handler of a request has returned. If it was slow, and the loop has not got to saying so, because what has taken so long was a
/// call that blocks all of the process, this is logged.
pub fn has_returned(handling: &Handling) {
    let is_here = || handling.server.upgrade().is_some_and(|server| server.is_here());
    if handling.exchange.settings().slow_request == 0 || !is_here() {
        return; // the process that has forked this one says so
    }
    if let Some(duration) = handling.exchange.notice_slow(coroutine::now()) {
        let blocked =
            format!("has run for {} seconds, and the event loop did not get to it meanwhile", seconds(duration));
        write(handling, &blocked);
    }
}

/// PHP code computes, and was interrupted: requests that are slow meanwhile are logged, of all servers.
pub fn check() {
    let now = coroutine::now();
    let slow: Vec<(Rc<dyn Handler>, u64)> =
        state::all().iter().flat_map(|server| server.core.slow_handlers(now)).collect();
    slow.iter().for_each(|(handler, duration)| handler.is_slow(*duration));
}

fn seconds(duration: u64) -> String {
    format!("{:.1}", duration as f64 / 1e9)
}

fn write(handling: &Handling, what: &str) {
    let exchange = &handling.exchange;
    let head = exchange.head();
    let target = head.uri.path_and_query().map_or("*", |target| target.as_str());
    let text = format!("Slow request: {} {} {what}", head.method, target.escape_debug());
    error_log::warn(Some(&Subject::of(exchange, exchange.coroutine())), &text);
}
