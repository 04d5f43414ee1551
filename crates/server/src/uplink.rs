//! The socket by which a worker of `spindle serve` gives the messages of its topics to the command, and gets those of other workers.
//!
//! A frame is its length in four bytes, the length of the topic's name in one, the name, and the message. A frame of length 0 stands
//! where messages were lost: whoever sends has no room for more than [`MOST_WAITING`] bytes, and waits for no one.
#![allow(unsafe_code)]

use bytes::Bytes;
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The longest message of a topic, in bytes.
pub const LONGEST_MESSAGE: usize = 256 << 10;

/// The longest name of a topic, in bytes.
pub const LONGEST_NAME: usize = 255;

/// How many bytes wait for the command.
const MOST_WAITING: usize = 4 << 20;

/// How much is read before something else is done.
const MOST_READ: usize = 256 << 10;

/// What other workers have published.
#[derive(PartialEq, Eq, Debug)]
pub enum Told {
    /// A message.
    Message {
        /// The name of its topic.
        name: Bytes,
        /// Its bytes.
        message: Bytes,
    },
    /// Messages are missing here.
    Lost,
}

/// What there is to read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// Nothing yet.
    Nothing,
    /// There may be more now.
    Perhaps,
    /// The command is gone.
    Ended,
}

/// The socket, and what waits to be sent.
#[derive(Debug)]
pub struct Uplink {
    socket: OwnedFd,
    /// A process that this one has forked has the same socket, and does not use it.
    process: u32,
    waiting: VecDeque<u8>,
    /// Messages were lost, and so are further ones until there is room again.
    is_lossy: bool,
    read: Vec<u8>,
}

impl Uplink {
    /// Returns one that uses this socket.
    pub fn new(socket: OwnedFd) -> Uplink {
        Uplink { socket, process: std::process::id(), waiting: VecDeque::new(), is_lossy: false, read: Vec::new() }
    }

    /// Opens one by a descriptor that this process was started with, and which nothing else in it uses.
    ///
    /// # Errors
    /// It is not open.
    pub fn inherited(number: RawFd) -> io::Result<Uplink> {
        // SAFETY: a number that is no error of a system call; if it is not open, the next call fails.
        let socket = unsafe { BorrowedFd::borrow_raw(number) };
        let copy = fcntl_dupfd_cloexec(socket, 3)?;
        // SAFETY: it was open just now, and the caller's owner has left it to this process for this use.
        drop(unsafe { OwnedFd::from_raw_fd(number) });
        Ok(Uplink::new(copy))
    }

    /// Returns `true` in the process that it was opened in.
    pub fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Gives a message to the command, at once or when that takes it. Returns `false` if it is lost.
    pub fn publish(&mut self, name: &[u8], message: &[u8]) -> bool {
        let Some(frame) = frame(name, message) else { return false };
        if self.is_lossy {
            return false;
        }
        self.is_lossy = self.waiting.len() + frame.len() > MOST_WAITING;
        self.waiting.extend(if self.is_lossy { &LOST[..] } else { &frame });
        let is_kept = !self.is_lossy;
        self.flush();
        is_kept
    }

    /// Sends what it can of what waits. Returns `true` if nothing is left.
    pub fn flush(&mut self) -> bool {
        while !self.waiting.is_empty() {
            match send(&self.socket, self.waiting.as_slices().0, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => self.waiting.clear(), // the command is gone
            }
        }
        self.is_lossy = false;
        true
    }

    /// Returns the messages that the command has sent, and whether there may be more of them.
    pub fn receive(&mut self) -> (Vec<Told>, Rest) {
        let (mut bytes, mut left, mut rest) = ([0; 16 << 10], MOST_READ, Rest::Perhaps);
        while left > 0 {
            match recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((_, count @ 1..)) => {
                    self.read.extend_from_slice(&bytes[..count]);
                    left = left.saturating_sub(count);
                    continue;
                }
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => rest = Rest::Nothing,
                Ok(_) | Err(_) => rest = Rest::Ended,
            }
            break;
        }
        let mut told = Vec::new();
        let mut begin = 0;
        while let Some(length) = self.read[begin..].first_chunk().map(|length| u32::from_le_bytes(*length) as usize)
            && let Some(body) = self.read.get(begin + 4..begin + 4 + length)
        {
            begin += 4 + length;
            told.push(parse(body));
        }
        self.read.drain(..begin);
        (told, rest)
    }
}

impl AsFd for Uplink {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

const LOST: [u8; 4] = [0; 4];

/// Returns `None` for what is too long.
fn frame(name: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    let name_length = u8::try_from(name.len()).ok()?;
    let length = u32::try_from(1 + name.len() + message.len()).ok().filter(|_| message.len() <= LONGEST_MESSAGE)?;
    Some([&length.to_le_bytes()[..], &[name_length], name, message].concat())
}

fn parse(body: &[u8]) -> Told {
    let Some((name_length, rest)) = body.split_first() else { return Told::Lost };
    let Some((name, message)) = rest.split_at_checked(usize::from(*name_length)) else { return Told::Lost };
    Told::Message { name: Bytes::copy_from_slice(name), message: Bytes::copy_from_slice(message) }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_MESSAGE, MOST_WAITING, Rest, Told, Uplink};
    use std::os::unix::net::UnixStream;

    fn pair() -> (Uplink, Uplink) {
        let (one, other) = UnixStream::pair().unwrap();
        (Uplink::new(one.into()), Uplink::new(other.into()))
    }

    #[test]
    fn messages_arrive_in_order() {
        let (mut one, mut other) = pair();
        let long = vec![7; LONGEST_MESSAGE];
        assert!(one.publish(b"a", b"first") && one.publish(b"", &long) && one.publish(b"b", b""));
        let (mut told, mut rest) = (Vec::new(), Rest::Perhaps);
        while told.len() < 3 {
            one.flush();
            let more = other.receive();
            told.extend(more.0);
            rest = more.1;
        }
        let message = |name: &[u8], message: &[u8]| Told::Message {
            name: bytes::Bytes::copy_from_slice(name),
            message: bytes::Bytes::copy_from_slice(message),
        };
        assert!(told == [message(b"a", b"first"), message(b"", &long), message(b"b", b"")]);
        assert_ne!(rest, Rest::Ended);
        assert!(!one.publish(b"a", &[long, vec![7]].concat()), "too long");
        drop(one);
        assert_eq!(other.receive(), (vec![], Rest::Ended));
    }

    #[test]
    fn a_loss_is_told_where_it_was() {
        let (mut one, mut other) = pair();
        let long = vec![7; 100_000];
        let kept = (0..).take_while(|_| one.publish(b"a", &long)).count();
        assert!(kept >= MOST_WAITING / 100_010, "{kept}");
        assert!(one.waiting.len() <= MOST_WAITING + 4);
        assert!(!one.publish(b"a", b"short"), "it would be in the place of those that are lost");
        let mut told = Vec::new();
        while told.len() <= kept {
            one.flush();
            told.extend(other.receive().0);
        }
        assert_eq!(told.pop(), Some(Told::Lost));
        assert!(told.iter().all(|told| *told != Told::Lost));
        assert!(one.publish(b"a", b"again"));
    }
}
