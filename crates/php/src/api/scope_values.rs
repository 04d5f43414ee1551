//! The values that are kept for a scope: those methods of `Async\Scope` that `Async\Context` has too, and up the parents.

use crate::runtime::{
    scheduler::rt,
    scope::{self, Record},
    slots::{self, Key},
};
use spindle_core::sched::ScopeId;
use spindle_php_sys as sys;

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

/// The scope whose method is called, if it has one; else something was thrown.
unsafe fn this(frame: Frame) -> Option<ScopeId> {
    // SAFETY: a method of the class is being called, so `This` is an object of it.
    unsafe { scope::id_of((*frame).This.value.obj) }
}

/// What the first of them says, from this scope upwards.
fn up<R>(id: ScopeId, ask: impl Fn(*mut Record) -> Option<R>) -> Option<R> {
    let rt = rt();
    let mut at = Some(id);
    while let Some(id) = at {
        let record = scope::existing_record(rt, id);
        if let Some(found) = record.and_then(&ask) {
            return Some(found);
        }
        at = rt.core.borrow().parent_scope(id);
    }
    None
}

unsafe fn find(id: ScopeId, key: Key) -> Option<sys::zval> {
    // SAFETY: records of scopes that exist; the frame keeps the key.
    up(id, |record| unsafe { (*record).slots.find(key) })
}

unsafe fn find_local(id: ScopeId, key: Key) -> Option<sys::zval> {
    // SAFETY: as above.
    unsafe { (*scope::record(rt(), id)).slots.find(key) }
}

macro_rules! lookups {
    ($($name:ident => $method:ident, |$id:ident, $key:ident| $look:expr;)*) => {
        $(
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name(frame: Frame, result: Value) {
                // SAFETY: the engine's frame of this method and its place for the result.
                unsafe {
                    if let Some($id) = this(frame) {
                        slots::$method(frame, result, |$key| $look);
                    }
                }
            }
        )*
    };
}

lookups! {
    zim_Async_Scope_find => method_find, |id, key| find(id, key);
    zim_Async_Scope_get => method_get, |id, key| find(id, key);
    zim_Async_Scope_has => method_has, |id, key| up(id, |record| (*record).slots.has(key).then_some(())).is_some();
    zim_Async_Scope_findLocal => method_find, |id, key| find_local(id, key);
    zim_Async_Scope_getLocal => method_get, |id, key| find_local(id, key);
    zim_Async_Scope_hasLocal => method_has, |id, key| (*scope::record(rt(), id)).slots.has(key);
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_set(frame: Frame, result: Value) {
    // SAFETY: the engine's frame of this method and its place for the result; `This` keeps the record.
    unsafe {
        if let Some(id) = this(frame) {
            slots::method_set(frame, result, &(*scope::record(rt(), id)).slots);
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Scope_unset(frame: Frame, result: Value) {
    // SAFETY: as above.
    unsafe {
        if let Some(id) = this(frame) {
            slots::method_unset(frame, result, &(*scope::record(rt(), id)).slots);
        }
    }
}
