//! The engine's values, objects, classes and exceptions.

pub mod call_info;
pub mod exception;
pub mod modules;
pub mod settings;
pub mod zeroed;
pub mod zv;
