//! The class `Async\Syntax\Call`. The expression `spawn f($x)` is compiled to a call of such an object. It has the
//! parameters of `f`, so the engine evaluates and passes the arguments as for a direct call, including references and
//! defaults.

use crate::c::{self, ProxyFunction};
use crate::runtime::coroutine::{COROUTINE, UNRESOLVED};
use crate::runtime::scheduler::{Core, rt};
use crate::runtime::{classes, spawn};
use spindle_zend::{
    Call, Class, Collected, Frame, Function, Instance, Object, Owned, PhpResult, PhpStatic, State, Str, Thrown, Value,
    ValueCell, exception, functions,
    hooks::{self, Passed},
    object_class, sys,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::ptr::null_mut;
use std::rc::Rc;

/// The state of an object of the class.
pub struct SpawnCall {
    /// The closure that will be called; empty in objects made by reflection.
    closure: ValueCell,
    /// The proxy that is called in its place; none in objects made by reflection.
    proxy: OnceCell<Rc<ProxyFunction>>,
}

object_class!(
    /// The class.
    pub static SPAWN_CALL: SpawnCall
);

functions! {
    zif_Async_Syntax_call => make;
    zim_Async_Syntax_Call___construct => |_| Ok(Value::NULL);
    // The method in the class's table, which `[$call, '__invoke']` and reflection find.
    zim_Async_Syntax_Call___invoke => called;
}

/// The address of the parameters, their number, and the function's flags.
type Signature = (usize, u32, u32);

/// A proxy, and the names and types of the parameters when it was created. Names are compared by address: the engine
/// keeps one copy of each until the request ends.
struct Proxy {
    parameters: Vec<(usize, u32)>,
    function: Rc<ProxyFunction>,
}

/// Proxies by signature. The engine caches by a function's address which parameters named arguments belong to, and
/// compiled code which arguments are references. So each list of parameters needs a proxy with an address of its own,
/// even if the list lies where that of a freed function was.
struct Proxies {
    by_signature: RefCell<BTreeMap<Signature, Vec<Proxy>>>,
    /// The proxy that was filled in last, and for which function.
    filled: Cell<Option<(Function, Function)>>,
}
static PROXIES: PhpStatic<Proxies> =
    PhpStatic::new(Proxies { by_signature: RefCell::new(BTreeMap::new()), filled: Cell::new(None) });

/// Registers the class. At module start.
pub fn register() {
    SPAWN_CALL.register(classes::call(), sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |handlers| {
        handlers.get_closure = Some(hooks::get_closure_handler(get_closure));
        handlers.get_method = Some(hooks::get_method_handler(get_method));
    });
}

/// Forgets all proxies at the end of the request, when the functions that they represent are gone.
pub fn forget_all() {
    PROXIES.by_signature.borrow_mut().clear();
    PROXIES.filled.set(None);
}

impl State for SpawnCall {
    fn new(_: Class) -> SpawnCall {
        SpawnCall { closure: ValueCell::new(), proxy: OnceCell::new() }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.closure);
    }
}

/// Returns the proxy of an object, if it has one.
fn proxy_in(object: &Object) -> Option<Function> {
    SPAWN_CALL.of(object)?.proxy.get().map(|proxy| proxy.function())
}

extern "C" fn get_closure<'a>(
    object: &'a Object,
    class: &mut MaybeUninit<Class>,
    function: &mut MaybeUninit<Function>,
    this: &mut MaybeUninit<&'a Object>,
    _: bool,
) -> sys::zend_result {
    let Some(proxy) = proxy_in(object) else { return sys::FAILURE };
    class.write(classes::call());
    function.write(proxy);
    this.write(object); // which is kept alive
    sys::SUCCESS
}

extern "C" fn get_method(object: &Cell<&Object>, name: &Str, key: Passed<'_, *const sys::zval>) -> Option<Function> {
    match proxy_in(object.get()).filter(|_| name.as_bytes().eq_ignore_ascii_case(b"__invoke")) {
        None => hooks::zend_std_get_method(object, name, key),
        proxy => proxy,
    }
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
    if let Some(function) = resolve(&this).function {
        this.proxy.get_or_init(|| proxy_of(function));
    }
    Ok(this.into())
}

/// Returns the callee, or the result of calling `of` with the callee: a closure.
///
/// # Errors
/// The result is no closure, or `of` has thrown.
fn closure_of(callee: &Value, of: Option<&Value>) -> PhpResult {
    let mut closure = Value::UNDEF;
    let is_made = c::spindle_closure_of(callee, of, &mut closure);
    if is_made { Ok(closure) } else { Err(Thrown::is_in_flight()) }
}

