//! The table of the coroutines' objects, by the slots that the core gives, and which of them runs.

use crate::runtime::coroutine::{COROUTINE, Coroutine, CoroutineObject, NO_SLOT};
use crate::runtime::moments;
use crate::runtime::runner::Job;
use crate::runtime::scheduler::{Core, Runtime};
use spindle_core::sched::CoroutineId;
use spindle_zend::Owned;
use std::ptr::NonNull;

/// Returns the coroutine with this id, if its object still exists.
pub fn find(rt: &Runtime, id: u64) -> Option<Owned<CoroutineObject>> {
    let slot = {
        let core = rt.core.borrow();
        let objects = rt.objects.borrow();
        (0..).zip(objects.iter()).find(|(slot, this)| this.is_some() && core.id(CoroutineId(*slot)) == id)?.0
    };
    rt.find_object(CoroutineId(slot))
}

impl Runtime {
    /// Returns the object of a coroutine that is not complete, or of one whose object is known to be alive.
    ///
    /// # Panics
    /// There is none.
    #[inline(always)]
    pub fn object(&self, co: CoroutineId) -> &CoroutineObject {
        let object = self.objects.borrow()[co.0 as usize].expect("the object of a coroutine that is not complete");
        // SAFETY: alive, by the runtime's reference or as the caller says.
        unsafe { object.as_ref() }
    }

    /// Returns the object in a coroutine's slot, if there is one.
    pub fn find_object(&self, co: CoroutineId) -> Option<Owned<CoroutineObject>> {
        let object = (*self.objects.borrow().get(co.0 as usize)?)?;
        // SAFETY: those in the table are alive.
        Some(Owned::of(unsafe { object.as_ref() }))
    }

    /// Returns `true` if this is the object in a coroutine's slot.
    pub fn is_object(&self, co: CoroutineId, this: &Coroutine) -> bool {
        let object = self.objects.borrow().get(co.0 as usize).copied().flatten();
        // An object begins with its state.
        object.is_some_and(|object| std::ptr::eq(object.as_ptr().cast(), this))
    }

    /// Returns all objects, those of complete coroutines too.
    pub fn all_objects(&self) -> Vec<Owned<CoroutineObject>> {
        // SAFETY: those in the table are alive.
        self.objects.borrow().iter().flatten().map(|object| Owned::of(unsafe { object.as_ref() })).collect()
    }

    /// Removes the object in a coroutine's slot, which is being freed.
    pub fn forget_object(&self, co: CoroutineId) {
        self.objects.borrow_mut()[co.0 as usize] = None;
    }

    /// Puts a new object in the place of one that is being freed, whose coroutine is complete.
    pub fn replace_object(&self, this: &Coroutine) -> Owned<CoroutineObject> {
        let other = COROUTINE.make();
        other.take_over(this);
        self.objects.borrow_mut()[this.co.get().0 as usize] = Some(NonNull::from(&*other));
        other
    }

    /// Returns the reference that the runtime has owned until now to the object of a coroutine, which is complete.
    pub fn take_reference(&self, this: &CoroutineObject) -> Option<Owned<CoroutineObject>> {
        // SAFETY: taken once, when the coroutine is complete.
        unsafe { Owned::from_raw(std::ptr::from_ref(this).cast_mut()) }
    }

    /// Keeps the main coroutine's object until the request ends.
    pub fn keep_main(&self) {
        std::mem::forget(Owned::of(self.object(Core::MAIN)));
    }

    /// Returns the running coroutine. On main's stack it is the main coroutine even when that has ended: shutdown functions run
    /// there.
    #[inline(always)]
    pub fn running(&self) -> &CoroutineObject {
        if self.is_on_main() {
            return self.object(Core::MAIN);
        }
        let co = self.core.borrow().running();
        self.object(co)
    }

    /// Returns the coroutine as which the running code acts: the running one, the one that waits for it as for a call, or that for
    /// whose end a runner calls callbacks.
    pub fn acting(&self) -> Owned<CoroutineObject> {
        let running = self.owner();
        running.job().and_then(Job::acts_as).unwrap_or_else(|| Owned::of(running))
    }

    /// Returns the coroutine that owns what the running code acquires: the running one, or the one that waits for it as for a call.
    #[inline(always)]
    pub fn owner(&self) -> &CoroutineObject {
        let running = self.running();
        let (acts_for, number) = running.acts_for.get();
        // It may have ended all the same, where waiting on would have lasted for ever.
        if acts_for == NO_SLOT || !self.core.borrow().is_alive(acts_for, number) {
            running
        } else {
            self.object(acts_for)
        }
    }

    /// Returns the number of [`Runtime::owner`].
    pub fn owner_id(&self) -> u64 {
        let owner = self.owner().co.get();
        self.core.borrow().id(owner)
    }

    /// Has a coroutine act as the one that owns what the running code acquires, which waits for it.
    pub fn lets_act(&self, block: &Coroutine) {
        let owner = self.owner().co.get();
        block.acts_for.set((owner, self.core.borrow().id(owner)));
    }

    /// Adds a new coroutine by `spawn`. The runtime takes over the reference to its object.
    #[inline(always)]
    pub fn enqueue(
        &'static self,
        object: Owned<CoroutineObject>,
        spawn: impl FnOnce(&mut Core) -> CoroutineId,
    ) -> CoroutineId {
        let running = if self.is_on_main() { Core::MAIN } else { self.core.borrow().running() };
        let spawner = self.objects.borrow().get(running.0 as usize).copied().flatten();
        // SAFETY: those in the table are alive. There is none if the coroutine is complete and this is about its end.
        if let Some(spawner) = spawner.map(|spawner| unsafe { spawner.as_ref() }) {
            if spawner.runs_file.get() {
                moments::spawning(self);
            }
            object.inside.set(spawner.inside.get());
        }
        let co = spawn(&mut self.core.borrow_mut());
        object.co.set(co);
        let mut objects = self.objects.borrow_mut();
        if objects.len() <= co.0 as usize {
            objects.resize(co.0 as usize + 1, None);
        }
        objects[co.0 as usize] = NonNull::new(object.into_raw());
        co
    }
}
