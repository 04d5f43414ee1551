//! `$_SERVER` of a request in worker mode.

use crate::headers;
use crate::server::Server;
use http::{Version, header};
use spindle_server::Exchange;
use spindle_zend::{Array, Instance, Owned, Str, Value, engine};
use std::os::unix::ffi::OsStrExt;

/// Sets what all requests of a server have: the environment of the process, and its script. At the start of the server.
pub fn prepare(server: &Server) {
    let environment: Vec<_> = std::env::vars_os().collect();
    // With room for what a request has besides.
    let mut all = Array::new(environment.len() + 48);
    for (name, value) in environment {
        // What looks like a header must come from one.
        if !name.as_bytes().starts_with(b"HTTP_") {
            set(&mut all, name.as_bytes(), value.as_bytes());
        }
    }
    let script = engine::script_path().unwrap_or_default();
    let script = std::fs::canonicalize(&script).map_or(script, |path| path.to_string_lossy().into_owned());
    let (folder, name) = script.rsplit_once('/').unwrap_or(("", &script));
    set(&mut all, b"DOCUMENT_ROOT", folder.as_bytes());
    set(&mut all, b"SCRIPT_FILENAME", script.as_bytes());
    set(&mut all, b"SCRIPT_NAME", format!("/{name}").as_bytes());
    set(&mut all, b"PHP_SELF", format!("/{name}").as_bytes());
    set(&mut all, b"GATEWAY_INTERFACE", b"CGI/1.1");
    set(&mut all, b"SERVER_SOFTWARE", b"spindle");
    // These have their places, and their keys, in the array of each request.
    for name in OF_EACH_REQUEST {
        put(&mut all, name, b"");
    }
    server.variables.set(all.into());
}

/// What each request has.
const OF_EACH_REQUEST: [&str; 11] = [
    "REQUEST_METHOD",
    "REQUEST_URI",
    "QUERY_STRING",
    "REQUEST_SCHEME",
    "SERVER_PROTOCOL",
    "REMOTE_ADDR",
    "REMOTE_PORT",
    "HTTP_HOST",
    "SERVER_ADDR",
    "SERVER_PORT",
    "SERVER_NAME",
];

const PREFIX: usize = "HTTP_".len();

/// Returns a byte of a header's name as it is in the name of its variable.
fn in_variable(byte: u8) -> u8 {
    if byte == b'-' { b'_' } else { byte.to_ascii_uppercase() }
}

fn put(all: &mut Owned<Array>, name: &str, value: &[u8]) {
    all.set_text(name.as_bytes(), Str::new(value).into());
}

fn set(all: &mut Owned<Array>, name: &[u8], value: &[u8]) {
    all.set_key(&Str::new(name).into(), Str::new(value).into());
}

/// Returns the array for a request, which nothing else has.
pub fn of(server: &Instance<Server>, exchange: &Exchange) -> Value {
    let prepared = server.variables.get();
    let mut all: Owned<Array> = prepared.as_array().map_or_else(|| Array::new(32), Array::duplicate);
    let parts = exchange.head();
    put(&mut all, "REQUEST_METHOD", parts.method.as_str().as_bytes());
    put(&mut all, "REQUEST_URI", parts.uri.path_and_query().map_or("*", |target| target.as_str()).as_bytes());
    put(&mut all, "QUERY_STRING", parts.uri.query().unwrap_or_default().as_bytes());
    let scheme = exchange.scheme();
    put(&mut all, "REQUEST_SCHEME", scheme.as_bytes());
    if scheme == "https" {
        put(&mut all, "HTTPS", b"on");
    }
    put(
        &mut all,
        "SERVER_PROTOCOL",
        match parts.version {
            Version::HTTP_2 => b"HTTP/2.0",
            Version::HTTP_10 => b"HTTP/1.0",
            _ => b"HTTP/1.1",
        },
    );
    let (address, port) = exchange.client();
    put(&mut all, "REMOTE_ADDR", address.as_bytes());
    put(&mut all, "REMOTE_PORT", port.to_string().as_bytes());
    let mut host = parts.uri.authority().map(|authority| authority.as_str().as_bytes().to_vec());
    let mut variable = *b"HTTP_..........................................................";
    let has_repeated = parts.headers.keys_len() < parts.headers.len();
    let mut before = None;
    for (name, value) in &parts.headers {
        let line = if has_repeated {
            if before.replace(name) == Some(name) {
                continue; // values of one header come one after the other, and it is there already
            }
            headers::line(&parts.headers, name)
        } else {
            None
        };
        let value = line.as_ref().and_then(Value::as_str).map_or(value.as_bytes(), Str::as_bytes);
        match name.as_str() {
            "content-type" => put(&mut all, "CONTENT_TYPE", value),
            "content-length" => put(&mut all, "CONTENT_LENGTH", value),
            // Programs would take it for the setting of a proxy.
            "proxy" => {}
            // It would stand for the header with a dash in its place.
            text if text.contains('_') => {}
            text => {
                if name == header::HOST {
                    host = Some(value.to_vec());
                }
                if let Some(place) = variable.get_mut(PREFIX..PREFIX + text.len()) {
                    place.iter_mut().zip(text.bytes()).for_each(|(to, of)| *to = in_variable(of));
                    all.set_text(&variable[..PREFIX + text.len()], Str::new(value).into());
                } else {
                    let long: Vec<u8> = b"HTTP_".iter().copied().chain(text.bytes().map(in_variable)).collect();
                    all.set_text(&long, Str::new(value).into());
                }
            }
        }
    }
    let local = exchange.local();
    let (local_address, local_port) = local.rsplit_once(':').unwrap_or((local, ""));
    put(&mut all, "SERVER_ADDR", local_address.trim_matches(['[', ']']).as_bytes());
    put(&mut all, "SERVER_PORT", local_port.as_bytes());
    let host = host.unwrap_or_else(|| local_address.as_bytes().to_vec());
    if !parts.headers.contains_key(header::HOST) {
        put(&mut all, "HTTP_HOST", &host);
    }
    put(&mut all, "SERVER_NAME", without_port(&host));
    all.into()
}

fn without_port(host: &[u8]) -> &[u8] {
    let start = host.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    let colon = host[start..].iter().position(|byte| *byte == b':');
    colon.map_or(host, |at| &host[..start + at])
}
