//! Transactions on connections that coroutines share: with `async.diagnostics` a statement in another coroutine's open transaction is a
//! warning.
//!
//! A connection has one transaction at a time, so such a statement becomes part of it, and is lost with it. Those are noticed
//! that are begun by the function for that, or by a statement that says so. Where the connection can tell (PDO) it is asked.

use crate::handles::{calls::Trampolined, classify, kinds};
use crate::runtime::position::Position;
use crate::runtime::scheduler::{self, Runtime};
use crate::settings;
use spindle_zend::{Class, Frame, Function, Object, PhpStatic, Str, Value, engine, exception, sys};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// What a function does to the transaction of its connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Does {
    Begins,
    Ends,
    /// It executes a statement.
    Executes,
}

/// Methods of `PDO`, `PDOStatement`, `mysqli` and `mysqli_stmt` by their names in lower case, and functions.
const WATCHED: &[(&str, Does)] = &[
    ("begintransaction", Does::Begins),
    ("begin_transaction", Does::Begins),
    ("mysqli_begin_transaction", Does::Begins),
    ("commit", Does::Ends),
    ("rollback", Does::Ends),
    ("mysqli_commit", Does::Ends),
    ("mysqli_rollback", Does::Ends),
    ("exec", Does::Executes),
    ("query", Does::Executes),
    ("execute", Does::Executes),
    ("real_query", Does::Executes),
    ("multi_query", Does::Executes),
    ("execute_query", Does::Executes),
    ("mysqli_query", Does::Executes),
    ("mysqli_real_query", Does::Executes),
    ("mysqli_multi_query", Does::Executes),
    ("mysqli_execute_query", Does::Executes),
    ("mysqli_stmt_execute", Does::Executes),
    ("mysqli_execute", Does::Executes),
    ("pg_query", Does::Executes),
    ("pg_query_params", Does::Executes),
    ("pg_execute", Does::Executes),
    ("pg_send_query", Does::Executes),
    ("pg_send_query_params", Does::Executes),
    ("pg_send_execute", Does::Executes),
];

/// An open transaction.
struct Open {
    /// The number of its coroutine.
    of: u64,
    begun: String,
    /// The connection says that it is open.
    is_known: bool,
}

#[derive(Default)]
struct State {
    /// By the keys of connections.
    open: BTreeMap<usize, Open>,
    /// The pairs of places that there was a warning of.
    told: BTreeSet<(String, String)>,
}

static STATE: PhpStatic<RefCell<Option<State>>> = PhpStatic::new(RefCell::new(None));

fn does(function: Function) -> Option<Does> {
    let name = function.name()?.to_text().to_ascii_lowercase();
    WATCHED.iter().find(|(watched, _)| *watched == name).map(|(_, does)| *does)
}

/// Returns `true` for functions whose trampoline calls [`around`].
pub(super) fn watches(function: Function) -> bool {
    matches!(classify::name_of(function.extension()).as_str(), "pdo" | "mysqli" | "pgsql") && does(function).is_some()
}

/// Forgets all of them: at the end of the request, and in the child of a fork.
pub fn forget_all() {
    STATE.take();
}

/// Forgets that of an earlier connection with this key. A new one was made.
pub(super) fn forget(key: usize) {
    if let Some(state) = STATE.borrow_mut().as_mut() {
        state.open.remove(&key);
    }
}

/// Calls a function that [is watched](watches), and notes what it does.
pub(super) fn around(call: Trampolined, run: impl FnOnce(Trampolined)) {
    let Some(rt) = scheduler::existing().filter(|_| settings::current().diagnostics) else { return run(call) };
    let frame = call.frame;
    let (Some(does), Some(key)) = (frame.function().and_then(does), key_of(frame)) else { return run(call) };
    if !warn(rt, frame, key, does) {
        return; // an error handler has thrown
    }
    run(call);
    if exception::is_in_flight() {
        return;
    }
    if call.result().type_number() == sys::IS_FALSE {
        return; // it has failed
    }
    let asked = is_in_transaction(frame);
    let said = (does == Does::Executes).then(|| said_by(frame)).flatten();
    let is_open = match (does, said) {
        (Does::Begins, _) => asked.unwrap_or(true),
        (Does::Ends, _) => asked.unwrap_or(false),
        (Does::Executes, Some(said)) => said,
        (Does::Executes, None) if asked == Some(true) => true,
        (Does::Executes, None) => return,
    };
    let mut state = STATE.borrow_mut();
    let open = &mut state.get_or_insert_default().open;
    if !is_open {
        open.remove(&key);
    } else {
        open.entry(key).or_insert_with(|| Open {
            of: rt.owner_id(),
            begun: place_of(frame),
            is_known: asked == Some(true),
        });
    }
}

