//! The engine's values, objects, classes and exceptions.

pub mod call_info;
pub mod class;
pub mod exception;
pub mod modules;
pub mod php_static;
pub mod settings;
pub mod zv;
