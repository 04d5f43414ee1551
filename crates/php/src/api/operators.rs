//! The class `Async\Syntax\Call`: what `spawn f($x)` is compiled to calls one. It has the parameters of what it stands for,
//! so the engine evaluates and passes the arguments as for the call itself, references and defaults included.

use crate::runtime::{coroutine, scheduler::Core, spawn};
use crate::zend::{class::Handlers, zv};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ptr::{addr_of_mut, null_mut};

type Frame = *mut sys::zend_execute_data;
type Value = *mut sys::zval;

#[repr(C)]
struct Call {
    /// What will be called: a closure; undefined in objects made by reflection.
    closure: sys::zval,
    /// What is called in its place; null in objects made by reflection.
    proxy: *mut sys::zend_internal_function,
    std: sys::zend_object,
}

const OFFSET: usize = std::mem::offset_of!(Call, std);

static HANDLERS: Handlers = Handlers::new();

/// Parameters, how many there are, and flags.
type Signature = (usize, u32, u32);

/// A proxy, and the name and type of each parameter when it was made. Names are compared by address: the engine keeps one
/// copy of each until the request ends.
struct Proxy {
    parameters: Vec<(usize, u32)>,
    function: Box<sys::zend_internal_function>,
}

/// Proxies by what they take. The engine remembers by a function's address where its named arguments are, and compiled
/// code which of them are references. So another address means other parameters, also where those of a function that is
/// gone lay in the same place.
struct Proxies {
    by_signature: RefCell<BTreeMap<Signature, Vec<Proxy>>>,
    /// The proxy that was filled last, and for which function.
    filled: Cell<(*mut sys::zend_internal_function, *mut sys::zend_function)>,
}
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Proxies {}
static PROXIES: Proxies =
    Proxies { by_signature: RefCell::new(BTreeMap::new()), filled: Cell::new((null_mut(), null_mut())) };

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.free_obj = Some(free);
        handlers.get_gc = Some(get_gc);
        handlers.get_closure = Some(get_closure);
        handlers.get_method = Some(get_method);
    });
    // SAFETY: module start, one thread; filled by the registration of classes.
    unsafe {
        (*sys::spindle_ce.call).ce_flags |= sys::ZEND_ACC_NOT_SERIALIZABLE | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
    }
}

/// The request is over: the functions that signatures are of are gone.
pub fn forget_all() {
    PROXIES.by_signature.borrow_mut().clear();
    PROXIES.filled.set((null_mut(), null_mut()));
}

unsafe fn of(object: *mut sys::zend_object) -> *mut Call {
    // SAFETY: the object is the last field of a `Call`.
    unsafe { object.byte_sub(OFFSET).cast() }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_call_create(_: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: allocated for the object (no declared properties follow).
    unsafe {
        let this = sys::_emalloc(size_of::<Call>()).cast::<Call>();
        this.write_bytes(0, 1);
        sys::spindle_object_std_init(addr_of_mut!((*this).std), sys::spindle_ce.call);
        (*this).std.handlers = HANDLERS.get();
        addr_of_mut!((*this).std)
    }
}

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies.
    unsafe {
        zv::clear(addr_of_mut!((*of(object)).closure));
        sys::zend_object_std_dtor(object);
    }
}

unsafe extern "C" fn get_gc(
    object: *mut sys::zend_object,
    table: *mut *mut sys::zval,
    n: *mut i32,
) -> *mut sys::HashTable {
    // SAFETY: the engine's places for the list of what the object holds.
    unsafe {
        *table = addr_of_mut!((*of(object)).closure);
        *n = 1;
    }
    null_mut()
}

unsafe extern "C" fn get_closure(
    object: *mut sys::zend_object,
    class: *mut *mut sys::zend_class_entry,
    function: *mut *mut sys::zend_function,
    this: *mut *mut sys::zend_object,
    _: bool,
) -> sys::zend_result {
    // SAFETY: the engine's places for what is to be called; the object is kept alive as its `$this`.
    unsafe {
        let proxy = (*of(object)).proxy;
        if proxy.is_null() {
            return sys::FAILURE;
        }
        *class = (*object).ce;
        *function = proxy.cast();
        *this = object;
    }
    sys::SUCCESS
}

