//! Functions and methods of this module that PHP code calls.

use crate::{
    Array, Class, Frame, Instance, Object, ObjectClass, State, Str, Text, Thrown, Value, ValueCell, declare, engine,
    exception::c_text, sys, text::OwnedText, zeroed,
};
use std::{cell::Cell, ffi::CString, ops::Deref, ptr};

declare! {
    // What arguments are converted to, and what is thrown for the function that is being called.
    safe fn zend_parse_arg_long_slow(value: &Value, long: &mut i64, number: u32) -> bool;
    safe fn zend_parse_arg_double_slow(value: &Value, double: &mut f64, number: u32) -> bool;
    safe fn zend_parse_arg_bool_slow(value: &Value, truth: &mut bool, number: u32) -> bool;
    safe fn zend_wrong_parameters_count_error(least: u32, most: u32);
    safe fn zend_wrong_parameter_class_error(number: u32, class: Text<'_>, value: &Value);
    safe fn zend_wrong_parameter_class_or_null_error(number: u32, class: Text<'_>, value: &Value);
    safe fn zend_wrong_callback_error(number: u32, error: OwnedText);
    safe fn zend_wrong_callback_or_null_error(number: u32, error: OwnedText);
    safe fn spindle_closure_resolve(callable: &Value, callee: &Cell<sys::zend_fcall_info_cache>) -> bool;
    safe fn spindle_argument_error(number: u32, is_type: bool, message: Text<'_>);
}

/// The result of a function, unless it has thrown.
pub type PhpResult = Result<Value, Thrown>;

/// A call of a function of this module.
#[derive(Clone, Copy)]
pub struct Call(Frame);

impl Deref for Call {
    type Target = Frame;

    #[inline(always)]
    fn deref(&self) -> &Frame {
        &self.0
    }
}

impl Call {
    /// Returns the call in this frame.
    #[inline(always)]
    pub fn of(frame: Frame) -> Call {
        Call(frame)
    }

    /// Runs `body` for a call by the engine, and stores its result in the engine's place for it, which contains null.
    #[inline(always)]
    pub fn run(frame: Frame, result: &ValueCell, body: impl FnOnce(Call) -> PhpResult) {
        if let Ok(value) = body(Call(frame)) {
            result.begin(value);
        }
    }

    /// Returns the arguments, if there are at least `least` and at most `most` of them.
    ///
    /// # Errors
    /// `ArgumentCountError`.
    #[inline(always)]
    pub fn arguments(&self, least: u32, most: u32) -> Result<Arguments<'_>, Thrown> {
        if !(least..=most).contains(&self.argument_count()) {
            return Err(wrong_count(least, most));
        }
        Ok(self.passed())
    }

    /// Returns the arguments, whose number the [declaration](crate::function_table) has checked, or does not matter.
    #[inline(always)]
    pub fn passed(&self) -> Arguments<'_> {
        Arguments { values: self.0.arguments() }
    }

    /// Checks that there are no arguments.
    ///
    /// # Errors
    /// `ArgumentCountError`.
    #[inline(always)]
    pub fn no_arguments(&self) -> Result<(), Thrown> {
        self.arguments(0, 0).map(drop)
    }

    /// Returns the object whose method is called, as an instance of this class.
    ///
    /// # Panics
    /// The object is of another class, with which the engine does not call the method.
    #[inline(always)]
    pub fn this_of<T: State>(&self, class: &ObjectClass<T>) -> &Instance<T> {
        self.0.this().and_then(|object| class.of(object)).expect("a method is called with an object of its class")
    }

    /// Returns the engine's pointer to the arguments.
    pub fn arguments_raw(&self) -> *mut sys::zval {
        self.0.arguments().as_ptr().cast_mut().cast()
    }

    /// Takes the arguments out of the frame. The values left there need no release.
    pub fn take_arguments(&self) -> impl Iterator<Item = Value> {
        let (first, count) = (self.arguments_raw().cast::<Value>(), self.argument_count() as usize);
        // SAFETY: the arguments of the call, which is the caller's: no other code uses them.
        let arguments = unsafe { std::slice::from_raw_parts_mut(first, count) };
        arguments.iter_mut().map(std::mem::take)
    }
}

#[cold]
fn wrong_count(least: u32, most: u32) -> Thrown {
    // The engine's value for "any number".
    let most = if most == u32::MAX { -1 } else { most as i32 };
    zend_wrong_parameters_count_error(least, most as u32);
    Thrown::is_in_flight()
}

/// The arguments of a call, by their numbers from 1 on. They are converted as by PHP's own functions.
#[derive(Clone, Copy)]
pub struct Arguments<'a> {
    values: &'a [Value],
}

