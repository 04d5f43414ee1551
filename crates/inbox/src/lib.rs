//! The structures by which threads wake coroutines: an [`Inbox`], a queue from many threads to one, and [`AddressQueue`],
//! wait queues that any thread notifies. In both an atomic is read without the lock, so all interleavings are tested
//! (`tests/loom.rs`). [`lines`] are for a thread that writes what may not be waited for. Threads share more than these: the queue of the worker pool and the notes of the watchdog in
//! `reactor` are each under a lock of their own.
//!
//! # The inbox
//!
//! Worker threads, and threads of libraries, hand the thread that runs coroutines what they are to wake ([`Inbox::push`]);
//! that thread, the receiver, drains the inbox. The inbox itself wakes no thread: `push` returns whether its caller has to (the
//! reactor writes to the eventfd that the receiver polls).
//!
//! ## States
//!
//! ```text
//!            arm                            push → true: wake the receiver
//!   Idle ───────────▶ Armed ──────────────────────────────────────────┐
//!    ▲ ◀───────────                                                   ▼
//!    │      disarm                                                   Full ──┐ push → false
//!    │           push → false: the receiver is awake and will look    ▲ ▲   │ arm → false:
//!    ├────────────────────────────────────────────────────────────────┘ └───┘   do not sleep
//!    └──────────────────────────────── drain ◀──────────────────────  Full
//! ```
//!
//! | state | items | the receiver | `push` returns |
//! |---|---|---|---|
//! | Idle | none | is awake and arms before it sleeps | `false` |
//! | Armed | none | sleeps or is about to | `true` |
//! | Full | some | is awake, or is being woken by the push that left Armed | `false` |
//!
//! Rules:
//! 1. The state is Full exactly when there are items. Both change together, under the lock.
//! 2. Only the receiver moves between Idle and Armed, and it needs no lock for that. All states are one atomic, so either
//!    `arm` comes first and the push finds Armed, or the push comes first and `arm` finds Full. Hence no wake-up is lost.
//! 3. Only one push leaves Armed, hence one wake-up per sleep.
//!
//! The receiver's loop:
//!
//! ```text
//! loop { drain; run what is ready; if arm { sleep (epoll_wait) ; disarm } }
//! ```
//!
//! Not guaranteed: the order of items from different threads; that a receiver that was woken finds an item (it may have
//! drained it before the wake-up arrives). The child of a fork must forget its copy (`mem::forget`) and make a new one: the
//! lock may be held by a thread that the child does not have.

#![forbid(unsafe_code)]

mod address_queue;
pub mod lines;

pub use address_queue::AddressQueue;

#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU8, Ordering},
};

#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU8, Ordering},
};

const IDLE: u8 = 0;
const ARMED: u8 = 1;
const FULL: u8 = 2;

/// A queue from any thread to one receiver. See the crate's documentation.
pub struct Inbox<T> {
    state: AtomicU8,
    items: Mutex<Vec<T>>,
}

impl<T> Default for Inbox<T> {
    fn default() -> Self {
        Self { state: AtomicU8::new(IDLE), items: Mutex::new(Vec::new()) }
    }
}

impl<T: Send> Inbox<T> {
    /// An empty inbox whose receiver is awake.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item, from any thread. Returns `true` if the receiver sleeps or is about to: the caller must wake it, since no
    /// other push will.
    #[must_use = "the receiver sleeps on if it is not woken"]
    pub fn push(&self, item: T) -> bool {
        let mut items = self.lock();
        items.push(item);
        self.state.swap(FULL, Ordering::AcqRel) == ARMED
    }

    /// Moves all items to the end of `out`, those of one thread in the order it pushed them. Only the receiver may call
    /// this. Takes no lock when the inbox is empty.
    pub fn drain(&self, out: &mut Vec<T>) {
        if self.state.load(Ordering::Acquire) != FULL {
            return;
        }
        let mut items = self.lock();
        if out.is_empty() {
            // Both vectors keep their capacity, so nothing is allocated in the long run.
            std::mem::swap(&mut *items, out);
        } else {
            out.append(&mut items);
        }
        self.state.store(IDLE, Ordering::Release);
    }

