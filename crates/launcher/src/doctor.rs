//! `spindle doctor`: whether and how Spindle works in a PHP, and what blocks the event loop in a script.
//!
//! No PHP is linked: it runs as a child, as it is configured.

mod elf;
pub(crate) mod facts;
pub(crate) mod php;
mod refusals;
mod report;
mod script;
mod system;
mod text;

use crate::console::{self, Status};
use lexopt::{Arg, Parser, ValueExt};
use php::Php;
use report::{Module, Report};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Usage: spindle doctor [OPTION]...
       spindle doctor [OPTION]... SCRIPT [ARGUMENT]...
       spindle doctor --mode application [OPTION]... APP [ARGUMENT]...

Says whether Spindle works in a PHP, and why not: the PHP, its build and its
other extensions, the features of the kernel, limits. With a SCRIPT it then runs
that, and reports what has blocked the event loop. Of an APP, which is a file
for 'spindle serve --mode application', it boots two instances, and says what
each costs and what all share.

  --php FILE        the PHP to examine; without it the php on the PATH
  --extension FILE  the spindle.so to load if PHP's configuration loads none;
                    without it the one in PHP's extension folder, or the one
                    beside this command
  --limit MS        reports what blocks a SCRIPT's event loop for longer than
                    this; without it 50
  --instances N     how many instances of an APP are meant; without it 16
  --json            prints JSON. What the SCRIPT prints goes to standard error
  -h, --help        prints this

Exit status:
  0    it works, and the SCRIPT has ended with status 0 and blocked nothing
  1    it does not
  2    the arguments are wrong, and nothing was done
  141  nobody reads the output any more
";

pub(crate) struct Request {
    php: OsString,
    extension: Option<PathBuf>,
    limit: u32,
    json: bool,
    /// A script and its arguments.
    script: Vec<OsString>,
    /// The script is an application, of which this many instances are meant.
    instances: Option<u32>,
}

/// Runs the command. `Err` is an error in the arguments.
pub fn run(arguments: &mut Parser) -> Result<Status, String> {
    let Some(request) = parse(arguments).map_err(|error| error.to_string())? else {
        return Ok(console::print(HELP.as_bytes()));
    };
    if let Some(script) = request.script.first()
        && !Path::new(script).is_file()
    {
        return Err(format!("there is no script '{}'", script.to_string_lossy()));
    }
    let mut report = examine(&request);
    if !request.script.is_empty() && report.works() {
        script::run(&request, &mut report);
    }
    let printed = if request.json {
        console::print(report.json().as_bytes())
    } else {
        console::print(text::of(&report).as_bytes())
    };
    Ok(if printed != Status::Fine || report.is_fine() { printed } else { Status::Failed })
}

/// `None` when help is wanted.
fn parse(arguments: &mut Parser) -> Result<Option<Request>, lexopt::Error> {
    let mut request =
        Request { php: "php".into(), extension: None, limit: 50, json: false, script: Vec::new(), instances: None };
    let (mut is_application, mut instances) = (false, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("php") => request.php = arguments.value()?,
            Arg::Long("extension") => request.extension = Some(arguments.value()?.into()),
            Arg::Long("limit") => request.limit = arguments.value()?.parse_with(limit)?,
            Arg::Long("json") => request.json = true,
            Arg::Long("mode") => is_application = arguments.value()?.parse_with(mode)?,
            Arg::Long("instances") => instances = Some(arguments.value()?.parse_with(count)?),
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(script) => {
                request.script.push(script);
                request.script.extend(arguments.raw_args()?);
            }
            option => return Err(option.unexpected()),
        }
    }
    if is_application && request.script.is_empty() {
        return Err("--mode application is for an APP".into());
    }
    if instances.is_some() && !is_application {
        return Err("--instances is for --mode application".into());
    }
    request.instances = is_application.then(|| instances.unwrap_or(16));
    Ok(Some(request))
}

