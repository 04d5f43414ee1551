//! Hooks into the engine, and the `Host` of the interposed libc calls.

pub mod hooks;
pub mod host_impl;
pub mod interposition;
#[cfg(lazy_objects)]
pub mod lazy_objects;
pub mod linking;
pub mod loading;
pub mod no_throw;
pub mod output;
pub mod stand_ins;
pub mod syntax;
