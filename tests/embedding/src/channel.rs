//! Bounded channels.

use crate::object_of;
use spindle_php::{Part, coroutine, coroutine::WaitQueue};
use spindle_zend::{
    Call, Class, Collected, Instance, Owned, PhpResult, State, Thrown, Type, Value, exception, function_table,
    object_class,
};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

/// The part.
// SAFETY: no destructor here is needed for memory safety, and no thread is started.
pub const PART: Part = unsafe { Part::new(FUNCTIONS) }.on_module_start(register);

function_table! {
    static FUNCTIONS = {
        c"Embedding\\channel"(capacity: Type::INT => c"1") -> Type::OBJECT => make;
        c"Embedding\\send"(channel: Type::OBJECT, value: Type::MIXED) -> Type::VOID => send;
        c"Embedding\\receive"(channel: Type::OBJECT) -> Type::MIXED => receive;
        c"Embedding\\close"(channel: Type::OBJECT) -> Type::VOID => close;
        c"Embedding\\produce"(channel: Type::OBJECT, count: Type::INT) -> Type::OBJECT => produce;
    }
}

function_table! {
    static METHODS = {
        c"count"() -> Type::INT => |call| {
            call.no_arguments()?;
            Ok((call.this_of(&CHANNEL).values.borrow().len() as i64).into())
        };
    }
}

/// A channel.
struct Channel {
    values: RefCell<VecDeque<Value>>,
    capacity: Cell<usize>,
    is_closed: Cell<bool>,
    senders: WaitQueue,
    receivers: WaitQueue,
}

object_class!(static CHANNEL: Channel);

fn register() {
    CHANNEL.declare(c"Embedding\\Channel", METHODS, &[]);
}

impl State for Channel {
    fn new(_: Class) -> Channel {
        Channel {
            values: RefCell::default(),
            capacity: Cell::new(1),
            is_closed: Cell::new(false),
            senders: WaitQueue::new(),
            receivers: WaitQueue::new(),
        }
    }

    fn collect(&self, values: &mut Collected) {
        self.values.borrow().iter().for_each(|value| values.value(value));
    }
}

impl Channel {
    /// Sends a value, when there is room.
    fn send(&self, value: Value) -> Result<(), Thrown> {
        let mut value = Some(value);
        self.senders.wait_for("send", || {
            let mut values = self.values.borrow_mut();
            if !self.is_closed.get() {
                if values.len() >= self.capacity.get() {
                    return None;
                }
                values.extend(value.take());
            }
            Some(())
        })?;
        if value.is_some() {
            return Err(exception::throw_error("The channel is closed"));
        }
        self.receivers.wake_one();
        Ok(())
    }

    /// Receives a value, when there is one; `None` if it is closed and empty.
    fn receive(&self) -> Result<Option<Value>, Thrown> {
        let value = self.receivers.wait_for("receive", || {
            let value = self.values.borrow_mut().pop_front();
            if value.is_some() || self.is_closed.get() { Some(value) } else { None }
        })?;
        self.senders.wake_one();
        Ok(value)
    }

    fn close(&self) {
        self.is_closed.set(true);
        self.senders.wake_all();
        self.receivers.wake_all();
    }
}

fn channel_of(call: &Call, count: u32) -> Result<Owned<Instance<Channel>>, Thrown> {
    let arguments = call.arguments(count, count)?;
    object_of(&CHANNEL, 1, arguments.object(1, CHANNEL.class())?)
}

fn make(call: Call) -> PhpResult {
    let capacity = call.arguments(0, 1)?.long_or(1, 1)?;
    let channel = CHANNEL.make();
    channel.capacity.set(usize::try_from(capacity).unwrap_or(0).max(1));
    Ok(channel.into())
}

fn send(call: Call) -> PhpResult {
    let channel = channel_of(&call, 2)?;
    channel.send(call.arguments(2, 2)?.value(2).cloned().unwrap_or_default())?;
    Ok(Value::NULL)
}

fn receive(call: Call) -> PhpResult {
    Ok(channel_of(&call, 1)?.receive()?.into())
}

fn close(call: Call) -> PhpResult {
    channel_of(&call, 1)?.close();
    Ok(Value::NULL)
}

/// Sends the numbers from 1 on in a coroutine, and closes the channel, also when it is cancelled. Returns how many were sent.
fn produce(call: Call) -> PhpResult {
    let channel = channel_of(&call, 2)?;
    let count = call.arguments(2, 2)?.long(2)?;
    let producer = coroutine::spawn(move || {
        let sent = (1..=count).try_for_each(|number| channel.send(number.into()));
        channel.close();
        sent?;
        Ok(count.into())
    })?;
    Ok(producer.into())
}
