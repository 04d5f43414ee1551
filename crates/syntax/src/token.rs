//! The tokens of PHP.

/// The kind of a token. Tokens that the rewriter treats alike have one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text outside of PHP's tags, and all that follows `__halt_compiler();`.
    InlineHtml,
    /// `<?php` and the white space character after it; `<?` with short tags.
    OpenTag,
    /// `<?=`
    OpenTagEcho,
    /// `?>` and the line end after it.
    CloseTag,
    /// Blanks, tabs and line ends.
    Whitespace,
    /// A comment of any kind.
    Comment,
    /// `$name`
    Variable,
    /// A name without a backslash that is no reserved word here.
    Name,
    /// `a\b`
    Qualified,
    /// `\a\b`
    FullyQualified,
    /// `namespace\a`
    Relative,
    /// A number.
    Number,
    /// A string without variables in it, with its quotes.
    String,
    /// Text in a string that has variables, and in a heredoc or nowdoc.
    Text,
    /// `"` around a string that has variables, with a `b` before it.
    Quote,
    /// `` ` ``
    Backtick,
    /// `<<<LABEL` and the line end.
    StartHeredoc,
    /// The closing label with its indentation.
    EndHeredoc,
    /// `{` before a `$` in a string.
    CurlyOpen,
    /// `${` in a string.
    DollarCurlyOpen,
    /// The name in `"${name}"`.
    VarName,
    /// The number in `"$a[0]"`.
    OffsetNumber,
    /// `(int)` and the like.
    Cast,
    /// `#[`
    Attribute,

    /// `function`
    Function,
    /// `fn`
    Fn,
    /// `class`
    Class,
    /// `interface`, `trait`, and `enum` before a name.
    ClassLike,
    /// `match`
    Match,
    /// `new`
    New,
    /// `clone`
    Clone,
    /// `static`
    Static,
    /// `use`
    Use,
    /// `const`
    Const,
    /// `catch`
    Catch,
    /// `as`
    As,
    /// `else`, `do`: a statement follows.
    Leads,
    /// `instanceof`
    Instanceof,
    /// `and`, `or`, `xor`
    LogicalWord,
    /// `throw`, `include`, `require` and their kind: all that follows is theirs.
    Takes,
    /// `print`
    Print,
    /// `yield`
    Yield,
    /// `yield from`
    YieldFrom,
    /// `isset`, `array`, `exit`, `__LINE__` and the like: an expression begins with it, or is it.
    Operand,
    /// `extends`, `implements`, `insteadof`, `namespace`, `goto`: a name follows.
    Names,
    /// `__halt_compiler`
    HaltCompiler,
    /// Any other reserved word.
    Reserved,

    /// `->`
    Arrow,
    /// `?->`
    NullsafeArrow,
    /// `::`
    DoubleColon,
    /// `=>`
    DoubleArrow,
    /// `...`
    Ellipsis,
    /// `++`, `--`
    IncDec,
    /// `=`
    Assign,
    /// `+=` and the like.
    OpAssign,
    /// `+`, `-`
    Sign,
    /// `&`
    Ampersand,
    /// Any other operator that stands between two operands.
    Binary,
    /// `!`
    Not,
    /// `~`
    Tilde,
    /// `@`
    At,
    /// `$`
    Dollar,
    /// `?`
    Question,
    /// `:`
    Colon,
    /// `;`
    Semicolon,
    /// `,`
    Comma,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `\`
    Backslash,
    /// A byte that means nothing in PHP.
    Bad,
    /// After the last token.
    End,
}

impl Kind {
    /// Returns `true` if the grammar sees it.
    pub(crate) fn is_seen(self) -> bool {
        !matches!(self, Kind::Whitespace | Kind::Comment)
    }

    /// Returns `true` if an operand of `spawn` or `await` may begin with it. None of these may follow a name in PHP, except where a variable
    /// is declared.
    pub fn begins_operand(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Variable
                | Name
                | Qualified
                | FullyQualified
                | Relative
                | Number
                | String
                | Quote
                | Backtick
                | StartHeredoc
                | Cast
                | Not
                | Tilde
                | At
                | Dollar
                | Function
                | Fn
                | Static
                | New
                | Clone
                | Match
                | Takes
                | Print
                | Yield
                | YieldFrom
                | Operand
                | Attribute
        )
    }

    /// Returns `true` if a member may have this as its name.
    pub fn is_word(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Name | Function
                | Fn
                | Class
                | ClassLike
                | Match
                | New
                | Clone
                | Static
                | Use
                | Const
                | Catch
                | As
                | Leads
                | Instanceof
                | LogicalWord
                | Takes
                | Print
                | Yield
                | YieldFrom
                | Operand
                | Names
                | Reserved
        )
    }

    /// Returns `true` if it continues a statement after the `}` of a closure.
    pub fn continues(self) -> bool {
        use Kind::*;
        matches!(
            self,
            Semicolon
                | CloseTag
                | Comma
                | CloseParen
                | CloseBracket
                | Binary
                | Sign
                | Ampersand
                | Question
                | Colon
                | DoubleArrow
                | Assign
                | OpAssign
                | Instanceof
                | LogicalWord
                | As
                | Arrow
                | NullsafeArrow
                | DoubleColon
        )
    }
}

/// A piece of the source, by byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it begins.
    pub start: u32,
    /// Where the next one begins.
    pub end: u32,
}

/// The kind of a word that stands where reserved words are reserved. Without `yield from` and `enum`, which depend on
/// what follows.
pub fn word(text: &[u8]) -> Kind {
    const LONGEST: usize = 15;
    if text.len() > LONGEST || text.len() < 2 {
        return Kind::Name;
    }
    let mut lower = [0; LONGEST];
    let lower = &mut lower[..text.len()];
    for (to, from) in lower.iter_mut().zip(text) {
        *to = from.to_ascii_lowercase();
    }
    match &*lower {
        b"function" => Kind::Function,
        b"fn" => Kind::Fn,
        b"class" => Kind::Class,
        b"interface" | b"trait" => Kind::ClassLike,
        b"match" => Kind::Match,
        b"new" => Kind::New,
        b"clone" => Kind::Clone,
        b"static" => Kind::Static,
        b"use" => Kind::Use,
        b"const" => Kind::Const,
        b"catch" => Kind::Catch,
        b"as" => Kind::As,
        b"else" | b"do" => Kind::Leads,
        b"instanceof" => Kind::Instanceof,
        b"and" | b"or" | b"xor" => Kind::LogicalWord,
        b"throw" | b"include" | b"include_once" | b"require" | b"require_once" => Kind::Takes,
        b"print" => Kind::Print,
        b"yield" => Kind::Yield,
        b"isset" | b"empty" | b"eval" | b"exit" | b"die" | b"list" | b"array" | b"__line__" | b"__file__"
        | b"__dir__" | b"__class__" | b"__trait__" | b"__function__" | b"__method__" | b"__namespace__"
        | b"__property__" => Kind::Operand,
        b"extends" | b"implements" | b"insteadof" | b"namespace" | b"goto" => Kind::Names,
        b"__halt_compiler" => Kind::HaltCompiler,
        b"abstract" | b"break" | b"callable" | b"case" | b"continue" | b"declare" | b"default" | b"echo"
        | b"elseif" | b"enddeclare" | b"endfor" | b"endforeach" | b"endif" | b"endswitch" | b"endwhile" | b"final"
        | b"finally" | b"for" | b"foreach" | b"global" | b"if" | b"private" | b"protected" | b"public"
        | b"readonly" | b"return" | b"switch" | b"try" | b"unset" | b"var" | b"while" => Kind::Reserved,
        _ => Kind::Name,
    }
}
