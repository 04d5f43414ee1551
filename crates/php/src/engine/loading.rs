//! Makes coroutines that need a class or a file wait while another coroutine is loading it.
//!
//! The engine marks a file as included when it starts to run its code, and does not autoload a class that is already
//! being autoloaded. Code of files and autoloaders may suspend: to other coroutines a class would seem missing, and a
//! file would seem loaded although its conditional functions, its constants and its `return` have not been executed
//! yet. So they wait.
//!
//! Within one coroutine PHP does not wait: a class that is needed during its own loading is missing, and a file that is
//! required by its own code counts as loaded. The same holds for coroutines that are inside of a load. A coroutine is
//! inside of a file if the file's code has spawned it, directly or through others, while that code runs: coroutines
//! that serve requests may require the file of the application that has spawned them, whose code never returns. So are
//! the coroutines that the load waits for, in any way that is known (see `dependencies`).

use crate::c;
#[cfg(lazy_objects)]
use crate::engine::lazy_objects;
use crate::engine::{linking, stand_ins};
use crate::runtime::park::throw_cancellation;
use crate::runtime::{
    coroutine::{Info, Wants},
    dependencies, gate,
    scheduler::{self, Runtime},
};
use spindle_core::sched::{CoroutineId, Target, Ticket, WakeReason};
use spindle_reactor::Reactor;
use spindle_zend::{
    Class, Frame, Function, Hook, Owned, PhpStatic, Str, class_table, exception,
    hooks::{AUTOLOAD, Autoload, RESOLVE_PATH, ResolvePath},
    sys,
};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The coroutine that runs the code of a file for the first time. The id distinguishes it from a later one in the same
/// slot.
#[derive(Clone, Copy)]
struct Loader {
    co: CoroutineId,
    id: u64,
    /// The number of the load.
    number: u32,
}

/// A file whose code was run for the first time.
struct Load {
    path: Rc<[u8]>,
    /// The id of its loader.
    loader: u64,
    /// The number of the load that its loader was inside of; 0 for none.
    outer: u32,
}

/// A waiting coroutine, the one that it waits for, and what that one loads.
struct Wait {
    ticket: Ticket,
    loader: CoroutineId,
    target: LoadTarget,
}

/// The class or file that is being loaded.
#[derive(PartialEq, Eq)]
enum LoadTarget {
    /// A class, by its lower-case name.
    Class(Vec<u8>),
    /// A file, by its path.
    File(Vec<u8>),
    /// A lazy object, which is being initialised, by its number.
    #[cfg(lazy_objects)]
    Object(u32),
}

impl LoadTarget {
    fn is_file(&self) -> bool {
        matches!(self, LoadTarget::File(_))
    }
}

struct State {
    /// Classes that are being loaded, by their lower-case names.
    classes: RefCell<Vec<(Vec<u8>, CoroutineId)>>,
    /// The first loader of each file. Whether it is still loading the file is determined when needed.
    files: RefCell<BTreeMap<Rc<[u8]>, Loader>>,
    /// All loads of files, by their numbers, which begin with 1.
    loads: RefCell<Vec<Load>>,
    waits: RefCell<Vec<Wait>>,
    /// The number of waits for files.
    file_waits: Cell<u32>,
}

static STATE: PhpStatic<State> = PhpStatic::new(State {
    classes: RefCell::new(Vec::new()),
    files: RefCell::new(BTreeMap::new()),
    loads: RefCell::new(Vec::new()),
    waits: RefCell::new(Vec::new()),
    file_waits: Cell::new(0),
});

static AUTOLOAD_HOOK: Hook<Autoload> = Hook::new(&AUTOLOAD, autoload);
static RESOLVE_PATH_HOOK: Hook<ResolvePath> = Hook::new(&RESOLVE_PATH, resolve_path);

/// Installs the hooks, after all extensions have installed theirs.
pub fn install() {
    AUTOLOAD_HOOK.install();
    RESOLVE_PATH_HOOK.install();
    stand_ins::install();
    #[cfg(lazy_objects)]
    lazy_objects::install();
}

/// Restores the originals, except where others have replaced the hooks.
pub fn remove() {
    AUTOLOAD_HOOK.remove();
    RESOLVE_PATH_HOOK.remove();
    stand_ins::remove();
}

