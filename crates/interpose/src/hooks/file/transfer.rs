//! Reading and writing regular files: cached data in place, the rest in the thread pool.
//!
//! The method is remembered for each descriptor, and what a file system does not support also for the files opened on
//! it later:
//! - *nowait*: the kernel supports `RWF_NOWAIT` for this file. What it would block for goes to the thread pool.
//! - *in place*: it does not (tmpfs, overlayfs; ext4 for writes), and the file system is local: an ordinary call, which
//!   is timed. After one that took long the next few go to the thread pool, for as long as they take long.
//! - *worker*: it does not, and the file is remote or written through (`O_SYNC`, `O_DSYNC`).
//!
//! Measured (ext4, 2 KiB): `pread` 314 ns, with nowait 369; a write in place 501, refused with nowait 194 and then in
//! place; a job 6,000. So writes of cached data are not worth a job.

use super::vectored::{HERE, Io};
use crate::hooks::fd::refs::FdRef;
use crate::hooks::fd::tracking::DIRECT_SET;
use crate::host::{Host, errno, set_errno};
use crate::php_cell::PhpCell;
use crate::wait;
use libc::c_int;
use spindle_reactor::{JobKind, Reactor, syscalls};
use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

/// A read in place that took longer (ns) waited for a device.
const LONG_READ: u64 = 200_000;
/// A write in place that took longer (ns) did: copying much data takes time too.
const LONG_WRITE: u64 = 2_000_000;
/// The number of calls that go to the thread pool after a slow one.
const SLOW: u8 = 16;
/// The maximum number of bytes of one job.
const CHUNK: usize = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum IoMethod {
    Nowait,
    InPlace,
    Worker,
}

#[derive(Clone, Copy)]
struct FileState {
    generation: u32,
    read: IoMethod,
    write: IoMethod,
    /// The number of calls that still go to the thread pool.
    slow: u8,
    /// The file system of the file, if known.
    device: Option<libc::dev_t>,
    /// It was opened without `O_DIRECT`, to be read through the page cache.
    paged: bool,
    /// How far it was read by the call that has opened it, which reads it up to its end and closes it, see [`Host::reads_whole`].
    /// Its end has not been seen.
    whole: Option<i64>,
}

const UNKNOWN: FileState = FileState {
    generation: 0,
    read: IoMethod::Nowait,
    write: IoMethod::Nowait,
    slow: 0,
    device: None,
    paged: false,
    whole: None,
};

/// How often PHP reads again after a read that was short.
const READS_AT_END: u8 = 2;

/// The page cache has pages whose sizes are multiples of this.
const PAGE: i64 = 4096;

static STATES: PhpCell<Vec<FileState>> = PhpCell::new(Vec::new());

/// File systems that do not support `RWF_NOWAIT`, with the method for reads and for writes, which files opened on them
/// later start with.
static DEVICES: PhpCell<Vec<(libc::dev_t, [Option<IoMethod>; 2])>> = PhpCell::new(Vec::new());

/// Records that a regular file on this file system was opened as `fd`, with these flags.
pub(crate) fn file_opened(host: &dyn Host, fd: RawFd, device: libc::dev_t, flags: c_int, is_read_whole: bool) {
    let known = DEVICES.with(host, |all| all.iter().find(|d| d.0 == device).map_or([None; 2], |d| d.1));
    let through = flags & libc::O_DSYNC != 0;
    with_state(host, fd, |w| {
        w.device = Some(device);
        w.paged = flags & libc::O_DIRECT == 0;
        // Files that are not on a block device may end a read anywhere (procfs), or be another machine's.
        w.whole = (is_read_whole && libc::major(device) != 0).then_some(0);
        w.read = known[0].unwrap_or(IoMethod::Nowait);
        w.write = known[1].filter(|_| !through).unwrap_or(IoMethod::Nowait);
    });
}

/// Records that the file does not support `RWF_NOWAIT`. Returns the method to use instead.
fn refuses(host: &dyn Host, fd: RawFd, writing: bool) -> IoMethod {
    let (method, lasting) = method_without_nowait(fd, writing);
    let device = with_state(host, fd, |w| {
        *(if writing { &mut w.write } else { &mut w.read }) = method;
        w.device
    });
    if let Some(device) = device.filter(|_| lasting) {
        DEVICES.with(host, |all| {
            let index = all.iter().position(|d| d.0 == device).unwrap_or_else(|| {
                all.push((device, [None; 2]));
                all.len() - 1
            });
            all[index].1[usize::from(writing)] = Some(method);
        });
    }
    method
}

fn with_state<R>(host: &dyn Host, fd: RawFd, then: impl FnOnce(&mut FileState) -> R) -> R {
    let generation = host.reactor().generation(fd);
    STATES.with(host, |all| {
        let index = fd.max(0) as usize;
        if all.len() <= index {
            all.resize(index + 1, UNKNOWN);
        }
        let state = &mut all[index];
        if state.generation != generation {
            *state = FileState { generation, ..UNKNOWN };
        }
        then(state)
    })
}