    /// Announces that the receiver is about to sleep. Returns `false` if there are items, which it must drain instead. After
    /// `true` the next push returns `true`.
    #[must_use = "the receiver may only sleep after `true`"]
    pub fn arm(&self) -> bool {
        self.change(IDLE, ARMED) != FULL
    }

    /// Announces that the receiver is awake. Without this call nothing is lost, but the next push asks for a wake-up that is
    /// not needed.
    pub fn disarm(&self) {
        self.change(ARMED, IDLE);
    }

    /// Changes the state if it is `from`. Returns the state before.
    fn change(&self, from: u8, to: u8) -> u8 {
        let changed = self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire);
        changed.unwrap_or_else(|other| other)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        // Nothing under the lock leaves the vector half changed.
        self.items.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn drained(inbox: &Inbox<u32>) -> Vec<u32> {
        let mut out = Vec::new();
        inbox.drain(&mut out);
        out
    }

    #[test]
    fn every_call_in_every_state() {
        let idle = Inbox::new;
        let armed = || {
            let inbox = Inbox::new();
            assert!(inbox.arm());
            inbox
        };
        let full = || {
            let inbox = Inbox::new();
            assert!(!inbox.push(1));
            inbox
        };
        for (name, make, push, arm, drain) in [
            ("idle", &idle as &dyn Fn() -> Inbox<u32>, false, true, vec![]),
            ("armed", &armed, true, true, vec![]),
            ("full", &full, false, false, vec![1]),
        ] {
            assert_eq!(make().push(2), push, "push when {name}");
            assert_eq!(make().arm(), arm, "arm when {name}");
            assert_eq!(drained(&make()), drain, "drain when {name}");
            let inbox = make();
            inbox.disarm();
            assert!(!inbox.push(2), "disarm when {name}");
            assert_eq!(drained(&inbox), [drain, vec![2]].concat());
            assert!(inbox.arm(), "drained when {name}");
        }
    }

    #[test]
    fn one_wake_up_per_sleep() {
        let inbox = Inbox::new();
        assert!(inbox.arm());
        assert!(inbox.push(1));
        assert!(!inbox.push(2));
        inbox.disarm();
        assert!(!inbox.push(3));
        assert!(!inbox.arm());
        assert_eq!(drained(&inbox), [1, 2, 3]);
        assert!(inbox.arm());
        assert!(inbox.push(4));
    }

    #[test]
    fn drain_appends() {
        let inbox = Inbox::new();
        let mut out = vec![7];
        assert!(!inbox.push(8));
        inbox.drain(&mut out);
        assert_eq!(out, [7, 8]);
    }

    #[test]
    fn threads_push_while_the_receiver_sleeps_and_wakes() {
        const EACH: u32 = if cfg!(miri) { 20 } else { 5_000 };
        let inbox = Inbox::new();
        let receiver = std::thread::current();
        let mut out = Vec::new();
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (inbox, receiver) = (&inbox, receiver.clone());
                scope.spawn(move || {
                    for n in 0..EACH {
                        if inbox.push(thread * EACH + n) {
                            receiver.unpark();
                        }
                    }
                });
            }
            while out.len() < 3 * EACH as usize {
                inbox.drain(&mut out);
                // A lost wake-up hangs here.
                if out.len() < 3 * EACH as usize && inbox.arm() {
                    std::thread::park();
                    inbox.disarm();
                }
            }
        });
        for thread in 0..3 {
            let of_one = out.iter().filter(|&&n| n / EACH == thread);
            assert!(of_one.copied().eq(thread * EACH..(thread + 1) * EACH));
        }
    }
}
