//! `spindle doctor`, with programs in the place of PHP that answer as different versions and builds do. What needs a real PHP is in
//! tests/phpt/module/doctor.phpt.

mod common;

use common::{Folder, Outcome};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What a PHP that is fine says of itself.
fn facts() -> Value {
    json!({
        "version": "8.2.30", "version_id": 80230, "sapi": "cli", "zts": false, "debug": false, "binary": "/x/php",
        "extension_dir": "/nowhere", "build": "API20220829,NTS", "php_ini_loaded_file": "/etc/php.ini", "php_ini_scanned_files": "",
        "extensions": {"core": "8.2.30", "swimming": "1.0", "ddtrace": "1.1"}, "zend_extensions": [],
        "opcache": {"loaded": true, "on": true, "jit": false}, "xdebug": null, "mapped": [],
        "spindle": env!("CARGO_PKG_VERSION"), "trial": "",
        "info": "Kernel epoll_pwait2 => works\nKernel MADV_GUARD_INSTALL => works\n\
                 Extension core => proven: its calls neither wait nor keep anything\n\
                 Extension swimming => serialised: nothing is known of it\n\
                 Excluded tracer.so => blocks: loaded by zend_extension\n\
                 Executor => PHP's own\nCalls of internal functions => direct\nObservers of functions => installed\n",
    })
}

/// Puts a `php` into the folder that says this of itself, and runs these lines of a shell besides.
fn php(folder: &Folder, facts: &Value, lines: &str) {
    folder.write("facts.json", facts.to_string());
    let facts = folder.path("facts.json");
    let text = format!(
        "#!/bin/sh\nif [ \"$2\" = -v ]; then echo 'PHP {} (cli) (built: today)'; exit; fi\n\
         for last; do :; done\n[ ! -f \"$last\" ] || cp '{}' \"$last\"\n{lines}\n",
        json_text(&folder.read("facts.json"), "version"),
        facts.display()
    );
    folder.write("php", text);
    fs::set_permissions(folder.path("php"), fs::Permissions::from_mode(0o755)).unwrap();
}

fn json_text(text: &str, name: &str) -> String {
    serde_json::from_str::<Value>(text).unwrap()[name].as_str().unwrap().to_owned()
}

fn doctor(folder: &Folder, more: &[&str]) -> Outcome {
    folder.spindle([&["doctor", "--php", "./php"], more].concat())
}

#[track_caller]
fn report(folder: &Folder, status: i32, more: &[&str]) -> Value {
    let outcome = doctor(folder, &[&["--json"], more].concat());
    let value = serde_json::from_slice(&outcome.out).unwrap_or_else(|error| panic!("{error}: {outcome:?}"));
    assert_eq!(outcome.status, status, "{value:#}");
    value
}

/// The problems, of which each is one line.
#[track_caller]
fn problems(folder: &Folder, more: &[&str]) -> Vec<String> {
    let value = report(folder, 1, more);
    assert_eq!(value["works"], false);
    let problems: Vec<_> =
        value["problems"].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect();
    assert!(problems.iter().all(|one| !one.contains('\n')), "{problems:?}");
    problems
}

