//! The access log: requests that have ended are written by a coroutine of its own, so that no handler waits for it.

use crate::errors::{self, server_error, value_error};
use crate::helpers;
use crate::state::{Inner, Server};
use http::Version;
use spindle_php::coroutine::{self, Meaning, Scope, WaitQueue};
use spindle_php::error_log;
use spindle_server::{Entry, Event, LINES_LOST};
use spindle_zend::{Array, Instance, Owned, Str, Thrown, Value, ValueCell, exception, sys};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// How many entries may wait to be written. Further ones are lost: their number is written or reported instead.
const MOST: usize = 10_000;

/// How many bytes of what clients have sent they may have.
const MOST_BYTES: usize = 16 << 20;

/// How many of them are written to a stream in one call.
const BATCH: usize = 1_000;

/// Where the log goes, and what is still to be written.
#[derive(Default)]
pub struct Log {
    pub to: ValueCell,
    format: RefCell<String>,
    waiting: RefCell<VecDeque<Entry>>,
    waiting_bytes: Cell<usize>,
    /// How many were lost in all, and how many of them the log has not been told of.
    pub lost: Cell<u64>,
    unreported: Cell<u64>,
    /// A coroutine writes. Others wait for its end.
    is_writing: Cell<bool>,
    /// That coroutine.
    pub writing: ValueCell,
    written: WaitQueue,
}

impl Log {
    fn push(&self, entry: Entry) {
        let bytes = self.waiting_bytes.get() + entry.size();
        if self.waiting.borrow().len() < MOST && bytes <= MOST_BYTES {
            self.waiting_bytes.set(bytes);
            self.waiting.borrow_mut().push_back(entry);
        } else {
            self.record_lost(1);
        }
    }

    fn record_lost(&self, count: usize) {
        self.lost.set(self.lost.get() + count as u64);
        self.unreported.set(self.unreported.get() + count as u64);
    }

    /// Sets where it goes: an open stream, or something callable, which is called with each entry.
    ///
    /// # Errors
    /// There is no such format.
    pub fn set(&self, to: &Value, format: &str) -> Result<(), Thrown> {
        if !matches!(format, "combined" | "json" | "logfmt") {
            return Err(value_error(
                "Server::accessLog(): Argument #2 ($format) must be \"combined\", \"json\" or \"logfmt\"",
            ));
        }
        *self.format.borrow_mut() = format.to_owned();
        self.to.set(to.clone());
        Ok(())
    }
}

/// Adds a request that has ended.
///
/// # Errors
/// No coroutine can be spawned.
pub fn add(server: &Owned<Instance<Server>>, inner: &Rc<Inner>, entry: Entry) -> Result<(), Thrown> {
    server.log.push(entry);
    if server.log.is_writing.get() {
        return Ok(());
    }
    let scope = scope(inner)?;
    server.log.is_writing.set(true);
    let writing = Writing(server.clone());
    let writer = scope.spawn(move || write(&writing.0.log).map(|()| Value::NULL))?;
    server.log.writing.set(writer.object().into());
    Ok(())
}

/// The server is drained. Waits until all is written, for the few seconds that whoever reads the log may take.
///
/// # Errors
/// The coroutine was cancelled.
pub fn end(server: &Owned<Instance<Server>>, inner: &Rc<Inner>) -> Result<(), Thrown> {
    let log = &server.log;
    if !log.is_writing.get() && log.waiting.borrow().is_empty() {
        return Ok(());
    }
    let this = server.clone();
    let last = scope(inner)?.spawn(move || finish(&this.log).map(|()| Value::NULL))?;
    let ended = helpers::call("patiently", &mut [last.object().into(), log.writing.get()]);
    let lost = log.waiting.take().len();
    log.waiting_bytes.set(0);
    log.record_lost(lost);
    ended.map(drop)
}

fn scope(inner: &Rc<Inner>) -> Result<Scope, Thrown> {
    let all = Rc::downgrade(inner);
    Scope::new(move |failure| {
        if let Some(inner) = all.upgrade() {
            inner.failures.borrow_mut().push(Owned::of(failure));
            inner.wake();
        }
    })
}

