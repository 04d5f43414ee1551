//! `spindle transpile --output-dir`: what is written, and what never is.

mod common;

use common::{Folder, SPINDLE, assert_outcome, outcome};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

const SOURCE: &str = "<?php await $c;\n";
const PLAIN: &str = "<?php \\Async\\await($c);\n";

#[test]
fn paths_are_the_same_in_it() {
    let folder = Folder::new("tree");
    folder.write("a.php", SOURCE);
    folder.write("src/deep/er/b.php", SOURCE);
    folder.write("src/plain.php", b"<?php // \xff\r\n".as_slice());
    folder.write("not-named.php", SOURCE);
    let files = ["a.php", ".//src/./deep/er/b.php", "src/plain.php"];
    let outcome = folder.spindle([&["transpile", "--output-dir", "build/php"], &files[..]].concat());
    assert_outcome(&outcome, 0, "", "");
    let written: Vec<_> = folder.list().into_iter().filter(|name| name.starts_with("build/php/")).collect();
    assert_eq!(written[..3], ["build/php/", "build/php/a.php", "build/php/src/"]);
    assert_eq!(written[3..5], ["build/php/src/deep/", "build/php/src/deep/er/"]);
    assert_eq!(written[5..], ["build/php/src/deep/er/b.php", "build/php/src/plain.php"]);
    assert_eq!(folder.read("build/php/a.php"), PLAIN);
    assert_eq!(folder.read("build/php/src/deep/er/b.php"), PLAIN);
    assert_eq!(fs::read(folder.path("build/php/src/plain.php")).unwrap(), b"<?php // \xff\r\n");
    assert_eq!(folder.read("a.php"), SOURCE);
}

#[test]
fn it_may_lie_anywhere() {
    let (folder, other) = (Folder::new("from"), Folder::new("to"));
    folder.write("a.php", SOURCE);
    fs::create_dir(other.path("real")).unwrap();
    symlink("real", other.path("link")).unwrap();
    for dir in [other.path("new"), other.path("link")] {
        let outcome = outcome(folder.command(SPINDLE).args(["transpile", "a.php", "--output-dir"]).arg(dir));
        assert_outcome(&outcome, 0, "", "");
    }
    assert_eq!(other.list(), ["link", "new/", "new/a.php", "real/", "real/a.php"]);
}

#[test]
fn what_was_there_is_replaced() {
    let folder = Folder::new("replaced");
    folder.write("a.php", SOURCE);
    folder.write("outside.php", "left alone");
    fs::create_dir(folder.path("out")).unwrap();
    for old in ["file", "link"] {
        let _ = fs::remove_file(folder.path("out/a.php"));
        match old {
            "file" => folder.write("out/a.php", "old, and longer than what comes instead of it"),
            _ => symlink("../outside.php", folder.path("out/a.php")).unwrap(),
        }
        assert_outcome(&folder.spindle(["transpile", "--output-dir", "out", "a.php"]), 0, "", "");
        assert_eq!(folder.read("out/a.php"), PLAIN);
        assert_eq!(folder.list(), ["a.php", "out/", "out/a.php", "outside.php"]);
    }
    assert_eq!(folder.read("outside.php"), "left alone");
}

#[test]
fn permissions_are_those_of_the_source_within_the_umask() {
    let folder = Folder::new("modes");
    folder.write("a.php", SOURCE);
    for (mode, expected) in [(0o755, 0o750), (0o666, 0o640), (0o444, 0o440), (0o4755, 0o750)] {
        fs::set_permissions(folder.path("a.php"), Permissions::from_mode(mode)).unwrap();
        let script = "umask 027; exec \"$0\" transpile --output-dir out a.php";
        assert_outcome(&outcome(folder.command("sh").args(["-c", script, SPINDLE])), 0, "", "");
        let written = fs::metadata(folder.path("out/a.php")).unwrap().permissions().mode() & 0o7777;
        assert_eq!(written, expected, "{mode:o} became {written:o}");
    }
}

#[test]
fn a_file_with_an_error_is_not_written_and_the_others_are() {
    let folder = Folder::new("some_wrong");
    folder.write("a.php", SOURCE);
    folder.write("bad.php", "<?php spawn 1;");
    folder.write("b.php", SOURCE);
    folder.write("out/bad.php", "from before");
    let outcome = folder.spindle(["transpile", "--output-dir", "out", "a.php", "bad.php", "none.php", "b.php"]);
    let expected = "\
        bad.php:1:13: syntax error, unexpected integer \"1\": spawn expects a call or a closure\n\
        none.php: No such file or directory\n";
    assert_outcome(&outcome, 1, "", expected);
    assert_eq!(folder.list(), ["a.php", "b.php", "bad.php", "out/", "out/a.php", "out/b.php", "out/bad.php"]);
    assert_eq!(folder.read("out/bad.php"), "from before");
    assert_eq!(folder.read("out/b.php"), PLAIN);
}

