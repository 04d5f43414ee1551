//! The class `Async\Semaphore`.

use crate::arguments::{TOKEN, fails, number, token};
use spindle_core::semaphore::Semaphore as Core;
use spindle_php::coroutine::{self, Wait, Waker};
use spindle_zend::{
    Call, Class, Object, PhpResult, State, Thrown, Type, Value, exception, function_table, object_class,
};
use std::cell::{Cell, RefCell};

/// The state of a semaphore.
struct Semaphore {
    permits: RefCell<Core<Waker>>,
    is_constructed: Cell<bool>,
}

object_class!(static SEMAPHORE: Semaphore);

function_table! {
    static METHODS = {
        c"__construct"(permits: Type::INT) -> Type::NONE => |call| {
            let permits = number(&call.passed(), 1, 0, 0)?;
            let this = call.this_of(&SEMAPHORE);
            if this.is_constructed.replace(true) {
                return Err(fails("The semaphore is constructed already"));
            }
            *this.permits.borrow_mut() = Core::new(permits);
            Ok(Value::NULL)
        };
        c"acquire"(cancellation: TOKEN => c"null") -> Type::VOID => |call| {
            let token = token(&call.passed(), 1)?;
            acquire(&call.this_of(&SEMAPHORE).permits, &Wait::new("Semaphore::acquire", token))?;
            Ok(Value::NULL)
        };
        c"tryAcquire"() -> Type::BOOL => |call| Ok(call.this_of(&SEMAPHORE).permits.borrow_mut().try_acquire().into());
        c"release"() -> Type::VOID => |call| release(call.this_of(&SEMAPHORE));
        c"with"(callback: Type::CALLABLE, cancellation: TOKEN => c"null") -> Type::MIXED => with;
        c"available"() -> Type::INT => |call| Ok((call.this_of(&SEMAPHORE).permits.borrow().available() as i64).into());
    }
}

/// Registers the class. At module start.
pub fn register() {
    SEMAPHORE.declare(c"Async\\Semaphore", METHODS, &[]);
}

impl State for Semaphore {
    fn new(_: Class) -> Semaphore {
        Semaphore { permits: RefCell::new(Core::new(0)), is_constructed: Cell::new(false) }
    }
}

/// Takes a permit, and waits until there is one. The object that `permits` belongs to stays alive: its method is running.
///
/// # Errors
/// The coroutine is cancelled, or the token was first.
pub fn acquire(permits: &RefCell<Core<Waker>>, wait: &Wait<'_>) -> Result<(), Thrown> {
    let mut first = false;
    while !permits.borrow_mut().try_acquire() {
        let begun = wait.begin()?;
        let waiting = permits.borrow_mut().wait(begun.waker(), first);
        let parked = begun.park();
        let granted = permits.borrow_mut().end(waiting);
        if granted {
            if !parked.is_cancelled() {
                parked.taken();
                return Ok(());
            }
            permits.borrow_mut().release(Waker::wake);
        }
        parked.failed()?;
        first = true;
    }
    Ok(())
}

fn release(this: &Semaphore) -> PhpResult {
    if this.permits.borrow_mut().release(Waker::wake) {
        return Ok(Value::NULL);
    }
    Err(fails("The semaphore has no permit that was acquired and not released"))
}

/// Calls a callback with a permit.
fn with(call: Call) -> PhpResult {
    let arguments = call.passed();
    let callback = arguments.callable(1)?;
    let token: Option<&Object> = token(&arguments, 2)?;
    let this = call.this_of(&SEMAPHORE);
    acquire(&this.permits, &Wait::new("Semaphore::with", token))?;
    let result = coroutine::call(callback, &mut []);
    if !exception::is_exit_in_flight() {
        this.permits.borrow_mut().release(Waker::wake);
    }
    result
}
