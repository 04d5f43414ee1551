//! The class `Async\Mutex`.

use crate::arguments::{TOKEN, fails, token};
use crate::semaphore;
use spindle_core::sched::CoroutineId;
use spindle_core::semaphore::Semaphore as Core;
use spindle_php::coroutine::{self, Held, Holders, Position, Wait, Waker};
use spindle_zend::{
    Class, Frame, Instance, Object, Owned, PhpResult, PhpStatic, State, Thrown, Type, Value, engine, exception,
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
    locked_at: Position,
    /// Its index in the list of those that are locked.
    place: Cell<usize>,
}

object_class!(static MUTEX: Mutex);

/// The holder of a mutex, and the mutex.
type Locked = (u64, NonNull<Instance<Mutex>>);

/// The mutexes that are locked, held weakly: one that is freed removes itself.
static LOCKED: PhpStatic<RefCell<Vec<Locked>>> = PhpStatic::new(RefCell::new(Vec::new()));

function_table! {
    static METHODS = {
        c"lock"(cancellation: TOKEN => c"null") -> Type::VOID => |call| {
            let token = token(&call.passed(), 1)?;
            lock(call.this_of(&MUTEX), token)?;
            Ok(Value::NULL)
        };
        c"tryLock"() -> Type::BOOL => |call| {
            let this = call.this_of(&MUTEX);
            let locked = this.permit.borrow_mut().try_acquire();
            if locked {
                this.locked();
            }
            Ok(locked.into())
        };
        c"unlock"() -> Type::VOID => |call| unlock(call.this_of(&MUTEX));
        c"with"(callback: Type::CALLABLE, cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let arguments = call.passed();
            let callback = arguments.callable(1)?;
            let this = call.this_of(&MUTEX);
            lock(this, token(&arguments, 2)?)?;
            let result = coroutine::call(callback, &mut []);
            if !exception::is_exit_in_flight() && this.holder.get() == coroutine::current_id() {
                this.unlocked();
            }
            result
        };
        c"isLocked"() -> Type::BOOL => |call| Ok((call.this_of(&MUTEX).holder.get() != 0).into());
    }
}

/// Registers the class. At module start.
pub fn register() {
    MUTEX.declare(c"Async\\Mutex", METHODS, &[]);
}

impl State for Mutex {
    fn new(_: Class) -> Mutex {
        let permit = RefCell::new(Core::new(1));
        Mutex { permit, holder: Cell::new(0), locked_at: Position::new(), place: Cell::new(0) }
    }

    fn free(this: &Instance<Mutex>) {
        this.forget();
    }
}

impl Mutex {
    /// Removes it from the list of those that are locked.
    fn forget(&self) {
        if self.holder.replace(0) == 0 {
            return;
        }
        let mut locked = LOCKED.borrow_mut();
        let place = self.place.get();
        locked.swap_remove(place);
        if let Some((_, moved)) = locked.get(place) {
            // SAFETY: those on the list are alive.
            unsafe { moved.as_ref() }.place.set(place);
        }
        coroutine::hold(-1);
    }
}

trait Locking {
    fn locked(&self);
    fn unlocked(&self);
}

impl Locking for Instance<Mutex> {
    /// Records that the running coroutine has it.
    fn locked(&self) {
        let holder = coroutine::current_id();
        self.holder.set(holder);
        self.locked_at.set_to_code_of(Frame::current());
        let mut locked = LOCKED.borrow_mut();
        self.place.set(locked.len());
        locked.push((holder, NonNull::from(self)));
        coroutine::hold(1);
    }

    /// Hands it to the coroutine that has waited longest.
    fn unlocked(&self) {
        self.forget();
        self.permit.borrow_mut().release(Waker::wake);
    }
}

fn lock(this: &Instance<Mutex>, token: Option<&Object>) -> Result<(), Thrown> {
    let holder = this.holder.get();
    if holder == coroutine::current_id() {
        let text = format!("The coroutine has locked this mutex already, at {}", this.locked_at.text());
        return Err(fails(&text));
    }
    if !this.permit.borrow_mut().try_acquire() {
        let wait =
            Wait { holders: Some(Holders(holder_of, this.object().address())), ..Wait::new("Mutex::lock", token) };
        semaphore::acquire(&this.permit, &wait)?;
    }
    this.locked();
    Ok(())
}

/// Adds the holder of the mutex at this address.
fn holder_of(held: &mut Held<'_>, address: usize, _: CoroutineId) {
    let all = LOCKED.borrow();
    // SAFETY: those on the list are alive.
    let is_asked_for = |mutex: &NonNull<Instance<Mutex>>| unsafe { mutex.as_ref() }.object().address() == address;
    all.iter().filter(|(_, mutex)| is_asked_for(mutex)).for_each(|(holder, _)| held.by(*holder));
}

fn unlock(this: &Instance<Mutex>) -> PhpResult {
    match this.holder.get() {
        0 => Err(fails("The mutex is not locked")),
        holder if holder != coroutine::current_id() => {
            let text = format!("The mutex was locked by coroutine #{holder}, at {}", this.locked_at.text());
            Err(fails(&text))
        }
        _ => {
            this.unlocked();
            Ok(Value::NULL)
        }
    }
}

/// Unlocks what a coroutine that ends has left locked, and warns. What an error handler locks is left to the next call.
pub fn coroutine_ends(id: u64) {
    let left: Vec<Owned<Instance<Mutex>>> = {
        let locked = LOCKED.borrow();
        let left = locked.iter().filter(|(holder, _)| *holder == id);
        // SAFETY: those on the list are alive.
        left.map(|(_, mutex)| Owned::of(unsafe { mutex.as_ref() })).collect()
    };
    for mutex in left {
        if mutex.holder.get() == id {
            let (file, line) = (mutex.locked_at.file(), mutex.locked_at.line());
            let text = "has ended without unlocking the mutex that it locked at";
            let text = format!("Coroutine #{id} {text} {}", mutex.locked_at.text());
            mutex.unlocked();
            exception::put_aside(|| engine::warn_at(file.as_deref(), line, &exception::c_text(&text)));
        }
        exception::put_aside(|| drop(mutex));
    }
}
