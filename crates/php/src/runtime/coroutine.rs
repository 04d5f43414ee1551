//! The class `Async\Coroutine`: its objects.

use crate::isolation::Inherited;
use crate::runtime::context::Context;
use crate::runtime::ctx::Ctx;
use crate::runtime::position::Position;
use crate::runtime::runner::{Job, RustEntry};
use crate::runtime::scheduler::Runtime;
use crate::runtime::{classes, life, objects};
use spindle_core::sched::{CoroutineId, Needs, ScopeId, Target, WaitSetId};
use spindle_reactor::Reactor;
use spindle_zend::{
    Array, Class, Collected, Instance, Object, Owned, OwnedCell, PhpResult, State, Str, Value, ValueCell, ValueList,
    exception, object_class, sys, zeroed,
};
use std::cell::{Cell, OnceCell};
use std::rc::Rc;

/// The wait of a parked coroutine, for diagnostics and for the search for cycles.
#[derive(Clone, Copy)]
pub struct Info {
    /// The libc or `Async` function; empty if it waits for nothing.
    pub call: &'static str,
    /// The descriptor, or -1.
    pub fd: i32,
    /// What it waits for, if that is known and depends on coroutines.
    pub wants: Wants,
    /// What ends it without that.
    pub limit: Option<Target>,
    /// It is given up if it closes a cycle, or another wait closes one with it.
    pub gives_up: bool,
    /// When the wait began, in monotonic nanoseconds as of [`Reactor::recently`].
    pub since: u64,
}

/// What a coroutine waits for.
#[derive(Clone, Copy)]
pub enum Wants {
    /// Something that depends on no coroutine, or on an unknown one.
    Unknown,
    /// The completion of this; of a coroutine also what it holds or loads.
    Target(Target),
    /// Something that other coroutines hold.
    Held(Holders),
    /// One of the targets to which it has subscribed.
    Subscribed,
    /// All targets that a wait set watches.
    Watched(WaitSetId),
}

/// How to find the coroutines on which a wait depends, such as that for a lock on the lock's holders: a function, its argument,
/// and the coroutine that waits.
#[derive(Clone, Copy)]
pub struct Holders(pub fn(&mut Held, usize, CoroutineId), pub usize);

/// The coroutines on which a wait depends. If there are none, something else can end it.
pub struct Held<'a> {
    rt: &'a Runtime,
    list: Vec<CoroutineId>,
    one_is_enough: bool,
    is_open: bool,
}

impl Held<'_> {
    /// Adds a coroutine by its id. The wait ends when each of those that are added has continued. If this one has ended, something
    /// else ends it.
    pub fn by(&mut self, id: u64) {
        match objects::find(self.rt, id) {
            Some(this) => self.list.push(this.co.get()),
            None => self.is_open = true,
        }
    }

    /// Declares that something unknown can end the wait, too.
    pub fn by_others(&mut self) {
        self.is_open = true;
    }

    /// Adds a coroutine.
    pub fn by_coroutine(&mut self, co: CoroutineId) {
        self.list.push(co);
    }

    /// Declares that the wait ends when one of them has continued.
    pub fn one_is_enough(&mut self) {
        self.one_is_enough = true;
    }
}

impl Holders {
    fn ask<'a>(&self, rt: &'a Runtime, co: CoroutineId) -> Held<'a> {
        let mut held = Held { rt, list: Vec::new(), one_is_enough: false, is_open: false };
        (self.0)(&mut held, self.1, co);
        held
    }
}

impl Info {
    /// The coroutine waits for nothing.
    pub const NONE: Info = Info { call: "", fd: -1, wants: Wants::Unknown, limit: None, gives_up: false, since: 0 };

    /// Returns the ids of the coroutines on which the wait of `co` depends; for a set the first few that are not complete.
    pub fn awaited(&self, rt: &Runtime, co: CoroutineId) -> Vec<u64> {
        let held = if let Wants::Held(holders) = self.wants { holders.ask(rt, co).list } else { Vec::new() };
        let core = rt.core.borrow();
        let targets: Vec<Target> = self.targets().collect();
        let coroutine = |target: &Target| if let Target::Coroutine(co) = target { Some(*co) } else { None };
        let set = targets.iter().find_map(|target| if let Target::Set(id) = target { Some(*id) } else { None });
        let members = set.map_or_else(Vec::new, |set| core.pending_in_set(set, SHOWN_OF_SET));
        let all = targets.iter().filter_map(coroutine).chain(held.into_iter().take(SHOWN_OF_SET)).chain(members);
        all.map(|co| core.id(co)).collect()
    }

