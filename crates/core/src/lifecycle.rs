//! The life of an application: whether it is shutting down, and whether it has ended. [`crate::sched::Core`] owns the one of its
//! coroutines, and asks it before each step below.
//!
//! ```text
//!             shut down            shut down again, or deadlock again
//!   Running ────────────► Graceful ───────────────────────────────────► Forced
//!      │                     │                                            │
//!      ├─────────────────────┼────────────────────────────────────────────┤
//!      │ nothing is left, and main cannot go on                           │
//!      ▼                                                                  │ the script has ended, or a coroutine
//!    Over ───────────────── main's stack runs ──► Ended ◄─────────────────┘ exits or has a fatal error
//! ```
//!
//! | | Running | Graceful | Forced | Over | Ended |
//! |---|---|---|---|---|---|
//! | `shut_down` | Graceful: cancel | Forced: by force | by force again | too late | too late |
//! | `deadlock` | Graceful: cancel | Graceful: cancel | give up | too late | too late |
//! | `deadlock` again | Forced: by force | Forced: by force | give up | too late | too late |
//! | `nothing_is_left`, and main waits or is lost | Over | Over | Over | Over | stays |
//! | `nothing_is_left`, and main has ended | stays | stays | stays | stays | stays |
//! | `end` | Ended | Ended | Ended | Ended, as over | stays, with the first reason |
//!
//! Besides these stages it tracks how far the *zombies*, which run on when nothing else is left, were pressed:
//!
//! ```text
//!   Untouched ──► Cancelled ──► Forced ──► GivenUp         (each time their grace has passed; Forced at once in the second phase)
//! ```
//!
//! Rules:
//! 1. No arrow leads back. Zombies that are given up are never waited for again.
//! 2. In `Over` no code runs but the switch to main's stack, and in `Ended` no coroutine is started or resumed.
//! 3. The reason of `Ended` is why main's stack ends the request in place of the script's own end; a script that ends by itself
//!    has none.
//!
//! Not guaranteed: that a graceful shutdown ends. A coroutine may swallow its cancellation; hence the second phase, which a further
//! unhandled failure or request begins.

/// A stage of the life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// The script runs.
    Running,
    /// All coroutines were cancelled, and run to their ends.
    Graceful,
    /// All coroutines were cancelled by force. One that waits again after that is abandoned.
    Forced,
    /// No coroutine is left that could run, and main waits for what will never come.
    Over,
    /// No coroutine runs again; why main's stack ends the request, if it is not by the script's own end.
    Ended(Option<Leaving>),
}

/// Why main's stack ends the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaving {
    /// A coroutine exits.
    Exit,
    /// No other coroutine is left, and main's can never continue: in the child of a fork by another coroutine, or where main waits
    /// for something that will never come.
    Over,
    /// A fatal error has been reported in a coroutine.
    Fatal,
}

/// How hard coroutines are to be cancelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Press {
    /// As user code cancels them.
    Gently,
    /// Even if they defer it, and in place of a cancellation that is pending.
    ByForce,
    /// Not at all: it is too late, or has been tried.
    No,
}

/// How far zombies that are alone were pressed to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Zombies {
    Untouched,
    Cancelled,
    Forced,
    GivenUp,
}

/// The life of an application.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifecycle {
    stage: Stage,
    zombies: Zombies,
    /// The process is a child that another coroutine has forked while main had not ended: main is not in it.
    lost_main: bool,
}

impl Lifecycle {
    /// The script begins.
    pub(crate) const fn new() -> Lifecycle {
        Lifecycle { stage: Stage::Running, zombies: Zombies::Untouched, lost_main: false }
    }

    /// The stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns `true` if no coroutine runs again.
    #[inline(always)]
    pub fn has_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    /// Returns `true` if it is shutting down, in either phase.
    pub fn is_shutting_down(&self) -> bool {
        matches!(self.stage, Stage::Graceful | Stage::Forced)
    }

    /// Returns `true` in the second phase of shutdown.
    #[inline(always)]
    pub fn is_forced(&self) -> bool {
        self.stage == Stage::Forced
    }

    /// Returns `true` if zombies are not waited for any more.
    #[inline(always)]
    pub fn has_given_up(&self) -> bool {
        self.zombies == Zombies::GivenUp
    }

    /// Why main's stack, which runs next or runs already, is to end the request.
    #[inline(always)]
    pub fn leaving(&self) -> Option<Leaving> {
        match self.stage {
            Stage::Over => Some(Leaving::Over),
            Stage::Ended(why) => why,
            _ => None,
        }
    }

    /// A failure that nothing handles, or user code, shuts the application down.
    pub(crate) fn shut_down(&mut self) -> Press {
        let (stage, press) = match self.stage {
            Stage::Running => (Stage::Graceful, Press::Gently),
            Stage::Graceful | Stage::Forced => (Stage::Forced, Press::ByForce),
            stage => (stage, Press::No),
        };
        self.stage = stage;
        press
    }

    /// No coroutine can run, and nothing can wake one. `again`: those that were woken with an error for that have swallowed it.
    pub(crate) fn deadlock(&mut self, again: bool) -> Press {
        let (stage, press) = match self.stage {
            Stage::Running | Stage::Graceful if again => (Stage::Forced, Press::ByForce),
            Stage::Running | Stage::Graceful => (Stage::Graceful, Press::Gently),
            stage => (stage, Press::No),
        };
        if stage == Stage::Forced && press == Press::No {
            self.zombies = Zombies::GivenUp; // all are zombies
        }
        self.stage = stage;
        press
    }

