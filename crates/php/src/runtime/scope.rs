//! The class `Async\Scope`: its objects, and what the runtime keeps of a scope, which may outlive its object.
//!
//! An object is a handle. The handlers, callbacks and values of the scope are in a [`Record`], which exists as long as
//! the scope does in the core: coroutines of the scope may outlive the object, and request a new one.

use crate::runtime::coroutine::{Coroutine, CoroutineObject, NO_SLOT};
use crate::runtime::failure::{self, Level};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::position::Position;
use crate::runtime::registered::Registered;
use crate::runtime::runner::{self, Work};
use crate::runtime::scheduler::{self, Core, Runtime};
use crate::runtime::timeout::TIMEOUT;
use crate::runtime::{awaiting, cancellation, classes, life, report};
use crate::settings;
use spindle_core::sched::{Bound, CoroutineId, Disposal, Lifetime, ScopeId};
use spindle_reactor::Reactor;
use spindle_zend::{
    Class, Collected, Frame, Instance, Object, Owned, OwnedCell, State, Thrown, Value, ValueCell, engine, exception,
    object_class,
};
use std::cell::{Cell, RefCell};
use std::ptr;
use std::rc::Rc;

/// The state of an object of the class.
pub struct Scope {
    /// `None` until its constructor has run.
    id: Cell<Option<ScopeId>>,
    /// The object was destructed, and the effect on the scope's coroutines has taken place.
    dead: Cell<bool>,
}

/// An object of the class.
pub type ScopeObject = Instance<Scope>;

object_class!(
    /// The class; `BoundedScope` extends it.
    pub static SCOPE: Scope
);

/// Registers the classes. At module start.
pub fn register() {
    SCOPE.register(classes::scope(), 0, |_| {});
    SCOPE.extend_to(classes::bounded_scope());
}

/// Where the failures in a scope, and in those below it, end.
pub struct Boundary {
    /// Takes each that has ended the scope. It runs no PHP code.
    pub take: Box<dyn Fn(&Object)>,
    /// The scope is a nursery: a failure does not wait to be awaited, and those after the first one stay on the list.
    pub is_nursery: bool,
}

/// The process is the child of a fork, and the calls that wait for scopes of the running coroutine are in its parent: failures go
/// further. Returns whether there are such calls.
pub fn leave_calls(rt: &'static Runtime) -> bool {
    let mut next = {
        let core = rt.core.borrow();
        Some(core.scope_of(core.running()))
    };
    let mut was_in_one = false;
    while let Some(id) = next {
        let boundary = &record(rt, id).boundary;
        if boundary.borrow().as_ref().is_some_and(|boundary| boundary.is_nursery) {
            drop(boundary.take());
            rt.core.borrow_mut().stop_collecting(id);
            was_in_one = true;
        }
        next = rt.core.borrow().scope_above(id);
    }
    was_in_one
}

/// Returns `true` if no PHP code can run when an object is freed.
pub type IsInert = fn(&Object) -> bool;

/// The data of a scope that the runtime keeps.
pub struct Record {
    /// User code's object, held weakly; null when there is none.
    object: Cell<*const ScopeObject>,
    /// Whether it is a `BoundedScope`.
    pub is_bounded: bool,
    /// The handler of its failures.
    pub handler: RefCell<Option<Registered>>,
    /// The handler of failures in the scopes below it.
    pub child_handler: RefCell<Option<Registered>>,
    /// Callbacks for its end.
    pub finally: RefCell<Vec<Registered>>,
    /// Its keyed values.
    pub values: KeyedValues,
    /// An object that belongs to it, and is not user code's to set.
    attached: OwnedCell<Object>,
    is_inert: Cell<Option<IsInert>>,
    /// The awaitable that bounds it.
    pub constraint: ValueCell,
    /// Where that was set.
    pub bounded_at: Position,
    /// Its timeout in milliseconds.
    pub timeout: Cell<Option<i64>>,
    /// Where that was set.
    pub limited_at: Position,
    /// Where it was disposed of, if its coroutines were left some time.
    disposed_at: Position,
    /// The bound that was reached.
    pub reached: Cell<Option<Bound>>,
    /// No more coroutines are to be spawned in it: when all have ended, no bound has anything to cancel.
    pub is_ending: Cell<bool>,
    /// The exception that it was cancelled with.
    pub reason: OwnedCell<Object>,
    /// The failures because of which it or a scope above it was cancelled, and those that came later.
    errors: RefCell<Vec<Listed>>,
    /// Takes the failures that end the scope, which go no further.
    pub boundary: RefCell<Option<Boundary>>,
    /// A coroutine of it has failed whose object user code held.
    pub has_held_failure: Cell<bool>,
    /// Where it was created.
    pub created_at: Position,
}

