//! Cycles of waits: what is one, what is none, and which waits are given up; and all of it against a slow model.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use spindle_core::sched::{Core, CoroutineId, Lifetime, Needs, Next, Order, Outcome, Target, WaitReason};
use std::collections::HashMap;

type Sched = Core<&'static str>;

/// Main runs, and is about to wait. The others are parked by waits with these needs.
struct Waits {
    core: Sched,
    needs: HashMap<CoroutineId, Needs>,
}

impl Waits {
    /// Parks so many coroutines.
    fn of<const N: usize>() -> (Waits, [CoroutineId; N]) {
        let mut waits = Waits { core: Sched::new(0, Order::Fifo, Lifetime::Scope), needs: HashMap::new() };
        let all = [(); N].map(|()| waits.parked());
        (waits, all)
    }

    fn parked(&mut self) -> CoroutineId {
        let co = self.core.spawn();
        self.park_as(co);
        co
    }

    /// Lets a new coroutine run and park.
    fn park_as(&mut self, co: CoroutineId) {
        self.main_yields();
        assert_eq!(self.core.next_to_run(), Next::Start(co));
        self.core.begin_wait();
        assert_eq!(self.core.park(None, WaitReason::Coroutines, true), None);
        assert_eq!(self.core.next_to_run(), Next::Resume(Sched::MAIN));
        self.core.resumed(true);
    }

    fn main_yields(&mut self) {
        self.core.begin_wait();
        assert_eq!(self.core.park(None, WaitReason::Yield, true), None);
    }

    fn needs(&mut self, co: CoroutineId, needs: Needs) {
        self.needs.insert(co, needs);
    }

    fn needed_by(&self, co: CoroutineId) -> Needs {
        self.needs.get(&co).cloned().unwrap_or(Needs::Unknown)
    }

    /// Whether main may not wait for this.
    fn closes(&self, own: &Needs) -> bool {
        self.core.closes_cycle(own, |co| self.needed_by(co))
    }

    /// The waits that are given up when main waits for this.
    fn breaks(&mut self, own: Needs, gives_up: &[CoroutineId]) -> Vec<CoroutineId> {
        self.needs.insert(Sched::MAIN, own);
        self.core.breaks_of_cycle(Sched::MAIN, |co| self.needed_by(co), gives_up)
    }
}

fn co(co: CoroutineId) -> Target {
    Target::Coroutine(co)
}

const ME: Target = Target::Coroutine(Sched::MAIN);

#[test]
fn who_waits_for_oneself_closes_a_cycle_over_any_number_of_others() {
    let (mut waits, [a, b]) = Waits::of();
    assert!(!waits.closes(&Needs::One(co(a))), "nobody knows what ends its wait");
    waits.needs(a, Needs::One(co(b)));
    assert!(!waits.closes(&Needs::One(co(a))));
    waits.needs(b, Needs::One(ME));
    assert!(waits.closes(&Needs::One(co(a))));
    assert!(waits.closes(&Needs::One(ME)));
    let mut last = ME;
    for _ in 0..5000 {
        let next = waits.parked();
        waits.needs(next, Needs::One(last));
        last = co(next);
    }
    assert!(waits.closes(&Needs::One(last)));
}

#[test]
fn a_long_chain_is_no_cycle() {
    let (mut waits, [first]) = Waits::of();
    let mut last = co(first);
    for _ in 0..5000 {
        let next = waits.parked();
        waits.needs(next, Needs::One(last));
        last = co(next);
    }
    assert!(!waits.closes(&Needs::One(last)));
}

#[test]
fn others_that_wait_for_each_other_are_no_cycle_with_oneself() {
    let (mut waits, [a, b, c]) = Waits::of();
    waits.needs(a, Needs::One(co(b)));
    waits.needs(b, Needs::One(co(a)));
    assert!(!waits.closes(&Needs::One(co(a))));
    waits.needs(c, Needs::All(vec![co(a), ME]));
    assert!(waits.closes(&Needs::One(co(c))), "it waits for main besides");
}

