//! `foreach` over objects of extensions: the engine calls their C code then without a function of PHP's.
//!
//! What an unbuffered result fetches, it fetches there. So the iterators of classes whose calls use handles have functions
//! of ours in front of their own, which are calls like those of their methods: what the iterator is over is busy while the
//! coroutine is suspended in it, and another coroutine's `foreach` or method waits its turn.

use crate::handles::{
    classify::{self, Module},
    connection_groups, handle_locks,
};
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::HashMap;
use std::ptr::{addr_of_mut, null_mut};

type GetIterator =
    unsafe extern "C" fn(*mut sys::zend_class_entry, *mut sys::zval, i32) -> *mut sys::zend_object_iterator;

/// The functions of an iterator, and what they stand in front of.
#[repr(C)]
struct Functions {
    ours: sys::zend_object_iterator_funcs,
    original: *const sys::zend_object_iterator_funcs,
    /// What is used besides the object: the extension, where nobody has looked at it. 0: nothing.
    module: usize,
}

struct Tables {
    /// By internal class.
    makers: RefCell<HashMap<usize, GetIterator>>,
    /// By the address of the original functions. Never removed from: iterators point to them.
    functions: RefCell<HashMap<usize, Box<Functions>>>,
}

struct OnPhpThread(Tables);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
// SAFETY: as above.
unsafe impl Send for OnPhpThread {}
static TABLES: std::sync::LazyLock<OnPhpThread> =
    std::sync::LazyLock::new(|| OnPhpThread(Tables { makers: Default::default(), functions: Default::default() }));

/// Takes over the classes that are there now. Before any class of the program is made of one of them.
pub fn install() {
    // SAFETY: the engine's table of classes, at a request start.
    unsafe {
        let classes = sys::executor_globals.class_table;
        for index in 0..(*classes).nNumUsed as usize {
            let value = (*(*classes).__bindgen_anon_1.arData.add(index)).val;
            if u32::from(value.u1.v.type_) == sys::IS_PTR {
                take(value.value.ce);
            }
        }
    }
}

unsafe fn take(class: *mut sys::zend_class_entry) {
    // SAFETY: the caller passes a class of the engine's table.
    unsafe {
        let Some(original) = (*class).get_iterator else { return };
        let internal = u32::from((*class).type_ as u8) == sys::ZEND_INTERNAL_CLASS;
        let by_methods = [sys::zend_user_it_get_new_iterator as *const () as usize, get_iterator as *const () as usize];
        if !internal || by_methods.contains(&(original as usize)) {
            return;
        }
        let module = Module::of((*class).info.internal.module);
        if module.has_handles() && !module.holds_values() || module.is_unknown() && !module.entry.is_null() {
            TABLES.0.makers.borrow_mut().insert(class as usize, original);
            (*class).get_iterator = Some(get_iterator);
        }
    }
}

/// Puts the originals back, at module shutdown.
pub fn remove() {
    for (class, original) in TABLES.0.makers.borrow_mut().drain() {
        let class = class as *mut sys::zend_class_entry;
        // SAFETY: internal classes last until the engine's own end.
        unsafe {
            if (*class).get_iterator.is_some_and(|now| now as usize == get_iterator as *const () as usize) {
                (*class).get_iterator = Some(original);
            }
        }
    }
}

unsafe extern "C" fn get_iterator(
    class: *mut sys::zend_class_entry,
    object: *mut sys::zval,
    by_ref: i32,
) -> *mut sys::zend_object_iterator {
    // SAFETY: the engine's own arguments; a class that has this function is one of ours or a descendant of one.
    unsafe {
        let mut of = class;
        let original = loop {
            if of.is_null() {
                return null_mut();
            }
            if let Some(original) = TABLES.0.makers.borrow().get(&(of as usize)).copied() {
                break original;
            }
            of = (*of).__bindgen_anon_1.parent;
        };
        let module = (*of).info.internal.module;
        let alone = if Module::of(module).is_unknown() { classify::key_of_module(module) } else { 0 };
        let key = connection_groups::root((*object).value.obj as usize);
        let iterator = handle_locks::in_turn(key, || original(class, object, by_ref)).unwrap_or(null_mut());
        if !iterator.is_null() {
            (*iterator).funcs = functions((*iterator).funcs, alone);
        }
        iterator
    }
}

