//! The moments in the life of a coroutine, and of the event loop, and what happens at each, in this order. `runtime` announces
//! them: this is the one thing above it that it uses.

use crate::author;
#[cfg(lazy_objects)]
use crate::engine::lazy_objects;
use crate::engine::{hooks, linking, loading};
use crate::fibers;
use crate::handles::{handle_locks, matches, trampolines};
use crate::isolation::{self, instance::Instance};
use crate::module;
use crate::observe::{diagnostics, dump, limits, slices, watch};
use crate::part;
use crate::runtime::{coroutine::CoroutineObject, ctx::Ctx, dependencies, pending_cancel, scheduler::Runtime};
use spindle_core::sched::CoroutineId;
use spindle_interpose::hooks::sync::mutex as locks;
use spindle_zend::Frame;

/// The first `spawn` of a request: activates everything that coroutines need.
pub fn first_spawn(rt: &'static Runtime) {
    module::activate(rt);
}

/// The running coroutine returns control to the scheduler: it parks, yields or has ended.
pub fn run_ends(rt: &'static Runtime) {
    limits::run_ends();
    watch::end_run(rt);
}

/// The running coroutine has taken a signal that asks the process to end, and continues.
pub fn keeps_ending() {
    limits::keeps_ending();
}

/// The event loop is about to wait for events; no code runs.
pub fn loop_waits() {
    watch::pause();
}

/// The event loop has returned from waiting.
pub fn loop_wakes() {
    watch::resume();
}

/// The running coroutine is about to be suspended; others may run next.
pub fn suspending(rt: &'static Runtime) {
    handle_locks::suspending(rt);
    matches::suspending();
    loading::may_have_loaded(rt);
    #[cfg(lazy_objects)]
    lazy_objects::suspending(rt);
}

/// A fatal error has ended code of the running coroutine, which lives on.
pub fn survived(rt: &'static Runtime) {
    loading::abandon(rt);
    hooks::survived();
    isolation::forget_autoloads();
}

/// The running coroutine is parked until others have continued, and some of the waits of others could be given up.
pub fn awaits_others(rt: &'static Runtime) {
    for co in dependencies::broken_cycles(rt) {
        handle_locks::give_up(rt, co);
        loading::give_up(rt, co);
    }
}

/// A coroutine was suspended: its part of the process's state was saved, and the next one's is about to be loaded.
pub fn suspended(ctx: &Ctx) {
    ctx.calls.set(trampolines::take_calls());
    let co = ctx.co.get();
    if linking::is_any() {
        linking::hide(co);
    }
    #[cfg(lazy_objects)]
    if lazy_objects::is_any() {
        lazy_objects::hide(co);
    }
    if locks::holds_any() {
        locks::on_park(u64::from(co.0));
    }
}

/// A coroutine is resumed or starts: its state is loaded.
pub fn resumed(ctx: &Ctx) {
    pending_cancel::refresh_checks(ctx);
    trampolines::put_calls(ctx.calls.get());
    let co = ctx.co.get();
    if linking::is_any() {
        linking::show(co);
    }
    #[cfg(lazy_objects)]
    if lazy_objects::is_any() {
        lazy_objects::show(co);
    }
    if locks::holds_any() {
        locks::on_resume(u64::from(co.0));
    }
}

/// The running coroutine, which has run code of files or is the one that a fork has left, spawns another one.
pub fn spawning(rt: &'static Runtime) {
    slices::begin();
    loading::leave_files(rt);
}

/// The body of the running coroutine has ended, and what it holds is released: this may run PHP code, and wait.
pub fn body_ended(id: u64) {
    author::body_ended(id);
    part::body_ends(id);
}

/// The running coroutine has released its values, and gives up what else it has.
#[inline]
pub fn gives_up(id: u64) {
    part::coroutine_ends(id);
}

/// A cancellation has made a wait of C code fail in the running coroutine, or makes further ones fail.
pub fn wait_failed() {
    part::interrupted();
}

/// The running coroutine has ended.
pub fn ended(rt: &'static Runtime, ctx: &Ctx) {
    loading::may_have_loaded(rt);
    trampolines::coroutine_ends(rt, ctx);
    part::coroutine_ends(ctx.id.get());
    author::ended(ctx.id.get());
    fibers::coroutine_ended(ctx.id.get());
}

/// No coroutine can run, and none waits for an event. Returns `true` if one was woken.
pub fn stalled(rt: &'static Runtime) -> bool {
    loading::resolve_stall(rt) || fibers::release_schedulers()
}

/// The process is the child of a fork, in which only the running coroutine lives on.
pub fn forked(rt: &'static Runtime) {
    watch::after_fork();
    limits::after_fork();
    slices::forked();
    Instance::forked();
    rt.running().runs_file.set(true); // `spawning` is called for the first coroutine here
    handle_locks::forget_all();
    let running = rt.core.borrow().running();
    loading::forget_others(running);
    let id = rt.core.borrow().id(running);
    part::forked(id);
    author::forked(id);
    fibers::forked(rt);
}

/// A coroutine was cancelled.
pub fn cancelled(rt: &'static Runtime, co: CoroutineId) {
    diagnostics::cancelled(rt, co);
}

/// A coroutine has failed whose object user code holds and may still await.
pub fn failure_held(rt: &'static Runtime, this: &CoroutineObject) {
    diagnostics::failed(rt, this);
}

/// A failed coroutine has not been awaited in time.
pub fn unawaited(rt: &'static Runtime, co: CoroutineId) {
    diagnostics::unawaited(rt, co);
}

/// A cancelled coroutine has not ended in time.
pub fn overdue(rt: &'static Runtime, co: CoroutineId) {
    diagnostics::overdue(rt, co);
}

/// User code exits; coroutines that have not ended are abandoned.
pub fn exits(rt: &'static Runtime) {
    diagnostics::exits(rt);
}

/// All coroutines have ended after the script. Returns `true` if this has made another one ready.
pub fn drained(rt: &'static Runtime) -> bool {
    diagnostics::script_ended(rt) || fibers::finish(rt)
}

/// No coroutine runs again in this request.
pub fn script_over() {
    watch::report_rest();
}

/// The object of a complete coroutine is being freed.
pub fn object_dies(rt: &'static Runtime, this: &CoroutineObject) {
    diagnostics::object_dies(rt, this);
}

/// The signal of `async.dump_signal` was caught.
pub fn dump_requested(rt: &'static Runtime) {
    dump::to_stderr(rt);
}

/// The engine has stopped PHP code between two instructions.
pub fn vm_interrupted(frame: Option<Frame>) {
    watch::interrupted(frame);
    if limits::interrupted(frame) {
        slices::ticked(frame);
    }
}

/// Returns `true` if the exit that has ended the running coroutine concerns it alone.
pub fn is_ended_alone() -> bool {
    limits::has_ended_coroutine()
}

/// The request has ended; no coroutine runs again.
pub fn request_ended() {
    watch::stop();
    limits::request_ended();
    fibers::request_ended();
    author::request_ended();
}
