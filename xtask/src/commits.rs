//! Checks the subjects of the last commits: `area: what changed`, at most 72 characters.

use std::{path::Path, process::Command};

/// The last commit before the rule.
const BEFORE: &str = "925b560fe8fa325dfaeab508a67400c2f73e0561";

/// How many commits are looked at.
const LAST: &str = "-50";

/// How many characters a subject may have.
const LENGTH: usize = 72;

pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let arguments = ["log", "--no-merges", LAST, "--format=%h %s", &format!("{BEFORE}..HEAD")];
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        return Ok("there is no history here".to_owned());
    };
    let log = String::from_utf8_lossy(&output.stdout);
    let complaints: Vec<_> = log.lines().filter_map(complaint).collect();
    if complaints.is_empty() { Ok(format!("{} subjects", log.lines().count())) } else { Err(complaints) }
}

/// Returns what is wrong with a commit, given by its hash and subject.
fn complaint(line: &str) -> Option<String> {
    let (hash, subject) = line.split_once(' ').unwrap_or((line, ""));
    let length = subject.chars().count();
    if length > LENGTH {
        return Some(format!("{hash} has a subject of {length} characters, more than {LENGTH}"));
    }
    let is_area =
        |area: &str| !area.is_empty() && area.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    let has_area = subject.split_once(": ").is_some_and(|(area, what)| is_area(area) && !what.trim().is_empty());
    (!has_area).then(|| format!("{hash} has a subject that is not `area: what changed`: {subject}"))
}

#[cfg(test)]
mod tests {
    use super::complaint;

    #[test]
    fn a_subject_has_an_area_and_72_characters() {
        let long = format!("1 core: {}", "x".repeat(66));
        assert!(complaint(&long).is_none() && complaint(&format!("{long}x")).is_some());
        assert!(complaint("1 php-sys: add b").is_none());
        for wrong in ["1 Core: add b", "1 add b", "1 a b: c", "1 core:", "1 core: ", "1 : b", "1"] {
            assert!(complaint(wrong).is_some(), "{wrong}");
        }
    }
}
