//! The class `Async\Http\Request`.

use crate::errors::{self, bad_request, server_error, too_large};
use crate::handling::Handling;
use crate::{form, headers, helpers, response, websocket};
use bytes::{Buf, Bytes};
use http::{HeaderName, Version, header};
use spindle_php::coroutine::{self, Scope};
use spindle_server::{Exchange, Incoming};
use spindle_zend::{
    Array, Call, Class, Collected, Instance, Object, Owned, PhpResult, State, Str, Thrown, Type, Value, ValueCell,
    argument_error, exception, function_table, object_class,
};
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// The state of an object of the class.
pub struct Request {
    handling: OnceCell<Rc<Handling>>,
    /// What was read and not yet returned.
    rest: RefCell<Bytes>,
    /// The whole body, once `body()` has returned.
    body: ValueCell,
    query: ValueCell,
    cookies: ValueCell,
    /// The fields of a form, and its files.
    fields: ValueCell,
    files: ValueCell,
    attributes: RefCell<Option<Owned<Array>>>,
}

object_class!(static REQUEST: Request);

const NAME: Type = Type::STRING.or_null();

function_table! {
    static METHODS = {
        c"id"() -> Type::STRING => |call| of(call, |exchange| exchange.id().as_str().into());
        c"method"() -> Type::STRING => |call| of(call, |exchange| exchange.head().method.as_str().into());
        c"target"() -> Type::STRING => |call| of(call, |exchange| {
            exchange.head().uri.path_and_query().map_or("*", |target| target.as_str()).into()
        });
        c"path"() -> Type::STRING => |call| of(call, |exchange| exchange.head().uri.path().into());
        c"scheme"() -> Type::STRING => |call| of(call, |exchange| exchange.scheme().into());
        c"host"() -> Type::STRING => |call| of(call, headers::host);
        c"protocol"() -> Type::STRING => |call| of(call, |exchange| match exchange.head().version {
            Version::HTTP_2 => "HTTP/2".into(),
            Version::HTTP_10 => "HTTP/1.0".into(),
            _ => "HTTP/1.1".into(),
        });
        c"clientAddress"() -> Type::STRING => |call| of(call, |exchange| exchange.client().0.into());
        c"clientPort"() -> Type::INT => |call| of(call, |exchange| i64::from(exchange.client().1).into());
        c"header"(name: Type::STRING, default: NAME => c"null") -> NAME => |call| {
            let arguments = call.passed();
            // What is not the name of a header, none has.
            let name = HeaderName::from_bytes(arguments.str(1)?.as_bytes()).ok();
            let exchange = this(&call)?;
            let line = name.and_then(|name| headers::line(&exchange.head().headers, &name));
            Ok(line.unwrap_or_else(|| arguments.value(2).cloned().unwrap_or(Value::NULL)))
        };
        c"headers"() -> Type::ARRAY => |call| of(call, |exchange| headers::to_array(&exchange.head().headers).into());
        c"query"(name: NAME => c"null", default: Type::MIXED => c"null") -> Type::MIXED => query;
        c"cookie"(name: NAME => c"null", default: NAME => c"null") -> Type::MIXED => cookie;
        c"body"() -> Type::STRING => |call| whole_body(call.this_of(&REQUEST));
        c"read"(length: Type::INT => c"65536") -> NAME => read;
        c"json"(flags: Type::INT => c"0") -> Type::MIXED => |call| {
            let flags = call.passed().long_or(1, 0)? | response::JSON_THROWS;
            let body = whole_body(call.this_of(&REQUEST))?;
            coroutine::call(&"json_decode".into(), &mut [body, true.into(), 512.into(), flags.into()]).map_err(|thrown| {
                let is_refused = exception::in_flight().is_some_and(|why| why.class().name().as_bytes() == b"JsonException");
                if is_refused { bad_request("The body of the request is not JSON") } else { thrown }
            })
        };
        c"form"(name: NAME => c"null", default: Type::MIXED => c"null") -> Type::MIXED => |call| {
            parse_form(call.this_of(&REQUEST))?;
            pick(&call, &call.this_of(&REQUEST).fields.get())
        };
        c"files"() -> Type::ARRAY => |call| {
            parse_form(call.this_of(&REQUEST))?;
            Ok(call.this_of(&REQUEST).files.get())
        };
        c"trailers"() -> Type::ARRAY => |call| of(call, |exchange| match exchange.request_trailers() {
            Some(trailers) => headers::to_array(&trailers).into(),
            None => Array::new(0).into(),
        });
        c"isWebSocket"() -> Type::BOOL => |call| of(call, |exchange| spindle_server::is_asked(exchange.head()).into());
        c"upgrade"(protocols: Type::ARRAY => c"[]", origins: Type::ARRAY => c"[]") -> Type::class(c"Async\\Http\\WebSocket") => |call| {
            let arguments = call.passed();
            let protocols = arguments.value(1).map(|_| arguments.array(1)).transpose()?;
            let origins = arguments.value(2).map(|_| arguments.array(2)).transpose()?;
            websocket::upgrade(call.this_of(&REQUEST).handling()?, protocols, origins)
        };
        c"get"(key: Type::STRING, default: Type::MIXED => c"null") -> Type::MIXED => |call| {
            let arguments = call.passed();
            let key: Value = arguments.str(1)?.into();
            let found = call.this_of(&REQUEST).attributes.borrow().as_ref().and_then(|all| lookup(all, &key));
            Ok(found.unwrap_or_else(|| arguments.value(2).cloned().unwrap_or(Value::NULL)))
        };
        c"set"(key: Type::STRING, value: Type::MIXED) -> Type::class(c"Async\\Http\\Request") => |call| {
            let arguments = call.passed();
            let key: Value = arguments.str(1)?.into();
            let value = arguments.value(2).cloned().unwrap_or(Value::NULL);
            let this = call.this_of(&REQUEST);
            // Not borrowed while the value that this replaces is released: that may run the cycle collector, which asks for all.
            let mut all = this.attributes.take().unwrap_or_else(|| Array::new(4));
            let before = lookup(&all, &key);
            all.set_key(&key, value);
            *this.attributes.borrow_mut() = Some(all);
            drop(before); // its destructor may use the request
            Ok(this.object().into())
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    REQUEST.declare(c"Async\\Http\\Request", METHODS, &[]);
}

impl State for Request {
    fn new(_: Class) -> Request {
        Request {
            handling: OnceCell::new(),
            rest: RefCell::default(),
            body: ValueCell::new(),
            query: ValueCell::new(),
            cookies: ValueCell::new(),
            fields: ValueCell::new(),
            files: ValueCell::new(),
            attributes: RefCell::new(None),
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.files);
        if let Some(attributes) = &*self.attributes.borrow() {
            attributes.values_in_order().for_each(|value| values.value(value));
        }
    }
}

/// Returns the object for an exchange.
pub fn make(handling: &Rc<Handling>) -> Owned<Instance<Request>> {
    let request = REQUEST.make();
    let _ = request.handling.set(Rc::clone(handling));
    request
}

/// Makes a request that of its scope, as [`current`] finds it.
///
/// # Errors
/// There is no runtime any more.
pub fn attach(request: &Instance<Request>, scope: &Scope) -> Result<(), Thrown> {
    scope.attach(request.object(), is_inert)
}

/// Returns `true` if freeing a request cannot run PHP code: it holds no values of user code, and has no weak references.
fn is_inert(object: &Object) -> bool {
    REQUEST.of(object).is_some_and(|request| {
        let has_failure = request.handling.get().is_some_and(|handling| handling.has_failure());
        !has_failure
            && request.attributes.borrow().is_none()
            && request.files.is_empty()
            && !object.is_referenced_weakly()
    })
}

/// Returns the request in whose scope the running coroutine is, or `null`.
pub fn current() -> Value {
    coroutine::attached().filter(|object| REQUEST.of(object).is_some()).map_or(Value::NULL, Value::from)
}

/// Returns the handling of that request.
pub fn current_handling() -> Option<Rc<Handling>> {
    REQUEST.of(&*coroutine::attached()?)?.handling.get().cloned()
}

impl Request {
    /// Returns its handling.
    ///
    /// # Errors
    /// User code has made the object.
    fn handling(&self) -> Result<&Rc<Handling>, Thrown> {
        self.handling.get().ok_or_else(|| server_error("This request belongs to no server"))
    }

    /// Reads the next piece of the body, waiting until it arrives; `None` at the end.
    ///
    /// # Errors
    /// The body is too large, the client is gone, or the coroutine was cancelled.
    fn read(&self) -> Result<Option<Bytes>, Thrown> {
        let rest = self.rest.take();
        if !rest.is_empty() {
            return Ok(Some(rest));
        }
        let handling = self.handling()?;
        let exchange = &handling.exchange;
        let mut read = exchange.read();
        if matches!(read, Incoming::Pending) {
            let waited = handling.waiting.wait_for("Request::read", || match exchange.read() {
                Incoming::Pending => None,
                read => Some(read),
            });
            read = waited.inspect_err(|_| exchange.stop_reading())?;
        }
        match read {
            Incoming::Data(bytes) => Ok(Some(bytes)),
            Incoming::End | Incoming::Pending => Ok(None),
            Incoming::TooLarge => Err(too_large()),
            Incoming::Malformed => Err(bad_request("The body of the request is malformed")),
            Incoming::Failed => {
                coroutine::check_cancellation()?;
                match exchange.cancelled() {
                    Some(why) => Err(exception::throw(errors::cancellation(exchange, why))),
                    None => Err(server_error("The body of the request is incomplete, or its response is sent")),
                }
            }
        }
    }
}

fn this(call: &Call) -> Result<&Exchange, Thrown> {
    Ok(&call.this_of(&REQUEST).handling()?.exchange)
}

fn of(call: Call, what: impl FnOnce(&Exchange) -> Value) -> PhpResult {
    Ok(what(this(&call)?))
}

fn lookup(array: &Array, key: &Value) -> Option<Value> {
    array.find(key).map(|value| value.dereferenced().clone())
}

/// Returns all of an array, or the value whose name is the first argument, or the second argument.
fn pick(call: &Call, all: &Value) -> PhpResult {
    let arguments = call.passed();
    match arguments.value(1) {
        Some(name) if name.type_number() != spindle_zend::sys::IS_NULL => {
            let key: Value = arguments.str(1)?.into();
            let found = all.as_array().and_then(|all| lookup(all, &key));
            Ok(found.unwrap_or_else(|| arguments.value(2).cloned().unwrap_or(Value::NULL)))
        }
        _ => Ok(all.clone()),
    }
}

fn query(call: Call) -> PhpResult {
    let this = call.this_of(&REQUEST);
    if this.query.is_empty() {
        let query = this.handling()?.exchange.head().uri.query().unwrap_or_default();
        let parsed = helpers::parse(query.as_bytes())?;
        this.query.set(parsed);
    }
    pick(&call, &this.query.get())
}

fn cookie(call: Call) -> PhpResult {
    let this = call.this_of(&REQUEST);
    if this.cookies.is_empty() {
        let mut all = Array::new(4);
        for line in this.handling()?.exchange.head().headers.get_all(header::COOKIE) {
            for pair in line.as_bytes().split(|byte| *byte == b';') {
                let pair = pair.trim_ascii();
                let Some(at) = pair.iter().position(|byte| *byte == b'=') else { continue };
                let name: Value = Str::new(&pair[..at]).into();
                if at > 0 && lookup(&all, &name).is_none() {
                    all.set_key(&name, Str::new(headers::decoded(&pair[at + 1..])).into()); // the first of several counts
                }
            }
        }
        this.cookies.set(all.into());
    }
    pick(&call, &this.cookies.get())
}

/// Returns the whole body as a string, which is kept.
fn whole_body(this: &Instance<Request>) -> PhpResult {
    if this.body.is_empty() {
        let mut all = Vec::new();
        while let Some(piece) = this.read()? {
            all.extend_from_slice(&piece);
        }
        if this.body.is_empty() {
            this.body.set(Str::new(all).into());
        }
    }
    Ok(this.body.get())
}

fn read(call: Call) -> PhpResult {
    let length = call.passed().long_or(1, 65536)?;
    let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else {
        return Err(argument_error(1, false, "must be greater than 0"));
    };
    let this = call.this_of(&REQUEST);
    if !this.body.is_empty() {
        return Err(exception::throw_error("The body of this request was read as a whole"));
    }
    let Some(mut piece) = this.read()? else { return Ok(Value::NULL) };
    let text = Str::new(&piece[..length.min(piece.len())]);
    piece.advance(text.as_bytes().len());
    *this.rest.borrow_mut() = piece;
    Ok(text.into())
}

/// Parses the body as a form, once.
fn parse_form(this: &Instance<Request>) -> Result<(), Thrown> {
    if !this.fields.is_empty() {
        return Ok(());
    }
    let kind = this.handling()?.exchange.head().headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
    let (fields, files) = form::parse(&kind, &|| whole_body(this), &|| this.read())?;
    if this.fields.is_empty() {
        this.files.set(files);
        this.fields.set(fields);
    }
    Ok(())
}
