//! Channels under random operations, cancellations and orders of running: nothing is lost, delivered twice or overtaken.
//!
//! The waiters are numbers. One that is woken runs at some later step; until then it may be cancelled, and then it returns what it was
//! handed. Some wait for two channels at once, with one waker that works once.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::channel::{Channel, Ended, Received, Refused};
use spindle_core::wait_list::Waiting;
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
enum Step {
    Send(usize),
    TrySend(usize),
    Receive(usize),
    TryReceive(usize),
    /// Receives from either channel.
    Select,
    /// Cancels the waiter at this place of those that exist, in whatever state.
    Cancel(usize),
    /// Lets a waiter run that was woken.
    Run(usize),
    Close(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let channel = 0..2_usize;
    prop_oneof![
        6 => channel.clone().prop_map(Step::Send),
        2 => channel.clone().prop_map(Step::TrySend),
        6 => channel.clone().prop_map(Step::Receive),
        2 => channel.clone().prop_map(Step::TryReceive),
        3 => Just(Step::Select),
        3 => any::<usize>().prop_map(Step::Cancel),
        6 => any::<usize>().prop_map(Step::Run),
        1 => channel.prop_map(Step::Close),
    ]
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Parked,
    Woken,
    /// Cancelled while it was parked: nothing can wake it.
    Cancelled,
    /// Cancelled after it was woken.
    WokenAndCancelled,
}

struct Waiter {
    id: u32,
    sends: bool,
    places: Vec<(usize, Waiting)>,
}

struct World {
    channels: Vec<Channel<u32, u32>>,
    states: Vec<State>,
    waiters: Vec<Waiter>,
    next: u32,
    /// Of each channel: values that are in it or wait, those that were received, and those that came back to their senders.
    inside: Vec<BTreeSet<u32>>,
    received: Vec<Vec<u32>>,
    closed: Vec<bool>,
    /// Receivers that were cancelled with a value: it may be received later than values after it.
    returned: BTreeSet<u32>,
}

impl World {
    fn new(capacities: &[usize]) -> World {
        World {
            channels: capacities.iter().map(|capacity| Channel::new(*capacity)).collect(),
            states: Vec::new(),
            waiters: Vec::new(),
            next: 0,
            inside: vec![BTreeSet::new(); capacities.len()],
            received: vec![Vec::new(); capacities.len()],
            closed: vec![false; capacities.len()],
            returned: BTreeSet::new(),
        }
    }

    fn waiter(&mut self) -> u32 {
        self.states.push(State::Parked);
        self.states.len() as u32 - 1
    }

    /// Calls `with` with a channel and what wakes waiters.
    fn on<R>(
        &mut self,
        channel: usize,
        with: impl FnOnce(&mut Channel<u32, u32>, &mut dyn FnMut(u32) -> bool) -> R,
    ) -> R {
        let states = &mut self.states;
        let mut wake = |id: u32| {
            let parked = states[id as usize] == State::Parked;
            if parked {
                states[id as usize] = State::Woken;
            }
            parked
        };
        with(&mut self.channels[channel], &mut wake)
    }

    fn take(&mut self, channel: usize, value: u32) {
        assert!(self.inside[channel].remove(&value), "{value} is received twice, or was never sent");
        self.received[channel].push(value);
    }

    fn try_receive(&mut self, channel: usize) -> bool {
        match self.on(channel, |channel, wake| channel.try_receive(wake)) {
            Received::Value(value) => self.take(channel, value),
            Received::Closed => assert!(self.closed[channel]),
            Received::Empty => {
                assert!(!self.closed[channel]);
                return false;
            }
        }
        true
    }

