//! Reads which modules of a crate its files use.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
};

/// How the path of what is in another crate begins.
const ELSEWHERE: &str = "::";

/// A file of a crate.
pub struct Module {
    /// `a::b` of `a/b.rs` and of `a/b/mod.rs`; nothing of `lib.rs`.
    pub name: String,
    /// The items of this crate that it names, by their paths from the crate's root.
    pub paths: BTreeSet<String>,
    /// What it imports, by the names that these have in it.
    imports: BTreeMap<String, String>,
}

/// Reads the files of a crate, of which this is the folder `src`.
pub fn read(source: &Path) -> io::Result<Vec<Module>> {
    let mut files = Vec::new();
    collect(source, source, &mut files)?;
    files.sort();
    Ok(parse_all(&files))
}

/// Reads modules, by their names and texts.
pub fn parse_all<T: AsRef<str>>(files: &[(T, T)]) -> Vec<Module> {
    let names: BTreeSet<String> = files.iter().map(|(name, _)| name.as_ref().to_owned()).collect();
    files.iter().map(|(name, text)| parse(name.as_ref(), text.as_ref(), &names)).collect()
}

fn collect(source: &Path, folder: &Path, files: &mut Vec<(String, String)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(source, &path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push((module_of(path.strip_prefix(source).unwrap_or(&path)), fs::read_to_string(&path)?));
        }
    }
    Ok(())
}

fn module_of(file: &Path) -> String {
    let path = file.with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    let parts = match parts.split_last() {
        Some((last, above)) if matches!(&**last, "mod" | "lib" | "main") => above,
        _ => &parts[..],
    };
    parts.join("::")
}

/// Returns the module of which an item is, and what follows in the item's path: `a::b` and `c::D` of `a::b::c::D`, if `c` is not a
/// file.
fn split(path: &str, is_module: impl Fn(&str) -> bool) -> (&str, &str) {
    let mut module = path;
    while !module.is_empty() && !is_module(module) {
        module = module.rfind("::").map_or("", |end| &module[..end]);
    }
    (module, path[module.len()..].trim_start_matches("::"))
}

/// The modules that one uses, by their places in the list of all, and what it names of each.
pub type Uses<'a> = BTreeMap<usize, Vec<&'a str>>;

/// Returns a function that finds what a path names: the module that defines it, and its path there; `None` for what is in another
/// crate. What a module has imported, and others name by its path in there, is an item of who has defined it.
pub fn definitions(modules: &[Module]) -> impl Fn(&str) -> Option<(usize, String)> {
    let at: BTreeMap<&str, usize> = modules.iter().enumerate().map(|(at, module)| (&*module.name, at)).collect();
    move |path| {
        let mut path = path.to_owned();
        while !path.starts_with(ELSEWHERE) {
            let (module, rest) = split(&path, |module| at.contains_key(module));
            let (first, more) = rest.split_once("::").unwrap_or((rest, ""));
            let found = *at.get(module)?;
            match modules[found].imports.get(first) {
                Some(import) if more.is_empty() && *import != path => path = import.clone(),
                Some(import) if *import != path => path = format!("{import}::{more}"),
                _ => return Some((found, path)),
            }
        }
        None
    }
}

/// Returns what each module uses.
pub fn uses<'a>(modules: &'a [Module]) -> Vec<Uses<'a>> {
    let definition = definitions(modules);
    let of = |(own, module): (usize, &'a Module)| {
        let mut uses = Uses::new();
        for path in &module.paths {
            if let Some((used, _)) = definition(path).filter(|(used, _)| *used != own) {
                uses.entry(used).or_default().push(path);
            }
        }
        uses
    };
    modules.iter().enumerate().map(of).collect()
}

fn parse(name: &str, text: &str, modules: &BTreeSet<String>) -> Module {
    let code = without_comments_and_texts(text);
    let words = without_tests(tokens(&code));
    let mut reader = Reader { words: &words, modules, paths: BTreeSet::new(), imports: BTreeMap::new() };
    reader.read(name);
    Module { name: name.to_owned(), paths: reader.paths, imports: reader.imports }
}