impl Record {
    /// Returns that of a scope with this object; null if it has none.
    fn new(object: *const ScopeObject, is_bounded: bool) -> Record {
        Record {
            object: Cell::new(object),
            is_bounded,
            handler: RefCell::default(),
            child_handler: RefCell::default(),
            finally: RefCell::default(),
            values: KeyedValues::default(),
            attached: OwnedCell::new(),
            is_inert: Cell::new(None),
            constraint: ValueCell::new(),
            bounded_at: Position::new(),
            timeout: Cell::new(None),
            limited_at: Position::new(),
            disposed_at: Position::new(),
            reached: Cell::new(None),
            is_ending: Cell::new(false),
            reason: OwnedCell::new(),
            errors: RefCell::new(Vec::new()),
            boundary: RefCell::new(None),
            has_held_failure: Cell::new(false),
            created_at: Position::new(),
        }
    }

    /// Returns user code's object.
    fn existing_object(&self) -> Option<&ScopeObject> {
        // SAFETY: null, or an object that is alive: it takes itself off when it is freed.
        unsafe { self.object.get().as_ref() }
    }

    /// Returns a reference to user code's object, unless its destructor was called.
    fn object(&self) -> Option<Owned<ScopeObject>> {
        self.existing_object().filter(|object| !object.object().is_destructed()).map(Owned::of)
    }

    fn is_of(&self, object: &ScopeObject) -> bool {
        ptr::eq(self.object.get(), object)
    }

    /// Takes the values out; the caller releases them.
    fn take(&self) -> (Vec<Value>, KeyedValues) {
        let mut values: Vec<Value> = self.constraint.take().some().into_iter().collect();
        let callbacks = [self.handler.take(), self.child_handler.take()].into_iter().flatten();
        values.extend(callbacks.chain(self.finally.take()).flat_map(Registered::into_values));
        values.extend(self.attached.take().map(Value::from));
        values.extend(self.reason.take().map(Value::from));
        values.extend(self.errors.take().into_iter().map(|listed| listed.exception.into()));
        (values, self.values.take())
    }

    fn keeps_any(&self) -> bool {
        let is_empty = self.handler.borrow().is_none()
            && self.child_handler.borrow().is_none()
            && self.constraint.is_empty()
            && self.finally.borrow().is_empty()
            && self.values.is_empty()
            && self.attached.is_empty()
            && self.reason.is_empty()
            && self.errors.borrow().is_empty();
        !is_empty
    }

    /// Attaches an object, which stays until the scope has finished.
    pub fn attach(&self, object: &Object, is_inert: IsInert) {
        self.is_inert.set(Some(is_inert));
        self.attached.set(Some(Owned::of(object)));
    }

    /// Returns the object that is attached.
    pub fn attached(&self) -> Option<Owned<Object>> {
        self.attached.get()
    }

