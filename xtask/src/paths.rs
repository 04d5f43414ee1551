//! Checks that what the documents mention exists: in all of them the targets of links, with their headings, and paths in `code`
//! that begin with a folder of the project; in the guides for contributors also the ends of paths, names and `make` targets.

use crate::suites::SUITES;
use crate::tree::{self, SKIPPED};
use std::{
    collections::{BTreeSet, HashMap, HashSet},
    fs,
    path::Path,
};

/// The guides for contributors, and folders of such.
const GUIDES: &[&str] = &["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/internals/", "docs/rules.md"];

/// Endings of single words that are the names of files.
const FILES: &[&str] = &[".rs", ".c", ".h", ".md", ".php", ".phpt", ".bash", ".toml"];

/// Checks all documents. Returns how many mentions it has looked at.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let tree = Tree::read(root).map_err(|error| vec![error.to_string()])?;
    let (mut count, mut complaints) = (0, Vec::new());
    for (document, text) in &tree.documents {
        let is_guide = GUIDES.iter().any(|guide| document.starts_with(guide));
        for (line, mention) in mentions(text) {
            if is_guide || tree.is_of_all_documents(&mention) {
                count += 1;
                if !tree.has(document, &mention) {
                    complaints.push(format!("{document}:{line} mentions {}, which does not exist", mention.text()));
                }
            }
        }
    }
    complaints.sort();
    if complaints.is_empty() {
        Ok(format!("{count} mentions in {} documents", tree.documents.len()))
    } else {
        Err(complaints)
    }
}

/// Something in a document that has to exist.
#[derive(Debug, PartialEq)]
enum Mention {
    /// The target of a link, from the document's folder, with the heading that it names after a `#`.
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
#[derive(Default)]
struct Tree {
    /// All files and folders, from the root.
    paths: BTreeSet<String>,
    sources: Vec<Source>,
    targets: HashSet<String>,
    /// The texts of all documents, by path.
    documents: HashMap<String, String>,
}

/// A source file.
struct Source {
    /// The last part of the module's path.
    module: String,
    words: HashSet<String>,
}

impl Tree {
    fn read(root: &Path) -> std::io::Result<Tree> {
        let mut tree = Tree::default();
        for path in tree::files(root)? {
            let is_source = ["crates/", "stubs/", "xtask/"].iter().any(|source| path.starts_with(source));
            if (is_source || path.ends_with(".md"))
                && let Ok(text) = fs::read_to_string(root.join(&path))
            {
                if path.ends_with(".md") {
                    tree.documents.insert(path.clone(), text);
                } else {
                    tree.sources.push(Source::new(&path, &text));
                }
            }
            tree.paths.extend(ancestors(&path).map(str::to_owned));
        }
        let makefile = fs::read_to_string(root.join("Makefile"))?;
        tree.targets = makefile.lines().filter_map(|line| Some(line.split_once(':')?.0.to_owned())).collect();
        Ok(tree)
    }

    /// Returns `true` if any document that has this means something of the tree: one for users has paths and names of their own.
    fn is_of_all_documents(&self, mention: &Mention) -> bool {
        match mention {
            Mention::Link(_) => true,
            Mention::Path(path) => path.split_once('/').is_some_and(|(top, _)| self.paths.contains(top)),
            Mention::Name(_) | Mention::Target(_) => false,
        }
    }

