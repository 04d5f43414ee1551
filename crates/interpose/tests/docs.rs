//! The table of calls in docs/io.md is the table of hooks. `UPDATE_DOCS=1 cargo test -p spindle-interpose --test docs`
//! writes it there.

use spindle_interpose::table;
use std::path::Path;

const BEGIN: &str = "<!-- the table of hooks, made by crates/interpose/tests/docs.rs -->\n";
const END: &str = "<!-- end of the table of hooks -->\n";

/// The name that people know a function by: `pread` for `__pread64_chk` and the like, if that one is hooked as well.
fn plain<'n>(name: &'n str, all: &[&str]) -> &'n str {
    let mut short = name.trim_start_matches('_');
    for ending in ["_chk", "_2", "64"] {
        short = short.strip_suffix(ending).unwrap_or(short);
    }
    [short, name.trim_start_matches('_')].into_iter().find(|name| all.contains(name)).unwrap_or(name)
}

/// One line for each way to wait, in the order of the table; what never waits comes last.
fn markdown() -> String {
    let entries = table::all();
    let names: Vec<&str> = entries.iter().map(|e| e.hook.name.to_str().expect("ASCII")).collect();
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for (entry, name) in entries.iter().zip(&names).filter(|(_, name)| plain(name, &names) == **name) {
        match rows.iter_mut().find(|(about, _)| *about == entry.about) {
            Some((_, names)) => names.push(name),
            None => rows.push((entry.about, vec![name])),
        }
    }
    let never = |about: &str| about.starts_with("never ") && !about.contains(", but ");
    rows.sort_by_key(|(about, _)| never(about));
    let mut text = "| calls | how they give way |\n|---|---|\n".to_owned();
    for (about, names) in rows {
        text += &format!("| `{}` | {about} |\n", names.join("` `"));
    }
    text
}

#[test]
fn io_md_lists_the_hooks() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/io.md");
    let page = std::fs::read_to_string(&path).expect("docs/io.md");
    let (before, rest) = page.split_once(BEGIN).expect("the line before the table");
    let (table, after) = rest.split_once(END).expect("the line after the table");
    let wanted = markdown();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).expect("docs/io.md is written");
        return;
    }
    assert_eq!(
        table, wanted,
        "docs/io.md is not up to date: UPDATE_DOCS=1 cargo test -p spindle-interpose --test docs"
    );
}
