//! The methods of `Async\Timeout`.

use crate::runtime::scheduler;
use crate::runtime::timeout::TIMEOUT;
use spindle_zend::{Call, PhpResult, Value, functions};

functions! {
    zim_Async_Timeout___construct => |_| Ok(Value::NULL);
    zim_Async_Timeout_isCompleted => is_completed;
}

fn is_completed(call: Call) -> PhpResult {
    call.no_arguments()?;
    let target = call.this_of(&TIMEOUT).target();
    Ok(target.is_some_and(|target| scheduler::core(|core| core.is_done(target))).into())
}
