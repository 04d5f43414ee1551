//! The classes of `Async\Http`: a server whose handlers are PHP code, one coroutine and one scope for each request.
//!
//! The protocol is `spindle-server`'s. `Server::run()` drives it in the coroutine that calls it (`run.rs`): it waits for
//! descriptors with a `WaitSet`, starts handlers, and cancels them. A handler's coroutine works with its exchange itself, and
//! wakes that loop.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod application;
mod driver;
mod ending;
mod error_log;
mod errors;
mod form;
mod handling;
mod headers;
mod helpers;
mod life;
mod limits;
mod log;
mod options;
mod reply;
mod request;
mod response;
mod run;
mod server;
mod server_variables;
mod slow;
mod spawn_instance;
mod state;
mod tls;
mod topic;
mod topics;
mod upload;
mod websocket;
mod worker;
mod workers;
mod writer;

use spindle_php::{Part, sapi, slices};
use spindle_zend::{Type, Value, function_table};

/// The part of the extension.
// SAFETY: no destructor here is needed for memory safety, and no thread is started. What outlives a request is released at
// its end.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }.on_module_start(register).on_request_end(request_ends);

function_table! {
    static FUNCTIONS = {
        c"Async\\Http\\currentRequest"() -> Type::class(c"Async\\Http\\Request").or_null() => |_| Ok(request::current());
        c"Async\\Http\\requestId"() -> Type::STRING.or_null() => |_| {
            Ok(limits::running().map_or(Value::NULL, |handling| handling.exchange.id().as_str().into()))
        };
        c"Async\\spawnInstance"(body: Type::CALLABLE) -> Type::class(c"Async\\Coroutine") => spawn_instance::spawn_instance;
        c"Async\\Http\\finish"() -> Type::BOOL => |_| Ok(worker::finish().into());
    }
}

fn register() {
    workers::register();
    errors::register();
    server::register();
    tls::register();
    request::register();
    response::register();
    writer::register();
    upload::register();
    websocket::register();
    topic::register();
}

fn request_ends() {
    state::close_all();
    worker::process_request_ends();
    spawn_instance::process_request_ends();
    sapi::instance::end_all();
    slices::forget_servers();
    limits::process_request_ends();
    helpers::forget();
    topics::forget();
}