/// The key of a value: a string or an object.
#[derive(Clone, Copy)]
pub enum Key<'a> {
    /// A string, also if it is numeric.
    Name(&'a Str),
    /// An object, by its identity.
    Object(&'a Object),
}

impl<'a> Arguments<'a> {
    /// Returns an argument, if it was passed.
    #[inline(always)]
    pub fn value(&self, number: u32) -> Option<&'a Value> {
        self.values.get(number as usize - 1)
    }

    /// Returns this argument and all that follow.
    pub fn from(&self, number: u32) -> &'a [Value] {
        self.values.get(number as usize - 1..).unwrap_or_default()
    }

    /// Returns an integer.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn long(&self, number: u32) -> Result<i64, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        if let Some(long) = value.as_long() {
            return Ok(long);
        }
        let mut long = 0;
        if zend_parse_arg_long_slow(value, &mut long, number) {
            Ok(long)
        } else {
            Err(wrong_type(number, sys::Z_EXPECTED_LONG, value))
        }
    }

    /// Returns an integer, or the default if none was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn long_or(&self, number: u32, default: i64) -> Result<i64, Thrown> {
        if self.value(number).is_none() { Ok(default) } else { self.long(number) }
    }

    /// Returns a floating-point number, or `None` if none or `null` was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn double_or_null(&self, number: u32) -> Result<Option<f64>, Thrown> {
        let Some(value) = self.value(number).filter(|value| value.type_number() != sys::IS_NULL) else {
            return Ok(None);
        };
        if let Some(double) = value.as_double() {
            return Ok(Some(double));
        }
        let mut double = 0.0;
        if zend_parse_arg_double_slow(value, &mut double, number) {
            Ok(Some(double))
        } else {
            Err(wrong_type(number, sys::Z_EXPECTED_DOUBLE_OR_NULL, value))
        }
    }

    /// Returns a float, or the default if none was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn double_or(&self, number: u32, default: f64) -> Result<f64, Thrown> {
        match self.value(number) {
            Some(value) if value.type_number() == sys::IS_NULL => {
                Err(wrong_type(number, sys::Z_EXPECTED_DOUBLE, value))
            }
            _ => Ok(self.double_or_null(number)?.unwrap_or(default)),
        }
    }

    /// Returns a boolean, or the default if none was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn bool_or(&self, number: u32, default: bool) -> Result<bool, Thrown> {
        let Some(value) = self.value(number) else { return Ok(default) };
        let mut truth = value.type_number() == sys::IS_TRUE;
        if truth || value.type_number() == sys::IS_FALSE {
            return Ok(truth);
        }
        if zend_parse_arg_bool_slow(value, &mut truth, number) {
            Ok(truth)
        } else {
            Err(wrong_type(number, sys::Z_EXPECTED_BOOL, value))
        }
    }

    /// Returns a string.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn str(&self, number: u32) -> Result<&'a Str, Thrown> {
        self.str_or(number, sys::Z_EXPECTED_STRING)
    }

    fn str_or(&self, number: u32, expected: sys::zend_expected_type) -> Result<&'a Str, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        if let Some(string) = value.as_str() {
            return Ok(string);
        }
        let mut string = ptr::null_mut();
        // SAFETY: a value of the call's, which becomes a string, and a place for that.
        let is_one = unsafe { sys::zend_parse_arg_str_slow(value.as_raw().cast_mut(), &mut string, number) };
        // SAFETY: what the argument holds now.
        let found = if is_one { unsafe { Str::borrow(string) } } else { None };
        found.ok_or_else(|| wrong_type(number, expected, value))
    }

    /// Returns an array.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn array(&self, number: u32) -> Result<&'a Array, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        value.as_array().ok_or_else(|| wrong_type(number, sys::Z_EXPECTED_ARRAY, value))
    }

    /// Returns an array or a `Traversable`.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn iterable(&self, number: u32) -> Result<&'a Value, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        let is_traversable =
            |object: &Object| object.is_a(engine::iterator_class()) || object.is_a(engine::aggregate_class());
        if value.as_array().is_some() || value.as_object().is_some_and(is_traversable) {
            return Ok(value);
        }
        Err(wrong_type(number, sys::Z_EXPECTED_ITERABLE, value))
    }

    /// Returns an object of this class.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn object(&self, number: u32, class: Class) -> Result<&'a Object, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        value.as_object().filter(|object| object.is_a(class)).ok_or_else(|| wrong_class(number, class, value, false))
    }

    /// Returns an object of this class, or `None` if none or `null` was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn object_or_null(&self, number: u32, class: Class) -> Result<Option<&'a Object>, Thrown> {
        match self.value(number) {
            None => Ok(None),
            Some(value) if value.type_number() == sys::IS_NULL => Ok(None),
            Some(value) => match value.as_object().filter(|object| object.is_a(class)) {
                None => Err(wrong_class(number, class, value, true)),
                object => Ok(object),
            },
        }
    }

    /// Returns a closure.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn closure(&self, number: u32) -> Result<&'a Object, Thrown> {
        self.object(number, engine::closure_class())
    }

    /// Returns a string or an object.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn key(&self, number: u32) -> Result<Key<'a>, Thrown> {
        match self.value(number).and_then(Value::as_object) {
            Some(object) => Ok(Key::Object(object)),
            None => self.str_or(number, sys::Z_EXPECTED_OBJECT_OR_STRING).map(Key::Name),
        }
    }

    /// Returns a callable.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn callable(&self, number: u32) -> Result<&'a Value, Thrown> {
        self.resolve(number, &Cell::new(zeroed()))
    }

    /// Returns a callable, and stores the resolved call in `call`. Its function is null if the engine creates one for
    /// each call.
    ///
    /// # Errors
    /// `TypeError`.
    #[inline(always)]
    pub fn resolve(&self, number: u32, call: &Cell<sys::zend_fcall_info_cache>) -> Result<&'a Value, Thrown> {
        self.resolve_or(number, call, zend_wrong_callback_error)
    }

    /// Returns a callable, or `None` if none or `null` was passed.
    ///
    /// # Errors
    /// `TypeError`.
    pub fn callable_or_null(&self, number: u32) -> Result<Option<&'a Value>, Thrown> {
        match self.value(number) {
            Some(value) if value.type_number() != sys::IS_NULL => {
                let call = Cell::new(zeroed());
                self.resolve_or(number, &call, zend_wrong_callback_or_null_error).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[inline(always)]
    fn resolve_or(
        &self,
        number: u32,
        call: &Cell<sys::zend_fcall_info_cache>,
        throw: extern "C" fn(u32, OwnedText),
    ) -> Result<&'a Value, Thrown> {
        let value = self.value(number).unwrap_or(const { &Value::NULL });
        if spindle_closure_resolve(value, call) {
            return Ok(value);
        }
        engine::resolve(value, call).map(|()| value).map_err(|error| {
            if let Some(error) = error {
                throw(number, error);
            }
            Thrown::is_in_flight()
        })
    }
}

