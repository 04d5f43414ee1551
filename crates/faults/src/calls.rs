//! The functions that stand in for libc's. Each asks the plan, and is a plain call unless the plan says otherwise.

use crate::plan::{What, decide};
use libc::{
    c_char, c_int, c_long, c_uint, c_void, iovec, mode_t, msghdr, off_t, pollfd, size_t, sockaddr, socklen_t, ssize_t,
};
use spindle_interpose::patch::Hook;
use std::cell::RefCell;
use std::collections::BTreeMap;

macro_rules! names {
    ($($name:ident)*) => {
        /// What the plan and the report call it. Variants of one call (`open64`, `accept4`) share a name.
        #[allow(non_camel_case_types, reason = "the names of C")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum Call { $($name),* }

        impl Call {
            pub const ALL: &[Self] = &[$(Self::$name),*];
            pub const COUNT: usize = Self::ALL.len();

            pub fn name(self) -> &'static str {
                match self { $(Self::$name => stringify!($name)),* }
            }
        }
    };
}

names! {
    read write readv writev pread pwrite preadv preadv2 pwritev pwritev2 recv recvfrom recvmsg send sendto sendmsg
    accept connect close flock lockf fsync fdatasync epoll_ctl
    socket socketpair pipe dup fcntl_dup fcntl_lock open fork epoll_create eventfd mmap mprotect madvise
    pthread_create posix_spawn getaddrinfo waitpid poll select epoll_wait pidfd_open
}

impl Call {
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|call| call.name() == name)
    }
}

fn fail<T: From<i8>>(error: i32) -> T {
    // SAFETY: the address of this thread's errno is always valid.
    unsafe { *libc::__errno_location() = error };
    T::from(-1)
}

/// What kind of descriptor it is (`S_IF…`), 0 for those without one: eventfd, epoll and their like.
fn kind(fd: c_int) -> mode_t {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: a buffer of the right size, read only when it was filled.
    unsafe { if libc::fstat(fd, stat.as_mut_ptr()) == 0 { stat.assume_init().st_mode & libc::S_IFMT } else { 0 } }
}

fn option(fd: c_int, name: c_int) -> c_int {
    let (mut value, mut length): (c_int, socklen_t) = (-1, 4);
    // SAFETY: an int and its length, which live through the call.
    unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut length) };
    value
}

/// Returns `true` if a call on a stream socket may transfer less than possible. Reading from TCP fills the buffer as far as
/// there is data: users of edge-triggered readiness may conclude from less that there is no more (epoll(7)).
fn may_be_short(fd: c_int, call: Call) -> bool {
    let gives = matches!(call, Call::read | Call::readv | Call::recv | Call::recvfrom);
    let tcp = || matches!(option(fd, libc::SO_DOMAIN), libc::AF_INET | libc::AF_INET6);
    option(fd, libc::SO_TYPE) == libc::SOCK_STREAM && !(gives && tcp())
}

/// Returns `true` if a call on this descriptor can fail thus. `EAGAIN` is not one of these: edge-triggered readiness relies on it
/// being returned only when there is nothing.
fn possible(call: Call, fd: c_int, what: What) -> bool {
    match (kind(fd), what) {
        (0, _) | (_, What::Ready | What::Stale | What::Error(libc::EAGAIN)) => false,
        (libc::S_IFSOCK, What::Short) => may_be_short(fd, call),
        (libc::S_IFSOCK, What::Error(error)) => !matches!(error, libc::EIO | libc::ENOSPC),
        (libc::S_IFIFO, What::Error(error)) => matches!(error, libc::EINTR | libc::EPIPE | libc::ENOMEM),
        (_, What::Error(error)) => !matches!(error, libc::ECONNRESET | libc::EPIPE | libc::ETIMEDOUT),
        (_, What::Short) => true,
    }
}

/// The call on `fd` fails. A lost connection is lost for both sides.
fn lost<T: From<i8>>(fd: c_int, error: i32) -> T {
    if matches!(error, libc::ECONNRESET | libc::EPIPE | libc::ETIMEDOUT) && kind(fd) == libc::S_IFSOCK {
        // SAFETY: a system call without pointers.
        unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
    }
    fail(error)
}

