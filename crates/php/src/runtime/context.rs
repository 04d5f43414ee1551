//! The class `Async\Context`: the values of a coroutine.
//!
//! The context of a coroutine is created when it is first asked for. It is cleared when the coroutine completes, even
//! if other references to it exist.

use crate::runtime::classes;
use crate::runtime::coroutine::{self, Coroutine};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::scheduler::{Core, existing};
use spindle_zend::{Class, Collected, Instance, Owned, State, exception, object_class, sys};

/// The state of such an object.
#[derive(Default)]
pub struct Context {
    values: KeyedValues,
}

object_class!(
    /// The class.
    pub static CONTEXT: Context
);

/// How many times a context is cleared in the completion of its coroutine. Destructors may add values again; the limit
/// keeps them from delaying the end for ever.
const ROUNDS: u32 = 4;

/// Registers the classes `Context` and `Key`. At module start.
pub fn register() {
    CONTEXT.register(classes::context(), sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
    classes::key().add_flags(sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES); // as for each readonly class
}

impl State for Context {
    fn new(_: Class) -> Context {
        Context::default()
    }

    fn free(this: &Instance<Context>) {
        this.values.clear();
    }

    fn collect(&self, values: &mut Collected) {
        self.values.collect(values);
    }
}

impl Context {
    /// Returns its values.
    pub fn values(&self) -> &KeyedValues {
        &self.values
    }
}

/// Returns the context of a coroutine, which is created if there is none.
pub fn of_coroutine(this: &Coroutine) -> Owned<Instance<Context>> {
    this.context.get().unwrap_or_else(|| {
        let context = CONTEXT.make();
        this.context.set(Some(context.clone()));
        context
    })
}

/// Releases the values of a coroutine whose body has ended, which may run PHP code. `this` is the running coroutine, or
/// one that will never run.
pub fn coroutine_ends(this: &Coroutine) {
    let Some(context) = this.context.get() else { return };
    for _ in 0..ROUNDS {
        if context.values.is_empty() {
            break;
        }
        context.values.clear();
    }
    let is_ours_alone = context.object().references() == 2; // the coroutine's reference and this one
    if is_ours_alone {
        drop(this.context.take());
    }
}

/// Releases the values of the main coroutine when the script's own code has ended, by `EG(exception)` or normally.
/// Exceptions of destructors get that one as their last previous exception.
pub fn script_ended() {
    let Some(rt) = existing() else { return };
    let exits = exception::is_exit_in_flight();
    if !rt.has_ended() && !exits {
        exception::put_aside(|| coroutine_ends(rt.object(Core::MAIN)));
    }
}

/// Keeps another coroutine's values from being destructed in the child of a fork.
pub fn disown(this: &Coroutine) {
    if let Some(context) = this.context.get() {
        context.values.each(coroutine::disown);
    }
}
