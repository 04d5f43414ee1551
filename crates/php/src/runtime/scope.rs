//! The class `Async\Scope`: its objects, and what the runtime keeps of a scope while its object may be gone.
//!
//! An object is a handle. What belongs to the scope (handlers, callbacks, values) is in a [`Record`], which lives until
//! the core says that the scope is gone: coroutines of it may outlive the object, and then ask for it again.

use crate::runtime::coroutine::{Coroutine, NO_SLOT};
use crate::runtime::failure::{self, Level};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::position::Position;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{self, Core, Phase, Runtime, rt};
use crate::runtime::{cancellation, classes, life, report};
use crate::settings;
use spindle_core::sched::{Bound, CoroutineId, Disposal, Lifetime, ScopeId};
use spindle_reactor::Reactor;
use spindle_zend::{
    Class, Collected, Frame, Instance, Object, Owned, OwnedCell, State, Thrown, Value, ValueCell, ValueList, engine,
    exception, object_class,
};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

/// The state of an object of the class.
pub struct Scope {
    /// None as long as its constructor has not run.
    id: Cell<Option<ScopeId>>,
    /// Its death has had its effect on the scope.
    dead: Cell<bool>,
}

/// An object of the class.
pub type ScopeObject = Instance<Scope>;

object_class!(
    /// The class; `BoundedScope` extends it.
    pub static SCOPE: Scope = create
);

/// Registers the classes. At module start.
pub fn register() {
    SCOPE.register(classes::scope(), create, 0, |_| {});
    SCOPE.extend_to(classes::bounded_scope(), create);
}

/// What the runtime keeps of a scope.
pub struct Record {
    /// User code's object, which is not held; null when there is none.
    object: Cell<*const ScopeObject>,
    /// It is a `BoundedScope`.
    pub is_bounded: bool,
    /// What gets its failures.
    pub handler: ValueCell,
    /// What gets failures of those below it.
    pub child_handler: ValueCell,
    /// Callbacks for its end.
    pub finally: ValueList,
    /// Values that are kept for it.
    pub values: KeyedValues,
    /// What bounds it.
    pub constraint: ValueCell,
    /// Its time in milliseconds.
    pub timeout: Cell<Option<i64>>,
    /// Which bound has come.
    pub reached: Cell<Option<Bound>>,
    /// Its cancellation.
    pub reason: OwnedCell<Object>,
    /// The failures that it or a scope above was cancelled for, and those that came later.
    errors: RefCell<Vec<Listed>>,
    /// Where it was created.
    pub created_at: Position,
}

impl Record {
    fn new(object: &ScopeObject) -> Record {
        Record {
            object: Cell::new(object),
            is_bounded: object.object().is_a(classes::bounded_scope()),
            handler: ValueCell::new(),
            child_handler: ValueCell::new(),
            finally: ValueList::new(),
            values: KeyedValues::default(),
            constraint: ValueCell::new(),
            timeout: Cell::new(None),
            reached: Cell::new(None),
            reason: OwnedCell::new(),
            errors: RefCell::new(Vec::new()),
            created_at: Position::new(),
        }
    }

    /// Returns one more reference to user code's object.
    fn object(&self) -> Option<Owned<ScopeObject>> {
        // SAFETY: null, or an object that is alive: it takes itself off when it is freed.
        unsafe { self.object.get().as_ref() }.map(Owned::of)
    }

    fn is_of(&self, object: &ScopeObject) -> bool {
        ptr::eq(self.object.get(), object)
    }

    /// Takes the values out, for whoever releases them.
    fn take(&self) -> (Vec<Value>, KeyedValues) {
        let mut values: Vec<Value> = [&self.handler, &self.child_handler, &self.constraint]
            .into_iter()
            .filter_map(|cell| cell.take().some())
            .collect();
        values.extend(self.finally.take());
        values.extend(self.reason.take().map(Value::from));
        values.extend(self.errors.take().into_iter().map(|listed| listed.exception.into()));
        (values, self.values.take())
    }

    fn keeps_any(&self) -> bool {
        let cells = [&self.handler, &self.child_handler, &self.constraint];
        let is_empty = cells.into_iter().all(ValueCell::is_empty)
            && self.finally.is_empty()
            && self.values.is_empty()
            && self.reason.is_empty()
            && self.errors.borrow().is_empty();
        !is_empty
    }

