//! Objects of this module's classes: how they are created, freed, compared, cloned, and traversed by the cycle
//! collector.

use crate::{
    Array, Class, Counted, Object, Owned, OwnedCell, Shared, Value, ValueCell, declare, engine, exception, sys, zeroed,
};
use std::{
    cell::Cell,
    ffi::{c_int, c_void},
    mem::{ManuallyDrop, offset_of},
    ops::Deref,
    ptr,
    ptr::NonNull,
};

declare! {
    // The buffer holds the values that an object adds for the cycle collector, which the object holds.
    safe fn _emalloc(size: usize) -> NonNull<c_void>;
    unsafe fn spindle_object_begin(
        object: *mut sys::zend_object,
        class: Class,
        handlers: *const sys::zend_object_handlers,
    );
    unsafe fn spindle_class_set_create(class: Class, create: Create);
    safe fn spindle_stand_for_result(handlers: &mut sys::zend_object_handlers);
    unsafe fn spindle_object_freed(object: *const sys::zend_object);
    safe fn zend_objects_destroy_object(object: &Object);
    safe fn zend_get_gc_buffer_create() -> &'static GcBuffer;
    unsafe fn spindle_gc_add(buffer: &GcBuffer, value: &Value);
    unsafe fn spindle_gc_use(
        buffer: &GcBuffer,
        object: &Object,
        table: *mut *mut sys::zval,
        count: *mut c_int,
    ) -> *mut sys::HashTable;
}

/// The state of the objects of one class. Mutable parts are in cells, because any code may read them.
pub trait State: Sized + 'static {
    /// Returns the state of a new object, whose constructor has not run.
    fn new(class: Class) -> Self;

    /// Called once when the object has been made, before any other code has it.
    fn made(_this: &Instance<Self>) {}

    /// Called once when the last reference is gone, with everything that the object holds still alive. It may run PHP
    /// code. Not called after a constructor has thrown, nor after a fatal error.
    const DESTRUCT: Option<fn(&Instance<Self>)> = None;

    /// Called once when the object is freed; its state is dropped after this.
    fn free(_this: &Instance<Self>) {}

    /// Adds all values that the state holds for the cycle collector.
    fn collect(&self, _values: &mut Collected) {}
}

/// An object of a class of this module: its state, followed by the engine's part.
#[repr(C)]
pub struct Instance<T> {
    state: T,
    std: Object,
}

impl<T: State> Instance<T> {
    const OFFSET: usize = offset_of!(Instance<T>, std);

    /// Returns the object as PHP code sees it.
    #[inline(always)]
    pub fn object(&self) -> &Object {
        &self.std
    }
}

impl<T> Deref for Instance<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.state
    }
}

impl<T: State> PartialEq for Instance<T> {
    fn eq(&self, other: &Instance<T>) -> bool {
        ptr::eq(self, other)
    }
}

// SAFETY: counted by the engine's part.
unsafe impl<T: State> Counted for Instance<T> {
    #[inline(always)]
    fn add_ref(&self) {
        self.object().add_ref();
    }

    #[inline(always)]
    fn release(this: ManuallyDrop<Owned<Instance<T>>>) {
        Object::release(ManuallyDrop::new(ManuallyDrop::into_inner(this).into()));
    }
}

impl<T: State> From<Owned<Instance<T>>> for Owned<Object> {
    fn from(instance: Owned<Instance<T>>) -> Owned<Object> {
        let object = instance.object().as_raw();
        instance.into_raw();
        // SAFETY: the same object, and its reference.
        unsafe { Object::own(object) }.expect("not null")
    }
}

impl<T: State> From<Owned<Instance<T>>> for Value {
    fn from(instance: Owned<Instance<T>>) -> Value {
        Owned::<Object>::from(instance).into()
    }
}

/// Creates an object of a class.
pub type Create = extern "C" fn(Class) -> Owned<Object>;

/// A class of this module, as a static: the handlers of its objects, filled at module start.
pub struct ObjectClass<T> {
    class: Cell<Option<Class>>,
    create: Create,
    handlers: Cell<sys::zend_object_handlers>,
    _state: std::marker::PhantomData<fn(T)>,
}

