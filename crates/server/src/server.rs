//! The server, as its owner uses it.

use crate::board::CONNECTIONS;
use crate::conn::Connection;
use crate::dispatch::{Dispatcher, Event, Handler};
use crate::event_loop::{Driver, Key};
use crate::exchange::Reason;
use crate::fastcgi::site::Site;
use crate::files::Root;
use crate::listen::{Accepting, Listener};
use crate::settings::Settings;
use crate::shared::{Lifecycle, Shared};
use crate::timer::NEVER;
use crate::tls::Tls;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Statistics of a server.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    /// Connections that were accepted.
    pub accepted: u64,
    /// Open connections.
    pub connections: usize,
    /// Requests that are being handled.
    pub running: usize,
    /// Those of them that have become WebSockets.
    pub websockets: usize,
    /// Requests that wait for a handler.
    pub queued: usize,
    /// Requests received.
    pub requests: u64,
    /// Requests that were answered with a file, or about one.
    pub files: u64,
    /// Requests that were refused without a handler.
    pub refused: u64,
    /// Handlers that were cancelled.
    pub cancelled: u64,
    /// Handshakes of TLS that have failed, or were not complete in time.
    pub handshakes_failed: u64,
    /// Bytes of responses that wait for their clients.
    pub waiting: usize,
}

impl Stats {
    /// The numbers that other processes are told: the connections come first.
    fn numbers(&self) -> [u64; 11] {
        [
            self.connections as u64,
            self.accepted,
            self.requests,
            self.running as u64,
            self.queued as u64,
            self.websockets as u64,
            self.files,
            self.refused,
            self.cancelled,
            self.handshakes_failed,
            self.waiting as u64,
        ]
    }
}

/// A server.
pub struct Server(Rc<Dispatcher>);

/// How many times as long as others a connection may begin a request when the server drains, if it has had none: its client does not expect
/// that it is closed, and would not send the request again.
const UNUSED_TIMES: u64 = 5;

/// How many tasks are polled in a turn.
const TASKS: usize = 64;

impl Server {
    /// Returns a server that listens nowhere.
    pub fn new(settings: Settings, driver: Box<dyn Driver>) -> Server {
        Server(Dispatcher::new(Shared::new(settings, driver)))
    }

    /// Accepts connections of this socket from now on. They use TLS if there are certificates.
    pub fn listen(&self, listener: Listener, tls: Option<Rc<Tls>>) {
        self.0.shared.event_loop.exec.spawn(Accepting::new(Rc::clone(&self.0), listener, tls));
        self.0.notify();
    }

    /// Returns its settings.
    pub fn settings(&self) -> &Settings {
        &self.0.shared.settings
    }

    /// Enables an event for each finished request.
    pub fn log_requests(&self) {
        self.0.is_logged.set(true);
    }

    /// Sends files of a folder from now on, before any handler is asked. Of several folders, the one that was added first is
    /// searched first.
    pub fn add_files(&self, root: Root) {
        self.0.shared.roots.borrow_mut().push(Arc::new(root));
    }

    /// Has a FastCGI server answer the requests for a site from now on, unless a file is sent. Of several sites, the one that was added
    /// first is asked first.
    pub fn add_site(&self, site: Site) {
        self.0.sites.borrow_mut().push(Rc::new(site));
    }

    /// Returns `true` if it has sites.
    pub fn has_sites(&self) -> bool {
        !self.0.sites.borrow().is_empty()
    }

    /// Sends files of this folder alone.
    #[doc(hidden)]
    pub fn replace_files(&self, root: Root) {
        self.0.shared.roots.take();
        self.add_files(root);
    }

    /// Signals that a wait or a job has ended. Returns `false` if there is no such wait.
    pub fn ready(&self, key: Key) -> bool {
        self.0.shared.event_loop.signal(key)
    }

    /// Returns the handlers that run, but for those that were asked to end when their clients left.
    pub fn running(&self) -> Vec<Rc<dyn Handler>> {
        self.0.handlers()
    }

    /// Returns the requests that have a handler, or wait for one, the oldest first.
    pub fn requests(&self) -> Vec<Rc<crate::Exchange>> {
        self.0.requests()
    }

    /// Returns the handlers that are slow and were not told so, and for how long they have run: for an owner whose loop stands still.
    pub fn slow_handlers(&self, now: u64) -> Vec<(Rc<dyn Handler>, u64)> {
        let slow = self.0.take_slow(now).into_iter();
        slow.filter_map(|(exchange, duration)| Some((exchange.handler()?, duration))).collect()
    }

