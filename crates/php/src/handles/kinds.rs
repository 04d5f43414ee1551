//! What calls of internal functions lock, and how they use it.

use crate::isolation::call_info::CallInfo;
use spindle_php_sys as sys;
use spindle_zend::{Frame, Function, Object, Value};
use std::ffi::CStr;

/// The handles that a call of an internal function locks while its coroutine is suspended in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub(crate) enum CallKind {
    /// Nothing.
    Plain = 0,
    /// The objects of its extension and the resources among its arguments.
    Handle = 1,
    /// A stream, for reading.
    Reads = 2,
    /// A stream, for writing.
    Writes = 3,
    /// A stream in both directions, or its position.
    Stream = 4,
    /// A handle or a stream, which it closes.
    Closes = 5,
    /// Nothing, and it is not suspended: it runs signal handlers, or would continue with an array that others have
    /// changed.
    Unswitched = 6,
    /// The handles that it creates another one from: a constructor, or a request for a persistent connection.
    Makes = 7,
    /// Its whole extension, and all handles among its arguments: what it keeps is unknown.
    Alone = 8,
    /// The handle of `curl_multi_select()`, whose trampoline waits for events: see `multi`.
    Watches = 9,
    /// The handle of `curl_multi_exec()`, which never waits: while another coroutine is in a call on it, the function returns that
    /// transfers are still running.
    Performs = 10,
    /// A connection, on which it waits for messages; others may send on it.
    Receives = 11,
    /// A connection, on which it sends without waiting for an answer.
    Sends = 12,
    /// Nothing: it matches a pattern, and calls PHP code meanwhile. See `matches`.
    Matches = 13,
    /// Nothing: a method of `Fiber`, which suspends the calls in progress or resumes others.
    Fiber = 14,
    /// Nothing: it loads an extension, whose functions then get trampolines.
    Loads = 15,
    /// A handle, and state that its library shares between all handles: no other call of the extension runs meanwhile.
    Exclusive = 16,
    /// The body of the request that its coroutine belongs to.
    Body = 17,
    /// Nothing: a constructor that only notes which handles its object refers to. The object is locked if it is in use already.
    Refers = 18,
    /// A handle, and another one among its arguments, whose connections it may share from then on: see `curl_shares`.
    Joins = 19,
}

impl CallKind {
    /// Returns `true` for calls that lock nothing.
    pub(crate) fn holds_nothing(self) -> bool {
        use CallKind::{Fiber, Loads, Matches, Plain, Unswitched};
        matches!(self, Plain | Unswitched | Matches | Fiber | Loads)
    }
}

/// When a function may have marked objects and arrays as in use, against endless recursion (see `marks.c`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Flags {
    Always = sys::SPINDLE_FLAGS_ALWAYS as u8,
    /// While PHP code that it has called runs.
    AroundCallbacks = sys::SPINDLE_FLAGS_AROUND_CALLBACKS as u8,
    Never = sys::SPINDLE_FLAGS_NEVER as u8,
}

/// How a call uses a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Read,
    Write,
    Both,
    Shared,
    Close,
}

impl Mode {
    /// Returns `true` if no call that uses the handle in the mode `other` may begin while one in this mode is in progress,
    /// or waits for its lock.
    pub(crate) fn conflicts_with(self, other: Mode) -> bool {
        match (self, other) {
            (Mode::Close, _) | (_, Mode::Close) | (Mode::Both, _) => true,
            (Mode::Shared, Mode::Shared) => false,
            (held, wanted) => held == wanted || wanted == Mode::Both,
        }
    }
}

/// Returns how a call uses its handles.
pub(crate) fn mode(frame: Frame, kind: CallKind) -> Mode {
    match kind {
        CallKind::Sends if frame.this().is_some_and(has_heartbeats) => Mode::Both,
        CallKind::Reads | CallKind::Receives => Mode::Read,
        CallKind::Writes | CallKind::Sends => Mode::Write,
        CallKind::Closes => Mode::Close,
        _ => Mode::Both,
    }
}

/// Returns `true` if the connection of a queue or an exchange of ext-amqp has heartbeats. Then sending sets the time of the next one,
/// and a call of the library that waits for a message aborts the process if that has changed meanwhile.
fn has_heartbeats(object: &Object) -> bool {
    let connection = own_property(object, c"connection");
    connection.as_object().is_some_and(|connection| own_property(connection, c"heartbeat").is_truthy())
}

/// Returns the property of an object that its internal class has declared.
pub(crate) fn own_property(object: &Object, name: &CStr) -> Value {
    let class = object.class().and_parents().find(|class| class.is_internal());
    class.map_or(Value::NULL, |class| object.read_property(class, name))
}

/// Returns the kind of calls of a function that may have a trampoline.
pub(crate) fn kind_of_calls(function: Option<Function>) -> CallKind {
    const KINDS: [CallKind; 20] = [
        CallKind::Plain,
        CallKind::Handle,
        CallKind::Reads,
        CallKind::Writes,
        CallKind::Stream,
        CallKind::Closes,
        CallKind::Unswitched,
        CallKind::Makes,
        CallKind::Alone,
        CallKind::Watches,
        CallKind::Performs,
        CallKind::Receives,
        CallKind::Sends,
        CallKind::Matches,
        CallKind::Fiber,
        CallKind::Loads,
        CallKind::Exclusive,
        CallKind::Body,
        CallKind::Refers,
        CallKind::Joins,
    ];
    const _: () = {
        let mut number = 0;
        while number < KINDS.len() {
            assert!(KINDS[number] as usize == number);
            number += 1;
        }
    };
    let number = function.and_then(CallInfo::of).map_or(0, CallInfo::kind);
    KINDS.get(number as usize).copied().unwrap_or(CallKind::Plain)
}
