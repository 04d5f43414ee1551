//! The patcher: which entries it takes over, and that it puts them back. Each test runs in a
//! process of its own; the fixtures are C, compiled on the spot.

mod patch_support;

use std::path::Path;

use patch_support::*;
use spindle_interpose::patch::{Hook, Mark, Patcher};

/// Both calls of `patch_calls.c` reach the hooks, or neither does.
fn assert_hooked(library: &Library, hooked: bool) {
    let (ppid, uid) = if hooked { (PPID, UID) } else { (0, 0) };
    assert_eq!(library.call(c"call_getppid"), getppid() + ppid);
    assert_eq!(library.call(c"call_getuid"), getuid() + uid);
}

#[test]
fn full_relro_is_patched_protected_again_and_restored() {
    isolated("full_relro_is_patched_protected_again_and_restored", |fixtures| {
        let library = Library::open(&fixtures.full_relro("full.so"));
        let entry = entries(&library.path, c"getppid")[0];
        let before = protections(&library.path);
        assert!(before.iter().any(|line| line.ends_with("r--p")), "no RELRO: {before:?}");
        assert_hooked(&library, false);

        let mut patcher = patcher();
        let report = patcher.patch();
        assert_eq!((&report.errors, &report.left), (&vec![], &vec![]));
        assert_hooked(&library, true);
        assert_eq!(patched(&patcher, &library.path), 2);
        assert_eq!(protections(&library.path), before);

        let report = patcher.restore();
        assert!(report.may_unload(), "{report:?}");
        assert!(report.restored >= 2);
        assert_hooked(&library, false);
        assert_eq!(peek(entry), real(c"getppid"));
        assert_eq!(protections(&library.path), before);
        assert_eq!(patcher.objects().count(), 0);
        assert_eq!(patcher.restore().restored, 0);

        assert!(patcher.patch().entries >= 2, "patches again after a restore");
        assert_hooked(&library, true);
    });
}

#[test]
fn entries_without_plt_are_patched() {
    isolated("entries_without_plt_are_patched", |fixtures| {
        let flags = ["-fno-plt", "-Wl,-z,relro,-z,now"];
        let library = Library::open(&fixtures.shared("patch_calls.c", "noplt.so", &flags));
        patcher().patch();
        assert_hooked(&library, true);
    });
}

#[test]
fn lazy_entries_are_patched_bound_or_not() {
    isolated("lazy_entries_are_patched_bound_or_not", |fixtures| {
        let flags = ["-fplt", "-Wl,-z,relro,-z,lazy"];
        let library = Library::open(&fixtures.shared("patch_calls.c", "lazy.so", &flags));
        let bound = entries(&library.path, c"getppid")[0];
        let unbound = entries(&library.path, c"getuid")[0];
        library.call(c"call_getppid");
        assert_eq!(peek(bound), real(c"getppid"));
        let stub = peek(unbound);
        assert_ne!(stub, real(c"getuid"), "the fixture is not lazy");

        let mut patcher = patcher();
        patcher.patch();
        assert_hooked(&library, true);
        assert!(patcher.restore().may_unload());
        assert_eq!((peek(bound), peek(unbound)), (real(c"getppid"), stub));
        assert_hooked(&library, false);
        assert_eq!(peek(unbound), real(c"getuid"), "still binds when called");
    });
}

