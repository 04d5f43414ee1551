//! The methods of `Async\Coroutine`, and of `Async\CompositeException`.

use crate::runtime::coroutine::{COROUTINE, Coroutine, CoroutineObject, NO_SLOT, SHOWN_OF_SET};
use crate::runtime::position::Position;
use crate::runtime::scheduler::{self, Core, rt};
use crate::runtime::{cancellation, classes, finally, life, objects, scope};
use spindle_core::sched::{CoroutineId, Outcome, State};
use spindle_zend::{Array, Call, Owned, PhpResult, Thrown, Value, engine, functions};

functions! {
    zim_Async_Coroutine___construct => |_| Ok(Value::NULL);
    zim_Async_Coroutine_getId => |call| ask(call, |core, co| core.id(co) as i64);
    zim_Async_Coroutine_isStarted => |call| ask(call, |core, co| core.is_started(co));
    zim_Async_Coroutine_isQueued => |call| ask(call, |core, co| {
        matches!(core.state(co), State::Queued | State::Ready)
    });
    zim_Async_Coroutine_isRunning => |call| ask(call, |core, co| core.state(co) == State::Running);
    zim_Async_Coroutine_isSuspended => |call| ask(call, is_suspended);
    zim_Async_Coroutine_isCancelled => |call| ask(call, |core, co| {
        core.has_outcome(co) && core.outcome(co) == Outcome::Cancelled
    });
    zim_Async_Coroutine_isCancellationRequested => |call| ask(call, |core, co| {
        // A block that runs for it is a coroutine of its own, which may be cancelled alone.
        core.is_cancel_requested(co) || rt().owner().co.get() == co && core.is_cancel_requested(rt().running().co.get())
    });
    zim_Async_Coroutine_isCompleted => |call| ask(call, Core::has_outcome);
    zim_Async_Coroutine_getResult => |call| {
        let this = this(&call)?;
        Ok(if is_complete(this) { this.result.get().some().into() } else { Value::NULL })
    };
    zim_Async_Coroutine_getException => |call| {
        let this = this(&call)?;
        Ok(if is_complete(this) { this.exception.get().into() } else { Value::NULL })
    };
    zim_Async_Coroutine_getSpawnFileAndLine => |call| Ok(file_and_line(&this(&call)?.spawned_at));
    zim_Async_Coroutine_getSpawnLocation => |call| Ok(this(&call)?.spawned_at.text().into());
    zim_Async_Coroutine_getSuspendFileAndLine => |call| Ok(file_and_line(&this(&call)?.suspended_at));
    zim_Async_Coroutine_getSuspendLocation => |call| Ok(this(&call)?.suspended_at.text().into());
    zim_Async_Coroutine_getAwaitingInfo => get_awaiting_info;
    zim_Async_Coroutine_getParent => |call| {
        let parent = with(this(&call)?, |core, co| core.parent_id(co)).unwrap_or(0);
        Ok(objects::find(rt(), parent).into())
    };
    zim_Async_Coroutine_getScope => |call| Ok(scope::of_coroutine(rt(), this(&call)?).into());
    zim_Async_Coroutine_getTrace => get_trace;
    zim_Async_Coroutine_cancel => cancel;
    zim_Async_Coroutine_onFinally => on_finally;
    zim_Async_CompositeException_getExceptions => get_exceptions;
}

/// Returns the coroutine whose method is called, which takes no arguments.
fn this(call: &Call) -> Result<&CoroutineObject, Thrown> {
    call.no_arguments()?;
    Ok(call.this_of(&COROUTINE))
}

/// Returns the result of `ask` for the core and a coroutine; `None` for an object without a coroutine.
fn with<R>(this: &Coroutine, ask: impl FnOnce(&Core, CoroutineId) -> R) -> Option<R> {
    let co = this.co.get();
    (co != NO_SLOT).then(|| scheduler::core(|core| ask(core, co)))
}

/// Implements a method that asks the core about the coroutine.
fn ask<R: Default + Into<Value>>(call: Call, ask: impl FnOnce(&Core, CoroutineId) -> R) -> PhpResult {
    Ok(with(this(&call)?, ask).unwrap_or_default().into())
}

fn is_complete(this: &Coroutine) -> bool {
    with(this, Core::has_outcome) == Some(true)
}

fn is_suspended(core: &Core, co: CoroutineId) -> bool {
    core.has_stack(co) && matches!(core.state(co), State::Parked | State::Ready)
}

fn file_and_line(at: &Position) -> Value {
    let file = at.file().map_or_else(|| "".into(), Value::from);
    Array::list([file, i64::from(at.line()).into()].into_iter()).into()
}

/// Returns a list of ids.
fn ids(numbers: &[u64]) -> Owned<Array> {
    Array::list(numbers.iter().map(|id| *id as i64))
}

fn get_awaiting_info(call: Call) -> PhpResult {
    let this = this(&call)?;
    let mut answer = Array::new(4);
    let state = with(this, |core, co| core.state(co));
    let info = this.info();
    if state == Some(State::Ending) {
        let children = with(this, |core, co| {
            let children = core.children_of(co).into_iter().take(SHOWN_OF_SET);
            children.map(|child| core.id(child)).collect::<Vec<_>>()
        });
        answer.set(c"call", "children");
        answer.set(c"coroutines", ids(&children.unwrap_or_default()));
    } else if !info.call.is_empty() && matches!(state, Some(State::Parked | State::Ready)) {
        answer.set(c"call", info.call);
        if info.fd >= 0 {
            answer.set(c"descriptor", i64::from(info.fd));
        }
        let awaited = info.awaited(rt(), this.co.get());
        if !awaited.is_empty() {
            answer.set(c"coroutines", ids(&awaited));
        }
        let rt = rt();
        if let Some(id) = info.scope().filter(|id| rt.core.borrow().scope_exists(*id)) {
            answer.set(c"scope", scope::created(rt, id));
        }
        answer.set(c"location", this.suspended_at.text());
        answer.set(c"since", info.seconds());
    }
    Ok(answer.into())
}

/// The frames of a suspended coroutine are on its own VM stack and do not change.
fn get_trace(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 2)?;
    let (options, limit) = (arguments.long_or(1, 1)?, arguments.long_or(2, 0)?);
    let this = call.this_of(&COROUTINE);
    let frame = if with(this, |core, co| core.state(co)) == Some(State::Running) {
        call.caller()
    } else if with(this, is_suspended) == Some(true) {
        rt().frame_of(this)
    } else {
        None
    };
    Ok(frame.map_or_else(|| Array::new(0).into(), |frame| engine::backtrace(frame, options as i32, limit as i32)))
}

fn cancel(call: Call) -> PhpResult {
    let reason = call.arguments(0, 1)?.object_or_null(1, classes::cancellation())?;
    let this = call.this_of(&COROUTINE);
    if with(this, |core, co| core.state(co) == State::Done) == Some(false) {
        let reason = reason.map_or_else(cancellation::default_cancellation, Owned::of);
        life::cancel_by_user_code(rt(), this, &reason);
    }
    Ok(Value::NULL)
}

fn on_finally(call: Call) -> PhpResult {
    let closure = call.arguments(1, 1)?.closure(1)?;
    finally::register(rt(), call.this_of(&COROUTINE), closure);
    Ok(Value::NULL)
}

fn get_exceptions(call: Call) -> PhpResult {
    call.no_arguments()?;
    Ok(call.this().map(|this| this.read_property(classes::composite(), c"exceptions")).into())
}
