//! The class `Async\Poll`: streams and signals that an event loop written in PHP waits for.
//!
//! A direction of a stream is *due*, to be checked by the next `wait()`, or registered with the event loop until that reports
//! it. It becomes due when it is watched, reported, or was returned as ready: so readiness is by level, and a direction that is
//! registered costs nothing. In a busy loop one that is not ready is registered when it is not at the second look either.
//!
//! If most streams are ready each time, and no other coroutine could be woken, all stay due, and one `poll(2)` asks for all of
//! them: that takes less than their events.
//!
//! ```text
//!               is not ready
//!        ┌───────────────────────► registered
//!   due ─┤                             │
//!    ▲ ▲ └─► ready: returned by wait() │ reported
//!    │ └──────────┘                    │
//!    └─────────────────────────────────┘
//! ```

use crate::arguments::fails;
use rustc_hash::FxBuildHasher;
use spindle_php::coroutine::{self, Direction, Key, Known, Questions, SignalWait, WaitSet, deadline_in};
use spindle_zend::{
    Array, Call, Class, Collected, Instance, Owned, PhpResult, State, Thrown, Type, Value, ValueCell, argument_error,
    exception, function_table, object_class,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The state of an object of the class.
struct Poll {
    waits: Rc<WaitSet>,
    /// The streams that are watched, by the numbers of their resources.
    streams: RefCell<HashMap<i64, Rc<Stream>, FxBuildHasher>>,
    registered: RefCell<HashMap<Key, Side, FxBuildHasher>>,
    /// What is due, in the order in which it became due, including what was due and is no longer watched.
    due: RefCell<Vec<Side>>,
    /// An empty list that has been one of what is due, and has room.
    spare: RefCell<Vec<Side>>,
    signals: RefCell<BTreeMap<i32, Rc<SignalWait>>>,
    /// Signals that have arrived and were not returned, bit `n - 1` for signal `n`.
    caught: Rc<Cell<u64>>,
    /// `wake()` was called.
    is_woken: Cell<bool>,
    /// The last watch was removed while a coroutine waited.
    has_nothing_left: Cell<bool>,
    is_waiting: Cell<bool>,
    /// The last wait returned enough streams that the next one is likely to find some.
    is_busy: Cell<bool>,
    /// How many of 1,024 directions that are watched a wait has found ready: an exponential average of the last waits.
    density: Cell<usize>,
    /// A list for `look_at_all`, which keeps its room.
    questions: RefCell<Questions>,
    /// It waits where no coroutine can be suspended.
    waits_in_place: Cell<bool>,
}

/// A direction of a stream.
#[derive(Clone)]
struct Side {
    stream: Rc<Stream>,
    direction: Direction,
}

struct Stream {
    /// Empty when it is not watched any more.
    resource: ValueCell,
    read: Watch,
    write: Watch,
}

/// What is known of a direction.
#[derive(Default)]
struct Watch {
    is_watched: Cell<bool>,
    is_due: Cell<bool>,
    /// The last look has found it not ready, and left it.
    was_left: Cell<bool>,
    /// Its key, and the descriptor that is registered.
    registration: Cell<Option<(Key, i32)>>,
    /// What is returned for the stream; empty for the stream itself.
    value: ValueCell,
}

impl Side {
    fn watch(&self) -> &Watch {
        match self.direction {
            Direction::Read => &self.stream.read,
            Direction::Write => &self.stream.write,
        }
    }
}

/// The loop counts as busy once a wait returns this many streams.
const BUSY: usize = 4;
/// From this density, three quarters, the kernel is asked about all streams in one call.
const DENSE: usize = 768;
/// Stands for the descriptor of a stream that has none.
const NONE: i32 = -1;
/// How long the list of what is due may be before void entries are removed.
const MIN_DUE_TO_COMPACT: usize = 64;

object_class!(static POLL: Poll);

type PollObject = Instance<Poll>;

function_table! {
    static METHODS = {
        c"watchRead"(stream: Type::MIXED, value: Type::MIXED => c"null") -> Type::VOID => |call| watch(&call, Direction::Read);
        c"watchWrite"(stream: Type::MIXED, value: Type::MIXED => c"null") -> Type::VOID => |call| watch(&call, Direction::Write);
        c"unwatchRead"(stream: Type::MIXED) -> Type::VOID => |call| unwatch(&call, Direction::Read);
        c"unwatchWrite"(stream: Type::MIXED) -> Type::VOID => |call| unwatch(&call, Direction::Write);
        c"watchSignal"(signo: Type::INT) -> Type::VOID => watch_signal;
        c"unwatchSignal"(signo: Type::INT) -> Type::VOID => unwatch_signal;
        c"wait"(seconds: Type::FLOAT.or_null() => c"null") -> Type::ARRAY => wait;
        c"isWaiting"() -> Type::BOOL => |call| Ok(call.this_of(&POLL).is_active().into());
        c"wake"() -> Type::VOID => |call| {
            let this = call.this_of(&POLL);
            this.is_woken.set(true);
            this.waits.wake();
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    POLL.declare(c"Async\\Poll", METHODS, &[]);
}

impl State for Poll {
    fn new(_: Class) -> Poll {
        Poll {
            waits: Rc::new(WaitSet::new()),
            streams: RefCell::default(),
            registered: RefCell::default(),
            due: RefCell::default(),
            spare: RefCell::default(),
            signals: RefCell::default(),
            caught: Rc::default(),
            is_woken: Cell::new(false),
            has_nothing_left: Cell::new(false),
            is_waiting: Cell::new(false),
            is_busy: Cell::new(false),
            density: Cell::new(0),
            questions: RefCell::default(),
            waits_in_place: Cell::new(false),
        }
    }

    fn free(this: &PollObject) {
        this.make_all_due();
    }

    fn collect(&self, values: &mut Collected) {
        for stream in self.streams.borrow().values() {
            [&stream.resource, &stream.read.value, &stream.write.value].into_iter().for_each(|cell| values.cell(cell));
        }
    }
}

/// Returns the number of the resource that was passed.
fn number_of(value: Option<&Value>) -> Result<i64, Thrown> {
    let value = value.unwrap_or(const { &Value::NULL });
    value
        .as_resource()
        .map(|resource| resource.number())
        .ok_or_else(|| argument_error(1, true, &format!("must be of type resource, {} given", value.type_name())))
}

fn watch(call: &Call, direction: Direction) -> PhpResult {
    let this = call.this_of(&POLL);
    let arguments = call.passed();
    let number = number_of(arguments.value(1))?;
    let resource = arguments.value(1).cloned().unwrap_or_default();
    let value = arguments.value(2).filter(|value| !value.is_null()).cloned().unwrap_or(Value::UNDEF);
    // Code of a user wrapper may run here.
    let descriptor = resource.stream_descriptor();
    exception::check()?;
    if descriptor.is_none() {
        if !resource.is_open_stream() {
            return Err(argument_error(1, true, "must be an open stream resource"));
        }
        return Err(argument_error(1, false, "must be a stream that has a descriptor, which can be polled"));
    }
    let new = || {
        let stream = Stream { resource: ValueCell::new(), read: Watch::default(), write: Watch::default() };
        stream.resource.set(resource);
        Rc::new(stream)
    };
    let stream = Rc::clone(this.streams.borrow_mut().entry(number).or_insert_with(new));
    let side = Side { stream, direction };
    let replaced = side.watch().value.replace(value);
    if !side.watch().is_watched.replace(true) {
        this.make_due(side);
        if this.is_waiting.get() {
            this.waits.wake();
        }
    }
    drop(replaced); // code of a destructor may run here
    Ok(Value::NULL)
}

fn unwatch(call: &Call, direction: Direction) -> PhpResult {
    let this = call.this_of(&POLL);
    let number = number_of(call.passed().value(1))?;
    let stream = this.streams.borrow().get(&number).cloned();
    let Some(stream) = stream else { return Ok(Value::NULL) };
    let side = Side { stream, direction };
    let watch = side.watch();
    watch.is_watched.set(false);
    let value = watch.value.take();
    if let Some((key, descriptor)) = watch.registration.take() {
        this.registered.borrow_mut().remove(&key);
        this.waits.unwatch_descriptor(descriptor, key);
    }
    let stream = &side.stream;
    if !stream.read.is_watched.get() && !stream.write.is_watched.get() {
        this.streams.borrow_mut().remove(&number);
        let resource = stream.resource.take();
        this.may_have_nothing_left();
        drop(resource); // if nothing else refers to it, it is closed, by code of a user wrapper perhaps
    }
    drop(value);
    exception::check().map(|()| Value::NULL)
}

/// Returns the signal that was passed.
fn signal_of(call: &Call) -> Result<i32, Thrown> {
    let given = call.passed().long(1)?;
    let signal = i32::try_from(given).ok().filter(|signal| (1..=64).contains(signal));
    signal.ok_or_else(|| argument_error(1, false, "must be the number of a signal"))
}

fn watch_signal(call: Call) -> PhpResult {
    let (this, signal) = (call.this_of(&POLL), signal_of(&call)?);
    if this.signals.borrow().contains_key(&signal) {
        return Ok(Value::NULL);
    }
    let (waits, caught) = (Rc::clone(&this.waits), Rc::clone(&this.caught));
    let started = SignalWait::start_each(signal, move || {
        caught.set(caught.get() | bit(signal));
        waits.wake();
    });
    match started {
        Ok(wait) => drop(this.signals.borrow_mut().insert(signal, wait)),
        Err(error) => return Err(argument_error(1, false, &format!("must be a signal that can be caught: {error}"))),
    }
    this.waits.add_external();
    if this.is_waiting.get() {
        this.waits.wake();
    }
    Ok(Value::NULL)
}

fn unwatch_signal(call: Call) -> PhpResult {
    let (this, signal) = (call.this_of(&POLL), signal_of(&call)?);
    let removed = this.signals.borrow_mut().remove(&signal);
    if removed.is_some() {
        drop(removed);
        this.caught.set(this.caught.get() & !bit(signal));
        this.waits.remove_external();
        this.may_have_nothing_left();
    }
    Ok(Value::NULL)
}

fn bit(signal: i32) -> u64 {
    1 << (signal - 1)
}

fn wait(call: Call) -> PhpResult {
    let this = call.this_of(&POLL);
    let seconds = call.passed().double_or_null(1)?;
    if seconds.is_some_and(|seconds| seconds.is_nan() || seconds < 0.0) {
        return Err(argument_error(1, false, "must be null or a number of seconds that is not negative"));
    }
    if this.is_active() {
        return Err(exception::throw_error("Another wait() of this Async\\Poll is active"));
    }
    this.is_waiting.set(true);
    this.has_nothing_left.set(false);
    let mut ready = Ready::new(this.due.borrow().len());
    let deadline = seconds.map(deadline_in);
    let done = if this.waits.can_suspend() {
        this.wait(&mut ready, deadline, seconds == Some(0.0))
    } else {
        this.waits_in_place.set(true);
        let done = this.wait_in_place(&mut ready, deadline);
        this.waits_in_place.set(false);
        done
    };
    this.is_waiting.set(false);
    done?;
    this.is_busy.set(ready.len() >= BUSY);
    this.measure(ready.len());
    this.is_woken.set(false);
    let caught = this.caught.replace(0);
    let mut signals = Vec::new();
    if caught != 0 {
        signals.extend((1..=64i64).filter(|signal| caught & bit(*signal as i32) != 0));
    }
    let signals = Array::list(signals.into_iter());
    Ok(Array::list([ready.read.into(), ready.write.into(), Value::from(signals)].into_iter()).into())
}

/// What `wait()` returns.
struct Ready {
    read: Owned<Array>,
    write: Owned<Array>,
}

impl Ready {
    /// Returns an empty set with room for `room` directions, allocated when the first is added.
    fn new(room: usize) -> Ready {
        Ready { read: Array::new(room), write: Array::new(room) }
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn len(&self) -> usize {
        self.read.len() + self.write.len()
    }

    /// Adds a direction; returns `true`, for it is due.
    fn add(&mut self, side: &Side) -> bool {
        if side.stream.resource.is_open_stream() { self.add_open(side) } else { self.put(side, &side.stream.resource) }
    }

    /// As [`Ready::add`], of a stream that is open.
    fn add_open(&mut self, side: &Side) -> bool {
        let value = &side.watch().value;
        self.put(side, if value.is_empty() { &side.stream.resource } else { value })
    }

    #[inline]
    fn put(&mut self, side: &Side, value: &ValueCell) -> bool {
        let array = match side.direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        };
        array.push(value.get());
        side.watch().was_left.set(false);
        true
    }
}

/// What is known of a direction that is due.
enum Found {
    /// It is not watched any more, or is registered.
    Void,
    /// It is closed, or has no descriptor, or has data in its buffer.
    WithoutDescriptor,
    Ready,
    /// It is not ready; the descriptor.
    NotReady(i32),
    /// The kernel has to be asked; the descriptor.
    Unknown(i32),
}

/// What happens to a direction that is not ready.
#[derive(Clone, Copy, PartialEq)]
enum Unready {
    /// It is registered.
    Registered,
    /// So it is if it was left the last time. The first time it is left to the next look: where each message is answered, most are
    /// ready by then. The coroutine must not be suspended before.
    Left,
}

fn cannot_wait(error: &std::io::Error) -> Thrown {
    fails(&format!("Cannot wait for a stream: {error}"))
}

impl Poll {
    fn make_due(&self, side: Side) {
        if side.watch().is_due.replace(true) {
            return;
        }
        let mut due = self.due.borrow_mut();
        if due.len() >= MIN_DUE_TO_COMPACT && due.len() > 4 * self.streams.borrow().len() {
            due.retain(|side| {
                let is_watched = side.watch().is_watched.get();
                side.watch().is_due.set(is_watched);
                is_watched
            });
        }
        due.push(side);
    }

    /// Ends all registrations.
    fn make_all_due(&self) {
        for (key, side) in self.registered.take() {
            if let Some((_, descriptor)) = side.watch().registration.take() {
                self.waits.unwatch_descriptor(descriptor, key);
            }
            self.make_due(side);
        }
    }

    /// Returns `true` if a coroutine is in `wait()`. One that was abandoned there, by a fork or an `exit`, is not.
    fn is_active(&self) -> bool {
        if self.waits.take_lost() {
            self.make_all_due();
            self.is_waiting.set(false);
        }
        if coroutine::have_ended() && !self.waits_in_place.get() {
            self.is_waiting.set(false);
        }
        self.is_waiting.get()
    }

    /// Ends a wait if nothing that could end it is watched any more.
    fn may_have_nothing_left(&self) {
        if self.is_waiting.get() && self.streams.borrow().is_empty() && self.signals.borrow().is_empty() {
            self.has_nothing_left.set(true);
            self.waits.wake();
        }
    }

    /// Ends the registrations that the event loop has reported. Returns the sides known to be ready; the rest is added to `due`, to
    /// be checked.
    fn take_reports(&self, due: &mut Vec<Side>) -> Vec<Side> {
        let mut reported = Vec::new();
        let known = self.waits.known();
        while let Some(key) = self.waits.next() {
            let side = self.registered.borrow_mut().remove(&key);
            let Some(side) = side else { continue };
            let Some((_, descriptor)) = side.watch().registration.take() else { continue };
            self.waits.unwatch_descriptor(descriptor, key);
            if known.is_ready(descriptor, side.direction) == Some(true) {
                reported.push(side);
            } else if !side.watch().is_due.replace(true) {
                due.push(side);
            }
        }
        reported
    }

    /// Checks what is due and what was reported. What is ready is added to `ready` and stays due.
    fn look(&self, ready: &mut Ready, unready: Unready) -> Result<(), Thrown> {
        // The next wait checks the watches that code of user wrappers adds.
        let mut due = self.due.replace(self.spare.take());
        let reported = self.take_reports(&mut due);
        let (mut asked, mut questions, mut failure) = (Vec::new(), Questions::default(), Ok(()));
        let known = self.waits.known();
        due.retain(|side| {
            if failure.is_err() {
                return true;
            }
            let kept = match self.find(side, known) {
                _ if exception::is_in_flight() => {
                    failure = Err(Thrown::is_in_flight());
                    true
                }
                Found::Void => false,
                Found::WithoutDescriptor => ready.add(side),
                Found::Ready => ready.add_open(side),
                Found::NotReady(_) if unready == Unready::Left && !side.watch().was_left.replace(true) => true,
                Found::NotReady(fd) => self.register(side, fd, ready, &mut failure),
                Found::Unknown(fd) => {
                    asked.push(side.clone());
                    questions.push(fd, side.direction);
                    false
                }
            };
            side.watch().is_due.set(kept);
            kept
        });
        self.put_back(due);
        if failure.is_err() {
            asked.into_iter().chain(reported).for_each(|side| self.make_due(side));
            return failure;
        }
        if !asked.is_empty() {
            failure = questions.ask().map_err(|error| cannot_wait(&error));
        }
        for (side, (fd, is_ready)) in asked.into_iter().zip(questions.answers()) {
            if !side.watch().is_watched.get() {
                continue; // by a wrapper's code
            }
            let is_due = if failure.is_err() {
                true
            } else if is_ready || !side.stream.resource.is_open_stream() {
                // It may have been closed by a wrapper's code, and the descriptor may be another's.
                ready.add(&side)
            } else {
                self.register(&side, fd, ready, &mut failure)
            };
            if is_due {
                self.make_due(side);
            }
        }
        for side in reported.into_iter().filter(|side| side.watch().is_watched.get()) {
            ready.add(&side);
            self.make_due(side);
        }
        failure
    }

    /// Checks all that is watched by asking the kernel, with a list for that. What is ready is added to `ready`; all stays due.
    fn look_at_all(&self, ready: &mut Ready, questions: &mut Questions) -> Result<(), Thrown> {
        self.make_all_due();
        let mut due = self.due.replace(self.spare.take());
        let mut failure = Ok(());
        questions.clear();
        due.retain(|side| {
            if failure.is_err() {
                return true;
            }
            let fd = match self.find(side, Known::NOTHING) {
                _ if exception::is_in_flight() => {
                    failure = Err(Thrown::is_in_flight());
                    return true;
                }
                Found::Void => {
                    side.watch().is_due.set(false);
                    return false;
                }
                Found::Unknown(fd) | Found::NotReady(fd) => fd,
                Found::Ready | Found::WithoutDescriptor => NONE,
            };
            questions.push(fd, side.direction);
            true
        });
        failure = failure.and_then(|()| questions.ask().map_err(|error| cannot_wait(&error)));
        if failure.is_ok() {
            for (side, (fd, is_ready)) in due.iter().zip(questions.answers()) {
                // A wrapper's code may have ended its watch or closed it, and the descriptor may be another's.
                if side.watch().is_watched.get() && (is_ready || fd == NONE || !side.stream.resource.is_open_stream()) {
                    ready.add(side);
                }
            }
        }
        self.put_back(due);
        failure
    }

    /// Adds a wait that has found `ready` directions ready to the density, with a weight of one eighth.
    fn measure(&self, ready: usize) {
        let watched = self.due.borrow().len() + self.registered.borrow().len();
        let now = if ready < BUSY { 0 } else { 1024 * ready / watched.max(ready) };
        self.density.set((7 * self.density.get() + now) / 8);
    }

    /// Puts back this list of what is due, with what has become due meanwhile.
    fn put_back(&self, due: Vec<Side>) {
        let mut added = self.due.replace(due);
        self.due.borrow_mut().append(&mut added);
        self.spare.replace(added);
    }

    /// Registers a direction that is not ready. Returns `true` if it is still due, because it cannot be registered.
    fn register(&self, side: &Side, fd: i32, ready: &mut Ready, failure: &mut Result<(), Thrown>) -> bool {
        let is_used = |key: Key| self.registered.borrow().contains_key(&key);
        match self.waits.register(fd, side.direction, is_used) {
            Ok(Some(key)) => {
                side.watch().registration.set(Some((key, fd)));
                self.registered.borrow_mut().insert(key, side.clone());
                false
            }
            Ok(None) => ready.add(side),
            Err(error) => {
                *failure = Err(cannot_wait(&error));
                true
            }
        }
    }

    /// Finds out whether a direction that is due is ready. Code of a user wrapper may run, and throw.
    fn find(&self, side: &Side, known: Known) -> Found {
        if !side.watch().is_watched.get() || side.watch().registration.get().is_some() {
            return Found::Void;
        }
        let found = side.stream.resource.descriptor_to_poll(side.direction == Direction::Read);
        match found {
            _ if !side.watch().is_watched.get() => Found::Void,
            // One that is closed or has no descriptor any more is ready as well: its user finds that out.
            None => Found::WithoutDescriptor,
            Some(fd) => match known.is_ready(fd, side.direction) {
                Some(true) => Found::Ready,
                Some(false) => Found::NotReady(fd),
                None => Found::Unknown(fd),
            },
        }
    }

    /// Returns `true` if something other than a stream ends the wait.
    fn is_ended(&self) -> bool {
        self.is_woken.get() || self.has_nothing_left.get() || self.caught.get() != 0
    }

    /// Waits, and adds what is ready to `ready`. The coroutine is suspended at least once.
    fn wait(&self, ready: &mut Ready, deadline: Option<u64>, is_over: bool) -> Result<(), Thrown> {
        if self.density.get() >= DENSE && self.waits.is_alone()? {
            let mut questions = self.questions.take();
            let looked = self.look_at_all(ready, &mut questions);
            self.questions.replace(questions);
            looked?;
            if is_over || self.is_ended() || !ready.is_empty() {
                return Ok(());
            }
        }
        if self.is_busy.get() {
            // One question to the event loop, in place of one for each stream that its answer makes needless.
            self.waits.turn()?;
            self.look(ready, Unready::Left)?;
            if is_over || self.is_ended() || !ready.is_empty() {
                return Ok(());
            }
            self.look(ready, Unready::Registered)?;
            if self.is_ended() || !ready.is_empty() {
                return Ok(());
            }
        } else {
            self.look(ready, Unready::Registered)?;
            if is_over || self.is_ended() || !ready.is_empty() {
                return self.turn(ready);
            }
        }
        loop {
            let has_ended = self.waits.wait("Async\\Poll::wait", deadline)?;
            self.look(ready, Unready::Registered)?;
            if !has_ended || self.is_ended() || !ready.is_empty() {
                return Ok(());
            }
        }
    }

    /// Lets other coroutines run, and adds what has become ready. What was ready is asked again if they have run.
    fn turn(&self, ready: &mut Ready) -> Result<(), Thrown> {
        let mut due = self.due.take();
        let have_others_run = self.waits.turn();
        if matches!(have_others_run, Ok(false)) {
            let looked = self.look(ready, Unready::Registered);
            due.append(&mut self.due.borrow_mut());
            self.due.replace(due);
            return looked;
        }
        due.append(&mut self.due.borrow_mut());
        self.due.replace(due);
        have_others_run?;
        *ready = Ready::new(self.due.borrow().len());
        self.look(ready, Unready::Registered)
    }

    /// Waits with the whole process.
    fn wait_in_place(&self, ready: &mut Ready, deadline: Option<u64>) -> Result<(), Thrown> {
        self.make_all_due(); // the event loop does not see here how descriptors are closed
        self.waits.turn()?;
        let mut questions = Questions::default();
        self.look_at_all(ready, &mut questions)?;
        if ready.is_empty() && !self.is_ended() {
            self.waits.wait_in_place(questions, deadline)?;
            self.look_at_all(ready, &mut Questions::default())?;
        }
        Ok(())
    }
}
