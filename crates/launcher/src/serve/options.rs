//! The options of `spindle serve`, which are the keys of `spindle.toml` as well: one table for both, and for the help.

use super::settings::Request;
use super::values::{address, bytes, count, number, one_of, place, seconds};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How an option is given, and the key of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `--dev`, and `dev = true`.
    Flag,
    /// `--grace 5`, and `grace = 5`.
    One,
    /// An option that may be repeated, and `files = ["a", "b"]`.
    Many,
    /// `--set NAME=VALUE`, which may be repeated, and a table `[set]`.
    Named,
    /// `--tls CERT,KEY`, and `tls = { cert = "…", key = "…" }`.
    Pair,
}

/// An option, a key, or both.
pub struct Spec {
    /// As it is written on the command line, or empty.
    pub option: &'static str,
    /// As it is written in the file, or empty.
    pub key: &'static str,
    /// What stands for its value in the help.
    pub value: &'static str,
    pub form: Form,
    /// What it does, for the help.
    pub help: &'static str,
    /// Takes a value, and the second half of one with two. Fails with what it takes.
    pub take: Take,
    /// Finds what a value names, for a file in this folder.
    pub place: fn(&Path, &OsStr) -> OsString,
    /// It cannot change in a command that runs.
    pub is_fixed: bool,
    /// An app in development has none.
    pub is_of_production: bool,
}

type Take = fn(&mut Request, OsString, OsString) -> Result<(), String>;

impl Spec {
    const fn new(option: &'static str, key: &'static str, value: &'static str, form: Form) -> Spec {
        let (help, take): (_, Take) = ("", |_, _, _| Ok(()));
        Spec { option, key, value, form, help, take, place: place::none, is_fixed: false, is_of_production: false }
    }

    const fn takes(self, take: Take) -> Spec {
        Spec { take, ..self }
    }

    const fn help(self, help: &'static str) -> Spec {
        Spec { help, ..self }
    }

    const fn placed(self, place: fn(&Path, &OsStr) -> OsString) -> Spec {
        Spec { place, ..self }
    }

    const fn fixed(self) -> Spec {
        Spec { is_fixed: true, ..self }
    }

    const fn of_production(self) -> Spec {
        Spec { is_of_production: true, ..self }
    }
}

impl PartialEq for Spec {
    fn eq(&self, other: &Spec) -> bool {
        (self.option, self.key) == (other.option, other.key)
    }
}

/// What takes a value: it may fail by `?`.
macro_rules! take {
    ($to:ident, $first:pat, $second:pat => $take:expr) => {
        |$to, $first, $second| {
            $take;
            Ok(())
        }
    };
}

/// That of the PHP file.
pub static APP: &Spec = &SPECS[0];
/// That of what the PHP file is given.
pub static ARGUMENTS: &Spec = &SPECS[1];

