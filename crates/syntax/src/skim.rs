//! Past the parts of a source in which there is no operator, without taking them apart: only strings and comments are
//! looked at, and braces where they are to be counted.

use crate::lexer::{Lexer, Options, Start, block_comment, is_label, is_space, line_comment, single_quoted};
use memchr::memchr3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    /// A word.
    Word {
        at: usize,
        /// How many more braces are open than where the search began.
        depth: usize,
        /// It may be in code within a string, which begins there.
        in_string: bool,
    },
    /// The `}` that closes the braces in which the search began.
    Closed(usize),
    End,
}

/// What stands before a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// The end of a statement, or the beginning of a block.
    Start,
    /// An operator or a word before which, and behind which, there can only be expressions.
    Operator,
    /// Something else.
    Other,
}

/// A part of the source that is a string or a comment.
struct LeftOut {
    start: usize,
    end: usize,
    is_comment: bool,
}

pub struct Skimmer<'a> {
    source: &'a [u8],
    options: Options,
    /// Where the words are, and how many of them are behind.
    words: Vec<usize>,
    passed: usize,
    stops: Stops<'a>,
    /// Since the search began, or since the last `?>`.
    left_out: Vec<LeftOut>,
    /// Where that was, and whether a statement begins there.
    floor: usize,
    is_start: bool,
}

