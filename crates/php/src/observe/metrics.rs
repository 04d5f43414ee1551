//! What `Async\metrics()` returns: numbers that the runtime keeps anyway, by names as Prometheus has them.

use crate::runtime::scheduler::Runtime;
use spindle_core::sched::State;
use spindle_reactor::Reactor;
use spindle_zend::{Array, Owned, Value};
use std::ffi::CStr;

/// The names of the waits of a kind: how many coroutines wait, how often one has begun to, and for how long all have together.
const WAITS: [[&CStr; 3]; 3] = [
    [c"waits_for_coroutines", c"waits_for_coroutines_total", c"waits_for_coroutines_seconds_total"],
    [c"waits_for_io", c"waits_for_io_total", c"waits_for_io_seconds_total"],
    [c"waits_for_time", c"waits_for_time_total", c"waits_for_time_seconds_total"],
];

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Returns the numbers.
pub fn array(rt: &'static Runtime) -> Owned<Array> {
    let (stacks, stack_size) = {
        let stacks = rt.stacks.borrow();
        (stacks.count(), stacks.size())
    };
    let reactor = rt.reactor();
    let mut core = rt.core.borrow_mut();
    core.count_until(Reactor::now());
    let suspended = core.coroutines().filter(|co| core.state(*co) == State::Parked && rt.object(*co).job().is_none());
    let (ends, turns) = (core.ends(), &rt.turns);
    let numbers = [
        (c"coroutines", core.live() as u64),
        (c"coroutines_ready", core.ready() as u64),
        (c"coroutines_suspended", suspended.count() as u64),
        (c"coroutines_spawned_total", ends.spawned),
        (c"coroutines_ended_total", ends.ended),
        (c"coroutines_failed_total", ends.failed),
        (c"coroutines_cancelled_total", ends.cancelled),
        (c"switches_total", rt.picks()),
        (c"loop_turns_total", turns.count.get()),
        (c"timers", core.deadlines() as u64),
        (c"descriptors", reactor.descriptors() as u64),
        (c"pool_jobs", reactor.jobs() as u64),
        (c"stacks", stacks as u64),
        (c"stack_bytes", (stacks * stack_size) as u64),
    ];
    let mut array = Array::new(numbers.len() + 2 + WAITS.len() * 3);
    for (name, number) in numbers {
        array.set(name, i64::try_from(number).unwrap_or(i64::MAX));
    }
    array.set(c"loop_idle_seconds_total", Value::from(seconds(turns.idle.get())));
    array.set(c"loop_lag_seconds", Value::from(seconds(turns.lag.get())));
    for (names, waits) in WAITS.into_iter().zip(core.waits()) {
        array.set(names[0], waits.now as i64);
        array.set(names[1], i64::try_from(waits.total).unwrap_or(i64::MAX));
        array.set(names[2], Value::from(seconds(waits.nanoseconds)));
    }
    array
}
