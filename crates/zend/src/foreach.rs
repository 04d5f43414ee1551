//! Iterators that `foreach` and the engine's functions use without calling methods.

use crate::instance::from_state;
use crate::{Class, Instance, Object, Owned, State, Thrown, Value, ValueCell, declare, exception, sys};
use std::ffi::c_int;
use std::ptr::NonNull;

declare! {
    unsafe fn spindle_class_set_get_iterator(class: Class, get: GetIterator);
}

/// The state of an iterator over an object of another class. Its own class may have the methods of PHP's `Iterator`, too.
pub trait ForEach: State {
    /// Returns a new iterator over an object.
    fn over(object: &Object) -> Option<Owned<Instance<Self>>>;

    /// Goes to the first element. It may suspend the coroutine, as [`ForEach::advance`] may.
    ///
    /// # Errors
    /// There may be another element, which cannot be obtained.
    fn rewind(&self) -> Result<(), Thrown>;

    /// Goes to the next element.
    ///
    /// # Errors
    /// As [`ForEach::rewind`].
    fn advance(&self) -> Result<(), Thrown>;

    /// Returns the place of the present element, which is empty at the end.
    fn current(&self) -> &ValueCell;

    /// Returns the key of the present element.
    fn key(&self) -> Value;
}

/// An iterator of the engine's.
#[repr(transparent)]
pub struct Made(NonNull<sys::zend_object_iterator>);

/// Lets the engine iterate over objects of a class by `T`. At module start, when the class implements its interfaces. A class of
/// PHP code that extends it and has another `getIterator()` is iterated over by that.
pub fn iterate_by<T: ForEach>(class: Class) {
    // SAFETY: a class that is being registered, and the function that the engine calls with its objects.
    unsafe { spindle_class_set_get_iterator(class, get_iterator::<T>) };
}

/// Creates an iterator over an object of a class.
pub(crate) type GetIterator = extern "C" fn(Class, &ValueCell, c_int) -> Option<Made>;

extern "C" fn get_iterator<T: ForEach>(_class: Class, object: &ValueCell, by_reference: c_int) -> Option<Made> {
    if by_reference != 0 {
        let _ = exception::throw_error("An iterator cannot be used with foreach by reference");
        return None;
    }
    let state: Owned<Object> = T::over(object.get().as_object()?)?.into();
    // SAFETY: the reference to a live object, which the iterator takes over, and functions for its state.
    let made = unsafe { sys::spindle_iterator_make(state.into_raw().cast(), Functions::<T>::TABLE) };
    NonNull::new(made).map(Made)
}

struct Functions<T>(std::marker::PhantomData<T>);

impl<T: ForEach> Functions<T> {
    const TABLE: &'static sys::zend_object_iterator_funcs = &sys::zend_object_iterator_funcs {
        dtor: Some(dtor),
        valid: Some(valid::<T>),
        get_current_data: Some(get_current_data::<T>),
        get_current_key: Some(get_current_key::<T>),
        move_forward: Some(move_forward::<T>),
        rewind: Some(rewind::<T>),
        invalidate_current: None,
        get_gc: Some(get_gc),
    };
}

/// Returns the state of an iterator.
///
/// # Safety
/// [`get_iterator`] has made it for `T`.
#[inline(always)]
unsafe fn state<'a, T: ForEach>(iterator: *mut sys::zend_object_iterator) -> &'a Instance<T> {
    // SAFETY: the caller's promise.
    let data = unsafe { &raw const (*iterator).data };
    // SAFETY: a value, which stays as long as the iterator.
    let object = unsafe { Value::borrow(data) }.and_then(Value::as_object).expect("an iterator's state is an object");
    // SAFETY: one with this state.
    unsafe { from_state(object.as_raw()) }
}

unsafe extern "C" fn dtor(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: the engine's own argument.
    let data = unsafe { &raw mut (*iterator).data };
    // SAFETY: as above.
    let state = unsafe { data.read() };
    // SAFETY: the engine calls this once, and does not use the value afterwards.
    drop(unsafe { Value::from_raw(state) });
}

unsafe extern "C" fn valid<T: ForEach>(iterator: *mut sys::zend_object_iterator) -> c_int {
    // SAFETY: an iterator with this function.
    let this = unsafe { state::<T>(iterator) };
    if this.current().is_empty() { sys::FAILURE } else { sys::SUCCESS }
}

unsafe extern "C" fn get_current_data<T: ForEach>(iterator: *mut sys::zend_object_iterator) -> *mut sys::zval {
    // SAFETY: an iterator with this function.
    unsafe { state::<T>(iterator) }.current().as_raw()
}

unsafe extern "C" fn get_current_key<T: ForEach>(iterator: *mut sys::zend_object_iterator, key: *mut sys::zval) {
    // SAFETY: an iterator with this function.
    let current = unsafe { state::<T>(iterator) }.key();
    // SAFETY: the engine's place for the key, in which there is no value.
    unsafe { key.write(current.into_raw()) };
}

unsafe extern "C" fn move_forward<T: ForEach>(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: an iterator with this function.
    let this = unsafe { state::<T>(iterator) };
    let _ = this.advance(); // the engine finds the exception in flight
}

unsafe extern "C" fn rewind<T: ForEach>(iterator: *mut sys::zend_object_iterator) {
    // SAFETY: an iterator with this function.
    let this = unsafe { state::<T>(iterator) };
    let _ = this.rewind(); // as above
}

unsafe extern "C" fn get_gc(
    iterator: *mut sys::zend_object_iterator,
    table: *mut *mut sys::zval,
    count: *mut c_int,
) -> *mut sys::HashTable {
    // SAFETY: the engine's own argument.
    let data = unsafe { &raw mut (*iterator).data };
    // SAFETY: the caller's place for the answer.
    unsafe { table.write(data) };
    // SAFETY: as above.
    unsafe { count.write(1) };
    std::ptr::null_mut()
}
