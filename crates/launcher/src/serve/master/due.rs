//! Ends those that should have ended by themselves.

use super::{LAST_WORDS, LOOK, MOST_LEAVING, Master, version};
use crate::serve::worker::{Stage, Worker};
use rustix::process::Signal;
use std::time::Instant;

impl Master<'_> {
    /// Ends those that should have ended.
    pub(super) fn press(&mut self) {
        let now = Instant::now();
        self.give_up(now);
        if self.plan.is_dev && now >= self.looked + LOOK {
            self.looked = now;
            let changed = self.files.iter().find(|(file, seen)| version(file) != **seen).map(|(file, _)| file);
            let starting = |worker: &&mut Worker| worker.stage == Stage::Starting && !worker.is_told;
            if let (Some(file), Some(worker)) = (changed, self.workers.iter_mut().find(starting)) {
                self.lines.say(&format!("{} has changed: starting again", file.display()));
                worker.finish(now);
            }
        }
        // The oldest ones come first.
        let most = MOST_LEAVING * self.plan.workers;
        let is_leaving = |place: &usize| self.workers[*place].stage == Stage::Leaving;
        let leaving: Vec<usize> = (0..self.workers.len()).filter(is_leaving).collect();
        for place in leaving.iter().take(leaving.len().saturating_sub(most)) {
            let worker = &mut self.workers[*place];
            if !worker.is_pressed {
                worker.is_due_by(now);
                let text = format!(
                    "spindle: {} processes finish their requests: the oldest, {}, cancels those that it still has",
                    leaving.len(),
                    worker.raw_pid()
                );
                self.lines.say(&text);
            }
        }
        for place in 0..self.workers.len() {
            let worker = &mut self.workers[place];
            if worker.due.is_none_or(|due| due > now) {
                continue;
            }
            if worker.stage == Stage::Starting && !worker.is_told && !worker.is_pressed {
                let seconds = (now - worker.began).as_secs();
                self.lines.say(&format!("spindle: PHP is not ready after {seconds} seconds: it is ended"));
            }
            if worker.is_pressed {
                self.lines.say("spindle: PHP does not end: it is killed");
                worker.signal(Signal::KILL);
                worker.due = None;
                self.end_zygote_of(place);
            } else {
                worker.press();
                worker.is_pressed = true;
                worker.due = Some(now + LAST_WORDS);
            }
        }
    }
}
