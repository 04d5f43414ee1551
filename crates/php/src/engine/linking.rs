//! A class that is being linked is in the engine's table already, unlinked, and to others it looks missing, without an
//! autoloader being asked. Linking runs PHP code: autoloaders of its parents, interfaces and traits, and error handlers for
//! what it deprecates. So while the coroutine that links a class is suspended, whatever in, the class is taken out of the
//! others' sight: they ask for it, and wait (see `loading`). Where they declare it, too, by the same code, they find a
//! stand-in, and wait as well (see `stand_ins`).
//!
//! An exception that comes out of some of this code, when a trait is loaded or something is deprecated, ends the request: the
//! engine cannot take a class back that others may know already. So cancellations are held off until the class is linked.
//!
//! The engine does not say when linking begins or ends. It is noticed at every call of an autoloader and every error: is the
//! running code a declaration? And it is over when the class in the table is linked, or gone.

use crate::engine::{loading, stand_ins};
use crate::runtime::{
    dependencies,
    scheduler::{self, Runtime},
};
use crate::zend::{exception, zv};
use spindle_core::sched::{CoroutineId, WakeReason};
use spindle_php_sys as sys;
use std::cell::{Cell, RefCell};
use std::ptr::null_mut;

/// A class that a coroutine links.
struct Linking {
    /// `None`, in the child of a fork: a coroutine of the parent's, which does not go on here.
    co: Option<CoroutineId>,
    /// What it is found by: its lower-case name; the key of its declaration, if it is anonymous.
    name: *mut sys::zend_string,
    /// The key by which its declaration finds it.
    key: *mut sys::zend_string,
    /// Its key while the coroutine is suspended. Anonymous ones are not hidden, for nobody asks for them.
    hidden: *mut sys::zend_string,
    /// While the coroutine is suspended: what its stand-in has replaced.
    replaced: Cell<*mut sys::zend_class_entry>,
    /// The fiber of PHP's that links it.
    fiber: *mut sys::zend_fiber,
}

/// The class that the running code is declaring.
#[derive(Clone, Copy)]
struct Declaration {
    name: *mut sys::zend_string,
    key: *mut sys::zend_string,
    /// The lower-case name of its parent, or null.
    parent: *mut sys::zend_string,
}

impl Declaration {
    fn is_anonymous(self) -> bool {
        self.name == self.key
    }
}

struct State {
    list: RefCell<Vec<Linking>>,
    count: Cell<usize>,
}

struct OnPhpThread(State);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for OnPhpThread {}
static STATE: OnPhpThread = OnPhpThread(State { list: RefCell::new(Vec::new()), count: Cell::new(0) });

/// Is any class being linked?
#[inline(always)]
pub fn is_any() -> bool {
    STATE.0.count.get() > 0
}

/// Asks the engine to tell of errors. At module start.
pub fn install() {
    // SAFETY: a function that lives as long as the module; without coroutines it does nothing.
    unsafe { sys::zend_observer_error_register(Some(error)) };
}

unsafe extern "C" fn error(_: i32, _: *mut sys::zend_string, _: u32, _: *mut sys::zend_string) {
    if let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) {
        notice(rt);
    }
}

/// The class that the running code is declaring, if it is.
fn declared() -> Option<Declaration> {
    // SAFETY: the running frame.
    unsafe { declared_by(sys::executor_globals.current_execute_data) }
}

/// The class that the code of this frame is declaring: the running one, or one that has called others.
unsafe fn declared_by(frame: *const sys::zend_execute_data) -> Option<Declaration> {
    // SAFETY: the caller passes a live frame, or null; PHP code has a current instruction, whose operands here are constants,
    // by their distance in bytes. Behind the name of a class stands the key of its declaration.
    unsafe {
        if frame.is_null() || (*frame).func.is_null() || !zv::is_php_code((*frame).func) {
            return None;
        }
        let opline = (*frame).opline;
        if opline.is_null() {
            return None;
        }
        let constant = |operand: sys::znode_op| -> *const sys::zval {
            opline.byte_offset(operand.constant as i32 as isize).cast()
        };
        let key_at = match u32::from((*opline).opcode) {
            sys::ZEND_DECLARE_CLASS | sys::ZEND_DECLARE_CLASS_DELAYED => 1,
            sys::ZEND_DECLARE_ANON_CLASS => 0,
            _ => return None,
        };
        let name = constant((*opline).op1);
        let has_parent = u32::from((*opline).op2_type) == sys::IS_CONST;
        let parent = if has_parent { (*constant((*opline).op2)).value.str_ } else { null_mut() };
        Some(Declaration { name: (*name).value.str_, key: (*name.add(key_at)).value.str_, parent })
    }
}

