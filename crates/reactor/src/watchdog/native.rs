//! The C code in which a thread of this process is stuck: the system call, and the library that made it.
//!
//! Everything is read through the kernel (`process_vm_readv` on this process), which returns an error where a plain load
//! would fault. If the thread runs, what is read may be torn.

use std::ffi::CStr;
use std::ops::Range;

/// How many bytes of a stack are searched for the library.
const DEPTH: usize = 256 * 1024;

/// Libraries that only forward a call.
const FORWARDING: &[&str] =
    &["libc.so", "libc-2.", "libpthread", "librt.so", "librt-", "ld-linux", "ld-2.", "linux-vdso", "libm.so", "libm-"];

/// The system call in which a thread waits, and who made it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Native {
    /// The name of the system call.
    pub call: Option<String>,
    /// The file name of the library or program that made the call.
    pub library: Option<String>,
}

impl Native {
    /// Inspects a thread of this process. One that computes is in no system call, and its stack is not read.
    pub fn of(thread: libc::pid_t) -> Native {
        // The descriptor is open for some microseconds, at a number that user code does not use.
        let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/syscall")).unwrap_or_default();
        match waits(&text) {
            Some((number, sp)) => Native { call: Some(name(number)), library: library(sp) },
            None => Native::default(),
        }
    }
}

/// The number of the system call and the stack pointer in the text of `/proc/PID/syscall`.
fn waits(text: &str) -> Option<(i64, usize)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let [number, .., sp, _pc] = words[..] else { return None };
    let sp = usize::from_str_radix(sp.strip_prefix("0x")?, 16).ok()?;
    Some((number.parse().ok().filter(|number| *number >= 0)?, sp))
}

