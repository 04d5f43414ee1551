//! Lazy objects that are being initialised, and coroutines that need them meanwhile.
//!
//! While the coroutine in which an object's initialiser runs is suspended, the object is hidden: it has no properties,
//! and handlers with which others wait (`glue/lazy.c`). The engine announces neither the start nor the end of an
//! initialisation. The start is noticed when the coroutine is suspended in the initialiser, and the end when it is
//! suspended again, or has ended, before which no other coroutine runs.

use crate::c;
use crate::engine::loading;
use crate::runtime::park::throw_cancellation;
use crate::runtime::{
    classes, dependencies,
    scheduler::{self, Runtime},
};
use spindle_core::sched::{CoroutineId, WakeReason};
use spindle_interpose::patch;
use spindle_zend::{Object, Owned, PhpStatic, exception, sys};
use std::cell::{Cell, RefCell};
use std::mem::{forget, offset_of};

/// An object whose initialiser has been suspended.
struct Initialising {
    /// The coroutine. `None` in the child of a fork, for a coroutine of the parent, which does not run here.
    co: Option<CoroutineId>,
    object: Owned<Object>,
    /// The part of the object that is put aside while it is hidden.
    aside: Cell<c::Lazy>,
}

struct State {
    list: RefCell<Vec<Initialising>>,
    count: Cell<usize>,
}

static STATE: PhpStatic<State> = PhpStatic::new(State { list: RefCell::new(Vec::new()), count: Cell::new(0) });

/// Returns `true` if any object is being initialised by a coroutine that was suspended.
#[inline(always)]
pub fn is_any() -> bool {
    STATE.count.get() > 0
}

/// Prepares the handlers of hidden objects, at the start of the process.
pub fn install() {
    c::spindle_lazy_install();
}

/// Registers the objects that the running coroutine is initialising, which is about to be suspended, and forgets those
/// that it has initialised.
pub fn suspending(rt: &'static Runtime) {
    finish(rt);
    let mut found: Vec<Owned<Object>> = Vec::new();
    c::spindle_lazy_find(&mut found, add);
    if !found.is_empty() {
        register(rt, found);
    }
}

extern "C" fn add(list: &mut Vec<Owned<Object>>, object: &Object) {
    list.push(Owned::of(object));
}

#[cold]
fn register(rt: &'static Runtime, found: Vec<Owned<Object>>) {
    let co = Some(rt.context().co.get());
    let mut list = STATE.list.borrow_mut();
    for object in found {
        let is_known = list.iter().any(|known| *known.object == *object);
        // One that was found is not hidden, so it is the running coroutine's.
        if !is_known && c::spindle_lazy_is_initializing(&object) {
            list.push(Initialising { co, object, aside: Cell::new(c::Lazy::NONE) });
        }
    }
    STATE.count.set(list.len());
    drop(list);
    compare_with_care();
}

/// Makes comparisons of objects wait, too: those of another object with a hidden one are not made by its handlers.
fn compare_with_care() {
    let replacement = c::spindle_lazy_compare as *const () as usize;
    let place = (&raw const sys::std_object_handlers).addr() + offset_of!(sys::zend_object_handlers, compare);
    if spindle_zend::engine::standard_handlers().compare.is_none_or(|now| now as usize != replacement) {
        // SAFETY: our function has the type of those in the entry, and calls the one that stands there. If it cannot be
        // stored, the objects compare as different meanwhile.
        let _ = unsafe { patch::store(place, replacement) };
    }
}

/// Forgets the objects that the running coroutine has initialised, or could not, and wakes those that wait for them.
pub fn finish(rt: &'static Runtime) {
    if is_any() {
        finish_some(rt);
    }
}

#[cold]
fn finish_some(rt: &'static Runtime) {
    forget_own(rt, |object| !c::spindle_lazy_is_initializing(object));
}

/// Forgets the objects that the running coroutine was initialising when a fatal error ended its code, and wakes those that wait.
pub fn abandon(rt: &'static Runtime) {
    forget_own(rt, |_| true);
}

fn forget_own(rt: &'static Runtime, which: impl Fn(&Object) -> bool) {
    let co = Some(rt.context().co.get());
    let done: Vec<Initialising> = {
        let mut list = STATE.list.borrow_mut();
        let (done, left) = list.drain(..).partition(|one| one.co == co && which(&one.object));
        *list = left;
        STATE.count.set(list.len());
        done
    };
    for one in done {
        loading::initialised(rt, one.object.handle());
    }
}

/// Hides the objects that a coroutine is initialising from others while it is suspended.
#[cold]
pub fn hide(co: CoroutineId) {
    for one in STATE.list.borrow().iter().filter(|one| one.co == Some(co)) {
        let mut aside = c::Lazy::NONE;
        c::spindle_lazy_hide(&one.object, &mut aside);
        one.aside.set(aside);
    }
}

/// Shows the objects that a coroutine is initialising, which is resumed.
#[cold]
pub fn show(co: CoroutineId) {
    for one in STATE.list.borrow().iter().filter(|one| one.co == Some(co)) {
        let mut aside = one.aside.replace(c::Lazy::NONE);
        c::spindle_lazy_show(&one.object, &mut aside);
    }
}

/// Waits while another coroutine initialises an object. Returns `false` if an exception was thrown.
#[unsafe(no_mangle)]
extern "C" fn spindle_lazy_wait(object: &Object) -> bool {
    while c::spindle_lazy_is_hidden(object) {
        if !wait(object) {
            return false;
        }
    }
    true
}

/// Waits until an object may be initialised.
#[cold]
fn wait(object: &Object) -> bool {
    let owner = STATE.list.borrow().iter().find(|one| *one.object == *object).map(|one| one.co);
    let refused = |why: &str| {
        let class = object.class().name().to_text();
        let text = format!("This object of the class {class} is being initialized by {why}");
        let _ = exception::throw_new(classes::async_exception(), &text);
        false
    };
    let Some(Some(other)) = owner else {
        return refused("a coroutine of the parent process, which does not run in this one");
    };
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else {
        return refused("another coroutine, and this code cannot wait for it");
    };
    if dependencies::waits_for_me(rt, other) {
        let id = rt.core.borrow().id(other);
        return refused(&format!("coroutine #{id}, which waits for this one"));
    }
    let reason = loading::wait_for_object(rt, other, object.handle());
    !(reason == WakeReason::Cancelled && c::spindle_lazy_is_hidden(object) && throw_cancellation(rt))
}

/// Clears the list at the start of a request. The objects in it were freed with the memory of the previous one.
pub fn forget_all() {
    STATE.count.set(0);
    STATE.list.borrow_mut().drain(..).for_each(forget);
}

/// Marks the objects that other coroutines were initialising as lost, in the child of a fork.
pub fn forget_others(me: CoroutineId) {
    for one in STATE.list.borrow_mut().iter_mut().filter(|one| one.co != Some(me)) {
        one.co = None;
    }
}
