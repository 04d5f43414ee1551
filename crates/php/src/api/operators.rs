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
    /// What is called by it; none in objects made by reflection.
    target: OnceCell<Target>,
}

/// What such an object calls. Its closure keeps all of it.
struct Target {
    class: Option<Class>,
    function: Function,
    object: *mut sys::zend_object,
    /// What the engine calls in its place.
    proxy: Rc<Proxy>,
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

/// A proxy, and the signature, with the names and types of the parameters, when it was created. Names are compared by address: the
/// engine keeps one copy of each until the request ends.
struct Proxy {
    signature: Signature,
    parameters: Vec<(usize, u32)>,
    function: ProxyFunction,
}

/// Proxies by signature. The engine caches by a function's address which parameters named arguments belong to, and
/// compiled code which arguments are references. So each list of parameters needs a proxy with an address of its own,
/// even if the list lies where that of a freed function was.
struct Proxies {
    by_signature: RefCell<BTreeMap<Signature, Vec<Rc<Proxy>>>>,
    /// The one that was looked up last: a loop spawns the same function again.
    last: RefCell<Option<Rc<Proxy>>>,
    /// The proxy that was filled in last, and for which function.
    filled: Cell<Option<(Function, Function)>>,
}
static PROXIES: PhpStatic<Proxies> = PhpStatic::new(Proxies {
    by_signature: RefCell::new(BTreeMap::new()),
    last: RefCell::new(None),
    filled: Cell::new(None),
});

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
    PROXIES.last.take();
    PROXIES.filled.set(None);
}

impl State for SpawnCall {
    fn new(_: Class) -> SpawnCall {
        SpawnCall { closure: ValueCell::new(), target: OnceCell::new() }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.closure);
    }
}

/// Returns the proxy of an object, if it has one.
fn proxy_in(object: &Object) -> Option<Function> {
    SPAWN_CALL.of(object)?.target.get().map(|target| target.proxy.function.function())
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
    if let Some(target) = target_of(&this) {
        this.target.get_or_init(|| target);
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

/// Returns the target of the closure of this object, with a proxy that takes arguments as it does.
fn target_of(this: &SpawnCall) -> Option<Target> {
    let (mut class, mut function, mut object) = (None, None, null_mut());
    c::spindle_resolve_closure(this.closure.get().as_object()?, &mut class, &mut function, &mut object);
    let function = function?;
    let proxy = proxy_of(function);
    fill(&proxy.function, function);
    Some(Target { class, function, object, proxy })
}

/// Returns the proxy for functions with the parameters of this one.
fn proxy_of(function: Function) -> Rc<Proxy> {
    let common = function.common();
    let parameters = function.parameters().iter().map(|info| (info.name as usize, info.type_.type_mask));
    let signature = (common.arg_info as usize, common.num_args, common.fn_flags);
    let suits =
        |proxy: &Rc<Proxy>| proxy.signature == signature && proxy.parameters.iter().copied().eq(parameters.clone());
    let mut last = PROXIES.last.borrow_mut();
    if let Some(proxy) = last.as_ref().filter(|last| suits(last)) {
        return proxy.clone();
    }
    let mut proxies = PROXIES.by_signature.borrow_mut();
    let known = proxies.entry(signature).or_default();
    let proxy = known.iter().find(|known| suits(known)).cloned().unwrap_or_else(|| {
        let proxy = Proxy { signature, parameters: parameters.clone().collect(), function: ProxyFunction::new() };
        known.push(Rc::new(proxy));
        known[known.len() - 1].clone()
    });
    last.insert(proxy).clone()
}

/// Makes the proxy represent this function.
fn fill(proxy: &ProxyFunction, function: Function) {
    c::spindle_proxy_of(proxy, function);
    PROXIES.filled.set(Some((proxy.function(), function)));
}

/// Implements the call: its evaluated arguments become those of a coroutine. They are moved out of the frame, and what
/// remains there needs no release.
fn called(call: Call) -> PhpResult {
    // A closure created from a proxy can be bound to another object, or to none.
    let bound: Option<&Instance<SpawnCall>> = call.this().and_then(|object| SPAWN_CALL.of(object));
    let Some((this, target)) = bound.and_then(|this| Some((this, this.target.get()?))) else {
        return Err(exception::throw_error("This closure is not bound to the call that it was made of"));
    };
    let (proxy, function) = (&target.proxy.function, target.function);
    // Another call may have used the same proxy since. (The address of its function cannot be that of this one, which
    // is alive.)
    if PROXIES.filled.get() != Some((proxy.function(), function)) {
        fill(proxy, function);
    }
    let rt = rt();
    as_the_caller(call, || spawn::scope_is_open(rt))?;
    let coroutine = COROUTINE.make();
    coroutine.callable.set(this.closure.get());
    let magic = c::spindle_magic_method(function);
    if magic.is_none() {
        coroutine.arguments.set(call.take_arguments());
        // A copy would lose references that are only held here.
        coroutine.named.set(call.named_arguments().map(Owned::of));
    } else {
        // The closure's own function does not take named arguments.
        let mut arguments = [const { Value::UNDEF }; 2];
        let name = function.name().map_or_else(|| Str::new(""), Owned::of);
        c::spindle_magic_arguments(&mut arguments, &name, *call, call.named_arguments());
        coroutine.arguments.set(arguments);
    }
    coroutine.call.set(sys::zend_fcall_info_cache {
        function_handler: magic.unwrap_or(function).as_raw(),
        called_scope: target.class.map_or(null_mut(), Class::as_raw),
        object: target.object,
        ..UNRESOLVED
    });
    let caller = call.caller().and_then(Frame::function).filter(|function| function.is_php_code());
    coroutine.is_strict.set(caller.is_some_and(|caller| caller.flags() & sys::ZEND_ACC_STRICT_TYPES != 0));
    coroutine.is_operator.set(true);
    spawn::queue(rt, &coroutine, call, Core::spawn);
    Ok(coroutine.into())
}
