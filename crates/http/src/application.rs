//! Application mode: many instances of an application in one process. Each has all static and global variables for itself and serves
//! one request at a time, as in worker mode; while it waits, others run.
//!
//! A place is for one instance after the other. Its instance is booted when the first request needs it, in a request of its own, the
//! boot, whose handlers and variables the requests of the instance begin with. An instance ends with the server, after a request that has
//! not returned, and when it has served as many as it may; then the next one is booted in its place.

use crate::ending::Ends;
use crate::error_log;
use crate::errors::{self, server_error};
use crate::helpers;
use crate::life::{self, Life, STEP, wait_while};
use spindle_php::coroutine::{self, ErrorHandling, Scope, WaitQueue};
use spindle_php::sapi::{self, Instance, Sapi, Seed};
use spindle_php::slices;
use spindle_server::Exchange;
use spindle_zend::{Collected, Object, PhpResult, Thrown, Value, ValueCell, engine, exception};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::rc::{Rc, Weak};
use std::time::Duration;

/// What calls the boot, in traces.
const APPLICATION: &CStr = c"Async\\Http\\Server::application";

/// The time in milliseconds after which a boot that has failed is tried again; twice that after the next failure, and so on.
const FIRST_PAUSE: u64 = 100;
const LONGEST_PAUSE: u64 = 10_000;

/// The largest number of instances of a server.
pub const MOST_INSTANCES: i64 = 4096;

/// The server of an application.
pub trait Owner {
    /// Has the loop of the server look again what there is to do.
    fn wake(&self);
    /// A coroutine that a boot has spawned has failed.
    fn failed(&self, failure: &Object);
    /// A fatal error has damaged memory, maybe: the process should end when its requests are answered.
    fn is_damaged(&self);
    /// Returns `true` if the server accepts nothing more.
    fn is_stopping(&self) -> bool;
    /// Returns how many requests an instance serves; 0: there is no limit.
    fn instance_requests(&self) -> u64;
    /// Returns how many nanoseconds the end of an instance may wait, and then for another time; 0: there is no limit.
    fn limits_of_ends(&self) -> (u64, u64);
}

/// The application of a server.
pub struct Application {
    pub boot: ValueCell,
    /// How many instances there may be.
    pub instances: Cell<usize>,
    /// Whether all are booted as the server begins to run.
    pub is_eager: Cell<bool>,
    places: RefCell<Vec<Rc<Place>>>,
    /// Requests that wait for a place.
    queue: RefCell<VecDeque<Rc<Exchange>>>,
    /// The ends of instances.
    pub ends: Rc<Ends>,
}

/// What is the matter with the instance of a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// There is none.
    Empty,
    Booting,
    Ready,
    /// Its boot has failed. It may be tried again at this time of the event loop's clock.
    Failed(u64),
    /// It ends.
    Ending,
}

/// A place for one instance after the other.
pub struct Place {
    number: usize,
    /// The scope of what the server does for its instances.
    server: Scope,
    life: Life,
    phase: Cell<Phase>,
    /// A request has it.
    is_taken: Cell<bool>,
    served: Cell<u64>,
    /// A request of the instance has not returned: an exception, an exit or a fatal error has ended it.
    is_broken: Cell<bool>,
    /// How often the boot has failed since it last succeeded.
    failures: Cell<u32>,
    /// What the boot has returned.
    handler: ValueCell,
    errors: RefCell<Option<ErrorHandling>>,
    changed: WaitQueue,
    ends: Rc<Ends>,
}

impl Default for Application {
    fn default() -> Application {
        Application {
            boot: ValueCell::new(),
            instances: Cell::new(0),
            is_eager: Cell::new(false),
            places: RefCell::default(),
            queue: RefCell::default(),
            ends: Rc::default(),
        }
    }
}

/// Checks that the settings allow instances.
///
/// # Errors
/// They do not.
pub fn check_settings() -> Result<(), Thrown> {
    if engine::setting(c"async.request_statics").is_empty() {
        return Ok(());
    }
    Err(server_error(
        "async.request_statics is for worker mode: each instance of an application has all static properties for itself",
    ))
}

/// Warns of the objects that all instances will share: who runs the application, and not its code. An error handler that throws, as those of
/// test frameworks do, would end the server because of objects of theirs.
pub fn warn_of_shared_objects() {
    if let Some(names) = sapi::instance::shared() {
        let names = names.to_text();
        let text = format!("All instances share the objects that exist already, in {names}: make them in the boot");
        error_log::warn(None, &text);
    }
}