pub static SPECS: &[Spec] = &[
    Spec::new("", "app", "FILE", Form::One)
        .takes(take!(to, value, _ => to.app = value))
        .placed(place::path)
        .help("the PHP file or the directory, if the command line names none"),
    Spec::new("", "arguments", "LIST", Form::Many)
        .takes(take!(to, value, _ => to.arguments.push(value)))
        .help("what that is given"),
    Spec::new("--listen", "listen", "ADDRESS", Form::Many)
        .takes(take!(to, value, _ => to.listen.push(value)))
        .placed(place::address)
        .fixed()
        .help(
            "where: HOST:PORT, unix:PATH, fd:NUMBER or systemd:NAME, the socket that systemd has passed with this name, \
             or without one all; may be repeated. Without it 127.0.0.1:8080",
        ),
    Spec::new("--tls", "tls", "CERT,KEY", Form::Pair)
        .takes(take!(to, cert, key => to.tls = Some((cert, key))))
        .placed(place::path)
        .help("serves HTTPS with these files in PEM format"),
    Spec::new("--files", "files", "[URL=]DIR", Form::Many)
        .takes(take!(to, value, _ => to.files.push(value)))
        .placed(place::files)
        .help("sends what is in DIR, for paths that begin with URL or for all, before APP is asked; may be repeated"),
    Spec::new("--mode", "mode", "MODE", Form::One)
        .takes(take!(to, value, _ => to.mode = one_of(&value, &["handler", "worker", "application", "classic"])?))
        .help(
            "what APP returns: 'handler' is called with a request and returns the response; 'worker' has superglobals and \
             prints; 'application' is called to boot each instance, and returns what handles its requests as 'worker' \
             does. With 'classic', that of a directory, php-fpm runs the scripts in it",
        ),
    Spec::new("--children", "children", "N", Form::One)
        .takes(take!(to, value, _ => to.children = Some(number(&value, 1..=4096)?)))
        .help("how many processes php-fpm has; without it 8"),
    Spec::new("--fpm", "fpm", "FILE", Form::One)
        .takes(take!(to, value, _ => to.fpm = Some(value)))
        .placed(place::program)
        .fixed()
        .help("the php-fpm of classic mode; without it the one of PHP's version"),
    Spec::new("--sendfile", "sendfile", "[URL=]DIR", Form::Many)
        .takes(take!(to, value, _ => to.sendfile.push(value)))
        .placed(place::files)
        .help(
            "scripts of classic mode may have files in DIR sent, by X-Sendfile, or by X-Accel-Redirect with a path that \
             begins with URL; may be repeated",
        ),
    Spec::new("--instances", "instances", "N", Form::One)
        .takes(take!(to, value, _ => to.instances = Some(number(&value, 1..=4096)?)))
        .help("how many instances an application has; without it 16"),
    Spec::new("--workers", "workers", "N", Form::One)
        .takes(take!(to, value, _ => to.workers = Some(count(&value)?)))
        .fixed()
        .of_production()
        .help(
            "how many processes serve, or 'auto': as many as there are processors for this one. Without it one",
        ),
    Spec::new("--max-requests", "max-requests", "N", Form::One)
        .takes(take!(to, value, _ => to.limits.requests = Some(number(&value, 1..=u64::MAX)?)))
        .of_production()
        .help("after how many requests another one takes the place of a worker, more or less by a tenth. Without it never"),
    Spec::new("--max-memory", "max-memory", "SIZE", Form::One)
        .takes(take!(to, value, _ => to.limits.memory = Some(bytes(&value)?)))
        .of_production()
        .help("the same, when a worker has more memory for itself, as 256M"),
    Spec::new("--max-lifetime", "max-lifetime", "SECONDS", Form::One)
        .takes(take!(to, value, _ => to.limits.lifetime = Some(seconds(&value, 1, 31_536_000)?)))
        .of_production()
        .help("the same, after a time, more or less by a tenth"),
    Spec::new("--stuck-timeout", "stuck-timeout", "SECONDS", Form::One)
        .takes(take!(to, value, _ => to.limits.stuck = Some(seconds(&value, 1, 31_536_000)?)))
        .of_production()
        .help(
            "ends a worker whose event loop stands still for this long, with a line that says where. Without it none is \
             ended",
        ),
    Spec::new("--admin", "admin", "ADDRESS", Form::Many)
        .takes(take!(to, value, _ => to.admin.push(address(value)?)))
        .placed(place::address)
        .fixed()
        .help("answers /healthz, /readyz, /metrics, /status and, at unix:PATH, /requests; may be repeated"),
    Spec::new("--ready-queue", "ready-queue", "N", Form::One)
        .takes(take!(to, value, _ => to.ready_queue = Some(number(&value, 0..=u64::MAX)?)))
        .fixed()
        .help("while more requests than this wait for a handler, in all workers, /readyz answers 503. Without it never"),
    Spec::new("--dev", "dev", "", Form::Flag)
        .takes(take!(to, _, _ => to.is_dev = true))
        .fixed()
        .help("starts again when a file of APP changes, and shows errors on the page"),
    Spec::new("--set", "set", "NAME=VALUE", Form::Named)
        .takes(take!(to, name, value => to.set.push((name, value)))).help(
        "an option of the server, as max_body_size=1000000 or compression=true; lists are separated by commas; may be \
         repeated",
    ),
    Spec::new("--run", "run", "NAME=COMMAND", Form::Many).takes(take!(to, value, _ => to.run.push(value))).fixed().help(
        "runs another program beside it, again whenever it ends, as workers of a queue; NAME*N=COMMAND has N processes; \
         may be repeated",
    ),
    Spec::new("--every", "every", "'NAME=TIME COMMAND'", Form::Many)
        .takes(take!(to, value, _ => to.every.push(value)))
        .fixed()
        .help("runs a program whenever TIME has passed, as 30s, 5m or 1h; may be repeated"),
    Spec::new("--user", "user", "NAME[:GROUP]", Form::One)
        .takes(take!(to, value, _ => to.user = Some(value)))
        .fixed()
        .help("the user as whom PHP runs, if this command is root's: it opens the sockets before"),
    Spec::new("--proxy-protocol", "proxy-protocol", "", Form::Flag)
        .takes(take!(to, _, _ => to.is_proxied = true))
        .help("expects the PROXY protocol, from --set trusted_proxies=…"),
    Spec::new("--reuse-port", "reuse-port", "", Form::Flag)
        .takes(take!(to, _, _ => to.is_shared = true))
        .fixed()
        .help("other processes may listen on the same port, if they have this option, too"),
    Spec::new("--log", "log", "FORMAT", Form::One)
        .takes(take!(to, value, _ => to.log = one_of(&value, &["combined", "json", "logfmt", "off"])?))
        .help("'combined', 'json', 'logfmt' or 'off'. With 'json' and 'logfmt' that of PHP's errors is the same"),
    Spec::new("--log-file", "log-file", "FILE", Form::One)
        .takes(take!(to, value, _ => to.log_file = Some(value)))
        .placed(place::path)
        .fixed()
        .help("where the log is written, in place of standard output; it is opened again at SIGUSR1"),
    Spec::new("--grace", "grace", "SECONDS", Form::One)
        .takes(take!(to, value, _ => to.grace = seconds(&value, 0, 86_400)?))
        .help(
            "how long requests may take when it is stopped, and when a fatal error has ended one of them; without it \
             30",
        ),
    Spec::new("--php", "php", "FILE", Form::One)
        .takes(take!(to, value, _ => to.php = value))
        .placed(place::program)
        .fixed()
        .help("the PHP that serves; without it the php on the PATH"),
    Spec::new("--extension", "extension", "FILE", Form::One)
        .takes(take!(to, value, _ => to.extension = Some(value.into())))
        .placed(place::path)
        .fixed()
        .help(
            "the spindle.so to load if PHP's configuration loads none; without it the one in PHP's extension folder, \
             or the one beside this command",
        ),
    Spec::new("-d", "ini", "NAME[=VALUE]", Form::Named)
        .takes(take!(to, name, value => to.ini.push((name, value))))
        .help("a setting of PHP; may be repeated"),
    Spec::new("", "env", "", Form::Named)
        .takes(take!(to, name, value => to.env.push((name, value))))
        .help("environment variables of PHP"),
    Spec::new("--config", "", "FILE", Form::One)
        .takes(take!(to, value, _ => to.config = Some(value.into())))
        .help("the file with options; without it spindle.toml in this directory, if there is one"),
    Spec::new("--check", "", "", Form::Flag)
        .takes(take!(to, _, _ => to.is_check = true))
        .help("serves nothing, but boots APP once, and says whether it could be served"),
];

