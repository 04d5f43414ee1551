//! The words that the scheduler and its host speak in.

/// Names a coroutine as long as its slot is held (until [`super::Core::release`]).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Co(pub u32);

/// One park of one coroutine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    /// Whose.
    pub co: Co,
    pub(super) epoch: u32,
}

impl Ticket {
    /// The ticket in one word.
    pub fn to_u64(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.co.0)
    }

    /// The ticket from its word.
    pub fn from_u64(word: u64) -> Ticket {
        Ticket { co: Co(word as u32), epoch: (word >> 32) as u32 }
    }
}

/// Why a park ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// Somebody used the ticket.
    Woken,
    /// Its deadline passed.
    TimedOut,
    /// A cancellation waits: [`super::Core::take_cancellation`].
    Cancelled,
    /// A caught signal.
    Interrupted,
}

/// What a parked coroutine depends on, for the deadlock question and for signals.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum On {
    /// Other coroutines only: if none can run, it waits for ever.
    Coroutines,
    /// The world outside; `true`: a caught signal ends it.
    Outside {
        /// Caught signals end this park, if `restart` does not forbid.
        interruptible: bool,
        /// A signal with `SA_RESTART` does not end it.
        restart: bool,
    },
    /// A time only.
    Timer,
    /// Its place in the queue: it gave way.
    Turn,
}

/// Where a coroutine is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// In the queue, never run.
    Queued,
    /// The one that runs.
    Running,
    /// Waits for something.
    Parked,
    /// In the queue, to go on.
    Ready,
    /// Ended.
    Done,
}

/// How a coroutine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It returned.
    Returned,
    /// It threw.
    Failed,
    /// Its cancellation was not caught, or came before its start.
    Cancelled,
}

/// What can be awaited.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// The end of a coroutine.
    Coroutine(Co),
    /// A point in time.
    Timeout(TimeoutId),
}

/// Names a timeout until [`super::Core::drop_timeout`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TimeoutId(pub u32);

/// The answer to a cancellation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cancel {
    /// It will be delivered; a coroutine that waited goes on now.
    Accepted,
    /// An earlier one still waits to be delivered: this one is ignored.
    Pending,
    /// It has ended: nothing happens.
    TooLate,
}

/// In which order the ready ones run.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// First in, first out.
    Fifo,
    /// Any, by a seed: for tests that must not depend on the order.
    Seeded(u64),
}

/// What [`super::Core::next_to_run`] says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// Start this one.
    Start(Co),
    /// This one goes on.
    Resume(Co),
    /// This one was cancelled before it ever ran: complete it.
    NeverStarts(Co),
    /// Nobody is ready.
    Nobody,
}