fn name(number: i64) -> String {
    /// Calls that newer processors have in other forms only.
    #[cfg(target_arch = "x86_64")]
    const OLD: &[(i64, &str)] = &[
        (libc::SYS_poll, "poll"),
        (libc::SYS_select, "select"),
        (libc::SYS_epoll_wait, "epoll_wait"),
        (libc::SYS_pause, "pause"),
        (libc::SYS_open, "open"),
        (libc::SYS_stat, "stat"),
        (libc::SYS_unlink, "unlink"),
        (libc::SYS_rename, "rename"),
        (libc::SYS_mkdir, "mkdir"),
        (libc::SYS_rmdir, "rmdir"),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    const OLD: &[(i64, &str)] = &[];
    let known = [
        (libc::SYS_futex, "futex"),
        (libc::SYS_read, "read"),
        (libc::SYS_readv, "readv"),
        (libc::SYS_pread64, "pread64"),
        (libc::SYS_preadv, "preadv"),
        (libc::SYS_write, "write"),
        (libc::SYS_writev, "writev"),
        (libc::SYS_pwrite64, "pwrite64"),
        (libc::SYS_pwritev, "pwritev"),
        (libc::SYS_ppoll, "ppoll"),
        (libc::SYS_pselect6, "pselect6"),
        (libc::SYS_epoll_pwait, "epoll_pwait"),
        (libc::SYS_nanosleep, "nanosleep"),
        (libc::SYS_clock_nanosleep, "clock_nanosleep"),
        (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
        (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
        (libc::SYS_recvfrom, "recvfrom"),
        (libc::SYS_recvmsg, "recvmsg"),
        (libc::SYS_sendto, "sendto"),
        (libc::SYS_sendmsg, "sendmsg"),
        (libc::SYS_accept, "accept"),
        (libc::SYS_accept4, "accept4"),
        (libc::SYS_connect, "connect"),
        (libc::SYS_flock, "flock"),
        (libc::SYS_fcntl, "fcntl"),
        (libc::SYS_ioctl, "ioctl"),
        (libc::SYS_fsync, "fsync"),
        (libc::SYS_fdatasync, "fdatasync"),
        (libc::SYS_msync, "msync"),
        (libc::SYS_sync, "sync"),
        (libc::SYS_openat, "openat"),
        (libc::SYS_close, "close"),
        (libc::SYS_newfstatat, "newfstatat"),
        (libc::SYS_statx, "statx"),
        (libc::SYS_getdents64, "getdents64"),
        (libc::SYS_unlinkat, "unlinkat"),
        (libc::SYS_renameat, "renameat"),
        (libc::SYS_renameat2, "renameat2"),
        (libc::SYS_mkdirat, "mkdirat"),
        (libc::SYS_wait4, "wait4"),
        (libc::SYS_waitid, "waitid"),
        (libc::SYS_msgrcv, "msgrcv"),
        (libc::SYS_msgsnd, "msgsnd"),
        (libc::SYS_semop, "semop"),
        (libc::SYS_semtimedop, "semtimedop"),
        (libc::SYS_mq_timedreceive, "mq_timedreceive"),
        (libc::SYS_mq_timedsend, "mq_timedsend"),
        (libc::SYS_io_getevents, "io_getevents"),
        (libc::SYS_io_uring_enter, "io_uring_enter"),
    ];
    let found = known.iter().chain(OLD).find(|(known, _)| *known == number);
    found.map_or_else(|| format!("number {number}"), |(_, name)| (*name).to_owned())
}

/// Reads up to `length` bytes at `address` of this process, as many as are readable.
pub fn bytes(address: usize, length: usize) -> Vec<u8> {
    let mut buffer = vec![0u8; length];
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: length };
    let remote = libc::iovec { iov_base: std::ptr::with_exposed_provenance_mut(address), iov_len: length };
    // SAFETY: the kernel writes into `buffer`, which is `length` long; the remote side is only an address to it, and one
    // that cannot be read is an error.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
    buffer.truncate(usize::try_from(read).unwrap_or(0));
    buffer
}

/// Reads the word at `address` of this process.
pub fn word(address: usize) -> Option<usize> {
    bytes(address, size_of::<usize>()).try_into().ok().map(usize::from_ne_bytes)
}

/// The code of a loaded object.
struct Code {
    range: Range<usize>,
    name: String,
    is_program: bool,
}

/// Returns the library whose function called libc: that of the innermost return address on the stack which lies neither in
/// libc nor in this extension.
fn library(sp: usize) -> Option<String> {
    const CHUNK: usize = 4096;
    let code = code();
    let mut at = sp.next_multiple_of(size_of::<usize>());
    while at < sp + DEPTH {
        // To the end of the page: memory is readable by pages.
        let length = CHUNK - at % CHUNK;
        let stack = bytes(at, length);
        for word in stack.chunks_exact(size_of::<usize>()) {
            let address = unsigned(usize::from_ne_bytes(word.try_into().unwrap_or_default()));
            let found = code.iter().find(|code| code.range.contains(&address));
            if let Some(found) = found.filter(|_| follows_a_call(address)) {
                return Some(found.name.clone());
            }
        }
        if stack.len() < length {
            return None;
        }
        at += length;
    }
    None
}

/// Returns a return address without the signature that code on aarch64 may have put into its upper bits.
fn unsigned(address: usize) -> usize {
    if cfg!(target_arch = "aarch64") { address & ((1 << 48) - 1) } else { address }
}

/// Returns `true` if there is a call instruction before this address. A stack holds other pointers to code too.
#[cfg(target_arch = "x86_64")]
fn follows_a_call(address: usize) -> bool {
    let before = bytes(address.wrapping_sub(7), 7);
    // call rel32; or call r/m (FF /2) with its operand in 0, 1, 4 or 5 further bytes.
    before.len() == 7
        && (before[2] == 0xe8
            || [2, 3, 6, 7].into_iter().any(|length| before[7 - length] == 0xff && before[8 - length] >> 3 & 7 == 2))
}

/// Returns `true` if there is a call instruction before this address. A stack holds other pointers to code too.
#[cfg(target_arch = "aarch64")]
fn follows_a_call(address: usize) -> bool {
    let before = bytes(address.wrapping_sub(4), 4);
    address % 4 == 0 && before.try_into().map(u32::from_le_bytes).is_ok_and(is_call)
}

/// Returns `true` for `bl`, `blr`, and the forms of `blr` that authenticate the address.
#[cfg(target_arch = "aarch64")]
fn is_call(instruction: u32) -> bool {
    instruction >> 26 == 0b10_0101 || instruction & 0xfeff_f000 == 0xd63f_0000
}

/// The code of all objects from which a call may have come.
fn code() -> Vec<Code> {
    let mut all: Vec<Code> = Vec::new();
    // SAFETY: the callback gets the pointer to `all`, which outlives the call. The loader locks its list for
    // the call, with a lock that is not held while constructors run or a thread waits.
    unsafe { libc::dl_iterate_phdr(Some(add_code), (&raw mut all).cast()) };
    let here = waits as *const () as usize;
    all.retain(|code| {
        let ours = code.range.contains(&here) && !code.is_program; // a test is a program with all this in it
        !ours && !FORWARDING.iter().any(|name| code.name.starts_with(name))
    });
    all
}

unsafe extern "C" fn add_code(info: *mut libc::dl_phdr_info, _: usize, all: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the loader's description of an object, valid during the callback, and the list that `code` passes.
    unsafe {
        let (info, all) = (&*info, &mut *all.cast::<Vec<Code>>());
        let path = if info.dlpi_name.is_null() { c"" } else { CStr::from_ptr(info.dlpi_name) };
        let path = path.to_string_lossy();
        let (name, is_program) = match path.rsplit('/').next().unwrap_or_default() {
            "" => (program(), true),
            name => (name.to_owned(), false),
        };
        for header in 0..usize::from(info.dlpi_phnum) {
            let header = &*info.dlpi_phdr.add(header);
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                let start = (info.dlpi_addr + header.p_vaddr) as usize;
                all.push(Code { range: start..start + header.p_memsz as usize, name: name.clone(), is_program });
            }
        }
    }
    0
}

fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map_or_else(|| "the program".to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says() {
        let line = "202 0x7ffd 0x80 0x0 0x0 0x0 0x0 0x7ffd86f25e98 0x7f3a0f1d21a3\n";
        assert_eq!(waits(line), Some((202, 0x7ffd_86f2_5e98)));
        assert_eq!(waits("running\n"), None);
        assert_eq!(waits("-1 0x7ffd86f25e98 0x7f3a0f1d21a3\n"), None);
        assert_eq!(waits(""), None);
    }

    #[test]
    fn memory_that_is_not_there_is_no_fault() {
        let here = [1u8, 2, 3];
        assert_eq!(bytes(here.as_ptr() as usize, 3), here);
        assert_eq!(bytes(16, 8), []);
        assert_eq!(word(16), None);
    }

    #[test]
    #[cfg(target_arch = "aarch64")]
    fn calls_are_recognized() {
        for (word, expected) in [
            (0x9400_0001_u32, true), // bl
            (0x97ff_fff0, true),     // bl, backwards
            (0xd63f_0100, true),     // blr x8
            (0xd73f_0911, true),     // blraa x8, x17
            (0xd61f_0100, false),    // br x8
            (0x1400_0001, false),    // b
            (0xd65f_03c0, false),    // ret
        ] {
            assert_eq!(is_call(word), expected, "{word:x}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_return_address_follows_a_call() {
        let code = |tail: &[u8]| {
            let mut all = vec![0x90; 16];
            all[16 - tail.len()..].copy_from_slice(tail);
            all
        };
        for (tail, is_call) in [
            (&[0xe8u8, 1, 2, 3, 4][..], true),
            (&[0xff, 0xd0], true),                         // call rax
            (&[0x41, 0xff, 0xd4], true),                   // call r12
            (&[0xff, 0x50, 0x18], true),                   // call [rax+0x18]
            (&[0xff, 0x15, 1, 2, 3, 4], true),             // call [rip+…]
            (&[0xff, 0x94, 0x24, 0x10, 0x20, 0, 0], true), // call [rsp+…]
            (&[0xff, 0xe0], false),                        // jmp rax
            (&[0x48, 0x89, 0xe5, 0x48, 0x89, 0xe5], false),
        ] {
            let code = code(tail);
            assert_eq!(follows_a_call(code.as_ptr() as usize + 16), is_call, "{tail:x?}");
        }
    }
}
