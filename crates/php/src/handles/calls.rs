//! Records of the calls in progress that use handles, and the variables that they share with the trampolines in C.

use crate::c;
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{Frame, Handler, PhpStatic, Value};
use std::{
    cell::Cell,
    mem::offset_of,
    ptr::{self, NonNull},
};

/// A call of C code whose handles are locked while its coroutine is suspended: `spindle_call` of the C glue. It is on
/// the C stack of the call.
#[repr(C)]
pub struct CallRecord {
    outer: Cell<Option<NonNull<CallRecord>>>,
    frame: Option<Frame>,
    key: usize,
    co: Cell<u32>,
    is_marked: Cell<bool>,
    has_locks: Cell<bool>,
}

const _: () = {
    assert!(size_of::<CallRecord>() == size_of::<sys::spindle_call>());
    assert!(offset_of!(CallRecord, frame) == offset_of!(sys::spindle_call, frame));
    assert!(offset_of!(CallRecord, key) == offset_of!(sys::spindle_call, key));
    assert!(offset_of!(CallRecord, co) == offset_of!(sys::spindle_call, co));
    assert!(offset_of!(CallRecord, is_marked) == offset_of!(sys::spindle_call, is_marked));
    assert!(offset_of!(CallRecord, has_locks) == offset_of!(sys::spindle_call, has_locks));
};

// SAFETY: a variable of the C glue with this type, which only the PHP thread uses.
unsafe extern "C" {
    /// The innermost record of the running coroutine.
    #[link_name = "spindle_calls"]
    safe static INNERMOST: PhpStatic<Cell<Option<NonNull<CallRecord>>>>;
}

fn borrow<'a>(record: NonNull<CallRecord>) -> &'a CallRecord {
    // SAFETY: a record of the list, which is on it as long as its call is in progress. A borrow of one is used only for a moment.
    // After a bailout that an extension has caught the list may have calls that have ended; see `handle_locks`.
    unsafe { record.as_ref() }
}

impl CallRecord {
    /// Returns the record of C code that uses `key` outside of a function call.
    pub fn of_key(key: usize) -> CallRecord {
        CallRecord {
            outer: Cell::new(None),
            frame: None,
            key,
            co: Cell::new(0),
            is_marked: Cell::new(false),
            has_locks: Cell::new(false),
        }
    }

    /// Returns the frame of the function's call; `None` if no function is called.
    pub fn frame(&self) -> Option<Frame> {
        self.frame
    }

    /// Returns the key of what is used, where no function is called.
    pub fn key(&self) -> usize {
        self.key
    }

    /// Returns the record's address, by which other modules identify it.
    pub fn as_raw(&self) -> *mut sys::spindle_call {
        ptr::from_ref(self).cast_mut().cast()
    }

    /// Returns this record and those of the outer calls, the innermost first.
    pub fn and_outer(&self) -> impl Iterator<Item = &CallRecord> {
        std::iter::successors(Some(self), |record| record.outer.get().map(borrow))
    }

    /// Returns the coroutine that holds locks for the call.
    pub fn holder(&self) -> CoroutineId {
        CoroutineId(self.co.get())
    }

    /// Returns `true` if something is locked for the call.
    pub fn has_locks(&self) -> bool {
        self.has_locks.get()
    }

    /// Records that a coroutine has locked something for the call, so that it is released at the call's end.
    pub fn set_holder(&self, co: CoroutineId) {
        self.co.set(co.0);
        self.has_locks.set(true);
    }

    /// Records that nothing is locked for the call any more. Returns `false` if nothing was.
    pub fn clear_holder(&self) -> bool {
        let had_locks = self.has_locks.replace(false);
        if had_locks {
            self.is_marked.set(false);
        }
        had_locks
    }

    /// Returns `true` if the locks of this call and of all outer ones have been taken.
    pub fn is_marked(&self) -> bool {
        self.is_marked.get()
    }

    /// Records that the locks of the call have been taken.
    pub fn set_marked(&self) {
        self.is_marked.set(true);
    }

    /// Runs `body` with this record on the list of the running coroutine.
    pub fn run<R>(&self, body: impl FnOnce() -> R) -> R {
        let this = Some(NonNull::from(self));
        self.outer.set(INNERMOST.get());
        INNERMOST.set(this);
        let result = body();
        if INNERMOST.get() == this {
            INNERMOST.set(self.outer.get()); // otherwise a fiber was suspended below it
        }
        result
    }
}

/// Returns `true` if the running coroutine has calls in progress that use handles.
#[inline(always)]
pub fn are_any() -> bool {
    INNERMOST.get().is_some()
}

/// Returns the records of the running coroutine, the innermost first.
pub fn running() -> impl Iterator<Item = &'static CallRecord> {
    INNERMOST.get().map(borrow).into_iter().flat_map(CallRecord::and_outer)
}

/// Returns the records of a suspended coroutine.
pub fn of_list<'a>(list: *mut sys::spindle_call) -> impl Iterator<Item = &'a CallRecord> {
    NonNull::new(list.cast()).map(borrow).into_iter().flat_map(CallRecord::and_outer)
}

/// Takes the list of the running coroutine, which is being suspended.
#[inline(always)]
pub fn take_list() -> *mut sys::spindle_call {
    INNERMOST.get().map_or(ptr::null_mut(), |record| record.as_ptr().cast())
}

/// Sets the list of the coroutine that is resumed.
#[inline(always)]
pub fn put_list(list: *mut sys::spindle_call) {
    INNERMOST.set(NonNull::new(list.cast()));
}

/// Returns `true` if calls that use handles are checked before they begin.
pub fn are_checked() -> bool {
    c::spindle_check_before.get() != 0
}

/// Sets whether calls that use handles are checked before they begin.
pub fn set_checked(are_checked: bool) {
    c::spindle_check_before.set(u32::from(are_checked));
}

/// Clears the list and the check at the end of the request.
pub fn reset() {
    put_list(ptr::null_mut());
    c::spindle_check_after.set(0);
}

/// A call of a function with a trampoline.
#[derive(Clone, Copy)]
pub(super) struct Trampolined {
    pub(super) frame: Frame,
    pub(super) result: *mut sys::zval,
}

impl Trampolined {
    /// Calls the function, by its own code or by the trampoline that it would have otherwise.
    pub(super) fn call(self, handler: Handler) {
        // SAFETY: a handler for this function, and the engine's arguments.
        unsafe { handler(self.frame.as_raw(), self.result) };
    }

    /// Sets the result of the call, which had none yet, or a number.
    pub(super) fn set_result(self, number: i64) {
        debug_assert!(!self.result().is_counted());
        // SAFETY: the engine's place for the result, with a value in it that needs no release.
        unsafe { self.result.write(Value::from(number).into_raw()) };
    }

    /// Returns the result of the call.
    pub(super) fn result(&self) -> &Value {
        // SAFETY: the engine's place for the result, with a value in it.
        unsafe { Value::borrow(self.result) }.unwrap_or(const { &Value::NULL })
    }
}
