//! The class `Async\CoroutineGroup`: coroutines whose results are wanted together.

use crate::runtime::{
    cancellation,
    coroutine::{self, Coroutine},
    failure, life,
    scheduler::{self, Core, Runtime, rt},
};
use crate::zend::{class::Handlers, zv};
use spindle_core::sched::{CoroutineId, Outcome, SetId, State, Target};
use spindle_php_sys as sys;
use std::ptr::{addr_of_mut, null_mut};

type Value = *mut sys::zval;

/// The object. The engine's part is last, as it wants; it is made zeroed.
#[repr(C)]
pub struct Group {
    set: SetId,
    /// Its coroutines (an array of objects).
    pub members: sys::zval,
    /// Where they are spawned: an object, or undefined.
    pub scope: sys::zval,
    /// The program has been given the failure.
    pub seen: bool,
    std: sys::zend_object,
}

const OFFSET: usize = std::mem::offset_of!(Group, std);

static HANDLERS: Handlers = Handlers::new();

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.dtor_obj = Some(dies);
        handlers.free_obj = Some(free);
        handlers.get_gc = Some(get_gc);
    });
    // SAFETY: module start, one thread; filled by the registration of classes.
    unsafe {
        (*sys::spindle_ce.group).ce_flags |= sys::ZEND_ACC_NOT_SERIALIZABLE | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
    }
}

