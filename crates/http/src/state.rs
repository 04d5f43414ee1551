//! The state of a server: that of an object of the class, and what its coroutines share.

use crate::application::{Application, Owner};
use crate::driver::Events;
use crate::log::Log;
use crate::server_variables::Variables;
use spindle_php::coroutine::WaitSet;
use spindle_server::{Server as Core, Settings};
use spindle_zend::{
    Class, Collected, FunctionEntry, Instance, Object, Owned, PhpStatic, State, Thrown, ValueCell, exception,
    object_class,
};
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

/// The state of an object of the class.
pub struct Server {
    pub handler: ValueCell,
    /// What is called when a fatal error has ended a request.
    pub on_fatal_error: ValueCell,
    /// The application, in application mode.
    pub application: Application,
    pub log: Log,
    /// Whether requests have a PHP request state each (worker mode).
    pub is_worker: Cell<bool>,
    /// What `$_SERVER` has in all requests.
    pub variables: OnceCell<Variables>,
    pub inner: OnceCell<Rc<Inner>>,
}

/// What the coroutines of a server share.
pub struct Inner {
    pub core: Core,
    pub set: Rc<WaitSet>,
    /// See [`Events`].
    pub waits: Rc<Cell<bool>>,
    pub addresses: RefCell<Vec<String>>,
    pub is_running: Cell<bool>,
    /// Why it stops, and the exception with which `run()` has ended.
    pub stop_text: RefCell<String>,
    pub ended_with: RefCell<Option<Owned<Object>>>,
    /// The process in which it runs.
    pub process: Cell<u32>,
    /// A fatal error has ended a request: the process should end soon.
    pub is_poisoned: Cell<bool>,
    /// User code is still to be told that.
    pub should_notify: Cell<bool>,
    /// Failures of coroutines whose handler has ended.
    pub failures: RefCell<Vec<Owned<Object>>>,
}

object_class!(pub static SERVER: Server);

/// The servers of this request.
static ALL: PhpStatic<RefCell<Vec<Weak<Inner>>>> = PhpStatic::new(RefCell::new(Vec::new()));

/// Registers the class. At module start.
pub fn register(methods: &[FunctionEntry]) {
    SERVER.declare(c"Async\\Http\\Server", methods, &[]);
}

impl Inner {
    /// Returns `true` if it runs in this process, and not in one that has forked this one.
    pub fn is_here(&self) -> bool {
        self.process.get() == std::process::id()
    }
}

/// Returns the servers of this request.
pub fn all() -> Vec<Rc<Inner>> {
    ALL.borrow().iter().filter_map(Weak::upgrade).collect()
}

/// Closes all connections and sockets. At the end of the request.
pub fn close_all() {
    for server in ALL.take() {
        if let Some(server) = server.upgrade() {
            server.core.close();
            server.failures.take();
        }
    }
}

impl State for Server {
    fn new(_: Class) -> Server {
        Server {
            handler: ValueCell::new(),
            on_fatal_error: ValueCell::new(),
            is_worker: Cell::new(false),
            variables: OnceCell::new(),
            application: Application::default(),
            log: Log::default(),
            inner: OnceCell::new(),
        }
    }

    fn free(this: &Instance<Server>) {
        if let Some(inner) = this.inner.get() {
            inner.core.close();
        }
    }

    fn collect(&self, values: &mut Collected) {
        values.cell(&self.handler);
        values.cell(&self.on_fatal_error);
        values.cell(&self.log.to);
        values.cell(&self.log.writing);
        self.application.collect(values);
    }
}

impl Server {
    /// The state that the constructor has created.
    ///
    /// # Errors
    /// The constructor has not run.
    pub fn inner(&self) -> Result<&Rc<Inner>, Thrown> {
        self.inner.get().ok_or_else(|| exception::throw_error("The server was not constructed"))
    }
}

impl Inner {
    /// Returns a server that listens nowhere.
    pub fn new(settings: Settings) -> Rc<Inner> {
        let (set, waits) = (Rc::new(WaitSet::new()), Rc::new(Cell::new(false)));
        let events = Events { set: Rc::clone(&set), waits: Rc::clone(&waits) };
        let inner = Rc::new(Inner {
            core: Core::new(settings, Box::new(events)),
            set,
            waits,
            addresses: RefCell::default(),
            is_running: Cell::new(false),
            stop_text: RefCell::default(),
            ended_with: RefCell::default(),
            process: Cell::new(0),
            is_poisoned: Cell::new(false),
            should_notify: Cell::new(false),
            failures: RefCell::default(),
        });
        let mut all = ALL.borrow_mut();
        all.retain(|server| server.strong_count() > 0);
        all.push(Rc::downgrade(&inner));
        inner
    }

    /// Returns this, as its application sees it.
    pub fn owner(self: &Rc<Inner>) -> Rc<dyn Owner> {
        Rc::clone(self) as Rc<dyn Owner>
    }

    /// Ends the wait of `run()`.
    pub fn wake(&self) {
        if self.waits.replace(false) {
            self.set.wake();
        }
    }
}

impl Owner for Inner {
    fn wake(&self) {
        Inner::wake(self);
    }

    fn failed(&self, failure: &Object) {
        self.failures.borrow_mut().push(Owned::of(failure));
        self.wake();
    }

    fn is_damaged(&self) {
        if !self.is_poisoned.replace(true) {
            self.should_notify.set(true);
        }
        self.core.drain(Some(self.core.settings().fatal_grace));
        self.wake();
    }

    fn is_stopping(&self) -> bool {
        self.core.is_draining()
    }

    fn instance_requests(&self) -> u64 {
        self.core.settings().instance_requests
    }

    fn limits_of_ends(&self) -> (u64, u64) {
        let settings = self.core.settings();
        (settings.request_timeout, settings.cancel_grace)
    }
}
