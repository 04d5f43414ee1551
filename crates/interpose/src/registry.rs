//! The types by which a family of hooks describes its calls. The list of all families is in the crate's root.

use crate::patch::Hook;

/// What a call waits for when it suspends its coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaitKind {
    /// The readiness of a descriptor.
    Readiness,
    /// A job in the thread pool.
    Worker,
    /// A timer.
    Timer,
    /// The end of a child process.
    Child,
    /// The arrival of a signal.
    Signal,
    /// A place in a wait queue: another coroutine or thread releases, signals or posts.
    Queue,
    /// Nothing: the call never suspends. It is hooked to keep state that other hooks need.
    Never,
}

/// How a call suspends its coroutine, for the documentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Behavior {
    /// What it waits for.
    pub wait: WaitKind,
    /// A one-line description.
    pub summary: &'static str,
    /// The effect of a cancellation while it waits: a constant of `on_cancel`.
    pub on_cancel: &'static str,
}

/// The effects that a cancellation has on calls that wait.
pub(crate) mod on_cancel {
    pub(crate) const FAILS: &str = "`ECANCELED`";
    pub(crate) const PARTIAL: &str = "`ECANCELED`, or the part that is done";
    pub(crate) const CONTINUES: &str = "`ECANCELED`; the attempt goes on, as after a signal";
    pub(crate) const EARLY: &str = "returns early, with the remaining time";
    pub(crate) const NONE: &str = "none: waits until it has ended";
    pub(crate) const ABANDONED: &str =
        "`ECANCELED` (`EAI_SYSTEM`, `TRY_AGAIN`); the worker goes on, its result is dropped";
    pub(crate) const CLOSED_LATE: &str =
        "FIFO, device: `ECANCELED`, and the worker's call is interrupted; others: none";
    pub(crate) const KILLED: &str = "`ECANCELED`; the shell is killed";
    pub(crate) const TIMED_OUT: &str = "with a timeout: as if it had passed; without: none";
    pub(crate) const NEVER: &str = "–";
}

/// A hooked libc function.
#[derive(Clone, Copy, Debug)]
pub struct HookedCall {
    /// The name and the replacement, as the patcher takes them.
    pub hook: Hook,
    /// How it suspends.
    pub behavior: Behavior,
}

/// The list of a family: `hooked_calls![c"name" => function, BEHAVIOR; …]`.
macro_rules! hooked_calls {
    ($($(#[$condition:meta])* $name:literal => $function:path, $behavior:expr;)*) => {
        vec![$($(#[$condition])* $crate::registry::HookedCall {
            hook: $crate::patch::Hook { name: $name, replacement: $function as *const () as usize },
            behavior: $behavior,
        }),*]
    };
}
pub(crate) use hooked_calls;
