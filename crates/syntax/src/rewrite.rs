//! One walk over the tokens, with a stack of what is open: groups (brackets, strings) and expressions that belong to an
//! operator. Of PHP's grammar it knows what it takes to see where an operand ends, and where a name is a type.
//!
//! Nothing here rejects valid PHP: an operator is one only where PHP allows no such sequence of tokens.

use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::lexer::{Lexer, Options, is_space};
use crate::token::{Kind, Token};

const SPAWN: &str = "\\Async\\spawn(";
const CALL: &str = "\\Async\\Syntax\\call(";
const AWAIT: &str = "\\Async\\await(";
const AWAIT_CHILDREN: &str = "\\Async\\awaitChildren(";
const SUSPEND: &str = "\\Async\\suspend()";

const WANTS_CALL: &str = "spawn expects a call or a closure";

/// The source as plain PHP, or `None` when it is that already.
pub fn rewrite(source: &[u8], options: Options) -> Result<Option<Vec<u8>>, SyntaxError> {
    let mut tokens = Vec::with_capacity(source.len() / 5);
    tokens.extend(Lexer::new(source, options).filter(|t| !matches!(t.kind, Kind::Whitespace | Kind::Comment)));
    let frames = vec![Frame::group(Group::Block, Kind::End)];
    let mut walk = Walk {
        source,
        tokens,
        at: 0,
        edits: Edits::default(),
        frames,
        closed_closure: None,
        constants: Constants::Elsewhere,
        suspend_is_constant: false,
        ternary_colon: false,
        closed_head: None,
    };
    walk.run()?;
    Ok((!walk.edits.is_empty()).then(|| walk.edits.apply(source)))
}