    /// Returns `true` if nothing is to be called or released when the scope has finished. An attached object is released here
    /// if that runs no PHP code and nothing can be spawned in the scope any more.
    pub fn ends_silently(&self) -> bool {
        let is_left = self.finally.borrow().is_empty() && self.values.is_empty();
        if is_left
            && self.object.get().is_null()
            && let (Some(object), Some(is_inert)) = (self.attached.get(), self.is_inert.get())
            && is_inert(&object)
        {
            drop(self.attached.take());
        }
        is_left && self.attached.is_empty()
    }

    /// Forgets the values without releasing them: the engine has freed the request's memory.
    fn forget(&self) {
        let (values, keyed) = self.take();
        values.into_iter().for_each(std::mem::forget);
        keyed.forget();
        [&self.created_at, &self.bounded_at, &self.limited_at, &self.disposed_at]
            .into_iter()
            .for_each(Position::forget);
    }

    /// Returns the exception with which the scope is cancelled because a bound was reached.
    pub fn reason_of(&self, rt: &'static Runtime, which: Bound) -> Owned<Object> {
        match which {
            Bound::Time => {
                let limit = self.timeout.get().unwrap_or(0);
                cancellation::over("cancelled because the time limit of its scope has passed", limit, &self.limited_at)
            }
            Bound::Constraint => {
                let what = "what bounds its scope";
                let constraint = self.constraint.get();
                let Some(constraint) = constraint.as_object() else {
                    return cancellation::cancellation_after(what, None, "");
                };
                if let Some(timeout) = TIMEOUT.of(constraint) {
                    let text = format!("cancelled because {what} has completed");
                    return cancellation::over(&text, timeout.milliseconds(), &self.bounded_at);
                }
                let (failure, name) = awaiting::failure_of(rt, constraint);
                cancellation::cancellation_after(what, failure.as_deref(), &name)
            }
        }
    }

    /// Returns the exception for the call that has limited the scope, when that time has passed.
    pub fn limit_exception(&self) -> Owned<Object> {
        let limit = self.timeout.get().unwrap_or(0);
        exception::new(classes::timeout_exception(), &format!("The call was given up after {limit} ms"))
    }

    /// Returns the exception with which the scope is cancelled because the time that its disposal has left it has
    /// passed.
    pub fn reason_after_disposal(&self) -> Owned<Object> {
        let place = self.disposed_at.text();
        let text =
            format!("cancelled because its scope was disposed of at {place}, and the time it was given has passed");
        cancellation::detached_cancellation(&text)
    }

    /// Returns the failures on its list, which count as known from now on.
    pub fn errors(&self) -> Vec<Owned<Object>> {
        let take = |listed: &Listed| {
            listed.mark_known();
            listed.exception.clone()
        };
        self.errors.borrow().iter().map(take).collect()
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.constraint);
        for handler in [&self.handler, &self.child_handler] {
            handler.borrow().iter().for_each(|handler| handler.collect(values));
        }
        self.finally.borrow().iter().for_each(|callback| callback.collect(values));
        self.values.collect(values);
        values.object(&self.attached);
        values.object(&self.reason);
        self.errors.borrow().iter().for_each(|listed| values.owned_object(&listed.exception));
    }
}

/// A failure on the list of a scope.
struct Listed {
    exception: Owned<Object>,
    note: Rc<Note>,
}

/// The state of a failure, shared by all lists it is on.
struct Note {
    /// User code has received the failure, or has a way to get it: no warning is needed.
    known: Cell<bool>,
    /// The scope that warns of the failure when it finishes, unless the failure is known then.
    warns: Cell<Option<ScopeId>>,
    /// The description of the coroutine that failed.
    name: String,
}

impl Listed {
    /// Marks the failure as known.
    fn mark_known(&self) {
        self.note.known.set(true);
    }
}

/// A failure that is being routed through the scopes.
pub struct Failed {
    exception: Owned<Object>,
    note: Rc<Note>,
    last: Option<ScopeId>,
}

impl Failed {
    /// Returns a failure that is on no list yet. `name`: the description of the coroutine.
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

    /// Returns `true` if the failure is on any list.
    pub fn is_listed(&self) -> bool {
        self.last.is_some()
    }

