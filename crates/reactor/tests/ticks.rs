//! The thread that ticks: while code runs, and not while the reactor waits.

use spindle_reactor::Reactor;
use spindle_reactor::ticks::Ticks;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const INTERVAL: Duration = Duration::from_millis(5);
const WAIT: u64 = 500_000_000;

#[test]
fn it_ticks_while_code_runs_and_sleeps_while_the_reactor_waits() {
    let count = Arc::new(AtomicU64::new(0));
    let its = Arc::clone(&count);
    let ticks = Ticks::start(INTERVAL, move || {
        its.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    let ticked = || count.load(Ordering::Relaxed);
    let reactor = Reactor::new().unwrap();
    for _ in 0..3 {
        let (before, start) = (ticked(), Instant::now());
        while ticked() < before + 3 {
            assert!(start.elapsed() < Duration::from_secs(60), "it does not tick");
        }
        let before = ticked();
        let start = Instant::now();
        while start.elapsed() < Duration::from_nanos(WAIT) {
            reactor.turn(Some(WAIT), |_| {});
        }
        // There would be a hundred. Some may come before the wait begins, if this thread is held up.
        assert!(ticked() <= before + 50, "{} ticks", ticked() - before);
    }
    drop(ticks);
    let after = ticked();
    std::thread::sleep(INTERVAL * 3);
    assert_eq!(ticked(), after);
}

/// Its end does not wait for that of a wait.
#[test]
fn it_ends_while_it_sleeps() {
    for _ in 0..200 {
        let ticks = Ticks::start(Duration::from_millis(1), || {}).unwrap();
        let reactor = Reactor::new().unwrap();
        reactor.turn(Some(2_000_000), |_| {});
        drop(ticks);
    }
}
