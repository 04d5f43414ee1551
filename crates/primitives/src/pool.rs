//! The class `Async\Pool`: things that are expensive to make and are used by one coroutine at a time.
//!
//! A channel carries what is free: a thing, or a place where one may be made. So a coroutine that waits is handed one, in
//! order of arrival, and one that is cancelled returns it, as with any channel.

use crate::{TOKEN, fails, number, state, token};
use spindle_core::channel::{Channel as Core, Ended, Received};
use spindle_php::coroutine::{self, Holders, Wait, Waker};
use spindle_zend::{
    Call, Class, Collected, Instance, Object, PhpResult, PhpStatic, State, Thrown, Type, Value, ValueCell, exception,
    function_table, object_class,
};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::time::{Duration, Instant};

/// What is free.
enum Place {
    /// A thing, and since when it has been free.
    Item(Value, Instant),
    /// One may be made.
    Vacant,
}

/// The state of a pool.
struct Pool {
    factory: ValueCell,
    destructor: ValueCell,
    health_check: ValueCell,
    before_acquire: ValueCell,
    before_release: ValueCell,
    least: Cell<usize>,
    most: Cell<usize>,
    /// How long a thing is free before it is checked, and before it is destroyed.
    check_after: Cell<Duration>,
    idle_time: Cell<Option<Duration>>,
    free: RefCell<Core<Place, Waker>>,
    /// How many things there are, those that are being made included.
    count: Cell<usize>,
    /// Things in use, and the ids of the coroutines that have acquired them.
    lent: RefCell<Vec<(Value, u64)>>,
}

object_class!(static POOL: Pool = create);

/// All pools, held weakly, for diagnostics: one that is freed removes itself.
static POOLS: PhpStatic<RefCell<Vec<NonNull<Instance<Pool>>>>> = PhpStatic::new(RefCell::new(Vec::new()));

const CALLBACK: Type = Type::CALLABLE.or_null();

