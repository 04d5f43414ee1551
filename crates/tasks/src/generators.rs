//! The generators that belong to tasks. One belongs to at most one task, once: resumed in two places it would be resumed while
//! it runs, or wait for itself.

use spindle_zend::{Generator, Object, Owned, PhpStatic, exception};
use std::cell::RefCell;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads the ids of objects, which are small numbers.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Ids = HashSet<u32, BuildHasherDefault<Spread>>;

/// The ids of the generators of tasks. They are alive, so an id is no other object's.
static OWNED: PhpStatic<RefCell<Option<Ids>>> = PhpStatic::new(RefCell::new(None));

/// Forgets the generators of the last request.
pub fn forget_all() {
    OWNED.replace(None);
}

/// A generator that belongs to a task.
pub struct Owner(Generator);

impl Owner {
    /// Makes a generator a task's. Returns an error for the caller to throw if it is one's already.
    pub fn of(generator: Generator) -> Result<Owner, Owned<Object>> {
        let is_new = OWNED.borrow_mut().get_or_insert_default().insert(generator.object().handle());
        if is_new {
            Ok(Owner(generator))
        } else {
            // The reference is the caller's, too, so this is not the last one.
            drop(generator);
            Err(crate::new_exception("error", "This generator belongs to a task already"))
        }
    }

    /// Returns the generator.
    pub fn generator(&self) -> &Generator {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(owned) = &mut *OWNED.borrow_mut() {
            owned.remove(&self.0.object().handle());
        }
    }
}

/// Ends generators, the last one first, as when their last references are dropped. Their exceptions are in flight after this,
/// the last one with the others as its previous ones.
pub fn end_all(mut generators: Vec<Owner>) {
    while let Some(owner) = generators.pop() {
        end(owner);
    }
}

/// Ends a generator, as [`end_all`].
pub fn end(owner: Owner) {
    exception::put_aside(|| {
        owner.generator().end();
        exception::put_aside(|| drop(owner));
    });
}