#[test]
fn all_are_too_many_if_one_waits_and_one_of_several_only_if_each_does() {
    let (mut waits, [waits_for_me, free]) = Waits::of();
    waits.needs(waits_for_me, Needs::One(ME));
    let both = vec![co(waits_for_me), co(free)];
    assert!(waits.closes(&Needs::All(both.clone())));
    assert!(!waits.closes(&Needs::Any(both.clone())));
    waits.needs(free, Needs::Any(vec![ME, co(waits_for_me)]));
    assert!(waits.closes(&Needs::Any(both)));
    assert!(!waits.closes(&Needs::Any(vec![])) && !waits.closes(&Needs::All(vec![])), "something else ends it");
}

#[test]
fn sets_need_as_many_as_are_missing() {
    let (mut waits, [waits_for_me, free, other]) = Waits::of();
    waits.needs(waits_for_me, Needs::One(ME));
    let members = [waits_for_me, free, other].map(co);
    let sets = [1, 2, 3].map(|count| Target::Set(waits.core.add_watch(&members, count, false)));
    assert_eq!(sets.map(|set| waits.closes(&Needs::One(set))), [false, false, true]);
    waits.needs(other, Needs::One(sets[2]));
    assert_eq!(sets.map(|set| waits.closes(&Needs::One(set))), [false, true, true]);
    let group = waits.core.add_set(false);
    waits.core.add_to_set(group, free);
    assert!(!waits.closes(&Needs::One(Target::Set(group))));
    waits.core.add_to_set(group, waits_for_me);
    assert!(waits.closes(&Needs::One(Target::Set(group))));
    waits.core.drop_set(group, [free, waits_for_me]);
    assert!(!waits.closes(&Needs::One(Target::Set(group))), "what was dropped is complete");
}

#[test]
fn a_set_that_something_else_completes_can_go_on_unless_that_is_known() {
    let (mut waits, [a]) = Waits::of();
    waits.needs(a, Needs::One(ME));
    let set = waits.core.add_open_set();
    assert!(!waits.closes(&Needs::One(Target::Set(set))));
    let maker = waits.core.maker(co(a));
    waits.core.set_maker(set, Some(maker));
    assert!(waits.closes(&Needs::One(Target::Set(set))));
    let derived = waits.core.add_open_set();
    let maker = waits.core.maker(Target::Set(set));
    waits.core.set_maker(derived, Some(maker));
    assert!(waits.closes(&Needs::One(Target::Set(derived))));
    waits.core.complete_set(set, false);
    assert!(!waits.closes(&Needs::One(Target::Set(derived))));
}

#[test]
fn a_maker_is_the_coroutine_and_not_the_next_one_in_its_slot() {
    let (mut waits, []) = Waits::of();
    let first = waits.core.spawn();
    let set = waits.core.add_open_set();
    let maker = waits.core.maker(co(first));
    waits.core.set_maker(set, Some(maker));
    waits.main_yields();
    assert_eq!(waits.core.next_to_run(), Next::Start(first));
    waits.core.end(first, Outcome::Returned);
    waits.core.complete(first);
    assert_eq!(waits.core.next_to_run(), Next::Resume(Sched::MAIN));
    waits.core.resumed(true);
    waits.core.release(first);
    let second = waits.parked();
    assert_eq!(second, first);
    waits.needs(second, Needs::One(ME));
    assert!(!waits.closes(&Needs::One(Target::Set(set))));
}

#[test]
fn external_sets_and_timeouts_go_on() {
    let (mut waits, [a]) = Waits::of();
    waits.needs(a, Needs::One(ME));
    let timeout = Target::Timeout(waits.core.add_timeout(9));
    let external = Target::Set(waits.core.add_external_set());
    assert!(!waits.closes(&Needs::One(timeout)) && !waits.closes(&Needs::One(external)));
    assert!(!waits.closes(&Needs::Any(vec![co(a), timeout])));
    assert!(waits.closes(&Needs::All(vec![co(a), timeout])));
}

