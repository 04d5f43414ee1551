//! Values kept by keys, for a coroutine or a scope: the tables, and what the methods of the classes that have them share.
//!
//! A key is a string or an object. Objects are held weakly: when one dies the engine removes its entry. Values are released as
//! the last step of anything here, because their destructors may use the same tables, park, or end whoever owns them.

use crate::runtime::classes;
use spindle_zend::{
    Arguments, Call, Collected, Key, NameTable, Object, PhpResult, Str, Thrown, Value, WeakTable, engine, exception,
};

/// The tables. Whoever owns them calls [`KeyedValues::clear`] where destructors may run.
#[derive(Default)]
pub struct KeyedValues {
    names: NameTable,
    objects: WeakTable,
}

/// There is a value for the key already.
pub struct Taken;

impl KeyedValues {
    /// Returns `true` if there is a value, also `null`.
    pub fn has(&self, key: Key<'_>) -> bool {
        match key {
            Key::Name(name) => self.names.has(name),
            Key::Object(object) => self.objects.has(object),
        }
    }

    /// Returns a copy of the value; of a `WeakReference`, its object or `null`.
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

    /// Keeps a value. One that was there is released, which may run PHP code.
    ///
    /// # Errors
    /// There is a value already, and `replace` is false.
    pub fn set(&self, key: Key<'_>, value: Value, replace: bool) -> Result<(), Taken> {
        if !replace && self.has(key) {
            return Err(Taken);
        }
        let old = match key {
            Key::Name(name) => self.names.set(name, value),
            Key::Object(object) => self.objects.set(object, value),
        };
        drop(old);
        Ok(())
    }

    /// Releases the value, if there is one, which may run PHP code.
    pub fn unset(&self, key: Key<'_>) {
        match key {
            Key::Name(name) => self.names.remove(name),
            Key::Object(object) => self.objects.remove(object),
        }
    }

    /// Takes all values out.
    pub fn take(&self) -> KeyedValues {
        KeyedValues { names: self.names.take(), objects: self.objects.take() }
    }

    /// Releases all values, which may run PHP code; what that keeps here meanwhile stays.
    pub fn clear(&self) {
        let values = self.take();
        values.names.clear();
        values.objects.clear();
    }

    /// Lets go of the tables, whose memory the request has taken with it.
    pub fn forget(&self) {
        self.names.forget();
        self.objects.forget();
    }

    /// Returns `true` if nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.objects.is_empty()
    }

    /// Calls `with` for each value. It runs no PHP code.
    pub fn each(&self, mut with: impl FnMut(&Value)) {
        self.names.each(&mut with);
        self.objects.each(&mut with);
    }

    /// Tells the cycle collector of the values. Keys are not held, so they are none of its business.
    pub fn collect(&self, values: &mut Collected) {
        self.names.collect(values);
        self.objects.collect(values);
    }
}

/// The method `find` of a class with such values: `look` returns what there is.
pub fn method_find(call: Call, look: impl FnOnce(Key<'_>) -> Option<Value>) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    Ok(look(key).into())
}

/// The method `get`.
pub fn method_get(call: Call, look: impl FnOnce(Key<'_>) -> Option<Value>) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    look(key)
        .ok_or_else(|| throw(&format!("{} has no value. Use find() or has() where it may be missing", described(key))))
}

/// The method `has`.
pub fn method_has(call: Call, look: impl FnOnce(Key<'_>) -> bool) -> PhpResult {
    let key = call.arguments(1, 1)?.key(1)?;
    Ok(look(key).into())
}

/// The method `set`, with the object's values. Returns the object.
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

/// The method `unset`, with the object's values. Returns the object.
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

/// Returns the description of an `Async\Key`; none when its constructor has not run.
pub fn key_description(key: &Object) -> Option<&Str> {
    key.property(0)?.as_str()
}
