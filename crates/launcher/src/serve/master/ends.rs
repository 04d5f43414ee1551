//! What has ended, and what that means.

use super::{CHANGED, DEVELOPMENT_REST, DIED, Master, REST};
use crate::console::Status;
use crate::serve::process;
use crate::serve::worker::{Stage, Worker};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Instant;

impl Master<'_> {
    /// Checks which processes have ended.
    pub(super) fn reap(&mut self) {
        while let Some((pid, status)) = process::reap() {
            let is_its = |worker: &Worker| worker.pid() == Some(pid);
            if !self.workers.iter().any(is_its) {
                self.listen_to_zygotes(); // it may have been forked since
            }
            if let Some(place) = self.workers.iter().position(is_its) {
                self.listen(place); // to its last words
                let worker = self.remove(place);
                self.ended(&worker, status);
            } else if let Some(zygote) = self.zygotes.iter_mut().find(|zygote| zygote.pid == pid) {
                zygote.ended(status, Instant::now());
            } else if self.upgrade.as_ref().is_some_and(|upgrade| upgrade.is(pid)) {
                self.checked(status);
            } else if !self.fpm.as_mut().is_some_and(|fpm| fpm.ended(pid, status)) {
                self.beside.ended(pid, status);
            }
        }
    }

    /// Takes away one that is no more.
    pub(super) fn remove(&mut self, place: usize) -> Worker {
        let worker = self.workers.remove(place);
        self.asking.as_mut().into_iter().for_each(|asking| asking.gone(worker.raw_pid()));
        if let Some(place) = worker.place {
            self.history.gone.add(&self.board.take_from(place));
        }
        worker
    }

    pub(super) fn ended(&mut self, worker: &Worker, status: ExitStatus) {
        let how = process::how(status);
        // One that finishes its requests, and that nothing here has ended.
        let finishes = worker.stage == Stage::Leaving || self.stopping.is_some() && worker.stage == Stage::Serving;
        let is_crash = status.signal().is_some() && finishes && !worker.is_pressed && self.at_once.is_none();
        if is_crash {
            self.history.ended("ended-leaving");
            let which = self.name(worker);
            self.lines.say(&format!("spindle: {which} {how} before it had finished its requests: those are lost"));
        }
        if let Some(so_far) = self.stopping {
            let is_expected = !is_crash && self.is_expected(worker, status);
            self.stopping = Some(if is_expected { so_far } else { Status::Failed });
            return;
        }
        match (worker.stage, status.code()) {
            (Stage::Leaving, _) => {}
            (_, Some(CHANGED)) => self.renew_programs(Instant::now()),
            (_, Some(DIED)) => self.rest(worker.began + DEVELOPMENT_REST),
            (Stage::Starting, _) if worker.is_told => {} // another one begins
            (Stage::Starting, code) if self.is_hopeless(worker) => {
                if code.is_none() {
                    self.lines.say(&format!("spindle: PHP {how} before it could serve"));
                }
                self.stopping = Some(Status::Failed);
            }
            (Stage::Starting, _) => self.failed(worker.generation, &format!("{how} before it could serve")),
            // The others of its generation are not ready yet, and may end in the same way.
            (Stage::Serving, _) if self.next == Some(worker.generation) && self.goes_on() => {
                self.failed(worker.generation, &format!("{how} before it had taken over"));
            }
            (Stage::Serving, _) => {
                self.history.ended("ended");
                self.rest(worker.began + if self.plan.is_dev { DEVELOPMENT_REST } else { REST });
                self.lines.say(&format!("spindle: {} {how}: starting it again", self.name(worker)));
            }
        }
    }

    /// Whether one has ended as it was told to, while the command stops.
    fn is_expected(&self, worker: &Worker, status: ExitStatus) -> bool {
        let is_made_to_end = worker.is_pressed || self.at_once.is_some();
        let is_fine = match worker.stage {
            // One that has not begun to serve was ended by a signal.
            Stage::Starting => status.success() || !worker.is_pressed,
            Stage::Serving => status.success() || worker.has_failed && !is_made_to_end,
            // That an error has ended it was said before.
            Stage::Leaving => status.success() || !is_made_to_end,
        };
        is_fine || matches!(status.code(), Some(CHANGED | DIED))
    }

    /// Returns `true` if there is no reason to try again, after one has ended before it could serve.
    pub(super) fn is_hopeless(&self, worker: &Worker) -> bool {
        self.plan.is_dev || !self.has_served && (worker.is_refused || self.failures + 1 >= self.plan.attempts)
    }
}
