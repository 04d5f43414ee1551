//! The rewriter: one pass over the tokens, with a stack of open groups (brackets, strings) and of expressions that belong to an
//! operator. It knows as much of PHP's grammar as is needed to find where an operand ends, and where a name is a type.
//!
//! It rejects no valid PHP: a word is an operator only where PHP allows no such sequence of tokens.

mod groups;
mod operands;
mod operators;

use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::lexer::{Lexer, Options, is_label};
use crate::scan;
use crate::skim::{Before, Found, Skimmer};
use crate::token::{Kind, Token};

use operators::simple_operator;

const SPAWN: &str = "\\Async\\spawn(";
const CALL: &str = "\\Async\\Syntax\\call(";
const AWAIT: &str = "\\Async\\await(";
const AWAIT_CHILDREN: &str = "\\Async\\awaitChildren(";
const SUSPEND: &str = "\\Async\\suspend()";

const WANTS_CALL: &str = "spawn expects a call or a closure";

/// The number of tokens of look-ahead.
const AHEAD: usize = 2;
/// With more than one word in this many bytes of source, parsing all of it is faster than skimming.
const DENSE: usize = 150;

/// Returns the edits that turn the source into plain PHP, or `None` if it is that already. The parts between the words (`scan`)
/// are skimmed; where that fails, and without words, all of it is parsed.
pub fn rewrite(source: &[u8], options: Options, words: Option<Vec<usize>>) -> Result<Option<Edits>, SyntaxError> {
    if let Some(words) = words
        && words.len() * DENSE < source.len()
    {
        let mut walk = Walk::new(source, options);
        walk.skimmer = Some(Skimmer::new(source, options, words));
        walk.tokens.reserve(200);
        if let Ok(Ok(())) = walk.run() {
            return Ok(walk.finish());
        }
    }
    let mut walk = Walk::new(source, options);
    walk.tokens.reserve(source.len() / 5);
    walk.tokens.extend(Lexer::new(source, options).filter(|token| token.kind.is_seen()));
    walk.is_all = true;
    let _ = walk.run()?; // PHP will report what is wrong with the brackets
    walk.abandon();
    Ok(walk.finish())
}

/// What a bracket, or a string with variables in it, contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content {
    /// Statements.
    Block,
    /// Expressions.
    Code,
    /// The arms of a `match`.
    Arms,
    /// Parameters, or what is caught.
    Parameters,
    /// Members of a class.
    Members,
    /// Hooks of a property, or rules for a trait.
    Hooks,
    /// A string.
    Quoted,
}

/// Whose operand an expression is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Of {
    Await,
    AwaitChildren,
    Until,
    /// `spawn` of a closure.
    Closure,
    /// `spawn` of a call.
    Call(Callee),
}

/// What is known of the callee of a `spawn`; indices of tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Callee {
    keyword: usize,
    /// Where the last parentheses open; `None` when something else comes last.
    parens: Option<usize>,
    /// The last `->`, `?->` or `::` before them; `None` when it is not a member that is called.
    member: Option<usize>,
    nullsafe: bool,
    /// Set after `new`, up to the arguments of the constructor: `spawn new H()->bar()`, since PHP 8.4.
    constructs: bool,
}

/// How far an expression reaches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Reach {
    /// One operand, as of a unary operator.
    Operand,
    /// All but `and`, `or`, `xor`.
    Assignment,
    Everything,
}

/// What may come next in an expression.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// An operand.
    Start,
    /// An operand, or nothing: after `yield`, or the `?` of a `?:`.
    MaybeStart,
    /// The rest of `$$name`.
    Dollar,
    /// A name, after `->` or `::`.
    Member,
    /// The head of a closure, a class or a match.
    Head,
    /// The head of an arrow function.
    ArrowHead,
    /// What can follow a variable or a call: an index, arguments, a member, an operator.
    Tail,
    /// An operator, but nothing that would belong to the operand itself.
    After,
    /// Nothing.
    Done,
}

struct Frame {
    /// A group with this content, or an expression.
    group: Option<Content>,
    /// What closes the group.
    closer: Kind,
    /// What the next `{` will open; `None`: by what is before it.
    body: Option<Content>,
    /// The next `(` opens parameters.
    parameters: bool,
    /// Members and parameters: within a value, not a declaration.
    in_value: bool,
    /// Members: the declaration is a method (or uses a trait).
    is_method: bool,
    /// Each `?` that waits for its `:`.
    questions: u32,
    /// Parentheses: those of an `if`, a `while` and the like.
    is_head: bool,

    of: Of,
    reach: Reach,
    phase: Phase,
    /// The phase when the group above is closed.
    after: Phase,
    yields: bool,
}

impl Frame {
    fn group(group: Content, closer: Kind) -> Frame {
        Frame { group: Some(group), closer, ..Frame::expression(Of::Await) }
    }

