//! The keyed values of scopes: the methods of `Async\Scope` that `Async\Context` has too, and their variants that
//! search the parents.

use crate::runtime::keyed_values;
use crate::runtime::scheduler::rt;
use crate::runtime::scope::{self, Record, SCOPE};
use spindle_core::sched::ScopeId;
use spindle_zend::{Call, Key, Object, Owned, Thrown, Value, functions};
use std::rc::Rc;

functions! {
    zim_Async_Scope_find => |call| {
        let id = scope_of(call)?;
        keyed_values::method_find(call, |key| find(id, key))
    };
    zim_Async_Scope_get => |call| {
        let id = scope_of(call)?;
        keyed_values::method_get(call, |key| find(id, key))
    };
    zim_Async_Scope_has => |call| {
        let id = scope_of(call)?;
        keyed_values::method_has(call, |key| up(id, |record| record.values.has(key).then_some(())).is_some())
    };
    zim_Async_Scope_findLocal => |call| {
        let record = record_of(call)?;
        keyed_values::method_find(call, |key| record.values.find(key))
    };
    zim_Async_Scope_getLocal => |call| {
        let record = record_of(call)?;
        keyed_values::method_get(call, |key| record.values.find(key))
    };
    zim_Async_Scope_hasLocal => |call| {
        let record = record_of(call)?;
        keyed_values::method_has(call, |key| record.values.has(key))
    };
    zim_Async_Scope_set => |call| keyed_values::method_set(call, &record_of(call)?.values);
    zim_Async_Scope_unset => |call| keyed_values::method_unset(call, &record_of(call)?.values);
}

/// Returns the scope whose method is called.
///
/// # Errors
/// Its constructor has not run.
fn scope_of(call: Call) -> Result<ScopeId, Thrown> {
    call.this_of(&SCOPE).constructed()
}

fn record_of(call: Call) -> Result<Rc<Record>, Thrown> {
    Ok(scope::record(rt(), scope_of(call)?))
}

/// Returns the first result of `ask`, from this scope upwards.
fn up<R>(id: ScopeId, ask: impl Fn(&Record) -> Option<R>) -> Option<R> {
    let rt = rt();
    let mut at = Some(id);
    while let Some(id) = at {
        if let Some(found) = scope::existing_record(rt, id).and_then(|record| ask(&record)) {
            return Some(found);
        }
        at = rt.core.borrow().scope_above(id);
    }
    None
}

/// Returns the value of a key in this scope or the nearest one above that has it.
pub fn find(id: ScopeId, key: Key<'_>) -> Option<Value> {
    up(id, |record| record.values.find(key))
}

/// Returns the object that is attached to this scope or the nearest one above that has one.
pub fn attached(id: ScopeId) -> Option<Owned<Object>> {
    up(id, Record::attached)
}
