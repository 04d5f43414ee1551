//! Reports code that blocks the event loop (`async.block_warning_ms`): which coroutine, where in PHP, and in which
//! library.
//!
//! The reactor's watchdog detects it while it happens, on a thread of its own. The PHP thread reports it once the run
//! has ended; the watchdog reports only runs that do not end.

use crate::isolation;
use crate::runtime::{
    ctx::Ctx,
    gate,
    scheduler::{Core, Runtime},
};
use crate::settings;
use crate::stack::stacks;
use spindle_reactor::watchdog::{Finding, Native, Subject, Watchdog, bytes, word};
use spindle_zend::{Frame, PhpStatic, Str, engine, sys};
use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::Write;
use std::mem::offset_of;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

/// For how long a line that was reported is not reported again.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);

/// How many frames of internal functions and unnamed code may be above user code.
const MAX_FRAMES: usize = 100;

/// How many times frames that change during the read are read again.
const MAX_READS: usize = 8;

/// A position in PHP code.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Place {
    pub(super) file: String,
    pub(super) line: u32,
    /// The running internal function that was called there, if any.
    pub(super) function: String,
}

/// A line that has been reported.
struct Reported {
    file: String,
    line: u32,
    at: Instant,
    /// How many times it has blocked since, and for how many nanoseconds.
    since: (u32, u64),
}

/// The watchdog of the request.
struct Watch {
    on: Cell<bool>,
    watchdog: RefCell<Option<Watchdog<Place>>>,
    reported: RefCell<Vec<Reported>>,
}

static WATCH: PhpStatic<Watch> =
    PhpStatic::new(Watch { on: Cell::new(false), watchdog: RefCell::new(None), reported: RefCell::new(Vec::new()) });

/// Returns the limit in milliseconds; 0 if it is off.
fn limit_ms() -> i64 {
    settings::current().block_warning_ms
}

/// Starts watching at the first `spawn`, if the setting is on.
pub fn start(rt: &'static Runtime) {
    WATCH.on.set(limit_ms() > 0);
    if WATCH.on.get() {
        log(&[
            ("watched_above_ms", Entry::Number(limit_ms() as u64)),
            ("pid", Entry::Number(std::process::id().into())),
        ]);
    }
    end_run(rt);
}

/// Pauses watching while no code runs.
pub fn pause() {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref() {
        watchdog.idle();
    }
}

/// Resumes watching when code is about to run again.
pub fn resume() {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref() {
        watchdog.begin();
    }
}

/// Answers the watchdog, if it has asked for the position of PHP code, which the engine has interrupted.
pub fn interrupted(frame: Option<Frame>) {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref()
        && watchdog.is_asked()
    {
        let (file, line) = frame.as_ref().and_then(Frame::position).unwrap_or_default();
        let file = file.map_or(String::new(), Str::to_text);
        watchdog.answer(Place { file, line, function: String::new() });
    }
}

/// Stops watching at the end of the request.
pub fn stop() {
    WATCH.on.set(false);
    drop(WATCH.watchdog.take());
    WATCH.reported.take();
}

/// Forgets the watchdog in the child of a fork, which has no other thread. The next run starts a new one.
pub fn after_fork() {
    drop(WATCH.watchdog.take());
}

/// Ends the run of the running coroutine, which yields to the event loop.
#[inline(always)]
pub fn end_run(rt: &'static Runtime) {
    if WATCH.on.get() {
        finish_run(rt);
    }
}

/// Reports the run if it took too long, and begins the next one.
#[cold]
fn finish_run(rt: &'static Runtime) {
    let found = WATCH.watchdog.borrow().as_ref().filter(|watchdog| watchdog.has_found()).and_then(Watchdog::take);
    if let Some((finding, elapsed)) = found {
        blocked(rt, finding, elapsed);
    }
    let there = WATCH.watchdog.borrow().is_some();
    if there {
        return resume();
    }
    let limit = limit_ms() as u64 * 1_000_000;
    let subject = PhpThread { context: stacks::running_at(), may_be_interrupted: !settings::jit_compiles_functions() };
    match Watchdog::start(limit, subject) {
        Ok(watchdog) => {
            watchdog.begin();
            WATCH.watchdog.replace(Some(watchdog));
        }
        Err(error) => {
            WATCH.on.set(false);
            report("Unknown", 0, &format!("async.block_warning_ms: no thread can be started for it: {error}"));
        }
    }
}