/// Is the running coroutine not in the middle of linking it any more?
unsafe fn is_over(linking: &Linking) -> bool {
    // SAFETY: strings that the list has references to, and the running frames.
    unsafe {
        if !is_unlinked(linking.name) {
            return true; // linked; or not to be linked, and the declaration has taken the name away
        }
        if !linking.hidden.is_null() || linking.fiber != sys::executor_globals.active_fiber {
            return false;
        }
        // An anonymous one has the same key before and after.
        let mut frame = sys::executor_globals.current_execute_data;
        while !frame.is_null() {
            if declared_by(frame).is_some_and(|declared| zv::bytes(declared.key) == zv::bytes(linking.key)) {
                return false;
            }
            frame = (*frame).prev_execute_data;
        }
        true
    }
}

/// The running code may be about to run PHP code in the middle of linking a class.
pub fn notice(rt: &'static Runtime) {
    let Some(declaration) = declared() else { return };
    let Declaration { name, key, .. } = declaration;
    // SAFETY: the running context; strings that code of the running coroutine has for constants.
    unsafe {
        if !is_unlinked(name) {
            return;
        }
        let co = CoroutineId((*rt.context()).co);
        let bytes = zv::bytes(name).to_vec();
        let known =
            STATE.0.list.borrow().iter().any(|linking| linking.co == Some(co) && zv::bytes(linking.name) == bytes);
        if known {
            return;
        }
        let mut hidden = null_mut();
        if !declaration.is_anonymous() {
            let text = [b"\0spindle ", co.0.to_string().as_bytes(), b" ", &bytes].concat();
            hidden = sys::spindle_string_new(text.as_ptr().cast(), text.len());
        }
        zv::add_ref(name);
        zv::add_ref(key);
        let fiber = sys::executor_globals.active_fiber;
        STATE.0.list.borrow_mut().push(Linking {
            co: Some(co),
            name,
            key,
            hidden,
            replaced: Cell::new(null_mut()),
            fiber,
        });
        STATE.0.count.set(STATE.0.count.get() + 1);
        rt.core.borrow_mut().shield();
        loading::begins(bytes, co); // also where no autoloader was asked for it
    }
}

/// The running coroutine is about to be suspended, or to ask for a class: what it has linked by now is there for all.
#[cold]
pub fn settle(rt: &'static Runtime) {
    // SAFETY: the running context.
    let co = CoroutineId(unsafe { (*rt.context()).co });
    let done: Vec<Linking> = {
        let mut list = STATE.0.list.borrow_mut();
        // SAFETY: names that the list has references to.
        let (done, left) = list.drain(..).partition(|linking| linking.co == Some(co) && unsafe { is_over(linking) });
        *list = left;
        STATE.0.count.set(list.len());
        done
    };
    for linking in done {
        rt.core.borrow_mut().unshield();
        // SAFETY: the list's references.
        unsafe {
            loading::ends(rt, zv::bytes(linking.name).to_vec());
            release(linking);
        }
    }
}

/// The running code declares a class that another coroutine links, and is about to link its stand-in: waits until the class
/// is linked, and links it where the other one could not. The interface that the stand-in asks for; null: something was
/// thrown, and the declaration fails.
///
/// # Safety
/// Called by the engine's autoloader, for the name in [`stand_ins::is_asked_for`].
pub unsafe fn wait_for_declaration(rt: Option<&'static Runtime>) -> *mut sys::zend_class_entry {
    let Some(declaration) = declared() else { return null_mut() };
    let Declaration { name, key, parent } = declaration;
    // SAFETY: strings that the running code has for constants. The engine has given the stand-in the class's name, and will
    // take it away from what has it when the declaration fails.
    unsafe {
        let is_named = !declaration.is_anonymous();
        if is_named {
            rename(name, key);
        }
        while let Some(other) = linker(name) {
            if let Err(why) = wait(rt, other, name) {
                if let Some(why) = why {
                    exception::throw(sys::spindle_ce.async_exception, &why);
                }
                if is_named {
                    rename(key, name);
                }
                return null_mut();
            }
        }
        if is_unlinked(key) && is_named {
            rename(key, name);
        }
        if is_unlinked(name) && sys::zend_do_link_class(stand_ins::find(name), parent, name).is_null() {
            return null_mut();
        }
        sys::zend_ce_stringable
    }
}

