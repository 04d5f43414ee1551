//! An HTTP server that is driven by somebody else's event loop, on one thread.
//!
//! [`Server`] has connections, and hyper's state machines for them. It waits for nothing: its owner asks a [`Driver`] to
//! watch descriptors, calls [`Server::ready`] for those that are ready, and then [`Server::turn`], which does what can be
//! done at once. What concerns handlers of requests comes out as [`Event`]s, to be taken with [`Server::next_event`]: a
//! request is to be handled, a handler that waits may look again, a handler is to be cancelled. No handler is called. Requests for
//! files of a [`Root`] are answered here.
//!
//! A handler works with its [`Exchange`]: the request, whose body it pulls, and the response, whose body it pushes.
//!
//! hyper has no timeouts of its own here: each connection has a watchdog (`conn.rs`), a time at which its task is polled at
//! the latest and looks which limit has passed.

#![deny(unsafe_code)]

mod body;
mod compress;
mod conn;
mod connections;
mod discard;
mod dispatch;
mod encoding;
mod event_loop;
mod exchange;
mod exec;
mod files;
mod forwarded;
mod fragments;
mod io;
mod link;
mod listen;
mod log;
mod memory;
mod pipe;
mod proxied;
mod response;
mod server;
mod service;
mod settings;
mod shared;
mod stream;
mod targets;
mod task;
mod timer;
mod tls;
mod waiting;
mod waker;
mod ws;

pub use dispatch::{Event, Handler};
pub use encoding::{Coding, preferred};
pub use event_loop::{Direction, Driver, Key};
pub use exchange::{Exchange, Incoming, Reason};
pub use files::sending::File;
pub use files::{FileOptions, Root, is_code};
pub use forwarded::{Origin, Proxies};
pub use listen::{Address, Listener};
pub use log::Entry;
pub use pipe::Written;
pub use response::{Body, Head, refusal};
pub use server::{Server, Stats};
pub use settings::Settings;
pub use tls::{CertificateFiles, Tls, TlsError};
pub use ws::{Handshake, Message, Received, WebSocket, is_asked, offered};
