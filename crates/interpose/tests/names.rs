//! Names: `getaddrinfo`, `getnameinfo`, `gethostby*`, `res_*`; and `dlopen`.

mod common;

use common::Test;
use libc::{addrinfo, c_char, c_int, hostent};
use spindle_interpose::hooks::library;
use spindle_interpose::hooks::name;
use spindle_interpose::host::{Wake, errno};
use std::ffi::CStr;

unsafe extern "C" {
    #[link_name = "gethostbyname"]
    fn libc_gethostbyname(name: *const c_char) -> *mut hostent;
    fn __h_errno_location() -> *mut c_int;
}

fn h_errno() -> c_int {
    // SAFETY: always valid.
    unsafe { *__h_errno_location() }
}

/// A cancelled call that has its answer already gives it: tried until the cancellation comes first.
fn cancelled(test: &Test, call: impl Fn() -> bool) {
    let tried = (0..10_000).find(|_| {
        test.inject(1, Wake::Cancelled);
        call()
    });
    assert!(tried.is_some(), "a cancelled call goes on");
}

type Lookup = unsafe extern "C" fn(*const c_char, *const c_char, *const addrinfo, *mut *mut addrinfo) -> c_int;

/// The code and the addresses, as bytes.
fn look_up(call: Lookup, host: &CStr, service: Option<&CStr>, hints: Option<&addrinfo>) -> (c_int, Vec<Vec<u8>>) {
    let mut list = std::ptr::null_mut();
    let mut found = Vec::new();
    // SAFETY: C strings, null or valid hints; the list is walked and freed.
    unsafe {
        let service = service.map_or(std::ptr::null(), CStr::as_ptr);
        let hints = hints.map_or(std::ptr::null(), std::ptr::from_ref);
        let code = call(host.as_ptr(), service, hints, &mut list);
        let mut each: *const addrinfo = list;
        while code == 0 && !each.is_null() {
            let one = &*each;
            let mut bytes = std::slice::from_raw_parts(one.ai_addr.cast::<u8>(), one.ai_addrlen as usize).to_vec();
            bytes.extend([one.ai_family as u8, one.ai_socktype as u8, one.ai_protocol as u8]);
            if !one.ai_canonname.is_null() {
                bytes.extend(CStr::from_ptr(one.ai_canonname).to_bytes());
            }
            found.push(bytes);
            each = one.ai_next;
        }
        if code == 0 {
            libc::freeaddrinfo(list);
        }
        (code, found)
    }
}

#[test]
fn getaddrinfo_answers_as_it_does() {
    let test = Test::new();
    // SAFETY: plain data.
    let mut hints: addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_socktype = libc::SOCK_STREAM;
    hints.ai_flags = libc::AI_CANONNAME;
    for (host, service, hints) in [
        (c"localhost", None, None),
        (c"localhost", Some(c"80"), Some(&hints)),
        (c"localhost", Some(c"no such service"), Some(&hints)),
    ] {
        let before = test.parks();
        let hooked = look_up(name::getaddrinfo, host, service, hints);
        assert_eq!(test.parks(), before + 1);
        assert_eq!(hooked, look_up(libc::getaddrinfo, host, service, hints), "{host:?} {service:?}");
    }
    let before = test.parks();
    for number in [c"127.0.0.1", c"127.1", c"0x7f000001", c"::1", c"fe80::1%1", c"1.2.3.4.5"] {
        let hooked = look_up(name::getaddrinfo, number, Some(c"80"), Some(&hints));
        assert_eq!(hooked, look_up(libc::getaddrinfo, number, Some(c"80"), Some(&hints)), "{number:?}");
    }
    assert_eq!(test.parks(), before, "numbers are not looked up");
    cancelled(&test, || look_up(name::getaddrinfo, c"localhost", None, None).0 == libc::EAI_SYSTEM);
    assert_eq!(errno(), libc::ECANCELED);
}