/// Forgets what was being loaded in the previous request.
pub fn forget_all() {
    STATE.classes.borrow_mut().clear();
    STATE.files.borrow_mut().clear();
    STATE.loads.borrow_mut().clear();
    STATE.waits.borrow_mut().clear();
    STATE.file_waits.set(0);
    linking::forget_all();
    #[cfg(lazy_objects)]
    lazy_objects::forget_all();
}

/// Forgets what other coroutines were loading, in the child of a fork.
pub fn forget_others(me: CoroutineId) {
    STATE.classes.borrow_mut().retain(|(_, loader)| *loader == me);
    STATE.files.borrow_mut().retain(|_, loader| loader.co == me);
    STATE.waits.borrow_mut().clear();
    STATE.file_waits.set(0);
    linking::forget_others(me);
    #[cfg(lazy_objects)]
    lazy_objects::forget_others(me);
}

/// Forgets what the running coroutine was loading when a fatal error ended its code, and wakes those that wait for it: they load it
/// themselves, or fail as it has.
#[cold]
pub fn abandon(rt: &'static Runtime) {
    let me = rt.core.borrow().running();
    STATE.waits.borrow_mut().retain(|wait| wait.ticket.co != me);
    linking::abandon(rt);
    #[cfg(lazy_objects)]
    lazy_objects::abandon(rt);
    let classes: Vec<Vec<u8>> = {
        let classes = STATE.classes.borrow();
        classes.iter().filter(|(_, loader)| *loader == me).map(|(name, _)| name.clone()).collect()
    };
    for name in classes {
        end(rt, name);
    }
}

/// Parks until `loader` has loaded the target, or may have.
fn wait(rt: &'static Runtime, loader: CoroutineId, target: LoadTarget) -> WakeReason {
    let ticket = rt.begin_wait();
    let (call, files) = match target {
        LoadTarget::Class(_) => ("autoload", 0),
        LoadTarget::File(_) => ("include", 1),
        #[cfg(lazy_objects)]
        LoadTarget::Object(_) => ("initialize", 0),
    };
    STATE.waits.borrow_mut().push(Wait { ticket, loader, target });
    STATE.file_waits.set(STATE.file_waits.get() + files);
    let wants = Wants::Target(Target::Coroutine(loader));
    let reason = dependencies::park(rt, Info { call, wants, since: Reactor::recently(), ..Info::NONE });
    STATE.waits.borrow_mut().retain(|wait| wait.ticket != ticket);
    STATE.file_waits.set(STATE.file_waits.get().saturating_sub(files));
    reason
}

/// Parks until `loader` has declared a class, or may have.
pub(crate) fn wait_for_class(rt: &'static Runtime, loader: CoroutineId, name: Vec<u8>) -> WakeReason {
    wait(rt, loader, LoadTarget::Class(name))
}

/// Parks until `other` has initialised an object, or may have.
#[cfg(lazy_objects)]
pub(crate) fn wait_for_object(rt: &'static Runtime, other: CoroutineId, number: u32) -> WakeReason {
    wait(rt, other, LoadTarget::Object(number))
}

/// Wakes the coroutines that wait for an object, which is initialised, or was not.
#[cfg(lazy_objects)]
pub(crate) fn initialised(rt: &'static Runtime, number: u32) {
    wake(rt, |wait| wait.target == LoadTarget::Object(number));
}

extern "C" fn autoload(name: &Str, lower: &Str) -> Option<Class> {
    let original = AUTOLOAD_HOOK.original()?;
    let rt = scheduler::existing().filter(|rt| rt.can_switch());
    if stand_ins::is_interface_name(lower) {
        return linking::wait_for_declaration(rt);
    }
    let Some(rt) = rt else { return ask(original, name, lower) };
    linking::register(rt);
    count_load(rt, 1);
    let class = load_class(rt, original, name, lower);
    count_load(rt, -1);
    class
}

/// Asks the autoloaders: those of the process, and of the running instance of an application.
fn ask(original: Autoload, name: &Str, lower: &Str) -> Option<Class> {
    if !c::spindle_instance_has_autoloaders() {
        return original(name, lower);
    }
    let own = |is_first| {
        if exception::is_in_flight() { None } else { c::spindle_instance_autoload(is_first, name, lower) }
    };
    if c::spindle_instance_has_all_autoloaders() {
        return own(true);
    }
    own(true).or_else(|| original(name, lower).filter(|_| !exception::is_in_flight())).or_else(|| own(false))
}

