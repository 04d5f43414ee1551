//! The class `Async\Pool`: things that are expensive to make and are used by one coroutine at a time.
//!
//! Who gets what is decided in [`spindle_core::pool`]. A thing that is in use is held by its user only: when an object is freed
//! there, its place becomes vacant. A connection comes back instead: see `connections`.

use crate::arguments::{TOKEN, fails, number, token};
use crate::connection::{Connections, Info};
use spindle_core::pool::{Place, Pool as Core, Taken};
use spindle_core::sched::CoroutineId;
use spindle_php::coroutine::{self, ErrorHandling, Held, Holders, Wait, Waker};
use spindle_zend::{
    Arguments, Call, Class, Collected, FreeWatch, FunctionEntry, Instance, Object, Owned, PhpResult, PhpStatic, State,
    Thrown, Type, Value, ValueCell, argument_error, exception, function_table, object_class, sys,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A thing that is not in use.
pub struct Free {
    pub item: Value,
    /// Since when; `None` if no time matters.
    since: Option<Instant>,
}

/// An object of a pool, which exists. Its place is taken.
pub struct Entry {
    address: usize,
    /// The id of the coroutine that has acquired it; 0 if it is not lent.
    pub borrower: Cell<u64>,
    /// What is known of a connection.
    pub connection: Info,
}

impl Entry {
    /// Returns the object. It may be in the middle of being freed: then it must not get a new reference.
    fn object(&self) -> &Object {
        let object = std::ptr::with_exposed_provenance::<sys::zend_object>(self.address);
        // SAFETY: an entry is removed before the memory of its object is freed.
        unsafe { Object::borrow(object) }.expect("not null")
    }

    /// Returns a reference to a connection, unless it is being freed.
    pub fn live(&self) -> Option<Owned<Object>> {
        (!self.connection.is_ending.get()).then(|| Owned::of(self.object()))
    }

    /// Returns the address of the object.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns `true` if it is the entry of this object.
    pub fn is_of(&self, object: &Object) -> bool {
        self.address == object.address()
    }
}

/// The state of a pool.
pub struct Pool {
    factory: ValueCell,
    destructor: ValueCell,
    /// The error handling of the pool's creator, which the destructor's errors get, whatever code closes the pool.
    errors: RefCell<Option<ErrorHandling>>,
    health_check: ValueCell,
    before_acquire: ValueCell,
    before_release: ValueCell,
    is_constructed: Cell<bool>,
    /// Its things are lent and taken back as they are: there is nothing to call and no time to check.
    is_plain: Cell<bool>,
    least: Cell<usize>,
    /// How long a thing is free before it is checked, and before it is destroyed.
    check_after: Cell<Duration>,
    idle_time: Cell<Option<Duration>>,
    pub places: RefCell<Core<Free, Waker>>,
    /// The objects of this pool. They are held where they are free, and otherwise by those that use them.
    pub entries: RefCell<Vec<Rc<Entry>>>,
    /// Things in use that are no objects, and the ids of the coroutines that have acquired them.
    others: RefCell<Vec<(Value, u64)>>,
    /// How many things are lent.
    lent: Cell<usize>,
    /// Set for a pool of connections, which has no factory.
    pub connections: OnceCell<Box<Connections>>,
}

object_class!(pub static POOL: Pool);

/// All pools, held weakly: one that is freed removes itself.
static POOLS: PhpStatic<RefCell<Vec<NonNull<Instance<Pool>>>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// The objects of all pools.
static WATCH: PhpStatic<FreeWatch> = PhpStatic::new(FreeWatch::new(object_gone));

const CALLBACK: Type = Type::CALLABLE.or_null();

function_table! {
    static METHODS = {
        c"__construct"(
            factory: Type::CALLABLE, destructor: CALLBACK => c"null", healthcheck: CALLBACK => c"null",
            beforeAcquire: CALLBACK => c"null", beforeRelease: CALLBACK => c"null", min: Type::INT => c"0",
            max: Type::INT => c"10", healthcheckInterval: Type::INT => c"0", idleTime: Type::INT => c"0",
        ) -> Type::NONE => construct;
        c"acquire"(cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let token = token(&call.passed(), 1)?;
            acquire(call.this_of(&POOL), "Pool::acquire", token)
        };
        c"tryAcquire"() -> Type::MIXED => |call| try_acquire(call.this_of(&POOL));
        c"release"(resource: Type::MIXED, broken: Type::BOOL => c"false") -> Type::VOID => |call| {
            let arguments = call.passed();
            let item = arguments.value(1).cloned().unwrap_or(Value::NULL);
            release(call.this_of(&POOL), item, arguments.bool_or(2, false)?)?;
            Ok(Value::NULL)
        };
        c"with"(callback: Type::CALLABLE, cancellation: TOKEN => c"null") -> Type::MIXED => with;
        c"close"() -> Type::VOID => |call| {
            close(call.this_of(&POOL))?;
            Ok(Value::NULL)
        };
        c"isClosed"() -> Type::BOOL => |call| Ok(call.this_of(&POOL).is_closed().into());
        c"count"() -> Type::INT => |call| Ok((call.this_of(&POOL).places.borrow().count() as i64).into());
        c"idleCount"() -> Type::INT => |call| Ok((call.this_of(&POOL).places.borrow().idle() as i64).into());
        c"activeCount"() -> Type::INT => |call| Ok((call.this_of(&POOL).lent.get() as i64).into());
    }
}

/// Registers the class. At module start.
pub fn register(statics: &[FunctionEntry]) {
    let class = POOL.declare(c"Async\\Pool", METHODS, statics);
    class.implement(spindle_zend::engine::countable_class());
}

/// Forgets the objects of all pools, at the end of the request.
pub fn request_ends() {
    let mut entries = Vec::new();
    each_pool(|pool| entries.append(&mut pool.entries.take()));
    WATCH.clear();
    drop(entries); // and the connections that they keep, whose pools do not know them any more
}

/// Calls `with` for each pool. It must not run PHP code.
pub fn each_pool(mut with: impl FnMut(&Instance<Pool>)) {
    for pool in POOLS.borrow().iter() {
        // SAFETY: those on the list are alive.
        with(unsafe { pool.as_ref() });
    }
}

/// Returns all pools.
pub fn all() -> Vec<Owned<Instance<Pool>>> {
    let mut pools = Vec::new();
    each_pool(|pool| pools.push(Owned::of(pool)));
    pools
}

impl State for Pool {
    const DESTRUCT: Option<fn(&Instance<Pool>)> = Some(|this| {
        if coroutine::is_in_request() && !exception::is_exit_in_flight() {
            exception::put_aside(|| {
                // What a destructor throws is in flight then.
                let _ = close(this);
            });
        }
    });

    fn new(_: Class) -> Pool {
        Pool {
            factory: ValueCell::new(),
            destructor: ValueCell::new(),
            errors: RefCell::default(),
            health_check: ValueCell::new(),
            before_acquire: ValueCell::new(),
            before_release: ValueCell::new(),
            is_constructed: Cell::new(false),
            is_plain: Cell::new(false),
            least: Cell::new(0),
            check_after: Cell::new(Duration::ZERO),
            idle_time: Cell::new(None),
            places: RefCell::new(Core::new(0)),
            entries: RefCell::default(),
            others: RefCell::default(),
            lent: Cell::new(0),
            connections: OnceCell::new(),
        }
    }

    fn free(this: &Instance<Pool>) {
        POOLS.borrow_mut().retain(|pool| *pool != NonNull::from(this));
        let entries = this.entries.take();
        for entry in &entries {
            WATCH.remove(entry.object());
        }
        if this.connections.get().is_some() {
            coroutine::hold(-1);
        }
    }

    fn collect(&self, values: &mut Collected) {
        for cell in [&self.factory, &self.destructor, &self.health_check, &self.before_acquire, &self.before_release] {
            values.cell(cell);
        }
        self.errors.borrow().iter().for_each(|errors| errors.collect(values));
        self.places.borrow().items().for_each(|free| values.value(&free.item));
        self.others.borrow().iter().for_each(|(item, _)| values.value(item));
        self.entries.borrow().iter().for_each(|entry| values.object(&entry.connection.kept));
        if let Some(connections) = self.connections.get() {
            connections.collect(values);
        }
    }
}

impl Pool {
    fn is_closed(&self) -> bool {
        self.places.borrow().is_closed()
    }

    /// Returns the entry of an object.
    pub fn entry(&self, object: &Object) -> Option<Rc<Entry>> {
        self.entries.borrow().iter().find(|entry| entry.is_of(object)).cloned()
    }

    /// Makes a place vacant. Runs no other code.
    pub fn vacate(&self) {
        self.places.borrow_mut().vacate(Waker::wake);
    }

    /// Records that a thing is no longer lent. Returns `false` if it was not.
    #[inline]
    pub fn returned(&self, item: &Value) -> bool {
        let was_lent = match item.as_object() {
            Some(object) => {
                let entries = self.entries.borrow();
                let found = entries.iter().rfind(|entry| entry.is_of(object));
                found.is_some_and(|entry| entry.borrower.replace(0) != 0)
            }
            None => {
                let at = self.others.borrow().iter().rposition(|(other, _)| is_same(other, item));
                // `item` is another reference to it.
                at.map(|at| self.others.borrow_mut().swap_remove(at)).is_some()
            }
        };
        if was_lent {
            self.lent.set(self.lent.get() - 1);
        }
        was_lent
    }

    /// Records that the running coroutine uses a thing.
    #[inline(always)]
    pub fn lend(&self, item: &Value) {
        self.lent.set(self.lent.get() + 1);
        let me = coroutine::current_id();
        let Some(object) = item.as_object() else {
            return self.others.borrow_mut().push((item.clone(), me));
        };
        if let Some(entry) = self.entries.borrow().iter().rfind(|entry| entry.is_of(object)) {
            entry.borrower.set(me);
        }
    }

    /// Returns a thing that is free again, to be put into its place: with the time only if it matters.
    #[inline]
    fn freed(&self, item: Value) -> Free {
        if self.is_plain.get() {
            return Free { item, since: None };
        }
        let is_timed = self.idle_time.get().is_some()
            || !self.check_after.get().is_zero() && (self.connections.get().is_some() || !self.health_check.is_empty());
        Free { item, since: is_timed.then(Instant::now) }
    }

    /// Puts a thing that can be used again into its place.
    ///
    /// # Errors
    /// The thing, if the pool is closed.
    #[inline(always)]
    pub fn put(&self, item: Value) -> Result<(), Value> {
        let free = self.freed(item);
        self.places.borrow_mut().put(free, Waker::wake).map_err(|free| free.item)
    }

    /// Forgets an object, which this pool still has. Returns `false` for what is no object of this pool.
    pub fn forget(&self, item: &Value) -> bool {
        let Some(object) = item.as_object() else { return false };
        let at = self.entries.borrow().iter().rposition(|entry| entry.is_of(object));
        let entry = at.map(|at| self.entries.borrow_mut().swap_remove(at));
        if entry.is_some() {
            WATCH.remove(object);
        }
        entry.is_some()
    }

    /// Takes a connection out which others still hold, such as its statements: another one may be made.
    pub fn set_aside(&self, connection: &Object) {
        if self.forget(&Value::from(connection)) {
            connection.skip_destructor();
            self.vacate();
        }
    }

    /// Makes places vacant whose resources only the pool holds. Returns `false` if there are none.
    fn sweep(&self) -> bool {
        let is_lost = |item: &Value| item.as_resource().is_some() && item.references() == 1;
        let at = self.others.borrow().iter().position(|(item, _)| is_lost(item));
        let Some(at) = at else { return false };
        let (lost, _) = self.others.borrow_mut().swap_remove(at);
        self.lent.set(self.lent.get() - 1);
        self.vacate();
        exception::put_aside(|| drop(lost));
        true
    }
}

/// An object of a pool is being freed: its place becomes vacant.
extern "C" fn object_gone(address: &Value) {
    let address = address.as_long().unwrap_or(0) as usize;
    each_pool(|pool| {
        let at = pool.entries.borrow().iter().position(|entry| entry.address == address);
        let Some(at) = at else { return };
        let entry = pool.entries.borrow_mut().swap_remove(at);
        if entry.borrower.get() != 0 {
            pool.lent.set(pool.lent.get() - 1);
        }
        pool.vacate();
    });
}

/// In the child of a fork: things that are free, or in use by coroutines that do not exist here, belong to the parent. They are
/// not used, and not released, which could send something to the other end of a connection.
pub fn forked(me: u64) {
    each_pool(|pool| {
        let is_foreign = |entry: &Entry| entry.borrower.get() != me || pool.connections.get().is_some();
        let (foreign, own): (Vec<_>, Vec<_>) = pool.entries.take().into_iter().partition(|entry| is_foreign(entry));
        for entry in foreign {
            let object = entry.object();
            WATCH.remove(object);
            object.abandon();
            // References that the entry keeps are never released.
            std::mem::forget(entry.connection.kept.take());
        }
        let others = pool.others.take();
        let (own_others, foreign): (Vec<_>, Vec<_>) = others.into_iter().partition(|(_, borrower)| *borrower == me);
        std::mem::forget(foreign);
        let kept = own.len() + own_others.len();
        pool.lent.set(kept);
        *pool.entries.borrow_mut() = own;
        *pool.others.borrow_mut() = own_others;
        std::mem::forget(pool.places.borrow_mut().reset(kept));
        if let Some(connections) = pool.connections.get() {
            connections.forked(me);
        }
    });
}

/// Which arguments are the numbers of a pool: the least and the largest number of things, and the times after which a free one
/// is checked, and destroyed. The third has a default.
pub struct Numbers {
    pub least: u32,
    pub most: u32,
    pub check_after: (u32, i64),
    pub idle_time: u32,
}

/// Sets the numbers of a pool.
///
/// # Errors
/// One is wrong.
pub fn begin(this: &Instance<Pool>, arguments: &Arguments<'_>, numbers: &Numbers) -> Result<(), Thrown> {
    let (least, most) = (number(arguments, numbers.least, 0, 0)?, number(arguments, numbers.most, 10, 1)?);
    if least > most {
        let text = format!("must not be greater than argument #{} ($max)", numbers.most);
        return Err(argument_error(numbers.least, false, &text));
    }
    let check_after = number(arguments, numbers.check_after.0, numbers.check_after.1, 0)?;
    let idle_time = number(arguments, numbers.idle_time, 0, 0)?;
    this.least.set(least);
    this.check_after.set(Duration::from_millis(check_after as u64));
    this.idle_time.set((idle_time > 0).then(|| Duration::from_millis(idle_time as u64)));
    *this.places.borrow_mut() = Core::new(most);
    Ok(())
}

/// Makes the things that the pool begins with.
///
/// # Errors
/// One cannot be made. Those that were made are destroyed.
pub fn fill(this: &Instance<Pool>, count: usize) -> Result<(), Thrown> {
    coroutine::activate()?;
    this.is_constructed.set(true);
    POOLS.borrow_mut().push(NonNull::from(this));
    for _ in 0..count.max(this.least.get()) {
        if !this.places.borrow_mut().take_vacant() {
            break;
        }
        match make(this) {
            Ok(item) => {
                if let Err(item) = this.put(item) {
                    destroy(this, item)?;
                }
            }
            Err(thrown) if exception::is_exit_in_flight() => return Err(thrown),
            Err(thrown) => {
                exception::put_aside(|| {
                    let _ = close(this);
                });
                return Err(thrown);
            }
        }
    }
    Ok(())
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.passed();
    let this = call.this_of(&POOL);
    if this.is_constructed.get() {
        return Err(fails("The pool is constructed already"));
    }
    let callbacks = [
        (&this.destructor, arguments.callable_or_null(2)?),
        (&this.health_check, arguments.callable_or_null(3)?),
        (&this.before_acquire, arguments.callable_or_null(4)?),
        (&this.before_release, arguments.callable_or_null(5)?),
    ];
    let factory = arguments.callable(1)?;
    begin(this, &arguments, &Numbers { least: 6, most: 7, check_after: (8, 0), idle_time: 9 })?;
    for (cell, callback) in callbacks {
        cell.set(callback.cloned().unwrap_or_default());
    }
    this.factory.set(factory.clone());
    let errors = (!this.destructor.is_empty()).then(ErrorHandling::capture);
    drop(this.errors.replace(errors));
    let is_called =
        [&this.health_check, &this.before_acquire, &this.before_release].iter().any(|cell| !cell.is_empty());
    this.is_plain.set(!is_called && this.idle_time.get().is_none());
    fill(this, 0)?;
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

/// Returns `true` if there is no callback, or it does not return `false`.
fn passes(cell: &ValueCell, item: &Value) -> Result<bool, Thrown> {
    if cell.is_empty() {
        return Ok(true);
    }
    let answer = callback(cell, item)?;
    Ok(answer.is_none_or(|answer| answer.type_number() != sys::IS_FALSE))
}

/// Creates a thing for a place that is taken. If that fails, the place is vacant.
fn make(this: &Instance<Pool>) -> PhpResult {
    let made = match this.connections.get() {
        Some(connections) => connections.connect(),
        None => coroutine::call(&this.factory.get(), &mut []).map(|made| made.dereferenced().clone()),
    };
    let made = made.and_then(|made| admit(this, &made).map(|()| made));
    if made.is_err() {
        this.vacate();
    }
    made
}

/// Adds a new thing to those of the pool.
fn admit(this: &Instance<Pool>, item: &Value) -> Result<(), Thrown> {
    let Some(object) = item.as_object() else {
        let is_thing = item.as_resource().is_some() || item.as_str().is_some() || item.as_long().is_some();
        if is_thing {
            return Ok(());
        }
        let text = format!(
            "The factory of a pool has to return an object, a resource, a string or an integer, {} returned",
            item.type_name()
        );
        return Err(fails(&text));
    };
    if !WATCH.add(object) {
        return Err(fails("The factory of a pool has returned an object that is in a pool already"));
    }
    let entry =
        Entry { address: object.as_raw().expose_provenance(), borrower: Cell::new(0), connection: Info::default() };
    this.entries.borrow_mut().push(Rc::new(entry));
    Ok(())
}

/// Destroys a thing, whose place stays taken. If its destructor throws, the place is vacant.
fn discard(this: &Instance<Pool>, item: Value) -> Result<(), Thrown> {
    this.forget(&item);
    if let Some(connection) = item.as_object().filter(|_| this.connections.get().is_some()) {
        connection.skip_destructor(); // which would bring it back
    }
    let errors = this.errors.borrow().clone();
    let called = match errors {
        Some(errors) => errors.during(|| callback(&this.destructor, &item)),
        None => Ok(None),
    };
    exception::put_aside(|| drop(item));
    if called.is_err() || exception::is_in_flight() {
        this.vacate();
        return Err(Thrown::is_in_flight());
    }
    Ok(())
}

/// Destroys a thing, and makes its place vacant.
pub fn destroy(this: &Instance<Pool>, item: Value) -> Result<(), Thrown> {
    discard(this, item)?;
    this.vacate();
    Ok(())
}

/// Takes a place if that needs no wait.
#[inline(always)]
fn take(this: &Pool) -> Result<Option<Place<Free>>, Thrown> {
    let taken = this.places.borrow_mut().try_take();
    match taken {
        Taken::Place(place) => Ok(Some(place)),
        Taken::Closed => Err(is_closed()),
        Taken::Empty if this.others.borrow().is_empty() && this.is_constructed.get() => Ok(None),
        Taken::Empty => take_lost(this),
    }
}

/// Takes a place of which only the pool holds what was lent.
#[cold]
#[inline(never)]
fn take_lost(this: &Pool) -> Result<Option<Place<Free>>, Thrown> {
    loop {
        let taken = this.places.borrow_mut().try_take();
        match taken {
            Taken::Place(place) => return Ok(Some(place)),
            Taken::Closed => return Err(is_closed()),
            Taken::Empty if !this.is_constructed.get() => return Err(fails("The pool is not constructed")),
            Taken::Empty => {
                if !this.sweep() {
                    return Ok(None);
                }
            }
        }
    }
}

/// Waits for a place.
#[inline(never)]
fn wait(this: &Instance<Pool>, name: &'static str, token: Option<&Object>) -> Result<Place<Free>, Thrown> {
    let mut first = false;
    loop {
        let holders = Some(Holders(borrowers, this.object().address()));
        let begun = Wait { holders, ..Wait::new(name, token) }.begin()?;
        let waiting = this.places.borrow_mut().wait(begun.waker(), first);
        let parked = begun.park();
        let granted = this.places.borrow_mut().end(waiting);
        if let Some(place) = granted {
            if !parked.is_cancelled() {
                parked.taken();
                return Ok(place);
            }
            give_back(this, place);
        }
        parked.failed()?;
        if let Some(place) = take(this)? {
            return Ok(place);
        }
        first = true;
    }
}

/// Gives a place back that is not used.
fn give_back(this: &Instance<Pool>, place: Place<Free>) {
    let refused = this.places.borrow_mut().give_back(place, Waker::wake);
    if let Err(free) = refused {
        exception::put_aside(|| {
            // What a destructor throws is in flight then.
            let _ = destroy(this, free.item);
        });
    }
}

/// Adds the coroutines that use things of the pool at this address: one of them has to give something back.
fn borrowers(held: &mut Held<'_>, address: usize, _: CoroutineId) {
    held.one_is_enough();
    each_pool(|pool| {
        if pool.object().address() != address {
            return;
        }
        let (entries, others) = (pool.entries.borrow(), pool.others.borrow());
        let objects = entries.iter().map(|entry| entry.borrower.get()).filter(|id| *id != 0);
        let mut all: Vec<u64> = objects.chain(others.iter().map(|(_, id)| *id)).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().for_each(|id| held.by(id));
        let places = pool.places.borrow();
        if pool.lent.get() + places.idle() < places.count() {
            held.by_others(); // one is being made, or checked
        }
    });
}

/// Takes a thing, and waits until one is free or may be made.
///
/// # Errors
/// The pool is closed, the coroutine is cancelled, the token was first, or a callback has thrown.
pub fn acquire(this: &Instance<Pool>, name: &'static str, token: Option<&Object>) -> PhpResult {
    match take(this)? {
        Some(place) => ready(this, place),
        None => ready(this, wait(this, name, token)?),
    }
}

fn try_acquire(this: &Instance<Pool>) -> PhpResult {
    match take(this)? {
        Some(place) => ready(this, place),
        None => Ok(Value::NULL),
    }
}

/// Lends the thing of a place, or a new one if it cannot be used. On an error the place is vacant.
#[inline(always)]
fn ready(this: &Instance<Pool>, place: Place<Free>) -> PhpResult {
    match place {
        Place::Item(free) if this.is_plain.get() && !this.is_closed() => {
            this.lend(&free.item);
            Ok(free.item)
        }
        place => made_ready(this, place),
    }
}

/// Does the same, with all that the pool calls.
fn made_ready(this: &Instance<Pool>, place: Place<Free>) -> PhpResult {
    let mut found = match place {
        Place::Item(free) => Some(free),
        Place::Vacant => None,
    };
    loop {
        if this.is_closed() {
            match found.take() {
                Some(free) => destroy(this, free.item)?,
                None => this.vacate(),
            }
            return Err(is_closed());
        }
        let (item, is_new) = match found.take() {
            Some(free) => match is_usable(this, &free) {
                Ok(true) => (free.item, false),
                Ok(false) => {
                    discard(this, free.item)?;
                    (make(this)?, true)
                }
                Err(thrown) => return Err(destroyed(this, free.item, thrown)),
            },
            None => (make(this)?, true),
        };
        match passes(&this.before_acquire, &item) {
            Ok(true) if this.is_closed() => {
                destroy(this, item)?;
                return Err(is_closed());
            }
            Ok(true) => {
                this.lend(&item);
                return Ok(item);
            }
            Ok(false) if is_new => {
                destroy(this, item)?;
                return Err(fails("The pool's $beforeAcquire has refused a new item"));
            }
            Ok(false) => discard(this, item)?,
            Err(thrown) => return Err(destroyed(this, item, thrown)),
        }
    }
}

/// Returns `true` if a thing that was free can be used.
fn is_usable(this: &Instance<Pool>, free: &Free) -> Result<bool, Thrown> {
    let idle = free.since.map_or(Duration::ZERO, |since| since.elapsed());
    if this.is_too_old(idle) {
        return Ok(false);
    }
    let check_after = this.check_after.get();
    let (Some(connections), Some(connection)) = (this.connections.get(), free.item.as_object()) else {
        return if idle < check_after { Ok(true) } else { passes(&this.health_check, &free.item) };
    };
    if coroutine::has_dependents(connection) {
        // A destructor has kept one of its statements when both were collected: it is that statement's.
        return Ok(false);
    }
    let entry = this.entry(connection);
    let is_suspect = entry.as_ref().is_some_and(|entry| entry.connection.is_suspect.replace(false));
    let is_due = !check_after.is_zero() && idle >= check_after;
    if !is_suspect && !is_due {
        return Ok(true);
    }
    if let Some(entry) = entry {
        connections.keep_last_answers(&entry.connection, connection);
    }
    connections.answers(connection)
}

impl Pool {
    fn is_too_old(&self, idle: Duration) -> bool {
        self.idle_time.get().is_some_and(|limit| idle > limit && self.places.borrow().count() > self.least.get())
    }

    /// Takes out a thing that was free for too long.
    fn take_expired(&self) -> Option<Value> {
        self.idle_time.get()?;
        let idle = self.places.borrow().oldest().and_then(|free| free.since).map(|since| since.elapsed())?;
        if self.is_too_old(idle) { self.places.borrow_mut().take_oldest().map(|free| free.item) } else { None }
    }
}

/// Destroys a thing about which a callback has thrown.
fn destroyed(this: &Instance<Pool>, item: Value, thrown: Thrown) -> Thrown {
    if exception::is_exit_in_flight() {
        return thrown;
    }
    exception::put_aside(|| {
        // The first exception becomes the last previous one of what it throws.
        let _ = destroy(this, item);
    });
    Thrown::is_in_flight()
}

/// Returns `true` if both are the same thing.
fn is_same(one: &Value, other: &Value) -> bool {
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
    if !this.returned(&item) {
        return Err(fails("The pool has not lent this, or it was released already"));
    }
    let is_clean = if is_broken || this.is_closed() {
        Ok(false)
    } else if this.is_plain.get() {
        Ok(true)
    } else if let (Some(connections), Some(object)) = (this.connections.get(), item.as_object()) {
        Ok(connections.is_clean(this.entry(object).as_deref().map(|entry| &entry.connection), object))
    } else {
        passes(&this.before_release, &item)
    };
    match is_clean {
        Ok(true) => {}
        Ok(false) => return destroy(this, item),
        Err(thrown) => return Err(destroyed(this, item, thrown)),
    }
    if let (Some(_), Some(connection)) = (this.connections.get(), item.as_object())
        && coroutine::has_dependents(connection)
    {
        // Its statements may still be used and freed, which no other user of the connection may notice.
        this.set_aside(connection);
        return Ok(());
    }
    if let Err(item) = this.put(item) {
        return destroy(this, item);
    }
    if this.is_plain.get() {
        return Ok(());
    }
    while let Some(expired) = this.take_expired() {
        destroy(this, expired)?;
    }
    Ok(())
}

/// Calls a callback with a thing. If the callback throws and the pool has no `beforeRelease`, the thing is destroyed: its state
/// is unknown.
fn with(call: Call) -> PhpResult {
    let arguments = call.passed();
    let callable = arguments.callable(1)?;
    let this = call.this_of(&POOL);
    let item = acquire(this, "Pool::with", token(&arguments, 2)?)?;
    let result = coroutine::call(callable, &mut [item.clone()]);
    if exception::is_exit_in_flight() {
        return result;
    }
    let has_failed = result.is_err();
    let is_unknown = has_failed && this.before_release.is_empty() && this.connections.get().is_none();
    let mut released = Ok(());
    exception::put_aside(|| {
        if this.is_lent(&item) {
            released = release(this, item, is_unknown);
        }
    });
    if has_failed { Err(Thrown::is_in_flight()) } else { released.and(result) }
}

impl Pool {
    fn is_lent(&self, item: &Value) -> bool {
        match item.as_object() {
            Some(object) => self.entry(object).is_some_and(|entry| entry.borrower.get() != 0),
            None => self.others.borrow().iter().any(|(other, _)| is_same(other, item)),
        }
    }
}

/// Closes the pool, and destroys what is free. What is in use is destroyed when it is released.
fn close(this: &Instance<Pool>) -> Result<(), Thrown> {
    this.places.borrow_mut().close(Waker::wake);
    let mut failures: Option<Owned<Object>> = None;
    loop {
        let Some(free) = this.places.borrow_mut().take_oldest() else { break };
        if destroy(this, free.item).is_err() {
            if exception::is_exit_in_flight() {
                return Err(Thrown::is_in_flight());
            }
            match (&failures, exception::take()) {
                (Some(first), Some(later)) => exception::set_last_previous(first, later),
                (_, thrown) => failures = thrown,
            }
        }
    }
    failures.map_or(Ok(()), |failure| Err(exception::throw(failure)))
}
