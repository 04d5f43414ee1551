//! The admin addresses: questions about the workers, answered by the command, whatever those do.
//!
//! Each connection asks once. What it asks for is known from the first line, so the rest of the head and a body are not looked at.

use super::process::Descriptor;
use super::sockets::{self, Sockets};
use crate::console;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, accept_with, recv, send, sockopt};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How many may ask at a time. A further one takes the place of the one that has asked nothing for the longest time, or else waits in
/// the kernel's queue.
const MOST: usize = 64;

/// How long no one is accepted when descriptors have run out: those that wait would be announced again and again.
const PAUSE: Duration = Duration::from_millis(100);

/// The size of a head.
const MOST_BYTES: usize = 16 << 10;

/// How long a client may take to ask, and to take its answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a client asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// The command is alive.
    Health,
    /// Workers serve.
    Readiness,
    Metrics,
    Status,
    /// It wants to hear which requests there are, which takes the workers' answers.
    Requests,
    /// It wants a reload, and to hear how that ends.
    Reload,
    /// The same, by the program that is there now in place of this one.
    Upgrade,
}

pub struct Answer {
    pub status: u16,
    pub kind: &'static str,
    pub body: String,
}

impl Answer {
    pub fn text(status: u16, body: impl Into<String>) -> Answer {
        Answer { status, kind: "text/plain; charset=utf-8", body: body.into() + "\n" }
    }
}

/// What is answered later.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Awaited {
    /// The outcome of the reload that runs.
    Reload,
    /// That of the one that follows it.
    NextReload,
    /// Whether the program takes over. If it does, that of its reload.
    Upgrade,
    Requests,
}

#[derive(Clone, Serialize, Deserialize)]
enum State {
    Asking(Vec<u8>),
    Awaits(Awaited),
    /// Bytes that are still to be sent.
    Answered(Vec<u8>),
}

struct Client {
    socket: OwnedFd,
    /// Only who may write to its file can be one of a Unix socket.
    is_trusted: bool,
    state: State,
    until: Option<Instant>,
}

/// The sockets, and who asks.
pub struct Admin {
    sockets: Sockets,
    /// The oldest one comes first.
    clients: Vec<Client>,
    /// When it accepts again, after descriptors have run out.
    paused: Option<Instant>,
}

/// What is kept of them over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    sockets: sockets::Kept,
    clients: Vec<(Descriptor, bool, State)>,
}

impl Admin {
    pub fn keep(&self) -> io::Result<Kept> {
        let keep = |client: &Client| Ok((Descriptor::keep(&client.socket)?, client.is_trusted, client.state.clone()));
        Ok(Kept { sockets: self.sockets.keep()?, clients: self.clients.iter().map(keep).collect::<io::Result<_>>()? })
    }

    /// Goes on with those that were kept. Clients have all their time again.
    pub fn adopt(kept: Kept) -> io::Result<Admin> {
        let by = Instant::now() + PATIENCE;
        let adopt = |(socket, is_trusted, state): (Descriptor, bool, State)| {
            let until = (!matches!(state, State::Awaits(_))).then_some(by);
            Ok(Client { socket: socket.take()?, is_trusted, state, until })
        };
        let clients = kept.clients.into_iter().map(adopt).collect::<io::Result<_>>()?;
        Ok(Admin { sockets: Sockets::adopt(kept.sockets)?, clients, paused: None })
    }

    pub fn bind(addresses: &[OsString]) -> Result<Admin, String> {
        let sockets = Sockets::bind(addresses, false)?;
        for socket in &sockets.open {
            rustix::io::ioctl_fionbio(socket, true).map_err(|error| console::reason(&error.into()))?;
        }
        Ok(Admin { sockets, clients: Vec::new(), paused: None })
    }

