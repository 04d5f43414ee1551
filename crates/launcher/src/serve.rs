//! `spindle serve`: an application behind the HTTP server.
//!
//! What serves is PHP: this command finds one that has Spindle, and runs it (`serve.php`), once for each worker. It has the listening
//! sockets, and replaces workers that end.

mod admin;
mod beside;
mod board;
mod check;
mod clock;
mod command;
mod config;
mod fpm;
mod handover;
mod limits;
mod lines;
mod master;
mod options;
mod process;
mod relay;
mod report;
mod requests;
mod settings;
mod signals;
mod sockets;
mod systemd;
mod user;
mod values;
mod worker;
mod zygote;

use crate::console::{self, Status};
use crate::doctor::php;
use admin::Admin;
use beside::Beside;
use command::Interpreter;
use fpm::Fpm;
use handover::Handover;
use lexopt::Parser;
use master::{Before, Plan, Terms};
use settings::{Arguments, CLASSIC, HINT, Settings};
use sockets::Sockets;
use std::cell::Cell;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use user::User;

const HELP: &str = "\
Usage: spindle serve [APP] [OPTION]... [[--] ARGUMENT...]

Serves HTTP with the PHP file APP, which returns what handles a request:

    <?php
    return fn (Async\\Http\\Request $request) => 'Hello';

If APP is a directory, php-fpm runs the scripts in it, and other files are sent.

Requests are logged on standard output. SIGTERM and Ctrl+C stop it when the
requests that have come are answered, and a second one at once. SIGHUP starts
PHP anew, and no connection is refused meanwhile. So it does when PHP ends.

Options may be in the file spindle.toml; those given here win.

";

const STATUS: &str = "
Exit status:
  0  it was stopped, or is right
  1  it cannot serve, or PHP or a program beside it had to be ended; a line on
     standard error says why
";

/// How long one that takes over rests before it tries again.
const AGAIN: Duration = Duration::from_secs(1);

/// How long PHP may take to say what it is, where workers are served meanwhile.
const QUICK: Duration = Duration::from_secs(3);

/// How many workers may end before the first one is ready.
const ATTEMPTS: u32 = 6;

/// Runs the command.
pub fn run(arguments: &mut Parser) -> Status {
    let arguments = match Arguments::parse(arguments) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => return console::print(format!("{HELP}{}{STATUS}", options::help()).as_bytes()),
        Err(why) => return fails(&format!("{why}{HINT}")),
    };
    let mut given = match Handover::given() {
        Ok(given) => given,
        Err(why) => return fails(&why),
    };
    loop {
        match serve(&arguments, &mut given) {
            Ok(status) => return status,
            // The workers of the command before this one go on. What is wrong was right a moment ago: files are being replaced.
            Err(why) if given.is_some() => {
                fails(&why);
                match signals::ends_within(AGAIN) {
                    Ok(false) => {}
                    Ok(true) => {
                        given.take().into_iter().for_each(Handover::discard);
                        return fails("it was stopped before it could take over");
                    }
                    Err(why) => return fails(&why),
                }
            }
            Err(why) => return fails(&why),
        }
    }
}

fn fails(why: &str) -> Status {
    console::complain(format!("spindle: {}", console::one_line(why)).as_bytes());
    Status::Failed
}

