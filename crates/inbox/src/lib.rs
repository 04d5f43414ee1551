//! The one cross-thread part: what worker threads hand to the thread that runs the coroutines.
//!
//! Many threads push, one thread (the receiver) drains, and it is woken once per sleep. The inbox
//! does not wake anybody itself: [`Inbox::push`] tells its caller when to (in the reactor: write
//! the eventfd that the receiver polls).
//!
//! # States
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
//! | state | items | the receiver | push answers |
//! |---|---|---|---|
//! | Idle | none | is awake and arms before it sleeps | `false` |
//! | Armed | none | sleeps or is about to | `true` |
//! | Full | some | is awake, or was told by whoever left Armed | `false` |
//!
//! Rules:
//! 1. Full exactly when there are items. Both change together, under the lock.
//! 2. Only the receiver moves between Idle and Armed. It needs no lock for that: all states are one
//!    atomic, so either `arm` comes first and the push finds Armed, or the push comes first and
//!    `arm` finds Full. There is no third order, hence no lost wake-up.
//! 3. Out of Armed leads one push only, hence one wake-up per sleep.
//!
//! The receiver's turn:
//!
//! ```text
//! loop { drain; run what can run; if arm { sleep (epoll_wait) ; disarm } }
//! ```
//!
//! Not guaranteed: the order between items of different threads; that a woken receiver finds
//! something (it may have drained already when the wake-up arrives). After a fork the child must
//! forget its copy (`mem::forget`) and make a new one: the lock may be held by a thread that the
//! child does not have.

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

/// Items on their way from any thread to one receiver. See the crate's documentation.
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

    /// Adds an item; any thread may. `true`: the receiver sleeps or is about to, and the caller
    /// must wake it, for nobody else will.
    #[must_use = "the receiver sleeps on if it is not woken"]
    pub fn push(&self, item: T) -> bool {
        let mut items = self.lock();
        items.push(item);
        self.state.swap(FULL, Ordering::AcqRel) == ARMED
    }

    /// Moves all items to the end of `out`, those of one thread in the order it pushed them. Only
    /// the receiver may call this. Takes no lock when there is nothing.
    pub fn drain(&self, out: &mut Vec<T>) {
        if self.state.load(Ordering::Acquire) != FULL {
            return;
        }
        let mut items = self.lock();
        if out.is_empty() {
            // Both vectors keep their room: no allocation in the long run.
            std::mem::swap(&mut *items, out);
        } else {
            out.append(&mut items);
        }
        self.state.store(IDLE, Ordering::Release);
    }

    /// The receiver is about to sleep. `false`: something is there, drain instead. After `true`
    /// the next push answers `true`.
    #[must_use = "the receiver may only sleep after `true`"]
    pub fn arm(&self) -> bool {
        self.change(IDLE, ARMED) != FULL
    }

    /// The receiver is awake, for whatever reason. Without this call nothing is lost; the next push
    /// would ask for a needless wake-up.
    pub fn disarm(&self) {
        self.change(ARMED, IDLE);
    }

    /// From one state to another if it is in the first; answers with the state before.
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
