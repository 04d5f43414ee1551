//! What is asked at the admin addresses, and the answers.

use super::Master;
use crate::serve::admin::{Answer, Awaited, Question};
use crate::serve::beside;
use crate::serve::fpm::Fpm;
use crate::serve::report::{self, Told};
use crate::serve::requests::Asking;
use crate::serve::worker::{Stage, Worker};
use std::time::Instant;

impl Master<'_> {
    /// Answers what is asked at the admin addresses.
    pub(super) fn answer(&mut self) {
        let (workers, board, programs, fpm) = (&self.workers, &self.board, &self.beside, &self.fpm);
        let beside = || programs.told().into_iter().chain(fpm.iter().flat_map(Fpm::told)).collect::<Vec<_>>();
        let numbers = |worker: &Worker| worker.place.map(|place| board.read(place)).unwrap_or_default();
        let told = || workers.iter().map(|worker| Told::of(worker, numbers(worker))).collect::<Vec<_>>();
        let (is_stopping, mut reloads, mut upgrades, mut lists) = (self.stopping.is_some(), false, false, false);
        let queued = || workers.iter().fold(0, |sum: u64, worker| sum.saturating_add(numbers(worker).queued));
        let (most_queued, is_ready) = (self.plan.ready_queue, self.is_any(Stage::Serving));
        let reload = if self.is_late() { Awaited::NextReload } else { Awaited::Reload };
        self.admin.turn(|question| {
            let json = |body| Answer { status: 200, kind: "application/json", body };
            let metrics = |body| Answer { status: 200, kind: "text/plain; version=0.0.4; charset=utf-8", body };
            Ok(match question {
                Question::Health => Answer::text(200, "alive"),
                Question::Readiness => match (is_stopping, is_ready, queued()) {
                    (true, ..) => Answer::text(503, "stopping"),
                    (_, false, _) => Answer::text(503, "no worker serves"),
                    (.., queued) if most_queued.is_some_and(|most| queued > most) => {
                        Answer::text(503, format!("{queued} requests wait for a handler"))
                    }
                    _ => Answer::text(200, "ready"),
                },
                Question::Metrics => {
                    let metrics_of_workers = report::metrics(&told(), &self.history, self.lines.missing());
                    metrics(metrics_of_workers + &self.relayed.metrics() + &beside::metrics(&beside()))
                }
                Question::Status => {
                    let addresses = &self.plan.addresses;
                    json(report::status(&told(), &beside(), addresses, self.began, is_stopping))
                }
                Question::Reload | Question::Upgrade if is_stopping => Answer::text(409, "spindle: it is stopping"),
                Question::Reload => {
                    reloads = true;
                    return Err(reload);
                }
                Question::Upgrade => {
                    upgrades = true;
                    return Err(Awaited::Upgrade);
                }
                Question::Requests => {
                    lists = true;
                    return Err(Awaited::Requests);
                }
            })
        });
        if reloads {
            self.reload();
        }
        if upgrades {
            self.upgrade();
        }
        let now = Instant::now();
        if lists && self.asking.is_none() {
            self.asking = Some(Asking::begin(&mut self.workers, now));
        }
        if let Some(asking) = self.asking.take_if(|asking| asking.is_done(now)) {
            let answer = Answer { status: 200, kind: "application/json", body: asking.json() };
            self.admin.tell(Awaited::Requests, &answer);
        }
    }
}
