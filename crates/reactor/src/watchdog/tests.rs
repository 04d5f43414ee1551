use super::*;
use std::sync::mpsc::{Receiver, Sender, channel};

const MS: u64 = 1_000_000;
const LIMIT: u64 = 100 * MS;

/// Lets the thread's decisions run against a list of (time, run that is seen).
fn steps(seen: &[(u64, u64)]) -> Vec<Step> {
    let mut run = Run::default();
    let mut sleep = (0, u64::MAX);
    let mut step = |&(now, began): &(u64, u64)| {
        let step = run.step(now, sleep, began, LIMIT);
        sleep = if let Step::Sleep { until } = step { (now, until) } else { (now, u64::MAX) };
        step
    };
    seen.iter().map(&mut step).collect()
}

#[test]
fn a_run_that_lasts_is_asked_at_half_the_limit_and_inspected_from_the_limit() {
    let began = 1000 * MS;
    let seen = [1000, 1050, 1050, 1100, 1100, 1150].map(|ms| (ms * MS, began));
    let expected = [
        Step::Sleep { until: 1050 * MS },
        Step::Ask,
        Step::Sleep { until: 1100 * MS },
        Step::Inspect { elapsed: 100 * MS },
        Step::Sleep { until: 1150 * MS },
        Step::Inspect { elapsed: 150 * MS },
    ];
    assert_eq!(steps(&seen), expected);
}

#[test]
fn short_runs_and_waiting_are_never_inspected() {
    let seen: Vec<_> = (1..200).map(|n| (n * 50 * MS, if n % 3 == 0 { 0 } else { n * 50 * MS - 40 * MS })).collect();
    assert!(steps(&seen).iter().all(|step| matches!(step, Step::Sleep { .. })), "{:?}", steps(&seen));
}

#[test]
fn looks_become_rarer() {
    let (mut run, mut now, mut inspections) = (Run::default(), MS, 0);
    while now < 100_000 * MS {
        match run.step(now, (now, now), MS, LIMIT) {
            Step::Sleep { until } => now = until,
            Step::Inspect { .. } => inspections += 1,
            Step::Ask => {}
        }
    }
    assert!((20..60).contains(&inspections), "{inspections}");
}

#[test]
fn the_run_after_a_long_one_is_seen_in_time() {
    let (mut run, mut now, mut sleep) = (Run::default(), MS, (0, u64::MAX));
    let long = 5000 * MS;
    let first_look = loop {
        let began = if now < long { MS } else { long };
        match run.step(now, sleep, began, LIMIT) {
            Step::Sleep { until } => {
                sleep = (now, until);
                now = until;
            }
            Step::Inspect { elapsed } if began == long => break elapsed,
            _ => sleep = (now, u64::MAX),
        }
    };
    assert!(first_look <= LIMIT + LIMIT / 4, "{first_look}");
}

#[test]
fn a_stopped_process_is_not_reported() {
    // It stops at 1060 ms, after it was asked, and continues at 9000 ms.
    let mut run = Run::default();
    let awake = |at: u64| (at * MS, u64::MAX);
    assert_eq!(run.step(1050 * MS, awake(1050), 1000 * MS, LIMIT), Step::Ask);
    assert_eq!(run.step(1050 * MS, awake(1050), 1000 * MS, LIMIT), Step::Sleep { until: 1100 * MS });
    let step = run.step(9000 * MS, (1050 * MS, 1100 * MS), 1000 * MS, LIMIT);
    assert_eq!(step, Step::Sleep { until: 9050 * MS });
    assert_eq!(run.step(9050 * MS, (9000 * MS, 9050 * MS), 1000 * MS, LIMIT), Step::Inspect { elapsed: 100 * MS });
    // A run that was not seen before the stop.
    let mut run = Run::default();
    run.step(1010 * MS, awake(1010), 0, LIMIT);
    let step = run.step(9000 * MS, (1010 * MS, 1060 * MS), 1020 * MS, LIMIT);
    assert_eq!(step, Step::Sleep { until: 9050 * MS });
    // One that began since.
    let step = run.step(9000 * MS, (1010 * MS, 1060 * MS), 8990 * MS, LIMIT);
    assert_eq!(step, Step::Sleep { until: 9040 * MS });
}

/// Tells the test what it is called for.
struct Told(Sender<&'static str>);

impl Subject for Told {
    type Place = &'static str;

    fn ask(&self) {
        let _ = self.0.send("asked");
    }

    fn inspect(&self) -> &'static str {
        "seen"
    }

    fn too_long(&self, _: &Finding<&'static str>, _: u64) -> String {
        String::new()
    }
}

fn watchdog() -> (Watchdog<&'static str>, Receiver<&'static str>) {
    let (sender, receiver) = channel();
    (Watchdog::start(20 * MS, Told(sender)).unwrap(), receiver)
}

fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Reactor::now() + 250_000 * MS;
    while !condition() {
        assert!(Reactor::now() < end, "{what}: not in time");
        std::hint::spin_loop();
    }
}

#[test]
fn a_stuck_thread_is_seen_with_its_system_call_and_library() {
    let (watchdog, _told) = watchdog();
    watchdog.begin();
    while !watchdog.has_found() {
        std::thread::sleep(Duration::from_millis(300)); // again where its thread does not get the processor
    }
    let (finding, elapsed) = watchdog.take().unwrap();
    assert_eq!(finding.place, "seen");
    assert_eq!(finding.native.call.as_deref(), Some("clock_nanosleep"));
    assert_eq!(finding.native.library, Some(program()));
    assert!(elapsed >= 300 * MS, "{elapsed}");
    assert!(watchdog.take().is_none(), "once");
}

fn program() -> String {
    std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn a_computing_thread_answers_itself() {
    let (watchdog, _told) = watchdog();
    watchdog.begin();
    // On a busy machine it may be inspected before it had the processor to answer.
    until("an answer", || {
        if watchdog.is_asked() {
            watchdog.answer("said");
        }
        watchdog.take().is_some_and(|(finding, _)| (finding.place, finding.native) == ("said", Native::default()))
    });
}

#[test]
fn waiting_is_not_blocking_and_a_new_run_is_not_the_old_one() {
    let (watchdog, told) = watchdog();
    watchdog.idle();
    std::thread::sleep(Duration::from_millis(100));
    assert!(!watchdog.has_found());
    assert!(told.try_recv().is_err());
    watchdog.begin();
    until("a finding", || watchdog.has_found());
    let before = watchdog.board.run.load(Ordering::Relaxed);
    watchdog.begin();
    // On a busy machine there may be a finding about this one already.
    assert!(watchdog.take().is_none_or(|(finding, _)| finding.run != before), "of the run before");
}

#[test]
fn it_ends_with_its_object_at_once() {
    let (sender, receiver) = channel();
    let watchdog = Watchdog::start(3_600_000 * MS, Told(sender)).unwrap();
    let start = Reactor::now();
    drop(watchdog);
    assert!(Reactor::now() - start < 250_000 * MS);
    assert!(receiver.recv().is_err(), "the thread has let go of its subject");
}
