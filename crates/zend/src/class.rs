//! Classes, functions and extensions.

use crate::{Array, Object, PhpStatic, Str, Value, declare, globals::Table, sys};
use std::{
    cell::Cell,
    ffi::{CStr, c_void},
    mem::offset_of,
    ptr::NonNull,
    slice,
};

declare! {
    // Classes are read. Linking is for a class that is not linked yet.
    safe fn instanceof_function_slow(class: Class, other: Class) -> bool;
    unsafe fn zend_do_link_class(class: Class, parent: Option<&Str>, key: &Str) -> Option<Class>;
}

/// The C code of an internal function. It is called with the frame and a place for the result, which contains null.
pub type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);

/// A class.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class(NonNull<sys::zend_class_entry>);

/// Reads a property; see [`Class::forward_properties`]. If it throws, its result does not matter.
pub type ReadProperty = fn(&Object, &Str) -> Option<Value>;

static READ_PROPERTY: PhpStatic<Cell<Option<ReadProperty>>> = PhpStatic::new(Cell::new(None));

/// Reads a property, for the C glue.
unsafe extern "C" fn read_property(
    object: *mut sys::zend_object,
    name: *mut sys::zend_string,
    room: *mut sys::zval,
) -> bool {
    // SAFETY: the engine's argument, which lives while it reads the property.
    let object = unsafe { Object::borrow(object) };
    // SAFETY: as above.
    let name = unsafe { Str::borrow(name) };
    let (Some(object), Some(name), Some(read)) = (object, name, READ_PROPERTY.get()) else { return false };
    let Some(value) = read(object, name) else { return false };
    // SAFETY: the engine's room for a value, which has none.
    unsafe { room.write(value.into_raw()) };
    true
}

impl Class {
    /// Returns the class at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a class that lasts as long as the result is used.
    #[inline(always)]
    pub unsafe fn from_raw(class: *mut sys::zend_class_entry) -> Option<Class> {
        NonNull::new(class).map(Class)
    }

    /// Returns all classes that exist now.
    pub fn all() -> impl Iterator<Item = Class> {
        Table::Classes.get().pointers().map(|class| Class(class.cast()))
    }

