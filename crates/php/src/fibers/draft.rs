//! The fibers of the draft and their schedulers: their states, and which coroutine is which.

use crate::runtime::failure;
use crate::runtime::scheduler::{Phase, Runtime, existing, rt};
use crate::runtime::wait_queue::Tickets;
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{Class, Object, Owned, OwnedCell, PhpResult, PhpStatic, Thrown, Value, exception};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ptr::{NonNull, null_mut};
use std::rc::{Rc, Weak};

/// What a fiber is.
pub enum Kind {
    /// `Fiber::create()` has made it.
    Created,
    /// A coroutine that has suspended into a scheduler: main's, or one of user code.
    Flow,
    /// The coroutine of a scheduler, for reflection.
    OfScheduler(Weak<Sched>),
}

/// The state of a fiber.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It has not been started.
    Init,
    /// It runs, or blocks.
    Running,
    /// It runs the callback of `Fiber::suspend()`.
    Enqueuing,
    /// It is suspended into a scheduler.
    Suspended,
    /// It has ended.
    Ended,
}

impl Status {
    /// Returns the number by which the glue knows it.
    pub fn number(self) -> u32 {
        match self {
            Status::Init => sys::SPINDLE_DRAFT_INIT,
            Status::Running | Status::Enqueuing => sys::SPINDLE_DRAFT_RUNNING,
            Status::Suspended => sys::SPINDLE_DRAFT_SUSPENDED,
            Status::Ended => sys::SPINDLE_DRAFT_ENDED,
        }
    }
}

/// What a suspended fiber goes on with.
pub enum Sent {
    /// `Fiber::suspend()` returns this value.
    Value(Value),
    /// `Fiber::suspend()` throws this exception.
    Throw(Owned<Object>),
    /// `Fiber::suspend()` throws a `FiberError`: `run()` has returned.
    Returned,
    /// `Fiber::suspend()` throws a `FiberExit`: `run()` has thrown this.
    Threw(Option<Owned<Object>>),
    /// `Fiber::suspend()` throws a `FiberExit`: the object of the fiber, which only main's code or a coroutine's can have
    /// lost, is destroyed.
    Dropped,
    /// The fiber is destroyed: only its `finally` blocks run.
    Close,
}

/// A wait queue of coroutines.
pub struct Queue(Tickets);

impl Queue {
    const fn new() -> Queue {
        Queue(Tickets::new())
    }

    /// Waits until `attempt` returns a value. `name` is the wait's name in diagnostics.
    ///
    /// # Errors
    /// An exception is in flight, or the coroutine is cancelled or cannot be suspended here.
    pub fn wait_for<T>(
        &self,
        rt: &'static Runtime,
        name: &'static str,
        attempt: impl Fn() -> Option<T>,
    ) -> Result<T, Thrown> {
        loop {
            if exception::is_in_flight() {
                return Err(Thrown::is_in_flight());
            }
            if let Some(result) = attempt() {
                return Ok(result);
            }
            self.0.park(rt, name)?;
        }
    }

    /// Wakes all that wait.
    pub fn wake_all(&self) {
        while self.0.wake_one() {}
    }
}

/// A fiber.
pub struct Draft {
    /// What it is.
    pub kind: Kind,
    /// Its coroutine, once there is one.
    pub co: Cell<CoroutineId>,
    /// The id of the coroutine; 0 before there is one.
    id: Cell<u64>,
    /// Its state.
    pub status: Cell<Status>,
    /// It is being destroyed.
    pub is_closing: Cell<bool>,
    /// A coroutine waits for its destruction.
    pub is_destroyed: Cell<bool>,
    /// The scheduler that has resumed it last.
    pub resumer: RefCell<Option<Rc<Sched>>>,
    /// What it goes on with.
    pub sent: Cell<Option<Sent>>,
    /// What it has thrown, for the scheduler that waits for it, or for who destroys it.
    pub failure: OwnedCell<Object>,
    /// How often it has suspended.
    pub suspensions: Cell<u64>,
    /// Where it waits.
    pub resumed: Queue,
    /// Where others wait for its end, or for the end of its callback.
    pub changed: Queue,
    into: RefCell<Option<Rc<Sched>>>,
    /// Its key among those that are suspended there.
    place: Cell<u64>,
    /// Its object, while there is one.
    object: Cell<Option<NonNull<Object>>>,
}

impl Draft {
    /// Returns a fiber that has not been started.
    pub fn new(kind: Kind) -> Draft {
        Draft {
            kind,
            co: Cell::new(CoroutineId(u32::MAX)),
            id: Cell::new(0),
            status: Cell::new(Status::Init),
            is_closing: Cell::new(false),
            is_destroyed: Cell::new(false),
            resumer: RefCell::new(None),
            sent: Cell::new(None),
            failure: OwnedCell::new(),
            suspensions: Cell::new(0),
            resumed: Queue::new(),
            changed: Queue::new(),
            into: RefCell::new(None),
            place: Cell::new(0),
            object: Cell::new(None),
        }
    }

