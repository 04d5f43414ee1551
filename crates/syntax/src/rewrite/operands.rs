//! The extent of an operator's operand.

use super::{Callee, Content, Lost, Of, Phase, Reach, WANTS_CALL, Walk};
use crate::error::SyntaxError;
use crate::lexer::Version;
use crate::token::Kind;

/// `Err` is a wrong use of an operator; PHP reports what an inner [`Lost`] stands for.
type Step = Result<Result<(), Lost>, SyntaxError>;

impl Walk<'_> {
    pub(super) fn in_expression(&mut self) -> Step {
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
        kind.begins_operand()
            || matches!(kind, Kind::OpenParen | Kind::OpenBracket | Kind::Sign | Kind::Ampersand | Kind::IncDec)
    }

    fn take(&mut self, phase: Phase) -> Step {
        self.top().phase = phase;
        self.at += 1;
        Ok(Ok(()))
    }

    /// Opens a group, after which the expression continues in phase `after`.
    fn enter(&mut self, after: Phase) -> Step {
        self.top().after = after;
        Ok(self.opens().unwrap_or(Err(Lost)))
    }

    fn start(&mut self) -> Step {
        let kind = self.kind(self.at);
        let next = self.kind(self.at + 1);
        let of = self.top().of;
        let fits = match of {
            Of::Call(callee) => match kind {
                Kind::New => self.lexer.version() >= Version::V8_4 && !callee.constructs,
                Kind::Static if callee.constructs => true,
                Kind::Class | Kind::OpenParen => callee.constructs,
                Kind::Static => next == Kind::DoubleColon,
                Kind::Name => !((self.is(self.at, b"await") || self.is(self.at, b"spawn")) && next.begins_operand()),
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
            Kind::New | Kind::Clone | Kind::IncDec => {
                if let Of::Call(callee) = &mut self.top().of {
                    callee.constructs = true;
                }
                self.take(Phase::Start)
            }
            Kind::Static if self.begins_closure(self.at) => self.take(Phase::Start),
            Kind::Static => self.take(Phase::Tail),
            Kind::Function => {
                let bare = self.add_parentheses();
                let frame = self.top();
                (frame.parameters, frame.body) = (!bare, Some(Content::Block));
                frame.after = if of == Of::Closure { Phase::Done } else { Phase::Tail };
                self.take(Phase::Head)
            }
            Kind::Fn => {
                self.top().parameters = true;
                self.take(Phase::ArrowHead)
            }
            Kind::Class => {
                let frame = self.top();
                frame.body = Some(Content::Members);
                if let Of::Call(callee) = &mut frame.of {
                    callee.constructs = false; // with its arguments, if any, before its body
                }
                self.take(Phase::Head)
            }
            Kind::Match => {
                self.top().body = Some(Content::Arms);
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

    fn dollar(&mut self) -> Step {
        match self.kind(self.at) {
            Kind::Dollar => self.take(Phase::Dollar),
            Kind::Variable => self.take(Phase::Tail),
            Kind::OpenBrace => self.enter(Phase::Tail),
            _ => Err(self.unexpected(None)),
        }
    }

    fn member(&mut self) -> Step {
        match self.kind(self.at) {
            Kind::Dollar => self.take(Phase::Dollar),
            Kind::OpenBrace => self.enter(Phase::Tail),
            Kind::Variable => self.take(Phase::Tail),
            kind if kind.is_word() => self.take(Phase::Tail),
            _ => Err(self.unexpected(None)),
        }
    }

    fn head(&mut self) -> Step {
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
            kind if kind.is_word() => self.take(phase),
            _ => Err(self.unexpected(None)),
        }
    }

    fn tail(&mut self, phase: Phase) -> Step {
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
            if let (Of::Call(callee @ Callee { constructs: true, .. }), Some(_)) = (&mut frame.of, next) {
                callee.constructs = kind != Kind::OpenParen;
            } else if let (Of::Call(callee), Some(_)) = (&mut frame.of, next) {
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

    fn ends(&mut self) -> Step {
        self.end_expression()?;
        if self.top().group.is_some() {
            self.end_statement();
        }
        Ok(Ok(()))
    }
}
