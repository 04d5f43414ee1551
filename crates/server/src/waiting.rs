//! Bytes of responses that wait for their clients.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Set in [`Waiting::bytes`] when its connection counts no more.
const LEFT: usize = 1 << (usize::BITS - 1);

/// How many bytes wait for the client of a connection, and for all clients. Some are dropped by other threads, which compress.
pub struct Waiting {
    bytes: AtomicUsize,
    all: Arc<AtomicUsize>,
}

impl Waiting {
    /// Creates the counter of a connection.
    pub fn new(all: &Arc<AtomicUsize>) -> Arc<Waiting> {
        Arc::new(Waiting { bytes: AtomicUsize::new(0), all: Arc::clone(all) })
    }

    /// Returns the number of bytes that wait; 0 for a closed connection.
    pub fn bytes(&self) -> usize {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes & LEFT == 0 { bytes } else { 0 }
    }

    /// Counts bytes from now on until they are dropped.
    pub fn count(self: &Arc<Self>, bytes: Bytes) -> Bytes {
        if self.bytes.fetch_add(bytes.len(), Ordering::Relaxed) & LEFT == 0 {
            self.all.fetch_add(bytes.len(), Ordering::Relaxed);
        }
        Bytes::from_owner(Counted { bytes, waiting: Arc::clone(self) })
    }

    /// The connection is closed: its bytes are no longer counted.
    pub fn detach(&self) {
        let bytes = self.bytes.fetch_or(LEFT, Ordering::Relaxed);
        if bytes & LEFT == 0 {
            self.all.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

struct Counted {
    bytes: Bytes,
    waiting: Arc<Waiting>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let count = self.bytes.len();
        if self.waiting.bytes.fetch_sub(count, Ordering::Relaxed) & LEFT == 0 {
            self.waiting.all.fetch_sub(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_count_until_the_last_part_is_dropped_or_the_connection_ends() {
        let all = Arc::default();
        let (one, other) = (Waiting::new(&all), Waiting::new(&all));
        let total = || all.load(Ordering::Relaxed);
        let mut bytes = one.count(Bytes::from(vec![1; 100]));
        let part = bytes.split_to(10);
        let kept = other.count(Bytes::from(vec![2; 1000]));
        assert_eq!((one.bytes(), other.bytes(), total()), (100, 1000, 1100));
        assert_eq!(&part[..], &[1; 10]);
        drop(bytes);
        assert_eq!((one.bytes(), total()), (100, 1100));
        drop(part);
        assert_eq!((one.bytes(), total()), (0, 1000));
        other.detach();
        other.detach();
        assert_eq!((other.bytes(), total()), (0, 0));
        let late = other.count(Bytes::from(vec![3; 5]));
        drop((kept, late));
        assert_eq!((other.bytes(), total()), (0, 0));
    }
}
