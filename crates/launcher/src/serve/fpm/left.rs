//! The processes of a php-fpm that has crashed: they go on without it, and no one else would end them.

use crate::serve::clock::{from_now, left};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How often it is checked whether they are there: they are not children of this process, which does not learn of their end.
const LOOK: Duration = Duration::from_millis(100);

pub struct Left {
    /// It is not the number of others as long as one of them is there.
    group: Pid,
    /// When they are killed.
    by: Instant,
    look: Instant,
}

/// What is kept of them over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    group: i32,
    by: Duration,
}

impl Left {
    pub fn keep(&self) -> Kept {
        Kept { group: self.group.as_raw_pid(), by: left(self.by) }
    }

    pub fn adopt(kept: &Kept) -> Option<Left> {
        Some(Left { group: Pid::from_raw(kept.group)?, by: from_now(kept.by), look: Instant::now() })
    }

    /// Tells them to finish their requests by then.
    pub fn tell(group: Pid, by: Instant) -> Left {
        let _ = kill_process_group(group, Signal::QUIT); // there may be none
        Left { group, by, look: Instant::now() }
    }

    pub fn is_due_by(&mut self, by: Instant) {
        self.by = self.by.min(by);
    }

    /// When something is to be done.
    pub fn due(&self) -> Instant {
        self.by.min(self.look)
    }

    /// Returns `true` if some are there that have to be.
    pub fn are_there(&mut self, now: Instant) -> bool {
        self.look = now + LOOK;
        test_kill_process_group(self.group).is_ok()
    }

    /// Kills them when it is time, and returns `true` if there were any.
    pub fn kill_when_due(&self, now: Instant) -> bool {
        self.by <= now && kill_process_group(self.group, Signal::KILL).is_ok()
    }
}