    fn has(&self, document: &str, mention: &Mention) -> bool {
        match mention {
            Mention::Link(target) => self.has_target(document, target),
            Mention::Path(path) => {
                let path = path.trim_end_matches('/');
                let end = format!("/{path}");
                self.paths.contains(path) || self.paths.iter().any(|path| path.ends_with(&end))
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

    fn has_target(&self, document: &str, target: &str) -> bool {
        let (path, heading) = target.split_once('#').unwrap_or((target, ""));
        let path = if path.is_empty() { document.to_owned() } else { joined(document, path) };
        if heading.is_empty() {
            return self.paths.contains(&path);
        }
        self.documents.get(&path).is_some_and(|text| anchors(text).iter().any(|anchor| anchor == heading))
    }
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        let words = text.lines().map(code_of).flat_map(|code| code.split(|c: char| !is_word(c)));
        let words = words.map(str::to_owned).collect();
        let named = path.strip_suffix("/mod.rs").unwrap_or(path);
        let module = Path::new(named).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Source { module, words }
    }
}

/// Returns a path and the folders that it lies in.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| Some(path.rsplit_once('/')?.0))
}

/// Returns the path, from the root, of what a document names by a path from its own folder.
fn joined(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.trim_end_matches('/').split('/') {
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Returns the anchors of a document's headings, as they are made of the text. One that is not the first gets a number.
fn anchors(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let text = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        let anchor: String = text.chars().filter(|c| is_word(*c) || *c == '-').collect();
        let earlier = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(earlier).find(|anchor| !found.contains(anchor));
        found.extend(free);
    }
    found
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
        let links = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
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
    // A command is its first word, if that is a path: `tests/extensions/run --chaos`.
    let first = code.split(' ').next()?;
    let is_path = first.chars().all(|c| is_word(c) || "./-".contains(c)) && !first.starts_with('/');
    // `cases/NAME.php` stands for many.
    let is_pattern = !first.ends_with(".md") && first.split('/').any(|part| is_capital(part.split('.').next()));
    if is_pattern || first.split('/').next().is_some_and(|top| SKIPPED.contains(&top)) {
        return None;
    }
    if is_path && (first.contains('/') || FILES.iter().any(|end| first.len() > end.len() && first.ends_with(end))) {
        return Some(Mention::Path(first.to_owned()));
    }
    let is_name = code.contains("::") && code.chars().all(|c| is_word(c) || c == ':');
    is_name.then(|| Mention::Name(code.to_owned()))
}

fn is_capital(word: Option<&str>) -> bool {
    word.is_some_and(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::{Mention, Source, Tree, anchors, code_of, joined, mention, mentions};
    use std::collections::{HashMap, HashSet};

    #[test]
    fn code_that_can_be_looked_for() {
        let path = |text: &str| Some(Mention::Path(text.to_owned()));
        assert_eq!(mention("hooks/net/recv.rs"), path("hooks/net/recv.rs"));
        assert_eq!(mention("recv.rs"), path("recv.rs"));
        assert_eq!(mention("tests/extensions/run --chaos"), path("tests/extensions/run"));
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
            "cases/NAME.php",
            "crates/CRATE/src",
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
            (1, Mention::Link("docs/io.md#calls".to_owned())),
            (1, Mention::Path("x/y".to_owned())),
            (5, Mention::Link("#here".to_owned())),
            (5, Mention::Name("Core::end".to_owned())),
        ];
        assert_eq!(found, expected);
    }

    fn tree() -> Tree {
        let words = ["Runtime", "park"].map(str::to_owned);
        let documents = [("docs/io.md", "# The calls, and `b`"), ("README.md", "")];
        Tree {
            paths: ["crates", "crates/php/src/stack", "crates/php/src/stack/arch.rs", "docs/io.md", "README.md"]
                .map(str::to_owned)
                .into(),
            sources: vec![Source { module: "scheduler".to_owned(), words: HashSet::from(words) }],
            targets: HashSet::from(["test".to_owned()]),
            documents: HashMap::from(documents.map(|(path, text)| (path.to_owned(), text.to_owned()))),
        }
    }

    #[test]
    fn a_path_may_be_the_end_of_one() {
        let tree = tree();
        let has = |mention| tree.has("README.md", &mention);
        assert!(has(Mention::Path("stack/arch.rs".to_owned())));
        assert!(has(Mention::Path("crates/php/src/stack/".to_owned())));
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

    #[test]
    fn links_are_from_the_documents_folder_and_name_headings() {
        let tree = tree();
        let has = |document, target: &str| tree.has(document, &Mention::Link(target.to_owned()));
        assert!(has("README.md", "docs/io.md") && has("docs/ini.md", "io.md") && has("docs/io.md", "../README.md"));
        assert!(!has("docs/ini.md", "docs/io.md") && !has("README.md", "io.md"));
        assert!(has("README.md", "docs/io.md#the-calls-and-b") && has("docs/io.md", "#the-calls-and-b"));
        assert!(!has("README.md", "docs/io.md#calls") && !has("README.md", "#the-calls-and-b"));
        assert_eq!(joined("a/b/c.md", "./../d/"), "a/d");
        assert_eq!(anchors("## a.b_c `d`()\ntext\n# E\n# e"), ["ab_c-d", "e", "e-1"]);
    }

    #[test]
    fn documents_for_users_mention_paths_below_folders_of_the_project() {
        let tree = tree();
        assert!(tree.is_of_all_documents(&Mention::Path("crates/none.rs".to_owned())));
        assert!(!tree.is_of_all_documents(&Mention::Path("public/index.php".to_owned())));
        assert!(!tree.is_of_all_documents(&Mention::Path("index.php".to_owned())));
        assert!(!tree.is_of_all_documents(&Mention::Name("PDO::query".to_owned())));
    }
}