    /// Returns the scope that it awaits.
    pub fn scope(&self) -> Option<ScopeId> {
        self.targets().find_map(|target| if let Target::Scope(id) = target { Some(id) } else { None })
    }

    /// Returns the targets that are described; if the limit is of the same kind as what is wanted, that comes first.
    fn targets(&self) -> impl Iterator<Item = Target> {
        let wanted = if let Wants::Target(target) = self.wants { Some(target) } else { None };
        wanted.into_iter().chain(self.limit.filter(|_| wanted.is_some()))
    }

    /// Returns the conditions under which the wait of `co` ends.
    pub fn needs(&self, rt: &Runtime, co: CoroutineId) -> Needs {
        match self.wants {
            Wants::Unknown => Needs::Unknown,
            Wants::Target(target) => Needs::One(target),
            Wants::Subscribed => Needs::Subscribed,
            Wants::Watched(set) => Needs::Watched(set),
            Wants::Held(holders) => {
                let held = holders.ask(rt, co);
                let targets = held.list.into_iter().map(Target::Coroutine).collect();
                match (held.is_open, held.one_is_enough) {
                    (true, _) => Needs::Unknown,
                    (false, true) => Needs::Any(targets),
                    (false, false) => Needs::All(targets),
                }
            }
        }
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
    /// The coroutine that waits until this one has ended, and as which it acts meanwhile, and its number; [`NO_SLOT`] for none.
    pub acts_for: Cell<(CoroutineId, u64)>,
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
    /// Its body has ended, and it waits on its stack for the coroutines that it has spawned, to run the callbacks then.
    pub lingers: Cell<bool>,
    /// Its `Context`, once it has been asked for.
    pub context: OwnedCell<Instance<Context>>,
    /// The `Fiber` that `Fiber::getCurrent()` has returned in it, unless it is suspended as that.
    pub identity: OwnedCell<Object>,
    /// The state that it inherits at its start.
    pub inherited: Inherited,
    /// Its last wait. It lasts while `is_waiting`.
    wait: Cell<Info>,
    is_waiting: Cell<bool>,
    /// The number of the innermost file whose code it is inside of: it runs this, or was spawned by that code or by a coroutine that is
    /// inside of it (see `loading`). 0 for none.
    pub inside: Cell<u32>,
    /// It may be inside of a file that it runs itself.
    pub runs_file: Cell<bool>,
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
    pub static COROUTINE: Coroutine
);

/// Registers the class. At module start.
pub fn register() {
    COROUTINE.register(classes::coroutine(), sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
    COROUTINE.stands_for_result();
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
                acts_for: Cell::new((NO_SLOT, 0)),
                suspended_at: Position::new(),
                callable: ValueCell::new(),
                call: Cell::new(UNRESOLVED),
                arguments: ValueList::new(),
                named: OwnedCell::new(),
                result: ValueCell::new(),
                exception: OwnedCell::new(),
                ctx: Cell::new(None),
                finally: ValueList::new(),
                lingers: Cell::new(false),
                context: OwnedCell::new(),
                identity: OwnedCell::new(),
                inherited: Inherited::new(),
                wait: Cell::new(Info::NONE),
                is_waiting: Cell::new(false),
                inside: Cell::new(0),
                runs_file: Cell::new(false),
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

    /// Notes that the wait has ended.
    #[inline(always)]
    pub fn waits_no_more(&self) {
        self.is_waiting.set(false);
    }

    /// Returns the work of a runner; `None` for a coroutine of user code.
    #[inline(always)]
    pub fn job(&self) -> Option<&Job> {
        if let RustEntry::Job(job) = &**self.entry.get()? { Some(job) } else { None }
    }

    /// Returns `true` if it runs Rust code: a runner, or a coroutine by which a function such as `iterate()` does its work.
    #[inline(always)]
    pub fn runs_rust(&self) -> bool {
        self.entry.get().is_some()
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

    /// Becomes the object of a complete coroutine that has failed, in place of its own.
    pub fn take_over(&self, other: &Coroutine) {
        self.co.set(other.co.get());
        self.seen.set(true);
        self.spawned_at.take_from(&other.spawned_at);
        self.suspended_at.take_from(&other.suspended_at);
        self.exception.set(other.exception.take());
        self.context.set(other.context.take());
        if let Some(spawners) = other.spawners.get() {
            let is_new = self.spawners.set(Rc::clone(spawners)).is_ok();
            debug_assert!(is_new);
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

/// In the child of a fork, keeps objects that only this value of a parent's coroutine holds from being destructed.
pub fn disown(value: &Value) {
    if let Some(object) = value.as_object()
        && object.references() == 1
    {
        object.skip_destructor();
    }
}
