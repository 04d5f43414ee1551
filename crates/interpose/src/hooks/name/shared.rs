//! One look-up for all coroutines that ask the same question at the same time.
//!
//! A coroutine joins a look-up of the same question that has not ended, if the files that decide on the answer have not changed
//! since it began. Nothing is kept: a question that comes later is looked up anew.
//!
//! Each asker gets a value of its own; the last one gets that of libc. The look-up belongs to all of them: it continues when the
//! coroutine that began it is cancelled, and only its last asker abandons it.

use super::config;
use super::lookup::{Answer, Lookup, answered, ask, look_up};
use crate::host::{BlockedOn, Host, OnSignal, Wake, errno, set_errno};
use crate::php_cell::PhpCell;
use crate::wait::time::MILLISECOND;
use spindle_reactor::{JobKind, Reactor, Remote, Waiter};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How old (ns) a look-up that a coroutine joins may be. A server may give another answer now, or be there again: no question is
/// answered by what was asked longer ago.
const JOIN_WITHIN: u64 = 100 * MILLISECOND;

/// A value that each asker gets a copy of.
pub(super) trait Share: Send + 'static {
    /// Returns a copy, which its holder may use and release as it would the original.
    fn share(&self) -> Self;
}

/// The look-ups under way, by question.
pub(super) struct Requests<T>(Option<HashMap<Vec<u8>, Arc<Request<T>>>>);

struct Request<T> {
    question: Vec<u8>,
    began: u64,
    state: Mutex<State<T>>,
}

struct State<T> {
    progress: Progress<T>,
    /// Coroutines that have not taken their answer.
    askers: usize,
    /// Those of them that the end of the job does not wake by itself.
    joined: Vec<Waiter>,
}

enum Progress<T> {
    Queued,
    Running,
    /// The value is there until the last asker has taken it.
    Done(Option<Answer<T>>),
    /// The pool has dropped the job without running it.
    Refused,
    /// The job has panicked.
    Failed,
}

impl<T> Request<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn is_under_way(&self) -> bool {
        matches!(self.progress, Progress::Queued | Progress::Running)
    }
}

/// The job's hold on its request: however it ends, those who wait are woken.
struct Run<T> {
    request: Arc<Request<T>>,
    remote: Remote,
}

impl<T> Run<T> {
    fn run(self, job: impl FnOnce() -> Answer<T>) {
        self.request.lock().progress = Progress::Running;
        let answer = job();
        let mut state = self.request.lock();
        if state.askers > 0 {
            state.progress = Progress::Done(Some(answer));
        } else {
            state.progress = Progress::Done(None);
            drop(state);
            drop(answer); // outside of the lock: it is released by libc
        }
    }
}

impl<T> Drop for Run<T> {
    fn drop(&mut self) {
        let mut state = self.request.lock();
        match state.progress {
            Progress::Queued => state.progress = Progress::Refused,
            Progress::Running => state.progress = Progress::Failed,
            _ => {}
        }
        let joined = std::mem::take(&mut state.joined);
        drop(state);
        for waiter in joined {
            self.remote.wake(waiter);
        }
    }
}

/// What an asker leaves with.
enum Outcome<T> {
    Answered(Answer<T>),
    Refused,
    NoAnswer,
}

impl<T: Share> Requests<T> {
    pub(super) const fn new() -> Self {
        Requests(None)
    }

    /// Forgets all look-ups: in the child of a fork, and once the coroutines that wait have been abandoned.
    pub(super) fn clear(&mut self) {
        self.0 = None;
    }

    /// Adds an asker to a look-up that is under way, or to a new one: then `true`.
    fn join_or_begin(&mut self, question: Vec<u8>, now: u64, waiter: Waiter) -> (Arc<Request<T>>, bool) {
        let requests = self.0.get_or_insert_default();
        if let Some(request) = requests.get(&question).filter(|request| now < request.began + JOIN_WITHIN) {
            let mut state = request.lock();
            if state.is_under_way() {
                state.askers += 1;
                state.joined.push(waiter);
                return (Arc::clone(request), false);
            }
        }
        let state = State { progress: Progress::Queued, askers: 1, joined: Vec::new() };
        let request = Arc::new(Request { question: question.clone(), began: now, state: Mutex::new(state) });
        requests.insert(question, Arc::clone(&request));
        (request, true)
    }

