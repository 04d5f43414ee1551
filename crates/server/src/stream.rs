//! What hyper and WebSockets read and write: a socket, or a TLS session on one.

use crate::io::Socket;
use bytes::{Buf, Bytes};
use hyper::rt::{Read, ReadBufCursor, Write};
use rustls::{ServerConfig, ServerConnection};
use std::io::{self, BufRead, ErrorKind, IoSlice};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// The data of a connection.
pub enum Stream {
    Plain(Socket),
    Tls(Box<Session>),
}

impl Stream {
    /// Reads into `buffer`. Returns how many bytes were read.
    pub fn poll_fill(&mut self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(socket) => {
                let read = socket.poll_fill(cx, buffer);
                if let Poll::Ready(Ok(count)) = read {
                    socket.on_read(count);
                }
                read
            }
            Stream::Tls(session) => session.poll_decrypted(cx, &mut |decrypted| {
                let count = decrypted.len().min(buffer.len());
                buffer[..count].copy_from_slice(&decrypted[..count]);
                count
            }),
        }
    }

    /// Returns bytes that were read, to be read next.
    pub fn put_back(&mut self, bytes: Bytes) {
        match self {
            Stream::Plain(socket) => socket.put_back(bytes),
            Stream::Tls(session) => session.read_ahead = bytes,
        }
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, buffers: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self {
            Stream::Plain(socket) => socket.poll_send(cx, buffers),
            Stream::Tls(session) => session.poll_send(cx, buffers),
        }
    }
}

impl Read for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, mut buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(socket) => Pin::new(socket).poll_read(cx, buf),
            Stream::Tls(session) => {
                let read = session.poll_decrypted(cx, &mut |decrypted| {
                    let count = decrypted.len().min(buf.remaining());
                    buf.put_slice(&decrypted[..count]);
                    count
                });
                read.map_ok(drop)
            }
        }
    }
}

impl Write for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.get_mut().poll_send(cx, &[IoSlice::new(buf)])
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(_) => Poll::Ready(Ok(())),
            Stream::Tls(session) => session.poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = match self.get_mut() {
            Stream::Plain(socket) => socket,
            Stream::Tls(session) => {
                session.close();
                ready!(session.poll_flush(cx))?;
                &session.socket
            }
        };
        socket.shutdown();
        socket.set_shut_down();
        Poll::Ready(Ok(()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll_send(cx, bufs)
    }
}

/// A TLS session, and the socket that it uses. rustls has the protocol, and does no I/O of its own.
pub struct Session {
    socket: Socket,
    tls: ServerConnection,
    /// The first byte that was received.
    first: Option<u8>,
    /// Data that was read from the socket, to be decrypted when the session's buffer has room.
    rest: Bytes,
    /// What was decrypted and taken, and then returned.
    read_ahead: Bytes,
}

/// Why a handshake failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandshakeError {
    /// The client has sent a request of HTTP without TLS.
    PlainHttp,
    /// What the client has sent is refused. The alert that tells it why is still to be sent.
    Refused,
    /// The client is gone.
    Gone,
}

/// How often a session reads from its socket in one call, if nothing of what comes is for its user: then others have their turn.
const READS: usize = 16;

impl Session {
    /// Returns a session that is to begin.
    ///
    /// # Errors
    /// There are no random numbers.
    pub fn new(socket: Socket, config: Arc<ServerConfig>) -> Result<Session, rustls::Error> {
        Ok(Session {
            socket,
            tls: ServerConnection::new(config)?,
            first: None,
            rest: Bytes::new(),
            read_ahead: Bytes::new(),
        })
    }

