//! Tracking of descriptors: opening, closing and changing them, and that Spindle's own are safe.

mod common;
mod sockets;

use common::Test;
use libc::c_int;
use sockets::*;
use spindle_interpose::hooks::fd;
use spindle_interpose::hooks::net;
use spindle_interpose::host::{self, Wake};
use spindle_reactor::{Blocking, FdKind, Interest, Readiness};

#[test]
fn modes_are_followed() {
    let test = Test::new();
    let reactor = test.reactor();
    let mut pair = [0; 2];
    // SAFETY: room for two; calls without other pointers.
    unsafe {
        assert_eq!(fd::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC | libc::O_NONBLOCK), 0);
        assert_eq!((reactor.kind(pair[0]), reactor.blocking(pair[0])), (FdKind::Pipe, Blocking::No));
        assert_eq!(fd::fcntl(pair[0], libc::F_SETFL, 0), 0);
        assert_eq!(reactor.blocking(pair[0]), Blocking::Yes);
        let mut on: c_int = 1;
        assert_eq!(fd::ioctl(pair[0], libc::FIONBIO, (&raw mut on).cast()), 0);
        assert_eq!(reactor.blocking(pair[0]), Blocking::No);
        // A duplicate has the same mode, whichever of the two is changed.
        let other = fd::fcntl(pair[0], libc::F_DUPFD_CLOEXEC, 0);
        assert_eq!(reactor.blocking(other), Blocking::No);
        assert_eq!(fd::fcntl(other, libc::F_SETFL, 0), 0);
        assert_eq!(reactor.blocking(pair[0]), Blocking::Yes);
        assert_eq!(fd::fcntl(pair[0], libc::F_SETFL, libc::O_NONBLOCK as usize), 0);
        assert_eq!(reactor.blocking(other), Blocking::No);
        for fd in [pair[0], pair[1], other] {
            assert_eq!(fd::close(fd), 0);
        }
    }
    assert_eq!(reactor.kind(pair[0]), FdKind::Closed);
}

#[test]
fn a_closed_number_is_remembered_as_nothing() {
    let test = Test::new();
    let reactor = test.reactor();
    let (a, b) = tcp();
    let life = reactor.generation(b);
    assert_eq!((reactor.kind(b), reactor.blocking(b)), (FdKind::Tcp, Blocking::Yes));
    // SAFETY: the test's own descriptors.
    unsafe {
        assert_eq!(fd::close(b), 0);
        assert_eq!(reactor.blocking(b), Blocking::No);
        assert_ne!(reactor.generation(b), life);
        let mut pair = [0; 2];
        assert_eq!(fd::pipe(pair.as_mut_ptr()), 0);
        assert!(pair.contains(&b));
        assert_eq!((reactor.kind(b), reactor.blocking(b)), (FdKind::Pipe, Blocking::Yes));
        [a, pair[0], pair[1]].into_iter().for_each(|fd| assert_eq!(fd::close(fd), 0));
        assert_eq!((fd::close(b), host::errno()), (-1, libc::EBADF));
    }
}

#[test]
fn a_call_that_waits_does_not_go_on_with_what_the_number_names_then() {
    let test = Test::new();
    let ((a, b), (c, d)) = (tcp(), tcp());
    let mut byte = 0u8;
    // SAFETY: the test's own descriptors, and a byte that lives through the calls.
    unsafe {
        assert_eq!(libc::write(c, c"x".as_ptr().cast(), 1), 1);
        test.at_park(1, move || assert_eq!(fd::dup2(d, b), b));
        let got = net::recv(b, (&raw mut byte).cast(), 1, 0);
        assert_eq!((got, host::errno()), (-1, libc::EBADF));
        assert_eq!(net::recv(d, (&raw mut byte).cast(), 1, 0), 1);
        [a, b, c, d].into_iter().for_each(|fd| assert_eq!(fd::close(fd), 0));
    }
}

