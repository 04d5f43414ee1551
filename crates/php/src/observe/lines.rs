//! The lines of a dump that say what coroutines do: one for each, and one for many that do the same.

use crate::handles::classify;
use crate::runtime::coroutine::{CoroutineObject, Info, NO_SLOT};
use crate::runtime::describe;
use crate::runtime::scheduler::{Core, Runtime};
use spindle_core::sched::{CoroutineId, State};
use spindle_zend::Function;
use std::collections::BTreeMap;
use std::fmt::Write;

/// From this number on coroutines that do the same have one line.
const MANY: usize = 5;

/// How many ranges of numbers the line of many coroutines has.
const RANGES: usize = 10;

/// What is said of a coroutine.
struct Line {
    id: u64,
    /// Its state, and where it was spawned and is suspended.
    state: String,
    wait: Option<Wait>,
}

/// What a coroutine waits for.
struct Wait {
    text: String,
    /// The same without the descriptor.
    what: String,
    seconds: f64,
}

impl Line {
    /// Returns a key that lines of coroutines share which do the same.
    fn key(&self) -> (String, Option<String>) {
        (self.state.clone(), self.wait.as_ref().map(|wait| wait.what.clone()))
    }

    fn text(&self) -> String {
        let waits = self.wait.as_ref().map(|wait| format!(", waits in {} for {:.1} s", wait.text, wait.seconds));
        format!("#{} {}{}", self.id, self.state, waits.unwrap_or_default())
    }
}

/// Returns the lines of coroutines that are not complete, in their order. Many that do the same have one, at the place of the first.
pub fn of(rt: &'static Runtime, coroutines: &[CoroutineId], over: bool) -> Vec<String> {
    let mut groups: BTreeMap<_, Vec<Line>> = BTreeMap::new();
    for co in coroutines {
        let line = line(rt, *co, over);
        groups.entry(line.key()).or_default().push(line);
    }
    let mut lines = BTreeMap::new();
    for group in groups.into_values() {
        if group.len() >= MANY {
            lines.insert(group[0].id, text_of_many(&group));
        } else {
            lines.extend(group.into_iter().map(|line| (line.id, line.text())));
        }
    }
    lines.into_values().collect()
}

/// Returns `#2 to #51 (50 coroutines) suspended, …, each waits in poll() for 0.1 to 0.3 s`.
fn text_of_many(group: &[Line]) -> String {
    let mut text = format!("{} ({} coroutines) {}", ranges(group), group.len(), group[0].state);
    let waits = || group.iter().filter_map(|line| line.wait.as_ref());
    if let Some(Wait { what, .. }) = waits().next() {
        let least = format!("{:.1}", waits().map(|wait| wait.seconds).fold(f64::MAX, f64::min));
        let most = format!("{:.1}", waits().map(|wait| wait.seconds).fold(0.0, f64::max));
        let range = if least == most { most } else { format!("{least} to {most}") };
        let _ = write!(text, ", each waits in {what} for {range} s");
    }
    text
}

/// Returns `#2 to #40, #45`.
fn ranges(group: &[Line]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for line in group {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == line.id => *last = line.id,
            _ => ranges.push((line.id, line.id)),
        }
    }
    let mut texts: Vec<String> = ranges
        .iter()
        .take(RANGES)
        .map(|(first, last)| if first == last { format!("#{first}") } else { format!("#{first} to #{last}") })
        .collect();
    if ranges.len() > RANGES {
        texts.push("…".to_owned());
    }
    texts.join(", ")
}

fn line(rt: &'static Runtime, co: CoroutineId, over: bool) -> Line {
    let this = rt.object(co);
    let core = rt.core.borrow();
    let state = core.state(co);
    let id = core.id(co);
    let mut text = match state {
        _ if over => "abandoned",
        State::Queued => "queued, not started",
        State::Ready => "queued",
        State::Running => "running",
        State::Parked => "suspended",
        State::Ending => "ending",
        State::Done => "completed",
    }
    .to_owned();
    if core.is_zombie(co) {
        text += ", zombie";
    }
    if core.is_cancel_requested(co) {
        text += ", cancellation requested";
    }
    if let Some(job) = this.job() {
        let (what, of) = job.about();
        let _ = write!(text, ", {what}");
        if let Some(of) = of {
            let id = if of.co.get() == NO_SLOT { 0 } else { core.id(of.co.get()) };
            let _ = write!(text, " #{id}");
        }
    } else if co == Core::MAIN {
        text += ", the script itself";
    } else {
        let _ = write!(text, ", spawned at {}", this.spawned_at.text());
    }
    if core.has_outcome(co) && state != State::Done {
        text += ", in the callbacks for its end";
    }
    if matches!(state, State::Parked | State::Ready) && core.has_stack(co) {
        let _ = write!(text, ", suspended at {}{}", this.suspended_at.text(), inside(rt, this));
    }
    drop(core);
    if state == State::Ending {
        let _ = write!(text, ", waits for {}", describe::children_of(rt, co));
    }
    let info = Some(this.info()).filter(|info| state == State::Parked && !info.call.is_empty());
    let wait = info.map(|info| Wait {
        text: describe::wait_of(rt, co, &info),
        what: describe::wait_of(rt, co, &Info { fd: -1, ..info }),
        seconds: info.seconds(),
    });
    Line { id, state: text, wait }
}

/// Returns ` in curl_exec()` if the coroutine is suspended in a function of an extension whose name the wait does not have.
fn inside(rt: &'static Runtime, this: &CoroutineObject) -> String {
    let frame = rt.frame_of(this).filter(|frame| frame.function().is_some_and(Function::is_internal));
    let name = frame.map_or(String::new(), |frame| classify::name_of_call(Some(frame)));
    // Those of this module are what it waits in.
    if name.is_empty() || name.starts_with("Async\\") || name.trim_end_matches("()") == this.info().call {
        return String::new();
    }
    format!(" in {name}")
}
