//! Holds the lexer and the rewriter against real sources.
//!
//!     corpus PHP TOKENS_PHP VERSION SHORT_TAGS < LIST
//!
//! LIST names a file a line; SHORT_TAGS is 0 or 1. Of each one: its tokens are those of PHP's own lexer, by length and class (TOKENS_PHP prints
//! them); without operators the rewriter leaves it as it is, with one, or with any part cut off, it does not panic, and
//! what it gives it leaves as it is. The last line is "N passed, N failed"; one file is one test.

use spindle_syntax::{Kind, Lexer, Options, Start, Version, may_use, rewrite};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitCode, Stdio};

/// The letter that TOKENS_PHP has for a kind; `.` for all others.
fn class(kind: Kind) -> u8 {
    match kind {
        Kind::Name => b'N',
        Kind::Qualified => b'Q',
        Kind::FullyQualified => b'F',
        Kind::Relative => b'R',
        Kind::Variable => b'V',
        Kind::Whitespace => b'W',
        Kind::Comment => b'C',
        Kind::InlineHtml => b'H',
        Kind::OpenTag | Kind::OpenTagEcho => b'O',
        Kind::CloseTag => b'X',
        Kind::Number => b'L',
        Kind::String => b'S',
        Kind::Text => b'E',
        Kind::OffsetNumber => b'M',
        Kind::VarName => b'A',
        Kind::CurlyOpen => b'U',
        Kind::DollarCurlyOpen => b'D',
        Kind::StartHeredoc => b'B',
        Kind::EndHeredoc => b'Z',
        Kind::Cast => b'T',
        _ => b'.',
    }
}

fn number(from: &mut impl Read) -> std::io::Result<u32> {
    let mut bytes = [0; 4];
    from.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn shown(source: &[u8], at: usize) -> String {
    let text = String::from_utf8_lossy(&source[at..source.len().min(at + 40)]);
    format!("{text:?} at byte {at}")
}

/// The first difference to what PHP sees, which is read in any case.
fn compare(source: &[u8], options: Options, php: &mut impl Read) -> std::io::Result<Option<String>> {
    let mut tokens = Lexer::new(source, options);
    let mut difference = None;
    let mut at = 0;
    for _ in 0..number(php)? {
        let (length, wanted) = (number(php)?, number(php)? as u8);
        if difference.is_some() {
            continue;
        }
        let found = tokens.next();
        let same =
            found.is_some_and(|token| token.start == at && token.end == at + length && (class(token.kind) == wanted));
        if !same {
            let seen = shown(source, at as usize);
            difference = Some(format!("{seen}: PHP sees {length} bytes of class {}, we {found:?}", wanted as char));
        }
        at += length;
    }
    if difference.is_none() && (at as usize != source.len() || tokens.next().is_some()) {
        difference = Some("the ends differ".to_string());
    }
    Ok(difference)
}

fn untouched(source: &[u8], options: Options) -> Option<String> {
    match rewrite(source, options) {
        Ok(None) => None,
        Ok(Some(text)) => {
            let at = source.iter().zip(&text).position(|(a, b)| a != b).unwrap_or(0);
            Some(format!("rewritten: {} becomes {}", shown(source, at), shown(&text, at)))
        }
        Err(error) => Some(format!("refused: {error}, {}", shown(source, error.offset))),
    }
}

/// Sources that end anywhere, and that use the operators where they make no sense, panic nowhere; what they become stays.
fn survives(source: &[u8], options: Options, seed: &mut u64) -> Option<String> {
    let mut random = |below: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed % below.max(1) as u64) as usize
    };
    const WORDS: [&str; 10] = [
        " spawn ",
        " await ",
        " suspend; ",
        " until ",
        " function {",
        "}",
        " await children ",
        "?->",
        " spawn function {",
        "(",
    ];
    let ends: Vec<usize> = Lexer::new(source, options).map(|token| token.end as usize).collect();
    for _ in 0..4 {
        let mut changed = source[..random(source.len() + 1)].to_vec();
        if random(2) == 0 {
            changed = source.to_vec();
        }
        for _ in 0..random(6) {
            let at = ends.get(random(ends.len())).copied().unwrap_or(0).min(changed.len());
            let word = WORDS[random(WORDS.len())];
            changed.splice(at..at, word.bytes());
        }
        let Ok(Some(once)) = rewrite(&changed, options) else { continue };
        if let Ok(Some(twice)) = rewrite(&once, options) {
            let at = once.iter().zip(&twice).position(|(a, b)| a != b).unwrap_or(0);
            return Some(format!("not idempotent: {} became {}", shown(&once, at), shown(&twice, at)));
        }
    }
    None
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [php, script, version, short_tags] = &arguments[..] else {
        eprintln!("usage: corpus PHP TOKENS_PHP VERSION SHORT_TAGS < LIST");
        return ExitCode::from(2);
    };
    let version = match version.as_str() {
        "8.2" => Version::V8_2,
        "8.3" => Version::V8_3,
        "8.4" => Version::V8_4,
        _ => Version::V8_5,
    };
    let options = Options { version, short_tags: short_tags == "1", start: Start::Html };
    let paths: Vec<String> = std::io::stdin().lock().lines().map_while(Result::ok).collect();
    let mut child = Command::new(php)
        .args(["-n", "-d", "extension=tokenizer", "-d", &format!("short_open_tag={short_tags}"), script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("PHP starts");
    let mut input = child.stdin.take().expect("it is piped");
    let list = paths.join("\n") + "\n";
    let feeder = std::thread::spawn(move || input.write_all(list.as_bytes()));
    let mut tokens = BufReader::new(child.stdout.take().expect("it is piped"));

    let (mut passed, mut failed, mut looked_at, mut bytes) = (0, 0, 0, 0);
    let mut seed = 0x5EED_0000_0000_0001u64;
    for path in &paths {
        let source = std::fs::read(path).expect("a file of the list is there");
        bytes += source.len();
        looked_at += usize::from(may_use(&source, options));
        let difference = compare(&source, options, &mut tokens).expect("PHP tells of each file");
        let difference = difference.or_else(|| untouched(&source, options));
        let difference = difference.or_else(|| survives(&source, options, &mut seed));
        match difference {
            None => passed += 1,
            Some(difference) => {
                failed += 1;
                println!("FAILED: {path}: {difference}");
            }
        }
    }
    feeder.join().expect("no panic").expect("PHP reads the list");
    let ended = child.wait().expect("it can be waited for").success();
    println!("{} files of {} MB, {looked_at} of them looked at closely", paths.len(), bytes / 1_000_000);
    println!("{passed} passed, {failed} failed");
    if ended && failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