impl<'a> Skimmer<'a> {
    pub fn new(source: &'a [u8], options: Options, words: Vec<usize>) -> Skimmer<'a> {
        let stops = Stops::new(source);
        Skimmer { source, options, words, passed: 0, stops, left_out: Vec::new(), floor: 0, is_start: true }
    }

    /// Looks for the next word. Braces are counted when it is bounded.
    pub fn find(&mut self, begin: usize, is_start: bool, is_bounded: bool) -> Found {
        self.pass(begin);
        self.left_out.clear();
        (self.floor, self.is_start) = (begin, is_start);
        if self.passed == self.words.len() && !is_bounded {
            return Found::End;
        }
        let source = self.source;
        let (mut at, mut depth) = (begin, 0);
        if begin == 0 && self.options.start == Start::Html {
            at = self.html(0);
        }
        self.stops.count_braces(is_bounded);
        while let Some(stop) = self.stops.next(at) {
            if let Some(word) = self.word_before(stop) {
                return Found::Word { at: word, depth, in_string: false };
            }
            let next = source.get(stop + 1).copied().unwrap_or(0);
            at = stop + 1;
            match source[stop] {
                b'\'' => at = self.leave_out(stop, single_quoted(source, at).unwrap_or(source.len()), false),
                quote @ (b'"' | b'`') => match plain_string(source, at, quote) {
                    Some(end) => at = self.leave_out(stop, end, false),
                    None => {
                        let end = Lexer::end_of_string(source, self.options, stop);
                        if self.word_before(end).is_some() {
                            return Found::Word { at: stop, depth, in_string: true };
                        }
                        at = self.leave_out(stop, end, false);
                    }
                },
                b'/' if next == b'*' => at = self.leave_out(stop, block_comment(source, stop + 2), true),
                b'/' if next == b'/' => at = self.leave_out(stop, line_comment(source, at), true),
                b'#' if next != b'[' => at = self.leave_out(stop, line_comment(source, at), true),
                b'<' if next == b'<' && source.get(stop + 2) == Some(&b'<') => {
                    let end = Lexer::end_of_string(source, self.options, stop);
                    if self.word_before(end).is_some() {
                        return Found::Word { at: stop, depth, in_string: true };
                    }
                    at = self.leave_out(stop, end, false);
                }
                b'?' if next == b'>' => at = self.html(stop),
                b'{' => depth += 1,
                b'}' if depth == 0 => return Found::Closed(stop),
                b'}' => depth -= 1,
                _ => {}
            }
        }
        self.word_before(source.len()).map_or(Found::End, |at| Found::Word { at, depth, in_string: false })
    }

    /// What stands before the word that was found.
    pub fn before(&self, word: usize) -> Before {
        let code = self.source[..word].trim_ascii_end();
        let end = code.len();
        if end <= self.floor && !self.is_start || self.left_out.last().is_some_and(|last| last.end >= end) {
            return Before::Other;
        }
        let is_double = |byte| end > 1 && code[end - 2] == byte;
        match code.last() {
            Some(b';' | b'{' | b'}') => Before::Start,
            Some(b'=' | b'+' | b'-' | b'*' | b'/' | b'%' | b'.' | b'!' | b'~' | b'@') => Before::Operator,
            Some(byte @ (b'&' | b'|' | b'?')) if is_double(*byte) => Before::Operator,
            Some(b'n' | b'w') if [&b"return"[..], b"throw"].iter().any(|word| is_word_at_end(code, word)) => {
                Before::Operator
            }
            _ => Before::Other,
        }
    }

    /// Where the statement begins that the word is in, behind comments, and what byte is before it; `None` when that is
    /// not known. It may also be what comes after a `{` or `}` in the middle of one, or after a `;` in a `for`.
    pub fn start_of_statement(&self, word: usize) -> Option<(usize, u8)> {
        let mut at = word;
        let mut left_out = self.left_out.iter().rev().peekable();
        loop {
            if let Some(part) = left_out.next_if(|part| part.end == at) {
                at = part.start;
            } else if at <= self.floor {
                if !self.is_start {
                    return None;
                }
                break;
            } else if matches!(self.source[at - 1], b';' | b'{' | b'}') {
                break;
            } else {
                at -= 1;
            }
        }
        let before = if at == 0 { b';' } else { self.source[at - 1] };
        for part in &self.left_out {
            if part.is_comment && part.start >= at && self.source[at..part.start].iter().all(|byte| is_space(*byte)) {
                at = part.end;
            }
        }
        Some((at, before))
    }

    fn word_before(&self, end: usize) -> Option<usize> {
        self.words.get(self.passed).copied().filter(|word| *word < end)
    }

    fn pass(&mut self, until: usize) {
        while self.word_before(until).is_some() {
            self.passed += 1;
        }
    }

    /// Words in this part are in no code.
    fn leave_out(&mut self, start: usize, end: usize, is_comment: bool) -> usize {
        self.pass(end);
        self.left_out.push(LeftOut { start, end, is_comment });
        end
    }

    /// The end of what is no PHP; it begins at 0 or at a `?>`.
    fn html(&mut self, at: usize) -> usize {
        let end = Lexer::end_of_html(self.source, self.options, at);
        self.pass(end);
        self.left_out.clear();
        (self.floor, self.is_start) = (at, true);
        end
    }
}

fn is_word_at_end(code: &[u8], word: &[u8]) -> bool {
    let before = code.strip_suffix(word);
    before.is_some_and(|code| {
        !code.last().is_some_and(|byte| is_label(*byte) || matches!(byte, b'$' | b'>' | b':' | b'\\'))
    })
}

/// The end of a string that begins before `from`; `None` when there is code in it that is more than `{$a->b[1]}`.
fn plain_string(source: &[u8], from: usize, quote: u8) -> Option<usize> {
    let mut at = from;
    while let Some(found) = source.get(at..).and_then(|rest| memchr3(quote, b'\\', b'{', rest)) {
        at += found + 1;
        match source[at - 1] {
            b'\\' => at += 1,
            b'{' if source.get(at) == Some(&b'$') => {
                let simple = |byte: &u8| is_label(*byte) || matches!(byte, b'$' | b'-' | b'>' | b'[' | b']');
                at += source[at..].iter().take_while(|byte| simple(byte)).count();
                if source.get(at) != Some(&b'}') {
                    return None;
                }
            }
            b'{' if source[at - 2] == b'$' => return None,
            b'{' => {}
            _ => return Some(at),
        }
    }
    Some(source.len())
}

/// How many bytes are looked at in one go.
const BLOCK: usize = 64;

/// Finds the bytes at which something can begin or end.
struct Stops<'a> {
    source: &'a [u8],
    with_braces: bool,
    /// Where the current block begins, and a bit for each stop in it.
    block: usize,
    bits: u64,
}

