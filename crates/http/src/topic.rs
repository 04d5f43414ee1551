//! The classes `Async\Http\Topic` and `Async\Http\Subscription`.

use crate::errors::{messages_lost, server_error};
use crate::helpers;
use crate::topics::{self, End, Inbox};
use spindle_server::{LONGEST_MESSAGE, LONGEST_NAME};
use spindle_zend::{
    Call, Class, Instance, PhpResult, State, Str, Thrown, Type, Value, argument_error, engine, function_table,
    object_class,
};
use std::cell::OnceCell;
use std::rc::Rc;

/// The largest capacity of a subscription.
const MOST_MESSAGES: i64 = 1 << 20;

/// The state of an object of the class: the topic's name.
pub struct Topic(OnceCell<Vec<u8>>);

/// The state of an object of the class: the topic's name, and what has come.
pub struct Subscription(OnceCell<(Vec<u8>, Rc<Inbox>)>);

object_class!(static TOPIC: Topic);
object_class!(static SUBSCRIPTION: Subscription);

function_table! {
    static METHODS = {
        c"__construct"(name: Type::STRING) -> Type::NONE => construct;
        c"name"() -> Type::STRING => |call| Ok(Str::new(name(&call)?).into());
        c"publish"(message: Type::STRING) -> Type::VOID => publish;
        c"subscribe"(capacity: Type::INT => c"64") -> Type::class(c"Async\\Http\\Subscription") => subscribe;
    }
}

function_table! {
    static SUBSCRIPTION_METHODS = {
        c"receive"() -> Type::STRING.or_null() => receive;
        c"close"() -> Type::VOID => |call| {
            inbox(&call)?.close();
            Ok(Value::NULL)
        };
        c"getIterator"() -> Type::class(c"Iterator") => |call| {
            helpers::call("messages", &mut [call.this_of(&SUBSCRIPTION).object().into()])
        };
    }
}

/// Registers the classes. At module start.
pub fn register() {
    TOPIC.declare(c"Async\\Http\\Topic", METHODS, &[]);
    SUBSCRIPTION.declare(c"Async\\Http\\Subscription", SUBSCRIPTION_METHODS, &[]).implement(engine::aggregate_class());
}

impl State for Topic {
    fn new(_: Class) -> Topic {
        Topic(OnceCell::new())
    }
}

impl State for Subscription {
    fn new(_: Class) -> Subscription {
        Subscription(OnceCell::new())
    }

    fn free(this: &Instance<Subscription>) {
        if let Some((_, inbox)) = this.0.get() {
            inbox.close();
        }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some((name, inbox)) = self.0.take() {
            drop(inbox);
            topics::left(&name);
        }
    }
}

fn construct(call: Call) -> PhpResult {
    let name = call.passed().str(1)?.as_bytes();
    if name.is_empty() || name.len() > LONGEST_NAME {
        return Err(argument_error(1, false, &format!("must have from 1 to {LONGEST_NAME} bytes")));
    }
    let set = call.this_of(&TOPIC).0.set(name.to_vec());
    set.map(|()| Value::NULL).map_err(|_| server_error("The topic is constructed already"))
}

fn name(call: &Call) -> Result<&[u8], Thrown> {
    call.this_of(&TOPIC).0.get().map(Vec::as_slice).ok_or_else(|| server_error("The topic was not constructed"))
}

fn publish(call: Call) -> PhpResult {
    let message = call.passed().str(1)?.as_bytes();
    if message.len() > LONGEST_MESSAGE {
        return Err(argument_error(1, false, &format!("must have at most {LONGEST_MESSAGE} bytes")));
    }
    let name = name(&call)?;
    topics::give_way(name)?;
    topics::publish(name, message);
    Ok(Value::NULL)
}

fn subscribe(call: Call) -> PhpResult {
    let capacity = call.passed().long_or(1, 64)?;
    let Some(capacity) = usize::try_from(capacity).ok().filter(|_| (1..=MOST_MESSAGES).contains(&capacity)) else {
        return Err(argument_error(1, false, &format!("must be between 1 and {MOST_MESSAGES}")));
    };
    let name = name(&call)?;
    let object = SUBSCRIPTION.make();
    let _ = object.0.set((name.to_vec(), topics::subscribe(name, capacity))); // it is new
    Ok(object.into())
}

fn inbox(call: &Call) -> Result<&Rc<Inbox>, Thrown> {
    let subscribed = call.this_of(&SUBSCRIPTION).0.get();
    subscribed
        .map(|(_, inbox)| inbox)
        .ok_or_else(|| server_error("This subscription is of no topic: call Topic::subscribe()"))
}

fn receive(call: Call) -> PhpResult {
    let inbox = Rc::clone(inbox(&call)?);
    match inbox.waiting.wait_for("Subscription::receive", || inbox.take())? {
        Ok(message) => Ok(Str::new(&message[..]).into()),
        Err(End::Closed) => Ok(Value::NULL),
        Err(End::Overrun) => {
            Err(messages_lost("The subscription has ended: messages have come faster than they were received"))
        }
        Err(End::Lost) => Err(messages_lost("The subscription has ended: messages were lost between processes")),
    }
}
