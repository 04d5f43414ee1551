//! The schedulers, and which coroutine or object is which fiber or scheduler.

use crate::fibers::draft::{Draft, Kind, Sent, Status, are_running};
use crate::runtime::wait_queue::WaitQueue;
use spindle_core::sched::CoroutineId;
use spindle_php_sys as sys;
use spindle_zend::{Object, Owned, OwnedCell, PhpStatic, Value, exception};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::ptr::{NonNull, null_mut};
use std::rc::Rc;

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
    /// The address of the fiber that has suspended into it last and is still suspended; 0 if there is none.
    pub last: Cell<usize>,
    /// Where it waits for the fiber that it has resumed.
    pub turn: WaitQueue,
    /// It waits there.
    pub waits: Cell<bool>,
    /// The address of the fiber that it waits for; 0 if there is none.
    pub control: Cell<usize>,
    /// It does not wait for that fiber any longer, because nothing else could run.
    pub is_released: Cell<bool>,
    /// Its fiber, if code has asked for it.
    pub reflected: RefCell<Option<Rc<Draft>>>,
    /// The suspended fibers, by the value of `entered` when each has suspended.
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
            turn: WaitQueue::new(),
            waits: Cell::new(false),
            control: Cell::new(0),
            is_released: Cell::new(false),
            reflected: RefCell::new(None),
            suspended: RefCell::new(BTreeMap::new()),
            id: Cell::new(0),
            handle: object.handle(),
        }
    }

    /// Adds a fiber that suspends into it. Returns its key among them.
    pub fn enter(&self, draft: &Rc<Draft>) -> u64 {
        self.entered.set(self.entered.get() + 1);
        let before = self.suspended.borrow_mut().insert(self.entered.get(), Rc::clone(draft));
        debug_assert!(before.is_none());
        self.last.set(draft.address());
        self.entered.get()
    }

    /// Removes a fiber, which has this key.
    pub fn leave(&self, draft: &Draft, key: u64) {
        if self.last.get() == draft.address() {
            self.last.set(0);
        }
        let removed = self.suspended.borrow_mut().remove(&key);
        drop(removed);
    }

    /// Returns the fibers that are suspended into it, in the order in which they have suspended.
    pub fn suspended(&self) -> Vec<Rc<Draft>> {
        self.suspended.borrow().values().cloned().collect()
    }

    /// Returns the fiber of its `run()`.
    pub fn fiber(self: &Rc<Sched>) -> Rc<Draft> {
        let known = self.reflected.borrow().clone();
        known.unwrap_or_else(|| {
            let draft = Rc::new(Draft::new(Kind::OfScheduler(Rc::downgrade(self))));
            draft.co.set(self.co.get());
            draft.status.set(Status::Running);
            drop(self.reflected.replace(Some(Rc::clone(&draft))));
            draft
        })
    }

    /// Ends its `run()`: the next fiber that suspends into it starts a new one.
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

    /// Removes a fiber, if it has a coroutine.
    pub fn remove_fiber(&self, draft: &Draft) {
        drop(remove(&self.fibers, &draft.id.get()));
    }

    /// Removes the fiber of a coroutine that has ended, unless `Fiber::create()` has made it.
    #[inline(always)]
    pub fn take_flow(&self, id: u64) -> Option<Rc<Draft>> {
        if self.fibers.borrow().is_none() { None } else { self.take_known_flow(id) }
    }

    #[inline(never)]
    fn take_known_flow(&self, id: u64) -> Option<Rc<Draft>> {
        let draft = self.fiber_of(id)?;
        if let Kind::Flow = draft.kind { remove(&self.fibers, &id) } else { None }
    }

    /// Returns the scheduler whose `run()` this coroutine executes.
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
    pub fn forget_unused(&self, sched: &Rc<Sched>) {
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
            fibers.iter().flatten().filter(|(_, draft)| is_wanted(draft)).map(|(id, it)| (*id, Rc::clone(it))).collect()
        };
        found.sort_by_key(|(id, _)| *id);
        found.into_iter().map(|(_, draft)| draft).collect()
    }

    /// Removes the fibers of all coroutines but one. They have ended.
    pub fn keep_fiber_of(&self, co: CoroutineId) {
        let mut others = Vec::new();
        if let Some(fibers) = &mut *self.fibers.borrow_mut() {
            fibers.retain(|_, draft| {
                let stays = draft.co.get() == co;
                if !stays {
                    others.push(Rc::clone(draft));
                }
                stays
            });
        }
        others.iter().for_each(|draft| draft.status.set(Status::Ended));
    }

    /// Forgets an object, which is being freed.
    pub fn forget_object(&self, object: &Object) {
        let removed = remove(&self.objects, &object.handle());
        // Another object may have taken its place.
        let is_its = |draft: &Rc<Draft>| draft.object.get().is_some_and(|own| std::ptr::eq(own.as_ptr(), object));
        if let Some(draft) = removed.filter(is_its) {
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
    if let Some(object) = draft.live_object() {
        return object;
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

/// Returns the callable of a fiber that was not started.
pub fn callable_of(object: &Object) -> Option<Value> {
    // SAFETY: one of the draft's fibers, as the caller has found.
    let place = unsafe { sys::spindle_draft_callable(object.as_raw()) };
    // SAFETY: a value in the object, which is alive.
    unsafe { Value::borrow(place) }.cloned()
}
