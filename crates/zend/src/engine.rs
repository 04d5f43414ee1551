//! What the engine knows and does: its classes, calls of PHP code, interrupts, warnings.

use crate::{Class, Frame, Object, Owned, Str, Thrown, Value, exception::c_text, globals, sys};
use std::{
    ffi::{CStr, c_char, c_int, c_void},
    mem,
    mem::{ManuallyDrop, offset_of},
    ptr,
};

/// Returns the class in a global variable of the engine, which is set before modules start.
fn class_in(global: *const *mut sys::zend_class_entry) -> Class {
    // SAFETY: as said above.
    Class::of_live(unsafe { global.read() })
}

/// Returns the class `Closure`.
#[inline(always)]
pub fn closure_class() -> Class {
    class_in(&raw const sys::zend_ce_closure)
}

/// Returns the interface `Throwable`.
pub fn throwable_class() -> Class {
    class_in(&raw const sys::zend_ce_throwable)
}

/// Returns the interface `Stringable`.
pub fn stringable_class() -> Class {
    class_in(&raw const sys::zend_ce_stringable)
}

/// Returns the class `WeakReference`.
pub fn weak_reference_class() -> Class {
    class_in(&raw const sys::zend_ce_weakref)
}

/// Calls a callable with these arguments, and returns its result: `Value::UNDEF` if something was thrown.
pub fn call(callable: &Value, arguments: &mut [Value]) -> Value {
    let mut result = Value::NULL;
    let (count, values) = (arguments.len() as u32, arguments.as_mut_ptr().cast());
    // SAFETY: valid values, which the call borrows, and a place for the result.
    unsafe { sys::spindle_call_closure(callable.as_raw().cast_mut(), result.as_mut_raw(), count, values) };
    result
}

/// Asks the engine to stop PHP code between two instructions, at the next occasion.
#[inline(always)]
pub fn request_interrupt() {
    // SAFETY: an atomic flag, made to be set from anywhere.
    unsafe { sys::spindle_vm_interrupt_set() };
}

/// Raises a warning at a file and line; without a file where the running code is.
pub fn warn_at(file: Option<&Str>, line: u32, text: &CStr) {
    let file = file.map_or(ptr::null_mut(), Str::as_raw);
    // SAFETY: null or a live string, and a terminated text.
    unsafe { sys::spindle_warning_at(file, line, text.as_ptr()) };
}

/// Displays and logs a warning at a file and line as PHP does, if this level of error reporting (`E_…`) includes it. The error
/// handler of user code is not called.
pub fn report_at(file: &str, line: u32, text: &str, reporting: i32) {
    let (file, text) = (c_text(file), c_text(text));
    // SAFETY: two terminated texts.
    unsafe { sys::spindle_report_at(file.as_ptr(), line, text.as_ptr(), reporting) };
}

/// A function that is called at each error, warning and notice: its kind (`E_…`), file, line and message.
pub type ErrorObserver = extern "C" fn(c_int, Option<&Str>, u32, Option<&Str>);

/// Lets a function be called at each error, before it is handled. At module start.
pub fn observe_errors(observer: ErrorObserver) {
    // SAFETY: these types of parameters have the representation of the pointers that the engine passes.
    let observer = unsafe { mem::transmute::<ErrorObserver, ErrorObserverInC>(observer) };
    // SAFETY: modules start.
    unsafe { sys::zend_observer_error_register(Some(observer)) };
}

type ErrorObserverInC = unsafe extern "C" fn(c_int, *mut sys::zend_string, u32, *mut sys::zend_string);

/// Raises a warning where the running code is; at this file and line where none runs.
pub fn warn_here(file: Option<&Str>, line: u32, text: &CStr) {
    let file = file.map_or(ptr::null_mut(), Str::as_raw);
    // SAFETY: null or a live string, and a terminated text.
    unsafe { sys::spindle_warning_here(file, line, text.as_ptr()) };
}

/// Prints a text, through output buffers.
pub fn print(text: &str) {
    let text = ManuallyDrop::new(Str::new(text));
    // SAFETY: a live string, which this call holds. Its output handlers may run PHP code and bail out: then it is the heap's.
    unsafe { sys::spindle_print(text.as_raw()) };
    drop(ManuallyDrop::into_inner(text));
}

