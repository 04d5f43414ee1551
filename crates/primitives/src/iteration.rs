//! Walks over arrays, iterators and generators.

use crate::arguments::fails;
use spindle_php::coroutine;
use spindle_zend::{Array, Object, Owned, PhpResult, Thrown, Value, engine, exception};

/// A walk over an iterable. Its elements are asked for one by one; the iterator may suspend the coroutine.
pub enum Iteration {
    /// The array, and the position of the next element.
    Array(Value, u32),
    /// The iterator, and whether it has begun.
    Iterator(Owned<Object>, bool),
}

impl Iteration {
    /// Begins a walk.
    ///
    /// # Errors
    /// `getIterator()` has thrown, or returns no iterator.
    pub fn of(iterable: &Value) -> Result<Iteration, Thrown> {
        if iterable.as_array().is_some() {
            return Ok(Iteration::Array(iterable.clone(), 0));
        }
        let mut object = iterable.as_object().map(Owned::of);
        while let Some(aggregate) = object {
            if aggregate.is_a(engine::iterator_class()) {
                return Ok(Iteration::Iterator(aggregate, false));
            }
            if !aggregate.is_a(engine::aggregate_class()) {
                break;
            }
            object = method(&aggregate, "getIterator")?.as_object().map(Owned::of);
        }
        Err(fails("getIterator() must return a Traversable"))
    }

    /// Returns the next key and value; `None` at the end.
    ///
    /// # Errors
    /// The iterator has thrown.
    pub fn next(&mut self) -> Result<Option<(Value, Value)>, Thrown> {
        match self {
            Iteration::Array(array, position) => {
                let next = array.as_array().and_then(|array| array.next_from(position));
                Ok(next.map(|(key, value)| (key, value.clone())))
            }
            Iteration::Iterator(iterator, has_begun) => {
                let begun = std::mem::replace(has_begun, true);
                method(iterator, if begun { "next" } else { "rewind" })?;
                if !method(iterator, "valid")?.is_truthy() {
                    return Ok(None);
                }
                let value = method(iterator, "current")?;
                Ok(Some((method(iterator, "key")?, value)))
            }
        }
    }
}

/// Calls a method without arguments.
fn method(object: &Object, name: &str) -> PhpResult {
    let callable = Array::list([Value::from(object), name.into()].into_iter()).into();
    Ok(coroutine::call(&callable, &mut [])?.dereferenced().clone())
}

/// Sets the value with a key of an iteration, as PHP code does: one that is neither an integer nor a string is replaced by the next
/// integer.
///
/// # Errors
/// There is no next integer: `PHP_INT_MAX` is a key.
pub fn add(array: &mut Owned<Array>, key: &Value, value: Value) -> Result<(), Thrown> {
    let takes_next = key.as_long().is_none() && key.as_str().is_none();
    if takes_next && array.at(i64::MAX as u64).is_some() {
        let text = "Cannot add element to the array as the next element is already occupied";
        return Err(exception::throw_error(text));
    }
    array.set_key(key, value);
    Ok(())
}