fn functions(
    original: *const sys::zend_object_iterator_funcs,
    module: usize,
) -> *const sys::zend_object_iterator_funcs {
    // SAFETY: the functions of a live iterator. Some objects hand out the same one each time (`IntlIterator`).
    if unsafe { (*original).valid }.is_some_and(|now| now as usize == valid as *const () as usize) {
        return original;
    }
    let mut all = TABLES.0.functions.borrow_mut();
    let found = all.entry(original as usize).or_insert_with(|| {
        // SAFETY: the functions of a live iterator, which are their extension's.
        let its = unsafe { *original };
        let ours = sys::zend_object_iterator_funcs {
            dtor: its.dtor.map(|_| destroy as unsafe extern "C" fn(_)),
            valid: its.valid.map(|_| valid as unsafe extern "C" fn(_) -> _),
            get_current_data: its.get_current_data.map(|_| current as unsafe extern "C" fn(_) -> _),
            get_current_key: its.get_current_key.map(|_| key as unsafe extern "C" fn(_, _)),
            move_forward: its.move_forward.map(|_| next as unsafe extern "C" fn(_)),
            rewind: its.rewind.map(|_| rewind as unsafe extern "C" fn(_)),
            ..its
        };
        Box::new(Functions { ours, original, module })
    });
    &raw const found.ours
}

/// Runs a function of an iterator in its turn. `None`: its turn never comes, which was thrown, or there is no such function.
unsafe fn in_turn<R>(
    iterator: *mut sys::zend_object_iterator,
    what: impl FnOnce(&sys::zend_object_iterator_funcs) -> Option<R>,
) -> Option<R> {
    // SAFETY: only iterators with functions of ours get here; those are the first field of their structure, and stay.
    unsafe {
        let functions = &*(*iterator).funcs.cast::<Functions>();
        let original = &*functions.original;
        let data = addr_of_mut!((*iterator).data);
        let over = if u32::from((*data).u1.v.type_) == sys::IS_OBJECT { (*data).value.obj as usize } else { 0 };
        match (over, functions.module) {
            (0, 0) => what(original),
            (0, module) => handle_locks::in_turn(module, || what(original)).flatten(),
            (object, 0) => handle_locks::in_turn(connection_groups::root(object), || what(original)).flatten(),
            (object, module) => handle_locks::in_turn(module, || {
                handle_locks::in_turn(connection_groups::root(object), || what(original))
            })
            .flatten()
            .flatten(),
        }
    }
}

unsafe extern "C" fn destroy(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: the engine's own arguments, passed on, here and below. Ours stand only where there was an original.
    unsafe { in_turn(iterator, |its| its.dtor.map(|dtor| dtor(iterator))) };
}

unsafe extern "C" fn valid(iterator: *mut sys::zend_object_iterator) -> i32 {
    // SAFETY: as `destroy`.
    unsafe { in_turn(iterator, |its| its.valid.map(|valid| valid(iterator))).unwrap_or(sys::FAILURE) }
}

unsafe extern "C" fn current(iterator: *mut sys::zend_object_iterator) -> *mut sys::zval {
    // SAFETY: as `destroy`.
    unsafe { in_turn(iterator, |its| its.get_current_data.map(|current| current(iterator))).unwrap_or(null_mut()) }
}

unsafe extern "C" fn key(iterator: *mut sys::zend_object_iterator, key: *mut sys::zval) {
    // SAFETY: as `destroy`.
    unsafe {
        if in_turn(iterator, |its| its.get_current_key.map(|get| get(iterator, key))).is_none() {
            (*key).u1.type_info = sys::IS_NULL;
        }
    }
}

unsafe extern "C" fn next(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: as `destroy`.
    unsafe { in_turn(iterator, |its| its.move_forward.map(|next| next(iterator))) };
}

unsafe extern "C" fn rewind(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: as `destroy`.
    unsafe { in_turn(iterator, |its| its.rewind.map(|rewind| rewind(iterator))) };
}
