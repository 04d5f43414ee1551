//! `poll`, `select`, `epoll_wait`: hooked and unhooked alike, and the kernel is asked no more than needed.

mod common;
mod sockets;

use common::Test;
use libc::{
    POLLERR, POLLHUP, POLLIN, POLLNVAL, POLLOUT, POLLPRI, POLLRDHUP, POLLRDNORM, c_int, pollfd, timespec, timeval,
};
use sockets::*;
use spindle_interpose::hooks::{fd, poll};
use spindle_interpose::host::{self, OnSignal, Wake};
use spindle_reactor::{Interest, Readiness};
use std::ptr::{null, null_mut};
use std::time::{Duration, Instant};

/// `poll` in one of its versions: outcome and `revents`.
fn poll_all(hooked: bool, asked: &[(c_int, i16)], timeout: c_int) -> ((isize, i32), Vec<i16>) {
    let mut fds: Vec<_> = asked.iter().map(|&(fd, events)| pollfd { fd, events, revents: 77 }).collect();
    let (at, count) = (fds.as_mut_ptr(), fds.len() as _);
    // SAFETY: so many entries are there.
    let result = unsafe { if hooked { poll::poll(at, count, timeout) } else { libc::poll(at, count, timeout) } };
    (outcome(result as isize), fds.iter().map(|one| one.revents).collect())
}

/// Runs the scenario unhooked and hooked and compares; how often the hooked one parked.
fn both<T: PartialEq + std::fmt::Debug>(scenario: impl Fn(bool) -> T) -> usize {
    let test = Test::new();
    let expected = test.outside(|| scenario(false));
    assert_eq!(test.parks(), 0);
    assert_eq!(scenario(true), expected);
    test.parks()
}

