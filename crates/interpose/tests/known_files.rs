//! Files that are opened again, and the end of those that are read whole.

mod common;

use common::{Test, outcome, soon};
use libc::c_int;
use spindle_interpose::hooks::{fd, file, rw};
use spindle_interpose::host::Wake;
use spindle_reactor::{Blocking, FdKind};
use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// A path for a file or something else, in the build's directory.
struct Place(CString);

impl Place {
    fn new(name: &str) -> Place {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("known-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Place(CString::new(path.into_os_string().into_encoded_bytes()).expect("a path"))
    }

    fn file(name: &str, bytes: &[u8]) -> Place {
        let place = Place::new(name);
        std::fs::write(place.path(), bytes).expect("a file");
        place
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a path")
    }

    fn append(&self, bytes: &[u8]) {
        use std::io::Write;
        std::fs::OpenOptions::new()
            .append(true)
            .open(self.path())
            .and_then(|mut f| f.write_all(bytes))
            .expect("written");
    }

    /// Whether it is on a block device; else its end is looked for each time.
    fn is_on_device(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let is = libc::major(std::fs::metadata(self.path()).expect("a file").dev()) != 0;
        if !is {
            eprintln!("the file is on no block device: not tested");
        }
        is
    }

    fn remove(&self) {
        std::fs::remove_file(self.path()).expect("removed");
    }

    fn open(&self, flags: c_int) -> OwnedFd {
        // SAFETY: a C string.
        let fd = unsafe { file::open(self.0.as_ptr(), flags, 0) };
        assert!(fd >= 0, "{:?}", std::io::Error::last_os_error());
        // SAFETY: new.
        unsafe { OwnedFd::from_raw_fd(fd) }
    }

    /// Opens it so often that its path is known.
    fn learn(&self) {
        close(self.open(libc::O_RDONLY));
    }

    /// Puts a FIFO in its place.
    fn becomes_fifo(&self) {
        self.remove();
        // SAFETY: a C string.
        assert_eq!(unsafe { libc::mkfifo(self.0.as_ptr(), 0o600) }, 0);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.path());
        let _ = std::fs::remove_dir(self.path());
    }
}

/// Closes it as user code does.
fn close(fd: OwnedFd) {
    let number = fd.as_raw_fd();
    std::mem::forget(fd);
    // SAFETY: forgotten by its owner.
    assert_eq!(unsafe { fd::close(number) }, 0);
}

fn read(fd: &OwnedFd) -> (Vec<u8>, i32) {
    let mut buffer = vec![0; 20_000];
    // SAFETY: a buffer of that size.
    let (read, error) = outcome(unsafe { rw::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) });
    buffer.truncate(read.max(0) as usize);
    (buffer, error)
}

/// The flags of a descriptor that calls on it depend on.
const SEEN: c_int = libc::O_ACCMODE | libc::O_APPEND | libc::O_NONBLOCK;

fn flags_of(fd: &OwnedFd) -> c_int {
    // SAFETY: a system call without pointers.
    unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) & SEEN }
}

#[test]
fn a_known_file_is_opened_as_it_was() {
    let test = Test::new();
    let place = Place::file("again", b"what it holds");
    for _ in 0..3 {
        let fd = place.open(libc::O_RDONLY | libc::O_CLOEXEC);
        assert_eq!(
            (test.reactor().kind(fd.as_raw_fd()), test.reactor().blocking(fd.as_raw_fd())),
            (FdKind::File, Blocking::Yes)
        );
        assert_eq!(flags_of(&fd), libc::O_RDONLY);
        // SAFETY: a system call without pointers.
        assert_eq!(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) }, libc::FD_CLOEXEC);
        assert_eq!(read(&fd), (b"what it holds".to_vec(), 0));
        close(fd);
    }
    for flags in [
        libc::O_RDWR,
        libc::O_WRONLY | libc::O_APPEND,
        libc::O_RDONLY | libc::O_NONBLOCK,
        libc::O_RDONLY | libc::O_NOFOLLOW,
    ] {
        let fd = place.open(flags);
        assert_eq!(flags_of(&fd), flags & SEEN);
        close(fd);
    }
    place.remove();
    // SAFETY: a C string.
    assert_eq!(outcome(unsafe { file::open(place.0.as_ptr(), libc::O_RDONLY, 0) }), (-1, libc::ENOENT));
    std::fs::create_dir(place.path()).expect("a folder");
    let folder = place.open(libc::O_RDONLY);
    assert_eq!(flags_of(&folder), libc::O_RDONLY);
    assert_eq!(test.parks(), 0);
}

