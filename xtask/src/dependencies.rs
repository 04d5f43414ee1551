//! What the crates in Cargo.lock must fulfil: come from crates.io, have a license that `deny.toml` allows, and work with the
//! Rust version that `Cargo.toml` promises. Those that ours depend on are on the page that says why. It needs the manifests of the crates, which cargo fetches once, and no tool;
//! `make deny` looks deeper.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use crate::json::Json;

/// Says why each dependency is there.
const PAGE: &str = "docs/internals/dependencies.md";

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let read = |what: &str, text: Option<String>| text.ok_or_else(|| vec![format!("{what} cannot be read")]);
    let deny = read("deny.toml", fs::read_to_string(root.join("deny.toml")).ok())?;
    let allowed = string_list(&deny, "licenses", "allow");
    let metadata = read("cargo metadata", metadata(root))?;
    let metadata = Json::parse(&metadata).ok_or_else(|| vec!["what cargo metadata prints is not JSON".to_owned()])?;

    let (ours, theirs): (Vec<_>, Vec<_>) =
        metadata.array("packages").iter().partition(|package| package.str("source").is_none());
    let promised = ours.iter().filter_map(|package| package.str("rust_version")).min_by_key(|text| version(text));
    let promised = promised.ok_or_else(|| vec!["Cargo.toml has no rust-version".to_owned()])?;

    let page = read(PAGE, fs::read_to_string(root.join(PAGE)).ok())?;
    let mut complaints: Vec<_> = theirs.iter().flat_map(|package| complaints(package, &allowed, promised)).collect();
    complaints.extend(unexplained(&ours, &page));
    if !complaints.is_empty() {
        return Err(complaints);
    }
    Ok(format!("{} crates of crates.io, licenses allowed, none needs more than Rust {promised}", theirs.len()))
}

/// Returns what `cargo metadata` prints of all crates in Cargo.lock.
fn metadata(root: &Path) -> Option<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--format-version=1", "--locked", "--all-features"];
    let output = Command::new(cargo).args(arguments).current_dir(root).output().ok()?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    String::from_utf8(output.stdout).ok()
}

/// Returns what is wrong with a crate of somebody else.
fn complaints(package: &Json, allowed: &[String], promised: &str) -> Vec<String> {
    let text = |name| package.str(name).unwrap_or("none");
    let mut complaints = Vec::new();
    if text("source") != CRATES_IO {
        complaints.push(format!("comes from {}, not from crates.io", text("source")));
    }
    if !is_allowed(text("license"), allowed) {
        complaints.push(format!("has the license {}, which deny.toml does not allow", text("license")));
    }
    if let Some(needed) = package.str("rust_version")
        && version(needed) > version(promised)
    {
        complaints.push(format!("needs Rust {needed}, and Cargo.toml promises {promised}"));
    }
    let crate_name = format!("{} {}", text("name"), text("version"));
    complaints.into_iter().map(|complaint| format!("{crate_name} {complaint}")).collect()
}

/// Returns a line for each dependency of our crates that the page does not name.
fn unexplained(ours: &[&Json], page: &str) -> Vec<String> {
    let dependencies = ours.iter().flat_map(|package| package.array("dependencies"));
    let theirs = dependencies.filter(|dependency| dependency.str("source").is_some());
    let names: BTreeSet<_> = theirs.filter_map(|dependency| dependency.str("name")).collect();
    let missing = names.into_iter().filter(|name| !page.contains(&format!("`{name}`")));
    missing.map(|name| format!("{PAGE} does not say why {name} is used")).collect()
}

/// Returns the numbers of a version, `1.88` as `1.88.0`.
fn version(text: &str) -> [u32; 3] {
    let mut numbers = text.split(['.', '-', '+']).map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

/// Returns the strings of a list in a TOML file that is written plainly.
fn string_list(toml: &str, section: &str, key: &str) -> Vec<String> {
    let header = format!("[{section}]");
    let lines = toml.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    let lines = lines.skip_while(|line| *line != header).skip(1).take_while(|line| !line.starts_with('['));
    let text: String = lines.collect();
    let list = text.split_once(&format!("{key} = [")).and_then(|(_, rest)| rest.split_once(']'));
    let list = list.map_or("", |(list, _)| list);
    list.split(',').map(|item| item.trim().trim_matches('"').to_owned()).filter(|item| !item.is_empty()).collect()
}

/// Returns `true` if an SPDX expression can be met with these licenses. `MIT/Apache-2.0` is an old way to write OR.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<_> = spaced.split_whitespace().collect();
    let mut words = words.as_slice();
    any_of(&mut words, allowed) == Some(true) && words.is_empty()
}

