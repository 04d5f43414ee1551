//! The API for authors of extensions: the functions of `include/spindle.h`, which says what each promises, and the table by which
//! extensions find them.
//!
//! They take the road of hooked calls: `Host` begins a wait and parks, and `host::current_host` says whether that may be. What
//! other threads wake goes through the event loop's inbox (`wakes`).
//!
//! C code calls these functions anywhere, so each begins with the question whether it is on PHP's thread, in a request. Where it is
//! not, the function does nothing and says so. A panic would abort the process, as everywhere below C code.

mod arguments;
mod coroutines;
mod locals;
mod waits;
mod wakes;

use crate::handles::declared;
use crate::runtime::{gate, request};
use arguments::text;
use spindle_php_sys as sys;
use spindle_zend::globals;
use std::ffi::c_char;
use std::mem::offset_of;

/// The table. Extensions find it by this name.
#[unsafe(export_name = "spindle_api")]
pub static TABLE: sys::spindle_api = sys::spindle_api {
    size: size_of::<sys::spindle_api>() as u32,
    version: sys::SPINDLE_API_VERSION,
    can_park: Some(waits::can_park),
    current: Some(coroutines::current),
    spawn: Some(coroutines::spawn),
    spawn_c: Some(coroutines::spawn_c),
    await_: Some(coroutines::await_result),
    begin_wait: Some(waits::begin_wait),
    park: Some(waits::park),
    wake: Some(wakes::wake),
    wait_fd: Some(waits::wait_fd),
    sleep: Some(waits::sleep),
    job: Some(waits::job),
    forbid: Some(forbid),
    allow: Some(allow),
    cancelled: Some(coroutines::cancelled),
    throw_pending: Some(coroutines::throw_pending),
    local: Some(locals::local),
    declare: Some(declare),
};

/// Compares the layout with that of version 1, which never changes: extensions that were built with it call by these offsets.
macro_rules! frozen {
    ($($field:ident at $offset:literal,)*) => {
        const _: () = {
            $(assert!(offset_of!(sys::spindle_api, $field) == $offset);)*
        };
    };
}

frozen! {
    size at 0,
    version at 4,
    can_park at 8,
    current at 16,
    spawn at 24,
    spawn_c at 32,
    await_ at 40,
    begin_wait at 48,
    park at 56,
    wake at 64,
    wait_fd at 72,
    sleep at 80,
    job at 88,
    forbid at 96,
    allow at 104,
    cancelled at 112,
    throw_pending at 120,
    local at 128,
    declare at 136,
}

/// Returns `true` in a request, until the engine has freed its objects: what other modules call after that finds no coroutine.
fn has_objects() -> bool {
    request::is_in_request() && globals::executor(|eg| eg.active)
}

/// Forbids switches until [`allow`].
extern "C" fn forbid() {
    if request::is_in_request() {
        gate::forbid_by_extension();
    }
}

/// Ends one [`forbid`], if there is one.
extern "C" fn allow() {
    if request::is_in_request() {
        gate::allow_by_extension();
    }
}

/// Records what the calls of an extension, or of one of its functions, hold. Returns `false` if it is too late.
unsafe extern "C" fn declare(
    module: *const sys::zend_module_entry,
    function: *const c_char,
    holds: sys::spindle_holds,
) -> bool {
    // SAFETY: null, or the entry of an extension.
    let Some(module) = (unsafe { module.as_ref() }) else { return false };
    if request::is_in_request() && module.type_ != sys::MODULE_TEMPORARY as u8 {
        return false;
    }
    // SAFETY: its name is a text.
    let Some(name) = (unsafe { text(module.name) }) else { return false };
    // SAFETY: null, or a text.
    let of_function = unsafe { text(function) };
    if !function.is_null() && of_function.is_none() {
        return false;
    }
    let holds = match holds {
        sys::SPINDLE_HOLDS_ALL => declared::Holds::All,
        sys::SPINDLE_HOLDS_HANDLES => declared::Holds::Handles,
        sys::SPINDLE_HOLDS_NOTHING => declared::Holds::Nothing,
        _ => return false,
    };
    declared::declare(&name.to_ascii_lowercase(), of_function.map(str::to_ascii_lowercase), holds)
}

/// The body of a coroutine has ended, with what an extension has left in it. This may run PHP code, and wait.
#[inline]
pub fn body_ended(id: u64) {
    gate::end_sections_of_extensions();
    locals::body_ended(id);
    gate::end_sections_of_extensions(); // of what has freed its values
}

/// A coroutine has ended, and what is left of it goes.
#[inline]
pub fn ended(id: u64) {
    locals::ended(id);
}

/// The process is the child of a fork, in which only the coroutine with this id lives on.
pub fn forked(id: u64) {
    coroutines::forked(id);
    locals::forked(id);
    wakes::forked();
}

/// The request has ended; no coroutine runs again.
pub fn request_ended() {
    wakes::close();
    locals::end_all();
}