    fn expression(of: Of) -> Frame {
        Frame {
            group: None,
            closer: Kind::End,
            body: None,
            parameters: false,
            in_value: false,
            is_method: false,
            questions: 0,
            is_head: false,
            of,
            reach: Reach::Operand,
            phase: Phase::Start,
            after: Phase::Tail,
            yields: false,
        }
    }

    /// Returns `true` in a place for declarations, where a name before a variable is a type.
    fn declares(&self) -> bool {
        matches!(self.group, Some(Content::Members | Content::Hooks | Content::Parameters)) && !self.in_value
    }
}

/// Where `suspend` could be declared to be a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Constants {
    Elsewhere,
    /// In a statement that begins with `const`.
    Declared,
    /// In one that begins with `use const`.
    Imported,
}

/// Brackets do not match, so the tokens cannot be parsed further. PHP reports that.
struct Lost;

struct Walk<'a> {
    source: &'a [u8],
    lexer: Lexer<'a>,
    /// Without white space and comments, and without what was skimmed.
    tokens: Vec<Token>,
    at: usize,
    /// There are no more.
    is_all: bool,
    skimmer: Option<Skimmer<'a>>,
    /// The token before which it was asked last.
    asked: Option<usize>,
    /// At how many frames an operator was begun that it has found, and not the statement around that.
    entered: Option<usize>,
    /// Where the statement begins that it has found.
    resumed: usize,
    /// It is not known whether the last edit was right.
    in_doubt: bool,
    edits: Edits,
    /// The first is the source itself.
    frames: Vec<Frame>,
    /// The `}` of the closure that a `spawn` has ended with.
    closed_closure: Option<usize>,
    constants: Constants,
    /// `suspend;` is left alone.
    suspend_is_constant: bool,
    /// The `:` that came last belongs to a `?`.
    ternary_colon: bool,
    /// The `)` after which a statement may begin: that of an `if`, a `while` and the like.
    closed_head: Option<usize>,
}

