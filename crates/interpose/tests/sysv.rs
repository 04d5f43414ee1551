//! System V semaphores and message queues.

mod common;

use common::{Test, outcome};
use libc::{c_int, c_long, sembuf, timespec};
use spindle_interpose::hooks::ipc::sysv;
use spindle_interpose::host::{Wake, errno, set_errno};
use spindle_reactor::Reactor;
use std::ptr::null_mut;

const UNDO: i16 = libc::SEM_UNDO as i16;
const NOWAIT: i16 = libc::IPC_NOWAIT as i16;

struct Semaphores(c_int);

impl Semaphores {
    fn new(values: &[c_int]) -> Semaphores {
        // SAFETY: numbers only.
        let set = unsafe { libc::semget(libc::IPC_PRIVATE, values.len() as c_int, libc::IPC_CREAT | 0o600) };
        assert!(set >= 0);
        let new = Semaphores(set);
        for (number, value) in values.iter().enumerate() {
            // SAFETY: the union is passed as a number.
            assert_eq!(unsafe { libc::semctl(set, number as c_int, libc::SETVAL, *value) }, 0);
        }
        new
    }

    fn value(&self, number: c_int) -> c_int {
        // SAFETY: numbers only.
        unsafe { libc::semctl(self.0, number, libc::GETVAL) }
    }

    fn op(&self, ops: &[(u16, i16, i16)]) -> (c_int, i32) {
        self.timed(ops, None)
    }

    fn timed(&self, ops: &[(u16, i16, i16)], time: Option<timespec>) -> (c_int, i32) {
        let mut ops: Vec<sembuf> =
            ops.iter().map(|&(sem_num, sem_op, sem_flg)| sembuf { sem_num, sem_op, sem_flg }).collect();
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: a list and a time of our own.
        outcome(unsafe { sysv::semtimedop(self.0, ops.as_mut_ptr(), ops.len(), time) })
    }
}

impl Drop for Semaphores {
    fn drop(&mut self) {
        // SAFETY: numbers only.
        unsafe { libc::semctl(self.0, 0, libc::IPC_RMID) };
    }
}

/// A child that does this and ends; system calls only.
fn child(then: impl FnOnce()) -> libc::pid_t {
    // SAFETY: the child makes system calls only.
    unsafe {
        match libc::fork() {
            0 => {
                then();
                libc::_exit(0)
            }
            pid => pid,
        }
    }
}

fn reap(child: libc::pid_t) {
    // SAFETY: no place for the status.
    unsafe { libc::waitpid(child, null_mut(), 0) };
}

#[test]
fn what_can_be_done_is_done_at_once() {
    let test = Test::new();
    let set = Semaphores::new(&[2, 0]);
    set_errno(5);
    assert_eq!(set.op(&[(0, -1, 0), (1, 3, 0)]), (0, 0));
    assert_eq!((set.value(0), set.value(1), errno()), (1, 3, 5));
    assert_eq!(set.op(&[(0, -2, NOWAIT)]), (-1, libc::EAGAIN));
    assert_eq!(set.op(&[(7, 1, 0)]), (-1, libc::EFBIG));
    assert_eq!(set.op(&[]), (-1, libc::EINVAL));
    assert_eq!(set.op(&[(0, 32767, 0)]), (-1, libc::ERANGE));
    // SAFETY: null is refused by the kernel.
    assert_eq!(outcome(unsafe { sysv::semop(set.0, null_mut(), 1) }), (-1, libc::EFAULT));
    assert_eq!(set.timed(&[(0, -1, 0)], Some(timespec { tv_sec: 0, tv_nsec: -1 })), (-1, libc::EINVAL));
    assert_eq!(test.parks(), 0);
}

#[test]
fn a_release_of_this_process_ends_the_wait_at_once() {
    let test = Test::new();
    let set = Semaphores::new(&[0]);
    let number = set.0;
    test.at_park(1, move || {
        let mut op = sembuf { sem_num: 0, sem_op: 1, sem_flg: 0 };
        // SAFETY: one operation.
        assert_eq!(unsafe { sysv::semop(number, &mut op, 1) }, 0);
    });
    assert_eq!(set.op(&[(0, -1, UNDO)]), (0, 0));
    assert_eq!((test.parks(), set.value(0), test.last_park().call), (1, 0, "semtimedop"));
}

