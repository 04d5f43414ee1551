//! `read`, `write` and their relatives on pipes, files and terminals.

mod common;

use common::{Test, outcome, soon};
use libc::{c_int, c_void, iovec};
use spindle_interpose::hooks::fd::refs;
use spindle_interpose::hooks::{fd, file, rw};
use spindle_interpose::host::{OnSignal, Wake};
use std::ffi::CString;
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

fn pipe(flags: c_int) -> (OwnedFd, OwnedFd) {
    let mut pair = [0; 2];
    // SAFETY: two places; the descriptors are new.
    unsafe {
        assert_eq!(libc::pipe2(pair.as_mut_ptr(), flags | libc::O_CLOEXEC), 0);
        (OwnedFd::from_raw_fd(pair[0]), OwnedFd::from_raw_fd(pair[1]))
    }
}

/// A file on a real file system, in the build's directory (`/tmp` may be memory).
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::write(&path, bytes).expect("a scratch file");
        Scratch(path)
    }

    fn open(&self, flags: c_int) -> OwnedFd {
        let path = CString::new(self.0.as_os_str().as_encoded_bytes()).expect("a path");
        // SAFETY: a C string; the descriptor is new.
        unsafe {
            let fd = file::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600);
            assert!(fd >= 0);
            OwnedFd::from_raw_fd(fd)
        }
    }

    /// Drops what the kernel has cached of it.
    fn evict(&self, fd: &OwnedFd) {
        // SAFETY: system calls without pointers.
        unsafe {
            libc::fsync(fd.as_raw_fd());
            libc::posix_fadvise(fd.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED);
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn read(fd: &OwnedFd, size: usize) -> (isize, i32, Vec<u8>) {
    let mut bytes = vec![0u8; size];
    // SAFETY: a buffer of that size.
    let (got, error) = outcome(unsafe { rw::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), size) });
    bytes.truncate(got.max(0) as usize);
    (got, error, bytes)
}

fn write(fd: &OwnedFd, bytes: &[u8]) -> (isize, i32) {
    // SAFETY: a buffer of that size.
    outcome(unsafe { rw::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 7 + i / 251) as u8).collect()
}

#[test]
fn a_pipe_read_waits_for_its_writer() {
    let test = Test::new();
    let (reader, writer) = pipe(0);
    let mut late = std::fs::File::from(writer.try_clone().expect("a duplicate"));
    let thread = soon(move || late.write_all(b"late").expect("a write"));
    assert_eq!(read(&reader, 10), (4, 0, b"late".to_vec()));
    assert!(test.parks() >= 1);
    assert_eq!((test.last_park().call, test.last_park().on_signal), ("read", OnSignal::Restart));
    assert_eq!(test.gave_way(), 0);
    thread.join().expect("the writer");
    assert_eq!(write(&writer, b"now"), (3, 0));
    assert_eq!(read(&reader, 10).2, b"now");
    assert_eq!(test.gave_way(), 1, "a read that needed no waiting gives way");
    drop(writer);
    assert_eq!(read(&reader, 10), (0, 0, vec![]), "the end");
}

#[test]
fn cancelled_and_interrupted_pipe_reads_fail() {
    let test = Test::new();
    let (reader, _writer) = pipe(0);
    test.inject(1, Wake::Cancelled);
    assert_eq!(read(&reader, 1).1, libc::ECANCELED);
    test.inject(1, Wake::Interrupted);
    assert_eq!(read(&reader, 1).1, libc::EINTR);
}

#[test]
fn a_non_blocking_pipe_keeps_answering() {
    let test = Test::new();
    let (reader, writer) = pipe(libc::O_NONBLOCK);
    assert_eq!(read(&reader, 1).1, libc::EAGAIN);
    let big = pattern(1 << 20);
    let (first, _) = write(&writer, &big);
    assert!(first > 0 && (first as usize) < big.len());
    assert_eq!(write(&writer, &big).1, libc::EAGAIN);
    assert_eq!(test.parks(), 0);
}

