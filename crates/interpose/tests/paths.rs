//! Calls on paths against libc's own: the same values, `errno`s and effects, from a worker thread.

mod common;

use common::{Test, outcome, soon};
use libc::{c_char, c_int, stat as Stat, statfs as StatFs, statvfs as StatVfs, statx as StatX};
use spindle_interpose::hooks::{fd, file, path};
use spindle_interpose::host::{errno, set_errno};
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::time::Duration;

/// A fresh directory, which is the working directory too; tests of this program take turns.
struct Scratch {
    test: Test,
    path: PathBuf,
}

impl Scratch {
    fn new(name: &str) -> Scratch {
        let test = Test::new();
        test.slow_files_on_workers();
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("paths-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a directory");
        std::env::set_current_dir(&path).expect("it is there");
        std::fs::write("file", "content").expect("a file");
        std::fs::create_dir("folder").expect("a directory");
        std::os::unix::fs::symlink("file", "symbolic").expect("a link");
        Scratch { test, path }
    }

    /// `name` as it stands, and from the root.
    fn both(&self, name: &str) -> [CString; 2] {
        let whole = self.path.join(name).into_os_string().into_encoded_bytes();
        [CString::new(name).expect("a path"), CString::new(whole).expect("a path")]
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::env::set_current_dir("/");
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// What a call answers, as text: the outcome, `errno`, and what is in its place then.
fn with<T>(call: impl FnOnce(*mut T) -> isize, pick: impl FnOnce(&T) -> u64) -> String {
    // SAFETY: used with plain data only.
    let mut place: T = unsafe { std::mem::zeroed() };
    set_errno(5);
    let result = call(&mut place);
    format!("{result}, errno {}: {}", errno(), pick(&place))
}

fn bare(call: impl FnOnce() -> c_int) -> String {
    with(|_: *mut ()| call() as isize, |()| 0)
}

type Call<'c> = &'c dyn Fn(*const c_char) -> String;

#[test]
fn asking_answers_alike() {
    let scratch = Scratch::new("asking");
    let (whole, ex) =
        (|s: &Stat| s.st_ino + s.st_size as u64 + u64::from(s.st_mode), |s: &StatX| s.stx_ino + s.stx_size);
    let (fs, vfs) = (|s: &StatFs| s.f_type as u64 + s.f_blocks, |s: &StatVfs| s.f_blocks + s.f_namemax);
    let text = |t: &[u8; 64]| t.iter().map(|b| u64::from(*b)).sum();
    const HERE: c_int = libc::AT_FDCWD;
    const LINK: c_int = libc::AT_SYMLINK_NOFOLLOW;
    // SAFETY: paths, null or not, and places of the right size.
    let calls: [(&str, Call, Call); 14] = unsafe {
        [
            ("stat", &|p| with(|s| path::stat(p, s) as isize, whole), &|p| with(|s| libc::stat(p, s) as isize, whole)),
            ("lstat", &|p| with(|s| path::lstat(p, s) as isize, whole), &|p| {
                with(|s| libc::lstat(p, s) as isize, whole)
            }),
            ("fstatat", &|p| with(|s| path::fstatat(HERE, p, s, LINK) as isize, whole), &|p| {
                with(|s| libc::fstatat(HERE, p, s, LINK) as isize, whole)
            }),
            ("xstat", &|p| with(|s| path::xstat(1, p, s) as isize, whole), &|p| {
                with(|s| libc::stat(p, s) as isize, whole)
            }),
            ("lxstat", &|p| with(|s| path::lxstat(1, p, s) as isize, whole), &|p| {
                with(|s| libc::lstat(p, s) as isize, whole)
            }),
            ("statx", &|p| with(|s| path::statx(HERE, p, 0, 0xfff, s) as isize, ex), &|p| {
                with(|s| libc::statx(HERE, p, 0, 0xfff, s) as isize, ex)
            }),
            ("statfs", &|p| with(|s| path::statfs(p, s) as isize, fs), &|p| with(|s| libc::statfs(p, s) as isize, fs)),
            ("statvfs", &|p| with(|s| path::statvfs(p, s) as isize, vfs), &|p| {
                with(|s| libc::statvfs(p, s) as isize, vfs)
            }),
            ("access", &|p| bare(|| path::access(p, libc::R_OK)), &|p| bare(|| libc::access(p, libc::R_OK))),
            ("a wrong access", &|p| bare(|| path::access(p, 99)), &|p| bare(|| libc::access(p, 99))),
            ("eaccess", &|p| bare(|| path::eaccess(p, libc::X_OK)), &|p| {
                bare(|| libc::faccessat(HERE, p, libc::X_OK, libc::AT_EACCESS))
            }),
            ("readlink", &|p| with(|s: *mut [u8; 64]| path::readlink(p, s.cast(), 64), text), &|p| {
                with(|s: *mut [u8; 64]| libc::readlink(p, s.cast(), 64), text)
            }),
            ("a short readlink", &|p| with(|s: *mut [u8; 64]| path::readlink(p, s.cast(), 2), text), &|p| {
                with(|s: *mut [u8; 64]| libc::readlink(p, s.cast(), 2), text)
            }),
            ("no readlink", &|p| with(|s: *mut [u8; 64]| path::readlink(p, s.cast(), 0), text), &|p| {
                with(|s: *mut [u8; 64]| libc::readlink(p, s.cast(), 0), text)
            }),
        ]
    };
    for name in ["file", "folder", "symbolic", "nowhere", "file/below", "folder/../file", ""] {
        for path in scratch.both(name) {
            for (what, ours, libcs) in &calls {
                assert_eq!(ours(path.as_ptr()), libcs(path.as_ptr()), "{what} {path:?}");
            }
        }
    }
    let parks = scratch.test.parks();
    assert!(parks > 150, "on workers");
    for (what, ours, libcs) in &calls {
        assert_eq!(ours(null()), libcs(null()), "{what} of nothing");
    }
    assert_eq!(calls[0].1(c"file".as_ptr()), scratch.test.outside(|| calls[0].1(c"file".as_ptr())));
    assert_eq!(scratch.test.parks(), parks + 1, "outside it is a plain call");
}

/// Runs `steps` with hooked calls and then, in a fresh place, with libc's: the same outcomes and the same traces.
fn both_ways(name: &str, steps: impl Fn(bool) -> Vec<String>) {
    let mut seen = Vec::new();
    for hooked in [true, false] {
        let scratch = Scratch::new(&format!("{name}-{hooked}"));
        let told = steps(hooked);
        assert_eq!(scratch.test.parks() > 0, hooked);
        let mut left: Vec<_> = std::fs::read_dir(&scratch.path)
            .expect("readable")
            .map(|entry| {
                let entry = entry.expect("an entry");
                let data = std::fs::symlink_metadata(entry.path()).expect("there");
                (entry.file_name(), data.mode(), data.nlink(), data.len(), data.mtime() == 7)
            })
            .collect();
        left.sort();
        seen.push((told, left));
    }
    assert_eq!(seen[0], seen[1]);
}

#[test]
fn changing_names_changes_them_alike() {
    // SAFETY: literals.
    both_ways("names", |hooked| unsafe {
        let p = |text: &'static CStr| text.as_ptr();
        macro_rules! each {
            ($(($ours:path, $libcs:path): $(($($argument:expr),*))*;)*) => {
                vec![$($(bare(|| if hooked { $ours($($argument),*) } else { $libcs($($argument),*) })),*),*]
            };
        }
        libc::umask(0o027);
        each![
            (path::mkdir, libc::mkdir): (p(c"made"), 0o777) (p(c"made"), 0o777) (p(c"nowhere/made"), 0o777) (p(c""), 0o777);
            (path::rename, libc::rename): (p(c"file"), p(c"moved")) (p(c"file"), p(c"moved")) (p(c"moved"), p(c"folder")) (p(c"moved"), p(c"folder/moved"));
            (path::link, libc::link): (p(c"folder/moved"), p(c"second")) (p(c"nowhere"), p(c"third")) (p(c"folder"), p(c"third"));
            (path::symlink, libc::symlink): (p(c"any text"), p(c"new")) (p(c"other"), p(c"new")) (p(c""), p(c"empty"));
            (path::unlink, libc::unlink): (p(c"second")) (p(c"second")) (p(c"folder")) (p(c"folder/moved"));
            (path::rmdir, libc::rmdir): (p(c"made")) (p(c"made")) (p(c"new"));
            (path::unlinkat, libc::unlinkat): (libc::AT_FDCWD, p(c"folder"), libc::AT_REMOVEDIR) (77, p(c"x"), 0) (libc::AT_FDCWD, p(c"x"), 0x4000_0000);
        ]
    });
}

#[test]
fn changing_attributes_changes_them_alike() {
    let times = [libc::timespec { tv_sec: 7, tv_nsec: 5 }, libc::timespec { tv_sec: 7, tv_nsec: 0 }];
    let wrong = [libc::timespec { tv_sec: 7, tv_nsec: -5 }, times[1]];
    let small = [libc::timeval { tv_sec: 7, tv_usec: 0 }; 2];
    let bad = [libc::timeval { tv_sec: 7, tv_usec: 1_000_000 }; 2];
    let old = libc::utimbuf { actime: 7, modtime: 7 };
    // SAFETY: literals and times of our own.
    both_ways("attributes", move |hooked| unsafe {
        let p = |text: &'static CStr| text.as_ptr();
        macro_rules! each {
            ($(($ours:path, $libcs:path): $(($($argument:expr),*))*;)*) => {
                vec![$($(bare(|| if hooked { $ours($($argument),*) } else { $libcs($($argument),*) })),*),*]
            };
        }
        let (user, group) = (libc::getuid(), libc::getgid());
        each![
            (path::chmod, libc::chmod): (p(c"file"), 0o640) (p(c"symbolic"), 0o604) (p(c"nowhere"), 0o640);
            (path::fchmodat, libc::fchmodat): (libc::AT_FDCWD, p(c"folder"), 0o711, 0) (libc::AT_FDCWD, p(c"folder"), 0o711, 0x4000_0000);
            (path::chown, libc::chown): (p(c"file"), user, group) (p(c"nowhere"), user, group);
            (path::lchown, libc::lchown): (p(c"symbolic"), user, group) (p(c"nowhere"), user, group);
            (path::utime, libc::utime): (p(c"file"), &old) (p(c"nowhere"), &old) (p(c"file"), null());
            (path::utimes, libc::utimes): (p(c"file"), small.as_ptr()) (p(c"file"), bad.as_ptr()) (p(c"nowhere"), small.as_ptr());
            (path::lutimes, libc::lutimes): (p(c"symbolic"), small.as_ptr());
            (path::utimensat, libc::utimensat): (libc::AT_FDCWD, p(c"folder"), times.as_ptr(), 0) (libc::AT_FDCWD, p(c"file"), wrong.as_ptr(), 0) (libc::AT_FDCWD, p(c"file"), times.as_ptr(), 0);
            (path::truncate, libc::truncate): (p(c"file"), 3) (p(c"folder"), 3) (p(c"/nowhere at all"), 3) (p(c"/proc/self/status"), -1);
        ]
    });
}

#[test]
fn a_descriptor_of_the_callers_is_where_a_path_starts() {
    let scratch = Scratch::new("descriptor");
    std::fs::write("folder/inner", "1").expect("a file");
    // SAFETY: paths and places of our own; descriptors are closed.
    unsafe {
        let folder = file::open(c"folder".as_ptr(), libc::O_RDONLY | libc::O_DIRECTORY, 0);
        let mut found = std::mem::zeroed::<Stat>();
        assert_eq!(outcome(path::fstatat(folder, c"inner".as_ptr(), &mut found, 0)), (0, 0));
        assert_eq!(found.st_size, 1);
        let file = file::open(c"file".as_ptr(), libc::O_RDWR, 0);
        assert_eq!(outcome(path::fstatat(file, c"inner".as_ptr(), &mut found, 0)), (-1, libc::ENOTDIR));
        // It names a file, whose locks must survive.
        assert_eq!(libc::lockf(file, libc::F_TLOCK, 0), 0);
        assert_eq!(path::fstatat(file, c"".as_ptr(), &mut found, libc::AT_EMPTY_PATH), 0);
        assert_eq!(found.st_size, 7);
        let child = libc::fork();
        if child == 0 {
            libc::_exit(libc::lockf(file, libc::F_TEST, 0).abs());
        }
        let mut status = 0;
        libc::waitpid(child, &mut status, 0);
        assert_eq!(libc::WEXITSTATUS(status), 1, "still locked");
        assert_eq!(outcome(path::ftruncate(file, 2)), (0, 0));
        assert_eq!(outcome(path::ftruncate(77, 2)), (-1, libc::EBADF));
        assert_eq!(outcome(path::mkdirat(folder, c"more".as_ptr(), 0o700)), (0, 0));
        assert_eq!(outcome(path::renameat(folder, c"more".as_ptr(), libc::AT_FDCWD, c"out".as_ptr())), (0, 0));
        assert!(PathBuf::from("out").is_dir() && std::fs::metadata("file").expect("there").len() == 2);
        // The working directory of the time of the call is meant.
        let elsewhere = scratch.path.join("folder");
        scratch.test.at_park(1, move || std::env::set_current_dir(&elsewhere).expect("it is there"));
        assert_eq!(outcome(path::stat(c"file".as_ptr(), &mut found)), (0, 0));
        assert_eq!(outcome(path::stat(c"file".as_ptr(), &mut found)), (-1, libc::ENOENT));
        fd::close(folder);
        fd::close(file);
    }
}

#[test]
fn directories_are_read_whole() {
    let scratch = Scratch::new("directories");
    for n in 0..3_000 {
        std::fs::write(format!("folder/entry {n}"), "").expect("a file");
    }
    // SAFETY: paths of our own; the directory is closed.
    unsafe {
        let directory = path::opendir(c"folder".as_ptr());
        assert!(!directory.is_null());
        let mut count = 0;
        while !libc::readdir(directory).is_null() {
            count += 1;
        }
        assert_eq!(count, 3_002);
        assert_eq!(fd::closedir(directory), 0);
        let before = std::fs::read_dir("/proc/self/fd").expect("procfs").count();
        for (path, error) in [(c"nowhere", libc::ENOENT), (c"file", libc::ENOTDIR), (c"", libc::ENOENT)] {
            set_errno(0);
            assert!(path::opendir(path.as_ptr()).is_null());
            assert_eq!(errno(), error);
        }
        let mut list = null_mut::<*mut libc::dirent>();
        let count = path::scandir(c"folder".as_ptr(), (&raw mut list).cast(), null_mut(), null_mut());
        assert_eq!(count, 3_002);
        assert_eq!(
            outcome(path::scandir(c"nowhere".as_ptr(), (&raw mut list).cast(), null_mut(), null_mut())),
            (-1, libc::ENOENT)
        );
        assert_eq!(std::fs::read_dir("/proc/self/fd").expect("procfs").count(), before);
        let pattern = scratch.both("folder/entry 1?")[1].clone();
        for pattern in [pattern.as_ptr(), c"folder/entry 1?".as_ptr()] {
            let mut found = std::mem::zeroed::<libc::glob_t>();
            assert_eq!(path::glob(pattern, 0, None, &mut found), 0);
            assert_eq!(found.gl_pathc, 10);
            assert_eq!(path::glob(pattern, libc::GLOB_APPEND, None, &mut found), 0);
            assert_eq!(found.gl_pathc, 20);
            assert!(CStr::from_ptr(*found.gl_pathv).to_bytes().ends_with(b"folder/entry 10"));
            libc::globfree(&mut found);
        }
        let mut none = std::mem::zeroed::<libc::glob_t>();
        assert_eq!(path::glob(c"/nowhere at all/*".as_ptr(), 0, None, &mut none), libc::GLOB_NOMATCH);
    }
    assert!(scratch.test.parks() >= 8);
}

#[test]
fn real_paths_and_temporary_files() {
    let scratch = Scratch::new("real");
    let real = |path: &CStr| {
        let mut place = [0 as c_char; libc::PATH_MAX as usize];
        set_errno(5);
        // SAFETY: a path, and a place of the size that is asked for; what is found is freed.
        unsafe {
            let found = path::realpath(path.as_ptr(), place.as_mut_ptr());
            let error = errno();
            let text = |p: *const c_char| if p.is_null() { None } else { Some(CStr::from_ptr(p).to_owned()) };
            let own = path::realpath(path.as_ptr(), null_mut());
            assert_eq!(text(own), text(found));
            libc::free(own.cast());
            let libcs = libc::realpath(path.as_ptr(), null_mut());
            assert_eq!(text(libcs), text(found));
            libc::free(libcs.cast());
            (text(found), error)
        }
    };
    let whole = &scratch.both("file")[1];
    for path in [c"file", c"symbolic", c"folder/.././symbolic"] {
        assert_eq!(real(path), (Some(whole.clone()), 5));
    }
    assert_eq!(real(c"nowhere"), (None, libc::ENOENT));
    assert_eq!(real(c"file/below"), (None, libc::ENOTDIR));
    assert_eq!(real(c""), (None, libc::ENOENT));
    assert!(scratch.test.parks() >= 8);
    let mut template = scratch.both("now-XXXXXX")[1].clone().into_bytes_with_nul();
    // SAFETY: a template of our own.
    let fd = unsafe { path::mkstemp(template.as_mut_ptr().cast()) };
    assert!(fd >= 0);
    // SAFETY: new, and nobody else's.
    let file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    let path = CStr::from_bytes_with_nul(&template).expect("a path");
    let named = std::fs::metadata(std::ffi::OsStr::new(path.to_str().expect("ASCII"))).expect("there");
    assert_eq!(named.ino(), file.metadata().expect("open").ino());
    let mut wrong = *b"/tmp/without the six\0";
    // SAFETY: as above.
    assert_eq!(outcome(unsafe { path::mkstemp(wrong.as_mut_ptr().cast()) }), (-1, libc::EINVAL));
}

fn open(path: &CStr, flags: c_int) -> (RawFd, i32) {
    // SAFETY: a path.
    outcome(unsafe { file::open(path.as_ptr(), flags, 0o600) })
}

#[test]
fn files_are_opened_on_workers_when_all_are_to_be() {
    let scratch = Scratch::new("opened");
    file::set_open_on_workers(true);
    let (fd, _) = open(c"new", libc::O_CREAT | libc::O_EXCL | libc::O_RDWR);
    assert!(fd >= 0);
    assert_eq!(scratch.test.parks(), 1);
    assert_eq!(scratch.test.reactor().kind(fd), spindle_reactor::FdKind::File);
    assert_eq!(open(c"new", libc::O_CREAT | libc::O_EXCL | libc::O_RDWR), (-1, libc::EEXIST));
    assert_eq!(open(c"nowhere", libc::O_RDONLY), (-1, libc::ENOENT));
    assert_eq!(open(c"symbolic", libc::O_RDONLY | libc::O_NOFOLLOW), (-1, libc::ELOOP));
    assert_eq!(scratch.test.parks(), 4);
    // A FIFO may never be opened: it must be possible to give up.
    // SAFETY: a literal.
    assert_eq!(unsafe { libc::mkfifo(c"fifo".as_ptr(), 0o600) }, 0);
    scratch.test.inject(2, spindle_interpose::host::Wake::Cancelled);
    assert_eq!(open(c"fifo", libc::O_RDONLY), (-1, libc::ECANCELED));
    file::set_open_on_workers(false);
    // SAFETY: the test's own.
    unsafe { fd::close(fd) };
}

/// Opens a file that is leased, and so can be opened only when the lease has been given up.
fn slow_open() {
    let leased = std::fs::File::open("file").expect("a file");
    let fd = leased.as_raw_fd();
    // SAFETY: numbers only.
    assert_eq!(unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK) }, 0);
    let giver = soon(move || {
        std::thread::sleep(Duration::from_millis(30)); // what makes it slow
        // SAFETY: numbers only; the file is open until this has ended.
        unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
    });
    let opened = open(c"file", libc::O_WRONLY).0;
    assert!(opened >= 0);
    giver.join().expect("it ends");
    // SAFETY: the test's own.
    unsafe { fd::close(opened) };
}

