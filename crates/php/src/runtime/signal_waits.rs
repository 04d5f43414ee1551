//! Signals as awaitables.

use crate::c;
use crate::runtime::completion::Completion;
use crate::runtime::scheduler::rt;
use crate::runtime::{gate, moments};
use spindle_reactor::signals;
use spindle_zend::PhpStatic;
use std::cell::RefCell;
use std::io;
use std::rc::{Rc, Weak};

/// The next arrival of a signal. As long as there is one for a signal, the signal neither has its default action nor is ignored.
pub struct SignalWait {
    signal: i32,
    /// The arrival.
    pub completion: Completion,
    /// The function that is called at each arrival, if the wait is not complete after the first one.
    each: Option<Box<dyn Fn()>>,
}

/// Signals of a fault of the instruction that is executed. It would be executed again after a handler that does nothing, and
/// the runtime finds stack overflows by them.
const FAULTS: [i32; 4] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL];

static WAITS: PhpStatic<RefCell<Vec<Weak<SignalWait>>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// The actions that signals had before they were waited for.
static BEFORE: PhpStatic<RefCell<Vec<(i32, libc::sigaction)>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// A handler that does nothing: the event loop sees that it ran.
extern "C" fn caught_only(_: libc::c_int) {}

fn own_handler() -> libc::sighandler_t {
    caught_only as extern "C" fn(libc::c_int) as libc::sighandler_t
}

fn present(signal: i32) -> io::Result<libc::sigaction> {
    let mut old: libc::sigaction = action_of(libc::SIG_DFL);
    if signals::action(signal, None, Some(&mut old)) == 0 { Ok(old) } else { Err(io::Error::last_os_error()) }
}

fn action_of(handler: libc::sighandler_t) -> libc::sigaction {
    libc::sigaction { sa_sigaction: handler, sa_mask: empty_set(), sa_flags: libc::SA_RESTART, sa_restorer: None }
}

fn empty_set() -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: a place for the set.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: just filled.
    unsafe { set.assume_init() }
}

impl SignalWait {
    /// Returns the next arrival of this signal.
    ///
    /// # Errors
    /// The signal does not exist, or cannot be caught.
    pub fn start(signal: i32) -> io::Result<Rc<SignalWait>> {
        SignalWait::begin(signal, None)
    }

    /// Calls a function at each arrival of this signal, until what is returned is dropped. The function runs in the event loop,
    /// and calls no PHP code.
    ///
    /// # Errors
    /// The signal does not exist, or cannot be caught.
    pub fn start_each(signal: i32, each: impl Fn() + 'static) -> io::Result<Rc<SignalWait>> {
        SignalWait::begin(signal, Some(Box::new(each)))
    }

    fn begin(signal: i32, each: Option<Box<dyn Fn()>>) -> io::Result<Rc<SignalWait>> {
        if FAULTS.contains(&signal) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it reports a fault of the process"));
        }
        let rt = rt();
        if !gate::is_active() {
            moments::first_spawn(rt);
        }
        rt.reactor();
        let before = present(signal)?;
        if before.sa_sigaction != own_handler() && c::spindle_signal_is_default(signal) {
            if signals::action(signal, Some(&action_of(own_handler())), None) != 0 {
                return Err(io::Error::last_os_error());
            }
            BEFORE.borrow_mut().retain(|(other, _)| *other != signal);
            BEFORE.borrow_mut().push((signal, before));
        }
        let wait = Rc::new(SignalWait { signal, completion: Completion::external(), each });
        WAITS.borrow_mut().push(Rc::downgrade(&wait));
        Ok(wait)
    }

    /// Returns the signal.
    pub fn signal(&self) -> i32 {
        self.signal
    }
}

impl Drop for SignalWait {
    fn drop(&mut self) {
        release(self.signal);
    }
}

/// Gives a signal its former action again, if nothing waits for it and user code has set no handler.
fn release(signal: i32) {
    let is_wanted = {
        let mut waits = WAITS.borrow_mut();
        waits.retain(|wait| wait.strong_count() > 0);
        waits
            .iter()
            .any(|wait| wait.upgrade().is_some_and(|wait| wait.signal == signal && !wait.completion.is_complete()))
    };
    if !is_wanted && present(signal).is_ok_and(|action| action.sa_sigaction == own_handler()) {
        let mut all = BEFORE.borrow_mut();
        if let Some(at) = all.iter().position(|(other, _)| *other == signal) {
            signals::action(signal, Some(&all.swap_remove(at).1), None);
        }
    }
}

/// Completes the waits for signals that were caught: bit `n - 1` for signal `n`.
pub fn caught(signals: u64) {
    if signals == 0 || WAITS.borrow().is_empty() {
        return;
    }
    let waits: Vec<Rc<SignalWait>> = WAITS.borrow().iter().filter_map(Weak::upgrade).collect();
    for wait in waits {
        if signals >> (wait.signal - 1) & 1 == 0 {
            continue;
        }
        if let Some(each) = &wait.each {
            each();
        } else {
            wait.completion.complete(false);
            release(wait.signal);
        }
    }
}