#[test]
fn errno_survives_a_success() {
    let _test = Test::new();
    let (reader, writer) = pipe(0);
    spindle_interpose::host::set_errno(77);
    let thread = soon(move || std::fs::File::from(writer).write_all(b"x").expect("a write"));
    let mut byte = 0u8;
    // SAFETY: one byte.
    assert_eq!(unsafe { rw::read(reader.as_raw_fd(), (&raw mut byte).cast(), 1) }, 1);
    assert_eq!(spindle_interpose::host::errno(), 77);
    thread.join().expect("the writer");
}

#[test]
fn a_big_pipe_write_is_written_whole_to_a_slow_reader() {
    let test = Test::new();
    let (reader, writer) = pipe(0);
    let thread = thread::spawn(move || {
        let (mut all, mut part) = (Vec::new(), [0; 30_000]);
        let mut reader = std::fs::File::from(reader);
        loop {
            thread::sleep(Duration::from_millis(1));
            match reader.read(&mut part).expect("a read") {
                0 => return all,
                n => all.extend_from_slice(&part[..n]),
            }
        }
    });
    let big = pattern(1_000_000);
    assert_eq!(write(&writer, &big), (1_000_000, 0));
    // Many pieces, more than go to the kernel at once.
    let pieces: Vec<iovec> = big
        .chunks(9_973)
        .map(|piece| iovec { iov_base: piece.as_ptr().cast_mut().cast(), iov_len: piece.len() })
        .collect();
    // SAFETY: pieces of `big`.
    let all = unsafe { rw::writev(writer.as_raw_fd(), pieces.as_ptr(), pieces.len() as c_int) };
    assert_eq!(all, 1_000_000);
    drop(writer);
    let read = thread.join().expect("the reader");
    assert!(read[..1_000_000] == big && read[1_000_000..] == big);
    assert!(test.parks() > 2);
    assert_eq!(test.gave_way(), 0, "writes never give way");
}

#[test]
fn a_cancelled_pipe_write_tells_what_it_wrote() {
    let test = Test::new();
    let (reader, writer) = pipe(0);
    let big = pattern(200_000);
    test.inject(1, Wake::Cancelled);
    let (written, _) = write(&writer, &big);
    assert_eq!(written, 65_536);
    test.inject(1, Wake::Cancelled);
    assert_eq!(write(&writer, &big), (-1, libc::ECANCELED), "nothing fitted");
    assert_eq!(read(&reader, 200_000).2, big[..65_536]);
}

#[test]
fn a_pipe_whose_reader_goes_tells_what_it_wrote() {
    let test = Test::new();
    // SAFETY: as the runtime has it already.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let (reader, writer) = pipe(0);
    let mut reader = Some(reader);
    test.at_park(1, move || drop(reader.take()));
    let big = pattern(200_000);
    assert_eq!(write(&writer, &big), (65_536, 0));
    assert_eq!(write(&writer, &big), (-1, libc::EPIPE));
}

#[test]
fn cached_files_are_read_in_place() {
    let test = Test::new();
    let bytes = pattern(10_000);
    let scratch = Scratch::new("cached", &bytes);
    let fd = scratch.open(libc::O_RDONLY);
    assert_eq!(read(&fd, 6_000), (6_000, 0, bytes[..6_000].to_vec()));
    assert_eq!(read(&fd, 6_000), (4_000, 0, bytes[6_000..].to_vec()), "short at the end");
    assert_eq!(read(&fd, 6_000), (0, 0, vec![]));
    let mut part = [0u8; 100];
    // SAFETY: a buffer of that size.
    unsafe {
        let at = |part: &mut [u8; 100], offset| rw::pread(fd.as_raw_fd(), part.as_mut_ptr().cast(), 100, offset);
        assert_eq!(at(&mut part, 500), 100);
        assert_eq!(part, bytes[500..600]);
        assert_eq!(at(&mut part, 9_950), 50);
        assert_eq!(at(&mut part, 20_000), 0);
        assert_eq!(outcome(at(&mut part, -1)), (-1, libc::EINVAL));
    }
    assert_eq!(test.parks(), 0);
    assert_eq!((test.gave_way_for_file(), test.gave_way()), (4, 2), "the ends are no turns of their own");
}

