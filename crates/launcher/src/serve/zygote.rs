//! A PHP that forks workers, as the command sees it: it has loaded everything but the app. What is said to it, and what it answers, is
//! described in `zygote.rs` of the crate of the server.

use super::process;
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recv,
    sendmsg, socketpair,
};
use rustix::process::{Pid, Signal, getpid, kill_process_group, set_child_subreaper};
use std::ffi::OsString;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// How the module is told that it is one: the number of its socket.
const VARIABLE: &str = "SPINDLE_ZYGOTE";

/// How many descriptors a worker alone gets.
const DESCRIPTORS: usize = 2;

/// How long one that has ended is listened to, if another process has its socket: a program that an extension has started.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What one answers.
#[derive(PartialEq, Eq, Debug)]
pub enum Answer {
    /// The worker of this number is this process, and a child of the command.
    Forked(u64, Pid),
    /// There is no such worker, and why.
    Failed(u64, String),
    /// No worker can be forked, and why.
    Alone(String),
}

pub struct Zygote {
    pub pid: Pid,
    /// That of its workers.
    pub generation: u32,
    socket: OwnedFd,
    /// How many workers it was asked for.
    asked: u64,
    /// It has forked one.
    pub has_forked: bool,
    /// It was made to end, or cannot fork.
    pub is_told: bool,
    /// How it has ended, and when that was learnt.
    ended: Option<(ExitStatus, Instant)>,
    /// It has ended, and so have those that it has forked and that are not yet workers: nothing is said any more.
    is_silent: bool,
}

impl Zygote {
    /// Starts one, which has these descriptors for all of its workers.
    ///
    /// # Errors
    /// The program cannot be executed.
    pub fn start(mut command: Command, generation: u32, inherits: &[BorrowedFd<'_>]) -> io::Result<Zygote> {
        set_child_subreaper(Some(getpid()))?; // its workers are children of children that have ended
        let flags = SocketFlags::CLOEXEC;
        let (socket, its) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        command.env(VARIABLE, its.as_raw_fd().to_string());
        let inherits: Vec<_> = inherits.iter().copied().chain([its.as_fd()]).collect();
        let pid = process::spawn(command.process_group(0), &inherits)?;
        let (has_forked, is_told) = (false, false);
        Ok(Zygote { pid, generation, socket, asked: 0, has_forked, is_told, ended: None, is_silent: false })
    }

    /// Asks for a worker with these arguments and descriptors. Returns its number, by which the answer names it.
    ///
    /// # Errors
    /// It has ended, or does not take what it is asked for.
    pub fn ask(&mut self, arguments: &[OsString], descriptors: [BorrowedFd<'_>; DESCRIPTORS]) -> io::Result<u64> {
        let number = self.asked + 1;
        let mut text = format!("{number}\0").into_bytes();
        for argument in arguments {
            text.extend_from_slice(argument.as_bytes());
            text.push(0);
        }
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        while let Err(error) = sendmsg(&self.socket, &[IoSlice::new(&text)], &mut ancillary, flags) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        self.asked = number;
        Ok(number)
    }

    /// Takes what it has answered since.
    pub fn listen(&mut self) -> Vec<Answer> {
        let (mut bytes, mut answers) = ([0; 1024], Vec::new());
        while !self.is_silent {
            match recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((_, count @ 1..)) => answers.extend(answer(&bytes[..count])),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Ok(_) | Err(_) => self.is_silent = true,
            }
        }
        self.has_forked |= answers.iter().any(|answer| matches!(answer, Answer::Forked(..)));
        answers
    }

    /// What is waited for.
    pub fn wants(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        (!self.is_silent).then(|| (self.socket.as_fd(), PollFlags::IN))
    }

    /// Ends it at once: it has nothing to lose. With it ends a child that opcache has it fork to preload as another user.
    pub fn end(&mut self) {
        if !self.is_told && self.ended.is_none() {
            let _ = kill_process_group(self.pid, Signal::KILL); // it is still there, as it was not waited for
        }
        self.is_told = true;
    }

    /// It has ended.
    pub fn ended(&mut self, status: ExitStatus, now: Instant) {
        self.ended = Some((status, now));
    }

    /// It turned out to have ended.
    pub fn is_gone(&mut self) {
        self.is_silent = true;
    }

    /// Returns how it has ended, when there is nothing left to be heard of it.
    pub fn end_of(&self, now: Instant) -> Option<ExitStatus> {
        let is_over = |at| self.is_silent || now >= at + LAST_WORDS;
        self.ended.filter(|(_, at)| is_over(*at)).map(|(status, _)| status)
    }

    /// When that is so at the latest.
    pub fn due(&self) -> Option<Instant> {
        self.ended.map(|(_, at)| at + LAST_WORDS)
    }

    /// Whether it can be asked for workers.
    pub fn is_there(&self) -> bool {
        !self.is_told && !self.is_silent && self.ended.is_none()
    }
}

fn answer(text: &[u8]) -> Option<Answer> {
    let text = String::from_utf8_lossy(text);
    let (word, rest) = text.split_once(' ')?;
    if word == "alone" {
        return Some(Answer::Alone(rest.to_owned()));
    }
    let (number, rest) = rest.split_once(' ')?;
    let number = number.parse().ok()?;
    match word {
        "forked" => Some(Answer::Forked(number, Pid::from_raw(rest.parse().ok()?)?)),
        "failed" => Some(Answer::Failed(number, rest.to_owned())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, answer};
    use rustix::process::Pid;

    #[test]
    fn answers() {
        let pid = Pid::from_raw(77).unwrap();
        for (text, expected) in [
            ("forked 3 77", Some(Answer::Forked(3, pid))),
            ("failed 4 no room", Some(Answer::Failed(4, "no room".into()))),
            ("alone there are threads", Some(Answer::Alone("there are threads".into()))),
            ("forked 3 0", None),
            ("forked x 77", None),
            ("forked", None),
            ("", None),
        ] {
            assert_eq!(answer(text.as_bytes()), expected, "{text}");
        }
    }
}
