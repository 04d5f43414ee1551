//! Raw bindings of the Zend headers that `php-config` names, and the C glue: what needs C macros, `setjmp`
//! frames, or static tables that the preprocessor makes. No policy.
#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals)]
#![allow(missing_docs, clippy::all, unsafe_op_in_unsafe_fn, improper_ctypes, unnecessary_transmutes)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "nothing here is written by hand")]

include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