#[test]
fn tables_of_pointers_are_patched() {
    isolated("tables_of_pointers_are_patched", |fixtures| {
        let now = "-Wl,-z,relro,-z,now";
        let constant = ["-DTABLE_CONST", now];
        let constant = Library::open(&fixtures.shared("patch_table.c", "constant.so", &constant));
        let mutable = Library::open(&fixtures.shared("patch_table.c", "mutable.so", &[now]));
        let before = (protections(&constant.path), protections(&mutable.path));
        let inner = real(c"getppid") + 4;
        // SAFETY: geteuid has no requirements.
        let euid = unsafe { libc::geteuid() } as i32;

        let mut patcher = patcher();
        let report = patcher.patch();
        assert_eq!((&report.errors, &report.left), (&vec![], &vec![]));
        for library in [&constant, &mutable] {
            assert_eq!(patched(&patcher, &library.path), 2);
            assert_eq!(library.call_with(c"call_table", 0), getppid() + PPID);
            assert_eq!(library.call_with(c"call_table", 1), getuid() + UID);
            assert_eq!(library.call_with(c"call_table", 2), euid, "not hooked");
            assert_eq!(peek(library.symbol(c"inner")), inner, "a pointer into the function");
        }
        assert!(patcher.restore().may_unload());
        assert_eq!(constant.call_with(c"call_table", 0), getppid());
        assert_eq!(mutable.call_with(c"call_table", 1), getuid());
        assert_eq!((protections(&constant.path), protections(&mutable.path)), before);
    });
}

#[test]
fn a_pointer_the_program_has_changed_is_left() {
    isolated("a_pointer_the_program_has_changed_is_left", |fixtures| {
        let library = Library::open(&fixtures.shared("patch_table.c", "table.so", &[]));
        let changed = entries(&library.path, c"getppid")[0];
        poke(changed, foreign_address());

        let mut patcher = patcher();
        let report = patcher.patch();
        assert_eq!(report.left.len(), 1, "{report:?}");
        assert!(report.left[0].contains("table.so: getppid"), "{report:?}");
        assert_eq!(library.call_with(c"call_table", 0), foreign());
        assert_eq!(library.call_with(c"call_table", 1), getuid() + UID);
        assert!(patcher.restore().may_unload());
        assert_eq!(peek(changed), foreign_address());

        // Changed while it was ours, the new function may call us: a later pass does not forget.
        poke(changed, real(c"getppid"));
        patcher.patch();
        assert_eq!(library.call_with(c"call_table", 0), getppid() + PPID);
        poke(changed, foreign_address());
        let _late = Library::open(&fixtures.full_relro("late.so"));
        assert_eq!(patcher.patch().left.len(), 1);
        assert_eq!(patcher.restore().left.len(), 1);
        assert_eq!(peek(changed), foreign_address());
    });
}

#[test]
fn late_objects_are_found_and_early_ones_not_touched_again() {
    isolated("late_objects_are_found_and_early_ones_not_touched_again", |fixtures| {
        let early = Library::open(&fixtures.full_relro("early.so"));
        let mut patcher = patcher();
        assert!(patcher.patch().entries >= 2);
        let again = patcher.patch();
        assert_eq!((again.entries, again.objects), (0, 0));

        let late = Library::open(&fixtures.full_relro("late.so"));
        assert_hooked(&late, false);
        let report = patcher.patch();
        assert_eq!((report.entries, report.objects), (2, 1), "{report:?}");
        assert_hooked(&late, true);

        assert!(patcher.restore().may_unload());
        // A second record of an entry would have put our own pointer back.
        for library in [&early, &late] {
            assert_hooked(library, false);
            assert_eq!(peek(entries(&library.path, c"getppid")[0]), real(c"getppid"));
        }
    });
}

#[test]
fn exclusions_hold_for_the_file_name() {
    isolated("exclusions_hold_for_the_file_name", |fixtures| {
        std::fs::create_dir(fixtures.path("libfirst")).unwrap();
        let first = Library::open(&fixtures.full_relro("libfirst.so.4"));
        let second = Library::open(&fixtures.full_relro("libfirst/libsecond.so"));
        let exclude = vec![String::new(), "libfirst".to_owned()];
        let mut patcher = Patcher::new(&hooks(), exclude);
        patcher.patch();
        assert_hooked(&first, false);
        assert_hooked(&second, true);
        assert_eq!(patched(&patcher, &first.path), 0);
    });
}

