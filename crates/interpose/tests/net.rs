//! Receiving and sending: hooked and unhooked give the same value, `errno` and bytes, and waiting is parking.

mod common;
mod sockets;

use common::{Caller, Test};
use libc::{MSG_DONTWAIT, MSG_NOSIGNAL, MSG_OOB, MSG_PEEK, MSG_WAITALL};
use sockets::*;
use spindle_interpose::hooks::{fd, net};
use spindle_interpose::host::{OnSignal, Wake};
use spindle_reactor::{FdKind, Interest, Readiness};
use std::os::fd::RawFd;

/// Runs the scenario unhooked and hooked and compares; how often the hooked one parked.
fn both<T: PartialEq + std::fmt::Debug>(scenario: impl Fn(&Calls) -> T) -> usize {
    let test = Test::new();
    let expected = test.outside(|| scenario(&ORIGINAL));
    assert_eq!(test.parks(), 0);
    assert_eq!(scenario(&HOOKED), expected);
    test.parks()
}

#[test]
fn data_that_is_there_is_one_call() {
    let parks = both(|calls| {
        let (a, b) = tcp();
        let sent = ORIGINAL.send(a, b"hello", 0);
        let got = calls.recv(b, 100, 0);
        let back = calls.send(b, b"world", 0);
        let outcome = (sent, got, back, ORIGINAL.recv(a, 100, 0));
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 0);
}

#[test]
fn recv_waits_for_data() {
    for pair in [tcp as fn() -> _, || unix(libc::SOCK_STREAM), || unix(libc::SOCK_DGRAM), || unix(libc::SOCK_SEQPACKET)]
    {
        let parks = both(|calls| {
            let (a, b) = pair();
            let peer = soon(move || ORIGINAL.send(a, b"late", 0));
            let got = calls.recv(b, 100, 0);
            let outcome = (got, peer.join().unwrap());
            close(a);
            close(b);
            outcome
        });
        assert_eq!(parks, 1);
    }
}

#[test]
fn a_full_read_does_not_make_it_empty() {
    let test = Test::new();
    let (a, b) = tcp();
    assert_eq!(ORIGINAL.send(a, b"0123456789", 0), (10, 0));
    assert_eq!(HOOKED.recv(b, 4, 0).2, b"0123");
    assert_eq!(HOOKED.recv(b, 4, 0).2, b"4567");
    assert_eq!(test.reactor().readiness(b, Interest::READ).0, Readiness::Unknown);
    assert_eq!(HOOKED.recv(b, 4, 0).2, b"89");
    let peer = soon(move || ORIGINAL.send(a, b"xy", 0));
    assert_eq!(HOOKED.recv(b, 2, 0).2, b"xy");
    peer.join().unwrap();
    assert_eq!(test.parks(), 1);
    // A short read of a registered TCP socket has seen all.
    assert_eq!(ORIGINAL.send(a, b"z", 0), (1, 0));
    assert_eq!(HOOKED.recv(b, 2, 0).2, b"z");
    assert_eq!(test.reactor().readiness(b, Interest::READ).0, Readiness::NotReady);
    close(a);
    close(b);
}

#[test]
fn an_end_that_came_with_the_data_is_seen() {
    let test = Test::new();
    let (a, b) = tcp();
    let peer = soon(move || {
        let sent = ORIGINAL.send(a, b"last", 0);
        close(a);
        sent
    });
    assert_eq!(HOOKED.recv(b, 100, 0), (4, 0, b"last".to_vec()));
    peer.join().unwrap();
    assert_eq!(HOOKED.recv(b, 100, 0), (0, 0, vec![]));
    assert_eq!(HOOKED.recv(b, 100, 0), (0, 0, vec![]));
    assert!(test.parks() <= 2);
    close(b);
}

/// Waits until the peer's kernel has all that was sent.
fn delivered(fd: RawFd) {
    let mut left: libc::c_int = 1;
    while left > 0 {
        // SAFETY: a place for the number.
        assert_eq!(unsafe { libc::ioctl(fd, libc::TIOCOUTQ, &raw mut left) }, 0);
    }
}

/// Waits until the end of what the peer sends has arrived.
fn ended(fd: RawFd) {
    let mut poll = libc::pollfd { fd, events: libc::POLLRDHUP, revents: 0 };
    // SAFETY: one entry of our own.
    assert_eq!(unsafe { libc::poll(&raw mut poll, 1, -1) }, 1);
}

#[test]
fn an_end_behind_an_edge_that_was_seen_is_not_lost() {
    let test = Test::new();
    let (a, b) = tcp();
    let peer = soon(move || ORIGINAL.send(a, b"1", 0));
    assert_eq!(HOOKED.recv(b, 100, 0).0, 1); // registered now
    peer.join().unwrap();
    assert_eq!(ORIGINAL.send(a, b"data", 0), (4, 0));
    close(a);
    ended(b);
    test.turn(); // the edge carries data and end at once
    assert_eq!(HOOKED.recv(b, 100, 0), (4, 0, b"data".to_vec()));
    assert_ne!(test.reactor().readiness(b, Interest::READ).0, Readiness::NotReady);
    let parks = test.parks();
    assert_eq!(HOOKED.recv(b, 100, 0), (0, 0, vec![]));
    assert_eq!(test.parks(), parks);
    close(b);
}

#[test]
fn urgent_data() {
    let parks = both(|calls| {
        let (a, b) = tcp();
        let nothing = calls.recv(b, 1, MSG_OOB);
        ORIGINAL.send(a, b"abc", 0);
        ORIGINAL.send(a, b"!", MSG_OOB);
        ORIGINAL.send(a, b"def", 0);
        delivered(a);
        let outcome = (
            nothing,
            calls.recv(b, 100, 0),
            calls.recv(b, 1, MSG_OOB),
            calls.recv(b, 100, 0),
            calls.recv(b, 1, MSG_OOB),
        );
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 0);
}

#[test]
fn a_short_read_at_the_urgent_mark_does_not_make_it_empty() {
    let test = Test::new();
    let (a, b) = tcp();
    let peer = soon(move || ORIGINAL.send(a, b"1", 0));
    assert_eq!(HOOKED.recv(b, 100, 0).0, 1);
    peer.join().unwrap();
    ORIGINAL.send(a, b"abc", 0);
    ORIGINAL.send(a, b"!", MSG_OOB);
    ORIGINAL.send(a, b"def", 0);
    delivered(a);
    test.turn();
    assert_eq!(HOOKED.recv(b, 100, 0).2, b"abc");
    assert_eq!(HOOKED.recv(b, 100, 0).2, b"def");
    assert_eq!(test.parks(), 1);
    close(a);
    close(b);
}

#[test]
fn nonblocking_and_dontwait_do_not_wait() {
    let parks = both(|calls| {
        // What is in a buffer of TCP may move on to the other end by itself.
        let (a, b) = unix(libc::SOCK_STREAM);
        let dontwait = calls.recv(b, 10, MSG_DONTWAIT);
        set_nonblocking(a, true);
        let plain = calls.recv(a, 10, 0);
        let big = vec![7u8; 64 << 20];
        let part = calls.send(a, &big, 0).0;
        assert!(part > 0 && part < big.len() as isize);
        let full = calls.send(a, b"x", 0);
        set_nonblocking(a, false);
        let dontwait_full = calls.send(a, b"x", MSG_DONTWAIT);
        close(a);
        close(b);
        (dontwait, plain, full, dontwait_full)
    });
    assert_eq!(parks, 0);
}

#[test]
fn receive_timeout() {
    let parks = both(|calls| {
        let (a, b) = unix(libc::SOCK_STREAM);
        set_timeout(b, libc::SO_RCVTIMEO, 40);
        let started = std::time::Instant::now();
        let got = calls.recv(b, 10, 0);
        assert!(started.elapsed().as_millis() >= 40);
        ORIGINAL.send(a, b"ab", 0);
        let part = calls.recv(b, 10, MSG_WAITALL);
        close(a);
        close(b);
        (got, part)
    });
    assert_eq!(parks, 2);
}

#[test]
fn a_timeout_set_through_the_hook_is_seen() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    assert_eq!(test.reactor().socket_timeout(b, Interest::READ), 0);
    let time = libc::timeval { tv_sec: 0, tv_usec: 30_000 };
    // SAFETY: the option takes a timeval.
    unsafe {
        fd::setsockopt(b, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const time).cast(), size_of_val(&time) as _);
    }
    assert_eq!(HOOKED.recv(b, 1, 0), (-1, libc::EAGAIN, vec![]));
    // With a timeout every caught signal interrupts.
    assert_eq!(test.last_park().on_signal, OnSignal::Interrupt);
    close(a);
    close(b);
}

