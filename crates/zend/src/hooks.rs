//! Functions that the engine calls through pointers, which extensions may replace.
//!
//! The functions have Rust types for what the engine passes: a [`Frame`] where C has a pointer to a frame that is never
//! null, and so on. These types have the same representation as the pointers, so this module's functions and the
//! originals are called directly. Neither is `unsafe` to call: only the engine can create their arguments, which are
//! valid.

use crate::{Class, Frame, Function, Object, Owned, PhpStatic, SourceFile, Str, Text, ValueCell, declare, sys};
use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    marker::PhantomData,
    mem,
    mem::{MaybeUninit, offset_of},
};

/// A function pointer of the engine that extensions may replace.
pub struct HookPoint<F>(PhpStatic<*mut Option<F>>);

impl<F: Copy> HookPoint<F> {
    /// Returns the hook point at this address.
    ///
    /// # Safety
    /// The address is valid as long as the process lives, and only the PHP thread looks there. `F` is the type of the
    /// functions there, and they may be called with whatever it allows.
    pub const unsafe fn new(place: *mut Option<F>) -> HookPoint<F> {
        HookPoint::at(place)
    }

    /// Returns the hook point at this address. Its functions have the type `G` in C.
    const fn at<G>(place: *mut G) -> HookPoint<F> {
        HookPoint(PhpStatic::new(place.cast()))
    }

    #[inline(always)]
    fn cell(&self) -> &Cell<Option<F>> {
        let cell = self.0.cast::<Cell<Option<F>>>();
        // SAFETY: as `new` wants it. One thread reads and writes whole pointers.
        unsafe { &*cell }
    }

    /// Returns the present function.
    #[inline(always)]
    pub fn get(&self) -> Option<F> {
        self.cell().get()
    }

    /// Sets the function.
    #[inline(always)]
    pub fn set(&self, function: Option<F>) {
        self.cell().set(function);
    }
}

/// A replacement for the function of a [`HookPoint`], and the original.
pub struct Hook<F: 'static> {
    point: &'static HookPoint<F>,
    replacement: F,
    original: PhpStatic<Cell<Option<F>>>,
}

impl<F: Copy + PartialEq> Hook<F> {
    /// Returns a hook that is not installed.
    pub const fn new(point: &'static HookPoint<F>, replacement: F) -> Hook<F> {
        Hook { point, replacement, original: PhpStatic::new(Cell::new(None)) }
    }

    /// Replaces the function, and stores the original. Has no effect if it is installed already.
    pub fn install(&self) {
        let before = self.point.get();
        if before != Some(self.replacement) {
            self.original.set(before);
            self.point.set(Some(self.replacement));
        }
    }

    /// Installs the hook if there is a function.
    pub fn wrap(&self) {
        if self.point.get().is_some() {
            self.install();
        }
    }

    /// Restores the original, unless others have replaced the hook. A wrapper around the hook continues to call it.
    pub fn remove(&self) {
        if self.point.get() == Some(self.replacement) {
            self.point.set(self.original.get());
        }
    }

    /// Returns the original.
    #[inline(always)]
    pub fn original(&self) -> Option<F> {
        self.original.get()
    }
}

/// An argument that a hook can only pass on to its original.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Passed<'a, T>(T, PhantomData<&'a T>);

