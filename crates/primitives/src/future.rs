//! The classes `Async\Future` and `Async\FutureState`: a result that is awaited, and its provider.

use crate::arguments::{TOKEN, fails, token};
use spindle_php::coroutine::{self, AwaitableClass, Completion, ErrorHandling, SpawnScope};
use spindle_zend::{
    Call, Class, Collected, Instance, Object, Owned, OwnedCell, PhpResult, State, Thrown, Type, Value, ValueCell,
    engine, exception, function_table, object_class,
};
use std::cell::{Cell, OnceCell, RefCell};

/// What a future has come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Pending,
    Completed,
    Failed,
}

/// What a callback of a chain is called for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Map,
    Catch,
    Finally,
}

/// A callback, and the future that it completes.
struct Link {
    kind: Kind,
    callback: Value,
    target: Owned<StateObject>,
    /// Where the callback runs: in the scope of the code that asked for it, whatever completes the future.
    scope: SpawnScope,
    /// Its errors are handled as those of the code that asked for it.
    errors: ErrorHandling,
}

/// The state of a `FutureState`, which its futures share.
struct FutureState {
    completion: Completion,
    status: Cell<Status>,
    result: ValueCell,
    failure: OwnedCell<Object>,
    /// The failure was received, or went on to another future.
    is_seen: Cell<bool>,
    links: RefCell<Vec<Link>>,
}

type StateObject = Instance<FutureState>;

/// The state of a `Future`: empty before its constructor.
#[derive(Default)]
struct Future(OnceCell<Owned<StateObject>>);

object_class!(static STATE: FutureState);
object_class!(static FUTURE: Future);

const FUTURE_TYPE: Type = Type::class(c"Async\\Future");
const STATE_TYPE: Type = Type::class(c"Async\\FutureState");
const THROWABLE: Type = Type::class(c"Throwable");

function_table! {
    static STATE_METHODS = {
        c"complete"(result: Type::MIXED => c"null") -> Type::VOID => |call| {
            let result = call.passed().value(1).cloned().unwrap_or(Value::NULL);
            complete_once(call.this_of(&STATE), Ok(result))
        };
        c"error"(throwable: THROWABLE) -> Type::VOID => |call| {
            let failure = Owned::of(call.passed().object(1, engine::throwable_class())?);
            complete_once(call.this_of(&STATE), Err(failure))
        };
        c"ignore"() -> Type::VOID => |call| {
            call.this_of(&STATE).is_seen.set(true);
            Ok(Value::NULL)
        };
        c"isCompleted"() -> Type::BOOL => |call| Ok((call.this_of(&STATE).status.get() != Status::Pending).into());
    }
}

function_table! {
    static METHODS = {
        c"__construct"(state: STATE_TYPE) -> Type::NONE => |call| {
            let given = call.passed().object(1, STATE.class())?;
            match STATE.of(given).map(|state| call.this_of(&FUTURE).0.set(Owned::of(state))) {
                Some(Ok(())) => Ok(Value::NULL),
                _ => Err(fails("The future is constructed already")),
            }
        };
        c"map"(callback: Type::CALLABLE) -> FUTURE_TYPE => |call| chain(call, Kind::Map);
        c"catch"(callback: Type::CALLABLE) -> FUTURE_TYPE => |call| chain(call, Kind::Catch);
        c"finally"(callback: Type::CALLABLE) -> FUTURE_TYPE => |call| chain(call, Kind::Finally);
        c"await"(cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let token = token(&call.passed(), 1)?;
            let this = Owned::of(call.this_of(&FUTURE).object());
            coroutine::await_object_until(&this, token)
        };
        c"ignore"() -> FUTURE_TYPE => |call| {
            let this = call.this_of(&FUTURE);
            state_of(this)?.is_seen.set(true);
            Ok(this.object().into())
        };
        c"isCompleted"() -> Type::BOOL => |call| Ok((state_of(call.this_of(&FUTURE))?.status.get() != Status::Pending).into());
    }
}

function_table! {
    static STATICS = {
        c"completed"(value: Type::MIXED => c"null") -> FUTURE_TYPE => |call| {
            let result = call.passed().value(1).cloned().unwrap_or(Value::NULL);
            Ok(future_of(complete(Ok(result))))
        };
        c"failed"(throwable: THROWABLE) -> FUTURE_TYPE => |call| {
            let failure = Owned::of(call.passed().object(1, engine::throwable_class())?);
            Ok(future_of(complete(Err(failure))))
        };
    }
}

