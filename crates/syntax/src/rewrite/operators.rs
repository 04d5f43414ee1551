//! Where an operator begins and ends, and what is written in its place.

use super::{AWAIT, AWAIT_CHILDREN, CALL, Callee, Content, Frame, Of, Phase, SPAWN, WANTS_CALL, Walk};
use crate::chain::{Behind, chain};
use crate::edits::Edits;
use crate::error::SyntaxError;
use crate::lexer::{is_space, spaces};
use crate::token::{Kind, Token};

impl Walk<'_> {
    /// Begins an operator, if the current name is one: its surroundings show that it cannot be a name in PHP.
    pub(super) fn operator(&mut self) -> bool {
        let possible = match self.before() {
            Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon | Kind::Function | Kind::Fn | Kind::Const => false,
            Kind::Class | Kind::ClassLike | Kind::Names | Kind::New | Kind::Instanceof | Kind::As | Kind::Use => false,
            // The end of an operand: something is missing between the two, which PHP reports.
            Kind::Variable | Kind::Name | Kind::Qualified | Kind::FullyQualified | Kind::Relative => false,
            Kind::Number | Kind::String | Kind::Quote | Kind::EndHeredoc | Kind::CloseBracket | Kind::Operand => false,
            Kind::CloseParen => self.closed_head == Some(self.at - 1),
            _ => true,
        };
        possible && self.begin_operator()
    }

    /// The same where an operand must come.
    pub(super) fn begin_operator(&mut self) -> bool {
        let is_await = self.is(self.at, b"await");
        if !is_await && !self.is(self.at, b"spawn") || !self.kind(self.at + 1).begins_operand() {
            return false;
        }
        let keyword = self.token(self.at);
        let next = self.at + 1;
        let (of, text, phase) = if is_await && self.is_children(next) {
            replace_word(&mut self.edits, self.source, keyword, AWAIT_CHILDREN);
            let word = self.token(next);
            self.edits.replace(word.start, word.end, "");
            self.at += 1;
            (Of::AwaitChildren, "", Phase::Done)
        } else if is_await {
            (Of::Await, AWAIT, Phase::Start)
        } else if self.begins_closure(next) {
            (Of::Closure, SPAWN, Phase::Start)
        } else {
            let callee = Callee { keyword: self.at, parens: None, member: None, nullsafe: false, constructs: false };
            (Of::Call(callee), "", Phase::Start)
        };
        if !text.is_empty() {
            replace_word(&mut self.edits, self.source, keyword, text);
        }
        self.at += 1;
        self.frames.push(Frame { phase, ..Frame::expression(of) });
        true
    }

    fn is_children(&self, at: usize) -> bool {
        (self.is(at, b"children") || self.is(at, b"spawned"))
            && !matches!(
                self.kind(at + 1),
                Kind::OpenParen | Kind::OpenBracket | Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon
            )
    }

    pub(super) fn begins_closure(&self, at: usize) -> bool {
        match self.kind(at) {
            Kind::Function | Kind::Fn | Kind::Attribute => true,
            Kind::Static => matches!(self.kind(at + 1), Kind::Function | Kind::Fn),
            _ => false,
        }
    }

    /// The expression on top ends before the current token.
    pub(super) fn end_expression(&mut self) -> Result<(), SyntaxError> {
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
                    if self.kind(callee.keyword + 1) == Kind::New {
                        self.at = callee.keyword + 1; // only the constructor is called
                    }
                    return Err(self.unexpected(Some(WANTS_CALL)));
                }
                self.write_call(callee);
            }
        }
        Ok(())
    }

    /// A `spawn` that has ended with the `}` of its closure, and has all of the statement behind it, needs no `;`.
    pub(super) fn end_statement(&mut self) {
        let closed = self.closed_closure.take();
        let ends_here = closed.is_some_and(|brace| brace + 1 == self.at);
        if ends_here && self.top().group == Some(Content::Block) && !self.kind(self.at).continues() {
            self.edits.insert(self.token(self.at - 1).end, ";");
            // Before a `}` it could also end an arm of a `match`, the head of which was skimmed.
            let is_first = self.is(self.resumed, b"spawn") || self.is(self.resumed, b"await");
            self.in_doubt |= self.skimmer.is_some() && self.kind(self.at) == Kind::CloseBrace && !is_first;
        }
    }

    /// `spawn f(1)` is `call(f(...))(1)`. No closure can be made of a callee that contains `?->`: the object, or the value, that
    /// is called is handed over, and an arrow function makes a closure of it when it is not null.
    pub(super) fn write_call(&mut self, callee: Callee) {
        let keyword = self.token(callee.keyword);
        replace_word(&mut self.edits, self.source, keyword, CALL);
        let Some(parens) = callee.parens else { return };
        let parens_start = self.token(parens).start;
        let member = callee.member.map(|at| self.token(at));
        let end = match member {
            _ if !callee.nullsafe => "(...))",
            Some(operator) => {
                let is_static = operator.kind == Kind::DoubleColon;
                let made = if is_static { ", fn($__callee) => $__callee::" } else { ", fn($__callee) => $__callee->" };
                self.edits.replace(operator.start, operator.end, made);
                "(...))?->__invoke"
            }
            None => ", fn($__callee) => $__callee(...))?->__invoke",
        };
        self.edits.insert(parens_start, end);
    }
}

/// Puts the beginning of a call in the place of a keyword and the blank after it.
fn replace_word(edits: &mut Edits, source: &[u8], keyword: Token, text: &'static str) {
    let rest = &source[keyword.end as usize..];
    let is_blank = rest.first() == Some(&b' ') && rest.get(1).is_some_and(|byte| !is_space(*byte));
    edits.replace(keyword.start, keyword.end + u32::from(is_blank), text);
}

/// At an `await` or `spawn` that certainly is one, and has a chain for its operand: writes the call, and gives the end of
/// the operator.
pub(super) fn simple_operator(edits: &mut Edits, source: &[u8], word: usize, limit: usize) -> Option<usize> {
    let is_await = source[word] == b'a';
    let keyword = Token { kind: Kind::Name, start: word as u32, end: word as u32 + 5 };
    let operand = |word_end: usize| chain(source, word_end + spaces(&source[word_end..]), limit);
    let (chain, behind) = operand(word + 5)?;
    let mut end = chain.end as u32;
    match (is_await, behind) {
        (true, Behind::End) => replace_word(edits, source, keyword, AWAIT),
        (true, Behind::Until(until)) => {
            let (token, Behind::End) = operand(until + 5)? else { return None };
            replace_word(edits, source, keyword, AWAIT);
            let blank = u32::from(source[until - 1] == b' ');
            edits.replace(until as u32 - blank, until as u32 + 5, ",");
            end = token.end as u32;
        }
        (false, Behind::End) => {
            let call = chain.call? as u32;
            replace_word(edits, source, keyword, CALL);
            edits.insert(call, "(...))");
            return Some(end as usize);
        }
        (false, Behind::Until(_)) => return None,
    }
    edits.insert(end, ")");
    Some(end as usize)
}
