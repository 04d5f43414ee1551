//! Writing a pointer into a page that may be read-only, and leaving the page as it was.
//!
//! `libdd-gotter` has a guard for this (`PageProtGuard`). Ours differs where a PHP process with
//! threads needs it: a page that is writable already is not touched by `mprotect`; a page whose
//! protection is unknown, or executable, is refused instead of guessed; the pointer is stored
//! atomically, since other threads may be calling through it; a failure to put the protection
//! back is reported; and the guard lives for one object only, so that the pages are closed again
//! while the loader still guarantees that the object is mapped.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use libdd_gotter::{MapEntry, read_proc_maps};

/// `/proc/self/maps`, read when first asked and then kept for one pass.
#[derive(Default)]
pub(super) struct Maps {
    entries: Option<Vec<MapEntry>>,
}

impl Maps {
    fn prot(&mut self, addr: usize) -> Option<i32> {
        let entries = self.entries.get_or_insert_with(read_proc_maps);
        // The kernel lists mappings in ascending order.
        let at = entries.partition_point(|m| m.end <= addr);
        entries.get(at).filter(|m| m.start <= addr).map(|m| m.prot)
    }
}

/// Pages made writable for one object. Dropping it puts every protection back.
pub(super) struct OpenPages<'a> {
    maps: &'a mut Maps,
    page_size: usize,
    opened: Vec<(usize, i32)>,
}

impl<'a> OpenPages<'a> {
    pub(super) fn new(maps: &'a mut Maps) -> Self {
        // SAFETY: sysconf with a valid name only returns a number.
        let raw = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        Self { maps, page_size: usize::try_from(raw).unwrap_or(4096), opened: Vec::new() }
    }

    /// Stores `value` at `addr`, making the page writable until [`Self::close`] or drop.
    ///
    /// # Safety
    /// `addr` is a pointer-sized variable inside an object that stays mapped until `self` is
    /// gone, and every reader of it can cope with `value`.
    pub(super) unsafe fn store(&mut self, addr: usize, value: usize) -> Result<(), String> {
        if !addr.is_multiple_of(align_of::<usize>()) {
            return Err(format!("the entry at {addr:#x} is not aligned"));
        }
        let page = addr & !(self.page_size - 1);
        if !self.opened.iter().any(|&(open, _)| open == page) {
            let Some(prot) = self.maps.prot(page) else {
                return Err(format!("/proc/self/maps does not tell the protection of {page:#x}"));
            };
            if prot & libc::PROT_WRITE == 0 {
                if prot & libc::PROT_EXEC != 0 {
                    return Err(format!("the entry at {addr:#x} is in executable memory"));
                }
                self.protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
                self.opened.push((page, prot));
            }
        }
        // SAFETY: aligned (checked), mapped and pointer-sized (the caller's promise), writable
        // (just seen or made so). Everyone else reads it as one aligned word: the CPU's indirect
        // call, or a C load. An atomic store is the one kind of write that cannot be torn.
        unsafe { AtomicUsize::from_ptr(std::ptr::with_exposed_provenance_mut(addr)) }.store(value, Ordering::Release);
        Ok(())
    }

    /// Puts the protections back and tells what failed.
    pub(super) fn close(mut self) -> Vec<String> {
        self.reprotect()
    }

    fn reprotect(&mut self) -> Vec<String> {
        let opened = std::mem::take(&mut self.opened);
        opened.into_iter().filter_map(|(page, prot)| self.protect(page, prot).err()).collect()
    }

    fn protect(&self, page: usize, prot: i32) -> Result<(), String> {
        let at = std::ptr::with_exposed_provenance_mut(page);
        // SAFETY: `page` is a whole page of an object that is mapped while `self` lives (promise
        // made to `store`). It only ever goes from its own protection to read-write and back; it
        // is never executable (refused in `store`), so no thread loses code under its feet.
        if unsafe { libc::mprotect(at, self.page_size, prot) } == 0 {
            return Ok(());
        }
        Err(format!("mprotect of {page:#x} to {prot}: {}", io::Error::last_os_error()))
    }
}

impl Drop for OpenPages<'_> {
    fn drop(&mut self) {
        // Only reached with open pages when unwinding or returning early: there is no one to report to.
        let _ = self.reprotect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Page(usize);

    impl Page {
        fn new(prot: i32) -> Self {
            // SAFETY: a fresh anonymous mapping, wherever the kernel likes.
            let at =
                unsafe { libc::mmap(std::ptr::null_mut(), 4096, prot, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
            assert_ne!(at, libc::MAP_FAILED);
            Self(at.expose_provenance())
        }

        fn prot(&self) -> Option<i32> {
            Maps::default().prot(self.0)
        }

        fn read(&self) -> usize {
            // SAFETY: our own page, readable in every test, read while nothing writes.
            unsafe { std::ptr::with_exposed_provenance::<usize>(self.0).read() }
        }
    }

    impl Drop for Page {
        fn drop(&mut self) {
            // SAFETY: our own mapping, and no reference into it is left.
            unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(self.0), 4096) };
        }
    }

    #[test]
    fn a_read_only_page_is_written_and_closed() {
        let page = Page::new(libc::PROT_READ);
        let mut maps = Maps::default();
        let mut open = OpenPages::new(&mut maps);
        // SAFETY: a page of our own that outlives the guard.
        unsafe { open.store(page.0, 7) }.unwrap();
        assert_eq!(page.prot(), Some(libc::PROT_READ | libc::PROT_WRITE));
        assert_eq!(open.close(), Vec::<String>::new());
        assert_eq!((page.read(), page.prot()), (7, Some(libc::PROT_READ)));
    }

    #[test]
    fn unwinding_closes_the_page() {
        let page = Page::new(libc::PROT_READ);
        let unwound = std::panic::catch_unwind(|| {
            let mut maps = Maps::default();
            let mut open = OpenPages::new(&mut maps);
            // SAFETY: a page of our own that outlives the guard.
            unsafe { open.store(page.0, 7) }.unwrap();
            assert_eq!(page.prot(), Some(libc::PROT_READ | libc::PROT_WRITE));
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(unwound.is_err());
        assert_eq!((page.read(), page.prot()), (7, Some(libc::PROT_READ)));
    }

    #[test]
    fn executable_unmapped_and_unaligned_places_are_refused() {
        let page = Page::new(libc::PROT_READ | libc::PROT_EXEC);
        let mut maps = Maps::default();
        let mut open = OpenPages::new(&mut maps);
        for (addr, want) in [(page.0, "executable"), (8, "does not tell"), (page.0 + 4, "aligned")] {
            // SAFETY: refused before anything is written, which is what the test is about.
            let error = unsafe { open.store(addr, 7) }.unwrap_err();
            assert!(error.contains(want), "{error}");
        }
        drop(open);
        assert_eq!(page.prot(), Some(libc::PROT_READ | libc::PROT_EXEC));
        assert_eq!(page.read(), 0);
    }

    #[test]
    fn a_writable_page_keeps_its_protection_while_open() {
        // Dropping PROT_EXEC of a page for a moment would kill a thread that runs code in it.
        let page = Page::new(libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC);
        let mut maps = Maps::default();
        let mut open = OpenPages::new(&mut maps);
        // SAFETY: a page of our own that outlives the guard.
        unsafe { open.store(page.0, 7) }.unwrap();
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        assert_eq!((page.read(), page.prot()), (7, Some(all)));
    }
}
