//! `sigaction` and `signal`: handlers of user code are chained behind those of the reactor.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use crate::host::php_thread_host;
use crate::registry::{Behavior, HookedCall, WaitKind, hooked_calls, on_cancel};
use libc::{c_int, sighandler_t};
use spindle_reactor::signals::action;
use std::mem::MaybeUninit;

/// The family's functions.
pub fn hooked_calls() -> Vec<HookedCall> {
    const SIGACTION: Behavior = Behavior {
        wait: WaitKind::Never,
        summary: "the handler is chained behind that of the reactor",
        on_cancel: on_cancel::NEVER,
    };
    hooked_calls![
        c"sigaction" => sigaction, SIGACTION;
        c"__sigaction" => sigaction, SIGACTION;
        c"signal" => signal, SIGACTION;
        c"bsd_signal" => signal, SIGACTION;
        c"ssignal" => signal, SIGACTION;
        c"__sysv_signal" => sysv_signal, SIGACTION;
        c"sysv_signal" => sysv_signal, SIGACTION;
    ]
}

/// `sigaction(2)`. On other threads it is libc's own: the table behind [`action`] belongs to the PHP thread.
pub unsafe extern "C" fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    if php_thread_host().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::sigaction(signal, new, old) };
    }
    if old.is_null() {
        // SAFETY: the caller passes null or a complete action.
        return set_action(signal, unsafe { new.as_ref() }, None);
    }
    // Both may be the same object: copied, so that no reference to it is held while the other is written.
    // SAFETY: the caller passes null or a complete action.
    let wanted = unsafe { new.as_ref() }.copied();
    // SAFETY: the caller passes a place for an action; plain integers, valid with any content it has.
    set_action(signal, wanted.as_ref(), unsafe { old.as_mut() })
}

fn set_action(signal: c_int, new: Option<&libc::sigaction>, old: Option<&mut libc::sigaction>) -> c_int {
    let result = action(signal, new, old);
    if let (0, Some(_), Some(host)) = (result, new, php_thread_host()) {
        host.signal_action_changed(signal);
    }
    result
}

fn set(signal: c_int, handler: sighandler_t, flags: c_int, mask_itself: bool) -> sighandler_t {
    if handler == libc::SIG_ERR {
        crate::host::set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    let mut new = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a zeroed `sigaction` is one; its mask is initialised by the call.
    let new = unsafe {
        libc::sigemptyset(&raw mut (*new.as_mut_ptr()).sa_mask);
        if mask_itself && libc::sigaddset(&raw mut (*new.as_mut_ptr()).sa_mask, signal) != 0 {
            return libc::SIG_ERR; // no such signal: `errno` is EINVAL
        }
        let mut new = new.assume_init();
        new.sa_sigaction = handler;
        new.sa_flags = flags;
        new
    };
    let mut old = new;
    if set_action(signal, Some(&new), Some(&mut old)) != 0 {
        return libc::SIG_ERR;
    }
    old.sa_sigaction
}

/// `signal(2)` with BSD semantics, glibc's default. `siginterrupt` is not taken into account.
pub unsafe extern "C" fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    if php_thread_host().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::signal(signal, handler) };
    }
    set(signal, handler, libc::SA_RESTART, true)
}

unsafe extern "C" {
    #[link_name = "__sysv_signal"]
    fn libc_sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t;
}

/// `sysv_signal(3)`.
pub unsafe extern "C" fn sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t {
    if php_thread_host().is_none() {
        // SAFETY: the caller's own arguments.
        return unsafe { libc_sysv_signal(signal, handler) };
    }
    set(signal, handler, libc::SA_RESETHAND | libc::SA_NODEFER, false)
}