/// Returns the key of the connection that a call uses.
fn key_of(frame: Frame) -> Option<usize> {
    let mut key = None;
    classify::handles(frame, kinds::CallKind::Handle, |handle, _| key = key.or(Some(handle)));
    key
}

fn place_of(frame: Frame) -> String {
    let place = Position::new();
    place.set_to_code_of(Some(frame));
    place.text()
}

/// Warns if another coroutine has a transaction open on the connection. Returns `false` if an exception is in flight then.
fn warn(rt: &'static Runtime, frame: Frame, key: usize, does: Does) -> bool {
    let me = rt.owner_id();
    let place = place_of(frame);
    let (text, is_known) = {
        let mut state = STATE.borrow_mut();
        let Some(state) = state.as_mut() else { return true };
        let Some(open) = state.open.get(&key).filter(|open| open.of != me) else { return true };
        if !state.told.insert((place, open.begun.clone())) {
            return true;
        }
        let (what, so) = match does {
            Does::Begins => ("A transaction is begun", "a connection has one at a time"),
            Does::Ends | Does::Executes => ("A statement", "it becomes part of that"),
        };
        let text = format!(
            "{what} on a connection on which coroutine #{} has a transaction open, begun at {}: {so}. Use a connection for each \
             coroutine, as Async\\PooledPDO does",
            open.of, open.begun
        );
        (text, open.is_known)
    };
    if is_known && is_in_transaction(frame) == Some(false) {
        forget(key); // it was ended in a way that was not seen
        return true;
    }
    engine::warn_here(None, 0, &exception::c_text(&text));
    !exception::is_in_flight()
}

/// Asks the connection; `None` if it cannot tell. A class of user code that overrides the method is not asked.
fn is_in_transaction(frame: Frame) -> Option<bool> {
    let this: &Object = frame.this()?;
    let class: Class = frame.function()?.class().filter(|class| class.name().as_bytes() == b"PDO")?;
    let method = class.method(b"intransaction")?;
    let mut result = Value::UNDEF;
    exception::put_aside(|| {
        result = engine::call_method(this, method, &mut []);
        drop(exception::take());
    });
    Some(result.is_truthy())
}

/// What the statements say that a call executes: in its arguments, or prepared by PDO before.
fn said_by(frame: Frame) -> Option<bool> {
    if let Some(class) = frame.function()?.class().filter(|class| class.name().as_bytes() == b"PDOStatement") {
        return frame.this()?.read_property(class, c"queryString").as_str().and_then(says);
    }
    frame.arguments().iter().find_map(Value::as_str).and_then(says)
}

/// Returns `true` if statements leave a transaction open that they begin, `false` if they end it, and `None` for others.
fn says(statements: &Str) -> Option<bool> {
    statements.to_text().split(';').filter_map(says_one).next_back()
}

fn says_one(statement: &str) -> Option<bool> {
    let mut rest = statement.trim_start();
    while let Some(end) = if rest.starts_with("/*") { Some("*/") } else { rest.starts_with("--").then_some("\n") } {
        rest = rest.split_once(end)?.1.trim_start();
    }
    let text = rest.to_ascii_lowercase();
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    match words.next()? {
        "begin" => Some(true),
        "start" => (words.next() == Some("transaction")).then_some(true),
        "commit" | "end" | "abort" => Some(false),
        "rollback" => words.all(|word| word != "to").then_some(false), // to a savepoint
        _ => None,
    }
}
