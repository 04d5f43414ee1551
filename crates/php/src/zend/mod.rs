//! The engine's values, objects, classes and exceptions.

pub mod settings;
pub mod zeroed;
