//! A host without coroutines: a parked call turns the reactor on its own thread until it is woken.
//!
//! The host is process-wide, and so is whether suspension is enabled, so tests take turns ([`Test::new`] holds a lock). Another "coroutine"
//! is a closure that runs at the n-th park ([`Test::at_park`]); cancellation and signals are injected the same
//! way ([`Test::inject`]).
#![allow(dead_code)] // each test binary uses a part

use spindle_interpose::host::{self, BlockedOn, Host, OnSignal, Wake};
use spindle_reactor::{Reactor, Waiter, signals};
use std::cell::{Cell, RefCell};
use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURNS: Mutex<()> = Mutex::new(());

/// A thread for whose wait others wait.
#[derive(Clone, Copy)]
pub struct Caller(libc::pid_t);

impl Caller {
    /// The thread that asks.
    pub fn this() -> Caller {
        // SAFETY: a call without pointers.
        Caller(unsafe { libc::gettid() })
    }

    /// Waits until the thread sleeps in the kernel, and has taken the signals that were sent to it.
    pub fn asleep(self) {
        let sleeps = |status: String| {
            let of =
                |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned();
            of("State:").starts_with('S') && of("SigPnd:").chars().all(|digit| digit == '0')
        };
        while !std::fs::read_to_string(format!("/proc/self/task/{}/status", self.0)).is_ok_and(sleeps) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

/// Runs `then` on another thread when the caller waits.
pub fn soon<T: Send + 'static>(then: impl FnOnce() -> T + Send + 'static) -> std::thread::JoinHandle<T> {
    let caller = Caller::this();
    std::thread::spawn(move || {
        caller.asleep();
        then()
    })
}

/// A park without deadline that lasts longer has lost its wake-up.
const PATIENCE: u64 = 20_000_000_000;

type AtPark = Box<dyn FnMut(usize) -> Option<Wake>>;

/// The host. See the module.
pub struct TestHost {
    reactor: Reactor,
    waiter: Cell<u64>,
    woken: Cell<bool>,
    parks: RefCell<Vec<BlockedOn>>,
    at_park: RefCell<Vec<(usize, AtPark)>>,
    gave_way: Cell<usize>,
    gave_way_for_file: Cell<usize>,
    loaded: Cell<usize>,
    keeps_files_in_place: Cell<bool>,
    reads_whole: Cell<bool>,
    reads_hosts_in_place: Cell<bool>,
}

impl TestHost {
    fn new() -> TestHost {
        TestHost {
            reactor: Reactor::new().expect("a reactor"),
            waiter: Cell::new(0),
            woken: Cell::new(false),
            parks: RefCell::default(),
            at_park: RefCell::default(),
            gave_way: Cell::new(0),
            gave_way_for_file: Cell::new(0),
            loaded: Cell::new(0),
            keeps_files_in_place: Cell::new(true),
            reads_whole: Cell::new(false),
            reads_hosts_in_place: Cell::new(false),
        }
    }

    /// Runs what is planned for the n-th park, with suspension disabled and descriptors tracked.
    fn planned(&self, n: usize) -> Option<Wake> {
        let mut answer = None;
        loop {
            let plan = {
                let mut plans = self.at_park.borrow_mut();
                plans.iter().position(|(at, _)| *at == n).map(|i| plans.swap_remove(i))
            };
            let Some((_, mut act)) = plan else { return answer };
            host::disable_suspension();
            answer = act(n).or(answer);
            host::enable_suspension();
        }
    }

    fn wait(&self, deadline: Option<u64>, blocked_on: BlockedOn, through: bool) -> Wake {
        let n = self.parks.borrow().len() + 1;
        self.parks.borrow_mut().push(blocked_on);
        let started = Reactor::now();
        if let Some(wake) = self.planned(n) {
            self.waiter.set(self.waiter.get() + 1);
            return wake;
        }
        let end = loop {
            if self.woken.get() {
                break Wake::Woken;
            }
            let now = Reactor::now();
            if deadline.is_some_and(|d| d <= now) {
                break Wake::TimedOut;
            }
            let rest = deadline.map_or(1_000_000_000, |d| d - now).min(1_000_000_000);
            let turn = self.reactor.turn(Some(rest), |waiter| self.wake(waiter));
            let interrupts = match blocked_on.on_signal {
                OnSignal::Interrupt => turn.signals != 0,
                OnSignal::Restart => (1..=64).any(|s| turn.signals >> (s - 1) & 1 != 0 && !signals::restarts(s)),
                OnSignal::Ignore => false,
            };
            if interrupts && !through && !self.woken.get() {
                break Wake::Interrupted;
            }
            if deadline.is_none() && Reactor::now() - started > PATIENCE {
                eprintln!("lost wake-up: {blocked_on:?}");
                std::process::abort();
            }
        };
        self.waiter.set(self.waiter.get() + 1);
        end
    }
}

impl Host for TestHost {
    fn ends_without_lock(&self, call: &'static str) -> ! {
        eprintln!("{call}: a lost lock");
        std::process::exit(3);
    }

