//! The timing wheel against the obvious thing: an ordered map of (deadline, sequence).

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::timers::{TimerId, Timers};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// So many nanoseconds after (or before) the present.
    Insert(i64),
    /// Exactly this deadline, wherever the clock is.
    InsertAt(u64),
    /// The deadline of the timer that was inserted so many insertions ago.
    InsertTwin(usize),
    /// The timer that was inserted so many insertions ago, alive or not.
    Cancel(usize),
    /// The clock goes on.
    Expire(u64),
    /// The clock goes on to the next deadline, or to one nanosecond before it.
    ExpireAtNext { early: bool },
}

/// Numbers of every size alike: each level of the wheel is as likely as another.
fn any_size(bits: std::ops::Range<u32>) -> impl Strategy<Value = u64> {
    (bits, any::<u64>()).prop_map(|(bits, number)| number >> (63 - bits))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any_size(0..44).prop_map(|after| Step::Insert(after as i64)),
        4 => (0..5_000_i64).prop_map(Step::Insert),
        1 => (-5_000..0_i64).prop_map(Step::Insert),
        1 => prop_oneof![Just(0), Just(u64::MAX), any::<u64>()].prop_map(Step::InsertAt),
        2 => (0..10_usize).prop_map(Step::InsertTwin),
        4 => (0..20_usize).prop_map(Step::Cancel),
        2 => (0..200_u64).prop_map(Step::Expire),
        2 => any_size(0..44).prop_map(Step::Expire),
        3 => any::<bool>().prop_map(|early| Step::ExpireAtNext { early }),
    ]
}

struct Both {
    now: u64,
    wheel: Timers<u64>,
    model: BTreeMap<(u64, u64), TimerId>,
    /// Every insertion: its deadline and id; the index is the sequence.
    made: Vec<(u64, TimerId)>,
}

impl Both {
    fn insert(&mut self, deadline: u64) {
        let seq = self.made.len() as u64;
        let id = self.wheel.insert(deadline, seq);
        self.model.insert((deadline, seq), id);
        self.made.push((deadline, id));
    }

    fn nth_last(&self, back: usize) -> Option<usize> {
        self.made.len().checked_sub(back + 1)
    }

    fn expire(&mut self, now: u64) {
        self.now = now;
        let mut fired = Vec::new();
        self.wheel.expire(now, |id, seq| fired.push((seq, id)));
        let mut expected = Vec::new();
        while let Some(first) = self.model.first_entry()
            && first.key().0 <= now
        {
            expected.push((first.key().1, *first.get()));
            first.remove();
        }
        assert_eq!(fired, expected, "at {now}");
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Insert(after) => self.insert(self.now.saturating_add_signed(after)),
            Step::InsertAt(deadline) => self.insert(deadline),
            Step::InsertTwin(back) => {
                if let Some(nth) = self.nth_last(back) {
                    self.insert(self.made[nth].0);
                }
            }
            Step::Cancel(back) => {
                if let Some(nth) = self.nth_last(back) {
                    let (deadline, id) = self.made[nth];
                    let seq = nth as u64;
                    let expected = self.model.remove(&(deadline, seq)).map(|_| seq);
                    assert_eq!(self.wheel.cancel(id), expected);
                }
            }
            Step::Expire(after) => self.expire(self.now.saturating_add(after)),
            Step::ExpireAtNext { early } => {
                if let Some(&(next, _)) = self.model.keys().next() {
                    let at = next.saturating_sub(early.into());
                    self.expire(at.max(self.now));
                }
            }
        }
        let earliest = self.model.keys().next().map(|&(deadline, _)| deadline);
        assert_eq!(self.wheel.len(), self.model.len());
        assert_eq!(self.wheel.is_empty(), self.model.is_empty());
        assert_eq!(self.wheel.next_deadline().is_some(), earliest.is_some());
        assert!(self.wheel.next_deadline() <= earliest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        // Failing seeds are kept beside this file and tried first from then on: commit them.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_wheel_does_as_the_model(
        start in prop_oneof![Just(0), any_size(0..63)],
        steps in prop::collection::vec(step(), 1..200),
    ) {
        let mut both = Both {
            now: start,
            wheel: Timers::new(start),
            model: BTreeMap::new(),
            made: Vec::new(),
        };
        for step in steps {
            both.step(step);
        }
        both.expire(u64::MAX);
        prop_assert!(both.wheel.is_empty());
    }

    /// Calling `expire` at each `next_deadline` meets every deadline exactly, with few calls that fire nothing.
    #[test]
    fn following_next_deadline_is_exact(
        deadlines in prop::collection::vec(any_size(0..44), 1..50),
        cancels in prop::collection::vec(any::<bool>(), 50),
    ) {
        let mut wheel = Timers::new(0);
        let ids: Vec<_> = deadlines.iter().map(|&at| wheel.insert(at, at)).collect();
        for (&id, _) in ids.iter().zip(cancels).filter(|(_, cancel)| *cancel) {
            wheel.cancel(id);
        }
        let mut calls = 0;
        let limit = 11 * (wheel.len() + 1);
        while let Some(now) = wheel.next_deadline() {
            wheel.expire(now, |_, at| assert_eq!(at, now));
            calls += 1;
            prop_assert!(calls <= limit);
        }
    }
}
