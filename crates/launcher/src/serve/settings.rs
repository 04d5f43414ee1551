//! What `spindle serve` is asked for: by its arguments, and by `spindle.toml`.

use super::config;
use super::limits::Limits;
use super::options::{APP, ARGUMENTS, Form, SPECS, Spec};
use super::values::halves;
use lexopt::{Arg, Parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What follows a message about the arguments.
pub const HINT: &str = "; see 'spindle serve --help'";

/// The mode of a directory, whose scripts php-fpm runs.
pub const CLASSIC: &str = "classic";

/// A value of an option.
#[derive(Clone)]
pub struct Given {
    pub spec: &'static Spec,
    pub first: OsString,
    /// The second half of a value that has two.
    pub second: OsString,
    /// How a message names the place.
    pub from: String,
}

/// The options, each with its value.
pub struct Request {
    pub listen: Vec<OsString>,
    pub tls: Option<(OsString, OsString)>,
    pub files: Vec<OsString>,
    /// Empty in a request that does not say it, until it is known what the app is.
    pub mode: String,
    /// How many processes php-fpm has, and which program it is.
    pub children: Option<u32>,
    pub fpm: Option<OsString>,
    /// Folders whose files its scripts may have sent.
    pub sendfile: Vec<OsString>,
    pub log: String,
    pub log_file: Option<OsString>,
    pub grace: Duration,
    /// How many instances an application has.
    pub instances: Option<u32>,
    pub workers: Option<usize>,
    pub limits: Limits,
    pub admin: Vec<OsString>,
    /// With more requests waiting it is not ready.
    pub ready_queue: Option<u64>,
    pub run: Vec<OsString>,
    pub every: Vec<OsString>,
    pub is_dev: bool,
    pub is_proxied: bool,
    pub is_shared: bool,
    pub is_check: bool,
    pub set: Vec<(OsString, OsString)>,
    pub ini: Vec<(OsString, OsString)>,
    pub env: Vec<(OsString, OsString)>,
    pub php: OsString,
    pub extension: Option<PathBuf>,
    pub user: Option<OsString>,
    pub config: Option<PathBuf>,
    pub app: OsString,
    pub arguments: Vec<OsString>,
}

impl Default for Request {
    fn default() -> Request {
        Request {
            php: "php".into(),
            mode: String::new(),
            children: None,
            fpm: None,
            sendfile: Vec::new(),
            log: "combined".into(),
            grace: Duration::from_secs(30),
            listen: Vec::new(),
            tls: None,
            files: Vec::new(),
            log_file: None,
            instances: None,
            workers: None,
            limits: Limits::default(),
            admin: Vec::new(),
            ready_queue: None,
            run: Vec::new(),
            every: Vec::new(),
            is_dev: false,
            is_proxied: false,
            is_shared: false,
            is_check: false,
            set: Vec::new(),
            ini: Vec::new(),
            env: Vec::new(),
            extension: None,
            user: None,
            config: None,
            app: OsString::new(),
            arguments: Vec::new(),
        }
    }
}

/// What the command line says.
pub struct Arguments(Vec<Given>);

impl Arguments {
    /// `None` when help is wanted.
    pub fn parse(arguments: &mut Parser) -> Result<Option<Arguments>, String> {
        let mut given = Vec::new();
        while let Some(argument) = arguments.next().map_err(|error| error.to_string())? {
            let option = match argument {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Value(first) => {
                    let is_app = !given.iter().any(|given: &Given| given.spec == APP);
                    let spec = if is_app { APP } else { ARGUMENTS };
                    given.push(Given { spec, first, second: OsString::new(), from: "APP".to_owned() });
                    continue;
                }
                Arg::Long(name) => format!("--{name}"),
                Arg::Short(letter) => format!("-{letter}"),
            };
            let Some(spec) = SPECS.iter().find(|spec| spec.option == option) else {
                return Err(argument.unexpected().to_string());
            };
            let value = if spec.form == Form::Flag { Ok(OsString::new()) } else { arguments.value() };
            given.push(split(spec, value.map_err(|error| error.to_string())?)?);
        }
        Ok(Some(Arguments(given)))
    }

    /// Returns these, and what the file says that they do not.
    fn beside(&self, file: Vec<Given>) -> impl Iterator<Item = Given> {
        let says = |wanted: &Spec| self.0.iter().any(|given| given.spec == wanted);
        let (has_app, is_dev) = (says(APP), self.0.iter().any(|given| given.spec.option == "--dev"));
        let file = file.into_iter().filter(move |given| {
            let is_replaced = given.spec.form != Form::Named && says(given.spec);
            let is_of_app = given.spec == APP || given.spec == ARGUMENTS;
            !(is_replaced || has_app && is_of_app || is_dev && given.spec.is_of_production)
        });
        file.chain(self.0.iter().cloned()).collect::<Vec<_>>().into_iter()
    }
}

/// Splits what is an option's argument.
fn split(spec: &'static Spec, value: OsString) -> Result<Given, String> {
    let from = spec.option.to_owned();
    let (first, second) = match spec.form {
        Form::Flag | Form::One | Form::Many => (value, OsString::new()),
        Form::Pair => halves(&value, b',')
            .filter(|(first, second)| !first.is_empty() && !second.is_empty())
            .ok_or_else(|| format!("{from} takes {}: two files in PEM format", spec.value))?,
        Form::Named => match halves(&value, b'=') {
            Some(halves) => halves,
            None if spec.value.ends_with(']') => (value, "1".into()), // as PHP takes it
            None => return Err(format!("{from} takes {}", spec.value)),
        },
    };
    Ok(Given { spec, first, second, from })
}

/// What is asked for, and from where.
pub struct Settings {
    pub request: Request,
    /// There was a file.
    pub has_file: bool,
    /// The values that cannot change in a command that runs.
    fixed: Vec<Given>,
}

impl Settings {
    /// Reads the file, if there is one: that which the arguments name, or `spindle.toml` in this folder.
    pub fn read(arguments: &Arguments, folder: &Path) -> Result<Settings, String> {
        let named = arguments.0.iter().rfind(|given| given.spec.option == "--config").map(|given| &given.first);
        let shown = named.map_or_else(|| PathBuf::from("spindle.toml"), PathBuf::from);
        let file = config::read(&folder.join(&shown), &shown)?;
        if file.is_none() && named.is_some() {
            return Err(format!("{}: No such file or directory", shown.display()));
        }
        let has_file = file.is_some();
        let mut request = Request::default();
        let mut fixed = Vec::new();
        for given in arguments.beside(file.unwrap_or_default()) {
            if given.spec.is_fixed {
                fixed.push(given.clone());
            }
            let value = given.first.clone();
            (given.spec.take)(&mut request, given.first, given.second).map_err(|takes| {
                let hint = if given.from.starts_with('-') { HINT } else { "" };
                format!("{} {takes}, not '{}'{hint}", given.from, value.to_string_lossy())
            })?;
        }
        if request.mode.is_empty() {
            let is_folder = !request.app.is_empty() && folder.join(&request.app).is_dir();
            request.mode = if is_folder { CLASSIC } else { "handler" }.to_owned();
        }
        check(&request).map_err(|why| format!("{why}{HINT}"))?;
        if request.listen.is_empty() {
            request.listen.push("127.0.0.1:8080".into());
        }
        Ok(Settings { request, has_file, fixed })
    }

    /// Returns the first key whose value differs, and cannot change in a command that runs.
    pub fn needs_restart(&self, before: &Settings) -> Option<&'static str> {
        let of = |settings: &Settings, spec: &'static Spec| -> Vec<(OsString, OsString)> {
            let given = settings.fixed.iter().filter(|given| given.spec == spec);
            given.map(|given| (given.first.clone(), given.second.clone())).collect()
        };
        if (self.request.mode == CLASSIC) != (before.request.mode == CLASSIC) {
            return Some("mode");
        }
        SPECS.iter().find(|spec| spec.is_fixed && of(self, spec) != of(before, spec)).map(|spec| spec.key)
    }
}

