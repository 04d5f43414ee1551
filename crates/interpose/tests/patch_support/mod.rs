//! What the patcher's tests share: C fixtures compiled at run time, a process of its own for each
//! test, and a look at entries and page protections that does not go through the patcher.

#![allow(dead_code)] // each test file uses its part

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use libdd_gotter::{DynamicInfo, elf64_r_sym, elf64_r_type, is_got_pointer_reloc, iterate_libraries};
use spindle_interpose::patch::{Hook, Patcher};

const CHILD: &str = "SPINDLE_PATCH_TEST";

/// Runs `body` in a process in which nothing else has been patched: this test program again, told
/// to run the test called `name` alone.
pub fn isolated(name: &str, body: impl FnOnce(&Fixtures)) {
    if std::env::var(CHILD).is_ok_and(|child| child == name) {
        let fixtures = Fixtures::new(name);
        body(&fixtures);
        println!("finished {name}");
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(CHILD, name)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{stdout}\n{stderr}", output.status);
    // A name that matches no test would succeed too.
    assert!(stdout.contains(&format!("finished {name}")), "the test did not run:\n{stdout}");
}

/// A directory for compiled fixtures, removed in the end.
pub struct Fixtures {
    dir: PathBuf,
}

impl Fixtures {
    pub fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("spindle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self { dir }
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.dir.join(file)
    }

    /// Compiles `fixtures/{source}` to `output`.
    pub fn compile(&self, source: &str, output: &str, flags: &[&str]) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(source);
        let path = self.path(output);
        let done = Command::new("cc")
            .args(["-O1", "-Wall", "-o"])
            .args([&path, &source])
            .args(flags)
            .output()
            .expect("a C compiler called cc");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        path
    }

    /// Compiles `fixtures/{source}` to a shared object.
    pub fn shared(&self, source: &str, output: &str, flags: &[&str]) -> PathBuf {
        self.compile(source, output, &[&["-shared", "-fPIC"], flags].concat())
    }

    /// `patch_calls.c` with its entries bound at load and read-only.
    pub fn full_relro(&self, output: &str) -> PathBuf {
        self.shared("patch_calls.c", output, &["-Wl,-z,relro,-z,now"])
    }
}

impl Drop for Fixtures {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// An object opened with `dlopen`; stays until [`Library::close`].
#[derive(Clone)]
pub struct Library {
    pub path: PathBuf,
    handle: *mut c_void,
}

impl Library {
    pub fn open(path: &Path) -> Self {
        Self::open_with(path, libc::RTLD_LAZY | libc::RTLD_LOCAL)
    }

    pub fn open_with(path: &Path, flags: i32) -> Self {
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a C string; the fixtures' constructors do nothing.
        let handle = unsafe { libc::dlopen(name.as_ptr(), flags) };
        assert!(!handle.is_null(), "{}", path.display());
        Self { path: path.to_owned(), handle }
    }

    pub fn symbol(&self, name: &CStr) -> usize {
        // SAFETY: a handle from dlopen and a C string.
        let address = unsafe { libc::dlsym(self.handle, name.as_ptr()) };
        assert!(!address.is_null(), "{name:?} in {}", self.path.display());
        address.expose_provenance()
    }

    /// Calls a fixture's `int name(void)`.
    pub fn call(&self, name: &CStr) -> i32 {
        // SAFETY: every fixture function called this way is `int name(void)`.
        let function: extern "C" fn() -> i32 =
            unsafe { std::mem::transmute::<*const (), _>(std::ptr::with_exposed_provenance(self.symbol(name))) };
        function()
    }

    /// Calls a fixture's `int name(int)`.
    pub fn call_with(&self, name: &CStr, argument: i32) -> i32 {
        // SAFETY: every fixture function called this way is `int name(int)`.
        let function: extern "C" fn(i32) -> i32 =
            unsafe { std::mem::transmute::<*const (), _>(std::ptr::with_exposed_provenance(self.symbol(name))) };
        function(argument)
    }

