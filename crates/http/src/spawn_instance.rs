//! `Async\spawnInstance()`: a coroutine in an instance of its own, with no server.
//!
//! The coroutine that the caller gets is the caller's: it makes the instance, waits for it, and ends it. Another one, the first of the
//! instance, calls the body. Instances that have ended are kept for the next ones.

use crate::application;
use crate::errors;
use crate::helpers;
use crate::life::{Life, Script};
use crate::worker;
use spindle_php::coroutine::{self, Scope, WaitQueue};
use spindle_php::sapi::{self, Instance, Sapi, Seed};
use spindle_php::slices;
use spindle_zend::{Call, Object, Owned, PhpResult, PhpStatic, Thrown, Value, exception};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::rc::Rc;

/// What runs in such a coroutine, in traces.
const NAME: &CStr = c"Async\\spawnInstance";

/// What they all begin with.
static SEED: PhpStatic<Cell<Option<Seed>>> = PhpStatic::new(Cell::new(None));

/// Those that have ended.
static EMPTY: PhpStatic<RefCell<Vec<Life>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// While it exists, coroutines of this process have requests of their own.
struct Requests;

impl Requests {
    fn begin() -> Result<Requests, Thrown> {
        worker::requests_begin()?;
        slices::server_began();
        Ok(Requests)
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        slices::server_ended();
        worker::requests_end();
    }
}

/// An instance for one call.
struct Alone {
    /// Until it begins.
    life: RefCell<Option<Life>>,
    /// The process that has made it: the child of a fork that its code makes has only the coroutine that has forked.
    process: u32,
    /// How the body has ended: its result, or what it has thrown.
    outcome: RefCell<Option<Result<Value, Owned<Object>>>>,
    /// A failure of another coroutine of the instance, which no code has handled.
    failure: RefCell<Option<Owned<Object>>>,
    /// Code of the instance has called `exit`.
    has_exited: Cell<bool>,
    /// The coroutine has ended that is waited for.
    has_ended: Cell<bool>,
    changed: WaitQueue,
    _requests: Requests,
}

/// Calls a function in a new instance. Returns the coroutine.
pub fn spawn_instance(call: Call) -> PhpResult {
    let body = call.passed().callable(1)?.clone();
    if sapi::live().is_some() {
        let text = "Async\\spawnInstance() cannot be called in an instance, or in a request";
        return Err(exception::throw_new(coroutine::async_exception(), text));
    }
    application::check_settings()?;
    let requests = Requests::begin()?;
    if SEED.get().is_none() {
        application::warn_of_shared_objects();
        SEED.set(Some(Seed::of_script()));
    }
    let Some(seed) = SEED.get() else { return Ok(Value::NULL) }; // it was set just now
    if let Some(why) = application::refusal(seed, &body, "Async\\spawnInstance") {
        return Err(exception::throw_new(coroutine::async_exception(), &why));
    }
    let life = EMPTY.borrow_mut().pop().or_else(|| Some(Life::new(seed, Instance::new(seed)?)));
    let alone = Rc::new(Alone {
        life: RefCell::new(Some(life.ok_or_else(application::too_many)?)),
        process: std::process::id(),
        outcome: RefCell::new(None),
        failure: RefCell::new(None),
        has_exited: Cell::new(false),
        has_ended: Cell::new(false),
        changed: WaitQueue::new(),
        _requests: requests,
    });
    let spawned = coroutine::spawn(move || alone.run(&body))?;
    spawned.runs_as(NAME);
    Ok(spawned.into())
}

/// Sets what it holds, when it is dropped: the coroutine has ended, or never begun.
struct EndOnDrop(Rc<Alone>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.has_ended.set(true);
        self.0.changed.wake_all();
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // It was cancelled before.
        if let Some(life) = self.life.take().filter(|_| SEED.get().is_some()) {
            EMPTY.borrow_mut().push(life);
        }
    }
}

impl Alone {
    /// The body of the caller's coroutine.
    fn run(self: &Rc<Alone>, body: &Value) -> PhpResult {
        let Some(life) = self.life.take() else { return Ok(Value::NULL) };
        let life = Rc::new(life);
        let result = self.live(&life, body);
        if let Ok(life) = Rc::try_unwrap(life)
            && life.instance().is_some()
        {
            EMPTY.borrow_mut().push(life);
        }
        result
    }

