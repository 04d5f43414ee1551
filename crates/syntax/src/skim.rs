//! Skips the parts of a source without operators without parsing them: only strings and comments are recognised, and braces
//! where they have to be counted.

use crate::chain::string;
use crate::lexer::{Lexer, Options, Start, block_comment, is_label, is_space, line_comment};
use wide::u8x16;

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
    /// An operator or a word before and after which there can only be expressions.
    Operator,
    /// Something that begins or continues with an array, arguments or an expression in parentheses.
    List,
    /// Something else.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    String,
    Comment,
    /// What is outside of PHP's tags, and these.
    Html,
    /// An operator with its operand.
    Operator,
}

/// A part of the source in which nothing shows where statements begin.
struct LeftOut {
    start: usize,
    end: usize,
    what: What,
}

pub struct Skimmer<'a> {
    source: &'a [u8],
    options: Options,
    /// Where the words are, and how many of them are behind.
    words: Vec<usize>,
    passed: usize,
    stops: Stops<'a>,
    /// Since the search began without continuing a statement, or since the last `?>`.
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
        self.left_out.clear();
        (self.floor, self.is_start) = (begin, is_start);
        self.find_next(begin, is_bounded)
    }

    /// The same, after the operator that was found last, in which there is no other.
    pub fn find_behind(&mut self, operator: usize, end: usize, is_bounded: bool) -> Found {
        self.leave_out(operator, end, What::Operator);
        self.find_next(end, is_bounded)
    }

    fn find_next(&mut self, begin: usize, is_bounded: bool) -> Found {
        self.pass(begin);
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
                b'\'' => {
                    let end = self.end_of_quoted(at);
                    at = self.leave_out(stop, end, What::String);
                }
                quote @ (b'"' | b'`') => match string(source, at, quote, self.next_word()) {
                    Some(end) => at = self.leave_out(stop, end, What::String),
                    None => {
                        let end = Lexer::end_of_string(source, self.options, stop);
                        if self.word_before(end).is_some() {
                            return Found::Word { at: stop, depth, in_string: true };
                        }
                        at = self.leave_out(stop, end, What::String);
                    }
                },
                b'/' if next == b'*' => at = self.leave_out(stop, block_comment(source, stop + 2), What::Comment),
                b'/' if next == b'/' => at = self.leave_out(stop, line_comment(source, at), What::Comment),
                b'#' if next != b'[' => at = self.leave_out(stop, line_comment(source, at), What::Comment),
                b'<' if next == b'<' && source.get(stop + 2) == Some(&b'<') => {
                    let end = Lexer::end_of_string(source, self.options, stop);
                    if self.word_before(end).is_some() {
                        return Found::Word { at: stop, depth, in_string: true };
                    }
                    at = self.leave_out(stop, end, What::String);
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

    /// What precedes the word that was found.
    pub fn before(&self, word: usize) -> Before {
        let Some(code) = self.code_until(word) else { return Before::Other };
        let end = code.len();
        let is_double = |byte| end > 1 && code[end - 2] == byte;
        match code.last() {
            Some(b';' | b'{' | b'}') => Before::Start,
            Some(b'=' | b'+' | b'-' | b'*' | b'/' | b'%' | b'.' | b'!' | b'~' | b'@') => Before::Operator,
            Some(byte @ (b'&' | b'|' | b'?')) if is_double(*byte) => Before::Operator,
            Some(b'>') if is_double(b'=') => Before::List,
            Some(b'[' | b'(') if self.opens_list(end - 1) => Before::List,
            Some(b',') if self.is_in_list(end - 1) => Before::List,
            Some(b'n' | b'w' | b'o' | b'd')
                if [&b"return"[..], b"throw", b"echo", b"yield"].iter().any(|word| is_word_at_end(code, word)) =>
            {
                Before::Operator
            }
            _ => Before::Other,
        }
    }

    /// What comes before white space; `None` when that is not code that was skimmed.
    fn code_until(&self, at: usize) -> Option<&'a [u8]> {
        let code = self.source[..at].trim_ascii_end();
        let end = code.len();
        let is_known = end > self.floor || self.is_start;
        let is_code = || self.left_out.iter().rev().find(|part| part.start < end).is_none_or(|part| part.end < end);
        (is_known && is_code()).then_some(code)
    }

    /// Returns `true` if expressions follow the `(` or `[`, and not parameters.
    fn opens_list(&self, at: usize) -> bool {
        if self.source[at] == b'[' {
            return !self.source[..at].ends_with(b"#");
        }
        let Some(code) = self.code_until(at) else { return false };
        let (code, name) = split_name(code);
        match code.last() {
            _ if name.is_empty() => code.last().is_some_and(|byte| b"=(!.,[?:+-*/%|;{<>".contains(byte)),
            _ if [&b"$"[..], b"->", b"::"].iter().any(|before| code.ends_with(before)) => true,
            _ if [&b"function"[..], b"fn", b"catch", b"use", b"set"]
                .iter()
                .any(|word| name.eq_ignore_ascii_case(word)) =>
            {
                false
            }
            _ => {
                let Some(code) = self.code_until(code.len()) else { return false };
                let (_, before) = split_name(code);
                code.last() != Some(&b'&') && !before.eq_ignore_ascii_case(b"function")
            }
        }
    }

    /// Returns `true` if the `,` is between expressions, and not between parameters or declarations.
    fn is_in_list(&self, comma: usize) -> bool {
        /// How far back is looked for the bracket.
        const FAR: usize = 200;
        let (mut at, mut depth) = (comma, 0);
        let mut left_out = self.left_out.iter().rev().peekable();
        while at > self.floor.max(comma.saturating_sub(FAR)) {
            if let Some(part) = left_out.next_if(|part| part.end == at) {
                at = part.start;
                if part.what == What::Operator {
                    return true; // there is none in parameters
                }
                continue;
            }
            at -= 1;
            match self.source[at] {
                b')' | b']' => depth += 1,
                b'(' | b'[' if depth == 0 => return self.opens_list(at),
                b'(' | b'[' => depth -= 1,
                b';' | b'{' | b'}' => break,
                _ => {}
            }
        }
        false
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
        let behind = self.left_out.partition_point(|part| part.start < at);
        for part in &self.left_out[behind..] {
            if part.what == What::Comment && self.source[at..part.start].iter().all(|byte| is_space(*byte)) {
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
    fn leave_out(&mut self, start: usize, end: usize, what: What) -> usize {
        self.pass(end);
        self.left_out.push(LeftOut { start, end, what });
        end
    }

    /// The end of a string in `'` that begins before `from`.
    fn end_of_quoted(&mut self, from: usize) -> usize {
        let mut at = from;
        while let Some(stop) = self.stops.next(at) {
            at = stop + 1;
            if self.source[stop] == b'\'' {
                let backslashes = self.source[from..stop].iter().rev().take_while(|byte| **byte == b'\\').count();
                if backslashes % 2 == 0 {
                    return at;
                }
            }
        }
        self.source.len()
    }

    fn next_word(&self) -> usize {
        self.words.get(self.passed).copied().unwrap_or(self.source.len())
    }

    /// The place of the word after the one that was found, or the end.
    pub fn limit(&self) -> usize {
        self.words.get(self.passed + 1).copied().unwrap_or(self.source.len())
    }

    /// The end of what is no PHP; it begins at 0 or at a `?>`.
    fn html(&mut self, at: usize) -> usize {
        let end = Lexer::end_of_html(self.source, self.options, at);
        self.left_out.clear();
        (self.floor, self.is_start) = (at, true);
        self.leave_out(at, end, What::Html)
    }
}

/// The name at the end, with its namespace, and what is before that without white space.
fn split_name(code: &[u8]) -> (&[u8], &[u8]) {
    let name = code.iter().rev().take_while(|byte| is_label(**byte) || **byte == b'\\').count();
    let (before, name) = code.split_at(code.len() - name);
    (before.trim_ascii_end(), name)
}

fn is_word_at_end(code: &[u8], word: &[u8]) -> bool {
    let before = code.strip_suffix(word);
    before.is_some_and(|code| {
        !code.last().is_some_and(|byte| is_label(*byte) || matches!(byte, b'$' | b'>' | b':' | b'\\'))
    })
}

/// The number of bytes compared in one step.
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

/// A bit for each byte that is a stop.
fn bits<const BRACES: bool>(block: &[u8; BLOCK]) -> u64 {
    let mut bits = 0;
    for (i, part) in block.as_chunks::<16>().0.iter().enumerate() {
        let bytes = u8x16::from(*part);
        let is = |wanted: u8| bytes.cmp_eq(u8x16::splat(wanted));
        let is_but_for = |mask: u8, wanted: u8| (bytes & u8x16::splat(!mask)).cmp_eq(u8x16::splat(wanted));
        let mut found = is(b'\'') | is(b'`') | is(b'<') | is_but_for(1, b'"') | is_but_for(0x10, b'/'); // and #, and ?
        if BRACES {
            found = found | is(b'{') | is(b'}');
        }
        bits |= u64::from(found.move_mask() as u32) << (16 * i);
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
        use Before::{List, Operator, Other, Start};
        for (source, before, start) in [
            ("f(1); WORD", Start, Some(5)),
            ("f(1) { /* ; */ WORD", Other, Some(14)),
            ("a; /* ; */ $x = 'a;b' . WORD", Operator, Some(10)),
            ("a; return WORD", Operator, Some(2)),
            ("a; $return WORD", Other, Some(2)),
            ("a; f(WORD", List, Some(2)),
            ("a; f ( WORD", List, Some(2)),
            ("a; new \\A\\B(WORD", List, Some(2)),
            ("a; ((WORD", List, Some(2)),
            ("a; $set(WORD", List, Some(2)),
            ("a; f(1, 'a;b', [2, (int) $c], WORD", List, Some(2)),
            ("a; f($a, /* ( */ WORD", Other, Some(2)),
            ("a; function f(WORD", Other, Some(2)),
            ("a; FUNCTION &f(WORD", Other, Some(2)),
            ("a; $f = function (WORD", Other, Some(2)),
            ("a; fn&(WORD", Other, Some(2)),
            ("a; 'b' => function (WORD", Other, Some(2)),
            ("a; $b->function (WORD", List, Some(2)),
            ("a; fn($a, WORD", Other, Some(2)),
            ("a; function /* ; */ f(WORD", Other, Some(2)),
            ("a; { set(WORD", Other, Some(4)),
            ("a; static $b, WORD", Other, Some(2)),
            ("a; 'b'(WORD", Other, Some(2)),
            ("a; [WORD", List, Some(2)),
            ("a; #[WORD", Other, Some(2)),
            ("a; 'k' => WORD", List, Some(2)),
            ("a; $b > WORD", Other, Some(2)),
            ("a; echo WORD", Operator, Some(2)),
            ("a; $a ?? WORD", Operator, Some(2)),
            ("a; $a ? WORD", Other, Some(2)),
            ("a; 'b' WORD", Other, Some(2)),
            ("$a[WORD", List, Some(0)),
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
