//! The ELF patcher: points the entries through which loaded objects call libc at the hooks, and restores them.
//!
//! It is built on `libdd-gotter`, which parses dynamic sections, and adds an undo list, exclusions, re-scans that visit only
//! what is new, and a decision for each value.
//!
//! # Which entries
//!
//! A relocation of the kinds `JUMP_SLOT`, `GLOB_DAT` (together: GOT) and absolute 64-bit (data, for instance a table of
//! system calls) that names a hooked function, in any version. The decision depends on what the entry holds:
//!
//! | the entry holds | GOT | data |
//! |---|---|---|
//! | libc's function, any version, or a sanitizer's replacement | patch | patch |
//! | what Spindle's own calls of that name reach (a preloaded replacement, if Spindle is bound to it, too) | patch | patch |
//! | a PLT stub of the object itself: not bound yet | patch | patch |
//! | a PLT stub of the executable that is the function's address everywhere (canonical) | patch | patch |
//! | null: a weak function that does not exist | leave | leave |
//! | the object's own function of that name | leave | leave |
//! | another object's exported function of that name: a namesake, or a preloaded replacement (`torsocks`) that our call would bypass | leave, report | leave, report |
//! | anything else: another tool's hook, or a pointer that was changed since | patch, keep the old value for the undo | leave, report |
//!
//! The last GOT row takes calls away from the other tool until the restore. The alternative is a call that blocks every
//! coroutine.
//!
//! # Which objects
//!
//! All except: the object of this code and every object with a replacement (their calls reach the originals, found by
//! address), libc and its parts, the loader, the vdso, allocators, sanitizer and valgrind run-times, and the
//! exclusions.
//!
//! One correction is made to Spindle's own object. If the executable has a canonical PLT stub for a hooked name, Spindle's
//! entry may hold that stub, which jumps through the executable's entry, which is patched: the call of the original would
//! recurse without end. Such an entry gets libc's address; if that is unknown, the name is not hooked.
//!
//! # Threads and the loader
//!
//! A pass waits until no other thread is loading an object, and works while the loader's list is locked, so nothing that it
//! touches can be unloaded. Other threads may call through the entries meanwhile; a pointer is stored atomically.
//!
//! # Not guaranteed
//!
//! * Calls that use no such entry are not seen: inside libc, static code, raw system calls, pointers from `dlsym` or copied
//!   elsewhere before the patch. A pointer copied while an entry is patched stays that of the hook after the restore.
//! * A thread that binds a lazy entry at the moment it is patched may overwrite it with libc's address. The next pass
//!   corrects it (one runs when objects came or went).
//! * Function pointers compare unequal between a patched object and an excluded one.
//! * `REL` relocations are ignored: x86-64 and AArch64 have none.

mod loaded;
mod pages;
mod scan;

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ops::Range;

use libdd_gotter::{DynamicInfo, iterate_libraries};

use loaded::{Counters, Loaded, Place};
use pages::{Maps, OpenPages};
use scan::{Scan, is_real, references};

/// A function to take over.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// The name relocations know it by.
    pub name: &'static CStr,
    /// The address of an `extern "C"` function of the same signature. Several names may share
    /// one. It reaches the original by an ordinary call, and must stay in memory until
    /// [`Patcher::restore`] says so.
    pub replacement: usize,
}

/// What an object is recognised by, wherever it is and whatever its file is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// This address is in the object.
    Contains(usize),
    /// The object refers to a symbol of this name.
    RefersTo(&'static CStr),
}

/// What [`Patcher::patch`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchReport {
    /// Objects in which at least one entry was changed now.
    pub objects: usize,
    /// Entries changed now.
    pub entries: usize,
    /// What should have been patched and is not.
    pub errors: Vec<String>,
    /// Entries left alone because what they hold is not ours to replace.
    pub left: Vec<String>,
}

