//! The state of each descriptor: its registration with epoll, its kind and mode, and its readiness.
//!
//! Registration is edge-triggered, once per descriptor and generation. Each direction has a [`Readiness`]:
//!
//! ```text
//!               edge                    a poll was answered from it
//!  NotReady ───────────► Ready ─────────────────────────────────────► Ready
//!    ▲                     │ a call used it: full read / not known
//!    │ EAGAIN, or a short  ▼ an event loop of user code was told
//!    └──── TCP read ─── Unknown  (ask the kernel)
//! ```
//! In `NotReady` a call may park immediately, in `Ready` a `poll` may be answered without asking, in `Unknown` the kernel must be
//! asked. A loop ([`Fds::answer`]) is told of an edge once: it may use a descriptor in ways that are not seen here. When to enter
//! `NotReady` is for the callers (it depends on the call). Hang-up, error and priority are sticky and forbid it, since no further
//! edge comes for them.

use crate::Waiter;
use std::os::fd::RawFd;

/// A set of directions to wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interest(pub u8);

impl Interest {
    /// Something can be read or accepted, or the end was reached.
    pub const READ: Interest = Interest(1);
    /// Something can be written, or a connection attempt has ended.
    pub const WRITE: Interest = Interest(2);
    /// Urgent data.
    pub const PRIORITY: Interest = Interest(4);
    /// A call has read from it. A coroutine that waits for data may find it in a buffer of this process, which epoll
    /// does not see.
    pub const CONSUMED: Interest = Interest(8);

    /// The union of both sets.
    pub const fn and(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    fn met_by(self, events: u32) -> bool {
        let hup = (libc::EPOLLHUP | libc::EPOLLERR) as u32;
        let mut bits = hup;
        if self.0 & 1 != 0 {
            bits |= (libc::EPOLLIN | libc::EPOLLRDHUP) as u32;
        }
        if self.0 & 2 != 0 {
            bits |= libc::EPOLLOUT as u32;
        }
        if self.0 & 4 != 0 {
            bits |= libc::EPOLLPRI as u32;
        }
        events & bits != 0
    }
}

/// Epoll's event bits of the last edges.
pub type Bits = u32;

/// What is known of a descriptor's readiness in one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Readiness {
    /// Nothing: the kernel has to be asked.
    Unknown,
    /// A call would block, and an edge comes when that ends.
    NotReady,
    /// An edge came, and no call has used it up.
    Ready,
}

/// What kind of file a descriptor names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FdKind {
    /// Not open.
    Closed,
    /// A TCP socket.
    Tcp,
    /// Any other socket.
    Socket,
    /// A pipe or FIFO.
    Pipe,
    /// A regular file, directory or block device: always ready for epoll, though calls on it may block.
    File,
    /// Anything else: terminals, `/dev/null`, eventfds, …
    Other,
}

/// Whether calls on a descriptor block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocking {
    /// They do.
    Yes,
    /// `O_NONBLOCK` is set.
    No,
}

/// The result of [`crate::Reactor::register`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registration {
    /// Registered: the waiter will be woken.
    Waiting,
    /// Epoll does not support such a descriptor (`EPERM`): it is always ready.
    AlwaysReady,
    /// Not an open descriptor, or epoll refused it otherwise; the `errno`.
    Error(i32),
}

/// Who else has the description: this decides whether its mode can change unseen, and may be changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// Not known: it was opened unseen, or has a duplicate within this process.
    Unknown,
    /// No one: a hooked call has opened it, and it was never duplicated.
    Own,
    /// Another process.
    Shared,
}

/// What the call that opened a descriptor knows of it. The kernel is asked for the rest when it is needed.
#[derive(Clone, Copy, Default, Debug)]
pub struct Opened {
    /// Its kind.
    pub kind: Option<FdKind>,
    /// Its mode.
    pub blocking: Option<Blocking>,
    /// `SO_RCVTIMEO` and `SO_SNDTIMEO` in nanoseconds, 0 for none.
    pub timeouts: Option<[u64; 2]>,
    /// The description is new too: neither a duplicate nor received from elsewhere.
    pub own: bool,
}

const STICKY: u32 = (libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP | libc::EPOLLPRI) as u32;
/// How often a descriptor is found empty before it is registered without a waiter.
const REGISTER_AFTER_EMPTY: u8 = 3;
const UNKNOWN_TIMEOUT: u64 = u64::MAX;

