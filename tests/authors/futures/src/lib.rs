//! Futures that are ready, are woken in all ways, or never, and count how often they are dropped.

use spindle_ext::{block_on, job, sleep, spawn, tokio as runtime};
use std::ffi::{c_int, c_void};
use std::future::{Future, pending, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use std::{slice, thread};

static DROPPED: AtomicI64 = AtomicI64::new(0);

/// Counts its end.
struct Counted;

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Is woken by a thread as often as the number says, at once or by its own poll.
struct Woken {
    left: i64,
    by_itself: bool,
    _counted: Counted,
}

impl Future for Woken {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.left == 0 {
            return Poll::Ready(());
        }
        self.left -= 1;
        let waker = context.waker().clone();
        if self.by_itself {
            waker.wake();
        } else {
            thread::spawn(move || {
                waker.wake_by_ref();
                waker.wake(); // twice
            });
        }
        Poll::Pending
    }
}

async fn never(_counted: Counted) {
    pending::<()>().await;
}

async fn naps(_counted: Counted) {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Runs futures of this kind, one after the other. Returns 0, or 1 if the coroutine is cancelled.
///
/// # Safety
/// `kind` has this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn authors_run(kind: *const u8, length: usize, count: i64) -> c_int {
    // SAFETY: the caller's promise.
    let kind = unsafe { slice::from_raw_parts(kind, length) };
    let result = match kind {
        b"ready" => (0..count).try_for_each(|_| block_on(ready(())).map(drop)),
        b"calls" => {
            (0..count).for_each(|_| call());
            Ok(())
        }
        b"woken" => block_on(Woken { left: count, by_itself: false, _counted: Counted }),
        b"wakes itself" => block_on(Woken { left: count, by_itself: true, _counted: Counted }),
        b"never" => block_on(never(Counted)),
        b"task" => block_on(runtime::spawn(naps(Counted))).map(drop),
        b"task that never ends" => block_on(runtime::spawn(never(Counted))).map(drop),
        b"job" => {
            let counted = Counted;
            job(move || drop(counted))
        }
        b"sleep" => sleep(Duration::from_millis(count as u64)),
        _ => return 2,
    };
    c_int::from(result.is_err())
}

/// Spawns a coroutine for a future of this kind. It gives the text "ready". Returns null where there is none.
///
/// # Safety
/// `kind` has this length.
#[unsafe(no_mangle)]
unsafe extern "C" fn authors_spawn(kind: *const u8, length: usize, give: extern "C" fn(*mut c_void)) -> *mut c_void {
    // SAFETY: the caller's promise.
    let kind = unsafe { slice::from_raw_parts(kind, length) };
    let counted = Counted; // by what gives the result, too
    let give = move |(), result: *mut c_void| {
        let _counted = counted;
        give(result);
    };
    let coroutine = match kind {
        b"ready" => spawn(ready(()), give),
        b"woken" => spawn(Woken { left: 100, by_itself: false, _counted: Counted }, give),
        b"never" => spawn(never(Counted), give),
        b"task" => {
            let task = runtime::spawn(naps(Counted));
            spawn(async { drop(task.await) }, give)
        }
        _ => None,
    };
    coroutine.map_or(std::ptr::null_mut(), std::ptr::NonNull::as_ptr)
}

#[inline(never)]
fn call() {
    std::hint::black_box(());
}

/// Returns how many futures have been dropped.
#[unsafe(no_mangle)]
extern "C" fn authors_dropped() -> i64 {
    DROPPED.load(Ordering::SeqCst)
}

// SAFETY: the module's entry, in futures.c.
unsafe extern "C" {
    static mut authors_futures_module_entry: c_void;
}

/// What PHP asks a module for.
#[unsafe(no_mangle)]
extern "C" fn get_module() -> *mut c_void {
    &raw mut authors_futures_module_entry
}