/// Opening it waits for a writer, which has been waiting for a reader.
#[test]
fn a_fifo_in_place_of_a_known_file_is_opened_when_its_other_end_is() {
    let test = Test::new();
    let place = Place::file("fifo", b"before");
    place.learn();
    place.becomes_fifo();
    let path = place.0.clone();
    let writer = std::rc::Rc::new(std::cell::Cell::new(-1));
    let opened = writer.clone();
    test.at_park(1, move || {
        let path = path.clone();
        let thread = std::thread::spawn(move || {
            // SAFETY: a C string.
            unsafe { libc::open(path.as_ptr(), libc::O_WRONLY) }
        });
        opened.set(thread.join().expect("it opens"));
    });
    let reader = place.open(libc::O_RDONLY);
    assert_eq!(test.last_park().call, "open");
    assert_eq!(flags_of(&reader), libc::O_RDONLY);
    assert_eq!(test.reactor().kind(reader.as_raw_fd()), FdKind::Pipe);
    // SAFETY: a byte of a constant.
    assert_eq!(unsafe { libc::write(writer.get(), c"x".as_ptr().cast(), 1) }, 1);
    assert_eq!(read(&reader), (b"x".to_vec(), 0));
    // SAFETY: the test's own.
    unsafe { libc::close(writer.get()) };
    assert_eq!(read(&reader), (Vec::new(), 0));
    close(reader);
    // Nobody reads any more.
    // SAFETY: a C string.
    let alone = unsafe { libc::open(place.0.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK) };
    assert_eq!(alone, -1);
}

/// It waits in its `open`, and is gone when ours has to be made again.
#[test]
fn a_writer_that_does_not_stay_is_not_missed() {
    let test = Test::new();
    for round in 0..50 {
        let place = Place::file("writer", b"before");
        place.learn();
        place.becomes_fifo();
        let path = place.0.clone();
        let sent: &[u8] = if round % 3 == 0 { b"" } else { b"x" };
        let writer = std::thread::spawn(move || {
            // SAFETY: a C string and a constant.
            unsafe {
                let fd = libc::open(path.as_ptr(), libc::O_WRONLY);
                let length = sent.len();
                assert_eq!(libc::write(fd, sent.as_ptr().cast(), length), length as isize);
                libc::close(fd);
            }
        });
        let flags = if round % 2 == 0 { libc::O_RDONLY } else { libc::O_RDONLY | libc::O_CLOEXEC };
        let reader = place.open(flags);
        writer.join().expect("it has left");
        assert_eq!(flags_of(&reader), libc::O_RDONLY);
        // SAFETY: a system call without pointers.
        let of_fd = unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_GETFD) };
        assert_eq!(of_fd == libc::FD_CLOEXEC, flags != libc::O_RDONLY);
        assert_eq!(read(&reader), (sent.to_vec(), 0));
        assert_eq!(read(&reader), (Vec::new(), 0));
        close(reader);
    }
    assert_eq!(test.last_park().call, "open");
}

#[test]
fn an_abandoned_open_of_such_a_fifo_leaves_no_reader() {
    let test = Test::new();
    let place = Place::file("abandoned", b"before");
    place.learn();
    place.becomes_fifo();
    let before = std::fs::read_dir("/proc/self/fd").expect("procfs").count();
    test.inject(1, Wake::Cancelled);
    // SAFETY: a C string.
    assert_eq!(outcome(unsafe { file::open(place.0.as_ptr(), libc::O_RDONLY, 0) }), (-1, libc::ECANCELED));
    assert_eq!(test.reactor().jobs(), 0);
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::open(place.0.as_ptr(), libc::O_WRONLY | libc::O_NONBLOCK) }, -1, "nobody reads");
    assert_eq!(std::fs::read_dir("/proc/self/fd").expect("procfs").count(), before);
}

