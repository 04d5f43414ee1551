//! Connecting, accepting, and messages with descriptors: hooked and unhooked alike.

mod common;
mod sockets;

use common::Test;
use libc::{c_int, iovec, msghdr};
use sockets::*;
use spindle_interpose::hooks::{fd, net};
use spindle_interpose::host::Wake;
use spindle_reactor::{FdKind, Interest};

fn both<T: PartialEq + std::fmt::Debug>(scenario: impl Fn(&Calls) -> T) -> usize {
    let test = Test::new();
    let expected = test.outside(|| scenario(&ORIGINAL));
    assert_eq!(test.parks(), 0);
    assert_eq!(scenario(&HOOKED), expected);
    test.parks()
}

fn is_blocking(fd: c_int) -> bool {
    // SAFETY: a system call without pointers.
    unsafe { libc::fcntl(fd, libc::F_GETFL) & libc::O_NONBLOCK == 0 }
}

#[test]
fn connect_to_a_listener() {
    both(|calls| {
        let (listener, address) = listener();
        let client = socket(libc::AF_INET, libc::SOCK_STREAM);
        let outcome = (
            calls.connect(client, &address),
            is_blocking(client),
            calls.connect(client, &address), // EISCONN
        );
        close(client);
        close(listener);
        outcome
    });
}

#[test]
fn connect_refused() {
    both(|calls| {
        let (listener, address) = listener();
        close(listener);
        let client = socket(libc::AF_INET, libc::SOCK_STREAM);
        let refused = calls.connect(client, &address);
        let again = calls.connect(client, &address);
        let blocking = is_blocking(client);
        close(client);
        (refused, again, blocking)
    });
}

/// A listener whose queue is full, with the one that fills it: a further connection stays undecided.
fn full_listener() -> (c_int, Address, c_int) {
    let fd = socket(libc::AF_INET, libc::SOCK_STREAM);
    let address = listen(fd, &Address::loopback(), 0);
    let one = socket(libc::AF_INET, libc::SOCK_STREAM);
    assert_eq!(ORIGINAL.connect(one, &address), (0, 0));
    (fd, address, one)
}

#[test]
fn connect_that_takes_its_time() {
    let parks = both(|calls| {
        let (listener, address, waiting) = full_listener();
        let client = socket(libc::AF_INET, libc::SOCK_STREAM);
        let peer = soon(move || ORIGINAL.accept(listener).0);
        let connected = calls.connect(client, &address);
        let again = calls.connect(client, &address);
        close(peer.join().unwrap() as c_int);
        close(waiting);
        close(client);
        close(listener);
        (connected, again)
    });
    assert!(parks > 0);
}

#[test]
fn connect_timeout_and_cancellation_leave_it_going_on() {
    let parks = both(|calls| {
        let (listener, address, waiting) = full_listener();
        let client = socket(libc::AF_INET, libc::SOCK_STREAM);
        set_timeout(client, libc::SO_SNDTIMEO, 40);
        let timed_out = calls.connect(client, &address);
        set_timeout(client, libc::SO_SNDTIMEO, 0);
        set_nonblocking(client, true);
        let under_way = ORIGINAL.connect(client, &address);
        close(waiting);
        close(client);
        close(listener);
        (timed_out, under_way)
    });
    assert_eq!(parks, 1);
    let test = Test::new();
    let (listener, address, waiting) = full_listener();
    let client = socket(libc::AF_INET, libc::SOCK_STREAM);
    test.inject(1, Wake::Cancelled);
    assert_eq!(HOOKED.connect(client, &address), (-1, libc::ECANCELED));
    assert!(is_blocking(client));
    set_nonblocking(client, true);
    assert_eq!(ORIGINAL.connect(client, &address), (-1, libc::EALREADY));
    close(waiting);
    close(client);
    close(listener);
}