#[test]
fn wait_all() {
    for pair in [tcp as fn() -> _, || unix(libc::SOCK_STREAM)] {
        let parks = both(|calls| {
            let (a, b) = pair();
            ORIGINAL.send(a, b"ab", 0);
            let caller = Caller::this();
            let peer = soon(move || {
                ORIGINAL.send(a, b"cd", 0);
                until_received(b);
                caller.asleep();
                ORIGINAL.send(a, b"efgh", 0)
            });
            let six = calls.recv(b, 6, MSG_WAITALL);
            peer.join().unwrap();
            let peer = soon(move || close(a));
            let end = calls.recv(b, 6, MSG_WAITALL);
            peer.join().unwrap();
            let after = calls.recv(b, 6, MSG_WAITALL);
            close(b);
            (six, end, after)
        });
        assert_eq!(parks, 3);
    }
}

#[test]
fn wait_all_leaves_an_error_to_the_next_call() {
    let parks = both(|calls| {
        let (a, b) = tcp();
        ORIGINAL.send(a, b"ab", 0);
        let peer = soon(move || {
            reset(a);
        });
        let part = calls.recv(b, 6, MSG_WAITALL);
        peer.join().unwrap();
        let outcome = (part, calls.recv(b, 6, 0), calls.recv(b, 6, 0));
        close(b);
        outcome
    });
    assert_eq!(parks, 1);
}

