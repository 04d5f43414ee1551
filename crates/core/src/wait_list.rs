//! Waiters in order of arrival, each with a slot for what it is handed.

/// The end of a list.
const NONE: u32 = u32::MAX;

/// Names a waiter on a [`WaitList`] until it is removed. After that it names nothing, even if its place is used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    index: u32,
    generation: u32,
}

#[derive(Debug)]
struct Entry<W, P> {
    generation: u32,
    /// On the list; otherwise the waiter was woken, or could not be.
    queued: bool,
    previous: u32,
    next: u32,
    /// `None` for a free place.
    content: Option<(W, P)>,
}

/// Waiters in order of arrival. Each keeps its place, and what was handed to it there, until the waiter itself removes it. A
/// waiter is added, woken and removed in constant time, without an allocation once there is room.
#[derive(Debug)]
pub struct WaitList<W, P> {
    entries: Vec<Entry<W, P>>,
    free: u32,
    first: u32,
    last: u32,
    queued: usize,
}

impl<W: Copy, P> WaitList<W, P> {
    /// Returns an empty list.
    pub const fn new() -> WaitList<W, P> {
        WaitList { entries: Vec::new(), free: NONE, first: NONE, last: NONE, queued: 0 }
    }

    /// Returns the number of waiters on the list.
    pub fn len(&self) -> usize {
        self.queued
    }

    /// Returns `true` if no waiter is on the list.
    pub fn is_empty(&self) -> bool {
        self.queued == 0
    }

    /// Adds a waiter behind all others.
    pub fn push_back(&mut self, waiter: W, content: P) -> Waiting {
        let index = self.occupy(waiter, content);
        let last = self.last;
        self.link(index, last, NONE);
        self.place(index)
    }

    /// Adds a waiter before all others.
    pub fn push_front(&mut self, waiter: W, content: P) -> Waiting {
        let index = self.occupy(waiter, content);
        let first = self.first;
        self.link(index, NONE, first);
        self.place(index)
    }

    /// Takes the first waiter that `wake` wakes off the list, and returns its place. Those before it, which cannot be woken, are
    /// taken off too.
    #[inline]
    pub fn wake_first(&mut self, wake: impl FnMut(W) -> bool) -> Option<Waiting> {
        self.wake_one(wake).map(|index| self.place(index))
    }

    /// Does the same, and returns the waiter's content.
    #[inline]
    pub fn wake_first_holder(&mut self, wake: impl FnMut(W) -> bool) -> Option<&mut P> {
        let index = self.wake_one(wake)?;
        self.entries[index as usize].content.as_mut().map(|(_, content)| content)
    }

    #[inline]
    fn wake_one(&mut self, mut wake: impl FnMut(W) -> bool) -> Option<u32> {
        while self.first != NONE {
            let index = self.first;
            self.unlink(index);
            if let Some((waiter, _)) = &self.entries[index as usize].content
                && wake(*waiter)
            {
                return Some(index);
            }
        }
        None
    }

    /// Returns those on the list, in their order.
    pub fn queue(&self) -> impl Iterator<Item = W> {
        let mut at = self.first;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at as usize)?;
            at = entry.next;
            entry.content.as_ref().map(|(waiter, _)| *waiter)
        })
    }

    /// Returns a mutable reference to a waiter's content.
    pub fn get_mut(&mut self, place: Waiting) -> Option<&mut P> {
        let entry = self.entries.get_mut(place.index as usize).filter(|entry| entry.generation == place.generation)?;
        entry.content.as_mut().map(|(_, content)| content)
    }

    /// Removes a waiter, and returns its content.
    pub fn remove(&mut self, place: Waiting) -> Option<P> {
        self.take(place).map(|(content, _)| content)
    }

    /// Removes a waiter, and returns its content, and `true` if it was on the list.
    #[inline]
    pub fn take(&mut self, place: Waiting) -> Option<(P, bool)> {
        let entry = self.entries.get_mut(place.index as usize).filter(|entry| entry.generation == place.generation)?;
        let (_, content) = entry.content.take()?;
        let queued = entry.queued;
        entry.generation = entry.generation.wrapping_add(1);
        if queued {
            self.unlink(place.index);
        }
        self.entries[place.index as usize].next = self.free;
        self.free = place.index;
        Some((content, queued))
    }

    /// Returns the contents of all waiters, woken ones included, in no particular order.
    pub fn contents(&self) -> impl Iterator<Item = &P> {
        self.entries.iter().filter_map(|entry| entry.content.as_ref().map(|(_, content)| content))
    }

    /// Returns the same, to be changed.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut P> {
        self.entries.iter_mut().filter_map(|entry| entry.content.as_mut().map(|(_, content)| content))
    }

    /// Returns the contents of all waiters, woken ones included, in no particular order. All waiters are forgotten.
    pub fn into_contents(self) -> impl Iterator<Item = P> {
        self.entries.into_iter().filter_map(|entry| entry.content.map(|(_, content)| content))
    }

    fn place(&self, index: u32) -> Waiting {
        Waiting { index, generation: self.entries[index as usize].generation }
    }

    fn occupy(&mut self, waiter: W, content: P) -> u32 {
        let content = Some((waiter, content));
        if self.free != NONE {
            let index = self.free;
            let entry = &mut self.entries[index as usize];
            self.free = entry.next;
            entry.content = content;
            return index;
        }
        self.entries.push(Entry { generation: 0, queued: false, previous: NONE, next: NONE, content });
        self.entries.len() as u32 - 1
    }

    fn link(&mut self, index: u32, previous: u32, next: u32) {
        let entry = &mut self.entries[index as usize];
        (entry.previous, entry.next, entry.queued) = (previous, next, true);
        match self.entries.get_mut(previous as usize) {
            Some(before) => before.next = index,
            None => self.first = index,
        }
        match self.entries.get_mut(next as usize) {
            Some(after) => after.previous = index,
            None => self.last = index,
        }
        self.queued += 1;
    }

    fn unlink(&mut self, index: u32) {
        let entry = &mut self.entries[index as usize];
        entry.queued = false;
        let (previous, next) = (entry.previous, entry.next);
        match self.entries.get_mut(previous as usize) {
            Some(before) => before.next = next,
            None => self.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(after) => after.previous = previous,
            None => self.last = previous,
        }
        self.queued -= 1;
    }
}

impl<W: Copy, P> WaitList<W, Option<P>> {
    /// Adds a waiter to be granted something. `first`: before all others, because it was passed over while it waited.
    pub fn wait(&mut self, waiter: W, first: bool) -> Waiting {
        if first { self.push_front(waiter, None) } else { self.push_back(waiter, None) }
    }

    /// Removes a waiter. If it was granted something, it has to use that, or to give it back.
    pub fn end(&mut self, waiting: Waiting) -> Option<P> {
        self.remove(waiting).flatten()
    }
}

impl<W: Copy, P> Default for WaitList<W, P> {
    fn default() -> WaitList<W, P> {
        WaitList::new()
    }
}
