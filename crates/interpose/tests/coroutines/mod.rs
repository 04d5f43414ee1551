//! A host with real coroutines: stacks of their own, on one thread, first in, first out.
#![allow(dead_code)] // each test binary uses a part

use libc::ucontext_t;
use spindle_interpose::hooks::{fd, sync::mutex, time};
use spindle_interpose::host::{self, BlockedOn, Host, Wake};
use spindle_reactor::{Reactor, Waiter};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

struct Coroutine {
    context: Box<ucontext_t>,
    _stack: Vec<u128>,
    body: Option<Box<dyn FnOnce()>>,
    /// The generation of its present wait, and what ended it.
    wait: u64,
    parked: bool,
    through: bool,
    deadline: Option<u64>,
    wake: Wake,
    ended: bool,
}

/// Coroutines number 1 and up.
pub struct Machine {
    reactor: Reactor,
    all: RefCell<Vec<Coroutine>>,
    ready: RefCell<VecDeque<usize>>,
    current: Cell<usize>,
    home: Cell<*mut ucontext_t>,
    /// Every park of these that can be cancelled is.
    pub cancelled: RefCell<Vec<usize>>,
    /// How often a coroutine has parked.
    pub parks: Cell<usize>,
}

thread_local! {
    static MACHINE: Cell<Option<&'static Machine>> = const { Cell::new(None) };
}

extern "C" fn start() {
    let machine = MACHINE.get().expect("a machine");
    let body = machine.body();
    body();
    machine.end();
    machine.leave();
    unreachable!();
}

impl Machine {
    fn body(&self) -> Box<dyn FnOnce()> {
        self.all.borrow_mut()[self.current.get() - 1].body.take().expect("a body")
    }

    fn end(&self) {
        self.all.borrow_mut()[self.current.get() - 1].ended = true;
    }

    fn leave(&self) {
        let own: *mut ucontext_t = {
            let mut all = self.all.borrow_mut();
            &raw mut *all[self.current.get() - 1].context
        };
        // SAFETY: both contexts are valid; boxes do not move.
        unsafe { libc::swapcontext(own, self.home.get()) };
    }

    fn enter(&self, id: usize) {
        // SAFETY: a zeroed context is filled by the switch.
        let mut home: ucontext_t = unsafe { std::mem::zeroed() };
        self.home.set(&raw mut home);
        let to: *const ucontext_t = {
            let all = self.all.borrow();
            &raw const *all[id - 1].context
        };
        let from = self.current.replace(id);
        // As the host must: the cost is one load when nothing is held.
        if mutex::holds_any() {
            mutex::on_park(from as u64);
            mutex::on_resume(id as u64);
        }
        host::enable_suspension();
        // SAFETY: the coroutine's context is valid; boxes do not move.
        unsafe { libc::swapcontext(&mut home, to) };
        host::disable_suspension();
        if self.all.borrow()[id - 1].ended && mutex::holds_any() {
            mutex::on_end(id as u64);
        }
    }

    /// Starts a coroutine, later.
    pub fn spawn(&self, body: impl FnOnce() + 'static) -> usize {
        let mut stack = vec![0u128; 16 * 1024];
        // SAFETY: the context is filled by `getcontext`; the stack lives as long as the coroutine.
        let context = unsafe {
            let mut context = Box::new(std::mem::zeroed::<ucontext_t>());
            libc::getcontext(&mut *context);
            context.uc_stack.ss_sp = stack.as_mut_ptr().cast();
            context.uc_stack.ss_size = stack.len() * 16;
            libc::makecontext(&mut *context, start, 0);
            context
        };
        let coroutine = Coroutine {
            context,
            _stack: stack,
            body: Some(Box::new(body)),
            wait: 0,
            parked: false,
            through: false,
            deadline: None,
            wake: Wake::Woken,
            ended: false,
        };
        self.all.borrow_mut().push(coroutine);
        let id = self.all.borrow().len();
        self.ready.borrow_mut().push_back(id);
        id
    }

