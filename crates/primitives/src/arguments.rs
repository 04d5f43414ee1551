//! What methods and functions here take, and what they throw.

use spindle_php::coroutine;
use spindle_zend::{Arguments, Object, Thrown, Type, argument_error, exception};

/// `Async\Awaitable`, as the type of a parameter.
pub const AWAITABLE: Type = Type::class(c"Async\\Awaitable");
/// `?Async\Awaitable`.
pub const TOKEN: Type = AWAITABLE.or_null();

/// Returns the cancellation token that was passed as this argument.
pub fn token<'a>(arguments: &Arguments<'a>, number: u32) -> Result<Option<&'a Object>, Thrown> {
    arguments.object_or_null(number, coroutine::awaitable())
}

/// Throws an `AsyncException`.
#[cold]
pub fn fails(text: &str) -> Thrown {
    exception::throw_new(coroutine::async_exception(), text)
}

/// Returns an integer argument, or its default, that is at least `least`.
pub fn number(arguments: &Arguments<'_>, number: u32, default: i64, least: i64) -> Result<usize, Thrown> {
    let given = arguments.long_or(number, default)?;
    if given < least {
        let text = if least == 0 { "must not be negative".to_owned() } else { format!("must be at least {least}") };
        return Err(argument_error(number, false, &text));
    }
    Ok(usize::try_from(given).unwrap_or(usize::MAX))
}