    /// Lets go of what the request has taken with it.
    fn forget(&self) {
        let (values, keyed) = self.take();
        values.into_iter().for_each(std::mem::forget);
        keyed.forget();
        self.created_at.forget();
    }

    /// Returns the failures on its list. They are known from now on.
    pub fn errors(&self) -> Vec<Owned<Object>> {
        let know = |listed: &Listed| {
            listed.know();
            listed.exception.clone()
        };
        self.errors.borrow().iter().map(know).collect()
    }

    fn collect(&self, values: &mut Collected) {
        [&self.handler, &self.child_handler, &self.constraint].into_iter().for_each(|cell| values.cell(cell));
        self.finally.collect(values);
        self.values.collect(values);
        values.object(&self.reason);
        self.errors.borrow().iter().for_each(|listed| values.owned_object(&listed.exception));
    }
}

/// A failure on the list of a scope.
struct Listed {
    exception: Owned<Object>,
    note: Rc<Note>,
}

/// What is known of a failure, on whatever lists it is.
struct Note {
    /// Somebody has been given it, has asked for it, or can.
    known: Cell<bool>,
    /// The scope that warns when it finishes and the failure is not known.
    warns: Cell<Option<ScopeId>>,
    /// The coroutine it is from.
    name: String,
}

impl Listed {
    /// Somebody is given it.
    fn know(&self) {
        self.note.known.set(true);
    }
}

/// A failure on its way through the scopes.
pub struct Failed {
    exception: Owned<Object>,
    note: Rc<Note>,
    last: Option<ScopeId>,
}

impl Failed {
    /// Returns one that is on no list yet. `name`: of the coroutine.
    pub fn new(exception: Owned<Object>, name: String) -> Failed {
        let note = Rc::new(Note { known: Cell::new(false), warns: Cell::new(None), name });
        Failed { exception, note, last: None }
    }

    /// Adds it to the list of a scope that exists.
    pub fn add_to(&mut self, rt: &'static Runtime, id: ScopeId) {
        let listed = Listed { exception: self.exception.clone(), note: Rc::clone(&self.note) };
        record(rt, id).errors.borrow_mut().push(listed);
        self.last = Some(id);
    }

    /// Returns `true` if it is on any list.
    pub fn is_listed(&self) -> bool {
        self.last.is_some()
    }

    /// Somebody gets it, or finds it: there is nobody to be warned.
    pub fn mark_known(&self) {
        self.note.known.set(true);
    }
}

/// A failure stays on the lists it is on, for who asks.
pub fn stays(rt: &'static Runtime, failed: &Failed) {
    let Some(id) = failed.last else { return };
    failed.note.warns.set(Some(id));
    if rt.core.borrow().is_finished(id) {
        schedule_warning(rt, id);
    }
}

/// A scope is finished, or no coroutine waits for its end any more: when those that have got its first failure have had an
/// occasion to ask for others, warns of what is not known.
pub fn schedule_warning(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let unknown = |listed: &Listed| listed.note.warns.get() == Some(id) && !listed.note.known.get();
    let any = record.errors.borrow().iter().any(unknown);
    if any && !rt.core.borrow().has_failure_waiter(id) {
        runner::start(rt, Work::ScopeErrors, id, None, Level::At(id), id);
    }
}

/// Warns of the failures of a scope that are not known.
pub fn warn_of_unknown(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let unknown: Vec<(Owned<Object>, String)> = {
        let errors = record.errors.borrow();
        let unknown = |listed: &&Listed| listed.note.warns.get() == Some(id) && !listed.note.known.replace(true);
        errors.iter().filter(unknown).map(|listed| (listed.exception.clone(), listed.note.name.clone())).collect()
    };
    for (failure, name) in unknown {
        let text = report::described(&failure);
        let name = if name.is_empty() { String::new() } else { format!(", {name}") };
        let text = format!("Unhandled exception in a scope that has failed already: {text}{name}");
        let (file, line) = exception::position(&failure).unwrap_or((None, 0));
        runner::warn(rt, &text, file.map(Owned::of), line);
    }
}

/// Returns the place on the list of a scope that exists of the first failure that is not known.
pub fn first_unknown(rt: &'static Runtime, id: ScopeId) -> usize {
    record(rt, id).errors.borrow().iter().take_while(|listed| listed.note.known.get()).count()
}

/// Returns `true` if there is a failure in this place of the list of a scope that exists.
pub fn has_failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> bool {
    record(rt, id).errors.borrow().len() > place
}