fn any_of(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = all_of(words, allowed)?;
    while let ["OR", rest @ ..] = words {
        *words = rest;
        met |= all_of(words, allowed)?;
    }
    Some(met)
}

fn all_of(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let mut met = one(words, allowed)?;
    while let ["AND", rest @ ..] = words {
        *words = rest;
        met &= one(words, allowed)?;
    }
    Some(met)
}

fn one(words: &mut &[&str], allowed: &[String]) -> Option<bool> {
    let (first, rest) = words.split_first()?;
    *words = rest;
    if *first == "(" {
        let met = any_of(words, allowed)?;
        *words = words.strip_prefix(&[")"])?;
        return Some(met);
    }
    let mut license = (*first).to_owned();
    if let ["WITH", exception, rest @ ..] = words {
        license = format!("{license} WITH {exception}");
        *words = rest;
    }
    Some(allowed.contains(&license))
}

#[cfg(test)]
mod tests {
    use super::{CRATES_IO, complaints, is_allowed, string_list, unexplained, version};
    use crate::json::Json;

    #[test]
    fn a_license_is_allowed_when_its_expression_can_be_met() {
        let allowed = ["MIT".to_owned(), "ISC".to_owned()];
        for met in ["MIT", "GPL-3.0 OR MIT", "MIT/Apache-2.0", "(GPL-3.0 OR MIT) AND ISC", "GPL-3.0 OR MIT AND ISC"] {
            assert!(is_allowed(met, &allowed), "{met}");
        }
        for unmet in ["GPL-3.0", "MIT AND GPL-3.0", "MIT WITH x", "(MIT", "MIT ISC", "", "none", "MIT OR"] {
            assert!(!is_allowed(unmet, &allowed), "{unmet}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(version("1.9") < version("1.10") && version("1.88") == version("1.88.0"));
        assert!(version("1.88.1") > version("1.88"));
    }

    #[test]
    fn a_list_is_read_from_its_section() {
        let toml =
            "[a]\nallow = [\"x\"]\n[b]\nallow = [\n  \"y\", # why\n  \"z\",\n]\nother = []\n[c]\nallow = [\"w\"]\n";
        assert_eq!(string_list(toml, "b", "allow"), ["y", "z"]);
        assert_eq!(string_list(toml, "b", "other"), [] as [&str; 0]);
    }

    #[test]
    fn each_thing_wrong_with_a_crate_is_a_complaint() {
        let of = |source: &str, license: &str, rust: &str| {
            let text = format!(
                r#"{{"name":"n","version":"1","source":"{source}","license":"{license}","rust_version":"{rust}"}}"#
            );
            complaints(&Json::parse(&text).expect("JSON"), &["MIT".to_owned()], "1.88").len()
        };
        assert_eq!(of(CRATES_IO, "MIT", "1.88"), 0);
        assert_eq!(of("git+https://example.org/n", "MIT", "1.88"), 1);
        assert_eq!(of(CRATES_IO, "GPL-3.0", "1.88"), 1);
        assert_eq!(of(CRATES_IO, "MIT", "1.89"), 1);
        assert_eq!(of("git+https://example.org/n", "GPL-3.0", "2.0"), 3);
    }

    #[test]
    fn the_page_names_each_dependency_of_ours() {
        let package =
            r#"{"dependencies":[{"name":"a","source":"s"},{"name":"b","source":"s"},{"name":"ours","source":null}]}"#;
        let package = Json::parse(package).expect("JSON");
        assert_eq!(unexplained(&[&package], "`a`, and `b`"), [] as [&str; 0]);
        assert_eq!(unexplained(&[&package, &package], "`a`, and b").len(), 1);
    }
}
