//! What `php --ri spindle` prints of this PHP and this kernel: rows of a name and a value. `spindle doctor` reads them.

use crate::engine::hooks;
use crate::handles::verdicts;
use crate::stack::{guard, memory};
use spindle_reactor::kernel;
use spindle_zend::{Extension, engine};
use std::io::Error;

/// Returns the rows about other extensions: what the verdicts are, and who observes calls.
pub fn extensions() -> Vec<(String, String)> {
    let mut names: Vec<_> = Extension::all().map(Extension::name).filter(|name| name != "spindle").collect();
    names.sort();
    let verdicts = names.iter().map(|name| (format!("Extension {name}"), verdicts::in_words(name).to_owned()));
    let engine = engine::engine_extensions().into_iter();
    let excluded = engine.map(|file| (format!("Excluded {file}"), "blocks: loaded by zend_extension".to_owned()));
    let named = engine::setting(c"async.interpose_exclude");
    let named = named.split(',').map(str::trim).filter(|name| !name.is_empty());
    let named = named.map(|name| (format!("Excluded {name}"), "blocks: named by async.interpose_exclude".to_owned()));
    verdicts.chain(excluded).chain(named).chain(observers()).collect()
}

fn observers() -> impl Iterator<Item = (String, String)> {
    let seen = hooks::call_observers();
    let row =
        |name: &str, is_so: bool, so: &str, else_: &str| (name.to_owned(), if is_so { so } else { else_ }.to_owned());
    [
        row("Executor", seen.executor, "replaced by an extension: PHP calls use the C stack", "PHP's own"),
        row("Calls of internal functions", seen.internal_calls, "go through an extension", "direct"),
        row("Observers of functions", seen.functions, "installed", "none"),
    ]
    .into_iter()
}

/// Returns the rows about the kernel, whose features are tested for this.
pub fn kernel() -> Vec<(String, String)> {
    let row = |name: &str, outcome: Result<(), i32>, needed: bool, since: &str, about: &str| {
        let word = if needed { "missing" } else { "absent" };
        let outcome = match outcome {
            Ok(()) => "works".to_owned(),
            Err(errno) => format!("{word}: {}, there since Linux {since}; {about}", reason(errno)),
        };
        (format!("Kernel {name}"), outcome)
    };
    let mut rows: Vec<_> =
        kernel::try_features().iter().map(|f| row(f.name, f.outcome, f.needed, f.since, f.about)).collect();
    let guarded = match guard::try_out() {
        Ok(guard::Kind::Advised) => Ok(()),
        Ok(guard::Kind::Mapped) => Err(libc::EINVAL),
        Err(errno) => Err(errno),
    };
    rows.push(row(
        "MADV_GUARD_INSTALL",
        guarded,
        false,
        "6.13",
        "without it each stack takes a memory mapping of its own (vm.max_map_count)",
    ));
    rows.push(row(
        "MADV_WIPEONFORK",
        wiped_on_fork(),
        false,
        "4.14",
        "without it forks by raw system calls are not noticed",
    ));
    rows
}

fn wiped_on_fork() -> Result<(), i32> {
    let page = memory::page_size();
    let start = memory::map(page, 0)?;
    let works = memory::advise(start, page, libc::MADV_WIPEONFORK);
    let error = Error::last_os_error().raw_os_error().unwrap_or(0);
    memory::unmap(start, page);
    if works { Ok(()) } else { Err(error) }
}

/// Returns the name and number of an error, as `Operation not permitted (1)`.
fn reason(errno: i32) -> String {
    let text = Error::from_raw_os_error(errno).to_string();
    format!("{} (errno {errno})", text.split(" (os error").next().unwrap_or_default())
}