    /// Adds what is waited for.
    pub fn watch<'a>(&'a self, ready: &mut Vec<PollFd<'a>>) {
        if self.paused.is_none() && self.has_room() {
            ready
                .extend(self.sockets.open.iter().map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)));
        }
        ready.extend(self.clients.iter().map(|client| {
            let events = if let State::Answered(_) = client.state { PollFlags::OUT } else { PollFlags::IN };
            PollFd::from_borrowed_fd(client.socket.as_fd(), events)
        }));
    }

    /// Returns when a client has had its time, or it accepts again.
    pub fn due(&self) -> Option<Instant> {
        self.clients.iter().filter_map(|client| client.until).chain(self.paused).min()
    }

    fn silent(&self) -> Option<usize> {
        self.clients.iter().position(|client| matches!(client.state, State::Asking(_)))
    }

    fn has_room(&self) -> bool {
        self.clients.len() < MOST || self.silent().is_some()
    }

    fn accept(&mut self, now: Instant) {
        if self.paused.is_some_and(|until| now < until) {
            return;
        }
        self.paused = None;
        // So that those who are accepted are heard before others take their places.
        let most = (MOST / 2 / self.sockets.open.len().max(1)).max(1);
        for place in 0..self.sockets.open.len() {
            for _ in 0..most {
                if !self.has_room() {
                    return;
                }
                let socket = &self.sockets.open[place];
                let client = match accept_with(socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                    Ok(client) => client,
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR | Errno::CONNABORTED) => continue,
                    Err(_) => {
                        self.paused = Some(now + PAUSE);
                        return;
                    }
                };
                let is_trusted = sockopt::socket_domain(socket).is_ok_and(|domain| domain == AddressFamily::UNIX);
                if let Some(silent) = self.silent().filter(|_| self.clients.len() >= MOST) {
                    self.clients.remove(silent);
                }
                let (state, until) = (State::Asking(Vec::new()), Some(now + PATIENCE));
                self.clients.push(Client { socket: client, is_trusted, state, until });
            }
        }
    }

    /// Answers what is asked, unless `answer` says what that has to wait for.
    pub fn turn(&mut self, mut answer: impl FnMut(Question) -> Result<Answer, Awaited>) {
        let now = Instant::now();
        let mut turn = |client: &mut Client| client.turn(now, &mut answer);
        self.clients.retain_mut(|client| client.until.is_none_or(|until| now < until) && turn(client));
        self.accept(now); // those that have asked meanwhile were heard
    }

    /// A reload begins, which is what all wait for now.
    pub fn reloads(&mut self) {
        for client in &mut self.clients {
            if let State::Awaits(awaited @ Awaited::NextReload) = &mut client.state {
                *awaited = Awaited::Reload;
            }
        }
    }

    /// An upgrade was done, but for its reload.
    pub fn takes_over(&mut self) {
        for client in &mut self.clients {
            if let State::Awaits(awaited @ Awaited::Upgrade) = &mut client.state {
                *awaited = Awaited::Reload;
            }
        }
    }

    /// Answers those who wait for this.
    pub fn tell(&mut self, what: Awaited, answer: &Answer) {
        let now = Instant::now();
        self.clients.retain_mut(|client| match client.state {
            State::Awaits(awaited) if awaited == what => client.answer(now, answer),
            _ => true,
        });
    }
}

