//! The error log, where that is the SAPI's own: standard error of the command line. A [part](crate::Part) may say how its lines look. With
//! the setting `error_log` PHP writes to a file by itself, past this.

use crate::c;
use spindle_zend::{PhpStatic, Text, exception};
use std::cell::Cell;
use std::ffi::{CStr, CString, c_int};

/// Makes what is written of a message, which code, the engine or an extension has logged with this severity of syslog; `None`: the
/// message as it is. Called in the middle of anything, also when memory of the engine is used up: it must use none of that.
pub type Format = fn(&[u8], c_int) -> Option<Vec<u8>>;

static FORMAT: PhpStatic<Cell<Option<Format>>> = PhpStatic::new(Cell::new(None));

/// What is logged now is written as it is.
static IS_WHOLE: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// From now on lines of the log look like this.
pub fn watch(format: Format) {
    FORMAT.set(Some(format));
    c::spindle_error_log_watch(take);
}

/// From now on they look as PHP has them.
pub fn watch_no_more() {
    FORMAT.set(None);
    c::spindle_error_log_watch_no_more();
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
    let Some(line) = format.and_then(|format| format(message.get().to_bytes(), severity)) else { return false };
    c::spindle_error_log_pass(Text::of(&CString::new(line).unwrap_or_default()), severity);
    true
}
