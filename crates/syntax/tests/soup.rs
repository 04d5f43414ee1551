//! Anything at all may be handed to the rewriter: it panics nowhere, keeps the lines, and leaves its own output alone.

use proptest::prelude::*;
use spindle_syntax::{Lexer, Options, Start, Version, may_use, rewrite, rewrite_at_length};

const WORDS: [&str; 96] = [
    "await",
    "await",
    "spawn",
    "spawn",
    "suspend",
    "until",
    "children",
    "spawned",
    "function",
    "fn",
    "static",
    "class",
    "match",
    "new",
    "use",
    "const",
    "catch",
    "enum",
    "enum A",
    "yield",
    "yield from",
    "throw",
    "print",
    "include",
    "clone",
    "instanceof",
    "as",
    "if",
    "else",
    "do",
    "and",
    "goto",
    "namespace",
    "extends",
    "A",
    "f",
    "\\B\\c",
    "$x",
    "$y",
    "$",
    "$$",
    "1",
    "2.5e3",
    "'s'",
    "\"t\"",
    "\"a $x b\"",
    "\"{$x[1]} ${y} $x->z\"",
    "`c $x`",
    "<<<A\n $x\n A",
    "<<<'A'\n A",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "{",
    "}",
    "(",
    ")",
    ",",
    ";",
    ";",
    ";\n",
    "->",
    "?->",
    "::",
    "=>",
    "=",
    "+=",
    "?",
    ":",
    "??",
    "+",
    "-",
    "&",
    "|",
    "!",
    "@",
    "~",
    "++",
    "...",
    "(int)",
    "#[",
    "?>",
    "<?php ",
    "<?= ",
    "// c\n",
    "/* c\n */",
    "# d ?>",
    "\\",
    "\"",
    "`",
    "{$x",
    "__halt_compiler",
    "\u{e9}",
];

fn options(version: Version, start: Start) -> Options {
    Options { version, short_tags: false, start }
}

fn lines(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

fn check(source: &[u8], options: Options) {
    let mut at = 0;
    for token in Lexer::new(source, options) {
        assert_eq!(token.start, at);
        assert!(token.end > at);
        at = token.end;
    }
    assert_eq!(at as usize, source.len());
    let found = rewrite(source, options);
    if let Err(error) = &found {
        assert!(error.offset <= source.len());
        let position = error.position(source);
        assert!(position.line >= 1 && position.column >= 1);
    }
    if let Ok(Some(once)) = found {
        assert!(may_use(source, options));
        assert_eq!(lines(&once), lines(source));
    }
    // Of what is broken, what comes first may be skimmed the second time, and then nobody sees that it is broken.
    if let Ok(Some(once)) = rewrite_at_length(source, options) {
        let twice = rewrite_at_length(&once, options);
        assert!(
            !matches!(twice, Ok(Some(_))),
            "{}\nbecame\n{}",
            String::from_utf8_lossy(source),
            String::from_utf8_lossy(&once)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words(words in prop::collection::vec(0..WORDS.len(), 0..40), glue in 0..3usize, version in 0..4usize) {
        let versions = [Version::V8_2, Version::V8_3, Version::V8_4, Version::V8_5];
        let glue = [" ", "", "\n"][glue];
        let text = words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(glue);
        check(text.as_bytes(), options(versions[version], Start::Script));
        check(text.as_bytes(), options(versions[version], Start::Html));
        let sparse = text + &" ".repeat(6000); // so that it is skimmed
        check(sparse.as_bytes(), options(versions[version], Start::Script));
    }

    #[test]
    fn bytes(source in prop::collection::vec(any::<u8>(), 0..200)) {
        let source = [b"await $x; ", &source[..], b" spawn f();"].concat();
        check(&source, options(Version::V8_2, Start::Script));
    }
}