/// Registers the classes. At module start.
pub fn register() {
    STATE.declare(c"Async\\FutureState", STATE_METHODS, &[]);
    let class = FUTURE.declare(c"Async\\Future", METHODS, STATICS);
    class.implement(coroutine::awaitable());
    FUTURE.stands_for_result();
    coroutine::declare_awaitable(AwaitableClass {
        completion: |object| FUTURE.of(object)?.0.get().map(|state| &state.completion),
        deliver: |object| match FUTURE.of(object) {
            Some(this) => deliver(state_of(this)?),
            None => Ok(Value::NULL),
        },
        failure: |object| FUTURE.of(object)?.0.get()?.failure.get(),
    });
}

impl State for Future {
    fn new(_: Class) -> Future {
        Future::default()
    }

    fn collect(&self, values: &mut Collected) {
        if let Some(state) = self.0.get() {
            values.owned(state);
        }
    }
}

impl State for FutureState {
    const DESTRUCT: Option<fn(&StateObject)> = Some(warn_if_unseen);

    fn new(_: Class) -> FutureState {
        FutureState {
            completion: Completion::new(),
            status: Cell::new(Status::Pending),
            result: ValueCell::new(),
            failure: OwnedCell::new(),
            is_seen: Cell::new(false),
            links: RefCell::default(),
        }
    }

    fn free(this: &StateObject) {
        let mut due = this.links.take();
        // A chain is released link by link: otherwise each state's release would call that of the next one.
        while let Some(Link { callback, target, .. }) = due.pop() {
            if target.object().references() == 1 {
                due.append(&mut target.links.borrow_mut());
            }
            drop(callback);
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.result);
        values.object(&self.failure);
        for link in self.links.borrow().iter() {
            values.value(&link.callback);
            link.errors.collect(values);
            values.owned(&link.target);
        }
    }
}

/// Warns of a failure that was never received, when nothing can receive it any more.
fn warn_if_unseen(this: &StateObject) {
    if this.status.get() != Status::Failed || this.is_seen.replace(true) {
        return;
    }
    let Some(failure) = this.failure.get() else { return };
    let text = format!("The failure of a Future was never received: {}", exception::text_of(&failure),);
    exception::put_aside(|| engine::warn_here(None, 0, &exception::c_text(&text)));
}

fn state_of(this: &Instance<Future>) -> Result<&Owned<StateObject>, Thrown> {
    this.0.get().ok_or_else(|| fails("The future has never been constructed"))
}

/// Returns a new future of a state.
fn future_of(state: Owned<StateObject>) -> Value {
    let future = FUTURE.make();
    let _ = future.0.set(state);
    future.into()
}

/// Returns a new state that is complete.
fn complete(outcome: Result<Value, Owned<Object>>) -> Owned<StateObject> {
    let state = STATE.make();
    settle(&state, outcome);
    state
}

fn deliver(state: &StateObject) -> PhpResult {
    match (state.status.get(), state.failure.get()) {
        (Status::Completed, _) => Ok(state.result.get()),
        (Status::Failed, Some(failure)) => {
            state.is_seen.set(true);
            Err(exception::throw(failure))
        }
        _ => Err(fails("The future is not complete, and never will be: its process was forked")),
    }
}

fn complete_once(this: &StateObject, outcome: Result<Value, Owned<Object>>) -> PhpResult {
    if this.status.get() != Status::Pending {
        return Err(fails("The future is complete already: it is completed once"));
    }
    settle(&Owned::of(this), outcome);
    Ok(Value::NULL)
}

/// Completes a state, and those that depend on it without a callback in between.
fn settle(state: &Owned<StateObject>, outcome: Result<Value, Owned<Object>>) {
    let mut due = vec![(state.clone(), outcome)];
    while let Some((state, outcome)) = due.pop() {
        if state.status.get() != Status::Pending {
            continue;
        }
        let fails = outcome.is_err();
        state.status.set(if fails { Status::Failed } else { Status::Completed });
        match &outcome {
            Ok(value) => drop(state.result.replace(value.clone())),
            Err(failure) => drop(state.failure.replace(Some(failure.clone()))),
        }
        if state.completion.complete(fails) {
            state.is_seen.set(true);
        }
        let links = state.links.take();
        if !links.is_empty() {
            state.is_seen.set(true);
        }
        // Callbacks start in the order in which they were asked for.
        let passed: Vec<_> = links.into_iter().filter_map(|link| follow(link, &outcome)).collect();
        due.extend(passed.into_iter().rev());
    }
}

