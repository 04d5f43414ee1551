//! Values of a coroutine or a scope, by keys: the tables, and what the methods of their classes share.
//!
//! A key is a string or an object. Objects are held weakly: when one is freed, the engine removes its entry. Each
//! function releases values as its last step, because their destructors may use the same tables, park, or end the
//! owner.

use crate::isolation::ErrorHandling;
use crate::runtime::classes;
use spindle_zend::{
    Arguments, Call, Collected, Key, NameTable, Object, PhpResult, Str, Thrown, Value, WeakTable, engine, exception,
};
use std::cell::RefCell;

/// The tables. The owner has to call [`KeyedValues::clear`] where destructors may run.
#[derive(Default)]
pub struct KeyedValues {
    names: NameTable,
    objects: WeakTable,
    /// The error handling of the code that has set the last value: the destructors of the values run with it.
    errors: RefCell<Option<ErrorHandling>>,
}

/// The key has a value already.
pub struct Taken;

impl KeyedValues {
    /// Returns `true` if the key has a value, `null` included.
    pub fn has(&self, key: Key<'_>) -> bool {
        match key {
            Key::Name(name) => self.names.has(name),
            Key::Object(object) => self.objects.has(object),
        }
    }

    /// Returns a copy of the value; for a `WeakReference` its object, or `null`.
    pub fn find(&self, key: Key<'_>) -> Option<Value> {
        let value = match key {
            Key::Name(name) => self.names.get(name),
            Key::Object(object) => self.objects.get(object),
        }?;
        match value.as_object().filter(|object| object.class() == engine::weak_reference_class()) {
            Some(reference) => Some(engine::weak_target(reference)),
            None => Some(value),
        }
    }

    /// Sets the value of a key. The previous value is released, which may run PHP code.
    ///
    /// # Errors
    /// The key has a value, and `replace` is `false`.
    pub fn set(&self, key: Key<'_>, value: Value, replace: bool) -> Result<(), Taken> {
        if !replace && self.has(key) {
            return Err(Taken);
        }
        drop(self.errors.replace(Some(ErrorHandling::capture())));
        let old = match key {
            Key::Name(name) => self.names.set(name, value),
            Key::Object(object) => self.objects.set(object, value),
        };
        drop(old);
        Ok(())
    }

    /// Removes the value of a key. Its release may run PHP code.
    pub fn unset(&self, key: Key<'_>) {
        match key {
            Key::Name(name) => self.names.remove(name),
            Key::Object(object) => self.objects.remove(object),
        }
    }

    /// Takes all values out.
    pub fn take(&self) -> KeyedValues {
        KeyedValues { names: self.names.take(), objects: self.objects.take(), errors: RefCell::new(self.errors.take()) }
    }

    /// Releases all values, which may run PHP code. Values that are added meanwhile stay.
    pub fn clear(&self) {
        let values = self.take();
        let release = || {
            values.names.clear();
            values.objects.clear();
        };
        match values.errors.take() {
            Some(errors) => errors.during(release),
            None => release(),
        }
    }

    /// Forgets the tables without freeing them: the engine has freed the request's memory.
    pub fn forget(&self) {
        self.names.forget();
        self.objects.forget();
        std::mem::forget(self.errors.take());
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.objects.is_empty()
    }

    /// Calls `with` for each value. `with` must not run PHP code.
    pub fn each(&self, mut with: impl FnMut(&Value)) {
        self.names.each(&mut with);
        self.objects.each(&mut with);
    }

    /// Adds the values for the cycle collector. Keys are not held, so they are not added.
    pub fn collect(&self, values: &mut Collected) {
        self.names.collect(values);
        self.objects.collect(values);
        if let Some(errors) = &*self.errors.borrow() {
            errors.collect(values);
        }
    }
}

/// Implements the method `find` of a class with such values. `find` returns the value of a key.
pub fn method_find(call: Call, find: impl FnOnce(Key<'_>) -> Option<Value>) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    Ok(find(key).into())
}

/// Implements the method `get`.
pub fn method_get(call: Call, find: impl FnOnce(Key<'_>) -> Option<Value>) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    find(key)
        .ok_or_else(|| throw(&format!("{} has no value. Use find() or has() where it may be missing", described(key))))
}

/// Implements the method `has`.
pub fn method_has(call: Call, find: impl FnOnce(Key<'_>) -> bool) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    Ok(find(key).into())
}

/// Implements the method `set` on the object's values. Returns the object.
pub fn method_set(call: Call, values: &KeyedValues) -> PhpResult {
    let arguments: Arguments<'_> = call.arguments(2, 3)?;
    let (key, value, replace) = (arguments.key(1)?, arguments.value(2).cloned(), arguments.bool_or(3, false)?);
    let this = Value::from(call.this()); // before PHP code may run
    match values.set(key, value.unwrap_or(Value::NULL), replace) {
        Ok(()) => Ok(this),
        Err(Taken) => {
            Err(throw(&format!("{} is taken. Pass true as the third argument to replace its value", described(key))))
        }
    }
}

/// Implements the method `unset` on the object's values. Returns the object.
pub fn method_unset(call: Call, values: &KeyedValues) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    let this = Value::from(call.this());
    values.unset(key);
    Ok(this)
}

fn throw(text: &str) -> Thrown {
    exception::throw_new(classes::context_exception(), text)
}

fn described(key: Key<'_>) -> String {
    match key {
        Key::Name(name) => format!("The key \"{}\"", name.to_text()),
        Key::Object(object) if object.class() == classes::key() => match key_description(object) {
            Some(text) if !text.as_bytes().is_empty() => format!("The key \"{}\" (an Async\\Key)", text.to_text()),
            _ => "This key".to_owned(),
        },
        Key::Object(object) => format!("This key of the class {}", object.class().name().to_text()),
    }
}

/// Returns the description of an `Async\Key`; `None` if its constructor has not run.
pub fn key_description(key: &Object) -> Option<&Str> {
    key.property(0)?.as_str()
}
