//! Classes that are being linked, and coroutines that need them meanwhile.
//!
//! A class that is being linked is in the engine's table already, unlinked: to other code it seems missing, and no
//! autoloader is called for it. Linking runs PHP code: autoloaders for its parents, interfaces and traits, and error
//! handlers for deprecations. So while the coroutine that links a class is suspended, the class is hidden from the
//! others: they look it up, and wait (see `loading`). If they declare it themselves, by the same code, they find a
//! stand-in, and wait as well (see `stand_ins`).
//!
//! An exception from some of this code, when a trait is loaded or a deprecation is reported, ends the request: the
//! engine cannot undo a class that other code may have seen. So cancellations are deferred until the class is linked.
//!
//! The engine does not announce when linking begins or ends. The start is noticed when an autoloader or an error
//! handler is called and the running code is a declaration. Linking has ended when the class in the table is linked, or
//! gone.

use crate::engine::{loading, stand_ins};
use crate::runtime::park::throw_cancellation;
use crate::runtime::{
    classes, dependencies,
    scheduler::{self, Runtime},
};
use spindle_core::sched::{CoroutineId, WakeReason};
use spindle_zend::{Class, Declaration, Frame, Owned, PhpStatic, Str, Thrown, class_table, engine, exception};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;

/// A class that a coroutine is linking.
struct Linking {
    /// The coroutine. `None` in the child of a fork, for a coroutine of the parent, which does not run here.
    co: Option<CoroutineId>,
    /// The key by which it is looked up: its lower-case name; the key of its declaration if it is anonymous.
    name: Owned<Str>,
    /// The key by which its declaration looks it up.
    key: Owned<Str>,
    /// Its key while the coroutine is suspended. `None` for anonymous classes, which no code looks up by name.
    hidden: Option<Owned<Str>>,
    /// The class that its stand-in has replaced, while the coroutine is suspended.
    replaced: Cell<Option<Class>>,
    /// The address of the engine's fiber that links it.
    fiber: usize,
}

struct State {
    list: RefCell<Vec<Linking>>,
    count: Cell<usize>,
}

static STATE: PhpStatic<State> = PhpStatic::new(State { list: RefCell::new(Vec::new()), count: Cell::new(0) });

/// Returns `true` if any class is being linked.
#[inline(always)]
pub fn is_any() -> bool {
    STATE.count.get() > 0
}

/// Registers for the engine's errors, at module start. Has no effect without coroutines.
pub fn install() {
    engine::observe_errors(error);
}

extern "C" fn error(_: c_int, _: Option<&Str>, _: u32, _: Option<&Str>) {
    if let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) {
        register(rt);
    }
}

fn is_anonymous(declaration: &Declaration) -> bool {
    std::ptr::eq(declaration.name, declaration.key)
}

/// Returns the running coroutine.
fn running(rt: &'static Runtime) -> CoroutineId {
    rt.context().co.get()
}

/// Returns `true` if the running coroutine has finished linking a class.
fn is_over(linking: &Linking) -> bool {
    if !is_unlinked(&linking.name) {
        return true; // linked; or it could not be, and the declaration has removed the name
    }
    if linking.hidden.is_some() || linking.fiber != engine::fiber_address() {
        return false;
    }
    // An anonymous class has the same key before and after.
    let mut calls = Frame::current().into_iter().flat_map(Frame::and_callers);
    !calls.any(|frame| frame.declaration().is_some_and(|declaration| *declaration.key == *linking.key))
}

/// Registers the class that the running code may be linking, before PHP code is run in the middle of that.
pub fn register(rt: &'static Runtime) {
    let frame = Frame::current();
    let Some(declaration) = frame.as_ref().and_then(Frame::declaration) else { return };
    let Declaration { name, key, .. } = declaration;
    if !is_unlinked(name) {
        return;
    }
    let co = running(rt);
    let is_known = |linking: &Linking| linking.co == Some(co) && *linking.name == *name;
    if STATE.list.borrow().iter().any(is_known) {
        return;
    }
    let bytes = name.as_bytes();
    let hidden = (!is_anonymous(&declaration))
        .then(|| Str::new([b"\0spindle ", co.0.to_string().as_bytes(), b" ", bytes].concat()));
    STATE.list.borrow_mut().push(Linking {
        co: Some(co),
        name: Owned::of(name),
        key: Owned::of(key),
        hidden,
        replaced: Cell::new(None),
        fiber: engine::fiber_address(),
    });
    STATE.count.set(STATE.count.get() + 1);
    rt.core.borrow_mut().shield();
    loading::begins(bytes.to_vec(), co); // also if no autoloader was called for it
}

/// Forgets the classes that the running coroutine has finished linking, before it is suspended or looks up a class.
#[cold]
pub fn finish_linked(rt: &'static Runtime) {
    forget_own(rt, is_over);
}

/// Forgets the classes that the running coroutine was linking when a fatal error ended its code. The engine keeps them, unlinked:
/// to all code they are missing.
pub fn abandon(rt: &'static Runtime) {
    forget_own(rt, |_| true);
}

