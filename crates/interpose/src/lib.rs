//! Blocking libc calls of PHP, its extensions and their libraries, turned into suspension points.
//!
//! Each hook has the name and the contract of the libc function it stands for: same result, `errno`, partial
//! counts and side effects. Outside a coroutine ([`host::current_host`]) it is a plain call of the original.

pub mod books;
pub mod conditions;
pub mod copying;
mod file_io;
pub mod files;
pub mod flocks;
pub mod host;
pub mod hostent;
mod io;
pub mod joins;
pub mod load;
pub mod locks;
mod lot;
pub mod mqueue;
pub mod names;
pub mod net;
pub mod patch;
pub mod paths;
mod php_cell;
pub mod pins;
pub mod poll;
pub mod process;
pub mod registry;
pub mod resolver;
pub mod rw;
pub mod semaphores;
pub mod signals;
pub mod sigwait;
pub mod system;
pub mod sysv;
pub mod time;
pub mod users;
pub mod wait;

use patch::Hook;
use registry::HookedCall;

/// The calls of all families except [`paths`], which a setting adds.
pub fn hooked_calls() -> Vec<HookedCall> {
    let families: &[fn() -> Vec<HookedCall>] = &[
        net::hooked_calls,
        poll::hooked_calls,
        books::hooked_calls,
        rw::hooked_calls,
        files::hooked_calls,
        process::hooked_calls,
        names::hooked_calls,
        users::hooked_calls,
        mqueue::hooked_calls,
        time::hooked_calls,
        locks::hooked_calls,
        conditions::hooked_calls,
        semaphores::hooked_calls,
        joins::hooked_calls,
        signals::hooked_calls,
        sigwait::hooked_calls,
        sysv::hooked_calls,
        load::hooked_calls,
    ];
    families.iter().flat_map(|family| family()).collect()
}

/// The hooks to give to the patcher. With `paths`, also those of calls on paths (`async.file_pool = all`).
pub fn hooks(paths: bool) -> Vec<Hook> {
    let more = if paths { paths::hooked_calls() } else { Vec::new() };
    hooked_calls().into_iter().chain(more).map(|call| call.hook).collect()
}

/// Empties all wait queues: in the child of a fork, and once the waiting coroutines have been abandoned.
pub fn reset_wait_queues() {
    locks::reset();
    flocks::reset();
    sigwait::reset();
    sysv::reset();
    lot::reset();
}