    /// Marks the failure as known: it reaches user code, so no warning is needed.
    pub fn mark_known(&self) {
        self.note.known.set(true);
    }

    /// Returns the description of the coroutine.
    pub fn name(&self) -> &str {
        &self.note.name
    }
}

/// Leaves a failure on the lists it is on. The last of these scopes warns if it is not known when the scope finishes.
pub fn leave_listed(rt: &'static Runtime, failed: &Failed) {
    let Some(id) = failed.last else { return };
    failed.note.warns.set(Some(id));
    if rt.core.borrow().is_finished(id) {
        schedule_warning(rt, id);
    }
}

/// Schedules the warning about the failures of a scope that is finished or no longer awaited. It is raised after the
/// coroutines that received its first failure have had an opportunity to get the others.
pub fn schedule_warning(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let unknown = |listed: &Listed| listed.note.warns.get() == Some(id) && !listed.note.known.get();
    let any = record.errors.borrow().iter().any(unknown);
    if any && !rt.core.borrow().has_failure_waiter(id) {
        runner::start(rt, Work::ScopeErrors, id, None, Level::At(id), id);
    }
}

/// Raises a warning for each failure of a scope that is not known.
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

/// Returns the index of the first failure that is not known in the list of an existing scope.
pub fn first_unknown(rt: &'static Runtime, id: ScopeId) -> usize {
    record(rt, id).errors.borrow().iter().take_while(|listed| listed.note.known.get()).count()
}

/// Returns `true` if the list of an existing scope has a failure at this index.
pub fn has_failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> bool {
    record(rt, id).errors.borrow().len() > place
}

/// Returns the failure at this index of the list of an existing scope, and marks it as known.
pub fn failure_at(rt: &'static Runtime, id: ScopeId, place: usize) -> Option<Owned<Object>> {
    let record = record(rt, id);
    let errors = record.errors.borrow();
    let listed = errors.get(place)?;
    listed.mark_known();
    Some(listed.exception.clone())
}

/// Returns the first failure of an existing scope for a coroutine that waits for it. All its failures count as known
/// then.
pub fn first_failure(rt: &'static Runtime, id: ScopeId) -> Option<Owned<Object>> {
    existing_record(rt, id)?.errors().into_iter().next()
}

/// Throws the first failure of an existing scope.
///
/// # Errors
/// The scope has a failure.
pub fn throw_failure_of(rt: &'static Runtime, id: ScopeId) -> Result<(), Thrown> {
    match first_failure(rt, id) {
        Some(failure) => Err(exception::throw(failure)),
        None => Ok(()),
    }
}

/// The message when a coroutine is spawned in a closed scope.
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
            end_with_object(id); // its constructor has thrown: the engine calls no destructor then
        }
        let record = record(rt, id);
        if record.object.get().is_null() {
            // Otherwise an error handler has requested a new object.
            free_handle(rt, id, &record);
        }
    }

    fn collect(&self, values: &mut Collected) {
        let (Some(id), Some(rt)) = (self.id.get(), scheduler::existing()) else { return };
        let is_its_own = {
            let core = rt.core.borrow();
            // Until the scope is idle its values belong to its coroutines, so they must not count as garbage: a handler
            // that refers to its scope keeps it alive as long as the handler may be called.
            core.scope_exists(id) && id != Core::GLOBAL && core.is_idle(id)
        };
        if is_its_own {
            let record = record(rt, id);
            // Another object may have taken its place after its destructor: the values count once.
            if record.existing_object().is_some_and(|object| ptr::eq(&raw const **object, self)) {
                record.collect(values);
            }
        }
    }
}

/// Lets the last reference to the object of a scope that has finished go in fewer steps: there are no coroutines to end.
pub fn spare_destructor(object: &ScopeObject) {
    object.dead.set(true);
    object.object().skip_destructor();
}

