//! The generators that belong to tasks. One belongs to at most one task, once: resumed in two places it would be resumed while
//! it runs, or wait for itself.

use crate::thrown::new_exception;
use smallvec::SmallVec;
use spindle_zend::{Generator, Object, Owned, PhpStatic, exception};
use std::cell::RefCell;

/// A set of ids of objects, which are small numbers: a bit for each.
#[derive(Default)]
struct Ids(Vec<u64>);

impl Ids {
    /// Returns the place of the bit of an id: the index of its word, and the bit there.
    fn place(id: u32) -> (usize, u64) {
        (id as usize / 64, 1 << (id % 64))
    }

    /// Adds an id. Returns `false` if it is there.
    fn insert(&mut self, id: u32) -> bool {
        let (index, bit) = Ids::place(id);
        if index >= self.0.len() {
            self.0.resize((index + 1).next_power_of_two(), 0);
        }
        let is_new = self.0[index] & bit == 0;
        self.0[index] |= bit;
        is_new
    }

    fn remove(&mut self, id: u32) {
        let (index, bit) = Ids::place(id);
        if let Some(word) = self.0.get_mut(index) {
            *word &= !bit;
        }
    }
}

/// The ids of the generators of tasks. They are alive, so an id is no other object's.
static OWNED: PhpStatic<RefCell<Ids>> = PhpStatic::new(RefCell::new(Ids(Vec::new())));

/// Forgets the generators of the last request.
pub fn forget_all() {
    OWNED.take();
}

/// A generator that belongs to a task.
pub struct Owner(Generator);

/// The generators of a task, the outermost first: nearly always one or two.
pub type Owners = SmallVec<[Owner; 2]>;

impl Owner {
    /// Makes a generator a task's. Returns an error for the caller to throw if it is one's already.
    pub fn of(generator: Generator) -> Result<Owner, Owned<Object>> {
        let is_new = OWNED.borrow_mut().insert(generator.object().handle());
        if is_new {
            Ok(Owner(generator))
        } else {
            // The reference is the caller's, too, so this is not the last one.
            drop(generator);
            Err(new_exception("error", "This generator belongs to a task already"))
        }
    }

    /// Returns the generator.
    pub fn generator(&self) -> &Generator {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        OWNED.borrow_mut().remove(self.0.object().handle());
    }
}

/// Ends generators, the last one first, as when their last references are dropped. Their exceptions are in flight after this,
/// the last one with the others as its previous ones.
pub fn end_all(mut generators: Owners) {
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
