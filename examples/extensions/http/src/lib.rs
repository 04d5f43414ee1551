//! Acme\Http, an HTTP client in Rust for PHP: `Acme\Http::get('http://…')` returns the body, and `Acme\Http::start('http://…')` a
//! coroutine that will, with Spindle.
//!
//! hyper and tokio do the work, on a thread of their own. Without Spindle a call blocks the process, as such extensions do. With
//! Spindle it suspends the coroutine that has made it, and a thousand requests are under way at once.

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::{Request, Uri, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use spindle_ext::{Cancelled, Holds, block_on, declare, spawn, tokio as runtime};
use std::ffi::{c_int, c_void};
use std::slice;
use tokio::net::TcpStream;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Makes a request, and returns the body of the response.
async fn get(url: String) -> Result<Bytes, Error> {
    let uri: Uri = url.parse()?;
    let (Some("http"), Some(host)) = (uri.scheme_str(), uri.host()) else {
        return Err(format!("{url} is no URL of HTTP").into());
    };
    let stream = TcpStream::connect((host, uri.port_u16().unwrap_or(80))).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    runtime::spawn(connection).detach(); // it ends with the sender
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path).header(header::HOST, host).body(Empty::<Bytes>::new())?;
    let response = sender.send_request(request).await?;
    if !response.status().is_success() {
        return Err(format!("{url}: {}", response.status()).into());
    }
    Ok(response.into_body().collect().await?.to_bytes())
}

/// Waits for a request's task.
fn fetch(url: String) -> Result<Result<Bytes, Error>, Cancelled> {
    Ok(block_on(runtime::spawn(get(url)))?.unwrap_or_else(|task| Err(task.into())))
}

/// What the module in C does with a text.
type Use = unsafe extern "C" fn(*mut c_void, *const u8, usize);

const GOT: c_int = 0;
const FAILED: c_int = 1;
const CANCELLED: c_int = 2;

/// What `Acme\Http::get()` calls.
///
/// # Safety
/// `url` has this length; `give` stores a text in `result`.
#[unsafe(no_mangle)]
unsafe extern "C" fn acme_http_get(url: *const u8, length: usize, give: Use, result: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    let url = String::from_utf8_lossy(unsafe { slice::from_raw_parts(url, length) }).into_owned();
    let (status, text) = match fetch(url) {
        Err(Cancelled) => return CANCELLED,
        Ok(Ok(body)) => (GOT, body),
        Ok(Err(error)) => (FAILED, error.to_string().into()),
    };
    // SAFETY: the caller's promise.
    unsafe { give(result, text.as_ptr(), text.len()) };
    status
}

/// What `Acme\Http::start()` calls: a coroutine, or null. The request is under way when this returns.
///
/// # Safety
/// `url` has this length; `give` stores a text in `result`, and `fail` throws it.
#[unsafe(no_mangle)]
unsafe extern "C" fn acme_http_start(url: *const u8, length: usize, give: Use, fail: Use) -> *mut c_void {
    // SAFETY: the caller's promise.
    let url = String::from_utf8_lossy(unsafe { slice::from_raw_parts(url, length) }).into_owned();
    let coroutine = spawn(runtime::spawn(get(url)), move |ended, result| {
        let (with, text) = match ended.unwrap_or_else(|task| Err(task.into())) {
            Ok(body) => (give, body),
            Err(error) => (fail, error.to_string().into()),
        };
        // SAFETY: the caller's promise.
        unsafe { with(result, text.as_ptr(), text.len()) }
    });
    coroutine.map_or(std::ptr::null_mut(), std::ptr::NonNull::as_ptr)
}

/// The module starts.
///
/// # Safety
/// It is this module's entry.
#[unsafe(no_mangle)]
unsafe extern "C" fn acme_http_starts(module: *const c_void) {
    // SAFETY: the caller's promise. Calls share nothing but the runtime.
    unsafe { declare(module, None, Holds::Nothing) };
}

// SAFETY: the module's entry, in http.c.
unsafe extern "C" {
    static mut acme_http_module_entry: c_void;
}

/// What PHP asks a module for.
#[unsafe(no_mangle)]
extern "C" fn get_module() -> *mut c_void {
    &raw mut acme_http_module_entry
}
