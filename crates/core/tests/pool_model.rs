//! Pools under random operations and cancellations: no place is lost or made, no item is lent twice, and waiters are served in
//! order.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::pool::{Place, Pool, Taken};
use spindle_core::wait_list::Waiting;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Acquire,
    /// Gives the used item at this index back.
    Release(usize),
    /// Destroys the used item at this index.
    Destroy(usize),
    /// Cancels the waiter at this index, which runs at once.
    Cancel(usize),
    /// Ends the wait of this one by something else, so that it cannot be woken and is passed over; it tries again at its turn.
    Disturb(usize),
    /// Lets the waiter at this index run, if it was woken. `true`: the factory fails, if it needs an item.
    Run(usize, bool),
    /// Destroys the item that was idle longest.
    Expire,
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => Just(Step::Acquire),
        30 => any::<usize>().prop_map(Step::Release),
        15 => any::<usize>().prop_map(Step::Destroy),
        15 => any::<usize>().prop_map(Step::Cancel),
        10 => any::<usize>().prop_map(Step::Disturb),
        50 => (any::<usize>(), any::<bool>()).prop_map(|(at, fails)| Step::Run(at, fails)),
        5 => Just(Step::Expire),
        1 => Just(Step::Close),
    ]
}

struct Waiter {
    id: usize,
    place: Waiting,
    woken: bool,
    disturbed: bool,
}

#[derive(Default)]
struct World {
    waiting: Vec<Waiter>,
    /// Items in use.
    used: Vec<u32>,
    made: u32,
    ids: usize,
    destroyed: BTreeSet<u32>,
}

impl World {
    fn take(&mut self, pool: &mut Pool<u32, usize>, place: Place<u32>, fails: bool, woken: &mut Vec<usize>) {
        match place {
            Place::Item(item) => self.used.push(item),
            Place::Vacant if fails => pool.vacate(wake(&self.waiting, woken)),
            Place::Vacant => {
                self.made += 1;
                self.used.push(self.made);
            }
        }
    }
}

fn wake<'a>(waiting: &'a [Waiter], woken: &'a mut Vec<usize>) -> impl FnMut(usize) -> bool + 'a {
    |id| {
        let can = waiting.iter().any(|waiter| waiter.id == id && !waiter.disturbed);
        if can {
            woken.push(id);
        }
        can
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 512,
        ..ProptestConfig::default()
    })]

    #[test]
    fn places_are_neither_lost_nor_made(limit in 1..4_usize, steps in prop::collection::vec(step(), 1..200)) {
        let mut pool: Pool<u32, usize> = Pool::new(limit);
        let mut world = World::default();
        for step in steps {
            let mut woken = Vec::new();
            let was_closed = pool.is_closed();
            match step {
                Step::Acquire => match pool.try_take() {
                    Taken::Place(place) => {
                        prop_assert!(
                            world.waiting.iter().all(|waiter| waiter.woken || waiter.disturbed),
                            "it has overtaken one that waits"
                        );
                        world.take(&mut pool, place, false, &mut woken);
                    }
                    Taken::Empty => {
                        let id = world.ids;
                        world.ids += 1;
                        let place = pool.wait(id, false);
                        world.waiting.push(Waiter { id, place, woken: false, disturbed: false });
                    }
                    Taken::Closed => prop_assert!(was_closed),
                },
                Step::Release(at) => {
                    let Some(at) = at.checked_rem(world.used.len()) else { continue };
                    let item = world.used.swap_remove(at);
                    let put = pool.put(item, wake(&world.waiting, &mut woken));
                    prop_assert_eq!(put.is_err(), was_closed);
                    if let Err(item) = put {
                        world.destroyed.insert(item);
                        pool.vacate(wake(&world.waiting, &mut woken));
                    }
                }
                Step::Destroy(at) => {
                    let Some(at) = at.checked_rem(world.used.len()) else { continue };
                    world.destroyed.insert(world.used.swap_remove(at));
                    pool.vacate(wake(&world.waiting, &mut woken));
                }
                Step::Cancel(at) => {
                    let Some(at) = at.checked_rem(world.waiting.len()) else { continue };
                    let waiter = world.waiting.remove(at);
                    if let Some(place) = pool.end(waiter.place) {
                        prop_assert!(waiter.woken);
                        if let Err(item) = pool.give_back(place, wake(&world.waiting, &mut woken)) {
                            prop_assert!(was_closed);
                            world.destroyed.insert(item);
                            pool.vacate(wake(&world.waiting, &mut woken));
                        }
                    }
                }
                Step::Disturb(at) => {
                    let Some(at) = at.checked_rem(world.waiting.len()) else { continue };
                    let waiter = &mut world.waiting[at];
                    waiter.disturbed |= !waiter.woken;
                }
                Step::Run(at, fails) => {
                    let ready: Vec<usize> = (0..world.waiting.len())
                        .filter(|at| world.waiting[*at].woken || world.waiting[*at].disturbed)
                        .collect();
                    let Some(at) = at.checked_rem(ready.len()) else { continue };
                    let waiter = world.waiting.remove(ready[at]);
                    match pool.end(waiter.place) {
                        Some(place) => {
                            prop_assert!(waiter.woken);
                            world.take(&mut pool, place, fails, &mut woken);
                        }
                        None => {
                            prop_assert!(waiter.disturbed || was_closed);
                            match pool.try_take() {
                                Taken::Place(place) => world.take(&mut pool, place, fails, &mut woken),
                                Taken::Closed => prop_assert!(was_closed),
                                Taken::Empty => {
                                    let place = pool.wait(waiter.id, true);
                                    let again = Waiter { place, woken: false, disturbed: false, ..waiter };
                                    world.waiting.insert(0, again);
                                }
                            }
                        }
                    }
                }
                Step::Expire => {
                    if let Some(item) = pool.take_oldest() {
                        world.destroyed.insert(item);
                        pool.vacate(wake(&world.waiting, &mut woken));
                    }
                }
                Step::Close => {
                    prop_assert_eq!(pool.close(wake(&world.waiting, &mut woken)), !was_closed);
                    while let Some(item) = pool.take_oldest() {
                        world.destroyed.insert(item);
                        pool.vacate(|_| panic!("nobody waits for a closed pool"));
                    }
                    let waits = |waiter: &Waiter| !waiter.woken && !waiter.disturbed && !woken.contains(&waiter.id);
                    prop_assert!(!world.waiting.iter().any(waits), "one waits for a closed pool");
                }
            }
            for id in woken {
                let queue = world.waiting.iter_mut().find(|waiter| !waiter.woken && !waiter.disturbed);
                let Some(first) = queue else { panic!("one was woken who does not wait") };
                prop_assert_eq!(first.id, id, "the one that has waited longest is the next");
                first.woken = true;
            }
            let held: Vec<u32> = pool.items().copied().chain(world.used.iter().copied()).collect();
            let distinct: BTreeSet<u32> = held.iter().copied().collect();
            prop_assert_eq!(held.len(), distinct.len(), "an item is in two places");
            prop_assert!(distinct.is_disjoint(&world.destroyed), "a destroyed item is in use");
            prop_assert_eq!(distinct.len() + world.destroyed.len(), world.made as usize, "an item is lost");
            prop_assert!(pool.count() <= limit);
            prop_assert!(held.len() <= pool.count());
            let waits = world.waiting.iter().any(|waiter| !waiter.woken && !waiter.disturbed);
            prop_assert!(!waits || pool.idle() == 0 && pool.count() == limit, "one waits for a place that is free");
            if world.waiting.is_empty() {
                prop_assert_eq!(pool.count(), held.len(), "a place is lost");
            }
        }
    }
}
