//! Getting an abandoned job out of a system call that may block for ever (a FIFO that nobody opens).
//!
//! The worker lets one signal through while it runs such a job; its handler does nothing, so the call fails with
//! `EINTR`. A signal that comes just before the call is lost: the reactor sends it again until the job has ended.
//!
//! The signal is one that the program does nothing with. Should it take that one later, jobs that run are left alone.

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

enum State {
    Queued,
    Running { thread: libc::pid_t },
    Ended,
    Abandoned,
}

/// One job that can be interrupted.
pub struct Interrupt {
    state: Mutex<State>,
    /// By which; chosen on the PHP thread.
    signal: Option<i32>,
}

extern "C" fn nothing(_: i32) {}

/// What is done on a signal.
fn disposition(signal: i32) -> Option<usize> {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null action only asks; the answer has room, and is read when it was filled.
    unsafe {
        let asked = libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0;
        asked.then(|| action.assume_init().sa_sigaction)
    }
}

fn is_ours(signal: i32) -> bool {
    disposition(signal) == Some(nothing as *const () as usize)
}

/// A signal that is ours, made so if need be; far from those that programs use. `None`: they use all.
fn signal() -> Option<i32> {
    let signal = (libc::SIGRTMIN()..=libc::SIGRTMAX() - 2)
        .rev()
        .find(|signal| is_ours(*signal) || disposition(*signal) == Some(libc::SIG_DFL))?;
    if !is_ours(signal) {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a complete action: no flags (so no restart), an empty mask, and a handler of the plain kind.
        unsafe {
            (*action.as_mut_ptr()).sa_sigaction = nothing as *const () as usize;
            libc::sigemptyset(&raw mut (*action.as_mut_ptr()).sa_mask);
            libc::sigaction(signal, action.as_ptr(), std::ptr::null_mut());
        }
    }
    Some(signal)
}

fn let_through(signal: i32, on: bool) {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    let how = if on { libc::SIG_UNBLOCK } else { libc::SIG_BLOCK };
    // SAFETY: the set is initialised by the first call; only this thread's mask changes.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), signal);
        libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut());
    }
}

impl Default for Interrupt {
    fn default() -> Interrupt {
        Interrupt { state: Mutex::new(State::Queued), signal: signal() }
    }
}

impl Interrupt {
    /// Runs the job on the calling worker; `None` if it was abandoned before.
    pub fn run<T>(&self, job: impl FnOnce() -> T) -> Option<T> {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::Abandoned) {
                return None;
            }
            // SAFETY: no arguments.
            *state = State::Running { thread: unsafe { libc::gettid() } };
        }
        let let_through = |on| self.signal.map_or((), |signal| let_through(signal, on));
        let_through(true);
        let value = job();
        let_through(false);
        // Under the lock: from here on no signal is sent to this thread for this job.
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Ended;
        Some(value)
    }

    /// Gets it out of its call. `false` when it has ended or will never begin.
    pub(crate) fn kick(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match *state {
            State::Running { thread } => match self.signal.filter(|signal| is_ours(*signal)) {
                Some(signal) => {
                    // SAFETY: numbers only; the thread is in its job as long as we hold the lock.
                    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal) };
                    true
                }
                None => false,
            },
            State::Queued => {
                *state = State::Abandoned;
                false
            }
            State::Ended | State::Abandoned => false,
        }
    }
}
