//! What bodies may do that ends otherwise than by a result, and what is no use of the API at all.

use spindle_php::{Part, coroutine, coroutine::WaitQueue};
use spindle_zend::{Call, PhpResult, PhpStatic, Type, Value, engine, exception, function_table};
use std::cell::Cell;
use std::time::Duration;

/// The part.
// SAFETY: no destructor here is needed for memory safety. The one thread that is started uses nothing of the engine.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }
    .on_request_start(|| LOG.requests.set(LOG.requests.get() + 1))
    .on_request_end(|| {
        let dropped = LOG.dropped.replace(0);
        if LOG.reports.replace(false) {
            engine::print(&format!("request end: {dropped} dropped\n"));
        }
    });

/// Coroutines that wait for a number, as long as the process lives.
static SHARED: PhpStatic<(WaitQueue, Cell<i64>)> = PhpStatic::new((WaitQueue::new(), Cell::new(0)));

thread_local! {
    /// Its destructor runs when the process ends.
    static LATE: Late = const { Late };
}

/// What spawns a coroutine when it is dropped.
struct Late;

impl Drop for Late {
    fn drop(&mut self) {
        let refused = std::panic::catch_unwind(|| coroutine::spawn(|| Ok(Value::NULL)).is_err()).is_err();
        eprintln!("at the end of the process: {}", if refused { "refused" } else { "not refused" });
    }
}

/// What has happened in the request.
struct Log {
    requests: Cell<i64>,
    dropped: Cell<i64>,
    /// At its end it is printed.
    reports: Cell<bool>,
}

static LOG: PhpStatic<Log> =
    PhpStatic::new(Log { requests: Cell::new(0), dropped: Cell::new(0), reports: Cell::new(false) });

/// A value whose end is noted.
struct Noted;

impl Drop for Noted {
    fn drop(&mut self) {
        LOG.dropped.set(LOG.dropped.get() + 1);
    }
}

