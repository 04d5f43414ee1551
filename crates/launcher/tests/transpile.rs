//! `spindle transpile` of one file, and `--check`.

mod common;

use common::{Folder, SPINDLE, assert_outcome, outcome};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, pipe};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

const SOURCE: &str = "<?php\n$a = spawn f(1);\necho await $a until timeout(5);\nsuspend;\n";
const PLAIN: &str =
    "<?php\n$a = \\Async\\Syntax\\call(f(...))(1);\necho \\Async\\await($a, timeout(5));\n\\Async\\suspend();\n";

#[test]
fn a_file_is_printed_as_plain_php() {
    let folder = Folder::new("prints");
    folder.write("a.php", SOURCE);
    assert_outcome(&folder.spindle(["transpile", "a.php"]), 0, PLAIN, "");
    assert_eq!(folder.read("a.php"), SOURCE);
    assert_eq!(folder.list(), ["a.php"]);
}

#[test]
fn standard_input_is_named_by_a_dash() {
    let folder = Folder::new("stdin");
    folder.write("-", "<?php await $c;");
    assert_outcome(&folder.spindle_with_input(SOURCE, &["transpile", "-"]), 0, PLAIN, "");
    assert_outcome(&folder.spindle_with_input(SOURCE, &["transpile", "--", "-"]), 0, PLAIN, "");
    assert_outcome(&folder.spindle(["transpile", "./-"]), 0, "<?php \\Async\\await($c);", "");
    let outcome = folder.spindle_with_input("<?php\n  spawn 1;", &["transpile", "-"]);
    assert_outcome(
        &outcome,
        1,
        "",
        "-:2:9: syntax error, unexpected integer \"1\": spawn expects a call or a closure\n",
    );
}

#[test]
fn what_has_no_operators_stays_byte_for_byte() {
    let folder = Folder::new("identical");
    let all_bytes: Vec<u8> = (0..=255).collect();
    let sources: [&[u8]; 7] = [
        b"",
        b"no PHP, await $x",
        b"<?php\r\nfunction await($x) {}\rawait ($x);\r\n",
        b"<?php $\xe9 = '\xff\xfe'; spawn(f(...)); // spawn f()",
        b"<?php spawn",
        b"\xef\xbb\xbf<?php return <<<X\n spawn f();\n X;",
        &all_bytes,
    ];
    for source in sources {
        folder.write("a.php", source);
        let outcome = folder.spindle(["transpile", "a.php"]);
        assert_eq!((outcome.status, &outcome.out[..], &outcome.err[..]), (0, source, &b""[..]));
        assert_eq!(folder.spindle_with_input(source, &["transpile", "-"]), outcome);
    }
}

#[test]
fn bytes_around_operators_pass() {
    let folder = Folder::new("bytes_pass");
    folder.write("a.php", b"\x00\xff<?php\r\n$\xe9 = spawn f(\"\xff\0\");\r\n?>\xfe");
    let outcome = folder.spindle(["transpile", "a.php"]);
    assert_eq!(outcome.out, b"\x00\xff<?php\r\n$\xe9 = \\Async\\Syntax\\call(f(...))(\"\xff\0\");\r\n?>\xfe");
    assert_eq!((outcome.status, &outcome.err[..]), (0, &b""[..]));
}

#[test]
fn large_files_come_whole() {
    let folder = Folder::new("large");
    let (source, plain) = ("await $c;\n".repeat(100_000), "\\Async\\await($c);\n".repeat(100_000));
    folder.write("a.php", format!("<?php {source}"));
    let outcome = folder.spindle(["transpile", "a.php"]);
    assert_eq!((outcome.status, outcome.out == format!("<?php {plain}").as_bytes()), (0, true));
}

#[test]
fn errors_name_file_line_and_byte() {
    let folder = Folder::new("errors");
    let expected = "syntax error, unexpected token \";\": spawn expects a call or a closure";
    for (source, place) in [
        ("<?php spawn $f;", "1:15"),
        ("<?php\n\nspawn $f;", "3:9"),
        ("<?php\r\n\r\nspawn $f;", "3:9"),
        ("<?php\r\rspawn $f;", "3:9"),
        ("<?php\n/* é */ spawn $é;", "2:19"),
        ("html\n<?php spawn $f; ?>\n", "2:15"),
    ] {
        folder.write("a.php", source);
        let line = format!("a.php:{place}: {expected}\n");
        assert_outcome(&folder.spindle(["transpile", "a.php"]), 1, "", &line);
        assert_outcome(&folder.spindle(["transpile", "--check", "a.php"]), 1, "", &line);
    }
}

