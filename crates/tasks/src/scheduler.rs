//! The class `Async\Task\Scheduler`: the queue of tasks, and what they wait for.

use crate::calls::stream_of;
use crate::task::{self, Status, TASK, TaskObject, generator_of};
use crate::waits::{Operation, Wait};
use crate::{ends, run};
use rustc_hash::FxHashMap;
use spindle_php::coroutine::{self, Direction, Key, Maker, WaitSet};
use spindle_zend::{
    Call, Class, Collected, Generator, Instance, Object, Owned, PhpResult, PhpStatic, State, Thrown, Type, Value,
    declare_class, exception, function_table, object_class, sys,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::ptr::NonNull;

/// The state of an object of the class.
pub struct Scheduler {
    /// A number that no other scheduler of this process has had.
    number: u64,
    last_id: Cell<i64>,
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
    pub static SCHEDULER: Scheduler = create
);

extern "C" fn create_and_list(class: Class) -> Owned<Object> {
    let object = create(class);
    if let Some(scheduler) = SCHEDULER.of(&object) {
        ALL.borrow_mut().insert(scheduler.number, NonNull::from(scheduler));
    }
    object
}

/// An object of the class.
pub type SchedulerObject = Instance<Scheduler>;

static LAST_NUMBER: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// The schedulers, held weakly: one removes itself when it is freed.
static ALL: PhpStatic<RefCell<BTreeMap<u64, NonNull<SchedulerObject>>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

function_table! {
    static METHODS = {
        c"newTask"(coroutine: Type::class(c"Generator")) -> Type::INT => |call| {
            call.arguments(1, 1)?;
            new_task(call.this_of(&SCHEDULER), generator_of(&call, 1)?).map(Value::from)
        };
        c"schedule"(task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            let task = task_of(&call, 1, 1)?;
            schedule(call.this_of(&SCHEDULER), &task)
        };
        c"killTask"(tid: Type::INT) -> Type::BOOL => |call| {
            Ok(kill(call.this_of(&SCHEDULER), call.arguments(1, 1)?.long(1)?).into())
        };
        c"waitForRead"(socket: Type::MIXED, task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            wait_for_stream(&call, Direction::Read)
        };
        c"waitForWrite"(socket: Type::MIXED, task: Type::class(c"Async\\Task\\Task")) -> Type::VOID => |call| {
            wait_for_stream(&call, Direction::Write)
        };
        c"run"() -> Type::VOID => |call| {
            call.no_arguments()?;
            run::run(call.this_of(&SCHEDULER))?;
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    let flags = sys::ZEND_ACC_FINAL | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
    SCHEDULER.register(declare_class(c"Async\\Task\\Scheduler", METHODS), create_and_list, flags, |_| {});
}

impl State for Scheduler {
    const DESTRUCT: Option<fn(&SchedulerObject)> = Some(destruct);

    fn new(_: Class) -> Scheduler {
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

    fn free(this: &SchedulerObject) {
        ALL.borrow_mut().remove(&this.number);
    }

    fn collect(&self, values: &mut Collected) {
        self.tasks.borrow().values().for_each(|task| values.owned(task));
        self.queue.borrow().iter().for_each(|task| values.owned(task));
        self.waiting.borrow().values().for_each(|task| values.owned(task));
        self.failed.borrow().iter().for_each(|held| values.value(held));
    }
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
pub fn runner_of(number: u64) -> Option<Maker> {
    let all = ALL.borrow();
    // SAFETY: those on the list are alive.
    let scheduler = unsafe { all.get(&number)?.as_ref() };
    scheduler.runner.get().filter(|_| scheduler.is_active.get())
}

fn task_of(call: &Call, number: u32, count: u32) -> Result<Owned<TaskObject>, Thrown> {
    let object = call.arguments(count, count)?.object(number, TASK.class())?;
    TASK.of(object).map(Owned::of).ok_or_else(|| exception::throw_error("This object is no task"))
}

fn wait_for_stream(call: &Call, direction: Direction) -> PhpResult {
    let stream = stream_of(call, 1, 2)?;
    let task = task_of(call, 2, 2)?;
    wait(call.this_of(&SCHEDULER), &task, Wait::of_stream(stream, direction, Operation::None))
}

/// Adds a task for a generator. Returns its id.
///
/// # Errors
/// The generator belongs to a task.
pub fn new_task(this: &SchedulerObject, generator: Generator) -> Result<i64, Thrown> {
    let id = this.last_id.get() + 1;
    let task = task::make(id, generator)?;
    this.last_id.set(id);
    task.owner.set(this.number);
    this.tasks.borrow_mut().insert(id, task.clone());
    this.enqueue(&task);
    Ok(id)
}

/// Adds a task to the queue; one that waits leaves its wait. Has no effect on one that runs, is queued or has ended.
///
/// # Errors
/// It belongs to another scheduler.
pub fn schedule(this: &SchedulerObject, task: &TaskObject) -> PhpResult {
    if task.status.get() != Status::Finished {
        this.adopt(task)?;
    }
    if task.status.get() == Status::Waiting {
        run::leave_wait(this, task);
    }
    if task.status.get() == Status::Idle {
        this.enqueue(task);
    }
    if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(Value::NULL) }
}

/// Kills the task with this id. Returns `false` if there is none.
pub fn kill(this: &SchedulerObject, id: i64) -> bool {
    let task = this.tasks.borrow().get(&id).cloned();
    let Some(task) = task else { return false };
    ends::kill(&task);
    ends::release_task(this, task);
    true
}

/// Lets a task wait. If `run()` is not active, the wait begins with it.
///
/// # Errors
/// It cannot wait for this, or is not to be resumed by `schedule()`.
pub fn wait(this: &SchedulerObject, task: &TaskObject, wait: Wait) -> PhpResult {
    if task.status.get() == Status::Finished {
        return Ok(Value::NULL);
    }
    this.adopt(task)?;
    match task.status.get() {
        Status::Running | Status::Queued => {
            let text = "A task that runs, or is queued, cannot be made to wait: it waits by what it yields";
            return Err(exception::throw_error(text));
        }
        Status::Waiting => run::leave_wait(this, task),
        Status::Idle | Status::Finished => {}
    }
    if wait.awaitable().is_some_and(|object| object == task.object()) {
        return Err(exception::throw_new(coroutine::async_exception(), "A task cannot await itself"));
    }
    run::begin_wait(this, task, Box::new(wait));
    if exception::is_in_flight() { Err(Thrown::is_in_flight()) } else { Ok(Value::NULL) }
}

impl Scheduler {
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
    fn adopt(&self, task: &TaskObject) -> Result<(), Thrown> {
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

/// Kills the tasks of a scheduler that user code has let go, in the order of their ids.
fn destruct(this: &SchedulerObject) {
    loop {
        // What is run here may add others.
        let all = this.in_order();
        if all.is_empty() {
            return;
        }
        for task in all {
            ends::kill(&task);
            // One whose code runs ends later, or never after an `exit`.
            drop(this.remove(&task));
        }
    }
}
