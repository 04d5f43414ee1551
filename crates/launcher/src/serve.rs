//! `spindle serve`: an application behind the HTTP server.
//!
//! What serves is PHP: this command finds one that has Spindle, and runs it (`serve.php`), once for each worker. It has the listening
//! sockets, and replaces workers that end.

mod admin;
mod board;
mod limits;
mod lines;
mod master;
mod process;
mod report;
mod signals;
mod sockets;
mod systemd;
mod worker;

use crate::console::{self, Status};
use crate::doctor::candidates;
use crate::doctor::php::{Php, with_module};
use admin::Admin;
use lexopt::{Arg, Parser, ValueExt};
use limits::Limits;
use master::Plan;
use sockets::Sockets;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const HELP: &str = "\
Usage: spindle serve APP [OPTION]... [[--] ARGUMENT...]

Serves HTTP with the PHP file APP, which returns what handles a request:

    <?php
    return fn (Async\\Http\\Request $request) => 'Hello';

Requests are logged on standard output. SIGTERM and Ctrl+C stop it when the
requests that have come are answered, and a second one at once. SIGHUP starts
PHP anew, and no connection is refused meanwhile. So it does when PHP ends.

  --listen ADDRESS  where: HOST:PORT, unix:PATH, fd:NUMBER or systemd:NAME, the
                    socket that systemd has passed with this name, or without
                    one all; may be repeated. Without it 127.0.0.1:8080
  --tls CERT,KEY    serves HTTPS with these files in PEM format
  --files [URL=]DIR sends what is in DIR, for paths that begin with URL or for
                    all, before APP is asked; may be repeated
  --mode MODE       what APP returns: 'handler' is called with a request and
                    returns the response; 'worker' has superglobals and prints;
                    'application' is called to boot each instance, and returns
                    what handles its requests as 'worker' does
  --instances N     how many instances an application has; without it 16
  --workers N       how many processes serve, or 'auto': as many as there are
                    processors for this one. Without it one
  --max-requests N, --max-memory SIZE, --max-lifetime SECONDS
                    when another one takes the place of a worker; not all at a
                    time, and more or less by a tenth. Without them never
  --stuck-timeout SECONDS
                    ends a worker whose event loop stands still for this long,
                    with a line that says where. Without it none is ended
  --admin ADDRESS   answers /healthz, /readyz, /metrics and /status at
                    HOST:PORT or unix:PATH; may be repeated
  --dev             starts again when a file of APP changes, and shows errors
                    on the page
  --set NAME=VALUE  an option of the server, as max_body_size=1000000 or
                    compression=true; lists are separated by commas; may be
                    repeated
  --proxy-protocol  expects the PROXY protocol, from --set trusted_proxies=…
  --reuse-port      other processes may listen on the same port, if they have
                    this option, too
  --log FORMAT      'combined', 'json' or 'off'
  --log-file FILE   where the log is written, in place of standard output; it is
                    opened again at SIGUSR1
  --grace SECONDS   how long requests may take when it is stopped, and when a
                    fatal error has ended one of them; without it 30
  --php FILE        the PHP that serves; without it the php on the PATH
  --extension FILE  the spindle.so to load if PHP's configuration loads none;
                    without it the one in PHP's extension folder, or the one
                    beside this command
  -d NAME[=VALUE]   a setting of PHP
  -h, --help        prints this

Exit status:
  0  it was stopped
  1  it cannot serve, or PHP had to be ended; a line on standard error says why
";

/// How many workers may end before the first one is ready.
const ATTEMPTS: u32 = 6;

const CODE: &str = include_str!("serve.php");

#[derive(Default)]
struct Request {
    listen: Vec<OsString>,
    tls: Option<(OsString, OsString)>,
    files: Vec<OsString>,
    mode: String,
    log: String,
    log_file: Option<OsString>,
    grace: Duration,
    /// How many instances an application has.
    instances: Option<u32>,
    workers: Option<usize>,
    limits: Limits,
    admin: Vec<OsString>,
    is_dev: bool,
    is_proxied: bool,
    is_shared: bool,
    set: Vec<OsString>,
    php: OsString,
    extension: Option<PathBuf>,
    settings: Vec<OsString>,
    app: OsString,
    arguments: Vec<OsString>,
}

/// Runs the command.
pub fn run(arguments: &mut Parser) -> Status {
    let request = match parse(arguments) {
        Ok(Some(request)) => request,
        Ok(None) => return console::print(HELP.as_bytes()),
        Err(error) => return fails(&format!("{error}; see 'spindle serve --help'")),
    };
    match serve(&request) {
        Ok(status) => status,
        Err(why) => fails(&why),
    }
}

fn fails(why: &str) -> Status {
    console::complain(format!("spindle: {}", console::one_line(why)).as_bytes());
    Status::Failed
}