fn shorter(length: size_t) -> size_t {
    length.div_ceil(2)
}

macro_rules! has_length {
    () => {
        false
    };
    ($length:ident) => {
        true
    };
}

/// Calls whose first argument is a descriptor; `short` names the one that says how much.
macro_rules! on_descriptors {
    ($($name:ident($fd:ident: c_int $(, $arg:ident: $type:ty)*) -> $ret:ty $(, short $length:ident)?;)*) => { $(
        unsafe extern "C" fn $name($fd: c_int $(, $arg: $type)*) -> $ret {
            let able = |what| possible(Call::$name, $fd, what) && (what != What::Short || has_length!($($length)?));
            let planned = decide(Call::$name, able);
            if let Some(What::Error(error)) = planned {
                return lost($fd, error);
            }
            $(let $length = if planned == Some(What::Short) { shorter($length) } else { $length };)?
            // SAFETY: the caller's own arguments, or a part of what they name.
            unsafe { libc::$name($fd $(, $arg)*) }
        }
    )* };
}

on_descriptors! {
    read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t, short length;
    write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t, short length;
    pread(fd: c_int, buffer: *mut c_void, length: size_t, offset: off_t) -> ssize_t, short length;
    pwrite(fd: c_int, buffer: *const c_void, length: size_t, offset: off_t) -> ssize_t, short length;
    recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t, short length;
    send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t, short length;
    recvfrom(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int, from: *mut sockaddr, room: *mut socklen_t)
        -> ssize_t, short length;
    sendto(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int, to: *const sockaddr, size: socklen_t)
        -> ssize_t, short length;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    flock(fd: c_int, operation: c_int) -> c_int;
    lockf(fd: c_int, operation: c_int, length: off_t) -> c_int;
    fsync(fd: c_int) -> c_int;
    fdatasync(fd: c_int) -> c_int;
}

/// A list of pieces: a short one ends in the middle of the first.
fn first(iov: *const iovec, count: c_int) -> Option<iovec> {
    // SAFETY: the caller's list, which the kernel would read too; a list that is empty or null is not read.
    let piece = if count > 0 && !iov.is_null() { unsafe { *iov } } else { return None };
    (piece.iov_len > 0).then_some(iovec { iov_base: piece.iov_base, iov_len: shorter(piece.iov_len) })
}

macro_rules! on_lists {
    ($($name:ident($fd:ident, $iov:ident, $count:ident $(, $arg:ident: $type:ty)*) $(, waits not by $flags:ident)?;)*) => { $(
        unsafe extern "C" fn $name($fd: c_int, $iov: *const iovec, $count: c_int $(, $arg: $type)*) -> ssize_t {
            let flags: c_int = 0 $(| $flags)?;
            let able = |what| match what {
                // A read that a file cannot serve immediately may be refused at any time.
                What::Error(libc::EAGAIN) => flags & libc::RWF_NOWAIT != 0 && kind($fd) == libc::S_IFREG,
                What::Error(libc::EOPNOTSUPP) => flags != 0,
                what => possible(Call::$name, $fd, what),
            };
            match decide(Call::$name, able) {
                Some(What::Error(error)) => lost($fd, error),
                Some(What::Short) => {
                    let piece = first($iov, $count);
                    let (iov, count) = piece.as_ref().map_or(($iov, $count), |piece| (std::ptr::from_ref(piece), 1));
                    // SAFETY: the caller's own arguments; a list of ours names a part of theirs.
                    unsafe { libc::$name($fd, iov, count $(, $arg)*) }
                }
                // SAFETY: the caller's own arguments.
                _ => unsafe { libc::$name($fd, $iov, $count $(, $arg)*) },
            }
        }
    )* };
}

on_lists! {
    readv(fd, iov, count);
    writev(fd, iov, count);
    preadv(fd, iov, count, offset: off_t);
    pwritev(fd, iov, count, offset: off_t);
    preadv2(fd, iov, count, offset: off_t, flags: c_int), waits not by flags;
    pwritev2(fd, iov, count, offset: off_t, flags: c_int), waits not by flags;
}

