//! Sockets, as hyper reads and writes them, and what is known of their readiness.
#![allow(unsafe_code)]

use crate::conn::Connection;
use crate::event_loop::{Direction, EventLoop, Side};
use bytes::Bytes;
use hyper::rt::{Read, ReadBufCursor};
use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// A socket that was accepted.
pub struct Socket {
    fd: Rc<OwnedFd>,
    is_tcp: bool,
    event_loop: Rc<EventLoop>,
    connection: Rc<Connection>,
    read: Rc<Side>,
    write: Side,
    /// What was read ahead, to find out which protocol the client speaks.
    read_ahead: RefCell<Bytes>,
}

impl Socket {
    /// Returns the socket of a connection, in non-blocking mode.
    pub fn new(fd: OwnedFd, is_tcp: bool, connection: Rc<Connection>) -> Socket {
        let event_loop = Rc::clone(&connection.shared().event_loop);
        event_loop.driver.opened(fd.as_fd(), is_tcp);
        Socket {
            fd: Rc::new(fd),
            is_tcp,
            event_loop,
            connection,
            read: Rc::new(Side::new(Direction::Read)),
            write: Side::new(Direction::Write),
            read_ahead: RefCell::default(),
        }
    }

    /// Creates a watcher for the client closing the connection.
    pub fn hangup(&self) -> Hangup {
        Hangup {
            fd: Rc::clone(&self.fd),
            event_loop: Rc::clone(&self.event_loop),
            side: Side::new(Direction::Read),
            read: Rc::clone(&self.read),
        }
    }

    pub fn event_loop(&self) -> &Rc<EventLoop> {
        &self.event_loop
    }

    /// Returns the bytes to the socket, to be read next.
    pub fn put_back(&self, bytes: Bytes) {
        let mut ahead = self.read_ahead.borrow_mut();
        *ahead = if ahead.is_empty() { bytes } else { [bytes, ahead.split_off(0)].concat().into() };
    }

