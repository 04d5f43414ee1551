//! The class `Async\Channel`, and its iterator.

use crate::arguments::{TOKEN, fails, number, token};
use crate::streams;
use spindle_core::channel::{Channel as Core, Ended, Received, Refused};
use spindle_core::wait_list::Waiting;
use spindle_php::coroutine::{self, Coroutine, Wait, Waker};
use spindle_zend::{
    Call, Class, Collected, ForEach, Instance, Object, Owned, OwnedCell, PhpResult, State, Thrown, Type, Value,
    ValueCell, engine, exception, function_table, iterate_by, object_class,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

/// The state of a channel.
pub struct Channel {
    shared: Rc<Shared>,
    is_constructed: Cell<bool>,
}

/// What a channel does, apart from its object: a coroutine that fills a channel does not keep the object alive, which nothing
/// else may need.
pub struct Shared {
    core: RefCell<Core<Value, Waker>>,
    /// What it was closed with.
    reason: OwnedCell<Object>,
    /// Fills it, and is cancelled when it is closed or its object is destroyed.
    reader: RefCell<Option<Coroutine>>,
}

object_class!(
    /// The class.
    pub static CHANNEL: Channel
);

/// A channel's object.
pub type ChannelObject = Instance<Channel>;

function_table! {
    static METHODS = {
        c"__construct"(capacity: Type::INT => c"0") -> Type::NONE => construct;
        c"send"(value: Type::MIXED, cancellation: TOKEN => c"null") -> Type::VOID => |call| {
            let arguments = call.passed();
            let value = arguments.value(1).cloned().unwrap_or(Value::NULL);
            send(&call.this_of(&CHANNEL).shared, value, token(&arguments, 2)?)?;
            Ok(Value::NULL)
        };
        c"recv"(cancellation: TOKEN => c"null") -> Type::MIXED => |call| {
            let arguments = call.passed();
            let this = &call.this_of(&CHANNEL).shared;
            match receive(this, token(&arguments, 1)?)? {
                Some(value) => Ok(value),
                None => Err(this.is_closed_error()),
            }
        };
        c"trySend"(value: Type::MIXED) -> Type::BOOL => try_send;
        c"sendAsync"(value: Type::MIXED) -> Type::BOOL => try_send;
        c"tryRecv"() -> Type::MIXED => |call| {
            Ok(match call.this_of(&CHANNEL).shared.try_receive() {
                Received::Value(value) => value,
                Received::Empty | Received::Closed => Value::NULL,
            })
        };
        c"close"(reason: Type::class(c"Throwable").or_null() => c"null") -> Type::VOID => |call| {
            let reason = call.passed().object_or_null(1, engine::throwable_class())?.map(Owned::of);
            call.this_of(&CHANNEL).shared.close(reason);
            Ok(Value::NULL)
        };
        c"isClosed"() -> Type::BOOL => |call| ask(call, |core| core.is_closed().into());
        c"isEmpty"() -> Type::BOOL => |call| ask(call, |core| core.is_empty().into());
        c"isFull"() -> Type::BOOL => |call| ask(call, |core| core.is_full().into());
        c"count"() -> Type::INT => |call| ask(call, |core| (core.len() as i64).into());
        c"capacity"() -> Type::INT => |call| ask(call, |core| (core.capacity() as i64).into());
        c"getIterator"() -> Type::class(c"Iterator") => |call| Ok(ChannelIterator::over(call.this_of(&CHANNEL)).into());
        c"toStream"(stream: Type::MIXED, separator: Type::STRING => c"\"\"") -> Type::INT => streams::to_stream;
    }
}

function_table! {
    static STATICS = {
        c"fromStream"(stream: Type::MIXED, chunk: Type::INT => c"0", capacity: Type::INT => c"0") -> Type::class(c"Async\\Channel") => streams::from_stream;
    }
}

/// Registers the classes. At module start.
pub fn register() {
    let class = CHANNEL.declare(c"Async\\Channel", METHODS, STATICS);
    class.implement(engine::aggregate_class());
    class.implement(engine::countable_class());
    iterate_by::<ChannelIterator>(class);
    let class = ITERATOR.declare(c"Async\\ChannelIterator", ITERATOR_METHODS, &[]);
    class.implement(engine::iterator_class());
}

impl State for Channel {
    const DESTRUCT: Option<fn(&ChannelObject)> = Some(|this| this.shared.end_reader());

    fn new(_: Class) -> Channel {
        let (core, reason, reader) = (RefCell::new(Core::new(0)), OwnedCell::new(), RefCell::default());
        Channel { shared: Rc::new(Shared { core, reason, reader }), is_constructed: Cell::new(false) }
    }

    /// Releases its values here, although a coroutine that fills it may keep what it shares: the cycle collector frees what it
    /// has found together with the object, whatever else refers to it.
    fn free(this: &ChannelObject) {
        this.shared.end();
    }

    fn collect(&self, values: &mut Collected) {
        self.shared.core.borrow().values().for_each(|value| values.value(value));
        values.object(&self.shared.reason);
    }
}

fn construct(call: Call) -> PhpResult {
    let capacity = number(&call.passed(), 1, 0, 0)?;
    let this = call.this_of(&CHANNEL);
    if this.is_constructed.replace(true) {
        return Err(fails("The channel is constructed already"));
    }
    *this.shared.core.borrow_mut() = Core::new(capacity);
    Ok(Value::NULL)
}

fn try_send(call: Call) -> PhpResult {
    let value = call.passed().value(1).cloned().unwrap_or(Value::NULL);
    let refused = call.this_of(&CHANNEL).shared.try_send(value);
    Ok(refused.is_ok().into())
}

fn ask(call: Call, question: impl FnOnce(&Core<Value, Waker>) -> Value) -> PhpResult {
    Ok(question(&call.this_of(&CHANNEL).shared.core.borrow()))
}

/// Returns the state of a channel, which exists apart from its object.
pub fn shared(channel: &ChannelObject) -> &Rc<Shared> {
    &channel.shared
}

/// Returns a new channel with this capacity.
pub fn make(capacity: usize) -> Owned<ChannelObject> {
    let channel = CHANNEL.make();
    channel.is_constructed.set(true);
    *channel.shared.core.borrow_mut() = Core::new(capacity);
    channel
}

impl Shared {
    /// Sends a value if that needs no wait.
    ///
    /// # Errors
    /// The value, and why it was not sent.
    #[inline(always)]
    pub fn try_send(&self, value: Value) -> Result<(), (Value, Refused)> {
        self.core.borrow_mut().try_send(value, Waker::wake)
    }

    /// Receives a value if that needs no wait.
    #[inline(always)]
    pub fn try_receive(&self) -> Received<Value> {
        self.core.borrow_mut().try_receive(Waker::wake)
    }

    /// Returns `true` if receiving may need no wait.
    #[inline(always)]
    pub fn may_receive(&self) -> bool {
        self.core.borrow().may_receive()
    }

    /// Returns `true` if sending may need no wait.
    #[inline(always)]
    pub fn may_send(&self) -> bool {
        self.core.borrow().may_send()
    }

    /// Adds a receiver.
    pub fn wait_to_receive(&self, waker: Waker, first: bool) -> Waiting {
        self.core.borrow_mut().wait_to_receive(waker, first)
    }

    /// Adds a sender.
    pub fn wait_to_send(&self, value: Value, waker: Waker, first: bool) -> Waiting {
        self.core.borrow_mut().wait_to_send(value, waker, first)
    }

    /// Removes a receiver.
    pub fn end_receive(&self, waiting: Waiting) -> Ended<Value> {
        self.core.borrow_mut().end_receive(waiting)
    }

    /// Removes a sender.
    pub fn end_send(&self, waiting: Waiting) -> Ended<Value> {
        self.core.borrow_mut().end_send(waiting)
    }

    /// Returns a value that a receiver was handed.
    pub fn give_back(&self, value: Value, number: u64) {
        self.core.borrow_mut().give_back(value, number, Waker::wake);
    }

    /// Closes it. Only the first call has an effect.
    pub fn close(&self, reason: Option<Owned<Object>>) {
        if !self.core.borrow().is_closed() {
            self.reason.set(reason);
            self.core.borrow_mut().close(Waker::wake);
            self.end_reader();
        }
    }

    /// Closes it and releases its values: its object is gone, so nothing will receive them.
    fn end(&self) {
        let values = self.core.borrow_mut().end(Waker::wake);
        drop(values);
        let reason = self.reason.take();
        drop(reason);
    }

    /// Sets the coroutine that fills it, or none.
    pub fn set_reader(&self, reader: Option<Coroutine>) {
        let before = self.reader.replace(reader);
        drop(before);
    }

    /// Cancels the coroutine that fills it.
    fn end_reader(&self) {
        let reader = self.reader.take();
        if let Some(reader) = reader
            && !coroutine::is_over()
        {
            reader.cancel();
        }
    }

    /// Returns `true` if it is closed.
    pub fn is_closed(&self) -> bool {
        self.core.borrow().is_closed()
    }

    /// Ends an iteration over a channel that is closed and empty.
    ///
    /// # Errors
    /// It was closed with a reason.
    pub fn ended(&self) -> Result<(), Thrown> {
        if self.reason.is_empty() { Ok(()) } else { Err(self.is_closed_error()) }
    }

    /// Throws for a channel that is closed.
    #[cold]
    pub fn is_closed_error(&self) -> Thrown {
        let exception = exception::new(coroutine::channel_exception(), "The channel is closed");
        if let Some(reason) = self.reason.get() {
            exception::set_last_previous(&exception, reason);
        }
        exception::throw(exception)
    }
}

/// Sends a value, and waits until it is received or buffered.
///
/// # Errors
/// The channel is closed, the coroutine is cancelled, or the token was first.
#[inline(always)]
pub fn send(this: &Rc<Shared>, value: Value, token: Option<&Object>) -> Result<(), Thrown> {
    match this.try_send(value) {
        Ok(()) => Ok(()),
        Err((_, Refused::Closed)) => Err(this.is_closed_error()),
        Err((value, Refused::Full)) => send_later(this, value, token),
    }
}

#[inline(never)]
fn send_later(this: &Shared, mut value: Value, token: Option<&Object>) -> Result<(), Thrown> {
    let mut first = false;
    loop {
        let begun = Wait::new("Channel::send", token).begin()?;
        let waiting = this.wait_to_send(value, begun.waker(), first);
        let parked = begun.park();
        value = match this.end_send(waiting) {
            // The receiver has the value: if the coroutine was cancelled since, that belongs to its next wait.
            Ended::Sent => {
                parked.taken();
                return Ok(());
            }
            Ended::Pending(Some(value)) => value,
            Ended::Closed(_) if !parked.is_cancelled() => {
                parked.taken();
                return Err(this.is_closed_error());
            }
            Ended::Closed(value) => value.unwrap_or_default(),
            Ended::Pending(None) | Ended::Received(..) => unreachable!("a sender keeps its value until it is sent"),
        };
        parked.failed()?;
        first = true;
        value = match this.try_send(value) {
            Ok(()) => return Ok(()),
            Err((_, Refused::Closed)) => return Err(this.is_closed_error()),
            Err((value, Refused::Full)) => value,
        };
    }
}

/// Receives a value; `None` if the channel is closed and empty.
///
/// # Errors
/// The coroutine is cancelled, or the token was first.
#[inline(always)]
pub fn receive(this: &Rc<Shared>, token: Option<&Object>) -> Result<Option<Value>, Thrown> {
    match this.try_receive() {
        Received::Value(value) => Ok(Some(value)),
        Received::Closed => Ok(None),
        Received::Empty => receive_later(this, token),
    }
}

#[inline(never)]
fn receive_later(this: &Shared, token: Option<&Object>) -> Result<Option<Value>, Thrown> {
    let mut first = false;
    loop {
        let begun = Wait::new("Channel::recv", token).begin()?;
        let waiting = this.wait_to_receive(begun.waker(), first);
        let parked = begun.park();
        match this.end_receive(waiting) {
            Ended::Received(value, number) if parked.is_cancelled() => this.give_back(value, number),
            Ended::Received(value, _) => {
                parked.taken();
                return Ok(Some(value));
            }
            Ended::Closed(_) if !parked.is_cancelled() => {
                parked.taken();
                return Ok(None);
            }
            Ended::Closed(_) | Ended::Pending(..) | Ended::Sent => {}
        }
        parked.failed()?;
        first = true;
        match this.try_receive() {
            Received::Value(value) => return Ok(Some(value)),
            Received::Closed => return Ok(None),
            Received::Empty => {}
        }
    }
}

/// The state of an iterator, which receives.
struct ChannelIterator {
    /// Keeps the channel alive.
    channel: OwnedCell<ChannelObject>,
    /// What the channel does.
    shared: OnceCell<Rc<Shared>>,
    current: ValueCell,
    key: Cell<i64>,
    is_started: Cell<bool>,
}

object_class!(static ITERATOR: ChannelIterator);

function_table! {
    static ITERATOR_METHODS = {
        c"current"() -> Type::MIXED => |call| Ok(call.this_of(&ITERATOR).current.get());
        c"key"() -> Type::INT => |call| Ok(call.this_of(&ITERATOR).key.get().into());
        c"next"() -> Type::VOID => |call| {
            call.this_of(&ITERATOR).advance()?;
            Ok(Value::NULL)
        };
        c"rewind"() -> Type::VOID => |call| {
            call.this_of(&ITERATOR).rewind()?;
            Ok(Value::NULL)
        };
        c"valid"() -> Type::BOOL => |call| Ok((!call.this_of(&ITERATOR).current.is_empty()).into());
    }
}

impl State for ChannelIterator {
    fn new(_: Class) -> ChannelIterator {
        ChannelIterator {
            channel: OwnedCell::new(),
            shared: OnceCell::new(),
            current: ValueCell::new(),
            key: Cell::new(0),
            is_started: Cell::new(false),
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.instance(&self.channel);
        values.cell(&self.current);
    }
}

impl ChannelIterator {
    /// Returns a new one.
    fn over(channel: &ChannelObject) -> Owned<Instance<ChannelIterator>> {
        let iterator = ITERATOR.make();
        iterator.channel.set(Some(Owned::of(channel)));
        iterator.shared.get_or_init(|| Rc::clone(&channel.shared));
        iterator
    }

    /// Receives the next value. The iteration ends when the channel is closed, by an exception if it was closed with one.
    fn receive(&self) -> Result<(), Thrown> {
        self.current.set(Value::UNDEF);
        exception::check()?; // of the last value's destructor: what comes next is not lost
        let Some(channel) = self.shared.get() else { return Ok(()) };
        match receive(channel, None)? {
            Some(value) => self.current.set(value),
            None => channel.ended()?,
        }
        Ok(())
    }
}

impl ForEach for ChannelIterator {
    fn over(object: &Object) -> Option<Owned<Instance<ChannelIterator>>> {
        CHANNEL.of(object).map(ChannelIterator::over)
    }

    fn rewind(&self) -> Result<(), Thrown> {
        if self.is_started.replace(true) { Ok(()) } else { self.receive() }
    }

    fn advance(&self) -> Result<(), Thrown> {
        self.key.set(self.key.get() + 1);
        self.receive()
    }

    fn current(&self) -> &ValueCell {
        &self.current
    }

    fn key(&self) -> Value {
        self.key.get().into()
    }
}