#[test]
fn an_error_is_one_line() {
    let folder = Folder::new("one_line");
    let outcome = folder.spindle_with_input("<?php spawn yield\n\t from $x;", &["transpile", "-"]);
    let expected = "-:1:13: syntax error, unexpected token \"yield\\n\\t from\": spawn expects a call or a closure\n";
    assert_outcome(&outcome, 1, "", expected);
}

#[test]
fn check_prints_nothing_of_what_is_right() {
    let folder = Folder::new("check");
    folder.write("operators.php", SOURCE);
    folder.write("plain.php", "<?php echo 1;");
    folder.write("empty.php", "");
    let files = folder.list();
    for file in &files {
        assert_outcome(&folder.spindle(["transpile", "--check", file]), 0, "", "");
    }
    let args = [&["transpile", "--check"], &files.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat();
    assert_outcome(&folder.spindle(args), 0, "", "");
    assert_outcome(&folder.spindle_with_input(SOURCE, &["transpile", "--check", "-", "plain.php"]), 0, "", "");
    assert_eq!(folder.list(), files);
}

#[test]
fn check_looks_at_all_files() {
    let folder = Folder::new("check_all");
    folder.write("first.php", "<?php spawn 1;");
    folder.write("good.php", SOURCE);
    folder.write("last.php", "<?php\nawait $x until;");
    let args = ["transpile", "--check", "first.php", "none.php", "good.php", "-", "last.php", "good.php"];
    let expected = "\
        first.php:1:13: syntax error, unexpected integer \"1\": spawn expects a call or a closure\n\
        none.php: No such file or directory\n\
        -:1:17: syntax error, unexpected token \")\"\n\
        last.php:2:15: syntax error, unexpected token \";\"\n";
    assert_outcome(&folder.spindle_with_input("<?php f(await ~ );", &args), 1, "", expected);
}

#[test]
fn what_cannot_be_read_is_named_with_the_reason() {
    let folder = Folder::new("unreadable");
    folder.write("a.php", SOURCE);
    fs::create_dir(folder.path("folder")).unwrap();
    std::os::unix::fs::symlink("loop", folder.path("loop")).unwrap();
    for (file, reason) in [
        ("none.php", "No such file or directory"),
        ("", "No such file or directory"),
        ("folder", "Is a directory"),
        ("a.php/b.php", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("/proc/self/mem", "Input/output error"),
    ] {
        let line = format!("{file}: {reason}\n");
        assert_outcome(&folder.spindle(["transpile", file]), 1, "", &line);
        assert_outcome(&folder.spindle(["transpile", "--check", file, "a.php"]), 1, "", &line);
    }
    let folder_as_input = folder.command(SPINDLE).args(["transpile", "-"]).stdin(File::open("/").unwrap()).output();
    let folder_as_input = folder_as_input.unwrap();
    assert_eq!((folder_as_input.status.code(), &folder_as_input.stderr[..]), (Some(1), &b"-: Is a directory\n"[..]));
}

#[test]
fn four_gigabytes_are_too_large() {
    let folder = Folder::new("too_large");
    let file = File::create(folder.path("a.php")).unwrap();
    file.set_len(1 << 32).unwrap(); // a hole: it takes no space
    // It is known before anything is read.
    let script = "ulimit -v 1000000; exec \"$0\" transpile a.php";
    let outcome = outcome(folder.command("sh").args(["-c", script, SPINDLE]));
    assert_outcome(&outcome, 1, "", "a.php: too large: 4 GiB or more\n");
}

#[test]
fn names_of_files_are_bytes() {
    let folder = Folder::new("names");
    let name = OsStr::from_bytes(b"\xff.php");
    folder.write(name, "<?php spawn 1;");
    let outcome = folder.spindle([OsStr::new("transpile"), name]);
    assert_eq!(outcome.status, 1);
    assert!(outcome.err.starts_with(b"\xff.php:1:13: syntax error"), "{outcome:?}");
    let outcome = folder.spindle([OsStr::new("transpile"), OsStr::from_bytes(b"\xfe.php")]);
    assert_eq!((outcome.status, &outcome.err[..]), (1, &b"\xfe.php: No such file or directory\n"[..]));
    // After `--` nothing is an option.
    folder.write("--check", SOURCE);
    assert_outcome(&folder.spindle(["transpile", "--", "--check"]), 0, PLAIN, "");
}

#[test]
fn the_version_decides_what_a_token_is() {
    let folder = Folder::new("versions");
    let void = ("<?php await (void) f();", "<?php \\Async\\await((void) f());");
    let from = ("<?php await yield /**/ from g();", "<?php \\Async\\await(yield /**/ from g());");
    let property = ("<?php spawn __PROPERTY__(1);", "<?php \\Async\\Syntax\\call(__PROPERTY__(...))(1);");
    let print = |version: Option<&str>, source: &str| {
        folder.write("a.php", source);
        let version = version.map(|version| format!("--php={version}"));
        let args = ["transpile"].into_iter().chain(version.as_deref()).chain(["a.php"]);
        folder.spindle(args)
    };
    for (version, has_void) in [(Some("8.2"), false), (Some("8.4"), false), (Some("8.5"), true), (None, true)] {
        let expected = if has_void { void.1 } else { void.0 };
        assert_outcome(&print(version, void.0), 0, expected, "");
    }
    let ends_before_g = "<?php \\Async\\await(yield /**/ from) g();";
    assert_outcome(&print(Some("8.2"), from.0), 0, ends_before_g, "");
    assert_outcome(&print(Some("8.3"), from.0), 0, from.1, "");
    assert_outcome(&print(Some("8.3"), property.0), 0, property.1, "");
    assert_eq!(print(Some("8.4"), property.0).status, 1);
}

#[test]
fn short_tags_open_code_when_they_are_wanted() {
    let folder = Folder::new("short_tags");
    let source = "<? await $c ?><?= await $c ?>";
    let outcome = folder.spindle_with_input(source, &["transpile", "-"]);
    assert_outcome(&outcome, 0, "<? await $c ?><?= \\Async\\await($c) ?>", "");
    let outcome = folder.spindle_with_input(source, &["transpile", "--short-tags", "-"]);
    assert_outcome(&outcome, 0, "<? \\Async\\await($c) ?><?= \\Async\\await($c) ?>", "");
}

#[test]
fn no_reader_ends_it_quietly() {
    let folder = Folder::new("broken_pipe");
    folder.write("a.php", "<?php ".to_string() + &"await $c;\n".repeat(100_000));
    for args in [&["transpile", "a.php"][..], &["transpile", "--help"], &["--help"], &["--version"]] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let outcome = outcome(folder.command(SPINDLE).args(args).stdout(writer));
        assert_outcome(&outcome, 141, "", "");
    }
    // A reader that has had enough.
    let mut command = folder.command(SPINDLE);
    let mut process =
        command.args(["transpile", "a.php"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 6];
    process.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = process.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &output.stderr[..], &first), (Some(141), &b""[..], b"<?php "));
}