function_table! {
    static FUNCTIONS = {
        c"Embedding\\in_coroutine"(callable: Type::CALLABLE) -> Type::OBJECT => in_coroutine;
        c"Embedding\\sleeper"(milliseconds: Type::INT) -> Type::OBJECT => sleeper;
        c"Embedding\\fail_with"(message: Type::STRING) -> Type::OBJECT => |call| {
            let message = call.arguments(1, 1)?.str(1)?.to_text();
            let failing = coroutine::spawn(move || {
                let _noted = Noted;
                Err(exception::throw_error(&message))
            });
            Ok(failing?.into())
        };
        c"Embedding\\go_on_in_spite"(callable: Type::CALLABLE) -> Type::OBJECT => go_on_in_spite;
        c"Embedding\\rescue"(callable: Type::CALLABLE) -> Type::OBJECT => rescue;
        c"Embedding\\joined"(callable: Type::CALLABLE) -> Type::MIXED => |call| {
            let callable = call.arguments(1, 1)?.callable(1)?.clone();
            coroutine::spawn(move || coroutine::call(&callable, &mut []))?.join()
        };
        c"Embedding\\await_any"(object: Type::OBJECT) -> Type::MIXED => |call| {
            match call.arguments(1, 1)?.value(1).and_then(Value::as_object) {
                Some(object) => coroutine::await_object(object),
                None => Ok(Value::NULL),
            }
        };
        c"Embedding\\suspended"() -> Type::VOID => |call| {
            call.no_arguments()?;
            coroutine::suspend()?;
            Ok(Value::NULL)
        };
        c"Embedding\\cancelled_child"() -> Type::OBJECT => cancelled_child;
        c"Embedding\\with_child"(callable: Type::CALLABLE) -> Type::OBJECT => with_child;
        c"Embedding\\panic_in_body"() -> Type::OBJECT => |call| {
            call.no_arguments()?;
            Ok(coroutine::spawn(|| panic!("a bug in a body"))?.into())
        };
        c"Embedding\\other_thread"() -> Type::STRING => |call| {
            call.no_arguments()?;
            let other = std::thread::spawn(|| drop(coroutine::suspend())).join();
            let text = other.err().and_then(|panic| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Ok(text.unwrap_or_default().into())
        };
        c"Embedding\\spawn_at_process_end"() -> Type::VOID => |_| {
            LATE.with(|_| Ok(Value::NULL))
        };
        c"Embedding\\wrong_result"() -> Type::INT => |_| Ok("no number".into());
        c"Embedding\\shared_receive"() -> Type::INT => |_| {
            let received = SHARED.0.wait_for("shared_receive", || Some(SHARED.1.take()).filter(|number| *number != 0))?;
            Ok(received.into())
        };
        c"Embedding\\shared_send"(number: Type::INT) -> Type::BOOL => |call| {
            SHARED.1.set(call.arguments(1, 1)?.long(1)?);
            Ok(SHARED.0.wake_one().into())
        };
        c"Embedding\\dropped"() -> Type::INT => |_| Ok(LOG.dropped.get().into());
        c"Embedding\\report_at_end"() -> Type::VOID => |_| {
            LOG.reports.set(true);
            Ok(Value::NULL)
        };
        c"Embedding\\requests"() -> Type::INT => |_| Ok(LOG.requests.get().into());
    }
}

/// Calls PHP code in a coroutine, with something to be dropped around it.
fn in_coroutine(call: Call) -> PhpResult {
    let callable = call.arguments(1, 1)?.callable(1)?.clone();
    let body = coroutine::spawn(move || {
        let _noted = Noted;
        coroutine::call(&callable, &mut [])
    })?;
    Ok(body.into())
}

fn sleeper(call: Call) -> PhpResult {
    let time = Duration::from_millis(call.arguments(1, 1)?.long(1)?.unsigned_abs());
    let noted = Noted;
    let body = coroutine::spawn(move || {
        let _noted = &noted;
        coroutine::sleep(time)?;
        Ok("slept".into())
    })?;
    Ok(body.into())
}

/// Uses everything after PHP code has thrown, as if nothing had happened.
fn go_on_in_spite(call: Call) -> PhpResult {
    let callable = call.arguments(1, 1)?.callable(1)?.clone();
    let body = coroutine::spawn(move || {
        let failed = coroutine::call(&callable, &mut []).is_err();
        let others = [
            coroutine::suspend().is_err(),
            coroutine::sleep(Duration::ZERO).is_err(),
            coroutine::spawn(|| Ok(Value::NULL)).is_err(),
            coroutine::call(&callable, &mut []).is_err(),
            coroutine::WaitQueue::new().wait_for("nothing", || Some(())).is_err(),
        ];
        engine::print(&format!("failed: {failed}, others: {others:?}\n"));
        Ok("a result in spite of it".into())
    })?;
    Ok(body.into())
}

/// Calls PHP code again and again, and takes what it throws for its result.
fn rescue(call: Call) -> PhpResult {
    let callable = call.arguments(1, 1)?.callable(1)?.clone();
    let body = coroutine::spawn(move || match coroutine::call(&callable, &mut []) {
        Ok(result) => Ok(result),
        Err(_) => {
            let taken = exception::take();
            coroutine::suspend()?;
            Ok(taken.map_or(String::new(), |taken| exception::text_of(&taken)).into())
        }
    })?;
    Ok(body.into())
}

/// Calls PHP code in a coroutine, beside a child that is cancelled if that throws.
fn with_child(call: Call) -> PhpResult {
    let callable = call.arguments(1, 1)?.callable(1)?.clone();
    let body = coroutine::spawn(move || {
        let child = coroutine::spawn(|| {
            let slept = coroutine::sleep(Duration::from_secs(1_000));
            let text = exception::in_flight().map_or(String::new(), |thrown| exception::text_of(&thrown));
            engine::print(&format!("child: {}\n", text.split(" at ").next().unwrap_or_default()));
            slept.map(|()| Value::NULL)
        })?;
        coroutine::suspend()?;
        coroutine::call(&callable, &mut []).inspect_err(|_| child.cancel())?;
        child.join()
    })?;
    Ok(body.into())
}

/// Returns a coroutine that was cancelled before it has begun.
fn cancelled_child(call: Call) -> PhpResult {
    call.no_arguments()?;
    let noted = Noted;
    let child = coroutine::spawn(move || {
        let _noted = &noted;
        engine::print("it runs\n");
        Ok(Value::NULL)
    })?;
    child.cancel();
    Ok(child.into())
}
