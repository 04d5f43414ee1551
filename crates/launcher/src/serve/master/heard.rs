//! What workers say.

use super::{Master, REST, version};
use crate::serve::worker::{BEYOND, Stage};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Instant;

impl Master<'_> {
    /// Takes what one says.
    pub(super) fn listen(&mut self, place: usize) {
        for line in self.workers[place].listen() {
            self.heard(place, &line);
        }
    }

    fn heard(&mut self, place: usize, line: &[u8]) {
        let now = Instant::now();
        let worker = &mut self.workers[place];
        match (line, worker.stage) {
            (b"ready", Stage::Starting) => {
                let was_serving = std::mem::replace(&mut self.has_served, true);
                self.failures = 0;
                worker.stage = Stage::Serving;
                worker.ready = Some(now);
                worker.due = self.at_once; // the deadline of its start no longer applies
                self.slowest = self.slowest.max(now - worker.began);
                if worker.is_told || worker.is_pressed {
                    worker.finish(now);
                    if self.stopping.is_none() {
                        worker.stage = Stage::Leaving;
                    }
                    return;
                }
                let generation = worker.generation;
                self.does_boot = true;
                if !was_serving && self.next.is_none() {
                    self.manager.is_ready("serving");
                }
                let serving = self.of_generation(generation).filter(|worker| worker.stage == Stage::Serving).count();
                if self.next == Some(generation) && serving >= self.plan.workers {
                    self.taken_over(generation, now);
                }
                self.retire(now);
            }
            _ if line.starts_with(b"says ") => self.lines.say(&String::from_utf8_lossy(&line[5..])),
            (b"runs", _) => worker.asked = None,
            (b"failed", _) => worker.has_failed = true,
            (line, _) if line.starts_with(b"request ") => {
                let pid = worker.raw_pid();
                self.asking.as_mut().into_iter().for_each(|asking| asking.tell(pid, &line[8..]));
            }
            (line, _) if line.starts_with(b"requests ") => {
                worker.owes_requests = false;
                let pid = worker.raw_pid();
                self.asking.as_mut().into_iter().for_each(|asking| asking.end(pid, &line[9..]));
            }
            (b"refused", Stage::Starting) => worker.is_refused = true,
            (_, stage) if self.plan.is_dev && line.starts_with(b"file ") && stage != Stage::Leaving => {
                let file = PathBuf::from(OsStr::from_bytes(&line[5..]));
                let seen = version(&file);
                self.files.insert(file, seen);
            }
            (b"leaving", Stage::Serving) if self.stopping.is_none() => {
                worker.stage = Stage::Leaving;
                worker.is_due_by(now + worker.grace + BEYOND);
                self.history.ended("fatal-error");
                let began = worker.began;
                self.rest(began + REST);
                let which = self.name(&self.workers[place]);
                self.lines.say(&format!("spindle: {which} accepts no more requests: starting another one"));
            }
            _ => {}
        }
    }
}
