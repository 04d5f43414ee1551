//! Worker threads for calls that can only block: name look-ups, files, FIFOs, `pclose`.
//!
//! # A worker's life
//!
//! ```text
//!   submit, none idle, room ──▶ starting ──▶ takes from the queue ◀───────┐
//!                                               │         │              │
//!                                        a job ─┘         └─ empty       │
//!                                           ▼                ▼           │
//!                                        running            idle         │
//!                                           │                │ └─ woken ─┤
//!                                           └────────────────┼───────────┘
//!                                                            └─ for too long, or shut down: ends
//! ```
//!
//! - The worker that became idle last is woken first, so that the others can end and caches stay warm.
//! - Jobs may block forever (a name server that is down, a FIFO that is never opened), so the number of threads has no
//!   limit: when jobs are queued and none has ended for a while, [`Pool::grow_if_stalled`] starts further threads. Where the
//!   system gives no more, a pool of unbounded jobs refuses those that are queued. The pool interrupts no job.
//! - A forked child forgets its copy (`mem::forget`; dropping it could wait for a lock that is held by a thread that the
//!   child does not have) and makes a new pool.
//! - Threads run code of this object until their last moment: it must stay loaded after shutdown.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Work for a worker. It owns all that it uses, since its submitter may be gone when it runs.
pub type Job = Box<dyn FnOnce() + Send>;

/// The usual [`Limits::idle`].
const IDLE: Duration = Duration::from_secs(10);

/// What the end of a job depends on. Each kind has threads of its own, so that jobs that block forever keep no thread from
/// jobs that end soon.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum JobKind {
    /// On others (a process, a server, another coroutine): it may block forever. Also if that is not known.
    #[default]
    Unbounded,
    /// On this machine alone: file reads and writes, `fsync`, a sleep.
    Bounded,
}

/// How many threads a pool has, and when it gets more.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of threads (at least one) that are started as jobs are submitted. Further ones are started only when no
    /// job ends.
    pub threads: usize,
    /// How long no job may end before further threads are started for those that are queued.
    pub stall_timeout: Duration,
    /// How long no job may end while no thread can be started, before the queued ones are refused (dropped without being run).
    pub refuse_after: Option<Duration>,
    /// How long a thread stays without work.
    pub idle: Duration,
    /// How large the threads' stacks are.
    pub stack_bytes: usize,
}

impl Limits {
    /// The limits for jobs of this kind.
    pub fn of(kind: JobKind, threads: usize) -> Limits {
        let (stall_timeout, refuse_after) = match kind {
            // The next one in the queue may be what all others wait for.
            JobKind::Unbounded => (Duration::from_millis(1), Some(Duration::from_secs(1))),
            JobKind::Bounded => (Duration::from_millis(100), None),
        };
        Limits { threads: threads.max(1), stall_timeout, refuse_after, idle: IDLE, stack_bytes: STACK_BYTES }
    }
}

/// Much less than the default of 2 MiB (8 MiB by `ulimit`), but the name services that
/// `getaddrinfo` loads want more than the smallest.
const STACK_BYTES: usize = 512 * 1024;

/// Why a job was refused. It was dropped without being run.
#[derive(Debug)]
pub enum SpawnError {
    /// The pool has no thread and none could be started (usually `EAGAIN`: a limit on processes).
    Thread(io::Error),
    /// The pool was shut down.
    ShutDown,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Thread(error) => write!(
                f,
                "cannot start a worker thread: {error}; raise the limit on processes (ulimit -u, \
                 pids.max)"
            ),
            Self::ShutDown => f.write_str("the worker pool was shut down"),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Thread(error) => Some(error),
            Self::ShutDown => None,
        }
    }
}

struct State {
    queue: VecDeque<Job>,
    /// All threads: starting, running and idle.
    threads: usize,
    /// Threads that were started or woken and have not yet taken from the queue.
    starting: usize,
    /// When a job last ended, or was queued as the only one.
    last_progress: Instant,
    /// When threads were last started because no job ended.
    last_growth: Instant,
    /// Threads that wait to be woken. They are taken off by what wakes them.
    idle: Vec<Thread>,
    closed: bool,
}

impl State {
    /// The number of queued jobs for which no thread is starting.
    fn backlog(&self) -> usize {
        self.queue.len().saturating_sub(self.starting)
    }
}

