//! POSIX message queues.

mod common;

use common::{Test, outcome};
use libc::{c_char, c_int, c_uint, mq_attr, timespec};
use spindle_interpose::hooks::ipc::mqueue;
use spindle_interpose::host::{Wake, errno, set_errno};
use std::ffi::CString;
use std::ptr::{null, null_mut};
use std::time::Duration;

struct Queue {
    fd: c_int,
    name: CString,
}

impl Queue {
    /// With room for two messages of eight bytes.
    fn new(name: &str, flags: c_int) -> Queue {
        let name = CString::new(format!("/spindle-test-{name}-{}", std::process::id())).expect("a name");
        // SAFETY: attributes of our own.
        let fd = unsafe {
            let mut attributes: mq_attr = std::mem::zeroed();
            (attributes.mq_maxmsg, attributes.mq_msgsize) = (2, 8);
            mqueue::mq_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL | libc::O_RDWR | flags, 0o600, &mut attributes)
        };
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        Queue { fd, name }
    }

    fn send(&self, byte: u8) -> (c_int, i32) {
        // SAFETY: eight bytes.
        outcome(unsafe { mqueue::mq_send(self.fd, [byte as c_char; 8].as_ptr(), 8, 1) })
    }

    fn receive(&self, until: Option<timespec>) -> ((isize, i32), u8, c_uint) {
        let (mut place, mut priority) = ([0 as c_char; 8], 9);
        let until = until.as_ref().map_or(null(), std::ptr::from_ref);
        // SAFETY: places and a time of our own.
        let result = unsafe { mqueue::mq_timedreceive(self.fd, place.as_mut_ptr(), 8, &mut priority, until) };
        (outcome(result), place[7] as u8, priority)
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: ours.
        unsafe {
            mqueue::mq_close(self.fd);
            libc::mq_unlink(self.name.as_ptr());
        }
    }
}

fn in_ms(ms: i64) -> timespec {
    let mut now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a place of our own.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &mut now) };
    let ns = now.tv_nsec + ms * 1_000_000;
    timespec { tv_sec: now.tv_sec + ns.div_euclid(1_000_000_000), tv_nsec: ns.rem_euclid(1_000_000_000) }
}

#[test]
fn messages_come_and_go() {
    let test = Test::new();
    let queue = Queue::new("go", 0);
    set_errno(5);
    assert_eq!(queue.send(b'a'), (0, 0));
    assert_eq!(queue.receive(None), ((8, 0), b'a', 1));
    assert_eq!((errno(), test.parks()), (5, 0));
    // Waited for, from another thread.
    let fd = queue.fd;
    test.at_park(1, move || {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            // SAFETY: eight bytes.
            unsafe { libc::mq_send(fd, [b'b' as c_char; 8].as_ptr(), 8, 3) }
        });
    });
    assert_eq!(queue.receive(None), ((8, 0), b'b', 3));
    assert_eq!((test.parks(), test.last_park().call), (1, "mq_receive"));
    // And room for one more.
    assert_eq!((queue.send(b'c'), queue.send(b'd')), ((0, 0), (0, 0)));
    test.at_park(1, move || {
        let mut place = [0 as c_char; 8];
        // SAFETY: a place of our own.
        assert_eq!(unsafe { mqueue::mq_receive(fd, place.as_mut_ptr(), 8, null_mut()) }, 8);
    });
    assert_eq!(queue.send(b'e'), (0, 0));
    assert_eq!((test.parks(), test.last_park().call), (2, "mq_send"));
    assert_eq!((queue.receive(None).1, queue.receive(None).1), (b'd', b'e'));
}

#[test]
fn waits_that_end_early_say_why() {
    let test = Test::new();
    let queue = Queue::new("early", 0);
    for (wake, error) in [(Wake::Cancelled, libc::ECANCELED), (Wake::Interrupted, libc::EINTR)] {
        test.inject(1, wake);
        assert_eq!(queue.receive(None).0, (-1, error));
    }
    assert_eq!(queue.receive(Some(in_ms(30))).0, (-1, libc::ETIMEDOUT));
    assert_eq!(queue.receive(Some(in_ms(-30))).0, (-1, libc::ETIMEDOUT));
    assert_eq!(queue.receive(Some(timespec { tv_sec: 0, tv_nsec: -1 })).0, (-1, libc::EINVAL));
    let mut small = [0 as c_char; 2];
    // SAFETY: a place of our own.
    let short = unsafe { mqueue::mq_receive(queue.fd, small.as_mut_ptr(), 2, null_mut()) };
    assert_eq!(outcome(short), (-1, libc::EMSGSIZE));
    let fd = queue.fd;
    test.at_park(1, move || {
        // SAFETY: the test's own, which it opens no more.
        unsafe { mqueue::mq_close(fd) };
    });
    assert_eq!(queue.receive(None).0, (-1, libc::EBADF));
    let nonblocking = Queue::new("nonblocking", libc::O_NONBLOCK);
    let parks = test.parks();
    assert_eq!(nonblocking.receive(None).0, (-1, libc::EAGAIN));
    assert_eq!(test.parks(), parks);
}
