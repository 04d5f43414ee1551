//! The body of a request, received whole before a script begins: a process of PHP is not kept waiting for a slow client, and the length is
//! known. What is larger than a piece lies in a file that has no name.

use super::call::{Call, Stop};
use crate::event_loop::{EventLoop, Job};
use crate::exchange::Incoming;
use crate::files::sending::{File, Sending};
use bytes::Bytes;
use http::StatusCode;
use rustix::fs::fstat;
use std::future::poll_fn;
use std::io::{self, Write};
use std::rc::Rc;
use std::task::{Context, Poll};

/// How much of a body is in memory.
const PIECE: usize = 256 << 10;

/// A body.
pub enum Body {
    Memory(Bytes),
    File(Rc<Sending>),
}

impl Body {
    /// Returns how many bytes are left.
    pub fn left(&self) -> u64 {
        match self {
            Body::Memory(bytes) => bytes.len() as u64,
            Body::File(file) => file.left(),
        }
    }

    /// Takes the next piece; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<Bytes>>> {
        match self {
            Body::Memory(bytes) if bytes.is_empty() => Poll::Ready(Ok(None)),
            Body::Memory(bytes) => Poll::Ready(Ok(Some(std::mem::take(bytes)))),
            Body::File(file) => file.poll(cx).map(|next| next.transpose().map_err(io::Error::other)),
        }
    }
}

/// Receives the body of a request.
pub async fn receive(call: &Call) -> Result<Body, Stop> {
    let exchange = &call.exchange;
    let (mut memory, mut file) = (Vec::new(), None);
    loop {
        let read = poll_fn(|cx| {
            call.check(cx)?;
            match exchange.read() {
                Incoming::Pending => Poll::Pending,
                read => Poll::Ready(Ok(read)),
            }
        });
        match read.await? {
            Incoming::Data(bytes) => {
                exchange.restart_clock(); // the time of the handler begins when it has all
                memory.extend_from_slice(&bytes);
            }
            Incoming::TooLarge => return Err(Stop::Refused(StatusCode::PAYLOAD_TOO_LARGE)),
            Incoming::Malformed => return Err(Stop::Refused(StatusCode::BAD_REQUEST)),
            Incoming::Failed => return Err(Stop::Gone),
            Incoming::End | Incoming::Pending => break,
        }
        if memory.len() >= PIECE {
            file = Some(append(call, file, std::mem::take(&mut memory)).await?);
        }
    }
    let Some(file) = file else { return Ok(Body::Memory(memory.into())) };
    let file = if memory.is_empty() { file } else { append(call, Some(file), memory).await? };
    open(call.event_loop(), file).map_err(Stop::failed)
}

fn open(event_loop: &Rc<EventLoop>, file: std::fs::File) -> io::Result<Body> {
    let stat = fstat(&file)?;
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    Ok(Body::File(Sending::new(Rc::clone(event_loop), File::new(file.into(), 0..length, &stat))))
}

/// Appends to the file, or to a new one, on another thread: that may block.
async fn append(call: &Call, file: Option<std::fs::File>, bytes: Vec<u8>) -> Result<std::fs::File, Stop> {
    let job = Job::spawn(call.event_loop(), move || -> io::Result<std::fs::File> {
        let mut file = file.map_or_else(tempfile::tempfile, Ok)?;
        file.write_all(&bytes)?;
        Ok(file)
    });
    let written = poll_fn(|cx| {
        call.check(cx)?;
        job.poll(cx).map(Ok)
    });
    match written.await? {
        Some(written) => written.map_err(Stop::failed),
        None => Err(Stop::Refused(StatusCode::SERVICE_UNAVAILABLE)),
    }
}