fn mode(text: &str) -> Result<bool, &'static str> {
    if text == "application" { Ok(true) } else { Err("--mode takes 'application'") }
}

fn count(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|count| (1..=4096).contains(count)).ok_or("--instances takes a number from 1 to 4096")
}

fn limit(text: &str) -> Result<u32, &'static str> {
    text.parse().ok().filter(|ms| (1..=86_400_000).contains(ms)).ok_or("--limit takes milliseconds, from 1 to 86400000")
}

/// Examines PHP as it is configured, and, if its configuration does not load the module, with the module loaded.
fn examine(request: &Request) -> Report {
    let mut report = Report::new(system::System::examine());
    let php = match Php::find(&request.php, php::PATIENCE) {
        Ok(php) => php,
        Err(why) => return report.with_problem(why),
    };
    let configured = php.probe(None);
    let facts = match &configured.facts {
        Some(facts) => facts.clone(),
        // An extension that refuses to start ends PHP.
        None => {
            let why = refusals::of_module(&configured.messages, &facts::Facts::default());
            return report.with_problem(why.unwrap_or_else(|| configured.no_facts()));
        }
    };
    report.php = Some(report::Php::new(php.file.clone(), &facts));
    report.problems.extend(refusals::of_php(&facts));
    if facts.spindle.is_some() {
        let file = facts.module_file().or_else(|| request.extension.clone());
        if request.extension.is_some() {
            report.notes.push("PHP's configuration loads Spindle already: --extension is not used".to_owned());
        }
        report.module = Module::loaded("PHP's configuration", file);
        report.learn(&facts, &configured);
        return report;
    }
    if let Some(why) = refusals::of_module(&configured.messages, &facts) {
        // The configuration tries to load it. Another file would not help.
        report.module = Module::absent("PHP's configuration");
        report.learn(&facts, &configured);
        return report.with_problem(why);
    }
    let candidates = candidates(request.extension.as_deref(), &facts.extension_dir);
    let Some(file) = candidates.iter().find(|file| file.is_file()) else {
        report.learn(&facts, &configured);
        let tried: Vec<_> = candidates.iter().map(|file| file.display().to_string()).collect();
        return report.with_problem(format!(
            "no spindle.so: PHP's configuration loads none, and there is no {}; 'make install' installs it",
            tried.join(" and no ")
        ));
    };
    if !report.problems.is_empty() {
        report.learn(&facts, &configured);
        return report; // PHP would refuse it anyway, in other words
    }
    let with = php.probe(Some(file));
    report.module = Module::absent(&format!("{} (PHP's configuration does not load it)", file.display()));
    match &with.facts {
        None => {
            let why = refusals::of_module(&with.messages, &facts);
            report.problems.push(why.unwrap_or_else(|| format!("with {}: {}", file.display(), with.no_facts())));
            report.learn(&facts, &configured);
        }
        Some(loaded) if loaded.spindle.is_some() => {
            let written = format!("extension={}", file.display());
            report.notes.push(format!(
                "PHP's configuration does not load Spindle: 'make install', or '{written}' in {}",
                facts.ini()
            ));
            report.module = Module::loaded("this command", Some(file.clone()));
            report.learn(loaded, &with);
        }
        Some(loaded) => {
            let why = refusals::of_module(&with.messages, loaded);
            report
                .problems
                .push(why.unwrap_or_else(|| format!("PHP does not load {}, and does not say why", file.display())));
            report.learn(&facts, &configured);
        }
    }
    report
}

/// The files that may be the module, the best one first.
pub(crate) fn candidates(extension: Option<&Path>, extension_dir: &str) -> Vec<PathBuf> {
    if let Some(file) = extension {
        return vec![std::path::absolute(file).unwrap_or_else(|_| file.to_owned())];
    }
    let beside = std::env::current_exe().ok().map(|command| command.with_file_name("spindle.so"));
    [Some(Path::new(extension_dir).join("spindle.so")), beside].into_iter().flatten().collect()
}