#[test]
fn a_scope_needs_all_in_it_and_below_it() {
    let (mut waits, []) = Waits::of();
    let outer = waits.core.add_scope(None, Lifetime::Scope);
    let inner = waits.core.add_scope(Some(outer), Lifetime::Scope);
    let a = waits.core.spawn_in(inner);
    waits.park_as(a);
    let wait = |waits: &Waits| [outer, inner].map(|id| waits.closes(&Needs::One(Target::Scope(id))));
    assert_eq!(wait(&waits), [false, false]);
    waits.needs(a, Needs::One(ME));
    assert_eq!(wait(&waits), [true, true]);
    waits.needs(a, Needs::Unknown);
    let b = waits.core.spawn_in(outer);
    waits.park_as(b);
    waits.needs(b, Needs::One(ME));
    assert_eq!(wait(&waits), [true, false]);
    waits.needs(a, Needs::One(ME));
    assert_eq!(wait(&waits), [true, true]);
    let empty = waits.core.add_scope(None, Lifetime::Scope);
    assert!(!waits.closes(&Needs::One(Target::Scope(empty))));
}

#[test]
fn a_scope_needs_the_runners_that_hold_it() {
    let (mut waits, []) = Waits::of();
    let scope = waits.core.add_scope(None, Lifetime::Scope);
    let runner = waits.core.spawn_runner(Sched::GLOBAL, Some(scope));
    waits.park_as(runner);
    assert!(!waits.closes(&Needs::One(Target::Scope(scope))));
    waits.needs(runner, Needs::One(ME));
    assert!(waits.closes(&Needs::One(Target::Scope(scope))));
}

#[test]
fn one_that_has_ended_needs_those_it_has_spawned() {
    let mut waits = Waits { core: Sched::new(0, Order::Fifo, Lifetime::BottomUp), needs: HashMap::new() };
    let parent = waits.core.spawn();
    waits.main_yields();
    assert_eq!(waits.core.next_to_run(), Next::Start(parent));
    let child = waits.core.spawn();
    assert!(!waits.core.end(parent, Outcome::Returned).complete);
    assert_eq!(waits.core.next_to_run(), Next::Resume(Sched::MAIN));
    waits.core.resumed(true);
    assert!(!waits.closes(&Needs::One(co(parent))), "the child has not begun");
    waits.park_as(child);
    waits.needs(child, Needs::One(ME));
    assert!(waits.closes(&Needs::One(co(parent))));
}

#[test]
fn one_that_runs_the_callbacks_for_its_end_waits_as_others_do() {
    let (mut waits, [other]) = Waits::of();
    waits.needs(other, Needs::One(ME));
    assert!(waits.core.end(Sched::MAIN, Outcome::Returned).complete);
    waits.core.begin_callbacks(Sched::MAIN);
    assert!(waits.closes(&Needs::One(co(other))));
    assert_eq!(waits.breaks(Needs::One(co(other)), &[other]), [other]);
}

#[test]
fn one_of_those_that_were_subscribed_to_is_enough_and_the_limit_is_none_of_them() {
    let (mut waits, [a, b]) = Waits::of();
    waits.needs(a, Needs::One(ME));
    let limit = Target::Timeout(waits.core.add_timeout(9));
    let ticket = waits.core.begin_wait();
    waits.core.subscribe_to_one(co(a), ticket);
    waits.core.subscribe(limit, ticket);
    assert!(waits.closes(&Needs::Subscribed));
    let ticket = waits.core.begin_wait();
    assert!(!waits.closes(&Needs::Subscribed), "that was an earlier wait");
    waits.core.subscribe_to_one(co(a), ticket);
    assert!(waits.closes(&Needs::Subscribed));
    waits.core.subscribe_to_one(co(b), ticket);
    assert!(!waits.closes(&Needs::Subscribed));
}

#[test]
fn a_wait_set_may_need_each_of_those_that_it_watches() {
    let (mut waits, [runs_tasks, a, b]) = Waits::of();
    let set = waits.core.add_wait_set_for_all();
    waits.needs(runs_tasks, Needs::Watched(set));
    waits.core.watch_key(set, co(a), 1);
    waits.core.watch_key(set, co(b), 2);
    assert!(!waits.closes(&Needs::One(co(runs_tasks))));
    waits.needs(b, Needs::One(ME));
    assert!(waits.closes(&Needs::One(co(runs_tasks))));
    waits.core.unwatch_key(set, co(b), 2);
    assert!(!waits.closes(&Needs::One(co(runs_tasks))));
}