#[test]
fn unix_connect_waits_for_room() {
    let parks = both(|calls| {
        let listener = socket(libc::AF_UNIX, libc::SOCK_STREAM);
        let name = format!("spindle-full-{}-{}", std::process::id(), calls.name);
        let address = listen(listener, &Address::unix(&name), 0);
        let first = socket(libc::AF_UNIX, libc::SOCK_STREAM);
        let outcome_1 = calls.connect(first, &address);
        let peer = soon(move || ORIGINAL.accept(listener).0);
        let second = socket(libc::AF_UNIX, libc::SOCK_STREAM);
        let outcome_2 = calls.connect(second, &address);
        close(peer.join().unwrap() as c_int);
        set_timeout(first, libc::SO_SNDTIMEO, 30);
        let third = socket(libc::AF_UNIX, libc::SOCK_STREAM);
        set_timeout(third, libc::SO_SNDTIMEO, 30);
        let outcome_3 = calls.connect(third, &address);
        let blocking = is_blocking(third);
        [listener, first, second, third].into_iter().for_each(close);
        (outcome_1, outcome_2, outcome_3, blocking)
    });
    assert!(parks > 1);
}

#[test]
fn nonblocking_connect() {
    both(|calls| {
        let (listener, address, waiting) = full_listener();
        let client = socket(libc::AF_INET, libc::SOCK_STREAM | libc::SOCK_NONBLOCK);
        let outcome = (calls.connect(client, &address), calls.connect(client, &address));
        close(waiting);
        close(client);
        close(listener);
        outcome
    });
}

#[test]
fn connect_on_what_is_no_stream() {
    let parks = both(|calls| {
        let (receiver, address) = udp();
        let sender = socket(libc::AF_INET, libc::SOCK_DGRAM);
        // SAFETY: a plain open.
        let file = unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC) };
        let outcome = (calls.connect(sender, &address), calls.connect(file, &address), calls.connect(-1, &address));
        [receiver, sender, file].into_iter().for_each(close);
        outcome
    });
    assert_eq!(parks, 0);
}

#[test]
fn a_shared_socket_connects_on_a_worker() {
    let test = Test::new();
    let (listener, address) = listener();
    let client = socket(libc::AF_INET, libc::SOCK_STREAM);
    test.reactor().mark_descriptions_shared();
    assert_eq!(HOOKED.connect(client, &address), (0, 0));
    assert_eq!(test.parks(), 1);
    let refused = socket(libc::AF_INET, libc::SOCK_STREAM);
    close(listener);
    assert_eq!(HOOKED.connect(refused, &address), (-1, libc::ECONNREFUSED));
    close(client);
    close(refused);
}

#[test]
fn accept_waits() {
    for shared in [false, true] {
        let test = Test::new();
        let (listener, address) = listener();
        if shared {
            test.reactor().mark_descriptions_shared();
        }
        let peer = soon(move || {
            let client = socket(libc::AF_INET, libc::SOCK_STREAM);
            (ORIGINAL.connect(client, &address), client)
        });
        // SAFETY: all zeros is a valid storage.
        let mut storage: libc::sockaddr_in = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&storage) as libc::socklen_t;
        // SAFETY: storage and length are valid.
        let server = unsafe { net::accept4(listener, (&raw mut storage).cast(), &mut length, libc::SOCK_NONBLOCK) };
        let (connected, client) = peer.join().unwrap();
        assert_eq!(connected, (0, 0));
        assert!(server >= 0 && is_blocking(listener) && !is_blocking(server));
        assert_eq!((storage.sin_family, length), (libc::AF_INET as _, 16));
        assert_ne!(storage.sin_port, 0);
        assert_eq!(test.parks(), if shared { 2 } else { 1 });
        assert_eq!(test.reactor().kind(server), FdKind::Tcp);
        // What it was told needs no waiting.
        assert_eq!(HOOKED.recv(server, 1, 0), (-1, libc::EAGAIN, vec![]));
        [listener, client, server].into_iter().for_each(close);
    }
}

#[test]
fn accept_in_every_mode() {
    let parks = both(|calls| {
        let (listener, address) = listener();
        set_timeout(listener, libc::SO_RCVTIMEO, 30);
        let timed_out = calls.accept(listener);
        let client = socket(libc::AF_INET, libc::SOCK_STREAM);
        ORIGINAL.connect(client, &address);
        let (server, error) = calls.accept(listener);
        let nonblocking = if calls.name == "hooked" {
            // SAFETY: a call without pointers.
            unsafe { fd::fcntl(listener, libc::F_SETFL, libc::O_NONBLOCK as usize) }
        } else {
            set_nonblocking(listener, true);
            0
        };
        let none = calls.accept(listener);
        // A TCP connection inherits its listener's timeouts.
        let inherited = calls.recv(server as c_int, 1, 0);
        [listener, client, server as c_int].into_iter().for_each(close);
        (timed_out, server > 0, error, nonblocking, none, inherited)
    });
    assert_eq!(parks, 2);
}

