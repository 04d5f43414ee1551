//! Children: `wait*`, `pclose`, `system`.

mod common;

use common::{Test, outcome};
use libc::{c_int, pid_t};
use spindle_interpose::hooks::process;
use spindle_interpose::host::{Wake, errno};
use std::ffi::CString;
use std::time::{Duration, Instant};

/// A child that ends with `code` after `ms`.
fn child(ms: u32, code: c_int) -> pid_t {
    // SAFETY: the child makes system calls only.
    unsafe {
        match libc::fork() {
            0 => {
                libc::usleep(ms * 1_000);
                libc::_exit(code)
            }
            pid => pid,
        }
    }
}

fn waitpid(pid: pid_t, options: c_int) -> (pid_t, i32, c_int) {
    let mut status = -1;
    // SAFETY: a place for the status.
    let (found, error) = outcome(unsafe { process::waitpid(pid, &mut status, options) });
    (found, error, if found > 0 { libc::WEXITSTATUS(status) } else { status })
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("procfs").count()
}

/// Waits until a child has ended, and leaves it to be reaped.
fn until_ended(pid: libc::pid_t) {
    // SAFETY: our own child, and a place for what is told of it.
    unsafe {
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        assert_eq!(libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT), 0);
    }
}

/// A child that ends with `code` at the first park from now on.
fn child_until_park(test: &Test, code: c_int) -> pid_t {
    let mut pipe = [0; 2];
    // SAFETY: room for two.
    assert_eq!(unsafe { libc::pipe2(pipe.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    let [reader, writer] = pipe;
    // SAFETY: the child makes system calls only. It reads until all writers are closed, its own first.
    let pid = unsafe {
        match libc::fork() {
            0 => {
                libc::close(writer);
                libc::read(reader, [0u8; 1].as_mut_ptr().cast(), 1);
                libc::_exit(code)
            }
            pid => pid,
        }
    };
    // SAFETY: our own descriptor.
    unsafe { libc::close(reader) };
    test.at_park(1, move || {
        // SAFETY: as above; it happens once.
        unsafe { libc::close(writer) };
    });
    pid
}

/// A FIFO, which a shell reads until the first park from now on.
fn fifo_until_park(test: &Test) -> String {
    let path = format!("{}/spindle-fifo-{}-{}", std::env::temp_dir().display(), std::process::id(), test.parks());
    let name = CString::new(path.clone()).expect("no zero");
    // SAFETY: a C string.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    test.at_park(1, move || {
        // SAFETY: a C string.
        let writer = unsafe { libc::open(name.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC) }; // when the shell has opened it
        assert!(writer >= 0);
        // SAFETY: as above; it happens once.
        unsafe { libc::close(writer) };
        let _ = std::fs::remove_file(name.to_str().expect("UTF-8"));
    });
    path
}

#[test]
fn one_child_is_waited_for_by_its_pidfd() {
    let test = Test::new();
    let before = descriptors();
    let pid = child_until_park(&test, 7);
    assert_eq!(waitpid(pid, libc::WNOHANG).0, 0);
    assert_eq!(waitpid(pid, 0), (pid, 0, 7));
    assert_eq!(test.parks(), 1);
    assert!(test.last_park().fd >= 0);
    assert_eq!(descriptors(), before, "the pidfd is closed");
    assert_eq!(waitpid(pid, 0), (-1, libc::ECHILD, -1));
    let pid = child(0, 3);
    until_ended(pid);
    assert_eq!(waitpid(pid, 0), (pid, 0, 3));
    assert_eq!(test.parks(), 1, "an ended one needs no waiting");
}

#[test]
fn any_child_is_waited_for_by_the_signal() {
    let test = Test::new();
    let pid = child_until_park(&test, 4);
    assert_eq!(waitpid(-1, 0), (pid, 0, 4));
    assert!(test.parks() >= 1);
    let pid = child_until_park(&test, 5);
    let mut status = 0;
    // SAFETY: places of our own.
    unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        usage.ru_maxrss = -1;
        assert_eq!(process::wait3(&mut status, 0, &mut usage), pid);
        assert_eq!(libc::WEXITSTATUS(status), 5);
        assert!(usage.ru_maxrss >= 0, "filled");
        let pid = child_until_park(&test, 6);
        assert_eq!(process::wait(&mut status), pid);
        let pid = child_until_park(&test, 7);
        assert_eq!(process::wait4(0, &mut status, 0, &mut usage), pid);
        assert_eq!(outcome(process::wait(&mut status)), (-1, libc::ECHILD));
    }
}