#[test]
fn after_slow_opens_the_next_ones_are_made_on_workers() {
    let scratch = Scratch::new("slow");
    std::fs::write("other", "").expect("a file");
    // SAFETY: SIGIO, which tells of a lease, is not wanted.
    unsafe { libc::signal(libc::SIGIO, libc::SIG_IGN) };
    let before = scratch.test.parks();
    slow_open();
    let mut all = vec![open(c"other", libc::O_RDONLY).0];
    assert_eq!(scratch.test.parks(), before, "one may be a coincidence");
    slow_open();
    slow_open();
    for _ in 0..40 {
        all.push(open(c"other", libc::O_RDONLY).0);
    }
    assert!(all.iter().all(|fd| *fd >= 0));
    let on_workers = scratch.test.parks() - before;
    assert!(on_workers >= 16, "the next sixteen: {on_workers}");
    for fd in all {
        // SAFETY: the test's own.
        unsafe { fd::close(fd) };
    }
}

#[test]
fn copies_of_ranges_are_made_on_workers() {
    let scratch = Scratch::new("copies");
    let (from, to) = (open(c"file", libc::O_RDONLY).0, open(c"copy", libc::O_CREAT | libc::O_RDWR).0);
    let mut pair = [0; 2];
    // SAFETY: descriptors and places of our own.
    unsafe {
        assert_eq!(outcome(file::copy_file_range(from, null_mut(), to, null_mut(), 4, 0)), (4, 0));
        let (mut at, mut to_at) = (5, 1);
        assert_eq!(outcome(file::copy_file_range(from, &mut at, to, &mut to_at, 100, 0)), (2, 0));
        assert_eq!((at, to_at), (7, 3));
        assert_eq!(outcome(file::copy_file_range(from, &mut at, to, &mut to_at, 100, 0)), (0, 0), "the end");
        assert_eq!(outcome(file::copy_file_range(from, null_mut(), to, null_mut(), 4, 99)), (-1, libc::EINVAL));
        assert_eq!(outcome(file::copy_file_range(to, null_mut(), from, null_mut(), 4, 0)), (-1, libc::EBADF));
        assert_eq!(scratch.test.parks(), 5);
        libc::pipe(pair.as_mut_ptr());
        assert_eq!(outcome(file::copy_file_range(from, null_mut(), pair[1], null_mut(), 4, 0)), (-1, libc::EINVAL));
        assert_eq!(scratch.test.parks(), 5);
        for fd in [from, to, pair[0], pair[1]] {
            fd::close(fd);
        }
    }
    assert_eq!(std::fs::read("copy").expect("there"), b"cntt");
}
