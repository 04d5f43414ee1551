//! Every libc function that is hooked, one family per file, and in a line each how it gives way.
//!
//! To add a function: write it in its family's file, name it in that family's `entries`. A family is added here.

use crate::patch::Hook;

/// A hooked function.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What the patcher needs.
    pub hook: Hook,
    /// How it gives way, for the documentation.
    pub about: &'static str,
}

/// A family's list: `entries![c"name" => function, "how it gives way"; …]`.
macro_rules! entries {
    ($($name:literal => $function:path, $about:expr;)*) => {
        vec![$($crate::table::Entry {
            hook: $crate::patch::Hook { name: $name, replacement: $function as *const () as usize },
            about: $about,
        }),*]
    };
}
pub(crate) use entries;

/// All families.
pub fn all() -> Vec<Entry> {
    let families: &[fn() -> Vec<Entry>] = &[
        crate::net::entries,
        crate::poll::entries,
        crate::books::entries,
        crate::rw::entries,
        crate::files::entries,
        crate::process::entries,
        crate::names::entries,
        crate::time::entries,
        crate::locks::entries,
        crate::signals::entries,
        crate::load::entries,
    ];
    families.iter().flat_map(|family| family()).collect()
}

/// What the patcher is given.
pub fn hooks() -> Vec<Hook> {
    all().into_iter().map(|entry| entry.hook).collect()
}
