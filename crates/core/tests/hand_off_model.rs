//! Things that go round through a channel, as those of a pool do, under random orders of running, failures and cancellations:
//! each is in exactly one place, there are never more than allowed, and who has waited longest is served.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::channel::{Channel, Ended, Received};
use spindle_core::wait_list::Waiting;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Acquire,
    /// Gives back the thing at this place of those that are lent; it may be broken, and is destroyed then.
    Release(usize, bool),
    /// One of those that may make a thing fails to.
    Fail,
    Make,
    Cancel(usize),
    Interrupt(usize),
    Run(usize),
    Close,
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<usize>;
    prop_oneof![
        60 => Just(Step::Acquire),
        50 => (at(), prop::bool::weighted(0.2)).prop_map(|(at, broken)| Step::Release(at, broken)),
        10 => Just(Step::Fail),
        40 => Just(Step::Make),
        25 => at().prop_map(Step::Cancel),
        8 => at().prop_map(Step::Interrupt),
        60 => at().prop_map(Step::Run),
        1 => Just(Step::Close),
    ]
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Parked,
    Woken,
    Interrupted,
    Cancelled,
    WokenAndCancelled,
}

/// A thing, or the right to make one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Place {
    Thing(u32),
    Vacant,
}

struct World {
    free: Channel<Place, usize>,
    most: usize,
    /// Things, and rights to make one that were given away.
    count: usize,
    states: Vec<State>,
    waiting: Vec<(usize, Waiting)>,
    /// Those that were woken, in that order.
    woken: Vec<usize>,
    making: usize,
    lent: Vec<u32>,
    destroyed: BTreeSet<u32>,
    next: u32,
}

impl World {
    fn new(most: usize) -> World {
        World {
            free: Channel::new(most),
            most,
            count: 0,
            states: Vec::new(),
            waiting: Vec::new(),
            woken: Vec::new(),
            making: 0,
            lent: Vec::new(),
            destroyed: BTreeSet::new(),
            next: 0,
        }
    }

    fn on<R>(&mut self, with: impl FnOnce(&mut Channel<Place, usize>, &mut dyn FnMut(usize) -> bool) -> R) -> R {
        let (states, woken) = (&mut self.states, &mut self.woken);
        let mut wake = |id: usize| {
            let parked = states[id] == State::Parked;
            if parked {
                states[id] = State::Woken;
                woken.push(id);
            }
            parked
        };
        with(&mut self.free, &mut wake)
    }

    fn take(&mut self) -> Option<Place> {
        match self.on(|free, wake| free.try_receive(wake)) {
            Received::Value(place) => Some(place),
            Received::Closed => None,
            Received::Empty if self.count < self.most => {
                self.count += 1;
                Some(Place::Vacant)
            }
            Received::Empty => None,
        }
    }

    fn use_place(&mut self, place: Place) {
        match place {
            Place::Thing(thing) => self.lent.push(thing),
            Place::Vacant => self.making += 1,
        }
    }

    fn destroy(&mut self, thing: u32) {
        assert!(self.destroyed.insert(thing), "{thing} is destroyed twice");
        self.one_less();
    }

    /// There is one thing less: one that waits may make another.
    fn one_less(&mut self) {
        let wanted = self.free.receivers() > 0 && !self.free.is_closed();
        if !wanted || self.on(|free, wake| free.try_send(Place::Vacant, wake)).is_err() {
            self.count -= 1;
        }
    }

    fn drain(&mut self) {
        while let Received::Value(place) = self.on(|free, wake| free.try_receive(wake)) {
            match place {
                Place::Thing(thing) => self.destroy(thing),
                Place::Vacant => self.count -= 1,
            }
        }
    }

    fn acquire(&mut self, id: usize, first: bool) {
        match self.take() {
            Some(place) => self.use_place(place),
            None if self.free.is_closed() => {}
            None => {
                self.states[id] = State::Parked;
                let waiting = self.free.wait_to_receive(id, first);
                self.waiting.push((id, waiting));
            }
        }
    }