#[test]
fn uncached_files_are_read_by_a_worker() {
    let test = Test::new();
    let bytes = pattern(3_000_000);
    let scratch = Scratch::new("uncached", &bytes);
    let fd = scratch.open(libc::O_RDWR);
    scratch.evict(&fd);
    let got = read(&fd, 2_500_000);
    assert!(got.0 == 2_500_000 && got.2 == bytes[..2_500_000]);
    // Where the kernel cannot say what is cached, it is read in place.
    let mut piece = iovec { iov_base: got.2.as_ptr().cast_mut().cast(), iov_len: 1 };
    // SAFETY: a buffer of one byte.
    let asked = unsafe { libc::preadv2(fd.as_raw_fd(), &raw mut piece, 1, 0, libc::RWF_NOWAIT) };
    assert!(asked < 0 || test.parks() > 0, "a worker did it");
    assert_eq!(read(&fd, 1_000_000).2, bytes[2_500_000..], "the position went along");
    scratch.evict(&fd);
    let mut parts = [vec![0u8; 70_000], vec![0u8; 100_001]];
    let list = parts.each_mut().map(|p| iovec { iov_base: p.as_mut_ptr().cast(), iov_len: p.len() });
    // SAFETY: two buffers.
    assert_eq!(unsafe { rw::preadv(fd.as_raw_fd(), list.as_ptr(), 2, 12_345) }, 170_001);
    assert!(parts.concat() == bytes[12_345..12_345 + 170_001]);
}

#[test]
fn half_cached_files_are_read_whole() {
    let _test = Test::new();
    let bytes = pattern(2_000_000);
    let scratch = Scratch::new("half-cached", &bytes);
    let fd = scratch.open(libc::O_RDWR);
    scratch.evict(&fd);
    // The first part comes back into the cache, and no more than it.
    let mut part = vec![0u8; 400_000];
    // SAFETY: a buffer of that size.
    unsafe {
        libc::posix_fadvise(fd.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM);
        assert_eq!(libc::pread(fd.as_raw_fd(), part.as_mut_ptr().cast(), part.len(), 0), 400_000);
    }
    let got = read(&fd, 2_000_000);
    assert!(got.0 == 2_000_000 && got.2 == bytes);
}

/// The number of system calls by which this thread has read up to now. `None` if the kernel does not count them.
fn read_calls() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/thread-self/io").ok()?;
    counts.lines().find_map(|line| line.strip_prefix("syscr: ")?.parse().ok())
}

#[test]
fn an_end_within_a_page_is_not_looked_for_again() {
    let _test = Test::new();
    let count = |then: &dyn Fn()| {
        let before = read_calls()?;
        then();
        Some(read_calls()? - before)
    };
    let Some(own) = count(&|| ()) else {
        eprintln!("the kernel does not count calls: not tested");
        return;
    };
    let calls = |then: &dyn Fn()| count(then).expect("the counts were there") - own;
    let bytes = pattern(10_000);
    let scratch = Scratch::new("ends", &bytes);
    let fd = scratch.open(libc::O_RDONLY);
    assert_eq!(calls(&|| assert_eq!(read(&fd, 6_000).0, 6_000)), 1);
    assert_eq!(calls(&|| assert_eq!(read(&fd, 6_000).0, 4_000)), 1, "short, within a page");
    let whole = Scratch::new("whole-pages", &bytes[..8_192]);
    let of_pages = whole.open(libc::O_RDONLY);
    assert_eq!(calls(&|| assert_eq!(read(&of_pages, 9_000).0, 8_192)), 2, "what is cached may end here");
    // What passes by the cache may end anywhere.
    let duplicate = fd.try_clone().expect("a duplicate");
    // SAFETY: a system call without pointers.
    let rewind = || assert_eq!(unsafe { libc::lseek(fd.as_raw_fd(), 0, libc::SEEK_SET) }, 0);
    // SAFETY: system calls without pointers.
    let set = |flags: c_int| unsafe { fd::fcntl(duplicate.as_raw_fd(), libc::F_SETFL, flags as usize) };
    if set(libc::O_DIRECT) == 0 {
        assert_eq!(set(0), 0);
        rewind();
        assert_eq!(calls(&|| assert_eq!(read(&fd, 20_000).0, 10_000)), 2);
    }
}