/// Returns the failure in this place of the list of a scope that exists, for somebody who takes it.
pub fn failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> Option<Owned<Object>> {
    let record = record(rt, id);
    let errors = record.errors.borrow();
    let listed = errors.get(place)?;
    listed.know();
    Some(listed.exception.clone())
}

/// Returns the first failure that is listed for a scope that exists, for who waits for it: now all are known.
pub fn first_failure(rt: &'static Runtime, id: ScopeId) -> Option<Owned<Object>> {
    existing_record(rt, id)?.errors().into_iter().next()
}

/// Throws the first failure that is listed for a scope that exists.
///
/// # Errors
/// There is one.
pub fn throw_failure_of(rt: &'static Runtime, id: ScopeId) -> Result<(), Thrown> {
    match first_failure(rt, id) {
        Some(failure) => Err(exception::throw(failure)),
        None => Ok(()),
    }
}

/// What it says when a coroutine is to be started in a scope that takes none.
pub const CLOSED: &str = "Coroutine scope is closed";

impl State for Scope {
    const DESTRUCT: Option<fn(&ScopeObject)> = Some(destruct);

    fn new(_: Class) -> Scope {
        Scope { id: Cell::new(None), dead: Cell::new(false) }
    }

    fn free(this: &ScopeObject) {
        let (Some(id), Some(rt)) = (this.id.get(), scheduler::existing()) else { return };
        if !rt.core.borrow().scope_exists(id) || !record(rt, id).is_of(this) {
            return;
        }
        record(rt, id).object.set(ptr::null());
        if !this.dead.replace(true) {
            end_with_object(this); // its constructor has thrown: the engine calls no destructor then
        }
        let record = record(rt, id);
        if record.object.get().is_null() {
            // Else an error handler has asked for an object again.
            free_handle(rt, id, &record);
        }
    }

    fn collect(&self, values: &mut Collected) {
        let (Some(id), Some(rt)) = (self.id.get(), scheduler::existing()) else { return };
        let is_its_own = {
            let core = rt.core.borrow();
            // Before that they are its coroutines': a handler that knows its scope keeps it as long as it may be called.
            // Only then do they go with the object: what coroutines still need must not count as garbage.
            core.scope_exists(id) && id != Core::GLOBAL && core.is_idle(id)
        };
        if is_its_own {
            record(rt, id).collect(values);
        }
    }
}

/// The object's last reference is gone: so are its coroutines, by the scope's lifetime.
fn destruct(this: &ScopeObject) {
    this.dead.set(true);
    end_with_object(this);
}

/// The object of a scope is freed: what is kept of the scope goes with it, if no coroutine needs it.
fn free_handle(rt: &'static Runtime, id: ScopeId, record: &Record) {
    let mut left = None;
    let idle = id != Core::GLOBAL && rt.core.borrow().is_idle(id);
    if idle {
        warn_of_unknown(rt, id);
        // The cycle collector, which knows of these, may free what they refer to right after this.
        left = Some(record.take());
    }
    if rt.core.borrow_mut().drop_handle(id) {
        drop(forget(rt, id)); // idle: there is nothing left in it
    }
    failure::carry_out(rt);
    if let Some((values, keyed)) = left {
        runner::release(values, &keyed);
    }
}

impl Scope {
    /// Returns its scope; none when its constructor has not run.
    pub fn id(&self) -> Option<ScopeId> {
        self.id.get()
    }

    /// Returns its scope.
    ///
    /// # Errors
    /// Its constructor has not run.
    pub fn made(&self) -> Result<ScopeId, Thrown> {
        let text = "This scope was not constructed: call parent::__construct() in its constructor";
        self.id.get().ok_or_else(|| exception::throw_new(classes::async_exception(), text))
    }
}

/// Returns the lifetime that the ini setting names.
pub fn default_lifetime() -> Lifetime {
    match settings::current().lifetime {
        1 => Lifetime::TopDown,
        2 => Lifetime::BottomUp,
        _ => Lifetime::Scope,
    }
}

/// Gives a new object its scope.
pub fn make(object: &ScopeObject, parent: Option<ScopeId>, lifetime: Lifetime) {
    let rt = rt();
    let id = rt.core.borrow_mut().add_scope(parent, lifetime);
    object.id.set(Some(id));
    let record = keep_record(rt, id, object);
    record.created_at.set_to_code_of(Frame::current());
}

