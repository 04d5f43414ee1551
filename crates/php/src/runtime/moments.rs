//! The moments in the life of a coroutine, and of the event loop, that higher layers act upon. `crate::moments` defines
//! each function as a list of calls in a fixed order. They are linked by name, so that this layer imports nothing from
//! above; a call costs as much as a direct one.

use crate::runtime::{coroutine::CoroutineObject, ctx::Ctx, scheduler::Runtime};
use spindle_core::sched::CoroutineId;
use spindle_zend::Frame;

// SAFETY: `crate::moments` defines each with this type, which is checked there.
unsafe extern "Rust" {
    /// The first `spawn` of a request: activates everything that coroutines need.
    #[link_name = "spindle_moment_first_spawn"]
    pub safe fn first_spawn(rt: &'static Runtime);
    /// The running coroutine returns control to the scheduler: it parks, yields or has ended.
    #[link_name = "spindle_moment_run_ends"]
    pub safe fn run_ends(rt: &'static Runtime);
    /// The running coroutine has taken a signal that asks the process to end, and goes on.
    #[link_name = "spindle_moment_keeps_ending"]
    pub safe fn keeps_ending();
    /// The event loop is about to wait for events; no code runs.
    #[link_name = "spindle_moment_loop_waits"]
    pub safe fn loop_waits();
    /// The event loop has returned from waiting.
    #[link_name = "spindle_moment_loop_wakes"]
    pub safe fn loop_wakes();
    /// The running coroutine is about to be suspended; others may run next.
    #[link_name = "spindle_moment_suspending"]
    pub safe fn suspending(rt: &'static Runtime);
    /// The running coroutine is parked until others have gone on, and some of the waits of others could be given up.
    #[link_name = "spindle_moment_awaits_others"]
    pub safe fn awaits_others(rt: &'static Runtime);
    /// A coroutine was suspended: its part of the process's state was saved, and the next one's is about to be loaded.
    #[link_name = "spindle_moment_suspended"]
    pub safe fn suspended(ctx: &Ctx);
    /// A coroutine is resumed or starts: its state is loaded.
    #[link_name = "spindle_moment_resumed"]
    pub safe fn resumed(ctx: &Ctx);
    /// The running coroutine, which has run code of files, spawns another one.
    #[link_name = "spindle_moment_spawning"]
    pub safe fn spawning(rt: &'static Runtime);
    /// The body of the running coroutine has ended.
    #[link_name = "spindle_moment_ended"]
    pub safe fn ended(rt: &'static Runtime, ctx: &Ctx);
    /// A fatal error has ended code of the running coroutine, which lives on.
    #[link_name = "spindle_moment_survived"]
    pub safe fn survived(rt: &'static Runtime);
    /// No coroutine can run, and none waits for an event. Returns `true` if one was woken.
    #[link_name = "spindle_moment_stalled"]
    pub safe fn stalled(rt: &'static Runtime) -> bool;
    /// The process is the child of a fork, in which only the running coroutine lives on.
    #[link_name = "spindle_moment_forked"]
    pub safe fn forked(rt: &'static Runtime);
    /// A coroutine was cancelled.
    #[link_name = "spindle_moment_cancelled"]
    pub safe fn cancelled(rt: &'static Runtime, co: CoroutineId);
    /// A coroutine has failed whose object user code holds and may still await.
    #[link_name = "spindle_moment_failure_held"]
    pub safe fn failure_held(rt: &'static Runtime, this: &CoroutineObject);
    /// A failed coroutine has not been awaited in time.
    #[link_name = "spindle_moment_unawaited"]
    pub safe fn unawaited(rt: &'static Runtime, co: CoroutineId);
    /// A cancelled coroutine has not ended in time.
    #[link_name = "spindle_moment_overdue"]
    pub safe fn overdue(rt: &'static Runtime, co: CoroutineId);
    /// User code exits; coroutines that have not ended are abandoned.
    #[link_name = "spindle_moment_exits"]
    pub safe fn exits(rt: &'static Runtime);
    /// All coroutines have ended after the script. Returns `true` if this has made another one ready.
    #[link_name = "spindle_moment_drained"]
    pub safe fn drained(rt: &'static Runtime) -> bool;
    /// No coroutine runs again in this request.
    #[link_name = "spindle_moment_script_over"]
    pub safe fn script_over(rt: &'static Runtime);
    /// The object of a complete coroutine is being freed.
    #[link_name = "spindle_moment_object_dies"]
    pub safe fn object_dies(rt: &'static Runtime, this: &CoroutineObject);
    /// The signal of `async.dump_signal` was caught.
    #[link_name = "spindle_moment_dump_requested"]
    pub safe fn dump_requested(rt: &'static Runtime);
    /// The engine has stopped PHP code between two instructions.
    #[link_name = "spindle_moment_vm_interrupted"]
    pub safe fn vm_interrupted(frame: Option<Frame>);
    /// Returns `true` if the exit that has ended the running coroutine concerns it alone.
    #[link_name = "spindle_moment_is_ended_alone"]
    pub safe fn is_ended_alone() -> bool;
    /// The request is over; no coroutine runs again.
    #[link_name = "spindle_moment_request_ended"]
    pub safe fn request_ended();
}
