//! A runtime of tokio on a thread of its own, whose tasks coroutines await.
//!
//! Sockets, timers and whatever else tasks use are that thread's business; a coroutine awaits the end of its task. The runtime is
//! started when it is first used, in each process: after a fork the child has one of its own, and the tasks of the parent do not
//! exist there.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Handle};
use tokio::task;

pub use tokio::task::JoinError;

/// The runtime, and the process that it belongs to.
static RUNTIME: Mutex<Option<(u32, Handle)>> = Mutex::new(None);

/// Returns the runtime.
///
/// # Panics
/// There is no thread, or no descriptor for it.
pub fn handle() -> Handle {
    let process = std::process::id();
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match &*runtime {
        Some((of, handle)) if *of == process => handle.clone(),
        _ => {
            let handle = start();
            // That of a parent is not released: its thread does not exist here.
            std::mem::forget(runtime.replace((process, handle.clone())));
            handle
        }
    }
}

fn start() -> Handle {
    let runtime = Builder::new_current_thread().enable_all().build().expect("tokio's runtime needs descriptors");
    let handle = runtime.handle().clone();
    signals::blocked(|| {
        std::thread::Builder::new()
            .name("spindle-tokio".to_owned())
            .spawn(move || runtime.block_on(std::future::pending::<()>()))
            .expect("tokio's runtime needs a thread")
    });
    handle
}

/// A task, whose result is awaited, by [`block_on`](crate::block_on) above all. Dropped before its end, as when the coroutine that
/// awaits it is cancelled, it is aborted.
pub struct JoinHandle<T>(Option<task::JoinHandle<T>>);

/// Runs a future on the runtime.
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    JoinHandle(Some(handle().spawn(future)))
}

impl<T> JoinHandle<T> {
    /// Lets the task run on by itself.
    pub fn detach(mut self) {
        self.0 = None;
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Some(task) => Pin::new(task).poll(context),
            None => Poll::Pending, // it has been let go, and no one can have it
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

/// Signals go to PHP's thread, which has handlers for them.
mod signals {
    use std::ffi::{c_int, c_void};

    /// A `sigset_t` of Linux.
    #[repr(C, align(8))]
    struct Set([u8; 128]);

    // SAFETY: functions of the C library of Linux.
    unsafe extern "C" {
        fn pthread_sigmask(how: c_int, set: *const c_void, before: *mut c_void) -> c_int;
    }

    /// Runs `what`, which starts a thread, with all signals blocked: the thread inherits that.
    pub fn blocked<R>(what: impl FnOnce() -> R) -> R {
        const SET_MASK: c_int = 2;
        let (all, mut before) = (Set([0xff; 128]), Set([0; 128]));
        // SAFETY: two sets.
        unsafe { pthread_sigmask(SET_MASK, (&raw const all).cast(), (&raw mut before).cast()) };
        let result = what();
        // SAFETY: the set from before.
        unsafe { pthread_sigmask(SET_MASK, (&raw const before).cast(), std::ptr::null_mut()) };
        result
    }
}
