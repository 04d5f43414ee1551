//! Checks that documents, and comments of the crates, have none of the phrases below, which native readers stumble over.

use crate::tree;
use std::{fs, path::Path};

/// The phrases, in lower case.
const PHRASES: &[&str] = &["returns what", "so many", "nobody", "somebody", "of php's own", "in vain"];

/// Documents that are not checked: the history, and what is generated from the stubs.
const UNCHECKED: &[&str] = &["CHANGELOG.md", "docs/reference"];

pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let mut complaints = Vec::new();
    let mut count = 0;
    for path in tree::files(root).map_err(|error| vec![error.to_string()])? {
        let Some(prose) = kind(&path) else { continue };
        let text = fs::read_to_string(root.join(&path)).map_err(|error| vec![format!("{path}: {error}")])?;
        count += 1;
        let found = found(prose(&text).into_iter());
        complaints.extend(found.iter().map(|(line, phrase)| format!("{path}:{line} has \"{phrase}\"")));
    }
    if complaints.is_empty() { Ok(format!("{count} files without {} phrases", PHRASES.len())) } else { Err(complaints) }
}

/// Gives the prose of each line of a text, if it has any.
type Prose = fn(&str) -> Vec<Option<&str>>;

/// Returns how the prose of this file is found; `None` if the file is not checked.
fn kind(path: &str) -> Option<Prose> {
    let is_in = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if path.ends_with(".md") {
        return (!UNCHECKED.iter().any(|unchecked| is_in(unchecked))).then_some(document);
    }
    let is_source = is_in("crates") && path.split('/').nth(2) == Some("src") && path.ends_with(".rs");
    is_source.then_some(comments)
}

/// All of a document is prose, but for the code in its fences.
fn document(text: &str) -> Vec<Option<&str>> {
    let mut fenced = false;
    let prose = |line| {
        let is_fence = str::trim_start(line).starts_with("```");
        fenced ^= is_fence;
        (!fenced && !is_fence).then_some(line)
    };
    text.lines().map(prose).collect()
}

fn comments(code: &str) -> Vec<Option<&str>> {
    code.lines().map(comment).collect()
}

/// Returns the comment of a line of Rust code, if it has one. `//` in a string counts if a space is before it.
fn comment(line: &str) -> Option<&str> {
    let (before, comment) = line.split_once("//")?;
    let is_comment = before.is_empty() || before.ends_with(' ');
    is_comment.then(|| comment.trim_start_matches(['/', '!']))
}

/// Returns the phrases in lines of prose, each with the number of the line that it begins in. One may continue in the next line.
fn found<'a>(lines: impl Iterator<Item = Option<&'a str>>) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut last = String::new();
    for (at, line) in lines.enumerate() {
        let words = words(line.unwrap_or_default());
        // ` last | this `, each with a space at both ends.
        let both = format!("{last}{}", words.strip_prefix(' ').unwrap_or(&words));
        for phrase in PHRASES {
            let padded = format!(" {phrase} ");
            found.extend(words.matches(&padded).map(|_| (at + 1, *phrase)));
            let is_broken = both.contains(&padded) && !last.contains(&padded) && !words.contains(&padded);
            found.extend((is_broken && !last.is_empty()).then_some((at, *phrase)));
        }
        last = if words.trim().is_empty() { String::new() } else { words };
    }
    found
}

/// Returns the words of a line in lower case, each with a space before and after it. A punctuation mark counts as a word.
fn words(line: &str) -> String {
    let lower = line.to_lowercase().replace('’', "'").replace([',', '.', ';', ':', '!', '?', '(', ')'], " . ");
    let parts = lower.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '_' | '.'));
    let words: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::{comments, document, found, kind};

    fn of_code(text: &str) -> Vec<(usize, &'static str)> {
        found(comments(text).into_iter())
    }

    #[test]
    fn phrases_are_found_in_comments_only() {
        let code =
            "/// Returns what it has.\nfn nobody() {} // In vain\nlet url = \"http://nobody\";\nlet a = \"so many\";\n";
        assert_eq!(of_code(code), [(1, "returns what"), (2, "in vain")]);
    }

    #[test]
    fn a_phrase_may_be_broken_across_two_lines() {
        assert_eq!(of_code("// those of PHP's\n// own\n"), [(1, "of php's own")]);
        assert!(of_code("// so\nlet a = 1; // b\n").is_empty() && of_code("// so\n\n// many\n").is_empty());
        assert_eq!(of_code("// so many\n// so many\n"), [(1, "so many"), (2, "so many")]);
    }

    #[test]
    fn phrases_are_whole_words() {
        assert!(of_code("// also many, in vainly, nobody_waits, somebodys, returns whatever; if so, many").is_empty());
        assert_eq!(of_code("//! **Nobody** waits (so many)."), [(1, "so many"), (1, "nobody")]);
    }

    #[test]
    fn code_in_documents_is_not_prose() {
        let text = "so many\n```php\n$nobody = 1;\n```\nin vain";
        assert_eq!(found(document(text).into_iter()), [(1, "so many"), (5, "in vain")]);
    }

    #[test]
    fn sources_of_crates_and_documents_are_checked() {
        assert!(
            kind("crates/core/src/lib.rs").is_some() && kind("docs/io.md").is_some() && kind("README.md").is_some()
        );
        for path in ["crates/core/tests/a.rs", "xtask/src/words.rs", "CHANGELOG.md", "docs/reference/a.md", "a.txt"] {
            assert!(kind(path).is_none(), "{path}");
        }
    }
}