/// `None` when help is wanted.
fn parse(arguments: &mut Parser) -> Result<Option<Request>, lexopt::Error> {
    let mut request = Request {
        php: "php".into(),
        mode: "handler".into(),
        log: "combined".into(),
        grace: Duration::from_secs(30),
        ..Request::default()
    };
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("listen") => request.listen.push(arguments.value()?),
            Arg::Long("tls") => request.tls = Some(pair(&arguments.value()?)?),
            Arg::Long("files") => request.files.push(arguments.value()?),
            Arg::Long("mode") => {
                request.mode = one_of("--mode", arguments.value()?, &["handler", "worker", "application"])?
            }
            Arg::Long("log") => request.log = one_of("--log", arguments.value()?, &["combined", "json", "off"])?,
            Arg::Long("log-file") => request.log_file = Some(arguments.value()?),
            Arg::Long("grace") => {
                let seconds: f64 = arguments.value()?.parse_with(|text| {
                    let seconds = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
                    seconds.ok_or("--grace takes seconds, from 0 to 86400")
                })?;
                request.grace = Duration::from_secs_f64(seconds);
            }
            Arg::Long("instances") => {
                let wrong = "--instances takes a number, from 1 to 4096";
                let number = |text: &str| text.parse().ok().filter(|count| (1..=4096).contains(count)).ok_or(wrong);
                request.instances = Some(arguments.value()?.parse_with(number)?);
            }
            Arg::Long("workers") => {
                let auto = || std::thread::available_parallelism().map_or(1, usize::from);
                let count = |text: &str| if text == "auto" { Some(auto()) } else { text.parse().ok() };
                let wrong = "--workers takes a number, from 1 to 1024, or 'auto'";
                let number = |text: &str| count(text).filter(|count| (1..=1024).contains(count)).ok_or(wrong);
                request.workers = Some(arguments.value()?.parse_with(number)?);
            }
            Arg::Long("max-requests") => {
                let number =
                    |text: &str| text.parse().ok().filter(|count| *count > 0).ok_or("--max-requests takes a number");
                request.limits.requests = Some(arguments.value()?.parse_with(number)?);
            }
            Arg::Long("max-memory") => request.limits.memory = Some(arguments.value()?.parse_with(bytes)?),
            Arg::Long("max-lifetime") => {
                request.limits.lifetime = Some(arguments.value()?.parse_with(seconds("--max-lifetime"))?)
            }
            Arg::Long("stuck-timeout") => {
                request.limits.stuck = Some(arguments.value()?.parse_with(seconds("--stuck-timeout"))?)
            }
            Arg::Long("admin") => request.admin.push(arguments.value()?),
            Arg::Long("dev") => request.is_dev = true,
            Arg::Long("proxy-protocol") => request.is_proxied = true,
            Arg::Long("reuse-port") => request.is_shared = true,
            Arg::Long("set") => {
                let set = arguments.value()?;
                if !set.as_bytes().contains(&b'=') {
                    return Err("--set takes NAME=VALUE".into());
                }
                request.set.push(set);
            }
            Arg::Long("php") => request.php = arguments.value()?,
            Arg::Long("extension") => request.extension = Some(arguments.value()?.into()),
            Arg::Short('d') => request.settings.push(arguments.value()?),
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(app) if request.app.is_empty() => request.app = app,
            Arg::Value(argument) => request.arguments.push(argument),
            option => return Err(option.unexpected()),
        }
    }
    if request.app.is_empty() {
        return Err("no APP given, a PHP file".into());
    }
    if request.instances.is_some() && request.mode != "application" {
        return Err("--instances is for --mode application".into());
    }
    if request.limits.are_any() && request.is_dev {
        return Err("--max-requests, --max-memory, --max-lifetime and --stuck-timeout are not for --dev".into());
    }
    if request.workers.is_some() && request.is_dev {
        return Err("--workers is not for --dev, which has one".into());
    }
    if request.log_file.is_some() && request.log == "off" {
        return Err("--log-file is for a log, and there is none with --log off".into());
    }
    if request.listen.is_empty() {
        request.listen.push("127.0.0.1:8080".into());
    }
    Ok(Some(request))
}

fn seconds(option: &str) -> impl Fn(&str) -> Result<Duration, String> {
    move |text| {
        let seconds = text.parse().ok().filter(|seconds| (1.0..=31_536_000.0).contains(seconds));
        seconds.map(Duration::from_secs_f64).ok_or_else(|| format!("{option} takes seconds, from 1 to 31536000"))
    }
}

/// Returns how many bytes a text such as `256M` means.
fn bytes(text: &str) -> Result<u64, &'static str> {
    let (number, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit)).filter(|bytes| *bytes > 0);
    bytes.ok_or("--max-memory takes bytes, as in 256M")
}

fn one_of(option: &str, value: OsString, allowed: &[&str]) -> Result<String, lexopt::Error> {
    let given = value.to_str().filter(|value| allowed.contains(value)).map(str::to_owned);
    given.ok_or_else(|| {
        format!("{option} takes {} or {}", allowed[..allowed.len() - 1].join(", "), allowed[allowed.len() - 1]).into()
    })
}

/// Returns the files of `CERT,KEY`.
fn pair(value: &OsStr) -> Result<(OsString, OsString), lexopt::Error> {
    let bytes = value.as_bytes();
    let wrong = "--tls takes CERT,KEY: two files in PEM format";
    let at = bytes.iter().position(|byte| *byte == b',').ok_or(wrong)?;
    let part = |bytes| OsStr::from_bytes(bytes).to_owned();
    let (certificate, key) = (part(&bytes[..at]), part(&bytes[at + 1..]));
    if certificate.is_empty() || key.is_empty() { Err(wrong.into()) } else { Ok((certificate, key)) }
}

