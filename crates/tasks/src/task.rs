//! Tasks: a stack of generators, the innermost of which is resumed.

use crate::generators::{self, Owner, Owners};
use crate::system::SYSTEM;
use crate::thrown::take_thrown;
use crate::turn::Turn;
use crate::waits::Wait;
use spindle_php::coroutine::{self, Completion, Coroutine};
use spindle_zend::{
    Collected, Generator, Instance, Object, Owned, OwnedCell, PhpResult, Resumed, Thrown, Value, ValueCell, exception,
    object_class,
};
use std::cell::{Cell, RefCell};

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Nothing, until it is scheduled.
    Idle,
    /// It is in the queue of its scheduler.
    Queued,
    /// Its code runs, or code for it.
    Running,
    /// It waits for an awaitable or a stream.
    Waiting,
    /// It has ended.
    Finished,
}

/// The state of an object of the class.
pub struct Task {
    id: Cell<i64>,
    /// The number of the scheduler that it belongs to; 0 for none.
    pub owner: Cell<u64>,
    pub status: Cell<Status>,
    pub is_constructed: Cell<bool>,
    /// It was killed while it runs, and ends when its code returns.
    pub is_killed: Cell<bool>,
    /// The innermost generator has not begun.
    is_fresh: Cell<bool>,
    /// The innermost generator, which is resumed next.
    innermost: RefCell<Option<Owner>>,
    /// The generators that wait for it, the outermost first.
    callers: RefCell<Owners>,
    /// What its `yield` returns; its result when it has ended.
    value: ValueCell,
    /// What its `yield` throws; its failure when it has ended.
    pub exception: OwnedCell<Object>,
    /// What it waits for.
    pub wait: RefCell<Option<Box<Wait>>>,
    pub completion: Completion,
    /// The coroutine that reports a failure which nothing awaits.
    reporter: RefCell<Option<Coroutine>>,
}

object_class!(
    /// The class.
    pub static TASK: Task
);

/// An object of the class.
pub type TaskObject = Instance<Task>;

/// How the code of a task has returned to its scheduler.
pub enum Step {
    /// It has yielded a value that is neither a generator nor of `retval()`.
    Yielded(Value),
    /// It has ended with this result.
    Ended(Value),
    /// It has ended with this failure.
    Failed(Owned<Object>),
    /// It was killed while it ran.
    Killed,
    /// It exits.
    Exits(Thrown),
}

/// What has come of the resumption of a generator.
struct Resumption {
    resumed: Resumed,
    /// What its `yield` has returned, or thrown; not released yet.
    sent: Value,
    thrown: Option<Owned<Object>>,
}

/// Returns a new task.
///
/// # Errors
/// The generator belongs to another one.
pub fn make(id: i64, generator: Generator) -> Result<Owned<TaskObject>, Thrown> {
    let task = TASK.make();
    task.begin(id, generator)?;
    Ok(task)
}

impl Task {
    /// Returns a task that is not constructed.
    pub fn new() -> Task {
        Task {
            id: Cell::new(0),
            owner: Cell::new(0),
            status: Cell::new(Status::Finished),
            is_constructed: Cell::new(false),
            is_killed: Cell::new(false),
            is_fresh: Cell::new(true),
            innermost: RefCell::default(),
            callers: RefCell::default(),
            value: ValueCell::new(),
            exception: OwnedCell::new(),
            wait: RefCell::default(),
            completion: Completion::new(),
            reporter: RefCell::default(),
        }
    }

    /// Adds what it holds for the cycle collector.
    pub fn collect_values(&self, values: &mut Collected) {
        for owner in self.innermost.borrow().iter().chain(self.callers.borrow().iter()) {
            values.owned_object(owner.generator().object());
        }
        values.cell(&self.value);
        values.object(&self.exception);
        if let Some(wait) = &*self.wait.borrow() {
            wait.collect(values);
        }
        if let Some(reporter) = &*self.reporter.borrow() {
            values.owned_object(reporter.object());
        }
    }