    fn try_send(&mut self, channel: usize) -> Option<u32> {
        let value = self.next;
        self.next += 1;
        self.inside[channel].insert(value);
        match self.on(channel, |channel, wake| channel.try_send(value, wake)) {
            Ok(()) => None,
            Err((back, why)) => {
                assert_eq!(back, value);
                assert_eq!(why == Refused::Closed, self.closed[channel]);
                self.inside[channel].remove(&value);
                (why == Refused::Full).then_some(value)
            }
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::TrySend(channel) => drop(self.try_send(channel)),
            Step::TryReceive(channel) => drop(self.try_receive(channel)),
            Step::Send(channel) => {
                let Some(value) = self.try_send(channel) else { return };
                let id = self.waiter();
                self.inside[channel].insert(value);
                let place = self.channels[channel].wait_to_send(value, id, false);
                self.waiters.push(Waiter { id, sends: true, places: vec![(channel, place)] });
            }
            Step::Receive(channel) => {
                if !self.try_receive(channel) {
                    let id = self.waiter();
                    let place = self.channels[channel].wait_to_receive(id, false);
                    self.waiters.push(Waiter { id, sends: false, places: vec![(channel, place)] });
                }
            }
            Step::Select => {
                if !self.try_receive(0) && !self.try_receive(1) {
                    let id = self.waiter();
                    let place =
                        |channel: usize, this: &mut World| (channel, this.channels[channel].wait_to_receive(id, false));
                    let places = vec![place(0, self), place(1, self)];
                    self.waiters.push(Waiter { id, sends: false, places });
                }
            }
            Step::Cancel(at) => {
                let Some(at) = at.checked_rem(self.waiters.len()) else { return };
                let waiter = &self.waiters[at];
                let state = &mut self.states[waiter.id as usize];
                *state = match *state {
                    State::Parked => State::Cancelled,
                    State::Woken if !waiter.sends => State::WokenAndCancelled, // a sender's wake-up is kept
                    state => state,
                };
            }
            Step::Run(at) => {
                let ready: Vec<usize> = (0..self.waiters.len())
                    .filter(|at| self.states[self.waiters[*at].id as usize] != State::Parked)
                    .collect();
                let Some(at) = at.checked_rem(ready.len()) else { return };
                let waiter = self.waiters.swap_remove(ready[at]);
                self.run(&waiter);
            }
            Step::Close(channel) => {
                let first = self.on(channel, |channel, wake| channel.close(wake));
                assert_eq!(first, !self.closed[channel]);
                self.closed[channel] = true;
            }
        }
    }

    fn run(&mut self, waiter: &Waiter) {
        let state = self.states[waiter.id as usize];
        let mut served = 0;
        for (channel, place) in &waiter.places {
            let ended = match waiter.sends {
                true => self.channels[*channel].end_send(*place),
                false => self.channels[*channel].end_receive(*place),
            };
            match ended {
                Ended::Received(value, number) => {
                    served += 1;
                    assert_ne!(state, State::Cancelled, "it was not woken");
                    if state == State::WokenAndCancelled {
                        self.returned.insert(value);
                        self.on(*channel, |channel, wake| channel.give_back(value, number, wake));
                    } else {
                        self.take(*channel, value);
                    }
                }
                Ended::Sent => served += 1,
                Ended::Closed(value) => {
                    served += 1;
                    assert!(self.closed[*channel]);
                    value.iter().for_each(|value| assert!(self.inside[*channel].remove(value)));
                }
                Ended::Pending(value) => {
                    value.iter().for_each(|value| assert!(self.inside[*channel].remove(value)));
                }
            }
        }
        assert_eq!(served, usize::from(state != State::Cancelled), "one operation is carried out, or none");
        self.states[waiter.id as usize] = State::Cancelled; // it is woken no more
    }

