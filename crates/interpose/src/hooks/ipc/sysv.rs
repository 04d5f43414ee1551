//! System V semaphores and message queues: `semop`, `semtimedop`, `msgsnd`, `msgrcv`.
//!
//! They have no readiness. A call is made with `IPC_NOWAIT`; if it would block, the coroutine waits in a queue and
//! tries again when a call of this process has changed the object, and by polling for other processes. Coroutines that
//! wait for the same operation are served in order of arrival; a newcomer that can be served immediately is, as in the
//! kernel.
//!
//! The thread pool is no alternative: waiters would occupy all workers while the coroutine that is to release needs one for a
//! file, and a message that a worker receives just as its call is cancelled could not be put back. The price is that a
//! change by another process is noticed up to 10 ms late, and that processes which block in the kernel are served
//! first.
//!
//! Undo lists (`SEM_UNDO`) work as ever, since every call is made on its own thread.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::{BlockedOn, Host, OnSignal, current_host, errno, fail, php_thread_host, set_errno};
use crate::php_cell::PhpCell;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use crate::wait::time::duration;
use crate::wait::{self, WaitQueue, retry_in_queue, wake_matching};
use libc::{c_int, c_long, c_short, c_void, sembuf, size_t, ssize_t, timespec};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const WAIT: Behavior = Behavior {
        wait: WaitKind::Timer,
        summary: "tried, then retried when this process changes the object, and every 1 to 10 ms",
        on_cancel: on_cancel::FAILS,
    };
    hooked_calls![
        c"semop" => semop, WAIT;
        c"semtimedop" => semtimedop, WAIT;
        c"msgsnd" => msgsnd, WAIT;
        c"msgrcv" => msgrcv, WAIT;
    ]
}

/// What is waited for: a set of semaphores or a message queue. Their identifiers are separate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    Semaphores(c_int),
    Messages(c_int),
}

/// The operation: a kind of call and two numbers. Calls with equal ones can be served at the same times.
type Wish = (u8, i64, i64);

static QUEUE: PhpCell<WaitQueue<(Object, Wish)>> = PhpCell::new(WaitQueue::new());

/// Empties the queue: in the child of a fork, and once the waiting coroutines have been abandoned.
pub(crate) fn reset() {
    if let Some(host) = php_thread_host() {
        QUEUE.with(host, WaitQueue::clear);
    }
}

/// Wakes every waiter for this object, which has changed, in order of arrival.
fn changed(object: Object) {
    if let Some(host) = php_thread_host() {
        wake_matching(&QUEUE, host, 0, |(other, _)| *other == object);
    }
}

/// Repeats `attempt` until it does not fail with `would_block`.
fn retry(
    host: &dyn Host,
    call: &'static str,
    key: (Object, Wish),
    deadline: Option<u64>,
    would_block: c_int,
    attempt: &dyn Fn() -> ssize_t,
) -> ssize_t {
    let saved = errno();
    let once = || match attempt() {
        result @ 0.. => Some(Ok(result)),
        _ if errno() == would_block => None,
        _ => Some(Err(errno())),
    };
    let first = once();
    let waited = first.is_none();
    let result = first.unwrap_or_else(|| {
        // signal(7): never restarted.
        let blocked_on = BlockedOn { call, fd: -1, on_signal: OnSignal::Interrupt };
        retry_in_queue(&QUEUE, host, key, deadline, blocked_on, || match once() {
            // Removed while it waited: no object has this number any more.
            Some(Err(libc::EINVAL)) => Some(Err(libc::EIDRM)),
            result => result,
        })
    });
    if waited || result.is_ok() {
        changed(key.0); // or another waiter is the first one now
    }
    match result {
        Ok(result) => {
            set_errno(saved);
            result
        }
        Err(error) => fail::<i8>(error) as ssize_t,
    }
}

/// Returns the first operation that would block, which decides whether a call in which some have `IPC_NOWAIT` waits or
/// fails. `None` if all can be done by now.
fn first_in_the_way(set: c_int, operations: &[sembuf]) -> Option<&sembuf> {
    let mut values: Vec<(u16, c_int)> = Vec::new();
    operations.iter().find(|op| {
        let index = values.iter().position(|(number, _)| *number == op.sem_num).unwrap_or_else(|| {
            // SAFETY: asks for a number.
            values.push((op.sem_num, unsafe { libc::semctl(set, op.sem_num.into(), libc::GETVAL) }));
            values.len() - 1
        });
        let value = &mut values[index].1;
        let in_the_way = if op.sem_op == 0 { *value != 0 } else { *value + c_int::from(op.sem_op) < 0 };
        *value += c_int::from(op.sem_op);
        in_the_way
    })
}

/// The maximum number of operations that are inspected (the default limit of Linux is 500).
const MOST: usize = 1 << 12;

