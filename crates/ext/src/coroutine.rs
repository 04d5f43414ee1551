//! A future as a coroutine, which PHP code awaits.

use crate::api::current;
use crate::block_on::poll_to_end;
use crate::table::table;
use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;

/// What the coroutine works with. The end of the request drops it if the coroutine does not: all of it is on the heap.
struct Task<F, G> {
    future: Option<Pin<Box<F>>>,
    give: Option<G>,
}

unsafe extern "C" fn run<F: Future, G: FnOnce(F::Output, *mut c_void)>(task: *mut c_void, result: *mut c_void) {
    // SAFETY: the task of `spawn`, which nothing else uses until it is dropped.
    let task = unsafe { &mut *task.cast::<Task<F, G>>() };
    let Some(future) = &mut task.future else { return };
    let output = poll_to_end(future.as_mut());
    task.future = None;
    if let (Ok(output), Some(give)) = (output, task.give.take()) {
        give(output, result);
    }
}

unsafe extern "C" fn drop_task<F, G>(task: *mut c_void) {
    // SAFETY: made by `spawn`; called once, when the coroutine has ended, or will never run again.
    drop(unsafe { Box::from_raw(task.cast::<Task<F, G>>()) });
}

/// Spawns a coroutine that waits for a future, and returns it: an `Async\Coroutine`, which PHP code can await, cancel and combine
/// with others as any `Async\Awaitable`. It is a `zend_object`, whose reference is the caller's, for `RETURN_OBJ()`.
///
/// The future is polled when the coroutine runs, for the first time when the running one waits or has ended: one that should be under
/// way at once is a task of a runtime, as of `tokio::spawn` of this crate. `give` stores the output in the result, a `zval`
/// that is null before, or throws. It is not called if the coroutine is cancelled; the future has been dropped then.
///
/// `None` after an exception was thrown; and without Spindle, on other threads and outside of requests, where none is: throw one
/// that says so. The future has been dropped.
pub fn spawn<F, G>(future: F, give: G) -> Option<NonNull<c_void>>
where
    F: Future + 'static,
    G: FnOnce(F::Output, *mut c_void) + 'static,
{
    let table = table().filter(|_| current() != 0)?;
    let task = Box::new(Task { future: Some(Box::pin(future)), give: Some(give) });
    // SAFETY: functions of this task, on PHP's thread.
    let coroutine = unsafe { (table.spawn_c)(Some(run::<F, G>), Box::into_raw(task).cast(), Some(drop_task::<F, G>)) };
    NonNull::new(coroutine)
}
