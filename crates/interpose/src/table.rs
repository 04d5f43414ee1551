//! Every libc function that is hooked, one family per file, and in a line each how it gives way.
//!
//! To add a function: write it in its family's file, name it in that family's `entries`. A family is added here.

use crate::patch::Hook;

/// What a call that would wait waits by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// The readiness of a descriptor.
    Readiness,
    /// A job on a worker thread.
    Worker,
    /// Time.
    Timer,
    /// The end of a child.
    Child,
    /// A signal that arrives.
    Signal,
    /// Somebody who releases, signals or posts, and wakes it.
    Waking,
    /// It never waits; it is hooked for the books that the others need.
    Books,
}

/// How a call gives way, for the documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// What it waits by.
    pub means: Means,
    /// How, in a line.
    pub about: &'static str,
    /// What a cancellation does to it while it waits: one of `cancelled`.
    pub cancelled: &'static str,
}

/// What cancellations do to calls that wait.
pub(crate) mod cancelled {
    pub(crate) const FAILS: &str = "`ECANCELED`";
    pub(crate) const PARTIAL: &str = "`ECANCELED`, or the part that was done";
    pub(crate) const GOES_ON: &str = "`ECANCELED`; the connection is made nonetheless, as after a signal";
    pub(crate) const EARLY: &str = "returns early, with the time that is left";
    pub(crate) const WAITED: &str = "waited for: it ends by itself";
    pub(crate) const LEFT: &str = "`ECANCELED` (`EAI_SYSTEM`, `TRY_AGAIN`); the thread goes on, its result is dropped";
    pub(crate) const LATE_CLOSED: &str =
        "FIFO, device: `ECANCELED`, the thread is got out of its call; others are waited for";
    pub(crate) const KILLED: &str = "`ECANCELED`; the shell is killed";
    pub(crate) const TIMED_ONLY: &str = "with a time limit: as if it were over; without: waits on";
    pub(crate) const NEVER: &str = "–";
}

/// A hooked function.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What the patcher needs.
    pub hook: Hook,
    /// How it gives way.
    pub way: Way,
}

/// A family's list: `entries![c"name" => function, WAY; …]`.
macro_rules! entries {
    ($($name:literal => $function:path, $way:expr;)*) => {
        vec![$($crate::table::Entry {
            hook: $crate::patch::Hook { name: $name, replacement: $function as *const () as usize },
            way: $way,
        }),*]
    };
}
pub(crate) use entries;

/// All families but the one of [`mod@crate::paths`], which is asked for by a setting.
pub fn all() -> Vec<Entry> {
    let families: &[fn() -> Vec<Entry>] = &[
        crate::net::entries,
        crate::poll::entries,
        crate::books::entries,
        crate::rw::entries,
        crate::files::entries,
        crate::process::entries,
        crate::names::entries,
        crate::users::entries,
        crate::mqueue::entries,
        crate::time::entries,
        crate::locks::entries,
        crate::conditions::entries,
        crate::semaphores::entries,
        crate::joins::entries,
        crate::signals::entries,
        crate::sigwait::entries,
        crate::sysv::entries,
        crate::load::entries,
    ];
    families.iter().flat_map(|family| family()).collect()
}

/// What the patcher is given; with `paths`, also the calls on paths (`async.file_pool = all`).
pub fn hooks(paths: bool) -> Vec<Hook> {
    let more = if paths { crate::paths::entries() } else { Vec::new() };
    all().into_iter().chain(more).map(|entry| entry.hook).collect()
}
