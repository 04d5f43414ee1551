//! Checks that modules use only what lies on their own floor of a crate or below it, and that no more than three of a crate use
//! one another in a circle.
//!
//! The file `floors` in a crate's folder, if it has one, lists its floors, the lowest first: a line is a floor, and names its modules
//! (`wait::queue` is a part of `wait` that lies elsewhere). The crate's root, `lib.rs`, lies above all of them. `^` and a module is the
//! one exception: it may use what lies above it, and counts in no circle.
//! `cargo xtask floors CRATE` prints which floors the files of a crate have by what they use.

use crate::modules::{self, Module, Uses};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// How many files may use one another in a circle.
const LARGEST_CIRCLE: usize = 3;

/// Larger circles that are there still, and only shrink: the crate, a file, how many files at most.
const KNOWN: &[(&str, &str, usize)] = &[
    // The parts of the scheduler, which are methods of `Core`.
    ("core", "sched", 8),
    ("php", "runtime::scheduler", 22),
];

/// Checks every crate. Returns how many files of how many crates it has looked at.
pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let mut crates: Vec<PathBuf> = fs::read_dir(root.join("crates"))
        .map_err(|error| vec![format!("crates: {error}")])?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("src").is_dir())
        .collect();
    crates.sort();
    let (mut files, mut complaints) = (0, Vec::new());
    for path in &crates {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match modules::read(&path.join("src")) {
            Ok(modules) => {
                files += modules.len();
                let floors = Floors::read(path);
                check_floors(path, &name, &floors, &modules, &mut complaints);
                check_circles(&name, &modules, &floors.uses(&modules), &mut complaints);
            }
            Err(error) => complaints.push(format!("{name}: {error}")),
        }
    }
    if complaints.is_empty() { Ok(format!("{files} files of {} crates", crates.len())) } else { Err(complaints) }
}

fn check_floors(path: &Path, name: &str, floors: &Floors, modules: &[Module], complaints: &mut Vec<String>) {
    if floors.floors.is_empty() {
        return;
    }
    for module in floors.floors.iter().flatten().chain(&floors.upwards) {
        let file = path.join("src").join(module.replace("::", "/"));
        if !file.is_dir() && !file.with_extension("rs").is_file() {
            complaints.push(format!("{name}/floors names {module}, which is no module"));
        }
    }
    let definition = modules::definitions(modules);
    for module in modules {
        let place = format!("{name}: {}", if module.name.is_empty() { "lib" } else { &module.name });
        if !module.name.is_empty() && floors.of(&module.name).is_none() {
            complaints.push(format!("{place} lies on no floor"));
        }
        let paths = module.paths.iter().filter_map(|path| definition(path)).map(|(_, path)| path).collect();
        let wrong = floors.wrong(&module.name, &paths);
        complaints.extend(wrong.into_iter().map(|path| format!("{place} uses {path}, above it")));
    }
}

fn check_circles(name: &str, modules: &[Module], uses: &[Uses], complaints: &mut Vec<String>) {
    let circles: Vec<_> = layers(uses).into_iter().flatten().filter(|circle| circle.len() > LARGEST_CIRCLE).collect();
    let has = |circle: &BTreeSet<usize>, file: &str| circle.iter().any(|at| modules[*at].name == file);
    let known = || KNOWN.iter().filter(|(of, ..)| *of == name);
    for (_, file, _) in known().filter(|(_, file, _)| !circles.iter().any(|circle| has(circle, file))) {
        complaints.push(format!("{name}: {file} is in no large circle any more: remove it from xtask/src/floors.rs"));
    }
    for circle in &circles {
        if known().any(|(_, file, size)| circle.len() <= *size && has(circle, file)) {
            continue;
        }
        complaints.push(format!("{name}: {} files use one another in a circle:", circle.len()));
        for at in circle {
            for (_, paths) in uses[*at].iter().filter(|(used, _)| circle.contains(used)) {
                complaints.push(format!("    {} uses {}", modules[*at].name, paths.join(", ")));
            }
        }
    }
}

/// Prints the files of a crate, the lowest first. A line is what lies on a floor: those in braces use one another.
pub fn print(path: &Path) -> std::io::Result<()> {
    let modules = modules::read(&path.join("src"))?;
    for layer in layers(&Floors::read(path).uses(&modules)) {
        let circles = layer.into_iter().map(|circle| {
            let names: Vec<_> =
                circle.iter().map(|at| if modules[*at].name.is_empty() { "lib" } else { &modules[*at].name }).collect();
            if names.len() > 1 { format!("{{{}}}", names.join(" ")) } else { names.concat() }
        });
        println!("{}", circles.collect::<Vec<_>>().join(" "));
    }
    Ok(())
}

