//! `foreach` over objects of extensions: the engine calls their C code then without a function of PHP's.
//!
//! What an unbuffered result fetches, it fetches there. So the iterators of classes whose calls use handles have functions
//! of ours in front of their own, which are calls like those of their methods: what the iterator is over is locked while the
//! coroutine is suspended in it, and another coroutine's `foreach` or method waits.

use crate::handles::{
    classify::{self, Module},
    connection_groups, handle_locks,
};
use spindle_php_sys as sys;
use spindle_zend::{Class, HookPoint, PhpStatic, Value, ValueCell};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::mem::offset_of;
use std::ptr::{NonNull, null_mut};

/// Makes an iterator over an object of a class.
type GetIterator = extern "C" fn(Class, &ValueCell, c_int) -> Option<Iterator>;

/// A live iterator.
#[repr(transparent)]
#[derive(Clone, Copy)]
struct Iterator(NonNull<sys::zend_object_iterator>);

/// The functions of an iterator, and what they stand in front of.
#[repr(C)]
struct Functions {
    ours: sys::zend_object_iterator_funcs,
    original: sys::zend_object_iterator_funcs,
    /// What is used besides the object: the extension, where it has no verdict. 0: nothing.
    extension: usize,
}

struct Tables {
    /// What made the iterators of internal classes whose maker has been replaced, by the addresses of the classes.
    makers: RefCell<BTreeMap<usize, (Class, GetIterator)>>,
    /// By the address of the original functions. Never removed from: iterators point to them.
    functions: RefCell<BTreeMap<usize, &'static Functions>>,
}

static TABLES: PhpStatic<Tables> =
    PhpStatic::new(Tables { makers: RefCell::new(BTreeMap::new()), functions: RefCell::new(BTreeMap::new()) });

/// Returns the place of what makes the iterators of a class: `zend_class_entry.get_iterator`.
fn maker_of(class: Class) -> HookPoint<GetIterator> {
    let place = class.as_raw().wrapping_byte_add(offset_of!(sys::zend_class_entry, get_iterator));
    // SAFETY: a field of an internal class, which lasts until the engine's own end; the type is that of the field.
    unsafe { HookPoint::new(place.cast()) }
}

/// Replaces what makes the iterators of the classes that there are now. Before any class of user code extends one of them.
pub fn install() {
    let by_methods = [sys::zend_user_it_get_new_iterator as *const () as usize, get_iterator as *const () as usize];
    for class in Class::all().filter(|class| class.is_internal()) {
        let maker = maker_of(class);
        let Some(original) = maker.get().filter(|make| !by_methods.contains(&(*make as usize))) else { continue };
        let module = Module::of(class.extension());
        if module.has_handles() && !module.holds_values() || module.is_unknown() && module.extension.is_some() {
            TABLES.makers.borrow_mut().insert(class.as_raw() as usize, (class, original));
            maker.set(Some(get_iterator));
        }
    }
}

/// Puts the originals back, at module shutdown.
pub fn remove() {
    for (class, original) in TABLES.makers.take().into_values() {
        let maker = maker_of(class);
        if maker.get().is_some_and(|now| now as usize == get_iterator as *const () as usize) {
            maker.set(Some(original));
        }
    }
}

/// Returns the class whose maker was replaced, of those that `class` extends, and the original.
fn original_maker(class: Class) -> Option<(Class, GetIterator)> {
    let makers = TABLES.makers.borrow();
    class.and_parents().find_map(|class| makers.get(&(class.as_raw() as usize)).copied())
}

extern "C" fn get_iterator(class: Class, object: &ValueCell, by_ref: c_int) -> Option<Iterator> {
    let (of, original) = original_maker(class)?;
    // The copy is gone before anything is waited for.
    let group = object.get().as_object().map(|object| connection_groups::group_id(object.address()))?;
    let made = handle_locks::with_lock(group, || original(class, object, by_ref)).flatten()?;
    let extension = of.extension();
    let used = if Module::of(extension).is_unknown() { classify::key_of_extension(extension) } else { 0 };
    // SAFETY: a live iterator, which no other code looks at meanwhile.
    let iterator = unsafe { &mut *made.0.as_ptr() };
    iterator.funcs = functions(iterator.funcs, used);
    Some(made)
}

