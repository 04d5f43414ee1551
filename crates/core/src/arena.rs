//! Storage for values that are named by index and generation, in which vacated entries are reused.
//!
//! This is not `slotmap`, because the scheduler needs two things that it lacks: an entry keeps its value when it is
//! vacated, so that the value's own storage (lists of waiters) is reused too; and the links of intrusive lists are plain
//! indices, without a generation to compare at each step.

use std::ops::{Index, IndexMut};

/// No index: the end of a list of entries.
pub(crate) const NONE: u32 = u32::MAX;

/// Names one value of an [`Arena`]. No key is given out twice, so one that is kept too long finds nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key {
    pub(crate) index: u32,
    generation: u32,
}

impl Key {
    /// The key of the first value that an arena is given.
    pub(crate) const FIRST: Key = Key { index: 0, generation: 1 };
}

struct Entry<T> {
    /// Odd while the entry is occupied.
    generation: u32,
    next_vacant: u32,
    value: T,
}

/// Values named by [`Key`]. Indexing with a plain index finds the value there, whether its entry is occupied or not.
pub(crate) struct Arena<T> {
    entries: Vec<Entry<T>>,
    /// The vacant entry that is used next; each names another one.
    vacant: u32,
}

impl<T> Arena<T> {
    pub(crate) fn new() -> Arena<T> {
        Arena { entries: Vec::new(), vacant: NONE }
    }

    /// Adds a value.
    ///
    /// # Panics
    /// If there are 2^32 - 1 values.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> Key {
        let Some((key, place)) = self.reoccupy() else { return self.grow(value) };
        *place = value;
        key
    }

    /// Adds a vacated value as it was left, or a new one if there is none.
    ///
    /// # Panics
    /// If there are 2^32 - 1 values.
    #[inline]
    pub(crate) fn insert_vacated(&mut self, new: impl FnOnce() -> T) -> (Key, &mut T) {
        let key = match self.reoccupy() {
            Some((key, _)) => key,
            None => self.grow(new()),
        };
        (key, &mut self[key.index])
    }

    #[inline]
    fn reoccupy(&mut self) -> Option<(Key, &mut T)> {
        let index = self.vacant;
        let entry = self.entries.get_mut(index as usize)?;
        self.vacant = entry.next_vacant;
        entry.generation += 1;
        Some((Key { index, generation: entry.generation }, &mut entry.value))
    }

    #[cold]
    fn grow(&mut self, value: T) -> Key {
        assert!(self.entries.len() < NONE as usize, "an arena is full");
        let key = Key { index: self.entries.len() as u32, ..Key::FIRST };
        self.entries.push(Entry { generation: key.generation, next_vacant: NONE, value });
        key
    }

    /// Vacates an entry. Its value stays until the entry is used again. Returns `false` if the key names nothing.
    #[inline]
    pub(crate) fn vacate(&mut self, key: Key) -> bool {
        let Some(entry) = self.entries.get_mut(key.index as usize) else { return false };
        if entry.generation != key.generation {
            return false;
        }
        match entry.generation.checked_add(1) {
            Some(generation) => {
                entry.generation = generation;
                entry.next_vacant = std::mem::replace(&mut self.vacant, key.index);
            }
            None => entry.generation = 0, // retired: it has no generation left
        }
        true
    }

    #[inline]
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        let entry = self.entries.get(key.index as usize)?;
        (entry.generation == key.generation).then_some(&entry.value)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let entry = self.entries.get_mut(key.index as usize)?;
        (entry.generation == key.generation).then_some(&mut entry.value)
    }

    /// The value at an index, if there ever was one.
    #[inline]
    pub(crate) fn at(&self, index: u32) -> Option<&T> {
        self.entries.get(index as usize).map(|entry| &entry.value)
    }

    /// The value at an index, if there ever was one.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: u32) -> Option<&mut T> {
        self.entries.get_mut(index as usize).map(|entry| &mut entry.value)
    }

    /// All values, also those of vacant entries.
    pub(crate) fn all(&self) -> impl Iterator<Item = &T> {
        self.entries.iter().map(|entry| &entry.value)
    }

    /// The key of the value at an index whose entry is occupied.
    #[inline]
    pub(crate) fn key(&self, index: u32) -> Key {
        Key { index, generation: self.entries[index as usize].generation }
    }

    /// The values of occupied entries, in order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, &T)> {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.generation % 2 == 1).map(|(index, entry)| {
            let key = Key { index, generation: entry.generation };
            (key, &entry.value)
        })
    }

    /// The same, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (Key, &mut T)> {
        (0..).zip(&mut self.entries).filter(|(_, entry)| entry.generation % 2 == 1).map(|(index, entry)| {
            let key = Key { index, generation: entry.generation };
            (key, &mut entry.value)
        })
    }
}

impl<T> Index<u32> for Arena<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        &self.entries[index as usize].value
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        &mut self.entries[index as usize].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_key_finds_nothing() {
        let mut arena = Arena::new();
        let first = arena.insert('a');
        assert_eq!((first, arena.get(first)), (Key::FIRST, Some(&'a')));
        assert!(arena.vacate(first));
        assert_eq!((arena.get(first).copied(), arena.vacate(first)), (None, false));
        let second = arena.insert('b');
        assert_eq!((second.index, arena.key(0)), (first.index, second));
        assert_eq!(
            (arena.get(first).copied(), arena.get_mut(first).copied(), arena.vacate(first)),
            (None, None, false)
        );
        assert_eq!((arena.get(second), arena[0]), (Some(&'b'), 'b'));
        assert_eq!(arena.get(Key { index: 1, generation: 1 }), None);
    }

    #[test]
    fn vacated_entries_are_reused_the_last_one_first() {
        let mut arena = Arena::new();
        let keys: Vec<Key> = (0..4).map(|n| arena.insert(n)).collect();
        arena.vacate(keys[1]);
        arena.vacate(keys[3]);
        assert_eq!(arena.iter().map(|(key, n)| (key, *n)).collect::<Vec<_>>(), [(keys[0], 0), (keys[2], 2)]);
        let (key, value) = arena.insert_vacated(|| 9);
        assert_eq!((key.index, std::mem::replace(value, 10)), (3, 3));
        assert_eq!([11, 12].map(|n| arena.insert(n).index), [1, 4]);
        assert_eq!(arena.insert_vacated(|| 13).1, &13);
        assert_eq!(arena.iter().map(|(_, n)| *n).collect::<Vec<_>>(), [0, 11, 2, 10, 12, 13]);
    }

    #[test]
    fn an_entry_without_generations_left_is_retired() {
        let mut arena = Arena::new();
        arena.insert('a');
        arena.entries[0].generation = u32::MAX;
        let last = arena.key(0);
        assert_eq!(arena.get(last), Some(&'a'));
        assert!(arena.vacate(last));
        assert!(!arena.vacate(last));
        assert_eq!((arena.get(last), arena.iter().count()), (None, 0));
        assert_eq!(arena.insert('b').index, 1);
    }
}
