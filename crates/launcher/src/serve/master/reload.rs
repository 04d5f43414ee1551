//! Reloads: a generation of workers takes over from another one.

use super::{FIRST_PAUSE, LONGEST_PAUSE, Master};
use crate::serve::worker::{Stage, Worker};
use std::time::Instant;

impl Master<'_> {
    /// Goes on after one that did not get as far as to serve.
    pub(super) fn failed(&mut self, generation: u32, how: &str) {
        self.does_boot = false;
        let is_old = |worker: &Worker| worker.generation == self.generation && !worker.is_told;
        let goes_on = self.workers.iter().any(|worker| is_old(worker) && worker.stage == Stage::Serving);
        if self.next == Some(generation) && goes_on {
            let outcome = format!("spindle: the new PHP {how}: the old one goes on");
            self.lines.say(&outcome);
            self.admin.reloaded(409, &outcome);
            self.history.failed_reloads += 1;
            self.next = None;
            let (kept, now) = (self.generation, Instant::now());
            self.finish(|worker| worker.generation != kept, now);
            return;
        }
        let pause = (FIRST_PAUSE * 2u32.saturating_pow(self.failures)).min(LONGEST_PAUSE);
        self.failures = (self.failures + 1).min(16);
        let seconds = pause.as_secs_f32();
        self.lines.say(&format!("spindle: PHP {how}: starting it again in {seconds} seconds"));
        self.not_before = Instant::now() + pause;
    }

    /// Begins a generation that takes over.
    pub(super) fn reload(&mut self) {
        if self.stopping.is_some() {
            return;
        }
        self.lines.say("spindle: starting PHP anew; requests that run are answered by the old one");
        let now = Instant::now();
        self.newest += 1;
        self.next = Some(self.newest);
        self.does_boot = false;
        self.not_before = now;
        // They have read older code, and may never get ready with that. The next ones begin when they have ended.
        self.finish(|worker| worker.stage == Stage::Starting, now);
    }
}