#[test]
fn names_in_the_file_of_hosts_are_looked_up_in_place() {
    let test = Test::new();
    test.hosts_in_place();
    // SAFETY: plain data.
    let mut hints: addrinfo = unsafe { std::mem::zeroed() };
    hints.ai_flags = libc::AI_CANONNAME;
    for hints in [None, Some(&hints)] {
        let hooked = look_up(name::getaddrinfo, c"localhost", Some(c"80"), hints);
        assert_eq!(hooked, look_up(libc::getaddrinfo, c"localhost", Some(c"80"), hints));
    }
    // SAFETY: C strings.
    unsafe {
        let hooked = contents(name::gethostbyname(c"LocalHost".as_ptr()));
        assert_eq!(hooked, contents(libc_gethostbyname(c"LocalHost".as_ptr())));
    }
    assert_eq!((test.parks(), test.gave_way()), (0, 3));
    // What asks for more than the name goes to the thread pool.
    look_up(name::getaddrinfo, c"localhost", Some(c"http"), None);
    hints.ai_flags = 0x40; // AI_IDN
    look_up(name::getaddrinfo, c"localhost", None, Some(&hints));
    hints.ai_flags = libc::AI_V4MAPPED | libc::AI_ALL;
    look_up(name::getaddrinfo, c"localhost", None, Some(&hints));
    assert_eq!(test.parks(), 3);
}

#[test]
fn getnameinfo_answers_as_it_does() {
    let test = Test::new();
    // SAFETY: plain data.
    let mut address: libc::sockaddr_in = unsafe { std::mem::zeroed() };
    address.sin_family = libc::AF_INET as libc::sa_family_t;
    address.sin_addr.s_addr = u32::from_ne_bytes([127, 0, 0, 1]);
    address.sin_port = 80u16.to_be();
    let length = size_of::<libc::sockaddr_in>() as u32;
    for (room, port_room, flags) in [(1025, 32, 0), (1025, 0, 0), (3, 32, 0), (1025, 32, libc::NI_NUMERICHOST)] {
        let ask = |call: unsafe extern "C" fn(
            *const libc::sockaddr,
            u32,
            *mut c_char,
            u32,
            *mut c_char,
            u32,
            c_int,
        ) -> c_int| {
            let (mut name, mut port) = (vec![0u8; 1025], vec![0u8; 32]);
            let at = (&raw const address).cast();
            // SAFETY: an address and buffers of at least these sizes.
            let code =
                unsafe { call(at, length, name.as_mut_ptr().cast(), room, port.as_mut_ptr().cast(), port_room, flags) };
            let text = |bytes: Vec<u8>| CStr::from_bytes_until_nul(&bytes).expect("an end").to_owned();
            if code == 0 { (code, Some((text(name), text(port)))) } else { (code, None) }
        };
        let before = test.parks();
        let hooked = ask(name::getnameinfo);
        assert_eq!(test.parks() - before, usize::from(flags == 0));
        assert_eq!(hooked, ask(libc::getnameinfo));
    }
}

type Texts = Vec<Vec<u8>>;

/// Name, aliases, addresses and family.
fn contents(entry: *const hostent) -> Option<(Vec<u8>, Texts, Texts, c_int)> {
    // SAFETY: null or a result of a look-up.
    unsafe {
        let entry = entry.as_ref()?;
        let list = |mut at: *mut *mut c_char, length: Option<usize>| {
            let mut all = Vec::new();
            while !(*at).is_null() {
                all.push(match length {
                    Some(length) => std::slice::from_raw_parts((*at).cast::<u8>(), length).to_vec(),
                    None => CStr::from_ptr(*at).to_bytes().to_vec(),
                });
                at = at.add(1);
            }
            all
        };
        let addresses = list(entry.h_addr_list, Some(entry.h_length as usize));
        Some((
            CStr::from_ptr(entry.h_name).to_bytes().to_vec(),
            list(entry.h_aliases, None),
            addresses,
            entry.h_addrtype,
        ))
    }
}

#[test]
fn gethostbyname_answers_as_it_does() {
    let test = Test::new();
    // SAFETY: C strings.
    unsafe {
        let hooked = contents(name::gethostbyname(c"localhost".as_ptr()));
        assert_eq!(test.parks(), 1);
        assert_eq!(hooked, contents(libc_gethostbyname(c"localhost".as_ptr())));
        assert!(hooked.is_some());
        assert!(contents(name::gethostbyname(c"10.1.2.3".as_ptr())).is_some());
        assert_eq!(test.parks(), 1);
        assert!(contents(name::gethostbyname2(c"localhost".as_ptr(), libc::AF_INET)).is_some());
        let address = [127u8, 0, 0, 1];
        let back = contents(name::gethostbyaddr(address.as_ptr().cast(), 4, libc::AF_INET)).expect("a name");
        assert_eq!(back.2, [address]);
        cancelled(&test, || name::gethostbyname(c"localhost".as_ptr()).is_null());
        assert_eq!((errno(), h_errno()), (libc::ECANCELED, 2));
    }
}

