//! The class `Async\Syntax\Call`: what `spawn f($x)` is compiled to calls one. It has the parameters of what it stands for,
//! so the engine evaluates and passes the arguments as for the call itself, references and defaults included.

use crate::runtime::coroutine::{COROUTINE, UNRESOLVED};
use crate::runtime::scheduler::Core;
use crate::runtime::{classes, spawn};
use spindle_zend::{
    Call, Class, Collected, Frame, Function, Instance, Object, PhpResult, PhpStatic, State, Str, Thrown, Value,
    ValueCell, exception, functions, object_class, sys,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ptr::{addr_of_mut, null_mut};

/// The state of an object of the class.
pub struct SpawnCall {
    /// What will be called: a closure; none in objects made by reflection.
    closure: ValueCell,
    /// What is called in its place; null in objects made by reflection.
    proxy: Cell<*mut sys::zend_internal_function>,
}

object_class!(
    /// The class.
    pub static SPAWN_CALL: SpawnCall = create
);

functions! {
    zif_Async_Syntax_call => make;
    zim_Async_Syntax_Call___construct => |_| Ok(Value::NULL);
    // The method in the class's table: `[$call, '__invoke']` and reflection find this one.
    zim_Async_Syntax_Call___invoke => called;
}

/// Parameters, how many there are, and flags.
type Signature = (usize, u32, u32);

/// A proxy, and the name and type of each parameter when it was made. Names are compared by address: the engine keeps one
/// copy of each until the request ends.
struct Proxy {
    parameters: Vec<(usize, u32)>,
    function: Box<MaybeUninit<sys::zend_internal_function>>,
}

/// Proxies by what they take. The engine remembers by a function's address where its named arguments are, and compiled
/// code which of them are references. So another address means other parameters, also where those of a function that is
/// gone lay in the same place.
struct Proxies {
    by_signature: RefCell<BTreeMap<Signature, Vec<Proxy>>>,
    /// The proxy that was filled last, and for which function.
    filled: Cell<(*mut sys::zend_internal_function, *mut sys::zend_function)>,
}
static PROXIES: PhpStatic<Proxies> = PhpStatic::new(Proxies {
    by_signature: RefCell::new(BTreeMap::new()),
    filled: Cell::new((null_mut(), null_mut())),
});

/// Registers the class. At module start.
pub fn register() {
    SPAWN_CALL.register(classes::call(), create, sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |handlers| {
        handlers.get_closure = Some(get_closure);
        handlers.get_method = Some(get_method);
    });
}

/// The request is over: the functions that signatures are of are gone.
pub fn forget_all() {
    PROXIES.by_signature.borrow_mut().clear();
    PROXIES.filled.set((null_mut(), null_mut()));
}

impl State for SpawnCall {
    fn new(_: Class) -> SpawnCall {
        SpawnCall { closure: ValueCell::new(), proxy: Cell::new(null_mut()) }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.closure);
    }
}

/// Returns the proxy of an object that the engine hands out; null if it has none.
///
/// # Safety
/// Null, or a live object.
unsafe fn proxy_in(object: *mut sys::zend_object) -> *mut sys::zend_internal_function {
    // SAFETY: the caller's promise.
    let object = unsafe { Object::borrow(object) };
    object.and_then(|object| SPAWN_CALL.of(object)).map_or(null_mut(), |this| this.proxy.get())
}

unsafe extern "C" fn get_closure(
    object: *mut sys::zend_object,
    class: *mut *mut sys::zend_class_entry,
    function: *mut *mut sys::zend_function,
    this: *mut *mut sys::zend_object,
    _: bool,
) -> sys::zend_result {
    // SAFETY: the engine's own argument.
    let proxy = unsafe { proxy_in(object) };
    if proxy.is_null() {
        return sys::FAILURE;
    }
    // SAFETY: the engine's place for the class.
    unsafe { class.write(classes::call().as_raw()) };
    // SAFETY: its place for the function.
    unsafe { function.write(proxy.cast()) };
    // SAFETY: its place for `$this`, as which the object is kept alive.
    unsafe { this.write(object) };
    sys::SUCCESS
}

unsafe extern "C" fn get_method(
    object: *mut *mut sys::zend_object,
    name: *mut sys::zend_string,
    key: *const sys::zval,
) -> *mut sys::zend_function {
    // SAFETY: the engine's own argument.
    let this = unsafe { object.read() };
    // SAFETY: as above.
    let proxy = unsafe { proxy_in(this) };
    // SAFETY: as above.
    let is_invoke = unsafe { Str::borrow(name) }.is_some_and(|name| name.as_bytes().eq_ignore_ascii_case(b"__invoke"));
    if is_invoke && !proxy.is_null() {
        return proxy.cast();
    }
    // SAFETY: the engine's own arguments, passed on.
    unsafe { sys::zend_std_get_method(object, name, key) }
}

fn make(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 2)?;
    let of = arguments.value(2).map(|_| arguments.closure(2)).transpose()?;
    let callee = arguments.value(1).filter(|callee| callee.type_number() != sys::IS_NULL);
    let Some(callee) = callee else { return Ok(Value::NULL) };
    let of = of.map(Value::from);
    let closure = as_the_caller(call, || closure_of(callee, of.as_ref()))?;
    let this = SPAWN_CALL.make();
    this.closure.set(closure);
    // SAFETY: what a closure calls lasts as long as the closure.
    let function = unsafe { Function::from_raw(resolve(&this).function_handler) };
    this.proxy.set(function.map_or(null_mut(), proxy_of));
    Ok(this.into())
}

