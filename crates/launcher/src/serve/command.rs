//! PHP, as the command line that serves.

use super::fpm;
use super::process;
use super::settings::Request;
use super::sockets::Sockets;
use super::user::User;
use crate::doctor::candidates;
use crate::doctor::php::{Php, with_module};
use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// All instances and all workers run the same compiled code. To opcache the run of a worker is one request, which does not end: so files
/// are checked whenever they are included, and no worker is killed because it keeps another one from emptying opcache's memory.
const OPCACHE: [&str; 3] = ["opcache.enable_cli=1", "opcache.revalidate_freq=0", "opcache.force_restart_timeout=0"];

/// How many times as long as `request_timeout` a script may run: a long response takes the time in which its client receives it.
const TIMES_AS_LONG: f64 = 5.0;

/// The longest time that php-fpm can count, or nearly so: it has milliseconds in 32 bits.
const LONGEST: Duration = Duration::from_secs(2_000_000);

const CODE: &str = include_str!("../serve.php");

/// PHP, and the module that it has to load.
pub struct Found {
    php: Php,
    /// If PHP's configuration loads none.
    module: Option<PathBuf>,
    pub version: u32,
}

/// PHP, which is looked for when it is first needed, and again as long as it is not there.
pub struct Interpreter<'a> {
    request: &'a Request,
    /// How long a run that looks for it may take, in which nothing else is done.
    patience: Duration,
    found: OnceCell<Found>,
}

impl Interpreter<'_> {
    pub fn new(request: &Request, patience: Duration) -> Interpreter<'_> {
        Interpreter { request, patience, found: OnceCell::new() }
    }

    /// The one that was found before, or is found now.
    ///
    /// # Errors
    /// There is none, or none that can be used.
    pub fn get(&self) -> Result<&Found, String> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let php = Php::find(&self.request.php, self.patience)?;
        let (version, module) = module(self.request, &php)?;
        Ok(self.found.get_or_init(|| Found { php, module, version }))
    }
}

/// Returns the version of PHP, and the module that has to be loaded, if PHP's configuration loads none.
fn module(request: &Request, php: &Php) -> Result<(u32, Option<PathBuf>), String> {
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
        return Ok((facts.version_id, None));
    }
    let candidates = candidates(request.extension.as_deref(), &facts.extension_dir);
    let found = candidates.iter().find(|file| file.is_file()).cloned();
    found.map(|found| (facts.version_id, Some(found))).ok_or_else(|| {
        let tried: Vec<_> = candidates.iter().map(|file| file.display().to_string()).collect();
        format!("no spindle.so: PHP's configuration loads none, and there is no {}", tried.join(" and no "))
    })
}

/// PHP, as it serves.
pub fn command(
    request: &Request,
    Found { php, module, .. }: &Found,
    user: Option<&User>,
    app: &Path,
    fpm: Option<&OsStr>,
    sockets: &Sockets,
) -> Command {
    let mut command = Command::new(&php.file);
    if let Some(user) = user {
        process::run_as(&mut command, user);
        command.envs(user.environment());
    }
    if let Some(module) = module {
        command.arg("-d").arg(with_module(module));
    }
    let is_dev = request.is_dev && !request.is_check;
    // Visitors do not see what went wrong, but whoever reads the terminal does.
    let shows = if is_dev && request.mode != "handler" { "1" } else { "0" };
    for setting in ["display_errors", "html_errors"] {
        command.arg("-d").arg(format!("{setting}={shows}"));
    }
    for setting in ["log_errors=1", "error_log="] {
        command.arg("-d").arg(setting);
    }
    if request.mode == "application" || request.workers.is_some_and(|workers| workers > 1) {
        for setting in OPCACHE {
            command.arg("-d").arg(setting);
        }
    }
    for (name, value) in &request.ini {
        command.arg("-d").arg(joined(name, value));
    }
    command.envs(request.env.iter().map(|(name, value)| (name, value)));
    command.arg("-r").arg(CODE.trim_start_matches("<?php\n")).arg("--");
    let mut pass = |name: &str, value: &OsStr| {
        command.arg(joined(OsStr::new(name), value));
    };
    pass("app", app.as_os_str());
    if let Some(address) = fpm {
        pass("fastcgi", address);
        pass("children", OsStr::new(&children(request).to_string()));
    }
    let grace = request.grace.as_secs_f64().to_string();
    // A check is over when the first one is ready, and the others may compute for long.
    let instances = if request.is_check { 1 } else { request.instances.unwrap_or(16) }.to_string();
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
        ("sendfile", &request.sendfile),
        ("set", &request.set.iter().map(|(name, value)| joined(name, value)).collect::<Vec<_>>()),
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
    for (name, is_given) in [("dev", is_dev), ("proxied", request.is_proxied)] {
        if is_given {
            pass(name, OsStr::new("1"));
        }
    }
    command
}

/// Returns how many processes php-fpm has.
fn children(request: &Request) -> u32 {
    request.children.unwrap_or(8)
}

/// Returns the settings of php-fpm.
pub fn of_fpm(request: &Request) -> fpm::Terms {
    let shows = if request.is_dev { "1" } else { "0" };
    let own = ["display_errors", "html_errors"].map(|name| OsString::from(format!("{name}={shows}")));
    // Without a file of its own, its errors come to the workers, which know the request.
    let own = own.into_iter().chain(["log_errors=1".into(), "error_log=".into()]);
    let given = request.ini.iter().map(|(name, value)| joined(name, value));
    let (env, grace, longest) = (request.env.clone(), request.grace, longest(request));
    fpm::Terms { children: children(request), ini: own.chain(given).collect(), env, longest, grace }
}

/// Returns how long a script may run. A client waits for the head of its response for a part of that, and gets the rest meanwhile.
fn longest(request: &Request) -> Option<Duration> {
    let given = request.set.iter().rfind(|(name, _)| name == "request_timeout");
    let seconds = given.map_or(Some(60.0), |(_, value)| value.to_str()?.trim().parse().ok())?; // what is no number, the server refuses
    let longest = Duration::try_from_secs_f64(f64::ceil(seconds * TIMES_AS_LONG)).ok()?;
    (!longest.is_zero() && longest <= LONGEST).then_some(longest)
}

/// `NAME=VALUE`
pub fn joined(name: &OsStr, value: &OsStr) -> OsString {
    let mut text = name.to_owned();
    text.push("=");
    text.push(value);
    text
}

#[cfg(test)]
mod tests {
    use super::{Request, longest};
    use std::time::Duration;

    #[test]
    fn scripts_may_run_for_longer_than_clients_wait() {
        let of = |value: &str| {
            longest(&Request { set: vec![("request_timeout".into(), value.into())], ..Request::default() })
                .map(|longest: Duration| longest.as_secs())
        };
        assert_eq!(longest(&Request::default()), Some(Duration::from_secs(300)));
        assert_eq!([of("10"), of("0.1"), of("1e1")], [Some(50), Some(1), Some(50)]);
        assert_eq!([of("0"), of("ten"), of("-1"), of("nan"), of("1e9")], [None; 5]);
    }
}
