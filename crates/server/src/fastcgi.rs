//! Scripts that a FastCGI server such as php-fpm runs: classic mode.
//!
//! A request for a site (`site.rs`) is passed on by a task of its own, in place of a handler: the script is found (`script.rs`), the body
//! received (`spool.rs`), a place and a connection awaited (`backend.rs`, `socket.rs`), and then the request is sent and its response read
//! (`transfer.rs`). If the client leaves, the connection is closed, as PHP notices when it prints.

pub mod backend;
pub mod call;
mod head;
mod instead;
mod params;
mod record;
pub mod script;
pub mod sendfile;
pub mod site;
mod socket;
mod spool;
mod transfer;

use backend::Entered;
use call::{Call, Stop};
use http::StatusCode;
use http::header;
use rustix::io::Errno;
use socket::Connection;
use spool::Body;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use transfer::{End, Transfer};

/// How long a server that is not there may take to come back, as when it is started again.
const ABSENT: u64 = 1_000_000_000;
/// How long it may take to accept a connection.
const CONNECTING: u64 = 10_000_000_000;
/// The pause before it is tried again.
const PAUSE: u64 = 20_000_000;

/// Answers a request.
pub async fn serve(call: Call) {
    let exchange = &call.exchange;
    match pass_on(&call).await {
        Ok(()) => return,
        Err(Stop::Gone) => {}
        Err(Stop::Refused(status)) => {
            exchange.refuse(status);
        }
        Err(Stop::Failed(status, text)) => {
            call.log(text.into_bytes());
            exchange.refuse(status);
        }
    }
    exchange.abort(); // unless it is complete
}

async fn pass_on(call: &Call) -> Result<(), Stop> {
    let mut body = spool::receive(call).await?;
    call.has_received();
    let site = &call.asked.site;
    let _entered = enter(call).await?;
    call.exchange.restart_clock();
    let place = params::Place {
        root: &site.root,
        name: &call.asked.script.name,
        prefix: &site.prefix,
        info: &call.asked.script.info,
    };
    let params = params::of(&call.exchange, &place, length(call, &body));
    loop {
        let connection = match site.backend.take_kept() {
            Some(kept) => kept,
            None => connect(call).await?,
        };
        let mut transfer = Transfer::new(call, connection, &params, &mut body);
        match poll_fn(|cx| transfer.poll(cx)).await {
            Ok(instead) => {
                site.backend.keep(transfer.connection);
                return match instead {
                    Some(head) => instead::send(call, head).await,
                    None => Ok(()),
                };
            }
            Err(End::Stale) => {}
            Err(End::Stop(stop)) => return Err(stop),
        }
    }
}

/// Returns the length of the body, if the request has one.
fn length(call: &Call, body: &Body) -> Option<u64> {
    let headers = &call.exchange.head().headers;
    let is_declared = headers.contains_key(header::CONTENT_LENGTH) || headers.contains_key(header::TRANSFER_ENCODING);
    (is_declared || body.left() > 0).then(|| body.left())
}

/// Waits until the server may have another request.
async fn enter(call: &Call) -> Result<Entered, Stop> {
    let mut entering = call.asked.site.backend.enter();
    let mut alarm = call.alarm(call.exchange.settings().queue_timeout);
    let entered = poll_fn(|cx| {
        call.check(cx)?;
        match Pin::new(&mut entering).poll(cx) {
            Poll::Ready(entered) => Poll::Ready(Ok(entered)),
            Poll::Pending => alarm.poll(cx).map(|()| Err(Stop::Refused(StatusCode::SERVICE_UNAVAILABLE))),
        }
    });
    entered.await
}

async fn connect(call: &Call) -> Result<Connection, Stop> {
    let backend = &call.asked.site.backend;
    let (mut absent, mut late) = (call.alarm(ABSENT), call.alarm(CONNECTING));
    loop {
        let error = match Connection::begin(call.event_loop(), &backend.peer) {
            Err(error) => error,
            Ok(connection) => {
                let connected = poll_fn(|cx| {
                    call.check(cx)?;
                    match connection.poll_connected(cx) {
                        Poll::Pending => late.poll(cx).map(|()| Ok(Err(Errno::TIMEDOUT.into()))),
                        connected => connected.map(Ok),
                    }
                });
                match connected.await? {
                    Ok(()) => return Ok(connection),
                    Err(error) => error,
                }
            }
        };
        let is_full = error.kind() == io::ErrorKind::WouldBlock;
        let is_absent = matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound);
        let mut pause = call.alarm(PAUSE);
        let waited = poll_fn(|cx| {
            call.check(cx)?;
            let is_over = match (is_full, is_absent) {
                (true, _) => late.poll(cx).is_ready(),
                (_, true) => absent.poll(cx).is_ready(),
                _ => true,
            };
            if is_over { Poll::Ready(Ok(false)) } else { pause.poll(cx).map(|()| Ok(true)) }
        });
        if !waited.await? {
            let status = if is_full { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::BAD_GATEWAY };
            return Err(Stop::Failed(status, format!("FastCGI server {}: {error}", backend.shown)));
        }
    }
}
