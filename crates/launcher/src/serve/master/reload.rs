//! Reloads: a generation of workers takes over from another one.

use super::{FIRST_PAUSE, LONGEST_PAUSE, LONGEST_START, Master};
use crate::console;
use crate::serve::admin::{Answer, Awaited};
use crate::serve::limits::{Appetite, INTERVAL};
use crate::serve::worker::{Stage, Worker};
use std::time::{Duration, Instant};

/// How long a worker that starts is not given up for a reload that follows, or this many times as long as the slowest start so far. A
/// generation whose workers get ready and end again has the time of a start. Both double with each one that was given up: one of them
/// gets its time, however often reloads are asked for.
const PATIENCE: Duration = Duration::from_secs(5);
const TIMES_AS_SLOW: u32 = 2;

impl Master<'_> {
    /// A reload is asked for. If another one runs, it follows when that has ended, and once, however often it was asked for.
    pub(super) fn reload(&mut self) {
        if !self.is_late() {
            self.begin();
        } else if self.stopping.is_none() && !self.follows {
            self.follows = true;
            self.lines.say("spindle: another reload follows when the new PHP has taken over");
        }
    }

    /// Whether the workers of a reload have begun, which may have read older code, or those of an upgrade are to.
    pub(super) fn is_late(&self) -> bool {
        let rests = !self.is_any(Stage::Starting) && self.not_before > Instant::now();
        let begun = |next| self.workers.iter().any(|worker| worker.generation == next && !worker.is_told);
        self.upgrade.is_some() || !rests && self.next.is_some_and(begun)
    }

    /// Begins a generation that takes over.
    pub(super) fn begin(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.follows = false;
        let terms = match (self.plan.terms)() {
            Ok(terms) => terms,
            Err(why) => return self.refused(&format!("{}: the old PHP goes on", console::one_line(&why))),
        };
        let text = "starting PHP anew; requests that run are answered by the old one";
        self.lines.say(&format!("spindle: {text}"));
        self.manager.reloads(text);
        self.admin.reloads();
        let now = Instant::now();
        self.newest += 1;
        (self.next, self.next_terms) = (Some(self.newest), Some(terms));
        self.reload_began = now;
        self.does_boot = false;
        self.not_before = now;
        // They have read older code, and may never get ready with that. The next ones begin when they have ended.
        self.finish(|worker| worker.stage == Stage::Starting, now);
    }

    /// Returns `true` while the generation that serves can do so without the next one.
    pub(super) fn goes_on(&self) -> bool {
        let is_old = |worker: &Worker| worker.generation == self.generation && !worker.is_told;
        self.workers.iter().any(|worker| is_old(worker) && worker.stage == Stage::Serving)
    }

    /// There are no terms for a generation. The next one goes on only if no other one can serve.
    fn refused(&mut self, why: &str) {
        self.manager.reloads(why);
        self.admin.reloads();
        if self.goes_on() {
            self.keep_old(why);
        } else {
            self.lines.say(&format!("spindle: {why}"));
            self.history.failed_reloads += 1;
            self.admin.tell(Awaited::Reload, &Answer::text(409, format!("spindle: {why}")));
            if self.next.is_none() {
                self.manager.is_ready(why); // there is no reload any more, whose end would be told
            }
        }
    }

    /// Ends the generation that was to take over.
    fn keep_old(&mut self, why: &str) {
        (self.next, self.next_terms) = (None, None);
        self.history.failed_reloads += 1;
        let (kept, now) = (self.generation, Instant::now());
        self.finish(|worker| worker.generation != kept, now);
        self.reloaded(409, why);
    }

    /// All workers of a generation are ready.
    pub(super) fn taken_over(&mut self, generation: u32, now: Instant) {
        self.given_up = 0;
        self.is_of(generation, now);
        self.renew_programs(now);
        self.history.reloads += 1;
        self.appetite = Appetite::default(); // other code may need less
        self.finish(|worker| worker.generation != generation, now);
        self.reloaded(200, "the new PHP has taken over");
    }

    /// This generation is the one that serves, and goes on if another one does not get ready.
    fn is_of(&mut self, generation: u32, now: Instant) {
        (self.generation, self.next) = (generation, None);
        if let Some(terms) = self.next_terms.take() {
            self.look_at = terms.limits.are_any().then(|| now + INTERVAL);
            self.terms = terms;
        }
    }

    /// There is new code for the programs beside the workers.
    pub(super) fn renew_programs(&mut self, now: Instant) {
        self.beside.reload(now, now + self.terms.grace, &self.terms.env);
        if let Some(fpm) = &mut self.fpm {
            fpm.reload(now, self.terms.fpm.clone());
        }
    }

    /// Says how a reload has ended, and begins the one that follows.
    fn reloaded(&mut self, status: u16, outcome: &str) {
        let line = format!("spindle: {outcome}");
        self.lines.say(&line);
        self.admin.tell(Awaited::Reload, &Answer::text(status, line));
        self.go_on(outcome);
    }

    /// A reload has ended, or an upgrade that is none. What was asked for meanwhile follows.
    pub(super) fn go_on(&mut self, outcome: &str) {
        if std::mem::take(&mut self.upgrade_follows) {
            self.upgrade();
        }
        if self.upgrade.is_some() {
            return; // with it comes a reload
        }
        if self.follows {
            self.begin();
        } else {
            self.manager.is_ready(outcome);
        }
    }

    /// Goes on after one that did not get as far as to serve.
    pub(super) fn failed(&mut self, generation: u32, how: &str) {
        self.does_boot = false;
        if self.next == Some(generation) && self.goes_on() {
            return self.keep_old(&format!("the new PHP {how}: the old one goes on"));
        }
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
        self.failures = (self.failures + 1).min(16);
        let seconds = pause.as_secs_f32();
        self.lines.say(&format!("spindle: PHP {how}: starting it again in {seconds} seconds"));
        self.not_before = Instant::now() + pause;
    }

    /// When a generation that does not get ready is given up for the one that follows.
    pub(super) fn given_up_at(&self) -> Option<Instant> {
        let starts = |worker: &&Worker| worker.stage == Stage::Starting && !worker.is_told;
        let oldest = self.workers.iter().filter(starts).map(|worker| worker.began).min();
        self.next.filter(|_| self.follows || self.upgrade_follows)?;
        Some(given_up_at(self.reload_began, oldest, self.slowest, self.given_up))
    }

    /// Gives up one that has had its time.
    pub(super) fn give_up(&mut self, now: Instant) {
        if self.given_up_at().is_some_and(|at| at <= now) {
            self.given_up += 1;
            if self.upgrade_follows {
                if let Some(next) = self.next.filter(|_| !self.goes_on()) {
                    self.is_of(next, now); // some of its workers may serve, and no others do
                }
                return self.keep_old("the new PHP is not ready: it is ended for the upgrade that follows");
            }
            self.lines.say("spindle: the new PHP is not ready: it is ended for the reload that follows");
            self.begin();
        }
    }
}