// SAFETY: written at module start, read on the PHP thread.
unsafe impl<T> Sync for ObjectClass<T> {}

impl<T: State> ObjectClass<T> {
    /// Returns a class that has to be registered. `create` creates an object of this static: see [`crate::object_class!`].
    pub const fn new(create: Create) -> ObjectClass<T> {
        ObjectClass { class: Cell::new(None), create, handlers: Cell::new(zeroed()), _state: std::marker::PhantomData }
    }

    /// Gives the objects of `class` this state, at module start. They cannot be cloned nor serialized, and each is
    /// equal only to itself. `change` may set further handlers.
    pub fn register(&self, class: Class, flags: u32, change: impl FnOnce(&mut sys::zend_object_handlers)) {
        let mut handlers = engine::standard_handlers();
        handlers.offset = Instance::<T>::OFFSET as i32;
        handlers.clone_obj = None;
        handlers.compare = Some(sys::zend_objects_not_comparable);
        if T::DESTRUCT.is_some() {
            handlers.dtor_obj = Some(destruct::<T>);
        }
        handlers.free_obj = Some(free::<T>);
        handlers.get_gc = Some(get_gc::<T>);
        change(&mut handlers);
        self.handlers.set(handlers);
        class.add_flags(flags);
        self.extend_to(class);
        self.class.set(Some(class));
    }

    /// Has the objects of this class, each of which stands for a result, say so where code uses one in place of its result. At module
    /// start, after [`ObjectClass::register`].
    pub fn stands_for_result(&self) {
        let mut handlers = self.handlers.get();
        spindle_stand_for_result(&mut handlers);
        self.handlers.set(handlers);
    }

    /// Gives the objects of another class this state, at module start.
    pub fn extend_to(&self, class: Class) {
        class.add_flags(sys::ZEND_ACC_NOT_SERIALIZABLE);
        // SAFETY: a class that is being registered.
        unsafe { spindle_class_set_create(class, self.create) };
    }

    /// Returns the class.
    ///
    /// # Panics
    /// Before module start.
    #[inline(always)]
    pub fn class(&self) -> Class {
        self.class.get().expect("registered at module start")
    }

    /// Returns the object as an instance of this class, or `None` if it is of another class.
    #[inline(always)]
    pub fn of<'a>(&self, object: &'a Object) -> Option<&'a Instance<T>> {
        if !ptr::eq(object.handlers(), self.handlers.as_ptr()) {
            return None;
        }
        let state = object.as_raw().wrapping_byte_sub(Instance::<T>::OFFSET).cast::<Instance<T>>();
        // SAFETY: only objects that `create` has made have these handlers; their state lies before the engine's part.
        Some(unsafe { &*state })
    }

    /// Returns a new object of this class or one that extends it, without calling its constructor.
    pub fn create(&self, class: Class) -> Owned<Instance<T>> {
        let properties = class.raw().default_properties_count as usize;
        let size = size_of::<Instance<T>>() + properties * size_of::<sys::zval>();
        let this = _emalloc(size).cast::<Instance<T>>().as_ptr();
        let object = this.wrapping_byte_add(Instance::<T>::OFFSET).cast();
        // SAFETY: our own memory; the state is the first field.
        unsafe { this.cast::<T>().write(T::new(class)) };
        // SAFETY: the memory is as large as the object, whose state comes before the engine's part.
        unsafe { spindle_object_begin(object, class, self.handlers.as_ptr()) };
        // SAFETY: just made, with a reference for us.
        let made = unsafe { Owned::from_raw(this) }.expect("not null");
        T::made(&made);
        made
    }

    /// Returns a new object of this class, without calling its constructor.
    pub fn make(&self) -> Owned<Instance<T>> {
        self.create(self.class())
    }
}

