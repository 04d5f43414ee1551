//! The class `Async\Interval`: points in time at equal distances.

use crate::arguments::{fails, number};
use spindle_php::coroutine;
use spindle_zend::{Call, Class, PhpResult, State, Type, Value, engine, function_table, object_class};
use std::cell::Cell;
use std::time::Duration;

/// The state of an interval.
struct Interval {
    /// Zero before its constructor.
    period: Cell<Duration>,
    /// When it has begun, by the event loop's clock; `None` before.
    start: Cell<Option<u64>>,
    /// The number of the present tick.
    tick: Cell<u64>,
}

object_class!(static INTERVAL: Interval);

function_table! {
    static METHODS = {
        c"__construct"(ms: Type::INT) -> Type::NONE => construct;
        c"current"() -> Type::INT => tick;
        c"key"() -> Type::INT => tick;
        c"next"() -> Type::VOID => next;
        c"rewind"() -> Type::VOID => |call| {
            let this = call.this_of(&INTERVAL);
            this.start.set(Some(coroutine::now()));
            this.tick.set(0);
            Ok(Value::NULL)
        };
        c"valid"() -> Type::BOOL => |_| Ok(true.into());
    }
}

/// Registers the class. At module start.
pub fn register() {
    let class = INTERVAL.declare(c"Async\\Interval", METHODS, &[]);
    class.implement(engine::iterator_class());
}

impl State for Interval {
    fn new(_: Class) -> Interval {
        Interval { period: Cell::new(Duration::ZERO), start: Cell::new(None), tick: Cell::new(0) }
    }
}

fn construct(call: Call) -> PhpResult {
    let ms = number(&call.passed(), 1, 1, 1)?;
    let this = call.this_of(&INTERVAL);
    if !this.period.get().is_zero() {
        return Err(fails("The interval is constructed already"));
    }
    this.period.set(Duration::from_millis(u64::try_from(ms).unwrap_or(u64::MAX)));
    Ok(Value::NULL)
}

fn tick(call: Call) -> PhpResult {
    Ok((call.this_of(&INTERVAL).tick.get() as i64).into())
}

/// Waits for the next tick after the present time. Ticks that have passed meanwhile are left out, so that work between the
/// ticks neither delays them nor makes them come in a rush.
fn next(call: Call) -> PhpResult {
    let this = call.this_of(&INTERVAL);
    let (now, period) = (coroutine::now(), this.period.get().as_nanos());
    let start = this.start.get().unwrap_or(now);
    this.start.set(Some(start));
    let passed = (u128::from(now.saturating_sub(start)) / period) as u64;
    let tick = this.tick.get().max(passed) + 1;
    this.tick.set(tick);
    let due = u64::try_from(period.saturating_mul(tick.into()).saturating_add(start.into())).unwrap_or(u64::MAX);
    coroutine::sleep(Duration::from_nanos(due.saturating_sub(now)))?;
    Ok(Value::NULL)
}