struct Shared {
    state: Mutex<State>,
    idle_time: Duration,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No job runs under the lock, so the state is consistent even if it is poisoned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A pool of worker threads that grows as needed and shrinks when idle.
///
/// Dropping it is [`shutdown`](Self::shutdown).
pub struct Pool {
    shared: Arc<Shared>,
    limits: Limits,
    name: &'static str,
}

impl Pool {
    /// Creates a pool whose threads are called `name` (the system shows 15 bytes of it). No thread is started before the first
    /// job.
    ///
    /// # Panics
    /// If `name` holds a NUL byte.
    pub fn new(limits: Limits, name: &'static str) -> Self {
        assert!(!name.contains('\0'), "a thread's name holds no NUL");
        let now = Instant::now();
        let state = State {
            queue: VecDeque::new(),
            threads: 0,
            starting: 0,
            last_progress: now,
            last_growth: now,
            idle: Vec::new(),
            closed: false,
        };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), idle_time: limits.idle }), limits, name }
    }

    /// Queues a job; jobs start in the order they were submitted. Does not block on other jobs.
    ///
    /// A panic ends only the job. What waits for its result has to be notified by a guard that the job owns.
    ///
    /// # Errors
    /// If no thread would ever run the job. A pool that has threads but cannot start another one queues it.
    pub fn submit(&self, job: Job) -> Result<(), SpawnError> {
        let mut state = self.shared.lock();
        let mut failed = None;
        if !state.closed && state.idle.is_empty() && state.threads < self.limits.threads {
            // Not under the lock, which the workers need.
            drop(state);
            failed = self.spawn().err();
            state = self.shared.lock();
        }
        if state.closed {
            return Err(SpawnError::ShutDown);
        }
        if let Some(error) = failed
            && state.threads == 0
        {
            return Err(SpawnError::Thread(error));
        }
        if state.queue.is_empty() {
            state.last_progress = Instant::now();
        }
        state.queue.push_back(job);
        let woken = state.idle.pop();
        state.starting += usize::from(woken.is_some());
        drop(state);
        if let Some(worker) = woken {
            worker.unpark();
        }
        Ok(())
    }

    /// Starts further threads if jobs are queued and none has ended for a while. Where the system gives none, the queued jobs
    /// may be refused ([`Limits::refuse_after`]). Returns in how long to call it again. Does not block.
    pub fn grow_if_stalled(&self) -> Option<Duration> {
        let (wanted, stalled) = {
            let mut state = self.shared.lock();
            let backlog = state.backlog();
            if backlog == 0 || state.closed {
                return None;
            }
            let since = state.last_progress.max(state.last_growth).elapsed();
            if let Some(left) = self.limits.stall_timeout.checked_sub(since).filter(|left| !left.is_zero()) {
                return Some(left);
            }
            state.last_growth = Instant::now();
            (backlog.min(state.threads / 8 + 1), state.last_progress.elapsed())
        };
        let failed = (0..wanted).any(|_| self.spawn().is_err());
        if failed && self.limits.refuse_after.is_some_and(|limit| stalled >= limit) {
            let refused = std::mem::take(&mut self.shared.lock().queue);
            drop(refused); // outside the lock: what a job owns may do anything when it is dropped
        }
        Some(self.limits.stall_timeout)
    }

    /// Drops the queued jobs without running them and lets each thread end after its present job, without waiting for them.
    /// Later submissions fail.
    pub fn shutdown(&self) {
        let (queue, idle) = {
            let mut state = self.shared.lock();
            state.closed = true;
            state.starting += state.idle.len();
            let state = &mut *state;
            (std::mem::take(&mut state.queue), std::mem::take(&mut state.idle))
        };
        for worker in idle {
            worker.unpark();
        }
        // Outside the lock: what a job owns may do anything when it is dropped.
        drop(queue);
    }

    /// Starts a thread, which is counted until it ends. Not to be called under the lock.
    fn spawn(&self) -> io::Result<()> {
        {
            let mut state = self.shared.lock();
            state.threads += 1;
            state.starting += 1;
        }
        let started = self.start();
        if started.is_err() {
            let mut state = self.shared.lock();
            state.threads -= 1;
            state.starting -= 1;
        }
        started
    }

    fn start(&self) -> io::Result<()> {
        // A thread inherits the mask of its creator. Setting it in the thread would be too late: a handler could run there
        // first.
        let _mask = SignalsBlocked::new()?;
        let shared = Arc::clone(&self.shared);
        thread::Builder::new()
            .name(self.name.to_owned())
            .stack_size(self.limits.stack_bytes)
            .spawn(move || work(&shared))?;
        Ok(())
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shutdown();
    }
}

