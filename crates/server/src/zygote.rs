//! A process that has loaded PHP, runs none of its code, and forks workers when `spindle serve` asks for one.
//!
//! What it is asked with, and what it answers, are messages of one socket. A request is the worker's number and its arguments, which end
//! with NUL each, and has the descriptors that this worker alone gets. An answer is `forked NUMBER PID` or `failed NUMBER REASON`, or
//! once `alone REASON` where no workers can be forked.
//!
//! A worker is the child of the command, which learns how it ends even if this process is gone: the child of a child that has ended is
//! given to the command (`PR_SET_CHILD_SUBREAPER`).
#![allow(unsafe_code)]

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::net::sockopt::socket_peercred;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendFlags, recvmsg, send};
use rustix::process::{Pid, Signal, WaitOptions, getpid, getppid, set_parent_process_death_signal, setpgid, waitpid};
use std::ffi::{CString, c_int};
use std::io::IoSliceMut;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// The largest request.
const LONGEST: usize = 64 << 10;

/// What a worker alone gets: the names of the arguments that its descriptors are passed as.
const DESCRIPTORS: [&str; 2] = ["control", "topics"];

/// Signals that are sent to all processes of a service, and mean nothing here. This process ends when the command does.
const IGNORED: [c_int; 6] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];

/// How long a worker sleeps until it looks again whether it was given to the command.
const NAP: Duration = Duration::from_micros(100);

/// Forks workers until the command is gone. Returns in each worker, with its arguments: never in this process. The socket is that with
/// this number, which the process was started with. `obstacle`: why no worker can be forked.
pub fn workers(socket: RawFd, obstacle: Option<&str>) -> Vec<CString> {
    // SAFETY: the command has left it to this process for this use. If it is not open, the next call fails.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let Ok(command) = socket_peercred(&socket) else { end(1) };
    let ignored = IGNORED.map(ignore);
    if let Some(obstacle) = obstacle {
        answer(&socket, &format!("alone {obstacle}"));
        end(0);
    }
    if let Some(threads) = threads().filter(|threads| *threads > 1) {
        answer(&socket, &format!("alone an extension of PHP has started threads: there are {threads}"));
        end(0);
    }
    loop {
        let Some(request) = receive(&socket) else { end(0) };
        if request.is_incomplete {
            answer(&socket, &format!("failed {} there are too many open files", request.number));
            continue;
        }
        if fork_worker(&socket, &request.number, command.pid, &ignored) {
            return request.into_arguments();
        }
    }
}

/// Keeps the socket from programs that PHP's modules start.
pub fn keep(socket: RawFd) {
    // SAFETY: a number that is no error of a system call. If it is not open, the call fails.
    let socket = unsafe { BorrowedFd::borrow_raw(socket) };
    let _ = fcntl_setfd(socket, FdFlags::CLOEXEC); // if it is not open, the next call says so
}

/// Ends this process at once: nothing in it is its own, and what PHP's modules would do at their end is left to the workers.
fn end(status: c_int) -> ! {
    // SAFETY: it ends the process.
    unsafe { libc::_exit(status) }
}

/// A worker that is wanted.
struct Request {
    number: String,
    arguments: Vec<CString>,
    descriptors: Vec<OwnedFd>,
    is_incomplete: bool,
}

impl Request {
    fn new(bytes: &[u8], descriptors: Vec<OwnedFd>) -> Request {
        let mut words =
            bytes.split_inclusive(|byte| *byte == 0).filter_map(|word| CString::from_vec_with_nul(word.into()).ok());
        let number = words.next().unwrap_or_default().to_string_lossy().into_owned();
        let is_incomplete = descriptors.len() != DESCRIPTORS.len();
        Request { number, arguments: words.collect(), descriptors, is_incomplete }
    }

    /// Returns the arguments, with those of the descriptors, which stay open.
    fn into_arguments(self) -> Vec<CString> {
        let named = DESCRIPTORS.iter().zip(self.descriptors);
        let named = named.filter_map(|(name, socket)| CString::new(format!("{name}={}", socket.into_raw_fd())).ok());
        self.arguments.into_iter().chain(named).collect()
    }
}

