//! Descriptions of waits, for the messages of errors, warnings and dumps.

use crate::runtime::coroutine::Info;
use crate::runtime::scheduler::Runtime;
use crate::runtime::scope;
use spindle_core::sched::CoroutineId;
use std::fmt::Write;

/// Returns `coroutine #4`, or `coroutines #4, #5`.
fn numbers(ids: &[u64]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("#{id}")).collect();
    format!("coroutine{} {}", if ids.len() == 1 { "" } else { "s" }, ids.join(", "))
}

/// Returns the description of a coroutine's wait: `await() of coroutine #2`, `recv() on descriptor 7`.
pub fn wait_of(rt: &'static Runtime, co: CoroutineId, info: &Info) -> String {
    let mut text = info.call.to_owned();
    if !text.contains(' ') {
        text += "()";
    }
    if info.fd >= 0 {
        let _ = write!(text, " on descriptor {}", info.fd);
    }
    let awaited = info.awaited(rt, co);
    if !awaited.is_empty() {
        let _ = write!(text, " of {}", numbers(&awaited));
    }
    if let Some(id) = info.scope().filter(|id| rt.core.borrow().scope_exists(*id)) {
        let _ = write!(text, " of the scope created at {}", scope::created(rt, id));
    }
    text
}

/// Returns `coroutines #4, #5`: the coroutines that this one has spawned and that have not completed.
pub fn children_of(rt: &'static Runtime, co: CoroutineId) -> String {
    let core = rt.core.borrow();
    let children: Vec<u64> = core.children_of(co).into_iter().map(|child| core.id(child)).collect();
    numbers(&children)
}
