//! Generator tasks: a scheduler for generators, which are suspended at their `yield`s only and need no stack.
//!
//! ```text
//!                     newTask(), schedule()            run()
//!       (a generator) ─────────────────────► Queued ─────────► Running ─► Finished
//!                                              ▲                  │
//!                        it is over            │                  │ yields …
//!              Waiting ────────────────────────┤                  │
//!                 ▲                            ├── null ──────────┤
//!                 │ an awaitable, a stream     │                  │
//!                 └────────────────────────────┼──────────────────┤
//!                                    schedule()│                  │
//!                                            Idle ◄───────────────┘ a system call
//! ```
//! A task that yields a generator calls it: the task keeps a stack of generators, and the innermost one is resumed. This stack
//! is a list, so neither its depth nor the number of tasks uses a stack of PHP or C.
//!
//! # Exceptions
//! Each PHP value is released at a place that then takes an exception in flight (`thrown::take_thrown`) and gives it to the current
//! task: thrown by its `yield`, or its failure if it has ended. None reaches the scheduler or another task. Only `exit` and the
//! cancellation of the coroutine that runs the scheduler end `run()`.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod arguments;
mod calls;
mod classes;
mod commands;
mod ends;
mod generators;
mod run;
mod scheduler;
mod socket;
mod stacked;
mod system;
mod task;
mod thrown;
mod turn;
mod waiting;
mod waits;

use spindle_php::Part;

/// The part of the module.
// SAFETY: no destructor here is needed for memory safety, no thread is started, and the state that outlives a request are
// numbers: values are released at its end.
pub const PART: Part = unsafe { Part::new(calls::FUNCTIONS) }
    .on_module_start(module_starts)
    .on_request_start(request_starts)
    .on_request_end(request_ends);

fn request_starts() {
    generators::forget_all();
    scheduler::forget_all();
}

fn request_ends() {
    calls::request_ends();
    stacked::request_ends();
}

fn module_starts() {
    calls::register();
    classes::register();
    socket::register();
}
