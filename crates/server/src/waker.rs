//! Wakers that are numbers: of a task and of its executor. They count no references and take no lock.
//!
//! hyper's types demand wakers that can be used from any thread. Here they are always used on that of their executor; on another
//! one they do nothing.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::rc::{Rc, Weak};
use std::task::{RawWaker, RawWakerVTable, Waker};

/// A task that was woken: its place, and which of the tasks that have had that place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Woken {
    pub place: usize,
    pub generation: u32,
}

/// An executor. A waker whose task has ended may wake another one, after very many tasks: that one then finds nothing to do.
pub trait Wake {
    /// A task is woken.
    fn wake(&self, woken: Woken);
}

/// How many bits the parts of a waker have: the number of its executor, the generation and the place of its task.
const GENERATION: u32 = 20;
const PLACE: u32 = 28;
const EXECUTOR: u32 = usize::BITS - GENERATION - PLACE;

thread_local! {
    /// The executors of this thread. Not dropped, so that a thread's end has nothing to do for a module that is gone by then.
    static EXECUTORS: ManuallyDrop<RefCell<Vec<Weak<dyn Wake>>>> = const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Registers an executor, as long as it is referred to. Returns its number.
///
/// # Panics
/// The thread has too many.
pub fn register(executor: &Rc<dyn Wake>) -> usize {
    EXECUTORS.with(|all| {
        let mut all = all.borrow_mut();
        let number = all.iter().position(|other| other.strong_count() == 0).unwrap_or(all.len());
        assert!(number < 1 << EXECUTOR, "a thread has too many servers");
        if number == all.len() {
            all.push(Rc::downgrade(executor));
        } else {
            all[number] = Rc::downgrade(executor);
        }
        number
    })
}

/// Returns the generation after this one.
pub fn next(generation: u32) -> u32 {
    (generation + 1) % (1 << GENERATION)
}

/// Returns the waker of a task.
///
/// # Panics
/// There are too many.
pub fn new(executor: usize, task: Woken) -> Waker {
    assert!(task.place < 1 << PLACE, "an executor has too many tasks");
    let data = executor << (GENERATION + PLACE) | (task.generation as usize) << PLACE | task.place;
    // SAFETY: the functions take the pointer for a number, which needs no clone and no drop, and read nothing but what is their
    // thread's.
    unsafe { Waker::from_raw(raw(data)) }
}

fn raw(data: usize) -> RawWaker {
    RawWaker::new(std::ptr::without_provenance(data), &TABLE)
}

static TABLE: RawWakerVTable = RawWakerVTable::new(|data| raw(data.addr()), wake, wake, |_| {});

fn wake(data: *const ()) {
    let data = data.addr();
    let generation = data >> PLACE & ((1 << GENERATION) - 1);
    let task = Woken { place: data & ((1 << PLACE) - 1), generation: generation as u32 };
    let executor = EXECUTORS.with(|all| all.borrow().get(data >> (GENERATION + PLACE)).and_then(Weak::upgrade));
    if let Some(executor) = executor {
        executor.wake(task);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Executor(RefCell<Vec<Woken>>);

    impl Wake for Executor {
        fn wake(&self, woken: Woken) {
            self.0.borrow_mut().push(woken);
        }
    }

    fn executor() -> (Rc<Executor>, usize) {
        let executor = Rc::<Executor>::default();
        let number = register(&(Rc::clone(&executor) as Rc<dyn Wake>));
        (executor, number)
    }

    #[test]
    fn wakers_are_those_of_their_tasks() {
        let ((one, first), (other, second)) = (executor(), executor());
        let last = Woken { place: (1 << PLACE) - 1, generation: (1 << GENERATION) - 1 };
        let zero = Woken { place: 0, generation: 0 };
        new(first, last).wake();
        let waker = new(second, zero);
        assert!(waker.will_wake(&waker.clone()) && !waker.will_wake(&new(first, zero)));
        waker.wake_by_ref();
        let copy = waker.clone();
        copy.wake();
        assert_eq!((one.0.take(), other.0.take()), (vec![last], vec![zero, zero]));
        assert_eq!(next(last.generation), 0);

        // On another thread it does nothing; nor does the waker of an executor that is gone.
        let moved = waker.clone();
        std::thread::spawn(move || moved.wake()).join().unwrap();
        drop(one);
        new(first, zero).wake();
        assert_eq!(other.0.take(), []);
        let (later, number) = executor();
        assert_eq!(number, first);
        new(number, zero).wake();
        assert_eq!((later.0.take(), other.0.take()), (vec![zero], vec![]));
    }
}
