//! Spindle, the PHP extension: coroutines on stock PHP.
//!
//! It contains the life cycle of the module, switching, bailouts, classes and engine hooks. `spindle-core` decides
//! which coroutine runs, is cancelled or is notified. The file `floors` beside this folder says which module may use
//! which.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod api;
mod author;
mod c;
pub mod coroutine;
mod engine;
mod fibers;
mod handles;
mod isolation;
mod module;
mod moments;
mod observe;
mod part;
mod runtime;
pub mod sapi;
mod settings;
mod stack;

pub use observe::{error_log, limits, slices};
pub use part::{Part, module_entry};
pub use runtime::request_value::RequestValue;