#[test]
fn accept_is_cancelled_or_the_listener_closed() {
    let test = Test::new();
    let (first, _) = listener();
    test.inject(1, Wake::Cancelled);
    assert_eq!(HOOKED.accept(first), (-1, libc::ECANCELED));
    // SAFETY: the test's own descriptor.
    test.at_park(1, move || assert_eq!(unsafe { fd::close(first) }, 0));
    assert_eq!(HOOKED.accept(first), (-1, libc::EBADF));
}

#[repr(align(8))]
struct Control([u8; 64]);

/// Sends `bytes` in two vectors with a descriptor; the outcome.
fn send_with_fd(calls: &Calls, to: c_int, bytes: &[u8], fd: c_int) -> (isize, i32) {
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    let mut vectors = [head, tail].map(|part| iovec { iov_base: part.as_ptr() as *mut _, iov_len: part.len() });
    let mut control = Control([0; 64]);
    // SAFETY: an all-zero header is valid; the control buffer is large enough and aligned.
    unsafe {
        let mut message: msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (vectors.as_mut_ptr(), 2);
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as _;
        libc::CMSG_DATA(header).cast::<c_int>().write_unaligned(fd);
        outcome((calls.sendmsg)(to, &message, 0))
    }
}

/// Receives up to `room` bytes: outcome, bytes, how many descriptors came.
fn receive_with_fds(calls: &Calls, from: c_int, room: usize, flags: c_int) -> ((isize, i32), Vec<u8>, Vec<c_int>) {
    let mut buffer = vec![0u8; room];
    let mut control = Control([0; 64]);
    let mut fds = Vec::new();
    let middle = room / 2;
    // SAFETY: an all-zero header is valid; the vectors and the control buffer are as long as they say.
    let result = unsafe {
        let base = buffer.as_mut_ptr();
        let mut vectors = [
            iovec { iov_base: base.cast(), iov_len: middle },
            iovec { iov_base: base.add(middle).cast(), iov_len: room - middle },
        ];
        let mut message: msghdr = std::mem::zeroed();
        (message.msg_iov, message.msg_iovlen) = (vectors.as_mut_ptr(), 2);
        (message.msg_control, message.msg_controllen) = (control.0.as_mut_ptr().cast(), 64);
        let result = outcome((calls.recvmsg)(from, &mut message, flags | libc::MSG_CMSG_CLOEXEC));
        let mut header = if result.0 >= 0 { libc::CMSG_FIRSTHDR(&message) } else { std::ptr::null_mut() };
        while !header.is_null() {
            fds.push(libc::CMSG_DATA(header).cast::<c_int>().read_unaligned());
            header = libc::CMSG_NXTHDR(&message, header);
        }
        result
    };
    buffer.truncate(result.0.max(0) as usize);
    (result, buffer, fds)
}

#[test]
fn descriptors_go_with_the_first_part_only() {
    let parks = both(|calls| {
        let (a, b) = unix(libc::SOCK_STREAM);
        let bytes = pattern(3 << 20);
        let total = bytes.len();
        let peer = soon(move || {
            let (mut all, mut count) = (Vec::new(), 0);
            while all.len() < total {
                let (result, part, fds) = receive_with_fds(&ORIGINAL, b, 1 << 20, 0);
                assert!(result.0 > 0);
                all.extend(part);
                count += fds.len();
                fds.into_iter().for_each(close);
            }
            (all, count)
        });
        let sent = send_with_fd(calls, a, &bytes, 0);
        let (all, count) = peer.join().unwrap();
        assert!(all == bytes);
        close(a);
        close(b);
        (sent, count)
    });
    assert!(parks > 0);
}