fn given_up_at(began: Instant, oldest: Option<Instant>, slowest: Duration, given_up: u32) -> Instant {
    let times = 2u32.saturating_pow(given_up.min(8));
    let all = began + LONGEST_START.max(slowest * super::TIMES_AS_SLOW) * times;
    oldest.map_or(all, |oldest| all.min(oldest + PATIENCE.max(slowest * TIMES_AS_SLOW) * times))
}

#[cfg(test)]
mod tests {
    use super::{PATIENCE, given_up_at};
    use crate::serve::master::{LONGEST_START, TIMES_AS_SLOW};
    use std::time::{Duration, Instant};

    #[test]
    fn one_of_a_few_reloads_gets_all_the_time_that_a_start_may_take() {
        let began = Instant::now();
        for seconds in [0, 1, 60, 600] {
            let slowest = Duration::from_secs(seconds);
            let longest = LONGEST_START.max(slowest * TIMES_AS_SLOW);
            let time = |given_up| given_up_at(began, Some(began), slowest, given_up) - began;
            assert!(time(0) >= PATIENCE && time(0) >= slowest * 2 && time(0) < longest);
            assert!(time(4) >= longest && time(u32::MAX) >= time(4));
        }
    }

    #[test]
    fn a_reload_whose_workers_end_again_and_again_has_the_time_of_a_start() {
        let (began, second) = (Instant::now(), Duration::from_secs(1));
        assert_eq!(given_up_at(began, None, second, 0), began + LONGEST_START);
        assert_eq!(given_up_at(began, None, second, 1), began + LONGEST_START * 2);
        // Those that start just now do not change that.
        let late = began + second * 58;
        assert_eq!(given_up_at(began, Some(late), second, 0), began + LONGEST_START);
        assert_eq!(given_up_at(began, Some(began + second), second, 0), began + second + PATIENCE);
    }
}
