//! Semaphores under random operations and cancellations: permits are neither lost nor made, and go round in order.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::semaphore::Semaphore;
use spindle_core::wait_list::Waiting;

#[derive(Clone, Debug)]
enum Step {
    Acquire,
    Release,
    /// Cancels the waiter at this place, which runs at once.
    Cancel(usize),
    /// Lets the waiter at this place run, if it was woken.
    Run(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Acquire),
        3 => Just(Step::Release),
        2 => any::<usize>().prop_map(Step::Cancel),
        4 => any::<usize>().prop_map(Step::Run),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 512,
        ..ProptestConfig::default()
    })]

    #[test]
    fn permits_are_neither_lost_nor_made(permits in 0..4_usize, steps in prop::collection::vec(step(), 1..150)) {
        let mut semaphore = Semaphore::new(permits);
        let mut woken: Vec<bool> = Vec::new();
        let mut waiting: Vec<(usize, Waiting)> = Vec::new();
        let mut held = 0;
        for step in steps {
            let mut granted = Vec::new();
            let mut wake = |id: usize| {
                granted.push(id);
                true
            };
            match step {
                Step::Acquire => {
                    if semaphore.try_acquire() {
                        prop_assert!(waiting.iter().all(|(id, _)| woken[*id]), "it has overtaken one that waits");
                        held += 1;
                    } else {
                        woken.push(false);
                        waiting.push((woken.len() - 1, semaphore.wait(woken.len() - 1, false)));
                    }
                }
                Step::Release => {
                    // A permit that was granted and not taken is held, too: but nobody could release it.
                    if held > 0 {
                        prop_assert!(semaphore.release(&mut wake));
                        held -= 1;
                    } else if waiting.iter().all(|(id, _)| !woken[*id]) {
                        prop_assert!(!semaphore.release(&mut wake));
                    }
                }
                Step::Cancel(at) => {
                    let Some(at) = at.checked_rem(waiting.len()) else { continue };
                    let (id, place) = waiting.remove(at);
                    let granted = semaphore.end(place);
                    prop_assert_eq!(granted, woken[id]);
                    if granted {
                        prop_assert!(semaphore.release(&mut wake));
                    }
                }
                Step::Run(at) => {
                    let ready: Vec<usize> = (0..waiting.len()).filter(|at| woken[waiting[*at].0]).collect();
                    let Some(at) = at.checked_rem(ready.len()) else { continue };
                    let (_, place) = waiting.remove(ready[at]);
                    prop_assert!(semaphore.end(place));
                    held += 1;
                }
            }
            for id in granted {
                let first = waiting.iter().map(|(id, _)| *id).find(|id| !woken[*id]);
                prop_assert_eq!(first, Some(id), "the one that has waited longest is the next");
                woken[id] = true;
            }
            let under_way = waiting.iter().filter(|(id, _)| woken[*id]).count();
            prop_assert_eq!(semaphore.available() + held + under_way, permits);
            prop_assert_eq!(semaphore.held(), held + under_way);
            prop_assert!(semaphore.available() == 0 || semaphore.waiters() == 0, "one waits for a permit that is there");
        }
    }
}

/// One that waits again, because a signal has ended its wait, is served before those that came later.
#[test]
fn one_that_waits_again_keeps_its_turn() {
    let mut semaphore = Semaphore::new(1);
    assert!(semaphore.try_acquire());
    let (first, second) = (semaphore.wait(1, false), semaphore.wait(2, false));
    assert!(!semaphore.end(first));
    let first = semaphore.wait(1, true);
    assert!(semaphore.release(|_| true));
    assert_eq!((semaphore.end(first), semaphore.end(second)), (true, false));
}
