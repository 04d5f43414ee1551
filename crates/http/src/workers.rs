//! A process that `spindle serve` has started to fork workers, see `zygote.rs` of the crate of the server.

use spindle_php::sapi;
use spindle_server::zygote;
use spindle_zend::{Str, engine};
use std::os::fd::RawFd;
use std::sync::OnceLock;

/// What says that this process is one: the number of its socket to the command.
const VARIABLE: &str = "SPINDLE_ZYGOTE";

static SOCKET: OnceLock<RawFd> = OnceLock::new();

/// To be called when the module starts.
pub fn register() {
    let socket = std::env::var(VARIABLE).ok().and_then(|number| number.parse().ok());
    if let Some(socket) = socket.filter(|socket| *socket > 2) {
        // SAFETY: PHP starts, and has one thread.
        unsafe { std::env::remove_var(VARIABLE) };
        zygote::keep(socket);
        SOCKET.get_or_init(|| socket);
        sapi::before_first_request(|| {
            SOCKET.get().map_or_else(Vec::new, |socket| zygote::workers(*socket, obstacle()))
        });
    }
}

/// Returns why no workers can be forked: each would have the connections that code has opened, and draw the same random numbers.
fn obstacle() -> Option<&'static str> {
    let preloads = engine::setting_entry(c"opcache.preload").is_some_and(|entry| {
        // SAFETY: null, or its value, which does not change meanwhile.
        unsafe { Str::borrow(entry.value) }.is_some_and(|file| !file.as_bytes().is_empty())
    });
    preloads.then_some("opcache.preload runs code before")
}
