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
    /// The effect of a cancellation while it waits: one of [`on_cancel`]'s.
    pub on_cancel: &'static str,
}

/// The effects that a cancellation has on calls that wait.
pub(crate) mod on_cancel {
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
    ($($name:literal => $function:path, $behavior:expr;)*) => {
        vec![$($crate::registry::HookedCall {
            hook: $crate::patch::Hook { name: $name, replacement: $function as *const () as usize },
            behavior: $behavior,
        }),*]
    };
}
pub(crate) use hooked_calls;
