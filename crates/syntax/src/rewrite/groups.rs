//! What stands between brackets, outside of operands: where names are types, where statements begin, what a `{` opens, and
//! closures without parentheses.

use super::{Constants, Content, Frame, Lost, Of, SUSPEND, Walk};
use crate::token::Kind;

impl Walk<'_> {
    /// Within a string only what holds code is of interest.
    pub(super) fn in_string(&mut self) -> Result<(), Lost> {
        match self.kind(self.at) {
            kind if kind == self.top().closer => self.close(),
            Kind::CurlyOpen | Kind::DollarCurlyOpen => self.open(Content::Code, Kind::CloseBrace),
            _ => {
                self.at += 1;
                Ok(())
            }
        }
    }

    fn open(&mut self, group: Content, closer: Kind) -> Result<(), Lost> {
        self.at += 1;
        self.frames.push(Frame::group(group, closer));
        Ok(())
    }

    /// Closes the group that is open, if the token does.
    pub(super) fn close(&mut self) -> Result<(), Lost> {
        let kind = self.kind(self.at);
        if self.frames.len() == 1 && kind == Kind::CloseBrace && self.skimmer.is_some() {
            self.at += 1; // what it closes was skimmed
            return Ok(());
        }
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
            Some(Content::Members) if kind == Kind::CloseBrace && !frame.in_value => frame.is_method = false,
            Some(Content::Block) if kind == Kind::CloseBrace => frame.questions = 0,
            Some(_) => {}
        }
        Ok(())
    }

    /// What begins a group of any kind; `None` for other tokens.
    pub(super) fn opens(&mut self) -> Option<Result<(), Lost>> {
        let before = self.before();
        let kind = self.kind(self.at);
        let frame = self.top();
        let (group, closer) = match kind {
            Kind::OpenParen => {
                let declares = matches!(frame.group, Some(Content::Members | Content::Hooks)) && !frame.in_value;
                let parameters = std::mem::take(&mut frame.parameters) || declares;
                (if parameters { Content::Parameters } else { Content::Code }, Kind::CloseParen)
            }
            Kind::OpenBracket | Kind::Attribute => (Content::Code, Kind::CloseBracket),
            Kind::OpenBrace => {
                frame.parameters = false;
                let body = frame.body.take();
                let group = match (body, frame.group) {
                    (Some(body), _) => body,
                    (None, Some(Content::Members | Content::Parameters)) if !frame.is_method => {
                        frame.in_value = false; // hooks may come after a default
                        Content::Hooks
                    }
                    (None, _) if matches!(before, Kind::Arrow | Kind::NullsafeArrow | Kind::DoubleColon) => {
                        Content::Code
                    }
                    (None, _) if matches!(before, Kind::Dollar | Kind::Backslash) => Content::Code,
                    (None, _) => Content::Block,
                };
                (group, Kind::CloseBrace)
            }
            Kind::CurlyOpen | Kind::DollarCurlyOpen => (Content::Code, Kind::CloseBrace),
            Kind::Quote => (Content::Quoted, Kind::Quote),
            Kind::Backtick => (Content::Quoted, Kind::Backtick),
            Kind::StartHeredoc => (Content::Quoted, Kind::EndHeredoc),
            _ => return None,
        };
        let opened = self.open(group, closer);
        self.top().is_head = kind == Kind::OpenParen && before == Kind::Reserved;
        Some(opened)
    }

    pub(super) fn in_group(&mut self, group: Content) -> Result<(), Lost> {
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
            Kind::Function | Kind::Fn | Kind::Catch | Kind::Class | Kind::ClassLike | Kind::Match => {
                self.construct(kind, declares);
            }
            Kind::Const if group == Content::Block => {
                let imports = self.before() == Kind::Use;
                self.constants = if imports { Constants::Imported } else { Constants::Declared };
            }
            Kind::Semicolon | Kind::CloseTag => self.begin_statement(),
            Kind::Assign => self.top().in_value = true,
            Kind::DoubleArrow if group == Content::Hooks => self.top().in_value = true,
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

    /// What was seen of the previous statement says nothing about the next one.
    pub(super) fn begin_statement(&mut self) {
        let frame = self.top();
        (frame.body, frame.parameters, frame.questions) = (None, false, 0);
        (frame.in_value, frame.is_method) = (false, false);
        if frame.group == Some(Content::Block) {
            self.constants = Constants::Elsewhere;
        }
    }

    /// Handles a word that determines what the next brackets contain, unless it is a name.
    fn construct(&mut self, kind: Kind, declares: bool) {
        let before = self.before();
        if declares {
            // Anything may be the name of a member; methods are what matters.
            self.top().is_method |= kind == Kind::Function;
            return;
        }
        if matches!(before, Kind::DoubleColon | Kind::Function | Kind::Const) {
            return;
        }
        let bare = kind == Kind::Function && self.add_parentheses();
        if !bare && self.kind(self.at + 1) == Kind::Colon {
            return; // the name of an argument
        }
        let frame = self.top();
        match kind {
            Kind::Function => (frame.parameters, frame.body) = (!bare, Some(Content::Block)),
            Kind::Fn | Kind::Catch => frame.parameters = true,
            Kind::Match => frame.body = Some(Content::Arms),
            _ => frame.body = Some(Content::Members),
        }
    }

    /// `suspend;` as a statement, and declarations of a constant of that name.
    fn statement_word(&mut self, group: Content) {
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
        if group == Content::Block && begins && ends && !self.suspend_is_constant {
            let token = self.token(self.at);
            self.edits.replace(token.start, token.end, SUSPEND);
        }
    }

    fn imported_constant(&mut self) {
        let token = self.token(self.at);
        let name = &self.source[token.start as usize..token.end as usize];
        self.suspend_is_constant |= name.ends_with(b"\\suspend") && self.kind(self.at + 1) != Kind::As;
    }

    /// At a `function`: `function {`, `function use (…)` and `function: type {` get their parentheses. Says whether
    /// it had none.
    pub(super) fn add_parentheses(&mut self) -> bool {
        let mut last = self.at;
        if self.kind(last + 1) == Kind::Ampersand {
            last += 1;
            self.fetch(last);
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
        bare
    }

    fn is_type_and_body(&mut self, from: usize) -> bool {
        let mut at = from;
        loop {
            self.fetch(at);
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
}