#[test]
fn it_can_be_told_to_patch_some_objects_only() {
    isolated("it_can_be_told_to_patch_some_objects_only", |fixtures| {
        let first = Library::open(&fixtures.full_relro("libfirst.so.4"));
        let second = Library::open(&fixtures.full_relro("libsecond.so"));
        let mut patcher = Patcher::new(&hooks(), Vec::new()).only(vec!["libsecond".to_owned()]);
        patcher.patch();
        assert_hooked(&first, false);
        assert_hooked(&second, true);
    });
}

#[test]
fn one_hook_can_be_for_some_objects_only() {
    isolated("one_hook_can_be_for_some_objects_only", |fixtures| {
        let first = Library::open(&fixtures.full_relro("libfirst.so.4"));
        let second = Library::open(&fixtures.full_relro("libsecond.so"));
        let table = Library::open(&fixtures.shared("patch_table.c", "table.so", &[]));
        let place = Mark::Contains(second.symbol(c"call_getuid"));
        let mut patcher = Patcher::new(&hooks(), Vec::new()).only_in(c"getuid", &[Mark::RefersTo(c"geteuid"), place]);
        patcher.patch();
        assert_hooked(&second, true);
        assert_eq!(first.call(c"call_getppid"), getppid() + PPID);
        assert_eq!(first.call(c"call_getuid"), getuid());
        assert_eq!(table.call_with(c"call_table", 1), getuid() + UID, "it refers to geteuid");
    });
}

#[test]
fn objects_that_no_hook_is_for_are_not_looked_at() {
    isolated("objects_that_no_hook_is_for_are_not_looked_at", |fixtures| {
        let first = Library::open(&fixtures.full_relro("libfirst.so.4"));
        let second = Library::open(&fixtures.full_relro("libsecond.so"));
        let place = [Mark::Contains(second.symbol(c"call_getuid"))];
        let mut patcher =
            Patcher::new(&hooks(), Vec::new()).only_in(c"getuid", &place).only_in(c"getppid", &[Mark::Contains(0)]);
        patcher.patch();
        assert_eq!(first.call(c"call_getuid"), getuid());
        assert_eq!(second.call(c"call_getuid"), getuid() + UID);
        assert_eq!(second.call(c"call_getppid"), getppid());
        assert!(patcher.restore().may_unload());
        assert_eq!(second.call(c"call_getuid"), getuid());
    });
}

#[test]
fn our_own_object_is_never_patched() {
    isolated("our_own_object_is_never_patched", |fixtures| {
        let library = Library::open(&fixtures.full_relro("calls.so"));
        let own = entries(Path::new(""), c"getppid");
        assert!(!own.is_empty(), "the test program has no entry to look at");
        let before: Vec<usize> = own.iter().map(|&addr| peek(addr)).collect();
        let parent = getppid();

        let mut patcher = patcher();
        patcher.patch();
        assert_hooked(&library, true);
        assert_eq!(getppid(), parent);
        assert_eq!(own.iter().map(|&addr| peek(addr)).collect::<Vec<_>>(), before);
    });
}

unsafe extern "C" {
    safe fn __tls_get_addr(index: usize) -> usize;
}

extern "C" fn same_tls_get_addr(index: usize) -> usize {
    __tls_get_addr(index)
}

#[test]
fn libc_is_never_patched() {
    isolated("libc_is_never_patched", |_| {
        // A function of the loader that libc reaches through an entry.
        let libc = path_of("libc.so.6");
        let before: Vec<usize> = entries(&libc, c"__tls_get_addr").into_iter().map(peek).collect();
        assert!(!before.is_empty(), "this libc has no entry to look at");
        let replacement = same_tls_get_addr as extern "C" fn(usize) -> usize as usize;
        let hook = Hook { name: c"__tls_get_addr", replacement };
        let mut patcher = Patcher::new(&[hook], Vec::new());
        patcher.patch();
        let after: Vec<usize> = entries(&libc, c"__tls_get_addr").into_iter().map(peek).collect();
        assert_eq!(before, after);
        assert_eq!(patched(&patcher, &libc), 0);
    });
}

