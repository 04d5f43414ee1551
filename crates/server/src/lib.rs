//! An HTTP server that its owner's event loop drives, on one thread.
//!
//! [`Server`] holds connections, and hyper's state machines for them. It never waits: it asks its owner, through a [`Driver`], to
//! watch descriptors. The owner calls [`Server::ready`] for those that are ready, and then [`Server::turn`], which makes progress
//! without blocking. [`Server::next_event`] returns each request that is to be handled; the owner gives it a [`Handler`], by which
//! it is woken and cancelled. Requests for files of a [`Root`] are answered here.
//!
//! These are the only two edges to the owner: `Driver`, for what the server needs, and `Handler`, for one request. Handlers
//! are called from `next_event` alone, with nothing borrowed.
//!
//! A handler works with its [`Exchange`]: the request, whose body it pulls, and the response, whose body it pushes.
//!
//! hyper's own timers are not used: a connection's task is polled at the time of its next limit at the latest (`task.rs`).

#![deny(unsafe_code)]

mod board;
mod body;
mod compress;
mod conn;
mod connections;
mod discard;
mod dispatch;
mod encoding;
mod ended;
mod event_loop;
mod exchange;
mod exec;
mod fastcgi;
mod files;
mod forwarded;
mod fragments;
mod identity;
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
mod tallies;
mod targets;
mod task;
mod timer;
mod tls;
mod uplink;
mod waiting;
mod waker;
mod ws;
pub mod zygote;

pub use board::Board;
pub use dispatch::{Event, Handler};
pub use encoding::{Coding, preferred};
pub use event_loop::{Direction, Driver, Key};
pub use exchange::{Exchange, Incoming, Reason};
pub use fastcgi::backend::Peer;
pub use fastcgi::site::{Site, SiteOptions};
pub use files::sending::File;
pub use files::{FileOptions, Root, is_code};
pub use forwarded::{Origin, Proxies};
pub use io::set_close_on_exec;
pub use listen::{Address, Listener};
pub use log::Entry;
pub use pipe::Written;
pub use response::{Body, Head, refusal};
pub use server::{Server, Stats};
pub use settings::{LogFormat, Settings};
pub use tallies::LINES_LOST;
pub use tls::{CertificateFiles, Tls, TlsError};
pub use uplink::{LONGEST_MESSAGE, LONGEST_NAME, Rest, Told, Uplink};
pub use ws::{Handshake, Message, Received, WebSocket, is_asked, offered};
