//! Busy handles: a call on a handle that another coroutine's call is in the middle of waits its turn.
//!
//! Nobody looks for handles until a call really parks: then those of the internal functions on the coroutine's
//! stack are held until the function returns. Handles that share a connection count as one (see `links`). First
//! come, first served; one reader and one writer of a stream at once.

use crate::calls::{info_of, refresh_checks};
use crate::coroutine::Info;
use crate::kinds::{Kind, Mode, handles, kind_from};
use crate::runtime::{self, Runtime};
use crate::stack::{Ctx, Failing};
use spindle_core::sched::{Co, On, Reason, Ticket};
use spindle_php_sys as sys;
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

/// A handle that a coroutine keeps busy by a call.
#[derive(Debug)]
pub struct Held {
    /// The frame of the call; null for the end of an object.
    pub(crate) frame: *mut sys::zend_execute_data,
    /// The handle.
    pub(crate) key: usize,
}

#[derive(Default)]
struct Busy {
    holders: Vec<(Co, Mode)>,
    queue: VecDeque<(Ticket, Mode)>,
    /// A close waits in the queue: calls before it may finish, but not wait any more.
    closing: bool,
}

struct Table(RefCell<HashMap<usize, Busy>>);
// SAFETY: used on the PHP thread only: by internal functions and by the module's life.
unsafe impl Sync for Table {}
// SAFETY: as above.
unsafe impl Send for Table {}
static TABLE: std::sync::LazyLock<Table> = std::sync::LazyLock::new(|| Table(RefCell::new(HashMap::new())));

fn table() -> &'static RefCell<HashMap<usize, Busy>> {
    &TABLE.0
}

/// Waits for the turn of a call on `root`, and holds it until the call returns. `false`: something was thrown.
pub(crate) unsafe fn enter(frame: *mut sys::zend_execute_data, root: usize) -> bool {
    let Some(rt) = runtime::existing().filter(|rt| rt.can_switch()) else { return true };
    // SAFETY: the caller passes the frame of the call that is about to begin.
    unsafe {
        if !turn(rt, frame, root, Mode::Both, Kind::Handle) {
            return false;
        }
        if !holds(rt, root) {
            hold(rt.context(), frame, root, Mode::Both);
        }
    }
    true
}

/// Runs `what` (the end of an object, which may talk to its server in the middle of PHP code) in its turn, like a
/// call.
pub(crate) fn in_turn(root: usize, what: impl FnOnce()) {
    let held = runtime::existing().filter(|rt| rt.can_switch());
    let none = std::ptr::null_mut();
    if let Some(rt) = held {
        rt.core.borrow_mut().shield(); // a cancellation must not leave it half done
        // SAFETY: the running context; there is no frame to look at.
        unsafe {
            if turn(rt, none, root, Mode::Both, Kind::Handle) && !holds(rt, root) {
                hold(rt.context(), none, root, Mode::Both);
            }
        }
    }
    what();
    if let Some(rt) = held {
        // SAFETY: the running context.
        unsafe {
            let ctx = rt.context();
            if let Some(at) = (*ctx).busy.iter().rposition(|held| held.frame.is_null() && held.key == root) {
                (*ctx).busy.remove(at);
                let_go(rt, Co((*ctx).co), root);
                refresh_checks(ctx);
            }
        }
        rt.core.borrow_mut().unshield();
    }
}

/// Does the running coroutine hold it?
fn holds(rt: &'static Runtime, key: usize) -> bool {
    // SAFETY: the running context.
    let co = Co(unsafe { (*rt.context()).co });
    table().borrow().get(&key).is_some_and(|busy| busy.holders.iter().any(|(holder, _)| *holder == co))
}

/// Nothing is busy any more: in the child of a fork, at request end.
pub fn forget_all() {
    table().borrow_mut().clear();
    // SAFETY: on the PHP thread.
    unsafe { sys::spindle_check_before = 0 };
}

/// How many frames are looked at for handles: callbacks of callbacks of a library are rarely deeper.
const DEPTH: usize = 24;