    /// Only zombies are left, and their grace has passed.
    pub(crate) fn press_zombies(&mut self) -> Press {
        let (zombies, press) = match self.zombies {
            Zombies::Untouched if self.is_forced() => (Zombies::Cancelled, Press::ByForce),
            Zombies::Untouched => (Zombies::Cancelled, Press::Gently),
            Zombies::Cancelled => (Zombies::Forced, Press::ByForce),
            Zombies::Forced | Zombies::GivenUp => (Zombies::GivenUp, Press::No),
        };
        self.zombies = zombies;
        press
    }

    /// No coroutine is left but those that were abandoned or given up. `main_waits`: main is one of these.
    pub(crate) fn nothing_is_left(&mut self, main_waits: bool) {
        if !self.has_ended() && (main_waits || self.lost_main) {
            self.stage = Stage::Over;
        }
    }

    /// No coroutine runs again. Returns `true` the first time.
    pub(crate) fn end(&mut self, why: Option<Leaving>) -> bool {
        let is_new = !self.has_ended();
        self.stage = Stage::Ended(self.leaving().or(why));
        is_new
    }

    /// In the child of a fork by another coroutine, where main had not ended.
    pub(crate) fn lose_main(&mut self) {
        self.lost_main = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Stage::{Ended, Forced, Graceful, Over, Running};

    const EXIT: Stage = Ended(Some(Leaving::Exit));
    const STAGES: [Stage; 6] = [Running, Graceful, Forced, Over, Ended(None), EXIT];

    /// Checks what one step does in each stage: what it returns, and the stage after it.
    fn check<R: PartialEq + std::fmt::Debug>(step: impl Fn(&mut Lifecycle) -> R, expected: [(R, Stage); 6]) {
        for (stage, expected) in STAGES.into_iter().zip(expected) {
            let mut life = Lifecycle { stage, ..Lifecycle::new() };
            assert_eq!((step(&mut life), life.stage()), expected, "in {stage:?}");
        }
    }

    #[test]
    fn each_step_in_each_stage() {
        use Press::{ByForce, Gently, No};
        let end = [(No, Over), (No, Ended(None)), (No, EXIT)];
        let with = |first: [(Press, Stage); 3]| [first[0], first[1], first[2], end[0], end[1], end[2]];
        check(Lifecycle::shut_down, with([(Gently, Graceful), (ByForce, Forced), (ByForce, Forced)]));
        check(|life| life.deadlock(false), with([(Gently, Graceful), (Gently, Graceful), (No, Forced)]));
        check(|life| life.deadlock(true), with([(ByForce, Forced), (ByForce, Forced), (No, Forced)]));
        let over = [Over, Over, Over, Over, Ended(None), EXIT].map(|stage| ((), stage));
        check(|life| life.nothing_is_left(true), over);
        check(|life| life.nothing_is_left(false), STAGES.map(|stage| ((), stage)));
        check(
            |life| {
                life.lose_main();
                life.nothing_is_left(false);
            },
            over,
        );
        let over = Ended(Some(Leaving::Over));
        let first = (true, Ended(None));
        check(|life| life.end(None), [first, first, first, (true, over), (false, Ended(None)), (false, EXIT)]);
        let fatal = Ended(Some(Leaving::Fatal));
        let first = (true, fatal);
        check(
            |life| life.end(Some(Leaving::Fatal)),
            [first, first, first, (true, over), (false, fatal), (false, EXIT)],
        );
    }

    #[test]
    fn what_is_asked_in_each_stage() {
        let asked = |life: &Lifecycle| (life.has_ended(), life.is_shutting_down(), life.is_forced(), life.leaving());
        let none = (false, false, false, None);
        let expected = [
            none,
            (false, true, false, None),
            (false, true, true, None),
            (false, false, false, Some(Leaving::Over)),
            (true, false, false, None),
            (true, false, false, Some(Leaving::Exit)),
        ];
        for (stage, expected) in STAGES.into_iter().zip(expected) {
            assert_eq!(asked(&Lifecycle { stage, ..Lifecycle::new() }), expected, "in {stage:?}");
        }
    }

    #[test]
    fn zombies_are_pressed_harder_each_time_and_given_up() {
        for (stage, first) in [(Running, Press::Gently), (Graceful, Press::Gently), (Forced, Press::ByForce)] {
            let mut life = Lifecycle { stage, ..Lifecycle::new() };
            for (press, given_up) in [(first, false), (Press::ByForce, false), (Press::No, true), (Press::No, true)] {
                assert_eq!((life.press_zombies(), life.has_given_up(), life.stage()), (press, given_up, stage));
            }
        }
    }

    #[test]
    fn a_deadlock_in_the_second_phase_gives_all_up() {
        for (stage, gives_up) in STAGES.into_iter().zip([false, false, true, false, false, false]) {
            let mut life = Lifecycle { stage, ..Lifecycle::new() };
            life.deadlock(false);
            assert_eq!(life.has_given_up(), gives_up, "in {stage:?}");
        }
    }
}