/// The values that an object holds, for the cycle collector.
pub struct Collected(&'static GcBuffer);

/// The cycle collector's buffer.
type GcBuffer = Shared<sys::zend_get_gc_buffer>;

impl Collected {
    /// Adds the value in a cell.
    pub fn cell(&mut self, cell: &ValueCell) {
        self.value(&cell.peek());
    }

    /// Adds a value.
    pub fn value(&mut self, value: &Value) {
        // SAFETY: a value that the object holds.
        unsafe { spindle_gc_add(self.0, value) };
    }

    /// Adds the object in a cell, if there is one.
    pub fn object(&mut self, cell: &OwnedCell<Object>) {
        self.held(cell);
    }

    /// Adds the instance in a cell, if there is one.
    pub fn instance<T: State>(&mut self, cell: &OwnedCell<Instance<T>>) {
        self.held(cell);
    }

    /// Adds an object to which the state has a reference.
    pub fn owned_object(&mut self, object: &Object) {
        object.collect(self);
    }

    /// Adds an instance to which the state has a reference.
    pub fn owned<T: State>(&mut self, instance: &Instance<T>) {
        instance.object().collect(self);
    }

    /// Adds the array in a cell, if there is one.
    pub fn array(&mut self, cell: &OwnedCell<Array>) {
        self.held(cell);
    }

    /// Adds the structure in a cell. No reference count changes meanwhile, because the collector has modified the counts.
    fn held<T: Collect>(&mut self, cell: &OwnedCell<T>) {
        if let Some(held) = cell.peek() {
            held.collect(self);
        }
    }
}

/// A value or a container that can be added for the cycle collector.
trait Collect: Counted {
    /// Adds it for the cycle collector.
    fn collect(&self, values: &mut Collected);
}

impl Collect for Object {
    fn collect(&self, values: &mut Collected) {
        Value::uncounted_object(self, |value| values.value(value));
    }
}

impl Collect for Array {
    fn collect(&self, values: &mut Collected) {
        Value::uncounted_array(self, |value| values.value(value));
    }
}

impl<T: State> Collect for Instance<T> {
    fn collect(&self, values: &mut Collected) {
        self.object().collect(values);
    }
}

/// Returns the instance for the object that the engine passes to a handler.
///
/// # Safety
/// An object that [`ObjectClass::create`] has made, with this state.
#[inline(always)]
pub(crate) unsafe fn from_state<'a, T: State>(object: *mut sys::zend_object) -> &'a Instance<T> {
    let this = object.wrapping_byte_sub(Instance::<T>::OFFSET).cast::<Instance<T>>();
    // SAFETY: the caller's promise: the state lies before the engine's part.
    unsafe { &*this }
}

unsafe extern "C" fn destruct<T: State>(object: *mut sys::zend_object) {
    // SAFETY: the engine's own argument.
    let this = unsafe { from_state::<T>(object) };
    zend_objects_destroy_object(this.object()); // first the destructor of a PHP class that extends this one
    if let Some(destruct) = T::DESTRUCT {
        exception::contained(|| destruct(this));
    }
}

unsafe extern "C" fn free<T: State>(object: *mut sys::zend_object) {
    // SAFETY: the engine calls it once, when the object is freed.
    let this = unsafe { from_state::<T>(object) };
    // First, because it clears the weak references: code that runs when the state is dropped must not get at the object.
    // SAFETY: as above.
    unsafe { sys::zend_object_std_dtor(object) };
    T::free(this);
    let state = (&raw const this.state).cast_mut();
    // SAFETY: no code uses it after this.
    unsafe { state.drop_in_place() };
    // SAFETY: the engine still has it, and its number.
    unsafe { spindle_object_freed(object) };
}

unsafe extern "C" fn get_gc<T: State>(
    object: *mut sys::zend_object,
    table: *mut *mut sys::zval,
    count: *mut i32,
) -> *mut sys::HashTable {
    let mut values = Collected(zend_get_gc_buffer_create());
    // SAFETY: the engine's own argument.
    let this = unsafe { from_state::<T>(object) };
    this.state.collect(&mut values);
    // SAFETY: the caller's places for the answer; and the properties that a class of PHP code below ours declares.
    unsafe { spindle_gc_use(values.0, this.object(), table, count) }
}

/// Defines a class, with the function by which the engine creates its objects: `object_class!(static CLASS: State)`.
#[macro_export]
macro_rules! object_class {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $state:ty) => {
        $(#[$attribute])*
        $visibility static $name: $crate::ObjectClass<$state> = {
            extern "C" fn create(class: $crate::Class) -> $crate::Owned<$crate::Object> {
                $name.create(class).into()
            }
            $crate::ObjectClass::new(create)
        };
    };
}