/// # Safety
/// The arguments are as `semtimedop(2)` wants them.
unsafe fn operate(
    host: &dyn Host,
    call: &'static str,
    set: c_int,
    operations: *mut sembuf,
    count: size_t,
    limit: Option<u64>,
) -> c_int {
    const NOWAIT: c_short = libc::IPC_NOWAIT as c_short;
    let object = Object::Semaphores(set);
    // SAFETY: the caller's own, as many as it says.
    let wanted = unsafe { std::slice::from_raw_parts(operations, count) };
    let own: Vec<sembuf> = wanted.iter().map(|op| sembuf { sem_flg: op.sem_flg | NOWAIT, ..*op }).collect();
    let mixed = wanted.iter().any(|op| op.sem_flg & NOWAIT != 0);
    // The list leaks if the stack is abandoned.
    let attempt = || {
        // SAFETY: a list of ours; the kernel does not write to it.
        let result = unsafe { libc::semop(set, own.as_ptr().cast_mut(), count) };
        if result < 0 && errno() == libc::EAGAIN && mixed {
            let refused = first_in_the_way(set, wanted).is_some_and(|op| op.sem_flg & NOWAIT != 0);
            set_errno(if refused { REFUSED } else { libc::EAGAIN });
        }
        result as ssize_t
    };
    /// Stands for a final `EAGAIN`. No call fails with it.
    const REFUSED: c_int = libc::EXDEV;
    let deadline = limit.map(wait::deadline_after);
    let wish = match wanted {
        [one] => (0, one.sem_num.into(), one.sem_op.into()),
        _ => (1, wanted.as_ptr().addr() as i64, 0), // unlike any other
    };
    let result = retry(host, call, (object, wish), deadline, libc::EAGAIN, &attempt) as c_int;
    if result < 0 && errno() == REFUSED {
        set_errno(libc::EAGAIN);
    }
    result
}

unsafe extern "C" {
    #[link_name = "semtimedop"]
    fn libc_semtimedop(set: c_int, operations: *mut sembuf, count: size_t, timeout: *const timespec) -> c_int;
}

/// `semop(2)`.
pub unsafe extern "C" fn semop(set: c_int, operations: *mut sembuf, count: size_t) -> c_int {
    // SAFETY: the caller's own arguments; no time limit.
    unsafe { semop_within(set, operations, count, std::ptr::null(), "semop") }
}

/// `semtimedop(2)`.
pub unsafe extern "C" fn semtimedop(
    set: c_int,
    operations: *mut sembuf,
    count: size_t,
    timeout: *const timespec,
) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { semop_within(set, operations, count, timeout, "semtimedop") }
}

unsafe fn semop_within(
    set: c_int,
    operations: *mut sembuf,
    count: size_t,
    timeout: *const timespec,
    call: &'static str,
) -> c_int {
    // SAFETY: null or the caller's own time.
    let time = unsafe { timeout.as_ref() };
    let limit = time.map(duration);
    let looked_into = !operations.is_null() && (1..=MOST).contains(&count);
    let (Some(host), None | Some(Some(_)), true) = (current_host(), limit, looked_into) else {
        // SAFETY: the caller's own arguments; wrong ones fail there.
        let result = unsafe { libc_semtimedop(set, operations, count, timeout) };
        if result == 0 {
            changed(Object::Semaphores(set));
        }
        return result;
    };
    // SAFETY: the caller's own arguments.
    unsafe { operate(host, call, set, operations, count, limit.flatten()) }
}

/// `msgsnd(2)`.
pub unsafe extern "C" fn msgsnd(queue: c_int, message: *const c_void, size: size_t, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    let send = |flags| unsafe { libc::msgsnd(queue, message, size, flags) };
    let object = Object::Messages(queue);
    match current_host().filter(|_| flags & libc::IPC_NOWAIT == 0) {
        Some(host) => {
            let attempt = || send(flags | libc::IPC_NOWAIT) as ssize_t;
            retry(host, "msgsnd", (object, (2, size as i64, 0)), None, libc::EAGAIN, &attempt) as c_int
        }
        None => {
            let result = send(flags);
            if result == 0 {
                changed(object);
            }
            result
        }
    }
}

/// `msgrcv(2)`.
pub unsafe extern "C" fn msgrcv(queue: c_int, place: *mut c_void, size: size_t, kind: c_long, flags: c_int) -> ssize_t {
    // SAFETY: the caller's own arguments.
    let receive = |flags| unsafe { libc::msgrcv(queue, place, size, kind, flags) };
    let object = Object::Messages(queue);
    match current_host().filter(|_| flags & libc::IPC_NOWAIT == 0) {
        Some(host) => {
            let attempt = || receive(flags | libc::IPC_NOWAIT);
            retry(host, "msgrcv", (object, (3, kind, flags.into())), None, libc::ENOMSG, &attempt)
        }
        None => {
            let result = receive(flags);
            if result >= 0 {
                changed(object);
            }
            result
        }
    }
}
