//! Exceptions: made, thrown, and put aside.

use crate::{Class, Frame, Object, Owned, Str, Thrown, globals, sys};
use std::{ffi::CString, ptr};

/// How far chains of previous exceptions are followed: user code may have made a circle.
pub const CHAIN: usize = 100;

/// Returns a text for C, without the zeros that would end it.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

fn own(exception: *mut sys::zend_object) -> Owned<Object> {
    // SAFETY: just made, with a reference for us.
    unsafe { Object::own(exception) }.expect("a new exception")
}

/// Returns a new exception of this class, from the code that runs.
pub fn new(class: Class, message: &str) -> Owned<Object> {
    let message = c_text(message);
    // SAFETY: a throwable class and a terminated text.
    own(unsafe { sys::spindle_exception_new(class.as_raw(), message.as_ptr()) })
}

/// Returns a new exception of this class that no running code has caused: without a position and a trace.
pub fn detached(class: Class, message: &str) -> Owned<Object> {
    let message = c_text(message);
    // SAFETY: as above.
    own(unsafe { sys::spindle_exception_apart(class.as_raw(), message.as_ptr()) })
}

/// Throws an exception in the running code.
pub fn throw(exception: Owned<Object>) -> Thrown {
    // SAFETY: the reference is passed on.
    unsafe { sys::spindle_throw(exception.into_raw().cast()) };
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
    let message = c_text(message);
    // SAFETY: a format that takes one text, and that text.
    unsafe { sys::zend_throw_error(ptr::null_mut(), c"%s".as_ptr(), message.as_ptr()) };
    Thrown::is_in_flight()
}

/// Returns `true` if an exception is in flight.
#[inline(always)]
pub fn is_in_flight() -> bool {
    globals::executor(|eg| !eg.exception.is_null())
}

/// Returns one more reference to the exception in flight.
pub fn in_flight() -> Option<Owned<Object>> {
    let exception = globals::executor(|eg| eg.exception);
    // SAFETY: null, or an exception that the engine holds.
    unsafe { Object::borrow(exception) }.map(Owned::of)
}

/// Takes the exception in flight out of the engine.
pub fn take() -> Option<Owned<Object>> {
    put(None)
}

/// Puts an exception in flight, or none, and returns the one that was. Nothing else is done: to throw one, see [`throw`].
pub fn put(exception: Option<Owned<Object>>) -> Option<Owned<Object>> {
    let new = exception.map_or(ptr::null_mut(), |exception| exception.into_raw().cast());
    // SAFETY: a reference, or null, changes hands.
    let old = std::mem::replace(unsafe { &mut globals::executor_mut().exception }, new);
    // SAFETY: null, or an exception whose reference is ours now.
    unsafe { Object::own(old) }
}

/// Returns `true` if it stands for `exit`.
pub fn is_exit(exception: &Object) -> bool {
    // SAFETY: a live exception.
    let unwinds = unsafe { sys::zend_is_unwind_exit(exception.as_raw()) };
    // SAFETY: as above.
    unwinds || unsafe { sys::zend_is_graceful_exit(exception.as_raw()) }
}

/// The running code ends as by `exit`.
pub fn throw_exit() {
    // SAFETY: puts the exception that stands for it in the place of the one in flight.
    unsafe { sys::spindle_exits() };
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
    // SAFETY: an exception is in flight; only the frame's next instruction is changed.
    unsafe { sys::zend_throw_exception_internal(ptr::null_mut()) };
}

/// Returns the instruction that was to be executed when the exception in flight was thrown.
pub fn instruction_before() -> *const sys::zend_op {
    globals::executor(|eg| eg.opline_before_exception)
}

/// Sets it.
pub fn set_instruction_before(instruction: *const sys::zend_op) {
    // SAFETY: a global of the engine.
    unsafe { sys::executor_globals.opline_before_exception = instruction };
}

/// Makes an exception the last one in the chain of another's previous ones.
pub fn set_last_previous(exception: &Object, previous: Owned<Object>) {
    // SAFETY: a live exception; the reference is passed on.
    unsafe { sys::zend_exception_set_previous(exception.as_raw(), previous.into_raw().cast()) };
}

/// Puts another one, or none, in the place of the previous one.
pub fn replace_previous(exception: &Object, previous: Option<&Object>) {
    let previous = previous.map_or(ptr::null_mut(), Object::as_raw);
    // SAFETY: live exceptions.
    unsafe { sys::spindle_exception_replace_previous(exception.as_raw(), previous) };
}

/// Returns the previous one.
pub fn previous(exception: &Object) -> Option<&Object> {
    // SAFETY: a live exception.
    let previous = unsafe { sys::spindle_exception_previous(exception.as_raw()) };
    // SAFETY: null, or what the exception holds.
    unsafe { Object::borrow(previous) }
}

/// Returns an exception and its previous ones.
pub fn chain(exception: &Object) -> impl Iterator<Item = &Object> {
    std::iter::successors(Some(exception), |at| previous(at)).take(CHAIN)
}

/// Returns the file, if it has one, and the line where it was created; `None` when no code ran there.
pub fn position(exception: &Object) -> Option<(Option<&Str>, u32)> {
    let mut file = ptr::null_mut();
    // SAFETY: a live exception.
    let line = unsafe { sys::spindle_exception_position(exception.as_raw(), &mut file) };
    // SAFETY: null, or what the exception holds.
    let file = unsafe { Str::borrow(file) };
    (line != 0).then_some((file, line))
}

/// Gives an exception without a position this one.
pub fn set_position(exception: &Object, file: Option<&Str>, line: u32) {
    if let Some(file) = file
        && position(exception).is_none()
    {
        // SAFETY: a live exception and a live string.
        unsafe { sys::spindle_exception_set_position(exception.as_raw(), file.as_raw(), line) };
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
    // SAFETY: a live exception.
    let message = unsafe { sys::spindle_exception_message(exception.as_raw()) };
    // SAFETY: null, or what the exception holds.
    let message = unsafe { Str::borrow(message) }.map_or(String::new(), Str::to_text);
    format!("{}: {message}", exception.class().name().to_text())
}

/// Returns a copy of an exception, with the same previous one. No PHP code runs.
pub fn copy(exception: &Object) -> Owned<Object> {
    // SAFETY: a live exception.
    own(unsafe { sys::spindle_exception_copy(exception.as_raw()) })
}
