//! Diagnostics: dumps, warnings, and the watchdog's reports.

pub mod diagnostics;
pub mod dump;
pub mod error_log;
pub mod info;
pub mod limits;
mod lines;
pub mod metrics;
pub mod slices;
pub mod watch;