/// Ends the scope's coroutines as its lifetime demands, when the last reference to the object is gone.
fn destruct(this: &ScopeObject) {
    this.dead.set(true);
    if let Some(id) = this.id.get() {
        end_with_object(id);
    }
}

/// Drops the handle of a scope whose object is being freed. What is kept of the scope is released if no coroutine needs
/// it.
fn free_handle(rt: &'static Runtime, id: ScopeId, record: &Record) {
    let mut left = None;
    let idle = id != Core::GLOBAL && rt.core.borrow().is_idle(id);
    if idle {
        warn_of_unknown(rt, id);
        // The cycle collector, which has visited these values, may free what they refer to right after this.
        left = Some(record.take());
    }
    if rt.core.borrow_mut().drop_handle(id) {
        drop(forget(rt, id)); // idle: the record is empty
    }
    failure::carry_out(rt);
    if let Some((values, keyed)) = left {
        runner::release(values, &keyed);
    }
}

impl Scope {
    /// Returns its scope; `None` if its constructor has not run.
    pub fn id(&self) -> Option<ScopeId> {
        self.id.get()
    }

    /// Returns its scope.
    ///
    /// # Errors
    /// Its constructor has not run.
    pub fn constructed(&self) -> Result<ScopeId, Thrown> {
        let text = "This scope was not constructed: call parent::__construct() in its constructor";
        self.id.get().ok_or_else(|| exception::throw_new(classes::async_exception(), text))
    }
}

/// Returns the lifetime set by the ini setting.
pub fn default_lifetime() -> Lifetime {
    match settings::current().lifetime {
        1 => Lifetime::TopDown,
        2 => Lifetime::BottomUp,
        _ => Lifetime::Scope,
    }
}

/// Creates the scope of a new object.
pub fn make(rt: &'static Runtime, object: &ScopeObject, parent: Option<ScopeId>, lifetime: Lifetime) -> ScopeId {
    let id = rt.core.borrow_mut().add_scope(parent, lifetime);
    object.id.set(Some(id));
    let is_bounded = object.object().is_a(classes::bounded_scope());
    let record = keep_record(rt, id, Record::new(object, is_bounded));
    record.created_at.set_to_code_of(Frame::current());
    id
}

/// Creates a scope below this one for coroutines of a part, which may outlive it. It has no object, and is held until
/// [`let_go`].
pub fn make_inner(rt: &'static Runtime, parent: ScopeId) -> (ScopeId, Rc<Record>) {
    let id = rt.core.borrow_mut().add_scope(Some(parent), Lifetime::BottomUp);
    let record = keep_record(rt, id, Record::new(ptr::null(), false));
    record.created_at.set_to_code_of(Frame::current());
    (id, record)
}

/// Lets go of a scope that a part has made and no longer needs. User code may have got an object for it, which then
/// holds it.
pub fn let_go(id: ScopeId) {
    let Some(rt) = scheduler::existing() else { return };
    let held = |rt: &'static Runtime| {
        let exists = rt.core.borrow().scope_exists(id);
        if exists { existing_record(rt, id).filter(|record| record.object.get().is_null()) } else { None }
    };
    if held(rt).is_none() {
        return;
    }
    end_with_object(id);
    if let Some(record) = held(rt) {
        free_handle(rt, id, &record);
    }
}

/// Gives a failure that ends a scope, and is on its list, to what takes such failures. Returns whether user code gets it from there;
/// `None` if nothing takes it.
pub fn take_at_boundary(rt: &'static Runtime, id: ScopeId, failure: &Object) -> Option<bool> {
    let record = existing_record(rt, id)?;
    let boundary = record.boundary.borrow();
    let boundary = boundary.as_ref()?;
    (boundary.take)(failure);
    Some(!boundary.is_nursery || record.errors.borrow().len() == 1)
}