fn error_only(what: What) -> bool {
    matches!(what, What::Error(_))
}

/// Calls that fail before they have done anything.
macro_rules! that_make {
    ($($symbol:ident as $call:ident($($arg:ident: $type:ty),*) -> $ret:ty, fails by $fail:expr;)*) => { $(
        unsafe extern "C" fn $symbol($($arg: $type),*) -> $ret {
            match decide(Call::$call, error_only) {
                Some(What::Error(error)) => $fail(error),
                // SAFETY: the caller's own arguments.
                _ => unsafe { libc::$symbol($($arg),*) },
            }
        }
    )* };
}

fn map_failed(error: c_int) -> *mut c_void {
    fail::<i32>(error);
    libc::MAP_FAILED
}

that_make! {
    accept as accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int, fails by fail;
    accept4 as accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int, fails by fail;
    socket as socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, fails by fail;
    socketpair as socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut c_int) -> c_int, fails by fail;
    pipe as pipe(ends: *mut c_int) -> c_int, fails by fail;
    pipe2 as pipe(ends: *mut c_int, flags: c_int) -> c_int, fails by fail;
    dup as dup(fd: c_int) -> c_int, fails by fail;
    fork as fork() -> libc::pid_t, fails by fail;
    epoll_create1 as epoll_create(flags: c_int) -> c_int, fails by fail;
    eventfd as eventfd(value: c_uint, flags: c_int) -> c_int, fails by fail;
    mmap as mmap(at: *mut c_void, length: size_t, prot: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void,
        fails by map_failed;
    mprotect as mprotect(at: *mut c_void, length: size_t, prot: c_int) -> c_int, fails by fail;
    madvise as madvise(at: *mut c_void, length: size_t, advice: c_int) -> c_int, fails by fail;
    pthread_create as pthread_create(thread: *mut libc::pthread_t, attributes: *const libc::pthread_attr_t,
        start: extern "C" fn(*mut c_void) -> *mut c_void, argument: *mut c_void) -> c_int, fails by std::convert::identity;
    getaddrinfo as getaddrinfo(node: *const c_char, service: *const c_char, hints: *const libc::addrinfo,
        found: *mut *mut libc::addrinfo) -> c_int, fails by std::convert::identity;
    posix_spawn as posix_spawn(pid: *mut libc::pid_t, path: *const c_char,
        actions: *const libc::posix_spawn_file_actions_t, attributes: *const libc::posix_spawnattr_t,
        arguments: *const *mut c_char, environment: *const *mut c_char) -> c_int, fails by std::convert::identity;
    waitpid as waitpid(pid: libc::pid_t, status: *mut c_int, options: c_int) -> libc::pid_t, fails by fail;
    wait4 as waitpid(pid: libc::pid_t, status: *mut c_int, options: c_int, usage: *mut libc::rusage) -> libc::pid_t,
        fails by fail;
    select as select(count: c_int, read: *mut libc::fd_set, write: *mut libc::fd_set, except: *mut libc::fd_set,
        timeout: *mut libc::timeval) -> c_int, fails by fail;
    pselect as select(count: c_int, read: *mut libc::fd_set, write: *mut libc::fd_set, except: *mut libc::fd_set,
        timeout: *const libc::timespec, mask: *const libc::sigset_t) -> c_int, fails by fail;
    ppoll as poll(fds: *mut pollfd, count: libc::nfds_t, timeout: *const libc::timespec, mask: *const libc::sigset_t)
        -> c_int, fails by fail;
    open as open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, fails by fail;
    openat as open(at: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, fails by fail;
}

unsafe extern "C" fn open_2(path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's own arguments; without O_CREAT, which this form excludes, no mode is read.
    unsafe { open(path, flags, 0) }
}

/// The descriptor is gone, whatever `close` says.
unsafe extern "C" fn close(fd: c_int) -> c_int {
    let planned = decide(Call::close, |what| error_only(what) && kind(fd) != 0);
    // SAFETY: the caller's own argument.
    let result = unsafe { libc::close(fd) };
    match planned {
        Some(What::Error(error)) => fail(error),
        _ => result,
    }
}

/// When it is interrupted the connection attempt continues.
unsafe extern "C" fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller's own arguments.
    let original = || unsafe { libc::connect(fd, address, length) };
    match decide(Call::connect, |what| error_only(what) && what != What::Error(libc::EAGAIN)) {
        Some(What::Error(libc::EINTR)) => {
            original();
            fail(libc::EINTR)
        }
        Some(What::Error(error)) => fail(error),
        _ => original(),
    }
}

unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    let planned = match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => decide(Call::fcntl_dup, error_only),
        libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => {
            decide(Call::fcntl_lock, |what| error_only(what) && possible(Call::fcntl_lock, fd, what))
        }
        _ => None,
    };
    match planned {
        Some(What::Error(error)) => fail(error),
        // SAFETY: the caller's own arguments; one that the command does not take is not read.
        _ => unsafe { libc::fcntl(fd, command, argument) },
    }
}

unsafe extern "C" fn poll(fds: *mut pollfd, count: libc::nfds_t, timeout: c_int) -> c_int {
    let able = |what| error_only(what) || what == What::Ready && count > 0;
    match decide(Call::poll, able) {
        Some(What::Error(error)) => fail(error),
        Some(What::Ready) => {
            // SAFETY: the caller's own list.
            let result = unsafe { libc::poll(fds, count, 0) };
            if result < 0 {
                return result;
            }
            // SAFETY: the kernel has just accepted and written the list.
            let list = unsafe { std::slice::from_raw_parts_mut(fds, count as usize) };
            for entry in &mut *list {
                if entry.fd >= 0 {
                    entry.revents |= entry.events & (libc::POLLIN | libc::POLLOUT);
                }
            }
            list.iter().filter(|entry| entry.revents != 0).count() as c_int
        }
        // SAFETY: the caller's own arguments.
        _ => unsafe { libc::poll(fds, count, timeout) },
    }
}

const KEPT: usize = 32;

thread_local! {
    /// The last events that came, the oldest first.
    static SEEN: RefCell<Vec<libc::epoll_event>> = const { RefCell::new(Vec::new()) };
    /// What each descriptor was registered with last.
    static REGISTERED: RefCell<BTreeMap<c_int, u64>> = const { RefCell::new(BTreeMap::new()) };
}

unsafe extern "C" fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut libc::epoll_event) -> c_int {
    if let Some(What::Error(error)) = decide(Call::epoll_ctl, error_only) {
        return fail(error);
    }
    if !event.is_null() {
        // SAFETY: the caller's own event.
        let data = unsafe { event.read_unaligned() }.u64;
        REGISTERED.with_borrow_mut(|all| all.insert(fd, data));
    }
    // SAFETY: the caller's own arguments.
    unsafe { libc::epoll_ctl(epoll, operation, fd, event) }
}

/// An event that may come late: of a registration that another has taken the place of, as when its descriptor is
/// closed while the event is in the list; or of an eventfd that is read without blocking. (That another one is ready
/// may not be said when it is not: the kernel looks again as it hands the event out.)
fn late() -> Option<usize> {
    let is_own = |data| data >= u64::MAX - 1;
    let is_current = |data| REGISTERED.with_borrow(|all| all.values().any(|current| *current == data));
    SEEN.with_borrow(|seen| seen.iter().position(|event| is_own(event.u64) || !is_current(event.u64)))
}