/// Reports what has blocked, but each line only once per interval.
fn blocked(rt: &'static Runtime, finding: Finding<Place>, elapsed: u64) {
    let co = rt.core.borrow().running();
    let id = rt.core.borrow().id(co);
    let this = rt.find_object(co);
    let mut place = finding.place;
    let mut name = format!("Coroutine #{id}");
    if co == Core::MAIN {
        name += " (the script itself)";
    } else if let Some(this) = this {
        name += &format!(" (spawned at {})", this.spawned_at.text());
        if let Some(file) = this.spawned_at.file().filter(|_| place.file.is_empty()) {
            (place.file, place.line) = (file.to_text(), this.spawned_at.line()); // an internal function was spawned
        }
    }
    log(&[
        ("blocked_ms", Entry::Number(elapsed / 1_000_000)),
        ("file", Entry::Text(&place.file)),
        ("line", Entry::Number(place.line.into())),
        ("function", Entry::Text(&place.function)),
        ("system_call", Entry::Text(finding.native.call.as_deref().unwrap_or_default())),
        ("library", Entry::Text(finding.native.library.as_deref().unwrap_or_default())),
        ("coroutine", Entry::Number(id)),
        ("pid", Entry::Number(std::process::id().into())),
    ]);
    let Some(before) = since_last_report(&place, elapsed) else { return };
    let where_ = in_what(&place, &finding.native);
    let mut text = format!("{name} has blocked the event loop for {} ms{where_}", elapsed / 1_000_000);
    if before.0 > 0 {
        text += &format!(", and {}", more_since_last_report(before));
    }
    let file = if place.file.is_empty() { "Unknown" } else { &place.file };
    report(file, place.line, &text);
}

/// Returns how many times and for how long this line has blocked since it was reported last; `None`, and counts this
/// time, if it is too early for another report.
fn since_last_report(place: &Place, elapsed: u64) -> Option<(u32, u64)> {
    let mut reported = WATCH.reported.borrow_mut();
    let now = Instant::now();
    match reported.iter_mut().find(|line| line.line == place.line && line.file == place.file) {
        Some(line) if now - line.at < REPORT_INTERVAL => {
            line.since.0 += 1;
            line.since.1 += elapsed;
            None
        }
        Some(line) => {
            line.at = now;
            Some(std::mem::take(&mut line.since))
        }
        None => {
            reported.push(Reported { file: place.file.clone(), line: place.line, at: now, since: (0, 0) });
            Some((0, 0))
        }
    }
}

/// Reports, at the end of the script, what the limit of one report per interval has held back.
pub fn report_rest() {
    let reported = WATCH.reported.take();
    for line in reported.into_iter().filter(|line| line.since.0 > 0) {
        let text = format!("The event loop was blocked here {}", more_since_last_report(line.since));
        report(&line.file, line.line, &text);
    }
}

fn more_since_last_report((times, ns): (u32, u64)) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("{times} more since the last report, {} ms in all", ns / 1_000_000)
}

/// Displays and logs a warning as PHP does, at a position in user code. User code's error handler is not called: its
/// exception would come out of a call that merely waits.
fn report(file: &str, line: u32, text: &str) {
    gate::forbid(); // a coroutine is being suspended
    engine::report_at(file, line, text, isolation::error_reporting());
    gate::allow();
}

enum Entry<'a> {
    Number(u64),
    Text(&'a str),
}