unsafe extern "C" fn get_method(
    object: *mut *mut sys::zend_object,
    name: *mut sys::zend_string,
    key: *const sys::zval,
) -> *mut sys::zend_function {
    // SAFETY: the engine's own arguments, and an object of the class.
    unsafe {
        let proxy = (*of(*object)).proxy;
        if !proxy.is_null() && zv::bytes(name).eq_ignore_ascii_case(b"__invoke") {
            return proxy.cast();
        }
        sys::std_object_handlers.get_method.map_or(null_mut(), |original| original(object, name, key))
    }
}

/// The method in the class's table: `[$call, '__invoke']` and reflection find this one.
#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Syntax_Call___invoke(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame and place for the result.
    unsafe { called(execute_data, result) };
}

#[unsafe(no_mangle)]
unsafe extern "C" fn zim_Async_Syntax_Call___construct(_: Frame, _: Value) {}

#[unsafe(no_mangle)]
unsafe extern "C" fn zif_Async_Syntax_call(execute_data: Frame, result: Value) {
    let (mut callee, mut of_callee) = (null_mut(), null_mut());
    // SAFETY: the engine's frame and place for the result.
    unsafe {
        if !sys::spindle_parse_call(execute_data, &mut callee, &mut of_callee) {
            return;
        }
        if u32::from((*callee).u1.v.type_) == sys::IS_NULL {
            return zv::set_null(result);
        }
        let mut closure = zv::null();
        let caller = (*execute_data).prev_execute_data;
        if !as_the_caller(caller, || sys::spindle_closure_of(callee, of_callee, &mut closure)) {
            return;
        }
        let object = spindle_call_create(null_mut());
        let this = of(object);
        (*this).closure = closure;
        (*this).proxy = proxy_of(resolve(this).function_handler);
        result.write(zv::object(object));
    }
}

/// Runs `what` as if the operator did it, and no function for it: that is in no trace of what it throws.
unsafe fn as_the_caller<R>(caller: Frame, what: impl FnOnce() -> R) -> R {
    let eg = addr_of_mut!(sys::executor_globals);
    // SAFETY: the frame below the running one, which stays where it is. A bailout ends the request.
    unsafe {
        let called = (*eg).current_execute_data;
        if !caller.is_null() {
            (*eg).current_execute_data = caller;
        }
        let result = what();
        (*eg).current_execute_data = called;
        result
    }
}

/// What takes arguments as this function does.
unsafe fn proxy_of(function: *mut sys::zend_function) -> *mut sys::zend_internal_function {
    // SAFETY: a live function, whose parameters, and what collects the rest, lie one after the other. Those of internal
    // functions have the same layout as far as it is looked at.
    unsafe {
        let common = &(*function).common;
        let is_variadic = common.fn_flags & sys::ZEND_ACC_VARIADIC != 0;
        let n = if common.arg_info.is_null() { 0 } else { common.num_args as usize + usize::from(is_variadic) };
        let parameters = (0..n).map(|i| {
            let info = &*common.arg_info.add(i);
            (info.name as usize, info.type_.type_mask)
        });
        let signature = (common.arg_info as usize, common.num_args, common.fn_flags);
        let mut proxies = PROXIES.by_signature.borrow_mut();
        let known = proxies.entry(signature).or_default();
        let place = known.iter().position(|proxy| proxy.parameters.iter().copied().eq(parameters.clone()));
        let place = place.unwrap_or_else(|| {
            known.push(Proxy { parameters: parameters.collect(), function: Box::new(std::mem::zeroed()) });
            known.len() - 1
        });
        let proxy = &raw mut *known[place].function;
        fill(proxy, function);
        proxy
    }
}

