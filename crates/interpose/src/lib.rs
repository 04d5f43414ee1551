//! Blocking libc calls of PHP, its extensions and their libraries, turned into suspension points.
//!
//! Each hook has the name and the contract of the libc function it stands for: same result, `errno`, partial
//! counts and side effects. Outside a coroutine ([`host::inside`]) it is a plain call of the original.

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
pub mod resolver;
pub mod rw;
pub mod semaphores;
pub mod signals;
pub mod sigwait;
pub mod system;
pub mod sysv;
pub mod table;
pub mod time;
pub mod users;
pub mod wait;

/// Forgets all who wait in queues of ours: in the child of a fork, and when their coroutines have been abandoned.
pub fn forget_waiters() {
    locks::reset();
    flocks::reset();
    sigwait::reset();
    sysv::reset();
    lot::reset();
}
