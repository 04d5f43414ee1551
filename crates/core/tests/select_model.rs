//! Selects over several channels and events, under random operations, orders of running and cancellations: each value is in
//! exactly one place, and of each select at most one operation is carried out.
//!
//! The selects are those of `spindle-primitives`, without coroutines: an attempt in random order, then a wait for all
//! operations with one waker, which works once. What is woken runs at some later step, and may be cancelled until then.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::channel::{Channel, Ended, Received, Refused};
use spindle_core::wait_list::Waiting;
use std::collections::{BTreeMap, BTreeSet};

const CHANNELS: usize = 3;
const EVENTS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Receive(usize),
    Send(usize),
    /// Completes once, as an awaitable does.
    Event(usize),
}

#[derive(Clone, Debug)]
enum Step {
    /// Begins a select of these; the number is for the order of the attempt.
    Select(Vec<Kind>, usize),
    Complete(usize),
    Close(usize),
    /// Cancels the select at this place of those that exist, in whatever state.
    Cancel(usize),
    /// A signal: the wait ends without anything, and begins again.
    Interrupt(usize),
    /// Lets a select run that was woken or cancelled.
    Run(usize),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        3 => (0..CHANNELS).prop_map(Kind::Receive),
        3 => (0..CHANNELS).prop_map(Kind::Send),
        1 => (0..EVENTS).prop_map(Kind::Event),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (prop::collection::vec(kind(), 1..4), any::<usize>()).prop_map(|(kinds, at)| Step::Select(kinds, at)),
        1 => (0..EVENTS).prop_map(Step::Complete),
        1 => (0..CHANNELS).prop_map(Step::Close),
        4 => any::<usize>().prop_map(Step::Cancel),
        1 => any::<usize>().prop_map(Step::Interrupt),
        10 => any::<usize>().prop_map(Step::Run),
    ]
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Parked,
    Woken,
    Interrupted,
    /// It was not woken before: nothing can wake it.
    Cancelled,
    /// After it was woken.
    WokenAndCancelled,
}

struct Select {
    id: usize,
    /// The operations; one that sends has its value, unless that is in the channel.
    operations: Vec<(Kind, Option<u32>, Option<Waiting>)>,
}

#[derive(Default)]
struct World {
    channels: Vec<Channel<u32, usize>>,
    closed: [bool; CHANNELS],
    complete: [bool; EVENTS],
    states: Vec<State>,
    selects: Vec<Select>,
    next: u32,
    /// The values that were sent and neither received nor given back, and their channels.
    inside: BTreeMap<u32, usize>,
    received: BTreeSet<u32>,
}

impl World {
    fn new(capacities: &[usize]) -> World {
        World { channels: capacities.iter().map(|capacity| Channel::new(*capacity)).collect(), ..World::default() }
    }

    fn on<R>(
        &mut self,
        channel: usize,
        with: impl FnOnce(&mut Channel<u32, usize>, &mut dyn FnMut(usize) -> bool) -> R,
    ) -> R {
        let states = &mut self.states;
        let mut wake = |id: usize| {
            let parked = states[id] == State::Parked;
            if parked {
                states[id] = State::Woken;
            }
            parked
        };
        with(&mut self.channels[channel], &mut wake)
    }

    fn receive(&mut self, channel: usize, value: u32) {
        assert_eq!(self.inside.remove(&value), Some(channel), "{value} is received twice, or was never sent");
        assert!(self.received.insert(value));
    }

    /// Carries out an operation if that needs no wait.
    fn attempt(&mut self, kind: Kind, value: &mut Option<u32>) -> bool {
        match kind {
            Kind::Event(event) => self.complete[event],
            Kind::Receive(channel) => match self.on(channel, |channel, wake| channel.try_receive(wake)) {
                Received::Value(value) => {
                    self.receive(channel, value);
                    true
                }
                Received::Closed => {
                    assert!(self.closed[channel]);
                    true
                }
                Received::Empty => false,
            },
            Kind::Send(channel) => {
                let sent = value.take().expect("it has its value");
                self.inside.insert(sent, channel);
                match self.on(channel, |channel, wake| channel.try_send(sent, wake)) {
                    Ok(()) => true,
                    Err((back, why)) => {
                        assert_eq!(back, sent);
                        self.inside.remove(&sent);
                        *value = Some(sent);
                        assert_eq!(why == Refused::Closed, self.closed[channel]);
                        why == Refused::Closed
                    }
                }
            }
        }
    }

    /// Tries, and waits. `first`: as one that has waited before.
    fn go_on(&mut self, mut select: Select, start: usize, first: bool) {
        let count = select.operations.len();
        for at in (start..start + count).map(|at| at % count) {
            let (kind, mut value, _) = select.operations[at];
            let done = self.attempt(kind, &mut value);
            select.operations[at].1 = value;
            if done {
                return self.states[select.id] = State::Cancelled; // it is woken no more
            }
        }
        self.states[select.id] = State::Parked;
        for (kind, value, waiting) in &mut select.operations {
            *waiting = match *kind {
                Kind::Receive(channel) => Some(self.channels[channel].wait_to_receive(select.id, first)),
                Kind::Send(channel) => {
                    let sent = value.take().expect("it has its value");
                    self.inside.insert(sent, channel);
                    Some(self.channels[channel].wait_to_send(sent, select.id, first))
                }
                Kind::Event(_) => None,
            };
        }
        self.selects.push(select);
    }