    /// Does what can be done without waiting.
    pub fn turn(&self) {
        let shared = &self.0.shared;
        let event_loop = &shared.event_loop;
        let now = event_loop.driver.now();
        event_loop.now.set(now);
        self.0.is_in_turn.set(true);
        event_loop.timers.expire(now);
        self.advance_lifecycle(now);
        self.0.tell_slow(now);
        self.0.end_left(now);
        shared.compressing.begin_turn();
        event_loop.exec.run(TASKS);
        shared.compressing.end_turn();
        self.0.connections.release_memory();
        if let Some(board) = &shared.settings.board {
            board.tell(CONNECTIONS, self.stats().numbers());
            shared.ended.tell(board);
        }
        self.0.is_in_turn.set(false);
    }

    /// Cancels handlers, and closes connections, when the time of a drain has passed.
    fn advance_lifecycle(&self, now: u64) {
        let lifecycle = &self.0.shared.lifecycle;
        match lifecycle.get() {
            Lifecycle::Draining(Some(until)) if now >= until => {
                self.0.cancel_all(Reason::Shutdown);
                self.0.connections.each(Connection::abort_if_silent);
                lifecycle.set(Lifecycle::Cancelling(now.saturating_add(self.settings().cancel_grace)));
            }
            Lifecycle::Cancelling(until) if now >= until => {
                self.0.connections.each(Connection::abort);
                lifecycle.set(Lifecycle::Closed);
            }
            _ => {}
        }
    }

    /// Takes the next event.
    pub fn next_event(&self) -> Option<Event> {
        self.0.next_event()
    }

    /// Returns `true` if the next turn has something to do.
    pub fn has_work(&self) -> bool {
        self.0.has_work()
    }

    /// Returns the time of the next turn at the latest.
    pub fn next_deadline(&self) -> Option<u64> {
        let end = match self.0.shared.lifecycle.get() {
            Lifecycle::Draining(until) => until,
            Lifecycle::Cancelling(until) => Some(until),
            Lifecycle::Serving | Lifecycle::Closed => None,
        };
        let memory = self.0.connections.memory_deadline();
        let (slow, left) = (self.0.next_slow.get(), self.0.next_left.get());
        let others = [memory, slow, left].into_iter().filter(|due| *due != NEVER);
        [self.0.shared.event_loop.timers.next(), end].into_iter().flatten().chain(others).min()
    }

    /// Returns `true` if it accepts nothing more.
    pub fn is_draining(&self) -> bool {
        self.0.shared.is_draining()
    }

    /// Sets how many handlers may run, if that is less than the settings say.
    pub fn limit_handlers(&self, most: usize) {
        self.0.shared.most_handlers.set(most);
    }

    /// Accepts no more connections, and closes the existing ones when their requests are answered. After `grace`
    /// nanoseconds handlers are cancelled; if it is `None`, there is no limit. Connections of HTTP/1.1 that wait for a request have the
    /// `idle_grace` of the settings for that, and those that have had none a multiple of it.
    pub fn drain(&self, grace: Option<u64>) {
        let shared = &self.0.shared;
        let until = grace.map(|grace| shared.event_loop.driver.now().saturating_add(grace));
        match shared.lifecycle.get() {
            Lifecycle::Serving => {}
            Lifecycle::Draining(before) if until.is_some_and(|until| before.is_none_or(|before| until < before)) => {}
            _ => return,
        }
        shared.lifecycle.set(Lifecycle::Draining(until));
        shared.wake_draining();
        let (now, idle) = (shared.event_loop.driver.now(), self.settings().idle_grace);
        let at = |time: u64| now.saturating_add(grace.map_or(time, |grace| grace.min(time)));
        let (idle, unused) = (at(idle), at(idle.saturating_mul(UNUSED_TIMES)));
        self.0.connections.each(|connection| connection.drain(idle, unused));
        shared.event_loop.driver.wake();
    }

    /// Returns `true` if the server has drained, and has nothing left to do.
    pub fn is_drained(&self) -> bool {
        self.0.is_drained() && !self.0.has_work()
    }

    /// Returns its statistics.
    pub fn stats(&self) -> Stats {
        let shared = &self.0.shared;
        Stats {
            accepted: shared.accepted.get(),
            connections: self.0.connections.count(),
            running: self.0.running_count(),
            websockets: self.0.websockets.get(),
            queued: self.0.queued_count(),
            requests: shared.requests.get(),
            files: shared.files.get(),
            refused: shared.refused.get(),
            cancelled: shared.cancelled.get(),
            handshakes_failed: shared.handshakes_failed.get(),
            waiting: shared.waiting.load(Ordering::Relaxed),
        }
    }

    /// Closes everything immediately. Of the events, only those to be logged remain.
    pub fn close(&self) {
        let shared = &self.0.shared;
        self.0.is_in_turn.set(true); // the owner needs no waking
        shared.lifecycle.set(Lifecycle::Closed);
        shared.event_loop.clear();
        self.0.clear();
        shared.clear();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.close();
    }
}