function_table! {
    static METHODS = {
        c"__construct"(
            factory: Type::CALLABLE, destructor: CALLBACK => c"null", healthcheck: CALLBACK => c"null",
            beforeAcquire: CALLBACK => c"null", beforeRelease: CALLBACK => c"null", min: Type::INT => c"0",
            max: Type::INT => c"10", healthcheckInterval: Type::INT => c"0", idleTime: Type::INT => c"0",
        ) -> Type::NONE => construct;
        c"acquire"(cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let token = token(&call.arguments(0, 1)?, 1)?;
            acquire(call.this_of(&POOL), token)
        };
        c"tryAcquire"() -> Type::MIXED => |call| {
            call.no_arguments()?;
            Ok(try_acquire(call.this_of(&POOL))?.unwrap_or(Value::NULL))
        };
        c"release"(resource: Type::MIXED, broken: Type::BOOL => c"false") -> Type::VOID => |call| {
            let arguments = call.arguments(1, 2)?;
            let item = arguments.value(1).cloned().unwrap_or(Value::NULL);
            release(call.this_of(&POOL), item, arguments.bool_or(2, false)?)?;
            Ok(Value::NULL)
        };
        c"with"(callback: Type::CALLABLE, cancellation: TOKEN => c"null") -> Type::MIXED => with;
        c"close"() -> Type::VOID => |call| {
            call.no_arguments()?;
            close(call.this_of(&POOL))?;
            Ok(Value::NULL)
        };
        c"isClosed"() -> Type::BOOL => |call| {
            call.no_arguments()?;
            Ok(call.this_of(&POOL).free.borrow().is_closed().into())
        };
        c"count"() -> Type::INT => |call| {
            call.no_arguments()?;
            Ok((call.this_of(&POOL).count.get() as i64).into())
        };
        c"idleCount"() -> Type::INT => |call| {
            call.no_arguments()?;
            Ok((call.this_of(&POOL).idle() as i64).into())
        };
        c"activeCount"() -> Type::INT => |call| {
            call.no_arguments()?;
            Ok((call.this_of(&POOL).lent.borrow().len() as i64).into())
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    let class = state::declare(&POOL, create, c"Async\\Pool", METHODS, &[]);
    class.implement(spindle_zend::engine::countable_class());
}

impl State for Pool {
    const DESTRUCT: Option<fn(&Instance<Pool>)> = Some(|this| {
        if !coroutine::is_over() {
            // What a destructor throws is in flight then.
            let _ = close(this);
        }
    });

    fn new(_: Class) -> Pool {
        Pool {
            factory: ValueCell::new(),
            destructor: ValueCell::new(),
            health_check: ValueCell::new(),
            before_acquire: ValueCell::new(),
            before_release: ValueCell::new(),
            least: Cell::new(0),
            most: Cell::new(0),
            check_after: Cell::new(Duration::ZERO),
            idle_time: Cell::new(None),
            free: RefCell::new(Core::new(0)),
            count: Cell::new(0),
            lent: RefCell::default(),
        }
    }

    fn free(this: &Instance<Pool>) {
        POOLS.borrow_mut().retain(|pool| *pool != NonNull::from(this));
    }

    fn collect(&self, values: &mut Collected) {
        for cell in [&self.factory, &self.destructor, &self.health_check, &self.before_acquire, &self.before_release] {
            values.cell(cell);
        }
        for place in self.free.borrow().values() {
            if let Place::Item(item, _) = place {
                values.value(item);
            }
        }
        self.lent.borrow().iter().for_each(|(item, _)| values.value(item));
    }
}

impl Pool {
    fn idle(&self) -> usize {
        self.free.borrow().values().filter(|place| matches!(place, Place::Item(..))).count()
    }

    /// Hands a place to the coroutine that has waited longest, or keeps it. Returns it if the pool is closed.
    fn put(&self, place: Place) -> Option<Place> {
        self.free.borrow_mut().try_send(place, Waker::wake).err().map(|(place, _)| place)
    }

    /// Notes that there is one thing less, so that another one may be made.
    fn one_less(&self) {
        let is_wanted = {
            let free = self.free.borrow();
            free.receivers() > 0 && !free.is_closed()
        };
        if !is_wanted || self.put(Place::Vacant).is_some() {
            self.count.set(self.count.get() - 1);
        }
    }
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 9)?;
    let this = call.this_of(&POOL);
    if !this.factory.is_empty() {
        return Err(fails("The pool is constructed already"));
    }
    let callbacks = [
        (&this.destructor, arguments.callable_or_null(2)?),
        (&this.health_check, arguments.callable_or_null(3)?),
        (&this.before_acquire, arguments.callable_or_null(4)?),
        (&this.before_release, arguments.callable_or_null(5)?),
    ];
    let factory = arguments.callable(1)?;
    let (least, most) = (number(&arguments, 6, 0, 0)?, number(&arguments, 7, 10, 1)?);
    if least > most {
        return Err(spindle_zend::argument_error(6, false, "must not be greater than argument #7 ($max)"));
    }
    let check_after = number(&arguments, 8, 0, 0)?;
    let idle_time = number(&arguments, 9, 0, 0)?;
    for (cell, callback) in callbacks {
        cell.set(callback.cloned().unwrap_or_default());
    }
    this.least.set(least);
    this.most.set(most);
    this.check_after.set(Duration::from_millis(check_after as u64));
    this.idle_time.set((idle_time > 0).then(|| Duration::from_millis(idle_time as u64)));
    *this.free.borrow_mut() = Core::new(most);
    this.factory.set(factory.clone());
    POOLS.borrow_mut().push(NonNull::from(this));
    for _ in 0..least {
        this.count.set(this.count.get() + 1);
        let item = make(this)?;
        drop(this.put(Place::Item(item, Instant::now())));
    }
    Ok(Value::NULL)
}

fn is_closed() -> Thrown {
    fails("The pool is closed")
}

/// Calls a callback of the pool.
fn callback(cell: &ValueCell, item: &Value) -> Result<Option<Value>, Thrown> {
    match cell.get().some() {
        Some(callable) => coroutine::call(&callable, &mut [item.clone()]).map(Some),
        None => Ok(None),
    }
}

/// Makes a thing, in a place that is counted already.
fn make(this: &Pool) -> PhpResult {
    let made = coroutine::call(&this.factory.get(), &mut []);
    if made.is_err() {
        this.one_less();
    }
    Ok(made?.dereferenced().clone())
}

/// Destroys a thing, after which another one may be made.
fn destroy(this: &Pool, item: Value) -> Result<(), Thrown> {
    let called = callback(&this.destructor, &item);
    exception::put_aside(|| drop(item));
    this.one_less();
    called.map(drop)
}

/// Takes a place if that needs no wait: a free thing, or the right to make one.
fn take(this: &Pool) -> Result<Option<Place>, Thrown> {
    let received = this.free.borrow_mut().try_receive(Waker::wake);
    match received {
        Received::Value(place) => Ok(Some(place)),
        Received::Closed => Err(is_closed()),
        Received::Empty if this.count.get() < this.most.get() => {
            this.count.set(this.count.get() + 1);
            Ok(Some(Place::Vacant))
        }
        Received::Empty => Ok(None),
    }
}

/// Waits for a place.
fn wait(this: &Instance<Pool>, token: Option<&Object>) -> Result<Place, Thrown> {
    let mut first = false;
    loop {
        if let Some(place) = take(this)? {
            return Ok(place);
        }
        let holders = Some(Holders(borrowers, this.object().handle()));
        let begun = Wait { holders, ..Wait::new("Pool::acquire", token) }.begin()?;
        let waiting = this.free.borrow_mut().wait_to_receive(begun.waker(), first);
        let parked = begun.park();
        let ended = this.free.borrow_mut().end_receive(waiting);
        if let Ended::Received(place, number) = ended {
            if !parked.is_cancelled() {
                parked.taken();
                return Ok(place);
            }
            this.free.borrow_mut().give_back(place, number, Waker::wake);
            if this.free.borrow().is_closed() {
                let failed = parked.failed();
                exception::put_aside(|| drop(drain(this)));
                failed?;
                continue;
            }
        }
        parked.failed()?;
        first = true;
    }
}

/// Returns the first coroutines that use things of the pool with this object id.
fn borrowers(handle: u32) -> [u64; 2] {
    let pools = POOLS.borrow();
    // SAFETY: those on the list are alive.
    let mut all = pools.iter().map(|pool| unsafe { pool.as_ref() });
    let mut ids = [0; 2];
    if let Some(pool) = all.find(|pool| pool.object().handle() == handle) {
        for (place, (_, id)) in ids.iter_mut().zip(pool.lent.borrow().iter()) {
            *place = *id;
        }
    }
    ids
}

fn acquire(this: &Instance<Pool>, token: Option<&Object>) -> PhpResult {
    loop {
        let place = wait(this, token)?;
        if let Some(item) = ready(this, place)? {
            return Ok(item);
        }
    }
}

fn try_acquire(this: &Instance<Pool>) -> Result<Option<Value>, Thrown> {
    loop {
        let Some(place) = take(this)? else { return Ok(None) };
        if let Some(item) = ready(this, place)? {
            return Ok(Some(item));
        }
    }
}

/// Returns a thing that can be used, and counts it as lent; `None` if the free one cannot, and was destroyed.
fn ready(this: &Instance<Pool>, place: Place) -> Result<Option<Value>, Thrown> {
    let item = match place {
        Place::Vacant => make(this)?,
        Place::Item(item, since) => {
            let idle = since.elapsed();
            let too_old = this.idle_time.get().is_some_and(|limit| idle > limit && this.count.get() > this.least.get());
            let is_wanted = !too_old && {
                let checked = if idle >= this.check_after.get() { passes(&this.health_check, &item) } else { Ok(true) };
                match checked {
                    Ok(is_good) => is_good,
                    Err(thrown) => return Err(destroyed(this, item, thrown)),
                }
            };
            if !is_wanted {
                destroy(this, item)?;
                return Ok(None);
            }
            item
        }
    };
    match passes(&this.before_acquire, &item) {
        Ok(true) => {}
        Ok(false) => {
            destroy(this, item)?;
            return Ok(None);
        }
        Err(thrown) => return Err(destroyed(this, item, thrown)),
    }
    this.lent.borrow_mut().push((item.clone(), coroutine::current_id()));
    Ok(Some(item))
}

/// Returns `true` if there is no callback, or it does not return `false`.
fn passes(cell: &ValueCell, item: &Value) -> Result<bool, Thrown> {
    let answer = callback(cell, item)?;
    Ok(answer.is_none_or(|answer| answer.type_number() != spindle_zend::sys::IS_FALSE))
}

/// Destroys a thing about which a callback has thrown.
fn destroyed(this: &Pool, item: Value, thrown: Thrown) -> Thrown {
    if exception::is_exit_in_flight() {
        return thrown;
    }
    let first = exception::take();
    if destroy(this, item).is_err()
        && let Some(second) = exception::take()
        && let Some(first) = &first
    {
        exception::set_last_previous(first, second);
    }
    first.map_or(thrown, exception::throw)
}

/// Returns `true` if both are the same thing.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one.as_object(), other.as_object()) {
        (Some(one), Some(other)) => return one == other,
        (None, None) => {}
        _ => return false,
    }
    match (one.as_resource(), other.as_resource()) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (None, None) => {
            one.type_number() == other.type_number()
                && one.as_long() == other.as_long()
                && one.as_str().map(|text| text.as_bytes()) == other.as_str().map(|text| text.as_bytes())
        }
        _ => false,
    }
}

