//! A connection to a FastCGI server.

use super::backend::Peer;
use super::record::Decoder;
use crate::event_loop::{Direction, EventLoop, Side};
use crate::io::is_writable;
use bytes::{Buf, BytesMut};
use rustix::io::{Errno, read};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, send, socket_with,
    sockopt,
};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::rc::Rc;
use std::task::{Context, Poll};

/// How much is read at a time.
const PIECE: usize = 16 << 10;

/// A connection.
pub struct Connection {
    fd: OwnedFd,
    event_loop: Rc<EventLoop>,
    read: Side,
    write: Side,
    /// What has come.
    pub decoder: Decoder,
    /// It has had a request before.
    pub is_used: bool,
    /// All that was to be sent is sent, and the last request has ended.
    pub has_ended: bool,
}

impl Connection {
    /// Begins to connect. It may still have to be waited for: see [`poll_connected`](Connection::poll_connected).
    ///
    /// # Errors
    /// It is refused; or, for the socket of a file, too many wait there (`EAGAIN`).
    pub fn begin(event_loop: &Rc<EventLoop>, peer: &Peer) -> io::Result<Connection> {
        let (family, is_tcp) = match peer {
            Peer::Unix(_) => (AddressFamily::UNIX, false),
            Peer::Tcp(SocketAddr::V4(_)) => (AddressFamily::INET, true),
            Peer::Tcp(SocketAddr::V6(_)) => (AddressFamily::INET6, true),
        };
        let fd = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
        let connected = match peer {
            Peer::Unix(path) => connect(&fd, &SocketAddrUnix::new(path.as_str())?),
            Peer::Tcp(address) => {
                sockopt::set_tcp_nodelay(&fd, true)?;
                sockopt::set_socket_keepalive(&fd, true)?;
                connect(&fd, address)
            }
        };
        match connected {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(errno) => return Err(errno.into()),
        }
        event_loop.driver.opened(fd.as_fd(), is_tcp);
        Ok(Connection {
            fd,
            event_loop: Rc::clone(event_loop),
            read: Side::new(Direction::Read),
            write: Side::new(Direction::Write),
            decoder: Decoder::default(),
            is_used: false,
            has_ended: false,
        })
    }

    /// Polls until it is connected.
    pub fn poll_connected(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.write.poll(&self.event_loop, self.fd.as_fd(), cx, || {
            is_writable(self.fd.as_fd())?;
            Ok(sockopt::socket_error(&self.fd)??)
        })
    }

    /// Sends what there is, as far as possible. Ready: all is sent.
    pub fn poll_send(&self, cx: &mut Context<'_>, bytes: &mut BytesMut) -> Poll<io::Result<()>> {
        while !bytes.is_empty() {
            let sent = self
                .write
                .poll(&self.event_loop, self.fd.as_fd(), cx, || Ok(send(&self.fd, bytes, SendFlags::NOSIGNAL)?));
            match sent {
                Poll::Ready(Ok(count)) => bytes.advance(count),
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Reads some more. Ready with 0: it was closed.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let buffer = self.decoder.buffer();
        let before = buffer.len();
        buffer.resize(before + PIECE, 0);
        let result =
            self.read.poll(&self.event_loop, self.fd.as_fd(), cx, || Ok(read(&self.fd, &mut buffer[before..])?));
        let count = if let Poll::Ready(Ok(count)) = &result { *count } else { 0 };
        buffer.truncate(before + count);
        result
    }

    /// Returns `true` if nothing was heard of it while it was kept.
    pub fn is_open(&self) -> bool {
        matches!(recv(&self.fd, &mut [0; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT), Err(Errno::AGAIN))
    }

    /// Returns `true` if it can have another request.
    pub fn is_clean(&self) -> bool {
        self.has_ended && self.decoder.is_empty()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        for side in [&self.read, &self.write] {
            side.cancel(&self.event_loop, self.fd.as_raw_fd());
        }
        self.event_loop.driver.closing(self.fd.as_fd());
    }
}