#[test]
fn a_device_in_place_of_a_known_file_is_opened_as_ever() {
    let test = Test::new();
    let place = Place::file("device", b"before");
    place.learn();
    place.remove();
    std::os::unix::fs::symlink("/dev/zero", place.path()).expect("a link");
    let fd = place.open(libc::O_RDONLY);
    assert_eq!(flags_of(&fd), libc::O_RDONLY);
    assert_ne!(test.reactor().kind(fd.as_raw_fd()), FdKind::File);
    assert_eq!(read(&fd), (vec![0; 20_000], 0));
}

/// A device that is opened by a path for the first time is looked at before: by another path to a folder it would be the second.
#[test]
fn a_relative_path_is_not_known() {
    let test = Test::new();
    let folders =
        ["one", "other"].map(|name| std::env::temp_dir().join(format!("known-{name}-{}", std::process::id())));
    for folder in &folders {
        std::fs::create_dir(folder).expect("a folder");
    }
    std::fs::write(folders[0].join("name"), b"a file").expect("a file");
    std::os::unix::fs::symlink("/dev/full", folders[1].join("name")).expect("a link");
    // SAFETY: a literal; the descriptor is the test's.
    let opens = unsafe {
        let watch = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
        assert!(libc::inotify_add_watch(watch, c"/dev/full".as_ptr(), libc::IN_OPEN | libc::IN_CLOSE) >= 0);
        OwnedFd::from_raw_fd(watch)
    };
    for folder in [&folders[0], &folders[0], &folders[1]] {
        std::env::set_current_dir(folder).expect("there");
        // SAFETY: a literal.
        let fd = unsafe { file::open(c"name".as_ptr(), libc::O_RDONLY, 0) };
        // SAFETY: new.
        close(unsafe { OwnedFd::from_raw_fd(fd) });
    }
    std::env::set_current_dir("/").expect("there");
    let mut events = [0_u8; 4096];
    // SAFETY: a buffer of that size.
    let read = test.outside(|| unsafe { libc::read(opens.as_raw_fd(), events.as_mut_ptr().cast(), events.len()) });
    assert_eq!(read, 2 * size_of::<libc::inotify_event>() as isize, "it was opened and closed once");
    for folder in &folders {
        std::fs::remove_dir_all(folder).expect("removed");
    }
}

/// What is appended after the first read shows only to those that ask the kernel.
#[test]
fn the_end_of_a_file_that_is_read_whole_is_looked_for_once() {
    let test = Test::new();
    let place = Place::file("whole", b"first");
    if !place.is_on_device() {
        return;
    }
    for known in [false, true] {
        test.read_whole(true);
        let fd = place.open(libc::O_RDONLY);
        let first = read(&fd).0;
        place.append(b"+");
        assert_eq!([read(&fd), read(&fd)], [(Vec::new(), 0), (Vec::new(), 0)]);
        assert_eq!(read(&fd), (b"+".to_vec(), 0), "{known} {first:?}: never for ever");
        // The number is another file's.
        close(fd);
        test.read_whole(false);
        let fd = place.open(libc::O_RDONLY);
        assert_eq!(read(&fd).0, [&first[..], b"+"].concat());
        place.append(b"-");
        assert_eq!(read(&fd), (b"-".to_vec(), 0), "it is not read whole");
        close(fd);
    }
    // An empty read is an end, too.
    test.read_whole(true);
    let empty = Place::file("empty", b"");
    let fd = empty.open(libc::O_RDONLY);
    assert_eq!(read(&fd), (Vec::new(), 0));
    empty.append(b"more");
    assert_eq!([read(&fd), read(&fd)], [(Vec::new(), 0), (Vec::new(), 0)]);
    assert_eq!(read(&fd), (b"more".to_vec(), 0));
    // Reads with an offset ask.
    empty.append(b"!");
    let mut byte = 0_u8;
    // SAFETY: one byte.
    assert_eq!(unsafe { rw::pread(fd.as_raw_fd(), (&raw mut byte).cast(), 1, 4) }, 1);
}

