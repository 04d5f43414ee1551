//! Implements `Host`: what the interposed libc calls need from the runtime.

use crate::c;
use crate::engine::interposition;
use crate::handles::{after_call, classify, multi, polling};
use crate::runtime::{
    coroutine::Info,
    fork, moments, pending_cancel,
    pick::CALLS_PER_POLL,
    request,
    scheduler::{self, Runtime, rt},
};
use spindle_core::sched::{WaitReason, WakeReason, Wakeup};
use spindle_interpose::host::{BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use spindle_php_sys as sys;
use spindle_reactor::{Reactor, Waiter};
use spindle_zend::{engine, globals};
use std::ffi::CStr;
use std::os::{fd::RawFd, unix::ffi::OsStrExt};

/// The host of the PHP thread.
pub struct PhpHost;

/// The only instance. The hooks get its address.
pub static HOST: PhpHost = PhpHost;

/// How many calls that did not wait a function may make before it yields between them, and not at its end as usual.
const MAX_CALLS_IN_ONE: u32 = 2 * CALLS_PER_POLL;

fn on(blocked_on: &BlockedOn) -> WaitReason {
    WaitReason::External {
        interruptible: blocked_on.on_signal != OnSignal::Ignore,
        restart: blocked_on.on_signal == OnSignal::Restart,
    }
}

fn info(blocked_on: &BlockedOn) -> Info {
    Info { call: blocked_on.call, fd: blocked_on.fd, since: Reactor::recently(), ..Info::NONE }
}

/// Returns the result of a park that makes the hooked call fail.
fn cancelled() -> Wake {
    if classify::accepts_signals_only() { Wake::Interrupted } else { Wake::Cancelled }
}

/// Handles a cancellation that came when a call that had not waited yielded: this call keeps its result, and the next
/// ones fail. Not in the middle of an exchange with a server, which ends by itself: otherwise the rest of the response
/// would be taken for that of the next request.
#[cold]
fn cancelled_between_calls(rt: &'static Runtime) {
    if classify::is_in_exchange() {
        return;
    }
    if pending_cancel::fail_calls(rt) {
        moments::wait_failed();
    }
}

/// Lets other coroutines run after a number of calls that did not wait, where that is possible. Keeps `errno`.
#[inline(never)]
fn let_others_run(rt: &'static Runtime) {
    let error = errno();
    if !engine::is_writing() && rt.maybe_yield() {
        cancelled_between_calls(rt);
    }
    set_errno(error);
}

/// Lets other coroutines run after a number of calls that never wait. Calls on streams of user code do so at the end of the
/// function, and only if it polls, selects, or has made very many.
#[inline(never)]
fn made_often(rt: &'static Runtime, fd: RawFd, did: bool) {
    if classify::must_not_yield() {
        return;
    }
    if !classify::works_on_streams() {
        let_others_run(rt);
    } else if fd < 0 || polling::has_made_many() || !did && polling::finds_nothing(rt, fd as usize) {
        after_call::yield_after_call();
    }
}

impl Host for PhpHost {
    fn ends_without_lock(&self, call: &'static str) -> ! {
        // At the end of the script its status holds. What PHP would do then is left out: it may want the same lock.
        let status = if request::is_winding_down() { globals::exit_status().get() } else { 255 };
        let is_freeing = globals::executor(|eg| u32::from(eg.flags) & sys::EG_FLAGS_IN_RESOURCE_SHUTDOWN != 0);
        if !is_freeing || !fork::is_in_child() {
            let text =
                format!("spindle: {call}: a coroutine that does not go on holds the lock, so this process ends\n");
            // SAFETY: the bytes of a text.
            unsafe { libc::write(libc::STDERR_FILENO, text.as_ptr().cast(), text.len()) };
        }
        // SAFETY: ends the process.
        unsafe { libc::_exit(status) }
    }

    fn reactor(&self) -> &Reactor {
        rt().reactor()
    }

    fn begin_wait(&self) -> Waiter {
        scheduler::waiter(Wakeup::Park(rt().begin_wait()))
    }

    fn park(&self, deadline: Option<u64>, blocked_on: BlockedOn) -> Wake {
        let rt = rt();
        if rt.context().failing.fail_park() {
            moments::wait_failed();
            return cancelled();
        }
        let reason = rt.park(deadline, on(&blocked_on), true, info(&blocked_on));
        match reason {
            WakeReason::Woken => Wake::Woken,
            WakeReason::TimedOut => Wake::TimedOut,
            WakeReason::Interrupted => Wake::Interrupted,
            WakeReason::Cancelled => {
                pending_cancel::fail_calls(rt);
                moments::wait_failed();
                if blocked_on.fd >= 0 && classify::is_in_exchange() {
                    // The response will still come, and must not be taken for that of the next request: not every
                    // library closes a connection because a wait has failed. Libraries that do are not affected.
                    if c::shutdown(blocked_on.fd, libc::SHUT_RDWR) == 0 {
                        rt.context().failing.has_shut_down(blocked_on.fd);
                    }
                }
                cancelled()
            }
        }
    }

    fn park_for_job(&self, blocked_on: BlockedOn) -> Wake {
        rt().core.borrow_mut().prioritize_wake();
        self.park(None, blocked_on)
    }

    fn park_uncancellable(&self, blocked_on: BlockedOn) {
        let rt = rt();
        rt.park(None, on(&blocked_on), false, info(&blocked_on));
        if rt.core.borrow().cancellation_waits() {
            cancelled_between_calls(rt);
        }
    }

    fn wake(&self, waiter: Waiter) {
        rt().wake(waiter);
    }

    fn yield_if_due(&self) {
        let rt = rt();
        if rt.count_toward_poll(CALLS_PER_POLL) && !classify::must_not_yield() {
            let_others_run(rt);
        }
    }

    fn made_without_waiting(&self, fd: RawFd, did: bool) {
        let rt = rt();
        if did {
            polling::count_done();
        }
        if rt.count_toward_poll(CALLS_PER_POLL) {
            made_often(rt, fd, did);
        }
    }

    fn progressed(&self) {
        polling::count_done();
    }

    fn leaves_waits(&self) -> bool {
        multi::leaves_waits(rt())
    }

    fn leave_wait(&self, fds: &[libc::pollfd], deadline: Option<u64>) {
        multi::leave_wait(fds, deadline);
    }

    fn never_waits(&self) -> bool {
        classify::never_waits()
    }

    /// A yield costs less after the call of a function than within it: nothing is locked then, and a file that the function has
    /// opened is closed.
    fn yield_for_file(&self, at_end: bool) {
        let rt = rt();
        if rt.core.borrow().live() <= 1 || self.writes_in_place() {
            return self.yield_if_due();
        }
        if classify::must_not_yield() {
            return;
        }
        let calls = rt.count_call();
        if at_end && calls < CALLS_PER_POLL || calls < MAX_CALLS_IN_ONE && after_call::yield_after_call() {
            return;
        }
        if rt.yield_if_ready() {
            cancelled_between_calls(rt);
        }
    }

    fn coroutine(&self) -> u64 {
        let core = rt().core.borrow();
        core.id(core.running())
    }

    fn has_pending_cancel(&self) -> bool {
        rt().context().failing.are_on()
    }

    fn is_shut_down(&self, fd: i32) -> bool {
        rt().context().failing.is_shut_down(fd)
    }

    fn can_wait_for_child_again(&self) -> bool {
        classify::waits_for_child_again()
    }

    fn writes_in_place(&self) -> bool {
        engine::is_writing()
    }

    fn keeps_files_in_place(&self) -> bool {
        self.writes_in_place() || classify::is_writing_a_log() || classify::never_waits()
    }

    fn reads_whole(&self, path: &CStr) -> bool {
        classify::reads_whole(path.to_bytes())
    }

    /// Returns `true` for the lock of opcache, if it is a part of PHP's program (since 8.5): opcache holds the lock while it
    /// changes shared memory, for all coroutines, and fails if it does not get it.
    fn locks_for_process(&self, fd: RawFd) -> bool {
        let link = std::fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
        let name = link.as_os_str().as_bytes();
        name.starts_with(b"/memfd:opcache_lock") || name.windows(10).any(|part| part == b"/.ZendSem.")
    }

    fn signal_action_changed(&self, signal: i32) {
        rt().signal_set(signal);
    }

    fn library_loaded(&self) {
        interposition::library_loaded();
    }
}