/// How a call is to be made.
struct Plan {
    method: IoMethod,
    /// The file is known to be read through the page cache.
    paged: bool,
    /// How far a file that is read whole was read.
    whole: Option<i64>,
}

/// Returns how a call is to be made. `whole` is taken out of the file's state: a read that has not met the end puts it back.
fn plan(host: &dyn Host, io: &Io, writing: bool) -> Plan {
    let mut plan = with_state(host, io.fd, |w| {
        let method = match if writing { w.write } else { w.read } {
            IoMethod::InPlace if w.slow > 0 => IoMethod::Worker,
            method => method,
        };
        Plan { method, paged: w.paged, whole: w.whole.take().filter(|_| io.offset == HERE) }
    });
    // The kernel must have accepted the caller's list before it is read here: an invalid one fails there. (`read` and
    // `write` pass a list of their own.)
    if plan.method == IoMethod::Worker && !io.own {
        plan.method = IoMethod::Nowait;
    }
    plan
}

/// Returns the method for a file that does not support `RWF_NOWAIT`, and whether it holds for all files of its file
/// system.
fn method_without_nowait(fd: RawFd, writing: bool) -> (IoMethod, bool) {
    const REMOTE: [u32; 8] = [
        0x6969,      // NFS
        0x6573_5546, // FUSE
        0x517b,      // SMB
        0xff53_4d42, // CIFS
        0xfe53_4d42, // SMB 2
        0x00c3_6400, // Ceph
        0x5346_414f, // AFS
        0x0102_1997, // 9P
    ];
    let mut buffer = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the buffer is of the right size and is read only when the call has filled it.
    let remote = unsafe {
        libc::fstatfs(fd, buffer.as_mut_ptr()) == 0 && REMOTE.contains(&(buffer.assume_init().f_type as u32))
    };
    // SAFETY: a system call without pointers.
    let flags = if writing { unsafe { libc::fcntl(fd, libc::F_GETFL) } } else { 0 };
    let through = flags & libc::O_DSYNC != 0;
    (if remote || through { IoMethod::Worker } else { IoMethod::InPlace }, remote || !through)
}

fn nowait(io: &Io, done: usize, writing: bool) -> isize {
    let offset = io.offset_after(done);
    let call = |iov, count| {
        // SAFETY: the list is the caller's or a window of it; the kernel checks the memory.
        unsafe {
            if writing {
                syscalls::pwritev2(io.fd, iov, count, offset, libc::RWF_NOWAIT)
            } else {
                syscalls::preadv2(io.fd, iov, count, offset, libc::RWF_NOWAIT)
            }
        }
    };
    if done == 0 { call(io.iov, io.count) } else { io.rest(done, usize::MAX, call) }
}

fn plain(io: &Io, done: usize, writing: bool) -> isize {
    let offset = io.offset_after(done);
    let call = |iov, count| {
        // SAFETY: as in `nowait`.
        unsafe {
            match (writing, offset) {
                (false, HERE) => libc::readv(io.fd, iov, count),
                (false, _) => libc::preadv(io.fd, iov, count, offset),
                (true, HERE) => libc::writev(io.fd, iov, count),
                (true, _) => libc::pwritev(io.fd, iov, count, offset),
            }
        }
    };
    if done == 0 { call(io.iov, io.count) } else { io.rest(done, usize::MAX, call) }
}

fn refused(error: c_int) -> bool {
    matches!(error, libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL)
}

/// Reads as a blocking call does: short only at the end of the file. Lets others run if it did not wait; at the end of the
/// file only now and then, because PHP reads there again, twice for each `file_get_contents`.
pub(crate) fn read(host: &dyn Host, io: Io) -> isize {
    let plan = plan(host, &io, false);
    let mut at_end = false;
    let in_place = match plan.method {
        IoMethod::Nowait => nowait_read(host, &io, &plan, &mut at_end),
        IoMethod::InPlace => Some(in_place(host, &io, false)),
        IoMethod::Worker => None,
    };
    let result = in_place.unwrap_or_else(|| on_worker(host, &io, 0, false));
    if let Some(before) = plan.whole.filter(|_| result >= 0) {
        if at_end || result == 0 {
            host.reactor().record_end(io.fd, READS_AT_END);
        } else {
            with_state(host, io.fd, |w| w.whole = Some(before + result as i64));
        }
    }
    if in_place.is_some() {
        let error = errno();
        host.yield_for_file(result == 0);
        set_errno(error);
    }
    result
}

/// Returns `true` if a read that was short, by `RWF_NOWAIT`, has certainly come to the end of the file: data that is not cached
/// would have ended it between two pages. Asking for the position takes half the time of another read.
fn is_at_end(io: &Io, done: usize, plan: &Plan) -> bool {
    let is_short = done != 0 && done < io.total();
    if !is_short || !plan.paged || DIRECT_SET.load(Ordering::Relaxed) {
        return false;
    }
    let end = match (plan.whole, io.offset_after(done)) {
        (Some(before), _) => before + done as i64,
        // SAFETY: a system call without pointers.
        (None, HERE) => unsafe { libc::lseek(io.fd, 0, libc::SEEK_CUR) },
        (None, end) => end,
    };
    end > 0 && end % PAGE != 0
}