impl<'a> Stops<'a> {
    fn new(source: &'a [u8]) -> Stops<'a> {
        Stops { source, with_braces: false, block: usize::MAX, bits: 0 }
    }

    fn count_braces(&mut self, with_braces: bool) {
        if self.with_braces != with_braces {
            (self.with_braces, self.block) = (with_braces, usize::MAX);
        }
    }

    fn load(&mut self, block: usize) {
        let mut rest = [0; BLOCK];
        let bytes = self.source[block.min(self.source.len())..].first_chunk().unwrap_or_else(|| {
            let last = &self.source[block.min(self.source.len())..];
            rest[..last.len()].copy_from_slice(last);
            &rest
        });
        self.block = block;
        self.bits = if self.with_braces { bits::<true>(bytes) } else { bits::<false>(bytes) };
    }

    /// The first one at this place or behind it.
    #[inline]
    fn next(&mut self, at: usize) -> Option<usize> {
        let block = at & !(BLOCK - 1);
        if block != self.block {
            self.load(block);
        }
        let mut bits = self.bits & (u64::MAX << (at % BLOCK));
        while bits == 0 {
            if self.block + BLOCK >= self.source.len() {
                return None;
            }
            self.load(self.block + BLOCK);
            bits = self.bits;
        }
        Some(self.block + bits.trailing_zeros() as usize)
    }
}

/// A bit for each byte that is a stop. The compiler makes vector instructions of it.
fn bits<const BRACES: bool>(block: &[u8; BLOCK]) -> u64 {
    let mut found = [0; BLOCK];
    for (found, byte) in found.iter_mut().zip(block) {
        let is = |mask: u8, wanted: u8| u8::from(byte & mask == wanted);
        *found = is(0xff, b'\'')
            | is(0xfe, b'"') // and #
            | is(0xff, b'`')
            | is(0xef, b'/') // and ?
            | is(0xff, b'<');
        if BRACES {
            *found |= is(0xff, b'{') | is(0xff, b'}');
        }
    }
    let mut bits = 0;
    for (i, eight) in found.as_chunks::<8>().0.iter().enumerate() {
        // the lowest bit of each byte, one beside the other in the highest byte
        let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= gathered << (8 * i);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stop_has_its_bit() {
        for byte in 0..=255u8 {
            let (is_stop, is_brace) = (b"'\"#`/?<".contains(&byte), b"{}".contains(&byte));
            for at in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                assert_eq!(bits::<false>(&block), u64::from(is_stop) << at, "{byte} at {at}");
                assert_eq!(bits::<true>(&block), u64::from(is_stop || is_brace) << at, "{byte} at {at}");
            }
        }
    }

    #[test]
    fn stops_are_found_in_any_block() {
        let mut source = vec![b'x'; 200];
        for at in [0, 63, 64, 130, 199] {
            source[at] = b'#';
        }
        let mut stops = Stops::new(&source);
        for (at, found) in [(0, 0), (1, 63), (64, 64), (65, 130), (1, 63), (131, 199)] {
            assert_eq!(stops.next(at), Some(found));
        }
        assert_eq!(stops.next(200), None);
        assert_eq!(Stops::new(b"").next(0), None);
    }

    #[test]
    fn what_is_before_a_word() {
        use Before::{Operator, Other, Start};
        for (source, before, start) in [
            ("f(1); WORD", Start, Some(5)),
            ("f(1) { /* ; */ WORD", Other, Some(14)),
            ("a; /* ; */ $x = 'a;b' . WORD", Operator, Some(10)),
            ("a; return WORD", Operator, Some(2)),
            ("a; $return WORD", Other, Some(2)),
            ("a; f(WORD", Other, Some(2)),
            ("a; $a ?? WORD", Operator, Some(2)),
            ("a; $a ? WORD", Other, Some(2)),
            ("a; 'b' WORD", Other, Some(2)),
            ("$a[WORD", Other, Some(0)),
        ] {
            let at = source.find("WORD").expect("it has one");
            let options = Options { version: crate::Version::V8_2, short_tags: false, start: crate::Start::Script };
            let mut skimmer = Skimmer::new(source.as_bytes(), options, vec![at]);
            assert_eq!(skimmer.find(0, true, false), Found::Word { at, depth: 0, in_string: false });
            assert_eq!(skimmer.before(at), before, "{source}");
            assert_eq!(skimmer.start_of_statement(at).map(|(from, _)| from), start, "{source}");
        }
    }
}