/// What [`Patcher::restore`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// Entries that hold their former value again.
    pub restored: usize,
    /// Entries that other code has overwritten since. Their function may still call ours.
    pub left: Vec<String>,
    /// Entries that still hold our pointer and could not be changed.
    pub errors: Vec<String>,
}

impl RestoreReport {
    /// Whether no entry leads to our functions any more, as far as entries show. If not, stay
    /// loaded. (A program that has copied a pointer out of an entry meanwhile cannot be seen.)
    pub fn may_unload(&self) -> bool {
        self.left.is_empty() && self.errors.is_empty()
    }
}

/// An object with patched entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedObject {
    /// Its path, as the loader has it.
    pub path: String,
    /// How many of its entries are ours.
    pub entries: usize,
}

/// A hook, and where its name leads without us.
struct Target {
    name: &'static CStr,
    replacement: usize,
    /// What a call of the name in our own object reaches; null if there is none.
    ours: usize,
    /// libc's own function, if it could be asked for; null otherwise.
    real: usize,
    /// False if a call of the original would come back to us.
    usable: bool,
    /// What the only objects in which it is hooked are recognised by, any of these. `None`: it is hooked in all.
    only_in: Option<Vec<Mark>>,
}

impl Target {
    /// Returns `true` if it is known not to be hooked there, without reading the names to which the object refers.
    fn is_elsewhere(&self, object: &Loaded) -> bool {
        let cannot_be = |mark: &Mark| matches!(mark, Mark::Contains(address) if !object.contains(*address));
        self.only_in.as_ref().is_some_and(|marks| marks.iter().all(cannot_be))
    }
}

/// The undo record of one entry.
#[derive(Clone, Copy)]
struct Entry {
    addr: usize,
    target: usize,
    old: usize,
    /// `old` is another tool's function inside an object, which may be unloaded before us.
    foreign: bool,
}

struct Known {
    name: Vec<u8>,
    path: String,
    entries: Vec<Entry>,
    /// The last pass that saw it.
    pass: u64,
}

/// Patches entries, remembers their values, and puts them back. One per process.
///
/// Owned by one thread; not `Sync`.
pub struct Patcher {
    targets: Vec<Target>,
    by_name: HashMap<&'static [u8], usize>,
    /// First bytes of the hooked names: spares most symbols the hash.
    first: [bool; 256],
    exclude: Vec<String>,
    /// Empty: all.
    only: Vec<String>,
    exe_path: String,
    /// By base address: one place holds one object at a time.
    known: BTreeMap<usize, Known>,
    scanned: Option<Counters>,
    pass: u64,
    /// Per symbol of the current object: 0 not checked, 1 no hook, else target + 2.
    memo: Vec<u32>,
    _not_sync: PhantomData<Cell<()>>,
}

/// How often a pass starts anew because another thread has loaded something meanwhile.
const ATTEMPTS: usize = 8;