#[test]
fn file_writes_keep_position_and_append() {
    let test = Test::new();
    let scratch = Scratch::new("written", b"head");
    let fd = scratch.open(libc::O_RDWR | libc::O_APPEND);
    assert_eq!(write(&fd, b"+tail"), (5, 0));
    assert_eq!(std::fs::read(&scratch.0).expect("the file"), b"head+tail");
    let plain = scratch.open(libc::O_RDWR);
    assert_eq!(write(&plain, b"H"), (1, 0));
    assert_eq!(write(&plain, b"E"), (1, 0));
    // SAFETY: a buffer of that size.
    assert_eq!(unsafe { rw::pwrite(plain.as_raw_fd(), b"!".as_ptr().cast(), 1, 8) }, 1);
    assert_eq!(std::fs::read(&scratch.0).expect("the file"), b"HEad+tai!");
    assert_eq!(test.gave_way() + test.gave_way_for_file(), 0);
    let read_only = scratch.open(libc::O_RDONLY);
    assert_eq!(write(&read_only, b"x"), (-1, libc::EBADF));
}

#[test]
fn synchronous_writes_go_to_a_worker() {
    let test = Test::new();
    let scratch = Scratch::new("synchronous", b"");
    let fd = scratch.open(libc::O_RDWR | libc::O_DSYNC | libc::O_APPEND);
    let bytes = pattern(100_000);
    assert_eq!(write(&fd, &bytes), (100_000, 0));
    let list = [iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: 1_000 }; 3];
    // SAFETY: three pieces of `bytes`.
    assert_eq!(unsafe { rw::writev(fd.as_raw_fd(), list.as_ptr(), 3) }, 3_000);
    let all = std::fs::read(&scratch.0).expect("the file");
    assert!(all[..100_000] == bytes && all[100_000..101_000] == bytes[..1_000] && all.len() == 103_000);
    assert!(test.parks() >= 2, "a worker does it");
    // SAFETY: no pointers.
    assert_eq!(unsafe { file::fsync(fd.as_raw_fd()) }, 0);
    assert_eq!(test.last_park().call, "fsync");
}

#[test]
fn mapped_files_are_written_back_by_a_worker() {
    let test = Test::new();
    // SAFETY: no pointers.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
    let scratch = Scratch::new("mapped", &vec![b'.'; 2 * page]);
    let fd = scratch.open(libc::O_RDWR);
    let shared = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the file is as long as the mapping, which is used until it is unmapped.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), 2 * page, shared, libc::MAP_SHARED, fd.as_raw_fd(), 0);
        assert_ne!(memory, libc::MAP_FAILED);
        memory.cast::<u8>().write(b'!');
        let before = test.parks();
        for flags in [libc::MS_ASYNC, libc::MS_INVALIDATE, 0] {
            assert_eq!(outcome(file::msync(memory, page, flags)), outcome(libc::msync(memory, page, flags)));
        }
        assert_eq!(test.parks(), before, "nothing is written");
        spindle_interpose::host::set_errno(libc::ENOTTY);
        assert_eq!(file::msync(memory, page, libc::MS_SYNC | libc::MS_INVALIDATE), 0);
        assert_eq!(spindle_interpose::host::errno(), libc::ENOTTY, "as it was");
        assert_eq!((test.parks(), test.last_park().call, test.last_park().fd), (before + 1, "msync", -1));
        assert_eq!(outcome(file::msync(memory.byte_add(1), page, libc::MS_SYNC)), (-1, libc::EINVAL));
        let both = libc::MS_SYNC | libc::MS_ASYNC;
        assert_eq!(outcome(file::msync(memory, page, both)), (-1, libc::EINVAL));
        // A page that is gone, as another coroutine may have unmapped it.
        assert_eq!(libc::munmap(memory.byte_add(page), page), 0);
        assert_eq!(outcome(file::msync(memory, 2 * page, libc::MS_SYNC)), (-1, libc::ENOMEM));
        assert_eq!(test.parks(), before + 4);
        assert_eq!(test.outside(|| file::msync(memory, page, libc::MS_SYNC)), 0);
        assert_eq!(test.parks(), before + 4);
        libc::munmap(memory, page);
    }
    assert_eq!(std::fs::read(&scratch.0).expect("the file")[..2], *b"!.");
}