    fn end_wait(&self, id: usize, wake: Wake) {
        let mut all = self.all.borrow_mut();
        let one = &mut all[id - 1];
        if one.parked {
            (one.parked, one.wake) = (false, wake);
            one.wait += 1;
            self.ready.borrow_mut().push_back(id);
        }
    }

    /// Runs all to their end. Panics when nothing moves for some seconds.
    pub fn run(&self) {
        let mut moved = Reactor::now();
        loop {
            let next = self.ready.borrow_mut().pop_front();
            if let Some(id) = next {
                self.enter(id);
                moved = Reactor::now();
                continue;
            }
            if self.all.borrow().iter().all(|c| c.ended) {
                return;
            }
            let now = Reactor::now();
            assert!(now - moved < 5_000_000_000, "a deadlock");
            self.reactor.turn(Some(1_000_000), |waiter| self.wake(waiter));
            let late: Vec<usize> = (1..=self.all.borrow().len())
                .filter(|id| self.all.borrow()[id - 1].deadline.is_some_and(|d| d <= Reactor::now()))
                .collect();
            late.into_iter().for_each(|id| self.end_wait(id, Wake::TimedOut));
        }
    }

    fn wait(&self, deadline: Option<u64>, through: bool) -> Wake {
        let id = self.current.get();
        self.parks.set(self.parks.get() + 1);
        if !through && self.cancelled.borrow().contains(&id) {
            return Wake::Cancelled;
        }
        {
            let mut all = self.all.borrow_mut();
            let one = &mut all[id - 1];
            one.deadline = deadline;
            one.through = through;
            let parked = one.parked;
            drop(all);
            if parked {
                self.leave();
            } else {
                // Woken before it parked.
                self.ready.borrow_mut().retain(|r| *r != id);
            }
        }
        let mut all = self.all.borrow_mut();
        all[id - 1].deadline = None;
        all[id - 1].wake
    }
}

impl Host for Machine {
    fn ends_without_lock(&self, call: &'static str) -> ! {
        panic!("{call}: a lost lock");
    }

    fn reactor(&self) -> &Reactor {
        &self.reactor
    }

    fn begin_wait(&self) -> Waiter {
        let id = self.current.get();
        let mut all = self.all.borrow_mut();
        let one = &mut all[id - 1];
        one.wait += 1;
        one.parked = true; // a wake-up between now and the park is kept
        Waiter((id as u64) << 32 | one.wait)
    }

    fn park(&self, deadline: Option<u64>, _: BlockedOn) -> Wake {
        self.wait(deadline, false)
    }

    fn park_uncancellable(&self, _: BlockedOn) {
        self.wait(None, true);
    }

    fn wake(&self, waiter: Waiter) {
        let id = (waiter.0 >> 32) as usize;
        let present = self.all.borrow()[id - 1].wait;
        if present == waiter.0 & 0xffff_ffff {
            self.end_wait(id, Wake::Woken);
        }
    }

    fn yield_if_due(&self) {}

    fn yield_for_file(&self, _: bool) {}

    fn coroutine(&self) -> u64 {
        self.current.get() as u64
    }

    fn library_loaded(&self) {}
}

static TURNS: Mutex<()> = Mutex::new(());

/// A machine on this thread, for one test.
pub fn with_machine(then: impl FnOnce(&'static Machine)) {
    let _turn = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    let machine: &'static Machine = Box::leak(Box::new(Machine {
        reactor: Reactor::new().expect("a reactor"),
        all: RefCell::default(),
        ready: RefCell::default(),
        current: Cell::new(0),
        home: Cell::new(std::ptr::null_mut()),
        cancelled: RefCell::default(),
        parks: Cell::new(0),
    }));
    MACHINE.set(Some(machine));
    host::set_host(machine);
    host::attach_thread();
    mutex::reset();
    fd::locks::reset();
    then(machine);
    assert!(!mutex::holds_any(), "a lock is still tracked");
    host::detach_thread();
}

/// Lets the others run, at least for some milliseconds.
pub fn nap(ms: u32) {
    // SAFETY: no pointers.
    unsafe { time::usleep(ms * 1_000) };
}