    /// Returns its id.
    pub fn id(&self) -> i64 {
        self.id.get()
    }

    /// Gives it an id and a generator.
    ///
    /// # Errors
    /// The generator belongs to another task.
    pub fn begin(&self, id: i64, generator: Generator) -> Result<(), Thrown> {
        let owner = Owner::of(generator).map_err(exception::throw)?;
        self.is_constructed.set(true);
        self.id.set(id);
        self.innermost.replace(Some(owner));
        self.status.set(Status::Idle);
        Ok(())
    }

    /// Sets what its `yield` returns. Returns the value that this replaces.
    #[must_use]
    pub fn put_value(&self, value: Value) -> Value {
        self.value.replace(value)
    }

    /// Sets what its `yield` throws. An exception that it was to throw becomes the last previous one.
    pub fn put_exception(&self, thrown: Owned<Object>) {
        if let Some(before) = self.exception.take()
            && before != thrown
        {
            exception::set_last_previous(&thrown, before);
        }
        self.exception.set(Some(thrown));
    }

    /// Calls a generator, whose result the present one gets.
    fn push(&self, generator: Generator) -> Result<(), Owned<Object>> {
        let owner = Owner::of(generator)?;
        if let Some(caller) = self.innermost.replace(Some(owner)) {
            self.callers.borrow_mut().push(caller);
        }
        self.is_fresh.set(true);
        Ok(())
    }

    /// Removes the innermost generator. Returns it, and whether one is left.
    fn pop(&self) -> (Option<Owner>, bool) {
        let caller = self.callers.borrow_mut().pop();
        let is_left = caller.is_some();
        self.is_fresh.set(false);
        (self.innermost.replace(caller), is_left)
    }

    /// Runs the code of the task to its next `yield` of something that is not about its generators. It is running after this,
    /// until the caller has said what it does next.
    #[inline]
    pub fn step(&self) -> Step {
        self.status.set(Status::Running);
        let Some(first) = self.resume() else { return Step::Ended(Value::NULL) };
        // Nearly every step: nothing is released that could run code.
        if let Resumed::Yielded(yielded) = &first.resumed
            && (!yielded.is_counted() || yielded.as_object().is_some_and(|object| SYSTEM.of(object).is_some()))
            && !first.sent.is_counted()
            && first.thrown.is_none()
            && !self.is_killed.get()
        {
            let Resumed::Yielded(yielded) = first.resumed else { return Step::Ended(Value::NULL) };
            return Step::Yielded(yielded);
        }
        self.steps(first).unwrap_or_else(Step::Exits)
    }

    /// Resumes the innermost generator. Returns `None` if there is none.
    #[inline(always)]
    fn resume(&self) -> Option<Resumption> {
        // Taken out for as long as its code runs, in which nothing else takes or replaces it.
        let owner = self.innermost.take()?;
        let (thrown, sent) = self.take_input();
        let resumed = match &thrown {
            Some(thrown) => owner.generator().throw(thrown),
            None => owner.generator().resume(&sent),
        };
        self.innermost.replace(Some(owner));
        Some(Resumption { resumed, sent, thrown })
    }

    #[inline(never)]
    fn steps(&self, mut next: Resumption) -> Result<Step, Thrown> {
        loop {
            let mut turn = Turn::of(next.resumed)?;
            drop(next.sent);
            if next.thrown.is_some() {
                exception::put_aside(|| drop(next.thrown));
            }
            if let Some(thrown) = take_thrown()? {
                turn = turn.fail(thrown);
            }
            if let Some(step) = self.follow(turn)? {
                return Ok(step);
            }
            let Some(resumption) = self.resume() else { return Ok(Step::Ended(Value::NULL)) };
            next = resumption;
        }
    }