    fn check(&self) {
        for (channel, inside) in self.channels.iter().zip(&self.inside) {
            let held: BTreeSet<u32> = channel.values().copied().collect();
            assert_eq!(&held, inside, "what is in the channel");
            let can_wait = channel.receivers() > 0 && channel.is_closed();
            assert!(!can_wait, "nobody waits for a closed channel");
        }
        for waiter in self.waiters.iter().filter(|waiter| !waiter.sends) {
            let parked = self.states[waiter.id as usize] == State::Parked;
            let missed = waiter.places.iter().any(|(channel, _)| !self.channels[*channel].is_empty());
            assert!(!(parked && missed), "a receiver waits for a channel that has a value");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 512,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_is_lost_or_delivered_twice(
        capacities in prop::collection::vec(0..4_usize, 2),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut world = World::new(&capacities);
        for step in &steps {
            world.step(step);
            world.check();
        }
        // Everyone runs, and what is left can be received.
        while let Some(at) = world.waiters.iter().position(|waiter| world.states[waiter.id as usize] != State::Parked) {
            let waiter = world.waiters.swap_remove(at);
            world.run(&waiter);
            world.check();
        }
        for channel in 0..2 {
            while !world.channels[channel].is_empty() || world.channels[channel].senders() > 0 {
                prop_assert!(world.try_receive(channel));
                while let Some(at) = world.waiters.iter().position(|waiter| world.states[waiter.id as usize] == State::Woken) {
                    let waiter = world.waiters.swap_remove(at);
                    world.run(&waiter);
                }
            }
        }
    }

    #[test]
    fn values_keep_their_order(
        capacity in 0..4_usize,
        steps in prop::collection::vec(prop_oneof![
            3 => Just(Step::Send(0)),
            1 => Just(Step::TrySend(0)),
            3 => Just(Step::TryReceive(0)),
        ], 1..120),
    ) {
        let mut world = World::new(&[capacity, 0]);
        for step in &steps {
            world.step(step);
        }
        prop_assert!(world.received[0].is_sorted(), "{:?}", world.received[0]);
    }
}

/// Values that cancelled receivers return keep the order in which they were sent, whoever returns first.
#[test]
fn returned_values_are_sorted() {
    let mut channel = Channel::new(0);
    let places: Vec<_> = (0..3).map(|waiter| channel.wait_to_receive(waiter, false)).collect();
    for value in 10..13 {
        channel.try_send(value, |_| true).expect("a receiver waits");
    }
    for place in [places[1], places[2], places[0]] {
        let Ended::Received(value, number) = channel.end_receive(place) else { panic!("it was handed a value") };
        channel.give_back(value, number, |_: i32| true);
    }
    let all: Vec<_> = (0..3).map(|_| channel.try_receive(|_| true)).collect();
    assert_eq!(all, [Received::Value(10), Received::Value(11), Received::Value(12)]);
}

/// A waiter that cannot be woken is passed over, and learns it.
#[test]
fn one_that_cannot_be_woken_is_passed_over() {
    let mut channel = Channel::new(0);
    let (first, second) = (channel.wait_to_receive(1, false), channel.wait_to_receive(2, false));
    channel.try_send("value", |waiter| waiter != 1).expect("the second one waits");
    assert_eq!(channel.end_receive(first), Ended::Pending(None));
    assert_eq!(channel.end_receive(second), Ended::Received("value", 0));
}

/// One that waits again, because a signal has ended its wait, is served before those that came later.
#[test]
fn one_that_waits_again_keeps_its_turn() {
    let mut channel = Channel::new(0);
    let first = channel.wait_to_receive(1, false);
    let second = channel.wait_to_receive(2, false);
    assert_eq!(channel.end_receive(first), Ended::Pending(None));
    let first = channel.wait_to_receive(1, true);
    channel.try_send("value", |_| true).expect("both wait");
    assert_eq!(channel.end_receive(first), Ended::Received("value", 0));
    assert_eq!(channel.end_receive(second), Ended::Pending(None));
    let first = channel.wait_to_send("one", 1, false);
    let second = channel.wait_to_send("two", 2, false);
    assert_eq!(channel.end_send(first), Ended::Pending(Some("one")));
    channel.wait_to_send("one", 1, true);
    assert_eq!(channel.try_receive(|_| true), Received::Value("one"));
    assert_eq!(channel.end_send(second), Ended::Pending(Some("two")));
}
