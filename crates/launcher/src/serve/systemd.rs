//! What systemd is told, and what it has passed: `sd_notify(3)` and `sd_listen_fds(3)`, which are a few lines of text each.

use super::process;
use crate::console;
use rustix::event::{PollFd, PollFlags};
use rustix::net::{SocketType, sockopt};
use rustix::time::{ClockId, clock_gettime};
use std::collections::VecDeque;
use std::env;
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// The first descriptor that it passes.
const FIRST: i32 = 3;

/// How many messages may wait for it. The oldest ones no longer matter then.
const MOST: usize = 16;

/// A service manager, if there is one.
pub struct Manager {
    socket: Option<UnixDatagram>,
    unsent: VecDeque<String>,
    /// How often it wants to hear that this process is alive, and when it is told next.
    watchdog: Option<(Duration, Instant)>,
}

impl Manager {
    /// Returns the one that has started this process.
    ///
    /// # Errors
    /// It wants to be told, and cannot be.
    pub fn from_environment(now: Instant) -> io::Result<Manager> {
        let socket = env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()).map(|name| connect(&name));
        let socket = socket.transpose()?;
        let watchdog = interval().filter(|_| socket.is_some()).map(|interval| (interval, now));
        Ok(Manager { socket, unsent: VecDeque::new(), watchdog })
    }

    /// One that is told nothing.
    pub fn none() -> Manager {
        Manager { socket: None, unsent: VecDeque::new(), watchdog: None }
    }

    /// It serves, and does what the text says.
    pub fn is_ready(&mut self, status: &str) {
        self.tell(format!("READY=1\n{}", line(status)));
    }

    /// A reload has begun.
    pub fn reloads(&mut self, status: &str) {
        let now = clock_gettime(ClockId::Monotonic);
        let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.tell(format!("RELOADING=1\nMONOTONIC_USEC={microseconds}\n{}", line(status)));
    }

    /// It ends.
    pub fn stops(&mut self, status: &str) {
        self.tell(format!("STOPPING=1\n{}", line(status)));
    }

    fn tell(&mut self, message: String) {
        if self.socket.is_some() {
            self.unsent.push_back(message);
            self.unsent.drain(..self.unsent.len().saturating_sub(MOST));
        }
    }

    /// Tells what waits. A manager that does not read for a while keeps this process from nothing.
    ///
    /// # Errors
    /// It cannot be told any more: this is said once.
    pub fn turn(&mut self, now: Instant) -> io::Result<()> {
        if let Some((interval, next)) = self.watchdog.as_mut().filter(|(_, next)| *next <= now) {
            *next = now + *interval;
            // Behind what waits it would come too late to say anything.
            if self.unsent.is_empty() {
                self.unsent.push_back("WATCHDOG=1\n".to_owned());
            }
        }
        while let (Some(socket), Some(message)) = (&self.socket, self.unsent.front()) {
            match socket.send(message.as_bytes()) {
                Ok(_) => drop(self.unsent.pop_front()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => {
                    *self = Manager::none();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Adds what is waited for.
    pub fn watch<'a>(&'a self, ready: &mut Vec<PollFd<'a>>) {
        let socket = self.socket.iter().filter(|_| !self.unsent.is_empty());
        ready.extend(socket.map(|socket| PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::OUT)));
    }

    /// Returns when it is told next that this process is alive.
    pub fn due(&self) -> Option<Instant> {
        self.watchdog.map(|(_, next)| next)
    }
}

fn line(text: &str) -> String {
    format!("STATUS={}\n", console::one_line(text).chars().take(1000).collect::<String>())
}

fn connect(name: &OsStr) -> io::Result<UnixDatagram> {
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        [b'/', ..] => SocketAddr::from_pathname(name)?,
        _ => return Err(ErrorKind::Unsupported.into()),
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    socket.connect_addr(&address)?;
    Ok(socket)
}

/// Half of the time after which it takes this process for dead.
fn interval() -> Option<Duration> {
    let number = |name| env::var(name).ok()?.parse::<u64>().ok();
    let is_ours = number("WATCHDOG_PID").is_none_or(|process| process == u64::from(std::process::id()));
    let most = number("WATCHDOG_USEC").filter(|most| is_ours && *most > 0)?;
    Some(Duration::from_micros(most / 2).max(Duration::from_millis(1)))
}

/// Returns the sockets with this name that it has passed, or all if the name is empty.
///
/// # Errors
/// There is none, or one that does not listen.
pub fn passed(name: &str) -> Result<Vec<OwnedFd>, String> {
    let number = |name| env::var(name).ok()?.parse::<u32>().ok();
    let count = number("LISTEN_FDS").filter(|_| number("LISTEN_PID") == Some(std::process::id())).unwrap_or(0);
    if count == 0 {
        return Err("systemd has passed no socket: a socket unit does".to_owned());
    }
    let text = env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names: Vec<_> = text.split(':').collect();
    let mut found = Vec::new();
    for place in 0..count as usize {
        if name.is_empty() || names.get(place) == Some(&name) {
            let number = i32::try_from(place).map_err(|error| error.to_string())? + FIRST;
            found.push(listening(number).map_err(|why| format!("descriptor {number}: {why}"))?);
        }
    }
    if found.is_empty() {
        return Err(format!("systemd has passed no socket with this name, but: {}", names.join(", ")));
    }
    Ok(found)
}

/// Returns a socket that this process was started with.
///
/// # Errors
/// It is none that listens.
pub fn listening(number: i32) -> Result<OwnedFd, String> {
    let socket = process::inherited(number).map_err(|error| console::reason(&error))?;
    let is_stream = sockopt::socket_type(&socket) == Ok(SocketType::STREAM);
    let listens = sockopt::socket_acceptconn(&socket) == Ok(true);
    if is_stream && listens { Ok(socket) } else { Err("it is not a socket that listens for streams".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::{MOST, Manager};
    use std::collections::VecDeque;
    use std::os::unix::net::UnixDatagram;
    use std::time::{Duration, Instant};

    #[test]
    fn the_last_of_what_waits_is_told_and_a_sign_of_life_never_waits() {
        let (socket, other) = UnixDatagram::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        other.set_nonblocking(true).unwrap();
        let (now, second) = (Instant::now(), Duration::from_secs(1));
        let mut manager =
            Manager { socket: Some(socket), unsent: VecDeque::new(), watchdog: Some((second, now + second)) };
        let heard = || {
            let mut bytes = [0; 100];
            std::iter::from_fn(|| other.recv(&mut bytes).ok().map(|count| bytes[..count].to_vec()))
                .map(|bytes| String::from_utf8(bytes).unwrap())
                .collect::<Vec<_>>()
        };
        for number in 0..100 {
            manager.is_ready(&number.to_string());
        }
        assert_eq!(manager.unsent.len(), MOST);
        let mut all = Vec::new();
        while !manager.unsent.is_empty() {
            manager.turn(now + second).unwrap();
            all.extend(heard());
        }
        let last: Vec<_> = (100 - MOST..100).map(|number| format!("READY=1\nSTATUS={number}\n")).collect();
        assert_eq!(all, last);
        manager.turn(now + second + second / 2).unwrap();
        assert!(heard().is_empty());
        manager.turn(now + second * 2).unwrap();
        assert_eq!(heard(), ["WATCHDOG=1\n"]);
        assert_eq!(manager.due(), Some(now + second * 3));
        drop(other);
        assert!(manager.turn(now + second * 3).is_err());
        assert!(manager.turn(now + second * 4).is_ok(), "it is said once");
        assert_eq!(manager.due(), None);
    }
}