#[test]
fn a_number_that_is_not_open_costs_no_memory() {
    let test = Test::new();
    let reactor = test.reactor();
    let far = c_int::MAX - 1;
    assert_eq!((reactor.kind(far), reactor.blocking(far)), (FdKind::Closed, Blocking::No));
    assert_eq!(HOOKED.recv(far, 1, 0), (-1, libc::EBADF, vec![]));
    // SAFETY: calls without pointers.
    unsafe {
        assert_eq!((fd::close(far), host::errno()), (-1, libc::EBADF));
        assert_eq!((fd::dup2(far, 5), host::errno()), (-1, libc::EBADF));
        assert_eq!((fd::dup2(0, far), host::errno()), (-1, libc::EBADF));
    }
}

#[test]
fn a_failed_dup2_changes_nothing() {
    let test = Test::new();
    let (a, b) = tcp();
    let life = test.reactor().generation(b);
    // SAFETY: calls without pointers.
    unsafe {
        assert_eq!((fd::dup2(-1, b), host::errno()), (-1, libc::EBADF));
        assert_eq!(fd::dup2(b, b), b);
        assert_eq!((fd::dup3(b, b, 0), host::errno()), (-1, libc::EINVAL));
        assert_eq!(test.reactor().generation(b), life);
        assert_eq!(fd::dup3(a, b, libc::O_CLOEXEC), b);
    }
    assert_ne!(test.reactor().generation(b), life);
    close(a);
    close(b);
}

fn is_open(fd: c_int) -> bool {
    // SAFETY: a call without pointers.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// What `check` finds in a child, lest the test harness loses descriptors of its own.
fn in_a_child(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child makes only system calls, and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            libc::_exit(if check() { 0 } else { 1 });
        }
        let mut status = -1;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        status == 0
    }
}

#[test]
fn our_own_descriptors_are_not_the_programs() {
    let test = Test::new();
    let ours = spindle_reactor::internal_fds();
    assert!(ours.len() >= 3);
    for fd in ours {
        assert!(fd > 255, "{fd} is where programs put theirs");
        // SAFETY: it is refused.
        unsafe {
            assert_eq!((fd::close(fd), host::errno()), (-1, libc::EBADF));
            assert_eq!((fd::dup2(0, fd), host::errno()), (-1, libc::EBUSY));
            assert_eq!((fd::dup2(fd, fd), host::errno()), (-1, libc::EBADF));
            assert_eq!((fd::dup(fd), host::errno()), (-1, libc::EBADF));
            assert_eq!((fd::fcntl(fd, libc::F_DUPFD, 0), host::errno()), (-1, libc::EBADF));
        }
    }
    assert!(in_a_child(|| {
        let reactor = test.reactor();
        reactor.after_fork();
        reactor.turn(Some(0), |_| ());
        let own = spindle_reactor::internal_fds();
        let all_open = || own.iter().all(|fd| is_open(*fd));
        // SAFETY: nobody else uses the child's descriptors.
        unsafe {
            let (low, high) = (libc::dup(0), libc::fcntl(0, libc::F_DUPFD, own[2] + 1));
            let ranged = fd::close_range(3, libc::c_uint::MAX, 0) == 0 && all_open();
            let closed = !is_open(low) && !is_open(high);
            let high = libc::fcntl(0, libc::F_DUPFD, own[0] + 1);
            fd::closefrom(3);
            own.len() == 3 && ranged && closed && all_open() && !is_open(high)
        }
    }));
}

#[test]
fn a_forks_child_has_all_numbers_for_itself() {
    let test = Test::new();
    let ours = spindle_reactor::internal_fds();
    // Whether it is known that this is a child, or not yet.
    for known in [true, false] {
        assert!(in_a_child(|| {
            let reactor = test.reactor();
            if known {
                reactor.after_fork();
            }
            let closed = !known || ours.iter().all(|fd| !is_open(*fd));
            // SAFETY: nobody else uses the child's descriptors.
            let replaced = unsafe { ours.iter().all(|fd| fd::dup2(0, *fd) == *fd) };
            if !known {
                reactor.after_fork();
            }
            reactor.turn(Some(0), |_| ());
            let fresh = spindle_reactor::internal_fds();
            let apart = fresh.len() == 3 && fresh.iter().all(|fd| is_open(*fd) && !ours.contains(fd));
            // SAFETY: as above.
            let again = unsafe { ours.iter().all(|fd| is_open(*fd) && fd::close(*fd) == 0) };
            closed && replaced && apart && again
        }));
    }
}