#[test]
fn memory_file_systems_are_read_in_place() {
    let test = Test::new();
    let read_all = |path: &str| {
        // SAFETY: a C string; the descriptor is new.
        let fd = unsafe { OwnedFd::from_raw_fd(file::open(CString::new(path).unwrap().as_ptr(), libc::O_RDONLY, 0)) };
        let mut all = Vec::new();
        loop {
            match read(&fd, 100).2 {
                part if part.is_empty() => return all,
                part => all.extend(part),
            }
        }
    };
    assert_eq!(read_all("/proc/self/comm"), std::fs::read("/proc/self/comm").unwrap());
    assert_eq!(read_all("/dev/null"), b"");
    let shared = PathBuf::from(format!("/dev/shm/spindle-test-{}", std::process::id()));
    if std::fs::write(&shared, pattern(1_234)).is_ok() {
        assert_eq!(read_all(shared.to_str().unwrap()), pattern(1_234));
        let _ = std::fs::remove_file(&shared);
    }
    // One that took long by chance (a busy machine) sends the next few to a worker.
    assert!(test.parks() <= 16);
}

#[test]
fn an_eventfd_is_polled_first() {
    let test = Test::new();
    // SAFETY: the descriptor is new.
    let fd = unsafe { OwnedFd::from_raw_fd(libc::eventfd(0, libc::EFD_CLOEXEC)) };
    let writer = fd.try_clone().expect("a duplicate");
    test.at_park(1, move || {
        // SAFETY: eight bytes.
        assert_eq!(unsafe { libc::write(writer.as_raw_fd(), [3u64].as_ptr().cast(), 8) }, 8);
    });
    assert_eq!(read(&fd, 8).2, 3u64.to_ne_bytes());
    assert_eq!(test.parks(), 1);
}

#[test]
fn a_terminal_open_for_the_other_direction_refuses_at_once() {
    let test = Test::new();
    let (mut master, mut slave) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: places for two descriptors; paths of procfs.
    unsafe {
        assert_eq!(libc::openpty(&mut master, &mut slave, null, null.cast(), null.cast()), 0);
        let again = |flags| {
            let path = CString::new(format!("/proc/self/fd/{slave}")).expect("a path");
            OwnedFd::from_raw_fd(libc::open(path.as_ptr(), flags | libc::O_NOCTTY))
        };
        assert_eq!(read(&again(libc::O_WRONLY), 1), (-1, libc::EBADF, vec![]));
        assert_eq!(write(&again(libc::O_RDONLY), b"x"), (-1, libc::EBADF));
        libc::close(master);
        libc::close(slave);
    }
    assert_eq!(test.parks(), 0);
}