fn work(shared: &Shared) {
    let me = thread::current();
    let mut state = shared.lock();
    state.starting -= 1;
    while !state.closed {
        if let Some(job) = state.queue.pop_front() {
            drop(state);
            run(job);
            state = shared.lock();
            state.last_progress = Instant::now();
            continue;
        }
        state.idle.push(me.clone());
        drop(state);
        let woken = wait(shared, &me);
        state = shared.lock();
        if !woken {
            // It may have been woken since.
            let place = state.idle.iter().position(|other| other.id() == me.id());
            if let Some(place) = place {
                state.idle.remove(place);
                break;
            }
        }
        state.starting -= 1;
    }
    state.threads -= 1;
}

/// Waits until this thread is taken off the idle list. Returns `false` if it was idle too long.
fn wait(shared: &Shared, me: &Thread) -> bool {
    let since = Instant::now();
    // Wake-ups may be spurious, and a job may have left an `unpark` behind.
    while let Some(left) = shared.idle_time.checked_sub(since.elapsed()) {
        thread::park_timeout(left);
        let state = shared.lock();
        if !state.idle.iter().any(|other| other.id() == me.id()) {
            return true;
        }
    }
    false
}

fn run(job: Job) {
    let dropped = |payload: Box<dyn Any + Send>| catch_unwind(AssertUnwindSafe(|| drop(payload)));
    // The payload of the panic may panic when dropped; the payload of that panic is leaked.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(job))
        && let Err(again) = dropped(payload)
    {
        std::mem::forget(again);
    }
}

