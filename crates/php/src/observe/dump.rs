//! The dump: the scopes and their coroutines, and what each waits for.

use crate::observe::lines;
use crate::runtime::coroutine::CoroutineObject;
use crate::runtime::scheduler::{Core, Runtime, rt};
use crate::runtime::{failure, report, scope};
use spindle_core::sched::{CoroutineId, Lifetime, ScopeId, State};
use spindle_zend::{Array, Call, PhpResult, Str, Value, engine, exception, functions};
use std::fmt::Write;

/// Scopes deeper than this are not indented further.
const INDENTED: usize = 32;

/// Returns `1 coroutine`, `2 coroutines`.
fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// Returns the text of the dump. Runs no PHP code.
pub fn text(rt: &'static Runtime) -> String {
    let over = rt.has_ended();
    let (mut scopes, mut roots, live) = {
        let core = rt.core.borrow();
        let live = core.coroutines().filter(|co| !(over && *co == Core::MAIN)).count();
        (0, core.root_scopes(), live)
    };
    if over && live == 0 {
        return "Async\\dump: no coroutine is left\n".to_owned();
    }
    roots.reverse();
    let mut open: Vec<(ScopeId, usize)> = roots.into_iter().map(|id| (id, 0)).collect();
    let mut list = String::new();
    let runners: Vec<CoroutineId> = {
        let core = rt.core.borrow();
        core.coroutines().filter(|co| is_runner(rt, *co)).collect()
    };
    while let Some((id, depth)) = open.pop() {
        scopes += 1;
        let (mut members, below, others) = {
            let core = rt.core.borrow();
            let others: Vec<CoroutineId> = runners.iter().copied().filter(|co| core.scope_of(*co) == id).collect();
            (core.members(id), core.child_scopes(id), others)
        };
        members.retain(|co| !(over && *co == Core::MAIN));
        let indent = "  ".repeat(depth.min(INDENTED));
        let _ = writeln!(list, "{indent}{}: {}", scope_line(rt, id), count(members.len(), "coroutine"));
        for line in lines::of(rt, &members, over).into_iter().chain(lines::of(rt, &others, over)) {
            let _ = writeln!(list, "{indent}  {line}");
        }
        if id == Core::GLOBAL {
            for this in failure::unseen_failures(rt) {
                let _ = writeln!(list, "{indent}  {}", failed_line(rt, &this));
            }
        }
        open.extend(below.into_iter().rev().map(|id| (id, depth + 1)));
    }
    let coroutines = count(live - runners.len(), "coroutine");
    let after = if over { ", and none of them runs again" } else { "" };
    format!("Async\\dump: {coroutines} in {}{after}\n{list}", count(scopes, "scope"))
}

fn is_runner(rt: &'static Runtime, co: CoroutineId) -> bool {
    rt.object(co).job().is_some()
}

fn scope_line(rt: &'static Runtime, id: ScopeId) -> String {
    let mut text = match scope::existing_record(rt, id) {
        _ if id == Core::GLOBAL => "global scope".to_owned(),
        Some(record) => {
            let class = if record.is_bounded { "BoundedScope" } else { "Scope" };
            format!("{class} created at {}", record.created_at.text())
        }
        None => "Scope".to_owned(), // it is being created
    };
    let core = rt.core.borrow();
    text += match core.lifetime(id) {
        Lifetime::Scope => ", lifetime scope",
        Lifetime::TopDown => ", lifetime top-down",
        Lifetime::BottomUp => ", lifetime bottom-up",
    };
    let words = [
        (core.is_cancelled(id), ", cancelled"),
        (core.is_disposed(id), ", disposed"),
        (!core.is_closed(id), ", open"),
        (core.has_completed(id), ", finished"),
    ];
    text.extend(words.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word));
    text
}

/// Returns the line of a failed coroutine that has not been awaited and whose object user code holds.
fn failed_line(rt: &'static Runtime, this: &CoroutineObject) -> String {
    let id = rt.core.borrow().id(this.co.get());
    let failure = this.exception.get().map_or(String::new(), |failure| report::described(&failure));
    format!("#{id} failed, not awaited, spawned at {}: {failure}", this.spawned_at.text())
}

