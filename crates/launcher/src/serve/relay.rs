//! What workers publish to topics, passed on to all others. The frames are those of `uplink.rs` in the crate of the server: a length in
//! four bytes, and this many bytes, which are not looked at. One of length 0 stands where messages were lost.
//!
//! No worker waits for another one: for each there is a bounded queue, and what has no room in it is lost, for this worker alone.

use super::lines::Lines;
use super::process::Descriptor;
use super::worker::{Stage, Worker};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::Write;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// The longest frame: a message, a name, and the length of that.
const LONGEST: usize = (256 << 10) + 256;

/// How many bytes wait for a worker.
const MOST_WAITING: usize = 4 << 20;

/// How much is heard of a worker before others.
const MOST_READ: usize = 256 << 10;

/// Stands for messages that are missing.
const LOST: [u8; 4] = [0; 4];

/// What was passed on.
#[derive(Default)]
pub struct Relayed {
    messages: u64,
    lost: u64,
}

/// The socket to a worker, and what waits for it.
pub struct Link {
    socket: OwnedFd,
    read: Vec<u8>,
    waiting: VecDeque<Rc<[u8]>>,
    /// How much of the first one was sent.
    sent: usize,
    bytes: usize,
    /// Messages were lost, and so are further ones until there is room again.
    is_lossy: bool,
    has_ended: bool,
    /// It has sent what is no frame.
    is_wrong: bool,
}

/// What is kept of one over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    socket: Descriptor,
    read: Vec<u8>,
    /// From the first byte that was not sent.
    waiting: Vec<u8>,
    is_lossy: bool,
    has_ended: bool,
}

impl Link {
    pub fn keep(&self) -> std::io::Result<Kept> {
        let all: Vec<u8> = self.waiting.iter().flat_map(|frame| frame.iter().copied()).collect();
        Ok(Kept {
            socket: Descriptor::keep(&self.socket)?,
            read: self.read.clone(),
            waiting: all[self.sent..].to_vec(),
            is_lossy: self.is_lossy,
            has_ended: self.has_ended,
        })
    }

    pub fn adopt(kept: Kept) -> std::io::Result<Link> {
        let Kept { socket, read, waiting, is_lossy, has_ended } = kept;
        let bytes = waiting.len();
        let waiting = (bytes > 0).then(|| waiting.into()).into_iter().collect();
        Ok(Link { socket: socket.take()?, read, waiting, sent: 0, bytes, is_lossy, has_ended, is_wrong: false })
    }

    /// Returns one, and what the worker has.
    pub fn pair() -> std::io::Result<(Link, UnixStream)> {
        let (socket, its) = UnixStream::pair()?;
        let waiting = VecDeque::new();
        let link = Link {
            socket: socket.into(),
            read: Vec::new(),
            waiting,
            sent: 0,
            bytes: 0,
            is_lossy: false,
            has_ended: false,
            is_wrong: false,
        };
        Ok((link, its))
    }

    /// What is waited for.
    pub fn wants(&self) -> Option<(BorrowedFd<'_>, PollFlags)> {
        let wants = if self.waiting.is_empty() { PollFlags::IN } else { PollFlags::IN | PollFlags::OUT };
        (!self.has_ended).then(|| (self.socket.as_fd(), wants))
    }

    /// Takes whole frames. An app can write to the same socket: after what is no frame, nothing is heard any more.
    fn receive(&mut self) -> Vec<Rc<[u8]>> {
        let (mut bytes, mut left) = ([0; 16 << 10], MOST_READ);
        while left > 0 && !self.has_ended {
            match recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((_, count @ 1..)) => {
                    self.read.extend_from_slice(&bytes[..count]);
                    left = left.saturating_sub(count);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Ok(_) | Err(_) => self.has_ended = true,
            }
        }
        let (mut frames, mut begin) = (Vec::new(), 0);
        while let Some(length) = self.read[begin..].first_chunk().map(|length| u32::from_le_bytes(*length) as usize) {
            if length > LONGEST {
                self.is_wrong = true;
                self.has_ended = true;
                break;
            }
            let Some(frame) = self.read.get(begin..begin + 4 + length) else { break };
            frames.push(frame.into());
            begin += 4 + length;
        }
        self.read.drain(..begin);
        frames
    }

    /// Adds a frame. Returns `false` if it is lost.
    fn offer(&mut self, frame: &Rc<[u8]>) -> bool {
        if self.is_lossy {
            return false;
        }
        self.is_lossy = self.bytes + frame.len() > MOST_WAITING;
        let frame = if self.is_lossy { LOST.as_slice().into() } else { Rc::clone(frame) };
        self.bytes += frame.len();
        self.waiting.push_back(frame);
        !self.is_lossy
    }

    fn flush(&mut self) {
        while let Some(frame) = self.waiting.front() {
            match send(&self.socket, &frame[self.sent..], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.has_ended = true,
            }
            if self.has_ended || self.sent == frame.len() {
                self.bytes -= frame.len();
                self.sent = 0;
                self.waiting.pop_front();
            }
        }
        self.is_lossy = false;
    }
}

