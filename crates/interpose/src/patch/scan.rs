//! One object: its relocations, what their entries hold, and the verdict on each.

use std::ops::Range;

use libdd_gotter::{DynamicInfo, elf64_r_sym, elf64_r_type, is_got_pointer_reloc};

use super::loaded::{self, Loaded, Place};
use super::pages::OpenPages;
use super::{Entry, Known, Mark, PatchReport, Patcher, Target, message};

/// A pointer-sized relocation against a symbol.
pub(super) struct Reference {
    pub(super) addr: usize,
    pub(super) symbol: u32,
    /// An absolute relocation somewhere in the data, not an entry of the GOT.
    pub(super) data: bool,
}

pub(super) fn references(dynamic: &DynamicInfo) -> impl Iterator<Item = Reference> {
    const R_X86_64_64: u32 = 1;
    const R_AARCH64_ABS64: u32 = 257;
    let base = dynamic.base_address();
    dynamic.relas().iter().chain(dynamic.jmprels()).filter_map(move |rela| {
        let kind = elf64_r_type(rela.r_info);
        let data = matches!(kind, R_X86_64_64 | R_AARCH64_ABS64);
        // With an addend it points into the function, not at it.
        if !is_got_pointer_reloc(kind) || (data && rela.r_addend != 0) {
            return None;
        }
        let addr = base.wrapping_add(rela.r_offset as usize);
        Some(Reference { addr, symbol: elf64_r_sym(rela.r_info), data })
    })
}

/// One object being looked through.
pub(super) struct Scan<'a, 'i> {
    pub(super) patcher: &'a mut Patcher,
    pub(super) object: &'a Loaded<'i>,
    pub(super) path: String,
    pub(super) ranges: &'a [Range<usize>],
    /// Undo records of an earlier pass that are not confirmed yet.
    pub(super) before: Vec<Entry>,
    /// Undo records that hold now.
    pub(super) entries: Vec<Entry>,
    pub(super) report: &'a mut PatchReport,
}

/// What to do with an entry.
enum Verdict {
    /// `theirs`: where another tool's function that the entry holds is.
    Patch {
        theirs: Option<Place>,
    },
    Leave,
    Tell(&'static str),
}

impl Scan<'_, '_> {
    /// Patches what is to be patched.
    pub(super) fn run(&mut self, pages: &mut OpenPages) {
        let Some(dynamic) = self.object.dynamic() else { return };
        self.patcher.memo.clear();
        let mut changed = 0;
        for reference in references(&dynamic) {
            let Some(index) = self.patcher.target_of(&dynamic, reference.symbol) else { continue };
            let target = &self.patcher.targets[index];
            if !target.usable || !self.is_for_this_object(target, &dynamic) {
                continue;
            }
            let Reference { addr, .. } = reference;
            let Some(old) = self.object.slot(addr) else {
                let what = format!("a relocation points out of the object's data, at {addr:#x}");
                self.report.errors.push(message(&self.path, target.name, &what));
                continue;
            };
            let record = self.before.iter().position(|entry| entry.addr == addr);
            let record = record.map(|at| self.before.swap_remove(at));
            if old == target.replacement {
                self.entries.extend(record);
                continue;
            }
            let defined = dynamic.sym_entry(reference.symbol).is_some_and(|(s, _)| s.st_shndx != 0);
            match self.judge(target, reference.data, defined, old) {
                Verdict::Leave => {}
                // A tool that has hooked over us has our pointer as its original: leave it, but keep the
                // record, by which a restore knows that calls may still come.
                Verdict::Tell(why) => {
                    self.report.left.push(message(&self.path, target.name, why));
                    self.entries.extend(record);
                }
                Verdict::Patch { theirs: Some(_) } if record.is_some() => self.entries.extend(record),
                Verdict::Patch { theirs } => {
                    // SAFETY: `slot` found the entry in this object, which is mapped during the
                    // callback we are in, and `pages` is closed before that ends. The loader put
                    // a function of this name there, so every call through it has the
                    // signature that `Hook::replacement` promises to have.
                    match unsafe { pages.store(addr, target.replacement) } {
                        Ok(()) => {
                            let foreign = theirs == Some(Place::InObject);
                            self.entries.push(Entry { addr, target: index, old, foreign });
                            changed += 1;
                        }
                        Err(e) => self.report.errors.push(message(&self.path, target.name, &e)),
                    }
                }
            }
        }
        self.before.clear(); // none of them is an entry of ours any more
        self.report.entries += changed;
        self.report.objects += usize::from(changed > 0);
    }

    /// Returns `true` if the hook is for all objects, or this one has a mark of those that it is for.
    fn is_for_this_object(&self, target: &Target, dynamic: &DynamicInfo) -> bool {
        let has = |mark: &Mark| match *mark {
            Mark::Contains(address) => self.object.contains(address),
            Mark::RefersTo(name) => references(dynamic)
                .filter_map(|reference| dynamic.sym_entry(reference.symbol))
                .any(|(_, symbol)| symbol.to_bytes() == name.to_bytes()),
        };
        target.only_in.as_ref().is_none_or(|marks| marks.iter().any(has))
    }

    /// The table of the module's text.
    fn judge(&self, target: &Target, data: bool, defined: bool, value: usize) -> Verdict {
        if value == 0 {
            return Verdict::Leave;
        }
        if self.object.contains(value) {
            // Our own object is never here, so a stub cannot be one that we ourselves go through.
            return if defined { Verdict::Leave } else { Verdict::Patch { theirs: None } };
        }
        if is_real(target, self.ranges, value) {
            return Verdict::Patch { theirs: None };
        }
        match loaded::place_of(value, target.name) {
            Place::Canonical => Verdict::Patch { theirs: None },
            Place::Namesake => Verdict::Tell("leads to another object's function of that name"),
            Place::InObject | Place::Nowhere if data => {
                Verdict::Tell("is a pointer that was changed since it was loaded")
            }
            place => Verdict::Patch { theirs: Some(place) },
        }
    }
}

impl Drop for Scan<'_, '_> {
    /// Keeps the undo records, also when a panic has cut the scan short.
    fn drop(&mut self) {
        let mut entries = std::mem::take(&mut self.entries);
        entries.append(&mut self.before);
        let name = self.object.name().to_vec();
        let path = std::mem::take(&mut self.path);
        let pass = self.patcher.pass;
        self.patcher.known.insert(self.object.base(), Known { name, path, entries, pass });
    }
}

/// Whether `value` is what a call of the name is meant to reach.
pub(super) fn is_real(target: &Target, libc: &[Range<usize>], value: usize) -> bool {
    value == target.ours || value == target.real || libc.iter().any(|r| r.contains(&value))
}