/// How many coroutines are told of a scope, and how many frames of the stack of each.
const TOLD: usize = 20;

/// Returns lines with the coroutines of a scope and of those below it, each with its stack. Runs no PHP code.
pub fn of_scope(rt: &'static Runtime, scope: ScopeId) -> String {
    let mut all = Vec::new();
    let mut open = vec![scope];
    while let Some(id) = open.pop() {
        let core = rt.core.borrow();
        if core.scope_exists(id) {
            all.extend(core.members(id));
            open.extend(core.child_scopes(id).into_iter().rev());
        }
    }
    let mut text = String::new();
    for co in all.iter().take(TOLD) {
        let _ = writeln!(text, "  {}", lines::of(rt, &[*co], false).concat());
        text += &stack(rt, *co);
    }
    if all.len() > TOLD {
        let _ = writeln!(text, "  and {} more", all.len() - TOLD);
    }
    text
}

/// Returns the stack of a coroutine, the innermost call first.
fn stack(rt: &'static Runtime, co: CoroutineId) -> String {
    let has_stack = {
        let core = rt.core.borrow();
        core.has_stack(co) && matches!(core.state(co), State::Parked | State::Ready | State::Running)
    };
    let frame = has_stack.then(|| rt.frame_of(rt.object(co))).flatten();
    let Some(frame) = frame else { return String::new() };
    let trace = engine::backtrace(frame, WITHOUT_ARGUMENTS, TOLD as i32);
    let mut text = String::new();
    if rt.core.borrow().state(co) == State::Running
        && let Some((file, line)) = frame.position()
    {
        let _ = writeln!(text, "    at {}", exception::place(file, line)); // of others their line says it
    }
    for (number, frame) in trace.as_array().into_iter().flat_map(Array::values_in_order).enumerate() {
        let Some(frame) = frame.as_array() else { continue };
        let part =
            |name: &str| frame.get_text(name.as_bytes()).and_then(Value::as_str).map_or(String::new(), Str::to_text);
        let line = frame.get_text(b"line").and_then(Value::as_long).map_or(String::new(), |line| format!("({line})"));
        let file = Some(part("file")).filter(|file| !file.is_empty()).unwrap_or("[internal function]".to_owned());
        let _ = writeln!(text, "    #{number} {file}{line}: {}{}{}()", part("class"), part("type"), part("function"));
    }
    text
}

/// `DEBUG_BACKTRACE_IGNORE_ARGS`.
const WITHOUT_ARGUMENTS: i32 = 2;

/// How long to wait until standard error is ready, in milliseconds.
const STDERR_TIMEOUT_MS: i32 = 1000;

/// Writes the text to standard error, bypassing PHP's output, because this may be called in the middle of anything. The
/// reader may be a coroutine of this process, which cannot run now: if it does not read in time, the rest is dropped.
pub fn to_stderr(rt: &'static Runtime) {
    let text = text(rt);
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let mut poll = libc::pollfd { fd: libc::STDERR_FILENO, events: libc::POLLOUT, revents: 0 };
        // A pipe that is ready takes this many bytes in one write.
        let length = rest.len().min(libc::PIPE_BUF);
        // SAFETY: one valid entry. This object's calls are libc's own, not the hooks.
        let written = match unsafe { libc::poll(&mut poll, 1, STDERR_TIMEOUT_MS) } {
            // SAFETY: a slice's own bytes.
            1 => unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), length) },
            ready => ready as isize,
        };
        match written {
            0 => return,
            written if written > 0 => rest = &rest[written as usize..],
            _ if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

functions! {
    zif_Async_dump => dump;
}

/// Implements `dump()`. Output may run PHP code and wait.
fn dump(call: Call) -> PhpResult {
    call.no_arguments()?;
    engine::print(&text(rt()));
    Ok(Value::NULL)
}
