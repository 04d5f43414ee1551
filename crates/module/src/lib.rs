//! The module that PHP loads, `spindle.so`: the extension of `spindle-php` with the parts of further crates, and nothing else.

#![deny(clippy::multiple_unsafe_ops_per_block)]

use spindle_blocks::Blocks;
use spindle_php::Part;
use spindle_php_sys as sys;

#[global_allocator]
static ALLOCATOR: Blocks = Blocks;

/// What further crates add to the extension.
static PARTS: &[Part] = &[
    spindle_primitives::PART,
    spindle_tasks::PART,
    #[cfg(feature = "server")]
    spindle_http::PART,
];

/// Returns the module entry, which PHP looks up in an extension by this name.
#[unsafe(no_mangle)]
pub extern "C" fn get_module() -> *mut sys::zend_module_entry {
    spindle_php::module_entry(PARTS)
}