/// Shared memory is on no block device.
#[test]
fn a_file_that_is_read_whole_has_no_flag_that_its_file_system_could_see() {
    let test = Test::new();
    test.read_whole(true);
    let path = CString::new(format!("/dev/shm/known-{}", std::process::id())).expect("a path");
    let place = Place(path);
    std::fs::write(place.path(), b"its bytes").expect("a file");
    for _ in 0..2 {
        let fd = place.open(libc::O_RDONLY);
        assert_eq!(flags_of(&fd), libc::O_RDONLY);
        assert_ne!(read(&fd), (Vec::new(), 0));
        assert_eq!(read(&fd), (Vec::new(), 0));
        place.append(b"more");
        assert_eq!(read(&fd), (b"more".to_vec(), 0), "nor is its end seen once only");
        close(fd);
    }
}

/// What procfs returns is short at any place, the first time too, when it is not known yet that it does not support `RWF_NOWAIT`.
#[test]
fn a_short_read_of_procfs_is_not_its_end() {
    let test = Test::new();
    test.read_whole(true);
    let place = std::mem::ManuallyDrop::new(Place(c"/proc/self/smaps".to_owned()));
    for _ in 0..2 {
        let fd = place.open(libc::O_RDONLY);
        let mut all = Vec::new();
        loop {
            let part = read(&fd).0;
            if part.is_empty() {
                break;
            }
            all.extend(part);
        }
        let maps = |bytes: &[u8]| bytes.windows(7).filter(|word| word == b"VmFlags").count();
        let expected = maps(&std::fs::read(place.path()).expect("procfs"));
        // A read has a page of it or so. Some may come and go meanwhile.
        assert!(expected > 20 && maps(&all) > expected / 2, "{} of {expected} mappings", maps(&all));
        close(fd);
    }
}

/// Opens the file, reads it once and closes it. Returns the descriptor's number and generation.
fn read_once(test: &Test, place: &Place, whole: bool) -> (RawFd, u32) {
    test.read_whole(whole);
    let fd = place.open(libc::O_RDONLY);
    let number = (fd.as_raw_fd(), test.reactor().generation(fd.as_raw_fd()));
    assert_eq!(read(&fd), (b"its bytes".to_vec(), 0));
    close(fd);
    number
}

/// A descriptor of another event loop can have the number and the generation of one that was read.
#[test]
fn a_file_begins_at_its_beginning() {
    let place = Place::file("beginning", b"its bytes");
    let numbers = [true, false, true].map(|whole| read_once(&Test::new(), &place, whole));
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
}

/// So does one that has the number of a file whose end is known.
#[test]
fn what_is_known_of_an_end_goes_with_the_descriptor() {
    let test = Test::new();
    let place = Place::file("number", b"its bytes");
    let numbers = [true, false, true].map(|whole| read_once(&test, &place, whole).0);
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
}

/// Pages end where the cache may, too.
#[test]
fn what_ends_with_a_page_may_go_on() {
    let test = Test::new();
    test.read_whole(true);
    let place = Place::file("pages", &[7; 8192]);
    if !place.is_on_device() {
        return;
    }
    let fd = place.open(libc::O_RDONLY);
    assert_eq!(read(&fd).0.len(), 8192);
    place.append(&[8; 100]);
    assert_eq!(read(&fd), (vec![8; 100], 0), "no read has come short of its page");
    place.append(b"9");
    assert_eq!(read(&fd), (Vec::new(), 0), "this one has");
}

/// Others see a file that is being read: that one only.
#[test]
fn files_of_others_are_read_on() {
    let test = Test::new();
    let place = Place::file("others", b"one");
    let other = place.open(libc::O_RDONLY);
    test.read_whole(true);
    let fd = place.open(libc::O_RDONLY);
    assert_eq!((read(&fd).0, read(&other).0), (b"one".to_vec(), b"one".to_vec()));
    let path = place.path().to_owned();
    soon(move || std::fs::OpenOptions::new().append(true).open(path).map(drop).expect("opened")).join().expect("done");
    place.append(b"two");
    assert_eq!(read(&other).0, b"two");
}
