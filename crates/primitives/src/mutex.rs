//! The class `Async\Mutex`.

use crate::{TOKEN, fails, semaphore, state, token};
use spindle_core::semaphore::Semaphore as Core;
use spindle_php::coroutine::{self, Holders, Wait, Waker};
use spindle_zend::{
    Class, Instance, Object, Owned, PhpResult, PhpStatic, State, Str, Thrown, Type, Value, engine, exception,
    function_table, object_class,
};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;

/// The state of a mutex.
struct Mutex {
    permit: RefCell<Core<Waker>>,
    /// The id of the coroutine that has locked it; 0 for none.
    holder: Cell<u64>,
    /// Where it was locked.
    locked_at: RefCell<String>,
}

object_class!(static MUTEX: Mutex = create);

/// The mutexes that are locked, held weakly: one that is freed removes itself.
static LOCKED: PhpStatic<RefCell<Vec<NonNull<Instance<Mutex>>>>> = PhpStatic::new(RefCell::new(Vec::new()));

function_table! {
    static METHODS = {
        c"lock"(cancellation: TOKEN => c"null") -> Type::VOID => |call| {
            let token = token(&call.arguments(0, 1)?, 1)?;
            lock(call.this_of(&MUTEX), token)?;
            Ok(Value::NULL)
        };
        c"tryLock"() -> Type::BOOL => |call| {
            call.no_arguments()?;
            let this = call.this_of(&MUTEX);
            let locked = this.permit.borrow_mut().try_acquire();
            if locked {
                this.locked();
            }
            Ok(locked.into())
        };
        c"unlock"() -> Type::VOID => |call| {
            call.no_arguments()?;
            unlock(call.this_of(&MUTEX))
        };
        c"with"(callback: Type::CALLABLE, cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let arguments = call.arguments(1, 2)?;
            let callback = arguments.callable(1)?;
            let this = call.this_of(&MUTEX);
            lock(this, token(&arguments, 2)?)?;
            let result = coroutine::call(callback, &mut []);
            if !exception::is_exit_in_flight() && this.holder.get() == coroutine::current_id() {
                this.unlocked();
            }
            result
        };
        c"isLocked"() -> Type::BOOL => |call| {
            call.no_arguments()?;
            Ok((call.this_of(&MUTEX).holder.get() != 0).into())
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    state::declare(&MUTEX, create, c"Async\\Mutex", METHODS, &[]);
    coroutine::on_coroutine_end(coroutine_ends);
}

impl State for Mutex {
    fn new(_: Class) -> Mutex {
        Mutex { permit: RefCell::new(Core::new(1)), holder: Cell::new(0), locked_at: RefCell::default() }
    }

    fn free(this: &Instance<Mutex>) {
        this.forget();
    }
}

impl Mutex {
    /// Removes it from the list of those that are locked.
    fn forget(&self) {
        let mut locked = LOCKED.borrow_mut();
        let before = locked.len();
        // An object begins with its state.
        locked.retain(|other| !std::ptr::eq(other.as_ptr().cast(), self));
        if locked.len() < before {
            coroutine::hold(-1);
        }
    }
}

trait Locking {
    fn locked(&self);
    fn unlocked(&self);
}

impl Locking for Instance<Mutex> {
    /// Notes that the running coroutine has it.
    fn locked(&self) {
        self.holder.set(coroutine::current_id());
        *self.locked_at.borrow_mut() = exception::here();
        LOCKED.borrow_mut().push(NonNull::from(self));
        coroutine::hold(1);
    }

    /// Hands it to the coroutine that has waited longest.
    fn unlocked(&self) {
        self.forget();
        self.holder.set(0);
        self.permit.borrow_mut().release(Waker::wake);
    }
}

fn lock(this: &Instance<Mutex>, token: Option<&Object>) -> Result<(), Thrown> {
    let holder = this.holder.get();
    if holder == coroutine::current_id() {
        let text = format!("The coroutine has locked this mutex already, at {}", this.locked_at.borrow());
        return Err(fails(&text));
    }
    if !this.permit.borrow_mut().try_acquire() {
        let wait =
            Wait { holders: Some(Holders(holder_of, this.object().handle())), ..Wait::new("Mutex::lock", token) };
        semaphore::acquire(&this.permit, &wait)?;
    }
    this.locked();
    Ok(())
}

/// Returns the holder of the mutex with this object id.
fn holder_of(handle: u32) -> [u64; 2] {
    // SAFETY: those on the list are alive.
    let locked = LOCKED
        .borrow()
        .iter()
        .map(|mutex| unsafe { mutex.as_ref() })
        .find(|mutex| mutex.object().handle() == handle)
        .map_or(0, |mutex| mutex.holder.get());
    [locked, 0]
}

fn unlock(this: &Instance<Mutex>) -> PhpResult {
    match this.holder.get() {
        0 => Err(fails("The mutex is not locked")),
        holder if holder != coroutine::current_id() => {
            let text = format!("The mutex was locked by coroutine #{holder}, at {}", this.locked_at.borrow());
            Err(fails(&text))
        }
        _ => {
            this.unlocked();
            Ok(Value::NULL)
        }
    }
}

/// Returns the file and the line where it was locked.
fn mutex_place(mutex: &Mutex) -> (Owned<Str>, u32) {
    let place = mutex.locked_at.borrow();
    let (file, line) = place.rsplit_once(':').unwrap_or((&place, ""));
    (Str::new(file), line.parse().unwrap_or(0))
}

/// Unlocks what a coroutine that has ended has left locked, and warns.
fn coroutine_ends(id: u64) {
    loop {
        let found = LOCKED.borrow().iter().copied().find_map(|mutex| {
            // SAFETY: those on the list are alive.
            let mutex = unsafe { mutex.as_ref() };
            (mutex.holder.get() == id).then(|| Owned::of(mutex))
        });
        let Some(mutex) = found else { return };
        let text = format!(
            "Coroutine #{id} has ended without unlocking the mutex that it locked at {}",
            mutex.locked_at.borrow()
        );
        let place = mutex_place(&mutex);
        mutex.unlocked();
        exception::put_aside(|| engine::warn_at(Some(&place.0), place.1, &exception::c_text(&text)));
        exception::put_aside(|| drop(mutex));
    }
}
