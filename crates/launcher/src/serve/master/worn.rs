//! Workers that have served for long enough, and those that stand still.

use super::Master;
use crate::serve::limits::INTERVAL;
use crate::serve::worker::Stage;
use std::time::{Duration, Instant};

impl Master<'_> {
    /// Looks which workers have served for long enough, and which stand still.
    pub(super) fn look(&mut self) {
        let now = Instant::now();
        if self.stopping.is_some() || self.look_at.is_none_or(|at| now < at) {
            return;
        }
        self.look_at = Some(now + INTERVAL);
        let limits = self.terms.limits;
        let most = (self.plan.workers / 4).max(1);
        let mut worn = self.workers.iter().filter(|worker| worker.is_worn && worker.stage == Stage::Serving).count();
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            if worker.stage != Stage::Serving || worker.is_told {
                continue;
            }
            if let Some(limit) = limits.stuck {
                if let Some(since) = worker.asked.filter(|asked| now >= *asked + limit) {
                    let seconds = (now - since).as_secs();
                    worker.asked = None;
                    worker.stage = Stage::Leaving;
                    worker.is_due_by(now); // it is made to say where it is
                    let which = self.name(&self.workers[place]);
                    let text = format!(
                        "spindle: {which} has stood still for {seconds} seconds: it is ended, and another one started"
                    );
                    self.lines.say(&text);
                    self.history.ended("stuck");
                    continue;
                }
                worker.ask(now);
            }
            if worn >= most || worker.is_worn || self.next.is_some() {
                continue;
            }
            let requests = worker.place.map_or(0, |place| self.board.read(place).requests);
            let may_replace = |why: &&str| *why != "max-memory" || !self.appetite.rests(now);
            if let Some(why) = limits.exceeded(worker, requests, now).filter(may_replace) {
                worker.is_worn = true;
                worn += 1;
                let served = worker.ready.map_or(Duration::ZERO, |ready| now - ready);
                let which = self.name(&self.workers[place]);
                self.lines.say(&format!("spindle: {which} has reached --{why}: another one takes its place"));
                self.history.ended(why);
                if why == "max-memory" && self.appetite.reached(requests, served, now) {
                    self.lines.say(
                        "spindle: workers reach --max-memory soon after their start, so the app needs more: they are replaced for that at \
                         growing intervals, of up to a minute",
                    );
                }
            }
        }
    }

    /// Tells a worker whose place another one has taken to finish its requests.
    pub(super) fn retire(&mut self, now: Instant) {
        let serving = self.workers.iter().filter(|worker| worker.stage == Stage::Serving).count();
        let worn = self.workers.iter().position(|worker| worker.is_worn && worker.stage == Stage::Serving);
        if let Some(place) = worn.filter(|_| self.next.is_none() && serving > self.plan.workers) {
            let process = self.workers[place].process;
            self.finish(|worker| worker.process == process, now);
        }
    }
}
