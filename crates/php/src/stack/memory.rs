//! Memory, above all for stacks: mappings, and calls that change the state of their pages. Nothing alive is in the pages that are
//! changed here; and each address is that of a mapping of this module, at a multiple of the page size.

use crate::c;
use std::ffi::c_void;
use std::io::Error;
use std::ptr::null_mut;

/// Returns the kernel's page size.
pub fn page_size() -> usize {
    usize::try_from(c::sysconf(libc::_SC_PAGESIZE)).unwrap_or(4096)
}

/// Maps pages that can be read and written, at an address of the kernel's choice.
///
/// # Errors
/// The `errno` of `mmap(2)`.
pub fn map(bytes: usize, flags: i32) -> Result<usize, i32> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags);
    // SAFETY: a new mapping.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, flags, -1, 0) };
    if start == libc::MAP_FAILED { Err(errno()) } else { Ok(start as usize) }
}

/// Unmaps pages.
pub fn unmap(start: usize, bytes: usize) {
    if bytes > 0 {
        // SAFETY: as the module says.
        unsafe { libc::munmap(start as *mut c_void, bytes) };
    }
}

/// Advises the kernel about pages. Returns `true` if it has accepted the advice.
pub fn advise(start: usize, bytes: usize, advice: i32) -> bool {
    // SAFETY: as the module says.
    unsafe { libc::madvise(start as *mut c_void, bytes, advice) == 0 }
}

/// Sets the access rights of pages. Returns `true` if they were set.
pub(super) fn protect(start: usize, bytes: usize, access: i32) -> bool {
    // SAFETY: as the module says.
    unsafe { libc::mprotect(start as *mut c_void, bytes, access) == 0 }
}

/// Returns `true` if any of these pages is in memory. `known` has an entry for each.
pub(super) fn is_any_resident(start: usize, known: &mut [u8]) -> bool {
    let bytes = known.len() * page_size();
    // SAFETY: a byte for each of the pages.
    let is_known = unsafe { libc::mincore(start as *mut c_void, bytes, known.as_mut_ptr()) } == 0;
    is_known && known.iter().any(|page| page & 1 != 0)
}

/// Returns the error of the last system call.
pub(super) fn errno() -> i32 {
    Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Sets the error of the last system call.
pub(super) fn set_errno(errno: i32) {
    // SAFETY: this thread's own place, which is always valid.
    unsafe { c::__errno_location().write(errno) };
}
