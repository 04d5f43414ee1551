//! `$_SERVER` of a request in worker mode.

use crate::headers;
use crate::server::Server;
use http::Version;
use spindle_server::Exchange;
use spindle_zend::{Array, Instance, Owned, Str, Value, engine};
use std::os::unix::ffi::OsStrExt;

/// Sets what all requests of a server have: the environment of the process, and its script. At the start of the server.
pub fn prepare(server: &Server) {
    let mut all = Array::new(64);
    for (name, value) in std::env::vars_os() {
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
    server.variables.set(all.into());
}

fn set(all: &mut Owned<Array>, name: &[u8], value: &[u8]) {
    all.set_key(&Str::new(name).into(), Str::new(value).into());
}

/// Returns the array for a request, which nothing else has.
pub fn of(server: &Instance<Server>, exchange: &Exchange) -> Value {
    let prepared = server.variables.get();
    let mut all: Owned<Array> = prepared.as_array().map_or_else(|| Array::new(32), Array::duplicate);
    let parts = exchange.head();
    let mut put = |name: &str, value: &[u8]| set(&mut all, name.as_bytes(), value);
    put("REQUEST_METHOD", parts.method.as_str().as_bytes());
    put("REQUEST_URI", parts.uri.path_and_query().map_or("*", |target| target.as_str()).as_bytes());
    put("QUERY_STRING", parts.uri.query().unwrap_or_default().as_bytes());
    let scheme = exchange.scheme();
    put("REQUEST_SCHEME", scheme.as_bytes());
    if scheme == "https" {
        put("HTTPS", b"on");
    }
    put(
        "SERVER_PROTOCOL",
        match parts.version {
            Version::HTTP_2 => b"HTTP/2.0",
            Version::HTTP_10 => b"HTTP/1.0",
            _ => b"HTTP/1.1",
        },
    );
    let (address, port) = exchange.client();
    put("REMOTE_ADDR", address.as_bytes());
    put("REMOTE_PORT", port.to_string().as_bytes());
    let mut host = parts.uri.authority().map(|authority| authority.as_str().as_bytes().to_vec());
    for name in parts.headers.keys() {
        let Some(line) = headers::line(&parts.headers, name.as_str()) else { continue };
        let value = line.as_str().map_or(&b""[..], |line| line.as_bytes());
        match name.as_str() {
            "content-type" => put("CONTENT_TYPE", value),
            "content-length" => put("CONTENT_LENGTH", value),
            // Programs would take it for the setting of a proxy.
            "proxy" => {}
            // It would stand for the header with a dash in its place.
            name if name.contains('_') => {}
            name => {
                if name == "host" {
                    host = Some(value.to_vec());
                }
                let variable = format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_"));
                put(&variable, value);
            }
        }
    }
    let local = exchange.local();
    let (local_address, local_port) = local.rsplit_once(':').unwrap_or((local, ""));
    put("SERVER_ADDR", local_address.trim_matches(['[', ']']).as_bytes());
    put("SERVER_PORT", local_port.as_bytes());
    let host = host.unwrap_or_else(|| local_address.as_bytes().to_vec());
    if !parts.headers.contains_key("host") {
        put("HTTP_HOST", &host);
    }
    put("SERVER_NAME", without_port(&host));
    all.into()
}

fn without_port(host: &[u8]) -> &[u8] {
    let start = host.iter().rposition(|byte| *byte == b']').unwrap_or(0);
    let colon = host[start..].iter().position(|byte| *byte == b':');
    colon.map_or(host, |at| &host[..start + at])
}