/// The running coroutine is about to park in C code: what it uses is busy until the calls return.
pub fn parking(rt: &'static Runtime) {
    // SAFETY: the frames of the running coroutine.
    unsafe {
        let ctx = rt.context();
        let mut frame = sys::executor_globals.current_execute_data;
        for _ in 0..DEPTH {
            if frame.is_null() {
                return;
            }
            let function = (*frame).func;
            if !function.is_null() && u32::from((*function).type_) == sys::ZEND_INTERNAL_FUNCTION {
                if (*ctx).busy.iter().any(|held| held.frame == frame) {
                    return; // marked by an earlier park, and so are those above it
                }
                let kind = info_of(function.cast()).map_or(Kind::Plain, kind_from);
                if !matches!(kind, Kind::Plain | Kind::Signals) {
                    handles(frame, kind, |key, mode| hold(ctx, frame, key, mode));
                }
            }
            frame = (*frame).prev_execute_data;
        }
    }
}

pub(crate) unsafe fn hold(ctx: *mut Ctx, frame: *mut sys::zend_execute_data, key: usize, mode: Mode) {
    // SAFETY: the running context.
    unsafe {
        let co = Co((*ctx).co);
        table().borrow_mut().entry(key).or_default().holders.push((co, mode));
        (*ctx).busy.push(Held { frame, key });
        sys::spindle_check_before = 1;
        refresh_checks(ctx);
    }
}

pub(crate) fn let_go(rt: &'static Runtime, co: Co, key: usize) {
    let next = {
        let mut table = table().borrow_mut();
        let Some(busy) = table.get_mut(&key) else { return };
        if let Some(at) = busy.holders.iter().rposition(|(holder, _)| *holder == co) {
            busy.holders.remove(at);
        }
        let mut next = Vec::new();
        let mut waiting = VecDeque::new();
        for (ticket, mode) in std::mem::take(&mut busy.queue) {
            let before = waiting.iter().any(|(_, earlier): &(Ticket, Mode)| earlier.disturbs(mode));
            if before || busy.holders.iter().any(|(_, held)| held.disturbs(mode)) {
                waiting.push_back((ticket, mode));
            } else {
                busy.holders.push((ticket.co, mode)); // it is its turn, whoever comes in between
                next.push(ticket);
            }
        }
        busy.queue = waiting;
        if busy.holders.is_empty() && busy.queue.is_empty() {
            table.remove(&key);
        }
        if table.is_empty() {
            // SAFETY: on the PHP thread.
            unsafe { sys::spindle_check_before = 0 };
        }
        next
    };
    for ticket in next {
        rt.core.borrow_mut().wake(ticket);
    }
}

/// The slow half of the trampoline before a call: queues for busy handles. `false`: the call is not to be made; something
/// was thrown, or it has its result.
#[unsafe(no_mangle)]
unsafe extern "C" fn spindle_before_call(
    frame: *mut sys::zend_execute_data,
    info: *const sys::spindle_call_info,
    result: *mut sys::zval,
) -> bool {
    let kind = kind_from(info);
    let Some(rt) = runtime::existing() else { return true };
    if matches!(kind, Kind::Plain | Kind::Signals) || !rt.can_switch() {
        return true;
    }
    // Room without a destructor: an exit elsewhere abandons this stack while it waits.
    let mut wanted = [(0, Mode::Both); 8];
    let mut count = 0;
    // SAFETY: the frame of the call that is about to begin.
    unsafe {
        handles(frame, kind, |key, mode| {
            if let Some(place) = wanted.get_mut(count) {
                *place = (key, mode);
                count += 1;
            }
        });
    }
    // Another one may be taken while it waits for the first. Then it waits for that one, and holds none meanwhile: two
    // calls that each hold what the other one waits for would wait for good.
    let wanted = wanted.get(..count).unwrap_or_default();
    // SAFETY: the running context, and as above.
    unsafe {
        let ctx = rt.context();
        let co = Co((*ctx).co);
        while let Some((key, mode)) = wanted.iter().find(|(key, mode)| must_wait(co, *key, *mode)) {
            let_go_of(rt, ctx, frame);
            if !turn(rt, frame, *key, *mode, kind) {
                return false;
            }
            if kind == Kind::Closes && sys::spindle_is_closed(frame) {
                // Another one was about to close it, and has: this one asked for the same while it was open.
                let_go_of(rt, ctx, frame);
                sys::spindle_answer_closed(frame, result);
                return false;
            }
        }
    }
    true
}

