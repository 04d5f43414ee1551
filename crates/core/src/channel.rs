//! Channels: values handed from senders to receivers, in order of arrival on both sides.
//!
//! A sender hands its value to the receiver that has waited longest; if none waits, to the buffer; if that is full, it waits
//! with its value. So a woken waiter has what it waited for, and does not try again.
//!
//! A waiter that cannot be woken (`wake` returns `false`) is passed over: it was cancelled, or another operation that it waits
//! for has been carried out. One that was handed a value and is cancelled before it runs [returns](Channel::give_back) it.
//!
//! No value is dropped here: dropping one may run code that uses the channel.

use crate::wait_list::{WaitList, Waiting};
use std::collections::VecDeque;

/// How a wait has ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended<T> {
    /// A receiver was handed a value. The number is that of the hand-off.
    Received(T, u64),
    /// The value of a sender was taken.
    Sent,
    /// The channel was closed. A sender gets its value back.
    Closed(Option<T>),
    /// Nothing has happened. A sender gets its value back.
    Pending(Option<T>),
}

/// The result of an attempt to receive.
#[derive(Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// A value.
    Value(T),
    /// There is none.
    Empty,
    /// There is none, and none will come.
    Closed,
}

/// Why a value was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No receiver waits, and the buffer is full.
    Full,
    /// The channel is closed.
    Closed,
}

#[derive(Debug)]
enum Slot<T> {
    /// Waits; a sender with its value.
    Pending(Option<T>),
    Received(T, u64),
    Sent,
    Closed(Option<T>),
}

/// A channel of values of type `T`, whose waiters are named by `W`.
#[derive(Debug)]
pub struct Channel<T, W> {
    capacity: usize,
    buffer: VecDeque<T>,
    /// Values that were handed to receivers which were cancelled, with the numbers of the hand-offs, in that order. They are
    /// older than those of the buffer.
    returned: VecDeque<(u64, T)>,
    receivers: WaitList<W, Slot<T>>,
    senders: WaitList<W, Slot<T>>,
    handed: u64,
    closed: bool,
}

impl<T, W: Copy> Channel<T, W> {
    /// Returns an open channel that buffers up to `capacity` values; with 0, a sender waits for a receiver.
    pub const fn new(capacity: usize) -> Channel<T, W> {
        Channel {
            capacity,
            buffer: VecDeque::new(),
            returned: VecDeque::new(),
            receivers: WaitList::new(),
            senders: WaitList::new(),
            handed: 0,
            closed: false,
        }
    }

    /// Returns how many values it buffers at most.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns how many values can be received without a sender.
    pub fn len(&self) -> usize {
        self.buffer.len() + self.returned.len()
    }

    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns `true` if the buffer has no room.
    pub fn is_full(&self) -> bool {
        self.len() >= self.capacity
    }

    /// Returns `true` if it is closed. Values may still be received.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns how many receivers wait.
    pub fn receivers(&self) -> usize {
        self.receivers.len()
    }

    /// Returns how many senders wait.
    pub fn senders(&self) -> usize {
        self.senders.len()
    }

    /// Returns `true` if receiving may need no wait: always if it needs none.
    #[inline]
    pub fn may_receive(&self) -> bool {
        // Most calls find nothing, so all four are checked in one test.
        self.returned.len() | self.buffer.len() | self.senders.len() | usize::from(self.closed) != 0
    }

    /// Returns `true` if sending may need no wait, as [`may_receive`](Channel::may_receive).
    pub fn may_send(&self) -> bool {
        self.closed || !self.receivers.is_empty() || self.buffer.len() < self.capacity
    }

    /// Receives the oldest value. A sender that waits moves its value into the buffer.
    #[inline]
    pub fn try_receive(&mut self, wake: impl FnMut(W) -> bool) -> Received<T> {
        if self.returned.is_empty()
            && self.senders.is_empty()
            && let Some(value) = self.buffer.pop_front()
        {
            return Received::Value(value);
        }
        self.try_take(wake)
    }

    fn try_take(&mut self, mut wake: impl FnMut(W) -> bool) -> Received<T> {
        if let Some((_, value)) = self.returned.pop_front() {
            return Received::Value(value);
        }
        match self.buffer.pop_front() {
            Some(value) => {
                if let Some(next) = self.take_from_sender(&mut wake) {
                    self.buffer.push_back(next);
                }
                Received::Value(value)
            }
            None => match self.take_from_sender(&mut wake) {
                Some(value) => Received::Value(value),
                None if self.closed => Received::Closed,
                None => Received::Empty,
            },
        }
    }

    fn take_from_sender(&mut self, wake: &mut impl FnMut(W) -> bool) -> Option<T> {
        let slot = self.senders.wake_first_holder(wake)?;
        match std::mem::replace(slot, Slot::Sent) {
            Slot::Pending(value) => value,
            other => {
                *slot = other;
                None
            }
        }
    }