    /// Returns the scheduler that it is suspended into.
    pub fn scheduler(&self) -> Option<Rc<Sched>> {
        self.into.borrow().clone()
    }

    /// Makes it suspended into a scheduler, which goes on.
    pub fn suspend_into(self: &Rc<Draft>, sched: &Rc<Sched>) {
        self.status.set(Status::Suspended);
        self.suspensions.set(self.suspensions.get() + 1);
        drop(self.into.replace(Some(Rc::clone(sched))));
        sched.entered.set(sched.entered.get() + 1);
        self.place.set(sched.entered.get());
        let before = sched.suspended.borrow_mut().insert(self.place.get(), Rc::clone(self));
        debug_assert!(before.is_none());
        sched.last.set(self.address());
        sched.turn.wake_all();
        self.changed.wake_all();
        self.wake_resumer();
        if let (Kind::Created, Some(rt)) = (&self.kind, existing()) {
            rt.core.borrow_mut().detach(self.co.get());
        }
    }

    /// Makes the application wait for it after the script, while it runs.
    pub fn keep_alive(&self) {
        if let (Kind::Created, true, Some(rt)) = (&self.kind, STATE.is_finishing.get(), existing()) {
            rt.core.borrow_mut().attach(self.co.get());
        }
    }

    /// Makes it run, whether it was suspended or not.
    pub fn leave(&self) {
        self.status.set(Status::Running);
        if let Some(sched) = self.into.take() {
            if sched.last.get() == self.address() {
                sched.last.set(0);
            }
            let removed = sched.suspended.borrow_mut().remove(&self.place.get());
            drop(removed);
            STATE.forget_unused(&sched);
        }
    }

    /// Resumes it with this.
    pub fn wake(&self, sent: Sent) {
        self.leave();
        self.keep_alive();
        self.sent.set(Some(sent));
        self.resumed.wake_all();
    }

    /// Destroys it: its `finally` blocks run in its own coroutine.
    pub fn close(&self) {
        self.is_closing.set(true);
        drop(self.resumer.take());
        self.wake(Sent::Close);
    }

    /// Records its end.
    pub fn end(&self) {
        self.leave();
        self.status.set(Status::Ended);
        self.wake_resumer();
        self.changed.wake_all();
    }

    /// Returns a number for it, which no other one has at the same time.
    pub fn address(&self) -> usize {
        (&raw const *self).addr()
    }

    fn wake_resumer(&self) {
        let resumer = self.resumer.borrow().clone();
        if let Some(resumer) = resumer {
            resumer.turn.wake_all();
        }
    }
}

/// Takes what the code of a fiber has thrown.
///
/// # Errors
/// It exits.
pub fn ends(draft: &Draft) -> PhpResult {
    let Some(thrown) = exception::in_flight() else { return Ok(Value::NULL) };
    if exception::is_graceful_exit(&thrown) {
        drop(exception::take());
        return Ok(Value::NULL);
    }
    if exception::is_exit(&thrown) {
        return Err(Thrown::is_in_flight());
    }
    drop(exception::take());
    let resumer = draft.resumer.borrow().clone();
    let is_awaited = draft.is_destroyed.get() || resumer.is_some_and(|sched| sched.control.get() == draft.address());
    if is_awaited {
        draft.failure.set(Some(thrown));
    } else {
        failure::unhandled(rt(), thrown, None);
    }
    Ok(Value::NULL)
}

/// Records the end of a created fiber when its body is dropped, which happens even if it has never begun.
pub struct Life {
    draft: Rc<Draft>,
    has_begun: Cell<bool>,
}

impl Life {
    /// Returns the value for the body of this fiber.
    pub fn new(draft: &Rc<Draft>) -> Life {
        Life { draft: Rc::clone(draft), has_begun: Cell::new(false) }
    }

    /// Returns the fiber.
    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Records that the body runs.
    pub fn begins(&self) {
        self.has_begun.set(true);
    }
}

/// Returns `true` while coroutines run.
fn are_running() -> bool {
    existing().is_some_and(|rt| rt.phase.get() != Phase::Ended)
}

impl Drop for Life {
    fn drop(&mut self) {
        if are_running() {
            if !self.has_begun.get() {
                // SAFETY: set at module start.
                let class = unsafe { Class::from_raw(sys::spindle_fiber_error) }.expect("a class of the engine");
                let error = exception::detached(class, "The fiber cannot start: there is no stack for it");
                self.draft.failure.set(Some(error));
            }
            self.draft.end();
            drop(remove(&STATE.fibers, &self.draft.id.get()));
        }
    }
}

