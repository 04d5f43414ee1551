//! What a request has left is forgotten: its waiters are never handed out, and the next one finds all as it was made.

use spindle_reactor::{Interest, JobKind, Reactor, Registration, Waiter};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;

/// Turns until a waiter is woken, and returns it. The limit is generous: only a failure waits so long.
fn woken(reactor: &Reactor) -> Vec<u64> {
    let mut all = Vec::new();
    for _ in 0..600 {
        reactor.turn(Some(100_000_000), |waiter| all.push(waiter.0));
        if !all.is_empty() {
            break;
        }
    }
    all
}

#[test]
fn a_job_that_ends_later_wakes_nothing() {
    let reactor = Reactor::new().unwrap();
    let (release, blocked) = channel::<()>();
    let job = move || {
        let _ = blocked.recv();
    };
    reactor.submit(JobKind::Bounded, job, Waiter(6)).unwrap();
    let remote = reactor.remote();
    reactor.forget_all();
    assert_eq!(reactor.jobs(), 0);
    remote.wake(Waiter(7)); // as the job will, some time after this
    drop(release);
    reactor.submit(JobKind::Bounded, || (), Waiter(8)).unwrap();
    assert_eq!(woken(&reactor), [8]);
    assert_eq!(reactor.jobs(), 0);
}

#[test]
fn a_job_that_has_ended_unseen_wakes_nothing() {
    let reactor = Reactor::new().unwrap();
    let (ended, end) = channel::<()>();
    reactor.submit(JobKind::Bounded, move || drop(ended), Waiter(7)).unwrap();
    let _ = end.recv();
    reactor.forget_all();
    reactor.submit(JobKind::Bounded, || (), Waiter(8)).unwrap();
    assert_eq!(woken(&reactor), [8]);
}

#[test]
fn descriptors_are_as_never_seen() {
    let reactor = Reactor::new().unwrap();
    let (mut one, other) = UnixStream::pair().unwrap();
    let fd = other.as_raw_fd();
    assert_eq!(reactor.register(fd, Interest::READ, Waiter(7)), Registration::Waiting);
    let life = reactor.generation(fd);
    reactor.forget_all();
    assert_ne!(reactor.generation(fd), life);
    one.write_all(b"x").unwrap();
    // Registered anew, it gets what came meanwhile.
    assert_eq!(reactor.register(fd, Interest::READ, Waiter(8)), Registration::Waiting);
    assert_eq!(woken(&reactor), [8]);
}