#[test]
fn who_is_ready_goes_on() {
    let (mut waits, [a]) = Waits::of();
    waits.needs(a, Needs::One(ME));
    let fresh = waits.core.spawn();
    waits.needs(fresh, Needs::One(ME));
    assert!(!waits.closes(&Needs::One(co(fresh))));
    waits.core.cancel(a, "cancelled");
    assert!(!waits.closes(&Needs::One(co(a))));
}

#[test]
fn only_as_many_waits_are_given_up_as_one_needs_to_go_on() {
    let (mut waits, [a, b, c]) = Waits::of();
    for each in [a, b, c] {
        waits.needs(each, Needs::One(ME));
    }
    let all = vec![co(a), co(b), co(c)];
    assert_eq!(waits.breaks(Needs::All(all.clone()), &[a, b, c]), [a, b, c]);
    assert_eq!(waits.breaks(Needs::All(all.clone()), &[a, c]), [a, c]);
    assert_eq!(waits.breaks(Needs::Any(all.clone()), &[a, b, c]), [a]);
    assert_eq!(waits.breaks(Needs::Any(all.clone()), &[b]), [b]);
    assert_eq!(waits.breaks(Needs::Any(all.clone()), &[]), []);
    assert_eq!(waits.breaks(Needs::Any(all.clone()), &[a, Sched::MAIN]), [Sched::MAIN], "its own comes first");
    waits.needs(c, Needs::Unknown);
    assert_eq!(waits.breaks(Needs::Any(all), &[a, b, c, Sched::MAIN]), []);
}

#[test]
fn few_steps_are_enough_for_who_is_needed_by_nobody_whose_wait_is_given_up() {
    let (mut waits, [loads, needs_it, x]) = Waits::of();
    waits.needs(needs_it, Needs::One(co(loads)));
    let steps = |waits: &Waits, own: Needs, gives_up: &[CoroutineId]| {
        let steps = std::cell::Cell::new(0);
        let needs = |co| {
            steps.set(steps.get() + 1);
            if co == Sched::MAIN { own.clone() } else { waits.needed_by(co) }
        };
        assert_eq!(waits.core.breaks_of_cycle(Sched::MAIN, needs, gives_up), []);
        steps.get()
    };
    let mut last = co(x);
    for _ in 0..1000 {
        let next = waits.parked();
        waits.needs(next, Needs::One(last));
        last = co(next);
    }
    assert!(steps(&waits, Needs::One(last), &[needs_it]) < 10, "whatever it needs itself");
    let many: Vec<CoroutineId> = (0..1000).map(|_| waits.parked()).collect();
    for each in &many {
        waits.needs(*each, Needs::One(co(loads)));
    }
    assert!(steps(&waits, Needs::One(co(x)), &many) < 10, "however many wait so that it can be given up");
}

#[test]
fn a_set_that_lasts_knows_those_that_it_still_waits_for() {
    let (mut waits, [lasts]) = Waits::of();
    let group = waits.core.add_set(false);
    waits.core.add_to_set(group, lasts);
    for _ in 0..100 {
        let short = waits.core.spawn();
        waits.core.add_to_set(group, short);
        waits.main_yields();
        assert_eq!(waits.core.next_to_run(), Next::Start(short));
        waits.core.end(short, Outcome::Returned);
        waits.core.complete(short);
        assert_eq!(waits.core.next_to_run(), Next::Resume(Sched::MAIN));
        waits.core.resumed(true);
        waits.core.release(short);
    }
    assert!(!waits.closes(&Needs::One(Target::Set(group))));
    waits.needs(lasts, Needs::One(ME));
    assert!(waits.closes(&Needs::One(Target::Set(group))));
}

#[test]
fn waits_that_are_in_no_cycle_with_oneself_are_kept() {
    let (mut waits, [a, b, c]) = Waits::of();
    waits.needs(a, Needs::One(co(b)));
    waits.needs(b, Needs::One(co(a)));
    assert_eq!(waits.breaks(Needs::One(co(a)), &[a, b]), [], "it is theirs");
    waits.needs(c, Needs::One(ME));
    let needs = Needs::All(vec![co(a), co(c)]);
    assert_eq!(waits.breaks(needs, &[a, b, c]), [c]);
}

