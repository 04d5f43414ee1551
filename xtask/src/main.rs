//! The door to the suites of tests, and checks of the tree that no compiler makes, which `make lint` runs.

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

mod commits;
mod dependencies;
mod floors;
mod json;
mod judge;
mod map;
mod modules;
mod paths;
mod rules;
mod suites;
mod test;
mod tree;
mod version;
mod words;

/// Looks at the tree in a folder. Returns what it has looked at, or one line for each thing that is wrong.
type Check = fn(&Path) -> Result<String, Vec<String>>;

/// What `cargo xtask lint` runs: name, what it checks, the check.
const CHECKS: &[(&str, &str, Check)] = &[
    ("commits", "subjects of the last commits", commits::check),
    (
        "dependencies",
        "sources, licenses and Rust versions of the crates in Cargo.lock, and why each is used",
        dependencies::check,
    ),
    (
        "floors",
        "which modules of a crate use which: no large circles, and none above in its list `floors`",
        floors::check,
    ),
    ("map", "the length of ARCHITECTURE.md, and its picture of the floors", map::check),
    ("paths", "links and paths in documents, and names and make targets in the guides, exist", paths::check),
    ("rules", "rules that the tree cites, against docs/rules.md", rules::check),
    ("version", "crates, changelog and documents have the version of the workspace", version::check),
    ("words", "phrases that documents and comments must not have", words::check),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    match &arguments[..] {
        [word, names @ ..] if word == "lint" => lint(names),
        [word, words @ ..] if word == "test" => test::run(&root(), words),
        [word, name] if word == "floors" => match floors::print(&root().join("crates").join(name)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("xtask: {name}: {error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("{}", test::USAGE);
            eprintln!("xtask lint [CHECK...]          runs the checks named, or all of them:");
            eprintln!("xtask floors CRATE              prints the files of a crate, those first that use no others");
            for (name, about, _) in CHECKS {
                eprintln!("  {name:<16} {about}");
            }
            ExitCode::from(2)
        }
    }
}

/// Runs the checks with these names, or all of them, and prints what each one found.
fn lint(names: &[String]) -> ExitCode {
    if let Some(unknown) = names.iter().find(|name| CHECKS.iter().all(|(known, ..)| known != name)) {
        eprintln!("xtask: there is no check named {unknown}");
        return ExitCode::from(2);
    }
    let root = root();
    let mut status = ExitCode::SUCCESS;
    for (name, _, check) in CHECKS.iter().filter(|(name, ..)| names.is_empty() || names.iter().any(|n| n == name)) {
        match check(&root) {
            Ok(seen) => println!("{name}: {seen}"),
            Err(complaints) => {
                status = ExitCode::FAILURE;
                for complaint in complaints {
                    eprintln!("{name}: {complaint}");
                }
            }
        }
    }
    status
}

/// Returns the project's folder.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the project's folder").to_owned()
}