#[test]
fn a_full_disk_is_an_error() {
    let folder = Folder::new("full");
    folder.write("a.php", SOURCE);
    folder.write("bad.php", "<?php spawn 1;");
    let full = || File::options().write(true).open("/dev/full").unwrap();
    folder.write("no-line-end.php", "<?php await $c;");
    for args in [&["transpile", "a.php"][..], &["transpile", "no-line-end.php"], &["--help"]] {
        let outcome = outcome(folder.command(SPINDLE).args(args).stdout(full()));
        assert_outcome(&outcome, 1, "", "spindle: standard output: No space left on device\n");
    }
    // Where errors cannot be written the status still tells.
    let outcome = outcome(folder.command(SPINDLE).args(["transpile", "bad.php"]).stderr(full()));
    assert_outcome(&outcome, 1, "", "");
}

#[test]
fn nothing_makes_it_panic() {
    let folder = Folder::new("panic");
    let operators = "<?php #[A] spawn static function use (&$a): ?int { await spawn $b?->{'c'}(...[1], x: \"$d[0]{$e}\") \
        until <<<F\n ${g}\n F; suspend; await children; } ?><?= await spawn f() ?>\0\u{1}";
    for end in 0..=operators.len() {
        let Some(part) = operators.get(..end) else { continue };
        for source in [part.to_string(), format!("<?php {}", operators.get(end..).unwrap_or_default())] {
            let outcome = folder.spindle_with_input(&source, &["transpile", "-"]);
            assert!(matches!(outcome.status, 0 | 1), "{source:?}: {outcome:?}");
            assert_eq!(outcome.status == 1, outcome.out.is_empty() && !source.is_empty(), "{source:?}: {outcome:?}");
            assert_eq!(outcome.status == 1, !outcome.err.is_empty(), "{source:?}: {outcome:?}");
        }
    }
}
