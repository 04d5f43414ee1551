//! The class `Async\Coroutine`: the object, its handlers and its methods.

use crate::isolation::state::Inherited;
use crate::runtime::{
    ctx::Ctx,
    life,
    runner::Job,
    scheduler::{self, Core},
};
use crate::zend::{class::Handlers, exception, zv};
use spindle_core::sched::{CoroutineId, ScopeId, SetId};
use spindle_php_sys as sys;
use spindle_reactor::Reactor;
use std::ptr::{addr_of_mut, null_mut};
use std::rc::Rc;

/// What a parked coroutine waits for, in words.
#[derive(Clone, Copy)]
pub struct Info {
    /// The libc or `Async` function; empty when it waits for nothing.
    pub call: &'static str,
    /// The descriptor, or -1.
    pub fd: i32,
    /// The coroutines that it awaits (id, 0: none).
    pub awaits: [u64; 2],
    /// The scope that it awaits.
    pub scope: Option<ScopeId>,
    /// The set of coroutines that it awaits.
    pub set: Option<SetId>,
    /// Monotonic nanoseconds.
    pub since: u64,
}

impl Info {
    /// Nothing.
    pub const NONE: Info = Info { call: "", fd: -1, awaits: [0; 2], scope: None, set: None, since: 0 };

    /// The numbers of the coroutines that it awaits; of a set the first few that are not complete.
    pub fn awaited(&self, core: &Core) -> Vec<u64> {
        let mut ids: Vec<u64> = self.awaits.into_iter().filter(|id| *id != 0).collect();
        if let Some(set) = self.set {
            ids.extend(core.pending_in_set(set, SHOWN_OF_SET).into_iter().map(|co| core.id(co)));
        }
        ids
    }

    /// How long it waits, in seconds.
    pub fn seconds(&self) -> f64 {
        Reactor::now().saturating_sub(self.since) as f64 / 1e9
    }
}

/// How many coroutines of a group are named.
pub const SHOWN_OF_SET: usize = 10;

/// The object. The engine's part is last, as it wants; it is made zeroed.
#[repr(C)]
pub struct Coroutine {
    /// Its slot in the core; `NO_SLOT` for an object that no coroutine belongs to.
    pub co: CoroutineId,
    /// The line of its spawn.
    pub spawn_line: u32,
    /// The line where it was suspended last.
    pub suspend_line: u32,
    /// How many arguments follow in `args`.
    pub argc: u32,
    /// It runs callbacks or a handler, and is not the program's: which. Owned, or null.
    pub job: *mut Job,
    /// Somebody has been given its failure.
    pub seen: bool,
    /// It was spawned by the operator.
    pub is_operator: bool,
    /// By the operator, in a file with `strict_types=1`.
    pub is_strict: bool,
    /// The file of its spawn, or null.
    pub spawn_file: *mut sys::zend_string,
    /// The class of the code that spawned it, or null.
    pub spawn_scope: *mut sys::zend_class_entry,
    /// What `static` was there, or null.
    pub spawn_static: *mut sys::zend_class_entry,
    /// The file where it was suspended last, or null.
    pub suspend_file: *mut sys::zend_string,
    /// What it calls; undefined once it has been called.
    pub callable: sys::zval,
    /// The resolved call.
    pub fcc: sys::zend_fcall_info_cache,
    /// Its arguments, owned.
    pub args: *mut sys::zval,
    /// Its named arguments, owned, or null.
    pub named: *mut sys::HashTable,
    /// What it returned.
    pub result: sys::zval,
    /// What it threw, or its cancellation; owned, or null.
    pub exception: *mut sys::zend_object,
    /// Where it stands, while it has a stack.
    pub ctx: *mut Ctx,
    /// Callbacks for its end (an array), or undefined.
    pub finally: sys::zval,
    /// Its own values; owned, or null until it is asked for.
    pub context: *mut sys::zend_object,
    /// What it inherits at its start.
    pub inherited: Inherited,
    /// What it waits for.
    pub info: Info,
    /// Who has spawned it, and who those.
    pub spawners: Option<Rc<Spawners>>,
    /// What it is to those that it spawns; made at its first spawn.
    pub to_spawned: Option<Rc<Spawners>>,
    /// The engine's part.
    pub std: sys::zend_object,
}