#[test]
fn a_php_that_is_fine() {
    let folder = Folder::new("doctor_fine");
    php(&folder, &facts(), "");
    let value = report(&folder, 0, &[]);
    assert_eq!((&value["works"], &value["problems"]), (&json!(true), &json!([])), "{value:#}");
    assert_eq!(value["php"]["version"], "8.2.30");
    assert_eq!(value["module"]["coroutines_work"], true);
    assert_eq!(value["engine"]["opcache"], json!({"loaded": true, "on": true, "jit": false}));
    assert_eq!(
        (&value["engine"]["function_observers"], &value["engine"]["executor_replaced"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(value["engine"]["observing_extensions"], json!(["ddtrace"]));
    let verdicts: Vec<_> = value["extensions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["name"].clone(), one["verdict"].clone()))
        .collect();
    assert_eq!(
        verdicts,
        [("core", "proven"), ("swimming", "serialised"), ("tracer", "blocks")]
            .map(|(name, verdict)| (json!(name), json!(verdict)))
    );
    let text = doctor(&folder, &[]);
    let shown = String::from_utf8(text.out).unwrap();
    assert_eq!(text.status, 0);
    assert!(shown.ends_with("\nSpindle works in this PHP.\n") && shown.contains("take turns      swimming"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
}

#[test]
fn a_php_that_is_not_supported_is_named_in_one_line() {
    let folder = Folder::new("doctor_unsupported");
    for (change, expected) in [
        (json!({"version": "7.4.33", "version_id": 70433}), "this is PHP 7.4.33: Spindle needs PHP 8.2 or later"),
        (json!({"zts": true}), "this PHP 8.2.30 is thread-safe (ZTS): Spindle needs one without thread safety (NTS)"),
        (json!({"debug": true}), "this PHP 8.2.30 is a debug build: Spindle needs one built without --enable-debug"),
    ] {
        let mut facts = facts();
        facts["spindle"] = Value::Null;
        facts.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        php(&folder, &facts, "");
        folder.write("spindle.so", "");
        assert_eq!(problems(&folder, &["--extension", "spindle.so"]), [expected]);
    }
}

#[test]
fn a_module_that_does_not_load_is_explained() {
    let folder = Folder::new("doctor_not_loaded");
    let mut facts = facts();
    facts["spindle"] = Value::Null;
    for (message, expected) in [
        (
            "PHP Warning:  PHP Startup: spindle: Unable to initialize module\nModule compiled with module API=20240924\n\
             PHP    compiled with module API=20220829\nThese options need to match\n in Unknown on line 0",
            "the module is for another PHP: it was built for module API=20240924, and PHP 8.2.30 is built with module API=20220829",
        ),
        (
            "PHP Warning:  Cannot load module \"spindle\" because conflicting module \"swoole\" is already loaded in Unknown on line 0",
            "Spindle cannot be loaded together with swoole",
        ),
    ] {
        php(&folder, &facts, &format!("cat >&2 <<'E'\n{message}\nE"));
        let problems = problems(&folder, &[]);
        assert!(problems.len() == 1 && problems[0].starts_with(expected), "{problems:?}");
    }
}

#[test]
fn an_extension_that_keeps_php_from_starting() {
    let folder = Folder::new("doctor_conflict");
    php(&folder, &json!({"version": "8.2.30"}), "");
    let text = folder.read("php").replace("for last;", "echo 'PHP Warning:  Spindle cannot be loaded together with swow: both in Unknown on line 0' >&2; exit 255; for last;");
    folder.write("php", text);
    assert_eq!(problems(&folder, &[]), ["Spindle cannot be loaded together with swow: both"]);
}

#[test]
fn a_php_that_dies_or_is_none() {
    let folder = Folder::new("doctor_dies");
    let mut none = facts();
    none["trial"] = Value::Null;
    php(&folder, &none, "kill -SEGV $$");
    let problem = "the module loads, but PHP has not survived two coroutines: killed by signal 11";
    assert_eq!(problems(&folder, &[]), [problem]);
    php(&folder, &facts(), "exit 3");
    assert_eq!(
        problems(&folder, &[]),
        ["coroutines work, but PHP has ended with exit status: 3 in place of exit status: 0"]
    );
    let mut wrong = facts();
    wrong["trial"] = json!("Error: no");
    php(&folder, &wrong, "");
    assert_eq!(problems(&folder, &[]), ["the module loads, but coroutines do not work: Error: no"]);
    folder.write("php", "#!/bin/sh\necho I am none\n");
    assert_eq!(problems(&folder, &[]), ["./php is not a PHP: './php -v' does not print its version"]);
    fs::remove_file(folder.path("php")).unwrap();
    assert!(
        problems(&folder, &[])[0].starts_with("./php cannot be run: No such file or directory; a PHP 8.2 or later")
    );
    folder.write(
        "php",
        "#!/bin/sh\n[ \"$2\" = -v ] && echo 'PHP 8.2.30 (cli)' || { echo 'PHP Fatal error:  Oh' >&2; exit 254; }\n",
    );
    fs::set_permissions(folder.path("php"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(problems(&folder, &[]), ["PHP does not run (exit status: 254): PHP Fatal error:  Oh"]);
}

#[test]
fn without_a_module_it_says_where_it_has_looked() {
    let folder = Folder::new("doctor_no_module");
    let mut facts = facts();
    facts["spindle"] = Value::Null;
    php(&folder, &facts, "");
    let absent = folder.path("none.so").display().to_string();
    let problems = problems(&folder, &["--extension", &absent]);
    assert_eq!(
        problems,
        [format!(
            "no spindle.so: PHP's configuration loads none, and there is no {absent}; 'make install' installs it"
        )]
    );
}

#[test]
fn what_the_kernel_has_and_a_filter_forbids() {
    let folder = Folder::new("doctor_kernel");
    let mut facts = facts();
    facts["info"] = json!(
        "Kernel pidfd_open => absent: Operation not permitted (errno 1), there since Linux 5.3; without it SIGCHLD\n\
         Kernel epoll_pwait2 => absent: Function not implemented (errno 38), there since Linux 99.0; without it milliseconds\n\
         Kernel MADV_GUARD_INSTALL => absent: Invalid argument (errno 22), there since Linux 6.13; without it mappings\n"
    );
    php(&folder, &facts, "");
    let value = report(&folder, 0, &[]);
    let features = value["kernel"]["features"].as_array().unwrap();
    let forbidden: Vec<_> = features.iter().map(|one| (one["works"] == true, one["forbidden"] == true)).collect();
    assert_eq!(forbidden, [(false, true), (false, false), (false, false)], "{value:#}");
    let notes = value["notes"].to_string();
    assert!(
        notes.contains("forbids pidfd_open, which the kernel has") && notes.contains("vm.max_map_count"),
        "{notes}"
    );

    facts["info"] = json!(
        "Kernel eventfd => missing: Function not implemented (errno 38), there since Linux 2.6; wakes the loop\n"
    );
    php(&folder, &facts, "");
    assert!(problems(&folder, &[])[0].starts_with("the kernel has no eventfd: Function not implemented"));
}

/// What the module writes to `async.block_log`, in the place of a script.
const BLOCKS: &str = r#"
while [ $# -gt 0 ]; do
    case $1 in
        async.block_log=*) log=${1#*=}; log=${log#?}; log=${log%?} ;;
        async.block_warning_ms=*) echo "limit ${1#*=}" ;;
        --) shift; echo "arguments $*"; break ;;
    esac
    shift
done
[ -n "$log" ] || exit 0
block() { echo "{\"blocked_ms\":$1,\"file\":\"a.php\",\"line\":$2,\"function\":\"$3\",\"system_call\":\"$4\",\"library\":\"$5\",\"coroutine\":2,\"pid\":1}"; }
"#;

#[test]
fn a_script_that_blocks() {
    let folder = Folder::new("doctor_script");
    folder.write("a.php", "");
    let lines = "{ echo '{\"watched_above_ms\":20,\"pid\":1}'; block 30 3 f '' ''; block 50 3 f '' ''; block 100 9 g read libx.so; \
                 block 40 4 '' '' ''; echo '{\"half'; } >\"$log\"\n";
    php(&folder, &facts(), &format!("{BLOCKS}{lines}exit 0"));
    let outcome = doctor(&folder, &["--json", "--limit", "20", "a.php", "--limit", "x y"]);
    let value: Value = serde_json::from_slice(&outcome.out).unwrap();
    assert_eq!(String::from_utf8(outcome.err).unwrap(), "limit 20\narguments --limit x y\n");
    assert_eq!(outcome.status, 1);
    let script = &value["script"];
    assert_eq!(
        (&script["spawned"], &script["succeeded"], &script["limit_ms"]),
        (&json!(true), &json!(true), &json!(20))
    );
    let blocks: Vec<_> = script["blocks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| [&one["line"], &one["times"], &one["total_ms"], &one["longest_ms"]].map(|n| n.as_u64().unwrap()))
        .collect();
    assert_eq!(blocks, [[9, 1, 100, 100], [3, 2, 80, 50], [4, 1, 40, 40]], "{value:#}");

    let outcome = doctor(&folder, &["a.php"]);
    let shown = String::from_utf8(outcome.out).unwrap();
    assert_eq!(outcome.status, 1);
    assert!(shown.contains("limit 50\n"), "{shown}");
    for part in [
        "a.php:9\n",
        "in              g(), system call read, by libx.so",
        "80 ms in all, 2 times, 50 ms at the longest",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
}

#[test]
fn a_script_that_does_not_block_spawns_nothing_or_fails() {
    let folder = Folder::new("doctor_script_fine");
    folder.write("a.php", "");
    php(&folder, &facts(), &format!("{BLOCKS}echo '{{\"watched_above_ms\":50,\"pid\":1}}' >\"$log\""));
    let value = report(&folder, 0, &["a.php"]);
    assert_eq!((&value["script"]["spawned"], &value["script"]["blocks"]), (&json!(true), &json!([])));
    php(&folder, &facts(), BLOCKS);
    assert_eq!(report(&folder, 0, &["a.php"])["script"]["spawned"], false);
    php(&folder, &facts(), &format!("{BLOCKS}exit 7"));
    let value = report(&folder, 1, &["a.php"]);
    assert_eq!((&value["script"]["ended"], &value["script"]["succeeded"]), (&json!("exit status: 7"), &json!(false)));
    php(&folder, &facts(), &format!("{BLOCKS}kill -TERM $$"));
    assert_eq!(report(&folder, 1, &["a.php"])["script"]["ended"], "killed by signal 15");
}

#[test]
fn arguments_that_are_wrong() {
    let folder = Folder::new("doctor_usage");
    for (arguments, message) in [
        (&["--limit", "0"][..], "--limit takes milliseconds, from 1 to 86400000"),
        (&["--limit", "x"], "--limit takes milliseconds"),
        (&["--frob"], "invalid option '--frob'"),
        (&["none.php"], "there is no script 'none.php'"),
        (&["--mode", "worker", "a.php"], "--mode takes 'application'"),
        (&["--mode", "application"], "--mode application is for an APP"),
        (&["--mode", "application", "--instances", "0", "a.php"], "--instances takes a number from 1 to 4096"),
        (&["--instances", "2", "a.php"], "--instances is for --mode application"),
    ] {
        let outcome = folder.spindle([&["doctor"], arguments].concat());
        let line = String::from_utf8(outcome.err).unwrap();
        assert_eq!((outcome.status, outcome.out.len()), (2, 0), "{line}");
        assert!(
            line.contains(message) && line.ends_with("; see 'spindle doctor --help'\n") && line.lines().count() == 1,
            "{line}"
        );
    }
}
