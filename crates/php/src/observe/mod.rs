//! Diagnostics: dumps, warnings, and the watchdog's reports.

pub mod diagnostics;
pub mod dump;
pub mod info;
pub mod limits;
pub mod metrics;
pub mod slices;
pub mod watch;