#[test]
fn another_process_is_looked_for() {
    let test = Test::new();
    let set = Semaphores::new(&[0, 1, 0]);
    let number = set.0;
    let other = child(|| {
        // SAFETY: one operation of its own, which is undone by its end; then it lets go.
        unsafe {
            let mut take = sembuf { sem_num: 1, sem_op: -1, sem_flg: UNDO };
            libc::semop(number, &mut take, 1);
            let mut tell = sembuf { sem_num: 0, sem_op: 1, sem_flg: 0 };
            libc::semop(number, &mut tell, 1);
            let mut go_on = sembuf { sem_num: 2, sem_op: -1, sem_flg: 0 };
            libc::semop(number, &mut go_on, 1);
        }
    });
    assert_eq!(set.op(&[(0, -1, 0)]), (0, 0));
    test.at_park(3, move || {
        let mut go_on = sembuf { sem_num: 2, sem_op: 1, sem_flg: 0 };
        // SAFETY: one operation of our own.
        assert_eq!(unsafe { libc::semop(number, &mut go_on, 1) }, 0);
    });
    assert_eq!(set.op(&[(1, -1, UNDO)]), (0, 0), "undone when it ended");
    assert!(test.parks() > 2, "by the timer");
    reap(other);
}

#[test]
fn waits_that_end_early_say_why_and_change_nothing() {
    let test = Test::new();
    let set = Semaphores::new(&[1, 0]);
    for (wake, error) in [(Wake::Cancelled, libc::ECANCELED), (Wake::Interrupted, libc::EINTR)] {
        test.inject(1, wake);
        assert_eq!(set.op(&[(0, -1, UNDO), (1, -1, UNDO)]), (-1, error));
        assert_eq!((set.value(0), set.value(1)), (1, 0));
    }
    let start = Reactor::now();
    assert_eq!(set.timed(&[(1, -1, 0)], Some(timespec { tv_sec: 0, tv_nsec: 30_000_000 })), (-1, libc::EAGAIN));
    assert!(Reactor::now() - start >= 30_000_000);
    let number = set.0;
    test.at_park(1, move || {
        // SAFETY: numbers only.
        unsafe { libc::semctl(number, 0, libc::IPC_RMID) };
    });
    assert_eq!(set.op(&[(1, -1, 0)]), (-1, libc::EIDRM));
}

#[test]
fn of_mixed_operations_the_first_in_the_way_decides() {
    let test = Test::new();
    let set = Semaphores::new(&[1, 0, 0]);
    // The one that must not wait is in the way.
    assert_eq!(set.op(&[(0, -1, 0), (1, -1, NOWAIT)]), (-1, libc::EAGAIN));
    assert_eq!(set.op(&[(0, 0, NOWAIT), (1, -1, 0)]), (-1, libc::EAGAIN));
    assert_eq!(set.op(&[(0, -1, 0), (0, -1, NOWAIT)]), (-1, libc::EAGAIN), "the same one twice");
    assert_eq!(test.parks(), 0);
    // Another one is first.
    test.inject(1, Wake::Cancelled);
    assert_eq!(set.op(&[(1, -1, 0), (2, -1, NOWAIT)]), (-1, libc::ECANCELED));
    assert_eq!(set.value(0), 1);
}

#[repr(C)]
struct Message {
    kind: c_long,
    text: [u8; 8],
}

struct Messages(c_int);

impl Messages {
    fn new() -> Messages {
        // SAFETY: numbers only.
        let queue = unsafe { libc::msgget(libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) };
        assert!(queue >= 0);
        Messages(queue)
    }

    fn room_for(&self, messages: usize) {
        // SAFETY: filled by the first call.
        unsafe {
            let mut state = std::mem::zeroed::<libc::msqid_ds>();
            libc::msgctl(self.0, libc::IPC_STAT, &mut state);
            state.msg_qbytes = messages as u64 * 8;
            assert_eq!(libc::msgctl(self.0, libc::IPC_SET, &mut state), 0);
        }
    }

