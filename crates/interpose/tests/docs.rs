//! The tables of calls in docs/io.md are the tables of hooks. `UPDATE_DOCS=1 cargo test -p spindle-interpose --test docs`
//! writes them there.

use spindle_interpose::paths;
use spindle_interpose::table::{self, Entry, Means, Way};
use std::path::Path;

const BEGIN: &str = "<!-- the table of hooks, made by crates/interpose/tests/docs.rs -->\n";
const BEGIN_PATHS: &str = "<!-- the table of hooks on paths, made by crates/interpose/tests/docs.rs -->\n";
const END: &str = "<!-- end of the table of hooks -->\n";

/// The name that people know a function by: `pread` for `__pread64_chk` and the like, if that one is hooked as well.
fn plain<'n>(name: &'n str, all: &[&str]) -> &'n str {
    let mut short = name.trim_start_matches('_');
    for ending in ["_chk", "_2", "64"] {
        short = short.strip_suffix(ending).unwrap_or(short);
    }
    [short, name.trim_start_matches('_')].into_iter().find(|name| all.contains(name)).unwrap_or(name)
}

fn means(means: Means) -> &'static str {
    match means {
        Means::Readiness => "readiness",
        Means::Worker => "worker thread",
        Means::Timer => "timer",
        Means::Child => "child",
        Means::Signal => "signal",
        Means::Waking => "waking",
        Means::Books => "never waits",
    }
}

/// One line for each way to wait, in the order of the table; what never waits comes last.
fn markdown(entries: &[Entry]) -> String {
    let names: Vec<&str> = entries.iter().map(|e| e.hook.name.to_str().expect("ASCII")).collect();
    let mut rows: Vec<(Way, Vec<&str>)> = Vec::new();
    for (entry, name) in entries.iter().zip(&names).filter(|(_, name)| plain(name, &names) == **name) {
        match rows.iter_mut().find(|(way, _)| *way == entry.way) {
            Some((_, names)) => names.push(name),
            None => rows.push((entry.way, vec![name])),
        }
    }
    rows.sort_by_key(|(way, _)| way.means == Means::Books);
    let mut text = "| calls | waits by | how it gives way | when it is cancelled |\n|---|---|---|---|\n".to_owned();
    for (way, names) in rows {
        text += &format!("| `{}` | {} | {} | {} |\n", names.join("` `"), means(way.means), way.about, way.cancelled);
    }
    text
}

#[test]
fn io_md_lists_the_hooks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/io.md");
    let page = std::fs::read_to_string(&path).expect("docs/io.md");
    let mut wanted = page.clone();
    for (begin, entries) in [(BEGIN, table::all()), (BEGIN_PATHS, paths::entries())] {
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