/// Returns the text of an ini setting.
pub fn setting(name: &CStr) -> String {
    // SAFETY: a terminated name.
    let value = unsafe { sys::zend_ini_string(name.as_ptr().cast_mut(), name.count_bytes(), 0) };
    if value.is_null() {
        return String::new();
    }
    // SAFETY: a terminated text that the engine keeps.
    unsafe { CStr::from_ptr(value) }.to_string_lossy().into_owned()
}

/// Returns the number that is the value of an ini setting.
pub fn number_setting(name: &CStr) -> i64 {
    // SAFETY: a terminated name and its length.
    unsafe { sys::zend_ini_long(name.as_ptr().cast_mut(), name.count_bytes(), 0) }
}

/// Returns the description of an ini setting, as its extension has registered it.
pub fn setting_entry(name: &CStr) -> Option<&'static sys::zend_ini_entry> {
    // SAFETY: a global of the engine.
    let table = unsafe { sys::executor_globals.ini_directives };
    // SAFETY: the engine's table, and a name with its length.
    let found = unsafe { sys::zend_hash_str_find(table, name.as_ptr(), name.count_bytes()) };
    // SAFETY: null, or a value of the table.
    let value = unsafe { found.as_ref() }?;
    // SAFETY: its values are pointers.
    let entry = unsafe { value.value.ptr };
    // SAFETY: to entries, which last as long as their extension.
    unsafe { entry.cast::<sys::zend_ini_entry>().as_ref() }
}

/// Returns the name of the SAPI.
pub fn sapi_name() -> &'static CStr {
    // SAFETY: a field of a global of the engine.
    let name = unsafe { sys::sapi_module.name };
    // SAFETY: a terminated text, which the SAPI keeps.
    unsafe { CStr::from_ptr(name) }
}

/// Returns `true` if there is a global variable of this name.
pub fn has_global_variable(name: &CStr) -> bool {
    let variables = globals::executor(|eg| ptr::from_ref(&eg.symbol_table));
    // SAFETY: a live table; pointer and length of a text.
    !unsafe { sys::zend_hash_str_find(variables, name.as_ptr(), name.count_bytes()) }.is_null()
}

/// Returns how many files run besides the script's own: `auto_prepend_file` and `auto_append_file`.
pub fn added_files() -> u32 {
    let files = globals::core(|pg| [pg.auto_prepend_file, pg.auto_append_file]);
    files.into_iter().filter(|file| is_text(*file)).count() as u32
}

fn is_text(text: *const c_char) -> bool {
    // SAFETY: null, or a terminated text.
    !text.is_null() && unsafe { *text } != 0
}

/// Returns `true` if sources may begin PHP code with `<?`.
pub fn has_short_tags() -> bool {
    globals::compiler(|cg| cg.short_tags)
}

/// Returns `true` after a fatal error.
pub fn has_bailed_out() -> bool {
    globals::compiler(|cg| cg.unclean_shutdown)
}

/// Returns `true` while PHP writes to its error log or runs an output handler.
pub fn is_writing() -> bool {
    globals::core(|pg| pg.in_error_log) || globals::output(|og| !og.running.is_null())
}

/// Returns the address of the running fiber of the engine's, 0 outside of them.
pub fn fiber_address() -> usize {
    globals::executor(|eg| eg.active_fiber.addr())
}

/// Returns the address of the pointer to the innermost frame, to be read from other threads through the kernel.
pub fn current_frame_address() -> usize {
    (&raw const sys::executor_globals).addr() + offset_of!(sys::zend_executor_globals, current_execute_data)
}

/// Calls `body`, and returns `true`; `false` if it was left by a bailout. Destructors of what was alive in it then do not run.
pub fn guarded<F: FnOnce()>(body: F) -> bool {
    unsafe extern "C" fn run<F: FnOnce()>(body: *mut c_void) {
        // SAFETY: the place below, which nobody else uses meanwhile.
        let body = unsafe { &mut *body.cast::<Option<F>>() };
        if let Some(body) = body.take() {
            body();
        }
    }
    let mut body = Some(body);
    // SAFETY: the function is called once with this place, which is alive meanwhile.
    unsafe { sys::spindle_guarded(Some(run::<F>), (&raw mut body).cast()) }
}

