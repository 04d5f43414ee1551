//! Checks the map, ARCHITECTURE.md: it is short enough to be read at once, and its picture of the floors is that of the crates'
//! manifests and of the modules of `php`.

use crate::floors::Floors;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const PAGE: &str = "ARCHITECTURE.md";

/// How many words it may have, those of its pictures included.
const WORDS: usize = 1800;

pub fn check(root: &Path) -> Result<String, Vec<String>> {
    let read = |path: &Path| fs::read_to_string(path).map_err(|error| vec![format!("{}: {error}", path.display())]);
    let page = read(&root.join(PAGE))?;
    let words = page.split_whitespace().count();
    let picture = Picture::parse(&page);
    let mut complaints = picture.wrong(&manifests(&root.join("crates"))?);
    if picture.modules != Floors::parse(&read(&root.join("crates/php/floors"))?).highest_first() {
        complaints.push("the modules of php are not those of crates/php/floors".to_owned());
    }
    if words > WORDS {
        complaints.push(format!("it has {words} words, more than {WORDS}: move what is not the map to docs/internals"));
    }
    if complaints.is_empty() {
        Ok(format!("{words} words of {WORDS}, {} crates on {} floors", picture.crates.len(), picture.floors))
    } else {
        Err(complaints.into_iter().map(|complaint| format!("{PAGE}: {complaint}")).collect())
    }
}

/// Returns which other crates of the project each crate uses, but for those of its tests.
fn manifests(crates: &Path) -> Result<BTreeMap<String, BTreeSet<String>>, Vec<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(crates).map_err(|error| vec![error.to_string()])?.flatten() {
        if let Ok(manifest) = fs::read_to_string(entry.path().join("Cargo.toml")) {
            found.insert(entry.file_name().to_string_lossy().into_owned(), uses(&manifest));
        }
    }
    Ok(found)
}

fn uses(manifest: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.strip_prefix("spindle-")?.split([' ', '.', '=']).next());
    names.map(str::to_owned).collect()
}

/// The picture of the floors.
#[derive(Default)]
struct Picture {
    /// Each crate, with the number of its floor from the top, and what it uses.
    crates: Vec<(String, usize, BTreeSet<String>)>,
    floors: usize,
    /// The modules of `php`, the highest floor first.
    modules: Vec<Vec<String>>,
}

impl Picture {
    /// Reads the rows of the section: `crate │ uses │ what it is`, with lines between floors, and `modules │ what they are`.
    fn parse(page: &str) -> Picture {
        let words = |cell: &str| cell.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let mut picture = Picture::default();
        let section = page.lines().skip_while(|line| *line != "## The floors").skip(1);
        for line in section.take_while(|line| !line.starts_with("## ")) {
            picture.floors += usize::from(line.contains(['╪', '┼']));
            match line.split('│').collect::<Vec<_>>()[..] {
                // Above the first line is the head.
                [name, uses, _] if picture.floors > 0 => {
                    if !name.trim().is_empty() {
                        picture.crates.push((name.trim().to_owned(), picture.floors, BTreeSet::new()));
                    }
                    picture.crates.last_mut().expect("a first row").2.extend(words(uses));
                }
                [modules, _] => picture.modules.push(words(modules)),
                _ => {}
            }
        }
        picture
    }

    /// Returns what is wrong with it.
    fn wrong(&self, manifests: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
        let mut wrong = Vec::new();
        let floor = |name: &str| self.crates.iter().find(|(known, ..)| known == name).map(|(_, floor, _)| *floor);
        for name in manifests.keys().filter(|name| floor(name).is_none()) {
            wrong.push(format!("the crate {name} lies on no floor"));
        }
        for (name, own, drawn) in &self.crates {
            let Some(uses) = manifests.get(name) else {
                wrong.push(format!("there is no crate {name}"));
                continue;
            };
            if uses != drawn {
                let uses: Vec<_> = uses.iter().map(String::as_str).collect();
                wrong.push(format!("the crate {name} uses {}", uses.join(" ")));
            }
            let above = uses.iter().filter(|other| floor(other).is_some_and(|floor| floor <= *own));
            wrong.extend(above.map(|other| format!("the crate {name} uses {other}, which does not lie below it")));
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::{Picture, uses};
    use std::collections::BTreeMap;

    const PAGE: &str = "# A\n## The floors\n\n head │ uses │ is\n══╪══╪══\n a │ b │ x\n   │ c │\n──┼──┼──\n b │   │ y\n c │   │ z\n\n m n │ x\n o   │ y\n## B\n d │ e │ f\n";

    #[test]
    fn rows_are_read_with_their_floors() {
        let picture = Picture::parse(PAGE);
        let names: Vec<_> =
            picture.crates.iter().map(|(name, floor, uses)| (name.as_str(), *floor, uses.len())).collect();
        assert_eq!(names, [("a", 1, 2), ("b", 2, 0), ("c", 2, 0)]);
        assert_eq!(picture.modules, [vec!["m", "n"], vec!["o"]]);
    }

    #[test]
    fn each_difference_from_the_manifests_is_wrong() {
        let wrong = |crates: &[(&str, &str)]| {
            let uses = |text: &str| text.split_whitespace().map(str::to_owned).collect();
            let manifests: BTreeMap<_, _> =
                crates.iter().map(|(name, used)| ((*name).to_owned(), uses(used))).collect();
            Picture::parse(PAGE).wrong(&manifests).len()
        };
        assert_eq!(wrong(&[("a", "b c"), ("b", ""), ("c", "")]), 0);
        assert_eq!(wrong(&[("a", "b"), ("b", ""), ("c", "")]), 1, "not what is drawn");
        assert_eq!(wrong(&[("a", "b c"), ("b", ""), ("c", ""), ("d", "")]), 1, "not drawn");
        assert_eq!(wrong(&[("a", "b c"), ("b", "")]), 1, "drawn, and not there");
        assert_eq!(wrong(&[("a", "b c"), ("b", "c"), ("c", "")]), 2, "not what is drawn, and not below");
    }

    #[test]
    fn a_crate_uses_what_its_manifest_depends_on() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\nlibc.workspace = true\nspindle-a.workspace = true\nspindle-b-c = { path = \"\" }\n[dev-dependencies]\nspindle-d = \"\"\n";
        assert_eq!(uses(manifest).into_iter().collect::<Vec<_>>(), ["a", "b-c"]);
    }
}
