//! The engine's values, objects, classes, functions and frames as Rust types.
//!
//! PHP without threads (NTS) runs all its code on one thread: each function of this crate may be called on that thread only,
//! while a request runs or the module starts or stops. The types express the rest:
//!
//! - [`Owned`] is a counted reference, which is released when it is dropped. That may run PHP code (a destructor), which may
//!   suspend the coroutine: drop it where that is allowed.
//! - [`Value`] is a zval that owns what it refers to. A `&Value` may also be a zval of the engine.
//! - `&Object`, `&Str` and `&Array` are structures of the engine, alive as long as there is a reference to them.
//! - [`Class`], [`Function`], [`Extension`] and [`Frame`] point to memory of the engine that lasts as long as the engine uses
//!   it: a class and a function until the end of the request, an extension until the end of the process, a frame until its
//!   call returns. They must not be kept longer.
//!
//! A bailout (`longjmp`) skips destructors. It leaks memory of the request only, which ends then: no value of this
//! crate needs its destructor for anything else.

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod array;
mod call;
mod class;
pub mod class_table;
mod counted;
mod declaration;
#[doc(hidden)]
pub mod declare;
pub mod engine;
pub mod exception;
pub mod fiber;
mod foreach;
mod frame;
mod generator;
pub mod globals;
pub mod hooks;
mod instance;
mod list;
mod object;
mod php_static;
mod resource;
mod shared;
pub mod source;
mod string;
mod table;
mod text;
mod value;
mod zeroed;

pub use array::Template;
pub use call::{Arguments, Call, Key, PhpResult, argument_error};
pub use class::{Class, Extension, Function, Handler};
pub use counted::{Counted, Owned, OwnedCell};
pub use declaration::{
    DeclaredHandler, FunctionEntry, Parameter, Type, add_functions, as_handler, checked, declare_class_extending,
    forget_functions, make_functions, required, run_declared,
};
pub use exception::Thrown;
pub use fiber::FiberContext;
pub use foreach::{ForEach, iterate_by};
pub use frame::{Declaration, Frame};
pub use generator::{Generator, Resumed};
pub use hooks::{Hook, HookPoint};
pub use instance::{Collected, Create, Instance, ObjectClass, State};
pub use list::ValueList;
pub use php_static::PhpStatic;
pub use shared::{Array, Object, Resource, Shared, Str};
pub use source::SourceFile;
pub use spindle_php_sys as sys;
pub use table::{FreeWatch, NameTable, WeakTable};
pub use text::Text;
pub use value::{Kind, Value, ValueCell};
pub use zeroed::{Zeroed, zeroed};
