//! A program that closes descriptors which are not its own, by a way that is not seen. (A process of its own: the
//! descriptors are gone for all reactors in it.)

use spindle_reactor::{Interest, JobKind, Reactor, Registration, Waiter};

fn woken(reactor: &Reactor) -> u64 {
    let mut waiter = None;
    while waiter.is_none() {
        reactor.turn(None, |woken| waiter = Some(woken.0));
    }
    waiter.unwrap()
}

#[test]
fn descriptors_that_are_closed_behind_our_back_are_made_anew() {
    let reactor = Reactor::new().unwrap();
    let (mut pipe, mut other) = ([0; 2], [0; 2]);
    // SAFETY: room for two.
    unsafe {
        assert_eq!(libc::pipe(pipe.as_mut_ptr()), 0);
        assert_eq!(libc::pipe(other.as_mut_ptr()), 0);
    }
    assert_eq!(reactor.register(pipe[0], Interest::READ, Waiter(1)), Registration::Waiting);
    let ours = spindle_reactor::internal_fds();
    // SAFETY: what is tested: others' descriptors are closed, and one number is used for something else.
    unsafe {
        ours.iter().for_each(|fd| assert_eq!(libc::close(*fd), 0));
        assert_eq!(libc::dup2(pipe[1], ours[0]), ours[0]);
    }
    // The first wait after it finds out, or the first turn.
    assert_eq!(reactor.register(other[0], Interest::READ, Waiter(3)), Registration::Waiting);
    assert_eq!(spindle_reactor::internal_fds().len(), 3);
    assert!(!spindle_reactor::is_internal(ours[0]), "that one is the program's");
    // SAFETY: a byte of a literal.
    assert_eq!(unsafe { libc::write(ours[0], c"x".as_ptr().cast(), 1) }, 1);
    assert_eq!(woken(&reactor), 1);
    reactor.submit(JobKind::Bounded, || (), Waiter(2)).unwrap();
    assert_eq!(woken(&reactor), 2);
}
