//! What the loader has in memory: names, address ranges, who owns an address, which names it
//! exports. Read-only; every function here is called, or calls, inside `dl_iterate_phdr`.

use std::ffi::CStr;
use std::ops::Range;

use libc::dl_phdr_info;
use libdd_gotter::{DynamicInfo, gnu_hash_lookup, iterate_libraries, sysv_hash_lookup};

/// glibc's or musl's own objects: their calls to each other are theirs, and a value that points
/// into one of them is the function we expect, whatever its symbol version.
const LIBC: &[&str] = &[
    "libc.so",
    "libc-2.",
    "libc.musl-",
    "libpthread.so",
    "libpthread-2.",
    "libdl.so",
    "libdl-2.",
    "librt.so",
    "librt-2.",
    "ld-linux",
    "ld-musl-",
    "ld-2.",
    "ld.so",
    "ld64.so",
    "linux-vdso",
    "linux-gate",
];

/// Run-time libraries of sanitizers, and valgrind's. They stand in for libc: never patched, and
/// a value that points into them is as good as libc's.
const CHECKERS: &[&str] =
    &["libasan.so", "libhwasan.so", "libtsan.so", "liblsan.so", "libubsan.so", "libclang_rt.", "vgpreload_"];

/// Parts of libc in files of their own that we do patch.
const LIBC_PARTS: &[&str] = &["libresolv.so", "libresolv-2.", "libanl.so", "libanl-2."];

/// How often objects were added and removed so far: equal pairs mean that nothing changed.
pub(super) type Counters = (u64, u64);

/// One object, while its `dl_iterate_phdr` callback runs.
pub(super) struct Loaded<'a> {
    pub(super) info: &'a dl_phdr_info,
    pub(super) is_exe: bool,
}

impl<'a> Loaded<'a> {
    /// `info` as handed out by [`iterate_libraries`], which is what makes the methods sound.
    pub(super) fn new(info: &'a dl_phdr_info, is_exe: bool) -> Self {
        Self { info, is_exe }
    }

    pub(super) fn counters(&self) -> Counters {
        (self.info.dlpi_adds, self.info.dlpi_subs)
    }

    /// The name as the loader has it: a path, empty for the executable.
    pub(super) fn name(&self) -> &'a [u8] {
        if self.info.dlpi_name.is_null() {
            return &[];
        }
        // SAFETY: not null, and inside the callback the loader keeps it a C string.
        unsafe { CStr::from_ptr(self.info.dlpi_name) }.to_bytes()
    }

    pub(super) fn base(&self) -> usize {
        self.info.dlpi_addr as usize
    }

    fn phdrs(&self) -> &'a [libc::Elf64_Phdr] {
        if self.info.dlpi_phdr.is_null() {
            return &[];
        }
        // SAFETY: not null, and inside the callback the loader guarantees `dlpi_phnum` program
        // headers there, which nothing writes.
        unsafe { std::slice::from_raw_parts(self.info.dlpi_phdr, usize::from(self.info.dlpi_phnum)) }
    }

    fn segments(&self) -> impl Iterator<Item = (u32, Range<usize>)> + use<'a> {
        let base = self.base();
        self.phdrs().iter().filter(|p| p.p_type == libc::PT_LOAD).map(move |p| {
            let start = base.wrapping_add(p.p_vaddr as usize);
            (p.p_flags, start..start.saturating_add(p.p_memsz as usize))
        })
    }

    /// Whether `addr` is in one of the object's segments.
    pub(super) fn contains(&self, addr: usize) -> bool {
        self.segments().any(|(_, range)| range.contains(&addr))
    }

    /// The pointer at `addr`, if that is a place in this object a linker may have relocated: a
    /// whole aligned word of a segment that is writable before RELRO.
    pub(super) fn slot(&self, addr: usize) -> Option<usize> {
        let last = addr.checked_add(size_of::<usize>() - 1)?;
        let fits = self
            .segments()
            .any(|(flags, range)| flags & libc::PF_W != 0 && range.contains(&addr) && range.contains(&last));
        if !fits || !addr.is_multiple_of(align_of::<usize>()) {
            return None;
        }
        let slot = std::ptr::with_exposed_provenance_mut(addr);
        // SAFETY: aligned, and inside a segment of this object, which is mapped as long as the
        // callback runs; segments that are PF_W stay readable after RELRO. Others (the loader
        // binding lazily, another thread's tool) write such words whole, hence the atomic load.
        let value = unsafe { std::sync::atomic::AtomicUsize::from_ptr(slot) };
        Some(value.load(std::sync::atomic::Ordering::Acquire))
    }

    /// The dynamic section, if the object has a usable one.
    pub(super) fn dynamic(&self) -> Option<DynamicInfo<'a>> {
        // SAFETY: `info` comes from the loader (see `new`), which keeps the object mapped during
        // the callback; the result cannot outlive `info`.
        unsafe { DynamicInfo::from_phdr(self.info) }
    }

    fn base_name(&self) -> &'a [u8] {
        self.name().rsplit(|&b| b == b'/').next().unwrap_or_default()
    }

    fn named(&self, prefixes: &[&str]) -> bool {
        !self.is_exe && prefixes.iter().any(|p| self.base_name().starts_with(p.as_bytes()))
    }

    /// libc, the loader, the vdso (which has no name on musl) or a sanitizer: never patched.
    pub(super) fn is_system(&self) -> bool {
        (!self.is_exe && self.name().is_empty()) || self.named(LIBC) || self.named(CHECKERS)
    }

    /// Whether it has an allocator for the whole process. Our code allocates while it uses what its hooks use, and whoever waited
    /// for one of an allocator's locks in a coroutine would leave others of them held.
    pub(super) fn is_allocator(&self) -> bool {
        let Some(dynamic) = self.dynamic().filter(|_| !self.is_exe) else { return false };
        // SAFETY: `dynamic` was just made from an object that is mapped during the callback.
        let found = unsafe { gnu_hash_lookup(&dynamic, b"malloc").or_else(|| sysv_hash_lookup(&dynamic, b"malloc")) };
        found.is_some_and(|symbol| symbol.st_shndx != 0)
    }

    /// Whether a function here is the C library's, or stands for it.
    pub(super) fn defines_libc(&self) -> bool {
        self.is_system() || self.named(LIBC_PARTS)
    }

    /// What this object makes of `name` at the address `value`.
    fn export(&self, name: &CStr, value: usize) -> Export {
        let Some(dynamic) = self.dynamic() else { return Export::No };
        let name = name.to_bytes();
        // SAFETY: `dynamic` was just made from an object that is mapped during the callback.
        let found = unsafe { gnu_hash_lookup(&dynamic, name).or_else(|| sysv_hash_lookup(&dynamic, name)) };
        match found {
            Some(sym) if self.base().wrapping_add(sym.st_value as usize) != value => Export::No,
            // The lookup only gives symbols with a value. One with a value but no section is the
            // address of a PLT stub that stands for the function in the whole process.
            Some(sym) if sym.st_shndx == 0 => Export::Canonical,
            Some(_) => Export::Definition,
            None => Export::No,
        }
    }
}