    /// Reads into a buffer of `length` bytes at `place`. Returns how many were read. When enough was read in this turn of the task, it
    /// has another one.
    fn poll_recv(&self, cx: &mut Context<'_>, place: *mut u8, length: usize) -> Poll<io::Result<usize>> {
        if !self.connection.has_read_budget() {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let fd = self.fd.as_raw_fd();
        let read = self.read.poll(&self.event_loop, self.fd.as_fd(), cx, || {
            // SAFETY: an open descriptor, and memory of this length, which the caller has borrowed for writing.
            let count = unsafe { libc::recv(fd, place.cast(), length, 0) };
            usize::try_from(count).map_err(|_| io::Error::last_os_error())
        });
        if let Poll::Ready(Ok(count)) = read {
            self.connection.spend_read(count);
        }
        // TCP only: on other sockets a read may stop short although there is more.
        if let Poll::Ready(Ok(count)) = read
            && self.is_tcp
            && count > 0
            && count < length
        {
            self.read.set_drained(&self.event_loop, self.fd.as_fd());
        }
        read
    }

    /// `count` bytes of HTTP or of a WebSocket were read.
    pub fn on_read(&self, count: usize) {
        self.connection.on_read(count);
    }

    /// All that was to be sent is sent.
    pub fn set_shut_down(&self) {
        self.connection.set_shut_down();
    }

    /// Takes at most `most` of the bytes that were read ahead.
    fn take_read_ahead(&self, most: usize) -> Bytes {
        let mut ahead = self.read_ahead.borrow_mut();
        let count = ahead.len().min(most);
        ahead.split_to(count)
    }

    /// Reads into `buffer`. Returns how many bytes were read.
    pub fn poll_fill(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let ahead = self.take_read_ahead(buffer.len());
        if !ahead.is_empty() {
            buffer[..ahead.len()].copy_from_slice(&ahead);
            return Poll::Ready(Ok(ahead.len()));
        }
        self.poll_recv(cx, buffer.as_mut_ptr(), buffer.len())
    }

    /// Writes some of the buffers. Returns how many bytes were written.
    pub fn poll_send(&self, cx: &mut Context<'_>, buffers: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        self.connection.spend_write();
        let length = buffers.iter().map(|buffer| buffer.len()).sum();
        let mut joined = [0; MAX_JOINED];
        let written = if let [one] = buffers {
            self.poll_send_one(cx, one)
        } else if let Some(joined) = joined.get_mut(..length) {
            // Copying this few bytes is cheaper than having the kernel walk a list of buffers.
            let mut at = 0;
            for buffer in buffers {
                joined[at..at + buffer.len()].copy_from_slice(buffer);
                at += buffer.len();
            }
            self.poll_send_one(cx, joined)
        } else {
            self.poll_send_list(cx, buffers)
        };
        match &written {
            Poll::Pending => self.connection.on_write_blocked(),
            Poll::Ready(_) => self.connection.on_write(),
        }
        written
    }

    fn poll_send_one(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let fd = self.fd.as_raw_fd();
        self.write.poll(&self.event_loop, self.fd.as_fd(), cx, || {
            // SAFETY: an open descriptor, and bytes that are borrowed until the call returns.
            let count = unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
            usize::try_from(count).map_err(|_| io::Error::last_os_error())
        })
    }

    fn poll_send_list(&self, cx: &mut Context<'_>, buffers: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let fd = self.fd.as_raw_fd();
        // An `IoSlice` has the representation of an `iovec`.
        let (first, count) = (buffers.as_ptr().cast::<libc::iovec>().cast_mut(), buffers.len().min(MAX_BUFFERS));
        self.write.poll(&self.event_loop, self.fd.as_fd(), cx, || {
            // SAFETY: all zeros are a message without an address or control data.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            (message.msg_iov, message.msg_iovlen) = (first, count as _);
            // SAFETY: an open descriptor, and buffers that are borrowed until the call returns. They are only read.
            let count = unsafe { libc::sendmsg(fd, &raw const message, libc::MSG_NOSIGNAL) };
            usize::try_from(count).map_err(|_| io::Error::last_os_error())
        })
    }

    /// Tells the client that no more is sent.
    pub fn shutdown(&self) {
        // SAFETY: an open descriptor. An error means that the client is gone.
        unsafe { libc::shutdown(self.fd.as_raw_fd(), libc::SHUT_WR) };
    }
}

/// How many buffers one call writes.
const MAX_BUFFERS: usize = 64;
/// The size up to which several buffers are written as one.
const MAX_JOINED: usize = 1024;

impl Drop for Socket {
    fn drop(&mut self) {
        self.connection.socket_closed();
        for side in [&self.read, &self.write] {
            side.cancel(&self.event_loop, self.fd.as_raw_fd());
        }
        self.event_loop.driver.closing(self.fd.as_fd()); // this closes it, as its only owner
    }
}

/// Watches for the client closing its connection, even while there is unread data.
pub struct Hangup {
    fd: Rc<OwnedFd>,
    event_loop: Rc<EventLoop>,
    side: Side,
    /// The side by which the socket is read.
    read: Rc<Side>,
}

impl Hangup {
    /// Ready: the client has closed it.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let polled =
            self.side.poll(&self.event_loop, self.fd.as_fd(), cx, || poll_once(self.fd.as_fd(), libc::POLLRDHUP));
        polled.map(drop)
    }

    /// Returns `true` if a read waits for data.
    pub fn is_read_awaited(&self) -> bool {
        self.read.is_waiting()
    }

    /// Returns `true` if there is unread data. The next read takes it, although no wait has ended.
    pub fn has_unread(&self) -> bool {
        let mut byte = 0_u8;
        // SAFETY: an open descriptor, and memory of one byte.
        let count =
            unsafe { libc::recv(self.fd.as_raw_fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        if count > 0 {
            self.read.set_ready();
        }
        count > 0
    }

    /// Makes closing the socket reset the connection, so that what was sent does not look complete.
    pub fn reset_on_close(&self) {
        let at_once = libc::linger { l_onoff: 1, l_linger: 0 };
        // SAFETY: an open descriptor, and an option of this size. For a Unix socket it has no effect.
        unsafe {
            libc::setsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const at_once).cast(),
                size_of::<libc::linger>() as libc::socklen_t,
            )
        };
    }
}

