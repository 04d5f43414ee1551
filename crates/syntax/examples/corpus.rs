//! Holds the lexer and the rewriter against real sources.
//!
//!     corpus PHP TOKENS_PHP VERSION SHORT_TAGS [SEED] < LIST
//!
//! LIST names a file a line; SHORT_TAGS is 0 or 1; SEED is a number, for operators in other places. Of each file: its
//! tokens are those of PHP's own lexer, by length and class (TOKENS_PHP prints them); without operators the rewriter leaves
//! it as it is, with some, or with any part cut off, it does not panic, and gives the same when it is skimmed and when it
//! is not; what it gives it leaves as it is. The last line is "N passed, N failed"; one file is one test.

use spindle_syntax::{Kind, Lexer, Options, Start, Version, may_use, rewrite, rewrite_at_length};
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

const ANYTHING: [&str; 10] = [
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

const STATEMENTS: [&str; 9] = [
    " suspend; ",
    " await f($x); ",
    " $a = await $b until timeout(5), 'await', await[0]; ",
    " spawn $a->b(1, function { await $c; }); ",
    " spawn function { $a = await $b; { suspend; } } ",
    " function await(spawn $x) { return fn() => await $x; } ",
    " /* await $x */ $a = 'spawn f()' . \"{$f(await $x)}\"; ",
    " for ($i = 0; await $x; spawn f()) { suspend; } ",
    " f(function() { g(); }, await $x, function { h(); }); ",
];

/// Before an operand, and before one in a list.
const OPERANDS: [&str; 2] = [" await ", " await (fn() => 1)() ?? "];
const LISTED: [&str; 6] = [
    " await ",
    " await $a->b(1, 'x;{', \"\\\"$c\")['k'], ",
    " spawn A\\f(...$a), ",
    " spawn self::f(spawn g(1), [2]), ",
    " await f(function { g(); }) until $t, ",
    " await $a until h()->i, ",
];

/// So much more makes a source one with few operators, which is skimmed.
const SPARSE: usize = 10_000;

/// Sources that end anywhere, and that use the operators where they make no sense, panic nowhere. Where they make sense,
/// what comes of them is the same when nothing is skimmed, and stays when it is looked at again.
fn survives(source: &[u8], options: Options, seed: &mut u64) -> Option<String> {
    let mut random = |below: usize| {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        (*seed % below.max(1) as u64) as usize
    };
    let ends: Vec<usize> = Lexer::new(source, options).map(|token| token.end as usize).collect();
    for _ in 0..2 {
        let mut changed = source[..random(source.len() + 1)].to_vec();
        if random(2) == 0 {
            changed = source.to_vec();
        }
        for _ in 0..random(6) {
            let at = ends.get(random(ends.len())).copied().unwrap_or(0).min(changed.len());
            changed.splice(at..at, ANYTHING[random(ANYTHING.len())].bytes());
        }
        let _ = rewrite(&changed, options);
    }
    let (statements, operands) = places(source, options)?;
    for _ in 0..3 {
        let mut chosen: Vec<(usize, &str)> = Vec::new();
        for _ in 0..random(5) {
            if let Some(at) = statements.get(random(statements.len())) {
                chosen.push((*at, STATEMENTS[random(STATEMENTS.len())]));
            }
            if let Some((at, is_listed)) = operands.get(random(operands.len())) {
                let texts = if *is_listed { &LISTED[..] } else { &OPERANDS };
                chosen.push((*at, texts[random(texts.len())]));
            }
        }
        chosen.sort_unstable();
        chosen.dedup_by_key(|(at, _)| *at);
        let mut changed = source.to_vec();
        for (at, text) in chosen.into_iter().rev() {
            changed.splice(at..at, text.bytes());
        }
        changed.resize(changed.len() + SPARSE, b' ');
        let (skimmed, wanted) = (rewrite(&changed, options), rewrite_at_length(&changed, options));
        match (skimmed, wanted) {
            (Ok(Some(once)), Ok(Some(wanted))) => {
                for (what, other) in
                    [("at length", Some(wanted)), ("once more", rewrite(&once, options).ok().flatten())]
                {
                    let other = other.filter(|other| *other != once);
                    if let Some(other) = other {
                        let at = once.iter().zip(&other).position(|(a, b)| a != b).unwrap_or(0);
                        return Some(format!("{} becomes {what} {}", shown(&once, at), shown(&other, at)));
                    }
                }
            }
            (skimmed, wanted) if skimmed == wanted => {}
            (skimmed, wanted) => return Some(format!("skimmed {:?}, at length {:?}", skimmed.err(), wanted.err())),
        }
    }
    None
}

/// Where statements can be put in, and where operands begin, and whether in a list.
type Places = (Vec<usize>, Vec<(usize, bool)>);

/// A bracket that is open.
struct Open {
    closer: Kind,
    /// May a statement follow one that ends in it?
    has_statements: bool,
    /// Is it the body of a class? A brace in it opens hooks, where it is not the body of a function.
    is_class: bool,
    /// Is it the hooks of a property? These are no statements.
    is_hooks: bool,
    /// Has a function begun whose body is to come?
    has_function: bool,
}

impl Open {
    fn new(closer: Kind) -> Open {
        Open { closer, has_statements: false, is_class: false, is_hooks: false, has_function: false }
    }

    fn brace(is_class: bool, outer: Option<&mut Open>) -> Open {
        // Properties are declared in classes, and among the parameters of a constructor.
        let is_hooks = !is_class
            && outer.is_some_and(|outer| {
                let has_function = std::mem::take(&mut outer.has_function);
                !has_function && (outer.is_class || outer.closer == Kind::CloseParen)
            });
        Open { has_statements: !is_class && !is_hooks, is_class, is_hooks, ..Open::new(Kind::CloseBrace) }
    }
}

/// `None` when the brackets do not match.
fn places(source: &[u8], options: Options) -> Option<Places> {
    let (mut statements, mut operands) = (Vec::new(), Vec::new());
    let (mut open, mut before, mut is_class) = (Vec::<Open>::new(), Kind::OpenTag, false);
    for token in Lexer::new(source, options) {
        match token.kind {
            Kind::Whitespace | Kind::Comment => continue,
            Kind::Class | Kind::ClassLike | Kind::Use if before == Kind::DoubleColon => {}
            // of a closure
            Kind::Use if before == Kind::CloseParen => {}
            Kind::Class | Kind::ClassLike | Kind::Use => is_class = true,
            Kind::Function => {
                if let Some(top) = open.last_mut() {
                    top.has_function = true;
                }
            }
            Kind::OpenParen => open.push(Open::new(Kind::CloseParen)),
            Kind::OpenBracket | Kind::Attribute => open.push(Open::new(Kind::CloseBracket)),
            Kind::CurlyOpen | Kind::DollarCurlyOpen => open.push(Open::new(Kind::CloseBrace)),
            Kind::OpenBrace => {
                let brace = Open::brace(std::mem::take(&mut is_class), open.last_mut());
                open.push(brace);
            }
            Kind::Quote | Kind::Backtick if open.last().is_none_or(|top| top.closer != token.kind) => {
                open.push(Open::new(token.kind));
            }
            Kind::StartHeredoc => open.push(Open::new(Kind::EndHeredoc)),
            Kind::CloseParen
            | Kind::CloseBracket
            | Kind::CloseBrace
            | Kind::Quote
            | Kind::Backtick
            | Kind::EndHeredoc
                if open.pop().map(|top| top.closer) != Some(token.kind) =>
            {
                return None;
            }
            Kind::Semicolon => {
                is_class = false;
                if let Some(top) = open.last_mut() {
                    top.has_function = false;
                }
                if open.last().is_none_or(|top| top.has_statements) {
                    statements.push(token.end as usize);
                }
            }
            Kind::Variable if matches!(before, Kind::Assign | Kind::Binary | Kind::Reserved) => {
                operands.push((token.start as usize, false));
            }
            // in `"$a[$b]"` there is no code
            Kind::Variable
                if open
                    .iter()
                    .nth_back(1)
                    .is_some_and(|outer| matches!(outer.closer, Kind::Quote | Kind::Backtick | Kind::EndHeredoc))
                    && before == Kind::OpenBracket => {}
            Kind::Variable
                if matches!(before, Kind::DoubleArrow | Kind::Comma | Kind::OpenParen | Kind::OpenBracket) =>
            {
                let is_hook = open.last().is_some_and(|top| top.is_hooks);
                operands.push((token.start as usize, !is_hook));
            }
            _ => {}
        }
        before = token.kind;
    }
    open.is_empty().then_some((statements, operands))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ([php, script, version, short_tags], Ok(seed)) = (match &arguments[..] {
        [php, script, version, short_tags] => ([php, script, version, short_tags], Ok(0)),
        [php, script, version, short_tags, seed] => ([php, script, version, short_tags], seed.parse::<u64>()),
        _ => {
            eprintln!("usage: corpus PHP TOKENS_PHP VERSION SHORT_TAGS [SEED] < LIST");
            return ExitCode::from(2);
        }
    }) else {
        eprintln!("corpus: SEED is a number");
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
    let mut seed = 0x5EED_0000_0000_0001 ^ seed.rotate_left(20);
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