/// Waits for a request; `None` when the command is gone.
fn receive(socket: &OwnedFd) -> Option<Request> {
    let mut bytes = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS.len()))];
    loop {
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut ancillary, RecvFlags::CMSG_CLOEXEC);
        let message = match received {
            Ok(message) if message.bytes > 0 => message,
            Err(Errno::INTR) => continue,
            Ok(_) | Err(_) => return None,
        };
        let mut descriptors = Vec::new();
        for part in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = part {
                descriptors.extend(rights);
            }
        }
        let mut request = Request::new(&bytes[..message.bytes], descriptors);
        request.is_incomplete |= message.flags.intersects(ReturnFlags::CTRUNC | ReturnFlags::TRUNC);
        return Some(request);
    }
}

fn answer(socket: &OwnedFd, text: &str) {
    let _ = send(socket, text.as_bytes(), SendFlags::NOSIGNAL); // the command may be gone
}

/// Forks a worker, which has these actions of signals, and answers. Returns `true` in it.
fn fork_worker(socket: &OwnedFd, number: &str, command: Pid, actions: &[libc::sigaction; IGNORED.len()]) -> bool {
    // SAFETY: all streams of C. What one of them still had to write would be written by each worker.
    unsafe { libc::fflush(std::ptr::null_mut()) };
    let failed = |error: std::io::Error| answer(socket, &format!("failed {number} {error}"));
    let child = match fork() {
        Ok(None) => {
            let between = getpid();
            match fork() {
                Ok(None) => {
                    IGNORED.iter().zip(actions).for_each(|(signal, action)| restore(*signal, action));
                    become_worker(between, command);
                    return true;
                }
                Ok(Some(worker)) => answer(socket, &format!("forked {number} {}", worker.as_raw_pid())),
                Err(error) => failed(error),
            }
            end(0);
        }
        Ok(Some(child)) => child,
        Err(error) => {
            failed(error);
            return false;
        }
    };
    while matches!(waitpid(Some(child), WaitOptions::empty()), Err(Errno::INTR)) {}
    false
}

/// Returns the child, and `None` in that.
fn fork() -> std::io::Result<Option<Pid>> {
    // SAFETY: this process has one thread, so the child is a whole copy of it.
    match unsafe { libc::fork() } {
        -1 => Err(std::io::Error::last_os_error()),
        child => Ok(Pid::from_raw(child)),
    }
}

/// Waits until this process is the command's child, and has the kernel end it with the command.
fn become_worker(between: Pid, command: Pid) {
    while getppid() == Some(between) {
        std::thread::sleep(NAP);
    }
    let dies = set_parent_process_death_signal(Some(Signal::KILL));
    if dies.is_err() || getppid() != Some(command) {
        end(1); // the command is gone
    }
    let _ = setpgid(None, None); // the signals of a terminal come to the command only
}

/// Returns how many threads this process has.
fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

/// Ignores a signal. Returns its action before.
fn ignore(signal: c_int) -> libc::sigaction {
    let [mut action, mut before] = [const { MaybeUninit::<libc::sigaction>::zeroed() }; 2];
    // SAFETY: zeros are one: no flags, and no further signals.
    let action = unsafe { action.assume_init_mut() };
    action.sa_sigaction = libc::SIG_IGN;
    // SAFETY: both are there, and no handler is installed.
    unsafe { libc::sigaction(signal, action, before.as_mut_ptr()) };
    // SAFETY: zeros, or what the call has written.
    unsafe { before.assume_init() }
}

fn restore(signal: c_int, action: &libc::sigaction) {
    // SAFETY: what it was before, in the same process or the one that this is a copy of.
    unsafe { libc::sigaction(signal, action, std::ptr::null_mut()) };
}

#[cfg(test)]
mod tests {
    use super::Request;
    use std::ffi::CString;
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_worker_gets_its_arguments_and_descriptors() {
        let (one, other) = UnixStream::pair().unwrap();
        let descriptors: Vec<OwnedFd> = vec![one.into(), other.into()];
        let request = Request::new(b"7\0worker=2\0app=/srv/a b.php\0", descriptors);
        assert_eq!((request.number.as_str(), request.is_incomplete), ("7", false));
        let arguments: Vec<_> = request.into_arguments().into_iter().map(|text| text.into_string().unwrap()).collect();
        assert_eq!(arguments[..2], ["worker=2", "app=/srv/a b.php"]);
        assert!(arguments[2].starts_with("control=") && arguments[3].starts_with("topics="));
        assert!(Request::new(b"8\0", Vec::new()).is_incomplete);
        assert_eq!(Request::new(b"", Vec::new()).arguments, Vec::<CString>::new());
    }
}