    /// Sends a value to a receiver that waits, or to the buffer.
    ///
    /// # Errors
    /// The value, and why it was not sent.
    #[inline]
    pub fn try_send(&mut self, value: T, wake: impl FnMut(W) -> bool) -> Result<(), (T, Refused)> {
        if self.receivers.is_empty() && self.buffer.len() < self.capacity && !self.closed {
            self.buffer.push_back(value);
            return Ok(());
        }
        self.try_hand_over(value, wake)
    }

    fn try_hand_over(&mut self, value: T, wake: impl FnMut(W) -> bool) -> Result<(), (T, Refused)> {
        if self.closed {
            return Err((value, Refused::Closed));
        }
        let number = self.handed;
        let Some(value) = self.hand_over(value, number, wake) else {
            self.handed += 1;
            return Ok(());
        };
        if self.buffer.len() < self.capacity {
            self.buffer.push_back(value);
            return Ok(());
        }
        Err((value, Refused::Full))
    }

    /// Hands a value to the receiver that has waited longest. Returns it if none waits.
    fn hand_over(&mut self, value: T, number: u64, wake: impl FnMut(W) -> bool) -> Option<T> {
        let Some(slot) = self.receivers.wake_first_holder(wake) else { return Some(value) };
        *slot = Slot::Received(value, number);
        None
    }

    /// Returns a value that a receiver was handed and did not take to the next receiver or to the channel. `number` is that of
    /// the hand-off: values that are returned in another order keep the one in which they were sent.
    pub fn give_back(&mut self, value: T, number: u64, wake: impl FnMut(W) -> bool) {
        if let Some(value) = self.hand_over(value, number, wake) {
            let at = self.returned.partition_point(|(other, _)| *other < number);
            self.returned.insert(at, (number, value));
        }
    }

    /// Adds a receiver, for which there is no value. `first`: before all others, because it was passed over while it waited.
    pub fn wait_to_receive(&mut self, waiter: W, first: bool) -> Waiting {
        let slot = Slot::Pending(None);
        if first { self.receivers.push_front(waiter, slot) } else { self.receivers.push_back(waiter, slot) }
    }

    /// Adds a sender, for whose value there is no room. `first`: as for [`Channel::wait_to_receive`].
    pub fn wait_to_send(&mut self, value: T, waiter: W, first: bool) -> Waiting {
        let slot = Slot::Pending(Some(value));
        if first { self.senders.push_front(waiter, slot) } else { self.senders.push_back(waiter, slot) }
    }

    /// Removes a receiver, and returns how its wait has ended. It has to take what it was handed, or give it back.
    pub fn end_receive(&mut self, waiting: Waiting) -> Ended<T> {
        end(&mut self.receivers, waiting)
    }

    /// Removes a sender, and returns how its wait has ended.
    pub fn end_send(&mut self, waiting: Waiting) -> Ended<T> {
        end(&mut self.senders, waiting)
    }

    /// Closes the channel, and wakes all who wait. Returns `false` if it was closed before.
    pub fn close(&mut self, mut wake: impl FnMut(W) -> bool) -> bool {
        if std::mem::replace(&mut self.closed, true) {
            return false;
        }
        for list in [&mut self.receivers, &mut self.senders] {
            while let Some(slot) = list.wake_first_holder(&mut wake) {
                if let Slot::Pending(value) = slot {
                    *slot = Slot::Closed(value.take());
                }
            }
        }
        true
    }

    /// Closes the channel, and returns all values that it holds: nothing receives or gets back any of them.
    pub fn end(&mut self, wake: impl FnMut(W) -> bool) -> Vec<T> {
        self.close(wake);
        let of_waiters = self.receivers.contents_mut().chain(self.senders.contents_mut());
        // One that could not be woken, because it is cancelled, finds the channel closed too.
        let of_waiters = of_waiters.filter_map(|slot| match std::mem::replace(slot, Slot::Closed(None)) {
            Slot::Pending(value) | Slot::Closed(value) => value,
            Slot::Received(value, _) => Some(value),
            Slot::Sent => None,
        });
        let returned = self.returned.drain(..).map(|(_, value)| value);
        self.buffer.drain(..).chain(returned).chain(of_waiters).collect()
    }

    /// Returns all values that it holds, those of senders that wait and those that were handed over included.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        let of_waiters = self.receivers.contents().chain(self.senders.contents()).filter_map(|slot| match slot {
            Slot::Pending(value) | Slot::Closed(value) => value.as_ref(),
            Slot::Received(value, _) => Some(value),
            Slot::Sent => None,
        });
        self.buffer.iter().chain(self.returned.iter().map(|(_, value)| value)).chain(of_waiters)
    }
}

fn end<T, W: Copy>(list: &mut WaitList<W, Slot<T>>, waiting: Waiting) -> Ended<T> {
    match list.remove(waiting) {
        None => Ended::Pending(None),
        Some(Slot::Pending(value)) => Ended::Pending(value),
        Some(Slot::Received(value, number)) => Ended::Received(value, number),
        Some(Slot::Sent) => Ended::Sent,
        Some(Slot::Closed(value)) => Ended::Closed(value),
    }
}
