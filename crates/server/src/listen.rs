//! Sockets that listen, and the task that accepts connections.

use crate::conn::{Connection, Local};
use crate::dispatch::Dispatcher;
use crate::event_loop::{Direction, Side};
use crate::fastcgi::backend::Peer;
use crate::io::{self, Socket};
use crate::task::Task;
use crate::timer::Time;
use crate::tls::Tls;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Where a server listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// `host:port`.
    Tcp(String),
    /// `unix:/path`.
    Unix(String),
    /// `fd:3`: a socket that listens already.
    Descriptor(RawFd),
    /// `taken-fd:3`: one that nothing else in this process uses. It is closed with the listener, and not passed on to other programs.
    Taken(RawFd),
}

impl Address {
    /// Returns the address that this text stands for, if it is one.
    pub fn parse(text: &str) -> Option<Address> {
        if let Some(path) = text.strip_prefix("unix:") {
            return (!path.is_empty() && !path.contains('\0')).then(|| Address::Unix(path.to_owned()));
        }
        let (kind, number): (fn(RawFd) -> Address, _) = match text.strip_prefix("taken-") {
            Some(rest) => (Address::Taken, rest.strip_prefix("fd:")),
            None => (Address::Descriptor, text.strip_prefix("fd:")),
        };
        if let Some(number) = number {
            return number.parse().ok().filter(|fd| *fd >= 0).map(kind);
        }
        let (host, port) = text.rsplit_once(':')?;
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
        let is_host = !host.is_empty() && (is_bracketed || !host.contains(':'));
        (is_host && is_port).then(|| Address::Tcp(text.to_owned()))
    }
}

impl Address {
    /// Returns where a server is that has this address.
    ///
    /// # Errors
    /// There is no such host, or it is the number of a descriptor.
    pub fn peer(&self) -> std::io::Result<Peer> {
        match self {
            Address::Unix(path) => Ok(Peer::Unix(path.clone())),
            Address::Tcp(text) => Ok(Peer::Tcp(text.to_socket_addrs()?.next().ok_or(ErrorKind::AddrNotAvailable)?)),
            Address::Descriptor(_) | Address::Taken(_) => Err(ErrorKind::InvalidInput.into()),
        }
    }
}

enum Kind {
    Tcp(TcpListener),
    /// The path is removed with the listener, by the process that has made it.
    Unix(UnixListener, Option<(String, u32)>),
}

/// A socket that listens, in non-blocking mode.
pub struct Listener {
    kind: Kind,
    text: String,
    /// Its clients are proxies, whose connections begin with a header of the PROXY protocol.
    is_proxied: bool,
}

impl Listener {
    /// Binds a socket and listens.
    ///
    /// # Errors
    /// The address is in use, does not belong to this machine, or is refused by the system for another reason.
    pub fn bind(address: &Address) -> std::io::Result<Listener> {
        let (kind, text) = match address {
            Address::Tcp(text) => {
                let addresses: Vec<_> = text.to_socket_addrs()?.collect();
                Listener::of_tcp(TcpListener::bind(&*addresses)?)?
            }
            Address::Unix(path) => {
                remove_stale(path);
                let socket = UnixListener::bind(path)?;
                (Kind::Unix(socket, Some((path.clone(), std::process::id()))), format!("unix:{path}"))
            }
            Address::Descriptor(fd) => Listener::inherited(*fd)?,
            Address::Taken(fd) => {
                let inherited = Listener::inherited(*fd)?;
                io::close_original(*fd);
                inherited
            }
        };
        match &kind {
            Kind::Tcp(socket) => socket.set_nonblocking(true)?,
            Kind::Unix(socket, _) => socket.set_nonblocking(true)?,
        }
        Ok(Listener { kind, text, is_proxied: false })
    }

    /// Binds a TCP socket and listens on a port that other processes of the same user may share in the same way.
    ///
    /// # Errors
    /// As for [`bind`](Listener::bind). Also if a socket without this option listens there, or the address is not a host and port.
    pub fn bind_shared(address: &Address) -> std::io::Result<Listener> {
        let Address::Tcp(text) = address else { return Err(ErrorKind::InvalidInput.into()) };
        let mut result = Err(ErrorKind::AddrNotAvailable.into());
        for address in text.to_socket_addrs()? {
            result = shared_socket(&address).and_then(Listener::of_tcp);
            if result.is_ok() {
                break;
            }
        }
        let (kind, text) = result?;
        Ok(Listener { kind, text, is_proxied: false })
    }