fn keep_record(rt: &'static Runtime, id: ScopeId, object: &ScopeObject) -> Rc<Record> {
    let record = Rc::new(Record::new(object));
    let mut scopes = rt.scopes.borrow_mut();
    if scopes.len() <= id.slot() {
        scopes.resize(id.slot() + 1, None);
    }
    scopes[id.slot()] = Some(Rc::clone(&record));
    record
}

/// Returns what is kept of a scope that exists.
///
/// # Panics
/// The scope does not exist.
pub fn record(rt: &'static Runtime, id: ScopeId) -> Rc<Record> {
    match existing_record(rt, id) {
        Some(record) => record,
        None if id == Core::GLOBAL => global(rt),
        None => panic!("there is a record of each scope that exists"),
    }
}

/// Returns the same, but nothing of the global scope that has not been asked for.
pub fn existing_record(rt: &'static Runtime, id: ScopeId) -> Option<Rc<Record>> {
    rt.scopes.borrow().get(id.slot())?.clone()
}

/// Returns the global scope's, made at the first use; its object stays until the request ends.
fn global(rt: &'static Runtime) -> Rc<Record> {
    let object = new_object(classes::scope(), Core::GLOBAL);
    let record = keep_record(rt, Core::GLOBAL, &object);
    object.into_raw();
    record
}

fn new_object(class: Class, id: ScopeId) -> Owned<ScopeObject> {
    let object = SCOPE.create(class);
    object.id.set(Some(id));
    object
}

/// Returns the object of a scope that exists. When user code's own has died it gets a new one, whose death ends nothing that
/// has not been ended.
pub fn object_of(rt: &'static Runtime, id: ScopeId) -> Owned<ScopeObject> {
    let record = record(rt, id);
    record.object().unwrap_or_else(|| {
        let class = if record.is_bounded { classes::bounded_scope() } else { classes::scope() };
        let object = new_object(class, id);
        record.object.set(&*object);
        rt.core.borrow_mut().take_handle(id);
        object
    })
}

/// Returns the scope of a coroutine as an object, if there still is one.
pub fn of_coroutine(this: &Coroutine) -> Option<Owned<ScopeObject>> {
    let (rt, co) = (rt(), this.co.get());
    if co == NO_SLOT {
        return None;
    }
    let id = rt.core.borrow().scope_of(co);
    let exists = rt.core.borrow().scope_exists(id);
    exists.then(|| object_of(rt, id))
}

/// Returns `FILE:LINE` of its creation.
pub fn created(rt: &'static Runtime, id: ScopeId) -> String {
    if id == Core::GLOBAL { "{main}".to_owned() } else { record(rt, id).created_at.text() }
}

/// Returns what it says to a coroutine that would await the scope which it is in.
pub fn within(rt: &'static Runtime, id: ScopeId) -> String {
    let created = created(rt, id);
    format!("Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {created}")
}

/// Ends what does not outlive the object of a scope, which is still whole.
fn end_with_object(object: &ScopeObject) {
    let (Some(id), Some(rt)) = (object.id.get(), scheduler::existing()) else { return };
    let exits = exception::is_exit_in_flight();
    if rt.phase.get() == Phase::Ended || exits || !rt.core.borrow().scope_exists(id) {
        return;
    }
    // An exception in flight is put aside, as the engine does for destructors: error handlers are not called, and new
    // exceptions are not told from it, while there is one.
    let has_thrown = exception::is_in_flight();
    if has_thrown {
        exception::enter_frame(); // the frame that it leaves to has it now
    }
    let opline = exception::instruction_before();
    let thrown = exception::take();
    let (lifetime, finished, closed) = {
        let core = rt.core.borrow();
        (core.lifetime(id), core.is_finished(id), core.is_closed(id))
    };
    match lifetime {
        // Not once more: a time that was left to its coroutines holds.
        Lifetime::Scope if closed => {}
        Lifetime::Scope => dispose(rt, id, Disposal::Released, RELEASED),
        _ if finished => dispose(rt, id, Disposal::Released, RELEASED),
        Lifetime::TopDown => {
            let reason = cancellation::cancellation("cancelled because the object of its Scope was released");
            cancel(rt, id, &reason);
        }
        Lifetime::BottomUp => {}
    }
    let Some(thrown) = thrown else { return };
    exception::set_instruction_before(opline);
    match exception::take() {
        None => drop(exception::put(Some(thrown))),
        Some(exit) if exception::is_exit(&exit) => drop(exception::put(Some(exit))),
        Some(later) => {
            exception::set_last_previous(&later, thrown);
            drop(exception::put(Some(later)));
        }
    }
}