#[test]
fn peek_takes_nothing() {
    let parks = both(|calls| {
        let (a, b) = tcp();
        let peer = soon(move || ORIGINAL.send(a, b"abc", 0));
        let outcome = (
            calls.recv(b, 10, MSG_PEEK),
            peer.join().unwrap(),
            calls.recv(b, 10, MSG_PEEK),
            calls.recv(b, 3, MSG_PEEK | MSG_WAITALL),
            calls.recv(b, 10, 0),
        );
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 1);
}

#[test]
fn send_goes_on_until_all_is_sent() {
    for pair in [tcp as fn() -> _, || unix(libc::SOCK_STREAM)] {
        let parks = both(|calls| {
            let (a, b) = pair();
            let bytes = pattern(12 << 20);
            let peer = drain(b);
            let sent = calls.send(a, &bytes, 0);
            close(a);
            assert!(peer.join().unwrap() == bytes);
            close(b);
            sent
        });
        assert!(parks > 0);
    }
}

#[test]
fn send_to_a_peer_that_goes_away() {
    let parks = both(|calls| {
        let (a, b) = unix(libc::SOCK_STREAM);
        let bytes = pattern(4 << 20);
        let peer = soon(move || {
            let got = ORIGINAL.recv(b, 1000, MSG_WAITALL).0;
            close(b);
            got
        });
        let part = calls.send(a, &bytes, MSG_NOSIGNAL);
        assert!(part.0 > 0 && part.0 < bytes.len() as isize);
        peer.join().unwrap();
        let next = calls.send(a, &bytes, MSG_NOSIGNAL);
        close(a);
        next
    });
    assert!(parks > 0);
}

#[test]
fn a_partial_send_leaves_the_error_to_the_next_call() {
    let parks = both(|calls| {
        let (a, b) = tcp();
        let bytes = pattern(16 << 20);
        let peer = soon(move || reset(b));
        let part = calls.send(a, &bytes, MSG_NOSIGNAL);
        assert!(part.0 > 0 && part.0 < bytes.len() as isize);
        peer.join().unwrap();
        let next = (calls.send(a, b"x", MSG_NOSIGNAL), calls.send(a, b"x", MSG_NOSIGNAL));
        close(a);
        next
    });
    assert!(parks > 0);
}

#[test]
fn a_partial_send_raises_no_sigpipe() {
    // Rust's run-time ignores SIGPIPE; the default is what would end the process.
    let _test = Test::new();
    // SAFETY: no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    let (a, b) = unix(libc::SOCK_STREAM);
    let bytes = pattern(4 << 20);
    let peer = soon(move || close(b));
    assert!(HOOKED.send(a, &bytes, 0).0 > 0); // would have ended the process
    peer.join().unwrap();
    close(a);
    // SAFETY: as above.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

#[test]
fn send_timeout() {
    let parks = both(|calls| {
        let (a, b) = unix(libc::SOCK_STREAM);
        set_timeout(a, libc::SO_SNDTIMEO, 30);
        let bytes = pattern(4 << 20);
        let part = calls.send(a, &bytes, 0);
        assert!(part.0 > 0 && part.0 < bytes.len() as isize);
        let full = calls.send(a, b"x", 0);
        close(a);
        close(b);
        full
    });
    assert_eq!(parks, 2);
}

#[test]
fn cancelled() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    test.inject(1, Wake::Cancelled);
    assert_eq!(HOOKED.recv(a, 1, 0), (-1, libc::ECANCELED, vec![]));
    test.inject(1, Wake::Interrupted);
    assert_eq!(HOOKED.recv(a, 1, 0), (-1, libc::EINTR, vec![]));
    assert_eq!(test.last_park().on_signal, OnSignal::Restart);
    let bytes = pattern(4 << 20);
    test.inject(1, Wake::Cancelled);
    let (part, error) = HOOKED.send(a, &bytes, 0);
    assert!(part > 0 && part < bytes.len() as isize && error == 0);
    test.inject(1, Wake::Cancelled);
    assert_eq!(HOOKED.send(a, b"x", 0), (-1, libc::ECANCELED));
    // What was cancelled has left no registration behind: nothing wakes the next one wrongly.
    assert_eq!(ORIGINAL.send(b, b"y", 0), (1, 0));
    assert_eq!(HOOKED.recv(a, 1, 0).2, b"y");
    test.inject(1, Wake::Cancelled);
    assert_eq!(ORIGINAL.send(b, b"yz", 0), (2, 0));
    assert_eq!(HOOKED.recv(a, 4, MSG_WAITALL), (2, 0, b"yz".to_vec()));
    close(a);
    close(b);
}

extern "C" fn handler(_: i32) {}

#[test]
fn a_signal_interrupts() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    // SAFETY: the handler does nothing.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler as *const () as usize;
    spindle_reactor::signals::action(libc::SIGUSR1, Some(&action), None);
    // SAFETY: a call without pointers.
    let me = unsafe { libc::pthread_self() } as usize;
    // SAFETY: the thread waits for this one.
    let kill = move || unsafe { libc::pthread_kill(me as _, libc::SIGUSR1) };
    let other = soon(kill);
    assert_eq!(HOOKED.recv(a, 1, 0), (-1, libc::EINTR, vec![]));
    other.join().unwrap();
    // With SA_RESTART it goes on.
    action.sa_flags = libc::SA_RESTART;
    spindle_reactor::signals::action(libc::SIGUSR1, Some(&action), None);
    let caller = Caller::this();
    let other = soon(move || {
        kill();
        caller.asleep();
        ORIGINAL.send(b, b"k", 0)
    });
    assert_eq!(HOOKED.recv(a, 1, 0).2, b"k");
    other.join().unwrap();
    assert_eq!(test.parks(), 2);
    close(a);
    close(b);
}

