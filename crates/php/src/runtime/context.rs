//! The class `Async\Context`: a coroutine's own values.
//!
//! A coroutine makes its context when it is first asked for and keeps it. In its completion the context is cleared,
//! whoever else holds it.

use crate::runtime::classes;
use crate::runtime::coroutine::{self, Coroutine};
use crate::runtime::keyed_values::KeyedValues;
use crate::runtime::scheduler::{Core, Phase, existing};
use spindle_zend::{Class, Collected, Instance, Owned, State, exception, object_class, sys};

/// The state of such an object.
#[derive(Default)]
pub struct Context {
    values: KeyedValues,
}

object_class!(
    /// The class.
    pub static CONTEXT: Context = create
);

/// How often a context is cleared in the completion of its coroutine, for destructors that keep something in it again.
/// One that does so each time would never let it end.
const ROUNDS: u32 = 4;

/// Registers the classes `Context` and `Key`. At module start.
pub fn register() {
    CONTEXT.register(classes::context(), create, sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES, |_| {});
    classes::key().add_flags(sys::ZEND_ACC_NO_DYNAMIC_PROPERTIES); // as of each readonly class
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
    /// Returns the values that are kept in it.
    pub fn values(&self) -> &KeyedValues {
        &self.values
    }
}

/// Returns the context of a coroutine, made now if there is none.
pub fn of_coroutine(this: &Coroutine) -> Owned<Instance<Context>> {
    this.context.get().unwrap_or_else(|| {
        let context = CONTEXT.make();
        this.context.set(Some(context.clone()));
        context
    })
}

/// The body of a coroutine has ended: its values are released, which may run PHP code. `this` is the running coroutine, or
/// one that will never run.
pub fn coroutine_ends(this: &Coroutine) {
    let Some(context) = this.context.get() else { return };
    for _ in 0..ROUNDS {
        if context.values.is_empty() {
            break;
        }
        context.values.clear();
    }
    let is_ours_alone = context.object().references() == 2; // the coroutine's, and the one here
    if is_ours_alone {
        drop(this.context.take());
    }
}

/// The same for the main coroutine, when the script's own code has ended (`EG(exception)`: how). What destructors throw
/// comes on top of that.
pub fn script_ended() {
    let Some(rt) = existing() else { return };
    let exits = exception::is_exit_in_flight();
    if rt.phase.get() != Phase::Ended && !exits {
        exception::put_aside(|| coroutine_ends(rt.object(Core::MAIN)));
    }
}

/// In the child of a fork: the destructors of another coroutine's values do not run here.
pub fn disown(this: &Coroutine) {
    if let Some(context) = this.context.get() {
        context.values.each(coroutine::disown);
    }
}