/// Runs `what` as if the caller of this internal function did so, so that the function is not in the traces of
/// exceptions. A bailout ends the request.
fn as_the_caller<R>(call: Call, what: impl FnOnce() -> R) -> R {
    let Some(caller) = call.caller() else { return what() };
    Frame::set_current(caller);
    let result = what();
    Frame::set_current(*call);
    result
}

/// Returns the proxy that takes arguments as this function does.
fn proxy_of(function: Function) -> Rc<ProxyFunction> {
    let common = function.common();
    let parameters = function.parameters().iter().map(|info| (info.name as usize, info.type_.type_mask));
    let signature = (common.arg_info as usize, common.num_args, common.fn_flags);
    let mut proxies = PROXIES.by_signature.borrow_mut();
    let known = proxies.entry(signature).or_default();
    let place = known.iter().position(|proxy| proxy.parameters.iter().copied().eq(parameters.clone()));
    let place = place.unwrap_or_else(|| {
        known.push(Proxy { parameters: parameters.collect(), function: Rc::new(ProxyFunction::new()) });
        known.len() - 1
    });
    let proxy = known[place].function.clone();
    fill(&proxy, function);
    proxy
}

/// Makes the proxy represent this function.
fn fill(proxy: &ProxyFunction, function: Function) {
    c::spindle_proxy_of(proxy, function);
    PROXIES.filled.set(Some((proxy.function(), function)));
}

/// The target of a closure.
#[derive(Clone, Copy)]
struct Callee {
    class: Option<Class>,
    function: Option<Function>,
    object: *mut sys::zend_object,
}

/// Returns the target of the closure.
fn resolve(this: &SpawnCall) -> Callee {
    let mut callee = Callee { class: None, function: None, object: null_mut() };
    if let Some(closure) = this.closure.get().as_object() {
        c::spindle_resolve_closure(closure, &mut callee.class, &mut callee.function, &mut callee.object);
    }
    callee
}

/// Implements the call: its evaluated arguments become those of a coroutine. They are moved out of the frame, and what
/// remains there needs no release.
fn called(call: Call) -> PhpResult {
    // A closure created from a proxy can be bound to another object, or to none.
    let bound: Option<&Instance<SpawnCall>> = call.this().and_then(|object| SPAWN_CALL.of(object));
    let Some((this, proxy)) = bound.and_then(|this| Some((this, this.proxy.get()?))) else {
        return Err(exception::throw_error("This closure is not bound to the call that it was made of"));
    };
    let resolved = resolve(this);
    // Another call may have used the same proxy since. (The address of its function cannot be that of this one, which
    // is alive.)
    if let Some(function) = resolved.function.filter(|of| PROXIES.filled.get() != Some((proxy.function(), *of))) {
        fill(proxy, function);
    }
    let rt = rt();
    as_the_caller(call, || spawn::scope_is_open(rt))?;
    let coroutine = COROUTINE.make();
    coroutine.callable.set(this.closure.get());
    let magic = resolved.function.and_then(|function| c::spindle_magic_method(function));
    if magic.is_none() {
        coroutine.arguments.set(call.take_arguments());
        // A copy would lose references that are only held here.
        coroutine.named.set(call.named_arguments().map(Owned::of));
    } else {
        // The closure's own function does not take named arguments.
        let mut arguments = [const { Value::UNDEF }; 2];
        let name = resolved.function.as_ref().and_then(Function::name).map_or_else(|| Str::new(""), Owned::of);
        c::spindle_magic_arguments(&mut arguments, &name, *call, call.named_arguments());
        coroutine.arguments.set(arguments);
    }
    coroutine.call.set(sys::zend_fcall_info_cache {
        function_handler: magic.or(resolved.function).map_or(null_mut(), Function::as_raw),
        called_scope: resolved.class.map_or(null_mut(), Class::as_raw),
        object: resolved.object,
        ..UNRESOLVED
    });
    let caller = call.caller().and_then(Frame::function).filter(|function| function.is_php_code());
    coroutine.is_strict.set(caller.is_some_and(|caller| caller.flags() & sys::ZEND_ACC_STRICT_TYPES != 0));
    coroutine.is_operator.set(true);
    spawn::queue(rt, &coroutine, call, Core::spawn);
    Ok(coroutine.into())
}