#[test]
fn closed_meanwhile() {
    let test = Test::new();
    let (a, b) = tcp();
    // SAFETY: the test's own descriptor.
    test.at_park(1, move || assert_eq!(unsafe { fd::close(b) }, 0));
    assert_eq!(HOOKED.recv(b, 1, 0), (-1, libc::EBADF, vec![]));
    close(a);
    // Replaced meanwhile.
    let (a, b) = tcp();
    let (c, d) = tcp();
    // SAFETY: the test's own descriptors.
    test.at_park(1, move || assert_eq!(unsafe { fd::dup2(c, b) }, b));
    assert_eq!(HOOKED.recv(b, 1, 0), (-1, libc::EBADF, vec![]));
    // The number is registered anew for what it names now.
    let peer = soon(move || ORIGINAL.send(d, b"d", 0));
    assert_eq!(HOOKED.recv(b, 1, 0).2, b"d");
    peer.join().unwrap();
    for fd in [a, b, c, d] {
        close(fd);
    }
}

#[test]
fn errors_are_the_originals() {
    let parks = both(|calls| {
        // SAFETY: a plain open.
        let file = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        let unconnected = socket(libc::AF_INET, libc::SOCK_STREAM);
        let (datagram, _) = udp();
        let outcome = (
            calls.recv(-1, 1, 0),
            calls.recv(999_999, 1, 0),
            calls.recv(file, 1, 0),
            calls.recv(unconnected, 1, 0),
            calls.send(-1, b"x", 0),
            calls.send(file, b"x", 0),
            calls.send(unconnected, b"x", MSG_NOSIGNAL),
            calls.accept(file),
            calls.accept(-1),
            calls.accept(unconnected),
            calls.accept(datagram),
        );
        close(file);
        close(unconnected);
        close(datagram);
        outcome
    });
    assert_eq!(parks, 0);
}

