//! Edits of a text, at its own offsets.

/// Replaces `start..end` by `text`.
struct Edit {
    start: u32,
    end: u32,
    text: &'static str,
}

/// Edits that do not overlap. Those at one place are applied in the order in which they were made.
#[derive(Default)]
pub struct Edits(Vec<Edit>);

impl Edits {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn insert(&mut self, at: u32, text: &'static str) {
        self.replace(at, at, text);
    }

    pub fn replace(&mut self, start: u32, end: u32, text: &'static str) {
        self.0.push(Edit { start, end, text });
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Removes those after the first `kept` that are at this offset or after it.
    pub fn forget(&mut self, kept: usize, from: u32) {
        while self.0.len() > kept && self.0.pop_if(|edit| edit.start >= from).is_some() {}
    }

    /// In the order of their offsets.
    pub fn sort(&mut self) {
        if !self.0.is_sorted_by_key(|edit| edit.start) {
            self.0.sort_by_key(|edit| edit.start);
        }
    }

    /// The length of the new text of a source of this length.
    pub fn length(&self, source: usize) -> usize {
        let (added, removed) = self.0.iter().fold((0, 0), |(added, removed), edit| {
            (added + edit.text.len(), removed + (edit.end - edit.start) as usize)
        });
        source + added - removed
    }

    /// The pieces of the new text.
    pub fn pieces<'a>(&self, source: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let mut at = 0;
        let pieces = self.0.iter().flat_map(move |edit| {
            let kept = &source[at..edit.start as usize];
            at = edit.end as usize;
            [kept, edit.text.as_bytes()]
        });
        let rest = self.0.last().map_or(0, |edit| edit.end as usize);
        pieces.chain([&source[rest..]])
    }
}