#[test]
fn a_lost_signal_delays_only() {
    let test = Test::new();
    // Somebody else's handler, set behind our back after ours was.
    test.at_park(1, || {
        extern "C" fn nothing(_: c_int) {}
        // SAFETY: a handler that does nothing.
        unsafe { libc::signal(libc::SIGCHLD, nothing as *const () as usize) };
    });
    let pid = child_until_park(&test, 1); // after that
    assert_eq!(waitpid(-1, 0), (pid, 0, 1));
    // SAFETY: the default is put back.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

#[test]
fn waits_that_end_early_say_why() {
    let test = Test::new();
    let pid = child(600_000, 0);
    for any in [pid, -1] {
        test.inject(1, Wake::Cancelled);
        assert_eq!(waitpid(any, 0), (-1, libc::ECANCELED, -1));
        test.inject(1, Wake::Interrupted);
        assert_eq!(waitpid(any, 0), (-1, libc::EINTR, -1));
    }
    // SAFETY: our own child.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    assert_eq!(waitpid(pid, 0), (pid, 0, 0));
    // A child that has ended comes before the signal that tells of it.
    let pid = child(0, 9);
    until_ended(pid);
    test.inject(1, Wake::Interrupted);
    assert_eq!(waitpid(pid, 0), (pid, 0, 9));
}

#[test]
fn stopped_children_are_told_of() {
    let _test = Test::new();
    let pid = child(10_000, 0);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        // SAFETY: no pointers.
        unsafe { libc::kill(pid, libc::SIGSTOP) };
    });
    let mut status = 0;
    // SAFETY: a place for the status.
    unsafe {
        assert_eq!(process::waitpid(pid, &mut status, libc::WUNTRACED), pid);
        assert!(libc::WIFSTOPPED(status));
        libc::kill(pid, libc::SIGKILL);
        assert_eq!(process::waitpid(pid, &mut status, 0), pid);
        assert!(libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL);
    }
}

#[test]
fn waitid_fills_its_answer() {
    let test = Test::new();
    let pid = child_until_park(&test, 11);
    // SAFETY: places of our own.
    unsafe {
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        assert_eq!(process::waitid(libc::P_PID, pid as u32, &mut info, libc::WEXITED | libc::WNOWAIT), 0);
        assert_eq!((info.si_pid(), info.si_status()), (pid, 11));
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        assert_eq!(process::waitid(libc::P_ALL, 0, &mut info, libc::WEXITED), 0);
        assert_eq!((info.si_pid(), info.si_status()), (pid, 11));
        assert_eq!(outcome(process::waitid(libc::P_ALL, 0, &mut info, libc::WEXITED)), (-1, libc::ECHILD));
    }
    assert_eq!(test.parks(), 1);
}

#[test]
fn pclose_gives_the_status() {
    let test = Test::new();
    let gate = fifo_until_park(&test);
    let command = CString::new(format!("read line <{gate}; exit 5")).expect("no zero");
    // SAFETY: C strings; each stream is closed once.
    unsafe {
        let stream = process::popen(command.as_ptr(), c"r".as_ptr());
        assert_eq!(libc::WEXITSTATUS(process::pclose(stream)), 5);
        assert_eq!(test.last_park().call, "pclose");
        let stream = process::popen(c"exec sleep 2".as_ptr(), c"r".as_ptr());
        test.inject(1, Wake::Cancelled);
        let started = Instant::now();
        assert_eq!(outcome(process::pclose(stream)), (-1, libc::ECANCELED));
        // It is asked for, and not taken from the worker.
        let asked = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        let mut info = std::mem::zeroed::<libc::siginfo_t>();
        assert_eq!((libc::waitid(libc::P_ALL, 0, &mut info, asked), info.si_pid()), (0, 0), "it runs on");
        while libc::waitid(libc::P_ALL, 0, &mut info, asked) == 0 {
            assert!(started.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(errno(), libc::ECHILD, "reaped by the worker");
    }
}

#[test]
fn system_is_as_it_is() {
    let test = Test::new();
    for command in [c"exit 3", c"kill -TERM $$", c"/nowhere/at/all 2>/dev/null"] {
        // SAFETY: C strings.
        let (hooked, plain) = unsafe { (process::system(command.as_ptr()), libc::system(command.as_ptr())) };
        assert_eq!(hooked, plain, "{command:?}");
    }
    // SAFETY: a null command only asks.
    assert_ne!(unsafe { process::system(std::ptr::null()) }, 0);
    // SAFETY: asking only.
    let interrupt = || unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(libc::SIGINT, std::ptr::null(), &mut action);
        action.sa_sigaction
    };
    let before = interrupt(); // a background job of a shell ignores it
    let parks = test.parks();
    test.at_park(1, move || assert_eq!(interrupt(), libc::SIG_IGN));
    // The shell's signals are not ignored and not blocked.
    let command = format!("read line <{}; kill -TERM $$; exit 1", fifo_until_park(&test));
    let command = CString::new(command).expect("no zero");
    // SAFETY: a C string.
    let status = unsafe { process::system(command.as_ptr()) };
    assert!(test.parks() > parks);
    assert_eq!(libc::WTERMSIG(status), libc::SIGTERM);
    assert_eq!(interrupt(), before);
    test.inject(1, Wake::Cancelled);
    // SAFETY: a C string.
    assert_eq!(unsafe { process::system(c"sleep 5".as_ptr()) }, -1);
    assert_eq!(errno(), libc::ECANCELED);
    assert_eq!(waitpid(-1, libc::WNOHANG).1, libc::ECHILD, "killed and reaped");
}