    /// Continues the handshake. Ready: it is complete, or has failed.
    pub fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), HandshakeError>> {
        loop {
            if ready!(self.poll_flush(cx)).is_err() {
                return Poll::Ready(Err(HandshakeError::Gone));
            }
            if !self.tls.is_handshaking() {
                return Poll::Ready(Ok(()));
            }
            match ready!(self.poll_receive(cx)) {
                Ok(0) => return Poll::Ready(Err(HandshakeError::Gone)),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    // A record of a handshake begins with 22.
                    let is_http = self.first.is_some_and(|first| first.is_ascii_uppercase());
                    return Poll::Ready(Err(if is_http { HandshakeError::PlainHttp } else { HandshakeError::Refused }));
                }
                Err(_) => return Poll::Ready(Err(HandshakeError::Gone)),
            }
        }
    }

    /// Returns `true` if HTTP/2 was agreed on.
    pub fn is_h2(&self) -> bool {
        self.tls.alpn_protocol() == Some(b"h2")
    }

    /// Reads from the socket, and decrypts it. Returns how many bytes were read, 0 at the end of the connection.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if !self.tls.is_handshaking() {
            return self.poll_receive_data(cx);
        }
        let mut wire = Wire { socket: &self.socket, cx };
        let count = match self.tls.read_tls(&mut RememberFirst(&mut wire, &mut self.first)) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
            read => read?,
        };
        match self.tls.process_new_packets() {
            Ok(_) => Poll::Ready(Ok(count)),
            Err(error) => Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, error))),
        }
    }

    /// Does so when the handshake is complete. rustls reads 4 KiB at a time into a buffer that each session has. So the socket is
    /// read into one that all of them share.
    fn poll_receive_data(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            let (count, decrypted) = (rest.len(), decrypt(&mut self.tls, &rest));
            return Poll::Ready(decrypted.map(|taken| {
                self.rest = rest.split_off(taken);
                count
            }));
        }
        let event_loop = Rc::clone(self.socket.event_loop());
        let mut scratch = event_loop.scratch.borrow_mut();
        let count = ready!(self.socket.poll_fill(cx, &mut scratch[..]))?;
        if count == 0 {
            return Poll::Ready(self.tls.read_tls(&mut io::empty()));
        }
        let taken = decrypt(&mut self.tls, &scratch[..count])?;
        self.rest = Bytes::copy_from_slice(&scratch[taken..count]);
        Poll::Ready(Ok(count))
    }

    /// Gives decrypted data to `take`, which returns how much it has taken. An empty piece stands for the end.
    fn poll_decrypted(
        &mut self,
        cx: &mut Context<'_>,
        take: &mut dyn FnMut(&[u8]) -> usize,
    ) -> Poll<io::Result<usize>> {
        if !self.read_ahead.is_empty() {
            let count = take(&self.read_ahead);
            self.read_ahead.advance(count);
            return Poll::Ready(Ok(count));
        }
        for _ in 0..READS {
            // The socket may have nothing more, while there still is what was decrypted.
            let mut reader = self.tls.reader();
            match reader.fill_buf() {
                Ok(decrypted) => {
                    let count = take(decrypted);
                    reader.consume(count);
                    self.socket.on_read(count);
                    return Poll::Ready(Ok(count));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
            let received = self.poll_receive(cx);
            // Answers of the protocol, and why something is refused.
            if self.tls.wants_write() {
                let _ = self.poll_flush(cx)?;
            }
            ready!(received)?;
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_send(&mut self, cx: &mut Context<'_>, buffers: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        // No more is encrypted than the client takes.
        ready!(self.poll_flush(cx))?;
        let count = io::Write::write_vectored(&mut self.tls.writer(), buffers)?;
        match self.poll_flush(cx) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            _ => Poll::Ready(Ok(count)),
        }
    }

    /// Sends what was encrypted.
    pub fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut Wire { socket: &self.socket, cx: &mut *cx }) {
                Ok(0) => return Poll::Ready(Err(ErrorKind::WriteZero.into())),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Queues `close_notify`, which `poll_flush` sends.
    pub fn close(&mut self) {
        self.tls.send_close_notify();
    }

    /// Returns the socket, for what is not encrypted.
    pub fn into_socket(self) -> Socket {
        self.socket
    }
}

/// Decrypts as much as rustls takes in one go. Returns how many bytes it took.
fn decrypt(tls: &mut ServerConnection, bytes: &[u8]) -> io::Result<usize> {
    let mut left = bytes;
    while !left.is_empty() {
        match tls.read_tls(&mut left) {
            Ok(0) => return Ok(bytes.len()), // the client has sent `close_notify`
            Ok(_) => {}
            // The buffer of decrypted data is full.
            Err(error) if error.kind() == ErrorKind::Other => break,
            Err(error) => return Err(error),
        }
        tls.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
    }
    Ok(bytes.len() - left.len())
}

/// A socket, as rustls reads and writes it.
struct Wire<'a, 'b> {
    socket: &'a Socket,
    cx: &'a mut Context<'b>,
}

fn would_block<T>(polled: Poll<io::Result<T>>) -> io::Result<T> {
    match polled {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}

impl io::Write for Wire<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        would_block(self.socket.poll_send(self.cx, buffers))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket that remembers the first byte read.
struct RememberFirst<'a, 'b, 'c>(&'a mut Wire<'b, 'c>, &'a mut Option<u8>);

impl io::Read for RememberFirst<'_, '_, '_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = would_block(self.0.socket.poll_fill(self.0.cx, buffer))?;
        if self.1.is_none() {
            *self.1 = buffer[..count].first().copied();
        }
        Ok(count)
    }
}