fn serve(request: &Request) -> Result<Status, String> {
    let shown = request.app.to_string_lossy();
    let folder = working_directory();
    // Resolved whenever a worker starts: a deployment may switch a symbolic link to another release.
    let resolve = || {
        let file = folder.join(&request.app);
        std::fs::canonicalize(file).map_err(|error| format!("{shown}: {}", console::reason(&error)))
    };
    let app = resolve()?;
    if !app.is_file() {
        return Err(format!("{shown} is not a file"));
    }
    std::fs::File::open(&app).map_err(|error| format!("{shown}: {}", console::reason(&error)))?;
    let php = Php::find(&request.php)?;
    let module = module(request, &php)?;
    let command = |sockets: &Sockets| {
        let mut command = command(request, &php, module.as_deref(), &resolve()?, sockets);
        command.current_dir(&folder);
        for name in systemd::VARIABLES {
            command.env_remove(name);
        }
        Ok(command)
    };
    let plan = Plan {
        command: &command,
        app: &app,
        limits: request.limits,
        grace: request.grace,
        workers: request.workers.unwrap_or(1),
        attempts: if request.workers.is_some() { ATTEMPTS } else { 1 },
        is_dev: request.is_dev,
        has_log_file: request.log_file.is_some(),
    };
    let admin = Admin::bind(&request.admin)?;
    master::run(&plan, Sockets::bind(&request.listen, request.is_shared)?, admin)
}

/// Returns the working directory as the shell names it, in which symbolic links lead to what they lead to later.
fn working_directory() -> PathBuf {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let named = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let named = named.filter(|path| place(path).is_some() && place(path) == place(Path::new(".")));
    named.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("."))
}

/// Returns the module that has to be loaded, if PHP's configuration loads none.
fn module(request: &Request, php: &Php) -> Result<Option<PathBuf>, String> {
    let configured = php.probe(None);
    let facts = configured.facts.as_ref().ok_or_else(|| configured.no_facts())?;
    if facts.sapi != "cli" {
        return Err(format!(
            "{} is not PHP's command line, but {}: --php names another one",
            php.file.display(),
            facts.sapi
        ));
    }
    if facts.spindle.is_some() {
        return Ok(None);
    }
    let candidates = candidates(request.extension.as_deref(), &facts.extension_dir);
    let found = candidates.iter().find(|file| file.is_file()).cloned();
    found.map(Some).ok_or_else(|| {
        let tried: Vec<_> = candidates.iter().map(|file| file.display().to_string()).collect();
        format!("no spindle.so: PHP's configuration loads none, and there is no {}", tried.join(" and no "))
    })
}

/// PHP, as it serves.
fn command(request: &Request, php: &Php, module: Option<&Path>, app: &Path, sockets: &Sockets) -> Command {
    let mut command = Command::new(&php.file);
    if let Some(module) = module {
        command.arg("-d").arg(with_module(module));
    }
    // Visitors do not see what went wrong, but whoever reads the terminal does.
    let shows = if request.is_dev && request.mode != "handler" { "1" } else { "0" };
    for setting in ["display_errors", "html_errors"] {
        command.arg("-d").arg(format!("{setting}={shows}"));
    }
    for setting in ["log_errors=1", "error_log="] {
        command.arg("-d").arg(setting);
    }
    if request.mode == "application" {
        command.arg("-d").arg("opcache.enable_cli=1"); // all instances run the same compiled code
    }
    for setting in &request.settings {
        command.arg("-d").arg(setting);
    }
    command.arg("-r").arg(CODE.trim_start_matches("<?php\n")).arg("--");
    let mut pass = |name: &str, value: &OsStr| {
        let mut argument = OsString::from(name);
        argument.push("=");
        argument.push(value);
        command.arg(argument);
    };
    pass("app", app.as_os_str());
    let grace = request.grace.as_secs_f64().to_string();
    let instances = request.instances.unwrap_or(16).to_string();
    let workers = request.workers.unwrap_or(1).to_string();
    for (name, value) in [
        ("instances", &instances),
        ("workers", &workers),
        ("mode", &request.mode),
        ("log", &request.log),
        ("grace", &grace),
    ] {
        pass(name, OsStr::new(value));
    }
    for (name, values) in [
        ("files", &*request.files),
        ("set", &request.set),
        ("listen", &sockets.names),
        ("shown", &sockets.shown),
        ("argument", &request.arguments),
    ] {
        values.iter().for_each(|value| pass(name, value));
    }
    if let Some(file) = &request.log_file {
        pass("log-file", file);
    }
    if let Some((certificate, key)) = &request.tls {
        pass("certificate", certificate);
        pass("key", key);
    }
    for (name, is_given) in [("dev", request.is_dev), ("proxied", request.is_proxied)] {
        if is_given {
            pass(name, OsStr::new("1"));
        }
    }
    command
}