/// Returns `true` if a failure in this scope waits as long as user code holds its coroutine, to be awaited: user code has not made
/// the scope itself.
pub fn keeps_held_failures(rt: &'static Runtime, id: ScopeId) -> bool {
    let has_boundary =
        |record: Rc<Record>| record.boundary.borrow().as_ref().is_some_and(|boundary| !boundary.is_nursery);
    id == Core::GLOBAL || existing_record(rt, id).is_some_and(has_boundary)
}

/// Returns the failed coroutines of a scope that have not been awaited and whose objects user code still holds, once: they have
/// waited long enough.
pub fn take_held_failures(rt: &'static Runtime, id: ScopeId) -> Vec<Owned<CoroutineObject>> {
    if !existing_record(rt, id).is_some_and(|record| record.has_held_failure.take()) {
        return Vec::new();
    }
    let mut held = failure::unseen_failures(rt);
    held.retain(|this| rt.core.borrow().scope_of(this.co.get()) == id);
    held
}

fn keep_record(rt: &'static Runtime, id: ScopeId, record: Record) -> Rc<Record> {
    let record = Rc::new(record);
    let mut scopes = rt.scopes.borrow_mut();
    if scopes.len() <= id.slot() {
        scopes.resize(id.slot() + 1, None);
    }
    scopes[id.slot()] = Some(Rc::clone(&record));
    record
}

/// Returns the record of an existing scope.
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

/// Returns the record of a scope, if there is one: the global scope has none until it is used.
pub fn existing_record(rt: &'static Runtime, id: ScopeId) -> Option<Rc<Record>> {
    rt.scopes.borrow().get(id.slot())?.clone()
}

/// Creates the record of the global scope. Its object stays until the request ends.
fn global(rt: &'static Runtime) -> Rc<Record> {
    let object = new_object(classes::scope(), Core::GLOBAL);
    let record = keep_record(rt, Core::GLOBAL, Record::new(&*object, false));
    object.into_raw();
    record
}

fn new_object(class: Class, id: ScopeId) -> Owned<ScopeObject> {
    let object = SCOPE.create(class);
    object.id.set(Some(id));
    object
}

/// Returns the object of an existing scope. If user code's object is gone, the scope gets a new one, whose destruction
/// ends only what the first one would have ended.
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

/// Returns the object of a coroutine's scope, if the scope still exists.
pub fn of_coroutine(rt: &'static Runtime, this: &Coroutine) -> Option<Owned<ScopeObject>> {
    let co = this.co.get();
    if co == NO_SLOT {
        return None;
    }
    let id = rt.core.borrow().scope_of(co);
    let exists = rt.core.borrow().scope_exists(id);
    exists.then(|| object_of(rt, id))
}

/// Returns the `FILE:LINE` at which a scope was created.
pub fn created(rt: &'static Runtime, id: ScopeId) -> String {
    if id == Core::GLOBAL { "{main}".to_owned() } else { record(rt, id).created_at.text() }
}

/// Returns the message for a coroutine that would await a scope that it is in.
pub fn message_within(rt: &'static Runtime, id: ScopeId) -> String {
    let created = created(rt, id);
    format!("Awaiting a scope from within itself or its child scope would cause a deadlock. Scope created at {created}")
}

