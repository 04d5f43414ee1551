//! The scheduler against a model that knows no queue of slots, no epochs and no counters: only what each coroutine
//! is doing, and lists that are searched. Both take the same random steps and are compared after each.

mod sched_model_parts;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use sched_model_parts::{Both, Step, steps};
use spindle_core::sched::Order;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        // Failing seeds are kept beside this file and tried first from then on: commit them.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_scheduler_does_as_the_model(
        start in prop_oneof![Just(0), any::<u32>().prop_map(u64::from)],
        seed in prop::option::of(1..u64::MAX),
        steps in steps(1..150),
    ) {
        let order = seed.map_or(Order::Fifo, Order::Seeded);
        let mut both = Both::new(start, order);
        for step in steps {
            both.step(step);
            both.compare();
        }
        both.wind_down();
    }
}

/// The steps do reach what they are meant to test.
#[test]
fn the_steps_reach_every_corner() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for _ in 0..300 {
        let tree = steps(100..150).new_tree(&mut runner).expect("a strategy without filters");
        let mut both = Both::new(0, Order::Fifo);
        tree.current().into_iter().for_each(|step: Step| both.step(step));
        for event in both.events {
            *seen.entry(event).or_insert(0) += 1;
        }
    }
    let rare: Vec<_> = sched_model_parts::EVENTS.iter().filter(|e| seen.get(*e).is_none_or(|n| *n < 10)).collect();
    assert!(rare.is_empty(), "hardly ever: {rare:?} of {seen:#?}");
}