/// `wait(true)` returns without blocking, `wait(false)` waits for events.
unsafe fn events(list: *mut libc::epoll_event, room: c_int, wait: impl Fn(bool) -> c_int) -> c_int {
    let planned = decide(Call::epoll_wait, |what| error_only(what) || what == What::Stale && late().is_some());
    if let Some(What::Error(error)) = planned {
        return fail(error);
    }
    let late = late().filter(|_| planned == Some(What::Stale));
    let mut count = wait(late.is_some());
    SEEN.with_borrow_mut(|seen| {
        let again = late.map(|at| seen.remove(at));
        for i in 0..count.max(0) as usize {
            // SAFETY: the kernel has filled `count` entries.
            seen.push(unsafe { list.add(i).read_unaligned() });
        }
        let old = seen.len().saturating_sub(KEPT);
        seen.drain(..old);
        if let Some(event) = again.filter(|_| (0..room).contains(&count)) {
            // SAFETY: there is room for one more.
            unsafe { list.add(count as usize).write_unaligned(event) };
            count += 1;
        }
    });
    count
}

unsafe extern "C" fn epoll_wait(epoll: c_int, list: *mut libc::epoll_event, room: c_int, timeout: c_int) -> c_int {
    // SAFETY: the caller's own arguments.
    unsafe { events(list, room, |now| libc::epoll_wait(epoll, list, room, if now { 0 } else { timeout })) }
}

unsafe extern "C" fn syscall(
    number: c_long,
    a: c_long,
    b: c_long,
    c: c_long,
    d: c_long,
    e: c_long,
    f: c_long,
) -> c_long {
    static NOW: libc::timespec = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the caller's own arguments; what the call does not take is not read.
    let original = |d: c_long| unsafe { libc::syscall(number, a, b, c, d, e, f) };
    match number {
        // SAFETY: the caller's own list and room.
        libc::SYS_epoll_pwait2 => c_long::from(unsafe {
            events(std::ptr::with_exposed_provenance_mut(b as usize), c as c_int, |now| {
                original(if now { (&raw const NOW).expose_provenance() as c_long } else { d }) as c_int
            })
        }),
        libc::SYS_pidfd_open => match decide(Call::pidfd_open, error_only) {
            Some(What::Error(error)) => fail(error),
            _ => original(d),
        },
        _ => original(d),
    }
}

macro_rules! hooks {
    ($($name:literal => $function:ident;)*) => {
        vec![$(Hook { name: $name, replacement: $function as *const () as usize }),*]
    };
}

/// What the patcher is given.
pub fn hooks() -> Vec<Hook> {
    hooks![
        c"read" => read;
        c"write" => write;
        c"readv" => readv;
        c"writev" => writev;
        c"pread" => pread;
        c"pread64" => pread;
        c"pwrite" => pwrite;
        c"pwrite64" => pwrite;
        c"preadv" => preadv;
        c"preadv2" => preadv2;
        c"pwritev" => pwritev;
        c"pwritev2" => pwritev2;
        c"recv" => recv;
        c"recvfrom" => recvfrom;
        c"recvmsg" => recvmsg;
        c"send" => send;
        c"sendto" => sendto;
        c"sendmsg" => sendmsg;
        c"accept" => accept;
        c"accept4" => accept4;
        c"connect" => connect;
        c"close" => close;
        c"flock" => flock;
        c"lockf" => lockf;
        c"fsync" => fsync;
        c"fdatasync" => fdatasync;
        c"epoll_ctl" => epoll_ctl;
        c"socket" => socket;
        c"socketpair" => socketpair;
        c"pipe" => pipe;
        c"pipe2" => pipe2;
        c"dup" => dup;
        c"fcntl" => fcntl;
        c"fcntl64" => fcntl;
        c"open" => open;
        c"open64" => open;
        c"openat" => openat;
        c"openat64" => openat;
        c"__open_2" => open_2;
        c"fork" => fork;
        c"epoll_create1" => epoll_create1;
        c"eventfd" => eventfd;
        c"mmap" => mmap;
        c"mmap64" => mmap;
        c"mprotect" => mprotect;
        c"madvise" => madvise;
        c"pthread_create" => pthread_create;
        c"posix_spawn" => posix_spawn;
        c"getaddrinfo" => getaddrinfo;
        c"waitpid" => waitpid;
        c"wait4" => wait4;
        c"poll" => poll;
        c"ppoll" => ppoll;
        c"select" => select;
        c"pselect" => pselect;
        c"epoll_wait" => epoll_wait;
        c"syscall" => syscall;
    ]
}
