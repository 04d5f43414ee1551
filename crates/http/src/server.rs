//! The class `Async\Http\Server`.

use crate::driver::Events;
use crate::errors::{fails, value_error};
use crate::log::Log;
use crate::server_variables::Variables;
use crate::tls::{self, TLS};
use crate::{declare, options, run};
use spindle_php::coroutine::WaitSet;
use spindle_server::{Address, Listener, Root, Server as Core, Settings};
use spindle_zend::{
    Array, Call, Class, Collected, Instance, Object, Owned, PhpResult, PhpStatic, State, Str, Thrown, Type, Value,
    ValueCell, exception, function_table, object_class,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// The state of an object of the class.
pub struct Server {
    pub handler: ValueCell,
    /// What is called when a fatal error has ended a request.
    pub on_fatal_error: ValueCell,
    pub log: Log,
    /// Whether requests have a state of PHP's own.
    pub is_worker: Cell<bool>,
    /// What `$_SERVER` has in all requests.
    pub variables: OnceCell<Variables>,
    pub inner: OnceCell<Rc<Inner>>,
}

/// What the coroutines of a server share.
pub struct Inner {
    pub core: Core,
    pub set: Rc<WaitSet>,
    /// See [`Events`].
    pub waits: Rc<Cell<bool>>,
    pub addresses: RefCell<Vec<String>>,
    pub is_running: Cell<bool>,
    /// Who has stopped it.
    pub stops: RefCell<String>,
    /// The process in which it runs.
    pub process: Cell<u32>,
    /// A fatal error has ended a request: the process should end soon.
    pub is_poisoned: Cell<bool>,
    /// User code is still to be told that.
    pub is_to_tell: Cell<bool>,
    /// Failures of coroutines whose handler has ended.
    pub failures: RefCell<Vec<Owned<Object>>>,
}

object_class!(pub static SERVER: Server = create);

const STATIC: Type = Type::class(c"Async\\Http\\Server");

function_table! {
    static METHODS = {
        c"__construct"(options: Type::ARRAY => c"[]") -> Type::NONE => construct;
        c"listen"(address: Type::STRING, tls: Type::class(c"Async\\Http\\Tls").or_null() => c"null", proxyProtocol: Type::BOOL => c"false", reusePort: Type::BOOL => c"false") -> STATIC => listen;
        c"files"(prefix: Type::STRING, directory: Type::STRING, options: Type::ARRAY => c"[]") -> STATIC => files;
        c"handle"(handler: Type::CALLABLE) -> STATIC => |call| set_handler(call, false);
        c"worker"(handler: Type::CALLABLE, onFatalError: Type::CALLABLE.or_null() => c"null") -> STATIC => |call| set_handler(call, true);
        c"accessLog"(to: Type::MIXED, format: Type::STRING => c"'combined'") -> STATIC => |call| {
            let arguments = call.arguments(1, 2)?;
            let format = arguments.value(2).map(|_| arguments.str(2)).transpose()?.map_or("combined".to_owned(), Str::to_text);
            let this = call.this_of(&SERVER);
            let inner = this.inner()?;
            let to = match arguments.value(1) {
                Some(stream) if stream.is_open_stream() => stream,
                _ => arguments.callable(1)?,
            };
            this.log.set(to, &format)?;
            inner.core.log_requests();
            Ok(this.object().into())
        };
        c"run"() -> Type::VOID => |call| {
            call.no_arguments()?;
            let this = Owned::of(call.this_of(&SERVER));
            run::run(&this)?;
            Ok(Value::NULL)
        };
        c"stop"(grace: Type::FLOAT.or_null() => c"null") -> Type::VOID => stop;
        c"address"() -> Type::STRING => |call| {
            call.no_arguments()?;
            let first = call.this_of(&SERVER).inner()?.addresses.borrow().first().cloned();
            first.map(Value::from).ok_or_else(|| fails("The server listens nowhere: call listen() before"))
        };
        c"stats"() -> Type::ARRAY => stats;
    }
}

/// The servers of this request.
static ALL: PhpStatic<RefCell<Vec<Weak<Inner>>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Registers the class. At module start.
pub fn register() {
    declare(&SERVER, create, c"Async\\Http\\Server", METHODS, &[]);
}

/// Closes all connections and sockets. At the end of the request.
pub fn close_all() {
    for server in ALL.take() {
        if let Some(server) = server.upgrade() {
            server.core.close();
            server.failures.take();
        }
    }
}

impl State for Server {
    fn new(_: Class) -> Server {
        Server {
            handler: ValueCell::new(),
            on_fatal_error: ValueCell::new(),
            is_worker: Cell::new(false),
            variables: OnceCell::new(),
            log: Log::default(),
            inner: OnceCell::new(),
        }
    }

    fn free(this: &Instance<Server>) {
        if let Some(inner) = this.inner.get() {
            inner.core.close();
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.handler);
        values.cell(&self.on_fatal_error);
        values.cell(&self.log.to);
    }
}

impl Server {
    /// Returns what was constructed.
    ///
    /// # Errors
    /// The constructor has not run.
    pub fn inner(&self) -> Result<&Rc<Inner>, Thrown> {
        self.inner.get().ok_or_else(|| exception::throw_error("The server was not constructed"))
    }
}

impl Inner {
    fn new(settings: Settings) -> Rc<Inner> {
        let (set, waits) = (Rc::new(WaitSet::new()), Rc::new(Cell::new(false)));
        let events = Events { set: Rc::clone(&set), waits: Rc::clone(&waits) };
        let inner = Rc::new(Inner {
            core: Core::new(settings, Box::new(events)),
            set,
            waits,
            addresses: RefCell::default(),
            is_running: Cell::new(false),
            stops: RefCell::default(),
            process: Cell::new(0),
            is_poisoned: Cell::new(false),
            is_to_tell: Cell::new(false),
            failures: RefCell::default(),
        });
        let mut all = ALL.borrow_mut();
        all.retain(|server| server.strong_count() > 0);
        all.push(Rc::downgrade(&inner));
        inner
    }

    /// Ends the wait of `run()`.
    pub fn wake(&self) {
        if self.waits.replace(false) {
            self.set.wake();
        }
    }
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 1)?;
    let settings = match arguments.value(1) {
        None => Settings::default(),
        Some(_) => options::settings(arguments.array(1)?)?,
    };
    if call.this_of(&SERVER).inner.set(Inner::new(settings)).is_err() {
        return Err(fails("The server is constructed already"));
    }
    Ok(Value::NULL)
}

