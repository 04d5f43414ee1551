//! Checks that the files, folders, names and `make` targets that the guides for contributors mention exist.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use crate::suites::SUITES;

/// The documents that are checked.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Folders that are not part of the sources.
const SKIPPED: &[&str] = &[".git", "build", "target"];

/// Endings of single words that are the names of files.
const FILES: &[&str] = &[".rs", ".c", ".h", ".md", ".php", ".phpt", ".bash", ".toml"];

/// Checks all documents. Returns how many mentions it has looked at.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let tree = Tree::read(root).map_err(|error| vec![error.to_string()])?;
    let (mut count, mut complaints) = (0, Vec::new());
    for document in DOCUMENTS {
        let text = fs::read_to_string(root.join(document)).map_err(|error| vec![format!("{document}: {error}")])?;
        for (line, mention) in mentions(&text) {
            count += 1;
            if !tree.has(&mention) {
                complaints.push(format!("{document}:{line} mentions {}, which does not exist", mention.text()));
            }
        }
    }
    if complaints.is_empty() { Ok(format!("{count} mentions in {}", DOCUMENTS.join(", "))) } else { Err(complaints) }
}

/// Something in a document that has to exist.
#[derive(Debug, PartialEq)]
enum Mention {
    /// The target of a link, from the project's folder.
    Link(String),
    /// A file or a folder, or the end of its path.
    Path(String),
    /// A name such as `Core::park` or `failure::route`.
    Name(String),
    /// A target of the Makefile.
    Target(String),
}

impl Mention {
    fn text(&self) -> &str {
        let (Mention::Link(text) | Mention::Path(text) | Mention::Name(text) | Mention::Target(text)) = self;
        text
    }
}

/// What the tree has that can be mentioned.
struct Tree {
    root: PathBuf,
    /// All files and folders, from the root, each with a `/` before it.
    paths: Vec<String>,
    sources: Vec<Source>,
    targets: HashSet<String>,
}

/// A source file.
struct Source {
    /// The last part of the module's path.
    module: String,
    words: HashSet<String>,
}

impl Tree {
    fn read(root: &Path) -> std::io::Result<Tree> {
        let mut tree = Tree { root: root.to_owned(), paths: Vec::new(), sources: Vec::new(), targets: HashSet::new() };
        tree.collect(root)?;
        let makefile = fs::read_to_string(root.join("Makefile"))?;
        tree.targets = makefile.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect();
        Ok(tree)
    }

    fn collect(&mut self, folder: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let (path, name) = entry.map(|entry| (entry.path(), entry.file_name()))?;
            if SKIPPED.iter().any(|skipped| name == *skipped) {
                continue;
            }
            let relative = path.strip_prefix(&self.root).unwrap_or(&path).to_string_lossy().into_owned();
            let is_source = ["crates/", "stubs/", "xtask/"].iter().any(|source| relative.starts_with(source));
            self.paths.push(format!("/{relative}"));
            if path.is_dir() && !path.is_symlink() {
                self.collect(&path)?;
            } else if is_source && let Ok(text) = fs::read_to_string(&path) {
                let words = text.lines().map(code_of).flat_map(|code| code.split(|c: char| !is_word(c)));
                let words = words.map(str::to_owned).collect();
                let named = if path.file_stem().is_some_and(|stem| stem == "mod") { folder } else { &path };
                let module = named.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                self.sources.push(Source { module, words });
            }
        }
        Ok(())
    }

    fn has(&self, mention: &Mention) -> bool {
        match mention {
            Mention::Link(path) => self.root.join(path).exists(),
            Mention::Path(path) => {
                let end = format!("/{}", path.trim_end_matches('/'));
                self.paths.iter().any(|path| path.ends_with(&end))
            }
            Mention::Name(name) => {
                let mut parts = name.rsplit("::");
                let (last, owner) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                let is_type = owner.starts_with(char::is_uppercase);
                self.sources.iter().any(|source| {
                    let is_owner = if is_type { source.words.contains(owner) } else { source.module == owner };
                    is_owner && source.words.contains(last)
                })
            }
            Mention::Target(target) => {
                let is_suite = |name| SUITES.iter().any(|suite| suite.name == name);
                self.targets.contains(target) || target.strip_prefix("test-").is_some_and(is_suite)
            }
        }
    }
}

/// Returns what is not a comment in a line of a source: a name in a comment alone does not exist.
fn code_of(line: &str) -> &str {
    let line = line.trim_start();
    if line.starts_with("/*") || line.starts_with("* ") { "" } else { line.split("//").next().unwrap_or_default() }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns what a document mentions in links and in `code`, each with the number of its line. Skips fenced blocks.
fn mentions(text: &str) -> Vec<(usize, Mention)> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let links = line.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let links = links.filter(|target| !target.is_empty() && !target.contains("://"));
        found.extend(links.map(|target| (number, Mention::Link(target.to_owned()))));
        let code = line.split('`').skip(1).step_by(2);
        found.extend(code.filter_map(|code| Some((number, mention(code)?))));
    }
    found
}

