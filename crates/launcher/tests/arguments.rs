//! What the command says of itself, and of arguments that it does not know.

mod common;

use common::{Folder, assert_outcome};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn version() {
    let folder = Folder::new("version");
    let expected = format!("spindle {}\n", env!("CARGO_PKG_VERSION"));
    assert_outcome(&folder.spindle(["--version"]), 0, &expected, "");
    assert_outcome(&folder.spindle(["-V"]), 0, &expected, "");
}

#[test]
fn help_names_all_commands_and_all_options() {
    let folder = Folder::new("help");
    for (args, begins, names) in [
        (
            vec!["--help"],
            "Usage: spindle COMMAND",
            vec!["serve", "reload", "doctor", "transpile", "--help", "--version"],
        ),
        (
            vec!["transpile", "--help"],
            "Usage: spindle transpile",
            vec!["--check", "--output-dir DIR", "--php VERSION", "8.2, 8.3, 8.4 or 8.5", "--short-tags", "Exit status"],
        ),
        (
            vec!["doctor", "--help"],
            "Usage: spindle doctor",
            vec![
                "--php FILE",
                "--extension FILE",
                "--limit MS",
                "--mode application",
                "--instances N",
                "--json",
                "Exit status",
            ],
        ),
        (
            vec!["reload", "--help"],
            "Usage: spindle reload [--binary] SOCKET",
            vec!["--binary", "--help", "Exit status"],
        ),
        (vec!["serve", "--help"], "Usage: spindle serve", vec!["--listen ADDRESS", "[env]", "Exit status"]),
    ] {
        let long = folder.spindle(&args);
        let text = String::from_utf8(long.out.clone()).unwrap();
        assert_outcome(&long, 0, &text, "");
        assert!(text.starts_with(begins), "{text}");
        for name in names {
            assert!(text.contains(name), "no {name} in:\n{text}");
        }
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        let short: Vec<_> = args.iter().map(|arg| if *arg == "--help" { "-h" } else { arg }).collect();
        assert_eq!(folder.spindle(short), long);
    }
}

#[test]
fn help_is_given_in_spite_of_other_arguments() {
    let folder = Folder::new("help_first");
    let help = folder.spindle(["transpile", "--help"]);
    assert_eq!(folder.spindle(["transpile", "a.php", "b.php", "--help"]), help);
}

#[test]
fn what_is_wrong_is_named_in_one_line() {
    let folder = Folder::new("usage");
    folder.write("a.php", "<?php spawn f();");
    folder.write("b.php", "<?php spawn f();");
    let files = folder.list();
    let general = [
        (vec![], "no command given"),
        (vec!["transpil"], "unknown command 'transpil'"),
        (vec![""], "unknown command ''"),
        (vec!["two\nlines"], "unknown command 'two\\nlines'"),
        (vec!["--nope"], "invalid option '--nope'"),
        (vec!["-x"], "invalid option '-x'"),
        (vec!["--check", "transpile", "a.php"], "invalid option '--check'"),
    ];
    let transpile = [
        (vec![], "no FILE given ('-' is standard input)"),
        (vec!["--check"], "no FILE given ('-' is standard input)"),
        (vec!["a.php", "--nope"], "invalid option '--nope'"),
        (vec!["-o", "x", "a.php"], "invalid option '-o'"),
        (vec!["--check=1", "a.php"], "unexpected argument for option '--check': \"1\""),
        (vec!["a.php", "--php"], "missing argument for option '--php'"),
        (vec!["--php", "8", "a.php"], "cannot parse argument \"8\": --php takes 8.2, 8.3, 8.4 or 8.5"),
        (vec!["--php=8.20", "a.php"], "cannot parse argument \"8.20\": --php takes 8.2, 8.3, 8.4 or 8.5"),
        (vec!["a.php", "b.php"], "several FILEs need --output-dir DIR or --check: only one is printed"),
        (vec!["--output-dir"], "missing argument for option '--output-dir'"),
        (vec!["--output-dir=", "a.php"], "--output-dir is empty"),
        (
            vec!["--output-dir", "out", "--check", "a.php"],
            "--check writes nothing, --output-dir does: give one of them",
        ),
        (vec!["--output-dir", "out", "-"], "standard input has no path to be given in --output-dir"),
        (
            vec!["--output-dir", "out", "a.php", "../a.php"],
            "'../a.php' would not be in --output-dir: give relative paths without '..'",
        ),
        (
            vec!["--output-dir", "out", "a.php", "x/../a.php"],
            "'x/../a.php' would not be in --output-dir: give relative paths without '..'",
        ),
        (
            vec!["--output-dir", "out", "a.php", "/a.php"],
            "'/a.php' would not be in --output-dir: give relative paths without '..'",
        ),
    ];
    for (args, message) in general {
        let line = format!("spindle: {message}; see 'spindle --help'\n");
        assert_outcome(&folder.spindle(args), 2, "", &line);
    }
    for (args, message) in transpile {
        let line = format!("spindle: {message}; see 'spindle transpile --help'\n");
        assert_outcome(&folder.spindle([vec!["transpile"], args].concat()), 2, "", &line);
    }
    assert_eq!(folder.list(), files, "nothing is written");
}