fn functions(
    original: *const sys::zend_object_iterator_funcs,
    extension: usize,
) -> *const sys::zend_object_iterator_funcs {
    // SAFETY: the functions of a live iterator, which are its extension's.
    let its = unsafe { *original };
    if its.valid.is_some_and(|now| now as usize == valid as *const () as usize) {
        return original; // some objects hand out the same iterator each time (`IntlIterator`)
    }
    let mut all = TABLES.functions.borrow_mut();
    let found = all.entry(original as usize).or_insert_with(|| {
        let ours = sys::zend_object_iterator_funcs {
            dtor: its.dtor.map(|_| dtor as unsafe extern "C" fn(_)),
            valid: its.valid.map(|_| valid as unsafe extern "C" fn(_) -> _),
            get_current_data: its.get_current_data.map(|_| get_current_data as unsafe extern "C" fn(_) -> _),
            get_current_key: its.get_current_key.map(|_| get_current_key as unsafe extern "C" fn(_, _)),
            move_forward: its.move_forward.map(|_| move_forward as unsafe extern "C" fn(_)),
            rewind: its.rewind.map(|_| rewind as unsafe extern "C" fn(_)),
            ..its
        };
        Box::leak(Box::new(Functions { ours, original: its, extension }))
    });
    &raw const found.ours
}

/// What a function of an iterator needs to know of it.
struct Over {
    functions: &'static Functions,
    /// The group of the object that the iterator is over, if there is one.
    group: Option<usize>,
}

impl Over {
    /// Looks at an iterator with functions of ours: no other gets here.
    fn of(iterator: Iterator) -> Over {
        // SAFETY: alive as long as the engine calls its functions.
        let iterator = unsafe { iterator.0.as_ref() };
        // SAFETY: the functions are the first field of their structure, and stay.
        let functions = unsafe { &*iterator.funcs.cast::<Functions>() };
        // SAFETY: a value of the iterator's.
        let over = unsafe { Value::borrow(&iterator.data) }.and_then(Value::as_object);
        Over { functions, group: over.map(|object| connection_groups::group_id(object.address())) }
    }

    /// Runs `body` with the locks of what the iterator uses. `None`: they would never be free, which was thrown.
    fn with_locks<R>(&self, body: impl FnOnce() -> R) -> Option<R> {
        match (self.group, self.functions.extension) {
            (None, 0) => Some(body()),
            (None, extension) => handle_locks::with_lock(extension, body),
            (Some(group), 0) => handle_locks::with_lock(group, body),
            (Some(group), extension) => {
                handle_locks::with_lock(extension, || handle_locks::with_lock(group, body)).flatten()
            }
        }
    }
}

/// Defines functions of iterators, which call the original with the locks of what it uses. The default is what is returned
/// when they would never be free. Ours stand only where there was an original.
macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?, $default:expr;)*) => {$(
        unsafe extern "C" fn $name(iterator: *mut sys::zend_object_iterator, $($argument: $type),*) $(-> $result)? {
            let Some(over) = NonNull::new(iterator).map(|iterator| Over::of(Iterator(iterator))) else { return $default };
            let Some(original) = over.functions.original.$name else { return $default };
            // SAFETY: the iterator's own function, and the engine's arguments.
            over.with_locks(|| unsafe { original(iterator, $($argument),*) }).unwrap_or_else(|| $default)
        }
    )*};
}

functions! {
    dtor(), Default::default();
    valid() -> i32, sys::FAILURE;
    get_current_data() -> *mut sys::zval, null_mut();
    get_current_key(key: *mut sys::zval), set_null(key);
    move_forward(), Default::default();
    rewind(), Default::default();
}

fn set_null(key: *mut sys::zval) {
    // SAFETY: the engine's place for a key, which has none yet.
    unsafe { key.write(Value::NULL.into_raw()) };
}