    /// Returns the methods, by their names in lower case.
    fn method_table(&self) -> &'static Array {
        // SAFETY: there as long as the class is.
        unsafe { Array::borrow(&raw const self.raw().function_table) }.expect("not null")
    }

    /// Returns its methods.
    pub fn methods(self) -> impl Iterator<Item = Function> {
        self.method_table().pointers().map(|function| Function(function.cast()))
    }

    /// Returns the class of a live object, which has one.
    #[inline(always)]
    pub(crate) fn of_live(class: *mut sys::zend_class_entry) -> Class {
        Class(NonNull::new(class).expect("an object has a class"))
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(self) -> *mut sys::zend_class_entry {
        self.0.as_ptr()
    }

    /// Returns the engine's structure, to read its fields.
    #[inline(always)]
    pub fn raw(&self) -> &sys::zend_class_entry {
        // SAFETY: lasts as long as the engine uses it.
        unsafe { self.0.as_ref() }
    }

    fn field<F>(self, distance: usize) -> *mut F {
        self.0.as_ptr().wrapping_byte_add(distance).cast()
    }

    /// Returns its name.
    pub fn name(&self) -> &Str {
        // SAFETY: alive as long as the class.
        unsafe { Str::borrow(self.raw().name) }.expect("a class has a name")
    }

    /// Returns `true` if it is `other`, or extends or implements it.
    pub fn is_or_extends(self, other: Class) -> bool {
        self == other || instanceof_function_slow(self, other)
    }

    /// Returns `true` if its parent, interfaces and traits are resolved, which holds for all classes except during
    /// their declaration.
    pub fn is_linked(self) -> bool {
        self.raw().ce_flags & sys::ZEND_ACC_LINKED != 0
    }

    /// Links the class, with the parent of this lower-case name, as its declaration with this key does. Returns `None`
    /// if an exception was thrown.
    pub fn link(self, parent: Option<&Str>, key: &Str) -> Option<Class> {
        if self.is_linked() {
            return Some(self);
        }
        // SAFETY: a class that is not linked yet.
        unsafe { zend_do_link_class(self, parent, key) }
    }

    /// Returns its parent; `None` for a class that is not linked yet.
    pub fn parent(self) -> Option<Class> {
        if !self.is_linked() && !self.is_internal() {
            return None;
        }
        let parent = self.field::<Option<Class>>(offset_of!(sys::zend_class_entry, __bindgen_anon_1.parent));
        // SAFETY: what linked classes have there: null, or a class that lasts as long as this one.
        unsafe { parent.read() }
    }

    /// Returns `true` if the class is defined by an extension or the engine.
    pub fn is_internal(self) -> bool {
        u32::from(self.raw().type_ as u8) == sys::ZEND_INTERNAL_CLASS
    }

    /// Returns the extension that defines it.
    pub fn extension(self) -> Option<Extension> {
        if !self.is_internal() {
            return None;
        }
        let module = self.field::<Option<Extension>>(offset_of!(sys::zend_class_entry, info.internal.module));
        // SAFETY: what internal classes have there: null, or a loaded extension.
        unsafe { module.read() }
    }

    /// Returns this class and those that it extends, the nearest first.
    pub fn and_parents(self) -> impl Iterator<Item = Class> {
        std::iter::successors(Some(self), |class| class.parent())
    }

    /// Makes it implement an interface, at module start.
    pub fn implement(self, interface: Class) {
        // SAFETY: a class that is being registered, and one interface, as the count says.
        unsafe { sys::zend_class_implements(self.as_raw(), 1, interface.as_raw()) };
    }

    /// Makes it known by another name, at module start.
    pub fn add_alias(self, name: &CStr) {
        // SAFETY: a name with its length, and a class that is being registered.
        unsafe { sys::zend_register_class_alias_ex(name.as_ptr(), name.count_bytes(), self.as_raw(), true) };
    }

    /// Declares a public property that is set once, to an object of the class with this name. At module start.
    pub fn declare_readonly(self, name: &CStr, class: &CStr) {
        let (text, length) = (name.as_ptr(), name.count_bytes());
        // SAFETY: a class that is being registered, a name with its length, and a terminated text.
        unsafe { sys::spindle_class_declare_readonly(self.as_raw(), text, length, class.as_ptr()) };
    }

    /// Lets the extension of its parent create its objects as if they were of that class, for extensions that look up the data of
    /// an object by the name of its class. At module start.
    pub fn create_as_base(self) {
        // SAFETY: a class that is being registered, whose parent has a function that creates objects.
        unsafe { sys::spindle_class_create_as_base(self.as_raw()) };
    }

    /// As [`create_as_base`](Class::create_as_base), for one class of the process: `read` reads properties of its objects, which are
    /// those of others. It returns `None` for one that is the object's own. At module start.
    pub fn forward_properties(self, read: ReadProperty) {
        READ_PROPERTY.set(Some(read));
        // SAFETY: as above, and a function that keeps the engine's rules for it.
        unsafe { sys::spindle_class_forward_properties(self.as_raw(), Some(read_property)) };
    }

    /// Returns the method with this name in lower case.
    pub fn method(self, name: &[u8]) -> Option<Function> {
        let found = self.method_table().get_text(name)?.as_pointer()?;
        Some(Function(found.cast()))
    }

    /// Sets flags (`ZEND_ACC_…`), at module start.
    pub fn add_flags(self, flags: u32) {
        // SAFETY: no code borrows it while modules start.
        unsafe { (*self.0.as_ptr()).ce_flags |= flags };
    }
}

impl From<Class> for Value {
    /// Returns the value for a class in the engine's table of classes.
    fn from(class: Class) -> Value {
        Value::of_pointer(class.0)
    }
}

/// A function or method, of PHP code or of an extension.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function(NonNull<sys::zend_function>);