fn release(this: &Instance<Pool>, item: Value, is_broken: bool) -> Result<(), Thrown> {
    let lent = {
        let mut lent = this.lent.borrow_mut();
        let at = lent.iter().position(|(other, _)| is_same(other, &item));
        at.map(|at| lent.remove(at))
    };
    let Some((lent, _)) = lent else {
        return Err(fails("The pool has not lent this, or it was released already"));
    };
    drop(lent); // `item` is another reference to it
    let is_clean = match is_broken || this.free.borrow().is_closed() {
        true => false,
        false => match passes(&this.before_release, &item) {
            Ok(is_clean) => is_clean,
            Err(thrown) => return Err(destroyed(this, item, thrown)),
        },
    };
    if !is_clean {
        return destroy(this, item);
    }
    match this.put(Place::Item(item, Instant::now())) {
        Some(Place::Item(item, _)) => destroy(this, item),
        _ => Ok(()),
    }
}

/// Calls a callback with a thing. If the callback throws and the pool has no `beforeRelease`, the thing is destroyed: nobody
/// knows its state.
fn with(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 2)?;
    let callable = arguments.callable(1)?;
    let this = call.this_of(&POOL);
    let item = acquire(this, token(&arguments, 2)?)?;
    match coroutine::call(callable, &mut [item.clone()]) {
        Ok(result) => {
            let is_lent = this.lent.borrow().iter().any(|(other, _)| is_same(other, &item));
            if is_lent {
                release(this, item, false)?;
            }
            Ok(result)
        }
        Err(thrown) if exception::is_exit_in_flight() => Err(thrown),
        Err(thrown) => {
            let first = exception::take();
            if release(this, item, this.before_release.is_empty()).is_err()
                && let Some(second) = exception::take()
                && let Some(first) = &first
            {
                exception::set_last_previous(first, second);
            }
            Err(first.map_or(thrown, exception::throw))
        }
    }
}

