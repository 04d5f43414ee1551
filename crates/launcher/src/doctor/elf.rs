//! Signs, in the files of an extension and its libraries, that its calls may wait where Spindle does not see it: threads of their
//! own, raw system calls, and code that does not call the C library at all.

use elf::{ElfBytes, abi, endian::NativeEndian};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What the dynamic section and the symbols of a file say.
struct Object {
    /// By which other objects need it; the file may have a longer name.
    soname: Option<String>,
    needs: Vec<String>,
    imports: BTreeSet<String>,
    has_go: bool,
}

/// The shared objects of a process.
pub struct Objects {
    by_name: BTreeMap<String, Option<Object>>,
    /// PHP itself, and all that it needs without extensions.
    base: BTreeSet<String>,
}

impl Objects {
    /// Reads those that the process has mapped.
    pub fn of(mapped: &[PathBuf]) -> Objects {
        let is_shared = |path: &&PathBuf| path.to_string_lossy().contains(".so");
        let read = |path: &PathBuf| {
            let object = Object::read(path);
            let name = object.as_ref().and_then(|object| object.soname.clone()).unwrap_or_else(|| name_of(path));
            (name, object)
        };
        let by_name: BTreeMap<_, _> = mapped.iter().filter(is_shared).map(read).collect();
        let mut objects = Objects { by_name, base: BTreeSet::new() };
        // The program comes first in the kernel's list, or at least is no shared object.
        let program = mapped.iter().find(|path| !is_shared(path)).and_then(|path| Object::read(path));
        objects.base = objects.closure(program.map_or(Vec::new(), |program| program.needs));
        objects
    }

    /// Returns those that these need, and they themselves.
    fn closure(&self, mut wanted: Vec<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        while let Some(name) = wanted.pop() {
            if let Some(object) = self.by_name.get(&name)
                && found.insert(name)
            {
                wanted.extend(object.iter().flat_map(|object| object.needs.iter().cloned()));
            }
        }
        found
    }

    /// Returns why calls of this extension may block; nothing for one that is built into PHP.
    pub fn signs_of_blocking(&self, extension: &str) -> Vec<String> {
        let own = self.closure(vec![format!("{extension}.so")]);
        own.difference(&self.base).filter_map(|name| Some(format!("{name} {}", self.sign(name)?))).collect()
    }

    fn sign(&self, name: &str) -> Option<&'static str> {
        let object = self.by_name.get(name)?.as_ref()?;
        let imports = |names: &[&str]| names.iter().any(|name| object.imports.contains(*name));
        if object.has_go {
            Some("is written in Go, which makes system calls itself")
        } else if imports(&["pthread_create", "thrd_create"]) {
            Some("has threads of its own")
        } else if imports(&["syscall"]) {
            Some("makes system calls itself")
        } else if object.needs.is_empty() && object.imports.is_empty() {
            Some("is statically linked")
        } else {
            None
        }
    }
}

impl Object {
    /// `None` if the file cannot be read as one.
    fn read(path: &Path) -> Option<Object> {
        let bytes = std::fs::read(path).ok()?;
        let file = ElfBytes::<NativeEndian>::minimal_parse(&bytes).ok()?;
        let common = file.find_common_data().ok()?;
        let strings = common.dynsyms_strs?;
        let texts = |tag: i64| {
            let entries = common.dynamic.iter().flat_map(|table| table.iter()).filter(move |entry| entry.d_tag == tag);
            let texts = entries.filter_map(|entry| strings.get(usize::try_from(entry.d_val()).ok()?).ok());
            texts.map(str::to_owned).collect::<Vec<_>>()
        };
        let symbols = common.dynsyms.iter().flat_map(|table| table.iter()).filter(|symbol| symbol.is_undefined());
        let imports = symbols.filter_map(|symbol| strings.get(usize::try_from(symbol.st_name).ok()?).ok());
        Some(Object {
            soname: texts(abi::DT_SONAME).pop(),
            needs: texts(abi::DT_NEEDED),
            imports: imports.filter(|name| !name.is_empty()).map(str::to_owned).collect(),
            has_go: matches!(file.section_header_by_name(".note.go.buildid"), Ok(Some(_))),
        })
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(OsStr::new("")).to_string_lossy().into_owned()
}
