//! Shutdown of the application, zombies that are left alone, and its end: what each step of [`Lifecycle`] means for the
//! coroutines.

use super::coroutine::{Pressed, Standing};
use super::{Alarm, Core, Coroutine, CoroutineId, Next, SpawnKind, State, ToCancel, WaitReason};
use crate::lifecycle::{Leaving, Lifecycle, Press};

impl<X> Core<X> {
    /// How far the life of the application is.
    #[inline(always)]
    pub fn life(&self) -> &Lifecycle {
        &self.life
    }

    /// Shuts the application down: first gracefully, and by force when called again. A graceful shutdown cancels all coroutines in
    /// the global scope, which stays open, and in those below it, also those that have swallowed an earlier cancellation. Then
    /// [`Core::notify_cancelled`] of the global scope is due.
    pub fn shut_down(&mut self) -> ToCancel {
        match self.life.shut_down() {
            Press::Gently => ToCancel::Gently(self.begin_shutdown()),
            Press::ByForce => ToCancel::ByForce(self.force_shutdown()),
            Press::No => ToCancel::No,
        }
    }

    /// No coroutine can run, and nothing can wake one. Returns `false` if that has been met so often that waiting coroutines are
    /// given up; otherwise the host wakes them with an error. `again`: they have swallowed one.
    pub fn deadlock(&mut self, again: bool) -> bool {
        let press = self.life.deadlock(again);
        if press == Press::ByForce {
            self.force_shutdown();
        }
        press != Press::No
    }

    /// Ends zombies that are left alone once their grace has passed ([`super::Event::ZombiesDue`]): first gently, then by force. If
    /// that has no effect either, they are given up: the request does not wait for them.
    pub fn press_zombies(&mut self) -> ToCancel {
        let was_forced = self.life.is_forced();
        match self.life.press_zombies() {
            Press::Gently => ToCancel::Gently(self.zombies()),
            Press::ByForce if was_forced => ToCancel::ByForce(self.force_shutdown()),
            Press::ByForce => ToCancel::ByForce(self.zombies()),
            Press::No => ToCancel::No,
        }
    }

    /// No coroutine runs again, and main is the running one. Returns `true` the first time.
    pub fn end_all(&mut self, why: Option<Leaving>) -> bool {
        self.running = Self::MAIN;
        self.life.end(why)
    }

    fn begin_shutdown(&mut self) -> Vec<CoroutineId> {
        for child in self.child_scopes(Self::GLOBAL) {
            if self.cancel_scope(child).is_some() {
                self.scope_mut(child).failure_unhandled = true;
            }
        }
        let scopes = self.bottom_up(Self::GLOBAL, |_| false);
        let mut order: Vec<CoroutineId> = scopes.into_iter().flat_map(|id| self.bodies(id)).collect();
        let is_runner = |co: &CoroutineId| matches!(self.coroutine(*co).kind, SpawnKind::Runner { .. });
        order.extend(self.coroutines().filter(|co| is_runner(co) && self.is_within(*co, Self::GLOBAL)));
        order.retain(|co| !self.is_detached(*co));
        for co in &order {
            let coroutine = self.coroutine_mut(*co);
            coroutine.pressed = coroutine.pressed.max(Pressed::Once);
        }
        order
    }

    /// Returns all coroutines. From now on none keeps the application alive for longer than zombies do, and one that waits again
    /// after a second cancellation by shutdown is abandoned: it is never resumed.
    fn force_shutdown(&mut self) -> Vec<CoroutineId> {
        let mut order: Vec<CoroutineId> = self.coroutines().collect();
        order.retain(|co| self.coroutine(*co).state != State::Ending && !self.is_detached(*co));
        for co in &order {
            let coroutine = self.coroutine_mut(*co);
            coroutine.pressed = match coroutine.pressed {
                Pressed::No => Pressed::Once,
                Pressed::Once if !coroutine.cancellation.is_pending() => Pressed::Twice,
                pressed => pressed, // a cancellation that was not delivered yet is replaced
            };
        }
        for (_, coroutine) in self.coroutines.iter_mut().filter(|(_, it)| it.state != State::Done) {
            if coroutine.standing == Standing::Regular {
                coroutine.standing = Standing::Zombie;
            }
        }
        self.zombies = self.live;
        order
    }

    /// Abandons the running coroutine, which is about to wait, if it has swallowed two cancellations by shutdown.
    #[cold]
    pub(super) fn abandon_if_unstoppable(&mut self) -> bool {
        let coroutine = self.coroutine_mut(self.running);
        if coroutine.pressed != Pressed::Twice
            || coroutine.cancellation.is_requested()
            || coroutine.state != State::Running
        {
            return false;
        }
        coroutine.pressed = Pressed::Abandoned;
        coroutine.state = State::Parked;
        coroutine.park.on = WaitReason::Yield; // no signal interrupts it
        coroutine.epoch = coroutine.epoch.wrapping_add(1);
        self.abandoned += 1;
        true
    }

    /// Returns `true` if no coroutine is left but those that were abandoned or given up.
    pub fn is_over(&self) -> bool {
        self.live == self.abandoned || self.gives_up()
    }

    /// Returns `true` if those that are left were given up, whether they are ready or not.
    #[inline(always)]
    pub(super) fn gives_up(&self) -> bool {
        self.life.has_given_up() && (self.live == self.abandoned || self.only_zombies())
    }

    #[cold]
    pub(super) fn over(&mut self) -> Next {
        let main_waits = self.coroutine(Self::MAIN).state != State::Done;
        self.life.nothing_is_left(main_waits);
        Next::Over
    }

    /// Starts a timer of `grace` nanoseconds when only zombies are left ([`super::Event::ZombiesDue`]), and stops it when others
    /// are there again.
    pub fn update_zombie_timer(&mut self, now: u64, grace: u64) {
        if self.zombies == 0 && self.grace.is_none() {
            return;
        }
        let alone = self.only_zombies();
        match self.grace {
            None if alone => self.grace = Some(self.timers.insert(now.saturating_add(grace), Alarm::Zombies)),
            Some(timer) if !alone => {
                self.timers.cancel(timer);
                self.grace = None;
            }
            _ => {}
        }
    }

    /// Returns `true` if all live coroutines are zombies, and there is one.
    pub fn only_zombies(&self) -> bool {
        self.live == self.zombies && self.zombies > 0
    }

    /// The zombies whose bodies have not ended.
    pub fn zombies(&self) -> Vec<CoroutineId> {
        let ends =
            |coroutine: &Coroutine<X>| coroutine.state == State::Ending || coroutine.pressed == Pressed::Abandoned;
        let is_zombie = |co: &CoroutineId| self.is_zombie(*co) && !ends(self.coroutine(*co));
        self.coroutines().filter(is_zombie).collect()
    }
}
