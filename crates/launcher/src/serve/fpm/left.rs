//! The processes of a php-fpm that has crashed: they go on without it, and no one else would end them.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
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

impl Left {
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