/// Makes the proxy stand for this function.
unsafe fn fill(proxy: *mut sys::zend_internal_function, function: *mut sys::zend_function) {
    // SAFETY: the caller's promise: both are alive.
    unsafe { sys::spindle_proxy_of(proxy, function, Some(called)) };
    PROXIES.filled.set((proxy, function));
}

/// What the closure calls.
unsafe fn resolve(this: *mut Call) -> sys::zend_fcall_info_cache {
    // SAFETY: a closure, which has this handler; null is "nothing" in each field.
    unsafe {
        let object = (*this).closure.value.obj;
        let mut fcc: sys::zend_fcall_info_cache = std::mem::zeroed();
        if let Some(get_closure) = (*(*object).handlers).get_closure {
            get_closure(object, &mut fcc.called_scope, &mut fcc.function_handler, &mut fcc.object, false);
        }
        fcc
    }
}

/// The call, with its arguments evaluated: they become those of a coroutine.
unsafe extern "C" fn called(execute_data: Frame, result: Value) {
    // SAFETY: the engine's frame of a proxy or of the class's own method; its arguments lie behind it, one after the
    // other. They are moved away, and what is left in their place needs no destruction.
    unsafe {
        // A closure that is made of a proxy can be bound to something else; it is to nothing if it stands for a function.
        let object = (*execute_data).This.value.obj;
        let is_call =
            u32::from((*execute_data).This.u1.v.type_) == sys::IS_OBJECT && (*object).ce == sys::spindle_ce.call;
        if !is_call || (*of(object)).proxy.is_null() {
            return sys::zend_throw_error(
                null_mut(),
                c"This closure is not bound to the call that it was made of".as_ptr(),
            );
        }
        let call = of(object);
        let fcc = resolve(call);
        // Another call may have got the same proxy since. (Its function is not at this address: this one is alive.)
        if PROXIES.filled.get() != ((*call).proxy, fcc.function_handler) {
            fill((*call).proxy, fcc.function_handler);
        }
        let caller = (*execute_data).prev_execute_data;
        if as_the_caller(caller, spawn::scope_is_closed) {
            return;
        }
        let this = coroutine::create();
        sys::spindle_zval_copy(addr_of_mut!((*this).callable), &(*call).closure);
        (*this).fcc = fcc;
        let (from, argc) = (sys::spindle_arguments(execute_data), (*execute_data).This.u2.num_args);
        let has_named = (*execute_data).This.u1.type_info & sys::ZEND_CALL_HAS_EXTRA_NAMED_PARAMS != 0;
        let named = if has_named { (*execute_data).extra_named_params } else { null_mut() };
        let magic = sys::spindle_magic_method(fcc.function_handler);
        if !magic.is_null() {
            // The closure's own function would not take named arguments.
            let args = sys::_safe_emalloc(2, size_of::<sys::zval>(), 0).cast::<sys::zval>();
            sys::spindle_magic_arguments(args, (*fcc.function_handler).common.function_name, argc, from, named);
            (*this).fcc.function_handler = magic;
            ((*this).args, (*this).argc) = (args, 2);
        } else {
            if argc > 0 {
                let args = sys::_safe_emalloc(argc as usize, size_of::<sys::zval>(), 0).cast::<sys::zval>();
                for i in 0..argc as usize {
                    args.add(i).write(from.add(i).read());
                    (*from.add(i)).u1.type_info = sys::IS_UNDEF;
                }
                ((*this).args, (*this).argc) = (args, argc);
            }
            if !named.is_null() {
                (*named).gc.refcount += 1; // a copy would lose references that are nobody else's
                (*this).named = named;
            }
        }
        if !caller.is_null() && !(*caller).func.is_null() && zv::is_php_code((*caller).func) {
            (*this).is_strict = (*(*caller).func).common.fn_flags & sys::ZEND_ACC_STRICT_TYPES != 0;
        }
        (*this).is_operator = true;
        spawn::queue(this, execute_data, result, Core::spawn);
    }
}