/// Blocks all signals in this thread while it exists. Handlers expect to run on the PHP thread.
pub(crate) struct SignalsBlocked {
    before: libc::sigset_t,
    /// The mask is the thread's.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl SignalsBlocked {
    pub(crate) fn new() -> io::Result<Self> {
        let mut all = MaybeUninit::<libc::sigset_t>::uninit();
        let mut before = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: both pointers are to a sigset_t of our own; sigfillset initialises `all` before
        // pthread_sigmask reads it. libc leaves out the two signals that it needs itself.
        let error = unsafe {
            libc::sigfillset(all.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr())
        };
        if error != 0 {
            return Err(io::Error::from_raw_os_error(error));
        }
        Ok(Self {
            // SAFETY: pthread_sigmask succeeded, hence it has stored the old mask in `before`.
            before: unsafe { before.assume_init() },
            _not_send: std::marker::PhantomData,
        })
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: `before` is a mask the system gave us, the third pointer may be null. The call
        // fails only for an unknown first argument.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Sender, channel};

    impl Pool {
        /// The number of jobs that are queued or running.
        fn len(&self) -> usize {
            let state = self.shared.lock();
            state.queue.len() + state.threads - state.idle.len() - state.starting
        }

        fn is_empty(&self) -> bool {
            self.len() == 0
        }

        fn threads(&self) -> usize {
            self.shared.lock().threads
        }
    }

    /// Generous: a loaded machine may be slow, and only a failure waits this long.
    const LONG: Duration = Duration::from_secs(60);

    fn pool(threads: usize, idle: Duration) -> Pool {
        Pool::new(Limits { idle, ..Limits::of(JobKind::Bounded, threads) }, "test")
    }

    fn until(what: &str, condition: impl Fn() -> bool) {
        let since = Instant::now();
        while !condition() {
            assert!(since.elapsed() < LONG, "in vain: {what}");
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// A job that says it has begun and then blocks until the sender is dropped.
    fn block(pool: &Pool, begun: &Sender<()>) -> Sender<()> {
        let (release, blocked) = channel::<()>();
        let begun = begun.clone();
        let job = move || {
            begun.send(()).unwrap();
            let _ = blocked.recv();
        };
        pool.submit(Box::new(job)).unwrap();
        release
    }

    fn mask() -> libc::sigset_t {
        let mut mask = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: a null second argument only asks; the mask is stored in the third.
        unsafe {
            let error = libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr());
            assert_eq!(error, 0);
            mask.assume_init()
        }
    }

    fn blocks(mask: &libc::sigset_t, signal: i32) -> bool {
        // SAFETY: the mask is initialised; a signal that does not exist is answered with -1.
        unsafe { libc::sigismember(mask, signal) == 1 }
    }

    #[test]
    fn no_thread_before_the_first_job_and_all_jobs_run_in_order() {
        let pool = pool(1, IDLE);
        assert_eq!((pool.threads(), pool.len()), (0, 0));
        let (send, receive) = channel();
        for n in 0..100 {
            let send = send.clone();
            pool.submit(Box::new(move || send.send(n).unwrap())).unwrap();
        }
        drop(send);
        assert!(receive.iter().eq(0..100));
        until("empty", || pool.is_empty());
        assert_eq!(pool.threads(), 1);
    }

    #[test]
    fn grows_to_the_maximum_and_queues_beyond() {
        let pool = pool(4, IDLE);
        let (begin, begun) = channel();
        let mut blocked: Vec<_> = (0..6).map(|_| block(&pool, &begin)).collect();
        for _ in 0..4 {
            begun.recv_timeout(LONG).unwrap();
        }
        assert_eq!((pool.threads(), pool.len()), (4, 6));
        assert!(begun.try_recv().is_err());
        // One goes, the next comes.
        blocked.remove(0);
        begun.recv_timeout(LONG).unwrap();
        assert_eq!(pool.len(), 5);
        blocked.clear();
        begun.recv_timeout(LONG).unwrap();
        until("empty", || pool.is_empty());
    }

    #[test]
    fn jobs_behind_others_that_never_end_get_threads_of_their_own() {
        let pool = Pool::new(Limits::of(JobKind::Unbounded, 2), "test");
        let (begin, begun) = channel();
        let blocked: Vec<_> = (0..40).map(|_| block(&pool, &begin)).collect();
        assert_eq!(pool.threads(), 2);
        // The one that all wait for is the last in the queue.
        let (send, receive) = channel();
        pool.submit(Box::new(move || send.send(()).unwrap())).unwrap();
        until("the last one has run", || {
            pool.grow_if_stalled();
            receive.try_recv().is_ok()
        });
        assert_eq!(begun.iter().take(40).count(), 40);
        assert!(pool.grow_if_stalled().is_none());
        drop(blocked);
        until("empty", || pool.is_empty());
    }

    #[test]
    fn as_long_as_jobs_end_there_are_no_more_threads() {
        let limits = Limits { stall_timeout: LONG, ..Limits::of(JobKind::Bounded, 1) };
        let pool = Pool::new(limits, "test");
        let (begin, begun) = channel();
        let blocked: Vec<_> = (0..3).map(|_| block(&pool, &begin)).collect();
        begun.recv_timeout(LONG).unwrap();
        assert!(pool.grow_if_stalled().is_some_and(|next| next <= LONG));
        assert_eq!(pool.threads(), 1);
        drop(blocked);
        until("empty", || pool.is_empty());
        assert!(pool.grow_if_stalled().is_none());
    }

    #[test]
    fn threads_that_a_shutdown_wakes_are_not_taken_for_one_that_starts() {
        let pool = pool(2, LONG);
        let (begin, begun) = channel();
        drop(block(&pool, &begin));
        begun.recv_timeout(LONG).unwrap();
        until("idle", || !pool.shared.lock().idle.is_empty());
        // As if a second thread had been started that has not come to its first line.
        {
            let mut state = pool.shared.lock();
            state.threads += 1;
            state.starting += 1;
        }
        pool.shutdown();
        until("the idle one has ended", || pool.threads() == 1);
        assert_eq!(pool.shared.lock().starting, 1);
    }

    #[test]
    fn where_the_system_gives_no_thread_what_may_wait_for_ever_is_refused() {
        let limits = Limits { refuse_after: Some(Duration::ZERO), ..Limits::of(JobKind::Unbounded, 1) };
        let mut pool = Pool::new(limits, "test");
        let (begin, begun) = channel();
        let running = block(&pool, &begin);
        begun.recv_timeout(LONG).unwrap();
        let queued = block(&pool, &begin);
        pool.limits.stack_bytes = 1 << 60; // more than there are addresses
        until("the queued one is refused", || {
            pool.grow_if_stalled();
            queued.send(()).is_err()
        });
        assert_eq!((pool.len(), pool.threads()), (1, 1));
        pool.limits.stack_bytes = STACK_BYTES;
        drop(running);
        until("empty", || pool.is_empty());
    }

    #[test]
    fn an_idle_thread_is_used_again() {
        let pool = pool(8, IDLE);
        let ran = Arc::new(AtomicUsize::new(0));
        for n in 1..=200 {
            until("the thread idles", || {
                let state = pool.shared.lock();
                state.idle.len() == state.threads
            });
            let count = Arc::clone(&ran);
            pool.submit(Box::new(move || {
                count.fetch_add(1, Ordering::Relaxed);
            }))
            .unwrap();
            until("the job ran", || ran.load(Ordering::Relaxed) == n);
        }
        assert_eq!(pool.threads(), 1);
    }

    #[test]
    fn idle_threads_end_and_new_ones_come() {
        let pool = pool(4, Duration::from_millis(20));
        for _ in 0..3 {
            let (begin, begun) = channel();
            let blocked: Vec<_> = (0..4).map(|_| block(&pool, &begin)).collect();
            for _ in 0..4 {
                begun.recv_timeout(LONG).unwrap();
            }
            drop(blocked);
            until("all threads end", || pool.threads() == 0);
            assert!(pool.shared.lock().idle.is_empty());
        }
    }

    #[test]
    fn jobs_that_come_just_as_threads_end_are_run() {
        let pool = pool(2, Duration::ZERO);
        let (send, receive) = channel();
        for n in 0..2_000 {
            let send = send.clone();
            pool.submit(Box::new(move || send.send(n).unwrap())).unwrap();
            if n % 3 == 0 {
                thread::yield_now();
            }
        }
        drop(send);
        assert_eq!(receive.iter().count(), 2_000);
    }

    #[test]
    fn jobs_run_with_all_signals_blocked_and_the_caller_keeps_its_mask() {
        let before = mask();
        let pool = pool(1, IDLE);
        let (send, receive) = channel();
        pool.submit(Box::new(move || send.send(mask()).unwrap())).unwrap();
        let inside = receive.recv_timeout(LONG).unwrap();
        let after = mask();
        for signal in 1..=libc::SIGRTMAX() {
            let libcs_own = signal == 32 || signal == 33;
            // These two signals cannot be blocked.
            let never = signal == libc::SIGKILL || signal == libc::SIGSTOP;
            if !libcs_own && !never {
                assert!(blocks(&inside, signal), "signal {signal}");
            }
            assert_eq!(blocks(&before, signal), blocks(&after, signal));
        }
        assert!(!blocks(&after, libc::SIGTERM));
    }

    #[test]
    fn a_panic_costs_no_thread() {
        /// Panics again when the first panic is cleared away.
        struct Stubborn;
        impl Drop for Stubborn {
            fn drop(&mut self) {
                panic!("on purpose, while being dropped");
            }
        }
        let pool = pool(1, IDLE);
        for _ in 0..3 {
            pool.submit(Box::new(|| panic!("on purpose"))).unwrap();
            let payload = || std::panic::panic_any(Stubborn);
            pool.submit(Box::new(payload)).unwrap();
        }
        let (send, receive) = channel();
        let job = move || send.send(thread::current().id()).unwrap();
        pool.submit(Box::new(job)).unwrap();
        receive.recv_timeout(LONG).unwrap();
        until("empty", || pool.is_empty());
        assert_eq!(pool.threads(), 1);
    }

    #[test]
    fn shutdown_drops_what_is_queued_and_waits_for_no_job() {
        let pool = pool(1, IDLE);
        let (begin, begun) = channel();
        let running = block(&pool, &begin);
        begun.recv_timeout(LONG).unwrap();
        let queued = block(&pool, &begin);
        pool.shutdown();
        assert_eq!((pool.len(), pool.threads()), (1, 1));
        // The queued job was dropped, and with it the end of its channel.
        assert!(queued.send(()).is_err());
        let refused = pool.submit(Box::new(|| ()));
        assert!(matches!(refused, Err(SpawnError::ShutDown)));
        drop(running);
        until("the thread ends", || pool.threads() == 0);
        assert!(begun.try_recv().is_err());
    }

    #[test]
    fn shutdown_ends_idle_threads_at_once() {
        let pool = pool(2, LONG * 60);
        let (begin, begun) = channel();
        drop(block(&pool, &begin));
        begun.recv_timeout(LONG).unwrap();
        until("the thread idles", || pool.shared.lock().idle.len() == 1);
        let shared = Arc::clone(&pool.shared);
        drop(pool);
        until("the thread ends", || shared.lock().threads == 0);
    }
}
