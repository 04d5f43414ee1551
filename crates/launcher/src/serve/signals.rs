//! The signals that come to this process.

use crate::console;
use nix::sys::signal::SigSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const ALL: [i32; 7] = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD];

/// Has signals wait, also those that come while another program is executed in this process, until [`let_come`].
///
/// # Errors
/// The system refuses that.
pub fn have_wait() -> Result<(), String> {
    SigSet::all().thread_block().map_err(|error| console::reason(&error.into()))
}

/// Lets those come that have waited, and further ones.
///
/// # Errors
/// The system refuses that.
pub fn let_come() -> Result<(), String> {
    SigSet::all().thread_unblock().map_err(|error| console::reason(&error.into()))
}

/// Waits for this long while they wait. Returns `true` if one comes that ends the command; the others mean nothing then.
///
/// # Errors
/// The system refuses that.
pub fn ends_within(time: Duration) -> Result<bool, String> {
    let signals = Signals::catch()?;
    let_come()?;
    let until = Instant::now() + time;
    let mut ends = false;
    while !ends && Instant::now() < until {
        let left = Timespec::try_from(until.saturating_duration_since(Instant::now())).unwrap_or_default();
        let _ = poll(&mut [PollFd::from_borrowed_fd(signals.wakes.as_fd(), PollFlags::IN)], Some(&left)); // or interrupted
        ends = signals.take().iter().any(|signal| [SIGTERM, SIGINT, SIGQUIT].contains(signal));
    }
    have_wait()?;
    Ok(ends)
}

/// Catches them from its making on.
pub struct Signals {
    come: [Arc<AtomicBool>; ALL.len()],
    /// Can be read when one has come.
    pub wakes: UnixStream,
    /// What is called, with a descriptor each, as long as this is there.
    called: Vec<SigId>,
}

impl Signals {
    pub fn catch() -> Result<Signals, String> {
        let caught = || -> std::io::Result<Signals> {
            let (wakes, wake) = UnixStream::pair()?;
            wakes.set_nonblocking(true)?;
            let come: [Arc<AtomicBool>; ALL.len()] = Default::default();
            let mut caught = Signals { come, wakes, called: Vec::new() };
            for (signal, flag) in ALL.iter().zip(&caught.come) {
                // First the flag, then the byte: the order in which they are called.
                caught.called.push(signal_hook::flag::register(*signal, Arc::clone(flag))?);
                caught.called.push(signal_hook::low_level::pipe::register(*signal, wake.try_clone()?)?);
            }
            Ok(caught)
        };
        caught().map_err(|error| format!("signals cannot be caught: {}", console::reason(&error)))
    }

    /// Whether some have come that were not yet taken.
    pub fn have_come(&self) -> bool {
        self.come.iter().any(|flag| flag.load(Ordering::Acquire))
    }

    /// Returns those that have come since.
    pub fn take(&self) -> Vec<i32> {
        let mut bytes = [0; 64];
        while (&self.wakes).read(&mut bytes).is_ok_and(|read| read > 0) {}
        let come = ALL.iter().zip(&self.come).filter(|(_, flag)| flag.swap(false, Ordering::AcqRel));
        come.map(|(signal, _)| *signal).collect()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.called.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}
