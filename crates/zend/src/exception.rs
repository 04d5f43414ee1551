//! Exceptions: creating them, throwing them, putting them aside.

use crate::{Class, Frame, Object, Owned, OwnedCell, Str, Text, declare, globals, sys};
use std::ffi::CString;

declare! {
    // A new exception, and one that is thrown, come with a reference. These functions check the class of what they get.
    safe fn spindle_exception_new(class: Class, message: Text<'_>) -> Owned<Object>;
    safe fn spindle_exception_apart(class: Class, message: Text<'_>) -> Owned<Object>;
    safe fn spindle_exception_copy(exception: &Object) -> Owned<Object>;
    safe fn spindle_throw(exception: Owned<Object>);
    safe fn spindle_throw_error(message: Text<'_>);
    safe fn spindle_exits();
    safe fn spindle_exception_position<'a>(exception: &'a Object, file: &mut Option<&'a Str>) -> u32;
    safe fn spindle_exception_set_position(exception: &Object, file: &Str, line: u32);
    safe fn spindle_exception_message(exception: &Object) -> Option<&Str>;
    safe fn spindle_exception_previous(exception: &Object) -> Option<&Object>;
    safe fn spindle_exception_replace_previous(exception: &Object, previous: Option<&Object>);
    safe fn zend_exception_set_previous(exception: &Object, previous: Owned<Object>);
    safe fn spindle_enter_frame();
    safe fn zend_is_unwind_exit(exception: &Object) -> bool;
    safe fn zend_is_graceful_exit(exception: &Object) -> bool;
}

globals::cells! {
    /// Returns the cell of the exception in flight.
    current: OwnedCell<Object> = exception;
}

/// Proof that an exception was thrown: it is in flight, and the running code has to return.
#[derive(Debug)]
#[must_use]
pub struct Thrown(());

impl Thrown {
    /// States that an exception is in flight.
    #[inline(always)]
    pub fn is_in_flight() -> Thrown {
        debug_assert!(is_in_flight());
        Thrown(())
    }
}

/// How many steps of a chain of previous exceptions are followed, since it may be circular.
pub const CHAIN: usize = 100;

/// Returns a text for C, with spaces in place of zero bytes.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

/// Returns a new exception of this class, with the position of the running code.
pub fn new(class: Class, message: &str) -> Owned<Object> {
    spindle_exception_new(class, Text::of(&c_text(message)))
}

/// Returns a new exception of this class without a position and a trace, for exceptions that no running code has
/// caused.
pub fn detached(class: Class, message: &str) -> Owned<Object> {
    spindle_exception_apart(class, Text::of(&c_text(message)))
}

/// Throws an exception in the running code.
pub fn throw(exception: Owned<Object>) -> Thrown {
    spindle_throw(exception);
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
    spindle_throw_error(Text::of(&c_text(message)));
    Thrown::is_in_flight()
}

/// Returns `true` if an exception is in flight.
#[inline(always)]
pub fn is_in_flight() -> bool {
    !current().is_empty()
}

/// Checks that no exception is in flight.
///
/// # Errors
/// One is.
#[inline(always)]
pub fn check() -> Result<(), Thrown> {
    if is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(()) }
}

/// Returns a reference to the exception in flight.
pub fn in_flight() -> Option<Owned<Object>> {
    current().get()
}

/// Takes the exception in flight out of the engine.
pub fn take() -> Option<Owned<Object>> {
    put(None)
}

/// Replaces the exception in flight by another one, or none, and returns the previous one. Does nothing else: to throw
/// an exception, see [`throw`].
pub fn put(exception: Option<Owned<Object>>) -> Option<Owned<Object>> {
    current().replace(exception)
}

/// Returns `true` if the exception is the engine's for `exit`.
pub fn is_exit(exception: &Object) -> bool {
    zend_is_unwind_exit(exception) || zend_is_graceful_exit(exception)
}

/// Returns `true` if the exception is the engine's for leaving a generator or a fiber that is destroyed.
pub fn is_graceful_exit(exception: &Object) -> bool {
    zend_is_graceful_exit(exception)
}

/// Ends the running code as by `exit`.
pub fn throw_exit() {
    spindle_exits();
}

/// Returns `true` if `exit` is in flight.
pub fn is_exit_in_flight() -> bool {
    in_flight().is_some_and(|exception| is_exit(&exception))
}

/// Runs `what` without the exception in flight, because the engine calls no PHP code while there is one. It becomes the
/// last previous exception of one that `what` throws.
pub fn put_aside(what: impl FnOnce()) {
    enter_frame();
    put_aside_in_interrupt(what);
}

/// As [`put_aside`], where PHP code was interrupted between two instructions: the next one may be the `catch` of the exception in
/// flight, and stays the next one.
pub fn put_aside_in_interrupt(what: impl FnOnce()) {
    let instruction = instruction_before();
    let Some(before) = take() else { return what() };
    if is_exit(&before) {
        put(Some(before));
        return what();
    }
    what();
    set_instruction_before(instruction);
    match take() {
        None => drop(put(Some(before))),
        Some(exit) if is_exit(&exit) => drop(put(Some(exit))),
        Some(later) => {
            set_last_previous(&later, before);
            put(Some(later));
        }
    }
}

/// Runs `what`, which may throw and take exceptions, where an object is destroyed. PHP code, and not an internal function, may be
/// the innermost there; it continues where it was unless an exception is in flight after `what`.
pub fn contained(what: impl FnOnce()) {
    let mut position = sys::spindle_position { frame: std::ptr::null_mut(), opline: std::ptr::null() };
    // SAFETY: a place for the position.
    unsafe { sys::spindle_position_save(&mut position) };
    what();
    // SAFETY: the frame is the innermost one again, as whatever `what` has called has returned.
    unsafe { sys::spindle_position_restore(&position) };
}

/// Makes the innermost frame handle the exception in flight, if that frame is PHP code.
pub fn enter_frame() {
    spindle_enter_frame();
}

/// Returns the instruction that was to be executed when the exception in flight was thrown.
pub fn instruction_before() -> *const sys::zend_op {
    globals::instruction_before().get()
}

/// Sets that instruction.
pub fn set_instruction_before(instruction: *const sys::zend_op) {
    globals::instruction_before().set(instruction);
}

/// Appends an exception to the chain of another one's previous exceptions.
pub fn set_last_previous(exception: &Object, previous: Owned<Object>) {
    zend_exception_set_previous(exception, previous);
}

/// Replaces the previous exception by another one, or none.
pub fn replace_previous(exception: &Object, previous: Option<&Object>) {
    spindle_exception_replace_previous(exception, previous);
}

/// Returns the previous exception.
pub fn previous(exception: &Object) -> Option<&Object> {
    spindle_exception_previous(exception)
}

/// Returns an exception and the chain of its previous ones.
pub fn chain(exception: &Object) -> impl Iterator<Item = &Object> {
    std::iter::successors(Some(exception), |at| previous(at)).take(CHAIN)
}

/// Returns the file, if there is one, and the line where an exception was created; `None` if no code ran there.
pub fn position(exception: &Object) -> Option<(Option<&Str>, u32)> {
    let mut file = None;
    let line = spindle_exception_position(exception, &mut file);
    (line != 0).then_some((file, line))
}

/// Sets the position of an exception that has none.
pub fn set_position(exception: &Object, file: Option<&Str>, line: u32) {
    if let Some(file) = file
        && position(exception).is_none()
    {
        spindle_exception_set_position(exception, file, line);
    }
}

/// Sets the position of an exception that has none to that of another one.
pub fn set_position_as(exception: &Object, other: &Object) {
    if let Some((file, line)) = position(other) {
        set_position(exception, file, line);
    }
}

/// Returns the `FILE:LINE` where an exception was created; an empty text if that is unknown.
pub fn place_of(exception: &Object) -> String {
    position(exception).map_or(String::new(), |(file, line)| place(file, line))
}

/// Returns `FILE:LINE`, or an empty text.
pub fn place(file: Option<&Str>, line: u32) -> String {
    file.map_or(String::new(), |file| format!("{}:{line}", file.to_text()))
}

/// Returns the `FILE:LINE` of the running PHP code; an empty text if there is none.
pub fn here() -> String {
    let Some(frame) = Frame::current() else { return String::new() };
    frame.position().map_or(String::new(), |(file, line)| place(file, line))
}

/// Returns the message of an exception.
pub fn message_of(exception: &Object) -> String {
    spindle_exception_message(exception).map_or(String::new(), Str::to_text)
}

/// Returns `CLASS: message`.
pub fn text_of(exception: &Object) -> String {
    format!("{}: {}", exception.class().name().to_text(), message_of(exception))
}

/// Returns a copy of an exception with the same previous one. Runs no PHP code.
pub fn copy(exception: &Object) -> Owned<Object> {
    spindle_exception_copy(exception)
}
