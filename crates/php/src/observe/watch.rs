//! The report on what blocks the event loop (`async.block_warning_ms`): who, where in PHP, and in which library.
//!
//! The reactor's watchdog finds it out while it happens, on a thread of its own. Reported is it by the PHP thread, once the
//! run is over, and only if it never ends by the watchdog.

use crate::isolation::state;
use crate::runtime::{
    ctx::Ctx,
    scheduler::{Core, Runtime},
};
use crate::stack::stacks;
use crate::zend::{exception, php_static::PhpStatic, zv};
use spindle_php_sys as sys;
use spindle_reactor::watchdog::{Finding, Native, Subject, Watchdog, bytes, word};
use std::cell::{Cell, RefCell};
use std::mem::offset_of;
use std::ptr::{addr_of, null_mut};
use std::time::{Duration, Instant};

/// One line is reported once in so long.
const QUIET: Duration = Duration::from_secs(1);

/// The deepest that internal functions and unnamed frames lie over the user's code.
const FRAMES: usize = 100;

/// How often it is looked again at frames that are not the same twice.
const LOOKS: usize = 8;

/// Where PHP is.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Place {
    file: String,
    line: u32,
    /// The internal function that was called there, and has not returned.
    function: String,
}

/// A line that has been reported.
struct Told {
    file: String,
    line: u32,
    at: Instant,
    /// How often it has blocked since, and for how long.
    since: (u32, u64),
}

/// The watchdog of the request.
struct Watch {
    on: Cell<bool>,
    watchdog: RefCell<Option<Watchdog<Place>>>,
    told: RefCell<Vec<Told>>,
}
static WATCH: PhpStatic<Watch> =
    PhpStatic::new(Watch { on: Cell::new(false), watchdog: RefCell::new(None), told: RefCell::new(Vec::new()) });

/// At the first `spawn`: watches if the setting wants it.
pub fn start(rt: &'static Runtime) {
    // SAFETY: read after module start.
    WATCH.on.set(unsafe { sys::spindle_settings.block_warning_ms } > 0);
    turn_ends(rt);
}

/// Nothing runs.
pub fn pause() {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref() {
        watchdog.idle();
    }
}

/// Something is about to run again.
pub fn go_on() {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref() {
        watchdog.begin();
    }
}

/// The engine may be interrupted now: the place to say where PHP code is, if that is asked.
pub fn interrupted(frame: *mut sys::zend_execute_data) {
    if let Some(watchdog) = WATCH.watchdog.borrow().as_ref()
        && watchdog.is_asked()
    {
        let mut file = null_mut();
        // SAFETY: walks the running frames.
        let line = unsafe { sys::spindle_user_position(frame, &mut file) };
        let file = if file.is_null() { String::new() } else { zv::text(file) };
        watchdog.answer(Place { file, line, function: String::new() });
    }
}

/// At the end of the request.
pub fn stop() {
    WATCH.on.set(false);
    drop(WATCH.watchdog.take());
    WATCH.told.take();
}

/// In the child of a fork, where there is no other thread. The next turn of the loop starts one.
pub fn after_fork() {
    drop(WATCH.watchdog.take());
}

/// The watchdog is told that the running coroutine has left the loop its turn.
#[inline(always)]
pub fn turn_ends(rt: &'static Runtime) {
    if WATCH.on.get() {
        run_ends(rt);
    }
}

/// The running coroutine leaves the loop its turn. If it took too long, says so.
#[cold]
fn run_ends(rt: &'static Runtime) {
    let found = WATCH.watchdog.borrow().as_ref().filter(|watchdog| watchdog.has_found()).and_then(Watchdog::take);
    if let Some((finding, elapsed)) = found {
        blocked(rt, finding, elapsed);
    }
    let there = WATCH.watchdog.borrow().is_some();
    if there {
        return go_on();
    }
    // SAFETY: read after module start.
    let limit = unsafe { sys::spindle_settings.block_warning_ms } as u64 * 1_000_000;
    match Watchdog::start(limit, PhpThread { context: stacks::running_at() }) {
        Ok(watchdog) => {
            watchdog.begin();
            WATCH.watchdog.replace(Some(watchdog));
        }
        Err(error) => {
            WATCH.on.set(false);
            report(rt, "Unknown", 0, &format!("async.block_warning_ms: no thread can be started for it: {error}"));
        }
    }
}