pub unsafe fn of(object: *mut sys::zend_object) -> *mut Group {
    // SAFETY: the object is the last field of a `Group`.
    unsafe { object.byte_sub(OFFSET).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_group_create(_: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: allocated for the object (no declared properties follow).
    unsafe {
        let this = sys::_emalloc(size_of::<Group>()).cast::<Group>();
        this.write_bytes(0, 1);
        sys::spindle_object_std_init(addr_of_mut!((*this).std), sys::spindle_ce.group);
        (*this).std.handlers = HANDLERS.get();
        sys::spindle_array_new(addr_of_mut!((*this).members), 0);
        let rt = rt();
        let set = rt.core.borrow_mut().add_set(false);
        (*this).set = set;
        let mut groups = rt.groups.borrow_mut();
        if groups.len() <= set.slot() {
            groups.resize(set.slot() + 1, null_mut());
        }
        groups[set.slot()] = this;
        addr_of_mut!((*this).std)
    }
}

/// What the core knows it by.
///
/// # Safety
/// An object of the class.
pub unsafe fn target(object: *mut sys::zend_object) -> Target {
    // SAFETY: the caller's promise.
    Target::Set(unsafe { (*of(object)).set })
}

/// Its coroutines, in the order in which they were added.
pub unsafe fn members(this: *mut Group) -> Vec<*mut Coroutine> {
    // SAFETY: the array is ours: a list of live objects of the class.
    unsafe {
        let list = (*this).members.value.arr;
        let at = |index: u32| coroutine::of((*sys::zend_hash_index_find(list, index.into())).value.obj);
        (0..(*list).nNumOfElements).map(at).collect()
    }
}

/// Is it one of the group's coroutines?
///
/// # Safety
/// A live object of the class.
pub unsafe fn has(object: *mut sys::zend_object, co: CoroutineId) -> bool {
    // SAFETY: the caller's promise.
    unsafe { members(of(object)).into_iter().any(|member| (*member).co == co) }
}

pub unsafe fn add(this: *mut Group, co: CoroutineId) {
    // SAFETY: a live coroutine; the list takes a reference.
    unsafe {
        let rt = rt();
        let mut value = zv::null();
        zv::set_object_copy(&mut value, addr_of_mut!((*rt.object(co)).std));
        sys::spindle_array_add(addr_of_mut!((*this).members), &mut value);
        rt.core.borrow_mut().add_to_set((*this).set, co);
        failure::carry_out(rt);
    }
}

/// One of a set has failed, the first: if the set is a group's, the rest is cancelled.
pub fn one_has_failed(rt: &'static Runtime, set: SetId) {
    let this = rt.groups.borrow().get(set.slot()).copied().unwrap_or(null_mut());
    // SAFETY: a live group, if there is one.
    if !this.is_null() && unsafe { (*this).set } == set {
        let text = "cancelled because another coroutine of its group has failed";
        // SAFETY: a live group of live coroutines; our reference.
        unsafe {
            let failed = rt.core.borrow().failed_in_set(set).map_or(null_mut(), |co| (*rt.object(co)).exception);
            let reason = if failed.is_null() {
                cancellation::cancellation_apart(text)
            } else {
                cancellation::cancellation_because(text, failed)
            };
            cancel(rt, this, reason);
            sys::spindle_object_release(reason);
        }
    }
}

pub unsafe fn cancel(rt: &'static Runtime, this: *mut Group, reason: *mut sys::zend_object) {
    // SAFETY: a live group of live coroutines.
    for member in unsafe { members(this) } {
        // SAFETY: as above.
        life::cancel(rt, unsafe { (*member).co }, reason);
    }
}

/// The results of a complete group, or its failure.
///
/// # Safety
/// A live object of the class, and a place for a result.
pub unsafe fn deliver(object: *mut sys::zend_object, result: Value) {
    // SAFETY: the caller's promise.
    unsafe {
        let exception = take_failure(object);
        if !exception.is_null() {
            zv::add_object_ref(exception);
            return sys::spindle_throw(exception);
        }
        results(of(object), result);
    }
}

/// The failure of a group, for somebody who awaits it: borrowed, or null.
///
/// # Safety
/// A live object of the class.
pub unsafe fn take_failure(object: *mut sys::zend_object) -> *mut sys::zend_object {
    // SAFETY: the caller's promise; the group keeps its coroutines.
    unsafe {
        let this = of(object);
        let rt = rt();
        let failed = rt.core.borrow().failed_in_set((*this).set);
        let Some(co) = failed else { return null_mut() };
        (*this).seen = true;
        (*rt.object(co)).exception
    }
}

pub unsafe fn results(this: *mut Group, result: Value) {
    // SAFETY: a live group, and a place for the result.
    unsafe {
        sys::spindle_array_new(result, 0);
        for (index, member) in members(this).into_iter().enumerate() {
            let (state, outcome) = state_of(member);
            if state == State::Done && outcome == Outcome::Returned {
                let mut value = zv::null();
                if !zv::is_undef(&(*member).result) {
                    sys::spindle_zval_copy(&mut value, &(*member).result);
                }
                sys::zend_hash_index_update((*result).value.arr, index as u64, &mut value);
            }
        }
    }
}

pub unsafe fn state_of(member: *mut Coroutine) -> (State, Outcome) {
    // SAFETY: a live coroutine.
    let co = unsafe { (*member).co };
    scheduler::core(|core| (core.state(co), core.outcome(co)))
}

/// A failure that this group has been told, and that nobody has asked for: the coroutine.
unsafe fn unseen(rt: &'static Runtime, this: *mut Group) -> Option<*mut Coroutine> {
    // SAFETY: a live group of live coroutines.
    unsafe {
        if (*this).seen {
            return None;
        }
        let co = rt.core.borrow().failed_in_set((*this).set)?;
        let member = rt.object(co);
        if member.is_null() {
            return None; // the collector has freed it, with the group
        }
        (state_of(member).1 == Outcome::Failed && !(*member).seen).then_some(member)
    }
}

/// At the end of the script: a failure that a group was told and nobody has asked for.
pub fn take_unseen(rt: &'static Runtime) -> Option<*mut Coroutine> {
    let groups: Vec<*mut Group> = rt.groups.borrow().iter().copied().filter(|group| !group.is_null()).collect();
    groups.into_iter().find_map(|group| {
        // SAFETY: those in the list are alive.
        unsafe {
            let found = unseen(rt, group)?;
            (*group).seen = true;
            Some(found)
        }
    })
}

/// Nobody can ask the group any more: a failure that nobody has asked for looks for its place. As the destructor: when the
/// cycle collector frees the object, it may have freed the failure already.
unsafe extern "C" fn dies(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine, with all that the object holds still alive.
    unsafe {
        let this = of(object);
        if let Some(rt) = scheduler::existing()
            && rt.phase.get() != scheduler::Phase::Ended
            && rt.groups.borrow().get((*this).set.slot()).copied() == Some(this)
            && let Some(member) = unseen(rt, this)
        {
            (*this).seen = true;
            zv::add_object_ref((*member).exception);
            let id = rt.core.borrow().scope_of((*member).co);
            let id = if rt.core.borrow().scope_exists(id) { id } else { Core::GLOBAL };
            failure::route(rt, (*member).exception, failure::Level::At(id), id, member);
        }
    }
}

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies; what it owns is released.
    unsafe {
        let this = of(object);
        if let Some(rt) = scheduler::existing()
            && rt.groups.borrow().get((*this).set.slot()).copied() == Some(this)
        {
            rt.groups.borrow_mut()[(*this).set.slot()] = null_mut();
            let all: Vec<CoroutineId> = members(this).into_iter().map(|member| (*member).co).collect();
            rt.core.borrow_mut().drop_set((*this).set, all);
        }
        zv::clear(addr_of_mut!((*this).members));
        zv::clear(addr_of_mut!((*this).scope));
        sys::zend_object_std_dtor(object);
    }
}

unsafe extern "C" fn get_gc(
    object: *mut sys::zend_object,
    table: *mut *mut sys::zval,
    count: *mut i32,
) -> *mut sys::HashTable {
    // SAFETY: the buffer is the engine's, filled with values that the object owns.
    unsafe {
        let this = of(object);
        let buffer = sys::zend_get_gc_buffer_create();
        zv::gc_add(buffer, addr_of_mut!((*this).members));
        if !zv::is_undef(&(*this).scope) {
            zv::gc_add(buffer, addr_of_mut!((*this).scope));
        }
        zv::gc_use(buffer, table, count);
        null_mut()
    }
}
