//! The moments of a coroutine's life, and of the event loop's, that floors above this one act upon. Each is a function that
//! `crate::moments` defines, in one place, with all who act and in which order. They are linked by name, so that this floor
//! imports none of those, and a call costs what it does.

use crate::runtime::{coroutine::CoroutineObject, ctx::Ctx, scheduler::Runtime};
use spindle_core::sched::CoroutineId;
use spindle_zend::Frame;

// SAFETY: `crate::moments` defines each with this type, which is checked there.
unsafe extern "Rust" {
    /// The first `spawn` of a request: everything that coroutines need is put in place.
    #[link_name = "spindle_moment_first_spawn"]
    pub safe fn first_spawn(rt: &'static Runtime);
    /// The running coroutine leaves the event loop its turn: it parks, yields or has ended.
    #[link_name = "spindle_moment_turn_ends"]
    pub safe fn turn_ends(rt: &'static Runtime);
    /// The event loop waits for events: nothing runs.
    #[link_name = "spindle_moment_loop_waits"]
    pub safe fn loop_waits();
    /// Something is about to run again.
    #[link_name = "spindle_moment_loop_wakes"]
    pub safe fn loop_wakes();
    /// The running coroutine is about to be suspended; others may run next.
    #[link_name = "spindle_moment_suspending"]
    pub safe fn suspending(rt: &'static Runtime);
    /// It is about to wait for other coroutines.
    #[link_name = "spindle_moment_awaits_others"]
    pub safe fn awaits_others(rt: &'static Runtime);
    /// A coroutine is left: its part of the process's state was stored, and the next one's is about to be loaded.
    #[link_name = "spindle_moment_left"]
    pub safe fn left(ctx: &Ctx);
    /// A coroutine goes on, or begins: its state is loaded.
    #[link_name = "spindle_moment_resumed"]
    pub safe fn resumed(ctx: &Ctx);
    /// The body of the running coroutine has ended.
    #[link_name = "spindle_moment_ended"]
    pub safe fn ended(ctx: &Ctx);
    /// No coroutine can run, and none waits for an event. Returns `true` if one was woken.
    #[link_name = "spindle_moment_stalled"]
    pub safe fn stalled(rt: &'static Runtime) -> bool;
    /// In the child of a fork: only the running coroutine lives on.
    #[link_name = "spindle_moment_forked"]
    pub safe fn forked(rt: &'static Runtime);
    /// A coroutine was cancelled.
    #[link_name = "spindle_moment_cancelled"]
    pub safe fn cancelled(rt: &'static Runtime, co: CoroutineId);
    /// A coroutine has failed that user code may still await.
    #[link_name = "spindle_moment_failure_held"]
    pub safe fn failure_held(rt: &'static Runtime, this: &CoroutineObject);
    /// Nobody has awaited a failed coroutine in time.
    #[link_name = "spindle_moment_unawaited"]
    pub safe fn unawaited(rt: &'static Runtime, co: CoroutineId);
    /// A cancelled coroutine has not ended in time.
    #[link_name = "spindle_moment_overdue"]
    pub safe fn overdue(rt: &'static Runtime, co: CoroutineId);
    /// User code exits: what has not ended is lost.
    #[link_name = "spindle_moment_exits"]
    pub safe fn exits(rt: &'static Runtime);
    /// All coroutines have ended after the script. Returns `true` if there is something to be run.
    #[link_name = "spindle_moment_drained"]
    pub safe fn drained(rt: &'static Runtime) -> bool;
    /// No coroutine runs again in this request.
    #[link_name = "spindle_moment_script_over"]
    pub safe fn script_over(rt: &'static Runtime);
    /// The object of a complete coroutine dies.
    #[link_name = "spindle_moment_object_dies"]
    pub safe fn object_dies(rt: &'static Runtime, this: &CoroutineObject);
    /// The signal of `async.dump_signal` has come.
    #[link_name = "spindle_moment_dump_requested"]
    pub safe fn dump_requested(rt: &'static Runtime);
    /// The engine has stopped PHP code between two instructions.
    #[link_name = "spindle_moment_vm_interrupted"]
    pub safe fn vm_interrupted(frame: Option<Frame>);
    /// The request is over, and nothing runs again.
    #[link_name = "spindle_moment_request_ended"]
    pub safe fn request_ended();
}
