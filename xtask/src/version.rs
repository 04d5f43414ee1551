//! Checks that there is one version: that of the workspace in `Cargo.toml`, from which everything built gets its own.

use std::{fs, io, path::Path};

/// Documents that name files and outputs by their version.
const DOCUMENTS: &[&str] = &["README.md", "docs/install.md", "docs/doctor.md"];

/// Checks the crates, the changelog, Composer's file and the documents. Returns the version.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let read = |path: &str| fs::read_to_string(root.join(path)).map_err(|error| vec![format!("{path}: {error}")]);
    let manifest = read("Cargo.toml")?;
    let version = field(&manifest, "[workspace.package]", "version")
        .ok_or_else(|| vec!["Cargo.toml has no version in [workspace.package]".to_owned()])?
        .trim_matches('"');
    let mut complaints = Vec::new();
    for member in members(root).map_err(|error| vec![error.to_string()])? {
        if field(&read(&member)?, "[package]", "version.workspace") != Some("true") {
            complaints.push(format!("{member} has a version of its own: it must have version.workspace = true"));
        }
    }
    complaints.extend(changelog(&read("CHANGELOG.md")?, version));
    complaints.extend(composer(&read("composer.json")?));
    for document in DOCUMENTS {
        let text = read(document)?;
        complaints.extend(
            mentioned(&text)
                .filter(|found| *found != version)
                .map(|found| format!("{document} mentions version {found}, and this is {version}")),
        );
    }
    if complaints.is_empty() { Ok(version.to_owned()) } else { Err(complaints) }
}

/// Returns the manifests of the workspace's members.
fn members(root: &Path) -> io::Result<Vec<String>> {
    let mut found = vec!["xtask/Cargo.toml".to_owned(), "tests/embedding/Cargo.toml".to_owned()];
    for entry in fs::read_dir(root.join("crates"))? {
        found.push(format!("crates/{}/Cargo.toml", entry?.file_name().to_string_lossy()));
    }
    found.sort();
    Ok(found)
}

/// Returns the value of a key in a section of a TOML file, as it is written there.
fn field<'a>(text: &'a str, section: &str, key: &str) -> Option<&'a str> {
    text.lines()
        .skip_while(|line| *line != section)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once('='))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
}

/// The first version in the changelog is this one: with a date, or `unreleased`. What comes after it stands above, under
/// "Unreleased".
fn changelog(text: &str, version: &str) -> Option<String> {
    let first = text.lines().filter_map(|line| line.strip_prefix("## [")).find(|rest| !rest.starts_with("Unreleased]"));
    match first.and_then(|rest| rest.split_once(']')) {
        Some((found, rest)) if found == version && rest.starts_with(" - ") => None,
        Some((found, rest)) => Some(format!(
            "CHANGELOG.md: the first version is headed \"[{found}]{rest}\", and must be \"[{version}] - \" and its date, or \"unreleased\""
        )),
        None => {
            Some(format!("CHANGELOG.md has no heading of a version: there must be \"## [{version}] - unreleased\""))
        }
    }
}

/// Composer and PIE take the version from the tag: one in the file would overrule it.
fn composer(text: &str) -> Option<String> {
    text.contains("\"version\"").then(|| "composer.json has a version: it must be that of the tag".to_owned())
}

/// Returns the versions that follow the name: `spindle-1.2.3`, `spindle_1.2.3`, `Spindle 1.2.3`.
fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("pindle").filter_map(|(at, name)| {
        let rest = text[at + name.len()..].strip_prefix(['-', '_', ' '])?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let found = rest[..end].trim_end_matches('.');
        (found.split('.').count() == 3).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_that_of_its_section() {
        let text = "[a]\nversion = \"1\"\n[b]\nname = 2\nversion.workspace = true\n[c]\nversion = 3\n";
        assert_eq!(field(text, "[a]", "version"), Some("\"1\""));
        assert_eq!(field(text, "[b]", "version"), None);
        assert_eq!(field(text, "[b]", "version.workspace"), Some("true"));
        assert_eq!(field(text, "[d]", "version"), None);
    }

    #[test]
    fn the_first_version_of_the_changelog() {
        let wrong = |text| changelog(text, "1.2.3").is_some();
        assert!(!wrong("# Changelog\n## [1.2.3] - unreleased\n## [1.2.2] - 2026-01-01\n"));
        assert!(!wrong("## [Unreleased]\n### Added\n## [1.2.3] - 2026-01-01\n"));
        assert!(wrong("## [1.2.2] - 2026-01-01\n## [1.2.3] - 2026-01-01\n"));
        assert!(wrong("## [1.2.3]\n"));
        assert!(wrong("## [Unreleased]\n"));
    }

    #[test]
    fn composer_has_none() {
        assert!(composer("{\"name\": \"a\"}").is_none());
        assert!(composer("{\"version\": \"1.2.3\"}").is_some());
    }

    #[test]
    fn versions_after_the_name() {
        let text = "./php8.2-spindle_0.1.0_amd64.deb, php_spindle-0.2.0_php8.2-x.zip, Spindle 0.3.0, spindle 8.2, Spindle runs";
        assert_eq!(mentioned(text).collect::<Vec<_>>(), ["0.1.0", "0.2.0", "0.3.0"]);
    }
}