    /// Acts upon what the innermost generator has done. Returns `None` if one is to be resumed.
    fn follow(&self, turn: Turn) -> Result<Option<Step>, Thrown> {
        if self.is_killed.get() {
            let mut failure = None;
            if let Turn::Returned { result: Err(thrown), .. } | Turn::Again(thrown) = &turn {
                failure = Some(thrown.clone());
            }
            drop(turn);
            if let Some(thrown) = take_thrown()? {
                failure = Some(thrown);
            }
            return Ok(Some(failure.map_or(Step::Killed, Step::Failed)));
        }
        match turn {
            Turn::Yielded(value) => Ok(Some(Step::Yielded(value))),
            Turn::Called(generator) => {
                if let Err(refused) = self.push(generator) {
                    self.put_exception(refused);
                }
                Ok(None)
            }
            Turn::Again(thrown) => {
                self.put_exception(thrown);
                Ok(None)
            }
            Turn::Returned { mut result, end } => {
                let (left, has_caller) = self.pop();
                if let Some(owner) = left {
                    if end {
                        generators::end(owner);
                    } else {
                        drop(owner);
                    }
                }
                if let Some(thrown) = take_thrown()? {
                    result = match result {
                        Err(first) => {
                            exception::set_last_previous(&thrown, first);
                            Err(thrown)
                        }
                        Ok(value) => {
                            drop(value); // its destructor may throw, too
                            if let Some(later) = take_thrown()? {
                                exception::set_last_previous(&later, thrown);
                                Err(later)
                            } else {
                                Err(thrown)
                            }
                        }
                    };
                }
                match result {
                    Ok(value) if !has_caller => return Ok(Some(Step::Ended(value))),
                    Err(thrown) if !has_caller => return Ok(Some(Step::Failed(thrown))),
                    Ok(value) => drop(self.put_value(value)),
                    Err(thrown) => self.put_exception(thrown),
                }
                if let Some(thrown) = take_thrown()? {
                    self.put_exception(thrown);
                }
                Ok(None)
            }
        }
    }

    /// Takes what the `yield` of the innermost generator throws, or returns: an undefined value if it has not begun.
    #[inline(always)]
    fn take_input(&self) -> (Option<Owned<Object>>, Value) {
        if self.is_fresh.replace(false) {
            return (None, Value::UNDEF);
        }
        (self.exception.take(), self.value.take().some().unwrap_or(Value::NULL))
    }

    /// Marks it as ended, so that nothing acts upon it while its values are released. Returns `false` if it has ended.
    pub fn finish(&self) -> bool {
        self.status.replace(Status::Finished) != Status::Finished
    }

    /// Takes its generators, the outermost first.
    pub fn take_generators(&self) -> Owners {
        let mut all = self.callers.take();
        all.extend(self.innermost.take());
        all
    }

    /// Takes what it was to be sent or thrown.
    pub fn take_held(&self) -> (Value, Option<Owned<Object>>) {
        (self.value.take(), self.exception.take())
    }

    /// Stores how it has ended, and wakes what awaits it. Returns `true` if something does.
    pub fn complete(&self, outcome: Result<Value, Owned<Object>>) -> bool {
        let fails = outcome.is_err() || self.is_killed.get();
        match outcome {
            Ok(value) => self.value.set(value),
            Err(failure) => self.exception.set(Some(failure)),
        }
        self.completion.complete(fails)
    }

    /// Returns the result of a task that has ended, or throws its failure.
    pub fn outcome(&self) -> PhpResult {
        if let Some(reporter) = &*self.reporter.borrow() {
            reporter.mark_awaited();
        }
        if self.exception.is_empty() && self.is_killed.get() {
            self.exception.set(Some(coroutine::new_cancellation("The task was killed")));
        }
        match self.exception.get() {
            Some(failure) => Err(exception::throw(failure)),
            None => Ok(self.value.get().some().into()),
        }
    }

    /// Sets the coroutine that reports its failure.
    pub fn set_reporter(&self, reporter: Coroutine) {
        self.reporter.replace(Some(reporter));
    }
}