#[test]
fn a_descriptor_ends_a_message() {
    for flags in [0, libc::MSG_WAITALL] {
        both(|calls| {
            let (a, b) = unix(libc::SOCK_STREAM);
            ORIGINAL.send(a, b"ab", 0);
            send_with_fd(&ORIGINAL, a, b"cd", 0);
            ORIGINAL.send(a, b"ef", 0);
            let mut seen = Vec::new();
            let mut bytes = 0;
            while bytes < 6 {
                let (result, part, fds) = receive_with_fds(calls, b, if bytes == 0 { 6 } else { 2 }, flags);
                bytes += part.len();
                seen.push((result, part, fds.len()));
                fds.into_iter().for_each(close);
            }
            close(a);
            close(b);
            seen
        });
    }
}

#[test]
fn a_short_read_of_a_unix_socket_does_not_make_it_empty() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    let peer = soon(move || ORIGINAL.send(a, b"1", 0));
    assert_eq!(HOOKED.recv(b, 9, 0).0, 1); // registered now
    peer.join().unwrap();
    send_with_fd(&ORIGINAL, a, b"ab", a);
    ORIGINAL.send(a, b"cd", 0);
    test.turn(); // one edge for both
    let (_, bytes, fds) = receive_with_fds(&HOOKED, b, 9, 0);
    assert_eq!((bytes.as_slice(), fds.len()), (b"ab".as_slice(), 1));
    assert_eq!(HOOKED.recv(b, 9, 0).2, b"cd");
    assert_eq!(test.parks(), 1);
    [a, b, fds[0]].into_iter().for_each(close);
}

#[test]
fn a_received_descriptor_is_a_new_one() {
    let test = Test::new();
    let (a, b) = unix(libc::SOCK_STREAM);
    let (c, d) = tcp();
    let low = socket(libc::AF_INET, libc::SOCK_STREAM); // fills the gap below
    assert!(low < d);
    // Known as a TCP socket, then closed where we do not see it; the number comes back as a Unix socket.
    assert_eq!(test.reactor().kind(d), FdKind::Tcp);
    assert_eq!(test.reactor().readiness(d, Interest::READ).1, 0);
    close(d);
    send_with_fd(&ORIGINAL, a, b"xy", a);
    let (_, _, fds) = receive_with_fds(&HOOKED, b, 2, 0);
    assert_eq!(fds, [d]);
    assert_eq!(test.reactor().kind(d), FdKind::Socket);
    [a, b, c, d, low].into_iter().for_each(close);
}

#[test]
fn many_messages() {
    for hooked in [false, true] {
        let test = Test::new();
        let ((a, _), (b, to_b)) = (udp(), udp());
        assert_eq!(ORIGINAL.connect(a, &to_b), (0, 0));
        let texts = [b"one".as_slice(), b"two!", b"three"];
        let mut vectors = texts.map(|t| iovec { iov_base: t.as_ptr() as *mut _, iov_len: t.len() });
        // SAFETY: an all-zero header is valid.
        let mut messages: [libc::mmsghdr; 3] = unsafe { std::mem::zeroed() };
        for (message, vector) in messages.iter_mut().zip(&mut vectors) {
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (vector, 1);
        }
        // SAFETY: three valid headers.
        let sent = unsafe {
            if hooked {
                net::sendmmsg(a, messages.as_mut_ptr(), 3, 0)
            } else {
                libc::sendmmsg(a, messages.as_mut_ptr(), 3, 0)
            }
        };
        assert_eq!((sent, messages.map(|m| m.msg_len)), (3, [3, 4, 5]));
        let mut buffers = [[0u8; 8]; 4];
        let mut vectors = buffers.each_mut().map(|b| iovec { iov_base: b.as_mut_ptr().cast(), iov_len: 8 });
        // SAFETY: an all-zero header is valid.
        let mut messages: [libc::mmsghdr; 4] = unsafe { std::mem::zeroed() };
        for (message, vector) in messages.iter_mut().zip(&mut vectors) {
            (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (vector, 1);
        }
        let one = libc::MSG_WAITFORONE;
        let at = messages.as_mut_ptr();
        let none = std::ptr::null_mut();
        // SAFETY: four valid headers.
        let got =
            unsafe { if hooked { net::recvmmsg(b, at, 4, one, none) } else { libc::recvmmsg(b, at, 4, one, none) } };
        assert_eq!((got, messages.map(|m| m.msg_len)), (3, [3, 4, 5, 0]));
        assert_eq!(&buffers[2][..5], b"three");
        assert_eq!(test.parks(), 0);
        close(a);
        close(b);
    }
}
