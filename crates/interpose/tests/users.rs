//! Users and groups against libc's own.

mod common;

use common::{Test, outcome};
use libc::{c_char, group, passwd};
use spindle_interpose::hooks::name as users;
use spindle_interpose::host::{Wake, errno, set_errno};
use std::ffi::{CStr, CString};
use std::ptr::null_mut;

unsafe fn text(text: *const c_char) -> CString {
    // SAFETY: a C string.
    unsafe { CStr::from_ptr(text) }.to_owned()
}

unsafe fn user(found: *const passwd) -> Option<String> {
    // SAFETY: null or a user with all its texts.
    unsafe {
        let p = found.as_ref()?;
        let texts = [p.pw_name, p.pw_passwd, p.pw_gecos, p.pw_dir, p.pw_shell].map(|t| text(t));
        Some(format!("{texts:?} {} {}", p.pw_uid, p.pw_gid))
    }
}

unsafe fn members(found: *const group) -> Option<String> {
    // SAFETY: null or a group with its list.
    unsafe {
        let g = found.as_ref()?;
        let mut list = Vec::new();
        let mut each = g.gr_mem;
        while !(*each).is_null() {
            list.push(text(*each));
            each = each.add(1);
        }
        Some(format!("{:?} {:?} {} {list:?}", text(g.gr_name), text(g.gr_passwd), g.gr_gid))
    }
}

fn with_errno(call: impl FnOnce() -> Option<String>) -> (Option<String>, i32) {
    set_errno(5);
    (call(), errno())
}

#[test]
fn the_same_is_found() {
    let test = Test::new();
    let (names, numbers) = ([c"root", c"daemon", c"no such one", c""], [0, 1, 4_000_000_000]);
    // SAFETY: C strings and numbers; what is found is read before the next call.
    unsafe {
        macro_rules! alike {
            ($what:expr, $ours:expr, $libcs:expr) => {
                let ours = with_errno(|| $ours);
                assert_eq!(ours, with_errno(|| $libcs), "{:?}", $what);
            };
        }
        for name in names {
            let at = name.as_ptr();
            alike!(name, user(users::getpwnam(at)), user(libc::getpwnam(at)));
            alike!(name, members(users::getgrnam(at)), members(libc::getgrnam(at)));
        }
        for number in numbers {
            alike!(number, user(users::getpwuid(number)), user(libc::getpwuid(number)));
            alike!(number, members(users::getgrgid(number)), members(libc::getgrgid(number)));
        }
    }
    assert_eq!(test.parks(), 14);
    let outside = test.outside(|| {
        // SAFETY: a number.
        unsafe { user(users::getpwuid(0)) }
    });
    assert!(outside.is_some() && test.parks() == 14);
}

#[test]
fn in_the_callers_memory() {
    let test = Test::new();
    let _ = &test;
    // Every group that has members: lists within the buffer.
    let mut groups = vec![c"root".to_owned()];
    // SAFETY: one thread goes through them.
    unsafe {
        libc::setgrent();
        while let Some(one) = libc::getgrent().as_ref() {
            groups.push(text(one.gr_name));
        }
        libc::endgrent();
    }
    for skew in [0, 1, 8] {
        for name in &groups {
            for room in [16, 64, 4096] {
                let mut memory = [vec![0 as c_char; room + 16], vec![0 as c_char; room + 16]];
                // SAFETY: places of our own.
                let told = [true, false].map(|hooked| unsafe {
                    let mut to = std::mem::zeroed::<group>();
                    let mut found = null_mut();
                    let buffer = memory[usize::from(hooked)].as_mut_ptr().add(skew);
                    let find = if hooked { users::getgrnam_r } else { libc::getgrnam_r };
                    let code = find(name.as_ptr(), &mut to, buffer, room, &mut found);
                    assert!(found.is_null() || found == &raw mut to);
                    (code, members(found))
                });
                assert_eq!(told[0], told[1], "{name:?} in {room}");
            }
        }
        let mut memory = vec![0 as c_char; 4096 + 16];
        // SAFETY: places of our own.
        unsafe {
            let mut to = std::mem::zeroed::<passwd>();
            let mut found = null_mut();
            let buffer = memory.as_mut_ptr().add(skew);
            assert_eq!(users::getpwnam_r(c"root".as_ptr(), &mut to, buffer, 4096, &mut found), 0);
            assert_eq!(user(found), user(libc::getpwnam(c"root".as_ptr())));
            let inside = (buffer.addr()..buffer.addr() + 4096).contains(&to.pw_dir.addr());
            assert!(inside, "the texts are in the caller's memory");
            assert_eq!(users::getpwuid_r(0, &mut to, buffer, 4, &mut found), libc::ERANGE);
            assert!(found.is_null());
            assert_eq!(users::getgrgid_r(4_000_000_000, null_mut(), buffer, 4096, &mut null_mut()), 0);
        }
    }
}

#[test]
fn groups_of_a_user() {
    let test = Test::new();
    for user in [c"root", c"daemon", c"no such one"] {
        for room in [0, 1, 50] {
            // SAFETY: lists of our own with that much room.
            let told = [true, false].map(|hooked| unsafe {
                let (mut list, mut count) = ([77; 50], room);
                let ask = if hooked { users::getgrouplist } else { libc::getgrouplist };
                let result = ask(user.as_ptr(), 12, list.as_mut_ptr(), &mut count);
                (result, count, list)
            });
            assert_eq!(told[0], told[1], "{user:?} {room}");
        }
    }
    assert_eq!(test.parks(), 9);
    // SAFETY: numbers and places of our own.
    unsafe {
        if libc::geteuid() == 0 {
            let own = || {
                let mut list = [0; 100];
                let count = libc::getgroups(100, list.as_mut_ptr());
                let mut list = list[..count as usize].to_vec();
                list.sort_unstable();
                list
            };
            let before = own();
            assert_eq!(outcome(users::initgroups(c"daemon".as_ptr(), 12)), (0, 0));
            let hooked = own();
            assert_eq!(libc::initgroups(c"daemon".as_ptr(), 12), 0);
            assert_eq!(hooked, own());
            assert_eq!(libc::setgroups(before.len(), before.as_ptr()), 0);
        }
    }
}

#[test]
fn cancelled_it_says_so() {
    let test = Test::new();
    // A look-up that is done when its caller is cancelled has its result: another time, then.
    let says_so = |call: &mut dyn FnMut() -> bool| {
        (0..200).any(|_| {
            set_errno(0);
            test.inject(1, Wake::Cancelled);
            call()
        })
    };
    let is_cancelled = || errno() == libc::ECANCELED;
    // SAFETY: C strings and places of our own.
    unsafe {
        assert!(says_so(&mut || users::getpwnam(c"root".as_ptr()).is_null() && is_cancelled()));
        let (mut memory, mut found) = ([0 as c_char; 1024], null_mut());
        let mut to = std::mem::zeroed::<group>();
        assert!(says_so(&mut || {
            let code = users::getgrnam_r(c"root".as_ptr(), &mut to, memory.as_mut_ptr(), 1024, &mut found);
            (code, found.is_null()) == (libc::ECANCELED, true)
        }));
        let mut count = 0;
        assert!(says_so(&mut || {
            count = 0;
            users::getgrouplist(c"root".as_ptr(), 0, null_mut(), &mut count) == -1 && is_cancelled()
        }));
        assert_eq!(count, 0);
        assert!(says_so(&mut || users::initgroups(c"root".as_ptr(), 0) == -1 && is_cancelled()));
    }
}
