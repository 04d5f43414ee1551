//! Doubly linked lists of entries of an arena, by index. An entry has one [`Link`] for each list that it can be in.

use crate::arena::{Arena, NONE};

/// The neighbours of an entry in a list.
#[derive(Clone, Copy)]
pub(super) struct Link {
    before: u32,
    after: u32,
}

/// The ends of a list.
#[derive(Clone, Copy)]
pub(super) struct List {
    first: u32,
    last: u32,
}

impl Link {
    /// Of an entry that is in no list.
    pub(super) const NONE: Link = Link { before: NONE, after: NONE };
}

impl List {
    pub(super) const EMPTY: List = List { first: NONE, last: NONE };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// The indices of its entries, in the order they were appended. `link` gives an entry's link of this list.
    pub(super) fn iter<T>(self, arena: &Arena<T>, link: fn(&T) -> Link) -> impl Iterator<Item = u32> {
        let existing = |index: u32| Some(index).filter(|index| *index != NONE);
        std::iter::successors(existing(self.first), move |index| existing(link(&arena[*index]).after))
    }

    /// Takes the first entry off.
    pub(super) fn pop<T>(&mut self, arena: &mut Arena<T>, link: fn(&mut T) -> &mut Link) -> Option<u32> {
        let first = self.first;
        if first == NONE {
            return None;
        }
        self.remove(arena, first, link);
        Some(first)
    }

    #[inline]
    pub(super) fn append<T>(&mut self, arena: &mut Arena<T>, index: u32, link: fn(&mut T) -> &mut Link) {
        *link(&mut arena[index]) = Link { before: self.last, after: NONE };
        match self.last {
            NONE => self.first = index,
            last => link(&mut arena[last]).after = index,
        }
        self.last = index;
    }

    #[inline]
    pub(super) fn remove<T>(&mut self, arena: &mut Arena<T>, index: u32, link: fn(&mut T) -> &mut Link) {
        let Link { before, after } = std::mem::replace(link(&mut arena[index]), Link::NONE);
        match before {
            NONE => self.first = after,
            before => link(&mut arena[before]).after = after,
        }
        match after {
            NONE => self.last = before,
            after => link(&mut arena[after]).before = before,
        }
    }
}
