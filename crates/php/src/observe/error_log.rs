//! The error log, where that is the SAPI's own: standard error of the command line. A [part](crate::Part) may say how its lines look. With
//! the setting `error_log` PHP writes to a file by itself, past this.
//!
//! PHP would write to standard error wherever it is, and stand still with all coroutines while no one reads that. So a thread does.

use crate::c;
use spindle_inbox::lines::Lines;
use spindle_reactor::stderr;
use spindle_zend::{PhpStatic, Text, engine, exception};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_int};
use std::time::Duration;

/// How long a line may take to be written where the last ones were quick.
const PATIENCE: Duration = Duration::from_millis(20);

/// How long the last ones may.
const LAST: Duration = Duration::from_secs(1);

/// Makes what is written of a message, which code, the engine or an extension has logged with this severity of syslog; `None`: the
/// message as it is. Called in the middle of anything, also when memory of the engine is used up: it must use none of that.
pub type Format = fn(&[u8], c_int) -> Option<Vec<u8>>;

/// The line, without its end, that says that this many are missing in its place. Called on another thread.
pub type Missing = Box<dyn Fn(u64) -> String + Send>;

static FORMAT: PhpStatic<Cell<Option<Format>>> = PhpStatic::new(Cell::new(None));

/// What is written where a reader has to be waited for, and what its thread begins with.
static LINES: PhpStatic<RefCell<Option<Lines>>> = PhpStatic::new(RefCell::new(None));
static MISSING: PhpStatic<RefCell<Option<Missing>>> = PhpStatic::new(RefCell::new(None));

/// How many were lost by those before.
static LOST: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// What is logged now is written as it is.
static IS_WHOLE: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// From now on lines of the log look like this.
pub fn watch(format: Format, missing: Missing) {
    FORMAT.set(Some(format));
    *MISSING.borrow_mut() = Some(missing);
    c::spindle_error_log_watch(take);
}

/// From now on they look as PHP has them, and are written by PHP.
pub fn watch_no_more() {
    FORMAT.set(None);
    c::spindle_error_log_watch_no_more();
    *MISSING.borrow_mut() = None;
    if let Some(lines) = LINES.borrow_mut().take() {
        lines.finish(LAST);
        LOST.set(LOST.get() + lines.missing());
    }
}

/// How many lines were lost so far, as no one has read them.
pub fn lost() -> u64 {
    LOST.get() + LINES.borrow().as_ref().map_or(0, Lines::missing)
}

/// Writes a line to the error log, wherever that is, as it is.
pub fn write(line: &str, severity: c_int) {
    IS_WHOLE.set(true);
    c::spindle_error_log(Text::of(&exception::c_text(line)), severity);
    IS_WHOLE.set(false);
}

/// Returns the time in UTC, as in `2026-12-31T23:59:59Z`.
pub fn time() -> String {
    let mut text = [0; c::TIME];
    c::spindle_error_log_time(&mut text);
    CStr::from_bytes_until_nul(&text).map_or_else(|_| String::new(), |text| text.to_string_lossy().into_owned())
}

extern "C" fn take(message: Text<'_>, severity: c_int) -> bool {
    let format = FORMAT.get().filter(|_| !IS_WHOLE.get());
    let message = message.get().to_bytes();
    let line = format.and_then(|format| format(message, severity));
    if has_said(line.as_deref().unwrap_or(message)) {
        return true;
    }
    let Some(line) = line else { return false };
    c::spindle_error_log_pass(Text::of(&CString::new(line).unwrap_or_default()), severity);
    true
}

/// Has the thread write a line, if a reader may have to be waited for.
fn has_said(line: &[u8]) -> bool {
    if engine::sapi_name() != c"cli" || !stderr::has_reader() {
        return false;
    }
    let mut lines = LINES.borrow_mut();
    if lines.is_none() {
        let Some(missing) = MISSING.borrow_mut().take() else { return false };
        let missing = move |lost| (missing(lost) + "\n").into_bytes();
        *lines = stderr::lines(missing).ok();
    }
    lines.as_ref().is_some_and(|lines| lines.say([line, b"\n"].concat(), PATIENCE))
}