/// Returns what a piece of code mentions, if it is something that can be looked for.
fn mention(code: &str) -> Option<Mention> {
    if let Some(rest) = code.strip_prefix("make ") {
        let target = rest.split(' ').find(|word| !word.contains('='))?;
        return Some(Mention::Target(target.to_owned()));
    }
    if let Some(rest) = code.strip_prefix("cargo xtask test ") {
        let suite = rest.split(' ').find(|word| !word.starts_with("--"))?;
        return suite.starts_with(|c: char| c.is_ascii_lowercase()).then(|| Mention::Target(format!("test-{suite}")));
    }
    // A command is its first word, if that is a path: `tests/faults/run --chaos`.
    let first = code.split(' ').next()?;
    let is_path = first.chars().all(|c| is_word(c) || "./-".contains(c)) && !first.starts_with('/');
    if first.split('/').next().is_some_and(|top| SKIPPED.contains(&top)) {
        return None;
    }
    if is_path && (first.contains('/') || FILES.iter().any(|end| first.len() > end.len() && first.ends_with(end))) {
        return Some(Mention::Path(first.to_owned()));
    }
    let is_name = code.contains("::") && code.chars().all(|c| is_word(c) || c == ':');
    is_name.then(|| Mention::Name(code.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{Mention, Source, Tree, code_of, mention, mentions};
    use std::{collections::HashSet, path::PathBuf};

    #[test]
    fn code_that_can_be_looked_for() {
        let path = |text: &str| Some(Mention::Path(text.to_owned()));
        assert_eq!(mention("hooks/net/recv.rs"), path("hooks/net/recv.rs"));
        assert_eq!(mention("recv.rs"), path("recv.rs"));
        assert_eq!(mention("tests/faults/run --chaos"), path("tests/faults/run"));
        assert_eq!(mention("cargo xtask test --nightly faults"), Some(Mention::Target("test-faults".to_owned())));
        assert_eq!(mention("cargo xtask test NAME -- OPTION..."), None);
        assert_eq!(mention("Core::park"), Some(Mention::Name("Core::park".to_owned())));
        assert_eq!(mention("make dev TESTS=..."), Some(Mention::Target("dev".to_owned())));
        assert_eq!(mention("make SEED=1 test"), Some(Mention::Target("test".to_owned())));
        for other in [
            "epoll",
            "spawn f($x)",
            "php --ri spindle",
            "/proc/self",
            "target/debug/x.so",
            "async.stack_size",
            "a::{b, c}",
        ] {
            assert_eq!(mention(other), None, "{other}");
        }
    }

    #[test]
    fn comments_are_no_code() {
        assert_eq!(code_of("    let a = b; // c"), "let a = b; ");
        for comment in ["/// A", "    //! b", "/* c", " * d"] {
            assert_eq!(code_of(comment), "", "{comment}");
        }
        assert_eq!(code_of("*place = value;"), "*place = value;");
    }

    #[test]
    fn links_and_code_outside_of_blocks() {
        let text = "a [b](docs/io.md#calls) [c](https://example.org) `x/y`\n```\n`z/z`\n```\n[d](#here) `Core::end`";
        let found = mentions(text);
        let expected = [
            (1, Mention::Link("docs/io.md".to_owned())),
            (1, Mention::Path("x/y".to_owned())),
            (5, Mention::Name("Core::end".to_owned())),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_path_may_be_the_end_of_one() {
        let tree = Tree {
            root: PathBuf::new(),
            paths: vec!["/crates/php/src/stack".to_owned(), "/crates/php/src/stack/arch.rs".to_owned()],
            sources: vec![Source {
                module: "scheduler".to_owned(),
                words: HashSet::from(["Runtime".to_owned(), "park".to_owned()]),
            }],
            targets: HashSet::from(["test".to_owned()]),
        };
        let has = |mention| tree.has(&mention);
        assert!(has(Mention::Path("stack/arch.rs".to_owned())));
        assert!(has(Mention::Path("src/stack/".to_owned())));
        assert!(!has(Mention::Path("ack/arch.rs".to_owned())));
        assert!(!has(Mention::Path("stack/arch".to_owned())));
        assert!(has(Mention::Name("Runtime::park".to_owned())));
        assert!(has(Mention::Name("scheduler::park".to_owned())));
        assert!(!has(Mention::Name("Core::park".to_owned())));
        assert!(!has(Mention::Name("failure::park".to_owned())));
        assert!(!has(Mention::Name("Runtime::par".to_owned())));
        assert!(has(Mention::Target("test".to_owned())));
        assert!(!has(Mention::Target("tests".to_owned())));
    }
}