/// Returns the result of a call that did not have to wait, else `None`. Sets `at_end` if it has certainly come to the end: a short
/// read in place says nothing of that (those of procfs end anywhere).
fn nowait_read(host: &dyn Host, io: &Io, plan: &Plan, at_end: &mut bool) -> Option<isize> {
    let first = nowait(io, 0, false);
    if first < 0 {
        return match errno() {
            libc::EAGAIN => None,
            error if refused(error) => {
                // EINVAL may also be the caller's own mistake: then it fails in place again.
                if error != libc::EINVAL && refuses(host, io.fd, false) == IoMethod::Worker {
                    return None;
                }
                Some(in_place(host, io, false))
            }
            _ => Some(-1),
        };
    }
    let (mut done, total) = (first as usize, io.total());
    *at_end = is_at_end(io, done, plan);
    if *at_end {
        return Some(first);
    }
    while done != 0 && done < total {
        // A short read: the end of the file, or of what is cached.
        match nowait(io, done, false) {
            0 => break,
            more if more > 0 => done += more as usize,
            _ if errno() == libc::EAGAIN => return Some(on_worker(host, io, done, false)),
            _ => break,
        }
    }
    Some(done as isize)
}

/// Writes as a blocking call does: everything, unless an error comes between. Never yields when it did not have to
/// wait.
pub(crate) fn write(host: &dyn Host, io: Io) -> isize {
    if host.writes_in_place() {
        return plain(&io, 0, true);
    }
    match plan(host, &io, true).method {
        IoMethod::Nowait => {
            let first = nowait(&io, 0, true);
            let error = errno();
            if first >= 0 && first as usize == io.total() {
                return first;
            }
            if first >= 0 || error == libc::EAGAIN {
                return on_worker(host, &io, first.max(0) as usize, true);
            }
            if !refused(error) {
                return first;
            }
            if error != libc::EINVAL && refuses(host, io.fd, true) == IoMethod::Worker {
                return on_worker(host, &io, 0, true);
            }
            in_place(host, &io, true)
        }
        IoMethod::Worker if !host.keeps_files_in_place() => on_worker(host, &io, 0, true),
        IoMethod::InPlace | IoMethod::Worker => in_place(host, &io, true),
    }
}

fn in_place(host: &dyn Host, io: &Io, writing: bool) -> isize {
    let start = Reactor::now();
    let result = plain(io, 0, writing);
    record_duration(host, io.fd, Reactor::now() - start, writing);
    result
}

fn record_duration(host: &dyn Host, fd: RawFd, time: u64, writing: bool) {
    if time > if writing { LONG_WRITE } else { LONG_READ } {
        with_state(host, fd, |w| w.slow = SLOW);
    }
}

struct Done {
    bytes: Vec<u8>,
    result: isize,
    errno: c_int,
    time: u64,
}

/// Continues after `done` bytes in the thread pool, in chunks, with buffers that the job owns.
fn on_worker(host: &dyn Host, io: &Io, mut done: usize, writing: bool) -> isize {
    let total = io.total();
    while done < total {
        let (fd, length, offset) = (io.fd, (total - done).min(CHUNK), io.offset_after(done));
        let bytes = if writing { io.gather(done, length) } else { Vec::with_capacity(length) };
        let fd_ref = FdRef::new(host, fd);
        let job = move || {
            let done = transfer(fd, bytes, length, offset, writing);
            drop(fd_ref);
            done
        };
        let Some(step) = wait::for_job(host, JobKind::Bounded, io.call, fd, job) else {
            let result = plain(io, done, writing);
            return if result >= 0 {
                result + done as isize
            } else if done > 0 {
                done as isize
            } else {
                -1
            };
        };
        with_state(host, fd, |w| w.slow = w.slow.saturating_sub(1));
        record_duration(host, fd, step.time, writing);
        if step.result < 0 {
            if done > 0 {
                break;
            }
            set_errno(step.errno);
            return -1;
        }
        if !writing {
            io.scatter(done, &step.bytes);
        }
        done += step.result as usize;
        if (step.result as usize) < length {
            break; // the end of the file, or no more room
        }
    }
    done as isize
}

fn transfer(fd: RawFd, mut bytes: Vec<u8>, length: usize, offset: i64, writing: bool) -> Done {
    let start = Reactor::now();
    let buffer = bytes.as_mut_ptr().cast::<libc::c_void>();
    // SAFETY: `bytes` has room for `length` bytes, and holds as many when they are written.
    let result = unsafe {
        match (writing, offset) {
            (false, HERE) => libc::read(fd, buffer, length),
            (false, _) => libc::pread(fd, buffer, length, offset),
            (true, HERE) => libc::write(fd, buffer, length),
            (true, _) => libc::pwrite(fd, buffer, length, offset),
        }
    };
    let errno = errno();
    if !writing && result > 0 {
        // SAFETY: the kernel has written that many.
        unsafe { bytes.set_len(result as usize) };
    }
    Done { bytes, result, errno, time: Reactor::now() - start }
}
