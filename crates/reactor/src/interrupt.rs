//! Interrupting an abandoned job in a system call that may block forever (on a FIFO that is never opened).
//!
//! The worker unblocks one signal while it runs such a job; its handler does nothing, so the call fails with `EINTR`. A signal
//! that arrives just before the call has no effect, so the reactor sends it again until the job has ended.
//!
//! The signal is one that user code does not use. If user code sets an action for it later, running jobs are not interrupted.

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
    /// The signal, chosen on the PHP thread.
    signal: Option<i32>,
}

/// The handler of the signal.
extern "C" fn nothing(_: i32) {}

/// The handler that is installed for a signal.
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

/// Returns a signal that has our handler, which is installed if need be; from the end of the range that programs use least.
/// `None` if all are used.
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

/// Unblocks or blocks the signal in this thread.
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
    /// Runs the job on the calling worker. Returns `None` if it was abandoned before.
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
        // Under the lock: afterwards no signal is sent to this thread for this job.
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = State::Ended;
        Some(value)
    }

    /// Interrupts its call. Returns `false` if it has ended or will never begin.
    pub(crate) fn interrupt(&self) -> bool {
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