impl Drop for Hangup {
    fn drop(&mut self) {
        self.side.cancel(&self.event_loop, self.fd.as_raw_fd());
    }
}

impl Read for Socket {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let ahead = this.take_read_ahead(buf.remaining());
        let is_ahead = !ahead.is_empty();
        if is_ahead {
            buf.put_slice(&ahead);
            if buf.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            // In one piece with the rest of the head: for a part, hyper doubles its buffer for the life of the connection.
        }
        // SAFETY: bytes of it are only written by `recv`.
        let room = unsafe { buf.as_mut() };
        let (place, length) = (room.as_mut_ptr().cast(), room.len());
        match this.poll_recv(cx, place, length) {
            Poll::Ready(Ok(count)) => {
                // SAFETY: `recv` has written `count` bytes.
                unsafe { buf.advance(count) };
                this.on_read(count);
                Poll::Ready(Ok(()))
            }
            // An end or an error means that the client is gone, and will be found again.
            _ if is_ahead => Poll::Ready(Ok(())),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// Prepares a listening TCP socket: its connections send without delay, and the kernel's queue is as long as the system allows.
pub fn prepare_tcp_listener(fd: BorrowedFd<'_>) -> io::Result<()> {
    let one: libc::c_int = 1;
    // SAFETY: an open descriptor, and an option of an integer's size.
    let set = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_NODELAY,
            (&raw const one).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    // SAFETY: a bound socket; the system limits the number.
    let listens = unsafe { libc::listen(fd.as_raw_fd(), 4096) };
    if set != 0 || listens != 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Checks that something can be read, or accepted.
///
/// # Errors
/// `WouldBlock`: there is nothing.
pub fn is_readable(fd: BorrowedFd<'_>) -> io::Result<()> {
    poll_once(fd, libc::POLLIN)
}

/// Checks that something can be written.
///
/// # Errors
/// `WouldBlock`: not yet.
pub fn is_writable(fd: BorrowedFd<'_>) -> io::Result<()> {
    poll_once(fd, libc::POLLOUT)
}

fn poll_once(fd: BorrowedFd<'_>, events: libc::c_short) -> io::Result<()> {
    let mut one = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    let found = unsafe { libc::poll(&raw mut one, 1, 0) };
    if found == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(()) }
}

/// A copy of a listening socket's descriptor.
pub struct Copied {
    /// The copy.
    pub fd: OwnedFd,
    /// It is a Unix socket, not a TCP socket.
    pub is_unix: bool,
}

fn socket_option(fd: RawFd, option: libc::c_int) -> io::Result<libc::c_int> {
    let (mut value, mut length): (libc::c_int, _) = (0, size_of::<libc::c_int>() as libc::socklen_t);
    // SAFETY: any number, and a place of an integer's size.
    let got = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut value).cast(), &raw mut length) };
    if got == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

/// Returns a copy of the descriptor of a socket that listens.
///
/// # Errors
/// It is not open, or does not listen.
pub fn duplicate_listener(fd: RawFd) -> io::Result<Copied> {
    if socket_option(fd, libc::SO_ACCEPTCONN)? == 0 {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let is_unix = match socket_option(fd, libc::SO_DOMAIN)? {
        libc::AF_UNIX => true,
        libc::AF_INET | libc::AF_INET6 => false,
        _ => return Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT)),
    };
    // SAFETY: a system call without pointers.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor without another owner.
    let fd = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(copy) };
    Ok(Copied { fd, is_unix })
}

/// Keeps a descriptor from the programs that this process starts, if it is open.
pub fn set_close_on_exec(fd: RawFd) {
    // SAFETY: a system call without pointers.
    unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
}

/// Closes the socket that [`duplicate_listener`] has copied.
pub fn close_original(fd: RawFd) {
    // SAFETY: a system call without pointers. The caller's owner has left the descriptor to this process for this use.
    unsafe { libc::close(fd) };
}