/// Returns the callee itself, or what the closure `of` makes of it.
///
/// # Errors
/// It is no closure.
fn closure_of(callee: &Value, of: Option<&Value>) -> PhpResult {
    let mut closure = Value::UNDEF;
    let of = of.map_or(null_mut(), |of| of.as_raw().cast_mut());
    // SAFETY: valid values, and a place for the closure.
    let is_made = unsafe { sys::spindle_closure_of(callee.as_raw().cast_mut(), of, closure.as_mut_raw()) };
    if is_made { Ok(closure) } else { Err(Thrown::is_in_flight()) }
}

/// Runs `what` as if the operator did it, and no function for it: that is in no trace of what it throws. A bailout ends the
/// request.
fn as_the_caller<R>(call: Call, what: impl FnOnce() -> R) -> R {
    let Some(caller) = call.caller() else { return what() };
    Frame::set_current(caller);
    let result = what();
    Frame::set_current(*call);
    result
}

/// Returns what takes arguments as this function does.
fn proxy_of(function: Function) -> *mut sys::zend_internal_function {
    let common = function.common();
    let parameters: Vec<(usize, u32)> =
        function.parameters().iter().map(|info| (info.name as usize, info.type_.type_mask)).collect();
    let signature = (common.arg_info as usize, common.num_args, common.fn_flags);
    let mut proxies = PROXIES.by_signature.borrow_mut();
    let known = proxies.entry(signature).or_default();
    let place = known.iter().position(|proxy| proxy.parameters == parameters);
    let place = place.unwrap_or_else(|| {
        known.push(Proxy { parameters, function: Box::new(MaybeUninit::zeroed()) });
        known.len() - 1
    });
    let proxy = known[place].function.as_mut_ptr();
    fill(proxy, function.as_raw());
    proxy
}

/// Makes the proxy stand for this function. Both are alive.
fn fill(proxy: *mut sys::zend_internal_function, function: *mut sys::zend_function) {
    // SAFETY: a proxy lasts as long as the request, and so does the function.
    unsafe { sys::spindle_proxy_of(proxy, function, Some(zim_Async_Syntax_Call___invoke)) };
    PROXIES.filled.set((proxy, function));
}

/// Returns what the closure calls.
fn resolve(this: &SpawnCall) -> sys::zend_fcall_info_cache {
    let mut call = UNRESOLVED;
    let closure = this.closure.get();
    let Some(closure) = closure.as_object() else { return call };
    let (scope, function, object) = (&mut call.called_scope, &mut call.function_handler, &mut call.object);
    // SAFETY: a closure, and places for what it calls.
    unsafe { sys::spindle_resolve_closure(closure.as_raw(), scope, function, object) };
    call
}

/// The call, with its arguments evaluated: they become those of a coroutine. They are moved away, and what is left in their
/// place needs no release.
fn called(call: Call) -> PhpResult {
    // A closure that is made of a proxy can be bound to something else; it is to nothing if it stands for a function.
    let bound: Option<&Instance<SpawnCall>> = call.this().and_then(|object| SPAWN_CALL.of(object));
    let Some(this) = bound.filter(|this| !this.proxy.get().is_null()) else {
        return Err(exception::throw_error("This closure is not bound to the call that it was made of"));
    };
    let resolved = resolve(this);
    // Another call may have got the same proxy since. (Its function is not at this address: this one is alive.)
    if PROXIES.filled.get() != (this.proxy.get(), resolved.function_handler) {
        fill(this.proxy.get(), resolved.function_handler);
    }
    as_the_caller(call, spawn::scope_is_open)?;
    let coroutine = COROUTINE.make();
    coroutine.callable.set(this.closure.get());
    coroutine.call.set(resolved);
    // SAFETY: what the closure calls, which is alive.
    let magic = unsafe { sys::spindle_magic_method(resolved.function_handler) };
    if magic.is_null() {
        coroutine.arguments.set(call.take_arguments());
        // A copy would lose references that are in no other hands.
        coroutine.named.set(call.named_arguments().map(spindle_zend::Owned::of));
    } else {
        // The closure's own function would not take named arguments.
        let mut arguments = [const { MaybeUninit::uninit() }; 2];
        let (count, from) = (call.argument_count(), call.arguments_raw());
        let named = call.named_arguments().map_or(null_mut(), |named| named.as_raw());
        // SAFETY: as above.
        let function = unsafe { Function::from_raw(resolved.function_handler) };
        let name = function.and_then(|function| function.name().map(Str::as_raw)).unwrap_or(null_mut());
        // SAFETY: places for two values, and the values of the call.
        unsafe { sys::spindle_magic_arguments(addr_of_mut!(arguments).cast(), name, count, from, named) };
        // SAFETY: both were written.
        let arguments = arguments.map(|argument| unsafe { argument.assume_init() });
        // SAFETY: values with references of their own.
        let arguments = arguments.map(|argument| unsafe { Value::from_raw(argument) });
        coroutine.arguments.set(Vec::from(arguments));
        coroutine.call.set(sys::zend_fcall_info_cache { function_handler: magic, ..resolved });
    }
    let caller = call.caller().and_then(Frame::function).filter(|function| function.is_php_code());
    coroutine.is_strict.set(caller.is_some_and(|caller| caller.flags() & sys::ZEND_ACC_STRICT_TYPES != 0));
    coroutine.is_operator.set(true);
    spawn::queue(&coroutine, call, Core::spawn);
    Ok(coroutine.into())
}