/// A coroutine and those that have spawned it, the nearest first: kept when they have long ended, for reports.
pub struct Spawners(Vec<Spawner>);

/// The number of a coroutine, and where it was spawned.
struct Spawner {
    id: u64,
    file: *mut sys::zend_string,
    line: u32,
}

/// How many spawners of a coroutine are kept.
const SPAWNERS: usize = 5;

impl Drop for Spawner {
    fn drop(&mut self) {
        // SAFETY: our reference; nothing but memory goes with it.
        unsafe { sys::spindle_string_release(self.file) };
    }
}

impl Spawners {
    /// As a coroutine that is spawned by `this` keeps them; none for the script itself, and for callbacks.
    ///
    /// # Safety
    /// `this` is a live object with a slot.
    #[inline(always)]
    pub unsafe fn of(this: *mut Coroutine) -> Option<Rc<Spawners>> {
        // SAFETY: the caller's promise.
        unsafe {
            if (*this).spawn_file.is_null() {
                return None;
            }
            if (*this).to_spawned.is_none() {
                (*this).to_spawned = Some(Spawners::make(this));
            }
            (*this).to_spawned.clone()
        }
    }

    #[cold]
    unsafe fn make(this: *mut Coroutine) -> Rc<Spawners> {
        // SAFETY: the caller's promise; each entry gets a reference to its file.
        unsafe {
            let entry = |id, file, line| {
                zv::add_ref(file);
                Spawner { id, file, line }
            };
            let id = scheduler::core(|core| core.id((*this).co));
            let mut all = vec![entry(id, (*this).spawn_file, (*this).spawn_line)];
            if let Some(above) = &(*this).spawners {
                all.extend(above.0.iter().take(SPAWNERS - 1).map(|it| entry(it.id, it.file, it.line)));
            }
            Rc::new(Spawners(all))
        }
    }

    /// Each as `coroutine #7, spawned at FILE:LINE`.
    pub fn texts(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|it| format!("coroutine #{}, spawned at {}", it.id, exception::place(it.file, it.line)))
    }
}

/// The slot of objects that never ran (made by reflection).
pub const NO_SLOT: CoroutineId = CoroutineId(u32::MAX);

const OFFSET: usize = std::mem::offset_of!(Coroutine, std);

static HANDLERS: Handlers = Handlers::new();

/// Fills the handlers. At module start.
pub fn init_handlers() {
    HANDLERS.fill(OFFSET, |handlers| {
        handlers.free_obj = Some(free);
        handlers.get_gc = Some(get_gc);
    });
    // SAFETY: module start, one thread; filled by the registration of classes.
    unsafe {
        (*sys::spindle_ce.coroutine).ce_flags |= sys::ZEND_ACC_NOT_SERIALIZABLE | sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES;
    }
}

/// The coroutine of an object of the class.
///
/// # Safety
/// `object` is one.
#[inline(always)]
pub unsafe fn of(object: *mut sys::zend_object) -> *mut Coroutine {
    // SAFETY: the object is the last field of a `Coroutine`.
    unsafe { object.byte_sub(OFFSET).cast() }
}

/// Makes an object with no coroutine behind it.
pub fn create() -> *mut Coroutine {
    // SAFETY: allocated for the object and what the engine puts behind it (no declared properties).
    unsafe {
        let this = sys::_emalloc(size_of::<Coroutine>()).cast::<Coroutine>();
        this.write_bytes(0, 1);
        (*this).co = NO_SLOT;
        (*this).info = Info::NONE;
        sys::spindle_object_std_init(addr_of_mut!((*this).std), sys::spindle_ce.coroutine);
        (*this).std.handlers = HANDLERS.get();
        this
    }
}

