//! The class `Async\Coroutine`: its objects.

use crate::isolation::Inherited;
use crate::runtime::context::Context;
use crate::runtime::ctx::Ctx;
use crate::runtime::position::Position;
use crate::runtime::runner::{Job, RustEntry};
use crate::runtime::scheduler::{Core, Runtime};
use crate::runtime::{classes, life};
use spindle_core::sched::{CoroutineId, ScopeId, SetId};
use spindle_reactor::Reactor;
use spindle_zend::{
    Array, Class, Collected, Instance, Object, Owned, OwnedCell, PhpResult, State, Str, Value, ValueCell, ValueList,
    exception, object_class, sys, zeroed,
};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The wait of a parked coroutine, for diagnostics.
#[derive(Clone, Copy)]
pub struct Info {
    /// The libc or `Async` function; empty if it waits for nothing.
    pub call: &'static str,
    /// The descriptor, or -1.
    pub fd: i32,
    /// The ids of the coroutines that it awaits; 0 for none.
    pub awaits: [u64; 2],
    /// How to find the coroutines that hold what it waits for.
    pub holders: Option<Holders>,
    /// The scope that it awaits.
    pub scope: Option<ScopeId>,
    /// The set of coroutines that it awaits.
    pub set: Option<SetId>,
    /// When the wait began, in monotonic nanoseconds as of [`Reactor::recently`].
    pub since: u64,
}

/// How to find the coroutines that hold what another one waits for, such as a lock: a function, and its argument. It returns
/// their ids, and 0 for none.
#[derive(Clone, Copy)]
pub struct Holders(pub fn(u32) -> [u64; 2], pub u32);

impl Info {
    /// The coroutine waits for nothing.
    pub const NONE: Info = Info { call: "", fd: -1, awaits: [0; 2], holders: None, scope: None, set: None, since: 0 };

    /// Returns the ids of the coroutines that it awaits; for a set the first few that are not complete.
    pub fn awaited(&self, core: &Core) -> Vec<u64> {
        let held = self.holders.map_or([0; 2], |holders| (holders.0)(holders.1));
        let mut ids: Vec<u64> = self.awaits.into_iter().chain(held).filter(|id| *id != 0).collect();
        if let Some(set) = self.set {
            ids.extend(core.pending_in_set(set, SHOWN_OF_SET).into_iter().map(|co| core.id(co)));
        }
        ids
    }

    /// Returns for how many seconds it has been waiting.
    pub fn seconds(&self) -> f64 {
        Reactor::now().saturating_sub(self.since) as f64 / 1e9
    }
}

/// The number of coroutines of a group that are listed.
pub const SHOWN_OF_SET: usize = 10;

/// An object of the class.
pub type CoroutineObject = Instance<Coroutine>;

/// The state of an object of the class.
pub struct Coroutine {
    /// Its slot in the core; [`NO_SLOT`] for an object without a coroutine.
    pub co: Cell<CoroutineId>,
    /// The Rust code that it runs instead of a callable, if any.
    entry: OnceCell<Box<RustEntry>>,
    /// User code has received its failure.
    pub seen: Cell<bool>,
    /// Whether it was spawned by the operator.
    pub is_operator: Cell<bool>,
    /// Whether it was spawned by the operator in a file with `strict_types=1`.
    pub is_strict: Cell<bool>,
    /// Where it was spawned.
    pub spawned_at: Position,
    /// The class of the code that spawned it.
    pub spawn_class: Cell<Option<Class>>,
    /// The called class (`static`) of that code.
    pub spawn_static: Cell<Option<Class>>,
    /// Where it was suspended last.
    pub suspended_at: Position,
    /// The callable; empty once it has been called.
    pub callable: ValueCell,
    /// The resolved call.
    pub call: Cell<sys::zend_fcall_info_cache>,
    /// Its arguments.
    pub arguments: ValueList,
    /// Its named arguments.
    pub named: OwnedCell<Array>,
    /// Its result.
    pub result: ValueCell,
    /// The exception that it threw, or its cancellation.
    pub exception: OwnedCell<Object>,
    /// Its context, while it has a stack.
    pub ctx: Cell<Option<&'static Ctx>>,
    /// Callbacks for its end.
    pub finally: ValueList,
    /// Its `Context`, once it has been asked for.
    pub context: OwnedCell<Instance<Context>>,
    /// The state that it inherits at its start.
    pub inherited: Inherited,
    /// Its last wait. It lasts while `is_waiting`.
    wait: Cell<Info>,
    is_waiting: Cell<bool>,
    /// The coroutine that spawned it, the one that spawned that one, and so on.
    pub spawners: OnceCell<Rc<Spawners>>,
    /// The `spawners` of the coroutines that it spawns; created at its first spawn.
    to_spawned: OnceCell<Rc<Spawners>>,
}

/// A coroutine and the chain of those that spawned it, the nearest first. Kept after they have ended, for reports.
pub struct Spawners(Vec<Spawner>);

/// The id of a coroutine, and where it was spawned.
#[derive(Clone)]
struct Spawner {
    id: u64,
    file: Owned<Str>,
    line: u32,
}

/// The maximal number of spawners that are kept.
const SPAWNERS: usize = 5;

