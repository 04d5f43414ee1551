//! Every interleaving: `RUSTFLAGS="--cfg loom" cargo test -p spindle-inbox --release`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use spindle_inbox::{AddressQueue, Inbox};

/// Stands for the eventfd: `wake` adds one, `sleep` waits until it is not 0 and makes it 0.
/// Loom reports a deadlock when a wake-up is missing.
#[derive(Default)]
struct Bell {
    rung: loom::sync::Mutex<usize>,
    changed: loom::sync::Condvar,
}

impl Bell {
    fn wake(&self) {
        *self.rung.lock().unwrap() += 1;
        self.changed.notify_one();
    }

    fn sleep(&self) -> usize {
        let mut rung = self.rung.lock().unwrap();
        while *rung == 0 {
            rung = self.changed.wait(rung).unwrap();
        }
        std::mem::take(&mut rung)
    }
}

/// One receiver, a pusher per element of `pushes` that pushes so many items.
fn deliver(pushes: &'static [u32], preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let inbox = Arc::new(Inbox::new());
        let bell = Arc::new(Bell::default());
        let wakes = Arc::new(AtomicUsize::new(0));
        let mut threads = Vec::new();
        let mut first = 0;
        for &count in pushes {
            let (inbox, bell, wakes) = (inbox.clone(), bell.clone(), wakes.clone());
            threads.push(thread::spawn(move || {
                for item in first..first + count {
                    if inbox.push(item) {
                        wakes.fetch_add(1, Ordering::Relaxed);
                        bell.wake();
                    }
                }
            }));
            first += count;
        }
        let total = first as usize;
        let mut out = Vec::new();
        let mut sleeps = 0;
        while out.len() < total {
            if inbox.arm() {
                // At most one wake-up for each time it armed.
                assert_eq!(bell.sleep(), 1);
                sleeps += 1;
                inbox.disarm();
            }
            inbox.drain(&mut out);
        }
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(wakes.load(Ordering::Relaxed), sleeps);
        // Nothing is left, lost or doubled, and each thread's items are in order.
        inbox.drain(&mut out);
        assert_eq!(out.len(), total);
        let mut first = 0;
        for &count in pushes {
            let range = first..first + count;
            let of_one = out.iter().copied().filter(|item| range.contains(item));
            assert!(of_one.eq(range.clone()), "{out:?}");
            first += count;
        }
    });
}

#[test]
fn one_pusher() {
    deliver(&[2], None);
}

#[test]
fn two_pushers() {
    // Passes without a bound too, in a minute.
    deliver(&[1, 1], Some(4));
}

#[test]
fn two_pushers_two_items() {
    deliver(&[2, 1], Some(3));
}

/// The receiver wakes for another reason (a socket): whether the push came before or after, the
/// item is found by the next drain or by the next `arm`.
#[test]
fn disarm_races_with_push() {
    loom::model(|| {
        let inbox = Arc::new(Inbox::new());
        assert!(inbox.arm());
        let pusher = {
            let inbox = inbox.clone();
            thread::spawn(move || inbox.push(1))
        };
        inbox.disarm();
        let mut out = Vec::new();
        inbox.drain(&mut out);
        let slept = out.is_empty() && inbox.arm();
        let woken = pusher.join().unwrap();
        if slept {
            assert!(woken);
        }
        inbox.drain(&mut out);
        assert_eq!(out, [1]);
    });
}

/// A semaphore at an address: a poster adds a permit, then notifies; a waiter enters, then looks for a permit.
#[derive(Default)]
struct Semaphore {
    permits: AtomicUsize,
    queue: AddressQueue<Arc<Bell>>,
}

const ADDRESS: usize = 8;

impl Semaphore {
    fn post(&self, all: bool) {
        self.permits.fetch_add(1, Ordering::Relaxed);
        self.queue.notify(ADDRESS, all, |bell: Arc<Bell>| bell.wake());
    }

    fn take(&self) -> bool {
        let taken = |permits: usize| permits.checked_sub(1);
        self.permits.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }

    /// Waits for a permit as the hook of `sem_wait` does.
    fn wait(&self) {
        loop {
            let bell = Arc::new(Bell::default());
            let place = self.queue.enter(ADDRESS, bell.clone());
            if self.take() {
                if !self.queue.leave(place) {
                    self.queue.notify(ADDRESS, false, |bell: Arc<Bell>| bell.wake());
                }
                return;
            }
            bell.sleep();
            assert!(!self.queue.leave(place), "who is woken was taken off the queue");
        }
    }
}

/// Each waiter gets its permit: loom reports a deadlock where one sleeps on.
fn permits_arrive(waiters: usize, posters: usize, preemptions: Option<usize>) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let semaphore = Arc::new(Semaphore::default());
        let mut threads = Vec::new();
        for _ in 0..posters {
            let semaphore = semaphore.clone();
            threads.push(thread::spawn(move || semaphore.post(false)));
        }
        for _ in 1..waiters {
            let semaphore = semaphore.clone();
            threads.push(thread::spawn(move || semaphore.wait()));
        }
        semaphore.wait();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

#[test]
fn a_notification_reaches_a_waiter_that_enters_meanwhile() {
    permits_arrive(1, 1, None);
}

#[test]
fn a_notification_that_one_waiter_needs_no_more_goes_to_the_next() {
    permits_arrive(2, 2, Some(2));
}

#[test]
fn all_waiters_are_notified() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let shared = Arc::new((AtomicUsize::new(0), AddressQueue::<Arc<Bell>>::new()));
        let waiter = |shared: Arc<(AtomicUsize, AddressQueue<Arc<Bell>>)>| {
            let bell = Arc::new(Bell::default());
            let place = shared.1.enter(ADDRESS, bell.clone());
            if shared.0.load(Ordering::Relaxed) == 0 {
                bell.sleep();
            }
            shared.1.leave(place);
        };
        let other = thread::spawn({
            let shared = shared.clone();
            move || waiter(shared)
        });
        let notifier = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.0.store(1, Ordering::Relaxed);
                shared.1.notify(ADDRESS, true, |bell: Arc<Bell>| bell.wake());
            }
        });
        waiter(shared);
        other.join().unwrap();
        notifier.join().unwrap();
    });
}
