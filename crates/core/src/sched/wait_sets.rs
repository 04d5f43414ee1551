//! Wait sets: concurrent waits of one coroutine, for awaitables and for what the host signals, each with a key.
//!
//! A wait is registered once and ends when its key is signalled; the coroutine that serves the set takes the keys one by
//! one. So its cost depends on how many waits end, not on how many there are. Keys are not reused: one that is signalled
//! after its wait was left matches no wait.

use super::coroutine::Awaited;
use super::{Core, CoroutineId, Target, Ticket, WaitSetId, Waiter, Wakeup};
use std::collections::{HashMap, VecDeque};

#[derive(Default)]
pub(super) struct WaitSet {
    signalled: VecDeque<u32>,
    /// The park of the coroutine that serves the set, while it waits for a key.
    parked: Option<Ticket>,
    /// A coroutine serves the set: failures of what it waits for will be received.
    served: bool,
    /// A fork has dropped the registrations.
    lost: bool,
    /// What is watched, by key, if the coroutine that serves the set needs each of these.
    watched: Option<HashMap<u32, Target>>,
}

/// The key of no wait.
const NO_WAIT: u32 = 0;

impl<X> Core<X> {
    /// Adds a wait set.
    pub fn add_wait_set(&mut self) -> WaitSetId {
        WaitSetId(self.wait_sets.insert(WaitSet::default()))
    }

    /// Adds a wait set for a coroutine that is not done before all its waits are over.
    pub fn add_wait_set_for_all(&mut self) -> WaitSetId {
        WaitSetId(self.wait_sets.insert(WaitSet { watched: Some(HashMap::new()), ..WaitSet::default() }))
    }

    /// Returns the targets that a set of [`Core::add_wait_set_for_all`] watches.
    pub(super) fn watched_by_set(&self, id: WaitSetId) -> Vec<Target> {
        let watched = self.wait_sets.get(id.0).and_then(|set| set.watched.as_ref());
        watched.map_or_else(Vec::new, |watched| watched.values().copied().collect())
    }

    /// Drops a wait set. Waits that are left in it end unseen.
    pub fn drop_wait_set(&mut self, id: WaitSetId) {
        if let Some(set) = self.wait_sets.get_mut(id.0) {
            *set = WaitSet::default();
            self.wait_sets.vacate(id.0);
        }
    }

    /// Returns a key for a new wait, in any set. Keys begin again after 2^32: one of an older wait (`is_used`) is passed over.
    pub fn next_wait_key(&mut self, is_used: impl Fn(u32) -> bool) -> u32 {
        loop {
            self.next_wait_key = self.next_wait_key.wrapping_add(1);
            if self.next_wait_key != NO_WAIT && !is_used(self.next_wait_key) {
                return self.next_wait_key;
            }
        }
    }

    /// Wakes the coroutine that waits for a key, or that does so next, without the key of a wait.
    pub fn wake_wait_set(&mut self, id: WaitSetId) {
        if self.wait_sets.get(id.0).is_some_and(|set| set.signalled.back() != Some(&NO_WAIT)) {
            self.signal(id, NO_WAIT);
        }
    }

    /// Signals the key when `target` completes. The caller has seen that it is not complete.
    pub fn watch_key(&mut self, id: WaitSetId, target: Target, key: u32) {
        self.add_waiter(target, Waiter::Member(id, key));
        if let Some(watched) = self.wait_sets.get_mut(id.0).and_then(|set| set.watched.as_mut()) {
            watched.insert(key, target);
        }
    }

    /// Takes back a [`Core::watch_key`]. Returns `false` if the key was signalled, or was never registered.
    pub fn unwatch_key(&mut self, id: WaitSetId, target: Target, key: u32) -> bool {
        if let Some(watched) = self.wait_sets.get_mut(id.0).and_then(|set| set.watched.as_mut()) {
            watched.remove(&key);
        }
        self.remove_waiter(target, Waiter::Member(id, key))
    }