/// What stands for the place of an implicit disposal.
const RELEASED: &str = "[its object was released]:0";

/// Releases what is kept of a finished scope, when nothing can need it.
pub fn collect_if_idle(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let (idle, closed) = {
        let core = rt.core.borrow();
        (core.scope_exists(id) && core.is_idle(id), core.is_closed(id))
    };
    if !idle || id == Core::GLOBAL || !record.keeps_any() {
        return;
    }
    match record.object() {
        // The cycle collector may have looked at it while the values were not yet its own: let it look again.
        Some(object) => drop(object),
        None if closed => {
            warn_of_unknown(rt, id);
            let (values, keyed) = record.take();
            failure::let_go(rt, values, keyed);
        }
        None => {}
    }
}

/// A scope is gone: returns the values that were kept of it, to be released.
pub fn forget(rt: &'static Runtime, id: ScopeId) -> (Vec<Value>, KeyedValues) {
    let record = rt.scopes.borrow_mut()[id.slot()].take();
    record.map_or((Vec::new(), KeyedValues::default()), |record| record.take())
}

/// The request is over: the values have died with the engine's heap.
pub fn forget_all(rt: &'static Runtime) {
    for record in rt.scopes.take().into_iter().flatten() {
        record.forget();
    }
}

/// Releases the values that are kept for a scope, which may run PHP code.
pub fn free_values(rt: &'static Runtime, id: ScopeId) {
    if let Some(record) = existing_record(rt, id) {
        record.values.clear();
    }
}

/// Cancels a scope and those below it. Returns `false` if it was cancelled before.
pub fn cancel(rt: &'static Runtime, id: ScopeId, reason: &Object) -> bool {
    let order = rt.core.borrow_mut().cancel_scope(id);
    let Some(order) = order else { return false };
    propagate_cancel(rt, id, &order, reason, life::cancel);
    true
}

/// Cancels those that the core has named, for a scope that it has closed with those below it.
pub fn propagate_cancel(
    rt: &'static Runtime,
    id: ScopeId,
    order: &[CoroutineId],
    reason: &Object,
    cancel: fn(&'static Runtime, CoroutineId, &Object),
) {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        let record = record(rt, id);
        if !record.reason.is_empty() {
            continue; // cancelled before, with all below it
        }
        if rt.core.borrow().is_cancelled(id) {
            record.reason.set(Some(Owned::of(reason)));
        }
        open.extend(rt.core.borrow().child_scopes(id));
    }
    for co in order {
        cancel(rt, *co, reason);
    }
    rt.core.borrow_mut().notify_cancelled(id);
    failure::carry_out(rt);
}

/// Disposes of a scope and of those below it. `place`: where, `FILE:LINE`.
pub fn dispose(rt: &'static Runtime, id: ScopeId, how: Disposal, place: &str) {
    let warn = rt.core.borrow_mut().dispose_scope(id, how);
    warn_of_zombies(rt, warn, &format!("in Scope disposed at {place}"));
    if how == Disposal::Cancel && rt.core.borrow().scope_exists(id) {
        let reason = cancellation::default_cancellation();
        cancel(rt, id, &reason);
    }
    failure::carry_out(rt);
}

/// Warns of coroutines that have not ended, `in` what. An error handler may run code, park and throw; after a throw the
/// rest is left out.
pub fn warn_of_zombies(rt: &'static Runtime, all: Vec<CoroutineId>, what: &str) {
    let warning = |co: &CoroutineId| {
        let this = rt.object(*co);
        let text = format!("Coroutine is zombie at {} {what}", this.spawned_at.text());
        (exception::c_text(&text), this.spawned_at.file(), this.spawned_at.line())
    };
    // A bailout in a handler leaks the list.
    let all: Vec<_> = all.iter().map(warning).collect();
    for (text, file, line) in &all {
        if !exception::is_in_flight() {
            engine::warn_here(file.as_deref(), *line, text);
        }
    }
}

/// Returns monotonic nanoseconds, `ms` milliseconds from now.
pub fn deadline(ms: i64) -> u64 {
    Reactor::now().saturating_add((ms.max(0) as u64).saturating_mul(1_000_000).min(1 << 62))
}
