//! DNS records: `res_query`, `res_search` and the `res_n*` forms, in the thread pool with the resolver state of the
//! worker.
#![allow(clippy::missing_safety_doc, reason = "the contract of each function is that of libc's")]

use super::lookup::{Lookup, h_errno, look_up, set_h_errno};
use crate::host::current_host;
use libc::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_ushort, c_void};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicUsize, Ordering};

/// `TRY_AGAIN` of `<netdb.h>`.
const TRY_AGAIN: c_int = 2;
const NO_RECOVERY: c_int = 3;

/// glibc's `struct __res_state` (`<resolv.h>`; the same in all versions).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ResState {
    retrans: c_int,
    retry: c_int,
    options: c_ulong,
    nscount: c_int,
    nsaddr_list: [libc::sockaddr_in; 3],
    id: c_ushort,
    dnsrch: [*const c_char; 7],
    defdname: [c_char; 256],
    pfcode: c_ulong,
    bits: [c_uint; 1],
    sort_list: [[u8; 8]; 10],
    unused: [*const c_void; 2],
    res_h_errno: c_int,
    internal: [c_int; 2],
    nsmap: [c_ushort; 4],
    nssocks: [c_int; 3],
    nscount6: [c_ushort; 2],
    /// The servers that have no address in `nsaddr_list`.
    nsaddrs: [*const libc::sockaddr_in6; 3],
    reserved: [c_uint; 2],
}

// As the C compiler lays it out on the processors that are supported.
const _: () = assert!(
    std::mem::offset_of!(ResState, res_h_errno) == 496
        && std::mem::offset_of!(ResState, nsaddrs) == 536
        && size_of::<ResState>() == 568
        && size_of::<c_long>() == 8
);

type Simple = unsafe extern "C" fn(*const c_char, c_int, c_int, *mut c_uchar, c_int) -> c_int;
type WithState = unsafe extern "C" fn(*mut ResState, *const c_char, c_int, c_int, *mut c_uchar, c_int) -> c_int;

type Init = unsafe extern "C" fn(*mut ResState) -> c_int;
type Close = unsafe extern "C" fn(*mut ResState);

