//! The classes of `Async\Http`: a server whose handlers are PHP code, one coroutine and one scope for each request.
//!
//! The protocol is `spindle-server`'s. `Server::run()` drives it in the coroutine that calls it (`run.rs`): it waits for
//! descriptors with a `WaitSet`, starts handlers, and cancels them. A handler's coroutine works with its exchange itself, and
//! wakes that loop.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod driver;
mod errors;
mod form;
mod headers;
mod helpers;
mod limits;
mod log;
mod options;
mod reply;
mod request;
mod response;
mod run;
mod server;
mod server_variables;
mod tls;
mod upload;
mod websocket;
mod worker;
mod writer;

use spindle_php::Part;
use spindle_zend::{
    Class, Create, FunctionEntry, ObjectClass, State, Type, declare_class_with_statics, function_table, sys,
};
use std::ffi::CStr;

/// The part of the extension.
// SAFETY: no destructor here is needed for memory safety, and no thread is started. What outlives a request is released at
// its end.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }.on_module_start(register).on_request_end(request_ends);

function_table! {
    static FUNCTIONS = {
        c"Async\\Http\\currentRequest"() -> Type::class(c"Async\\Http\\Request").or_null() => |call| {
            call.no_arguments()?;
            Ok(request::current())
        };
        c"Async\\Http\\finish"() -> Type::BOOL => |call| {
            call.no_arguments()?;
            Ok(worker::finish().into())
        };
    }
}

fn register() {
    errors::register();
    server::register();
    tls::register();
    request::register();
    response::register();
    writer::register();
    upload::register();
    websocket::register();
}

fn request_ends() {
    server::close_all();
    worker::process_request_ends();
    limits::process_request_ends();
    helpers::forget();
}

type Methods = &'static [FunctionEntry];

/// Registers a final class whose objects have a state of Rust. At module start.
fn declare<T: State>(class: &ObjectClass<T>, create: Create, name: &CStr, methods: Methods, statics: Methods) -> Class {
    let declared = declare_class_with_statics(name, methods, statics);
    class.register(declared, create, sys::ZEND_ACC_FINAL | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
    declared
}