impl<'a> Walk<'a> {
    fn new(source: &'a [u8], options: Options) -> Walk<'a> {
        Walk {
            source,
            lexer: Lexer::new(source, options),
            tokens: Vec::new(),
            at: 0,
            is_all: false,
            skimmer: None,
            asked: None,
            entered: None,
            resumed: 0,
            in_doubt: false,
            edits: Edits::default(),
            frames: vec![Frame::group(Content::Block, Kind::End)],
            closed_closure: None,
            constants: Constants::Elsewhere,
            suspend_is_constant: false,
            ternary_colon: false,
            closed_head: None,
        }
    }

    fn finish(mut self) -> Option<Edits> {
        self.edits.sort();
        (!self.edits.is_empty()).then_some(self.edits)
    }

    fn run(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        loop {
            if self.skim().is_err() {
                return Ok(Err(Lost));
            }
            self.fetch(self.at);
            if self.at >= self.tokens.len() {
                break;
            }
            let step = match self.top().group {
                Some(Content::Quoted) => self.in_string(),
                Some(group) => self.in_group(group),
                None => self.in_expression()?,
            };
            if step.is_err() {
                return Ok(Err(Lost));
            }
        }
        while self.top().group.is_none() {
            self.end_expression()?;
        }
        self.end_statement();
        let is_open = self.frames[1..].iter().any(|frame| frame.closer != Kind::CloseBrace);
        Ok(if self.skimmer.is_some() && (is_open || self.in_doubt) { Err(Lost) } else { Ok(()) })
    }

    /// Parses the source up to a token and a little further.
    fn fetch(&mut self, at: usize) {
        while self.tokens.len() <= at + AHEAD && !self.is_all {
            match self.lexer.find(|token| token.kind.is_seen()) {
                Some(token) => self.tokens.push(token),
                None => self.is_all = true,
            }
        }
    }

    /// Between statements, and after an operator that was found here: continues where the next word is, if that must be an
    /// operator, otherwise with the statement that it is in. If no operator waits for its end, what is around it does not
    /// matter; what could be a declaration is taken apart with all that is around it.
    fn skim(&mut self) -> Result<(), Lost> {
        let Some(skimmer) = &mut self.skimmer else { return Ok(()) };
        let level = self.frames.len();
        let last = self.tokens[..self.at].last();
        let is_behind_operator = self.entered == Some(level);
        let is_between = self.asked != Some(self.at) && last.is_none_or(|token| ends_statement(token.kind));
        let top = &self.frames[level - 1];
        let in_braces = top.group.is_some() && matches!(top.closer, Kind::CloseBrace | Kind::End);
        if !(is_between || is_behind_operator)
            || !in_braces
            || self.frames.iter().any(|frame| frame.group == Some(Content::Quoted))
        {
            return Ok(());
        }
        let is_bounded = self.frames.iter().any(|frame| frame.group.is_none());
        if !is_bounded {
            self.frames.truncate(1);
        }
        let here = last.map_or(0, |token| token.end as usize);
        self.entered = None;
        let kept = self.edits.count();
        let mut found = skimmer.find(here, !is_behind_operator, is_bounded);
        while let Found::Word { at: word, depth, in_string } = found {
            if is_bounded {
                self.frames.extend((0..depth).map(|_| Frame::group(Content::Block, Kind::CloseBrace)));
            }
            let before = if in_string { Before::Other } else { skimmer.before(word) };
            if before != Before::Other && matches!(&self.source[word..word + 2], b"aw" | b"sp") {
                if let Some(end) = simple_operator(&mut self.edits, self.source, word, skimmer.limit()) {
                    found = skimmer.find_behind(word, end, is_bounded);
                    continue;
                }
                if before != Before::List {
                    self.begin_at(word, before);
                    return Ok(());
                }
            }
            let (from, before) = skimmer.start_of_statement(word).ok_or(Lost)?;
            if may_declare(&self.source[from..]) || self.declares_suspend(word) {
                return Err(Lost);
            }
            self.edits.forget(kept, from as u32); // they are made again
            if from != here {
                self.jump(from, if before == b'}' { Kind::CloseBrace } else { Kind::Semicolon });
            }
            self.begin_statement();
            self.resumed = self.at;
            self.asked = Some(self.at);
            return Ok(());
        }
        let end = if let Found::Closed(at) = found { at } else { self.source.len() };
        self.jump(end, Kind::Semicolon);
        self.asked = Some(self.at);
        Ok(())
    }

    /// Begins with an operator, for which the code before it does not matter.
    fn begin_at(&mut self, word: usize, before: Before) {
        let is_first = before == Before::Start;
        self.jump(word, if is_first { Kind::Semicolon } else { Kind::Assign });
        self.resumed = if is_first { self.at } else { usize::MAX };
        (self.entered, self.asked) = (Some(self.frames.len()), None);
        self.fetch(self.at);
        if !self.begin_operator() {
            self.at += 1;
        }
    }

    /// Returns `true` if the current token is `suspend` and not a statement.
    fn declares_suspend(&self, at: usize) -> bool {
        let rest = self.source[at..].strip_prefix(b"suspend");
        rest.is_some_and(|rest| !scan::ends_suspend(rest.trim_ascii_start()))
    }

    /// Skips everything up to an offset, before which there is a token of this kind.
    fn jump(&mut self, to: usize, before: Kind) {
        if self.frames.len() == 1 {
            (self.at, self.closed_head, self.closed_closure) = (0, None, None);
        }
        self.tokens.truncate(self.at);
        self.tokens.push(Token { kind: before, start: to as u32, end: to as u32 });
        self.at += 1;
        self.lexer.go_on(to);
        self.is_all = false;
    }

    /// Writes out the operators that are incomplete, so that PHP reports the error.
    fn abandon(&mut self) {
        while let Some(frame) = self.frames.pop() {
            if let (None, Of::Call(callee)) = (frame.group, frame.of) {
                self.write_call(callee);
            }
        }
    }

    fn top(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn token(&self, at: usize) -> Token {
        let end = self.source.len() as u32;
        self.tokens.get(at).copied().unwrap_or(Token { kind: Kind::End, start: end, end })
    }

    fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |token| token.kind)
    }

    /// The kind of the token before the current one.
    fn before(&self) -> Kind {
        if self.at == 0 { Kind::OpenTag } else { self.tokens[self.at - 1].kind }
    }

    fn is(&self, at: usize, name: &[u8]) -> bool {
        let token = self.token(at);
        token.kind == Kind::Name && &self.source[token.start as usize..token.end as usize] == name
    }

    fn unexpected(&self, wanted: Option<&str>) -> SyntaxError {
        SyntaxError::unexpected(self.source, self.token(self.at), wanted)
    }
}

/// Returns `true` if this can be the start of a member of a class, or of a constant, where the words have another meaning.
fn may_declare(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let length = text.iter().take_while(|byte| is_label(**byte)).count();
    if length == 0 {
        return text.starts_with(b"#[");
    }
    const WORDS: [&[u8]; 11] = [
        b"abstract",
        b"const",
        b"final",
        b"function",
        b"private",
        b"protected",
        b"public",
        b"readonly",
        b"set",
        b"static",
        b"var",
    ];
    let is_class = text[length..].starts_with(b"::"); // `static::f()`
    !is_class && WORDS.iter().any(|word| text[..length].eq_ignore_ascii_case(word))
}

/// After it there may be another statement.
fn ends_statement(kind: Kind) -> bool {
    matches!(kind, Kind::Semicolon | Kind::OpenBrace | Kind::CloseBrace)
}
