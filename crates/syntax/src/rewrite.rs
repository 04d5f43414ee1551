//! One walk over the tokens, with a stack of what is open: groups (brackets, strings) and expressions that belong to an
//! operator. Of PHP's grammar it knows what it takes to see where an operand ends, and where a name is a type.
//!
//! Nothing here rejects valid PHP: an operator is one only where PHP allows no such sequence of tokens.

mod groups;
mod operands;
mod operators;

use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::lexer::{Lexer, Options};
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
    let frames = vec![Frame::group(Content::Block, Kind::End)];
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

    /// Is this a place for declarations, where a name before a variable is a type?
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
                Some(Content::Quoted) => self.in_string(),
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
}