/// A scheduler, while its `run()` runs or fibers are suspended into it.
pub struct Sched {
    /// The object.
    pub object: OwnedCell<Object>,
    /// Its `run()` has been called and has not returned.
    pub is_alive: Cell<bool>,
    /// The coroutine of `run()`.
    pub co: Cell<CoroutineId>,
    /// How often fibers have suspended into it.
    pub entered: Cell<u64>,
    /// The address of the fiber that has suspended into it last and is suspended still; 0 if there is none.
    pub last: Cell<usize>,
    /// Where it waits for the fiber that it has resumed.
    pub turn: Queue,
    /// It waits there.
    pub waits: Cell<bool>,
    /// The address of the fiber that it waits for; 0 if there is none.
    pub control: Cell<usize>,
    /// It does not wait for that fiber any longer, because nothing else could run.
    pub is_released: Cell<bool>,
    /// Its fiber, if reflection has asked for it.
    pub reflected: RefCell<Option<Rc<Draft>>>,
    /// By the number of entries that there were then.
    suspended: RefCell<BTreeMap<u64, Rc<Draft>>>,
    /// The id of the coroutine of `run()`.
    id: Cell<u64>,
    handle: u32,
}

impl Sched {
    fn new(object: &Object) -> Sched {
        let owned = OwnedCell::new();
        owned.set(Some(Owned::of(object)));
        Sched {
            object: owned,
            is_alive: Cell::new(false),
            co: Cell::new(CoroutineId(u32::MAX)),
            entered: Cell::new(0),
            last: Cell::new(0),
            turn: Queue::new(),
            waits: Cell::new(false),
            control: Cell::new(0),
            is_released: Cell::new(false),
            reflected: RefCell::new(None),
            suspended: RefCell::new(BTreeMap::new()),
            id: Cell::new(0),
            handle: object.handle(),
        }
    }

    /// Returns the fibers that are suspended into it, in the order in which they have suspended.
    pub fn suspended(&self) -> Vec<Rc<Draft>> {
        self.suspended.borrow().values().cloned().collect()
    }

    /// Ends its `run()`: the next fiber that suspends into it begins anew.
    pub fn end(self: &Rc<Sched>) {
        self.is_alive.set(false);
        drop(remove(&STATE.running, &self.id.get()));
        if let Some(reflected) = self.reflected.take() {
            reflected.status.set(Status::Ended);
        }
    }
}

/// Ends the `run()` of a scheduler when its body is dropped, which happens even if it has never begun.
pub struct SchedLife(pub Rc<Sched>);

impl Drop for SchedLife {
    fn drop(&mut self) {
        if are_running() {
            if self.0.is_alive.get() {
                self.0.end();
                for draft in self.0.suspended() {
                    draft.wake(Sent::Returned);
                }
            }
            STATE.forget_unused(&self.0);
        }
    }
}

/// The fibers and schedulers of the request. Keys of coroutines are their ids, those of objects their handles.
pub struct Table {
    fibers: RefCell<Option<HashMap<u64, Rc<Draft>>>>,
    objects: RefCell<Option<HashMap<u32, Rc<Draft>>>>,
    running: RefCell<Option<HashMap<u64, Rc<Sched>>>>,
    /// In the order of their creation.
    schedulers: RefCell<Vec<Rc<Sched>>>,
    /// The script has ended.
    pub is_finishing: Cell<bool>,
}

/// The table.
pub static STATE: PhpStatic<Table> = PhpStatic::new(Table {
    fibers: RefCell::new(None),
    objects: RefCell::new(None),
    running: RefCell::new(None),
    schedulers: RefCell::new(Vec::new()),
    is_finishing: Cell::new(false),
});

fn insert<K: Eq + std::hash::Hash, V>(map: &RefCell<Option<HashMap<K, V>>>, key: K, value: V) {
    let before = map.borrow_mut().get_or_insert_default().insert(key, value);
    drop(before);
}

fn get<K: Eq + std::hash::Hash, V: Clone>(map: &RefCell<Option<HashMap<K, V>>>, key: &K) -> Option<V> {
    map.borrow().as_ref()?.get(key).cloned()
}

fn remove<K: Eq + std::hash::Hash, V>(map: &RefCell<Option<HashMap<K, V>>>, key: &K) -> Option<V> {
    map.borrow_mut().as_mut()?.remove(key)
}

impl Table {
    /// Returns the fiber of a coroutine.
    pub fn fiber_of(&self, id: u64) -> Option<Rc<Draft>> {
        get(&self.fibers, &id)
    }

