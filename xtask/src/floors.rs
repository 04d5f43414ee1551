//! Checks that modules use only what lies on their own floor of a crate or below it.
//!
//! The file `floors` in a crate's folder lists them, the lowest first: a line is a floor, and names its modules (`wait::queue`
//! is a part of `wait` that lies elsewhere). The crate's root, `lib.rs`, lies above all of them. Tests at the
//! end of a file do not count.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Checks every crate that has a list. Returns how many files of how many crates it has looked at.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let mut crates: Vec<PathBuf> = fs::read_dir(root.join("crates"))
        .map_err(|error| vec![format!("crates: {error}")])?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("floors").is_file())
        .collect();
    crates.sort();
    let (mut files, mut complaints) = (0, Vec::new());
    for path in &crates {
        match check_crate(path) {
            Ok(count) => files += count,
            Err(more) => complaints.extend(more),
        }
    }
    if complaints.is_empty() { Ok(format!("{files} files of {} crates", crates.len())) } else { Err(complaints) }
}

fn check_crate(path: &Path) -> Result<usize, Vec<String>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let list = fs::read_to_string(path.join("floors")).map_err(|error| vec![format!("{name}/floors: {error}")])?;
    let floors = Floors::parse(&list);
    let source = path.join("src");
    let mut files = Vec::new();
    collect(&source, &mut files).map_err(|error| vec![format!("{name}: {error}")])?;
    let mut complaints = Vec::new();
    for module in floors.0.iter().flatten() {
        let file = source.join(module.replace("::", "/"));
        if !file.is_dir() && !file.with_extension("rs").is_file() {
            complaints.push(format!("{name}/floors names {module}, which is no module"));
        }
    }
    for file in &files {
        let text = fs::read_to_string(file).map_err(|error| vec![format!("{}: {error}", file.display())])?;
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let module = module_of(file.strip_prefix(&source).unwrap_or(file));
        let place = format!("{name}: {}", if module.is_empty() { "lib" } else { &module });
        if !module.is_empty() && floors.of(&module).is_none() {
            complaints.push(format!("{place} lies on no floor"));
        }
        complaints.extend(floors.wrong(&module, text).into_iter().map(|path| format!("{place} uses {path}, above it")));
    }
    if complaints.is_empty() { Ok(files.len()) } else { Err(complaints) }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// `a::b` of `a/b.rs` and of `a/b/mod.rs`; nothing of `lib.rs`.
fn module_of(file: &Path) -> String {
    let path = file.with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let parts = match parts.split_last() {
        Some((last, above)) if last == "mod" || last == "lib" => above,
        _ => &parts[..],
    };
    parts.join("::")
}

/// The modules of each floor, the lowest floor first.
pub struct Floors(Vec<Vec<String>>);

impl Floors {
    pub fn parse(list: &str) -> Floors {
        let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default());
        let floors = lines.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        Floors(floors.filter(|floor| !floor.is_empty()).collect())
    }

    pub fn highest_first(mut self) -> Vec<Vec<String>> {
        self.0.reverse();
        self.0
    }

    /// The floor on which the item with this path lies: that of the longest module which the path begins with.
    fn of(&self, path: &str) -> Option<usize> {
        let is_in =
            |module: &str| path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"));
        let found =
            self.0.iter().enumerate().flat_map(|(floor, modules)| modules.iter().map(move |m| (m.len(), floor, m)));
        found.filter(|(_, _, module)| is_in(module)).max().map(|(_, floor, _)| floor)
    }

    /// The paths that the text of a module names and that lie above it.
    fn wrong(&self, module: &str, text: &str) -> Vec<String> {
        let Some(own) = self.of(module) else { return Vec::new() };
        let mut wrong: Vec<String> =
            paths(module, text).into_iter().filter(|path| self.of(path).is_none_or(|floor| floor > own)).collect();
        wrong.sort();
        wrong.dedup();
        wrong
    }
}

/// The paths of this crate that a text names by `crate`, `super` or `self`, from the crate's root.
fn paths(module: &str, text: &str) -> Vec<String> {
    let code = without_comments_and_texts(text);
    let words = tokens(&code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let begins = matches!(words[at], "crate" | "super" | "self") && words.get(at + 1) == Some(&"::");
        if !begins || at > 0 && words[at - 1] == "::" {
            at += 1;
            continue;
        }
        let mut base: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let mut next = at + 2;
        match words[at] {
            "crate" => base.clear(),
            "super" => _ = base.pop(),
            _ => {}
        }
        while words.get(next) == Some(&"super") && words.get(next + 1) == Some(&"::") {
            base.pop();
            next += 2;
        }
        at = tree(&words, next, &base, &mut found);
    }
    found
}

