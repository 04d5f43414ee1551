//! A rate against the definition: no period has more permits than allowed, and none waits longer than it has to.

use spindle_core::rate::Rate;

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[test]
fn grants_what_the_definition_allows() {
    for seed in 1..=2000 {
        let mut numbers = Numbers(seed);
        let (permits, period) = (1 + numbers.below(6), 1 + numbers.below(20));
        let mut rate = Rate::new(permits, period);
        let mut granted: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for _ in 0..60 {
            now += numbers.below(period / 2 + 2);
            let count = 1 + numbers.below(permits);
            let taken = |at: u64, granted: &[(u64, u64)]| -> u64 {
                granted.iter().filter(|(when, _)| *when <= at && when + period > at).map(|(_, count)| count).sum()
            };
            match rate.take(count, now) {
                Ok(()) => {
                    assert!(taken(now, &granted) + count <= permits, "seed {seed} at {now}");
                    granted.push((now, count));
                }
                Err(again) => {
                    assert!(again > now, "seed {seed} at {now}");
                    assert!(taken(again, &granted) + count <= permits, "seed {seed}: not even at {again}");
                    for early in now..again {
                        assert!(taken(early, &granted) + count > permits, "seed {seed}: at {early}, before {again}");
                    }
                }
            }
        }
    }
}

#[test]
fn never_has_more_than_its_permits() {
    assert_eq!(Rate::new(2, 10).take(3, 0), Err(u64::MAX));
}

#[test]
fn keeps_one_entry_for_each_time() {
    let mut rate = Rate::new(1_000_000, 10);
    (0..1_000_000).for_each(|_| assert_eq!(rate.take(1, 5), Ok(())));
    assert_eq!(rate.take(1, 14), Err(15));
    assert_eq!(rate.take(1, 15), Ok(()));
}
