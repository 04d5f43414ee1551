//! What `spindle doctor` reports: `--json` prints these fields.

use super::{
    elf,
    facts::{Facts, Opcache},
    php::Probe,
    refusals,
    system::{Limits, System},
};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Serialize)]
pub struct Report {
    /// The version of this command.
    pub doctor: &'static str,
    /// Why it does not work.
    pub problems: Vec<String>,
    /// What to know although it works.
    pub notes: Vec<String>,
    pub php: Option<Php>,
    pub module: Module,
    pub engine: Option<Engine>,
    pub extensions: Vec<Extension>,
    pub kernel: Kernel,
    pub limits: Limits,
    pub script: Option<Script>,
}

#[derive(Serialize)]
pub struct Php {
    pub version: String,
    pub sapi: String,
    pub file: PathBuf,
    /// The engine's API and how it was built, as `API20220829,NTS`.
    pub build: String,
    pub thread_safe: bool,
    pub debug: bool,
    pub ini: Option<String>,
    pub ini_folder: Option<String>,
    pub extension_dir: String,
}

impl Php {
    pub fn new(file: PathBuf, facts: &Facts) -> Php {
        let mut scanned = facts.php_ini_scanned_files.split(',').map(str::trim).filter(|file| !file.is_empty());
        Php {
            version: facts.version.clone(),
            sapi: facts.sapi.clone(),
            file,
            build: facts.build.clone(),
            thread_safe: facts.zts,
            debug: facts.debug,
            ini: (!facts.php_ini_loaded_file.is_empty()).then(|| facts.php_ini_loaded_file.clone()),
            ini_folder: scanned.next_back().and_then(|file| Some(file.rsplit_once('/')?.0.to_owned())),
            extension_dir: facts.extension_dir.clone(),
        }
    }
}

#[derive(Serialize, Default)]
pub struct Module {
    pub loaded: bool,
    pub version: Option<String>,
    pub file: Option<PathBuf>,
    /// What loads it.
    pub by: Option<String>,
    /// Whether two coroutines behaved as they should; unknown if no code was run.
    pub coroutines_work: Option<bool>,
}

impl Module {
    pub fn loaded(by: &str, file: Option<PathBuf>) -> Module {
        Module { loaded: true, by: Some(by.to_owned()), file, ..Module::default() }
    }

    pub fn absent(by: &str) -> Module {
        Module { by: Some(by.to_owned()), ..Module::default() }
    }
}

/// What of the engine was changed by others.
#[derive(Serialize)]
pub struct Engine {
    /// `None` where no code was run.
    pub opcache: Option<Opcache>,
    /// The modes of Xdebug; `None` without it.
    pub xdebug: Option<Vec<String>>,
    /// Extensions that are known to observe calls.
    pub observing_extensions: Vec<String>,
    pub executor_replaced: Option<bool>,
    pub internal_calls_replaced: Option<bool>,
    pub function_observers: Option<bool>,
}

#[derive(Clone, Copy, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its calls are known to be safe to suspend while others run.
    Proven,
    /// One call of it at a time is in progress.
    Serialised,
    /// The same, and there are signs that its calls wait in ways that Spindle does not see.
    MayBlock,
    /// Its calls block all coroutines.
    Blocks,
}

#[derive(Serialize)]
pub struct Extension {
    pub name: String,
    pub version: Option<String>,
    pub verdict: Verdict,
    pub why: String,
}

#[derive(Serialize)]
pub struct Kernel {
    pub release: String,
    /// The container that this runs in, as far as it can be told.
    pub container: Option<String>,
    /// Whether a filter of system calls is active.
    pub seccomp: bool,
    /// Features, as the module has tried them; none without the module.
    pub features: Vec<Feature>,
}

#[derive(Serialize)]
pub struct Feature {
    pub name: String,
    pub works: bool,
    /// Whether nothing works without it.
    pub needed: bool,
    /// The error, and what happens without it.
    pub about: Option<String>,
    /// The kernel is new enough for it: a filter of system calls or a sandbox forbids it.
    pub forbidden: bool,
}

#[derive(Serialize)]
pub struct Script {
    pub file: String,
    pub ended: String,
    pub succeeded: bool,
    /// What was found of it if it is an application.
    pub application: Option<Application>,
    /// Whether coroutines were used at all: without them nothing can block.
    pub spawned: bool,
    pub limit_ms: u32,
    pub blocks: Vec<Block>,
}

