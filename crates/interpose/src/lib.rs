//! Blocking libc calls of PHP, its extensions and their libraries, turned into suspension points.
//!
//! Each hook has the name and the contract of the libc function it stands for: same result, `errno`, partial counts and side
//! effects. Outside a coroutine ([`host::current_host`]) it is a plain call of the original.
//!
//! The modules, lowest first, use only those before them (the file `floors`, which `make lint` checks):
//! - [`host`]: the interface to the runtime that schedules the coroutines, and whether suspension is enabled.
//! - [`mod@patch`]: points the entries of loaded objects at the hooks.
//! - [`registry`]: the types by which a family describes its calls.
//! - [`wait`]: waiting for descriptors, jobs and wait queues, and polling.
//! - [`hooks`]: the calls, by family; a few families build on others.
//!
//! The list of all families is here, so that no type of a family depends on the others.

pub mod hooks;
pub mod host;
pub mod patch;
mod php_cell;
pub mod registry;
pub mod wait;

use hooks::{clock, fd, file, ipc, library, name, net, path, poll, process, rw, signal, sync, time};
use patch::Hook;
use registry::HookedCall;

/// The calls of all families except [`path`] and [`clock`], which settings add.
pub fn hooked_calls() -> Vec<HookedCall> {
    let families: &[fn() -> Vec<HookedCall>] = &[
        rw::hooked_calls,
        net::hooked_calls,
        poll::hooked_calls,
        fd::hooked_calls,
        file::hooked_calls,
        process::hooked_calls,
        name::hooked_calls,
        sync::hooked_calls,
        ipc::hooked_calls,
        signal::hooked_calls,
        time::hooked_calls,
        library::hooked_calls,
    ];
    families.iter().flat_map(|family| family()).collect()
}

/// The hooks to give to the patcher. With `paths`, also those of calls on paths (`async.file_pool = all`); with `clocks`, those of
/// clocks (`async.virtual_time`).
pub fn hook_list(paths: bool, clocks: bool) -> Vec<Hook> {
    let paths = if paths { path::hooked_calls() } else { Vec::new() };
    let clocks = if clocks { clock::hooked_calls() } else { Vec::new() };
    hooked_calls().into_iter().chain(paths).chain(clocks).map(|call| call.hook).collect()
}

/// Empties all wait queues: in the child of a fork, and once the waiting coroutines have been abandoned.
pub fn reset_wait_queues() {
    sync::mutex::reset();
    fd::locks::reset();
    signal::wait::reset();
    ipc::sysv::reset();
    name::reset();
    wait::address_queue::reset();
    wait::turns::reset();
}

/// Takes no lock for one that an abandoned coroutine holds any more.
pub fn forget_lost_locks() {
    sync::mutex::forget_lost();
}