impl Client {
    /// Returns `false` when it is done.
    fn turn(&mut self, now: Instant, answer: &mut impl FnMut(Question) -> Result<Answer, Awaited>) -> bool {
        let mut bytes = [0; 2048];
        match &mut self.state {
            State::Answered(_) => self.send(),
            State::Awaits(_) => {
                !matches!(recv(&self.socket, &mut bytes, RecvFlags::empty()), Ok((_, 0))) // it has left
            }
            State::Asking(head) => loop {
                match recv(&self.socket, &mut bytes, RecvFlags::empty()) {
                    Ok((_, 0)) => return false,
                    Ok((_, count)) => head.extend_from_slice(&bytes[..count]),
                    Err(Errno::INTR) => {}
                    Err(error) => return error == Errno::AGAIN,
                }
                if head.len() > MOST_BYTES {
                    return self.answer(now, &Answer::text(431, "too long"));
                }
                if !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    continue;
                }
                let given = match question(head) {
                    Ok(question @ (Question::Reload | Question::Upgrade | Question::Requests)) if !self.is_trusted => {
                        let what = match question {
                            Question::Requests => "requests are",
                            Question::Upgrade => "an upgrade is",
                            _ => "a reload is",
                        };
                        Ok(Answer::text(403, format!("{what} for those who may use a Unix socket: --admin unix:PATH")))
                    }
                    Ok(question) => answer(question),
                    Err((status, why)) => Ok(Answer::text(status, why)),
                };
                return match given {
                    Ok(given) => self.answer(now, &given),
                    Err(awaited) => {
                        (self.state, self.until) = (State::Awaits(awaited), None);
                        true
                    }
                };
            },
        }
    }

    fn answer(&mut self, now: Instant, answer: &Answer) -> bool {
        let Answer { status, kind, body } = answer;
        let reason = match status {
            200 => "OK",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            409 => "Conflict",
            503 => "Service Unavailable",
            _ => "Error",
        };
        let length = body.len();
        let text = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}"
        );
        (self.state, self.until) = (State::Answered(text.into_bytes()), Some(now + PATIENCE));
        self.send()
    }

    fn send(&mut self) -> bool {
        let State::Answered(rest) = &mut self.state else { return true };
        while !rest.is_empty() {
            match send(&self.socket, rest, SendFlags::NOSIGNAL) {
                Ok(count) => drop(rest.drain(..count)),
                Err(Errno::INTR) => {}
                Err(error) => return error == Errno::AGAIN,
            }
        }
        false
    }
}

/// The question of the first line, or a status and why it is refused.
fn question(head: &[u8]) -> Result<Question, (u16, &'static str)> {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if !words.next().is_some_and(|version| version.starts_with(b"HTTP/1.")) {
        return Err((400, "not a request of HTTP/1.1"));
    }
    let path = target.split(|byte| *byte == b'?').next().unwrap_or_default();
    let (question, wanted): (_, &[u8]) = match path {
        b"/healthz" => (Question::Health, b"GET"),
        b"/readyz" => (Question::Readiness, b"GET"),
        b"/metrics" => (Question::Metrics, b"GET"),
        b"/status" => (Question::Status, b"GET"),
        b"/requests" => (Question::Requests, b"GET"),
        b"/reload" => (Question::Reload, b"POST"),
        b"/upgrade" => (Question::Upgrade, b"POST"),
        _ => {
            return Err((
                404,
                "there are /healthz, /readyz, /metrics, /status, /requests, POST /reload and POST /upgrade",
            ));
        }
    };
    if method == wanted { Ok(question) } else { Err((405, "another method")) }
}

#[cfg(test)]
mod tests {
    use super::{Question, question};

    #[test]
    fn questions() {
        for (line, expected) in [
            ("GET /healthz HTTP/1.1\r\n", Ok(Question::Health)),
            ("GET /metrics?x=1 HTTP/1.0\r\n", Ok(Question::Metrics)),
            ("POST /reload HTTP/1.1\r\n", Ok(Question::Reload)),
            ("POST /upgrade HTTP/1.1\r\n", Ok(Question::Upgrade)),
            ("GET /reload HTTP/1.1\r\n", Err(405)),
            ("POST /status HTTP/1.1\r\n", Err(405)),
            ("GET /other HTTP/1.1\r\n", Err(404)),
            ("GET /healthz HTTP/2.0\r\n", Err(400)),
            ("GET /healthz\r\n", Err(400)),
            ("\r\n", Err(400)),
        ] {
            assert_eq!(question(line.as_bytes()).map_err(|(status, _)| status), expected, "{line}");
        }
    }
}
