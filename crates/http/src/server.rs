//! The class `Async\Http\Server`.

use crate::application::MOST_INSTANCES;
use crate::errors::{server_error, value_error};
use crate::state::{self, Inner, SERVER};
use crate::tls::{self, TLS};
use crate::{options, run};
use spindle_php::coroutine;
use spindle_server::{Address, FileOptions, Listener, Root, Settings, Site};
use spindle_zend::{Array, Call, Owned, PhpResult, Str, Thrown, Type, Value, exception, function_table};
use std::path::Path;

const STATIC: Type = Type::class(c"Async\\Http\\Server");

function_table! {
    static METHODS = {
        c"__construct"(options: Type::ARRAY => c"[]") -> Type::NONE => construct;
        c"listen"(address: Type::STRING, tls: Type::class(c"Async\\Http\\Tls").or_null() => c"null", proxyProtocol: Type::BOOL => c"false", reusePort: Type::BOOL => c"false") -> STATIC => listen;
        c"files"(prefix: Type::STRING, directory: Type::STRING, options: Type::ARRAY => c"[]") -> STATIC => files;
        c"fastcgi"(prefix: Type::STRING, address: Type::STRING, directory: Type::STRING, options: Type::ARRAY => c"[]") -> STATIC => fastcgi;
        c"handle"(handler: Type::CALLABLE) -> STATIC => |call| set_handler(call, false);
        c"worker"(handler: Type::CALLABLE, onFatalError: Type::CALLABLE.or_null() => c"null") -> STATIC => |call| set_handler(call, true);
        c"application"(boot: Type::CALLABLE, instances: Type::INT => c"16", eager: Type::BOOL => c"false", onFatalError: Type::CALLABLE.or_null() => c"null") -> STATIC => application;
        c"accessLog"(to: Type::MIXED, format: Type::STRING => c"'combined'") -> STATIC => |call| {
            let arguments = call.passed();
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
            let this = Owned::of(call.this_of(&SERVER));
            run::run(&this)?;
            Ok(Value::NULL)
        };
        c"stop"(grace: Type::FLOAT.or_null() => c"null") -> Type::VOID => stop;
        c"address"() -> Type::STRING => |call| {
            let first = call.this_of(&SERVER).inner()?.addresses.borrow().first().cloned();
            first.map(Value::from).ok_or_else(|| server_error("The server listens nowhere: call listen() before"))
        };
        c"stats"() -> Type::ARRAY => stats;
        c"requests"() -> Type::ARRAY => requests;
    }
}

/// Registers the class. At module start.
pub fn register() {
    state::register(METHODS);
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.passed();
    let settings = match arguments.value(1) {
        None => Settings::default(),
        Some(_) => options::settings(arguments.array(1)?)?,
    };
    if call.this_of(&SERVER).inner.set(Inner::new(settings)).is_err() {
        return Err(server_error("The server is constructed already"));
    }
    Ok(Value::NULL)
}

fn listen(call: Call) -> PhpResult {
    let arguments = call.passed();
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
    let mut listener = bound.map_err(|error| server_error(&format!("Cannot listen at {text}: {error}")))?;
    if is_proxied {
        listener.expect_proxies();
    }
    inner.addresses.borrow_mut().push(listener.address().to_owned());
    inner.core.listen(listener, tls);
    Ok(this.object().into())
}

/// Returns the begin of a path, which is the first argument.
fn prefix(call: &Call, method: &str) -> Result<String, Thrown> {
    let prefix = call.passed().str(1)?.to_text();
    if !prefix.starts_with('/') || prefix.contains("//") {
        return Err(value_error(&format!(
            "Server::{method}(): Argument #1 ($prefix) must be the begin of a path, as \"/assets\""
        )));
    }
    Ok(prefix)
}

fn fastcgi(call: Call) -> PhpResult {
    let arguments = call.passed();
    let prefix = prefix(&call, "fastcgi")?;
    let text = arguments.str(2)?.to_text();
    let directory = tls::path(arguments.str(3)?)?;
    let options = arguments.value(4).map(|_| arguments.array(4)).transpose()?.map(options::fastcgi).transpose()?;
    let this = call.this_of(&SERVER);
    let inner = this.inner()?;
    let address = Address::parse(&text).filter(|address| matches!(address, Address::Tcp(_) | Address::Unix(_)));
    let Some(address) = address else {
        return Err(value_error(&format!(
            "\"{text}\" is no address of a FastCGI server: \"host:port\" or \"unix:/path\""
        )));
    };
    let fails =
        |error| server_error(&format!("The scripts in {} cannot be run by {text}: {error}", directory.display()));
    let (peer, options) = (address.peer().map_err(fails)?, options.unwrap_or_default());
    // Else the message would name the directory of the scripts.
    for (prefix, directory) in &options.sendfile {
        root(prefix, directory, FileOptions::default())?;
    }
    let site = Site::open(&prefix, (peer, &text), &directory, options).map_err(fails)?;
    inner.core.add_site(site);
    Ok(this.object().into())
}

