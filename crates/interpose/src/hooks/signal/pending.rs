//! Watching for pending signals, by a `signalfd`.

use crate::hooks::fd::tracking::{closed, opened};
use crate::host::{BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use crate::wait::Backoff;
use crate::wait::time::MILLISECOND;
use libc::{c_int, sigset_t};
use spindle_reactor::{Blocking, FdKind, Interest, InternalFd, Opened, Reactor, Registration, Waiter, signals};
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, IntoRawFd, RawFd};

/// The interval of polling for signals that cannot be watched for.
const POLL_INTERVAL: u64 = 10 * MILLISECOND;

/// A set of signals, bit `n - 1` for signal `n`.
pub(crate) type Signals = u64;

/// # Safety
/// `set` is valid.
pub(super) unsafe fn signals_of(set: *const sigset_t) -> Signals {
    // SAFETY: by contract; each number is one that the kernel has.
    (1..=64).filter(|signal| unsafe { libc::sigismember(set, *signal) } == 1).fold(0, |all, s| all | 1 << (s - 1))
}

pub(super) fn set_of(signals: Signals) -> sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: initialised by the first call. (libc refuses to add the two signals that it keeps to itself.)
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in (1..=64).filter(|s| signals >> (s - 1) & 1 != 0) {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Returns the signals that this thread blocks and `mask` does not.
///
/// # Safety
/// `mask` is valid.
pub(crate) unsafe fn let_in_by(mask: *const sigset_t) -> Signals {
    let mut blocked = MaybeUninit::uninit();
    // SAFETY: a null set only asks; the answer has room, and `mask` is valid by contract.
    unsafe {
        libc::pthread_sigmask(libc::SIG_SETMASK, std::ptr::null(), blocked.as_mut_ptr());
        signals_of(blocked.as_ptr()) & !signals_of(mask)
    }
}

/// Makes a call that unblocks signals. One that interrupts it interrupts no other call.
pub(crate) fn interrupting_one(call: impl FnOnce() -> c_int) -> c_int {
    let before = signals::caught();
    let result = call();
    if result < 0 && errno() == libc::EINTR {
        signals::acknowledge(signals::caught() & !before);
    }
    result
}

/// A `signalfd`, readable when one of these signals, which the thread blocks, is pending. Closed by [`Pending::close`]:
/// a wait that is abandoned leaks it.
#[derive(Clone, Copy)]
pub(crate) struct Pending(RawFd);

impl Pending {
    pub(crate) const NONE: Pending = Pending(-1);

    pub(super) fn is_open(self) -> bool {
        self.0 >= 0
    }

    pub(crate) fn of(signals: Signals) -> Pending {
        let saved = errno();
        // SAFETY: a valid set, and no descriptor yet.
        let fd = unsafe { libc::signalfd(-1, &set_of(signals), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        let fd = InternalFd::new(fd).map_or(-1, InternalFd::into_raw_fd);
        opened(fd, Opened { kind: Some(FdKind::Other), blocking: Some(Blocking::No), timeouts: None, own: true });
        set_errno(saved);
        Pending(fd)
    }

    /// Registers the waiter. Returns `false` if nothing will wake it: the caller polls.
    pub(crate) fn watch(self, reactor: &Reactor, waiter: Waiter) -> bool {
        self.0 >= 0 && reactor.register(self.0, Interest::READ, waiter) == Registration::Waiting
    }

    pub(crate) fn unwatch(self, reactor: &Reactor, waiter: Waiter) {
        if self.0 >= 0 {
            reactor.deregister(self.0, waiter);
        }
    }

    pub(crate) fn close(self) {
        if self.0 >= 0 {
            let saved = errno();
            closed(self.0);
            // SAFETY: ours, made in `of`.
            drop(unsafe { InternalFd::from_raw_fd(self.0) });
            set_errno(saved);
        }
    }

    /// Parks until such a signal may be pending.
    pub(super) fn park(
        self,
        host: &dyn Host,
        waiter: Waiter,
        deadline: Option<u64>,
        call: &'static str,
        on: OnSignal,
    ) -> Wake {
        let watched = self.watch(host.reactor(), waiter);
        let blocked_on = BlockedOn { call, fd: self.0, on_signal: on };
        let wake = match watched {
            true => host.park(deadline, blocked_on),
            false => Backoff::every(POLL_INTERVAL).park(host, deadline, blocked_on),
        };
        self.unwatch(host.reactor(), waiter);
        wake
    }
}
