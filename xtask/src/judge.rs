//! Runs a suite of tests, and holds it to its closing line.
//!
//! A suite ends with `N passed, N failed, N skipped`, after one word and a colon if it likes, and prints a line for each test
//! that it skips. Those that may be skipped are in `tests/may-skip`, each with its reason; any other one has failed, and so
//! has a suite that ends without such a line.

use std::{
    fmt, fs,
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    thread,
};

/// How the line of a skipped test begins.
const SKIPPED: &[&str] = &["SKIPPED: ", "XFAILED: ", "skip ", "not run: ", "known difference: ", "unstable: "];

/// How many lines of what has failed are told again.
const TOLD_AGAIN: usize = 100;

/// Runs the command of a suite, and hands on its lines. Returns how it has ended if it has passed, and otherwise what is to
/// be read first.
pub fn run(
    root: &Path,
    suite: &str,
    command: &mut Command,
    print: &(dyn Fn(&[u8]) + Sync),
) -> Result<Closing, Vec<Vec<u8>>> {
    let list = fs::read_to_string(root.join("tests/may-skip")).unwrap_or_default();
    let mut judge = Judge::new(may_skip(&list, suite));
    let mut failures = Failures::default();
    let succeeded = match command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(mut child) => {
            let errors = child.stderr.take().expect("the errors are a pipe");
            thread::scope(|scope| {
                scope.spawn(|| lines(errors).for_each(|line| print(&line)));
                for line in lines(child.stdout.take().expect("the output is a pipe")) {
                    failures.read(&line);
                    judge.read(line).iter().for_each(|line| print(line));
                }
            });
            child.wait().is_ok_and(|status| status.success())
        }
        Err(error) => {
            print(format!("{}: {error}", command.get_program().display()).as_bytes());
            false
        }
    };
    let (complaints, closing) = judge.end(succeeded);
    for line in complaints.iter().chain([&closing.to_string()]) {
        print(line.as_bytes());
    }
    if succeeded && closing.failed == 0 {
        return Ok(closing);
    }
    failures.lines.extend(complaints.into_iter().chain([closing.to_string()]).map(String::into_bytes));
    Err(failures.lines)
}

/// The lines of a suite that say what has failed, each with the few that follow it.
#[derive(Default)]
struct Failures {
    lines: Vec<Vec<u8>>,
    follow: usize,
}

impl Failures {
    fn read(&mut self, line: &[u8]) {
        let begins = |word: &[u8]| line.trim_ascii_start().starts_with(word);
        if begins(b"FAIL") {
            self.follow = 10;
        } else if begins(b"ok ") || begins(b"PASS") || begins(b"SKIP") {
            self.follow = 0;
        }
        if self.follow > 0 && self.lines.len() < TOLD_AGAIN {
            self.follow -= 1;
            self.lines.push(line.to_vec());
        }
    }
}

fn lines(pipe: impl Read) -> impl Iterator<Item = Vec<u8>> {
    BufReader::new(pipe).split(b'\n').map_while(Result::ok)
}

/// Returns the patterns of a list that are for this suite. A line is `SUITE[,SUITE...]: PATTERN # REASON`.
fn may_skip(list: &str, suite: &str) -> Vec<String> {
    let entries = list.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(": "));
    let ours = entries.filter(|(suites, _)| suites.split(',').any(|name| name == suite));
    ours.map(|(_, entry)| entry.split(" # ").next().unwrap_or("").trim().to_owned()).collect()
}

/// Returns `true` if a text is what a pattern says, in which `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => {
            let Some(rest) = text.strip_prefix(before) else { return false };
            after.is_empty() || rest.char_indices().any(|(at, _)| matches(after, &rest[at..]))
        }
    }
}