#[test]
fn arguments_need_not_be_utf_8() {
    let folder = Folder::new("bytes");
    let outcome = folder.spindle([OsStr::from_bytes(b"\xff")]);
    assert_outcome(&outcome, 2, "", "spindle: unknown command '\u{fffd}'; see 'spindle --help'\n");
    let outcome = folder.spindle([OsStr::new("transpile"), OsStr::from_bytes(b"--php=\xff"), OsStr::new("a.php")]);
    assert_eq!(outcome.status, 2, "{outcome:?}");
    assert_eq!(outcome.err.iter().filter(|byte| **byte == b'\n').count(), 1, "{outcome:?}");
}

#[test]
fn what_cannot_be_served_is_named_in_one_line() {
    let folder = Folder::new("serve_usage");
    folder.write("app.php", "<?php return fn () => '';");
    let usage = [
        (vec![], "no APP given, a PHP file or a directory"),
        (vec![""], "no APP given, a PHP file or a directory"),
        (vec!["app.php", "--nope"], "invalid option '--nope'"),
        (vec!["app.php", "-p", "8080"], "invalid option '-p'"),
        (vec!["app.php", "--listen"], "missing argument for option '--listen'"),
        (vec!["app.php", "--mode", "cgi"], "--mode takes handler, worker, application or classic, not 'cgi'"),
        (vec!["app.php", "--instances", "2"], "--instances is for --mode application"),
        (vec!["app.php", "--children", "2"], "--children, --fpm and --sendfile are for --mode classic"),
        (vec![".", "--mode", "worker", "--fpm", "php-fpm"], "--children, --fpm and --sendfile are for --mode classic"),
        (vec![".", "more"], "--mode classic takes no ARGUMENT"),
        (
            vec!["app.php", "--mode", "application", "--instances", "0"],
            "--instances takes a number, from 1 to 4096, not '0'",
        ),
        (vec!["app.php", "--log", "apache"], "--log takes combined, json, logfmt or off, not 'apache'"),
        (vec!["app.php", "--tls", "cert.pem"], "--tls takes CERT,KEY: two files in PEM format"),
        (vec!["app.php", "--tls", ",key.pem"], "--tls takes CERT,KEY: two files in PEM format"),
        (vec!["app.php", "--grace", "soon"], "--grace takes seconds, from 0 to 86400, not 'soon'"),
        (vec!["app.php", "--set", "max_body_size"], "--set takes NAME=VALUE"),
        (vec!["app.php", "--dev=1"], "unexpected argument for option '--dev': \"1\""),
    ];
    let others = [
        (vec!["none.php"], "none.php: No such file or directory"),
        (vec!["two\nlines.php"], "two\\nlines.php: No such file or directory"),
        (vec![".", "--mode", "handler"], ". is not a file"),
        (vec!["app.php", "--mode", "classic"], "app.php is not a directory"),
        (vec!["app.php", "--run", "queue"], "--run takes NAME=COMMAND, or NAME*COUNT=COMMAND"),
        (vec!["app.php", "--run", "a=two\nwords"], "--run a: there is no program 'two'"),
        (
            vec!["app.php", "--run", "two\nlines=true"],
            "--run: a NAME has letters, digits, '-', '_' and '.', and up to 64 of them, not 'two\\nlines'",
        ),
        (vec!["app.php", "--every", "a=5m /none"], "--every a: there is no program '/none'"),
    ];
    let usage = usage.map(|(args, message)| (args, format!("{message}; see 'spindle serve --help'")));
    for (args, message) in usage.into_iter().chain(others.map(|(args, message)| (args, message.to_owned()))) {
        let outcome = folder.spindle([vec!["serve"], args].concat());
        assert_outcome(&outcome, 1, "", &format!("spindle: {message}\n"));
    }
}

/// The names of options with which something begins.
fn options<'a>(words: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let name = |word: &'a str| word.split([' ', '=']).next().unwrap_or_default();
    words.map(name).filter(|name| name.starts_with('-')).collect()
}

#[test]
fn the_documentation_of_serve_has_the_options_of_its_help() {
    let folder = Folder::new("options");
    let help = String::from_utf8(folder.spindle(["serve", "--help"]).out).unwrap();
    let mut told = options(help.lines().filter_map(|line| line.strip_prefix("  ")));
    assert!(told.remove("-h,") && told.len() > 20, "{told:?}");
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md")).unwrap();
    let (_, table) = text.split_once("\n| option | |\n").unwrap();
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let documented = options(rows.flat_map(|row| row.split(" | ").next().unwrap().split('`').skip(1).step_by(2)));
    assert_eq!(documented, told);
    let (_, keys) = help.split_once("so are:\n\n").unwrap();
    for key in keys.lines().take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   ")) {
        let key = key.trim_start().split(' ').next().unwrap();
        let key = format!("\n{}", key.trim_end_matches("NAME]")); // the tables of programs have names
        assert!(text.contains(&key), "no {key} in the documentation");
    }
}
