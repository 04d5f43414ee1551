//! Checks that each rule which the tree cites (`CANC-4`, `H16`) is listed in docs/rules.md, and that a test cites each one there.
//!
//! A phpt test also cites the rule that its file is named after, as `canc-4-blocked-functions.phpt` does.

use crate::tree;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const PAGE: &str = "docs/rules.md";

pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let page = fs::read_to_string(root.join(PAGE)).map_err(|error| vec![format!("{PAGE}: {error}")])?;
    let rules: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let areas: BTreeSet<&str> = rules.iter().map(|rule| area(rule)).collect();
    let mut untested = rules.clone();
    let mut unlisted = BTreeMap::new();
    for path in tree::files(root).map_err(|error| vec![error.to_string()])? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        let mut cited = citations(&text, &areas);
        if let Some((_, name)) = path.rsplit_once('/').filter(|(_, name)| name.ends_with(".phpt")) {
            cited.extend(citations(&name.to_uppercase(), &areas));
        }
        for rule in cited {
            if is_test(&path) {
                untested.remove(rule.as_str());
            }
            if !rules.contains(rule.as_str()) {
                unlisted.entry(rule).or_insert_with(|| path.clone());
            }
        }
    }
    let mut complaints: Vec<_> =
        unlisted.iter().map(|(rule, path)| format!("{path} cites {rule}, which {PAGE} does not list")).collect();
    complaints.extend(untested.iter().map(|rule| format!("{PAGE} lists {rule}, which no test cites")));
    if complaints.is_empty() { Ok(format!("{} rules, each cited by a test", rules.len())) } else { Err(complaints) }
}

/// Returns the letters that a rule begins with.
fn area(rule: &str) -> &str {
    rule.split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or_default()
}

/// Returns the rules of these areas that a text cites.
fn citations(text: &str, areas: &BTreeSet<&str>) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(|word| citation(word, areas)).collect()
}

/// Returns the rule that a word is or begins with: `IO-8`, `H2`, `IO-8-CLOSED`. Hazards are written without a dash.
fn citation(word: &str, areas: &BTreeSet<&str>) -> Option<String> {
    let letters = areas.get(area(word))?;
    let dash = if *letters == "H" { "" } else { "-" };
    let number = word[letters.len()..].strip_prefix(dash)?.split('-').next()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{letters}{dash}{number}"))
}

/// Returns `true` for a file of a test. The tables of mutations name the tests that hold rules, and hold none.
fn is_test(path: &str) -> bool {
    path.split('/').any(|part| part == "tests") && !path.starts_with("tests/mutations/") && !path.ends_with(".md")
}

#[cfg(test)]
mod tests {
    use super::{citations, is_test};
    use std::collections::BTreeSet;

    #[test]
    fn rules_are_cited_by_area_and_number() {
        let areas = BTreeSet::from(["IO", "H"]);
        let found =
            citations("IO-8, H2 (IO-12) UTF-8 IO- H HTTP2 h3 IO8 H-4 IO-x SHA-256 RIO-1 IO-13-CLOSED.PHPT", &areas);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["H2", "IO-12", "IO-13", "IO-8"]);
    }

    #[test]
    fn tables_of_mutations_and_pages_are_no_tests() {
        assert!(is_test("tests/phpt/io/a.phpt") && is_test("crates/core/tests/scopes.rs"));
        assert!(
            !is_test("crates/core/src/tests.rs") && !is_test("tests/mutations/io.txt") && !is_test("tests/README.md")
        );
    }
}
