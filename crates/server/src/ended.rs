//! How requests have ended, in numbers: by status and by duration.

use crate::board::Board;
use crate::tallies::{BOUNDS, CLASSES, DURATION_CLASSES, DURATIONS, RESPONSES};
use std::cell::Cell;

/// The status of a request without a response: its client had left before, or its handler has failed to give one.
pub const NO_RESPONSE: u16 = 499;

/// The numbers. Each request is in one class of either kind, so that counting it costs two additions and a few comparisons.
#[derive(Default)]
pub struct Ended {
    responses: [Cell<u64>; CLASSES.len()],
    durations: [Cell<u64>; DURATION_CLASSES],
    /// The sum of the durations, in nanoseconds.
    sum: Cell<u64>,
    /// Something has changed since the board was told.
    is_news: Cell<bool>,
}

fn add(to: &Cell<u64>, number: u64) {
    to.set(to.get().wrapping_add(number));
}

impl Ended {
    /// Counts a request, which has taken this many nanoseconds; `None` for a WebSocket, whose duration is that of a connection.
    pub fn count(&self, status: u16, duration: Option<u64>) {
        let class = if status == NO_RESPONSE { CLASSES.len() } else { usize::from(status / 100) };
        add(&self.responses[class.clamp(1, CLASSES.len()) - 1], 1);
        if let Some(duration) = duration {
            let class = BOUNDS.iter().position(|bound| duration <= *bound).unwrap_or(BOUNDS.len());
            add(&self.durations[class], 1);
            add(&self.sum, duration);
        }
        self.is_news.set(true);
    }

    /// Tells the other processes, if there is something new.
    pub fn tell(&self, board: &Board) {
        if self.is_news.replace(false) {
            board.tell(RESPONSES, self.responses.iter().map(Cell::get));
            board.tell(DURATIONS, self.durations.iter().chain([&self.sum]).map(Cell::get));
        }
    }
}
