//! `select` and `pselect`.

use super::park::{Time, ask, letting_in, park_on};
use crate::hooks::signal::pending::Pending;
use crate::host::{Host, current_host, errno, fail, set_errno};
use libc::{c_int, fd_set, sigset_t, timespec, timeval};
use spindle_reactor::{Interest, Reactor};

/// The number of words of a set of the usual size.
const USUAL: usize = 1024 / 64;

/// The sets of the caller, which the kernel overwrites. (Sets larger than usual are on the heap, and leak if the call
/// is abandoned.)
struct Asked {
    usual: [[u64; USUAL]; 3],
    large: Vec<u64>,
    words: usize,
}

impl Asked {
    /// # Safety
    /// Each set is null or as large as [`inspected`] says.
    unsafe fn new(sets: [*mut fd_set; 3], count: c_int) -> Asked {
        let words = (count as usize).div_ceil(64);
        let mut asked = Asked { usual: [[0; USUAL]; 3], large: Vec::new(), words };
        if words > USUAL {
            asked.large = vec![0; 3 * words];
        }
        for (i, set) in sets.into_iter().enumerate().filter(|(_, set)| !set.is_null()) {
            // SAFETY: `words` words are read, which the kernel would read too, into as many.
            unsafe { std::ptr::copy_nonoverlapping(set.cast::<u64>(), asked.set_mut(i).as_mut_ptr(), words) };
        }
        asked
    }

    fn set(&self, i: usize) -> &[u64] {
        if self.large.is_empty() {
            &self.usual[i][..self.words]
        } else {
            &self.large[i * self.words..(i + 1) * self.words]
        }
    }

    fn set_mut(&mut self, i: usize) -> &mut [u64] {
        if self.large.is_empty() {
            &mut self.usual[i][..self.words]
        } else {
            &mut self.large[i * self.words..(i + 1) * self.words]
        }
    }

    /// Restores the caller's sets.
    ///
    /// # Safety
    /// As [`Self::new`], with the same sets.
    unsafe fn restore(&self, sets: [*mut fd_set; 3]) {
        for (i, set) in sets.into_iter().enumerate().filter(|(_, set)| !set.is_null()) {
            // SAFETY: as large as when it was read.
            unsafe { std::ptr::copy_nonoverlapping(self.set(i).as_ptr(), set.cast::<u64>(), self.words) };
        }
    }

    fn each(&self, count: c_int, then: &mut dyn FnMut(c_int, Interest)) {
        let (read, write, other) = (self.set(0), self.set(1), self.set(2));
        for word in 0..self.words {
            let mut any = read[word] | write[word] | other[word];
            while any != 0 {
                let bit = any.trailing_zeros();
                any &= any - 1;
                let fd = (word * 64) as c_int + bit as c_int;
                if fd >= count {
                    return;
                }
                let has = |set: &[u64]| (set[word] >> bit & 1) as u8;
                then(fd, Interest(has(read) | has(write) << 1 | has(other) << 2));
            }
        }
    }
}

/// Returns how many descriptors the kernel inspects for a `count`: at most as many as its table has room for. Programs
/// pass `getdtablesize()` with sets of the usual size.
fn inspected(count: c_int) -> c_int {
    let usual = (USUAL * 64) as c_int;
    if count <= usual {
        return count;
    }
    let room = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let line = status.lines().find_map(|line| line.strip_prefix("FDSize:"))?;
        line.trim().parse().ok()
    });
    count.min(room.unwrap_or(usual))
}

/// # Safety
/// The arguments are as `pselect(2)` wants them; `count` is not negative.
unsafe fn selecting(
    host: &dyn Host,
    call: &'static str,
    count: c_int,
    sets: [*mut fd_set; 3],
    time: Time,
    mask: *const sigset_t,
) -> c_int {
    if time == Time::Zero {
        // SAFETY: the caller's own arguments.
        let ready = unsafe { poll(count, sets, mask) };
        host.made_without_waiting(-1, false); // user code selects again and again, whether there is something or not
        return ready;
    }
    host.yield_if_due(); // before polling, so that the result is not outdated
    // SAFETY: null or valid by contract.
    let (mask, pending) = unsafe { letting_in(mask) };
    // SAFETY: by contract.
    let ready = unsafe { select_all(host, call, count, sets, time, mask, pending) };
    if let Some(pending) = pending {
        pending.close();
    }
    ready
}

/// # Safety
/// The arguments are as `pselect(2)` wants them.
unsafe fn poll(count: c_int, sets: [*mut fd_set; 3], mask: *const sigset_t) -> c_int {
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: by contract.
    ask(mask, || unsafe { libc::pselect(count, sets[0], sets[1], sets[2], &now, mask) })
}

/// # Safety
/// As [`selecting`].
unsafe fn select_all(
    host: &dyn Host,
    call: &'static str,
    count: c_int,
    sets: [*mut fd_set; 3],
    time: Time,
    mask: *const sigset_t,
    pending: Option<Pending>,
) -> c_int {
    let before = errno();
    let seen = inspected(count);
    // SAFETY: by contract.
    let asked = unsafe { Asked::new(sets, seen) };
    loop {
        // SAFETY: by contract.
        let ready = unsafe { poll(count, sets, mask) };
        if ready != 0 {
            return ready;
        }
        if time.over() {
            set_errno(before);
            return 0;
        }
        let wake = park_on(host, call, time, pending, |each| asked.each(seen, each));
        // SAFETY: by contract.
        unsafe { asked.restore(sets) };
        if let Some(error) = wake.error() {
            return fail::<i8>(error).into();
        }
    }
}

/// `select(2)`; the remaining time is written back.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn select(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *mut timeval,
) -> c_int {
    // SAFETY: null or the caller's own timeval.
    let time = unsafe { timeout.as_ref() }.map_or(Some(Time::Forever), |t| {
        let (seconds, us) = (t.tv_sec, t.tv_usec);
        let carried = if us < 0 { None } else { seconds.checked_add(us / 1_000_000) };
        carried.and_then(|seconds| Time::from_spec(&timespec { tv_sec: seconds, tv_nsec: us % 1_000_000 * 1_000 }))
    });
    let (Some(host), Some(time), 0..) = (current_host(), time, count) else {
        // SAFETY: the caller's own arguments.
        return unsafe { libc::select(count, read, write, other, timeout) };
    };
    // SAFETY: the caller's own arguments.
    let ready = unsafe { selecting(host, "select", count, [read, write, other], time, std::ptr::null()) };
    if let Some(deadline) = time.deadline() {
        let rest = deadline.saturating_sub(Reactor::now());
        // SAFETY: there is a deadline, so it is not null; no reference to it is held.
        unsafe {
            (*timeout).tv_sec = (rest / 1_000_000_000) as _;
            (*timeout).tv_usec = (rest % 1_000_000_000 / 1_000) as _;
        }
    }
    ready
}

/// `pselect(2)`.
///
/// # Safety
/// As the original.
pub unsafe extern "C" fn pselect(
    count: c_int,
    read: *mut fd_set,
    write: *mut fd_set,
    other: *mut fd_set,
    timeout: *const timespec,
    mask: *const sigset_t,
) -> c_int {
    // SAFETY: null or the caller's own timespec.
    let time = unsafe { Time::from_pointer(timeout) };
    match (current_host(), time, count) {
        // SAFETY: the caller's own arguments.
        (Some(host), Some(time), 0..) => unsafe { selecting(host, "pselect", count, [read, write, other], time, mask) },
        // SAFETY: as above.
        _ => unsafe { libc::pselect(count, read, write, other, timeout, mask) },
    }
}