/// The numbers of a closing line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Closing {
    label: String,
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Closing {
    fn parse(line: &str) -> Option<Closing> {
        let (label, numbers) = line.split_once(": ").map_or(("", line), |(label, numbers)| (label, numbers));
        if !label.chars().all(char::is_alphanumeric) {
            return None;
        }
        let mut parts = numbers.split(", ");
        let mut number = |word| parts.next().map(|part| part.strip_suffix(word)?.trim_end().parse().ok());
        let (passed, failed, skipped) = (number("passed")??, number("failed")??, number("skipped").unwrap_or(Some(0))?);
        parts.next().is_none().then(|| Closing { label: label.to_owned(), passed, failed, skipped })
    }
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.label.is_empty() { "" } else { ": " };
        let Closing { label, passed, failed, skipped } = self;
        write!(f, "{label}{separator}{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Reads what a suite prints, and holds back what may be its closing line.
struct Judge {
    may_skip: Vec<String>,
    named: usize,
    refused: usize,
    closing: Option<Closing>,
    held: Option<Vec<u8>>,
}

impl Judge {
    fn new(may_skip: Vec<String>) -> Judge {
        Judge { may_skip, named: 0, refused: 0, closing: None, held: None }
    }

    /// Takes a line. Returns what is to be printed now.
    fn read(&mut self, line: Vec<u8>) -> Vec<Vec<u8>> {
        let mut lines: Vec<_> = self.held.take().into_iter().collect();
        let text = String::from_utf8_lossy(&line);
        self.closing = Closing::parse(&text);
        if self.closing.is_some() {
            self.held = Some(line);
            return lines;
        }
        let refused = SKIPPED.iter().any(|word| text.starts_with(word)) && {
            self.named += 1;
            !self.may_skip.iter().any(|pattern| matches(pattern, &text))
        };
        lines.push(line);
        if refused {
            self.refused += 1;
            lines.push(
                b"    a skip that tests/may-skip does not name: is something not installed? ('scripts/setup test')"
                    .to_vec(),
            );
        }
        lines
    }

    /// Returns what is wrong, and the numbers in the end: a skip that may not be is a failure.
    fn end(self, succeeded: bool) -> (Vec<String>, Closing) {
        let mut complaints = Vec::new();
        let mut closing = self.closing.unwrap_or_else(|| {
            complaints.push("FAILED: the suite has ended without its closing line".to_owned());
            Closing { failed: 1, ..Closing::default() }
        });
        // Where any skip may be, none needs a line.
        let any = self.may_skip.iter().any(|pattern| pattern == "*");
        let unnamed = if any { 0 } else { closing.skipped.saturating_sub(self.named) };
        if unnamed > 0 {
            complaints.push(format!("FAILED: {unnamed} tests were skipped that no line names"));
        }
        let refused = self.refused + unnamed;
        closing.skipped = closing.skipped.saturating_sub(refused);
        closing.failed += refused;
        if !succeeded && closing.failed == 0 {
            complaints.push("FAILED: the suite has ended with a status other than 0".to_owned());
            closing.failed = 1;
        }
        if closing.passed == 0 && closing.failed == 0 {
            complaints.push("FAILED: no test has run".to_owned());
            closing.failed = 1;
        }
        (complaints, closing)
    }
}

#[cfg(test)]
mod tests {
    use super::{Closing, Failures, Judge, matches, may_skip};

    fn ended(lines: &[&str], succeeded: bool) -> String {
        let mut judge = Judge::new(vec!["SKIPPED: known*".to_owned()]);
        for line in lines {
            judge.read(line.as_bytes().to_vec());
        }
        judge.end(succeeded).1.to_string()
    }

    #[test]
    fn a_closing_line_is_what_it_was_when_all_is_well() {
        assert_eq!(ended(&["ok", "3 passed, 0 failed"], true), "3 passed, 0 failed, 0 skipped");
        assert_eq!(
            ended(&["SKIPPED: known", "pages: 3 passed, 0 failed, 1 skipped"], true),
            "pages: 3 passed, 0 failed, 1 skipped"
        );
        assert_eq!(ended(&["3 passed, 2 failed"], false), "3 passed, 2 failed, 0 skipped");
    }

    #[test]
    fn what_could_pass_in_silence_has_failed() {
        for lines in [
            &["SKIPPED: unknown", "3 passed, 0 failed, 1 skipped"][..],
            &["3 passed, 0 failed, 1 skipped"],
            &["SKIPPED: known", "3 passed, 0 failed, 2 skipped"],
        ] {
            assert!(ended(lines, true).starts_with("3 passed, 1 failed, "), "{lines:?}");
        }
        assert_eq!(ended(&["there is no extension"], true), "0 passed, 1 failed, 0 skipped");
        assert_eq!(ended(&["3 passed, 0 failed", "and then?"], true), "0 passed, 1 failed, 0 skipped");
        assert_eq!(ended(&["3 passed, 0 failed"], false), "3 passed, 1 failed, 0 skipped");
        assert_eq!(ended(&["0 passed, 0 failed"], true), "0 passed, 1 failed, 0 skipped");
    }

    #[test]
    fn a_suite_may_skip_whatever_it_likes() {
        let judge = |pattern: &str| {
            let mut judge = Judge::new(vec![pattern.to_owned()]);
            judge.read(b"1 passed, 0 failed, 5 skipped".to_vec());
            judge.end(true).1
        };
        assert_eq!((judge("*").failed, judge("*").skipped, judge("skip*").failed), (0, 5, 5));
    }

    #[test]
    fn lines_are_handed_on_in_their_order() {
        let mut judge = Judge::new(vec![]);
        let printed: Vec<_> = [&b"1 passed, 0 failed"[..], b"more", b"2 passed, 0 failed"]
            .iter()
            .flat_map(|line| judge.read(line.to_vec()))
            .collect();
        assert_eq!(printed, [&b"1 passed, 0 failed"[..], b"more"]);
        assert_eq!(judge.closing.map(|closing| closing.passed), Some(2));
    }

    #[test]
    fn what_has_failed_is_told_again_with_its_reason() {
        let mut failures = Failures::default();
        for line in [&b"ok    a"[..], b"FAIL  b", b"  the reason", b"ok    c", b"PASS", b"  FAIL d", b"ok    e"] {
            failures.read(line);
        }
        assert_eq!(failures.lines, [&b"FAIL  b"[..], b"  the reason", b"  FAIL d"]);
    }

    #[test]
    fn closing_lines_are_told_from_others() {
        let numbers = |line| Closing::parse(line).map(|c| (c.passed, c.failed, c.skipped));
        assert_eq!(numbers("1 passed, 2 failed, 3 skipped"), Some((1, 2, 3)));
        assert_eq!(numbers("docs: 1 passed, 2 failed"), Some((1, 2, 0)));
        for line in
            ["ok    x: 1 passed, 2 failed", "1 passed", "curl  1 passed,  0 failed,  310 faults injected", "", "a, b"]
        {
            assert_eq!(numbers(line), None, "{line}");
        }
    }

    #[test]
    fn the_list_names_suites_and_patterns() {
        let list = "# a comment: not read\na,b: SKIPPED: x* y # why: so\nc: skip z # why\n";
        assert_eq!(may_skip(list, "b"), ["SKIPPED: x* y"]);
        assert_eq!(may_skip(list, "d"), [] as [&str; 0]);
        assert!(matches("SKIPPED: x* y", "SKIPPED: x and y") && matches("*b*", "abc") && matches("a*", "a"));
        assert!(!matches("SKIPPED: x* y", "SKIPPED: x and") && !matches("a", "ab") && !matches("b*", "ab"));
    }
}