/// The server does not run any more, and its core is closed: what is not yet written is written by a further coroutine, or
/// here, if the scope takes none. A failure of that is dropped: what it has not written is not written at all.
pub fn abandon(server: &Owned<Instance<Server>>, inner: &Rc<Inner>) {
    while let Some(event) = inner.core.next_event() {
        if let Event::Log(entry) = event {
            server.log.push(*entry);
        }
    }
    if !server.log.is_writing.get() && server.log.waiting.borrow().is_empty() {
        return;
    }
    let this = server.clone();
    let begun = scope(inner).and_then(|scope| scope.spawn(move || finish(&this.log).map(|()| Value::NULL)));
    if begun.is_err() {
        drop(exception::take());
        if finish(&server.log).is_err() && !exception::is_exit_in_flight() {
            drop(exception::take());
        }
    }
}

/// Tells the command how many lines no one has read.
pub fn tell(server: &Instance<Server>, inner: &Inner) {
    if let Some(board) = &inner.core.settings().board {
        board.tell(LINES_LOST, [server.log.lost.get(), error_log::lost()]);
    }
}

/// Writes what waits, after what another coroutine is writing.
///
/// # Errors
/// See [`write`].
pub fn finish(log: &Log) -> Result<(), Thrown> {
    log.written.wait_for("Server::accessLog", || (!log.is_writing.get()).then_some(()))?;
    write(log)
}

/// Ends the writing when it is dropped with the body of a coroutine, which need not have run.
struct Writing(Owned<Instance<Server>>);

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.log.is_writing.set(false);
        if coroutine::is_in_request() {
            self.0.log.written.wake_all();
        }
    }
}

/// Writes what waits. A failure is reported, and the rest is written.
///
/// # Errors
/// The coroutine is to end. Entries not yet begun wait for the next one.
fn write(log: &Log) -> Result<(), Thrown> {
    loop {
        // A stream takes many entries in one call, and a callable takes one.
        let to = log.to.get();
        let is_stream = to.type_number() == sys::IS_RESOURCE;
        let most = if is_stream { BATCH } else { 1 };
        let entries: Vec<Entry> = {
            let mut waiting = log.waiting.borrow_mut();
            let count = waiting.len().min(most);
            waiting.drain(..count).collect()
        };
        let bytes: usize = entries.iter().map(Entry::size).sum();
        log.waiting_bytes.set(log.waiting_bytes.get() - bytes);
        if entries.is_empty() {
            return Ok(());
        }
        let unreported = log.unreported.take();
        if unreported > 0 && !is_stream {
            let _ =
                server_error(&format!("{unreported} requests are not in the access log, which is written too slowly"));
            if let Some(thrown) = exception::take() {
                errors::report(&thrown);
            }
        }
        let mut all = Array::new(entries.len());
        entries.iter().for_each(|entry| all.push(to_array(entry).into()));
        let format: Value = log.format.borrow().as_str().into();
        let lost = i64::try_from(unreported).unwrap_or(i64::MAX);
        if helpers::call("log", &mut [all.into(), to, format, lost.into()]).is_err() {
            if exception::is_exit_in_flight() {
                return Err(Thrown::is_in_flight());
            }
            if is_stream {
                log.record_lost(entries.len());
            }
            if let Some(thrown) = exception::take() {
                match coroutine::meaning_of(&thrown) {
                    Meaning::Failure => errors::report(&thrown),
                    Meaning::Cancellation => {}
                    Meaning::OwnCancellation => return Err(exception::throw(thrown)),
                }
            }
        }
    }
}

fn to_array(entry: &Entry) -> Owned<Array> {
    let mut array = Array::new(16);
    let text = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(Str::new).into();
    let protocol = match entry.version {
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_10 => "HTTP/1.0",
        _ => "HTTP/1.1",
    };
    let fields: [(&str, Value); 11] = [
        ("client", entry.client.0.as_str().into()),
        ("port", i64::from(entry.client.1).into()),
        ("method", entry.method.as_str().into()),
        ("target", entry.target.as_str().into()),
        ("scheme", entry.scheme.into()),
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
    let number = |number: u64| if number > 0 { i64::try_from(number).unwrap_or(i64::MAX).into() } else { Value::NULL };
    array.set_key(&"request_id".into(), entry.id.as_str().into());
    array.set_key(&"trace_id".into(), entry.trace.as_deref().map_or(Value::NULL, Value::from));
    array.set_key(&"worker".into(), number(entry.worker.into()));
    array.set_key(&"coroutine".into(), number(entry.coroutine));
    array
}
