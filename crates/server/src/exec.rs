//! Tasks: futures that are polled when they are woken.

use slab::Slab;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

type Task = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks that were woken. Wakers can be used from any thread, which hyper's types demand; here it is always the same one,
/// and the lock is free.
#[derive(Default)]
struct Ready(Mutex<Queues>);

#[derive(Default)]
struct Queues {
    now: VecDeque<Arc<Awake>>,
    /// Those that have woken themselves, so that others go first: they are polled in the next [`run`](Executor::run).
    later: VecDeque<Arc<Awake>>,
}

impl Ready {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The waker of a task.
struct Awake {
    task: usize,
    is_queued: AtomicBool,
    is_polled: AtomicBool,
    ready: Arc<Ready>,
}

impl Awake {
    fn queue(self: Arc<Self>) {
        if !self.is_queued.swap(true, Ordering::AcqRel) {
            let ready = Arc::clone(&self.ready);
            let mut queues = ready.lock();
            let queue = if self.is_polled.load(Ordering::Acquire) { &mut queues.later } else { &mut queues.now };
            queue.push_back(self);
        }
    }
}

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        self.queue();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.load(Ordering::Acquire) {
            Arc::clone(self).queue();
        }
    }
}

/// A task, and its waker, by which a task is told from a later one at the same place. The future is `None` while it is polled.
struct Entry {
    future: Option<Task>,
    awake: Arc<Awake>,
    waker: Waker,
}

#[derive(Default)]
struct Inner {
    tasks: RefCell<Slab<Entry>>,
    ready: Arc<Ready>,
}

/// Runs tasks.
#[derive(Clone, Default)]
pub struct Executor(Rc<Inner>);

impl Executor {
    /// Adds a task, which is polled in the next [`run`](Executor::run).
    pub fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let mut tasks = self.0.tasks.borrow_mut();
        let place = tasks.vacant_entry();
        let ready = Arc::clone(&self.0.ready);
        let awake = Arc::new(Awake {
            task: place.key(),
            is_queued: AtomicBool::new(false),
            is_polled: AtomicBool::new(false),
            ready,
        });
        place.insert(Entry {
            future: Some(Box::pin(future)),
            waker: Waker::from(Arc::clone(&awake)),
            awake: Arc::clone(&awake),
        });
        awake.queue();
    }

    /// Returns `true` if tasks were woken.
    pub fn has_ready(&self) -> bool {
        let queues = self.0.ready.lock();
        !queues.now.is_empty() || !queues.later.is_empty()
    }

    /// Polls woken tasks, at most `budget` of them.
    pub fn run(&self, budget: usize) {
        {
            let queues = &mut *self.0.ready.lock();
            queues.now.append(&mut queues.later);
        }
        for _ in 0..budget {
            let next = self.0.ready.lock().now.pop_front();
            let Some(awake) = next else { return };
            self.poll(&awake);
        }
    }

    fn poll(&self, awake: &Arc<Awake>) {
        let (future, waker) = {
            let mut tasks = self.0.tasks.borrow_mut();
            let Some(entry) = tasks.get_mut(awake.task).filter(|entry| Arc::ptr_eq(&entry.awake, awake)) else {
                return; // it has ended
            };
            (entry.future.take(), entry.waker.clone())
        };
        let Some(mut future) = future else { return };
        awake.is_queued.store(false, Ordering::Release);
        awake.is_polled.store(true, Ordering::Release);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        awake.is_polled.store(false, Ordering::Release);
        match polled {
            Poll::Pending => {
                if let Some(entry) = self.0.tasks.borrow_mut().get_mut(awake.task) {
                    entry.future = Some(future);
                }
            }
            Poll::Ready(()) => {
                let entry = self.0.tasks.borrow_mut().remove(awake.task);
                drop((future, entry)); // which may spawn and wake others
            }
        }
    }

    /// Drops all tasks.
    pub fn clear(&self) {
        loop {
            let tasks = mem::take(&mut *self.0.tasks.borrow_mut());
            *self.0.ready.lock() = Queues::default();
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
