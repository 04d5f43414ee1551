//! The class `Async\Barrier`: coroutines wait until a number of them have come.

use crate::arguments::{TOKEN, fails, number, token};
use spindle_core::wait_list::WaitList;
use spindle_php::coroutine::{Wait, Waker};
use spindle_zend::{Call, Class, Object, PhpResult, State, Type, Value, function_table, object_class};
use std::cell::{Cell, RefCell};

/// The state of a barrier.
struct Barrier {
    parties: Cell<usize>,
    /// Those that wait, and whether the barrier has opened for them.
    waiting: RefCell<WaitList<Waker, bool>>,
}

object_class!(static BARRIER: Barrier);

function_table! {
    static METHODS = {
        c"__construct"(parties: Type::INT) -> Type::NONE => |call| {
            let parties = number(&call.passed(), 1, 1, 1)?;
            let this = call.this_of(&BARRIER);
            if this.parties.replace(parties) != 0 {
                this.parties.set(parties);
                return Err(fails("The barrier is constructed already"));
            }
            Ok(Value::NULL)
        };
        c"await"(cancellation: TOKEN => c"null") -> Type::BOOL => |call| {
            let token = token(&call.passed(), 1)?;
            arrive(call, token)
        };
        c"waiting"() -> Type::INT => |call| Ok((call.this_of(&BARRIER).waiting() as i64).into());
    }
}

/// Registers the class. At module start.
pub fn register() {
    BARRIER.declare(c"Async\\Barrier", METHODS, &[]);
}

impl State for Barrier {
    fn new(_: Class) -> Barrier {
        Barrier { parties: Cell::new(0), waiting: RefCell::default() }
    }
}

impl Barrier {
    /// Returns the number of waiters, without those that were cancelled and have not run since.
    fn waiting(&self) -> usize {
        self.waiting.borrow().queue().filter(|waker| waker.is_waiting()).count()
    }

    /// Returns `true` if one more is enough. Counts those that wait only when there may be enough.
    fn is_complete(&self) -> bool {
        let others = self.parties.get().saturating_sub(1);
        self.waiting.borrow().len() >= others && self.waiting() >= others
    }
}

/// Waits for the others. Returns `true` to the last one, for which the barrier opens. One that is cancelled does not count.
fn arrive(call: Call, token: Option<&Object>) -> PhpResult {
    let this = call.this_of(&BARRIER);
    loop {
        if this.is_complete() {
            let mut waiting = this.waiting.borrow_mut();
            while let Some(place) = waiting.wake_first(Waker::wake) {
                if let Some(opened) = waiting.get_mut(place) {
                    *opened = true;
                }
            }
            return Ok(true.into());
        }
        let begun = Wait::new("Barrier::await", token).begin()?;
        let place = this.waiting.borrow_mut().push_back(begun.waker(), false);
        let parked = begun.park();
        // It has come, even if it was cancelled since: that belongs to its next wait.
        if this.waiting.borrow_mut().remove(place) == Some(true) {
            parked.taken();
            return Ok(false.into());
        }
        parked.failed()?;
    }
}