/// Adds to the number of classes that the running coroutine is loading.
fn count_load(rt: &'static Runtime, by: i32) {
    let loads = &rt.context().loads;
    loads.set(loads.get().wrapping_add_signed(by));
}

/// Loads a class by the original function, after waiting for a coroutine that is loading it already.
fn load_class(rt: &'static Runtime, original: Autoload, name: &Str, lower: &Str) -> Option<Class> {
    let me = rt.core.borrow().running();
    may_have_loaded(rt);
    while let Some(loader) = begin(lower.as_bytes().to_vec(), me) {
        if dependencies::waits_for_me(rt, loader) {
            return None; // as for a class that is needed during its own loading
        }
        let reason = wait(rt, loader, LoadTarget::Class(lower.as_bytes().to_vec()));
        let found = class_table::find(lower);
        if found.is_some() {
            return found;
        }
        if reason == WakeReason::Cancelled {
            throw_cancellation(rt);
            return None;
        }
    }
    let class = ask(original, name, lower);
    end(rt, lower.as_bytes().to_vec());
    class
}

/// Registers `me` as the loader of a class, unless another coroutine is loading it already, which is returned.
fn begin(name: Vec<u8>, me: CoroutineId) -> Option<CoroutineId> {
    let mut classes = STATE.classes.borrow_mut();
    let loader = classes.iter().find(|(known, _)| *known == name).map(|(_, loader)| *loader);
    if loader.is_none() {
        classes.push((name, me));
    }
    loader
}

/// Registers that `co` has started to link a class.
pub(crate) fn begins(name: Vec<u8>, co: CoroutineId) {
    begin(name, co);
}

/// Registers that a class which was being linked exists, or will not.
pub(crate) fn ends(rt: &'static Runtime, name: Vec<u8>) {
    end(rt, name);
}

/// Wakes the coroutines that wait for a class, which is loaded, or will be before its loader suspends again.
fn end(rt: &'static Runtime, name: Vec<u8>) {
    STATE.classes.borrow_mut().retain(|(known, _)| *known != name);
    let done = LoadTarget::Class(name);
    wake(rt, |wait| wait.target == done);
}

/// Wakes the chosen coroutines. Returns `true` if there are any. From now on they wait for no coroutine: others may
/// check that before they run.
fn wake(rt: &'static Runtime, which: impl Fn(&Wait) -> bool) -> bool {
    let chosen: Vec<Ticket> = {
        let waits = STATE.waits.borrow();
        waits.iter().filter(|wait| which(wait)).map(|wait| wait.ticket).collect()
    };
    for ticket in &chosen {
        rt.core.borrow_mut().wake(*ticket);
    }
    STATE.waits.borrow_mut().retain(|wait| !chosen.contains(&wait.ticket));
    !chosen.is_empty()
}

/// Registers a compiled file, whose code the running coroutine is about to run.
pub fn compiled(code: Function) {
    let Some(rt) = scheduler::existing().filter(|_| gate::is_active()) else { return };
    let Some(path) = code.file() else { return };
    let (co, id) = {
        let core = rt.core.borrow();
        (core.running(), core.id(core.running()))
    };
    let mut files = STATE.files.borrow_mut();
    if files.contains_key(path.as_bytes()) {
        return;
    }
    leave_files(rt);
    let this = rt.running();
    let mut loads = STATE.loads.borrow_mut();
    let path: Rc<[u8]> = path.as_bytes().into();
    loads.push(Load { path: Rc::clone(&path), loader: id, outer: this.inside.get() });
    let number = loads.len() as u32;
    files.insert(path, Loader { co, id, number });
    this.inside.set(number);
    this.runs_file.set(true);
}

/// Records the files whose code the running coroutine has left: coroutines that it spawns from now on are not inside of
/// them.
pub fn leave_files(rt: &'static Runtime) {
    let this = rt.running();
    let id = rt.core.borrow().id(this.co.get());
    let loads = STATE.loads.borrow();
    while let Some(load) = load(&loads, this.inside.get())
        && load.loader == id
    {
        if runs_file(Frame::current(), &load.path) {
            return;
        }
        this.inside.set(load.outer);
    }
    this.runs_file.set(false);
}

/// Returns `true` if the running coroutine runs code of a file that others may wait for.
pub fn is_loading(rt: &'static Runtime) -> bool {
    if rt.running().runs_file.get() {
        leave_files(rt);
    }
    rt.running().runs_file.get()
}

/// Returns the load with this number, if there is one.
fn load(loads: &[Load], number: u32) -> Option<&Load> {
    loads.get((number as usize).checked_sub(1)?)
}