/// Prepares the closures that a function of the script leads to, so that instances can call them. Returns why that cannot be, if it leads
/// to code that no instance can run; `of` is what the function was given to.
pub fn refusal(seed: Seed, function: &Value, of: &str) -> Option<String> {
    let code = seed.remember_closures(function)?;
    let code = code.get().to_string_lossy();
    Some(format!(
        "{of}() cannot be called with what leads to a {code} of the script: its code is in the middle of using the script's variables"
    ))
}

/// Throws that there cannot be one more instance.
#[cold]
pub fn too_many() -> Thrown {
    server_error("There are too many instances in this process")
}

/// What the coroutine is given that takes a place out of its phase. If its body never ran, the place gets into another one.
struct Turn {
    place: Rc<Place>,
    otherwise: Phase,
    has_come: Cell<bool>,
}

impl Turn {
    fn of(place: &Rc<Place>, otherwise: Phase) -> Turn {
        Turn { place: Rc::clone(place), otherwise, has_come: Cell::new(false) }
    }

    fn comes(&self) -> &Rc<Place> {
        self.has_come.set(true);
        &self.place
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.has_come.get() {
            self.place.phase.set(self.otherwise);
            self.place.changed.wake_all();
        }
    }
}

impl Application {
    /// Returns `true` if the server has one.
    pub fn is_set(&self) -> bool {
        self.instances.get() > 0
    }

    /// Adds the values that it holds for the cycle collector.
    pub fn collect(&self, values: &mut Collected) {
        values.cell(&self.boot);
        if let Ok(places) = self.places.try_borrow() {
            places.iter().for_each(|place| values.cell(&place.handler));
        }
    }

    /// Begins, as the server begins to run: in the coroutine of the script.
    ///
    /// # Errors
    /// There cannot be that many instances, a boot cannot be spawned, or none of those has succeeded that were to be made first.
    pub fn begin(&self, owner: &Rc<dyn Owner>) -> Result<(), Thrown> {
        slices::server_began();
        check_settings()?;
        if self.instances.get() > 1 {
            warn_of_shared_objects();
        }
        let seed = Seed::of_script();
        if let Some(why) = refusal(seed, &self.boot.get(), "Async\\Http\\Server::application") {
            return Err(server_error(&why));
        }
        let scope = Scope::new(errors::report)?;
        let places: Option<Vec<Rc<Place>>> = (0..self.instances.get())
            .map(|number| Some(Rc::new(Place::new(number, &scope, seed, Instance::new(seed)?, &self.ends))))
            .collect();
        self.places.replace(places.ok_or_else(too_many)?);
        if self.is_eager.get() {
            let places = self.places.borrow().clone();
            places.iter().try_for_each(|place| place.boot(&self.boot, owner))?;
            while places.iter().any(|place| place.phase.get() == Phase::Booting) && !owner.is_stopping() {
                coroutine::sleep(Duration::from_millis(STEP))?;
            }
            let is_any = |phase| places.iter().any(|place| place.phase.get() == phase);
            if !is_any(Phase::Ready) && !is_any(Phase::Booting) {
                return Err(server_error("No instance of the application could be booted: the errors above say why"));
            }
        }
        Ok(())
    }

    /// Ends all instances, after the server was drained, and waits for that.
    pub fn end(&self, owner: &Rc<dyn Owner>) {
        slices::server_ended();
        self.queue.take();
        let places = self.places.take();
        for place in &places {
            if place.phase.get() == Phase::Booting {
                place.life.cancel_coroutines();
            } else {
                place.end(owner);
            }
        }
        let is_any = |phase: Phase| places.iter().any(|place| place.phase.get() == phase);
        wait_while(|| is_any(Phase::Booting));
        places.iter().for_each(|place| place.end(owner));
        self.ends.stop();
        let ends = || {
            self.ends.cut();
            is_any(Phase::Ending)
        };
        while is_any(Phase::Ending) && wait_while(ends) {}
        if is_any(Phase::Booting) || is_any(Phase::Ending) {
            self.places.replace(places); // they end with PHP's request
        }
    }

    /// Adds a request, which gets the next free place.
    pub fn add(&self, exchange: Rc<Exchange>) {
        self.queue.borrow_mut().push_back(exchange);
    }