#[test]
fn allocators_are_never_patched() {
    isolated("allocators_are_never_patched", |fixtures| {
        let library = Library::open(&fixtures.shared("patch_calls.c", "allocator.so", &["-DALLOCATOR"]));
        let patcher = &mut patcher();
        patcher.patch();
        assert_hooked(&library, false);
        assert_eq!(patched(patcher, &library.path), 0);
    });
}

#[test]
fn entries_put_back_by_somebody_are_patched_again() {
    isolated("entries_put_back_by_somebody_are_patched_again", |fixtures| {
        let library = Library::open(&fixtures.shared("patch_table.c", "table.so", &[]));
        let mut patcher = patcher();
        patcher.patch();
        let entry = entries(&library.path, c"getppid")[0];
        poke(entry, real(c"getppid")); // as a thread does that was just binding it

        let _late = Library::open(&fixtures.full_relro("late.so"));
        let report = patcher.patch();
        assert_eq!((report.entries, report.left.len()), (3, 0), "{report:?}");
        assert_eq!(library.call_with(c"call_table", 0), getppid() + PPID);
        assert_eq!(patched(&patcher, &library.path), 2);
        assert!(patcher.restore().may_unload());
        assert_eq!(library.call_with(c"call_table", 0), getppid());
        assert_eq!(library.call_with(c"call_table", 1), getuid());
    });
}

#[test]
fn restore_leaves_foreign_pointers() {
    isolated("restore_leaves_foreign_pointers", |fixtures| {
        let library = Library::open(&fixtures.full_relro("calls.so"));
        let taken = entries(&library.path, c"getppid")[0];
        let mut patcher = patcher();
        patcher.patch();
        let ours = peek(taken);
        poke(taken, foreign_address());

        // A pass does not take it back either: their function may call ours as its original.
        let late = Library::open(&fixtures.full_relro("late.so"));
        assert_eq!(patcher.patch().entries, 2);
        assert_eq!(peek(taken), foreign_address());
        assert_hooked(&late, true);

        let report = patcher.restore();
        assert!(!report.may_unload());
        assert_eq!((report.left.len(), report.errors.len()), (1, 0), "{report:?}");
        assert!(report.left[0].contains("calls.so: getppid"), "{report:?}");
        assert_eq!(library.call(c"call_getppid"), foreign());
        assert_eq!(library.call(c"call_getuid"), getuid());

        // They step back to what they found, our pointer: now it can be restored.
        poke(taken, ours);
        let report = patcher.restore();
        assert!(report.may_unload(), "{report:?}");
        assert_eq!(report.restored, 1);
        assert_eq!(peek(taken), real(c"getppid"));
    });
}

#[test]
fn an_entry_hooked_by_another_tool_is_patched_and_given_back() {
    isolated("an_entry_hooked_by_another_tool_is_patched_and_given_back", |fixtures| {
        let library = Library::open(&fixtures.full_relro("calls.so"));
        let entry = entries(&library.path, c"getppid")[0];
        poke(entry, foreign_address());
        let mut patcher = patcher();
        patcher.patch();
        assert_hooked(&library, true);
        assert!(patcher.restore().may_unload());
        assert_eq!(peek(entry), foreign_address());
    });
}

#[test]
fn a_tool_that_is_gone_gets_nothing_back() {
    isolated("a_tool_that_is_gone_gets_nothing_back", |fixtures| {
        let library = Library::open(&fixtures.full_relro("calls.so"));
        let tool = Library::open(&fixtures.full_relro("tool.so"));
        let entry = entries(&library.path, c"getppid")[0];
        poke(entry, tool.symbol(c"fixture_pad"));
        let mut patcher = patcher();
        patcher.patch();
        assert_hooked(&library, true);
        tool.close();
        assert!(patcher.restore().may_unload());
        assert_eq!(peek(entry), real(c"getppid"));
    });
}