/// An application of which instances were booted.
#[derive(Serialize)]
pub struct Application {
    /// How many there are to be.
    pub instances: u32,
    #[serde(flatten)]
    pub found: Found,
}

/// What `application.php` has found.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Found {
    /// Why no instance can be booted.
    pub why: Option<String>,
    pub opcache: bool,
    pub jit: bool,
    pub time_slice_ms: u32,
    /// The static properties with objects that all instances share.
    pub shared: Vec<String>,
    /// What one more instance costs.
    pub ms: f64,
    pub bytes: u64,
}

impl Found {
    pub fn without(why: &str) -> Found {
        Found { why: Some(why.to_owned()), ..Found::default() }
    }
}

/// One place that has blocked the event loop, and how often.
#[derive(Serialize)]
pub struct Block {
    pub file: String,
    pub line: u64,
    pub function: String,
    pub system_call: String,
    pub library: String,
    pub times: u64,
    pub total_ms: u64,
    pub longest_ms: u64,
    pub advice: &'static str,
}

/// Extensions that observe calls, by the names that PHP has for them.
const OBSERVING: &[&str] = &[
    "blackfire",
    "datadog-profiling",
    "ddtrace",
    "elastic_apm",
    "excimer",
    "newrelic",
    "opentelemetry",
    "pcov",
    "scoutapm",
    "spx",
    "tideways",
    "tideways_xhprof",
    "xdebug",
    "xhprof",
];

impl Report {
    pub fn new(system: System) -> Report {
        let System { release, container, seccomp, limits } = system;
        Report {
            doctor: env!("CARGO_PKG_VERSION"),
            problems: Vec::new(),
            notes: Vec::new(),
            php: None,
            module: Module::default(),
            engine: None,
            extensions: Vec::new(),
            kernel: Kernel { release, container, seccomp, features: Vec::new() },
            limits,
            script: None,
        }
    }

    pub fn with_problem(mut self, problem: String) -> Report {
        self.problems.push(problem);
        self
    }

    pub fn works(&self) -> bool {
        self.problems.is_empty() && self.module.loaded
    }

    /// Whether the exit status is 0.
    pub fn is_fine(&self) -> bool {
        let boots =
            |script: &Script| script.application.as_ref().is_none_or(|application| application.found.why.is_none());
        let is_fine = |script: &Script| script.succeeded && script.blocks.is_empty() && boots(script);
        self.works() && self.script.as_ref().is_none_or(is_fine)
    }

    pub fn json(&self) -> String {
        let text = serde_json::to_value(self).map(|mut value| {
            value["works"] = self.works().into();
            format!("{value:#}\n")
        });
        text.unwrap_or_else(|error| format!("{{\"works\": false, \"problems\": [\"{error}\"]}}\n"))
    }

    /// Takes over what a PHP has said about itself.
    pub fn learn(&mut self, facts: &Facts, probe: &Probe) {
        self.module.version = facts.spindle.clone();
        if facts.spindle.is_some() {
            self.judge_trial(facts, probe);
        } else if let Some(ended) = probe.failure() {
            self.problems.push(format!("PHP has ended with {ended} in place of exit status: 0"));
        }
        let row = |name: &str| facts.rows(name).find(|(rest, _)| rest.is_empty()).map(|(_, value)| value.to_owned());
        let observing = facts.extensions.keys().filter(|name| OBSERVING.contains(&name.as_str())).cloned();
        self.engine = Some(Engine {
            opcache: facts.opcache.clone(),
            xdebug: facts.xdebug.clone(),
            observing_extensions: observing.collect(),
            executor_replaced: row("Executor").map(|value| value.starts_with("replaced")),
            internal_calls_replaced: row("Calls of internal functions").map(|value| value != "direct"),
            function_observers: row("Observers of functions").map(|value| value != "none"),
        });
        self.learn_extensions(facts);
        self.learn_kernel(facts);
    }