/// What an object exports at an address under a name.
enum Export {
    No,
    Canonical,
    Definition,
}

/// Where a value that is not libc's and not the object's own points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// A PLT stub of the executable that is the function's address everywhere.
    Canonical,
    /// An object's exported function of that very name: a preloaded stand-in, or a namesake.
    Namesake,
    /// Some other address in a loaded object: another tool has hooked the entry.
    InObject,
    /// No object: code made at run time.
    Nowhere,
}

/// Looks up who owns `value`. May be called inside a callback (the loader's lock is recursive).
pub(super) fn place_of(value: usize, name: &CStr) -> Place {
    let mut place = Place::Nowhere;
    iterate_libraries(|info, is_exe| {
        let object = Loaded::new(info, is_exe);
        if !object.contains(value) {
            return false;
        }
        place = match object.export(name, value) {
            Export::Canonical => Place::Canonical,
            Export::Definition => Place::Namesake,
            Export::No => Place::InObject,
        };
        true
    });
    place
}

/// The loader's counters now.
pub(super) fn counters() -> Option<Counters> {
    let mut counters = None;
    iterate_libraries(|info, is_exe| {
        counters = Some(Loaded::new(info, is_exe).counters());
        true
    });
    counters
}

/// The address ranges whose functions count as libc's.
pub(super) fn libc_ranges() -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    iterate_libraries(|info, is_exe| {
        let object = Loaded::new(info, is_exe);
        if object.defines_libc() {
            ranges.extend(object.segments().map(|(_, range)| range));
        }
        false
    });
    ranges
}

/// Returns when no other thread is in the middle of loading or unloading an object.
///
/// `dl_iterate_phdr` shows an object as soon as it is mapped, which on glibc is before it is
/// relocated: patching it then would be undone by the loader, or meet pages that are just being
/// protected. `dladdr` takes the lock that `dlopen` holds to its end. (A `dlopen(NULL)` would
/// too, but it forgets the pending `dlerror` message, which PHP may be about to print.)
pub(super) fn wait_for_loader(own_code: usize) {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be asked for; `info` is a valid place for the answer, not read.
    unsafe { libc::dladdr(std::ptr::with_exposed_provenance(own_code), info.as_mut_ptr()) };
}
