//! Defines what happens at each moment of a coroutine's life, in this order: see `runtime::moments`, which declares
//! them.

#[cfg(lazy_objects)]
use crate::engine::lazy_objects;
use crate::engine::{linking, loading};
use crate::fibers;
use crate::handles::{handle_locks, matches, trampolines};
use crate::isolation;
use crate::module;
use crate::observe::{diagnostics, dump, limits, watch};
use crate::runtime::{coroutine::CoroutineObject, ctx::Ctx, dependencies, ends, pending_cancel, scheduler::Runtime};
use spindle_core::sched::CoroutineId;
use spindle_interpose::hooks::sync::mutex as locks;
use spindle_zend::Frame;

/// Defines functions that `runtime::moments` declares, with the types that it declares.
macro_rules! moments {
    ($(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {$(
        #[unsafe(export_name = concat!("spindle_moment_", stringify!($name)))]
        fn $name($($argument: $type),*) $(-> $result)? $body

        const _: [fn($($type),*) $(-> $result)?; 2] = [$name, crate::runtime::moments::$name];
    )*};
}

moments! {
    fn first_spawn(rt: &'static Runtime) {
        module::activate(rt);
    }

    fn run_ends(rt: &'static Runtime) {
        limits::run_ends();
        watch::end_run(rt);
    }

    fn keeps_ending() {
        limits::keeps_ending();
    }

    fn loop_waits() {
        watch::pause();
    }

    fn loop_wakes() {
        watch::resume();
    }

    fn suspending(rt: &'static Runtime) {
        handle_locks::suspending(rt);
        matches::suspending();
        loading::may_have_loaded(rt);
        #[cfg(lazy_objects)]
        lazy_objects::suspending(rt);
    }

    fn survived(rt: &'static Runtime) {
        loading::abandon(rt);
        isolation::forget_autoloads();
    }

    fn awaits_others(rt: &'static Runtime) {
        for co in dependencies::broken_cycles(rt) {
            handle_locks::give_up(rt, co);
            loading::give_up(rt, co);
        }
    }

    fn suspended(ctx: &Ctx) {
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

    fn resumed(ctx: &Ctx) {
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

    fn spawning(rt: &'static Runtime) {
        loading::leave_files(rt);
    }

    fn ended(rt: &'static Runtime, ctx: &Ctx) {
        loading::may_have_loaded(rt);
        trampolines::coroutine_ends(rt, ctx);
        ends::announce(ctx.id.get());
        fibers::coroutine_ended(ctx.id.get());
    }

    fn stalled(rt: &'static Runtime) -> bool {
        loading::resolve_stall(rt) || fibers::release_schedulers()
    }

    fn forked(rt: &'static Runtime) {
        watch::after_fork();
        limits::after_fork();
        handle_locks::forget_all();
        let running = rt.core.borrow().running();
        loading::forget_others(running);
        let id = rt.core.borrow().id(running);
        ends::announce_fork(id);
        fibers::forked(rt);
    }

    fn cancelled(rt: &'static Runtime, co: CoroutineId) {
        diagnostics::cancelled(rt, co);
    }

    fn failure_held(rt: &'static Runtime, this: &CoroutineObject) {
        diagnostics::failed(rt, this);
    }

    fn unawaited(rt: &'static Runtime, co: CoroutineId) {
        diagnostics::unawaited(rt, co);
    }

    fn overdue(rt: &'static Runtime, co: CoroutineId) {
        diagnostics::overdue(rt, co);
    }

    fn exits(rt: &'static Runtime) {
        diagnostics::exits(rt);
    }

    fn drained(rt: &'static Runtime) -> bool {
        diagnostics::script_ended(rt) || fibers::finish(rt)
    }

    fn script_over(_rt: &'static Runtime) {
        watch::report_rest();
    }

    fn object_dies(rt: &'static Runtime, this: &CoroutineObject) {
        diagnostics::object_dies(rt, this);
    }

    fn dump_requested(rt: &'static Runtime) {
        dump::to_stderr(rt);
    }

    fn vm_interrupted(frame: Option<Frame>) {
        watch::interrupted(frame);
        limits::interrupted(frame);
    }

    fn is_ended_alone() -> bool {
        limits::has_ended_coroutine()
    }

    fn request_ended() {
        watch::stop();
        limits::request_ended();
        fibers::request_ended();
    }
}