type Settled = (Owned<StateObject>, Result<Value, Owned<Object>>);

/// Starts a callback of a chain, or returns the result that its future gets without a call.
fn follow(link: Link, outcome: &Result<Value, Owned<Object>>) -> Option<Settled> {
    let argument = match (link.kind, outcome) {
        (Kind::Map, Ok(value)) => Some(value.clone()),
        (Kind::Catch, Err(failure)) => Some(failure.clone().into()),
        (Kind::Finally, _) => None,
        (Kind::Map, Err(_)) | (Kind::Catch, Ok(_)) => return Some((link.target, outcome.clone())),
    };
    let step = Step { link, argument, outcome: outcome.clone(), is_done: false };
    start(step);
    None
}

/// A callback that is to be called in a coroutine of its own.
struct Step {
    link: Link,
    argument: Option<Value>,
    outcome: Result<Value, Owned<Object>>,
    is_done: bool,
}

fn start(mut step: Step) {
    exception::put_aside(|| {
        // If the scope is closed, the step is dropped, and what was thrown is what its future gets.
        let (target, scope) = (step.link.target.clone(), step.link.scope);
        match scope.spawn(move || step.run()) {
            Ok(started) => target.completion.depends_on(coroutine::maker(started.object())),
            Err(_) => {
                if let Some(failure) = exception::take() {
                    settle_or_keep(&target, failure);
                }
            }
        }
    });
}

fn settle_or_keep(target: &Owned<StateObject>, failure: Owned<Object>) {
    if target.status.get() == Status::Pending {
        settle(target, Err(failure));
    } else {
        drop(target.failure.replace(Some(failure)));
    }
}

impl Step {
    fn run(&mut self) -> PhpResult {
        let mut arguments: Vec<Value> = self.argument.take().into_iter().collect();
        let link = &self.link;
        let called = link.errors.during(|| coroutine::call(&link.callback, &mut arguments));
        drop(arguments);
        let outcome = match called {
            Err(thrown) if exception::is_exit_in_flight() => {
                self.is_done = true;
                return Err(thrown);
            }
            Err(thrown) => match exception::take() {
                Some(failure) => {
                    if let (Kind::Finally, Err(before)) = (self.link.kind, &self.outcome) {
                        exception::set_last_previous(&failure, before.clone());
                    }
                    Err(failure)
                }
                None => return Err(thrown),
            },
            Ok(_) if self.link.kind == Kind::Finally => self.outcome.clone(),
            Ok(value) => Ok(value),
        };
        self.is_done = true;
        settle(&self.link.target, outcome);
        Ok(Value::NULL)
    }
}

impl Drop for Step {
    /// A callback that is never called, because its coroutine was cancelled before it began, fails its future.
    fn drop(&mut self) {
        if self.is_done || coroutine::is_over() {
            return;
        }
        let target = self.link.target.clone();
        exception::put_aside(|| {
            let text = "The coroutine of a callback of this future was cancelled before it began";
            let failure = exception::detached(coroutine::cancellation_exception(), text);
            if target.status.get() == Status::Pending {
                settle(&target, Err(failure));
            }
        });
    }
}

/// `map()`, `catch()` and `finally()`: a future that depends on this one.
fn chain(call: Call, kind: Kind) -> PhpResult {
    let callback = call.passed().callable(1)?.clone();
    let state = state_of(call.this_of(&FUTURE))?.clone();
    let target = STATE.make();
    let link =
        Link { kind, callback, target: target.clone(), scope: SpawnScope::current(), errors: ErrorHandling::capture() };
    let outcome = match state.status.get() {
        Status::Pending => {
            target.completion.depends_on(Some(state.completion.as_maker()));
            state.links.borrow_mut().push(link);
            return Ok(future_of(target));
        }
        Status::Completed => Ok(state.result.get()),
        Status::Failed => match state.failure.get() {
            Some(failure) => Err(failure),
            None => return Err(fails("The future is being released")),
        },
    };
    state.is_seen.set(true);
    if let Some((target, outcome)) = follow(link, &outcome) {
        settle(&target, outcome);
    }
    Ok(future_of(target))
}
