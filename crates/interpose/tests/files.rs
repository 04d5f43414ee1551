//! `open` of FIFOs, `flock`, `lockf`.

mod common;

use common::{Test, outcome};
use libc::c_int;
use spindle_interpose::hooks::{fd, file};
use spindle_interpose::host::Wake;
use spindle_reactor::{Blocking, FdKind};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

fn scratch(name: &str) -> CString {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    CString::new(path.into_os_string().into_encoded_bytes()).expect("a path")
}

fn remove(path: &CString) {
    // SAFETY: a C string.
    unsafe { libc::unlink(path.as_ptr()) };
}

fn fifo(name: &str) -> CString {
    let path = scratch(name);
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    path
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("procfs").count()
}

#[test]
fn files_are_opened_as_they_are() {
    let test = Test::new();
    let path = scratch("opened");
    // SAFETY: C strings; the descriptors are closed.
    unsafe {
        assert_eq!(outcome(file::open(path.as_ptr(), libc::O_RDONLY, 0)), (-1, libc::ENOENT));
        libc::umask(0o022);
        let fd = file::open(path.as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o666);
        let mut stat = std::mem::zeroed::<libc::stat>();
        libc::fstat(fd, &mut stat);
        assert_eq!(stat.st_mode & 0o777, 0o644);
        fd::close(fd);
        let fd = file::open_2(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        assert_eq!(libc::fcntl(fd, libc::F_GETFD), libc::FD_CLOEXEC);
        assert_eq!((test.reactor().kind(fd), test.reactor().blocking(fd)), (FdKind::File, Blocking::Yes));
        fd::close(fd);
        let fd = file::openat(libc::AT_FDCWD, path.as_ptr(), libc::O_RDONLY | libc::O_NONBLOCK, 0);
        assert_eq!(test.reactor().blocking(fd), Blocking::No);
        fd::close(fd);
        let fd = file::creat(path.as_ptr(), 0o600);
        assert!(fd >= 0);
        fd::close(fd);
        let bad = std::ptr::without_provenance(8);
        assert_eq!(outcome(file::open(bad, libc::O_RDONLY, 0)), (-1, libc::EFAULT));
    }
    assert_eq!(test.parks(), 0);
    remove(&path);
}

#[test]
fn a_fifo_is_opened_when_its_other_end_is() {
    let test = Test::new();
    let path = fifo("met");
    let other = path.clone();
    test.at_park(1, move || {
        let other = other.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            // SAFETY: a C string.
            unsafe { libc::open(other.as_ptr(), libc::O_WRONLY) }
        });
    });
    // SAFETY: a C string.
    let fd = unsafe { file::open(path.as_ptr(), libc::O_RDONLY, 0) };
    assert!(fd >= 0);
    assert_eq!(test.reactor().kind(fd), FdKind::Pipe);
    assert_eq!(test.last_park().call, "open");
    remove(&path);
}

#[test]
fn an_abandoned_open_of_a_fifo_ends() {
    let test = Test::new();
    let path = fifo("abandoned");
    let before = descriptors();
    test.inject(1, Wake::Cancelled);
    // SAFETY: a C string.
    assert_eq!(outcome(unsafe { file::open(path.as_ptr(), libc::O_RDONLY, 0) }), (-1, libc::ECANCELED));
    test.inject(1, Wake::Interrupted);
    // SAFETY: a C string.
    assert_eq!(outcome(unsafe { file::open(path.as_ptr(), libc::O_RDONLY, 0) }), (-1, libc::EINTR));
    // The workers are got out of the call, though nobody ever opens the other end.
    let started = Instant::now();
    while test.reactor().jobs() > 0 {
        test.reactor().turn(Some(5_000_000), |_| ());
        assert!(started.elapsed() < Duration::from_secs(60), "a worker is stuck");
    }
    // SAFETY: a C string.
    let other_end = unsafe { libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK) };
    assert_eq!(
        (other_end, std::io::Error::last_os_error().raw_os_error().unwrap_or(0)),
        (-1, libc::ENXIO),
        "nobody reads"
    );
    assert_eq!(descriptors(), before);
    remove(&path);
}

#[test]
fn what_never_waits_is_not_given_to_a_worker() {
    let test = Test::new();
    let path = fifo("non-blocking");
    // SAFETY: C strings; the descriptors are new.
    unsafe {
        assert_eq!(outcome(file::open(path.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK, 0)), (-1, libc::ENXIO));
        let both = file::open(path.as_ptr(), libc::O_RDWR, 0);
        assert!(both >= 0);
        assert_eq!(test.parks(), 0);
        fd::close(both);
    }
    remove(&path);
}

fn flock(fd: &OwnedFd, operation: c_int) -> (c_int, i32) {
    // SAFETY: no pointers.
    outcome(unsafe { fd::flock(fd.as_raw_fd(), operation) })
}

fn lock_file(path: &CString) -> OwnedFd {
    // SAFETY: a C string; the descriptor is new.
    unsafe {
        let fd = file::open(path.as_ptr(), libc::O_CREAT | libc::O_RDWR | libc::O_CLOEXEC, 0o600);
        assert!(fd >= 0);
        OwnedFd::from_raw_fd(fd)
    }
}

