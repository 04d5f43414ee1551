//! The access log: requests that are over are written by a coroutine of its own, so that no handler waits for it.

use crate::errors::{fails, value_error};
use crate::server::{Inner, Server};
use crate::{helpers, reply};
use http::Version;
use spindle_php::coroutine::Scope;
use spindle_server::Entry;
use spindle_zend::{Array, Instance, Owned, Str, Thrown, Value, ValueCell, exception, sys};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// How many entries may wait to be written. Further ones are lost: their number is written or reported instead.
const MOST: usize = 10_000;

/// How many of them are written to a stream at once.
const BATCH: usize = 1_000;

/// Where the log goes, and what is still to be written.
#[derive(Default)]
pub struct Log {
    pub to: ValueCell,
    format: RefCell<String>,
    waiting: RefCell<VecDeque<Entry>>,
    /// How many were lost in all, and how many of them the log has not been told of.
    pub lost: Cell<u64>,
    untold: Cell<u64>,
    /// A coroutine writes.
    is_written: Cell<bool>,
}

impl Log {
    fn loses(&self, count: usize) {
        self.lost.set(self.lost.get() + count as u64);
        self.untold.set(self.untold.get() + count as u64);
    }

    /// Sets where it goes: an open stream, or something callable, which is called with each entry.
    ///
    /// # Errors
    /// There is no such format.
    pub fn set(&self, to: &Value, format: &str) -> Result<(), Thrown> {
        if !matches!(format, "combined" | "json") {
            return Err(value_error("Server::accessLog(): Argument #2 ($format) must be \"combined\" or \"json\""));
        }
        *self.format.borrow_mut() = format.to_owned();
        self.to.set(to.clone());
        Ok(())
    }
}

/// A request is over.
///
/// # Errors
/// No coroutine can be spawned.
pub fn add(server: &Owned<Instance<Server>>, inner: &Rc<Inner>, entry: Entry) -> Result<(), Thrown> {
    let log = &server.log;
    if log.waiting.borrow().len() >= MOST {
        log.loses(1);
        return Ok(());
    }
    log.waiting.borrow_mut().push_back(entry);
    if log.is_written.replace(true) {
        return Ok(());
    }
    let all = Rc::downgrade(inner);
    let scope = Scope::new(move |failure| {
        if let Some(inner) = all.upgrade() {
            inner.failures.borrow_mut().push(Owned::of(failure));
            inner.wake();
        }
    })?;
    let writing = Writing(server.clone());
    scope.spawn(move || write(&writing.0.log).map(|()| Value::NULL))?;
    Ok(())
}

/// Ends the writing when it is dropped with the body of a coroutine, which need not have run.
struct Writing(Owned<Instance<Server>>);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.log.is_written.set(false);
    }
}

/// Writes what waits. A failure is reported, and the rest is written.
///
/// # Errors
/// The coroutine is to end. What was not begun waits for the next one.
pub fn write(log: &Log) -> Result<(), Thrown> {
    loop {
        // A stream takes many entries at once, and a callable one.
        let to = log.to.get();
        let is_stream = to.type_number() == sys::IS_RESOURCE;
        let most = if is_stream { BATCH } else { 1 };
        let entries: Vec<Entry> = {
            let mut waiting = log.waiting.borrow_mut();
            let count = waiting.len().min(most);
            waiting.drain(..count).collect()
        };
        if entries.is_empty() {
            return Ok(());
        }
        let untold = log.untold.take();
        if untold > 0 && !is_stream {
            let _ = fails(&format!("{untold} requests are not in the access log, which is written too slowly"));
            if let Some(thrown) = exception::take() {
                reply::report(&thrown);
            }
        }
        let mut all = Array::new(entries.len());
        entries.iter().for_each(|entry| all.push(to_array(entry).into()));
        let format: Value = log.format.borrow().as_str().into();
        let lost = i64::try_from(untold).unwrap_or(i64::MAX);
        if helpers::call("log", &mut [all.into(), to, format, lost.into()]).is_err() {
            if exception::is_exit_in_flight() {
                return Err(Thrown::is_in_flight());
            }
            if is_stream {
                log.loses(entries.len());
            }
            if let Some(thrown) = exception::take() {
                if thrown.is_a(spindle_php::coroutine::cancellation_exception()) {
                    return Err(exception::throw(thrown));
                }
                reply::report(&thrown);
            }
        }
    }
}

fn to_array(entry: &Entry) -> Owned<Array> {
    let mut array = Array::new(11);
    let text = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(Str::new).into();
    let protocol = match entry.version {
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    let fields: [(&str, Value); 10] = [
        ("client", entry.client.0.as_str().into()),
        ("port", i64::from(entry.client.1).into()),
        ("method", entry.method.as_str().into()),
        ("target", entry.target.as_str().into()),
        ("protocol", protocol.into()),
        ("status", i64::from(entry.status).into()),
        ("bytes", i64::try_from(entry.bytes).unwrap_or(i64::MAX).into()),
        ("duration", (entry.duration as f64 / 1e9).into()),
        ("host", text(&entry.host)),
        ("referer", text(&entry.referer)),
    ];
    for (name, value) in fields {
        array.set_key(&name.into(), value);
    }
    array.set_key(&"agent".into(), text(&entry.agent));
    array
}
