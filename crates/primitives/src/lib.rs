//! Channels, futures, semaphores, pools and functions for many awaitables: classes and functions of the extension.
//!
//! What an operation does to a channel or a semaphore is decided in `spindle-core`; this crate suspends coroutines, and keeps
//! PHP's values. No cell is borrowed where a value is dropped or PHP code is called: either may use the same object.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod arguments;
mod await_many;
mod barrier;
mod channel;
mod connection;
mod connections;
mod future;
mod interval;
mod iterate;
mod iteration;
mod map;
mod mutex;
mod names;
mod poll;
mod pool;
mod profiles;
mod race;
mod random;
mod rate_limiter;
mod retry;
mod select;
mod semaphore;
mod signal;
mod streams;

use arguments::{AWAITABLE, TOKEN};
use spindle_php::{Part, coroutine};
use spindle_zend::{Type, function_table};

/// The part of the extension.
// SAFETY: no destructor here is needed for memory safety, and no thread is started.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }
    .on_module_start(register)
    .on_request_end(request_ends)
    .on_body_end(connections::body_ends)
    .on_coroutine_end(mutex::coroutine_ends)
    .on_interrupt(connections::interrupted)
    .on_fork(forked);

function_table! {
    static FUNCTIONS = {
        c"Async\\select"(operations: Type::ARRAY, cancellation: TOKEN => c"null") -> Type::ARRAY => select::select;
        c"Async\\trySelect"(operations: Type::ARRAY) -> Type::ARRAY.or_null() => select::try_select;
        c"Async\\awaitAll"(awaitables: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::ARRAY => await_many::all;
        c"Async\\awaitAny"(awaitables: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::MIXED => await_many::any;
        c"Async\\awaitFirst"(awaitables: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::MIXED => await_many::first;
        c"Async\\awaitAnyOf"(count: Type::INT, awaitables: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::ARRAY => await_many::any_of;
        c"Async\\iterate"(iterable: Type::ITERABLE, callback: Type::CALLABLE, concurrency: Type::INT => c"0") -> Type::VOID => iterate::iterate;
        c"Async\\awaitAllSettled"(awaitables: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::ARRAY => await_many::all_settled;
        c"Async\\map"(items: Type::ITERABLE, callback: Type::CALLABLE, concurrency: Type::INT => c"0", cancellation: TOKEN => c"null") -> Type::ARRAY => map::map;
        c"Async\\race"(tasks: Type::ITERABLE, stagger: Type::INT => c"0") -> Type::MIXED => race::race;
        c"Async\\retry"(task: Type::CALLABLE, attempts: Type::INT => c"3", delay: Type::INT => c"100", factor: Type::FLOAT => c"2.0", jitter: Type::FLOAT => c"0.1", when: Type::CALLABLE.or_null() => c"null") -> Type::MIXED => retry::retry;
        c"Async\\signal"(signo: Type::INT) -> AWAITABLE => signal::signal;
        c"Async\\await_all"(triggers: Type::ITERABLE, cancellation: TOKEN => c"null", preserveKeyOrder: Type::BOOL => c"true", fillNull: Type::BOOL => c"false") -> Type::ARRAY => names::await_all;
        c"Async\\await_all_or_fail"(triggers: Type::ITERABLE, cancellation: TOKEN => c"null", preserveKeyOrder: Type::BOOL => c"true") -> Type::ARRAY => names::await_all_or_fail;
        c"Async\\await_any_or_fail"(triggers: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::MIXED => await_many::any;
        c"Async\\await_first_success"(triggers: Type::ITERABLE, cancellation: TOKEN => c"null") -> Type::ARRAY => names::await_first_success;
        c"Async\\await_any_of"(count: Type::INT, triggers: Type::ITERABLE, cancellation: TOKEN => c"null", preserveKeyOrder: Type::BOOL => c"true", fillNull: Type::BOOL => c"false") -> Type::ARRAY => names::await_any_of;
        c"Async\\await_any_of_or_fail"(count: Type::INT, triggers: Type::ITERABLE, cancellation: TOKEN => c"null", preserveKeyOrder: Type::BOOL => c"true") -> Type::ARRAY => names::await_any_of_or_fail;
        c"Async\\current_coroutine"() -> Type::class(c"Async\\Coroutine") => names::current_coroutine;
        c"Async\\get_coroutines"() -> Type::ARRAY => names::get_coroutines;
        c"Async\\coroutine_context"() -> Type::class(c"Async\\Context") => names::coroutine_context;
        c"Async\\graceful_shutdown"(e: Type::class(c"Throwable").or_null() => c"null") -> Type::VOID => names::graceful_shutdown;
    }
}

/// Registers the classes. At module start.
fn register() {
    channel::register();
    future::register();
    interval::register();
    signal::register();
    semaphore::register();
    rate_limiter::register();
    mutex::register();
    barrier::register();
    poll::register();
    pool::register(connections::STATICS);
    connections::register();
    coroutine::group_class().add_alias(c"Async\\TaskGroup");
    coroutine::awaitable().add_alias(c"Async\\Completable");
    coroutine::await_cancelled_exception().add_alias(c"Async\\OperationCanceledException");
}

fn request_ends() {
    iterate::forget_all();
    connections::request_ends();
    pool::request_ends();
}

fn forked(me: u64) {
    connections::forked();
    pool::forked(me);
}