#[test]
fn a_flock_is_had_when_it_is_released() {
    let test = Test::new();
    let path = scratch("released");
    let (a, b) = (lock_file(&path), lock_file(&path));
    assert_eq!(flock(&a, libc::LOCK_EX), (0, 0));
    assert_eq!(flock(&b, libc::LOCK_EX | libc::LOCK_NB), (-1, libc::EWOULDBLOCK));
    assert_eq!(test.parks(), 0);
    let holder = a.as_raw_fd();
    test.at_park(1, move || {
        // SAFETY: no pointers.
        assert_eq!(unsafe { fd::flock(holder, libc::LOCK_UN) }, 0);
    });
    assert_eq!(flock(&b, libc::LOCK_EX), (0, 0));
    assert_eq!(test.parks(), 1, "woken at once, not by the timer");
    // Closing releases too.
    let holder = b.as_raw_fd();
    test.at_park(1, move || {
        // SAFETY: the test's own descriptor, which it then forgets.
        assert_eq!(unsafe { fd::close(holder) }, 0);
    });
    assert_eq!(flock(&a, libc::LOCK_SH), (0, 0));
    std::mem::forget(b);
    remove(&path);
}

#[test]
fn a_flock_of_another_process_is_looked_for() {
    let test = Test::new();
    let path = scratch("other-process");
    let a = lock_file(&path);
    let (mut ready, mut go) = ([0; 2], [0; 2]);
    let mut byte = 0u8;
    // SAFETY: the child makes system calls only.
    let child = unsafe {
        libc::pipe(ready.as_mut_ptr());
        libc::pipe(go.as_mut_ptr());
        let child = libc::fork();
        if child == 0 {
            let own = libc::open(path.as_ptr(), libc::O_RDWR);
            libc::flock(own, libc::LOCK_EX);
            libc::write(ready[1], c"x".as_ptr().cast(), 1);
            libc::read(go[0], (&raw mut byte).cast(), 1);
            libc::_exit(0);
        }
        libc::read(ready[0], (&raw mut byte).cast(), 1);
        child
    };
    let go = go[1];
    // SAFETY: a byte of a constant.
    test.at_park(3, move || unsafe {
        assert_eq!(libc::write(go, c"x".as_ptr().cast(), 1), 1);
    });
    assert_eq!(flock(&a, libc::LOCK_EX), (0, 0));
    assert!(test.parks() > 2, "by the timer");
    assert_eq!(flock(&a, libc::LOCK_UN), (0, 0));
    // SAFETY: places of our own.
    unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    remove(&path);
}

#[test]
fn a_flock_that_ends_early_says_why() {
    let test = Test::new();
    let path = scratch("early");
    let (a, b) = (lock_file(&path), lock_file(&path));
    assert_eq!(flock(&a, libc::LOCK_EX), (0, 0));
    test.inject(1, Wake::Cancelled);
    assert_eq!(flock(&b, libc::LOCK_EX), (-1, libc::ECANCELED));
    test.inject(1, Wake::Interrupted);
    assert_eq!(flock(&b, libc::LOCK_SH), (-1, libc::EINTR));
    let closed = b.as_raw_fd();
    test.at_park(1, move || {
        // SAFETY: the test's own descriptor, which it then forgets.
        unsafe { fd::close(closed) };
    });
    assert_eq!(flock(&b, libc::LOCK_EX), (-1, libc::EBADF));
    std::mem::forget(b);
    // Nor does it lock what the number names now.
    let other = scratch("early-other");
    let (b, another) = (lock_file(&path), lock_file(&other));
    let (replaced, by) = (b.as_raw_fd(), another.as_raw_fd());
    test.at_park(1, move || {
        // SAFETY: the test's own descriptors.
        assert_eq!(unsafe { fd::dup2(by, replaced) }, replaced);
    });
    assert_eq!(flock(&b, libc::LOCK_EX), (-1, libc::EBADF));
    assert_eq!(flock(&a, libc::LOCK_UN), (0, 0));
    remove(&path);
    remove(&other);
}

#[test]
fn lockf_waits_for_another_process() {
    let test = Test::new();
    let path = scratch("lockf");
    let a = lock_file(&path);
    let (mut ready, mut go) = ([0; 2], [0; 2]);
    let mut byte = 0u8;
    // SAFETY: the child makes system calls only.
    let child = unsafe {
        libc::pipe(ready.as_mut_ptr());
        libc::pipe(go.as_mut_ptr());
        let child = libc::fork();
        if child == 0 {
            let own = libc::open(path.as_ptr(), libc::O_RDWR);
            libc::lockf(own, libc::F_LOCK, 0);
            libc::write(ready[1], c"x".as_ptr().cast(), 1);
            libc::read(go[0], (&raw mut byte).cast(), 1);
            libc::_exit(0);
        }
        libc::read(ready[0], (&raw mut byte).cast(), 1);
        child
    };
    let go = go[1];
    // SAFETY: a byte of a constant.
    test.at_park(3, move || unsafe {
        assert_eq!(libc::write(go, c"x".as_ptr().cast(), 1), 1);
    });
    // SAFETY: no pointers.
    unsafe {
        assert_eq!(outcome(fd::lockf(a.as_raw_fd(), libc::F_TLOCK, 0)).0, -1);
        assert_eq!(fd::lockf(a.as_raw_fd(), libc::F_LOCK, 0), 0);
        assert!(test.parks() > 2);
        assert_eq!(fd::lockf(a.as_raw_fd(), libc::F_ULOCK, 0), 0);
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
    remove(&path);
}
