//! The methods of `Async\Context` and `Async\Key`, and `localContext()`.

use crate::runtime::classes;
use crate::runtime::context::{self, CONTEXT};
use crate::runtime::coroutine::COROUTINE;
use crate::runtime::keyed_values::{self, KeyedValues};
use crate::runtime::scheduler::rt;
use spindle_zend::{Call, PhpResult, Str, Value, functions};

functions! {
    zif_Async_localContext => local_context;
    zim_Async_Coroutine_getContext => get_context;
    zim_Async_Context___construct => |_| Ok(Value::NULL);
    zim_Async_Context_find => |call| keyed_values::method_find(call, |key| values_of(&call).find(key));
    zim_Async_Context_get => |call| keyed_values::method_get(call, |key| values_of(&call).find(key));
    zim_Async_Context_has => |call| keyed_values::method_has(call, |key| values_of(&call).has(key));
    zim_Async_Context_set => |call| keyed_values::method_set(call, values_of(&call));
    zim_Async_Context_unset => |call| keyed_values::method_unset(call, values_of(&call));
    zim_Async_Key___construct => construct_key;
    zim_Async_Key___toString => key_to_string;
}

/// Returns the values of the context whose method is called, which its frame holds.
fn values_of(call: &Call) -> &KeyedValues {
    call.this_of(&CONTEXT).values()
}

fn local_context(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(context::of_coroutine(&rt().acting()).into())
}

fn get_context(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(context::of_coroutine(call.this_of(&COROUTINE)).into())
}

/// A second call fails because the property is readonly.
fn construct_key(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 1)?;
    let description = if arguments.value(1).is_some() { arguments.str(1)?.into() } else { Value::from("") };
    if let Some(key) = call.this() {
        key.set_property(classes::key(), c"description", &description);
    }
    Ok(Value::NULL)
}

fn key_to_string(call: Call) -> PhpResult {
    call.no_arguments()?;
    let description: Option<&Str> = call.this().and_then(keyed_values::key_description);
    Ok(description.map_or_else(|| "".into(), Value::from))
}