/// What a coroutine of the model needs: so many of these. Those with a higher number than there are coroutines are main.
#[derive(Clone, Debug)]
enum Kind {
    Unknown,
    All,
    Any,
    Set(usize),
    Group,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        1 => Just(Kind::Unknown),
        4 => Just(Kind::All),
        4 => Just(Kind::Any),
        3 => (1..4_usize).prop_map(Kind::Set),
        1 => Just(Kind::Group),
    ]
}

/// How many of which others each needs; main is the first one.
type Model = Vec<(usize, Vec<usize>)>;

/// Which can go on, if those that are given up can.
fn can_go_on(model: &Model, given_up: &[usize]) -> Vec<bool> {
    let mut can = vec![false; model.len()];
    for _ in 0..=model.len() {
        for at in 0..model.len() {
            let (count, of) = &model[at];
            can[at] |= given_up.contains(&at) || of.iter().filter(|other| can[**other]).count() >= *count;
        }
    }
    can
}

/// Whether there is a way of at least one step over those that cannot go on.
fn leads_to(model: &Model, can: &[bool], from: usize, to: usize) -> bool {
    let (mut open, mut seen) = (vec![from], vec![false; model.len()]);
    while let Some(at) = open.pop() {
        for next in model[at].1.iter().filter(|next| !can[**next]) {
            if *next == to {
                return true;
            }
            if !std::mem::replace(&mut seen[*next], true) {
                open.push(*next);
            }
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        cases: 2000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn cycles_are_those_of_the_model(
        all in prop::collection::vec((kind(), prop::collection::vec(0..8_usize, 0..4), any::<bool>()), 1..8),
    ) {
        let (mut waits, []) = Waits::of();
        let mut who = vec![Sched::MAIN];
        for _ in 1..all.len() {
            who.push(waits.parked());
        }
        let mut model = Model::new();
        let mut own = Needs::Unknown;
        for (at, (kind, of, _)) in all.iter().enumerate() {
            let mut of: Vec<usize> = of.iter().map(|other| other % all.len()).collect();
            if matches!(kind, Kind::Set(_) | Kind::Group) {
                of.sort_unstable();
                of.dedup();
            }
            let targets: Vec<Target> = of.iter().map(|other| co(who[*other])).collect();
            let (count, needs) = match kind {
                Kind::Unknown => (0, Needs::Unknown),
                Kind::All => (of.len(), Needs::All(targets)),
                Kind::Any => (1.min(of.len()), Needs::Any(targets)),
                Kind::Set(count) => {
                    let count = *count.min(&of.len());
                    (count, Needs::One(Target::Set(waits.core.add_watch(&targets, count, false))))
                }
                Kind::Group => {
                    let group = waits.core.add_set(true);
                    of.iter().for_each(|other| waits.core.add_to_set(group, who[*other]));
                    (of.len(), Needs::One(Target::Set(group)))
                }
            };
            model.push((count, of));
            if at == 0 { own = needs } else { waits.needs(who[at], needs) }
        }
        let can = can_go_on(&model, &[]);
        let is_cycle = !can[0] && leads_to(&model, &can, 0, 0);
        prop_assert_eq!(waits.closes(&own), is_cycle);

        let refusable: Vec<CoroutineId> = (1..all.len()).filter(|at| all[*at].2).map(|at| who[at]).collect();
        let chosen = waits.breaks(own, &refusable);
        let place = |co: &CoroutineId| who.iter().position(|other| other == co).unwrap();
        let chosen: Vec<usize> = chosen.iter().map(place).collect();
        for (nth, at) in chosen.iter().enumerate() {
            prop_assert!(refusable.contains(&who[*at]));
            prop_assert!(leads_to(&model, &can, 0, *at) && leads_to(&model, &can, *at, 0), "it is in the cycle");
            let before = can_go_on(&model, &chosen[..nth]);
            prop_assert!(!before[*at] && !before[0], "none is given up in vain");
        }
        let after = can_go_on(&model, &chosen);
        if !after[0] {
            let left = (1..all.len()).filter(|at| {
                refusable.contains(&who[*at]) && !after[*at] && leads_to(&model, &can, 0, *at) && leads_to(&model, &can, *at, 0)
            });
            prop_assert_eq!(left.count(), 0, "all are given up that may help");
        }
    }
}