#[test]
fn namesakes_and_absent_functions_are_left() {
    isolated("namesakes_and_absent_functions_are_left", |fixtures| {
        let flags = ["-fno-builtin", "-Wno-builtin-declaration-mismatch"];
        let namesake = fixtures.shared("patch_namesake.c", "libnamesake.so", &flags);
        let user = [namesake.to_str().unwrap(), "-Wl,-rpath,$ORIGIN"];
        let user = fixtures.shared("patch_namesake_user.c", "user.so", &user);
        let weak = fixtures.shared("patch_weak.c", "weak.so", &["-Wl,-z,now"]);
        let deep = libc::RTLD_NOW | libc::RTLD_DEEPBIND;
        let user = Library::open_with(&user, deep);
        let namesake = Library::open_with(&namesake, deep);
        let weak = Library::open(&weak);
        assert_eq!(user.call(c"call_namesake"), 402, "the fixture reaches libc");
        assert_eq!(namesake.call(c"call_own"), 402, "the fixture reaches libc");

        let mut patcher = patcher();
        let report = patcher.patch();
        assert_eq!(user.call(c"call_namesake"), 402);
        assert_eq!(namesake.call(c"call_own"), 402);
        assert_eq!(weak.call(c"has_absent"), 0);
        assert_eq!(report.left.len(), 1, "{report:?}");
        assert!(report.left[0].contains("user.so: getppid"), "{report:?}");
    });
}

/// Two objects of the same size in turn, until the second is at the first one's address.
fn at_the_same_place(first: &Path, second: &Path, between: impl Fn()) -> (Library, usize) {
    for _ in 0..20 {
        let library = Library::open(first);
        let base = base_of(first).unwrap();
        between();
        assert_hooked(&library, true);
        library.close();
        let library = Library::open(second);
        if base_of(second) == Some(base) {
            return (library, base);
        }
        library.close();
    }
    panic!("the loader never used the place again");
}

#[test]
fn another_object_at_the_place_of_one_that_is_gone() {
    isolated("another_object_at_the_place_of_one_that_is_gone", |fixtures| {
        let first = fixtures.full_relro("one.so");
        let flags = ["-DPAD=1", "-Wl,-z,relro,-z,now"];
        let second = fixtures.shared("patch_calls.c", "two.so", &flags);
        let patcher = std::cell::RefCell::new(patcher());
        let (library, _) = at_the_same_place(&first, &second, || {
            patcher.borrow_mut().patch();
        });
        let mut patcher = patcher.into_inner();
        assert_hooked(&library, false);
        // Another tool's hook, set while the first object's record names the same address.
        let [ppid, uid] = [c"getppid", c"getuid"].map(|name| entries(&second, name)[0]);
        poke(ppid, foreign_address());

        // Undo records of the first object have no say in the second: not in a pass, ...
        patcher.patch();
        assert_hooked(&library, true);
        assert_eq!((patched(&patcher, &first), patched(&patcher, &second)), (0, 2));
        assert!(patcher.restore().may_unload());
        assert_eq!((peek(ppid), peek(uid)), (foreign_address(), real(c"getuid")));
        library.close();

        // ... and not in a restore without one.
        let patcher = std::cell::RefCell::new(patcher);
        let (_library, _) = at_the_same_place(&first, &second, || {
            patcher.borrow_mut().patch();
        });
        let [ppid, uid] = [c"getppid", c"getuid"].map(|name| entries(&second, name)[0]);
        poke(ppid, foreign_address());
        let report = patcher.into_inner().restore();
        assert!(report.may_unload(), "{report:?}");
        assert_eq!((peek(ppid), peek(uid)), (foreign_address(), real(c"getuid")));
    });
}

#[test]
fn the_same_object_loaded_anew_at_the_same_place() {
    isolated("the_same_object_loaded_anew_at_the_same_place", |fixtures| {
        let path = fixtures.full_relro("again.so");
        let patcher = std::cell::RefCell::new(patcher());
        let (library, _) = at_the_same_place(&path, &path, || {
            patcher.borrow_mut().patch();
        });
        let mut patcher = patcher.into_inner();
        assert_hooked(&library, false);
        let report = patcher.patch();
        assert_eq!((report.entries, report.objects), (2, 1), "{report:?}");
        assert_hooked(&library, true);
        assert_eq!(patched(&patcher, &path), 2);
        assert!(patcher.restore().may_unload());
        assert_hooked(&library, false);
    });
}