/// Is this class being linked by another coroutine than the running one, which sees it? By which one.
fn linker(name: *mut sys::zend_string) -> Option<Option<CoroutineId>> {
    let list = STATE.0.list.borrow();
    // SAFETY: names that the list has references to, and the caller's.
    let found = list.iter().find(|linking| unsafe { zv::bytes(linking.name) == zv::bytes(name) });
    found.map(|linking| linking.co)
}

/// Waits until `other` links the class no more, or may not. Or why it cannot, if that was not thrown.
unsafe fn wait(
    rt: Option<&'static Runtime>,
    other: Option<CoroutineId>,
    name: *mut sys::zend_string,
) -> Result<(), Option<String>> {
    let class = zv::text(name);
    let class = class.split('\0').next().unwrap_or_default(); // of an anonymous one a place follows
    let refused = |why: &str| Err(Some(format!("class {class} is being declared by {why}")));
    let Some(other) = other else {
        return refused("a coroutine of the parent process, which does not go on in this one");
    };
    let Some(rt) = rt else { return refused("another coroutine, and this code cannot wait for it") };
    let me = rt.core.borrow().running();
    if dependencies::depends_on(other, me) {
        let id = rt.core.borrow().id(other);
        return refused(&format!("coroutine #{id}, which waits for this one"));
    }
    // SAFETY: the caller's string.
    let reason = loading::wait_for_class(rt, other, unsafe { zv::bytes(name) }.to_vec());
    if reason == WakeReason::Cancelled && linker(name).is_some() {
        let reason = rt.core.borrow_mut().take_cancellation();
        if let Some(reason) = reason {
            // SAFETY: the core's reference is passed on.
            unsafe { sys::spindle_throw(reason) };
            return Err(None);
        }
    }
    Ok(())
}

unsafe fn release(linking: Linking) {
    // SAFETY: the caller owns it.
    unsafe {
        sys::spindle_string_release(linking.name);
        sys::spindle_string_release(linking.key);
        if !linking.hidden.is_null() {
            sys::spindle_string_release(linking.hidden);
        }
    }
}

/// A new request. The strings of what is left of the one before went with its memory.
pub fn forget_all() {
    STATE.0.count.set(0);
    STATE.0.list.borrow_mut().clear();
    stand_ins::forget_all();
}

/// In the child of a fork: what other coroutines were linking is neither linked nor as it was.
pub fn lose_others(me: CoroutineId) {
    for linking in STATE.0.list.borrow_mut().iter_mut().filter(|linking| linking.co != Some(me)) {
        linking.co = None;
    }
}

/// The coroutine is left: others do not see the classes that it links, and do not link them.
#[cold]
pub fn hide(co: CoroutineId) {
    for linking in STATE.0.list.borrow().iter().filter(|linking| linking.co == Some(co)) {
        // SAFETY: strings that the list has references to.
        unsafe {
            if is_unlinked(linking.name) {
                let stand_in = stand_ins::of(stand_ins::find(linking.name), linking.name);
                if !linking.hidden.is_null() {
                    rename(linking.name, linking.hidden);
                }
                linking.replaced.set(stand_ins::put(linking.key, stand_in));
            }
        }
    }
}

/// The coroutine goes on, and sees them.
#[cold]
pub fn show(co: CoroutineId) {
    for linking in STATE.0.list.borrow().iter().filter(|linking| linking.co == Some(co)) {
        // SAFETY: as above.
        unsafe {
            if stand_ins::is_one(stand_ins::find(linking.key)) {
                stand_ins::put(linking.key, linking.replaced.get());
            }
            if !linking.hidden.is_null() {
                rename(linking.hidden, linking.name);
            }
        }
    }
}

unsafe fn is_unlinked(name: *mut sys::zend_string) -> bool {
    // SAFETY: the caller passes a live string.
    unsafe {
        let found = stand_ins::find(name);
        !found.is_null() && (*found).ce_flags & sys::ZEND_ACC_LINKED == 0
    }
}

unsafe fn rename(from: *mut sys::zend_string, to: *mut sys::zend_string) {
    // SAFETY: the engine's table of classes; a value lies at the beginning of its bucket.
    unsafe {
        if is_unlinked(from) {
            let table = sys::executor_globals.class_table;
            let found = sys::zend_hash_find(table, from);
            // Null if somebody has declared a class of this name meanwhile: the first one stays.
            sys::zend_hash_set_bucket_key(table, found.cast(), to);
        }
    }
}