/// Leaves the running code for the innermost place that catches bailouts.
pub fn bail_out() -> ! {
    // SAFETY: the engine is always called below such a place.
    unsafe { sys::spindle_bailout() }
}

/// Where the stack of frames stands.
pub struct VmStack(sys::spindle_vm_stack);

impl VmStack {
    /// Returns where it stands now.
    pub fn current() -> VmStack {
        // SAFETY: reads globals of the engine.
        VmStack(unsafe { sys::spindle_running_vm_stack() })
    }

    /// Ends the code of a frame as `exit` does, after a bailout that has left it and what it has called.
    ///
    /// # Safety
    /// The stack stood there when the code of this frame began, on the C stack that runs.
    pub unsafe fn exit_from(&self, frame: Frame) {
        // SAFETY: the caller's promise.
        unsafe { sys::spindle_exits_here(frame.as_raw(), &self.0) };
    }
}

/// Notes which output buffers belong to the request, before any of its code runs: those that there are now, or none.
pub fn begin_output(with_handlers: bool) {
    // SAFETY: reads globals of the engine.
    unsafe { sys::spindle_output_begin(with_handlers) };
}

/// Returns `true` if the request has begun with output buffers.
pub fn is_output_shared() -> bool {
    // SAFETY: reads a flag.
    unsafe { sys::spindle_output_is_shared() }
}

/// Returns the names of the files of the engine's own extensions (`zend_extension`), without their folders.
pub fn engine_extensions() -> Vec<String> {
    unsafe extern "C" fn add(names: *mut c_void, path: *const c_char) {
        // SAFETY: the list below, which nobody else uses meanwhile.
        let names = unsafe { &mut *names.cast::<Vec<String>>() };
        // SAFETY: a terminated path.
        let path = unsafe { CStr::from_ptr(path) };
        names.extend(path.to_string_lossy().rsplit('/').next().map(str::to_owned));
    }
    let mut names: Vec<String> = Vec::new();
    // SAFETY: called with the list, which is alive meanwhile.
    unsafe { sys::spindle_each_engine_extension(Some(add), (&raw mut names).cast()) };
    names
}

/// Returns the object that a `WeakReference` refers to, if it is still there.
pub fn weak_target(reference: &Object) -> Value {
    let mut result = Value::NULL;
    // SAFETY: a live `WeakReference`, and a place for the result.
    unsafe { sys::spindle_weak_target(reference.as_raw(), result.as_mut_raw()) };
    result
}

/// Returns a new object of a class, whose constructor is not called.
///
/// # Errors
/// The class is abstract, or the like.
pub fn new_object(class: Class) -> Result<Owned<Object>, Thrown> {
    let mut value = Value::UNDEF;
    // SAFETY: a place for the object.
    let made = unsafe { sys::object_init_ex(value.as_mut_raw(), class.as_raw()) };
    match value.as_object() {
        Some(object) if made == sys::SUCCESS => Ok(Owned::of(object)),
        _ => Err(Thrown::is_in_flight()),
    }
}

/// Returns the backtrace from a frame on, as `debug_backtrace()` does.
pub fn backtrace(frame: Frame, options: i32, limit: i32) -> Value {
    let mut result = Value::UNDEF;
    // SAFETY: a place for the array, and frames of calls in progress.
    unsafe { sys::spindle_backtrace(result.as_mut_raw(), frame.as_raw(), options, limit) };
    result
}

/// Switches these levels of error reporting (`E_…`) off, and returns those that were on.
pub fn silence(levels: i32) -> i32 {
    // SAFETY: a global of the engine.
    let before = unsafe { sys::executor_globals.error_reporting };
    // SAFETY: as above.
    unsafe { sys::executor_globals.error_reporting = before & !levels };
    before & levels
}

/// Switches these levels of error reporting on again.
pub fn unsilence(levels: i32) {
    // SAFETY: a global of the engine.
    unsafe { sys::executor_globals.error_reporting |= levels };
}
