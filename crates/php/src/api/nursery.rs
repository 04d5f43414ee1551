//! The functions `group()` and `withTimeout()`.

use crate::runtime::awaiting;
use crate::runtime::nursery::Nursery;
use crate::runtime::scheduler::rt;
use crate::runtime::spawn;
use spindle_zend::{Call, PhpResult, argument_error, functions};

functions! {
    zif_Async_group => |call| group(call, "group", 1, None);
    zif_Async_withTimeout => with_timeout;
}

fn with_timeout(call: Call) -> PhpResult {
    let milliseconds = call.arguments(2, u32::MAX)?.long(1)?;
    if milliseconds < 0 {
        return Err(argument_error(1, false, "must be greater than or equal to 0"));
    }
    group(call, "withTimeout", 2, Some(milliseconds))
}

/// Calls the argument with the number `first` with those that follow, in a nursery.
fn group(call: Call, name: &'static str, first: u32, limit: Option<i64>) -> PhpResult {
    let rt = rt();
    // Refuses what is not callable, before anything is made.
    call.arguments(first, u32::MAX)?.callable(first)?;
    let nursery = Nursery::open(rt, name, |_| {})?;
    if let Some(limit) = limit {
        nursery.limit(limit);
    }
    let id = nursery.id();
    let block = spawn::spawn_from(rt, call, first, |core| core.spawn_in(id))?;
    rt.lets_act(&block);
    nursery.end(Ok(()))?;
    awaiting::deliver(rt, block.object())
}