fn forget_own(rt: &'static Runtime, which: impl Fn(&Linking) -> bool) {
    let co = running(rt);
    let done: Vec<Linking> = {
        let mut list = STATE.list.borrow_mut();
        let (done, left) = list.drain(..).partition(|linking| linking.co == Some(co) && which(linking));
        *list = left;
        STATE.count.set(list.len());
        done
    };
    for linking in done {
        rt.core.borrow_mut().unshield();
        loading::ends(rt, linking.name.as_bytes().to_vec());
    }
}

/// Waits in a declaration of a class that another coroutine is linking, when its stand-in is about to be linked: until
/// the class is linked, or links it if the other coroutine could not. The autoloader calls this for the name in
/// [`stand_ins::is_interface_name`]. Returns the interface that the stand-in asks for; `None` if an exception was thrown,
/// with which the declaration fails.
pub fn wait_for_declaration(rt: Option<&'static Runtime>) -> Option<Class> {
    let frame = Frame::current()?;
    let declaration = frame.declaration()?;
    let Declaration { name, key, parent } = declaration;
    // The engine has given the class's name to the stand-in, and removes the name if the declaration fails.
    let is_named = !is_anonymous(&declaration);
    if is_named {
        rename(name, key);
    }
    while let Some(other) = linker(name) {
        if wait(rt, other, name).is_err() {
            if is_named {
                rename(key, name);
            }
            return None;
        }
    }
    if is_named && is_unlinked(key) {
        rename(key, name);
    }
    if let Some(class) = unlinked(name) {
        class.link(parent, name)?;
    }
    Some(engine::stringable_class())
}

/// Returns the coroutine that is linking this class, if it is not the running one, which sees the class; `Some(None)`
/// for a coroutine of the parent process.
fn linker(name: &Str) -> Option<Option<CoroutineId>> {
    let list = STATE.list.borrow();
    list.iter().find(|linking| *linking.name == *name).map(|linking| linking.co)
}

/// Waits until `other` may have finished linking the class.
///
/// # Errors
/// The coroutine cannot wait, or was cancelled.
fn wait(rt: Option<&'static Runtime>, other: Option<CoroutineId>, name: &Str) -> Result<(), Thrown> {
    let class = name.to_text();
    let class = class.split('\0').next().unwrap_or_default(); // in the name of an anonymous class a position follows
    let refused = |why: &str| {
        let text = format!("class {class} is being declared by {why}");
        Err(exception::throw_new(classes::async_exception(), &text))
    };
    let Some(other) = other else {
        return refused("a coroutine of the parent process, which does not run in this one");
    };
    let Some(rt) = rt else { return refused("another coroutine, and this code cannot wait for it") };
    if dependencies::waits_for_me(rt, other) {
        let id = rt.core.borrow().id(other);
        return refused(&format!("coroutine #{id}, which waits for this one"));
    }
    let reason = loading::wait_for_class(rt, other, name.as_bytes().to_vec());
    if reason == WakeReason::Cancelled && linker(name).is_some() && throw_cancellation(rt) {
        return Err(Thrown::is_in_flight());
    }
    Ok(())
}

/// Clears the list at the start of a request. The strings in it were freed with the memory of the previous one.
pub fn forget_all() {
    STATE.count.set(0);
    STATE.list.borrow_mut().drain(..).for_each(std::mem::forget);
    stand_ins::forget_all();
}

/// Marks the classes that other coroutines were linking as lost, in the child of a fork: they will not be linked.
pub fn forget_others(me: CoroutineId) {
    for linking in STATE.list.borrow_mut().iter_mut().filter(|linking| linking.co != Some(me)) {
        linking.co = None;
    }
}

/// Hides the classes that a coroutine is linking from others while it is suspended.
#[cold]
pub fn hide(co: CoroutineId) {
    for linking in STATE.list.borrow().iter().filter(|linking| linking.co == Some(co)) {
        if let Some(class) = unlinked(&linking.name) {
            let stand_in = stand_ins::of(class, &linking.name);
            if let Some(hidden) = &linking.hidden {
                rename(&linking.name, hidden);
            }
            linking.replaced.set(stand_ins::put(&linking.key, Some(stand_in)));
        }
    }
}

/// Shows the classes that a coroutine is linking, which is resumed.
#[cold]
pub fn show(co: CoroutineId) {
    for linking in STATE.list.borrow().iter().filter(|linking| linking.co == Some(co)) {
        if class_table::find(&linking.key).is_some_and(stand_ins::is_stand_in) {
            stand_ins::put(&linking.key, linking.replaced.get());
        }
        if let Some(hidden) = &linking.hidden {
            rename(hidden, &linking.name);
        }
    }
}

/// Returns the class of this name, if it is not linked.
fn unlinked(name: &Str) -> Option<Class> {
    class_table::find(name).filter(|class| !class.is_linked())
}

fn is_unlinked(name: &Str) -> bool {
    unlinked(name).is_some()
}

/// Moves a class that is not linked to another key, unless a class has been declared with that key meanwhile: the first
/// one stays.
fn rename(from: &Str, to: &Str) {
    if is_unlinked(from) {
        class_table::change_key(from, to);
    }
}
