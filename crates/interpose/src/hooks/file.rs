//! Files: opening, reading, writing, copying and syncing them.

mod copy;
mod known;
mod open;
mod sync;
pub(crate) mod transfer;
pub(crate) mod vectored;

use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};

pub use copy::copy_file_range;
pub use open::{creat, open, openat, set_open_on_workers};
#[cfg(target_env = "gnu")]
pub use open::{open_2, openat_2};
pub use sync::{fdatasync, fsync, msync};

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const OPEN: Behavior = Behavior {
        wait: WaitKind::Worker,
        summary: "FIFOs and devices in the thread pool, the rest in place, or in the thread pool where that is slow",
        on_cancel: on_cancel::CLOSED_LATE,
    };
    const FSYNC: Behavior =
        Behavior { wait: WaitKind::Worker, summary: "in the thread pool", on_cancel: on_cancel::NONE };
    hooked_calls![
        c"open" => open, OPEN;
        c"open64" => open, OPEN;
        c"__open" => open, OPEN;
        c"__open64" => open, OPEN;
        c"openat" => openat, OPEN;
        c"openat64" => openat, OPEN;
        c"creat" => creat, OPEN;
        c"creat64" => creat, OPEN;
        #[cfg(target_env = "gnu")]
        c"__open_2" => open_2, OPEN;
        #[cfg(target_env = "gnu")]
        c"__open64_2" => open_2, OPEN;
        #[cfg(target_env = "gnu")]
        c"__openat_2" => openat_2, OPEN;
        #[cfg(target_env = "gnu")]
        c"__openat64_2" => openat_2, OPEN;
        c"fsync" => fsync, FSYNC;
        c"fdatasync" => fdatasync, FSYNC;
        c"msync" => msync, FSYNC;
        c"copy_file_range" => copy_file_range, Behavior { wait: WaitKind::Worker, summary: "files in the thread pool, the rest in place", on_cancel: on_cancel::NONE };
    ]
}