    /// Removes an asker. A look-up without askers can no longer be joined.
    fn leave(&mut self, request: &Arc<Request<T>>, waiter: Waiter) -> Outcome<T> {
        let mut state = request.lock();
        state.askers -= 1;
        state.joined.retain(|other| *other != waiter);
        let is_last = state.askers == 0;
        let ended = !state.is_under_way();
        let outcome = match &mut state.progress {
            Progress::Done(answer) if is_last => answer.take().map_or(Outcome::NoAnswer, Outcome::Answered),
            Progress::Done(answer) => answer.as_ref().map_or(Outcome::NoAnswer, |answer| {
                Outcome::Answered(Answer { value: answer.value.share(), ..*answer })
            }),
            Progress::Refused => Outcome::Refused,
            Progress::Queued | Progress::Running | Progress::Failed => Outcome::NoAnswer,
        };
        drop(state);
        if (is_last || ended)
            && let Some(requests) = &mut self.0
            && requests.get(&request.question).is_some_and(|other| Arc::ptr_eq(other, request))
        {
            requests.remove(&request.question);
        }
        outcome
    }
}

/// Returns the key that tells a call with these arguments, under the present configuration, from others. `None` if there is no
/// such key. Preserves `errno`.
pub(super) fn question(call: &str, arguments: &[Option<&[u8]>]) -> Option<Vec<u8>> {
    let saved = errno();
    let mut whole = config::fingerprint();
    if let Some(whole) = &mut whole {
        config::push(whole, Some(call.as_bytes()));
        arguments.iter().for_each(|part| config::push(whole, *part));
    }
    set_errno(saved);
    whole
}