impl Relayed {
    /// Passes on what workers have published, to all others that serve or still finish their requests.
    pub fn turn(&mut self, workers: &mut [Worker], lines: &Lines) {
        for from in 0..workers.len() {
            for frame in workers[from].topics.receive() {
                self.messages += u64::from(frame.len() > LOST.len());
                for to in (0..workers.len()).filter(|to| *to != from) {
                    let worker = &mut workers[to];
                    if worker.stage != Stage::Starting && !worker.topics.has_ended {
                        self.offer(worker, &frame, lines);
                    }
                }
            }
            if std::mem::take(&mut workers[from].topics.is_wrong) {
                let number = workers[from].number;
                lines.say(&format!(
                    "spindle: worker {number} has sent what is no message of a topic: it is not listened to"
                ));
            }
        }
        workers.iter_mut().for_each(|worker| worker.topics.flush());
    }

    fn offer(&mut self, worker: &mut Worker, frame: &Rc<[u8]>, lines: &Lines) {
        let was_lossy = worker.topics.is_lossy;
        if worker.topics.offer(frame) {
            return;
        }
        self.lost += 1;
        if !was_lossy {
            let (number, pid) = (worker.number, worker.raw_pid());
            lines.say(&format!(
                "spindle: worker {number}, process {pid}, does not take messages of topics: it loses them until it does"
            ));
        }
    }

    /// The metrics, in Prometheus' text format.
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        for (name, help, value) in [
            ("topic_messages_total", "Messages of topics that workers have published.", self.messages),
            ("topic_messages_lost_total", "Messages of topics that a worker did not get.", self.lost),
        ] {
            // A String takes all.
            let _ =
                writeln!(text, "# HELP spindle_{name} {help}\n# TYPE spindle_{name} counter\nspindle_{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, LOST, Link, MOST_WAITING};
    use std::io::{Read, Write};
    use std::rc::Rc;

    #[test]
    fn frames_are_whole() {
        let (mut link, mut its) = Link::pair().unwrap();
        its.write_all(&[3, 0, 0, 0, 1, 2]).unwrap();
        assert!(link.receive().is_empty());
        its.write_all(&[3, 0, 0, 0, 0, 1, 0]).unwrap();
        assert_eq!(link.receive(), [Rc::from([3, 0, 0, 0, 1, 2, 3]), Rc::from([0, 0, 0, 0])]);
        drop(its);
        assert!(link.receive().is_empty() && link.wants().is_none());
    }

    #[test]
    fn a_frame_that_is_on_its_way_is_whole_after_an_upgrade() {
        let (mut link, mut its) = Link::pair().unwrap();
        its.write_all(&[3, 0, 0, 0, 1]).unwrap();
        assert!(link.receive().is_empty());
        let bytes = [&100_000_u32.to_le_bytes()[..], &[7; 100_000]].concat();
        let frame = Rc::from(&*bytes);
        let sent = (0..20).filter(|_| link.offer(&frame)).count();
        link.flush();
        assert!(link.sent > 0 && link.waiting.len() > 1);
        let kept = link.keep().unwrap();
        std::mem::forget(link); // as after an execve
        let mut link = Link::adopt(kept).unwrap();
        its.write_all(&[2, 3]).unwrap();
        assert_eq!(link.receive(), [Rc::from([3, 0, 0, 0, 1, 2, 3])]);
        let reader = std::thread::spawn(move || {
            let mut all = vec![0; sent * bytes.len()];
            its.read_exact(&mut all).unwrap();
            assert!(all.chunks(bytes.len()).all(|chunk| chunk == bytes));
            its
        });
        while !link.waiting.is_empty() {
            link.flush();
            std::thread::yield_now();
        }
        let _its = reader.join().unwrap();
        assert!(link.bytes == 0 && link.offer(&[0; 4].into()));
    }

    #[test]
    fn what_is_no_frame_ends_it() {
        let (mut link, mut its) = Link::pair().unwrap();
        its.write_all(&u32::try_from(LONGEST + 1).unwrap().to_le_bytes()).unwrap();
        assert!(link.receive().is_empty() && link.wants().is_none());
    }

    #[test]
    fn who_does_not_read_loses_and_is_told() {
        let (mut link, mut its) = Link::pair().unwrap();
        let frame: Rc<[u8]> = [&100_000_u32.to_le_bytes()[..], &[1; 100_000]].concat().into();
        let kept = (0..).take_while(|_| link.offer(&frame)).count();
        assert_eq!(kept, MOST_WAITING / frame.len());
        assert!(!link.offer(&[0; 4].into()) && link.bytes <= MOST_WAITING + LOST.len());
        let reader = std::thread::spawn(move || {
            let mut all = vec![0; kept * 100_004 + LOST.len()];
            its.read_exact(&mut all).unwrap();
            (all, its)
        });
        while link.is_lossy {
            link.flush();
            std::thread::yield_now();
        }
        let (all, _its) = reader.join().unwrap();
        assert!(all.ends_with(&LOST) && link.bytes == 0);
        assert!(link.offer(&frame));
    }
}
