//! `popen` and `pclose`.
//!
//! `pclose` is libc's own in the thread pool: only libc knows its child, and it reaps no other. A cancellation abandons
//! it; the child is reaped when it ends, and its status is dropped.
//!
//! In musl a stream is closed before it leaves the list of streams whose descriptors `popen` closes in the child. If the
//! descriptor has got its number again by then, as one end of the new pipe, `popen` fails with `EBADF`: see [`try_popen`].
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::hooks::fd::refs;
use crate::hooks::fd::tracking::{closed, opened};
use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, fail, php_thread_host, set_errno};
use crate::wait::{self, Job};
use libc::{FILE, c_char, c_int};
use spindle_reactor::{Blocking, FdKind, Opened};

/// `popen(3)`, which opens its descriptor inside libc.
pub unsafe extern "C" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    const PIPE: Opened = Opened { kind: Some(FdKind::Pipe), blocking: Some(Blocking::Yes), timeouts: None, own: false };
    super::share_descriptors();
    // SAFETY: the caller's own arguments.
    let file = unsafe { try_popen(command, mode) };
    if !file.is_null() && php_thread_host().is_some() {
        // SAFETY: a stream just opened.
        opened(unsafe { libc::fileno(file) }, PIPE);
    }
    file
}

/// Calls the original. With musl it is called again if `pclose` on another thread, which only has to get a lock, has made it fail.
///
/// # Safety
/// As the original.
unsafe fn try_popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
    const TRIES: u32 = if cfg!(target_env = "musl") { 50 } else { 1 };
    let mut tries = 1;
    loop {
        // SAFETY: the caller's own arguments.
        let file = unsafe { libc::popen(command, mode) };
        if !file.is_null() || errno() != libc::EBADF || tries == TRIES {
            return file;
        }
        tries += 1;
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
}

struct Stream(*mut FILE);
// SAFETY: a stream is locked by its functions and may be used on any thread; its owner has handed it to `pclose`
// and must not use it again.
unsafe impl Send for Stream {}

fn job(host: &dyn Host, call: &'static str, job: impl FnOnce() -> c_int + Send + 'static) -> Option<c_int> {
    let saved = errno();
    let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore };
    let job = move || {
        let status = job();
        (status, errno())
    };
    match wait::for_job_or_abandon(host, blocked_on, false, job, |_| ()) {
        Job::Done((status, error)) => {
            set_errno(if status == -1 { error } else { saved });
            Some(status)
        }
        Job::Abandoned(error) => Some(fail(error)),
        Job::NoWorker => None,
    }
}

/// `pclose(3)`.
pub unsafe extern "C" fn pclose(file: *mut FILE) -> c_int {
    if php_thread_host().is_some() {
        // SAFETY: the caller's own stream.
        let fd = unsafe { libc::fileno(file) };
        refs::wait_for_jobs(fd, fd);
        closed(fd);
    }
    let stream = Stream(file);
    let on_worker = current_host().and_then(|host| {
        job(host, "pclose", move || {
            let stream = stream;
            // SAFETY: the caller's stream, closed once: here.
            unsafe { libc::pclose(stream.0) }
        })
    });
    // SAFETY: the caller's own argument; no job has been started.
    on_worker.unwrap_or_else(|| unsafe { libc::pclose(file) })
}
