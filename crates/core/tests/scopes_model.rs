//! Random programs on scopes. After each step what the core says is compared with the host's own account of who was
//! spawned where and by whom, and with what has to hold for any program.

mod scopes_host;
mod scopes_model_parts;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use scopes_model_parts::{LIFETIMES, MET, Step, World, steps};
use spindle_core::sched::Order;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        // Failing seeds are kept beside this file and tried first from then on: commit them.
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_has_to_hold_holds(
        seed in prop::option::of(1..u64::MAX),
        lifetime in prop::sample::select(&LIFETIMES[..]),
        steps in steps(1..120),
    ) {
        let mut world = World::new(seed.map_or(Order::Fifo, Order::Seeded), lifetime);
        for step in steps {
            world.step(step);
            world.check();
        }
        world.wind_down();
    }
}

/// The steps do reach what they are meant to test.
#[test]
fn the_steps_reach_every_corner() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut seen = std::collections::BTreeMap::new();
    for n in 0..300 {
        let tree = steps(100..120).new_tree(&mut runner).expect("a strategy without filters");
        let mut world = World::new(Order::Fifo, LIFETIMES[n % 3]);
        tree.current().into_iter().for_each(|step: Step| world.step(step));
        world.wind_down();
        for what in MET {
            *seen.entry(what).or_insert(0) += world.host.log.iter().filter(|line| line.contains(what)).count();
        }
    }
    let rare: Vec<_> = seen.iter().filter(|(_, n)| **n < 10).collect();
    assert!(rare.is_empty(), "hardly ever: {rare:?} of {seen:#?}");
}
