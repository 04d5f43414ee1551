//! The open connections.

use crate::conn::Connection;
use crate::memory::Memory;
use crate::shared::Shared;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;

/// How long a client may take nothing while too many bytes wait, in nanoseconds.
const PATIENCE: u64 = 1_000_000_000;

pub struct Connections {
    shared: Rc<Shared>,
    all: RefCell<Slab<Rc<Connection>>>,
    memory: Memory,
    /// The earliest time of the next search for slow clients, after one that found none.
    next_slow_check: Cell<u64>,
}

impl Connections {
    pub fn new(shared: &Rc<Shared>) -> Connections {
        Connections {
            shared: Rc::clone(shared),
            all: RefCell::default(),
            memory: Memory::default(),
            next_slow_check: Cell::new(0),
        }
    }

    pub fn count(&self) -> usize {
        self.all.borrow().len()
    }

    /// Adds a connection. Returns its number.
    pub fn add(&self, connection: &Rc<Connection>) -> usize {
        let id = self.all.borrow_mut().insert(Rc::clone(connection));
        self.memory.connection_opened(self.count());
        id
    }

    /// Removes a connection that was closed.
    pub fn remove(&self, id: usize) {
        let connection = self.all.borrow_mut().try_remove(id);
        drop(connection);
        self.memory.connection_closed(self.count(), self.shared.event_loop.now.get());
        self.shared.notify_accept();
    }

    /// Closes the connection that has been idle for longest. If a request has arrived on it meanwhile, it stays, and the
    /// tasks that wait for a place try again.
    pub fn close_idle(&self) {
        let connections = self.all.borrow();
        let idle = connections.iter().filter_map(|(_, it)| it.idle_since().map(|since| (since, it)));
        let lingering = connections.iter().filter_map(|(_, it)| it.lingers_since().map(|since| (since, it)));
        let chosen = idle.min_by_key(|(since, _)| *since).or_else(|| lingering.min_by_key(|(since, _)| *since));
        if let Some((_, connection)) = chosen {
            connection.close_if_idle();
        }
    }

    /// Aborts connections if too many bytes wait for their clients. Called when one of them has sent what it could.
    #[inline]
    pub fn enforce_max_buffered(&self) {
        if self.shared.is_over_buffered() {
            self.abort_slow_clients(self.shared.settings.max_buffered);
        }
    }

    #[cold]
    fn abort_slow_clients(&self, most: usize) {
        let now = self.shared.event_loop.now.get();
        loop {
            let waiting = self.shared.waiting.load(Ordering::Relaxed);
            let is_far_beyond = waiting > most.saturating_mul(2);
            if waiting <= most || now < self.next_slow_check.get() && !is_far_beyond {
                return;
            }
            let connections = self.all.borrow();
            let least = if is_far_beyond { 0 } else { PATIENCE };
            let worst =
                connections.iter().map(|(_, it)| (it.backlog(now, least), it)).max_by_key(|(backlog, _)| *backlog);
            match worst {
                Some((backlog, connection)) if backlog > 0 => connection.abort_slow_client(),
                _ => return self.next_slow_check.set(now.saturating_add(PATIENCE / 8)),
            }
        }
    }

    /// Calls `what` for each connection.
    pub fn each(&self, what: impl Fn(&Connection)) {
        let all: Vec<_> = self.all.borrow().iter().map(|(_, connection)| Rc::clone(connection)).collect();
        all.iter().for_each(|connection| what(connection));
    }

    /// Gives memory back to the system if many connections have ended.
    pub fn release_memory(&self) {
        if self.memory.is_due(self.count(), self.shared.event_loop.now.get()) {
            self.shared.event_loop.driver.release_memory();
        }
    }

    /// Returns when [`release_memory`](Connections::release_memory) is to be called; `NEVER` if it need not be.
    pub fn memory_deadline(&self) -> u64 {
        self.memory.deadline()
    }

    /// Forgets all connections, whose tasks are gone.
    pub fn clear(&self) {
        self.all.take();
    }
}
