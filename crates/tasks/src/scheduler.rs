//! Schedulers: the queue of tasks, and what they wait for.

use crate::task::{Status, TaskObject};
use rustc_hash::FxHashMap;
use spindle_php::coroutine::{self, Key, Maker, WaitSet};
use spindle_zend::{Collected, Instance, Owned, PhpStatic, Thrown, Value, exception, object_class};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;

/// The state of an object of the class.
pub struct Scheduler {
    /// A number that no other scheduler of this process has had.
    pub number: u64,
    pub last_id: Cell<i64>,
    /// Its tasks that have not ended.
    pub tasks: RefCell<FxHashMap<i64, Owned<TaskObject>>>,
    /// The tasks that run next. Those that have ended meanwhile are skipped.
    pub queue: RefCell<VecDeque<Owned<TaskObject>>>,
    pub waits: WaitSet,
    /// The tasks that wait, by the keys of their waits. While `run()` is not active no wait is registered.
    pub waiting: RefCell<FxHashMap<Key, Owned<TaskObject>>>,
    /// The number of tasks that wait, registered or not.
    pub waiting_count: Cell<usize>,
    pub is_active: Cell<bool>,
    /// The coroutine of the present or the last `run()`.
    pub runner: Cell<Option<Maker>>,
    /// `run()` waits for a wait to end.
    pub is_suspended: Cell<bool>,
    /// Tasks whose failures nothing has awaited, and coroutines that report failures, until `run()` returns.
    pub failed: RefCell<Vec<Value>>,
}

object_class!(
    /// The class.
    pub static SCHEDULER: Scheduler
);

/// An object of the class.
pub type SchedulerObject = Instance<Scheduler>;

static LAST_NUMBER: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// The schedulers, held weakly: one removes itself when it is freed.
static ALL: PhpStatic<RefCell<BTreeMap<u64, NonNull<SchedulerObject>>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

/// Puts a scheduler on the list, when it has been made.
pub fn list(this: &SchedulerObject) {
    ALL.borrow_mut().insert(this.number, NonNull::from(this));
}

/// Forgets the schedulers of the last request.
pub fn forget_all() {
    ALL.borrow_mut().clear();
}

/// Returns the scheduler that a task belongs to, if it still exists.
pub fn of_task(task: &TaskObject) -> Option<Owned<SchedulerObject>> {
    let all = ALL.borrow();
    // SAFETY: those on the list are alive.
    all.get(&task.owner.get()).map(|scheduler| Owned::of(unsafe { scheduler.as_ref() }))
}

/// Returns the runner of the tasks of the scheduler with this number, if it has one.
fn runner_of(number: u64) -> Option<Maker> {
    let all = ALL.borrow();
    // SAFETY: those on the list are alive.
    let scheduler = unsafe { all.get(&number)?.as_ref() };
    scheduler.runner.get().filter(|_| scheduler.is_active.get())
}

/// Records what the end of a task depends on, if something awaits it.
#[inline]
pub fn goes_on(task: &TaskObject) {
    if task.completion.is_asked_for() {
        note_maker(task);
    }
}

/// Records what the end of a task depends on: what it waits for, or else the coroutine that runs it.
pub fn note_maker(task: &TaskObject) {
    let maker = match &*task.wait.borrow() {
        Some(wait) => wait.depends_on().and_then(coroutine::maker),
        None => runner_of(task.owner.get()),
    };
    task.completion.depends_on(maker);
}

impl Scheduler {
    /// Returns a scheduler without tasks.
    pub fn new() -> Scheduler {
        let number = LAST_NUMBER.get() + 1;
        LAST_NUMBER.set(number);
        Scheduler {
            number,
            last_id: Cell::new(0),
            tasks: RefCell::default(),
            queue: RefCell::default(),
            waits: WaitSet::for_all(),
            waiting: RefCell::default(),
            waiting_count: Cell::new(0),
            is_active: Cell::new(false),
            runner: Cell::new(None),
            is_suspended: Cell::new(false),
            failed: RefCell::default(),
        }
    }

    /// Adds what it holds for the cycle collector.
    pub fn collect_values(&self, values: &mut Collected) {
        self.tasks.borrow().values().for_each(|task| values.owned(task));
        self.queue.borrow().iter().for_each(|task| values.owned(task));
        self.waiting.borrow().values().for_each(|task| values.owned(task));
        self.failed.borrow().iter().for_each(|held| values.value(held));
    }

    /// Takes it off the list. When it is freed.
    pub fn unlist(&self) {
        ALL.borrow_mut().remove(&self.number);
    }

    /// Adds a task to the queue, which is in no other place.
    pub fn enqueue(&self, task: &TaskObject) {
        task.status.set(Status::Queued);
        self.queue.borrow_mut().push_back(Owned::of(task));
        self.interrupt();
    }

    /// Adds a task that `run()` has taken from the queue and run to the queue again.
    pub fn enqueue_again(&self, task: Owned<TaskObject>) {
        task.status.set(Status::Queued);
        self.queue.borrow_mut().push_back(task);
    }

    /// Ends the wait of `run()`, because its tasks have changed.
    pub fn interrupt(&self) {
        if self.is_suspended.replace(false) {
            self.waits.wake();
        }
    }

    /// Makes a task this scheduler's, if it is none's.
    pub fn adopt(&self, task: &TaskObject) -> Result<(), Thrown> {
        if task.owner.get() == self.number {
            return Ok(());
        }
        if task.owner.get() != 0 {
            return Err(exception::throw_error("The task belongs to another scheduler"));
        }
        if self.tasks.borrow().contains_key(&task.id()) {
            return Err(exception::throw_error(&format!("The scheduler has another task with the id {}", task.id())));
        }
        task.owner.set(self.number);
        self.last_id.set(self.last_id.get().max(task.id()));
        self.tasks.borrow_mut().insert(task.id(), Owned::of(task));
        Ok(())
    }

    /// Returns its tasks in the order of their ids.
    pub fn in_order(&self) -> Vec<Owned<TaskObject>> {
        let mut all: Vec<_> = self.tasks.borrow().values().cloned().collect();
        all.sort_by_key(|task| task.id());
        all
    }

    /// Removes a task that ends. Returns the reference to it.
    pub fn remove(&self, task: &TaskObject) -> Option<Owned<TaskObject>> {
        let mut tasks = self.tasks.borrow_mut();
        if tasks.get(&task.id()).is_some_and(|held| **held == *task) { tasks.remove(&task.id()) } else { None }
    }
}