/// Closes the pool, and destroys what is free. What is in use is destroyed when it is released.
fn close(this: &Pool) -> Result<(), Thrown> {
    this.free.borrow_mut().close(Waker::wake);
    drain(this)
}

/// Destroys what is free.
fn drain(this: &Pool) -> Result<(), Thrown> {
    let mut first = Ok(());
    loop {
        let received = this.free.borrow_mut().try_receive(Waker::wake);
        let destroyed = match received {
            Received::Value(Place::Item(item, _)) => {
                let (mut result, mut ours) = (Ok(()), None);
                if first.is_err() {
                    ours = exception::take();
                }
                if destroy(this, item).is_err() {
                    result = Err(Thrown::is_in_flight());
                }
                match (ours, result) {
                    (Some(ours), Ok(())) => {
                        let _ = exception::throw(ours);
                        Ok(())
                    }
                    (Some(ours), Err(thrown)) => {
                        if let Some(second) = exception::take() {
                            exception::set_last_previous(&ours, second);
                        }
                        drop(thrown);
                        let _ = exception::throw(ours);
                        Ok(())
                    }
                    (None, result) => result,
                }
            }
            Received::Value(Place::Vacant) => {
                this.count.set(this.count.get() - 1);
                Ok(())
            }
            Received::Empty | Received::Closed => return first,
        };
        if exception::is_exit_in_flight() {
            return Err(Thrown::is_in_flight());
        }
        if first.is_ok() {
            first = destroyed;
        }
    }
}
