//! Exceptions: made, thrown, and put aside.

use crate::{Class, Frame, Object, Owned, Str, Text, Thrown, c, globals, sys};
use std::ffi::CString;

/// How far chains of previous exceptions are followed: user code may have made a circle.
pub const CHAIN: usize = 100;

/// Returns a text for C, without the zeros that would end it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Returns a new exception of this class, from the code that runs.
pub fn new(class: Class, message: &str) -> Owned<Object> {
    c::spindle_exception_new(class, Text::of(&c_text(message)))
}

/// Returns a new exception of this class that no running code has caused: without a position and a trace.
pub fn detached(class: Class, message: &str) -> Owned<Object> {
    c::spindle_exception_apart(class, Text::of(&c_text(message)))
}

/// Throws an exception in the running code.
pub fn throw(exception: Owned<Object>) -> Thrown {
    c::spindle_throw(exception);
    Thrown::is_in_flight()
}

/// Throws a new exception of this class.
#[cold]
pub fn throw_new(class: Class, message: &str) -> Thrown {
    throw(new(class, message))
}

/// Throws an `Error`.
#[cold]
pub fn throw_error(message: &str) -> Thrown {
    c::spindle_throw_error(Text::of(&c_text(message)));
    Thrown::is_in_flight()
}

/// Returns `true` if an exception is in flight.
#[inline(always)]
pub fn is_in_flight() -> bool {
    !globals::exception().is_empty()
}

/// Returns one more reference to the exception in flight.
pub fn in_flight() -> Option<Owned<Object>> {
    globals::exception().get()
}

/// Takes the exception in flight out of the engine.
pub fn take() -> Option<Owned<Object>> {
    put(None)
}

/// Puts an exception in flight, or none, and returns the one that was. Nothing else is done: to throw one, see [`throw`].
pub fn put(exception: Option<Owned<Object>>) -> Option<Owned<Object>> {
    globals::exception().replace(exception)
}

/// Returns `true` if it stands for `exit`.
pub fn is_exit(exception: &Object) -> bool {
    c::zend_is_unwind_exit(exception) || c::zend_is_graceful_exit(exception)
}

/// The running code ends as by `exit`.
pub fn throw_exit() {
    c::spindle_exits();
}

/// Returns `true` if `exit` is in flight.
pub fn is_exit_in_flight() -> bool {
    in_flight().is_some_and(|exception| is_exit(&exception))
}

/// Runs `what` with the exception in flight put aside: with one set the engine calls no PHP code. One that `what` throws comes
/// on top of it.
pub fn put_aside(what: impl FnOnce()) {
    let Some(before) = take() else { return what() };
    if is_exit(&before) {
        put(Some(before));
        return what();
    }
    what();
    match take() {
        None => drop(put(Some(before))),
        Some(exit) if is_exit(&exit) => drop(put(Some(exit))),
        Some(later) => {
            set_last_previous(&later, before);
            put(Some(later));
        }
    }
}

/// The exception in flight leaves the C code that runs: its frame, and no other, goes on from it.
pub fn enter_frame() {
    if is_in_flight() {
        // SAFETY: an exception is in flight; only the frame's next instruction is changed.
        unsafe { c::zend_throw_exception_internal(None) };
    }
}

/// Returns the instruction that was to be executed when the exception in flight was thrown.
pub fn instruction_before() -> *const sys::zend_op {
    globals::instruction_before().get()
}

/// Sets it.
pub fn set_instruction_before(instruction: *const sys::zend_op) {
    globals::instruction_before().set(instruction);
}

/// Makes an exception the last one in the chain of another's previous ones.
pub fn set_last_previous(exception: &Object, previous: Owned<Object>) {
    c::zend_exception_set_previous(exception, previous);
}

/// Puts another one, or none, in the place of the previous one.
pub fn replace_previous(exception: &Object, previous: Option<&Object>) {
    c::spindle_exception_replace_previous(exception, previous);
}

/// Returns the previous one.
pub fn previous(exception: &Object) -> Option<&Object> {
    c::spindle_exception_previous(exception)
}

/// Returns an exception and its previous ones.
pub fn chain(exception: &Object) -> impl Iterator<Item = &Object> {
    std::iter::successors(Some(exception), |at| previous(at)).take(CHAIN)
}

/// Returns the file, if it has one, and the line where it was created; `None` when no code ran there.
pub fn position(exception: &Object) -> Option<(Option<&Str>, u32)> {
    let mut file = None;
    let line = c::spindle_exception_position(exception, &mut file);
    (line != 0).then_some((file, line))
}

/// Gives an exception without a position this one.
pub fn set_position(exception: &Object, file: Option<&Str>, line: u32) {
    if let Some(file) = file
        && position(exception).is_none()
    {
        c::spindle_exception_set_position(exception, file, line);
    }
}

/// Gives an exception without a position that of another one.
pub fn set_position_as(exception: &Object, other: &Object) {
    if let Some((file, line)) = position(other) {
        set_position(exception, file, line);
    }
}

/// Returns `FILE:LINE` where it was created; nothing when that is not known.
pub fn place_of(exception: &Object) -> String {
    position(exception).map_or(String::new(), |(file, line)| place(file, line))
}

/// Returns `FILE:LINE`, or nothing.
pub fn place(file: Option<&Str>, line: u32) -> String {
    file.map_or(String::new(), |file| format!("{}:{line}", file.to_text()))
}

/// Returns `FILE:LINE` of the PHP code that runs now; nothing when there is none.
pub fn here() -> String {
    let Some(frame) = Frame::current() else { return String::new() };
    frame.position().map_or(String::new(), |(file, line)| place(file, line))
}

/// Returns `CLASS: message`.
pub fn text_of(exception: &Object) -> String {
    let message = c::spindle_exception_message(exception).map_or(String::new(), Str::to_text);
    format!("{}: {message}", exception.class().name().to_text())
}

/// Returns a copy of an exception, with the same previous one. No PHP code runs.
pub fn copy(exception: &Object) -> Owned<Object> {
    c::spindle_exception_copy(exception)
}
