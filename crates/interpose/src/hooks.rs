//! The hooked calls, by family.

pub mod clock;
pub mod fd;
pub mod file;
pub mod ipc;
pub mod library;
pub mod name;
pub mod net;
pub mod path;
pub mod poll;
pub mod process;
pub mod rw;
pub mod signal;
pub mod sync;
pub mod time;