/// Ends the coroutines that do not outlive the object of their scope, or what has held it in its place, which still exists.
fn end_with_object(id: ScopeId) {
    let Some(rt) = scheduler::existing() else { return };
    let exits = exception::is_exit_in_flight();
    if rt.has_ended() || exits || !rt.core.borrow().scope_exists(id) {
        return;
    }
    // An exception in flight is put aside, as the engine does for destructors: while there is one, error handlers are
    // not called, and a new exception could not be distinguished from it.
    let has_thrown = exception::is_in_flight();
    if has_thrown {
        exception::enter_frame(); // the frame that it unwinds to has it now
    }
    let opline = exception::instruction_before();
    let thrown = exception::take();
    let (lifetime, finished, closed) = {
        let core = rt.core.borrow();
        (core.lifetime(id), core.is_finished(id), core.is_closed(id))
    };
    match lifetime {
        // It was disposed of before: a time that its coroutines were given stays valid.
        Lifetime::Scope if closed => {}
        Lifetime::Scope => dispose(rt, id, Disposal::Released, RELEASED),
        _ if finished => dispose(rt, id, Disposal::Released, RELEASED),
        Lifetime::TopDown => {
            let text = match exception::here() {
                place if place.is_empty() => "cancelled because the object of its Scope was released".to_owned(),
                place => format!("cancelled because the object of its Scope was released at {place}"),
            };
            cancel(rt, id, &cancellation::cancellation(&text));
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

/// The place in messages about an implicit disposal.
const RELEASED: &str = "[its object was released]:0";

/// Releases what is kept of a finished scope, if nothing can need it any more.
pub fn collect_if_idle(rt: &'static Runtime, id: ScopeId) {
    let Some(record) = existing_record(rt, id) else { return };
    let (idle, closed) = {
        let core = rt.core.borrow();
        (core.scope_exists(id) && core.is_idle(id), core.is_closed(id))
    };
    if !idle || id == Core::GLOBAL || !record.keeps_any() {
        return;
    }
    match record.existing_object().map(Owned::of) {
        // The cycle collector may have visited the object while the values did not yet belong to it: it becomes a
        // candidate again.
        Some(object) => drop(object),
        None if closed => {
            warn_of_unknown(rt, id);
            let (values, keyed) = record.take();
            failure::release_later(rt, values, keyed);
        }
        None => {}
    }
}

/// Removes the record of a scope that is gone. Returns its values, which the caller releases.
pub fn forget(rt: &'static Runtime, id: ScopeId) -> (Vec<Value>, KeyedValues) {
    let record = rt.scopes.borrow_mut()[id.slot()].take().filter(|record| record.keeps_any());
    record.map_or((Vec::new(), KeyedValues::default()), |record| record.take())
}

/// Forgets all records at the end of the request: their values have been freed with the engine's heap.
pub fn forget_all(rt: &'static Runtime) {
    for record in rt.scopes.take().into_iter().flatten() {
        record.forget();
    }
}

/// Releases the values that are kept for a scope, which may run PHP code.
pub fn free_values(rt: &'static Runtime, id: ScopeId) {
    if let Some(record) = existing_record(rt, id) {
        record.values.clear();
        drop(record.attached.take());
    }
}

/// Cancels a scope and those below it. Returns `false` if it was cancelled before.
pub fn cancel(rt: &'static Runtime, id: ScopeId, reason: &Object) -> bool {
    let order = rt.core.borrow_mut().cancel_scope(id);
    let Some(order) = order else { return false };
    propagate_cancel(rt, id, &order, reason, life::cancel);
    true
}

/// Cancels coroutines in the order that the core has determined, for a scope that it has closed with those below it.
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
            continue; // cancelled before, with all scopes below it
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

/// Disposes of a scope and of those below it. `place` is the `FILE:LINE` of the disposal.
pub fn dispose(rt: &'static Runtime, id: ScopeId, how: Disposal, place: &str) {
    if let Disposal::Until(_) = how {
        record(rt, id).disposed_at.set_to_code_of(Frame::current());
    }
    let mut warn = rt.core.borrow_mut().dispose_scope(id, how);
    // One whose body has ended is no zombie: a callback for its end may dispose of its own scope.
    warn.retain(|co| !rt.core.borrow().has_outcome(*co));
    warn_of_zombies(rt, warn, &format!("in Scope disposed at {place}"));
    if how == Disposal::Cancel && rt.core.borrow().scope_exists(id) {
        cancel(rt, id, &cancellation::cancellation(&format!("cancelled because its scope was disposed of at {place}")));
    }
    failure::carry_out(rt);
}

/// Warns of coroutines that have not ended, `in` what. An error handler may run code, park and throw; once it has
/// thrown, the remaining warnings are dropped.
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