    fn live(self: &Rc<Alone>, life: &Rc<Life>, body: &Value) -> PhpResult {
        let holder = Scope::new(errors::report)?;
        let of_scope = Rc::downgrade(self);
        let scope = holder.below(move |failure| {
            if let Some(this) = of_scope.upgrade() {
                if this.process == std::process::id() {
                    this.fails(Owned::of(failure));
                } else {
                    sapi::fails_in_child();
                    errors::report(failure);
                }
            }
        })?;
        let of_client = (Rc::downgrade(self), Rc::downgrade(life));
        let exits = move || {
            sapi::ends_in_child();
            if let (Some(this), Some(life)) = (of_client.0.upgrade(), of_client.1.upgrade()) {
                this.has_exited.set(true);
                life.cancel_coroutines();
            }
        };
        let of_fatal = Rc::downgrade(self);
        let dies = move || of_fatal.upgrade().into_iter().for_each(|this| this.fails(damaged()));
        let client = Script { dies: Box::new(dies), exits: Box::new(exits) };
        let own = life.begin(scope.clone(), client).ok_or_else(application::too_many)?;
        let (ending, of_body, request) = (EndOnDrop(Rc::clone(self)), body.clone(), Rc::downgrade(&own));
        scope
            .spawn_in_request(own, move || {
                let outcome = begin(&request.upgrade(), &of_body);
                if !ending.0.has_exited.get() {
                    ending.0.outcome.replace(Some(outcome));
                }
                Ok(Value::NULL)
            })?
            .runs_as(NAME);
        drop(scope);
        let cancelled = self.wait(|| life.cancel_coroutines());
        self.has_ended.set(false);
        if let Some(own) = life.request() {
            let (ending, life) = (EndOnDrop(Rc::clone(self)), Rc::clone(life));
            let ends = holder.spawn_in_request(own, move || {
                let _ = &ending;
                if !life.end(|| {}) {
                    ending.0.fails(damaged());
                }
                Ok(Value::NULL)
            });
            match ends {
                // It is not kept: the number of an object is free for those who free it.
                Ok(ends) => {
                    ends.runs_as(NAME);
                    self.wait(|| {});
                }
                Err(_) => drop(exception::take()), // the script has failed, and the scope is closed
            }
        }
        if let Some(failure) = self.failure.take() {
            return Err(exception::throw(failure));
        }
        match (self.outcome.take(), cancelled) {
            (None, None) => Ok(Value::NULL), // it has exited
            (_, Some(failure)) | (Some(Err(failure)), None) => Err(exception::throw(failure)),
            (Some(Ok(result)), None) => Ok(result),
        }
    }

    /// The instance has failed.
    fn fails(&self, failure: Owned<Object>) {
        self.failure.borrow_mut().get_or_insert(failure);
    }

    /// Waits until a coroutine of the instance has ended. Returns the cancellation that has come meanwhile, if there is one.
    fn wait(&self, cancel: impl Fn()) -> Option<Owned<Object>> {
        let mut cancelled = None;
        while !self.has_ended.get() {
            let waited = self.changed.wait_for("Async\\spawnInstance", || self.has_ended.get().then_some(()));
            if waited.is_err() {
                cancelled = cancelled.or(exception::take());
                cancel();
                if coroutine::have_ended() {
                    break;
                }
            }
        }
        cancelled
    }
}

/// Calls the body, in the instance. Returns its result, or what it has thrown.
fn begin(request: &Option<Rc<Sapi>>, body: &Value) -> Result<Value, Owned<Object>> {
    let result = RefCell::new(Value::NULL);
    let is_sound = sapi::survive(|| {
        request.iter().for_each(|own| own.begin_boot());
        if let Ok(value) = helpers::call("alone", &mut [body.clone()]) {
            result.replace(value);
        }
        sapi::end::boot();
    });
    match exception::take() {
        _ if !is_sound => Err(damaged()),
        Some(thrown) => Err(thrown),
        None => Ok(result.take()),
    }
}

/// Returns the exception for an instance that has ended with a fatal error that PHP code has not asked for.
fn damaged() -> Owned<Object> {
    let text = "The instance has ended with a fatal error, which may have damaged memory: end the process";
    exception::detached(coroutine::async_exception(), text)
}

/// Forgets those that have ended. At the end of PHP's request.
pub fn process_request_ends() {
    SEED.set(None);
    EMPTY.take();
}