/// Reports what blocked, but not one line all the time.
fn blocked(rt: &'static Runtime, finding: Finding<Place>, elapsed: u64) {
    let co = rt.core.borrow().running();
    let id = rt.core.borrow().id(co);
    let this = rt.object(co);
    let mut place = finding.place;
    let mut who = format!("Coroutine #{id}");
    if co == Core::MAIN {
        who += " (the script itself)";
    } else if !this.is_null() {
        // SAFETY: a live object.
        let (file, line) = unsafe { ((*this).spawn_file, (*this).spawn_line) };
        who += &format!(" (spawned at {})", exception::place(file, line));
        if place.file.is_empty() && !file.is_null() {
            (place.file, place.line) = (zv::text(file), line); // an internal function was spawned
        }
    }
    let before = {
        let mut told = WATCH.told.borrow_mut();
        let now = Instant::now();
        match told.iter_mut().find(|told| told.line == place.line && told.file == place.file) {
            Some(told) if now - told.at < QUIET => {
                told.since.0 += 1;
                told.since.1 += elapsed;
                return;
            }
            Some(told) => {
                told.at = now;
                std::mem::take(&mut told.since)
            }
            None => {
                told.push(Told { file: place.file.clone(), line: place.line, at: now, since: (0, 0) });
                (0, 0)
            }
        }
    };
    let where_ = in_what(&place, &finding.native);
    let mut text = format!("{who} has blocked the event loop for {} ms{where_}", elapsed / 1_000_000);
    if before.0 > 0 {
        text += &format!(", and {}", since_the_last_report(before));
    }
    let file = if place.file.is_empty() { "Unknown" } else { &place.file };
    report(rt, file, place.line, &text);
}

/// At the end of the script: what the limit of one report a second has held back.
pub fn report_rest(rt: &'static Runtime) {
    let told = WATCH.told.take();
    for told in told.into_iter().filter(|told| told.since.0 > 0) {
        let text = format!("The event loop was blocked here {}", since_the_last_report(told.since));
        report(rt, &told.file, told.line, &text);
    }
}

fn since_the_last_report((times, ns): (u32, u64)) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("{times} more since the last report, {} ms in all", ns / 1_000_000)
}

/// Displays and logs a warning as PHP does, at a place of the program. Its error handler is not called: what it throws
/// would come out of a call that merely waits.
fn report(rt: &'static Runtime, file: &str, line: u32, text: &str) {
    let (file, text) = (exception::c_text(file), exception::c_text(text));
    rt.forbid_switch(); // in the middle of leaving a coroutine
    // SAFETY: two terminated texts.
    unsafe { sys::spindle_report_at(file.as_ptr(), line, text.as_ptr(), state::error_reporting()) };
    rt.allow_switch();
}

/// ` in flock() (system call flock, by php)`, as far as it is known.
fn in_what(place: &Place, native: &Native) -> String {
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

/// The PHP thread, seen from the watchdog's. All it looks at it reads through the kernel: what goes away meanwhile is no
/// fault.
struct PhpThread {
    context: usize,
}

impl Subject for PhpThread {
    type Place = Place;

    fn ask(&self) {
        // SAFETY: sets an atomic flag of the engine, as it does itself from signal handlers and other threads.
        unsafe { sys::spindle_vm_interrupt_set() };
    }

    fn look(&self) -> Place {
        let mut seen = glance();
        for _ in 0..LOOKS {
            let again = glance();
            if seen == again {
                break; // it holds still
            }
            seen = again;
        }
        seen
    }

    fn too_long(&self, finding: &Finding<Place>, elapsed: u64) -> String {
        let id = field(word(self.context).unwrap_or(0), offset_of!(Ctx, id));
        let place = &finding.place;
        format!(
            "Spindle: coroutine #{id} has been blocking the event loop for {} seconds and still does{} in {} on line {}\n",
            elapsed / 1_000_000_000,
            in_what(place, &finding.native),
            if place.file.is_empty() { "Unknown" } else { &place.file },
            place.line,
        )
    }
}

/// The innermost user code, and the internal function above it.
fn glance() -> Place {
    // SAFETY: only the address of the field is taken.
    let current = unsafe { addr_of!(sys::executor_globals.current_execute_data) };
    let mut place = Place::default();
    let mut frame = word(current as usize).unwrap_or(0);
    let mut innermost = true;
    for _ in 0..FRAMES {
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

fn field(base: usize, offset: usize) -> usize {
    if base == 0 { 0 } else { word(base.wrapping_add(offset)).unwrap_or(0) }
}

fn number(address: usize) -> u32 {
    bytes(address, size_of::<u32>()).try_into().map_or(0, u32::from_ne_bytes)
}

/// The text of a string of the engine.
fn string(address: usize) -> String {
    let length = field(address, offset_of!(sys::zend_string, len)).min(4096);
    String::from_utf8_lossy(&bytes(address.wrapping_add(offset_of!(sys::zend_string, val)), length)).into_owned()
}

/// The name of a function, with its class.
fn name(function: usize) -> String {
    let text = string(field(function, offset_of!(sys::zend_internal_function, function_name)));
    match field(function, offset_of!(sys::zend_internal_function, scope)) {
        0 => text,
        class => format!("{}::{text}", string(field(class, offset_of!(sys::zend_class_entry, name)))),
    }
}