    fn judge_trial(&mut self, facts: &Facts, probe: &Probe) {
        match facts.trial.as_deref() {
            Some("") => self.module.coroutines_work = Some(true),
            Some(why) => {
                self.module.coroutines_work = Some(false);
                self.problems.push(format!("the module loads, but coroutines do not work: {why}"));
            }
            None if facts.binary.is_empty() => {} // a SAPI that runs no code here
            None => {
                self.module.coroutines_work = Some(false);
                let ended = probe.failure().unwrap_or("without a result");
                self.problems.push(format!("the module loads, but PHP has not survived two coroutines: {ended}"));
            }
        }
        if let Some(ended) = probe.failure().filter(|_| facts.trial.is_some()) {
            self.problems.push(format!("coroutines work, but PHP has ended with {ended} in place of exit status: 0"));
        }
        if facts.spindle.as_deref().is_some_and(|version| version != self.doctor) {
            let version = facts.spindle.as_deref().unwrap_or_default();
            self.notes.push(format!("the module is version {version}, and this command {}", self.doctor));
        }
        let warnings = probe.messages.lines().filter(|line| line.contains("Spindle could not redirect"));
        self.notes.extend(warnings.map(|line| line.trim_start_matches("PHP Warning:").trim().to_owned()));
        if let Some(why) = refusals::of_module(&probe.messages, facts) {
            self.notes.push(format!("PHP loads Spindle, and was to load it once more: {why}"));
        }
    }

    fn learn_extensions(&mut self, facts: &Facts) {
        let version = |name: &str| facts.extensions.get(name).filter(|version| !version.is_empty()).cloned();
        let objects = elf::Objects::of(&facts.mapped);
        for (name, value) in facts.rows("Extension ") {
            let (word, mut why) =
                value.split_once(": ").map_or((value, String::new()), |(word, why)| (word, why.to_owned()));
            let mut verdict = match word {
                "proven" => Verdict::Proven,
                "blocks" => Verdict::Blocks,
                _ => Verdict::Serialised,
            };
            if verdict == Verdict::Serialised {
                let signs = objects.signs_of_blocking(name);
                if !signs.is_empty() {
                    verdict = Verdict::MayBlock;
                    why = signs.join(", ");
                }
            }
            self.extensions.push(Extension { name: name.to_owned(), version: version(name), verdict, why });
        }
        for (file, value) in facts.rows("Excluded ") {
            let why = value.strip_prefix("blocks: ").unwrap_or(value).to_owned();
            let name = file.trim_end_matches(".so");
            // Debuggers are in both lists.
            self.extensions.retain(|one| one.name != name && !(name == "opcache" && one.name == "zend opcache"));
            self.extensions.push(Extension {
                name: name.to_owned(),
                version: version(name),
                verdict: Verdict::Blocks,
                why,
            });
        }
        self.extensions.sort_by(|one, other| (one.verdict, &one.name).cmp(&(other.verdict, &other.name)));
    }

    fn learn_kernel(&mut self, facts: &Facts) {
        for (name, value) in facts.rows("Kernel ") {
            let works = value == "works";
            let about = value.split_once(": ").map(|(_, about)| about.to_owned());
            let since = value.split_once("since Linux ").and_then(|(_, rest)| version(rest));
            let is_new_enough = version(&self.kernel.release) >= since;
            let errno = |number: &str| value.contains(&format!("(errno {number})"));
            let forbidden = !works && since.is_some() && (errno("1") || is_new_enough && errno("38"));
            let needed = value.starts_with("missing");
            if needed {
                self.problems.push(format!("the kernel has no {name}: {}", about.as_deref().unwrap_or_default()));
            }
            self.kernel.features.push(Feature { name: name.to_owned(), works, needed, about, forbidden });
        }
        let forbidden: Vec<_> =
            self.kernel.features.iter().filter(|one| one.forbidden).map(|one| one.name.as_str()).collect();
        if !forbidden.is_empty() {
            let by =
                if self.kernel.seccomp { "a filter of system calls (seccomp) of this container" } else { "a sandbox" };
            self.notes.push(format!("{by} forbids {}, which the kernel has", forbidden.join(", ")));
        }
        let guards_are_mappings = self.kernel.features.iter().any(|one| one.name == "MADV_GUARD_INSTALL" && !one.works);
        if guards_are_mappings && let Some(mappings) = self.limits.max_map_count {
            self.notes.push(format!(
                "each suspended coroutine takes a memory mapping: about {} at once; 'sysctl -w vm.max_map_count=N' raises that",
                mappings.saturating_sub(4096.min(mappings / 4)) / 2
            ));
        }
        if let Some(files) = self.limits.open_files.filter(|files| *files < 1024) {
            self.notes.push(format!(
                "a process may have {files} descriptors, and each connection takes one: 'ulimit -n N' raises that"
            ));
        }
        if self.limits.address_space.is_some() {
            self.notes.push("address space is limited ('ulimit -v'): stacks of coroutines need much of it".to_owned());
        }
    }
}

/// Returns the first two numbers of a version.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