impl Spawners {
    /// Returns the list for a coroutine that is spawned by `this`; `None` if that is the script itself or a runner.
    #[inline(always)]
    pub fn of(rt: &Runtime, this: &Coroutine) -> Option<Rc<Spawners>> {
        if !this.spawned_at.is_known() {
            return None;
        }
        Some(Rc::clone(this.to_spawned.get_or_init(|| Spawners::make(rt, this))))
    }

    #[cold]
    fn make(rt: &Runtime, this: &Coroutine) -> Rc<Spawners> {
        let id = rt.core.borrow().id(this.co.get());
        let own = this.spawned_at.file().map(|file| Spawner { id, file, line: this.spawned_at.line() });
        let above = this.spawners.get().into_iter().flat_map(|above| above.0.iter()).take(SPAWNERS - 1).cloned();
        Rc::new(Spawners(own.into_iter().chain(above).collect()))
    }

    /// Returns each as `coroutine #7, spawned at FILE:LINE`.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        let place = |it: &Spawner| exception::place(Some(&it.file), it.line);
        self.0.iter().map(move |it| format!("coroutine #{}, spawned at {}", it.id, place(it)))
    }
}

/// The slot of objects that never run (made by reflection).
pub const NO_SLOT: CoroutineId = CoroutineId(u32::MAX);

object_class!(
    /// The class.
    pub static COROUTINE: Coroutine = create
);

/// Registers the class. At module start.
pub fn register() {
    COROUTINE.register(classes::coroutine(), create, sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
}

/// A call that has not been resolved.
pub const UNRESOLVED: sys::zend_fcall_info_cache = zeroed();

impl State for Coroutine {
    #[inline(always)]
    fn new(_: Class) -> Coroutine {
        // A constant is written in place, not built on the stack and copied.
        const {
            Coroutine {
                co: Cell::new(NO_SLOT),
                entry: OnceCell::new(),
                seen: Cell::new(false),
                is_operator: Cell::new(false),
                is_strict: Cell::new(false),
                spawned_at: Position::new(),
                spawn_class: Cell::new(None),
                spawn_static: Cell::new(None),
                suspended_at: Position::new(),
                callable: ValueCell::new(),
                call: Cell::new(UNRESOLVED),
                arguments: ValueList::new(),
                named: OwnedCell::new(),
                result: ValueCell::new(),
                exception: OwnedCell::new(),
                ctx: Cell::new(None),
                finally: ValueList::new(),
                context: OwnedCell::new(),
                inherited: Inherited::new(),
                wait: Cell::new(Info::NONE),
                is_waiting: Cell::new(false),
                spawners: OnceCell::new(),
                to_spawned: OnceCell::new(),
            }
        }
    }

    fn free(this: &CoroutineObject) {
        if this.co.get() != NO_SLOT {
            life::object_dies(this);
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.callable);
        values.cell(&self.result);
        self.finally.collect(values);
        self.inherited.collect(values);
        self.arguments.collect(values);
        values.array(&self.named);
        values.instance(&self.context);
        // A failure that has not been awaited outlives the coroutine: the collector must not treat both as garbage.
        if !life::is_unseen_failure(self) {
            values.object(&self.exception);
        }
    }
}

impl Coroutine {
    /// Returns its wait, if it is parked. `call` is empty if it waits for nothing.
    pub fn info(&self) -> Info {
        let wait = self.wait.get();
        if self.is_waiting.get() { wait } else { Info { call: "", ..wait } }
    }

    /// Notes what it waits for.
    #[inline(always)]
    pub fn waits(&self, info: Info) {
        self.wait.set(info);
        self.is_waiting.set(true);
    }

    /// Notes that the wait is over.
    #[inline(always)]
    pub fn waits_no_more(&self) {
        self.is_waiting.set(false);
    }

    /// Returns the work of a runner; `None` for a coroutine of user code.
    #[inline(always)]
    pub fn job(&self) -> Option<&Job> {
        if let RustEntry::Job(job) = &**self.entry.get()? { Some(job) } else { None }
    }

    /// Runs the Rust body, and drops it.
    pub fn run_body(&self) -> PhpResult {
        let Some(RustEntry::Body(body)) = self.entry.get().map(Box::as_ref) else { return Ok(Value::NULL) };
        let result = body.borrow_mut().as_mut().map_or(Ok(Value::NULL), |body| body());
        exception::put_aside(|| self.drop_body());
        result
    }

    /// Drops the Rust body, if there is one. It must not be running.
    pub fn drop_body(&self) {
        if let Some(RustEntry::Body(body)) = self.entry.get().map(Box::as_ref) {
            drop(body.take());
        }
    }

    /// Makes the coroutine one that runs Rust code. To be called once, before it is queued.
    pub fn set_entry(&self, entry: RustEntry) {
        let is_new = self.entry.set(Box::new(entry)).is_ok();
        debug_assert!(is_new);
    }

    /// Returns `true` if it has a callable or arguments.
    pub fn holds_call(&self) -> bool {
        !(self.arguments.is_empty() && self.named.is_empty() && self.callable.is_empty())
    }

    /// Releases the callable and the arguments, after the call or when it will never be made.
    pub fn drop_call(&self) {
        self.arguments.clear();
        self.named.set(None);
        self.callable.set(Value::UNDEF);
    }
}

/// Keeps what a value of a coroutine of the parent holds alone from being destructed in the child of a fork.
pub fn disown(value: &Value) {
    if let Some(object) = value.as_object()
        && object.references() == 1
    {
        object.skip_destructor();
    }
}
