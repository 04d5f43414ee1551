//! Functions and state of the engine: its classes, calls of PHP code, interrupts, warnings.

use crate::{
    Class, Frame, Function, Object, Owned, Str, Text, Thrown, Value, declare,
    exception::{self, c_text},
    globals::{self, Global, Table},
    sys,
    text::OwnedText,
    zeroed,
};
use std::{
    cell::Cell,
    ffi::{CStr, c_int, c_void},
    mem::{ManuallyDrop, offset_of},
};

// SAFETY: these variables have these types; the classes are set before modules start. The function never returns, which a function
// pointer's type cannot express.
unsafe extern "C" {
    safe static std_object_handlers: Global<sys::zend_object_handlers>;
    safe static sapi_module: Global<sys::sapi_module_struct>;
    safe static zend_ce_closure: Global<Option<Class>>;
    safe static zend_ce_throwable: Global<Option<Class>>;
    safe static zend_ce_stringable: Global<Option<Class>>;
    safe static zend_ce_weakref: Global<Option<Class>>;
    safe static zend_ce_aggregate: Global<Option<Class>>;
    safe static zend_ce_iterator: Global<Option<Class>>;
    safe static zend_ce_countable: Global<Option<Class>>;
    safe static zend_ce_value_error: Global<Option<Class>>;

    safe fn spindle_bailout() -> !;
}