    pub fn close(self) {
        // SAFETY: opened once, and no test uses an address in it afterwards.
        assert_eq!(unsafe { libc::dlclose(self.handle) }, 0);
        assert_eq!(base_of(&self.path), None, "{} stayed loaded", self.path.display());
    }
}

fn name_of(info: &libc::dl_phdr_info) -> &[u8] {
    // SAFETY: in the callback, which is where this is called, the loader keeps a C string there.
    unsafe { CStr::from_ptr(info.dlpi_name) }.to_bytes()
}

/// Where the object is loaded.
pub fn base_of(path: &Path) -> Option<usize> {
    let mut base = None;
    iterate_libraries(|info, _| {
        if name_of(info) == path.as_os_str().as_bytes() {
            base = Some(info.dlpi_addr as usize);
        }
        base.is_some()
    });
    base
}

/// The full path of a loaded object.
pub fn path_of(file: &str) -> PathBuf {
    let mut path = None;
    iterate_libraries(|info, _| {
        let name = PathBuf::from(std::ffi::OsStr::from_bytes(name_of(info)));
        if name.file_name().is_some_and(|name| name == file) {
            path = Some(name);
        }
        path.is_some()
    });
    path.unwrap_or_else(|| panic!("{file} is not loaded"))
}

/// Addresses of the entries for `name` in an object (the empty path: this program), addends
/// counted out.
pub fn entries(path: &Path, name: &CStr) -> Vec<usize> {
    let mut found = Vec::new();
    iterate_libraries(|info, _| {
        if name_of(info) != path.as_os_str().as_bytes() {
            return false;
        }
        // SAFETY: inside the callback the object is mapped.
        let dynamic = unsafe { DynamicInfo::from_phdr(info) }.unwrap();
        for rela in dynamic.relas().iter().chain(dynamic.jmprels()) {
            // The loader ignores the addend of an entry of the PLT, where newer linkers store something else.
            const JUMP_SLOTS: [u32; 2] = [7, 1026];
            let kind = elf64_r_type(rela.r_info);
            if is_got_pointer_reloc(kind)
                && (rela.r_addend == 0 || JUMP_SLOTS.contains(&kind))
                && dynamic.sym_name(elf64_r_sym(rela.r_info)) == Some(name)
            {
                found.push(dynamic.base_address() + rela.r_offset as usize);
            }
        }
        true
    });
    found
}

/// What an entry holds.
pub fn peek(addr: usize) -> usize {
    // SAFETY: `addr` is an entry of a loaded object, as `entries` gave it; volatile, since the
    // patcher writes it behind the compiler's back.
    unsafe { std::ptr::with_exposed_provenance::<usize>(addr).read_volatile() }
}

/// Writes an entry as another tool would, its page left writable.
pub fn poke(addr: usize, value: usize) {
    let page = std::ptr::with_exposed_provenance_mut::<c_void>(addr & !4095);
    // SAFETY: the page of an entry of a loaded fixture, and `value` is a function of the
    // signature of the fixture's calls.
    unsafe {
        assert_eq!(libc::mprotect(page, 4096, libc::PROT_READ | libc::PROT_WRITE), 0);
        std::ptr::with_exposed_provenance_mut::<usize>(addr).write_volatile(value);
    }
}

/// The `/proc/self/maps` lines (range and permissions) of an object.
pub fn protections(path: &Path) -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let path = path.to_str().unwrap();
    let lines = maps.lines().filter(|line| line.ends_with(path));
    lines.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect()
}

/// Address of libc's `name`.
pub fn real(name: &CStr) -> usize {
    // SAFETY: RTLD_DEFAULT and a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!address.is_null());
    address.addr()
}

pub fn getppid() -> i32 {
    // SAFETY: getppid has no requirements.
    unsafe { libc::getppid() }
}

pub fn getuid() -> i32 {
    // SAFETY: getuid has no requirements.
    unsafe { libc::getuid() as i32 }
}

/// What the replacements add to the original's result. They call the original: if our own object
/// were patched they would call themselves for ever.
pub const PPID: i32 = 10_000_000;
pub const UID: i32 = 20_000_000;

extern "C" fn hooked_getppid() -> i32 {
    getppid() + PPID
}

extern "C" fn hooked_getuid() -> i32 {
    getuid() + UID
}

/// Another tool's replacement.
pub extern "C" fn foreign() -> i32 {
    -5
}

pub fn foreign_address() -> usize {
    foreign as extern "C" fn() -> i32 as usize
}

pub fn hooks() -> Vec<Hook> {
    let getppid = hooked_getppid as extern "C" fn() -> i32 as usize;
    let getuid = hooked_getuid as extern "C" fn() -> i32 as usize;
    vec![
        Hook { name: c"getppid", replacement: getppid },
        Hook { name: c"getuid", replacement: getuid },
        Hook { name: c"spindle_test_absent", replacement: getppid },
    ]
}

pub fn patcher() -> Patcher {
    Patcher::new(&hooks(), Vec::new())
}

/// How many entries the patcher counts as its own in the object.
pub fn patched(patcher: &Patcher, path: &Path) -> usize {
    let path = path.to_str().unwrap();
    patcher.objects().filter(|object| object.path == path).map(|object| object.entries).sum()
}