#[unsafe(no_mangle)]
extern "C" fn spindle_coroutine_create(_: *mut sys::zend_class_entry) -> *mut sys::zend_object {
    // SAFETY: `create` has just made it.
    unsafe { addr_of_mut!((*create()).std) }
}

/// Frees what the call holds: callable and arguments.
///
/// # Safety
/// `this` is a live coroutine; its call is over or will never be made.
pub unsafe fn drop_call(this: *mut Coroutine) {
    // SAFETY: each is owned, and cleared before it is destroyed, which may run PHP code.
    unsafe {
        let args = std::mem::replace(&mut (*this).args, null_mut());
        if !args.is_null() {
            for i in 0..(*this).argc as usize {
                sys::spindle_zval_dtor(args.add(i));
            }
            sys::_efree(args.cast());
        }
        let named = std::mem::replace(&mut (*this).named, null_mut());
        if !named.is_null() {
            let mut value = zv::array(named);
            sys::spindle_zval_dtor(&mut value);
        }
        zv::clear(addr_of_mut!((*this).callable));
    }
}

unsafe extern "C" fn free(object: *mut sys::zend_object) {
    // SAFETY: called once by the engine when the object dies; what it owns is released.
    unsafe {
        let this = of(object);
        if (*this).co != NO_SLOT {
            life::object_dies(this);
        }
        drop_call(this);
        Job::drop((*this).job);
        zv::clear(addr_of_mut!((*this).result));
        zv::clear(addr_of_mut!((*this).finally));
        (*this).inherited.release();
        (*this).spawners = None;
        (*this).to_spawned = None;
        for held in [addr_of_mut!((*this).exception), addr_of_mut!((*this).context)] {
            let object = held.replace(null_mut());
            if !object.is_null() {
                sys::spindle_object_release(object);
            }
        }
        for file in [(*this).spawn_file, (*this).suspend_file] {
            if !file.is_null() {
                sys::spindle_string_release(file);
            }
        }
        sys::zend_object_std_dtor(object);
    }
}

unsafe extern "C" fn get_gc(
    object: *mut sys::zend_object,
    table: *mut *mut sys::zval,
    count: *mut i32,
) -> *mut sys::HashTable {
    // SAFETY: the buffer is the engine's, filled with values that the object owns.
    unsafe {
        let this = of(object);
        let buffer = sys::zend_get_gc_buffer_create();
        let add = |value: *mut sys::zval| {
            if (*value).u1.v.type_flags != 0 {
                zv::gc_add(buffer, value);
            }
        };
        add(addr_of_mut!((*this).callable));
        add(addr_of_mut!((*this).result));
        add(addr_of_mut!((*this).finally));
        add((*this).inherited.handler_mut());
        if !(*this).args.is_null() {
            for i in 0..(*this).argc as usize {
                add((*this).args.add(i));
            }
        }
        if !(*this).named.is_null() {
            add(&mut zv::array((*this).named));
        }
        if !(*this).context.is_null() {
            add(&mut zv::object((*this).context));
        }
        // A failure that nobody has seen outlives the coroutine: the collector must not take it for garbage with it.
        if !(*this).exception.is_null() && !life::is_unseen_failure(this) {
            add(&mut zv::object((*this).exception));
        }
        zv::gc_use(buffer, table, count);
        std::ptr::null_mut()
    }
}

/// In the child of a fork: what this value, a coroutine's of the parent, holds alone is not destructed here.
///
/// # Safety
/// A live value of a coroutine that was dropped.
pub unsafe fn disown(value: *mut sys::zval) {
    // SAFETY: the caller's promise; only a flag is written.
    unsafe {
        if u32::from((*value).u1.v.type_) == sys::IS_OBJECT && (*(*value).value.obj).gc.refcount == 1 {
            (*(*value).value.obj).gc.u.type_info |= sys::IS_OBJ_DESTRUCTOR_CALLED;
        }
    }
}