/// Is it another's turn on this handle?
fn must_wait(co: Co, key: usize, mode: Mode) -> bool {
    let table = table().borrow();
    let Some(busy) = table.get(&key) else { return false };
    let mine = busy.holders.iter().any(|(holder, _)| *holder == co); // its own call, further up
    let others = busy.holders.iter().any(|(_, held)| held.disturbs(mode));
    !mine && (others || busy.queue.iter().any(|(_, earlier)| earlier.disturbs(mode)))
}

/// Lets go of what the running coroutine holds by this call.
pub(crate) unsafe fn let_go_of(rt: &'static Runtime, ctx: *mut Ctx, frame: *mut sys::zend_execute_data) {
    // SAFETY: the running context.
    unsafe {
        while let Some(at) = (*ctx).busy.iter().position(|held| held.frame == frame) {
            let held = (*ctx).busy.swap_remove(at);
            let_go(rt, Co((*ctx).co), held.key);
        }
    }
}

/// Waits for one handle, if it is busy. `false`: something was thrown.
unsafe fn turn(rt: &'static Runtime, frame: *mut sys::zend_execute_data, key: usize, mode: Mode, kind: Kind) -> bool {
    let ctx = rt.context();
    // SAFETY: the running context.
    let co = Co(unsafe { (*ctx).co });
    if !must_wait(co, key, mode) {
        return true;
    }
    {
        let mut table = table().borrow_mut();
        let Some(busy) = table.get_mut(&key) else { return true };
        if kind == Kind::Closes {
            busy.closing = true;
            for (holder, held) in &busy.holders {
                if held.disturbs(mode) {
                    fail_quietly(rt, *holder);
                }
            }
        }
    }
    // SAFETY: the running context.
    unsafe { take_turn(rt, ctx, frame, key, mode, kind == Kind::Closes) }
}

/// The call in which `co` is parked fails, because its handle is being closed.
fn fail_quietly(rt: &'static Runtime, co: Co) {
    // SAFETY: a coroutine that holds a handle has a context.
    unsafe {
        let ctx = (*rt.object(co)).ctx;
        if !ctx.is_null() && (*ctx).failing == Failing::No {
            (*ctx).failing = Failing::Quietly;
            (*ctx).failing_in = crate::calls::internal((*ctx).saved.frame());
            rt.core.borrow_mut().break_off(co);
        }
    }
}

unsafe fn take_turn(
    rt: &'static Runtime,
    ctx: *mut Ctx,
    frame: *mut sys::zend_execute_data,
    key: usize,
    mode: Mode,
    closes: bool,
) -> bool {
    // SAFETY: the running context.
    unsafe {
        let co = Co((*ctx).co);
        loop {
            let ticket = rt.begin_wait();
            let mut awaits = [0; 2];
            {
                let mut table = table().borrow_mut();
                let Some(busy) = table.get_mut(&key) else { return true };
                for (id, (holder, _)) in awaits.iter_mut().zip(&busy.holders) {
                    *id = rt.core.borrow().id(*holder);
                }
                busy.queue.push_back((ticket, mode));
            }
            let info = Info { call: "busy handle", awaits, since: spindle_reactor::Reactor::now(), ..Info::NONE };
            let reason = rt.park(None, On::Coroutines, true, info);
            let granted = {
                let mut table = table().borrow_mut();
                let busy = table.entry(key).or_default();
                if busy.closing && !closes && (*ctx).failing == Failing::No {
                    (*ctx).failing = Failing::Quietly;
                    (*ctx).failing_in = frame;
                }
                busy.queue.retain(|(waiting, _)| *waiting != ticket);
                busy.holders.iter().any(|(holder, _)| *holder == co)
            };
            if granted {
                (*ctx).busy.push(Held { frame, key });
                refresh_checks(ctx);
            }
            if reason == Reason::Cancelled {
                if granted {
                    (*ctx).busy.pop();
                }
                if closes && let Some(busy) = table().borrow_mut().get_mut(&key) {
                    busy.closing = false; // it is not closed after all: who waits may go on waiting
                }
                let_go(rt, co, key);
                let reason = rt.core.borrow_mut().take_cancellation();
                if let Some(reason) = reason {
                    sys::spindle_throw(reason);
                }
                return false;
            }
            if granted {
                return true;
            }
        }
    }
}
