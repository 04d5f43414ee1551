//! Signs, in the files of an extension and its libraries, that its calls may wait where Spindle does not see it: threads of their
//! own, raw system calls, and code that does not call the C library at all.

use elf::{ElfBytes, abi, endian::NativeEndian};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What the dynamic section and the symbols of a file say.
struct Object {
    /// The name by which other objects need it; the file may have a longer one.
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
        // Of the files that are not shared objects, only the program concerns the dynamic linker.
        let program = mapped.iter().filter(|path| !is_shared(path)).find_map(|path| Object::read(path));
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
        let file = format!("{extension}.so");
        let own = self.closure(vec![file.clone()]);
        let others = own.difference(&self.base);
        others.filter_map(|name| Some(format!("{name} {}", self.sign(name, *name == file)?))).collect()
    }

    /// Libraries make system calls themselves for many reasons, most of which never wait.
    fn sign(&self, name: &str, is_extension: bool) -> Option<&'static str> {
        let object = self.by_name.get(name)?.as_ref()?;
        let imports = |names: &[&str]| names.iter().any(|name| object.imports.contains(*name));
        if object.has_go {
            Some("is written in Go, which makes system calls itself")
        } else if imports(&["pthread_create", "thrd_create"]) {
            Some("has threads of its own")
        } else if is_extension && imports(&["syscall"]) {
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
        // What is mapped may also be a device without an end.
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
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

#[cfg(test)]
mod tests {
    use super::Objects;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    fn compile(folder: &Path, name: &str, code: &str, options: &[&str]) -> PathBuf {
        let (source, file) = (folder.join(format!("{name}.c")), folder.join(name));
        std::fs::write(&source, code).unwrap();
        let mut cc = Command::new("cc");
        let status = cc.current_dir(folder).args(["-w", "-o", name]).arg(&source).args(options).status().unwrap();
        assert!(status.success());
        file
    }

    #[test]
    fn signs_are_those_of_an_extension_and_of_libraries_that_php_does_not_need() {
        let folder = tempfile::tempdir().unwrap();
        let compile = |name: &str, code: &str, options: &[&str]| compile(folder.path(), name, code, options);
        let shared = |soname: &'static str| ["-shared", "-fPIC", "-Wl,--no-as-needed", soname];
        let threads = "int pthread_create(); void *f(void) { return pthread_create; }";
        let mapped = [
            compile("libbase.so.1.2", threads, &shared("-Wl,-soname,libbase.so.1")),
            compile("php", "int main(void) { return 0; }", &["-Wl,--no-as-needed", "libbase.so.1.2"]),
            compile("libown.so.5.6", threads, &shared("-Wl,-soname,libown.so.5")),
            compile(
                "swimming.so",
                "int recv(); int f(void) { return recv(); }",
                &["-shared", "-fPIC", "-Wl,--no-as-needed", "libown.so.5.6"],
            ),
            compile(
                "dry.so",
                "int recv(); int f(void) { return recv(); }",
                &["-shared", "-fPIC", "-Wl,--no-as-needed", "libbase.so.1.2"],
            ),
            compile("raw.so", "long syscall(long, ...); long f(void) { return syscall(1); }", &["-shared", "-fPIC"]),
            compile("alone.so", "int f(void) { return 1; }", &["-shared", "-fPIC", "-nostdlib"]),
            PathBuf::from("/dev/zero"),
            folder.path().join("none.so"),
        ];
        let objects = Objects::of(&mapped);
        assert_eq!(objects.signs_of_blocking("swimming"), ["libown.so.5 has threads of its own"]);
        assert_eq!(objects.signs_of_blocking("dry"), [""; 0]);
        assert_eq!(objects.signs_of_blocking("raw"), ["raw.so makes system calls itself"]);
        assert_eq!(objects.signs_of_blocking("alone"), ["alone.so is statically linked"]);
        assert_eq!(objects.signs_of_blocking("none"), [""; 0]);
    }
}