struct Reader<'a> {
    words: &'a [&'a str],
    modules: &'a BTreeSet<String>,
    paths: BTreeSet<String>,
    imports: BTreeMap<String, String>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, module: &'a str) {
        let mut base: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        // The depths of braces at which modules begin that lie in this file.
        let (mut depth, mut inner) = (0, Vec::new());
        let mut at = 0;
        while let Some(word) = self.words.get(at) {
            match *word {
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inner.pop_if(|begin| *begin == depth).is_some() {
                        base.pop();
                    }
                }
                // `mod $name {` of a macro, too.
                "mod" if self.words[at..].iter().skip(2).take(2).any(|word| *word == "{") => {
                    inner.push(depth);
                    base.push(self.words[at + 1]);
                    at += 1;
                }
                "use" => at = self.tree(at + 1, None, &base, inner.is_empty()) - 1,
                // `pub(in crate::a)` is no use.
                "in" if self.words.get(at + 1) == Some(&"crate") => at += 1,
                _ if self.words.get(at + 1) == Some(&"::") && (at == 0 || self.words[at - 1] != "::") => {
                    at = self.tree(at, None, &base, false) - 1;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Returns the path that a word begins in a module.
    fn begin(&self, word: &str, base: &[&'a str]) -> Vec<String> {
        let mut path: Vec<_> = base.iter().map(|part| (*part).to_owned()).collect();
        match word {
            "crate" => path.clear(),
            "super" => _ = path.pop(),
            "self" => {}
            _ => {
                path.push(word.to_owned());
                if !self.modules.contains(&path.join("::")) {
                    let import = self.imports.get(word).map_or(ELSEWHERE, String::as_str);
                    path = import.split("::").map(str::to_owned).collect();
                }
            }
        }
        path
    }

    /// Reads a path, or a tree of them as in `use`, that begins at `at`. Returns where it ends.
    fn tree(&mut self, mut at: usize, before: Option<&[String]>, base: &[&'a str], imports: bool) -> usize {
        let mut path = before.map(<[String]>::to_vec);
        loop {
            let Some(word) = self.words.get(at) else { return at };
            match (*word, &mut path) {
                ("{", path) => {
                    at += 1;
                    while self.words.get(at).is_some_and(|word| *word != "}") {
                        at = match self.words[at] {
                            "," => at + 1,
                            _ => self.tree(at, path.as_deref(), base, imports),
                        };
                    }
                    return at + 1;
                }
                ("*", Some(path)) => path.push("*".to_owned()),
                (word, _) if !word.starts_with(|c: char| c.is_alphabetic() || c == '_') => return at + 1,
                (word, None) => path = Some(self.begin(word, base)),
                ("self", _) => {}
                ("super", Some(path)) => _ = path.pop(),
                (word, Some(path)) => path.push(word.to_owned()),
            }
            at += 1;
            // Type arguments, `Stack::<T>`, end a path as well.
            if self.words.get(at) != Some(&"::") || self.words.get(at + 1) == Some(&"<") {
                break;
            }
            at += 1;
        }
        let path = path.unwrap_or_default();
        // A macro that is exported is named by the root, wherever it is defined.
        if path.len() == 1 && self.words.get(at) == Some(&"!") && self.words.get(at + 1) != Some(&"=") {
            return at;
        }
        let mut name = path.last().map(String::as_str);
        if self.words.get(at) == Some(&"as") {
            name = self.words.get(at + 1).copied();
            at += 2;
        }
        let is_elsewhere = path.first().is_none_or(String::is_empty);
        if let Some(name) = name.filter(|name| imports && !matches!(*name, "*" | "_")) {
            let path = if is_elsewhere { ELSEWHERE.to_owned() } else { path.join("::") };
            self.imports.insert(name.to_owned(), path);
        }
        if !is_elsewhere {
            self.paths.insert(path.join("::"));
        }
        at
    }
}

/// The words without the modules that hold tests.
fn without_tests(words: Vec<&str>) -> Vec<&str> {
    const MARK: [&str; 8] = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let Some(begin) = words.windows(MARK.len()).position(|some| some == MARK) else { return words };
    let mut depth = 0;
    let end = words[begin..].iter().position(|word| {
        depth += i32::from(*word == "{") - i32::from(*word == "}");
        depth == 0 && matches!(*word, "}" | ";")
    });
    let rest = end.map_or(Vec::new(), |end| words[begin + end + 1..].to_vec());
    [&words[..begin], &without_tests(rest)].concat()
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
    use super::module_of;
    use std::path::Path;

    #[test]
    fn files_are_modules() {
        assert_eq!(module_of(Path::new("lib.rs")), "");
        assert_eq!(module_of(Path::new("a/mod.rs")), "a");
        assert_eq!(module_of(Path::new("a/b.rs")), "a::b");
    }
}
