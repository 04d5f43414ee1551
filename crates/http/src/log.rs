//! The access log: requests that are over are written by a coroutine of its own, so that no handler waits for it.

use crate::errors::value_error;
use crate::server::{Inner, Server};
use crate::{helpers, reply};
use http::Version;
use spindle_php::coroutine::Scope;
use spindle_server::Entry;
use spindle_zend::{Array, Instance, Owned, Str, Thrown, Value, ValueCell, exception};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How many entries may wait to be written. Further ones are lost: their number is written instead.
const MOST: usize = 10_000;

/// Where the log goes, and what is still to be written.
#[derive(Default)]
pub struct Log {
    pub to: ValueCell,
    format: RefCell<String>,
    waiting: RefCell<Vec<Entry>>,
    lost: Cell<u64>,
    /// A coroutine writes.
    is_written: Cell<bool>,
}

impl Log {
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
        log.lost.set(log.lost.get() + 1);
        return Ok(());
    }
    log.waiting.borrow_mut().push(entry);
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
    let server = server.clone();
    scope.spawn(move || {
        let written = write(&server.log);
        server.log.is_written.set(false);
        written.map(|()| Value::NULL)
    })?;
    Ok(())
}

/// Writes what waits. A failure is reported, and the rest is written.
///
/// # Errors
/// The coroutine is to end.
pub fn write(log: &Log) -> Result<(), Thrown> {
    loop {
        let entries = log.waiting.take();
        let lost = log.lost.take();
        if entries.is_empty() && lost == 0 {
            return Ok(());
        }
        let mut all = Array::new(entries.len());
        entries.iter().for_each(|entry| all.push(to_array(entry).into()));
        let format: Value = log.format.borrow().as_str().into();
        let lost = i64::try_from(lost).unwrap_or(i64::MAX);
        if helpers::call("log", &mut [all.into(), log.to.get(), format, lost.into()]).is_err() {
            if exception::is_exit_in_flight() {
                return Err(Thrown::is_in_flight());
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