    /// Uses the ticket, or signals the key.
    #[inline]
    pub fn wake_up(&mut self, wakeup: Wakeup) {
        match wakeup {
            Wakeup::Park(ticket) => {
                self.wake(ticket);
            }
            Wakeup::Wait { set, key } => {
                // If the entry is another set's, that one does not know the key.
                if self.wait_sets.at_mut(set).is_some() {
                    self.signal(WaitSetId(self.wait_sets.key(set)), key);
                }
            }
        }
    }

    /// Signals a key, and wakes the coroutine that waits for one.
    pub fn signal(&mut self, id: WaitSetId, key: u32) {
        let Some(set) = self.wait_sets.get_mut(id.0) else { return };
        set.signalled.push_back(key);
        set.watched.as_mut().and_then(|watched| watched.remove(&key));
        if let Some(ticket) = set.parked.take() {
            self.wake(ticket);
        }
    }

    /// Takes the key that was signalled first.
    pub fn next_signalled(&mut self, id: WaitSetId) -> Option<u32> {
        self.wait_sets.get_mut(id.0)?.signalled.pop_front()
    }

    /// Declares whether a coroutine takes the keys of this set. While none does, its waits do not count as awaiting.
    pub fn serve(&mut self, id: WaitSetId, served: bool) {
        if let Some(set) = self.wait_sets.get_mut(id.0) {
            set.served = served;
        }
    }

    pub(super) fn is_served(&self, id: WaitSetId) -> bool {
        self.wait_sets.get(id.0).is_some_and(|set| set.served)
    }

    /// Begins a wait of the running coroutine ([`Core::begin_wait`]) that the next key ends. Returns `false`, and begins none,
    /// if a key was signalled or registrations were lost.
    pub fn begin_wait_for_key(&mut self, id: WaitSetId) -> bool {
        let ready = |set: &WaitSet| !set.signalled.is_empty() || set.lost;
        if self.wait_sets.get(id.0).is_none_or(ready) {
            return false;
        }
        let ticket = self.begin_wait();
        if let Some(set) = self.wait_sets.get_mut(id.0) {
            set.parked = Some(ticket);
        }
        true
    }

    /// Ends a [`Core::begin_wait_for_key`].
    pub fn end_wait_for_key(&mut self, id: WaitSetId) {
        if let Some(set) = self.wait_sets.get_mut(id.0) {
            set.parked = None;
        }
    }

    /// Returns `true`, once, if a fork has dropped the registrations of this set: they have to be made again.
    pub fn take_lost(&mut self, id: WaitSetId) -> bool {
        self.wait_sets.get_mut(id.0).is_some_and(|set| std::mem::take(&mut set.lost))
    }

    /// In the child of a fork: forgets keys and marks all registrations as lost.
    pub(super) fn lose_wait_sets(&mut self) {
        for (_, set) in self.wait_sets.iter_mut() {
            set.signalled.clear();
            set.watched.as_mut().map(HashMap::clear);
            set.lost = true;
        }
    }

    /// Takes back that a failed coroutine counts as awaited because of a wait that was left before it took the outcome.
    /// Returns `true` if the failure is to be routed again.
    pub fn unmark_awaited(&mut self, co: CoroutineId) -> bool {
        let coroutine = self.coroutine_mut(co);
        let failed = coroutine.state == super::State::Done && coroutine.outcome == super::Outcome::Failed;
        let unmarks = failed && coroutine.is_taken();
        if unmarks {
            coroutine.awaited = Awaited::Started;
        }
        unmarks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sched::{Lifetime, Order};

    #[test]
    fn keys_in_use_are_not_given_again() {
        let mut core = Core::<()>::new(0, Order::Fifo, Lifetime::Scope);
        let first = core.next_wait_key(|_| false);
        core.next_wait_key = u32::MAX;
        assert_eq!(core.next_wait_key(|key| key == first), first + 1);
    }

    #[test]
    fn a_wake_up_without_a_wait_is_kept_once() {
        let mut core = Core::<()>::new(0, Order::Fifo, Lifetime::Scope);
        let set = core.add_wait_set();
        core.wake_wait_set(set);
        core.wake_wait_set(set);
        assert!(!core.begin_wait_for_key(set));
        assert_eq!(core.next_signalled(set), Some(NO_WAIT));
        assert_eq!(core.next_signalled(set), None);
        assert!(core.begin_wait_for_key(set));
    }
}
