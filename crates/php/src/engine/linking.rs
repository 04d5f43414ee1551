//! A class that is being linked is in the engine's table already, unlinked, and to others it looks missing, without an
//! autoloader being asked. Linking runs PHP code: autoloaders of its parents, interfaces and traits, and error handlers for
//! what it deprecates. So while the coroutine that links a class is suspended, whatever in, the others do not see the class:
//! they ask for it, and wait (see `loading`). Where they declare it, too, by the same code, they find a stand-in, and wait as
//! well (see `stand_ins`).
//!
//! An exception that comes out of some of this code, when a trait is loaded or something is deprecated, ends the request: the
//! engine cannot take a class back that others may know already. So cancellations are held off until the class is linked.
//!
//! The engine does not say when linking begins or ends. It is noticed at every call of an autoloader and every error, if the
//! running code is a declaration then. And it is over when the class in the table is linked, or gone.

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

/// A class that a coroutine links.
struct Linking {
    /// `None`, in the child of a fork: a coroutine of the parent's, which does not go on here.
    co: Option<CoroutineId>,
    /// What it is found by: its lower-case name; the key of its declaration, if it is anonymous.
    name: Owned<Str>,
    /// The key by which its declaration finds it.
    key: Owned<Str>,
    /// Its key while the coroutine is suspended. Anonymous ones are not hidden, as no code asks for them by name.
    hidden: Option<Owned<Str>>,
    /// While the coroutine is suspended: what its stand-in has replaced.
    replaced: Cell<Option<Class>>,
    /// The fiber of the engine's that links it, by its address.
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

/// Asks the engine to report errors. At module start. Without coroutines it does nothing.
pub fn install() {
    engine::observe_errors(error);
}

extern "C" fn error(_: c_int, _: Option<&Str>, _: u32, _: Option<&Str>) {
    if let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) {
        notice(rt);
    }
}

fn is_anonymous(declaration: &Declaration) -> bool {
    std::ptr::eq(declaration.name, declaration.key)
}

/// Returns the running coroutine.
fn running(rt: &'static Runtime) -> CoroutineId {
    rt.context().co.get()
}

/// Returns `true` if the running coroutine is not in the middle of linking it any more.
fn is_over(linking: &Linking) -> bool {
    if !is_unlinked(&linking.name) {
        return true; // linked; or not to be linked, and the declaration has taken the name away
    }
    if linking.hidden.is_some() || linking.fiber != engine::fiber_address() {
        return false;
    }
    // An anonymous one has the same key before and after.
    let mut calls = Frame::current().into_iter().flat_map(Frame::and_callers);
    !calls.any(|frame| frame.declaration().is_some_and(|declaration| *declaration.key == *linking.key))
}

/// Notes the class that the running code may be linking, before it runs PHP code in the middle of that.
pub fn notice(rt: &'static Runtime) {
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
    loading::begins(bytes.to_vec(), co); // also where no autoloader was asked for it
}

/// The running coroutine is about to be suspended, or to ask for a class: what it has linked by now is there for all.
#[cold]
pub fn settle(rt: &'static Runtime) {
    let co = running(rt);
    let done: Vec<Linking> = {
        let mut list = STATE.list.borrow_mut();
        let (done, left) = list.drain(..).partition(|linking| linking.co == Some(co) && is_over(linking));
        *list = left;
        STATE.count.set(list.len());
        done
    };
    for linking in done {
        rt.core.borrow_mut().unshield();
        loading::ends(rt, linking.name.as_bytes().to_vec());
    }
}

/// The running code declares a class that another coroutine links, and is about to link its stand-in: waits until the class
/// is linked, and links it where the other one could not. Called by the autoloader, for the name in
/// [`stand_ins::is_asked_for`]. Returns the interface that the stand-in asks for; `None`: something was thrown, and the
/// declaration fails.
pub fn wait_for_declaration(rt: Option<&'static Runtime>) -> Option<Class> {
    let frame = Frame::current()?;
    let declaration = frame.declaration()?;
    let Declaration { name, key, parent } = declaration;
    // The engine has given the stand-in the class's name, and will take it away from what has it when the declaration fails.
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

/// Returns the coroutine other than the running one, which sees the class, that links this class: `Some(None)` for one of the
/// parent process.
fn linker(name: &Str) -> Option<Option<CoroutineId>> {
    let list = STATE.list.borrow();
    list.iter().find(|linking| *linking.name == *name).map(|linking| linking.co)
}

/// Waits until `other` links the class no more, or may not.
///
/// # Errors
/// It cannot wait, or was cancelled.
fn wait(rt: Option<&'static Runtime>, other: Option<CoroutineId>, name: &Str) -> Result<(), Thrown> {
    let class = name.to_text();
    let class = class.split('\0').next().unwrap_or_default(); // of an anonymous one a place follows
    let refused = |why: &str| {
        let text = format!("class {class} is being declared by {why}");
        Err(exception::throw_new(classes::async_exception(), &text))
    };
    let Some(other) = other else {
        return refused("a coroutine of the parent process, which does not go on in this one");
    };
    let Some(rt) = rt else { return refused("another coroutine, and this code cannot wait for it") };
    let me = rt.core.borrow().running();
    if dependencies::depends_on(other, me) {
        let id = rt.core.borrow().id(other);
        return refused(&format!("coroutine #{id}, which waits for this one"));
    }
    let reason = loading::wait_for_class(rt, other, name.as_bytes().to_vec());
    if reason == WakeReason::Cancelled && linker(name).is_some() && throw_cancellation(rt) {
        return Err(Thrown::is_in_flight());
    }
    Ok(())
}

/// A request begins. The strings of what is left of the one before went with its memory.
pub fn forget_all() {
    STATE.count.set(0);
    STATE.list.borrow_mut().drain(..).for_each(std::mem::forget);
    stand_ins::forget_all();
}

/// In the child of a fork: what other coroutines were linking is neither linked nor as it was.
pub fn lose_others(me: CoroutineId) {
    for linking in STATE.list.borrow_mut().iter_mut().filter(|linking| linking.co != Some(me)) {
        linking.co = None;
    }
}

/// The coroutine is left: others do not see the classes that it links, and do not link them.
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

/// The coroutine goes on, and sees them.
#[cold]
pub fn show(co: CoroutineId) {
    for linking in STATE.list.borrow().iter().filter(|linking| linking.co == Some(co)) {
        if class_table::find(&linking.key).is_some_and(stand_ins::is_one) {
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

/// Gives a class that is not linked another key, unless a class has been declared with that meanwhile: the first one stays.
fn rename(from: &Str, to: &Str) {
    if is_unlinked(from) {
        class_table::change_key(from, to);
    }
}
