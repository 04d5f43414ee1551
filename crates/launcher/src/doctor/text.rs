//! The report for people, in a terminal.

use super::report::{Application, Block, Extension, Report, Script, Verdict};
use crate::console::one_line;
use std::fmt::Write as _;

/// Columns of a line.
const WIDTH: usize = 100;
/// Columns of the names on the left.
const NAMES: usize = 15;

/// Collects lines of a name and a value.
struct Page(String);

impl Page {
    fn title(&mut self, title: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0 += title;
        self.0.push('\n');
    }

    /// Adds a value with its name.
    fn row(&mut self, name: &str, value: &str) {
        self.entry(name, NAMES, value);
    }

    fn item(&mut self, value: &str) {
        self.entry("-", 1, value);
    }

    /// Adds a value, which continues below itself where it is too long.
    fn entry(&mut self, name: &str, columns: usize, value: &str) {
        let mut name = name;
        let mut line = String::new();
        let mut end = |line: &mut String| {
            let _ = writeln!(self.0, "  {name:columns$} {line}"); // a String takes everything
            name = "";
            line.clear();
        };
        for word in one_line(value).split(' ') {
            if !line.is_empty() && columns + 4 + line.chars().count() + word.chars().count() > WIDTH {
                end(&mut line);
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        end(&mut line);
    }
}

/// Returns the report as text.
pub fn of(report: &Report) -> String {
    let mut page = Page(String::new());
    if let Some(script) = &report.script {
        of_script(script, &mut page);
        if report.problems.is_empty() && report.notes.is_empty() {
            return page.0;
        }
    } else {
        of_php(report, &mut page);
        of_extensions(&report.extensions, &mut page);
        of_kernel(report, &mut page);
    }
    if !report.notes.is_empty() {
        page.title("Notes");
        for note in &report.notes {
            page.item(note);
        }
    }
    if report.works() {
        if report.script.is_none() {
            page.title("Spindle works in this PHP.");
        }
    } else {
        page.title("Spindle does not work in this PHP:");
        for problem in &report.problems {
            page.item(problem);
        }
    }
    page.0
}

fn of_php(report: &Report, page: &mut Page) {
    let Some(php) = &report.php else { return };
    page.title("PHP");
    page.row("version", &format!("{} ({}), {}", php.version, php.sapi, php.file.display()));
    let threads = if php.thread_safe { "thread-safe (ZTS)" } else { "not thread-safe (NTS)" };
    page.row("build", &format!("{}, {threads}{}", php.build, if php.debug { ", debug" } else { "" }));
    let folder = php.ini_folder.as_ref().map_or(String::new(), |folder| format!(" and {folder}"));
    page.row("settings", &format!("{}{folder}", php.ini.as_deref().unwrap_or("no php.ini")));
    page.row("extensions in", &php.extension_dir);

    page.title("Module");
    let module = &report.module;
    match (&module.version, &module.by) {
        (Some(version), by) => {
            let file = module.file.as_ref().map_or(String::new(), |file| format!(", {}", file.display()));
            page.row(
                "loaded",
                &format!("Spindle {version}{file}, by {}", by.as_deref().unwrap_or("PHP's configuration")),
            );
            page.row(
                "coroutines",
                match module.coroutines_work {
                    Some(true) => "work: one has waited for what another one has sent",
                    Some(false) => "do not work",
                    None => "not tried: this SAPI runs no code from the command line",
                },
            );
        }
        (None, by) => page.row("not loaded", by.as_deref().unwrap_or("it was not tried")),
    }
    if let Some(engine) = &report.engine {
        let on = |is_on: bool| if is_on { "on" } else { "off" };
        let opcache = engine.opcache.as_ref().map_or(
            "not known: this SAPI runs no code from the command line".to_owned(),
            |opcache| {
                if opcache.loaded {
                    format!("{}, JIT {}", on(opcache.on), on(opcache.jit))
                } else {
                    "not loaded".to_owned()
                }
            },
        );
        page.row("opcache", &opcache);
        let xdebug =
            engine.xdebug.as_ref().map_or("not loaded".to_owned(), |modes| format!("loaded, mode {}", modes.join(",")));
        page.row("Xdebug", &xdebug);
        let mut observers = engine.observing_extensions.clone();
        let found = [
            (engine.executor_replaced, "the executor is replaced"),
            (engine.internal_calls_replaced, "calls of internal functions go through an extension"),
            (engine.function_observers, "functions are observed"),
        ];
        observers.extend(found.iter().filter(|(is_so, _)| *is_so == Some(true)).map(|(_, what)| (*what).to_owned()));
        page.row("observers", &if observers.is_empty() { "none found".to_owned() } else { observers.join(", ") });
    }
}

fn of_extensions(extensions: &[Extension], page: &mut Page) {
    if extensions.is_empty() {
        return;
    }
    page.title("Extensions");
    let of = |verdict: Verdict| extensions.iter().filter(move |one| one.verdict == verdict);
    let names = |verdict: Verdict| of(verdict).map(|one| one.name.replace(' ', "_")).collect::<Vec<_>>().join(" ");
    for (verdict, name) in [(Verdict::Proven, "proven"), (Verdict::Serialised, "take turns")] {
        if of(verdict).next().is_some() {
            page.row(name, &names(verdict));
        }
    }
    for (verdict, name) in [(Verdict::MayBlock, "may block"), (Verdict::Blocks, "block")] {
        for (index, one) in of(verdict).enumerate() {
            page.row(if index == 0 { name } else { "" }, &format!("{}: {}", one.name, one.why));
        }
    }
}

fn of_kernel(report: &Report, page: &mut Page) {
    page.title("System");
    let kernel = &report.kernel;
    let container = kernel.container.as_ref().map_or(String::new(), |name| format!(", in a container ({name})"));
    let seccomp = if kernel.seccomp { ", with a filter of system calls (seccomp)" } else { "" };
    page.row("kernel", &format!("Linux {}{container}{seccomp}", kernel.release));
    let works: Vec<_> = kernel.features.iter().filter(|one| one.works).map(|one| one.name.as_str()).collect();
    if kernel.features.is_empty() {
        page.row("features", "not tried: that takes the module");
    } else {
        page.row("works", &works.join(", "));
    }
    for one in kernel.features.iter().filter(|one| !one.works) {
        let name = if one.needed { "missing" } else { "absent" };
        let forbidden = if one.forbidden { " (forbidden)" } else { "" };
        page.row(name, &format!("{}{forbidden}: {}", one.name, one.about.as_deref().unwrap_or_default()));
    }
    let limits = &report.limits;
    let number = |limit: Option<u64>| limit.map_or("unlimited".to_owned(), |limit| limit.to_string());
    page.row(
        "descriptors",
        &format!("{} (ulimit -n), at most {}", number(limits.open_files), number(limits.open_files_hard)),
    );
    let mut memory = vec![format!("{} mappings (vm.max_map_count)", number(limits.max_map_count))];
    memory.extend(limits.address_space.map(|bytes| format!("{bytes} bytes of address space (ulimit -v)")));
    memory.extend(limits.memory.map(|bytes| format!("{} MiB (control group)", bytes >> 20)));
    page.row("memory", &memory.join(", "));
    let mut tasks = vec![format!("{} (ulimit -u)", number(limits.processes))];
    tasks.extend(limits.tasks.map(|tasks| format!("{tasks} (control group)")));
    page.row("threads", &tasks.join(", "));
}

fn of_script(script: &Script, page: &mut Page) {
    page.title(&format!("{}: {}", one_line(&script.file), script.ended));
    if let Some(application) = &script.application {
        of_application(application, page);
    } else if !script.spawned {
        page.item("It has spawned no coroutine: there is no event loop to block.");
    }
    if script.spawned && script.blocks.is_empty() {
        page.item(&format!("Nothing has blocked the event loop for more than {} ms.", script.limit_ms));
    }
    for block in &script.blocks {
        of_block(block, page);
    }
}

fn of_application(application: &Application, page: &mut Page) {
    let found = &application.found;
    if let Some(why) = &found.why {
        return page.row("not booted", why);
    }
    let each = found.bytes as f64 / 1e6;
    let all = each * f64::from(application.instances);
    page.row(
        "instances",
        &format!(
            "{}: each takes {each:.1} MB as it is booted, all together {all:.0} MB, and {:.0} ms to boot",
            application.instances, found.ms
        ),
    );
    page.row(
        "opcache",
        if found.opcache {
            "on: all instances run the same compiled code"
        } else {
            "not loaded: it would make the code faster"
        },
    );
    page.row("JIT", if found.jit { "on" } else { "off" });
    page.row(
        "time slice",
        &format!(
            "{} ms: then an instance that computes gives way to others (async.time_slice_ms)",
            found.time_slice_ms
        ),
    );
    if found.shared.is_empty() {
        page.row("shared", "no objects");
    } else {
        page.row("shared", &format!("objects in {}: make them in the boot", found.shared.join(", ")));
    }
    page.row("", "classes, functions, constants and most settings are the process's");
}

fn of_block(block: &Block, page: &mut Page) {
    let file = if block.file.is_empty() { "an unknown file" } else { &block.file };
    page.row("blocked at", &format!("{file}:{}", block.line));
    let mut what = Vec::new();
    if !block.function.is_empty() {
        what.push(format!("{}()", block.function));
    }
    if !block.system_call.is_empty() {
        let library = if block.library.is_empty() { "an unknown library" } else { &block.library };
        what.push(format!("system call {}, by {library}", block.system_call));
    }
    if !what.is_empty() {
        page.row("in", &what.join(", "));
    }
    let times = if block.times == 1 { "once".to_owned() } else { format!("{} times", block.times) };
    page.row("for", &format!("{} ms in all, {times}, {} ms at the longest", block.total_ms, block.longest_ms));
    page.row("", block.advice);
}
