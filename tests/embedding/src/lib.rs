//! The extension with a part for tests, which has what further crates will need: bounded channels, producers and a server whose
//! bodies are Rust code, and ways to misuse the API.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod channel;
mod misuse;
mod server;

use spindle_php::Part;
use spindle_php_sys as sys;
use spindle_zend::{Object, ObjectClass, Owned, State, Thrown, argument_error};

static PARTS: &[Part] = &[channel::PART, server::PART, misuse::PART];

/// Returns what PHP looks for in an extension.
#[unsafe(no_mangle)]
pub extern "C" fn get_module() -> *mut sys::zend_module_entry {
    spindle_php::module_entry(PARTS)
}

/// Returns an argument that is an object of a class of ours, with a reference of its own.
///
/// # Errors
/// `TypeError`.
fn object_of<T: State>(
    class: &ObjectClass<T>,
    number: u32,
    object: &Object,
) -> Result<Owned<spindle_zend::Instance<T>>, Thrown> {
    class
        .of(object)
        .map(Owned::of)
        .ok_or_else(|| argument_error(number, true, &format!("must be of type {}", class.class().name().to_text())))
}