    fn of_tcp(socket: TcpListener) -> std::io::Result<(Kind, String)> {
        io::prepare_tcp_listener(socket.as_fd())?;
        let text = socket.local_addr()?.to_string();
        Ok((Kind::Tcp(socket), text))
    }

    /// Returns a socket that this process was started with. It is duplicated: the given one stays the owner's.
    fn inherited(fd: RawFd) -> std::io::Result<(Kind, String)> {
        let copy = io::duplicate_listener(fd)?;
        if copy.is_unix {
            let socket = UnixListener::from(copy.fd);
            let path = socket.local_addr().ok().and_then(|address| Some(address.as_pathname()?.display().to_string()));
            let text = path.map_or_else(|| format!("fd:{fd}"), |path| format!("unix:{path}"));
            return Ok((Kind::Unix(socket, None), text));
        }
        Listener::of_tcp(TcpListener::from(copy.fd))
    }

    /// Its clients are proxies from now on, whose connections begin with a header of the PROXY protocol. Those of others, and
    /// of proxies that are not trusted, are closed.
    pub fn expect_proxies(&mut self) {
        self.is_proxied = true;
    }

    /// Returns where it listens, with the port that the system has chosen.
    pub fn address(&self) -> &str {
        &self.text
    }

    fn accept(&self) -> std::io::Result<(OwnedFd, bool, String, u16)> {
        match &self.kind {
            Kind::Tcp(socket) => {
                let (stream, peer) = socket.accept()?;
                stream.set_nonblocking(true)?;
                Ok((stream.into(), true, peer.ip().to_canonical().to_string(), peer.port()))
            }
            Kind::Unix(socket, _) => {
                let (stream, _) = socket.accept()?;
                stream.set_nonblocking(true)?;
                Ok((stream.into(), false, String::new(), 0))
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.kind {
            Kind::Tcp(socket) => socket.as_fd(),
            Kind::Unix(socket, _) => socket.as_fd(),
        }
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener").field(&self.text).finish()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Kind::Unix(_, Some((path, process))) = &self.kind
            && *process == std::process::id()
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Returns a socket with `SO_REUSEPORT`, in non-blocking mode, which does not listen yet.
fn shared_socket(address: &SocketAddr) -> std::io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    net::bind(&socket, address)?;
    Ok(TcpListener::from(socket))
}

/// Removes a stale socket file.
fn remove_stale(path: &str) {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
        let _ = std::fs::remove_file(path);
    }
}

/// How many connections are accepted at a time.
const BATCH: usize = 16;
/// How long to wait when descriptors have run out, in nanoseconds.
const PAUSE: u64 = 100_000_000;

/// How long a worker leaves connections to others that have fewer, which may be busy, and how often it looks, in nanoseconds.
const GIVES_WAY: u64 = 5_000_000;
const LOOK: u64 = 1_000_000;

/// Accepts connections until the server drains.
pub struct Accepting {
    dispatcher: Rc<Dispatcher>,
    listener: RefCell<Option<Listener>>,
    local: Rc<Local>,
    tls: Option<Rc<Tls>>,
    side: Side,
    fd: RawFd,
    /// When it tries again after descriptors had run out.
    pause: Cell<Option<Time>>,
    /// Since when it has left connections to other workers.
    gives_way_since: Cell<Option<u64>>,
}

impl Accepting {
    /// Returns the task for a listener, whose connections use TLS if there is one.
    pub fn new(dispatcher: Rc<Dispatcher>, listener: Listener, tls: Option<Rc<Tls>>) -> Accepting {
        dispatcher.shared.event_loop.driver.opened(listener.as_fd(), false);
        let fd = listener.as_fd().as_raw_fd();
        let (address, is_proxied) = (listener.address().to_owned(), listener.is_proxied);
        let local = Rc::new(Local { address, is_tls: tls.is_some(), is_proxied });
        if let Some(board) = &dispatcher.shared.settings.board {
            board.set_accepts(true);
        }
        Accepting {
            dispatcher,
            local,
            tls,
            listener: RefCell::new(Some(listener)),
            side: Side::new(Direction::Read),
            fd,
            pause: Cell::new(None),
            gives_way_since: Cell::new(None),
        }
    }

    /// Returns `true` if a connection waits that another worker should accept. This one tries again soon.
    fn gives_way(&self, listener: &Listener, cx: &Context<'_>) -> bool {
        let shared = &self.dispatcher.shared;
        let Some(board) = &shared.settings.board else { return false };
        if !board.is_ahead(self.dispatcher.connections.count()) {
            self.gives_way_since.set(None);
            return false;
        }
        let now = shared.event_loop.now.get();
        let since = self.gives_way_since.get().unwrap_or(now);
        if now >= since + GIVES_WAY || io::is_readable(listener.as_fd()).is_err() {
            return false;
        }
        self.gives_way_since.set(Some(since));
        self.pause_until(now + LOOK, cx);
        true
    }

    fn pause_until(&self, time: u64, cx: &Context<'_>) {
        self.clear_pause();
        self.pause.set(Some(self.dispatcher.shared.event_loop.timers.add(time, cx.waker().clone())));
    }

    fn clear_pause(&self) {
        if let Some(time) = self.pause.take() {
            self.dispatcher.shared.event_loop.timers.remove(time);
        }
    }

    fn close(&self) {
        self.clear_pause();
        self.side.cancel(&self.dispatcher.shared.event_loop, self.fd);
        if let Some(listener) = self.listener.take() {
            if let Some(board) = &self.dispatcher.shared.settings.board {
                board.set_accepts(false);
            }
            self.dispatcher.shared.event_loop.driver.closing(listener.as_fd());
        }
    }
}

impl Drop for Accepting {
    fn drop(&mut self) {
        self.close();
    }
}

impl Future for Accepting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let connections = &self.dispatcher.connections;
        let shared = &self.dispatcher.shared;
        let event_loop = &shared.event_loop;
        if shared.is_draining() {
            self.close();
            return Poll::Ready(());
        }
        let listener = self.listener.borrow();
        let Some(listener) = &*listener else { return Poll::Ready(()) };
        shared.notify_on_drain(cx.waker());
        // Of workers, each takes one in turn.
        let batch = if shared.settings.board.is_some() { 1 } else { BATCH };
        for _ in 0..batch {
            if connections.count() >= shared.settings.max_connections {
                let waits = self.side.poll(event_loop, listener.as_fd(), cx, || io::is_readable(listener.as_fd()));
                if waits.is_ready() {
                    connections.close_idle();
                    shared.notify_when_free(cx.waker());
                }
                return Poll::Pending;
            }
            if self.gives_way(listener, cx) {
                return Poll::Pending;
            }
            let accepted = self.side.poll(event_loop, listener.as_fd(), cx, || match listener.accept() {
                // The client has already left: accept the next one.
                Err(error) if is_of_one_client(&error) => Err(ErrorKind::Interrupted.into()),
                // The kernel allocates a descriptor first: there may be no client at all.
                Err(error) if error.kind() != ErrorKind::WouldBlock => {
                    io::is_readable(listener.as_fd()).and(Err(error))
                }
                result => result,
            });
            match accepted {
                Poll::Pending => {
                    self.gives_way_since.set(None);
                    return Poll::Pending;
                }
                Poll::Ready(Ok((fd, is_tcp, client, port))) => {
                    shared.accepted.set(shared.accepted.get() + 1);
                    let connection = Connection::new(Rc::clone(shared), client, port, Rc::clone(&self.local));
                    let socket = Socket::new(fd, is_tcp, Rc::clone(&connection));
                    let task = Task::new(Rc::clone(&self.dispatcher), connection, socket, self.tls.clone());
                    event_loop.exec.spawn(task);
                }
                Poll::Ready(Err(_)) => {
                    // Out of descriptors or memory. Nothing announces that some were freed elsewhere, so it retries.
                    connections.close_idle();
                    self.pause_until(event_loop.now.get() + PAUSE, cx);
                    shared.notify_when_free(cx.waker());
                    return Poll::Pending;
                }
            }
        }
        cx.waker().wake_by_ref(); // others first
        Poll::Pending
    }
}

fn is_of_one_client(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
        || matches!(error.raw_os_error(), Some(libc::EPROTO | libc::ENETDOWN | libc::ENETUNREACH | libc::EHOSTUNREACH))
}