impl Patcher {
    /// Looks the names up; changes nothing yet. `exclude` are prefixes of file names without
    /// their directory: `opcache.so`, `libfoo`. If a name is given twice the first counts.
    pub fn new(hooks: &[Hook], exclude: Vec<String>) -> Self {
        // SAFETY: a C string; NOLOAD only finds what is there. The handle is never closed: libc
        // stays anyway. A null handle (musl, where libc has another name) is checked for below.
        let libc_handle = unsafe { libc::dlopen(c"libc.so.6".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
        let mut targets = Vec::with_capacity(hooks.len());
        let mut by_name = HashMap::with_capacity(hooks.len());
        let mut first = [false; 256];
        for hook in hooks {
            // Asked from this object, RTLD_DEFAULT searches the scope this object's own
            // references are bound in, also when it was loaded with RTLD_DEEPBIND.
            // SAFETY: RTLD_DEFAULT and a C string.
            let ours = unsafe { libc::dlsym(libc::RTLD_DEFAULT, hook.name.as_ptr()) };
            let real = match libc_handle.is_null() {
                true => std::ptr::null_mut(),
                // SAFETY: a handle that was just opened and stays open, and a C string.
                false => unsafe { libc::dlsym(libc_handle, hook.name.as_ptr()) },
            };
            let name = hook.name.to_bytes();
            first[usize::from(*name.first().unwrap_or(&0))] = true;
            by_name.entry(name).or_insert(targets.len());
            targets.push(Target {
                name: hook.name,
                replacement: hook.replacement,
                ours: ours.addr(),
                real: real.addr(),
                usable: true,
                only_in: None,
            });
        }
        let exe = std::env::current_exe().unwrap_or_default();
        Self {
            targets,
            by_name,
            first,
            exclude: exclude.into_iter().filter(|prefix| !prefix.is_empty()).collect(),
            only: Vec::new(),
            exe_path: exe.to_string_lossy().into_owned(),
            known: BTreeMap::new(),
            scanned: None,
            pass: 0,
            memo: Vec::new(),
            _not_sync: PhantomData,
        }
    }

    /// Restricts it to objects whose file names begin with one of these, if any is given.
    #[must_use]
    pub fn only(mut self, prefixes: Vec<String>) -> Self {
        self.only = prefixes;
        self
    }

    /// Restricts one hook to objects that have any of these marks.
    #[must_use]
    pub fn only_in(mut self, name: &CStr, marks: &[Mark]) -> Self {
        if let Some(index) = self.by_name.get(name.to_bytes()) {
            self.targets[*index].only_in = Some(marks.to_vec());
        }
        self
    }

    /// Patches what is not patched yet. Costs next to nothing when no object came or went since
    /// the last call. Objects that are gone are forgotten; an object loaded anew, be it at the
    /// same address and from the same path, is patched.
    ///
    /// Waits for other threads that are inside `dlopen`: call it without a lock that a library's
    /// constructor may want.
    pub fn patch(&mut self) -> PatchReport {
        let mut report = PatchReport::default();
        for _ in 0..ATTEMPTS {
            let Some(now) = loaded::counters() else {
                report.errors.push("the loader lists no objects".to_owned());
                return report;
            };
            if self.scanned == Some(now) {
                return report;
            }
            loaded::wait_for_loader(own_code());
            if self.pass(now, &mut report) {
                return report;
            }
        }
        report.errors.push("objects kept being loaded meanwhile: nothing was patched".to_owned());
        report
    }

    /// Puts the former value back into every entry that still holds our pointer. What could not
    /// be restored stays on the list, for another try.
    pub fn restore(&mut self) -> RestoreReport {
        let mut report = RestoreReport::default();
        let ranges = loaded::libc_ranges();
        let mut maps = Maps::default();
        let targets = &self.targets;
        let mut known = std::mem::take(&mut self.known);
        iterate_libraries(|info, is_exe| {
            let object = Loaded::new(info, is_exe);
            let Some(mut was) = known.remove(&object.base()) else { return false };
            if was.name != object.name() {
                return false; // another object in the place of one that is gone
            }
            let mut pages = OpenPages::new(&mut maps);
            was.entries.retain(|entry| {
                let target = &targets[entry.target];
                let Some(value) = object.slot(entry.addr) else { return false };
                if value != target.replacement {
                    if object.contains(value)
                        || is_real(target, &ranges, value)
                        || loaded::place_of(value, target.name) == Place::Canonical
                    {
                        return false; // bound or loaded anew: nothing of ours is left
                    }
                    report.left.push(message(&was.path, target.name, "was overwritten since"));
                    return true;
                }
                // SAFETY: `slot` found the entry in this object, which is mapped during this
                // callback; the guard is closed before it ends. The entry was put there to call
                // `target`, and the value is the one it held, or libc's function.
                match unsafe { pages.store(entry.addr, former(entry, target)) } {
                    Ok(()) => report.restored += 1,
                    Err(error) => report.errors.push(message(&was.path, target.name, &error)),
                }
                object.slot(entry.addr) == Some(target.replacement)
            });
            report.errors.extend(pages.close());
            if !was.entries.is_empty() {
                self.known.insert(object.base(), was);
            }
            false
        });
        self.scanned = None;
        report
    }

    /// How often it has walked over all objects: more than before, when some have come or gone.
    pub fn passes(&self) -> u64 {
        self.pass
    }

    /// The objects with entries of ours, by address.
    pub fn objects(&self) -> impl Iterator<Item = PatchedObject> {
        self.known
            .values()
            .filter(|known| !known.entries.is_empty())
            .map(|known| PatchedObject { path: known.path.clone(), entries: known.entries.len() })
    }

    /// One walk over all objects. False: the list is not the one of `expected`.
    fn pass(&mut self, expected: Counters, report: &mut PatchReport) -> bool {
        let ranges = loaded::libc_ranges();
        let mut maps = Maps::default();
        self.pass += 1;
        if self.scanned.is_none() {
            self.mend_own_object(&mut maps, report);
        }
        let unloaded = self.scanned.is_none_or(|(_, subs)| subs != expected.1);
        let mut current = true;
        // Set while an object is being worked on. libdd-gotter ends the walk at a panic and
        // says nothing.
        let mut working = None;
        iterate_libraries(|info, is_exe| {
            let object = Loaded::new(info, is_exe);
            current = object.counters() == expected;
            if !current {
                return true;
            }
            if self.skips(&object) {
                return false;
            }
            working = Some(self.path_of(&object));
            self.visit(&object, unloaded, &ranges, &mut maps, report);
            working = None;
            false
        });
        if let Some(path) = working {
            report.errors.push(format!("{path}: a panic ended the patching here"));
            return true;
        }
        if current {
            self.known.retain(|_, known| known.pass == self.pass);
            self.scanned = Some(expected);
        }
        current
    }

    fn skips(&self, object: &Loaded) -> bool {
        if object.is_system()
            || object.contains(own_code())
            || self.targets.iter().any(|target| object.contains(target.replacement))
            || self.targets.iter().all(|target| target.is_elsewhere(object))
            || object.is_allocator()
        {
            return true;
        }
        let path = self.path_of(object);
        let file = file_name(&path);
        let named = |prefixes: &[String]| prefixes.iter().any(|prefix| file.starts_with(prefix.as_str()));
        named(&self.exclude) || !self.only.is_empty() && !named(&self.only)
    }

    fn path_of(&self, object: &Loaded) -> String {
        match object.is_exe {
            true => self.exe_path.clone(),
            false => String::from_utf8_lossy(object.name()).into_owned(),
        }
    }

    /// Checks one object, unless it is known and holds what we put there.
    fn visit(
        &mut self,
        object: &Loaded,
        unloaded: bool,
        ranges: &[Range<usize>],
        maps: &mut Maps,
        report: &mut PatchReport,
    ) {
        let mut before = self.known.remove(&object.base());
        before.take_if(|known| known.name != object.name());
        if let Some(mut known) = before.take_if(|known| {
            // If anything was unloaded, this may be a fresh copy at the old place; our pointers
            // in it are the proof that it is not.
            let ours = |e: &Entry| object.slot(e.addr) == Some(self.targets[e.target].replacement);
            known.entries.iter().all(ours) && !(known.entries.is_empty() && unloaded)
        }) {
            known.pass = self.pass;
            self.known.insert(object.base(), known);
            return;
        }
        let path = self.path_of(object);
        // Whatever happens below, the scan leaves its undo records in `self.known`, and `pages`
        // closes itself, still inside the loader's callback.
        let mut pages = OpenPages::new(maps);
        let before = before.map_or_else(Vec::new, |known| known.entries);
        Scan { patcher: self, object, path, ranges, before, entries: Vec::new(), report }.run(&mut pages);
        report.errors.extend(pages.close());
    }

    /// Makes sure that a call of a hooked name in our own object reaches the original, see the
    /// module's text on canonical PLT stubs.
    fn mend_own_object(&mut self, maps: &mut Maps, report: &mut PatchReport) {
        iterate_libraries(|info, is_exe| {
            let object = Loaded::new(info, is_exe);
            let replaces = |t: &Target| object.contains(t.replacement);
            if is_exe || !(object.contains(own_code()) || self.targets.iter().any(replaces)) {
                return false; // an executable calls its stubs through entries we do not patch
            }
            let Some(dynamic) = object.dynamic() else { return false };
            let mut pages = OpenPages::new(maps);
            self.memo.clear();
            for reference in references(&dynamic) {
                let Some(index) = self.target_of(&dynamic, reference.symbol) else { continue };
                let target = &mut self.targets[index];
                let Some(value) = object.slot(reference.addr) else { continue };
                if value == 0 || value == target.real || object.contains(value) {
                    continue;
                }
                if loaded::place_of(value, target.name) != Place::Canonical {
                    continue;
                }
                let stored = match target.real {
                    0 => Err("libc's address is not known".to_owned()),
                    // SAFETY: `slot` found the entry in our object, mapped during this callback.
                    // `real` is the very function the stub there would have jumped to.
                    real => unsafe { pages.store(reference.addr, real) },
                };
                if let Err(error) = stored {
                    target.usable = false;
                    let what = format!("not hooked, a call of the original would loop: {error}");
                    report.errors.push(message("our own object", target.name, &what));
                }
            }
            report.errors.extend(pages.close());
            false
        });
    }

    /// The hook a symbol names. [`Self::memo`] must be of the same object.
    fn target_of(&mut self, dynamic: &DynamicInfo, symbol: u32) -> Option<usize> {
        let at = symbol as usize;
        if let Some(&known) = self.memo.get(at).filter(|&&known| known != 0) {
            return (known as usize).checked_sub(2);
        }
        let found = dynamic.sym_entry(symbol).and_then(|(sym, name)| {
            let name = name.to_bytes();
            // A variable with the name of a function is not one of ours.
            let callable = matches!(sym.st_info & 0xf, STT_NOTYPE | STT_FUNC | STT_GNU_IFUNC);
            let likely = self.first[usize::from(*name.first()?)] && callable;
            likely.then(|| self.by_name.get(name).copied())?
        });
        // A table that claims a symbol far out is broken; `sym_entry` bounds what is remembered.
        if self.memo.len() <= at && dynamic.sym_entry(symbol).is_some() {
            self.memo.resize(at + 1, 0);
        }
        if let Some(memo) = self.memo.get_mut(at) {
            *memo = found.map_or(1, |target| target as u32 + 2);
        }
        found
    }
}

const STT_NOTYPE: u8 = 0;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;

/// What to put back: the old value, unless it was in an object that is gone.
fn former(entry: &Entry, target: &Target) -> usize {
    let real = if target.real == 0 { target.ours } else { target.real };
    match entry.foreign && real != 0 && loaded::place_of(entry.old, target.name) == Place::Nowhere {
        true => real,
        false => entry.old,
    }
}

/// Without the directory.
fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn message(path: &str, name: &CStr, what: &str) -> String {
    format!("{path}: {}: {what}", name.to_string_lossy())
}

/// An address inside this object.
fn own_code() -> usize {
    own_code as fn() -> usize as usize
}
/// Stores a pointer in a table that may be read-only, and leaves its page as it was.
///
/// # Errors
/// Why it cannot be stored.
///
/// # Safety
/// `place` is a pointer-sized variable of a loaded object, and every reader of it can cope with `value`.
pub unsafe fn store(place: usize, value: usize) -> Result<(), String> {
    let mut maps = pages::Maps::default();
    let mut open = pages::OpenPages::new(&mut maps);
    // SAFETY: the caller's promise.
    unsafe { open.store(place, value)? };
    open.close().into_iter().next().map_or(Ok(()), Err)
}
