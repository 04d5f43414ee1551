//! What a timer costs, in nanoseconds: `cargo run --release -p spindle-core --example timers_cost`.

use spindle_core::timers::Timers;
use std::hint::black_box;
use std::time::Instant;

const MS: u64 = 1_000_000;

/// The best of several runs: the others measure the machine's neighbours.
fn cost(name: &str, count: u64, mut run: impl FnMut() -> u64) {
    let best = (0..7).map(|_| {
        let start = Instant::now();
        black_box(run());
        start.elapsed().as_nanos()
    });
    let best = best.min().unwrap_or(0);
    println!("{name:<52} {:>8.1} ns", best as f64 / count as f64);
}

/// Some delay up to `span`, the same sequence every time.
fn delays(span: u64) -> impl FnMut() -> u64 {
    let mut state = 88_172_645_463_325_252_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        1 + state % span
    }
}

fn main() {
    const N: u64 = 1_000_000;
    cost("insert + cancel, 30 s ahead, alone", N, || {
        let mut timers = Timers::new(0);
        for n in 0..N {
            let id = timers.insert(black_box(n + 30_000 * MS), n);
            black_box(timers.cancel(id));
        }
        0
    });
    for waiting in [1_000, 10_000, 100_000] {
        let mut timers = Timers::new(0);
        let mut delay = delays(30_000 * MS);
        for n in 0..waiting {
            timers.insert(delay(), n);
        }
        cost(&format!("insert + cancel, {waiting} others"), N, || {
            for n in 0..N {
                let id = timers.insert(delay(), n);
                black_box(timers.cancel(id));
            }
            0
        });
    }
    for (waiting, span) in
        [(1_u64, MS), (100, MS), (10_000, MS), (10_000, 1_000 * MS), (100_000, 1_000 * MS), (1_000_000, 1_000 * MS)]
    {
        let name = format!("insert + expire one by one, {waiting} within {} ms", span / MS);
        let mut timers = Timers::new(0);
        let mut delay = delays(span);
        let mut now = 0;
        let mut again = Vec::new();
        for n in 0..waiting {
            timers.insert(delay(), n);
        }
        cost(&name, N, || {
            let mut fired = 0;
            while fired < N {
                now = timers.next_deadline().unwrap_or(now);
                timers.expire(now, |_, n| again.push(n));
                for n in again.drain(..) {
                    fired += 1;
                    timers.insert(now + delay(), n);
                }
            }
            now
        });
    }
    cost("insert + expire, batches of 1,000 in one jump", N, || {
        let mut timers = Timers::new(0);
        let mut delay = delays(MS);
        let (mut now, mut sum) = (0, 0);
        for _ in 0..N / 1_000 {
            for n in 0..1_000 {
                timers.insert(now + delay(), n);
            }
            now += 3_600_000 * MS;
            timers.expire(now, |_, n| sum += n);
        }
        sum
    });
    let mut timers = Timers::new(0);
    timers.insert(u64::MAX, 0);
    cost("expire with nothing due", N, || {
        for now in 0..N {
            timers.expire(black_box(now), |_, n| assert_eq!(black_box(n), 0));
        }
        0
    });
    println!("({} left)", timers.len());
}