struct FdState {
    generation: u32,
    registered: bool,
    /// How often it was found empty without being registered.
    found_empty: u8,
    kind: Option<FdKind>,
    blocking: Option<Blocking>,
    mode_epoch: u32,
    origin: Origin,
    readiness: [Readiness; 2],
    bits: Bits,
    /// How many reads are still answered with the end that an earlier one has seen.
    reads_at_end: u8,
    timeouts: [u64; 2],
    waiters: Vec<(Waiter, Interest)>,
}

impl FdState {
    /// Registers the descriptor with epoll, once per generation.
    fn add_to_epoll(&mut self, epoll: RawFd, fd: RawFd) -> Registration {
        if self.registered {
            return Registration::Waiting;
        }
        if self.kind == Some(FdKind::File) {
            return Registration::AlwaysReady;
        }
        let all = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLPRI | libc::EPOLLET;
        let data = u64::from(self.generation) << 32 | fd as u64;
        let mut event = libc::epoll_event { events: all as u32, u64: data };
        // SAFETY: `event` lives through the call.
        let mut failed = unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, &mut event) } != 0;
        if failed && errno() == libc::EEXIST {
            // The description outlived a close of this descriptor and got the same number again.
            // SAFETY: as above.
            failed = unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_MOD, fd, &mut event) } != 0;
        }
        if failed {
            return match errno() {
                libc::EPERM => {
                    self.kind.get_or_insert(FdKind::File);
                    Registration::AlwaysReady
                }
                other => Registration::Error(other),
            };
        }
        self.registered = true;
        Registration::Waiting
    }

    #[cold]
    fn ask_kind(&mut self, fd: RawFd) -> FdKind {
        let kind = ask_kind(fd);
        if kind != FdKind::Closed {
            self.kind = Some(kind); // a number that is not open may be opened unseen
        }
        kind
    }

    #[cold]
    fn ask_blocking(&mut self, fd: RawFd) -> Blocking {
        // SAFETY: a system call without pointers.
        let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
        if flags < 0 {
            return Blocking::No; // not open: the call itself will report that
        }
        let mode = if flags & libc::O_NONBLOCK != 0 { Blocking::No } else { Blocking::Yes };
        self.blocking = Some(mode);
        mode
    }

    fn new(generation: u32) -> FdState {
        FdState {
            generation,
            registered: false,
            found_empty: 0,
            kind: None,
            blocking: None,
            mode_epoch: 0,
            origin: Origin::Unknown,
            readiness: [Readiness::Unknown; 2],
            bits: 0,
            reads_at_end: 0,
            timeouts: [UNKNOWN_TIMEOUT; 2],
            waiters: Vec::new(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Fds {
    entries: Vec<FdState>,
    /// Counts changes of mode that may have reached descriptors that are not known.
    mode_epoch: u32,
    /// There was a fork: descriptions of unknown origin may be shared with another process.
    shared: bool,
    /// Waiters with [`Interest::CONSUMED`] of descriptors that were read from. The next turn wakes them.
    pub(crate) consumed: Vec<Waiter>,
}

fn direction(interest: Interest) -> usize {
    usize::from(interest.0 & 1 == 0)
}

impl Fds {
    /// The number of descriptors that are registered with epoll.
    pub(crate) fn registered(&self) -> usize {
        self.entries.iter().filter(|entry| entry.registered).count()
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The state of `fd`. `None` if the table would have to grow for one that is not open.
    #[inline(always)]
    fn entry(&mut self, fd: RawFd) -> Option<&mut FdState> {
        let index = usize::try_from(fd).ok()?;
        if index >= self.entries.len() && !self.grow(fd, index) {
            return None;
        }
        self.entries.get_mut(index)
    }

    #[cold]
    fn grow(&mut self, fd: RawFd, index: usize) -> bool {
        // Any number may be passed to a libc function.
        let is_open = is_open(fd);
        if is_open {
            self.entries.resize_with(index + 1, || FdState::new(0));
        }
        is_open
    }

    /// As [`Fds::entry`], without what may have changed through another descriptor.
    #[inline(always)]
    fn current(&mut self, fd: RawFd) -> Option<&mut FdState> {
        let epoch = self.mode_epoch;
        let entry = self.entry(fd)?;
        if entry.mode_epoch != epoch {
            entry.mode_epoch = epoch;
            if entry.origin != Origin::Own {
                entry.blocking = None;
                entry.timeouts = [UNKNOWN_TIMEOUT; 2];
            }
        }
        Some(entry)
    }

    /// As [`Fds::entry`], when the mode or an option of `fd` has changed, and with it that of descriptors that share its
    /// description.
    fn changed(&mut self, fd: RawFd) -> Option<&mut FdState> {
        if self.current(fd)?.origin != Origin::Own {
            self.mode_epoch = self.mode_epoch.wrapping_add(1);
        }
        let epoch = self.mode_epoch;
        let entry = self.entry(fd)?;
        entry.mode_epoch = epoch;
        Some(entry)
    }

    /// Adds a waiter to a descriptor that epoll watches already. Returns `false` for any other.
    #[inline]
    pub(crate) fn add_waiter_if_registered(&mut self, fd: RawFd, interest: Interest, waiter: Waiter) -> bool {
        let entry = usize::try_from(fd).ok().and_then(|index| self.entries.get_mut(index));
        let Some(entry) = entry.filter(|entry| entry.registered) else { return false };
        entry.waiters.push((waiter, interest));
        true
    }

    pub(crate) fn register(&mut self, epoll: RawFd, fd: RawFd, interest: Interest, waiter: Waiter) -> Registration {
        let Some(entry) = self.entry(fd) else { return Registration::Error(libc::EBADF) };
        match entry.add_to_epoll(epoll, fd) {
            Registration::Waiting => {}
            refused => return refused,
        }
        entry.waiters.push((waiter, interest));
        Registration::Waiting
    }

    pub(crate) fn deregister(&mut self, fd: RawFd, waiter: Waiter) {
        if let Some(entry) = self.entry(fd) {
            entry.waiters.retain(|(w, _)| *w != waiter);
        }
    }

    pub(crate) fn edge(&mut self, data: u64, events: u32, wake: &mut impl FnMut(Waiter)) {
        let (generation, index) = ((data >> 32) as u32, (data & 0xffff_ffff) as usize);
        let Some(entry) = self.entries.get_mut(index) else { return };
        if entry.generation != generation {
            return; // its description is still open in another process or under another number
        }
        entry.bits = events | entry.bits & STICKY;
        let hup = (libc::EPOLLHUP | libc::EPOLLERR) as u32;
        if events & (hup | (libc::EPOLLIN | libc::EPOLLRDHUP) as u32) != 0 {
            entry.readiness[0] = Readiness::Ready;
        }
        if events & (hup | libc::EPOLLOUT as u32) != 0 {
            entry.readiness[1] = Readiness::Ready;
        }
        entry.waiters.retain(|&(waiter, interest)| {
            let met = interest.met_by(events);
            if met {
                wake(waiter);
            }
            !met
        });
    }

    pub(crate) fn generation(&mut self, fd: RawFd) -> u32 {
        self.entry(fd).map_or(0, |e| e.generation)
    }

    #[inline]
    pub(crate) fn kind(&mut self, fd: RawFd) -> FdKind {
        let Some(entry) = self.entry(fd) else { return FdKind::Closed };
        entry.kind.unwrap_or_else(|| entry.ask_kind(fd))
    }

    #[inline]
    pub(crate) fn blocking(&mut self, fd: RawFd) -> Blocking {
        let Some(entry) = self.current(fd) else { return Blocking::No };
        entry.blocking.unwrap_or_else(|| entry.ask_blocking(fd))
    }

    pub(crate) fn set_blocking(&mut self, fd: RawFd, mode: Option<Blocking>) {
        if let Some(entry) = self.changed(fd) {
            entry.blocking = mode;
        }
    }

    pub(crate) fn mark_descriptions_shared(&mut self) {
        self.shared = true;
        for entry in &mut self.entries {
            entry.origin = Origin::Shared;
        }
    }

    pub(crate) fn duplicated(&mut self, fd: RawFd) {
        if let Some(entry) = self.current(fd).filter(|e| e.origin == Origin::Own) {
            entry.origin = Origin::Unknown;
        }
    }

    pub(crate) fn may_be_shared(&mut self, fd: RawFd) -> bool {
        let forked = self.shared;
        self.entry(fd).is_none_or(|entry| match entry.origin {
            Origin::Unknown => forked || fd <= libc::STDERR_FILENO,
            Origin::Own => false,
            Origin::Shared => true,
        })
    }

    pub(crate) fn opened(&mut self, fd: RawFd, opened: Opened, wake: &mut impl FnMut(Waiter)) {
        self.forget(fd, wake);
        let epoch = self.mode_epoch;
        if let Some(entry) = self.entry(fd) {
            entry.kind = opened.kind;
            entry.blocking = opened.blocking;
            entry.mode_epoch = epoch;
            entry.timeouts = opened.timeouts.unwrap_or([UNKNOWN_TIMEOUT; 2]);
            entry.origin = if opened.own { Origin::Own } else { Origin::Unknown };
        }
    }

    pub(crate) fn set_kind(&mut self, fd: RawFd, kind: FdKind) {
        if let Some(entry) = self.entry(fd) {
            entry.kind = Some(kind);
        }
    }

    pub(crate) fn reset_readiness(&mut self, fd: RawFd) {
        if let Some(entry) = self.entry(fd) {
            entry.readiness = [Readiness::Unknown; 2];
            entry.bits = 0;
        }
    }

    pub(crate) fn record_end(&mut self, fd: RawFd, reads: u8) {
        if let Some(entry) = self.entry(fd) {
            entry.reads_at_end = reads;
        }
    }

    #[inline(always)]
    pub(crate) fn take_end(&mut self, fd: RawFd) -> bool {
        let entry = usize::try_from(fd).ok().and_then(|index| self.entries.get_mut(index));
        let Some(entry) = entry.filter(|entry| entry.reads_at_end != 0) else { return false };
        entry.reads_at_end -= 1;
        true
    }

    pub(crate) fn socket_timeout(&mut self, fd: RawFd, interest: Interest) -> u64 {
        let Some(entry) = self.current(fd) else { return 0 };
        let direction = direction(interest);
        if entry.timeouts[direction] == UNKNOWN_TIMEOUT {
            let option = [libc::SO_RCVTIMEO, libc::SO_SNDTIMEO][direction];
            let mut time = libc::timeval { tv_sec: 0, tv_usec: 0 };
            let mut length = size_of::<libc::timeval>() as libc::socklen_t;
            // SAFETY: `time` and `length` are valid and of the size that is passed.
            let ok = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut time).cast(), &mut length) };
            let ns = time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1_000;
            entry.timeouts[direction] = if ok == 0 { ns } else { 0 };
        }
        entry.timeouts[direction]
    }

    pub(crate) fn socket_option_set(&mut self, fd: RawFd) {
        if let Some(entry) = self.changed(fd) {
            entry.timeouts = [UNKNOWN_TIMEOUT; 2];
        }
    }

    pub(crate) fn readiness(&mut self, fd: RawFd, interest: Interest) -> (Readiness, Bits) {
        self.entry(fd).map_or((Readiness::Unknown, 0), |e| (e.readiness[direction(interest)], e.bits))
    }

    pub(crate) fn answer(&mut self, fd: RawFd, interest: Interest) -> Option<bool> {
        let readiness = &mut self.entry(fd)?.readiness[direction(interest)];
        match *readiness {
            Readiness::NotReady => Some(false),
            Readiness::Unknown => None,
            Readiness::Ready => {
                *readiness = Readiness::Unknown;
                Some(true)
            }
        }
    }

    /// As [`Fds::record_readiness`] where only recording it is needed. Returns `false` if it takes more.
    #[inline(always)]
    pub(crate) fn record_simple(&mut self, fd: RawFd, interest: Interest, readiness: Readiness) -> bool {
        let entry = usize::try_from(fd).ok().and_then(|index| self.entries.get_mut(index));
        let Some(entry) = entry.filter(|entry| entry.waiters.is_empty()) else { return false };
        let direction = direction(interest);
        if readiness == Readiness::NotReady && (!entry.registered || entry.bits & STICKY != 0) {
            return false;
        }
        entry.readiness[direction] = readiness;
        if readiness != Readiness::Ready {
            entry.bits &= !([libc::EPOLLIN, libc::EPOLLOUT][direction] as u32);
        }
        true
    }

    /// As [`record_simple`](Fds::record_simple), for a TCP socket that was emptied.
    #[inline(always)]
    pub(crate) fn record_emptied_tcp(&mut self, fd: RawFd) -> bool {
        let entry = usize::try_from(fd).ok().and_then(|index| self.entries.get(index));
        entry.is_some_and(|entry| entry.kind == Some(FdKind::Tcp))
            && self.record_simple(fd, Interest::READ, Readiness::NotReady)
    }

    /// Preserves `errno`.
    pub(crate) fn record_readiness(
        &mut self,
        epoll: impl FnOnce() -> Option<RawFd>,
        fd: RawFd,
        interest: Interest,
        readiness: Readiness,
    ) {
        if self.entry(fd).is_none() {
            return;
        }
        let Some(entry) = self.entries.get_mut(fd as usize) else { return };
        let direction = direction(interest);
        if readiness == Readiness::NotReady && entry.readiness[direction] == readiness && entry.waiters.is_empty() {
            return;
        }
        if direction == 0 && readiness != Readiness::Ready && !entry.waiters.is_empty() {
            let interested = |&mut (_, interest): &mut (Waiter, Interest)| interest.0 & Interest::CONSUMED.0 != 0;
            self.consumed.extend(entry.waiters.extract_if(.., interested).map(|(waiter, _)| waiter));
        }
        let sticky = direction == 0 && entry.bits & STICKY != 0;
        if readiness == Readiness::NotReady && direction == 0 && !entry.registered && !sticky {
            // If the peer always sends in time no waiter ever registers it, and each read costs a `poll`.
            entry.found_empty = entry.found_empty.saturating_add(1);
            if entry.found_empty >= REGISTER_AFTER_EMPTY
                && let Some(epoll) = epoll()
            {
                let error = errno();
                entry.add_to_epoll(epoll, fd);
                // SAFETY: the address of this thread's errno is always valid.
                unsafe { *libc::__errno_location() = error };
            }
        }
        // No edge comes for one that is not registered: the next wait registers it.
        let readiness = if readiness == Readiness::NotReady && (sticky || !entry.registered) {
            Readiness::Unknown
        } else {
            readiness
        };
        entry.readiness[direction] = readiness;
        if readiness != Readiness::Ready {
            entry.bits &= !([libc::EPOLLIN, libc::EPOLLOUT][direction] as u32);
        }
    }

    pub(crate) fn forget(&mut self, fd: RawFd, wake: &mut impl FnMut(Waiter)) {
        let Some(entry) = usize::try_from(fd).ok().and_then(|i| self.entries.get_mut(i)) else { return };
        let waiters = std::mem::take(&mut entry.waiters);
        *entry = FdState::new(entry.generation.wrapping_add(1));
        for (waiter, _) in &waiters {
            wake(*waiter);
        }
        // Keeps its storage: descriptors come and go with every connection.
        entry.waiters = waiters;
        entry.waiters.clear();
    }

    /// Registers the descriptors that have waiters with another epoll instance; the others are registered when they are waited
    /// for. Returns the waiters of descriptors that cannot be registered.
    pub(crate) fn register_again(&mut self, epoll: RawFd) -> Vec<Waiter> {
        let mut refused = Vec::new();
        for (entry, fd) in self.entries.iter_mut().zip(0..).filter(|(entry, _)| entry.registered) {
            entry.registered = false;
            entry.readiness = [Readiness::Unknown; 2];
            if !entry.waiters.is_empty() && entry.add_to_epoll(epoll, fd) != Registration::Waiting {
                refused.extend(entry.waiters.drain(..).map(|(waiter, _)| waiter));
            }
        }
        refused
    }

    /// Forgets all descriptors and takes them off the epoll instance.
    pub(crate) fn forget_all(&mut self, epoll: Option<RawFd>) {
        self.consumed.clear();
        for (fd, entry) in self.entries.iter_mut().enumerate() {
            if let (true, Some(epoll)) = (entry.registered, epoll) {
                // SAFETY: the event is ignored. A descriptor that was closed unseen has left the set by itself.
                unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_DEL, fd as RawFd, std::ptr::null_mut()) };
            }
            *entry = FdState::new(entry.generation.wrapping_add(1));
        }
    }

    pub(crate) fn after_fork(&mut self) {
        self.shared = true;
        self.consumed.clear();
        self.mode_epoch = self.mode_epoch.wrapping_add(1);
        for entry in &mut self.entries {
            *entry = FdState::new(entry.generation.wrapping_add(1));
        }
    }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn is_open(fd: RawFd) -> bool {
    let before = errno();
    // SAFETY: a system call without pointers.
    let open = unsafe { libc::fcntl(fd, libc::F_GETFD) } >= 0;
    // SAFETY: the address of this thread's errno is always valid.
    unsafe { *libc::__errno_location() = before };
    open
}

fn ask_kind(fd: RawFd) -> FdKind {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer is of the right size; it is read only when the call has filled it.
    let mode = unsafe {
        if libc::fstat(fd, stat.as_mut_ptr()) != 0 {
            return FdKind::Closed;
        }
        stat.assume_init().st_mode
    };
    match mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFDIR | libc::S_IFBLK => FdKind::File,
        libc::S_IFIFO => FdKind::Pipe,
        libc::S_IFSOCK => {
            let tcp = option(fd, libc::SO_PROTOCOL) == libc::IPPROTO_TCP;
            if tcp { FdKind::Tcp } else { FdKind::Socket }
        }
        _ => FdKind::Other,
    }
}

fn option(fd: RawFd, name: i32) -> i32 {
    let mut value = 0i32;
    let mut length = size_of::<i32>() as libc::socklen_t;
    // SAFETY: `value` and `length` are valid and of the size that is passed.
    unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &mut length) };
    value
}