    /// Returns the next request, and a place for it, if there are both.
    pub fn next(&self) -> Option<(Rc<Exchange>, Rc<Place>)> {
        if self.queue.borrow().is_empty() {
            return None;
        }
        let place = self.free_place()?;
        let exchange = self.queue.borrow_mut().pop_front()?;
        place.is_taken.set(true);
        Some((exchange, place))
    }

    /// Returns a free place: rather one whose instance is ready than one where it has to be booted.
    fn free_place(&self) -> Option<Rc<Place>> {
        let places = self.places.borrow();
        let rank = |place: &Place| match place.phase.get() {
            Phase::Ready => Some(0),
            Phase::Empty => Some(1),
            Phase::Booting => Some(2),
            Phase::Failed(_) => Some(3),
            Phase::Ending => None,
        };
        let free = places.iter().filter(|place| !place.is_taken.get());
        free.filter_map(|place| Some((rank(place)?, place)))
            .min_by_key(|(rank, _)| *rank)
            .map(|(_, place)| Rc::clone(place))
    }
}

impl Place {
    fn new(number: usize, server: &Scope, seed: Seed, instance: Instance, ends: &Rc<Ends>) -> Place {
        Place {
            number,
            server: server.clone(),
            life: Life::new(seed, instance),
            phase: Cell::new(Phase::Empty),
            is_taken: Cell::new(false),
            served: Cell::new(0),
            is_broken: Cell::new(false),
            failures: Cell::new(0),
            handler: ValueCell::new(),
            errors: RefCell::new(None),
            changed: WaitQueue::new(),
            ends: Rc::clone(ends),
        }
    }

    /// Returns the instance, and the request of its boot.
    pub fn belongs_to(&self) -> (Option<Instance>, Option<Rc<Sapi>>) {
        (self.life.instance(), self.life.request())
    }

    /// Boots the instance, unless that was done, or has failed just now.
    ///
    /// # Errors
    /// No coroutine can be spawned.
    pub fn boot(self: &Rc<Place>, boot: &ValueCell, owner: &Rc<dyn Owner>) -> Result<(), Thrown> {
        match self.phase.get() {
            Phase::Empty => {}
            Phase::Failed(until) if coroutine::now() >= until => {}
            _ => return Ok(()),
        }
        let failures = Rc::downgrade(owner);
        let scope =
            self.server.below(move |failure| failures.upgrade().into_iter().for_each(|owner| owner.failed(failure)))?;
        let of_client = Rc::downgrade(owner);
        let own = self.life.begin(
            scope.clone(),
            life::Script {
                dies: Box::new(move || of_client.upgrade().into_iter().for_each(|owner| owner.is_damaged())),
                exits: Box::new(|| {}),
            },
        );
        let Some(own) = own else { return Ok(()) };
        let turn = Turn::of(self, Phase::Empty);
        let (boot, of_boot, of_place) = (boot.get(), Rc::downgrade(&own), Rc::downgrade(owner));
        self.phase.set(Phase::Booting);
        self.served.set(0);
        self.is_broken.set(false);
        let booting = scope.spawn_in_request(own, move || turn.comes().boots(&boot, &of_boot, &of_place));
        booting.inspect_err(|_| self.phase.set(Phase::Empty))?.runs_as(APPLICATION);
        Ok(())
    }

    /// The body of the coroutine of a boot.
    fn boots(self: &Rc<Place>, boot: &Value, own: &Weak<Sapi>, owner: &Weak<dyn Owner>) -> PhpResult {
        let ended = Cell::new(false);
        let sound = sapi::survive(|| {
            if let Some(own) = own.upgrade() {
                own.begin_boot();
            }
            ended.set(self.call_boot(boot, owner));
        });
        drop(exception::take());
        self.served.set(0);
        if sound && ended.get() {
            self.failures.set(0);
            self.phase.set(Phase::Ready);
        } else {
            let pause = (FIRST_PAUSE << self.failures.get().min(10)).min(LONGEST_PAUSE);
            self.failures.set(self.failures.get() + 1);
            if let Some(owner) = owner.upgrade() {
                if !sound && !sapi::fatal_error_was_asked_for() {
                    owner.is_damaged();
                }
                self.begin_to_end(&owner, Phase::Failed(coroutine::now() + pause * 1_000_000));
            }
        }
        self.changed.wake_all();
        Ok(Value::NULL)
    }

