//! Lines for a reader that may have stopped, such as a pager, or a collector of logs whose disk is full: a thread writes them, in their
//! order, and whoever says one is kept from nothing. Those for which there is no room are counted, and the reader is told how many.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes may wait.
const MOST_BYTES: usize = 1 << 20;

/// When a reader was too slow for a line, none is waited for, for this many times as long.
const REST: u32 = 100;

const STACK_BYTES: usize = 128 * 1024;

/// What the thread does.
pub struct Writer {
    /// How many lines may wait. Further ones are lost, until those are written.
    pub most: usize,
    /// Writes a line, however long that takes. Returns `false` if it fails, as when the reader is gone.
    pub write: fn(&[u8]) -> bool,
    /// The line that says that this many are missing in its place.
    pub missing: Box<dyn Fn(u64) -> Vec<u8> + Send>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Vec<u8>>,
    bytes: usize,
    /// How many were lost after those that wait.
    lost: u64,
    /// How many were lost in all.
    missing: u64,
    is_writing: bool,
    is_over: bool,
}

impl State {
    fn is_busy(&self) -> bool {
        self.is_writing || !self.waiting.is_empty() || self.lost > 0
    }
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// Lines that are written one after the other. In the child of a fork, which does not have the thread, none is taken.
pub struct Lines {
    shared: Arc<Shared>,
    most: usize,
    process: u32,
    /// Until when none is waited for.
    rests: Mutex<Option<Instant>>,
}

impl Lines {
    /// Starts the thread, which handles the signals that this one does.
    ///
    /// # Errors
    /// There is no room for a thread.
    pub fn begin(name: &str, writer: Writer) -> io::Result<Lines> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let most = writer.most;
        let builder = thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
        builder.spawn(move || its.write(&writer))?;
        Ok(Lines { shared, most, process: std::process::id(), rests: Mutex::new(None) })
    }

    /// Whether this process has begun them.
    pub fn are_here(&self) -> bool {
        self.process == std::process::id()
    }

    /// Says a line, whose last byte ends it. If none waits before it, and readers have been quick, it is written when this returns, so
    /// that no crash loses it; `patience` is how long that may take. Returns `false` if it is not taken.
    pub fn say(&self, line: Vec<u8>, patience: Duration) -> bool {
        if !self.are_here() {
            return false;
        }
        let mut state = self.shared.lock();
        let is_first = !state.is_busy();
        let is_too_much = state.waiting.len() >= self.most || state.bytes + line.len() > MOST_BYTES;
        if state.lost > 0 || is_too_much && !is_first {
            state.lost += 1;
            state.missing += 1;
        } else {
            state.bytes += line.len();
            state.waiting.push_back(line);
        }
        self.shared.changed.notify_all();
        let mut rests = self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        if is_first && !patience.is_zero() && rests.is_none_or(|until| until <= Instant::now()) {
            let is_late = self.shared.wait(state, patience);
            *rests = is_late.then(|| Instant::now() + patience * REST);
        }
        true
    }

    /// How many were lost so far.
    pub fn missing(&self) -> u64 {
        if self.are_here() { self.shared.lock().missing } else { 0 }
    }

    /// Waits until all are written, for this long at most.
    pub fn finish(&self, patience: Duration) {
        if self.are_here() {
            self.shared.wait(self.shared.lock(), patience);
        }
    }
}

impl Drop for Lines {
    /// What still waits is not written any more.
    fn drop(&mut self) {
        if self.are_here() {
            self.shared.lock().is_over = true;
            self.shared.changed.notify_all();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // it is whole after each statement
    }

    /// Waits until all are written. Returns `true` if that takes longer than this.
    fn wait(&self, state: MutexGuard<'_, State>, patience: Duration) -> bool {
        let waited = self.changed.wait_timeout_while(state, patience, |state| state.is_busy());
        waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Writes until it is over.
    fn write(&self, writer: &Writer) {
        while let Some(line) = self.next(&writer.missing) {
            let is_written = (writer.write)(&line);
            let mut state = self.lock();
            state.is_writing = false;
            state.missing += u64::from(!is_written);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for the next line, and takes it.
    fn next(&self, missing: &dyn Fn(u64) -> Vec<u8>) -> Option<Vec<u8>> {
        let is_idle = |state: &mut State| !state.is_over && state.waiting.is_empty() && state.lost == 0;
        let mut state = self.changed.wait_while(self.lock(), is_idle).unwrap_or_else(PoisonError::into_inner);
        if state.is_over {
            return None;
        }
        state.is_writing = true;
        let line = state.waiting.pop_front();
        let line = line.inspect(|line| state.bytes -= line.len());
        Some(line.unwrap_or_else(|| missing(std::mem::take(&mut state.lost))))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Lines, MOST_BYTES, Writer};
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::time::{Duration, Instant};

    const MOST: usize = 200;
    const LONG: Duration = Duration::from_secs(60);

    /// The reader: nothing is written while a test holds it.
    static READ: Mutex<Vec<String>> = Mutex::new(Vec::new());
    static TESTS: Mutex<()> = Mutex::new(());

    fn read() -> MutexGuard<'static, Vec<String>> {
        READ.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lines() -> (MutexGuard<'static, ()>, Lines) {
        let alone = TESTS.lock().unwrap_or_else(PoisonError::into_inner);
        read().clear();
        fn write(line: &[u8]) -> bool {
            read().push(String::from_utf8_lossy(line).trim_end().to_owned());
            line != b"fails\n"
        }
        let missing = Box::new(|count| format!("{count} are missing\n").into_bytes());
        (alone, Lines::begin("lines", Writer { most: MOST, write, missing }).unwrap())
    }

    #[test]
    fn a_line_is_written_when_it_was_said() {
        let (_alone, lines) = lines();
        for number in 0..1000 {
            assert!(lines.say(format!("{number}\n").into_bytes(), LONG));
            assert_eq!(read().last(), Some(&number.to_string()));
        }
        lines.say(b"fails\n".to_vec(), LONG);
        assert_eq!(lines.missing(), 1);
    }

    #[test]
    fn a_reader_that_stops_is_waited_for_once() {
        let (_alone, lines) = lines();
        let stops = read();
        let began = Instant::now();
        let patience = Duration::from_millis(50);
        lines.say(b"first\n".to_vec(), patience);
        assert!(began.elapsed() >= patience);
        let began = Instant::now();
        for _ in 0..10 * MOST {
            lines.say(b"further\n".to_vec(), LONG);
        }
        // One that is as long as all that may wait is lost as well.
        lines.say(vec![b'x'; MOST_BYTES], LONG);
        assert!(began.elapsed() < LONG);
        assert_eq!(lines.missing(), 9 * MOST as u64 + 1);
        drop(stops);
        lines.finish(LONG);
        assert_eq!(read().len(), MOST + 2);
        assert_eq!(read().last(), Some(&format!("{} are missing", 9 * MOST + 1)));
        // Right after that none is waited for, and later each is again.
        let stops = read();
        let began = Instant::now();
        lines.say(b"then\n".to_vec(), LONG);
        assert!(began.elapsed() < LONG);
        drop(stops);
        lines.finish(LONG);
        lines.say(vec![b'x'; 2 * MOST_BYTES], LONG);
        lines.finish(LONG);
        assert_eq!(read().last().map(String::len), Some(2 * MOST_BYTES));
    }
}
