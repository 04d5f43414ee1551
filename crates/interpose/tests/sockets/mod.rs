//! Sockets for tests, and the same calls in two versions: libc's and the hooks.
#![allow(dead_code)] // each test binary uses a part

use libc::{c_int, c_void, msghdr, sockaddr, socklen_t};
use spindle_interpose::hooks::net;
use spindle_interpose::host;
use std::thread::JoinHandle;

pub use crate::common::soon;

type Transfer = unsafe extern "C" fn(c_int, *mut c_void, usize, c_int) -> isize;
type Output = unsafe extern "C" fn(c_int, *const c_void, usize, c_int) -> isize;

/// One version of the calls.
pub struct Calls {
    /// For messages, and to tell them apart.
    pub name: &'static str,
    recv: Transfer,
    send: Output,
    pub recvmsg: unsafe extern "C" fn(c_int, *mut msghdr, c_int) -> isize,
    pub sendmsg: unsafe extern "C" fn(c_int, *const msghdr, c_int) -> isize,
    pub connect: unsafe extern "C" fn(c_int, *const sockaddr, socklen_t) -> c_int,
    pub accept: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t) -> c_int,
    pub accept4: unsafe extern "C" fn(c_int, *mut sockaddr, *mut socklen_t, c_int) -> c_int,
}

/// libc's.
pub const ORIGINAL: Calls = Calls {
    name: "original",
    recv: libc::recv,
    send: libc::send,
    recvmsg: libc::recvmsg,
    sendmsg: libc::sendmsg,
    connect: libc::connect,
    accept: libc::accept,
    accept4: libc::accept4,
};

/// The hooks.
pub const HOOKED: Calls = Calls {
    name: "hooked",
    recv: net::recv,
    send: net::send,
    recvmsg: net::recvmsg,
    sendmsg: net::sendmsg,
    connect: net::connect,
    accept: net::accept,
    accept4: net::accept4,
};

/// A result, and `errno` if it is a failure.
pub fn outcome(result: isize) -> (isize, i32) {
    (result, if result == -1 { host::errno() } else { 0 })
}

impl Calls {
    /// `recv` of at most `room` bytes: the outcome and the bytes.
    pub fn recv(&self, fd: c_int, room: usize, flags: c_int) -> (isize, i32, Vec<u8>) {
        let mut buffer = vec![0u8; room];
        // SAFETY: the buffer has `room` bytes.
        let (result, error) = outcome(unsafe { (self.recv)(fd, buffer.as_mut_ptr().cast(), room, flags) });
        buffer.truncate(usize::try_from(result).unwrap_or(0));
        (result, error, buffer)
    }

    /// `send` of the bytes.
    pub fn send(&self, fd: c_int, bytes: &[u8], flags: c_int) -> (isize, i32) {
        // SAFETY: the slice is valid.
        outcome(unsafe { (self.send)(fd, bytes.as_ptr().cast(), bytes.len(), flags) })
    }

    /// `connect` to an address.
    pub fn connect(&self, fd: c_int, to: &Address) -> (isize, i32) {
        // SAFETY: the address is valid.
        outcome(unsafe { (self.connect)(fd, to.pointer(), to.length) } as isize)
    }

    /// `accept` without asking for the peer.
    pub fn accept(&self, fd: c_int) -> (isize, i32) {
        // SAFETY: both pointers may be null.
        outcome(unsafe { (self.accept)(fd, std::ptr::null_mut(), std::ptr::null_mut()) } as isize)
    }
}

/// A socket address.
pub struct Address {
    storage: libc::sockaddr_storage,
    /// Its length.
    pub length: socklen_t,
}

impl Address {
    /// For the pointers of the socket calls.
    pub fn pointer(&self) -> *const sockaddr {
        (&raw const self.storage).cast()
    }

    /// That a socket is bound to.
    pub fn of(fd: c_int) -> Address {
        // SAFETY: all zeros is a valid storage, which is as long as the call is told.
        unsafe {
            let mut storage: libc::sockaddr_storage = std::mem::zeroed();
            let mut length = size_of_val(&storage) as socklen_t;
            assert_eq!(libc::getsockname(fd, (&raw mut storage).cast(), &mut length), 0);
            Address { storage, length }
        }
    }

    /// The loopback address with a port that the system chooses.
    pub fn loopback() -> Address {
        // SAFETY: all zeros is a valid storage, large enough for an IPv4 address.
        unsafe {
            let mut storage: libc::sockaddr_storage = std::mem::zeroed();
            let inner = &mut *(&raw mut storage).cast::<libc::sockaddr_in>();
            inner.sin_family = libc::AF_INET as _;
            inner.sin_addr.s_addr = u32::from_be_bytes([127, 0, 0, 1]).to_be();
            Address { storage, length: size_of::<libc::sockaddr_in>() as _ }
        }
    }