#[test]
fn errno_stays_after_success() {
    let test = Test::new();
    let (a, b) = tcp();
    let peer = soon(move || ORIGINAL.send(a, b"late", 0));
    spindle_interpose::host::set_errno(12345);
    let mut buffer = [0u8; 4];
    // SAFETY: room for four bytes.
    assert_eq!(unsafe { net::recv(b, buffer.as_mut_ptr().cast(), 4, 0) }, 4);
    assert_eq!(spindle_interpose::host::errno(), 12345);
    assert_eq!(test.parks(), 1);
    peer.join().unwrap();
    close(a);
    close(b);
}

#[test]
fn datagrams() {
    let parks = both(|calls| {
        let ((a, to_a), (b, to_b)) = (udp(), udp());
        let send = |from: i32, to: &Address, bytes: &'static [u8]| {
            let sendto = if calls.name == "hooked" { net::sendto } else { libc::sendto };
            // SAFETY: the slice and the address are valid.
            outcome(unsafe { sendto(from, bytes.as_ptr().cast(), bytes.len(), 0, to.pointer(), to.length) })
        };
        let sent = (send(a, &to_b, b"one"), send(a, &to_b, b""), send(a, &to_b, b"three"));
        let got = (calls.recv(b, 2, 0), calls.recv(b, 9, 0), calls.recv(b, 9, MSG_WAITALL));
        let peer = soon(move || {
            // SAFETY: the slice and the address are valid.
            unsafe { libc::sendto(b, b"late".as_ptr().cast(), 4, 0, to_a.pointer(), to_a.length) }
        });
        let late = calls.recv(a, 9, 0);
        let too_long = calls.send(a, b"x", 0); // no destination
        let outcome = (sent, got, late, peer.join().unwrap(), too_long);
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 1);
}

#[test]
fn a_full_datagram_queue_of_another() {
    let parks = both(|calls| {
        let name = format!("spindle-dgram-{}-{}", std::process::id(), calls.name);
        let (receiver, at) = (socket(libc::AF_UNIX, libc::SOCK_DGRAM), Address::unix(&name));
        // SAFETY: the address is valid.
        assert_eq!(unsafe { libc::bind(receiver, at.pointer(), at.length) }, 0);
        let sender = socket(libc::AF_UNIX, libc::SOCK_DGRAM);
        let sendto = if calls.name == "hooked" { net::sendto } else { libc::sendto };
        // SAFETY: the bytes and the address are valid.
        let send = |flags| outcome(unsafe { sendto(sender, b"m".as_ptr().cast(), 1, flags, at.pointer(), at.length) });
        // Another fills it: what the sender's own readiness tells has nothing to do with it.
        let filler = socket(libc::AF_UNIX, libc::SOCK_DGRAM);
        ORIGINAL.connect(filler, &at);
        while ORIGINAL.send(filler, b"m", MSG_DONTWAIT) == (1, 0) {}
        let peer = soon(move || ORIGINAL.recv(receiver, 1, 0).0);
        let sent = send(0);
        let outcome = (sent, peer.join().unwrap());
        close(filler);
        close(receiver);
        close(sender);
        outcome
    });
    assert!((1..20).contains(&parks), "{parks}: it spins");
}

#[test]
fn fairness_is_for_receiving_only() {
    let test = Test::new();
    let (a, b) = tcp();
    assert_eq!(HOOKED.send(a, b"abcdef", 0), (6, 0));
    assert_eq!(test.gave_way(), 0);
    assert_eq!(HOOKED.recv(b, 3, 0).0, 3);
    assert_eq!(test.gave_way(), 1);
    close(a);
    close(b);
}

#[test]
fn accepted_sockets_need_not_be_asked_about() {
    let test = Test::new();
    let (listener, address) = listener();
    let client = socket(libc::AF_INET, libc::SOCK_STREAM);
    assert_eq!(ORIGINAL.connect(client, &address), (0, 0));
    let (server, _) = HOOKED.accept(listener);
    assert_eq!(test.reactor().kind(server as i32), FdKind::Tcp);
    assert!(!test.reactor().may_be_shared(server as i32));
    close(listener);
    close(client);
    close(server as i32);
}