#[test]
fn close_range_forgets_and_wakes() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    // SAFETY: the test's own descriptors.
    test.at_park(1, move || assert_eq!(unsafe { fd::close_range(b as _, b as _, 0) }, 0));
    assert_eq!(HOOKED.recv(b, 1, 0), (-1, libc::EBADF, vec![]));
    // CLOSE_RANGE_CLOEXEC closes nothing.
    // SAFETY: calls without pointers.
    unsafe {
        let life = test.reactor().generation(a);
        assert_eq!(fd::close_range(a as _, a as _, 4), 0);
        assert_eq!(test.reactor().generation(a), life);
        assert_eq!((fd::close_range(5, 4, 0), host::errno()), (-1, libc::EINVAL));
    }
    close(a);
}

#[test]
fn fclose_is_seen() {
    let test = Test::new();
    let mut pair = [0; 2];
    // SAFETY: room for two; the stream is closed once.
    unsafe {
        assert_eq!(fd::pipe(pair.as_mut_ptr()), 0);
        let stream = libc::fdopen(pair[0], c"r".as_ptr());
        let life = test.reactor().generation(pair[0]);
        assert_eq!(fd::fclose(stream), 0);
        assert_ne!(test.reactor().generation(pair[0]), life);
        assert_eq!(fd::close(pair[1]), 0);
    }
}

#[test]
fn outside_coroutines_the_books_are_kept_too() {
    let test = Test::new();
    let (b, a) = unix(libc::SOCK_STREAM); // the lowest free number is used again
    assert_eq!(test.reactor().kind(b), FdKind::Socket);
    test.outside(|| {
        // SAFETY: the test's own descriptors.
        unsafe {
            assert_eq!(fd::close(b), 0);
            assert_eq!(fd::eventfd(0, libc::EFD_NONBLOCK), b);
        }
    });
    assert_eq!((test.reactor().kind(b), test.reactor().blocking(b)), (FdKind::Other, Blocking::No));
    close(a);
    close(b);
}

#[test]
fn shutdown_wakes_and_is_not_forgotten() {
    let test = Test::new();
    let (a, b) = tcp();
    // SAFETY: a call without pointers.
    test.at_park(1, move || assert_eq!(unsafe { fd::shutdown(b, libc::SHUT_RD) }, 0));
    assert_eq!(HOOKED.recv(b, 1, 0), (0, 0, vec![]));
    assert_ne!(test.reactor().readiness(b, Interest::READ).0, Readiness::NotReady);
    assert_eq!(test.parks(), 1);
    close(a);
    close(b);
}

#[test]
fn record_locks_are_waited_for() {
    let test = Test::new();
    // SAFETY: plain calls on a file of the test's own; `lock` is valid.
    unsafe {
        let fd = libc::memfd_create(c"locks".as_ptr(), libc::MFD_CLOEXEC);
        let path = std::ffi::CString::new(format!("/proc/self/fd/{fd}")).unwrap();
        let other = libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        let mut lock: libc::flock = std::mem::zeroed();
        (lock.l_type, lock.l_whence) = (libc::F_WRLCK as _, libc::SEEK_SET as _);
        let at = &raw mut lock as usize;
        assert_eq!(fd::fcntl(fd, libc::F_OFD_SETLKW, at), 0);
        assert_eq!(test.parks(), 0);
        test.inject(1, Wake::Cancelled);
        assert_eq!((fd::fcntl(other, libc::F_OFD_SETLKW, at), host::errno()), (-1, libc::ECANCELED));
        test.at_park(3, move || {
            let mut unlock: libc::flock = std::mem::zeroed();
            (unlock.l_type, unlock.l_whence) = (libc::F_UNLCK as _, libc::SEEK_SET as _);
            assert_eq!(libc::fcntl(fd, libc::F_OFD_SETLK, &raw mut unlock), 0);
        });
        assert_eq!(fd::fcntl(other, libc::F_OFD_SETLKW, at), 0);
        assert_eq!(test.parks(), 4);

        close(fd);
        close(other);
    }
}
