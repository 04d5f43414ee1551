//! Coroutines, scopes and groups: binds the core's decisions to stacks, the engine and the reactor.

pub mod awaiting;
pub mod cancellation;
pub mod classes;
pub mod context;
pub mod coroutine;
pub mod ctx;
pub mod dependencies;
pub mod describe;
pub mod failure;
pub mod fork;
pub mod group;
pub mod keyed_values;
pub mod life;
pub mod moments;
pub mod observers;
pub mod park;
pub mod pending_cancel;
pub mod position;
pub mod report;
pub mod runner;
pub mod scheduler;
pub mod scope;
pub mod signals;
pub mod spawn;
pub mod suspension;
pub mod timeout;
