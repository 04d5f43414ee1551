//! What is wrong with a `spindle.toml` is said in one line, before anything is served.

mod common;

use common::{Folder, assert_outcome};

/// A folder with an app and this file.
fn folder(name: &str, file: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new(name);
    folder.write("app.php", "<?php return fn () => '';");
    folder.write("spindle.toml", file);
    folder
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let in_file = |text: &str| text.replace('@', "spindle.toml, line");
    for (file, message) in [
        ("worker = 4", "unknown key 'worker' in @ 1: did you mean 'workers'?"),
        ("# c\n\nmax_memory = '1M'", "unknown key 'max_memory' in @ 3: did you mean 'max-memory'?"),
        ("b = 1\na = 1", "unknown key 'b' in @ 1: 'spindle serve --help' lists them"),
        ("config = 'other.toml'", "unknown key 'config' in @ 1: 'spindle serve --help' lists them"),
        ("workers = 0", "workers in @ 1 takes a number, from 1 to 1024, or 'auto', not '0'"),
        ("workers = true", "workers in @ 1 takes a text or a number, not a value of type boolean"),
        ("workers = [1]", "workers in @ 1 takes a text or a number, not a value of type array"),
        ("grace = -1.5", "grace in @ 1 takes seconds, from 0 to 86400, not '-1.5'"),
        ("max-requests = 0x0", "max-requests in @ 1 takes a number, from 1 to 18446744073709551615, not '0'"),
        (
            "max-requests = 99999999999999999999",
            "max-requests in @ 1 takes a number, from 1 to 18446744073709551615, not '99999999999999999999'",
        ),
        (
            "set = { a = 1 }\nmax-requests = 9999999999999999999999999999999999999999",
            "max-requests in @ 2 takes a number, from 1 to 18446744073709551615, not '9999999999999999999999999999999999999999'",
        ),
        ("max-memory = 'much'", "max-memory in @ 1 takes bytes, as in 256M, not 'much'"),
        ("mode = 'cgi'", "mode in @ 1 takes handler, worker, application or classic, not 'cgi'"),
        ("dev = 'yes'", "dev in @ 1 takes true or false, not a value of type string"),
        ("listen = [\n'127.0.0.1:0',\n[]]", "listen in @ 3 takes a list of texts, not a value of type array"),
        ("listen = 1979-05-27", "listen in @ 1 takes a list of texts, not a value of type datetime"),
        ("tls = 'a,b'", "tls in @ 1 takes { cert = FILE, key = FILE }, not a value of type string"),
        ("[tls]\ncert = 'a'", "tls in @ 1 takes { cert = FILE, key = FILE }"),
        ("[tls]\ncert = 'a'\nkeys = 'b'", "unknown key 'keys' in @ 3: did you mean 'key'?"),
        (
            "set = 1",
            "set in @ 1 takes a table of texts, numbers, booleans and lists of those, not a value of type integer",
        ),
        (
            "[set]\na = 1\nb = {}",
            "set.b in @ 3 takes a text, a number, a boolean or a list of those, not a value of type table",
        ),
        ("[env]\n'A=B' = 1", "env.A=B in @ 2 is no name"),
        ("[env]\n'' = 1", "env. in @ 2 is no name"),
        ("[env]\nA = \"\\u0000\"", "env.A in @ 2 has a character that no argument can have"),
        ("app = 'app.php'\napp = 'b'", "@ 2: duplicate key"),
        ("\n=", "@ 2: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`"),
    ] {
        let folder = folder("toml_wrong", file);
        assert_outcome(&folder.spindle(["serve", "app.php"]), 1, "", &format!("spindle: {}\n", in_file(message)));
    }
    let folder = folder("toml_bytes", b"app = '\xff'");
    assert_outcome(&folder.spindle(["serve"]), 1, "", "spindle: spindle.toml is not text in UTF-8\n");
    let folder = self::folder("toml_large", "#".repeat((256 << 10) + 1));
    assert_outcome(&folder.spindle(["serve"]), 1, "", "spindle: spindle.toml has more than 256 KB\n");
}

#[test]
fn what_does_not_go_together_is_refused() {
    for (file, arguments, message) in [
        ("", vec![], "no APP given, a PHP file or a directory; see 'spindle serve --help'"),
        ("app = ''", vec![], "no APP given, a PHP file or a directory; see 'spindle serve --help'"),
        ("app = 'none.php'", vec![], "none.php: No such file or directory"),
        (
            "dev = true\nworkers = 2",
            vec!["app.php"],
            "--workers is not for --dev, which has one; see 'spindle serve --help'",
        ),
        (
            "dev = true",
            vec!["app.php", "--workers=2"],
            "--workers is not for --dev, which has one; see 'spindle serve --help'",
        ),
        ("instances = 2", vec!["app.php"], "--instances is for --mode application; see 'spindle serve --help'"),
        ("", vec!["--config", "none.toml"], "none.toml: No such file or directory"),
        ("", vec!["--config", "."], ". is not a file"),
        ("", vec!["--config"], "missing argument for option '--config'; see 'spindle serve --help'"),
    ] {
        let folder = folder("toml_together", file);
        let outcome = folder.spindle([vec!["serve"], arguments].concat());
        assert_outcome(&outcome, 1, "", &format!("spindle: {message}\n"));
    }
}

#[test]
fn paths_are_relative_to_the_file() {
    let folder = folder("toml_paths", "app = 'other.php'");
    folder.write("conf/spindle.toml", "app = 'none.php'");
    let outcome = folder.spindle(["serve", "--config", "conf/spindle.toml"]);
    assert_outcome(&outcome, 1, "", "spindle: conf/none.php: No such file or directory\n");
    // That in the working directory is not read.
    let outcome = folder.spindle(["serve", "--config", "/dev/null"]);
    assert_outcome(&outcome, 1, "", "spindle: no APP given, a PHP file or a directory; see 'spindle serve --help'\n");
    // The command line names its own in the working directory.
    let outcome = folder.spindle(["serve", "none2.php", "--config", "conf/spindle.toml"]);
    assert_outcome(&outcome, 1, "", "spindle: none2.php: No such file or directory\n");
}

#[test]
fn the_example_of_the_documentation_is_right() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/serve.md")).unwrap();
    let (_, example) = text.split_once("```toml\n").unwrap();
    let folder = folder("toml_example", example.split_once("```").unwrap().0);
    // All of it is read before the file is looked for.
    assert_outcome(&folder.spindle(["serve"]), 1, "", "spindle: public/index.php: No such file or directory\n");
}
