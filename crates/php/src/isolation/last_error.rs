//! The last error, which `error_get_last()` returns.

use super::verdicts::{Own, request};
use spindle_php_sys as sys;
use spindle_zend::{Owned, Str};
use std::ptr::null_mut;

/// The last error of a coroutine.
pub struct LastError {
    kind: i32,
    message: Owned<Str>,
    file: Option<Owned<Str>>,
    line: i32,
}

impl LastError {
    /// Takes the last error of the running coroutine, which has none then.
    #[inline(always)]
    pub fn take() -> Option<LastError> {
        let message = own(request::last_error_message().replace(null_mut()))?;
        let file = own(request::last_error_file().replace(null_mut()));
        let (kind, line) = (request::last_error_type().get(), request::last_error_lineno().get());
        Some(LastError { kind, message, file, line })
    }

    /// Takes the last error of a coroutine that is never resumed.
    pub(super) fn of_abandoned(of: &Own) -> Option<LastError> {
        let of = &of.request;
        let (kind, line) = (of.last_error_type, of.last_error_lineno);
        Some(LastError { kind, message: own(of.last_error_message)?, file: own(of.last_error_file), line })
    }

    /// Makes it the last error of the running coroutine.
    pub fn become_current(self) {
        drop(LastError::take());
        request::last_error_type().set(self.kind);
        request::last_error_message().set(self.message.into_raw().cast());
        request::last_error_file().set(self.file.map_or(null_mut(), |file| file.into_raw().cast()));
        request::last_error_lineno().set(self.line);
    }
}

/// Takes over the reference of a field of the engine, or of a copy of it that is not restored.
#[inline(always)]
pub(super) fn own(string: *mut sys::zend_string) -> Option<Owned<Str>> {
    // SAFETY: null, or a string whose reference was the field's.
    unsafe { Owned::from_raw(string.cast()) }
}