/// Refuses what does not go together.
fn check(request: &Request) -> Result<(), &'static str> {
    if request.app.is_empty() {
        return Err("no APP given, a PHP file or a directory");
    }
    if request.instances.is_some() && request.mode != "application" {
        return Err("--instances is for --mode application");
    }
    if request.mode != CLASSIC && (request.children.is_some() || request.fpm.is_some() || !request.sendfile.is_empty())
    {
        return Err("--children, --fpm and --sendfile are for --mode classic");
    }
    if request.mode == CLASSIC && !request.arguments.is_empty() {
        return Err("--mode classic takes no ARGUMENT");
    }
    if request.limits.are_any() && request.is_dev {
        return Err("--max-requests, --max-memory, --max-lifetime and --stuck-timeout are not for --dev");
    }
    if request.workers.is_some() && request.is_dev {
        return Err("--workers is not for --dev, which has one");
    }
    if request.user.is_some() && request.is_dev && rustix::process::geteuid().is_root() {
        return Err("--user is not for --dev, which runs as whoever starts it: that should not be root");
    }
    if request.ready_queue.is_some() && request.admin.is_empty() {
        return Err("--ready-queue is for /readyz, which takes --admin");
    }
    if request.log_file.is_some() && request.log == "off" {
        return Err("--log-file is for a log, and there is none with --log off");
    }
    Ok(())
}