/// The first fields of all kinds of functions. Name and class live as long as the function.
#[repr(C)]
struct Head<'a> {
    kind: u8,
    _argument_flags: [u8; 3],
    flags: u32,
    name: Option<&'a Str>,
    class: Option<Class>,
}

/// The same fields as the engine declares them.
pub type Common = sys::_zend_function__bindgen_ty_1;

const _: () = {
    assert!(offset_of!(Head<'_>, kind) == offset_of!(Common, type_));
    assert!(offset_of!(Head<'_>, flags) == offset_of!(Common, fn_flags));
    assert!(offset_of!(Head<'_>, name) == offset_of!(Common, function_name));
    assert!(offset_of!(Head<'_>, class) == offset_of!(Common, scope));
};

impl Function {
    /// Returns the function at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a function that lasts as long as the result is used.
    #[inline(always)]
    pub unsafe fn from_raw(function: *mut sys::zend_function) -> Option<Function> {
        NonNull::new(function).map(Function)
    }

    /// Returns all functions that exist now, without methods.
    pub fn all() -> impl Iterator<Item = Function> {
        Table::Functions.get().pointers().map(|function| Function(function.cast()))
    }

    /// Returns the engine's pointer.
    #[inline(always)]
    pub fn as_raw(self) -> *mut sys::zend_function {
        self.0.as_ptr()
    }

    /// Returns the fields that all kinds of functions have.
    #[inline(always)]
    pub fn common(&self) -> &Common {
        // SAFETY: every kind of function begins with these fields.
        unsafe { self.0.cast().as_ref() }
    }

    /// Returns the structure of an internal function, if it is one.
    #[inline(always)]
    pub fn internal(&self) -> Option<&sys::zend_internal_function> {
        // SAFETY: the kind says which structure it is.
        self.is_internal().then(|| unsafe { self.0.cast().as_ref() })
    }

    /// Returns the compiled code of a function, a file or an `eval`, if it is PHP code.
    #[inline(always)]
    pub fn code(&self) -> Option<&sys::zend_op_array> {
        // SAFETY: the kind says which structure it is.
        self.is_php_code().then(|| unsafe { self.0.cast().as_ref() })
    }

    /// Returns the file of its code, if it is PHP code.
    pub fn file(&self) -> Option<&Str> {
        // SAFETY: alive as long as the function.
        unsafe { Str::borrow(self.code()?.filename) }
    }

    /// Returns `true` if the function is defined by an extension or the engine.
    #[inline(always)]
    pub fn is_internal(self) -> bool {
        u32::from(self.head().kind) == sys::ZEND_INTERNAL_FUNCTION
    }

    /// Returns `true` if it is PHP code: a function, a file or an `eval`.
    #[inline(always)]
    pub fn is_php_code(self) -> bool {
        self.head().kind & 1 == 0 // the engine numbers the kinds like this
    }

    #[inline(always)]
    fn head(&self) -> &Head<'_> {
        // SAFETY: every kind of function begins with these fields.
        unsafe { self.0.cast().as_ref() }
    }

    /// Returns its name. Files, and functions of frames without a call, have none, or an empty one.
    pub fn name(&self) -> Option<&Str> {
        self.head().name.filter(|name| !name.as_bytes().is_empty())
    }

    /// Returns the class of a method, or the scope of a closure.
    pub fn class(self) -> Option<Class> {
        self.head().class
    }

    /// Returns its parameters, including the variadic one.
    pub fn parameters(&self) -> &[sys::zend_arg_info] {
        let common = self.common();
        let is_variadic = common.fn_flags & sys::ZEND_ACC_VARIADIC != 0;
        if common.arg_info.is_null() {
            return &[];
        }
        // SAFETY: they lie one after the other. Those of internal functions have the same layout.
        unsafe { slice::from_raw_parts(common.arg_info, common.num_args as usize + usize::from(is_variadic)) }
    }

    /// Returns `true` for an internal function that has a parameter with this name.
    pub fn is_internal_with_parameter(&self, name: &CStr) -> bool {
        self.is_internal()
            && self.parameters().iter().any(|parameter| {
                // SAFETY: the parameters of internal functions have C strings as names.
                unsafe { CStr::from_ptr(parameter.name.cast()) == name }
            })
    }

    /// Returns its flags (`ZEND_ACC_…`).
    pub fn flags(self) -> u32 {
        self.head().flags
    }

    /// Sets the C code of an internal function.
    ///
    /// # Safety
    /// It may be called for calls of this function.
    pub unsafe fn set_handler(self, handler: Handler) {
        if let Some(function) = self.internal_place() {
            // SAFETY: no code borrows the field for longer than a read; the rest is the caller's promise.
            unsafe { (*function).handler = Some(handler) };
        }
    }

    fn internal_place(self) -> Option<*mut sys::zend_internal_function> {
        self.is_internal().then(|| self.as_raw().cast()) // every kind of function begins where the union does
    }

    /// Hides the argument with this number in traces. At module start.
    pub fn hide_argument(self, number: u32) {
        // SAFETY: a function that is being registered.
        unsafe { sys::spindle_parameter_set_sensitive(self.as_raw(), number - 1) };
    }

    /// Makes an internal function one of the extension that is starting. At module start.
    pub fn set_extension(self, extension: Extension) {
        if let Some(function) = self.internal_place() {
            // SAFETY: no code borrows the field for longer than a read.
            unsafe { (*function).module = extension.0.as_ptr() };
        }
    }

    /// Sets the value in the slot that the engine reserves for an extension in each internal function.
    ///
    /// # Safety
    /// The slot is the caller's.
    pub unsafe fn set_reserved(self, slot: usize, value: *mut c_void) {
        if let Some(function) = self.internal_place() {
            // SAFETY: as above.
            unsafe { (*function).reserved[slot] = value };
        }
    }

    /// Returns the extension that defines it. Functions that are not in a table of an extension may not know it; they
    /// belong to their class's.
    pub fn extension(self) -> Option<Extension> {
        let function = self.internal()?;
        // SAFETY: null, or a loaded extension.
        unsafe { Extension::from_raw(function.module) }.or_else(|| self.class()?.extension())
    }
}

/// A loaded extension.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Extension(NonNull<sys::zend_module_entry>);

impl Extension {
    /// Returns the extension at this address, or `None` for null.
    ///
    /// # Safety
    /// It is null, or a loaded extension.
    #[inline(always)]
    pub unsafe fn from_raw(module: *const sys::zend_module_entry) -> Option<Extension> {
        NonNull::new(module.cast_mut()).map(Extension)
    }

    /// Returns all loaded extensions.
    pub fn all() -> impl Iterator<Item = Extension> {
        Table::Extensions.get().pointers().map(|module| Extension(module.cast()))
    }

    /// Returns the extension with this lower-case name, if it is loaded.
    pub fn find(name: &str) -> Option<Extension> {
        Table::Extensions.get().get_text(name.as_bytes())?.as_pointer().map(|module| Extension(module.cast()))
    }

    /// Returns the address, which identifies the extension.
    pub fn address(self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Returns the engine's structure, to read its fields.
    pub fn raw(&self) -> &sys::zend_module_entry {
        // SAFETY: lasts as long as the process.
        unsafe { self.0.as_ref() }
    }

    /// Returns its name in lower case.
    pub fn name(self) -> String {
        self.own_name().to_string_lossy().to_ascii_lowercase()
    }

    /// Returns `true` if it has one of these names, whatever their case.
    pub fn is_named(self, names: &[&str]) -> bool {
        let own = self.own_name().to_bytes();
        names.iter().any(|name| own.eq_ignore_ascii_case(name.as_bytes()))
    }

    fn own_name(&self) -> &CStr {
        // SAFETY: a terminated text, which lasts as long as the extension.
        unsafe { CStr::from_ptr(self.raw().name) }
    }
}