    /// The abstract Unix address of that name.
    pub fn unix(name: &str) -> Address {
        // SAFETY: all zeros is a valid storage, large enough for a Unix address.
        unsafe {
            let mut storage: libc::sockaddr_storage = std::mem::zeroed();
            let inner = &mut *(&raw mut storage).cast::<libc::sockaddr_un>();
            inner.sun_family = libc::AF_UNIX as _;
            for (to, from) in inner.sun_path[1..].iter_mut().zip(name.bytes()) {
                *to = from as _;
            }
            Address { storage, length: (2 + 1 + name.len()) as _ }
        }
    }
}

/// A new socket, by libc.
pub fn socket(domain: c_int, kind: c_int) -> c_int {
    // SAFETY: a system call without pointers.
    let fd = unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, 0) };
    assert!(fd >= 0);
    fd
}

/// Binds and listens; the address.
pub fn listen(fd: c_int, at: &Address, backlog: c_int) -> Address {
    // SAFETY: the address is valid.
    unsafe {
        assert_eq!(libc::bind(fd, at.pointer(), at.length), 0);
        assert_eq!(libc::listen(fd, backlog), 0);
    }
    Address::of(fd)
}

/// A bound UDP socket and its address.
pub fn udp() -> (c_int, Address) {
    let fd = socket(libc::AF_INET, libc::SOCK_DGRAM);
    let at = Address::loopback();
    // SAFETY: the address is valid.
    assert_eq!(unsafe { libc::bind(fd, at.pointer(), at.length) }, 0);
    (fd, Address::of(fd))
}

/// A TCP listener on the loopback.
pub fn listener() -> (c_int, Address) {
    let fd = socket(libc::AF_INET, libc::SOCK_STREAM);
    let address = listen(fd, &Address::loopback(), 16);
    (fd, address)
}

/// Two connected TCP sockets.
pub fn tcp() -> (c_int, c_int) {
    let (listener, address) = listener();
    let a = socket(libc::AF_INET, libc::SOCK_STREAM);
    assert_eq!(ORIGINAL.connect(a, &address), (0, 0));
    let (b, _) = ORIGINAL.accept(listener);
    close(listener);
    (a, b as c_int)
}

/// Two connected Unix sockets.
pub fn unix(kind: c_int) -> (c_int, c_int) {
    let mut pair = [0; 2];
    // SAFETY: room for two.
    assert_eq!(unsafe { libc::socketpair(libc::AF_UNIX, kind | libc::SOCK_CLOEXEC, 0, pair.as_mut_ptr()) }, 0);
    (pair[0], pair[1])
}

/// Closes by libc, unseen by the reactor of the running test.
pub fn close(fd: c_int) {
    // SAFETY: a test's own descriptor.
    assert_eq!(unsafe { libc::close(fd) }, 0);
}

/// Closes a TCP connection with a reset.
pub fn reset(fd: c_int) {
    let linger = libc::linger { l_onoff: 1, l_linger: 0 };
    let (at, length) = ((&raw const linger).cast(), size_of_val(&linger) as socklen_t);
    // SAFETY: the option takes a linger.
    assert_eq!(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, at, length) }, 0);
    close(fd);
}

/// Sets or clears `O_NONBLOCK`, unseen.
pub fn set_nonblocking(fd: c_int, on: bool) {
    let mut value: c_int = on.into();
    // SAFETY: FIONBIO reads an int.
    assert_eq!(unsafe { libc::ioctl(fd, libc::FIONBIO, &raw mut value) }, 0);
}

/// Sets `SO_RCVTIMEO` or `SO_SNDTIMEO`, unseen.
pub fn set_timeout(fd: c_int, option: c_int, ms: i64) {
    let time = libc::timeval { tv_sec: ms / 1000, tv_usec: ms % 1000 * 1000 };
    let length = size_of_val(&time) as socklen_t;
    // SAFETY: the option takes a timeval.
    assert_eq!(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, (&raw const time).cast(), length) }, 0);
}

/// Waits until what was sent to a socket has been received.
pub fn until_received(fd: c_int) {
    let mut left: c_int = 1;
    // SAFETY: FIONREAD writes an int.
    while unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut left) } == 0 && left > 0 {
        std::thread::yield_now();
    }
}

/// Receives on another thread, when the caller waits, until the end of the stream; the bytes.
pub fn drain(fd: c_int) -> JoinHandle<Vec<u8>> {
    soon(move || {
        let mut all = Vec::new();
        loop {
            let (got, _, bytes) = ORIGINAL.recv(fd, 65536, 0);
            all.extend(bytes);
            if got <= 0 {
                return all;
            }
        }
    })
}

/// Bytes that are not all the same.
pub fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + i / 251) as u8).collect()
}
