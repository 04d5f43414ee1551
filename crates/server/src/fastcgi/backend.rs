//! A FastCGI server: where it is, how many requests it has at the same time, and connections that it keeps open.

use super::socket::Connection;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Where a FastCGI server is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Peer {
    /// The file of its socket.
    Unix(String),
    /// The address of its host, and its port.
    Tcp(SocketAddr),
}

/// A FastCGI server.
pub struct Backend {
    pub peer: Peer,
    /// Its address, as it was given.
    pub shown: String,
    /// How many requests it has at the same time, and how many may have.
    busy: Cell<usize>,
    most: usize,
    /// Requests that wait until it has fewer, in their order.
    waiting: RefCell<VecDeque<Rc<Waiter>>>,
    /// Connections that it has kept, and how many may be.
    kept: RefCell<Vec<Connection>>,
    most_kept: usize,
}

impl Backend {
    pub fn new(peer: Peer, shown: &str, most: usize, most_kept: usize) -> Rc<Backend> {
        Rc::new(Backend {
            peer,
            shown: shown.to_owned(),
            busy: Cell::new(0),
            most,
            waiting: RefCell::default(),
            kept: RefCell::default(),
            most_kept,
        })
    }

    /// Waits until it may have another request.
    pub fn enter(self: &Rc<Self>) -> Entering {
        let waiter = (self.busy.get() >= self.most).then(Rc::<Waiter>::default);
        match &waiter {
            Some(waiter) => self.waiting.borrow_mut().push_back(Rc::clone(waiter)),
            None => self.busy.set(self.busy.get() + 1),
        }
        Entering { backend: Some(Rc::clone(self)), waiter }
    }

    /// A request has ended: the next one has its place.
    fn leave(&self) {
        let next = self.waiting.borrow_mut().pop_front();
        match next {
            Some(next) => next.admit(),
            None => self.busy.set(self.busy.get() - 1),
        }
    }

    /// Whether connections are kept.
    pub fn keeps(&self) -> bool {
        self.most_kept > 0
    }

    /// Takes a connection that it has kept, and not closed meanwhile.
    pub fn take_kept(&self) -> Option<Connection> {
        loop {
            let last = self.kept.borrow_mut().pop()?;
            if last.is_open() {
                return Some(last);
            }
        }
    }

    /// Keeps a connection whose request has ended.
    pub fn keep(&self, connection: Connection) {
        let has_room = self.kept.borrow().len() < self.most_kept;
        if has_room && connection.is_clean() {
            self.kept.borrow_mut().push(connection);
        }
    }

    /// Closes what is kept.
    pub fn close(&self) {
        drop(self.kept.take());
    }
}

/// A request that waits.
#[derive(Default)]
struct Waiter {
    is_admitted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Waiter {
    fn admit(&self) {
        self.is_admitted.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// A request that wants to have a place.
pub struct Entering {
    /// `None`: it has one.
    backend: Option<Rc<Backend>>,
    waiter: Option<Rc<Waiter>>,
}

impl Future for Entering {
    type Output = Entered;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Entered> {
        if let Some(waiter) = self.waiter.as_ref().filter(|waiter| !waiter.is_admitted.get()) {
            waiter.waker.replace(Some(cx.waker().clone()));
            return Poll::Pending;
        }
        Poll::Ready(Entered(self.backend.take()))
    }
}

impl Drop for Entering {
    fn drop(&mut self) {
        let Some(backend) = self.backend.take() else { return };
        match &self.waiter {
            Some(waiter) if !waiter.is_admitted.get() => {
                backend.waiting.borrow_mut().retain(|other| !Rc::ptr_eq(other, waiter));
            }
            _ => backend.leave(),
        }
    }
}

/// A place among the requests that it has.
pub struct Entered(Option<Rc<Backend>>);

impl Drop for Entered {
    fn drop(&mut self) {
        if let Some(backend) = self.0.take() {
            backend.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(entering: &mut Entering) -> Option<Entered> {
        match Pin::new(entering).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(entered) => Some(entered),
            Poll::Pending => None,
        }
    }

    #[test]
    fn places_are_given_in_order_and_none_is_lost() {
        let backend = Backend::new(Peer::Unix("/none".into()), "", 2, 0);
        let mut all: Vec<_> = (0..6).map(|_| backend.enter()).collect();
        let first = poll(&mut all[0]).unwrap();
        let second = poll(&mut all[1]).unwrap();
        assert!(all[2..].iter_mut().all(|one| poll(one).is_none()));
        drop(all.remove(3)); // it gives up while it waits: 0, 1, 2, 4, 5 are left
        drop(first);
        assert!(poll(&mut all[3]).is_none());
        drop(all.remove(2)); // it was admitted, and gives up before it knows: 4 is next
        let fourth = poll(&mut all[2]).unwrap();
        assert!(poll(&mut all[3]).is_none());
        drop((second, fourth));
        let fifth = poll(&mut all[3]).unwrap();
        assert_eq!(backend.busy.get(), 1);
        drop((fifth, all));
        assert_eq!((backend.busy.get(), backend.waiting.borrow().len()), (0, 0));
    }
}