#[test]
fn links_do_not_lead_out_of_it() {
    let folder = Folder::new("links");
    folder.write("src/a.php", SOURCE);
    folder.write("src/deep/a.php", SOURCE);
    folder.write("outside/a.php", "left alone");
    fs::create_dir(folder.path("out")).unwrap();
    symlink("../outside", folder.path("out/src")).unwrap();
    let outcome = folder.spindle(["transpile", "--output-dir", "out", "src/a.php", "src/deep/a.php"]);
    let line = "out/src: is a symbolic link, which is not followed\n";
    assert_outcome(&outcome, 1, "", &line.repeat(2));
    assert_eq!(
        folder.list(),
        ["out/", "out/src", "outside/", "outside/a.php", "src/", "src/a.php", "src/deep/", "src/deep/a.php"]
    );
    assert_eq!(folder.read("outside/a.php"), "left alone");
}

#[test]
fn files_that_are_read_are_not_replaced() {
    let folder = Folder::new("inputs");
    folder.write("a.php", SOURCE);
    folder.write("out/a.php", SOURCE);
    symlink(".", folder.path("here")).unwrap();
    fs::hard_link(folder.path("a.php"), folder.path("out/linked.php")).unwrap();
    fs::hard_link(folder.path("a.php"), folder.path("linked.php")).unwrap();
    let files = folder.list();
    let refused = "is one of the files that are read: it is not replaced";
    for (args, output) in [
        (&[".", "a.php"][..], "./a.php"),
        (&["here", "a.php"], "here/a.php"),
        (&["out", "linked.php"], "out/linked.php"),
    ] {
        let outcome = folder.spindle([&["transpile", "--output-dir"], args].concat());
        assert_outcome(&outcome, 1, "", &format!("{output}: {refused}\n"));
    }
    // One that comes later, too.
    let outcome = folder.spindle(["transpile", "--output-dir", "out", "a.php", "out/a.php"]);
    assert_outcome(&outcome, 1, "", &format!("out/a.php: {refused}\n"));
    assert_eq!((folder.read("a.php"), folder.read("out/a.php")), (SOURCE.to_string(), SOURCE.to_string()));
    let written = folder.list().into_iter().filter(|name| !files.contains(name)).collect::<Vec<_>>();
    assert_eq!(written, ["out/out/", "out/out/a.php"]);
}

#[test]
fn where_it_cannot_write_it_says_so_and_leaves_nothing() {
    let folder = Folder::new("unwritable");
    folder.write("a.php", SOURCE);
    folder.write("src/a.php", SOURCE);
    folder.write("out/a.php/x", "");
    folder.write("out/src", "a file");
    folder.write("file", "a file");
    let files = folder.list();
    let outcome = folder.spindle(["transpile", "--output-dir", "out", "a.php", "src/a.php"]);
    assert_outcome(&outcome, 1, "", "out/a.php: Is a directory\nout/src: Not a directory\n");
    let outcome = folder.spindle(["transpile", "--output-dir", "file/out", "a.php"]);
    assert_outcome(&outcome, 1, "", "file/out: Not a directory\n");
    let outcome = folder.spindle(["transpile", "--output-dir", "/proc/out", "a.php"]);
    assert_outcome(&outcome, 1, "", "/proc/out: No such file or directory\n");
    assert_eq!(folder.list(), files);
}

/// A limit for the size of files makes writing fail in the middle, by an error or by death.
#[test]
fn no_file_is_ever_there_in_part() {
    let folder = Folder::new("partly");
    folder.write("a.php", format!("<?php {}", "await $c;\n".repeat(10_000)));
    for (script, status, message, left) in [
        ("trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\"", 1, "out/a.php: File too large\n", 0),
        ("ulimit -c 0; ulimit -f 8; exec \"$0\" \"$@\"", 128 + 25, "", 1),
    ] {
        folder.write("out/a.php", "from before");
        let args = ["-c", script, SPINDLE, "transpile", "--output-dir", "out", "a.php"];
        assert_outcome(&outcome(folder.command("sh").args(args)), status, "", message);
        assert_eq!(folder.read("out/a.php"), "from before");
        let temporary = folder.list().into_iter().filter(|name| name.starts_with("out/.spindle.")).count();
        assert_eq!(temporary, left);
    }
    // What is left by a process that has died is not in the way of the next one that has its number.
    let script = "echo left >out/.spindle.$$.0; exec \"$0\" transpile --output-dir out a.php";
    assert_outcome(&outcome(folder.command("sh").args(["-c", script, SPINDLE])), 0, "", "");
    assert!(folder.read("out/a.php").ends_with("await($c);\n"));
}
