//! Tasks: futures that are polled when they are woken.

use crate::waker::{self, Wake, Woken};
use slab::Slab;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks that were woken.
#[derive(Default)]
struct Ready(RefCell<Queues>);

#[derive(Default)]
struct Queues {
    states: Vec<State>,
    now: VecDeque<Woken>,
    /// Those that have woken themselves, so that others go first: they are polled in the next [`run`](Executor::run).
    later: VecDeque<Woken>,
}

/// What concerns waking of the task at one place.
#[derive(Clone, Copy, Default)]
struct State {
    /// The number of tasks that were at this place before: this tells a task from a later one.
    generation: u32,
    is_queued: bool,
    is_polled: bool,
}

impl Wake for Ready {
    fn wake(&self, woken: Woken) {
        let Queues { states, now, later } = &mut *self.0.borrow_mut();
        let Some(state) = states.get_mut(woken.place) else { return };
        if state.generation == woken.generation && !mem::replace(&mut state.is_queued, true) {
            let queue = if state.is_polled { later } else { now };
            queue.push_back(woken);
        }
    }
}

/// A task. The future is `None` while it is polled.
struct Entry {
    future: Option<Task>,
    waker: Waker,
}

struct Inner {
    tasks: RefCell<Slab<Entry>>,
    ready: Rc<Ready>,
    number: usize,
}

/// Runs tasks.
#[derive(Clone)]
pub struct Executor(Rc<Inner>);

impl Default for Executor {
    fn default() -> Executor {
        let ready = Rc::<Ready>::default();
        let number = waker::register(&(Rc::clone(&ready) as Rc<dyn Wake>));
        Executor(Rc::new(Inner { tasks: RefCell::default(), ready, number }))
    }
}

impl Executor {
    /// Adds a task, which is polled in the next [`run`](Executor::run).
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let future: Task = Box::pin(future);
        let mut tasks = self.0.tasks.borrow_mut();
        let place = tasks.vacant_key();
        let generation = {
            let states = &mut self.0.ready.0.borrow_mut().states;
            if states.len() <= place {
                states.resize_with(place + 1, State::default);
            }
            states[place].generation
        };
        let woken = Woken { place, generation };
        tasks.insert(Entry { future: Some(future), waker: waker::new(self.0.number, woken) });
        self.0.ready.wake(woken);
    }

    /// Returns `true` if tasks were woken.
    pub fn has_ready(&self) -> bool {
        let queues = self.0.ready.0.borrow();
        !queues.now.is_empty() || !queues.later.is_empty()
    }

    /// Polls woken tasks, at most `budget` of them.
    pub fn run(&self, budget: usize) {
        {
            let queues = &mut *self.0.ready.0.borrow_mut();
            queues.now.append(&mut queues.later);
        }
        for _ in 0..budget {
            let next = self.0.ready.0.borrow_mut().now.pop_front();
            let Some(woken) = next else { return };
            self.poll(woken);
        }
    }

    /// Changes the state of a task's place. Returns `false` if the task has ended.
    fn set(&self, task: Woken, change: impl FnOnce(&mut State)) -> bool {
        let states = &mut self.0.ready.0.borrow_mut().states;
        states.get_mut(task.place).filter(|state| state.generation == task.generation).map(change).is_some()
    }

    fn poll(&self, task: Woken) {
        if !self.set(task, |state| (state.is_queued, state.is_polled) = (false, true)) {
            return;
        }
        let (future, waker) = {
            let mut tasks = self.0.tasks.borrow_mut();
            let Some(entry) = tasks.get_mut(task.place) else { return };
            (entry.future.take(), entry.waker.clone())
        };
        let Some(mut future) = future else { return };
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        let has_ended = polled.is_ready();
        let is_there = self.set(task, |state| {
            let generation = if has_ended { waker::next(state.generation) } else { state.generation };
            *state = State { generation, is_queued: state.is_queued && !has_ended, is_polled: false };
        });
        let mut tasks = self.0.tasks.borrow_mut();
        let entry = if is_there && has_ended { tasks.try_remove(task.place) } else { None };
        if is_there
            && !has_ended
            && let Some(entry) = tasks.get_mut(task.place)
        {
            entry.future = Some(future);
            return;
        }
        drop(tasks);
        drop((future, entry)); // which may spawn and wake others
    }

    /// Drops all tasks.
    pub fn clear(&self) {
        loop {
            let tasks = mem::take(&mut *self.0.tasks.borrow_mut());
            {
                let Queues { states, now, later } = &mut *self.0.ready.0.borrow_mut();
                for state in states {
                    *state = State { generation: waker::next(state.generation), ..State::default() };
                }
                (*now, *later) = (VecDeque::new(), VecDeque::new());
            }
            if tasks.is_empty() {
                return;
            }
            drop(tasks);
        }
    }
}

impl<F: Future<Output = ()> + 'static> hyper::rt::Executor<F> for Executor {
    fn execute(&self, future: F) {
        self.spawn(future);
    }
}
