//! Changes to a text, at its own offsets.

/// In the place of `start..end` there will be `text`.
struct Edit {
    start: u32,
    end: u32,
    text: &'static str,
}

/// Edits that do not overlap. Those at one place are put in in the order in which they were made.
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

    pub fn apply(mut self, source: &[u8]) -> Vec<u8> {
        self.0.sort_by_key(|edit| edit.start);
        let added: usize = self.0.iter().map(|edit| edit.text.len()).sum();
        let mut result = Vec::with_capacity(source.len() + added);
        let mut at = 0;
        for edit in &self.0 {
            result.extend_from_slice(&source[at..edit.start as usize]);
            result.extend_from_slice(edit.text.as_bytes());
            at = edit.end as usize;
        }
        result.extend_from_slice(&source[at..]);
        result
    }
}