#[cold]
fn wrong_type(number: u32, expected: sys::zend_expected_type, value: &Value) -> Thrown {
    // SAFETY: throws for the function that is being called, unless its conversion has thrown.
    unsafe { sys::zend_wrong_parameter_type_error(number, expected, value.as_raw().cast_mut()) };
    Thrown::is_in_flight()
}

#[cold]
fn wrong_class(number: u32, class: Class, value: &Value, or_null: bool) -> Thrown {
    let name = CString::new(class.name().as_bytes()).unwrap_or_default();
    if or_null {
        zend_wrong_parameter_class_or_null_error(number, Text::of(&name), value);
    } else {
        zend_wrong_parameter_class_error(number, Text::of(&name), value);
    }
    Thrown::is_in_flight()
}

/// Throws a `ValueError` or a `TypeError` about an argument. The text follows "Argument #1 ($name) ".
#[cold]
pub fn argument_error(number: u32, is_type: bool, text: &str) -> Thrown {
    spindle_argument_error(number, is_type, Text::of(&c_text(text)));
    Thrown::is_in_flight()
}

/// Defines functions with the names of the engine's tables (`zif_…`, `zim_…`), each with a body that takes the [`Call`]
/// and returns a [`PhpResult`].
#[macro_export]
macro_rules! functions {
    ($($(#[$attribute:meta])* $name:ident => $body:expr;)*) => {$(
        $(#[$attribute])*
        #[unsafe(no_mangle)]
        extern "C" fn $name(frame: $crate::Frame, result: &$crate::ValueCell) {
            $crate::Call::run(frame, result, $body);
        }
    )*};
}