#[test]
fn a_terminal_is_waited_for() {
    let test = Test::new();
    let (mut master, mut slave) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: places for two descriptors.
    let (master, slave) = unsafe {
        assert_eq!(libc::openpty(&mut master, &mut slave, null, null.cast(), null.cast()), 0);
        (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    };
    let mut typist = std::fs::File::from(master.try_clone().expect("a duplicate"));
    test.at_park(1, move || typist.write_all(b"line\n").expect("a write"));
    assert_eq!(read(&slave, 100).2, b"line\n");
    assert_eq!(write(&slave, b"out"), (3, 0));
    let mut shown = Vec::new();
    while !shown.ends_with(b"out") {
        shown.extend(read(&master, 100).2); // its own echo comes first
    }
}

#[test]
fn wrong_calls_fail_as_they_do() {
    let _test = Test::new();
    let (reader, writer) = pipe(0);
    assert_eq!(read(&writer, 1).1, libc::EBADF);
    assert_eq!(write(&reader, b"x").1, libc::EBADF);
    let bad: *mut c_void = std::ptr::without_provenance_mut(8);
    let list: *const iovec = std::ptr::without_provenance(8);
    let scratch = Scratch::new("wrong", b"abc");
    let file = scratch.open(libc::O_RDWR);
    // SAFETY: addresses that the kernel refuses.
    unsafe {
        assert_eq!(outcome(rw::read(-1, bad, 1)), (-1, libc::EBADF));
        assert_eq!(outcome(rw::read(file.as_raw_fd(), bad, 1)), (-1, libc::EFAULT));
        assert_eq!(outcome(rw::write(writer.as_raw_fd(), bad, 1)), (-1, libc::EFAULT));
        assert_eq!(outcome(rw::write(file.as_raw_fd(), bad, 1)), (-1, libc::EFAULT));
        assert_eq!(outcome(rw::readv(file.as_raw_fd(), list, 3)), (-1, libc::EFAULT));
        assert_eq!(outcome(rw::writev(writer.as_raw_fd(), list, 3)), (-1, libc::EFAULT));
        assert_eq!(outcome(rw::writev(writer.as_raw_fd(), list, 5_000)), (-1, libc::EINVAL));
        assert_eq!(outcome(rw::pread(writer.as_raw_fd(), bad, 1, 0)), (-1, libc::ESPIPE));
        assert_eq!(rw::read(file.as_raw_fd(), bad, 0), 0);
        let directory = file::open(c"/".as_ptr(), libc::O_RDONLY, 0);
        let mut byte = 0u8;
        assert_eq!(outcome(rw::read(directory, (&raw mut byte).cast(), 1)), (-1, libc::EISDIR));
        libc::close(directory);
    }
}

#[test]
fn closing_waits_for_a_job() {
    let test = Test::new();
    let scratch = Scratch::new("pinned", b"");
    let fd = scratch.open(libc::O_RDWR | libc::O_DSYNC);
    let number = fd.as_raw_fd();
    test.at_park(1, move || {
        // As another coroutine's `close` does; when it comes back the job has ended.
        refs::wait_for_jobs(number, number);
        // SAFETY: whole buffers.
        let length = unsafe {
            let mut stat = std::mem::zeroed::<libc::stat>();
            libc::fstat(number, &mut stat);
            stat.st_size
        };
        assert_eq!(length, 500_000);
    });
    assert_eq!(write(&fd, &pattern(500_000)), (500_000, 0));
}

#[test]
fn jobs_leave_the_record_locks_of_the_process_alone() {
    let _test = Test::new();
    let scratch = Scratch::new("locked", b"");
    let fd = scratch.open(libc::O_RDWR | libc::O_DSYNC);
    // SAFETY: plain data and system calls.
    unsafe {
        let mut lock = std::mem::zeroed::<libc::flock>();
        (lock.l_type, lock.l_len) = (libc::F_WRLCK as i16, 10);
        assert_eq!(libc::fcntl(fd.as_raw_fd(), libc::F_SETLK, &lock), 0);
        assert_eq!(write(&fd, b"by a worker"), (11, 0));
        file::fsync(fd.as_raw_fd());
        // A child sees whether the lock is still there.
        let child = libc::fork();
        if child == 0 {
            libc::fcntl(fd.as_raw_fd(), libc::F_GETLK, &mut lock);
            libc::_exit(if lock.l_type == libc::F_WRLCK as i16 { 7 } else { 8 });
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        assert_eq!(libc::WEXITSTATUS(status), 7);
    }
}