    fn send(&self, kind: c_long, byte: u8, flags: c_int) -> (c_int, i32) {
        let message = Message { kind, text: [byte; 8] };
        // SAFETY: a message of ours.
        outcome(unsafe { sysv::msgsnd(self.0, (&raw const message).cast(), 8, flags) })
    }

    fn receive(&self, kind: c_long, flags: c_int) -> ((isize, i32), c_long, u8) {
        let mut message = Message { kind: 0, text: [0; 8] };
        // SAFETY: a place of ours.
        let result = outcome(unsafe { sysv::msgrcv(self.0, (&raw mut message).cast(), 8, kind, flags) });
        (result, message.kind, message.text[7])
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        // SAFETY: numbers only.
        unsafe { libc::msgctl(self.0, libc::IPC_RMID, null_mut()) };
    }
}

#[test]
fn messages_are_waited_for_by_their_kind() {
    let test = Test::new();
    let queue = Messages::new();
    assert_eq!(queue.receive(0, libc::IPC_NOWAIT).0, (-1, libc::ENOMSG));
    assert_eq!(queue.send(3, b'a', 0), (0, 0));
    assert_eq!(queue.receive(3, 0), ((8, 0), 3, b'a'));
    assert_eq!(test.parks(), 0);
    let number = queue.0;
    let send = move |kind: c_long, byte: u8| {
        let message = Message { kind, text: [byte; 8] };
        // SAFETY: a message of ours.
        assert_eq!(unsafe { sysv::msgsnd(number, (&raw const message).cast(), 8, 0) }, 0);
    };
    test.at_park(1, move || send(1, b'b'));
    test.at_park(2, move || send(2, b'c'));
    assert_eq!(queue.receive(2, 0), ((8, 0), 2, b'c'));
    assert_eq!((test.parks(), test.last_park().call), (2, "msgrcv"));
    assert_eq!(queue.receive(0, 0), ((8, 0), 1, b'b'), "left where it was");
}

#[test]
fn a_full_queue_is_waited_for() {
    let test = Test::new();
    let queue = Messages::new();
    queue.room_for(2);
    assert_eq!((queue.send(1, b'a', 0), queue.send(1, b'b', 0)), ((0, 0), (0, 0)));
    assert_eq!(queue.send(1, b'c', libc::IPC_NOWAIT), (-1, libc::EAGAIN));
    let number = queue.0;
    let (mut go, mut byte) = ([0; 2], 0u8);
    // SAFETY: a place for two descriptors.
    assert_eq!(unsafe { libc::pipe(go.as_mut_ptr()) }, 0);
    let other = child(|| {
        let mut message = Message { kind: 0, text: [0; 8] };
        // SAFETY: a place of its own.
        unsafe {
            libc::read(go[0], (&raw mut byte).cast(), 1);
            libc::msgrcv(number, (&raw mut message).cast(), 8, 0, 0);
        }
    });
    let go = go[1];
    test.at_park(2, move || {
        // SAFETY: a byte of a constant.
        assert_eq!(unsafe { libc::write(go, c"x".as_ptr().cast(), 1) }, 1);
    });
    assert_eq!(queue.send(1, b'c', 0), (0, 0));
    assert!(test.parks() > 1);
    reap(other);
    assert_eq!((queue.receive(0, 0).2, queue.receive(0, 0).2), (b'b', b'c'));
    for (wake, error) in [(Wake::Cancelled, libc::ECANCELED), (Wake::Interrupted, libc::EINTR)] {
        test.inject(1, wake);
        assert_eq!(queue.receive(0, 0).0, (-1, error));
    }
    test.at_park(1, move || {
        // SAFETY: numbers only.
        unsafe { libc::msgctl(number, libc::IPC_RMID, null_mut()) };
    });
    assert_eq!(queue.receive(0, 0).0, (-1, libc::EIDRM));
}