/// A function of the resolver: in libc since glibc 2.34, before that in `libresolv` with other names.
struct Original {
    names: [&'static CStr; 2],
    address: AtomicUsize,
}

static QUERY: Original = Original { names: [c"res_query", c"__res_query"], address: AtomicUsize::new(0) };
static SEARCH: Original = Original { names: [c"res_search", c"__res_search"], address: AtomicUsize::new(0) };
static NQUERY: Original = Original { names: [c"res_nquery", c"__res_nquery"], address: AtomicUsize::new(0) };
static NSEARCH: Original = Original { names: [c"res_nsearch", c"__res_nsearch"], address: AtomicUsize::new(0) };
static NINIT: Original = Original { names: [c"res_ninit", c"__res_ninit"], address: AtomicUsize::new(0) };
static NCLOSE: Original = Original { names: [c"res_nclose", c"__res_nclose"], address: AtomicUsize::new(0) };

impl Original {
    /// Returns its address, or 0 if it does not exist; then the hook cannot have been called.
    fn find(&self) -> usize {
        let known = self.address.load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        // SAFETY: C strings; the library, if it is there, is loaded already and stays.
        let address = unsafe {
            let library = libc::dlopen(c"libresolv.so.2".as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            [libc::RTLD_DEFAULT, library]
                .into_iter()
                .flat_map(|from| self.names.map(|name| libc::dlsym(from, name.as_ptr()).addr()))
                .find(|&address| address != 0)
                .unwrap_or(0)
        };
        self.address.store(address, Ordering::Relaxed);
        address
    }

    fn simple(&self) -> Option<Simple> {
        // SAFETY: `QUERY` and `SEARCH` name functions of this type; null is `None`.
        unsafe { std::mem::transmute::<usize, Option<Simple>>(self.find()) }
    }

    fn with_state(&self) -> Option<WithState> {
        // SAFETY: `NQUERY` and `NSEARCH` name functions of this type; null is `None`.
        unsafe { std::mem::transmute::<usize, Option<WithState>>(self.find()) }
    }
}

/// Calls `with` with a state as the configuration makes it now. Returns `None` if there is none.
fn with_fresh_state<R>(with: impl FnOnce(&ResState) -> R) -> Option<R> {
    // SAFETY: the names are of functions of these types; null is `None`.
    let init = unsafe { std::mem::transmute::<usize, Option<Init>>(NINIT.find()) }?;
    // SAFETY: as above.
    let close = unsafe { std::mem::transmute::<usize, Option<Close>>(NCLOSE.find()) }?;
    // SAFETY: numbers and pointers.
    let mut fresh: ResState = unsafe { std::mem::zeroed() };
    // SAFETY: a whole state, zeroed as the call wants it.
    if unsafe { init(&raw mut fresh) } != 0 {
        return None;
    }
    let result = with(&fresh);
    // SAFETY: initialised above.
    unsafe { close(&raw mut fresh) };
    Some(result)
}

/// The address of a server: what of it is an address, as glibc leaves the padding as it was.
#[derive(PartialEq, Eq)]
enum Server {
    V4(u16, u32),
    V6(u16, u32, [u8; 16]),
    None,
}

/// # Safety
/// The state is initialised.
unsafe fn server(state: &ResState, index: usize) -> Server {
    let v4 = state.nsaddr_list[index];
    if c_int::from(v4.sin_family) == libc::AF_INET {
        return Server::V4(v4.sin_port, v4.sin_addr.s_addr);
    }
    // SAFETY: null, or an address that belongs to the state.
    match unsafe { state.nsaddrs[index].as_ref() } {
        Some(v6) => Server::V6(v6.sin6_port, v6.sin6_scope_id, v6.sin6_addr.s6_addr),
        None => Server::None,
    }
}

/// # Safety
/// The state is initialised.
unsafe fn domains(state: &ResState) -> impl Iterator<Item = &CStr> {
    // SAFETY: before the first null, strings that belong to the state.
    state.dnsrch.iter().take_while(|domain| !domain.is_null()).map(|&domain| unsafe { CStr::from_ptr(domain) })
}

fn refused() -> c_int {
    set_h_errno(NO_RECOVERY);
    -1
}

/// The arguments of a call, except the state.
#[derive(Clone, Copy)]
struct Ask {
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    room: c_int,
}

/// Makes the call in the thread pool. Returns `None` if it is to be made in place.
fn on_worker(call: &'static str, original: &'static Original, ask: Ask) -> Option<c_int> {
    let host = current_host().filter(|_| !ask.name.is_null() && (0..=1 << 20).contains(&ask.room))?;
    let function = original.simple()?;
    // SAFETY: the caller passes a C string.
    let name: CString = unsafe { CStr::from_ptr(ask.name) }.to_owned();
    let (class, kind, room) = (ask.class, ask.kind, ask.room);
    let job = move || {
        let mut answer = vec![0u8; room as usize];
        // SAFETY: a C string and a buffer of our own.
        let length = unsafe { function(name.as_ptr(), class, kind, answer.as_mut_ptr(), room) };
        (length, answer)
    };
    match look_up(host, call, job, |_| ()) {
        Lookup::Done((length, answer)) => {
            // A longer answer was truncated, and is reported with its full length.
            let copied = (length.max(0) as usize).min(answer.len());
            // SAFETY: the caller's buffer has `room` bytes, the length of `answer`.
            unsafe { std::ptr::copy_nonoverlapping(answer.as_ptr(), ask.answer, copied) };
            Some(length)
        }
        Lookup::Cancelled => {
            set_h_errno(TRY_AGAIN);
            Some(-1)
        }
        Lookup::InPlace => None,
    }
}

fn simple(call: &'static str, original: &'static Original, ask: Ask) -> c_int {
    on_worker(call, original, ask).unwrap_or_else(|| match original.simple() {
        // SAFETY: the caller's own arguments.
        Some(function) => unsafe { function(ask.name, ask.class, ask.kind, ask.answer, ask.room) },
        None => refused(),
    })
}

/// Returns `true` if the state is as the configuration makes it, so that a worker's, which follows the configuration,
/// asks the same servers the same way. (This thread's own state is of the time when it was last used.)
fn is_default(state: *mut ResState) -> bool {
    // SAFETY: the caller's state.
    let asked = unsafe { &*state };
    with_fresh_state(|fresh| {
        let numbers = |state: &ResState| (state.retrans, state.retry, state.options, state.nscount, state.bits);
        let servers = usize::try_from(asked.nscount).map_or(0, |count| count.min(3));
        // SAFETY: both are initialised, and have these servers.
        let same = |index| unsafe { server(asked, index) == server(fresh, index) };
        // SAFETY: as above.
        numbers(asked) == numbers(fresh) && (0..servers).all(same) && unsafe { domains(asked).eq(domains(fresh)) }
    })
    .unwrap_or(false)
}

fn with_state(
    call: &'static str,
    original: &'static Original,
    same: &'static Original,
    state: *mut ResState,
    ask: Ask,
) -> c_int {
    let default = current_host().is_some() && !state.is_null() && is_default(state);
    let done = if default { on_worker(call, same, ask) } else { None };
    match (done, original.with_state()) {
        (Some(length), _) => {
            // SAFETY: the caller's state.
            unsafe { (*state).res_h_errno = h_errno() };
            length
        }
        // SAFETY: the caller's own arguments.
        (None, Some(function)) => unsafe { function(state, ask.name, ask.class, ask.kind, ask.answer, ask.room) },
        (None, None) => refused(),
    }
}

/// `res_query(3)`.
pub unsafe extern "C" fn res_query(
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    room: c_int,
) -> c_int {
    simple("res_query", &QUERY, Ask { name, class, kind, answer, room })
}

/// `res_search(3)`.
pub unsafe extern "C" fn res_search(
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    room: c_int,
) -> c_int {
    simple("res_search", &SEARCH, Ask { name, class, kind, answer, room })
}

/// `res_nquery(3)`.
pub unsafe extern "C" fn res_nquery(
    state: *mut ResState,
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    room: c_int,
) -> c_int {
    with_state("res_nquery", &NQUERY, &QUERY, state, Ask { name, class, kind, answer, room })
}

/// `res_nsearch(3)`.
pub unsafe extern "C" fn res_nsearch(
    state: *mut ResState,
    name: *const c_char,
    class: c_int,
    kind: c_int,
    answer: *mut c_uchar,
    room: c_int,
) -> c_int {
    with_state("res_nsearch", &NSEARCH, &SEARCH, state, Ask { name, class, kind, answer, room })
}