    fn reactor(&self) -> &Reactor {
        &self.reactor
    }

    fn begin_wait(&self) -> Waiter {
        self.woken.set(false);
        self.waiter.set(self.waiter.get() + 1);
        Waiter(self.waiter.get())
    }

    fn park(&self, deadline: Option<u64>, blocked_on: BlockedOn) -> Wake {
        self.wait(deadline, blocked_on, false)
    }

    fn park_uncancellable(&self, blocked_on: BlockedOn) {
        self.wait(None, blocked_on, true);
    }

    fn wake(&self, waiter: Waiter) {
        if waiter.0 == self.waiter.get() {
            self.woken.set(true);
        }
    }

    fn yield_if_due(&self) {
        self.gave_way.set(self.gave_way.get() + 1);
    }

    fn yield_for_file(&self, at_end: bool) {
        if at_end {
            return self.yield_if_due();
        }
        self.gave_way_for_file.set(self.gave_way_for_file.get() + 1);
    }

    fn coroutine(&self) -> u64 {
        1
    }

    fn library_loaded(&self) {
        self.loaded.set(self.loaded.get() + 1);
    }

    fn keeps_files_in_place(&self) -> bool {
        self.keeps_files_in_place.get()
    }

    fn reads_whole(&self, _path: &CStr) -> bool {
        self.reads_whole.get()
    }

    fn reads_hosts_in_place(&self) -> bool {
        self.reads_hosts_in_place.get()
    }
}

/// One test's turn, with suspension enabled on its thread.
pub struct Test {
    host: &'static TestHost,
    _turn: MutexGuard<'static, ()>,
}

impl Test {
    /// Waits for its turn and enables suspension.
    pub fn new() -> Test {
        let turn = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
        let host: &'static TestHost = Box::leak(Box::new(TestHost::new()));
        // Signals are the process's: an earlier test's are not this one's.
        host.reactor.turn(Some(0), |_| ());
        host::set_host(host);
        host::attach_thread();
        host::enable_suspension();
        Test { host, _turn: turn }
    }

    /// The host.
    pub fn host(&self) -> &'static TestHost {
        self.host
    }

    /// The reactor.
    pub fn reactor(&self) -> &'static Reactor {
        &self.host.reactor
    }

    /// Runs `then` as code outside coroutines does: suspension is disabled, descriptors are tracked.
    pub fn outside<T>(&self, then: impl FnOnce() -> T) -> T {
        host::disable_suspension();
        let value = then();
        host::enable_suspension();
        value
    }

    /// From now on, files that are opened are read whole.
    pub fn read_whole(&self, whole: bool) {
        self.host.reads_whole.set(whole);
    }

    /// Lets calls on files that were slow go to the thread pool. Else the parks of a test would depend on how busy the machine is.
    pub fn slow_files_on_workers(&self) {
        self.host.keeps_files_in_place.set(false);
    }

    /// Looks names up in place that are in `/etc/hosts`. Else they are an example of names that are not.
    pub fn hosts_in_place(&self) {
        self.host.reads_hosts_in_place.set(true);
    }

    /// How often a call was parked since the test began.
    pub fn parks(&self) -> usize {
        self.host.parks.borrow().len()
    }

    /// What the last parked call waited for.
    pub fn last_park(&self) -> BlockedOn {
        *self.host.parks.borrow().last().expect("a call was parked")
    }

    /// How many calls that needed no waiting gave way.
    pub fn gave_way(&self) -> usize {
        self.host.gave_way.get()
    }

    /// How many file reads gave way.
    pub fn gave_way_for_file(&self) -> usize {
        self.host.gave_way_for_file.get()
    }

    /// How often a loaded library was reported.
    pub fn loaded(&self) -> usize {
        self.host.loaded.get()
    }

    /// At the n-th park from now on (1 is the next) `act` runs before the reactor turns.
    pub fn at_park(&self, n: usize, mut act: impl FnMut() + 'static) {
        let act = move |_: usize| {
            act();
            None
        };
        self.host.at_park.borrow_mut().push((self.parks() + n, Box::new(act)));
    }

    /// The n-th park from now on ends at once with `wake`.
    pub fn inject(&self, n: usize, wake: Wake) {
        self.host.at_park.borrow_mut().push((self.parks() + n, Box::new(move |_| Some(wake))));
    }

    /// Lets the reactor see what has happened; hands out waiters.
    pub fn turn(&self) {
        self.host.reactor.turn(Some(0), |waiter| self.host.wake(waiter));
    }
}

impl Drop for Test {
    fn drop(&mut self) {
        host::disable_suspension();
        host::detach_thread();
    }
}

/// What a call did: its result and, if it failed, `errno`.
pub fn outcome<T: Copy + PartialEq + From<i8>>(result: T) -> (T, i32) {
    (result, if result == T::from(-1) { host::errno() } else { 0 })
}
