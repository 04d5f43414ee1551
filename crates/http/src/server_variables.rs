//! `$_SERVER` of a request in worker mode.

use crate::headers;
use http::{HeaderName, Method, Version, header};
use spindle_php::sapi;
use spindle_server::Exchange;
use spindle_zend::{Array, Owned, Str, Template, Value, engine};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::CStr;
use std::hash::{BuildHasherDefault, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the variables of all requests of a server have.
pub struct Variables {
    /// The environment of the process, its script, and what most requests have.
    template: Template,
    names: [Owned<Str>; NAMES.len()],
    of_headers: RefCell<HashMap<HeaderName, OfHeader, BuildHasherDefault<NameHasher>>>,
    local: RefCell<Option<Local>>,
    /// The path of the script in URLs.
    script: String,
}

/// The name of the variable for a header; `None` if it gets none.
type OfHeader = Option<Owned<Str>>;

/// The address on which the last request was received.
struct Local {
    text: String,
    address: Owned<Str>,
    port: Owned<Str>,
}

/// The variables that each request has. They have their places in the array from the start.
#[derive(Clone, Copy)]
enum Name {
    Method,
    Uri,
    Query,
    Scheme,
    Protocol,
    ClientAddress,
    ClientPort,
    Host,
    LocalAddress,
    LocalPort,
    Server,
    PhpSelf,
    DocumentUri,
}

/// Their names, in the order of [`Name`], and what they mostly are.
const NAMES: [(&str, &str); 13] = [
    ("REQUEST_METHOD", "GET"),
    ("REQUEST_URI", ""),
    ("QUERY_STRING", ""),
    ("REQUEST_SCHEME", "http"),
    ("SERVER_PROTOCOL", "HTTP/1.1"),
    ("REMOTE_ADDR", ""),
    ("REMOTE_PORT", ""),
    ("HTTP_HOST", ""),
    ("SERVER_ADDR", ""),
    ("SERVER_PORT", ""),
    ("SERVER_NAME", ""),
    ("PHP_SELF", ""),
    ("DOCUMENT_URI", ""),
];

/// What the names of variables for headers begin with.
pub const PREFIX: &[u8] = b"HTTP_";

/// Further variables that describe a request: a process variable of the same name does not describe it.
const OF_REQUESTS: [&[u8]; 12] = [
    b"AUTH_TYPE",
    b"CONTENT_LENGTH",
    b"CONTENT_TYPE",
    b"HTTPS",
    b"ORIG_PATH_INFO",
    b"PATH_INFO",
    b"PATH_TRANSLATED",
    b"PHP_AUTH_DIGEST",
    b"PHP_AUTH_PW",
    b"PHP_AUTH_USER",
    b"REMOTE_IDENT",
    b"REMOTE_USER",
];

/// How many names of headers are kept, and how long they may be.
const KEPT: usize = 256;
const KEPT_LENGTH: usize = 64;

/// Hashes names of headers. There are few of them.
#[derive(Default)]
struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_ne_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(u64::from(byte));
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Collects what all requests of a server share. At the start of the server.
pub fn prepare() -> Variables {
    let environment: Vec<_> = std::env::vars_os().collect();
    // With room for what a request has besides.
    let mut all = Array::new(environment.len() + 48);
    for (name, value) in environment {
        // A variable named like a header must come from one.
        if !name.as_bytes().starts_with(PREFIX) && !OF_REQUESTS.contains(&name.as_bytes()) {
            set(&mut all, name.as_bytes(), value.as_bytes());
        }
    }
    let (file, root) = (script_file(), given(c"DOCUMENT_ROOT").map(|root| canonical(&root)));
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", &file));
    let root = root.unwrap_or_else(|| folder.to_owned());
    let within = file.strip_prefix(root.trim_end_matches('/')).filter(|within| within.starts_with('/'));
    let script = within.map_or_else(|| format!("/{name}"), str::to_owned);
    set(&mut all, b"DOCUMENT_ROOT", root.as_bytes());
    set(&mut all, b"SCRIPT_FILENAME", file.as_bytes());
    set(&mut all, b"SCRIPT_NAME", script.as_bytes());
    set(&mut all, b"GATEWAY_INTERFACE", b"CGI/1.1");
    set(&mut all, b"SERVER_SOFTWARE", b"spindle");
    let names = NAMES.map(|(name, value)| {
        let value = if matches!(name, "PHP_SELF" | "DOCUMENT_URI") { &script } else { value };
        let name = Str::interned(name);
        all.set_name(&name, Str::interned(value).into());
        name
    });
    let of_headers = RefCell::default();
    Variables { template: Template::new(all), names, of_headers, local: RefCell::default(), script }
}

/// Returns a text of the process's `$_SERVER`, unless that is empty.
fn given(name: &CStr) -> Option<String> {
    let text = sapi::process_server_text(name);
    text.as_str().map(Str::to_text).filter(|text| !text.is_empty())
}

fn canonical(path: &str) -> String {
    std::fs::canonicalize(path).map_or_else(|_| path.to_owned(), |path| path.to_string_lossy().into_owned())
}

/// Returns the file of the application: what `$_SERVER` says, if it is one, or the script that PHP runs.
fn script_file() -> String {
    let file = given(c"SCRIPT_FILENAME").filter(|file| Path::new(file).is_file());
    canonical(&file.or_else(engine::script_path).unwrap_or_default())
}

/// Returns the part of a path after the script, decoded and normalized as by nginx; `None` if there is none.
fn path_info(path: &str, script: &str) -> Option<Vec<u8>> {
    path.strip_prefix(script).filter(|rest| rest.starts_with('/'))?;
    let decoded = headers::decoded(path.as_bytes());
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in decoded.split(|byte| *byte == b'/').skip(1) {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    let is_folder = matches!(decoded.rsplit(|byte| *byte == b'/').next(), Some(b"" | b"." | b".."));
    let mut clean = Vec::with_capacity(decoded.len());
    for part in parts {
        clean.push(b'/');
        clean.extend_from_slice(part);
    }
    if is_folder {
        clean.push(b'/');
    }
    clean.strip_prefix(script.as_bytes()).filter(|rest| rest.starts_with(b"/")).map(<[u8]>::to_vec)
}

fn set(all: &mut Owned<Array>, name: &[u8], value: &[u8]) {
    all.set_key(&Str::interned(name).into(), Str::interned(value).into());
}

/// Returns a byte of a header's name as it is in the name of its variable.
fn in_variable(byte: u8) -> u8 {
    if byte == b'-' { b'_' } else { byte.to_ascii_uppercase() }
}

/// Returns the name of the variable for a header; `None` if it has none.
fn variable_of(name: &HeaderName) -> Option<Vec<u8>> {
    match name.as_str() {
        // Programs would take it for the setting of a proxy.
        "proxy" => None,
        // No variable has this name, or it would stand for the header with a dash in its place.
        text if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') => None,
        text => Some(PREFIX.iter().copied().chain(text.bytes().map(in_variable)).collect()),
    }
}

impl Variables {
    fn set(&self, all: &mut Owned<Array>, name: Name, value: Owned<Str>) {
        all.set_name(&self.names[name as usize], value.into());
    }

    fn set_header(&self, all: &mut Owned<Array>, name: &HeaderName, value: &[u8]) {
        // Nothing is borrowed where the engine may run out of memory.
        let known = self.of_headers.borrow().get(name).cloned();
        let variable = known.unwrap_or_else(|| {
            let variable = variable_of(name);
            let is_kept = self.of_headers.borrow().len() < KEPT && name.as_str().len() <= KEPT_LENGTH;
            if !is_kept {
                return variable.map(Str::new);
            }
            let variable = variable.map(Str::interned);
            self.of_headers.borrow_mut().insert(name.clone(), variable.clone());
            variable
        });
        if let Some(variable) = variable {
            all.add_name(&variable, value);
        }
    }

    /// Sets the address on which the request was received.
    fn set_local(&self, all: &mut Owned<Array>, text: &str) {
        let is_last = self.local.borrow().as_ref().is_some_and(|last| last.text == text);
        if !is_last {
            let (address, port) = split(text);
            let address = Str::new(address.trim_matches(['[', ']']));
            let local = Local { text: text.to_owned(), address, port: Str::new(port) };
            self.local.replace(Some(local));
        }
        let (address, port) = match &*self.local.borrow() {
            Some(local) => (local.address.clone(), local.port.clone()),
            None => return,
        };
        self.set(all, Name::LocalAddress, address);
        self.set(all, Name::LocalPort, port);
    }
}

/// Returns the address and the port of a listener.
fn split(local: &str) -> (&str, &str) {
    local.rsplit_once(':').unwrap_or((local, ""))
}

/// Returns the decimal digits of a number, at the end of the buffer.
fn digits(mut number: u16, buffer: &mut [u8; 5]) -> &[u8] {
    let mut first = buffer.len();
    loop {
        first -= 1;
        buffer[first] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &buffer[first..];
        }
    }
}

/// Creates the array for a request.
pub fn of(variables: &Variables, exchange: &Exchange) -> Value {
    let mut all = variables.template.copy();
    let parts = exchange.head();
    if parts.method != Method::GET {
        variables.set(&mut all, Name::Method, Str::new(parts.method.as_str()));
    }
    variables.set(&mut all, Name::Uri, Str::new(parts.uri.path_and_query().map_or("*", |target| target.as_str())));
    if let Some(query) = parts.uri.query() {
        variables.set(&mut all, Name::Query, Str::new(query));
    }
    let scheme = exchange.scheme();
    if scheme == "https" {
        variables.set(&mut all, Name::Scheme, Str::new(scheme));
        all.set_text(b"HTTPS", Str::new("on").into());
    }
    match parts.version {
        Version::HTTP_2 => variables.set(&mut all, Name::Protocol, Str::new("HTTP/2.0")),
        Version::HTTP_10 => variables.set(&mut all, Name::Protocol, Str::new("HTTP/1.0")),
        _ => {}
    }
    let (address, port) = exchange.client();
    variables.set(&mut all, Name::ClientAddress, Str::new(address));
    variables.set(&mut all, Name::ClientPort, Str::new(digits(port, &mut [0; 5])));
    let mut host = parts.uri.authority().map(|authority| Str::new(authority.as_str()));
    let mut has_host = false;
    let has_repeated = parts.headers.keys_len() < parts.headers.len();
    let mut before = None;
    for (name, value) in &parts.headers {
        let line = if has_repeated {
            if before.replace(name) == Some(name) {
                continue; // values of one header come one after the other, and the variable exists already
            }
            headers::line(&parts.headers, name)
        } else {
            None
        };
        let value = line.as_ref().and_then(Value::as_str).map_or(value.as_bytes(), Str::as_bytes);
        if name == header::HOST {
            let value = Str::new(value);
            variables.set(&mut all, Name::Host, value.clone());
            host = Some(value);
            has_host = true;
        } else {
            match *name {
                header::CONTENT_TYPE => all.set_text(b"CONTENT_TYPE", Str::new(value).into()),
                header::CONTENT_LENGTH => all.set_text(b"CONTENT_LENGTH", Str::new(value).into()),
                _ => {}
            }
            variables.set_header(&mut all, name, value);
        }
    }
    if let Some(info) = path_info(parts.uri.path(), &variables.script) {
        let whole = Str::new([variables.script.as_bytes(), &info].concat());
        all.set_text(b"PATH_INFO", Str::new(info).into());
        variables.set(&mut all, Name::PhpSelf, whole.clone());
        variables.set(&mut all, Name::DocumentUri, whole);
    }
    variables.set_local(&mut all, exchange.local());
    let host = host.unwrap_or_else(|| Str::new(split(exchange.local()).0));
    if !has_host {
        variables.set(&mut all, Name::Host, host.clone());
    }
    let name = without_port(host.as_bytes());
    let name = if name.iter().any(u8::is_ascii_uppercase) {
        Str::new(name.to_ascii_lowercase())
    } else if name.len() == host.as_bytes().len() {
        host
    } else {
        Str::new(name)
    };
    variables.set(&mut all, Name::Server, name);
    all.into()
}

fn without_port(host: &[u8]) -> &[u8] {
    let start = host.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    let colon = host[start..].iter().position(|byte| *byte == b':');
    colon.map_or(host, |at| &host[..start + at])
}