/// Returns what lies on each floor, the lowest first: the sets of modules that use one another, or that are alone.
fn layers(uses: &[Uses]) -> Vec<Vec<BTreeSet<usize>>> {
    let mut reached: Vec<BTreeSet<usize>> = uses.iter().map(|used| used.keys().copied().collect()).collect();
    for through in 0..uses.len() {
        let more = reached[through].clone();
        for from in reached.iter_mut().filter(|from| from.contains(&through)) {
            from.extend(&more);
        }
    }
    let circle =
        |at: usize| reached[at].iter().copied().filter(|other| reached[*other].contains(&at)).chain([at]).collect();
    let mut rest: BTreeSet<BTreeSet<usize>> = (0..uses.len()).map(circle).collect();
    let (mut below, mut layers) = (BTreeSet::<usize>::new(), Vec::new());
    while !rest.is_empty() {
        let is_next = |circle: &BTreeSet<usize>| {
            circle.iter().all(|at| uses[*at].keys().all(|used| below.contains(used) || circle.contains(used)))
        };
        let (layer, more): (Vec<_>, _) = rest.into_iter().partition(is_next);
        below.extend(layer.iter().flatten());
        rest = more.into_iter().collect();
        layers.push(layer);
    }
    layers
}

/// A list of floors.
pub struct Floors {
    /// The modules of each floor, the lowest floor first.
    floors: Vec<Vec<String>>,
    /// Those that may use what lies above them.
    upwards: Vec<String>,
}

impl Floors {
    /// Reads the list of a crate, if it has one.
    fn read(path: &Path) -> Floors {
        Floors::parse(&fs::read_to_string(path.join("floors")).unwrap_or_default())
    }

    /// Returns what each module uses, without the edges upwards that the list declares.
    fn uses<'a>(&self, modules: &'a [Module]) -> Vec<Uses<'a>> {
        let mut uses = modules::uses(modules);
        for (used, _) in uses.iter_mut().zip(modules).filter(|(_, module)| self.upwards.contains(&module.name)) {
            used.clear();
        }
        uses
    }

    pub fn parse(list: &str) -> Floors {
        let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default());
        let words = lines.map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let (upwards, floors): (Vec<_>, Vec<_>) =
            words.filter(|line| !line.is_empty()).partition(|line| line[0] == "^");
        Floors { floors, upwards: upwards.into_iter().flat_map(|line| line.into_iter().skip(1)).collect() }
    }

    /// Returns the modules of each floor, the highest floor first.
    pub fn highest_first(mut self) -> Vec<Vec<String>> {
        self.floors.reverse();
        self.floors
    }

    /// The floor on which the item with this path lies: that of the longest module which the path begins with.
    fn of(&self, path: &str) -> Option<usize> {
        let is_in =
            |module: &str| path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with("::"));
        let found = self
            .floors
            .iter()
            .enumerate()
            .flat_map(|(floor, modules)| modules.iter().map(move |m| (m.len(), floor, m)));
        found.filter(|(_, _, module)| is_in(module)).max().map(|(_, floor, _)| floor)
    }

    /// The paths that a module names and that lie above it.
    fn wrong<'a>(&self, module: &str, paths: &'a BTreeSet<String>) -> Vec<&'a String> {
        let Some(own) = self.of(module).filter(|_| !self.upwards.iter().any(|one| one == module)) else {
            return Vec::new();
        };
        paths.iter().filter(|path| self.of(path).is_none_or(|floor| floor > own)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Floors, layers};
    use crate::modules;

    fn wrong(module: &str, text: &str) -> Vec<String> {
        let floors = Floors::parse("# the lowest first\nlow deep::part\nmiddle other\nhigh deep\n^ middle::up");
        let parsed = modules::parse_all(&[(module, text)]);
        floors.wrong(module, &parsed[0].paths).into_iter().cloned().collect()
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
    fn one_module_may_use_what_lies_above() {
        assert!(wrong("middle::up", "pub use crate::high::*;").is_empty());
    }

    fn floors(files: &[(&str, &str)]) -> Vec<String> {
        let parsed = modules::parse_all(files);
        let name = |circle: std::collections::BTreeSet<usize>| {
            circle.into_iter().map(|at| files[at].0).collect::<Vec<_>>().join("+")
        };
        let layers = layers(&modules::uses(&parsed));
        layers.into_iter().map(|layer| layer.into_iter().map(name).collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn floors_are_found() {
        let files =
            [("a", "use crate::b::x;"), ("b", ""), ("c", "use crate::{a, b};"), ("d", "fn f() { crate::b::y() }")];
        assert_eq!(floors(&files), ["b", "a d", "c"]);
    }

    #[test]
    fn circles_are_found() {
        assert_eq!(
            floors(&[("a", "use crate::b::x;"), ("b", "use crate::c; fn f() { c::g() }"), ("c", "use super::a::y;")]),
            ["a+b+c"]
        );
    }

    #[test]
    fn what_is_only_imported_is_its_who_has_it() {
        let root = ("", "mod a; pub use a::X; pub use other::Y as Z; use b as c;");
        assert_eq!(
            floors(&[root, ("a", ""), ("b", "use crate::{X, Z};"), ("d", "use crate::c::W;")]),
            ["a", "b", " d"]
        );
    }

    #[test]
    fn modules_within_a_file_are_followed() {
        let inner = "mod inner { use super::x; use super::super::a::y; } use super::a;";
        assert_eq!(floors(&[("a", ""), ("b", inner)]), ["a", "b"]);
        assert_eq!(floors(&[("a", "#[cfg(test)]\nmod tests { use crate::b; }"), ("b", "use crate::a;")]), ["a", "b"]);
    }
}
