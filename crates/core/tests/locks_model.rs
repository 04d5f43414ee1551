//! The table of locks under random operations answers as a plain map does.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::locks::Locks;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    Hold(usize, u32),
    EndOnlyUse(usize, u32),
    /// Removes one holder in the long way.
    Release(usize, u32),
    Wait(usize, u8),
    /// The first that waits becomes a holder.
    Grant(usize, u32),
    Clear,
}

/// Few keys and holders, so that they meet: addresses, small numbers, and pairs that have one place.
fn key() -> impl Strategy<Value = usize> {
    let shared = same_place();
    prop_oneof![0..6_usize, (0..6_usize).prop_map(|n| 0x7fff_1000 + 16 * n), prop::sample::select(shared)]
}

/// Keys that the table keeps in one place: found by what it answers for a key without a lock.
fn same_place() -> Vec<usize> {
    let mut locks = Locks::<u32, u8>::new();
    locks.hold(0x1000, 1);
    locks.get_mut(0x1000);
    (1..200_000).map(|n| 0x1000 + 8 * n).filter(|key| locks.may_have(*key)).take(4).chain([0x1000]).collect()
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (key(), 0..3_u32).prop_map(|(key, holder)| Step::Hold(key, holder)),
        4 => (key(), 0..3_u32).prop_map(|(key, holder)| Step::EndOnlyUse(key, holder)),
        4 => (key(), 0..3_u32).prop_map(|(key, holder)| Step::Release(key, holder)),
        2 => (key(), any::<u8>()).prop_map(|(key, waiter)| Step::Wait(key, waiter)),
        2 => (key(), 0..3_u32).prop_map(|(key, holder)| Step::Grant(key, holder)),
        1 => Just(Step::Clear),
    ]
}

#[test]
fn there_are_keys_with_one_place() {
    assert_eq!(same_place().len(), 5);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 512,
        ..ProptestConfig::default()
    })]

    #[test]
    fn answers_as_a_map(steps in prop::collection::vec(step(), 1..120)) {
        let mut locks = Locks::<u32, u8>::new();
        let mut model = BTreeMap::<usize, (Vec<u32>, Vec<u8>)>::new();
        let mut seen = Vec::new();
        for step in steps {
            match step {
                Step::Hold(key, holder) => {
                    locks.hold(key, holder);
                    model.entry(key).or_default().0.push(holder);
                    seen.push(key);
                }
                Step::EndOnlyUse(key, holder) => {
                    // It may decline: the lock is where it was moved to as it had other users.
                    if locks.end_only_use(key, |one| *one == holder) {
                        prop_assert_eq!(model.remove(&key), Some((vec![holder], vec![])));
                    }
                }
                Step::Release(key, holder) => {
                    if let Some(lock) = locks.get_mut(key) {
                        let at = lock.holders.iter().position(|one| *one == holder);
                        let (holders, _) = model.get_mut(&key).expect("a lock");
                        prop_assert_eq!(at, holders.iter().position(|one| *one == holder));
                        if let Some(at) = at {
                            lock.holders.remove(at);
                            holders.remove(at);
                        }
                    }
                    locks.tidy(key);
                    model.retain(|_, (holders, queue)| !holders.is_empty() || !queue.is_empty());
                }
                Step::Wait(key, waiter) => {
                    if let Some(lock) = locks.get_mut(key) {
                        lock.queue.push_back(waiter);
                        model.get_mut(&key).expect("a lock").1.push(waiter);
                    }
                }
                Step::Grant(key, holder) => {
                    if let Some(lock) = locks.get_mut(key) {
                        let first = lock.queue.pop_front();
                        let (holders, queue) = model.get_mut(&key).expect("a lock");
                        prop_assert_eq!(first, queue.first().copied());
                        if first.is_some() {
                            queue.remove(0);
                            lock.holders.push(holder);
                            holders.push(holder);
                        }
                    }
                }
                Step::Clear => {
                    locks.clear();
                    model.clear();
                }
            }
            prop_assert_eq!(locks.is_empty(), model.is_empty());
            for key in &seen {
                let found = locks.users(*key).map(|users| (users.holders.to_vec(), users.waiters().copied().collect()));
                prop_assert_eq!(found.as_ref(), model.get(key));
                prop_assert!(locks.may_have(*key) || found.is_none());
            }
        }
    }

    #[test]
    fn a_lock_in_place_ends_in_place(keys in prop::collection::btree_set(key(), 1..8)) {
        let mut locks = Locks::<u32, u8>::new();
        for key in keys {
            locks.hold(key, 7);
            prop_assert!(!locks.end_only_use(key, |one| *one == 8), "another's lock");
            prop_assert!(locks.end_only_use(key, |one| *one == 7));
            prop_assert!(!locks.may_have(key) && locks.is_empty());
        }
    }
}
