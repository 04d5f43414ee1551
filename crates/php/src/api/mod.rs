//! The functions and methods that PHP code calls.

pub mod awaiting;
pub mod context;
pub mod coroutine;
pub mod functions;
pub mod group;
pub mod nursery;
pub mod operators;
pub mod scope;
pub mod scope_values;
pub mod settled;
pub mod timeout;