/// What a bracket, or a string with variables in it, contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Group {
    /// Statements.
    Block,
    /// Expressions.
    Code,
    /// The arms of a `match`.
    Arms,
    /// Parameters, or what is caught.
    Parameters,
    /// Members of a class, hooks of a property, rules for a trait.
    Members,
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
    /// Where the parentheses open that come last; `None` when something else comes last.
    parens: Option<usize>,
    /// The `->`, `?->` or `::` that comes last before them; `None` when it is no member that is called.
    member: Option<usize>,
    nullsafe: bool,
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
    group: Option<Group>,
    /// What closes the group.
    closer: Kind,
    /// What the next `{` will open; `None`: by what is before it.
    body: Option<Group>,
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
    fn group(group: Group, closer: Kind) -> Frame {
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

    /// Is this a place for declarations, where a name before a variable is a type?
    fn declares(&self) -> bool {
        matches!(self.group, Some(Group::Members | Group::Parameters)) && !self.in_value
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

/// The tokens cannot be followed any more: brackets do not match. PHP will say so.
struct Lost;

struct Walk<'a> {
    source: &'a [u8],
    /// Without white space and comments.
    tokens: Vec<Token>,
    at: usize,
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

impl Walk<'_> {
    fn run(&mut self) -> Result<(), SyntaxError> {
        while self.at < self.tokens.len() {
            let top = self.top();
            let step = match top.group {
                Some(Group::Quoted) => self.in_string(),
                Some(group) => self.in_group(group),
                None => self.in_expression()?,
            };
            if step.is_err() {
                self.abandon();
                return Ok(());
            }
        }
        while self.top().group.is_none() {
            self.end_expression()?;
        }
        self.end_statement();
        self.abandon();
        Ok(())
    }

    /// What an operator has got so far is written out, for PHP to complain of the rest.
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

    // --- groups ---------------------------------------------------------------------------------------------------------

    /// Within a string only what holds code is of interest.
    fn in_string(&mut self) -> Result<(), Lost> {
        match self.kind(self.at) {
            kind if kind == self.top().closer => self.close(),
            Kind::CurlyOpen | Kind::DollarCurlyOpen => self.open(Group::Code, Kind::CloseBrace),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    fn open(&mut self, group: Group, closer: Kind) -> Result<(), Lost> {
        self.at += 1;
        self.frames.push(Frame::group(group, closer));
        Ok(())
    }

    /// Closes the group that is open, if the token does.
    fn close(&mut self) -> Result<(), Lost> {
        let kind = self.kind(self.at);
        if self.frames.len() == 1 || self.top().closer != kind {
            return Err(Lost);
        }
        if self.top().is_head {
            self.closed_head = Some(self.at);
        }
        self.at += 1;
        self.frames.pop();
        let at = self.at;
        let ellipsis = self.kind(at.wrapping_sub(2)) == Kind::Ellipsis;
        let frame = self.top();
        match frame.group {
            None => {
                frame.phase = frame.after;
                if let (Of::Call(callee), true) = (&mut frame.of, ellipsis && kind == Kind::CloseParen)
                    && callee.parens == Some(at - 3)
                {
                    callee.parens = None; // `f(...)` makes a closure
                }
            }
            Some(Group::Members) if kind == Kind::CloseBrace && !frame.in_value => frame.is_method = false,
            Some(Group::Block) if kind == Kind::CloseBrace => frame.questions = 0,
            Some(_) => {}
        }
        Ok(())
    }

    /// What begins a group of any kind; `None` for other tokens.
    fn opens(&mut self) -> Option<Result<(), Lost>> {
        let before = self.before();
        let kind = self.kind(self.at);
        let frame = self.top();
        let (group, closer) = match kind {
            Kind::OpenParen => {
                let declares = frame.group == Some(Group::Members) && !frame.in_value;
                let parameters = std::mem::take(&mut frame.parameters) || declares;
                (if parameters { Group::Parameters } else { Group::Code }, Kind::CloseParen)
            }
            Kind::OpenBracket | Kind::Attribute => (Group::Code, Kind::CloseBracket),
            Kind::OpenBrace => {
                frame.parameters = false;
                let body = frame.body.take();
                let group = match (body, frame.group) {
                    (Some(body), _) => body,
                    (None, Some(Group::Members | Group::Parameters)) if !frame.is_method => {
                        frame.in_value = false; // hooks, which may come after a default; rules for traits
                        Group::Members
                    }
                    (None, _) if matches!(before, Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon) => Group::Code,
                    (None, _) if matches!(before, Kind::Dollar | Kind::Backslash) => Group::Code,
                    (None, _) => Group::Block,
                };
                (group, Kind::CloseBrace)
            }
            Kind::CurlyOpen | Kind::DollarCurlyOpen => (Group::Code, Kind::CloseBrace),
            Kind::Quote => (Group::Quoted, Kind::Quote),
            Kind::Backtick => (Group::Quoted, Kind::Backtick),
            Kind::StartHeredoc => (Group::Quoted, Kind::EndHeredoc),
            _ => return None,
        };
        let opened = self.open(group, closer);
        self.top().is_head = kind == Kind::OpenParen && before == Kind::Reserved;
        Some(opened)
    }

    fn in_group(&mut self, group: Group) -> Result<(), Lost> {
        if let Some(opened) = self.opens() {
            return opened;
        }
        let kind = self.kind(self.at);
        let declares = self.top().declares();
        match kind {
            Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace | Kind::EndHeredoc => return self.close(),
            Kind::Name if !declares => {
                if self.operator() {
                    return Ok(());
                }
                self.statement_word(group);
            }
            Kind::Qualified | Kind::FullyQualified if self.constants == Constants::Imported => self.imported_constant(),
            Kind::Function => {
                if !declares {
                    self.add_parentheses();
                }
                let frame = self.top();
                frame.parameters = true;
                if group == Group::Members && declares {
                    frame.is_method = true;
                } else {
                    frame.body = Some(Group::Block);
                }
            }
            Kind::Fn if !declares => self.top().parameters = true,
            Kind::Catch if !declares => self.top().parameters = true,
            Kind::Class | Kind::ClassLike if !declares && self.begins_word() => self.top().body = Some(Group::Members),
            Kind::Match if !declares && self.begins_word() => self.top().body = Some(Group::Arms),
            Kind::Const if group == Group::Block => {
                let imports = self.before() == Kind::Use;
                self.constants = if imports { Constants::Imported } else { Constants::Declared };
            }
            Kind::Semicolon | Kind::CloseTag => {
                let frame = self.top();
                (frame.body, frame.parameters, frame.questions) = (None, false, 0);
                (frame.in_value, frame.is_method) = (false, false);
                if group == Group::Block {
                    self.constants = Constants::Elsewhere;
                }
            }
            Kind::Assign => self.top().in_value = true,
            Kind::DoubleArrow if group == Group::Members => self.top().in_value = true,
            Kind::Comma => self.top().in_value = false,
            Kind::Question => self.top().questions += 1,
            Kind::Colon => {
                let frame = self.top();
                let is_ternary = frame.questions > 0;
                frame.questions -= u32::from(is_ternary);
                self.ternary_colon = is_ternary;
            }
            _ => {}
        }
        self.at += 1;
        Ok(())
    }

    /// Is the current word not the name of a member, a function, a constant?
    fn begins_word(&self) -> bool {
        !matches!(self.before(), Kind::DoubleColon | Kind::Function | Kind::Const)
    }

    /// `suspend;` as a statement, and declarations of a constant of that name.
    fn statement_word(&mut self, group: Group) {
        if !self.is(self.at, b"suspend") {
            return;
        }
        if self.constants != Constants::Elsewhere || self.before() == Kind::Const {
            self.suspend_is_constant |= match self.constants {
                Constants::Declared => self.kind(self.at + 1) == Kind::Assign,
                _ => self.kind(self.at + 1) != Kind::As,
            };
            return;
        }
        let begins = match self.before() {
            Kind::OpenTag | Kind::CloseTag | Kind::InlineHtml | Kind::Semicolon | Kind::Leads => true,
            Kind::OpenBrace | Kind::CloseBrace => true,
            Kind::CloseParen => self.closed_head == Some(self.at - 1),
            Kind::Colon => !self.ternary_colon,
            _ => false,
        };
        let ends = matches!(self.kind(self.at + 1), Kind::Semicolon | Kind::CloseTag);
        if group == Group::Block && begins && ends && !self.suspend_is_constant {
            let token = self.token(self.at);
            self.edits.replace(token.start, token.end, SUSPEND);
        }
    }

    fn imported_constant(&mut self) {
        let token = self.token(self.at);
        let name = &self.source[token.start as usize..token.end as usize];
        self.suspend_is_constant |= name.ends_with(b"\\suspend") && self.kind(self.at + 1) != Kind::As;
    }

    // --- closures without parentheses -----------------------------------------------------------------------------------

    /// At a `function`: `function {`, `function use (…)` and `function: type {` get their parentheses.
    fn add_parentheses(&mut self) {
        if self.before() == Kind::DoubleColon {
            return; // a constant or a method of that name
        }
        let mut last = self.at;
        if self.kind(last + 1) == Kind::Ampersand {
            last += 1;
        }
        let bare = match self.kind(last + 1) {
            Kind::OpenBrace => true,
            Kind::Use => self.kind(last + 2) == Kind::OpenParen,
            Kind::Colon => self.is_type_and_body(last + 2), // else a named argument
            _ => false,
        };
        if bare {
            self.edits.insert(self.token(last).end, "()");
        }
    }

    fn is_type_and_body(&self, from: usize) -> bool {
        let mut at = from;
        loop {
            match self.kind(at) {
                Kind::OpenBrace => return at > from,
                Kind::Name
                | Kind::Qualified
                | Kind::FullyQualified
                | Kind::Relative
                | Kind::Static
                | Kind::Question => {}
                Kind::Ampersand | Kind::OpenParen | Kind::CloseParen => {}
                Kind::Operand | Kind::Reserved => {} // array, callable
                Kind::Binary if self.source[self.token(at).start as usize] == b'|' => {}
                _ => return false,
            }
            at += 1;
        }
    }

    // --- operators ------------------------------------------------------------------------------------------------------

    /// Begins an operator, if the name at hand is one: by what is around it, it cannot be a name in PHP.
    fn operator(&mut self) -> bool {
        let possible = match self.before() {
            Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon | Kind::Function | Kind::Fn | Kind::Const => false,
            Kind::Class | Kind::ClassLike | Kind::Names | Kind::New | Kind::Instanceof | Kind::As | Kind::Use => false,
            // The end of an operand: something is missing between the two, PHP will say what.
            Kind::Variable | Kind::Name | Kind::Qualified | Kind::FullyQualified | Kind::Relative => false,
            Kind::Number | Kind::String | Kind::Quote | Kind::EndHeredoc | Kind::CloseBracket | Kind::Operand => false,
            Kind::CloseParen => self.closed_head == Some(self.at - 1),
            _ => true,
        };
        possible && self.begin_operator()
    }

    /// The same where an operand must come.
    fn begin_operator(&mut self) -> bool {
        let is_await = self.is(self.at, b"await");
        if !is_await && !self.is(self.at, b"spawn") || !begins_operand(self.kind(self.at + 1)) {
            return false;
        }
        let keyword = self.token(self.at);
        let next = self.at + 1;
        let (of, text, phase) = if is_await && self.is_children(next) {
            self.replace_word(keyword, AWAIT_CHILDREN);
            let word = self.token(next);
            self.edits.replace(word.start, word.end, "");
            self.at += 1;
            (Of::AwaitChildren, "", Phase::Done)
        } else if is_await {
            (Of::Await, AWAIT, Phase::Start)
        } else if self.begins_closure(next) {
            (Of::Closure, SPAWN, Phase::Start)
        } else {
            let callee = Callee { keyword: self.at, parens: None, member: None, nullsafe: false };
            (Of::Call(callee), "", Phase::Start)
        };
        if !text.is_empty() {
            self.replace_word(keyword, text);
        }
        self.at += 1;
        self.frames.push(Frame { phase, ..Frame::expression(of) });
        true
    }

    /// Puts the beginning of a call in the place of a keyword and the blank after it.
    fn replace_word(&mut self, keyword: Token, text: &'static str) {
        let rest = &self.source[keyword.end as usize..];
        let is_blank = rest.first() == Some(&b' ') && rest.get(1).is_some_and(|byte| !is_space(*byte));
        self.edits.replace(keyword.start, keyword.end + u32::from(is_blank), text);
    }

    fn is_children(&self, at: usize) -> bool {
        (self.is(at, b"children") || self.is(at, b"spawned"))
            && !matches!(
                self.kind(at + 1),
                Kind::OpenParen | Kind::OpenBracket | Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon
            )
    }

    fn begins_closure(&self, at: usize) -> bool {
        match self.kind(at) {
            Kind::Function | Kind::Fn | Kind::Attribute => true,
            Kind::Static => matches!(self.kind(at + 1), Kind::Function | Kind::Fn),
            _ => false,
        }
    }

    // --- expressions ----------------------------------------------------------------------------------------------------

    fn in_expression(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        let phase = self.top().phase;
        match phase {
            Phase::Start => self.start(),
            Phase::MaybeStart if self.may_start() => self.start(),
            Phase::Dollar => self.dollar(),
            Phase::Member => self.member(),
            Phase::Head | Phase::ArrowHead => self.head(),
            Phase::MaybeStart | Phase::Tail | Phase::After | Phase::Done => self.tail(phase),
        }
    }

    fn may_start(&self) -> bool {
        let kind = self.kind(self.at);
        begins_operand(kind)
            || matches!(kind, Kind::OpenParen | Kind::OpenBracket | Kind::Sign | Kind::Ampersand | Kind::IncDec)
    }

    fn take(&mut self, phase: Phase) -> Result<Result<(), Lost>, SyntaxError> {
        self.top().phase = phase;
        self.at += 1;
        Ok(Ok(()))
    }

    /// Opens a group, after which the expression goes on in `after`.
    fn enter(&mut self, after: Phase) -> Result<Result<(), Lost>, SyntaxError> {
        self.top().after = after;
        Ok(self.opens().unwrap_or(Err(Lost)))
    }

    fn start(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        let kind = self.kind(self.at);
        let next = self.kind(self.at + 1);
        let of = self.top().of;
        let fits = match of {
            Of::Call(_) => match kind {
                Kind::Static => next == Kind::DoubleColon,
                Kind::Name => !((self.is(self.at, b"await") || self.is(self.at, b"spawn")) && begins_operand(next)),
                Kind::Variable | Kind::Qualified | Kind::FullyQualified | Kind::Relative => true,
                Kind::String | Kind::Quote | Kind::Dollar => true,
                _ => false,
            },
            // After attributes; before them `begins_closure` has looked.
            Of::Closure if self.top().reach == Reach::Operand => {
                kind == Kind::Attribute || self.begins_closure(self.at)
            }
            _ => true,
        };
        if !fits {
            return Err(self.unexpected(Some(WANTS_CALL)));
        }
        match kind {
            Kind::Name if self.begin_operator() => {
                let parent = self.frames.len() - 2;
                self.frames[parent].phase = Phase::After;
                Ok(Ok(()))
            }
            Kind::Variable | Kind::Number | Kind::String | Kind::Operand => self.take(Phase::Tail),
            Kind::Name | Kind::Qualified | Kind::FullyQualified | Kind::Relative => self.take(Phase::Tail),
            Kind::Quote | Kind::Backtick | Kind::StartHeredoc | Kind::OpenParen | Kind::OpenBracket => {
                self.enter(Phase::Tail)
            }
            Kind::Attribute => self.enter(Phase::Start),
            Kind::Cast | Kind::Not | Kind::Tilde | Kind::At | Kind::Sign | Kind::Ampersand => self.take(Phase::Start),
            Kind::New | Kind::Clone | Kind::IncDec => self.take(Phase::Start),
            Kind::Static if self.begins_closure(self.at) => self.take(Phase::Start),
            Kind::Static => self.take(Phase::Tail),
            Kind::Function => {
                self.add_parentheses();
                let frame = self.top();
                (frame.parameters, frame.body) = (true, Some(Group::Block));
                frame.after = if of == Of::Closure { Phase::Done } else { Phase::Tail };
                self.take(Phase::Head)
            }
            Kind::Fn => {
                self.top().parameters = true;
                self.take(Phase::ArrowHead)
            }
            Kind::Class => {
                self.top().body = Some(Group::Members);
                self.take(Phase::Head)
            }
            Kind::Match => {
                self.top().body = Some(Group::Arms);
                self.take(Phase::Head)
            }
            Kind::Takes | Kind::Yield | Kind::YieldFrom => {
                let frame = self.top();
                frame.reach = Reach::Everything;
                frame.yields |= kind == Kind::Yield;
                self.take(if kind == Kind::Yield { Phase::MaybeStart } else { Phase::Start })
            }
            Kind::Print => {
                self.reach(Reach::Assignment);
                self.take(Phase::Start)
            }
            Kind::Dollar => self.take(Phase::Dollar),
            _ => Err(self.unexpected(None)),
        }
    }

    fn reach(&mut self, reach: Reach) {
        let frame = self.top();
        frame.reach = frame.reach.max(reach);
    }

    fn dollar(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        match self.kind(self.at) {
            Kind::Dollar => self.take(Phase::Dollar),
            Kind::Variable => self.take(Phase::Tail),
            Kind::OpenBrace => self.enter(Phase::Tail),
            _ => Err(self.unexpected(None)),
        }
    }

    fn member(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        match self.kind(self.at) {
            Kind::Dollar => self.take(Phase::Dollar),
            Kind::OpenBrace => self.enter(Phase::Tail),
            Kind::Variable => self.take(Phase::Tail),
            kind if is_word(kind) => self.take(Phase::Tail),
            _ => Err(self.unexpected(None)),
        }
    }

    fn head(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        let phase = self.top().phase;
        match self.kind(self.at) {
            Kind::OpenBrace if phase == Phase::Head => {
                let closure = self.top().of == Of::Closure && self.top().reach == Reach::Operand;
                self.enter(if closure { Phase::Done } else { Phase::Tail })
            }
            Kind::DoubleArrow if phase == Phase::ArrowHead => {
                self.reach(Reach::Assignment);
                self.take(Phase::Start)
            }
            Kind::OpenParen | Kind::Attribute => self.enter(phase),
            Kind::Colon | Kind::Comma | Kind::Question | Kind::Ampersand | Kind::Binary => self.take(phase),
            Kind::Qualified | Kind::FullyQualified | Kind::Relative => self.take(phase),
            Kind::Function | Kind::Fn | Kind::Class | Kind::Match => Err(self.unexpected(None)),
            Kind::Name if matches!(self.before(), Kind::Name | Kind::Function | Kind::Fn) => Err(self.unexpected(None)),
            kind if is_word(kind) => self.take(phase),
            _ => Err(self.unexpected(None)),
        }
    }

    fn tail(&mut self, phase: Phase) -> Result<Result<(), Lost>, SyntaxError> {
        let at = self.at;
        let kind = self.kind(at);
        let frame = self.top();
        if phase == Phase::Done || kind == Kind::End {
            return self.ends();
        }
        if phase == Phase::Tail {
            let next = match kind {
                Kind::OpenParen | Kind::OpenBracket => Some(Phase::Tail),
                Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon => Some(Phase::Member),
                Kind::IncDec => Some(Phase::Tail),
                _ => None,
            };
            if let (Of::Call(callee), Some(_)) = (&mut frame.of, next) {
                let called = callee.parens.replace(at).is_some();
                match kind {
                    Kind::OpenParen if called => callee.member = None, // what a call returns is called
                    Kind::OpenParen => {}
                    Kind::OpenBracket | Kind::IncDec => (callee.parens, callee.member) = (None, None),
                    _ => (callee.parens, callee.member) = (None, Some(at)),
                }
                callee.nullsafe |= kind == Kind::NullsafeArrow;
            }
            match next {
                Some(Phase::Tail) if kind != Kind::IncDec => return self.enter(Phase::Tail),
                Some(next) => return self.take(next),
                None => {}
            }
        }
        let spawns_call = matches!(frame.of, Of::Call(_));
        match kind {
            Kind::Assign | Kind::OpAssign if phase == Phase::Tail && !spawns_call => {
                self.reach(Reach::Assignment);
                self.take(Phase::Start)
            }
            _ if frame.reach == Reach::Operand => self.ends(),
            Kind::Binary | Kind::Sign | Kind::Ampersand | Kind::Instanceof => self.take(Phase::Start),
            Kind::Question => {
                frame.questions += 1;
                self.take(Phase::MaybeStart)
            }
            Kind::Colon if frame.questions > 0 => {
                frame.questions -= 1;
                self.take(Phase::Start)
            }
            Kind::DoubleArrow if frame.yields => {
                frame.yields = false;
                self.take(Phase::Start)
            }
            Kind::LogicalWord if frame.reach == Reach::Everything => self.take(Phase::Start),
            _ => self.ends(),
        }
    }

    fn ends(&mut self) -> Result<Result<(), Lost>, SyntaxError> {
        self.end_expression()?;
        if self.top().group.is_some() {
            self.end_statement();
        }
        Ok(Ok(()))
    }

    /// The expression on top ends before the current token.
    fn end_expression(&mut self) -> Result<(), SyntaxError> {
        if !matches!(self.top().phase, Phase::MaybeStart | Phase::Tail | Phase::After | Phase::Done) {
            return Err(self.unexpected(None));
        }
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        let end = self.token(self.at.saturating_sub(1)).end;
        match frame.of {
            Of::Await | Of::AwaitChildren if self.is(self.at, b"until") => {
                let token = self.token(self.at);
                let blank = u32::from(self.source[token.start as usize - 1] == b' ');
                let text = if frame.of == Of::Await { "," } else { "" };
                self.edits.replace(token.start - blank, token.end, text);
                self.at += 1;
                self.frames.push(Frame::expression(Of::Until));
            }
            Of::Closure => {
                let follows = self.kind(self.at);
                if frame.phase == Phase::Done {
                    if matches!(follows, Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon) {
                        return Err(self.unexpected(None)); // as after any closure
                    }
                    self.closed_closure = Some(self.at - 1);
                }
                self.edits.insert(end, ")");
            }
            Of::Await | Of::AwaitChildren | Of::Until => self.edits.insert(end, ")"),
            Of::Call(callee) => {
                if callee.parens.is_none() {
                    return Err(self.unexpected(Some(WANTS_CALL)));
                }
                self.write_call(callee);
            }
        }
        Ok(())
    }

    /// A `spawn` that has ended with the `}` of its closure, and has all of the statement behind it, needs no `;`.
    fn end_statement(&mut self) {
        let closed = self.closed_closure.take();
        let ends_here = closed.is_some_and(|brace| brace + 1 == self.at);
        if ends_here && self.top().group == Some(Group::Block) && !continues(self.kind(self.at)) {
            self.edits.insert(self.token(self.at - 1).end, ";");
        }
    }

    /// `spawn f(1)` is `call(f(...))(1)`. Where a `?->` is in the callee, a closure cannot be made of it: its object, or
    /// its value, is handed over.
    fn write_call(&mut self, callee: Callee) {
        let keyword = self.token(callee.keyword);
        self.replace_word(keyword, CALL);
        let Some(parens) = callee.parens else { return };
        let parens_start = self.token(parens).start;
        if !callee.nullsafe {
            self.edits.insert(parens_start, "(...))");
            return;
        }
        if let Some(member) = callee.member {
            let operator = self.token(member);
            self.edits.replace(operator.start, operator.end, ", ");
            let (first, last) = (self.token(member + 1), self.token(parens - 1));
            if first.kind == Kind::OpenBrace {
                self.edits.replace(first.start, first.end, "(");
                self.edits.replace(last.start, last.end, ")");
            } else if is_word(first.kind) {
                self.edits.insert(first.start, "'");
                self.edits.insert(first.end, "'");
            }
        }
        self.edits.insert(parens_start, ")?->__invoke");
    }
}

/// May an operand of `spawn` or `await` begin with it? None of these may follow a name in PHP, except where a variable
/// is declared.
fn begins_operand(kind: Kind) -> bool {
    match kind {
        Kind::Variable | Kind::Name | Kind::Qualified | Kind::FullyQualified | Kind::Relative | Kind::Number => true,
        Kind::String | Kind::Quote | Kind::Backtick | Kind::StartHeredoc | Kind::Cast | Kind::Not | Kind::Tilde => true,
        Kind::At | Kind::Dollar | Kind::Function | Kind::Fn | Kind::Static | Kind::New | Kind::Clone => true,
        Kind::Match | Kind::Takes | Kind::Print | Kind::Yield | Kind::YieldFrom | Kind::Operand => true,
        Kind::Attribute => true,
        _ => false,
    }
}

/// Can a member have this as its name?
fn is_word(kind: Kind) -> bool {
    match kind {
        Kind::Name | Kind::Function | Kind::Fn | Kind::Class | Kind::ClassLike | Kind::Match | Kind::New => true,
        Kind::Clone | Kind::Static | Kind::Use | Kind::Const | Kind::Catch | Kind::As | Kind::Leads => true,
        Kind::Instanceof | Kind::LogicalWord | Kind::Takes | Kind::Print | Kind::Yield | Kind::YieldFrom => true,
        Kind::Operand | Kind::Names | Kind::Reserved => true,
        _ => false,
    }
}

/// Does a statement go on with it, after the `}` of a closure?
fn continues(kind: Kind) -> bool {
    match kind {
        Kind::Semicolon | Kind::CloseTag | Kind::Comma | Kind::CloseParen | Kind::CloseBracket => true,
        Kind::Binary | Kind::Sign | Kind::Ampersand | Kind::Question | Kind::Colon | Kind::DoubleArrow => true,
        Kind::Assign | Kind::OpAssign | Kind::Instanceof | Kind::LogicalWord | Kind::As => true,
        Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon => true,
        _ => false,
    }
}