fn files(call: Call) -> PhpResult {
    let arguments = call.passed();
    let prefix = prefix(&call, "files")?;
    let directory = tls::path(arguments.str(2)?)?;
    let options = arguments.value(3).map(|_| arguments.array(3)).transpose()?.map(options::files).transpose()?;
    let this = call.this_of(&SERVER);
    let inner = this.inner()?;
    inner.core.add_files(root(&prefix, &directory, options.unwrap_or_default())?);
    Ok(this.object().into())
}

fn root(prefix: &str, directory: &Path, options: FileOptions) -> Result<Root, Thrown> {
    Root::open(prefix, directory, options)
        .map_err(|error| server_error(&format!("The folder {} cannot be opened: {error}", directory.display())))
}

fn set_handler(call: Call, is_worker: bool) -> PhpResult {
    let arguments = call.passed();
    let handler = arguments.callable(1)?;
    let on_fatal_error = on_fatal_error(&call, 2)?;
    let this = call.this_of(&SERVER);
    if this.inner()?.is_running.get() {
        return Err(server_error("The handler of a server that runs cannot be changed"));
    }
    this.is_worker.set(is_worker);
    this.application.instances.set(0);
    this.handler.set(handler.clone());
    this.on_fatal_error.set(on_fatal_error);
    Ok(this.object().into())
}

/// Returns the function that is called when a fatal error has ended a request, or an undefined value.
fn on_fatal_error(call: &Call, argument: u32) -> PhpResult {
    let arguments = call.passed();
    match arguments.value(argument) {
        Some(value) if value.type_number() != spindle_zend::sys::IS_NULL => Ok(arguments.callable(argument)?.clone()),
        _ => Ok(Value::UNDEF),
    }
}

fn application(call: Call) -> PhpResult {
    let arguments = call.passed();
    let boot = arguments.callable(1)?;
    let instances = arguments.value(2).map_or(Ok(16), |_| arguments.long(2))?;
    if !(1..=MOST_INSTANCES).contains(&instances) {
        return Err(value_error(&format!(
            "Server::application(): Argument #2 ($instances) must be between 1 and {MOST_INSTANCES}"
        )));
    }
    let this = call.this_of(&SERVER);
    if this.inner()?.is_running.get() {
        return Err(server_error("The handler of a server that runs cannot be changed"));
    }
    this.is_worker.set(true);
    this.handler.set(Value::UNDEF);
    this.application.boot.set(boot.clone());
    this.application.instances.set(usize::try_from(instances).unwrap_or(1));
    this.application.is_eager.set(arguments.bool_or(3, false)?);
    this.on_fatal_error.set(on_fatal_error(&call, 4)?);
    Ok(this.object().into())
}

fn stop(call: Call) -> PhpResult {
    let arguments = call.passed();
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
    inner.stop_text.replace(format!("The server stops, as it was told to at {}", exception::here()));
    inner.core.drain(grace);
    inner.wake();
    Ok(Value::NULL)
}

fn stats(call: Call) -> PhpResult {
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
        (c"handshakes_failed", stats.handshakes_failed),
        (c"unlogged", this.log.lost.get()),
    ];
    for (name, number) in numbers {
        array.set(name, i64::try_from(number).unwrap_or(i64::MAX));
    }
    Ok(array.into())
}

fn requests(call: Call) -> PhpResult {
    let this = call.this_of(&SERVER);
    let (mut list, now) = (Array::new(0), coroutine::now());
    for exchange in this.inner()?.core.requests() {
        let (head, (client, _)) = (exchange.head(), exchange.client());
        let mut request = Array::new(8);
        request.set(c"id", exchange.id());
        request.set(c"method", head.method.as_str());
        request.set(c"target", head.uri.path_and_query().map_or("*", |target| target.as_str()));
        request.set(c"client", client);
        request.set(c"seconds", now.saturating_sub(exchange.begun()) as f64 / 1e9);
        request.set(c"stage", exchange.stage());
        request.set(c"coroutine", i64::try_from(exchange.coroutine()).unwrap_or(0));
        request.set(c"where", exchange.handler().map_or(String::new(), |handler| handler.places()));
        list.push(request.into());
    }
    Ok(list.into())
}