    /// Calls the boot. Returns `true` if it has returned a handler; otherwise it was said why there is none.
    fn call_boot(&self, boot: &Value, owner: &Weak<dyn Owner>) -> bool {
        let number = Value::from(i64::try_from(self.number).unwrap_or(i64::MAX));
        let handler = coroutine::call(boot, &mut [number]);
        let wrong = match handler.and_then(|handler| helpers::call("handler", &mut [handler])) {
            Ok(handler) if engine::is_callable(&handler) => {
                self.handler.set(handler);
                self.errors.replace(Some(ErrorHandling::capture()));
                sapi::end::boot();
                return true;
            }
            Ok(_) => {
                exception::throw_error("The boot of an instance must return what handles its requests: a callable")
            }
            Err(thrown) => thrown,
        };
        let _ = wrong;
        let stops = || owner.upgrade().is_none_or(|owner| owner.is_stopping());
        match exception::take() {
            Some(thrown) if thrown.is_a(coroutine::cancellation_exception()) && stops() => {}
            Some(thrown) if !exception::is_exit(&thrown) => sapi::report_uncaught(&thrown),
            _ => engine::warn_here(None, 0, c"The boot of an instance has exited"),
        }
        sapi::end::end_buffers();
        false
    }

    /// Waits until the instance is ready. Returns `false` if its boot has failed.
    ///
    /// # Errors
    /// The coroutine was cancelled.
    pub fn ready(&self) -> Result<bool, Thrown> {
        self.changed.wait_for("Server::application", || match self.phase.get() {
            Phase::Booting => None,
            phase => Some(phase == Phase::Ready),
        })
    }

    /// Counts a request, and returns its handler.
    pub fn handler(&self) -> Value {
        self.served.set(self.served.get() + 1);
        self.handler.get()
    }

    /// Gives the coroutine of a request the error handler that the boot has set.
    pub fn install_error_handler(&self) {
        let errors = self.errors.borrow().clone();
        errors.inspect(ErrorHandling::install);
    }

    /// A request of the instance has not returned.
    pub fn breaks(&self) {
        self.is_broken.set(true);
    }

    /// The request that had the place has ended. The next one may have it, or the instance ends.
    pub fn give_back(self: &Rc<Place>, owner: &Rc<dyn Owner>) {
        self.is_taken.set(false);
        self.changed.wake_all();
        let most = owner.instance_requests();
        if self.is_broken.get() || most > 0 && self.served.get() >= most {
            self.end(owner);
        }
        owner.wake();
    }

    /// Ends the instance if it is ready.
    fn end(self: &Rc<Place>, owner: &Rc<dyn Owner>) {
        if self.phase.get() == Phase::Ready {
            self.begin_to_end(owner, Phase::Empty);
        }
    }

    /// Ends the instance in the request of its boot, by a coroutine of its own. Then the place is in this phase.
    fn begin_to_end(self: &Rc<Place>, owner: &Rc<dyn Owner>, then: Phase) {
        self.phase.set(then);
        let Some(own) = self.life.request() else { return };
        self.phase.set(Phase::Ending);
        let (turn, limits) = (Turn::of(self, then), owner.limits_of_ends());
        owner.wake(); // to see when that is
        let owner = Rc::downgrade(owner);
        // In a scope that does not end with the instance.
        let ending = self.server.below(errors::report).and_then(|scope| {
            scope.spawn_in_request(own, move || {
                let place = turn.comes();
                place.clear(&owner);
                place.phase.set(then);
                place.changed.wake_all();
                owner.upgrade().into_iter().for_each(|owner| owner.wake());
                Ok(Value::NULL)
            })
        });
        match ending {
            Ok(ending) => {
                ending.runs_as(APPLICATION);
                self.ends.add(ending, limits);
            }
            Err(_) => {
                drop(exception::take());
                self.phase.set(then);
            }
        }
    }

    /// Ends what the instance, which is the running one, has, and empties it.
    fn clear(&self, owner: &Weak<dyn Owner>) {
        // The request that has waited for the boot is answered before.
        wait_while(|| self.is_taken.get());
        let is_sound = self.life.end(|| {
            self.handler.set(Value::UNDEF);
            drop(self.errors.take());
        });
        if !is_sound && let Some(owner) = owner.upgrade() {
            owner.is_damaged();
        }
    }

    /// Returns the scope for the coroutines of the instance.
    pub fn scope(&self) -> Option<Scope> {
        self.life.scope()
    }
}