/// Serves, from the beginning or from where the command before this one was.
fn serve(arguments: &Arguments, given: &mut Option<Handover>) -> Result<Status, String> {
    let folder = working_directory();
    let settings = Rc::new(Settings::read(arguments, &folder)?);
    let request = &settings.request;
    let is_classic = request.mode == CLASSIC;
    // When there was a command before this one, all was right: what is not, any more, is what is wrong with a reload.
    let is_new = given.is_none();
    let app = if is_new { found(&folder, &request.app, is_classic)? } else { folder.join(&request.app) };
    let name = request.user.as_deref().filter(|_| !request.is_dev);
    let user = name.map(User::find).transpose()?.flatten();
    let mut beside = Beside::new(&request.run, &request.every, &folder, user.as_ref(), is_new)?;
    if user.is_some() {
        process::keep_descriptors(&sockets::numbers(&request.listen))
            .map_err(|error| format!("/proc/self/fd: {}", console::reason(&error)))?;
    }
    let php = Interpreter::new(request, if is_new { php::PATIENCE } else { QUICK });
    // From here on nothing fails if there was a command before this one: what it has left is taken once.
    let mut kept = given.take();
    let lost = |error| format!("what the command before this one has left: {}", console::reason(&error));
    if is_new {
        php.get()?;
    }
    let fpm = match &mut kept {
        Some(kept) => {
            let kept = kept.fpm.take();
            kept.map(|kept| Fpm::adopt(&folder, user.as_ref(), command::of_fpm(request), kept).map_err(lost))
                .transpose()?
        }
        None if is_classic => {
            let program = fpm::find(request.fpm.as_deref(), php.get()?.version, &folder)?;
            Some(Fpm::new(program, &folder, user.as_ref(), command::of_fpm(request))?)
        }
        None => None,
    };
    let passes_to = fpm.as_ref().map(Fpm::address);
    let terms = |settings: Rc<Settings>| {
        let (limits, grace) = (settings.request.limits, settings.request.grace);
        let forks = settings.request.workers.is_some_and(|workers| workers > 1);
        let env = settings.request.env.clone();
        let (folder, user, php) = (&folder, user.as_ref(), &php);
        let (fpm, passes_to) = (command::of_fpm(&settings.request), passes_to.as_deref());
        let command = move |sockets: &Sockets| {
            // Resolved whenever a worker starts: a deployment may switch a symbolic link to another release.
            let app = resolved(folder, &settings.request.app)?;
            let mut command = command::command(&settings.request, php.get()?, user, &app, passes_to, sockets);
            command.current_dir(folder);
            for name in process::VARIABLES {
                command.env_remove(name);
            }
            Ok(command)
        };
        Terms { command: Box::new(command), env, limits, grace, forks, fpm }
    };
    if request.is_check {
        let status = check::run(request, &terms(Rc::clone(&settings)))?;
        return Ok(if status == Status::Fine && handover::is_asked() { Status::TakesOver } else { status });
    }
    let had_file = Cell::new(settings.has_file);
    let again = || {
        let now = Settings::read(arguments, &folder)?;
        if had_file.replace(had_file.get() || now.has_file) && !now.has_file {
            return Err("there is no spindle.toml any more".to_owned());
        }
        match now.needs_restart(&settings) {
            Some(key) => Err(format!("another value of '{key}' needs a restart")),
            None => Ok(terms(Rc::new(now))),
        }
    };
    let (admin, sockets, before) = match kept {
        Some(kept) => {
            beside.adopt(&kept.beside, &request.env);
            let before = Before::adopt(kept.workers, kept.board, kept.history, kept.age, kept.slowest, kept.given_up)
                .map_err(lost)?;
            (Admin::adopt(kept.admin).map_err(lost)?, Sockets::adopt(kept.sockets).map_err(lost)?, Some(before))
        }
        None => (Admin::bind(&request.admin)?, Sockets::bind(&request.listen, request.is_shared)?, None),
    };
    let plan = Plan {
        terms: &again,
        app: &app,
        folder: &folder,
        addresses: sockets.shown.iter().chain(&request.admin).map(|address| sockets::absolute(address)).collect(),
        workers: request.workers.unwrap_or(1),
        attempts: if request.workers.is_some() { ATTEMPTS } else { 1 },
        is_dev: request.is_dev,
        has_log_file: request.log_file.is_some(),
        ready_queue: request.ready_queue,
    };
    if let Some(user) = user.as_ref().filter(|_| before.is_none()) {
        sockets.give(user)?;
    }
    master::run(&plan, terms(Rc::clone(&settings)), sockets, admin, beside, fpm, before)
}

/// Returns the app, which is a file that can be read, or a folder.
fn found(folder: &Path, name: &OsStr, is_classic: bool) -> Result<PathBuf, String> {
    let (app, shown) = (resolved(folder, name)?, name.to_string_lossy());
    if is_classic && !app.is_dir() {
        return Err(format!("{shown} is not a directory"));
    }
    if !is_classic && !app.is_file() {
        return Err(format!("{shown} is not a file"));
    }
    std::fs::File::open(&app).map_err(|error| format!("{shown}: {}", console::reason(&error)))?;
    Ok(app)
}

/// Returns the file that a name in a folder leads to now.
fn resolved(folder: &Path, name: &OsStr) -> Result<PathBuf, String> {
    let fails = |error| format!("{}: {}", name.to_string_lossy(), console::reason(&error));
    std::fs::canonicalize(folder.join(name)).map_err(fails)
}

/// Returns the working directory as the shell names it, in which symbolic links lead to what they lead to later.
fn working_directory() -> PathBuf {
    let place = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let named = std::env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
    let named = named.filter(|path| place(path).is_some() && place(path) == place(Path::new(".")));
    named.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("."))
}