#[test]
fn the_re_entrant_form_fills_the_caller_s_buffer() {
    let test = Test::new();
    for skew in [0, 1, 8, 13] {
        let mut buffer = vec![0u8; 2_100];
        let range = buffer.as_ptr_range();
        // SAFETY: plain data.
        let mut entry: hostent = unsafe { std::mem::zeroed() };
        let (mut found, mut error) = (std::ptr::null_mut(), -7);
        // SAFETY: a C string and places of our own; 2,048 bytes from `skew` on.
        let code = unsafe {
            let at = buffer.as_mut_ptr().add(skew).cast();
            name::gethostbyname_r(c"localhost".as_ptr(), &mut entry, at, 2_048, &mut found, &mut error)
        };
        assert_eq!(code, 0); // and `error` is as libc leaves it, which is not always 0
        assert!(std::ptr::eq(found, &entry));
        assert!(range.contains(&entry.h_name.cast_const().cast()));
        // SAFETY: a C string.
        assert_eq!(contents(&entry), contents(unsafe { libc_gethostbyname(c"localhost".as_ptr()) }));
        // SAFETY: as above, with too little room.
        let code = unsafe {
            let at = buffer.as_mut_ptr().add(skew).cast();
            name::gethostbyname_r(c"localhost".as_ptr(), &mut entry, at, 10, &mut found, &mut error)
        };
        assert_eq!((code, error), (libc::ERANGE, -1));
        assert!(found.is_null());
    }
    assert_eq!(test.parks(), 8);
}

#[test]
fn records_are_asked_for_on_a_worker() {
    let test = Test::new();
    let mut answer = [0u8; 512];
    // A name that no server is asked for: it fails in the same way with and without a network.
    let name = c"bad..name";
    // SAFETY: a C string and a buffer of that size.
    let hooked = unsafe { name::res_query(name.as_ptr(), 1, 1, answer.as_mut_ptr(), 512) };
    assert_eq!(hooked, -1);
    assert_eq!((test.parks(), test.last_park().call), (1, "res_query"));
    cancelled(&test, || {
        let mut answer = [0u8; 512];
        // SAFETY: as above.
        let result = unsafe { name::res_search(name.as_ptr(), 1, 1, answer.as_mut_ptr(), 512) };
        assert_eq!(result, -1);
        errno() == libc::ECANCELED
    });
    assert_eq!(h_errno(), 2);
    unsafe extern "C" {
        fn __res_ninit(state: *mut u64) -> c_int;
        fn __res_nclose(state: *mut u64);
    }
    let mut state = [0u64; 128];
    // SAFETY: more room than a state needs, zeroed as it must be.
    unsafe {
        assert_eq!(__res_ninit(state.as_mut_ptr()), 0);
        let before = test.parks();
        let at = state.as_mut_ptr().cast();
        assert_eq!(name::res_nsearch(at, name.as_ptr(), 1, 1, answer.as_mut_ptr(), 512), -1);
        assert_eq!(test.parks(), before + 1, "a default state goes to a worker");
        assert_eq!(state[62] as u32 as c_int, h_errno(), "res_h_errno");
        state[0] += 1; // the time between tries
        assert_eq!(name::res_nsearch(at, name.as_ptr(), 1, 1, answer.as_mut_ptr(), 512), -1);
        assert_eq!(test.parks(), before + 1, "another does not");
        __res_nclose(state.as_mut_ptr());
    }
}

#[test]
fn a_loaded_library_is_reported() {
    let test = Test::new();
    // SAFETY: C strings; libm's constructors do nothing of note.
    unsafe {
        let library = library::dlopen(c"libm.so.6".as_ptr(), libc::RTLD_NOW);
        assert!(!library.is_null());
        assert_eq!(test.loaded(), 1);
        assert!(library::dlopen(c"/nowhere/at/all.so".as_ptr(), libc::RTLD_NOW).is_null());
        assert_eq!(test.loaded(), 1);
        assert!(spindle_interpose::host::current_host().is_some());
        libc::dlclose(library);
    }
}