#[test]
fn objects_that_are_gone_are_forgotten() {
    isolated("objects_that_are_gone_are_forgotten", |fixtures| {
        let library = Library::open(&fixtures.full_relro("gone.so"));
        let path = library.path.clone();
        let mut patcher = patcher();
        patcher.patch();
        assert_eq!(patched(&patcher, &path), 2);
        library.close();
        patcher.patch();
        assert_eq!(patched(&patcher, &path), 0);
        assert!(patcher.restore().may_unload());
    });
}

#[test]
fn a_page_that_cannot_be_opened_is_reported_and_the_rest_patched() {
    isolated("a_page_that_cannot_be_opened_is_reported_and_the_rest_patched", |fixtures| {
        let sealed = Library::open(&fixtures.full_relro("a_sealed.so"));
        let open = Library::open(&fixtures.full_relro("b_open.so"));
        let page = entries(&sealed.path, c"getppid")[0] & !4095;
        const SYS_MSEAL: libc::c_long = 462;
        // SAFETY: seals a page of the fixture, which no one wants to change but the patcher.
        if unsafe { libc::syscall(SYS_MSEAL, page, 4096, 0) } != 0 {
            let error = std::io::Error::last_os_error();
            // Linux before 6.10, or a container that forbids it: nothing to test with.
            println!("skipped, mseal: {error}");
            assert!(matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)), "{error}");
            return;
        }
        let before = (protections(&sealed.path), protections(&open.path));
        let mut patcher = patcher();
        let report = patcher.patch();
        assert_eq!(report.errors.len(), 2, "{report:?}");
        assert!(report.errors[0].contains("a_sealed.so: get"), "{report:?}");
        assert!(report.errors[0].contains("mprotect"), "{report:?}");
        assert_hooked(&sealed, false);
        assert_hooked(&open, true);
        assert_eq!(patched(&patcher, &sealed.path), 0);
        assert_eq!((protections(&sealed.path), protections(&open.path)), before);

        // Sealed once it is patched: reported, kept on the list, not to be unloaded from.
        let page = entries(&open.path, c"getppid")[0] & !4095;
        // SAFETY: as above.
        assert_eq!(unsafe { libc::syscall(SYS_MSEAL, page, 4096, 0) }, 0);
        let report = patcher.restore();
        assert_eq!((report.errors.len(), report.may_unload()), (2, false), "{report:?}");
        assert_eq!(patched(&patcher, &open.path), 2);
        assert_hooked(&open, true);
    });
}

#[test]
fn an_object_that_is_just_being_relocated_is_waited_for() {
    isolated("an_object_that_is_just_being_relocated_is_waited_for", |fixtures| {
        let flags = ["-fno-stack-protector", "-Wl,-z,relro,-z,now"];
        let path = fixtures.shared("patch_slow.c", "slow.so", &flags);
        let mut patcher = patcher();
        std::thread::scope(|scope| {
            let loading = scope.spawn(|| {
                let library = Library::open_with(&path, libc::RTLD_NOW);
                (library.call(c"call_getppid"), library.call(c"call_slow"))
            });
            while base_of(&path).is_none() {
                std::thread::yield_now();
            }
            assert!(!loading.is_finished());
            let report = patcher.patch();
            assert_eq!(report.errors, Vec::<String>::new());
            assert_eq!(patched(&patcher, &path), 1);
            loading.join().unwrap();
        });
        let library = Library::open(&path);
        assert_eq!(library.call(c"call_getppid"), getppid() + PPID);
        assert!(protections(&path).iter().any(|line| line.ends_with("r--p")));
        assert!(patcher.restore().may_unload());
    });
}
