//! `spindle serve --check`: whether it could serve, without doing so.

use super::board::Board;
use super::handover;
use super::master::Terms;
use super::process;
use super::settings::Request;
use super::signals::Signals;
use super::sockets::{self, Sockets};
use super::values::is_address;
use super::worker::{Stage, Worker};
use crate::admin;
use crate::console::{self, Status};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::ffi::{OsStr, OsString};
use std::io;
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

/// Checks the addresses, boots a PHP as a worker is, and ends it when it is ready. What is wrong is said.
pub fn run(request: &Request, terms: &Terms<'_>) -> Result<Status, String> {
    if !handover::is_asked() {
        addresses(request)?; // else they are left to it
    }
    if !boots(request, terms)? {
        return Ok(Status::Failed);
    }
    let list: Vec<_> = request.listen.iter().map(|address| address.to_string_lossy()).collect();
    let text = format!("{} is right: it boots, and can be served at {}", request.app.display(), list.join(", "));
    Ok(console::print(format!("{}\n", console::one_line(&text)).as_bytes()))
}

/// Fails if one cannot be bound, unless a server that is asked at its admin address has it already. With such a server no sockets need be
/// passed to this process: a reload keeps those that it has.
fn addresses(request: &Request) -> Result<(), String> {
    let listen = request.listen.iter().filter(|address| is_address(address));
    let wanted = listen.map(|address| (address, request.is_shared));
    let wanted = wanted.chain(request.admin.iter().map(|address| (address, false)));
    let mut running: Option<Option<Vec<String>>> = None;
    let mut own = || running.get_or_insert_with(|| request.admin.iter().find_map(|admin| told(admin))).clone();
    for why in request.listen.iter().filter_map(|address| sockets::inherited(address)?.err()) {
        if own().is_none() {
            return Err(why);
        }
    }
    for (address, is_shared) in wanted {
        let Err(error) = sockets::check(address, is_shared) else { continue };
        if error.kind() != io::ErrorKind::AddrInUse || !own().unwrap_or_default().contains(&sockets::absolute(address))
        {
            return Err(sockets::refusal(address, &error));
        }
    }
    Ok(())
}

/// Asks the server with this admin address for all that it has.
fn told(address: &OsStr) -> Option<Vec<String>> {
    let (address, patience) = (address.to_str()?, Some(admin::PATIENCE));
    let answer = match address.strip_prefix("unix:") {
        Some(path) => admin::ask(OsStr::new(path), "GET /status", patience),
        None => {
            let stream = TcpStream::connect(address).ok()?;
            stream.set_read_timeout(patience).ok()?;
            admin::asked(stream, "GET /status", patience)
        }
    };
    let (_, body) = answer.ok()??;
    let status: serde_json::Value = serde_json::from_str(&body).ok()?;
    let addresses = status.get("addresses")?.as_array()?.iter();
    Some(addresses.filter_map(|address| address.as_str().map(str::to_owned)).collect())
}

/// Returns `true` if PHP gets ready, and ends when it is told to.
fn boots(request: &Request, terms: &Terms<'_>) -> Result<bool, String> {
    let say = |error: io::Error| console::reason(&error);
    let signals = Signals::catch()?;
    // It listens where no one finds it. What is no address is left to PHP, which says so.
    let folder = tempfile::tempdir().map_err(say)?;
    let mut private = OsString::from("unix:");
    private.push(folder.path().join("check"));
    let mut sockets = Sockets::bind(&[private], false)?;
    let is_wrong = |address: &&OsString| !is_address(address) && sockets::inherited(address).is_none();
    sockets.names.extend(request.listen.iter().filter(is_wrong).cloned());
    let mut command = (terms.command)(&sockets)?;
    command.arg("worker=0");
    let program = command.get_program().to_string_lossy().into_owned();
    let mut board = Board::new(1).map_err(say)?;
    let mut worker = Worker::start(command, 0, 0, Duration::ZERO, &sockets.open, &mut board)
        .map_err(|error| format!("{program}: {}", say(error)))?;
    let Some(status) = watch(&mut worker, &signals) else {
        return Err("the check was stopped before PHP was ready".to_owned());
    };
    if let (Stage::Starting, Some(signal)) = (worker.stage, status.signal()) {
        return Err(format!("PHP was ended by signal {signal} before it could serve"));
    }
    if worker.stage == Stage::Serving && !status.success() {
        return Err(format!("PHP was ready, but has not ended as it should: {status}"));
    }
    Ok(worker.stage == Stage::Serving) // that it is not has been said
}

/// Waits until it has ended, which it is told to when it is ready. Returns `None` if the command is told to stop, whose end ends it.
fn watch(worker: &mut Worker, signals: &Signals) -> Option<ExitStatus> {
    loop {
        let mut ready = vec![PollFd::from_borrowed_fd(signals.wakes.as_fd(), PollFlags::IN)];
        if !worker.is_silent {
            ready.push(PollFd::from_borrowed_fd(worker.control(), PollFlags::IN));
        }
        let left = worker.due.map(|due| due.saturating_duration_since(Instant::now()));
        let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
        let _ = poll(&mut ready, left.as_ref()); // interrupted by a signal; any other failure costs a needless check
        if signals.take().iter().any(|signal| [SIGTERM, SIGINT, SIGQUIT, SIGHUP].contains(signal)) {
            return None;
        }
        hear(worker);
        while let Some((pid, status)) = process::reap() {
            if worker.pid() == Some(pid) {
                hear(worker); // its last words
                return Some(status);
            }
        }
        if worker.due.is_some_and(|due| due <= Instant::now()) {
            worker.due = None;
            worker.signal(Signal::KILL);
        }
    }
}

/// Takes what it says: that it is ready, or what is wrong.
fn hear(worker: &mut Worker) {
    for line in worker.listen() {
        match line.strip_prefix(b"says ") {
            Some(wrong) if worker.stage == Stage::Starting && wrong.starts_with(b"spindle: ") => {
                console::complain(console::one_line(&String::from_utf8_lossy(wrong)).as_bytes());
            }
            None if line == b"ready" && worker.stage == Stage::Starting => {
                worker.stage = Stage::Serving;
                worker.finish(Instant::now());
            }
            _ => {}
        }
    }
}