/// Compiles a file, which is included in this way (`ZEND_INCLUDE`, …). Returns its code, unless an exception was
/// thrown.
pub type CompileFile = extern "C" fn(SourceFile<'_>, c_int) -> Option<Function>;
/// Compiles a source with a name, which begins inside or outside of `<?php`. Returns its code, unless an exception was
/// thrown.
pub type CompileString = for<'a> extern "C" fn(&'a Str, Text<'a>, sys::zend_compile_position) -> Option<Function>;
/// Runs the code of a frame.
pub type ExecuteEx = extern "C" fn(Frame);
/// Handles an interrupt of the code in this frame.
pub type Interrupt = extern "C" fn(Option<Frame>);
/// Collects cycles. Returns the number of freed objects and arrays.
pub type CollectCycles = extern "C" fn() -> c_int;
/// Loads a class by its name, which is also passed in lower case.
pub type Autoload = extern "C" fn(&Str, &Str) -> Option<Class>;
/// Returns the path of a file that is to be included.
pub type ResolvePath = extern "C" fn(&Str) -> Option<Owned<Str>>;
/// Returns the cached result of linking this class with this parent, these traits and interfaces.
pub type InheritanceCacheGet =
    extern "C" fn(Class, Option<Class>, Passed<'_, *mut *mut sys::zend_class_entry>) -> Option<Class>;
/// Adds a linked class to the cache: the class, the unlinked one, its parent, its traits and interfaces, and its
/// dependencies. Returns the class in the cache.
pub type InheritanceCacheAdd = extern "C" fn(
    Class,
    Class,
    Option<Class>,
    Passed<'_, *mut *mut sys::zend_class_entry>,
    Passed<'_, *mut sys::HashTable>,
) -> Option<Class>;
/// Observes an exception that was thrown, unless another one was in flight; `None` if it is thrown again.
pub type ThrowException = extern "C" fn(Option<&Object>);
/// Frees a resource that was removed from the engine's table.
pub type EndResource = extern "C" fn(&ValueCell);
/// Writes a text of this length to the client. Returns the number of written bytes.
pub type SapiWrite = for<'a> extern "C" fn(Passed<'a, *const c_char>, Passed<'a, usize>) -> usize;
/// Flushes the output to the client.
pub type SapiFlush = extern "C" fn(Passed<'_, *mut c_void>);
/// Sends the headers of the response.
pub type SapiSendHeaders = extern "C" fn(Passed<'_, *mut sys::sapi_headers_struct>) -> c_int;
/// Reads from the body of the request into a buffer of this size. Returns the number of read bytes.
pub type SapiRead = for<'a> extern "C" fn(Passed<'a, *mut c_char>, Passed<'a, usize>) -> usize;
/// Decides what happens to a header (`SAPI_HEADER_ADD`: it is kept).
pub type SapiHeaderHandler = extern "C" fn(
    Passed<'_, *mut sys::sapi_header_struct>,
    Passed<'_, sys::sapi_header_op_enum>,
    Passed<'_, *mut sys::sapi_headers_struct>,
) -> c_int;

impl<'a> Passed<'a, *const c_char> {
    /// Returns the text of this length, which was passed with it.
    pub fn bytes(self, length: Passed<'a, usize>) -> &'a [u8] {
        if length.0 == 0 {
            return &[];
        }
        // SAFETY: only the engine makes both, and passes a text with its length.
        unsafe { std::slice::from_raw_parts(self.0.cast(), length.0) }
    }
}

impl<'a> Passed<'a, *mut c_char> {
    /// Returns the buffer of this length, which was passed with it, with zeros in it.
    pub fn buffer(self, length: Passed<'a, usize>) -> &'a mut [u8] {
        if length.0 == 0 {
            return &mut [];
        }
        // SAFETY: only the engine makes both, and passes a buffer with its length.
        unsafe { self.0.write_bytes(0, length.0) };
        // SAFETY: as above, and it has values now.
        unsafe { std::slice::from_raw_parts_mut(self.0.cast(), length.0) }
    }
}

impl Passed<'_, usize> {
    /// Returns the number.
    pub fn number(self) -> usize {
        self.0
    }
}

/// Finds a method of an object by its name. The function may replace the object in its place.
/// `zend_object_handlers.get_method`.
pub type GetMethod = extern "C" fn(&Cell<&Object>, &Str, Passed<'_, *const sys::zval>) -> Option<Function>;
/// Returns the function that is called when an object is called: `zend_object_handlers.get_closure`.
pub type GetClosure = for<'a> extern "C" fn(
    &'a Object,
    &mut MaybeUninit<Class>,
    &mut MaybeUninit<Function>,
    &mut MaybeUninit<&'a Object>,
    bool,
) -> c_int;

type GetMethodInC = unsafe extern "C" fn(
    *mut *mut sys::zend_object,
    *mut sys::zend_string,
    *const sys::zval,
) -> *mut sys::zend_function;
type GetClosureInC = unsafe extern "C" fn(
    *mut sys::zend_object,
    *mut *mut sys::zend_class_entry,
    *mut *mut sys::zend_function,
    *mut *mut sys::zend_object,
    bool,
) -> c_int;

declare! {
    /// Finds a method in the class of an object.
    pub safe fn zend_std_get_method(
        object: &Cell<&Object>,
        name: &Str,
        key: Passed<'_, *const sys::zval>,
    ) -> Option<Function>;
}

/// Returns a function with the type of the entry in a table of handlers.
pub fn get_method_handler(function: GetMethod) -> GetMethodInC {
    // SAFETY: these types have the representation of the pointers that the engine passes, and are made of no others.
    unsafe { mem::transmute::<GetMethod, GetMethodInC>(function) }
}

/// Returns a function with the type of the entry in a table of handlers.
pub fn get_closure_handler(function: GetClosure) -> GetClosureInC {
    // SAFETY: as above; the places are the engine's, and hold nothing.
    unsafe { mem::transmute::<GetClosure, GetClosureInC>(function) }
}

/// `zend_compile_file`.
pub static COMPILE_FILE: HookPoint<CompileFile> = HookPoint::at(&raw mut sys::zend_compile_file);
/// `zend_compile_string`.
pub static COMPILE_STRING: HookPoint<CompileString> = HookPoint::at(&raw mut sys::zend_compile_string);
/// `zend_execute_ex`.
pub static EXECUTE_EX: HookPoint<ExecuteEx> = HookPoint::at(&raw mut sys::zend_execute_ex);
/// `zend_interrupt_function`.
pub static INTERRUPT: HookPoint<Interrupt> = HookPoint::at(&raw mut sys::zend_interrupt_function);
/// `gc_collect_cycles`.
pub static COLLECT_CYCLES: HookPoint<CollectCycles> = HookPoint::at(&raw mut sys::gc_collect_cycles);
/// `zend_autoload`.
pub static AUTOLOAD: HookPoint<Autoload> = HookPoint::at(&raw mut sys::zend_autoload);
/// `zend_throw_exception_hook`.
pub static THROW_EXCEPTION: HookPoint<ThrowException> = HookPoint::at(&raw mut sys::zend_throw_exception_hook);
/// `zend_resolve_path`.
pub static RESOLVE_PATH: HookPoint<ResolvePath> = HookPoint::at(&raw mut sys::zend_resolve_path);
/// `zend_inheritance_cache_get`, which opcache defines, if loaded.
pub static INHERITANCE_CACHE_GET: HookPoint<InheritanceCacheGet> =
    HookPoint::at(&raw mut sys::zend_inheritance_cache_get);
/// `zend_inheritance_cache_add`.
pub static INHERITANCE_CACHE_ADD: HookPoint<InheritanceCacheAdd> =
    HookPoint::at(&raw mut sys::zend_inheritance_cache_add);
/// `pDestructor` of the table of resources, which is created for each request.
pub static END_RESOURCE: HookPoint<EndResource> =
    HookPoint::at((&raw mut sys::executor_globals).wrapping_byte_add(
        offset_of!(sys::zend_executor_globals, regular_list) + offset_of!(sys::HashTable, pDestructor),
    ));
/// `ub_write` of the SAPI.
pub static SAPI_WRITE: HookPoint<SapiWrite> = of_sapi(offset_of!(sys::sapi_module_struct, ub_write));
/// `flush` of the SAPI.
pub static SAPI_FLUSH: HookPoint<SapiFlush> = of_sapi(offset_of!(sys::sapi_module_struct, flush));
/// `send_headers` of the SAPI.
pub static SAPI_SEND_HEADERS: HookPoint<SapiSendHeaders> = of_sapi(offset_of!(sys::sapi_module_struct, send_headers));
/// `read_post` of the SAPI.
pub static SAPI_READ: HookPoint<SapiRead> = of_sapi(offset_of!(sys::sapi_module_struct, read_post));
/// `header_handler` of the SAPI.
pub static SAPI_HEADER_HANDLER: HookPoint<SapiHeaderHandler> =
    of_sapi(offset_of!(sys::sapi_module_struct, header_handler));

/// Returns the hook point at this offset of the SAPI's structure.
const fn of_sapi<F: Copy>(distance: usize) -> HookPoint<F> {
    HookPoint::at((&raw mut sys::sapi_module).wrapping_byte_add(distance))
}