/// Returns the help: all options, and then the keys that are none.
pub fn help() -> String {
    let mut text = String::new();
    for spec in SPECS.iter().filter(|spec| !spec.option.is_empty()) {
        entry(&mut text, &format!("{} {}", spec.option, spec.value), spec.help);
    }
    entry(&mut text, "-h, --help", "prints this");
    text.push_str("\nIn spindle.toml these are keys, as in 'workers = 4', and so are:\n\n");
    for spec in SPECS.iter().filter(|spec| !spec.key.is_empty() && spec.option.trim_start_matches('-') != spec.key) {
        let key =
            if spec.form == Form::Named { format!("[{}]", spec.key) } else { format!("{} = {}", spec.key, spec.value) };
        let help = if spec.key == "ini" { "a table of settings, as -d" } else { spec.help };
        entry(&mut text, &key, help);
    }
    entry(&mut text, "[process.NAME]", "a table with a command, and count = N, for --run 'NAME*N=COMMAND'");
    entry(&mut text, "[every.NAME]", "a table with a command, and time = \"5m\", for --every 'NAME=5m COMMAND'");
    text
}

/// Appends a line, and those that it needs beyond 80 columns.
fn entry(text: &mut String, name: &str, help: &str) {
    let mut line = format!("  {:<16}", name.trim_end());
    if line.len() > 18 {
        text.push_str(&line);
        text.push('\n');
        line = " ".repeat(18);
    }
    line.push(' ');
    for word in help.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > 80 {
            text.push_str(line.trim_end());
            text.push('\n');
            line = " ".repeat(19);
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(line.trim_end());
    text.push('\n');
}