fn listen(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 4)?;
    let text = arguments.str(1)?.to_text();
    let (is_proxied, is_shared) = (arguments.bool_or(3, false)?, arguments.bool_or(4, false)?);
    let tls = arguments.object_or_null(2, TLS.class())?.map(tls::of).transpose()?;
    let this = call.this_of(&SERVER);
    let inner = this.inner()?;
    let Some(address) = Address::parse(&text) else {
        return Err(value_error(&format!(
            "\"{text}\" is no address to listen at: \"host:port\", \"unix:/path\" or \"fd:3\""
        )));
    };
    if is_proxied && inner.core.settings().proxies.are_none() {
        return Err(value_error(
            "The PROXY protocol is for proxies that the option \"trusted_proxies\" lists, and it lists none",
        ));
    }
    if is_shared && !matches!(address, Address::Tcp(_)) {
        return Err(value_error(&format!("Only a port can be shared by $reusePort, and \"{text}\" is none")));
    }
    let bound = if is_shared { Listener::bind_shared(&address) } else { Listener::bind(&address) };
    let mut listener = bound.map_err(|error| fails(&format!("Cannot listen at {text}: {error}")))?;
    if is_proxied {
        listener.expect_proxies();
    }
    inner.addresses.borrow_mut().push(listener.address().to_owned());
    inner.core.listen(listener, tls);
    Ok(this.object().into())
}

fn files(call: Call) -> PhpResult {
    let arguments = call.arguments(2, 3)?;
    let prefix = arguments.str(1)?.to_text();
    if !prefix.starts_with('/') || prefix.contains("//") {
        return Err(value_error("Server::files(): Argument #1 ($prefix) must be the begin of a path, as \"/assets\""));
    }
    let directory = tls::path(arguments.str(2)?)?;
    let options = arguments.value(3).map(|_| arguments.array(3)).transpose()?.map(options::files).transpose()?;
    let this = call.this_of(&SERVER);
    let inner = this.inner()?;
    let root = Root::open(&prefix, &directory, options.unwrap_or_default())
        .map_err(|error| fails(&format!("The folder {} cannot be opened: {error}", directory.display())))?;
    inner.core.add_files(root);
    Ok(this.object().into())
}

fn set_handler(call: Call, is_worker: bool) -> PhpResult {
    let arguments = call.arguments(1, if is_worker { 2 } else { 1 })?;
    let handler = arguments.callable(1)?;
    let on_fatal_error = match arguments.value(2) {
        Some(value) if value.type_number() != spindle_zend::sys::IS_NULL => arguments.callable(2)?.clone(),
        _ => Value::UNDEF,
    };
    let this = call.this_of(&SERVER);
    if this.inner()?.is_running.get() {
        return Err(fails("The handler of a server that runs cannot be changed"));
    }
    this.is_worker.set(is_worker);
    this.handler.set(handler.clone());
    this.on_fatal_error.set(on_fatal_error);
    Ok(this.object().into())
}

fn stop(call: Call) -> PhpResult {
    let arguments = call.arguments(0, 1)?;
    let grace = match arguments.value(1) {
        Some(value) if value.as_double().is_some() || value.as_long().is_some() => {
            let seconds = value.as_double().unwrap_or_else(|| value.as_long().unwrap_or(0) as f64);
            if !(0.0..=3.2e9).contains(&seconds) {
                return Err(value_error("Server::stop(): Argument #1 ($grace) must be a number of seconds"));
            }
            Some((seconds * 1e9) as u64)
        }
        Some(value) if value.type_number() != spindle_zend::sys::IS_NULL => {
            Some(arguments.long(1)?.max(0) as u64 * 1_000_000_000)
        }
        _ => None,
    };
    let inner = call.this_of(&SERVER).inner()?;
    inner.stops.replace(format!("The server stops, as it was told to at {}", exception::here()));
    inner.core.drain(grace);
    inner.wake();
    Ok(Value::NULL)
}

fn stats(call: Call) -> PhpResult {
    call.no_arguments()?;
    let this = call.this_of(&SERVER);
    let stats = this.inner()?.core.stats();
    let mut array = Array::new(10);
    let numbers = [
        (c"accepted", stats.accepted),
        (c"connections", stats.connections as u64),
        (c"requests", stats.requests),
        (c"running", stats.running as u64),
        (c"websockets", stats.websockets as u64),
        (c"queued", stats.queued as u64),
        (c"files", stats.files),
        (c"refused", stats.refused),
        (c"cancelled", stats.cancelled),
        (c"handshakesFailed", stats.handshakes_failed),
        (c"unlogged", this.log.lost.get()),
    ];
    for (name, number) in numbers {
        array.set(name, i64::try_from(number).unwrap_or(i64::MAX));
    }
    Ok(array.into())
}