    /// Adds the fiber of a coroutine.
    pub fn add_fiber(&self, id: u64, draft: &Rc<Draft>) {
        draft.id.set(id);
        insert(&self.fibers, id, Rc::clone(draft));
    }

    /// Removes the fiber of a coroutine that has ended, unless `Fiber::create()` has made it.
    pub fn take_flow(&self, id: u64) -> Option<Rc<Draft>> {
        let draft = self.fiber_of(id)?;
        if let Kind::Flow = draft.kind { remove(&self.fibers, &id) } else { None }
    }

    /// Returns the scheduler in whose coroutine this is.
    pub fn scheduler_of(&self, id: u64) -> Option<Rc<Sched>> {
        get(&self.running, &id)
    }

    /// Returns the running scheduler of an object.
    pub fn alive(&self, object: &Object) -> Option<Rc<Sched>> {
        self.known(object).filter(|sched| sched.is_alive.get())
    }

    fn known(&self, object: &Object) -> Option<Rc<Sched>> {
        // The object of each is alive, so no other one has its handle.
        self.schedulers.borrow().iter().find(|sched| sched.handle == object.handle()).cloned()
    }

    /// Returns the scheduler of an object.
    pub fn scheduler(&self, object: &Object) -> Rc<Sched> {
        self.known(object).unwrap_or_else(|| {
            let sched = Rc::new(Sched::new(object));
            self.schedulers.borrow_mut().push(Rc::clone(&sched));
            sched
        })
    }

    /// Adds the coroutine of a scheduler.
    pub fn add_running(&self, id: u64, sched: &Rc<Sched>) {
        sched.id.set(id);
        insert(&self.running, id, Rc::clone(sched));
    }

    /// Forgets a scheduler that does not run and that no fiber is suspended into, which may release its object.
    fn forget_unused(&self, sched: &Rc<Sched>) {
        if !sched.is_alive.get() && sched.suspended.borrow().is_empty() {
            self.schedulers.borrow_mut().retain(|other| !Rc::ptr_eq(other, sched));
            exception::put_aside(|| drop(sched.object.take()));
        }
    }

    /// Returns the running schedulers, the oldest first.
    pub fn schedulers(&self) -> Vec<Rc<Sched>> {
        self.schedulers.borrow().iter().filter(|sched| sched.is_alive.get()).cloned().collect()
    }

    /// Returns the created fibers in this state, the oldest first.
    pub fn created(&self, status: Status) -> Vec<Rc<Draft>> {
        let mut found: Vec<_> = {
            let fibers = self.fibers.borrow();
            let is_wanted = |draft: &Rc<Draft>| matches!(draft.kind, Kind::Created) && draft.status.get() == status;
            fibers
                .iter()
                .flatten()
                .filter(|(_, draft)| is_wanted(draft))
                .map(|(id, it)| (*id, Rc::clone(it)))
                .collect()
        };
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, draft)| draft).collect()
    }

    /// Forgets an object, which is being freed.
    pub fn forget_object(&self, object: &Object) {
        if let Some(draft) = remove(&self.objects, &object.handle()) {
            draft.object.set(None);
        }
    }

    /// Forgets all.
    pub fn forget_all(&self) {
        self.is_finishing.set(false);
        for sched in self.schedulers.take() {
            drop(sched.suspended.take());
            drop(sched.reflected.take());
        }
        drop(self.fibers.take());
        drop(self.running.take());
        drop(self.objects.take());
    }
}

/// Returns the fiber of an object; `None` for one of a script that has ended.
pub fn of(object: &Object) -> Option<Rc<Draft>> {
    get(&STATE.objects, &object.handle())
}

/// Returns the object of a fiber. If there is none, it is made, with what it will call.
pub fn object_for(draft: &Rc<Draft>, callable: Option<&Value>) -> Owned<Object> {
    if let Some(object) = draft.object.get() {
        // SAFETY: an object that is freed removes itself.
        return Owned::of(unsafe { object.as_ref() });
    }
    let callable = callable.map_or(null_mut(), |callable| callable.as_raw().cast_mut());
    // SAFETY: a callable that is only read, or null.
    let made = unsafe { sys::spindle_draft_make(callable) };
    // SAFETY: a new reference.
    let object = unsafe { Owned::<Object>::from_raw(made.cast()) }.expect("the engine makes objects, or ends");
    draft.object.set(NonNull::new(object.as_ptr()));
    insert(&STATE.objects, object.handle(), Rc::clone(draft));
    object
}

/// Returns what a fiber that was not started will call.
pub fn callable_of(object: &Object) -> Option<Value> {
    // SAFETY: one of the draft's fibers, as the caller has found.
    let place = unsafe { sys::spindle_draft_callable(object.as_raw()) };
    // SAFETY: a value in the object, which is alive.
    unsafe { Value::borrow(place) }.cloned()
}
