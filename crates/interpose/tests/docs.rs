//! The tables of calls in docs/io.md are the tables of hooks. `UPDATE_DOCS=1 cargo test -p spindle-interpose --test docs`
//! writes them there.

use spindle_interpose::hooks::path;
use spindle_interpose::registry::{Behavior, HookedCall, WaitKind};
use std::path::Path;

const BEGIN: &str = "<!-- the table of hooks, made by crates/interpose/tests/docs.rs -->\n";
const BEGIN_PATHS: &str = "<!-- the table of hooks on paths, made by crates/interpose/tests/docs.rs -->\n";
const END: &str = "<!-- end of the table of hooks -->\n";

/// Returns the common name of a function: `pread` for `__pread64_chk` and the like, if that one is hooked as well.
fn plain<'n>(name: &'n str, all: &[&str]) -> &'n str {
    let mut short = name.trim_start_matches('_');
    for ending in ["_chk", "_2", "64"] {
        short = short.strip_suffix(ending).unwrap_or(short);
    }
    [short, name.trim_start_matches('_')].into_iter().find(|name| all.contains(name)).unwrap_or(name)
}

fn waits_for(wait: WaitKind) -> &'static str {
    match wait {
        WaitKind::Readiness => "readiness",
        WaitKind::Worker => "thread pool",
        WaitKind::Timer => "timer",
        WaitKind::Child => "child process",
        WaitKind::Signal => "signal",
        WaitKind::Queue => "wait queue",
        WaitKind::Never => "never waits",
    }
}

/// Returns one row for each behavior, in the order of the list; calls that never wait come last.
fn markdown(calls: &[HookedCall]) -> String {
    let names: Vec<&str> = calls.iter().map(|call| call.hook.name.to_str().expect("ASCII")).collect();
    let mut rows: Vec<(Behavior, Vec<&str>)> = Vec::new();
    for (call, name) in calls.iter().zip(&names).filter(|(_, name)| plain(name, &names) == **name) {
        match rows.iter_mut().find(|(behavior, _)| *behavior == call.behavior) {
            Some((_, names)) => names.push(name),
            None => rows.push((call.behavior, vec![name])),
        }
    }
    rows.sort_by_key(|(behavior, _)| behavior.wait == WaitKind::Never);
    let mut text = "| calls | wait for | how they suspend | when cancelled |\n|---|---|---|---|\n".to_owned();
    for (behavior, names) in rows {
        let (wait, names) = (waits_for(behavior.wait), names.join("` `"));
        text += &format!("| `{names}` | {wait} | {} | {} |\n", behavior.summary, behavior.on_cancel);
    }
    text
}

#[test]
fn io_md_lists_the_hooks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/io.md");
    let page = std::fs::read_to_string(&path).expect("docs/io.md");
    let mut wanted = page.clone();
    for (begin, entries) in [(BEGIN, spindle_interpose::hooked_calls()), (BEGIN_PATHS, path::hooked_calls())] {
        let (before, rest) = wanted.split_once(begin).expect("the line before the table");
        let (_, after) = rest.split_once(END).expect("the line after the table");
        wanted = format!("{before}{begin}{}{END}{after}", markdown(&entries));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).expect("docs/io.md is written");
        return;
    }
    assert_eq!(page, wanted, "docs/io.md is not up to date: UPDATE_DOCS=1 cargo test -p spindle-interpose --test docs");
}