/// Appends a line to the file of `async.block_log`, a JSON object. Errors are ignored: a diagnostic must not disturb.
fn log(entries: &[(&str, Entry<'_>)]) {
    let path = engine::setting(c"async.block_log");
    if path.is_empty() {
        return;
    }
    let entries = entries.iter().map(|(name, value)| match value {
        Entry::Number(number) => format!("\"{name}\":{number}"),
        Entry::Text(text) => format!("\"{name}\":{}", json(text)),
    });
    let line = format!("{{{}}}\n", entries.collect::<Vec<_>>().join(","));
    // Opened each time: a child of a fork has this setting too, and no descriptor is kept that user code could close.
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// Returns a text as JSON.
fn json(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if u32::from(c) < 0x20 => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Returns ` in flock() (system call flock, by php)`, as far as it is known.
pub(super) fn in_what(place: &Place, native: &Native) -> String {
    let mut text = String::new();
    if !place.function.is_empty() {
        text += &format!(" in {}()", place.function);
    }
    if let Some(call) = &native.call {
        let library = native.library.as_deref().unwrap_or("an unknown library");
        text += &format!(" (system call {call}, by {library})");
    }
    text
}

/// The PHP thread as seen from the watchdog's thread. All its memory is read through the kernel, so memory that is
/// unmapped meanwhile causes no fault.
struct PhpThread {
    context: usize,
    /// Otherwise its place is what is seen from outside.
    may_be_interrupted: bool,
}

impl Subject for PhpThread {
    type Place = Place;

    fn ask(&self) {
        if self.may_be_interrupted {
            engine::request_interrupt(); // an atomic flag, made to be set from other threads
        }
    }

    fn inspect(&self) -> Place {
        let mut seen = read_place();
        for _ in 0..MAX_READS {
            let again = read_place();
            if seen == again {
                break; // the frames have not changed meanwhile
            }
            seen = again;
        }
        seen
    }

    fn too_long(&self, finding: &Finding<Place>, elapsed: u64) -> String {
        // Where process_vm_readv is not allowed, neither the coroutine nor the line can be read.
        let who = match field(word(self.context).unwrap_or(0), offset_of!(Ctx, id)) {
            0 => "a coroutine".to_owned(),
            id => format!("coroutine #{id}"),
        };
        let place = &finding.place;
        let at =
            if place.file.is_empty() { String::new() } else { format!(" in {} on line {}", place.file, place.line) };
        let (seconds, what) = (elapsed / 1_000_000_000, in_what(place, &finding.native));
        format!("Spindle: {who} has been blocking the event loop for {seconds} seconds and still does{what}{at}\n")
    }
}

/// Returns the innermost user code, and the internal function above it.
pub(super) fn read_place() -> Place {
    let mut place = Place::default();
    let mut frame = word(engine::current_frame_address()).unwrap_or(0);
    let mut innermost = true;
    for _ in 0..MAX_FRAMES {
        if frame == 0 {
            break;
        }
        let function = field(frame, offset_of!(sys::zend_execute_data, func));
        let kind = bytes(function, 1).first().copied().map(u32::from);
        if kind.is_some_and(|kind| kind == sys::ZEND_USER_FUNCTION || kind == sys::ZEND_EVAL_CODE) {
            let opline = field(frame, offset_of!(sys::zend_execute_data, opline));
            place.line = number(opline.wrapping_add(offset_of!(sys::zend_op, lineno)));
            place.file = string(field(function, offset_of!(sys::zend_op_array, filename)));
            break;
        }
        if std::mem::replace(&mut innermost, false) && kind == Some(sys::ZEND_INTERNAL_FUNCTION) {
            place.function = name(function);
        }
        frame = field(frame, offset_of!(sys::zend_execute_data, prev_execute_data));
    }
    place
}

pub(super) fn field(base: usize, offset: usize) -> usize {
    if base == 0 { 0 } else { word(base.wrapping_add(offset)).unwrap_or(0) }
}

fn number(address: usize) -> u32 {
    bytes(address, size_of::<u32>()).try_into().map_or(0, u32::from_ne_bytes)
}

/// Returns the text of a string of the engine.
fn string(address: usize) -> String {
    let length = field(address, offset_of!(sys::zend_string, len)).min(4096);
    String::from_utf8_lossy(&bytes(address.wrapping_add(offset_of!(sys::zend_string, val)), length)).into_owned()
}

/// Returns the name of a function, with its class.
fn name(function: usize) -> String {
    let text = string(field(function, offset_of!(sys::zend_internal_function, function_name)));
    match field(function, offset_of!(sys::zend_internal_function, scope)) {
        0 => text,
        class => format!("{}::{text}", string(field(class, offset_of!(sys::zend_class_entry, name)))),
    }
}
