//! Declarations of functions and classes in Rust, without a table in C.

use crate::{
    Call, Class, Frame, Handler, ObjectClass, PhpResult, State, Thrown, Value, ValueCell, exception, globals, sys,
    zeroed,
};
use std::{ffi::CStr, mem, ptr};

/// A type in a declaration. The type of a parameter is only informative, because functions convert their
/// [`Arguments`](crate::Arguments) themselves; that of a result is checked when the function returns.
#[derive(Clone, Copy)]
pub struct Type(u32, Option<&'static CStr>);

impl Type {
    /// No declared type: that of constructors, which return nothing.
    pub const NONE: Type = Type::of(0);
    /// Anything.
    pub const MIXED: Type =
        Type::of(Type::NULL.0 | Type::SCALAR.0 | Type::ARRAY.0 | Type::OBJECT.0 | 1 << sys::IS_RESOURCE);
    /// Nothing: the result is `null`.
    pub const VOID: Type = Type::of(1 << sys::IS_VOID);
    /// `null`.
    pub const NULL: Type = Type::of(1 << sys::IS_NULL);
    /// `false` or `true`.
    pub const BOOL: Type = Type::of(1 << sys::IS_FALSE | 1 << sys::IS_TRUE);
    /// An integer.
    pub const INT: Type = Type::of(1 << sys::IS_LONG);
    /// A float.
    pub const FLOAT: Type = Type::of(1 << sys::IS_DOUBLE);
    /// A string.
    pub const STRING: Type = Type::of(1 << sys::IS_STRING);
    /// An array.
    pub const ARRAY: Type = Type::of(1 << sys::IS_ARRAY);
    /// An object of any class.
    pub const OBJECT: Type = Type::of(1 << sys::IS_OBJECT);
    /// A callable. As the type of a result it admits nothing.
    pub const CALLABLE: Type = Type::of(1 << sys::IS_CALLABLE);
    const SCALAR: Type = Type::of(Type::BOOL.0 | Type::INT.0 | Type::FLOAT.0 | Type::STRING.0);

    /// `iterable`: an array or a `Traversable`.
    pub const ITERABLE: Type = Type(sys::SPINDLE_TYPE_NAME | Type::ARRAY.0, Some(c"Traversable"));

    /// Returns the type that also admits `null`.
    #[must_use]
    pub const fn or_null(self) -> Type {
        Type(self.0 | Type::NULL.0, self.1)
    }

    /// Returns the type of objects of the class with this name.
    pub const fn class(name: &'static CStr) -> Type {
        Type(sys::SPINDLE_TYPE_NAME, Some(name))
    }

    const fn of(types: u32) -> Type {
        Type(types, None)
    }

    /// Returns `true` if a function of this type may return the value. None admits the undefined value.
    #[inline(always)]
    fn admits(self, value: &Value) -> bool {
        let types = match self.0 {
            types if types == Type::VOID.0 || types == Type::NONE.0 => Type::NULL.0,
            types if self.1.is_some() => types | Type::OBJECT.0,
            types => types,
        };
        types & 1 << value.type_number() != 0
    }

    const fn as_raw(self) -> sys::zend_type {
        // The engine replaces the name by a string of its own when it registers the function.
        let name = match self.1 {
            Some(name) => name.as_ptr(),
            None => ptr::null(),
        };
        sys::zend_type { ptr: name.cast_mut().cast(), type_mask: self.0 }
    }
}

/// A parameter of a declared function.
#[derive(Clone, Copy)]
pub struct Parameter {
    name: &'static CStr,
    kind: Type,
    default: Option<&'static CStr>,
}

impl Parameter {
    /// Returns a parameter with this name, which ends with a zero. `default` is its default as PHP code, for one that
    /// may be omitted.
    ///
    /// # Panics
    /// The name does not end with a zero, or has another one.
    pub const fn new(name: &'static str, kind: Type, default: Option<&'static CStr>) -> Parameter {
        match CStr::from_bytes_with_nul(name.as_bytes()) {
            Ok(name) => Parameter { name, kind, default },
            Err(_) => panic!("a name ends with its only zero"),
        }
    }
}

/// Returns how many of these parameters have to be passed: those up to the last one without a default.
pub const fn required(parameters: &[Parameter]) -> u32 {
    let mut count = parameters.len();
    while count > 0 && parameters[count - 1].default.is_some() {
        count -= 1;
    }
    count as u32
}

/// A declared function or method: see [`function_table!`](crate::function_table).
#[derive(Clone, Copy)]
pub struct FunctionEntry {
    name: &'static CStr,
    parameters: &'static [Parameter],
    result: Type,
    handler: DeclaredHandler,
}

/// A [`Handler`] with the types of what the engine passes.
pub type DeclaredHandler = extern "C" fn(Frame, &ValueCell);

/// Returns the handler with the engine's type.
pub const fn as_handler(handler: DeclaredHandler) -> Handler {
    // SAFETY: these types of parameters have the representation of the pointers that the engine passes.
    unsafe { mem::transmute::<DeclaredHandler, Handler>(handler) }
}

impl FunctionEntry {
    /// Returns the entry of a function.
    ///
    /// # Safety
    /// The handler is [`run_declared`] with the same type of the result.
    pub const unsafe fn new(
        name: &'static CStr,
        parameters: &'static [Parameter],
        result: Type,
        handler: DeclaredHandler,
    ) -> FunctionEntry {
        FunctionEntry { name, parameters, result, handler }
    }

    /// Returns the engine's entry, which lasts as long as the process.
    fn as_raw(&self) -> sys::zend_function_entry {
        // The first element describes the result, with the number of required parameters in place of a name.
        let result = argument(ptr::without_provenance(required(self.parameters) as usize), self.result, None);
        let parameters = self
            .parameters
            .iter()
            .map(|parameter| argument(parameter.name.as_ptr(), parameter.kind, parameter.default));
        let arguments: Vec<_> = std::iter::once(result).chain(parameters).collect();
        let mut entry: sys::zend_function_entry = zeroed();
        entry.fname = self.name.as_ptr();
        entry.handler = Some(as_handler(self.handler));
        entry.arg_info = Vec::leak(arguments).as_ptr();
        entry.num_args = self.parameters.len() as u32;
        entry
    }
}

fn argument(name: *const std::ffi::c_char, kind: Type, default: Option<&CStr>) -> sys::zend_internal_arg_info {
    let default_value = default.map_or(ptr::null(), CStr::as_ptr);
    sys::zend_internal_arg_info { name, type_: kind.as_raw(), default_value }
}

/// Runs the body of a declared function for a call by the engine with at least `least` and at most `most` arguments, and stores
/// its result as [`checked`] returns it.
#[inline(always)]
pub fn run_declared(
    frame: Frame,
    result: &ValueCell,
    (least, most): (u32, u32),
    declared: Type,
    body: impl FnOnce(Call) -> PhpResult,
) {
    let call = Call::of(frame);
    match call.arguments(least, most).and_then(|_| body(call)) {
        Ok(value) if declared.admits(&value) && !exception::is_in_flight() => result.begin(value),
        unusual => store_checked(result, unusual, declared),
    }
}

#[cold]
fn store_checked(result: &ValueCell, returned: PhpResult, declared: Type) {
    if let Ok(value) = checked(returned, declared) {
        result.begin(value);
    }
}

/// Returns the result of a body, with `null` in place of no value.
///
/// # Errors
/// The exception that it has thrown; or an `Error` if its result has another type, because the engine's optimizer
/// relies on it, or if it has returned an error without having thrown an exception.
#[inline(always)]
pub fn checked(result: PhpResult, declared: Type) -> PhpResult {
    match result {
        Ok(value) if declared.admits(&value) && !exception::is_in_flight() => Ok(value),
        other => checked_further(other, declared),
    }
}

#[inline(never)]
fn checked_further(result: PhpResult, declared: Type) -> PhpResult {
    match result {
        Err(_) if !exception::is_in_flight() => {
            Err(exception::throw_error("A function has failed, and has thrown nothing"))
        }
        Err(thrown) => Err(thrown),
        Ok(_) if exception::is_in_flight() => Err(Thrown::is_in_flight()),
        Ok(value) => {
            let value = value.some().unwrap_or(Value::NULL);
            if !declared.admits(&value) {
                let text = format!("A function has returned {}, against its declaration", value.type_name());
                return Err(exception::throw_error(&text));
            }
            Ok(value)
        }
    }
}

/// Returns the engine's table of these functions, which lasts as long as the process.
fn leak(entries: impl Iterator<Item = sys::zend_function_entry>) -> *const sys::zend_function_entry {
    Vec::leak(entries.chain([zeroed()]).collect::<Vec<_>>()).as_ptr()
}

/// Adds functions to an extension, which the engine registers and removes with its other functions.
///
/// # Safety
/// The extension is not registered yet, and its table ends with an entry without a name.
pub unsafe fn add_functions(module: *mut sys::zend_module_entry, added: impl Iterator<Item = &'static FunctionEntry>) {
    // SAFETY: the caller's promise.
    let table = unsafe { &raw mut (*module).functions };
    // SAFETY: as above.
    let first = unsafe { table.read() };
    // SAFETY: as above: all entries up to the one without a name.
    let own = (0..).map(|index| unsafe { first.wrapping_add(index).read() }).take_while(|entry| !entry.fname.is_null());
    let all = leak(own.chain(added.map(FunctionEntry::as_raw)));
    // SAFETY: as above.
    unsafe { table.write(all) };
}

/// Adds these functions, except those that exist already, until [`forget_functions`]. Their names are in lower case. Code that was
/// compiled before finds them, too.
pub fn make_functions(functions: &'static [FunctionEntry]) {
    let table = leak(functions.iter().map(FunctionEntry::as_raw));
    // SAFETY: a table that stays, and ends with an entry without a name.
    unsafe { sys::spindle_functions_add(table) };
}

/// Removes the functions that [`make_functions`] has made. At the end of the engine's request.
pub fn forget_functions() {
    // SAFETY: no code of the request runs any more that could look them up.
    unsafe { sys::spindle_functions_remove() };
}

impl<T: State> ObjectClass<T> {
    /// Registers this final class with the extension that is starting, with these methods and static methods.
    ///
    /// # Panics
    /// No extension is starting.
    pub fn declare(&self, name: &CStr, methods: &[FunctionEntry], statics: &[FunctionEntry]) -> Class {
        let methods = class_table(methods, statics);
        // SAFETY: module start; a name with its length, and a table that stays.
        let class = unsafe { sys::spindle_class_declare(name.as_ptr(), name.count_bytes(), methods) };
        // SAFETY: just registered, for as long as the process.
        let class = unsafe { Class::from_raw(class) }.expect("the engine registers classes, or ends");
        self.register(class, sys::ZEND_ACC_FINAL | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
        class
    }
}

/// Returns the engine's table of the methods of a class.
fn class_table(methods: &[FunctionEntry], statics: &[FunctionEntry]) -> *const sys::zend_function_entry {
    assert!(globals::executor(|eg| !eg.current_module.is_null()), "classes are declared while the module starts");
    let statics = statics.iter().map(|entry| {
        let mut entry = entry.as_raw();
        entry.flags = sys::ZEND_ACC_PUBLIC | sys::ZEND_ACC_STATIC;
        entry
    });
    leak(methods.iter().map(FunctionEntry::as_raw).chain(statics))
}

/// Registers a class of the extension that is starting, which extends a class of it or of an extension that has started: the
/// module entry has to name that one as a dependency. It has the parent's methods, and these.
///
/// # Panics
/// No extension is starting.
pub fn declare_class_extending(
    name: &CStr,
    parent: Class,
    methods: &'static [FunctionEntry],
    statics: &'static [FunctionEntry],
) -> Class {
    let methods = class_table(methods, statics);
    let (name, length) = (name.as_ptr(), name.count_bytes());
    // SAFETY: module start; a name with its length, a table that stays, and a class that is registered.
    let class = unsafe { sys::spindle_class_declare_extending(name, length, methods, parent.as_raw()) };
    // SAFETY: just registered, for as long as the process.
    unsafe { Class::from_raw(class) }.expect("the engine registers classes, or ends")
}

/// Declares functions, or methods of a class, each with a body that takes the [`Call`] and returns a [`PhpResult`]:
///
/// ```no_run
/// use spindle_zend::{Call, PhpResult, Type, function_table};
///
/// function_table! {
///     /// The functions.
///     pub static FUNCTIONS = {
///         c"Example\\sum"(first: Type::INT, second: Type::INT => c"0") -> Type::INT => sum;
///     }
/// }
///
/// fn sum(call: Call) -> PhpResult {
///     let arguments = call.passed();
///     Ok((arguments.long(1)?.wrapping_add(arguments.long_or(2, 0)?)).into())
/// }
/// ```
///
/// The text after `=>` is the parameter's default, as PHP code. A call with too few or too many arguments throws an
/// `ArgumentCountError`; the body gets [those that were passed](Call::passed).
#[macro_export]
macro_rules! function_table {
    ($(#[$attribute:meta])* $visibility:vis static $table:ident = {$(
        $name:literal($($parameter:ident: $kind:expr $(=> $default:literal)?),* $(,)?) -> $result:expr => $body:expr;
    )*}) => {
        $(#[$attribute])*
        $visibility static $table: &[$crate::FunctionEntry] = &[$({
            const RESULT: $crate::Type = $result;
            const PARAMETERS: &[$crate::Parameter] = &[$(
                $crate::Parameter::new(concat!(stringify!($parameter), "\0"), $kind, $crate::function_table!(@ $($default)?)),
            )*];
            extern "C" fn handler(frame: $crate::Frame, result: &$crate::ValueCell) {
                const COUNT: (u32, u32) = ($crate::required(PARAMETERS), PARAMETERS.len() as u32);
                $crate::run_declared(frame, result, COUNT, RESULT, $body);
            }
            // SAFETY: the handler of just this.
            unsafe { $crate::FunctionEntry::new($name, PARAMETERS, RESULT, handler) }
        },)*];
    };
    (@) => { None };
    (@ $default:literal) => { Some($default) };
}