/// Reads a path, or a tree of them as in `use`, that begins at `at`. Returns where it ends.
fn tree(words: &[&str], mut at: usize, base: &[&str], found: &mut Vec<String>) -> usize {
    let mut path = base.to_vec();
    loop {
        match words.get(at) {
            Some(&"{") => {
                at += 1;
                while words.get(at).is_some_and(|word| *word != "}") {
                    at = if words[at] == "," { at + 1 } else { tree(words, at, &path, found) };
                }
                return at + 1;
            }
            Some(word) if word.starts_with(|c: char| c.is_alphabetic() || c == '_') || *word == "*" => {
                if *word != "self" && *word != "*" {
                    path.push(word);
                }
                at += 1;
            }
            _ => return at + 1,
        }
        if words.get(at) != Some(&"::") {
            found.push(path.join("::"));
            if words.get(at) == Some(&"as") {
                at += 2;
            }
            return at;
        }
        at += 1;
        // Type arguments: `Stack::<T>`.
        if words.get(at) == Some(&"<") {
            found.push(path.join("::"));
            return at;
        }
    }
}

/// Words, `::`, and single signs.
fn tokens(code: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut all, mut rest) = (Vec::new(), code.trim_start());
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        all.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    all
}

/// The code of a text: comments, and what stands in quotes, are spaces.
fn without_comments_and_texts(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(hashes) = raw_text(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let begin = hashes + 2;
            rest[begin..].find(&end).map_or(rest.len(), |at| begin + at + end.len())
        } else if first == '"' {
            quoted(rest, '"')
        } else if first == '\'' && (rest[1..].starts_with('\\') || rest.chars().nth(2) == Some('\'')) {
            quoted(rest, '\'')
        } else {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        code.push(' ');
        rest = &rest[length..];
    }
    code
}

/// How many signs enclose the raw text that begins here, `r#"…"#`.
fn raw_text(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('r')?;
    let hashes = inner.bytes().take_while(|byte| *byte == b'#').count();
    inner[hashes..].starts_with('"').then_some(hashes)
}

/// The length of what stands in quotes, with them.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::{Floors, module_of};
    use std::path::Path;

    fn wrong(module: &str, text: &str) -> Vec<String> {
        Floors::parse("# the lowest first\nlow deep::part\nmiddle other\nhigh deep").wrong(module, text)
    }

    #[test]
    fn what_lies_below_may_be_used() {
        assert!(
            wrong("middle::a", "use crate::low::{b, c::{D, self}}; fn f() { crate::middle::x::g(crate::other::h) }")
                .is_empty()
        );
    }

    #[test]
    fn what_lies_above_may_not() {
        assert_eq!(wrong("low", "use crate::{low::x, high::{y, z as w}};"), ["high::y", "high::z"]);
        assert_eq!(wrong("middle::a", "fn f() { crate::high::g::<u8>() }"), ["high::g"]);
        assert_eq!(wrong("low", "use crate::high;"), ["high"]);
    }

    #[test]
    fn relative_paths_are_followed() {
        assert_eq!(wrong("middle::a", "use super::super::high::x; use super::b; use self::c;"), ["high::x"]);
    }

    #[test]
    fn a_part_can_lie_elsewhere() {
        assert!(wrong("low", "use crate::deep::part::x;").is_empty());
        assert_eq!(wrong("deep::part", "use crate::deep::other;"), ["deep::other"]);
    }

    #[test]
    fn the_root_lies_above_all() {
        assert_eq!(wrong("high", "use crate::get_module;"), ["get_module"]);
    }

    #[test]
    fn comments_and_texts_are_not_code() {
        let text = "// crate::high::a\n/* crate::high::b */ fn f() { (\"crate::high::c \\\" //\", r#\"crate::high::d\"#, '\"') }";
        assert!(wrong("low", text).is_empty());
        assert_eq!(wrong("low", "fn f() { g(\"http://\"); crate::high::h() }"), ["high::h"]);
    }

    #[test]
    fn files_are_modules() {
        assert_eq!(module_of(Path::new("lib.rs")), "");
        assert_eq!(module_of(Path::new("a/mod.rs")), "a");
        assert_eq!(module_of(Path::new("a/b.rs")), "a::b");
    }
}
