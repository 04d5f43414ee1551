//! `stackedCoroutine()`: stacked generators as one generator, for schedulers of user code. Tasks need no such wrapper.

use crate::arguments::generator_of;
use spindle_php::{RequestValue, coroutine};
use spindle_zend::{Call, PhpResult, PhpStatic, engine};

/// The generator, as PHP code: only that can make one. A generator that returns, or yields `retval()`, sends its result to the
/// one that has yielded it.
const CODE: &str = r#"static function (\Generator $gen): \Generator {
    $stack = [];
    $input = null;
    $begun = false;
    for (;;) {
        try {
            if ($input instanceof \Throwable) {
                $thrown = $input;
                $input = null;
                $gen->throw($thrown);
            } elseif ($begun) {
                $gen->send($input === null ? null : $input[0]);
            }
            $begun = true;
            $value = $gen->current();
            if ($value instanceof \Generator && $gen->valid()) {
                $stack[] = $gen;
                $gen = $value;
                $begun = false;
                $input = $value = null;
                continue;
            }
            if ($value instanceof \Async\Task\CoroutineReturnValue || !$gen->valid()) {
                $result = $gen->valid() ? $value->getValue() : $gen->getReturn();
                $value = null;
                if (!$stack) {
                    return $result;
                }
                $gen = array_pop($stack);
                $input = [$result];
                $result = null;
                continue;
            }
            $key = $gen->key();
        } catch (\Throwable $thrown) {
            if (!$stack) {
                throw $thrown;
            }
            $gen = array_pop($stack);
            $input = $thrown;
            $thrown = null;
            continue;
        }
        try {
            $input = [yield $key => $value];
        } catch (\Throwable $input) {
        }
    }
}"#;

/// The function, once the request has used it: the engine keeps what it compiles until the request ends.
static FUNCTION: PhpStatic<RequestValue> = PhpStatic::new(RequestValue::new());

/// Releases the function. At the end of a request.
pub fn request_ends() {
    FUNCTION.release();
}

fn function() -> PhpResult {
    if let Some(function) = FUNCTION.get() {
        return Ok(function);
    }
    let function = engine::evaluate(CODE, c"Async\\Task\\stackedCoroutine")?;
    FUNCTION.set(function.clone());
    Ok(function)
}

/// Returns the generator for the one that is the argument.
pub fn make(call: Call) -> PhpResult {
    let generator = generator_of(&call, 1)?;
    let function = function()?;
    coroutine::call(&function, &mut [generator.into()])
}