/// Returns `true` if the running coroutine is inside of the load with this number.
fn is_inside(rt: &'static Runtime, number: u32) -> bool {
    let loads = STATE.loads.borrow();
    let outer = |inner: &u32| load(&loads, *inner).map(|load| load.outer);
    std::iter::successors(Some(rt.running().inside.get()), outer).any(|inside| inside == number)
}

/// Returns `true` if one of these calls runs code of this file, not only of a function in it.
fn runs_file(innermost: Option<Frame>, path: &[u8]) -> bool {
    innermost
        .into_iter()
        .flat_map(Frame::and_callers)
        .filter_map(Frame::function)
        .any(|function| function.name().is_none() && function.file().is_some_and(|file| file.as_bytes() == path))
}

/// Returns the coroutine other than `me` that is running the code of this file for the first time, unless `me`, the running one, is
/// inside of that.
fn loader_of(rt: &'static Runtime, path: &[u8], me: CoroutineId) -> Option<CoroutineId> {
    let loader = *STATE.files.borrow().get(path)?;
    if loader.co == me || rt.core.borrow().id(loader.co) != loader.id {
        return None;
    }
    let frame = rt.frame_of(&*rt.find_object(loader.co)?)?;
    (runs_file(Some(frame), path) && !is_inside(rt, loader.number)).then_some(loader.co)
}

extern "C" fn resolve_path(name: &Str) -> Option<Owned<Str>> {
    let original = RESOLVE_PATH_HOOK.original()?;
    let path = original(name)?;
    let Some(rt) = scheduler::existing().filter(|rt| rt.can_switch()) else { return Some(path) };
    if STATE.files.borrow().is_empty() || !includes_once() {
        return Some(path);
    }
    let me = rt.core.borrow().running();
    may_have_loaded(rt);
    while let Some(loader) = loader_of(rt, path.as_bytes(), me) {
        if dependencies::waits_for_me(rt, loader) {
            break;
        }
        let reason = wait(rt, loader, LoadTarget::File(path.as_bytes().to_vec()));
        if reason == WakeReason::Cancelled && throw_cancellation(rt) {
            return None; // without a path and with an exception the engine includes nothing
        }
    }
    Some(path)
}

/// Returns `true` if the running code is an `include_once` or `require_once`.
fn includes_once() -> bool {
    const INCLUDE_ONCE: u32 = 1 << 2;
    const REQUIRE_ONCE: u32 = 1 << 4;
    let Some(frame) = Frame::current() else { return false };
    frame.instruction().is_some_and(|instruction| {
        u32::from(instruction.opcode) == sys::ZEND_INCLUDE_OR_EVAL
            && matches!(instruction.extended_value, INCLUDE_ONCE | REQUIRE_ONCE)
    })
}

/// Wakes the coroutines that wait for a file whose code the running coroutine has run by now. Called when it suspends,
/// ends, or looks up a class or file.
#[inline(always)]
pub fn may_have_loaded(rt: &'static Runtime) {
    if linking::is_any() {
        linking::finish_linked(rt);
    }
    if STATE.file_waits.get() > 0 {
        wake_loaded(rt);
    }
    #[cfg(lazy_objects)]
    lazy_objects::finish(rt);
}

#[cold]
fn wake_loaded(rt: &'static Runtime) {
    let me = rt.core.borrow().running();
    wake(rt, |wait| {
        let LoadTarget::File(path) = &wait.target else { return false };
        wait.loader == me && !runs_file(Frame::current(), path)
    });
}

/// Wakes a coroutine that waits for a class, file or object, because the running coroutine has closed a cycle with this wait. That
/// coroutine then continues without the class, file or object, as within one coroutine.
pub fn give_up(rt: &'static Runtime, co: CoroutineId) {
    wake(rt, |wait| wait.ticket.co == co);
}

/// Resolves a stall in which coroutines that load files wait, in an undetected way, for those that wait for them: wakes
/// these, which continue without the files. Returns `true` if there are any.
pub fn resolve_stall(rt: &'static Runtime) -> bool {
    let waits = STATE.waits.borrow();
    let mut files = STATE.files.borrow_mut();
    for wait in waits.iter() {
        if let LoadTarget::File(path) = &wait.target {
            files.remove(path.as_slice());
        }
    }
    drop((waits, files));
    wake(rt, |wait| wait.target.is_file())
}
