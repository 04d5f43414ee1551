//! Guards: inaccessible pages. Since Linux 6.13 they need no mappings of their own.

use crate::stack::memory::{self, errno};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// Linux 6.13: a guard within a mapping.
const MADV_GUARD_INSTALL: i32 = 102;
const MADV_GUARD_REMOVE: i32 = 103;

/// The number of mappings that are left to other code, where each guard splits one.
const RESERVED_MAPPINGS: usize = 4096;

/// From this size on a stack has a large reserve.
const LARGE: usize = 1 << 20;

/// The bytes below a C stack.
#[derive(Clone, Copy)]
pub struct Zones {
    /// The upper part, into which the stack grows when it overflows: room for the interrupted code to complete.
    pub reserve: u32,
    /// Inaccessible: below the stack, and after an overflow below the reserve. No frame steps over it: the largest known one
    /// has 262,168 bytes (LZF in phpredis).
    pub guard: u32,
}

impl Zones {
    pub fn of(size: usize, page: usize) -> Zones {
        let reserve = if size >= LARGE { 256 << 10 } else { 64 << 10 };
        let round = |bytes: usize| bytes.next_multiple_of(page) as u32;
        Zones { reserve: round(reserve), guard: round(384 << 10) }
    }

    /// Returns the number of bytes in all.
    pub fn bytes(self) -> usize {
        self.reserve as usize + self.guard as usize
    }
}

/// How a guard is implemented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// By advice to the kernel.
    Advised,
    /// By a mapping without access.
    Mapped,
}

const UNKNOWN: u8 = 0;
const ADVICE_WORKS: u8 = 1;
const NO_ADVICE: u8 = 2;
/// The kernel's support, as far as it is known.
static ADVICE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Guards a stack that begins at `low`, above its zones, in a writable mapping. `mapped` is the number of guards that are
/// mappings already.
///
/// # Errors
/// An `errno`: the kernel has no mappings left for it, or hardly any.
pub fn install(low: usize, zones: Zones, mapped: usize) -> Result<Kind, i32> {
    let guard = zones.guard as usize;
    if advise(low - guard, guard) {
        return Ok(Kind::Advised);
    }
    // The heap needs mappings as well, without which PHP cannot run.
    if mapped >= max_mapped() {
        return Err(libc::ENOMEM);
    }
    // All zones, which costs no more; and the mapping need not be split again when the stack overflows.
    if map(low - zones.bytes(), zones.bytes()) { Ok(Kind::Mapped) } else { Err(errno()) }
}

/// Guards pages, some of which may be guarded already. Returns `false` if the kernel refuses. Can be called in a signal
/// handler, after [`install`].
pub fn close(start: usize, bytes: usize) -> bool {
    advise(start, bytes) || map(start, bytes)
}

/// Opens pages, however they were guarded. Can be called in a signal handler.
pub fn open(start: usize, bytes: usize) -> bool {
    // Where it was not used, the advice has no effect or is unknown; and the mapping of an advised guard allows all
    // access anyway.
    memory::advise(start, bytes, MADV_GUARD_REMOVE);
    memory::protect(start, bytes, libc::PROT_READ | libc::PROT_WRITE)
}

fn advise(start: usize, bytes: usize) -> bool {
    let taken = ADVICE.load(Ordering::Relaxed) != NO_ADVICE && memory::advise(start, bytes, MADV_GUARD_INSTALL);
    // Some kernels (of sandboxes) accept any advice.
    let works = taken && (ADVICE.load(Ordering::Relaxed) == ADVICE_WORKS || are_closed([start, start + bytes - 8]));
    ADVICE.store(if works { ADVICE_WORKS } else { NO_ADVICE }, Ordering::Relaxed);
    works
}

fn map(start: usize, bytes: usize) -> bool {
    memory::protect(start, bytes, libc::PROT_NONE)
}

/// Returns how stacks are guarded on this kernel; to find out, installs a guard and removes it.
///
/// # Errors
/// An `errno`: it cannot be tried, or no guard can be installed.
pub fn try_out() -> Result<Kind, i32> {
    let page = memory::page_size();
    let zones = Zones { reserve: page as u32, guard: page as u32 };
    let start = memory::map(zones.bytes(), libc::MAP_NORESERVE)?;
    let kind = install(start + zones.bytes(), zones, 0);
    memory::unmap(start, zones.bytes());
    kind
}

/// Returns `true` if none of these addresses can be read. Lets the kernel read the words, in a write to a pipe, which
/// does not fault. (Valgrind itself reads what is passed to libc's function, and would fault.)
fn are_closed(words: [usize; 2]) -> bool {
    let Ok((_reader, writer)) = std::io::pipe() else { return false };
    // SAFETY: the kernel reads the word, if it can.
    let write = |word: usize| unsafe { libc::syscall(libc::SYS_write, writer.as_raw_fd(), word, 8) };
    words.into_iter().all(|word| write(word) == -1 && errno() == libc::EFAULT)
}

/// Returns how many guards may be mappings: each splits one in two.
fn max_mapped() -> usize {
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let known = MOST.load(Ordering::Relaxed);
    if known != 0 {
        return known;
    }
    let text = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap_or_default();
    let all: usize = text.trim().parse().unwrap_or(65_530);
    let most = ((all - RESERVED_MAPPINGS.min(all / 4)) / 2).max(1);
    MOST.store(most, Ordering::Relaxed);
    most
}