    fn run(&mut self, at: usize) {
        let (id, waiting) = self.waiting.swap_remove(at);
        let state = self.states[id];
        let cancelled = matches!(state, State::Cancelled | State::WokenAndCancelled);
        self.states[id] = State::Cancelled; // it is woken no more
        match self.free.end_receive(waiting) {
            Ended::Received(place, _) if !cancelled => return self.use_place(place),
            Ended::Received(place, number) => {
                self.on(|free, wake| free.give_back(place, number, wake));
                if self.free.is_closed() {
                    self.drain();
                }
            }
            Ended::Closed(_) | Ended::Pending(..) | Ended::Sent => {}
        }
        if !cancelled {
            self.acquire(id, true);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Acquire => {
                let id = self.states.len();
                self.states.push(State::Cancelled);
                self.acquire(id, false);
            }
            Step::Release(at, broken) => {
                let Some(at) = at.checked_rem(self.lent.len()) else { return };
                let thing = self.lent.swap_remove(at);
                if broken || self.free.is_closed() {
                    self.destroy(thing);
                } else {
                    let kept = self.on(|free, wake| free.try_send(Place::Thing(thing), wake));
                    assert!(kept.is_ok(), "there is room for all things");
                }
            }
            Step::Make if self.making > 0 => {
                self.making -= 1;
                self.next += 1;
                self.lent.push(self.next);
            }
            Step::Fail if self.making > 0 => {
                self.making -= 1;
                self.one_less();
            }
            Step::Make | Step::Fail => {}
            Step::Cancel(at) => {
                let Some(at) = at.checked_rem(self.waiting.len()) else { return };
                let state = &mut self.states[self.waiting[at].0];
                *state = match *state {
                    State::Woken | State::WokenAndCancelled => State::WokenAndCancelled,
                    State::Parked | State::Interrupted | State::Cancelled => State::Cancelled,
                };
            }
            Step::Interrupt(at) => {
                let Some(at) = at.checked_rem(self.waiting.len()) else { return };
                let state = &mut self.states[self.waiting[at].0];
                if *state == State::Parked {
                    *state = State::Interrupted;
                }
            }
            Step::Run(at) => {
                let ready = self.ready();
                let Some(at) = at.checked_rem(ready.len()) else { return };
                self.run(ready[at]);
            }
            Step::Close => {
                self.on(|free, wake| free.close(wake));
                self.drain();
            }
        }
    }

    fn ready(&self) -> Vec<usize> {
        (0..self.waiting.len()).filter(|at| self.states[self.waiting[*at].0] != State::Parked).collect()
    }

    fn check(&mut self) {
        let free: Vec<Place> = self.free.values().copied().collect();
        assert_eq!(self.count, free.len() + self.making + self.lent.len(), "what is counted");
        assert!(self.count <= self.most, "{} of at most {}", self.count, self.most);
        let things: Vec<u32> = (free.iter().filter_map(|place| match place {
            Place::Thing(thing) => Some(*thing),
            Place::Vacant => None,
        }))
        .chain(self.lent.iter().copied())
        .collect();
        let unique: BTreeSet<u32> = things.iter().copied().collect();
        assert_eq!(unique.len(), things.len(), "a thing is in two places");
        assert!(unique.is_disjoint(&self.destroyed), "a destroyed thing is in use");
        assert_eq!(unique.len() + self.destroyed.len(), self.next as usize, "a thing is lost");
        let parked = self.waiting.iter().filter(|(id, _)| self.states[*id] == State::Parked).count();
        if parked > 0 {
            assert!(!self.free.is_closed(), "one waits for a closed pool");
            assert!(self.free.is_empty(), "one waits, and a thing is free");
            let cut = self.waiting.iter().any(|(id, _)| self.states[*id] != State::Parked);
            assert!(cut || self.count == self.most, "one waits, and might make a thing");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 384,
        ..ProptestConfig::default()
    })]

    #[test]
    fn each_thing_is_in_one_place(most in 1..4_usize, steps in prop::collection::vec(step(), 1..150)) {
        let mut world = World::new(most);
        for step in &steps {
            world.step(step);
            world.check();
        }
        // All that wait are served if what is lent is given back.
        for _ in 0..1000 {
            match (world.ready().first().copied(), world.making, world.lent.len()) {
                (Some(at), ..) => world.run(at),
                (None, 1.., _) => world.step(&Step::Make),
                (None, 0, 1..) => world.step(&Step::Release(0, false)),
                (None, 0, 0) => break,
            }
            world.check();
        }
        prop_assert!(world.waiting.is_empty(), "{} are left", world.waiting.len());
    }

    #[test]
    fn who_has_waited_longest_is_served(steps in prop::collection::vec(prop_oneof![
        3 => Just(Step::Acquire),
        2 => any::<usize>().prop_map(|at| Step::Release(at, false)),
        1 => any::<usize>().prop_map(|at| Step::Release(at, true)),
        2 => Just(Step::Make),
        1 => Just(Step::Fail),
    ], 1..150)) {
        let mut world = World::new(2);
        for step in &steps {
            world.step(step);
        }
        prop_assert!(world.woken.is_sorted(), "{:?}", world.woken);
    }
}