/// Runs `job` in the thread pool, or waits for the look-up of the same question. Sets the error numbers that it left.
///
/// All that `job` depends on is in the question; without one it is looked up alone.
pub(super) fn look_up_shared<T: Share>(
    host: &dyn Host,
    requests: &'static PhpCell<Requests<T>>,
    call: &'static str,
    question: Option<Vec<u8>>,
    job: impl FnOnce() -> T + Send + 'static,
) -> Lookup<T> {
    let Some(question) = question else { return look_up(host, call, job, |_| ()) };
    let saved = errno();
    let waiter = host.begin_wait();
    let now = Reactor::now();
    let (request, is_first) = requests.with(host, |requests| requests.join_or_begin(question, now, waiter));
    if is_first {
        let run = Run { request: Arc::clone(&request), remote: host.reactor().remote() };
        let job = move || run.run(|| ask(job));
        if host.reactor().submit(JobKind::Unbounded, job, waiter).is_err() {
            requests.with(host, |requests| requests.leave(&request, waiter));
            set_errno(saved);
            return Lookup::InPlace;
        }
    }
    let wake = host.park_for_job(BlockedOn { call, fd: -1, on_signal: OnSignal::Ignore });
    match requests.with(host, |requests| requests.leave(&request, waiter)) {
        Outcome::Answered(answer) => Lookup::Done(answered(answer, saved)),
        Outcome::Refused if wake == Wake::Woken => {
            set_errno(saved);
            Lookup::InPlace
        }
        Outcome::Refused | Outcome::NoAnswer => {
            set_errno(wake.error().unwrap_or(libc::ECANCELED));
            Lookup::Cancelled
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Weak;

    /// A value that counts its copies.
    struct Counted(Arc<()>);

    impl Share for Counted {
        fn share(&self) -> Self {
            Counted(Arc::clone(&self.0))
        }
    }

    struct Table {
        requests: Requests<Counted>,
        remote: Remote,
        alive: Weak<()>,
    }

    impl Table {
        fn new() -> Table {
            let reactor = Reactor::new().unwrap();
            Table { requests: Requests::new(), remote: reactor.remote(), alive: Weak::new() }
        }

        fn ask(&mut self, question: &[u8], now: u64, waiter: u64) -> (Arc<Request<Counted>>, bool) {
            self.requests.join_or_begin(question.to_vec(), now, Waiter(waiter))
        }

        fn end(&mut self, request: &Arc<Request<Counted>>) {
            let value = Arc::new(());
            self.alive = Arc::downgrade(&value);
            let run = Run { request: Arc::clone(request), remote: self.remote.clone() };
            run.run(|| Answer { value: Counted(value), errno: 7, h_errno: 8 });
        }

        fn leave(&mut self, request: &Arc<Request<Counted>>, waiter: u64) -> Outcome<Counted> {
            self.requests.leave(request, Waiter(waiter))
        }

        fn under_way(&self) -> usize {
            self.requests.0.as_ref().map_or(0, HashMap::len)
        }
    }

    fn value(outcome: Outcome<Counted>) -> Counted {
        let Outcome::Answered(answer) = outcome else { panic!("no answer") };
        assert_eq!((answer.errno, answer.h_errno), (7, 8));
        answer.value
    }

    #[test]
    fn the_same_question_is_asked_once_and_each_asker_has_its_own_answer() {
        let mut table = Table::new();
        let (first, begun) = table.ask(b"a", 0, 1);
        assert!(begun);
        let (second, begun) = table.ask(b"a", JOIN_WITHIN - 1, 2);
        assert!(!begun && Arc::ptr_eq(&first, &second));
        assert!(table.ask(b"b", 0, 3).1, "another question");
        table.end(&first);
        let answers = [table.leave(&second, 2), table.leave(&first, 1)].map(value);
        assert_eq!(table.alive.strong_count(), 2);
        drop(answers);
        assert_eq!((table.alive.strong_count(), table.under_way()), (0, 1));
    }

    #[test]
    fn nobody_joins_what_has_ended_or_began_too_long_ago() {
        let mut table = Table::new();
        let (first, _) = table.ask(b"a", 0, 1);
        table.end(&first);
        let (second, begun) = table.ask(b"a", 1, 2);
        assert!(begun, "it has ended");
        value(table.leave(&first, 1));
        let (third, begun) = table.ask(b"a", JOIN_WITHIN, 3);
        assert!(!begun && Arc::ptr_eq(&second, &third), "the end of the older one is not its own");
        let (late, begun) = table.ask(b"a", JOIN_WITHIN + 1, 4);
        assert!(begun, "it began too long ago");
        for (request, waiter) in [(&second, 2), (&third, 3), (&late, 4)] {
            assert!(matches!(table.leave(request, waiter), Outcome::NoAnswer));
        }
        assert_eq!(table.under_way(), 0);
    }

    #[test]
    fn one_that_is_cancelled_leaves_the_others_their_answer() {
        let mut table = Table::new();
        let (first, _) = table.ask(b"a", 0, 1);
        let (second, _) = table.ask(b"a", 0, 2);
        assert!(matches!(table.leave(&first, 1), Outcome::NoAnswer));
        let (third, begun) = table.ask(b"a", 0, 3);
        assert!(!begun);
        table.end(&first);
        drop((value(table.leave(&second, 2)), value(table.leave(&third, 3))));
        assert_eq!((table.alive.strong_count(), table.under_way()), (0, 0));
    }

    #[test]
    fn what_nobody_waits_for_any_more_is_dropped_and_not_joined() {
        let mut table = Table::new();
        let (first, _) = table.ask(b"a", 0, 1);
        assert!(matches!(table.leave(&first, 1), Outcome::NoAnswer));
        assert!(table.ask(b"a", 0, 2).1);
        table.end(&first);
        assert_eq!(table.alive.strong_count(), 0);
    }

    #[test]
    fn those_who_joined_learn_that_the_job_was_refused_or_failed() {
        let mut table = Table::new();
        let (refused, _) = table.ask(b"a", 0, 1);
        table.ask(b"a", 0, 2);
        drop(Run { request: Arc::clone(&refused), remote: table.remote.clone() });
        assert!(refused.lock().joined.is_empty());
        for waiter in [1, 2] {
            assert!(matches!(table.leave(&refused, waiter), Outcome::Refused));
        }
        let (failed, _) = table.ask(b"a", 0, 3);
        let run = Run { request: Arc::clone(&failed), remote: table.remote.clone() };
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run.run(|| panic!("on purpose"))));
        assert!(panicked.is_err());
        assert!(matches!(table.leave(&failed, 3), Outcome::NoAnswer));
        assert_eq!(table.under_way(), 0);
    }
}