declare! {
    // Frames are of calls in progress. Texts are copied; callbacks are functions of this module. What is written is a place without a
    // counted value.
    safe fn php_check_open_basedir_ex(path: Text<'_>, warns: c_int) -> c_int;
    safe fn zend_is_callable_ex(
        callable: &Value,
        object: Option<&Object>,
        flags: u32,
        name: Option<&mut Option<Owned<Str>>>,
        callee: &Cell<sys::zend_fcall_info_cache>,
        error: &mut Option<OwnedText>,
    ) -> bool;
    safe fn object_init_ex(object: &mut Value, class: Class) -> c_int;
    safe fn spindle_weak_target(reference: &Object, target: &mut Value);
    safe fn spindle_backtrace(result: &mut Value, frame: Frame, options: c_int, limit: c_int);
    safe fn spindle_running_vm_stack() -> sys::spindle_vm_stack;
    safe fn spindle_vm_interrupt_set();
    safe fn spindle_warning_at(file: Option<&Str>, line: u32, text: Text<'_>);
    safe fn spindle_warning_here(file: Option<&Str>, line: u32, text: Text<'_>);
    safe fn spindle_report_at(file: Text<'_>, line: u32, text: Text<'_>, reporting: c_int);
    safe fn spindle_print(text: &Str);
    safe fn spindle_output_begin(with_handlers: bool);
    safe fn spindle_output_is_shared() -> bool;
    safe fn zend_observer_error_register(observer: ErrorObserver);
    #[allow(improper_ctypes, reason = "C passes the `Vec` on, and does not read it")]
    safe fn spindle_each_engine_extension(
        each: for<'a> extern "C" fn(&'a mut Vec<String>, Text<'a>),
        names: &mut Vec<String>,
    );
    safe fn spindle_base_frame_enter() -> bool;
    safe fn spindle_base_frame_leave();
    safe fn spindle_call_observers(executor: usize) -> u32;
}

/// Returns the class in a global variable of the engine, which is set before modules start.
#[inline(always)]
fn class_in(global: &Global<Option<Class>>) -> Class {
    global.read(|class| class.expect("the engine has its classes"))
}

/// Returns the class `Closure`.
#[inline(always)]
pub fn closure_class() -> Class {
    class_in(&zend_ce_closure)
}

/// Returns the interface `Throwable`.
pub fn throwable_class() -> Class {
    class_in(&zend_ce_throwable)
}

/// Returns the interface `Stringable`.
pub fn stringable_class() -> Class {
    class_in(&zend_ce_stringable)
}

/// Returns the class `WeakReference`.
pub fn weak_reference_class() -> Class {
    class_in(&zend_ce_weakref)
}

/// Returns the interface `IteratorAggregate`.
pub fn aggregate_class() -> Class {
    class_in(&zend_ce_aggregate)
}

/// Returns the interface `Iterator`.
pub fn iterator_class() -> Class {
    class_in(&zend_ce_iterator)
}

/// Returns the interface `Countable`.
pub fn countable_class() -> Class {
    class_in(&zend_ce_countable)
}

/// Returns the class `ValueError`.
pub fn value_error_class() -> Class {
    class_in(&zend_ce_value_error)
}

/// Returns a copy of the present handlers of objects of PHP classes.
pub fn standard_handlers() -> sys::zend_object_handlers {
    std_object_handlers.read(|handlers| *handlers)
}

/// Calls a callable with these arguments. Returns its result, or `Value::UNDEF` if an exception was thrown.
pub fn call(callable: &Value, arguments: &mut [Value]) -> Value {
    let mut result = Value::NULL;
    let (count, values) = (arguments.len() as u32, arguments.as_mut_ptr().cast());
    // SAFETY: valid values, which the call borrows, and a place for the result.
    unsafe { sys::spindle_call_closure(callable.as_raw().cast_mut(), result.as_mut_raw(), count, values) };
    result
}

/// Returns `true` if the value can be called.
pub fn is_callable(value: &Value) -> bool {
    resolve(value, &Cell::new(zeroed())).is_ok()
}

/// Resolves a callable into `call`. Its function is null if the engine creates one for each call.
///
/// # Errors
/// It is none, for this reason; `None` if that was thrown.
pub(crate) fn resolve(callable: &Value, call: &Cell<sys::zend_fcall_info_cache>) -> Result<(), Option<OwnedText>> {
    let mut error = None;
    if !zend_is_callable_ex(callable, None, 0, None, call, &mut error) {
        return Err(error);
    }
    // SAFETY: the place is filled. A temporary function is freed and made again when it is called.
    unsafe { sys::zend_release_fcall_info_cache(call.as_ptr()) };
    Ok(())
}

/// Resolves a callable into `call`, and throws if that cannot be.
///
/// # Errors
/// It is none, which has been thrown.
pub fn resolve_or_throw(callable: &Value, call: &Cell<sys::zend_fcall_info_cache>) -> Result<(), Thrown> {
    resolve(callable, call).map_err(|error| match error {
        Some(_) => exception::throw_error(&format!("A value of type {} cannot be called", callable.type_name())),
        None => Thrown::is_in_flight(),
    })
}

/// Calls a method of an object with these arguments. Returns its result, or `Value::UNDEF` if an exception was thrown.
///
/// # Panics
/// The method is static, or not one of the object's class.
pub fn call_method(object: &Object, method: Function, arguments: &mut [Value]) -> Value {
    let is_its_own = method.class().is_some_and(|class| object.is_a(class));
    assert!(is_its_own && method.flags() & sys::ZEND_ACC_STATIC == 0, "the method is not one of the object's");
    let mut result = Value::UNDEF;
    let (count, values) = (arguments.len() as u32, arguments.as_mut_ptr().cast());
    let (class, place) = (object.class().as_raw(), result.as_mut_raw());
    // SAFETY: a method of the object's class, valid values, which the call borrows, and a place for the result.
    unsafe {
        sys::zend_call_known_function(
            method.as_raw(),
            object.as_raw(),
            class,
            place,
            count,
            values,
            std::ptr::null_mut(),
        );
    };
    result
}

/// Compiles and evaluates an expression of PHP code. `name` is the name of its file in messages.
///
/// # Errors
/// The code has thrown, or is not PHP code.
pub fn evaluate(code: &str, name: &CStr) -> Result<Value, Thrown> {
    let code = c_text(code);
    let mut result = Value::NULL;
    // SAFETY: terminated texts, the length of the first one, and a place for the result.
    unsafe { sys::zend_eval_stringl(code.as_ptr(), code.count_bytes(), result.as_mut_raw(), name.as_ptr()) };
    if !exception::is_in_flight() { Ok(result) } else { Err(Thrown::is_in_flight()) }
}

/// Requests an interrupt: the engine stops PHP code between two instructions as soon as possible.
#[inline(always)]
pub fn request_interrupt() {
    spindle_vm_interrupt_set();
}

/// Raises a warning at a file and line; without a file at the position of the running code.
pub fn warn_at(file: Option<&Str>, line: u32, text: &CStr) {
    spindle_warning_at(file, line, Text::of(text));
}

/// Displays and logs a warning at a file and line as PHP does, if this level of error reporting (`E_…`) includes it. The error
/// handler of user code is not called.
pub fn report_at(file: &str, line: u32, text: &str, reporting: i32) {
    let (file, text) = (c_text(file), c_text(text));
    spindle_report_at(Text::of(&file), line, Text::of(&text), reporting);
}

/// A function that is called at each error, warning and notice: its kind (`E_…`), file, line and message.
pub type ErrorObserver = extern "C" fn(c_int, Option<&Str>, u32, Option<&Str>);

/// Registers a function that is called at each error before it is handled. At module start.
pub fn observe_errors(observer: ErrorObserver) {
    zend_observer_error_register(observer);
}

/// Raises a warning at the position of the running code; at this file and line if none runs.
pub fn warn_here(file: Option<&Str>, line: u32, text: &CStr) {
    spindle_warning_here(file, line, Text::of(text));
}

/// Prints a text, through output buffers.
pub fn print(text: &str) {
    let text = ManuallyDrop::new(Str::new(text));
    // Output handlers may run PHP code and bail out: then the text is the heap's.
    spindle_print(&text);
    drop(ManuallyDrop::into_inner(text));
}

/// Returns the text of an ini setting.
pub fn setting(name: &CStr) -> String {
    let Some(entry) = setting_entry(name) else { return String::new() };
    // SAFETY: null, or a string that the entry holds.
    unsafe { Str::borrow(entry.value) }.map_or(String::new(), Str::to_text)
}

/// Returns the value of an ini setting as an integer.
pub fn number_setting(name: &CStr) -> i64 {
    // SAFETY: a terminated name and its length.
    unsafe { sys::zend_ini_long(name.as_ptr().cast_mut(), name.count_bytes(), 0) }
}

/// Returns the description of an ini setting, as its extension has registered it.
pub fn setting_entry(name: &CStr) -> Option<&'static sys::zend_ini_entry> {
    let entry = Table::Settings.get().get_text(name.to_bytes())?.as_pointer()?.cast();
    // SAFETY: the values of this table are entries, which last as long as their extension.
    Some(unsafe { entry.as_ref() })
}

/// Returns the name of the SAPI.
pub fn sapi_name() -> &'static CStr {
    let name = sapi_module.read(|sapi| sapi.name);
    // SAFETY: a terminated text, which the SAPI keeps.
    unsafe { CStr::from_ptr(name) }
}

/// Sets the status with which the process ends.
pub fn set_exit_status(status: i32) {
    globals::exit_status().set(status);
}

/// Returns the path of the script that the SAPI runs, as it was given; `None` if it runs none.
pub fn script_path() -> Option<String> {
    let path = globals::server(|sg| sg.request_info.path_translated);
    // SAFETY: null, or a terminated text of the SAPI's.
    unsafe { Text::from_raw(path) }.map(|path| path.get().to_string_lossy().into_owned())
}

/// Returns `true` if the setting `open_basedir` lets this file be opened.
pub fn may_open(path: &CStr) -> bool {
    php_check_open_basedir_ex(Text::of(path), 0) == 0
}

/// Returns `true` if there is a global variable of this name.
pub fn has_global_variable(name: &CStr) -> bool {
    Table::Variables.get().get_text(name.to_bytes()).is_some()
}

/// Returns the number of files that run besides the script's own: `auto_prepend_file` and `auto_append_file`.
pub fn added_files() -> u32 {
    let files = globals::core(|pg| [pg.auto_prepend_file, pg.auto_append_file]);
    // SAFETY: null, or terminated texts.
    let texts = files.into_iter().filter_map(|file| unsafe { Text::from_raw(file) });
    texts.filter(|file| !file.get().is_empty()).count() as u32
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

/// Returns the address of the engine's running fiber; 0 if there is none.
pub fn fiber_address() -> usize {
    globals::executor(|eg| eg.active_fiber.addr())
}

/// Returns the address of the pointer to the innermost frame, to be read from other threads through the kernel.
pub fn current_frame_address() -> usize {
    (&raw const sys::executor_globals).addr() + offset_of!(sys::zend_executor_globals, current_execute_data)
}

/// Calls `body`. Returns `false` if it has bailed out. The destructors of values that were alive in it then do not run.
pub fn guarded<F: FnOnce()>(body: F) -> bool {
    unsafe extern "C" fn run<F: FnOnce()>(body: *mut c_void) {
        // SAFETY: the place below, which no other code uses meanwhile.
        let body = unsafe { &mut *body.cast::<Option<F>>() };
        if let Some(body) = body.take() {
            body();
        }
    }
    let mut body = Some(body);
    // SAFETY: the function is called once with this place, which is alive meanwhile.
    unsafe { sys::spindle_guarded(Some(run::<F>), (&raw mut body).cast()) }
}

/// Bails out: continues at the innermost place that catches bailouts.
pub fn bail_out() -> ! {
    spindle_bailout()
}

/// A position of the engine's stack of frames.
pub struct VmStack(sys::spindle_vm_stack);

impl VmStack {
    /// Returns the present position.
    pub fn current() -> VmStack {
        VmStack(spindle_running_vm_stack())
    }

    /// Returns it as C has it.
    pub fn as_raw(&self) -> *const sys::spindle_vm_stack {
        &raw const self.0
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

/// Makes the present output buffers, or none, those of the request, before any of its code runs.
pub fn begin_output(with_handlers: bool) {
    spindle_output_begin(with_handlers);
}

/// Returns `true` if the request has begun with output buffers.
pub fn is_output_shared() -> bool {
    spindle_output_is_shared()
}

/// Returns the names of the files of the engine's own extensions (`zend_extension`), without their folders.
pub fn engine_extensions() -> Vec<String> {
    extern "C" fn add(names: &mut Vec<String>, path: Text<'_>) {
        names.extend(path.get().to_string_lossy().rsplit('/').next().map(str::to_owned));
    }
    let mut names = Vec::new();
    spindle_each_engine_extension(add, &mut names);
    names
}

/// Runs `what`, which may take the exceptions of the code that it calls, even where no code is running, as after the script's own:
/// without a frame, the engine immediately reports each exception as uncaught.
pub fn in_a_frame(what: impl FnOnce()) {
    let is_entered = spindle_base_frame_enter();
    what();
    if is_entered {
        spindle_base_frame_leave();
    }
}

/// How the engine lets extensions see calls of functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallObservers {
    /// The executor is not the engine's.
    pub executor: bool,
    /// Calls of internal functions go through an extension.
    pub internal_calls: bool,
    /// There are observers of functions (`zend_observer_fcall_register`).
    pub functions: bool,
}

/// Returns how calls are observed, with `executor` as the executor.
pub fn call_observers(executor: usize) -> CallObservers {
    let bits = spindle_call_observers(executor);
    CallObservers { executor: bits & 1 != 0, internal_calls: bits & 2 != 0, functions: bits & 4 != 0 }
}

/// Returns the object that a `WeakReference` refers to, if it still exists.
pub fn weak_target(reference: &Object) -> Value {
    let mut result = Value::NULL;
    spindle_weak_target(reference, &mut result);
    result
}

/// Returns a new object of a class, whose constructor is not called.
///
/// # Errors
/// The class cannot be instantiated (it is abstract, or the like).
pub fn new_object(class: Class) -> Result<Owned<Object>, Thrown> {
    let mut value = Value::UNDEF;
    let made = object_init_ex(&mut value, class);
    match value.as_object() {
        Some(object) if made == sys::SUCCESS => Ok(Owned::of(object)),
        _ => Err(Thrown::is_in_flight()),
    }
}

/// Returns the backtrace from a frame on, as `debug_backtrace()` does.
pub fn backtrace(frame: Frame, options: i32, limit: i32) -> Value {
    let mut result = Value::UNDEF;
    spindle_backtrace(&mut result, frame, options, limit);
    result
}

/// Returns the levels of error reporting that are enabled.
pub fn error_reporting() -> i32 {
    globals::error_reporting().get()
}

/// Disables these levels of error reporting (`E_…`). Returns those that were enabled.
pub fn silence(levels: i32) -> i32 {
    let before = globals::error_reporting().get();
    globals::error_reporting().set(before & !levels);
    before & levels
}

/// Enables these levels of error reporting again.
pub fn unsilence(levels: i32) {
    globals::error_reporting().set(globals::error_reporting().get() | levels);
}
