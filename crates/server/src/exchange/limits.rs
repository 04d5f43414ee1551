//! The time limits of a request: when the next one passes, and what follows from it.

use super::{Exchange, Reason, State};
use crate::timer::{NEVER, limit};
use http::{StatusCode, Version};
use std::rc::Rc;

impl Exchange {
    /// Returns the time limit behind a cancellation, in nanoseconds; `None` if the reason is not a time limit.
    pub fn limit(&self, reason: Reason) -> Option<u64> {
        match reason {
            Reason::Timeout => Some(self.shared().settings.request_timeout),
            Reason::SlowBody => Some(self.shared().settings.body_timeout),
            Reason::Disconnected | Reason::Shutdown => None,
        }
    }

    /// Returns `true` if its response should have begun, and the handler was not asked to end because of it.
    pub fn is_overdue(&self, now: u64) -> bool {
        let limit = self.shared().settings.request_timeout;
        let is_waited_for = matches!(self.state.get(), State::Running) && self.timed_out_at.get() == 0;
        is_waited_for && limit > 0 && now >= self.since.get().saturating_add(limit)
    }

    /// Returns when its handler is slow; `NEVER` if it is known to be, or has responded.
    pub(crate) fn slow_at(&self) -> u64 {
        if self.state.get() != State::Running || self.is_known_slow.get() {
            return NEVER;
        }
        limit(self.since.get(), self.shared().settings.slow_request)
    }

    /// Returns for how long its handler has run, in nanoseconds, if that makes it slow, and it was not known to be.
    pub fn notice_slow(&self, now: u64) -> Option<u64> {
        if self.slow_at() > now {
            return None;
        }
        self.is_known_slow.set(true);
        Some(now.saturating_sub(self.since.get()))
    }

    /// Returns when the time of its handler has passed, which goes on although its client has left; `NEVER` if it does not.
    pub(crate) fn left_due(&self) -> u64 {
        let has_begun = self.status.get().is_some(); // the response
        if self.runs_on.get() && !has_begun { limit(self.since.get(), self.settings().request_timeout) } else { NEVER }
    }

    /// Has such a handler end if its time has passed.
    pub(crate) fn end_left(self: &Rc<Self>, now: u64) {
        if self.left_due() <= now {
            self.timed_out_at.set(now);
            self.cancel(Reason::Timeout);
        }
    }

    /// Called when the owner has seen that the time of its handler has passed: asks the handler to end.
    pub fn time_out(&self, now: u64) {
        if self.timed_out_at.get() == 0 {
            self.timed_out_at.set(now);
        }
        if self.cancelled.get().is_none() {
            self.cancelled.set(Some(Reason::Timeout));
            self.shared().cancelled.set(self.shared().cancelled.get() + 1);
        }
    }

    /// Returns when its next limit passes; `NEVER` if it has none.
    #[inline]
    pub(crate) fn deadline(&self) -> u64 {
        let settings = &self.shared().settings;
        let limit = |since: u64, time: u64| if since > 0 { limit(since, time) } else { NEVER };
        let state = match self.state.get() {
            State::Queued => limit(self.since.get(), settings.queue_timeout),
            State::Running if self.timed_out_at.get() > 0 => limit(self.timed_out_at.get(), settings.cancel_grace),
            State::Running => limit(self.since.get(), settings.request_timeout),
            State::Answered | State::Upgraded | State::Over => NEVER,
        };
        let reads = limit(self.reads_since.get(), settings.body_timeout);
        let writes = limit(self.writes_since.get(), settings.write_timeout);
        state.min(reads).min(writes).min(limit(self.taken_since.get(), settings.write_timeout))
    }

    /// Returns `true` if [`check`](Exchange::check) has something to do.
    #[inline]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.deadline() <= now || self.reads_since.get() > 0 && self.is_body_slow(now)
    }

    /// Carries out what follows from limits that have passed.
    pub(crate) fn check_timeouts(self: &Rc<Self>, now: u64) {
        if self.deadline() > now {
            return;
        }
        let settings = &self.shared().settings;
        let is_over = |since: u64, time: u64| since > 0 && time > 0 && now >= since.saturating_add(time);
        match self.state.get() {
            State::Queued if is_over(self.since.get(), settings.queue_timeout) => {
                self.shared().refused.set(self.shared().refused.get() + 1);
                self.dispatcher.remove_queued(self);
                self.refuse(StatusCode::SERVICE_UNAVAILABLE);
            }
            State::Running if is_over(self.timed_out_at.get(), settings.cancel_grace) => {
                let slow = self.cancelled.get() == Some(Reason::SlowBody);
                self.refuse(if slow { StatusCode::REQUEST_TIMEOUT } else { StatusCode::SERVICE_UNAVAILABLE });
            }
            State::Running if self.timed_out_at.get() == 0 && is_over(self.since.get(), settings.request_timeout) => {
                self.timed_out_at.set(now);
                self.cancel(Reason::Timeout);
            }
            _ => {}
        }
        if is_over(self.reads_since.get(), settings.body_timeout) {
            self.fail_slow_body(now);
        }
        if is_over(self.taken_since.get(), settings.write_timeout) {
            // The stream that its client ignores may stay, but not the open file.
            self.taken_since.set(0);
            if let Some(file) = self.file.take() {
                file.give_up();
            }
            self.give_up_response();
        }
        if is_over(self.writes_since.get(), settings.write_timeout) {
            if let Some(pipe) = &*self.pipe.borrow() {
                pipe.fail();
            }
            self.cancel(Reason::Disconnected);
            self.wake_handler();
            self.give_up_response();
        }
    }

    /// The client takes nothing of the response. An HTTP/2 stream stays open until its client takes something or the connection is
    /// closed, and must not keep the connection from being idle.
    fn give_up_response(self: &Rc<Self>) {
        self.connection.abort_unless_h2();
        if self.parts.version == Version::HTTP_2 {
            self.finish_body(false);
        }
    }
}