    fn run(&mut self, at: usize, start: usize) {
        let mut select = self.selects.swap_remove(at);
        let state = self.states[select.id];
        let cancelled = matches!(state, State::Cancelled | State::WokenAndCancelled);
        let mut served = None;
        for at in 0..select.operations.len() {
            let (kind, _, waiting) = &mut select.operations[at];
            let (kind, Some(waiting)) = (*kind, waiting.take()) else { continue };
            let (channel, ended) = match kind {
                Kind::Receive(channel) => (channel, self.channels[channel].end_receive(waiting)),
                Kind::Send(channel) => (channel, self.channels[channel].end_send(waiting)),
                Kind::Event(_) => unreachable!(),
            };
            let mut serve =
                |by: (usize, u64, Option<u32>)| assert!(served.replace(by).is_none(), "two were carried out");
            match ended {
                Ended::Received(value, number) => serve((channel, number, Some(value))),
                Ended::Sent => serve((channel, 0, None)),
                Ended::Closed(value) | Ended::Pending(value) => {
                    if let Some(value) = value {
                        assert_eq!(self.inside.remove(&value), Some(channel), "{value} came back, and was not there");
                        select.operations[at].1 = Some(value);
                    }
                }
            }
        }
        if let Some((channel, number, value)) = served {
            assert!(matches!(state, State::Woken | State::WokenAndCancelled), "it was not woken");
            match value {
                Some(value) if cancelled => self.on(channel, |channel, wake| channel.give_back(value, number, wake)),
                Some(value) => self.receive(channel, value),
                None => {} // the value is the receiver's, which may not have run yet
            }
            self.states[select.id] = State::Cancelled;
            return;
        }
        if !cancelled {
            self.go_on(select, start, true);
        }
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Select(kinds, start) => {
                let id = self.states.len();
                self.states.push(State::Cancelled);
                let mut operations = Vec::new();
                for kind in kinds {
                    let value = matches!(kind, Kind::Send(_)).then(|| {
                        self.next += 1;
                        self.next
                    });
                    operations.push((*kind, value, None));
                }
                self.go_on(Select { id, operations }, start % kinds.len(), false);
            }
            Step::Complete(event) => {
                self.complete[*event] = true;
                for select in &self.selects {
                    let waits = select.operations.iter().any(|(kind, ..)| *kind == Kind::Event(*event));
                    if waits && self.states[select.id] == State::Parked {
                        self.states[select.id] = State::Woken;
                    }
                }
            }
            Step::Close(channel) => {
                self.on(*channel, |channel, wake| channel.close(wake));
                self.closed[*channel] = true;
            }
            Step::Cancel(at) => {
                let Some(at) = at.checked_rem(self.selects.len()) else { return };
                let state = &mut self.states[self.selects[at].id];
                *state = match *state {
                    State::Parked | State::Interrupted | State::Cancelled => State::Cancelled,
                    State::Woken | State::WokenAndCancelled => State::WokenAndCancelled,
                };
            }
            Step::Interrupt(at) => {
                let Some(at) = at.checked_rem(self.selects.len()) else { return };
                let state = &mut self.states[self.selects[at].id];
                if *state == State::Parked {
                    *state = State::Interrupted;
                }
            }
            Step::Run(at) => {
                let ready = self.ready();
                let Some(at) = at.checked_rem(ready.len()) else { return };
                self.run(ready[at], at % self.selects[ready[at]].operations.len());
            }
        }
    }

    fn ready(&self) -> Vec<usize> {
        (0..self.selects.len()).filter(|at| self.states[self.selects[*at].id] != State::Parked).collect()
    }

    fn check(&self) {
        let held: BTreeMap<u32, usize> = (self.channels.iter().enumerate())
            .flat_map(|(at, channel)| channel.values().map(move |value| (*value, at)))
            .collect();
        assert_eq!(held, self.inside, "what is in the channels");
        for select in self.selects.iter().filter(|select| self.states[select.id] == State::Parked) {
            for (kind, ..) in &select.operations {
                let missed = match *kind {
                    Kind::Receive(channel) => !self.channels[channel].is_empty() || self.closed[channel],
                    Kind::Send(channel) => self.closed[channel] || !self.channels[channel].is_full(),
                    Kind::Event(event) => self.complete[event],
                };
                assert!(!missed, "one waits for what could be done: {kind:?}");
            }
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
    fn each_value_is_in_one_place(
        capacities in prop::collection::vec(0..3_usize, CHANNELS),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        let mut world = World::new(&capacities);
        for step in &steps {
            world.step(step);
            world.check();
        }
        // All run to their ends; then no two that wait could meet.
        while let Some(at) = world.ready().first().copied() {
            world.run(at, 0);
            world.check();
        }
        let parked = |wanted: fn(usize) -> Kind, channel: usize| {
            let of = |select: &&Select| select.operations.iter().any(|(kind, ..)| *kind == wanted(channel));
            world.selects.iter().filter(of).map(|select| select.id).collect::<BTreeSet<_>>()
        };
        for channel in 0..CHANNELS {
            let (receive, send) = (parked(Kind::Receive, channel), parked(Kind::Send, channel));
            let meet = receive.iter().any(|one| send.iter().any(|other| one != other));
            prop_assert!(!meet, "two selects wait for each other at channel {channel}");
        }
    }
}