#[test]
fn every_state_of_one_descriptor() {
    const ALL: i16 = POLLIN | POLLOUT | POLLPRI | POLLRDHUP | POLLRDNORM;
    both(|hooked| {
        let mut seen = Vec::new();
        for events in [0, POLLIN, POLLOUT, POLLPRI, POLLIN | POLLOUT, POLLIN | POLLPRI, ALL, POLLIN | POLLERR | POLLHUP]
        {
            for timeout in [0, 5] {
                let (a, b) = tcp();
                seen.push(poll_all(hooked, &[(b, events)], timeout));
                ORIGINAL.send(a, b"x", 0);
                seen.push(poll_all(hooked, &[(b, events)], timeout));
                ORIGINAL.send(a, b"!", libc::MSG_OOB);
                std::thread::sleep(Duration::from_millis(1));
                seen.push(poll_all(hooked, &[(b, events)], timeout));
                close(a);
                std::thread::sleep(Duration::from_millis(1));
                seen.push(poll_all(hooked, &[(b, events)], timeout));
                let mut pair = [0; 2];
                // SAFETY: room for two.
                assert_eq!(unsafe { libc::pipe2(pair.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
                seen.push(poll_all(hooked, &[(pair[0], events)], timeout));
                seen.push(poll_all(hooked, &[(pair[1], events)], timeout));
                close(pair[1]);
                seen.push(poll_all(hooked, &[(pair[0], events)], timeout));
                // SAFETY: plain opens.
                let file = unsafe { libc::open(c"/proc/self/exe".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
                seen.push(poll_all(hooked, &[(file, events)], timeout));
                seen.push(poll_all(hooked, &[(-1, events)], timeout));
                seen.push(poll_all(hooked, &[(9999, events)], timeout));
                let idle = socket(libc::AF_INET, libc::SOCK_STREAM);
                seen.push(poll_all(hooked, &[(idle, events)], timeout));
                let two = [(idle, events), (-7, events), (file, events), (b, events)];
                seen.push(poll_all(hooked, &two, timeout));
                [b, pair[0], file, idle].into_iter().for_each(close);
            }
        }
        seen
    });
}

#[test]
fn one_that_becomes_ready() {
    let parks = both(|hooked| {
        let (a, b) = tcp();
        let peer = soon(move || ORIGINAL.send(a, b"x", 0));
        let outcome = poll_all(hooked, &[(b, POLLIN)], 5000);
        peer.join().unwrap();
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 1);
}

#[test]
fn several_of_which_one_becomes_ready() {
    let parks = both(|hooked| {
        let ((a, b), (c, d)) = (tcp(), unix(libc::SOCK_STREAM));
        let peer = soon(move || ORIGINAL.send(c, b"x", 0));
        let outcome = poll_all(hooked, &[(b, POLLIN), (d, POLLIN), (-1, POLLIN), (b, POLLPRI)], -1);
        peer.join().unwrap();
        [a, b, c, d].into_iter().for_each(close);
        outcome
    });
    assert_eq!(parks, 1);
}

#[test]
fn levels_save_the_kernel_the_asking() {
    let test = Test::new();
    let (a, b) = tcp();
    let level = || test.reactor().readiness(b, Interest::READ).0;
    let peer = soon(move || ORIGINAL.send(a, b"x", 0));
    assert_eq!(poll_all(true, &[(b, POLLIN)], -1), ((1, 0), vec![POLLIN]));
    peer.join().unwrap();
    // A fresh edge answers. To show that the kernel is not asked, the data is taken away unseen.
    assert_eq!(level(), Readiness::Ready);
    ORIGINAL.recv(b, 1, 0);
    assert_eq!(poll_all(true, &[(b, POLLIN | POLLERR | POLLHUP)], -1), ((1, 0), vec![POLLIN]));
    assert_eq!(poll_all(true, &[(b, POLLIN | POLLRDNORM | POLLRDHUP)], 9), ((1, 0), vec![POLLIN | POLLRDNORM]));
    // A time limit of zero always asks.
    assert_eq!(poll_all(true, &[(b, POLLIN)], 0), ((0, 0), vec![0]));
    // A short read of TCP: *empty* parks without asking. To show it, data comes that no turn has seen.
    ORIGINAL.send(a, b"y", 0);
    assert_eq!(HOOKED.recv(b, 10, 0).2, b"y");
    assert_eq!(level(), Readiness::NotReady);
    let parks = test.parks();
    ORIGINAL.send(a, b"z", 0);
    assert_eq!(poll_all(true, &[(b, POLLIN)], -1), ((1, 0), vec![POLLIN]));
    assert_eq!(test.parks(), parks + 1);
    // A full read makes it unknown: asked, not parked.
    assert_eq!(HOOKED.recv(b, 1, 0).2, b"z");
    ORIGINAL.send(a, b"w", 0);
    assert_eq!(poll_all(true, &[(b, POLLIN)], -1), ((1, 0), vec![POLLIN]));
    assert_eq!(test.parks(), parks + 1);
    close(a);
    close(b);
}

#[test]
fn of_a_set_that_is_known_which_has_just_woken_it() {
    let test = Test::new();
    let ((a, b), (c, d)) = (tcp(), unix(libc::SOCK_STREAM));
    let set = [(b, POLLIN), (d, POLLIN)];
    let peer = soon(move || ORIGINAL.send(a, b"x", 0));
    assert_eq!(poll_all(true, &set, -1), ((1, 0), vec![POLLIN, 0]));
    peer.join().unwrap();
    ORIGINAL.recv(b, 1, 0);
    // Both are registered by now, so that a look which finds nothing is known of them.
    assert_eq!(poll_all(true, &set, 0), ((0, 0), vec![0, 0]));
    let peer = soon(move || ORIGINAL.send(a, b"x", 0));
    assert_eq!(poll_all(true, &set, -1), ((1, 0), vec![POLLIN, 0]));
    peer.join().unwrap();
    assert_eq!(test.reactor().readiness(b, Interest::READ).0, Readiness::Ready);
    assert_eq!(test.reactor().readiness(d, Interest::READ).0, Readiness::NotReady);
    // Another thread has read: the next call asks.
    ORIGINAL.recv(b, 1, 0);
    assert_eq!(poll_all(true, &set, 5), ((0, 0), vec![0, 0]));
    // Nothing is ready, which is known: it parks without asking. To show it, data comes that no turn has seen.
    let parks = test.parks();
    assert_eq!(poll_all(true, &set, 0), ((0, 0), vec![0, 0]));
    ORIGINAL.send(a, b"y", 0);
    assert_eq!(poll_all(true, &set, -1), ((1, 0), vec![POLLIN, 0]));
    assert_eq!(test.parks(), parks + 1);
    // Not of events that the reactor does not know, nor with a time limit of zero, nor of a descriptor that is closed.
    assert_eq!(poll_all(true, &[(b, POLLIN), (d, POLLOUT)], -1), ((2, 0), vec![POLLIN, POLLOUT]));
    ORIGINAL.recv(b, 1, 0);
    ORIGINAL.send(c, b"z", 0);
    assert_eq!(poll_all(true, &set, 0), ((1, 0), vec![0, POLLIN]));
    assert_eq!(poll_all(true, &[(b, libc::POLLRDBAND | POLLIN), (d, POLLIN)], -1), ((1, 0), vec![0, POLLIN]));
    ORIGINAL.recv(d, 1, 0);
    assert_eq!(poll_all(true, &set, 0), ((0, 0), vec![0, 0]));
    test.at_park(1, move || close(c));
    assert_eq!(poll_all(true, &set, -1), ((1, 0), vec![0, POLLIN | POLLHUP]));
    [a, b, d].into_iter().for_each(close);
    assert_eq!(poll_all(true, &[(9999, POLLIN), (-1, POLLIN)], -1), ((1, 0), vec![POLLNVAL, 0]));
}

#[test]
fn an_error_that_was_is_not_reported_again() {
    let test = Test::new();
    let ((a, _), (b, to_b)) = (udp(), udp());
    ORIGINAL.connect(a, &to_b);
    close(b);
    let peer = soon(move || ORIGINAL.send(a, b"to nobody", 0));
    assert_eq!(poll_all(true, &[(a, POLLIN)], -1), ((1, 0), vec![POLLERR]));
    peer.join().unwrap();
    assert_eq!(HOOKED.recv(a, 1, 0), (-1, libc::ECONNREFUSED, vec![]));
    assert_eq!(poll_all(true, &[(a, POLLIN)], 5), ((0, 0), vec![0]));
    // Nor with the next edge, of which epoll tells what is true then.
    let to_a = Address::of(a);
    let c = socket(libc::AF_INET, libc::SOCK_DGRAM);
    // SAFETY: both addresses are valid.
    unsafe { assert_eq!(libc::bind(c, to_b.pointer(), to_b.length), 0) };
    ORIGINAL.connect(c, &to_a);
    ORIGINAL.send(c, b"x", 0);
    test.turn();
    assert_eq!(test.reactor().readiness(a, Interest::READ).0, Readiness::Ready);
    assert_eq!(poll_all(true, &[(a, POLLIN)], 5), ((1, 0), vec![POLLIN]));
    // One that is there is reported beside the data.
    close(c);
    ORIGINAL.send(a, b"to nobody", 0);
    test.turn();
    assert_eq!(test.reactor().readiness(a, Interest::READ).0, Readiness::Ready);
    assert_eq!(poll_all(true, &[(a, POLLIN)], 5), ((1, 0), vec![POLLIN | POLLERR]));
    close(a);
}

#[test]
fn cancelled_interrupted_closed() {
    let test = Test::new();
    let ((a, b), (c, d)) = (tcp(), tcp());
    for asked in [vec![(b, POLLIN)], vec![(b, POLLIN), (d, POLLIN)]] {
        test.inject(1, Wake::Cancelled);
        assert_eq!(poll_all(true, &asked, -1).0, (-1, libc::ECANCELED));
        test.inject(1, Wake::Interrupted);
        assert_eq!(poll_all(true, &asked, -1).0, (-1, libc::EINTR));
        assert_eq!(test.last_park().on_signal, OnSignal::Interrupt);
    }
    // SAFETY: the test's own descriptor.
    test.at_park(1, move || assert_eq!(unsafe { fd::dup2(c, b) }, b));
    assert_eq!(poll_all(true, &[(b, POLLIN)], -1), ((1, 0), vec![POLLNVAL]));
    // SAFETY: as above.
    test.at_park(1, move || assert_eq!(unsafe { fd::close(b) }, 0));
    assert_eq!(poll_all(true, &[(d, POLLIN), (b, POLLIN)], -1), ((1, 0), vec![0, POLLNVAL]));
    [a, c, d].into_iter().for_each(close);
}

#[test]
fn time_limits() {
    let parks = both(|hooked| {
        let (a, b) = tcp();
        let started = Instant::now();
        let outcome = (
            poll_all(hooked, &[(b, POLLIN)], 20),
            poll_all(hooked, &[(b, POLLIN), (a, POLLIN)], 20),
            poll_all(hooked, &[], 20),
            poll_all(hooked, &[(-1, POLLIN)], 20),
        );
        assert!(started.elapsed() >= Duration::from_millis(80));
        close(a);
        close(b);
        outcome
    });
    assert_eq!(parks, 4);
}

#[test]
fn asking_without_time_gives_way() {
    let test = Test::new();
    assert_eq!(poll_all(true, &[], 0).0, (0, 0));
    assert_eq!(test.gave_way(), 1);
}

/// `select` in one of its versions: outcome, the three sets, and the remaining time in ms.
fn select_all(hooked: bool, sets: [&[c_int]; 3], ms: Option<i64>) -> ((isize, i32), [Vec<c_int>; 3], Option<i64>) {
    // SAFETY: all zeros is an empty set.
    let mut raw: [libc::fd_set; 3] = unsafe { std::mem::zeroed() };
    let mut count = 0;
    for (set, fds) in raw.iter_mut().zip(sets) {
        for &fd in fds {
            // SAFETY: a valid set and a number below its size.
            unsafe { libc::FD_SET(fd, set) };
            count = count.max(fd + 1);
        }
    }
    let mut time = ms.map(|ms| timeval { tv_sec: ms / 1000, tv_usec: ms % 1000 * 1000 });
    let at = time.as_mut().map_or(null_mut(), |t| &raw mut *t);
    let select = if hooked { poll::select } else { libc::select };
    let [r, w, e] = raw.each_mut().map(|set| &raw mut *set);
    // SAFETY: valid sets and time.
    let result = outcome(unsafe { select(count, r, w, e, at) } as isize);
    // SAFETY: valid sets.
    let members = raw.map(|set| (0..count).filter(|&fd| unsafe { libc::FD_ISSET(fd, &set) }).collect());
    (result, members, time.map(|t| t.tv_sec * 1000 + t.tv_usec / 1000))
}

#[test]
fn select_alike() {
    let parks = both(|hooked| {
        let ((a, b), (c, d)) = (tcp(), tcp());
        // SAFETY: a plain open.
        let file = unsafe { libc::open(c"/proc/self/exe".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        let strip = |all: ((isize, i32), [Vec<c_int>; 3], Option<i64>)| (all.0, all.1);
        let mut seen = vec![
            strip(select_all(hooked, [&[b, d], &[], &[]], Some(0))),
            strip(select_all(hooked, [&[b], &[a], &[b]], None)),
            strip(select_all(hooked, [&[b, file], &[], &[]], None)),
            strip(select_all(hooked, [&[], &[], &[file, b]], Some(10))),
            strip(select_all(hooked, [&[], &[], &[]], Some(10))),
            strip(select_all(hooked, [&[999], &[], &[]], None)),
        ];
        let (_, _, rest) = select_all(hooked, [&[b], &[], &[]], Some(20));
        assert_eq!(rest, Some(0));
        let peer = soon(move || ORIGINAL.send(a, b"x", 0));
        let (result, sets, rest) = select_all(hooked, [&[b, d], &[], &[b]], Some(60_000));
        assert!((50_000..60_000).contains(&rest.unwrap()));
        seen.push((result, sets));
        peer.join().unwrap();
        let peer = soon(move || ORIGINAL.send(a, b"!", libc::MSG_OOB));
        seen.push(strip(select_all(hooked, [&[d], &[], &[b]], None)));
        peer.join().unwrap();
        [a, b, c, d, file].into_iter().for_each(close);
        seen
    });
    assert_eq!(parks, 5);
}

#[test]
fn select_interrupted_leaves_the_sets() {
    let test = Test::new();
    let (a, b) = tcp();
    test.inject(1, Wake::Interrupted);
    let (result, sets, rest) = select_all(true, [&[b], &[], &[b]], Some(10_000));
    assert_eq!((result, sets), ((-1, libc::EINTR), [vec![b], vec![], vec![b]]));
    assert!(rest.unwrap() > 9_000);
    test.inject(1, Wake::Cancelled);
    assert_eq!(select_all(true, [&[b], &[], &[]], None).0, (-1, libc::ECANCELED));
    // SAFETY: null sets.
    unsafe {
        let mut bad = timeval { tv_sec: -1, tv_usec: 0 };
        assert_eq!(poll::select(0, null_mut(), null_mut(), null_mut(), &mut bad), -1);
        assert_eq!(host::errno(), libc::EINVAL);
        assert_eq!(poll::select(-1, null_mut(), null_mut(), null_mut(), null_mut()), -1);
        assert_eq!(host::errno(), libc::EINVAL);
        let bad = timespec { tv_sec: 0, tv_nsec: 1_000_000_000 };
        assert_eq!(poll::ppoll(null_mut(), 0, &bad, null()), -1);
        assert_eq!(host::errno(), libc::EINVAL);
    }
    assert_eq!(test.parks(), 2);
    close(a);
    close(b);
}

#[test]
fn select_with_a_count_beyond_its_sets() {
    let test = Test::new();
    let (a, b) = tcp();
    // On the heap, so that a tool would see a read past its end.
    // SAFETY: all zeros is an empty set; the kernel looks at no more than its table holds.
    unsafe {
        let mut set: Box<libc::fd_set> = Box::new(std::mem::zeroed());
        libc::FD_SET(b, &mut *set);
        let peer = soon(move || ORIGINAL.send(a, b"x", 0));
        assert_eq!(poll::select(1 << 20, &mut *set, null_mut(), null_mut(), null_mut()), 1);
        assert!(libc::FD_ISSET(b, &*set));
        peer.join().unwrap();
    }
    assert_eq!(test.parks(), 1);
    close(a);
    close(b);
}

#[test]
fn another_loops_epoll() {
    let parks = both(|hooked| {
        let (a, b) = tcp();
        // SAFETY: valid events throughout.
        unsafe {
            let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
            let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 42 };
            assert_eq!(libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, b, &mut event), 0);
            let wait = if hooked { poll::epoll_wait } else { libc::epoll_wait };
            let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
            let mut call = |timeout| {
                let result = outcome(wait(epoll, events.as_mut_ptr(), 4, timeout) as isize);
                (result, { events[0].u64 })
            };
            let mut seen = vec![call(0), call(10)];
            for _ in 0..3 {
                let peer = soon(move || ORIGINAL.send(a, b"x", 0));
                seen.push(call(-1));
                seen.push(call(-1)); // level-triggered: still ready
                peer.join().unwrap();
                ORIGINAL.recv(b, 9, 0);
            }
            // One that is ready when it is added wakes the wait, too.
            let again = soon(move || {
                ORIGINAL.send(b, b"y", 0);
                let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 43 };
                libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, a, &mut event)
            });
            seen.push(call(-1));
            assert_eq!(again.join().unwrap(), 0);
            [a, b, epoll].into_iter().for_each(close);
            assert_eq!((wait(epoll, events.as_mut_ptr(), 4, -1), host::errno()), (-1, libc::EBADF));
            seen
        }
    });
    assert_eq!(parks, 5);
}

static SEEN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

extern "C" fn handler(_: i32) {
    SEEN.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
}

#[test]
fn a_signal_that_only_the_mask_lets_in() {
    let test = Test::new();
    let (a, b) = tcp();
    // SAFETY: valid sets; the handler only counts; the thread waits for the one that signals.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        spindle_reactor::signals::action(libc::SIGUSR2, Some(&action), None);
        let mut blocked: libc::sigset_t = std::mem::zeroed();
        libc::sigaddset(&mut blocked, libc::SIGUSR2);
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, &blocked, &mut before);
        let me = libc::pthread_self() as usize;
        let kill = move || libc::pthread_kill(me as _, libc::SIGUSR2);
        let mut one = pollfd { fd: b, events: POLLIN, revents: 0 };
        let time = timespec { tv_sec: 5, tv_nsec: 0 };

        let other = soon(kill);
        assert_eq!((poll::ppoll(&mut one, 1, &time, &before), host::errno()), (-1, libc::EINTR));
        other.join().unwrap();
        test.turn(); // it was caught outside a park: it interrupts no later one

        let other = soon(kill);
        let mut set: libc::fd_set = std::mem::zeroed();
        libc::FD_SET(b, &mut set);
        let result = poll::pselect(b + 1, &mut set, null_mut(), null_mut(), &time, &before);
        assert_eq!((result, host::errno()), (-1, libc::EINTR));
        other.join().unwrap();
        test.turn(); // it was caught outside a park: it interrupts no later one

        let other = soon(kill);
        let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        let mut event = libc::epoll_event { events: 0, u64: 0 };
        assert_eq!((poll::epoll_pwait(epoll, &mut event, 1, 5000, &before), host::errno()), (-1, libc::EINTR));
        other.join().unwrap();
        assert_eq!(SEEN.load(std::sync::atomic::Ordering::SeqCst), 3);
        close(epoll);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, null_mut());
        test.turn();
        // The thread's own mask is as none.
        one.revents = 0;
        let short = timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        assert_eq!(poll::ppoll(&mut one, 1, &short, &before), 0);
    }
    close(a);
    close(b);
}

#[test]
fn a_connection_that_begins_is_not_a_hang_up() {
    let test = Test::new();
    let (listener, address) = listener();
    let client = socket(libc::AF_INET, libc::SOCK_STREAM);
    // Polled before it is connected, a socket hangs up; registered, its edge says so for good.
    assert_eq!(poll_all(true, &[(client, POLLIN)], -1), ((1, 0), vec![POLLHUP]));
    test.reactor().register(client, Interest::READ, spindle_reactor::Waiter(1));
    test.turn();
    let hang_up = || test.reactor().readiness(client, Interest::READ).1 & libc::EPOLLHUP as u32;
    assert_ne!(hang_up(), 0);
    assert_eq!(HOOKED.connect(client, &address), (0, 0));
    test.turn();
    assert_eq!(hang_up(), 0);
    assert_eq!(poll_all(true, &[(client, POLLIN)], 5), ((0, 0), vec![0]));
    assert_eq!(poll_all(true, &[(client, POLLOUT | POLLIN)], 5), ((1, 0), vec![POLLOUT]));
    close(client);
    close(listener);
}
