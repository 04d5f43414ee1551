//! Generates the bindings from the headers of the PHP that `php-config` (or `$PHP_CONFIG`) names, and compiles
//! the C glue against them.

use std::env;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

/// Ends the build with one line that says what was found and what is needed.
fn refuse(why: &str) -> ! {
    println!("cargo::error={}", why.split_whitespace().collect::<Vec<_>>().join(" "));
    exit(0) // the printed error fails the build, and cargo prints nothing else about it
}

fn program() -> String {
    env::var("PHP_CONFIG").unwrap_or_else(|_| "php-config".into())
}

/// The differences between versions of PHP, each with the first version that has it: names of `cfg` in Rust, and macros with the
/// prefix `SPINDLE_` in C. No other place compares version numbers. The names of versions serve only the list of the engine's
/// globals, which changes with each version.
const NAMES: [(&str, u32); 10] = [
    ("php83", 80300),
    ("php84", 80400),
    ("php85", 80500),
    // The engine checks each call against the end of its C stack.
    ("stack_limit", 80300),
    // The cache of a resolved call includes the closure.
    ("called_closure", 80300),
    // Objects whose properties are initialised at the first access, and `http_get_last_response_headers()`.
    ("lazy_objects", 80400),
    ("http_headers", 80400),
    ("request_parse_body", 80400),
    ("clone_with", 80500),
    // A registered shutdown function is the function, not its name.
    ("cached_shutdown_functions", 80500),
];

/// Globals that only some builds of the same version have, as distributions patch PHP, or some releases: `cfg(field_NAME)`.
const FIELDS: [&str; 3] = ["field_delayed_oom", "field_interned_strings_fallible", "field_open_basedir_modified"];

fn php_config(argument: &str) -> String {
    let program = program();
    let output = Command::new(&program).arg(argument).output().unwrap_or_else(|error| {
        refuse(&format!("cannot run {program} ({error}): install PHP's development files (php-dev), or set PHP_CONFIG"))
    });
    match String::from_utf8(output.stdout) {
        Ok(text) if output.status.success() => text.trim().to_owned(),
        _ => refuse(&format!("{program} {argument} failed ({}): is it PHP's?", output.status)),
    }
}

/// Returns PHP's version number, if it is a PHP for which the extension can be built.
fn supported_php() -> u32 {
    let (program, version) = (program(), php_config("--version"));
    let number = php_config("--vernum").parse().unwrap_or(0);
    if number < 80200 {
        refuse(&format!("{program} is that of PHP {version}: Spindle needs PHP 8.2 or later"));
    }
    let config = Path::new(&php_config("--include-dir")).join("main/php_config.h");
    println!("cargo:rerun-if-changed={}", config.display());
    let text = fs::read_to_string(&config).unwrap_or_else(|error| {
        refuse(&format!("{}: {error}: install the development files of PHP {version} (php-dev)", config.display()))
    });
    let defines = |name: &str| {
        let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        words.into_iter().any(|words| words[..] == ["#define", name, "1"])
    };
    if defines("ZTS") {
        refuse(&format!(
            "{program} is that of a thread-safe PHP {version} (ZTS): Spindle needs one without thread safety (NTS)"
        ));
    }
    if defines("ZEND_DEBUG") {
        refuse(&format!(
            "{program} is that of a debug build of PHP {version}: Spindle needs one built without --enable-debug"
        ));
    }
    number
}

fn main() {
    println!("cargo:rerun-if-env-changed=PHP_CONFIG");
    for file in [
        "glue/wrapper.h",
        "glue/allocator.c",
        "glue/error_log.c",
        "glue/fibers.c",
        "glue/glue.c",
        "glue/generators.c",
        "glue/instance_autoloaders.c",
        "glue/instance_extensions.c",
        "glue/instance_objects.c",
        "glue/instances.c",
        "glue/instances.h",
        "glue/interrupted.c",
        "glue/lazy.c",
        "glue/marks.c",
        "glue/request_end.c",
        "glue/results.c",
        "glue/sapi.c",
        "glue/streams.c",
        "glue/surroundings.c",
        "glue/surroundings.h",
        "glue/syntax.c",
        "glue/glue.h",
        "glue/spindle_arginfo.h",
        "../../include/spindle.h",
    ] {
        println!("cargo:rerun-if-changed={file}");
    }
    let version = supported_php();
    let mut present: Vec<&str> = NAMES.iter().filter(|(_, from)| version >= *from).map(|(name, _)| *name).collect();
    let includes = php_config("--includes");
    let includes: Vec<&str> = includes.split_whitespace().collect();

    let mut glue = cc::Build::new();
    glue.file("glue/allocator.c")
        .file("glue/error_log.c")
        .file("glue/fibers.c")
        .file("glue/glue.c")
        .file("glue/generators.c")
        .file("glue/instance_autoloaders.c")
        .file("glue/instance_extensions.c")
        .file("glue/instance_objects.c")
        .file("glue/instances.c")
        .file("glue/interrupted.c")
        .file("glue/lazy.c")
        .file("glue/marks.c")
        .file("glue/request_end.c")
        .file("glue/results.c")
        .file("glue/sapi.c")
        .file("glue/streams.c")
        .file("glue/surroundings.c")
        .file("glue/syntax.c")
        .opt_level(2)
        .warnings(true)
        .flag("-fvisibility=hidden");
    // The engine's own headers are not clean under -Wextra.
    glue.flag("-Wno-unused-parameter").flag("-Wno-sign-compare");
    let release = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    glue.define("PHP_SPINDLE_VERSION", release.as_str()).define("SPINDLE_C_CODE", None);
    for name in &present {
        glue.define(&format!("SPINDLE_{}", name.to_uppercase()), None);
    }
    for include in &includes {
        glue.flag(include);
    }
    if let Err(error) = glue.try_compile("spindle_php_glue") {
        refuse(&format!("the C code could not be compiled; a C compiler (gcc) and libc's headers are needed: {error}"));
    }

    let by_version: Vec<String> = present.iter().map(|name| format!("-DSPINDLE_{}", name.to_uppercase())).collect();
    let bindings = bindgen::Builder::default()
        .header("glue/wrapper.h")
        .clang_args(&includes)
        .clang_args(&by_version)
        .allowlist_function("(zend|php|_php|object|spindle|gc|_e|_ze|zval|instanceof|add_|_call|rc_).*")
        .allowlist_function("_?(safe_emalloc|emalloc|efree|ecalloc|erealloc|estrdup).*")
        .allowlist_var("(ZEND|SPINDLE|E_|EG_|SAPI_HEADER_SEN|IS_|IO_|GC_|Z_|spindle|PHP_).*")
        .allowlist_var("(executor|compiler|basic|output|core|sapi|file)_globals")
        .allowlist_var("zend_(autoload|inheritance_cache_get|inheritance_cache_add|resolve_path|compile_file|compile_string|execute_ex|interrupt_function|ce_.*|one_char_string|empty_string|error_cb|throw_exception_hook|std_.*|known_strings)")
        .allowlist_var("(MODULE_TEMPORARY|gc_collect_cycles|std_object_handlers|sapi_module|module_registry)")
        .allowlist_type("(zend|php|sapi|zval|spindle|_zend).*")
        .opaque_type("_php_output_handler.*")
        .blocklist_function("(zend_)?(strtod|gcvt|dtoa).*")
        .blocklist_item("FP_.*")
        .derive_default(false)
        .layout_tests(false)
        .generate_comments(false)
        .prepend_enum_name(false);
    // Without libclang bindgen panics: the message is printed here, once.
    panic::set_hook(Box::new(|_| {}));
    let bindings = match panic::catch_unwind(AssertUnwindSafe(|| bindings.generate())) {
        Ok(Ok(bindings)) => bindings,
        Ok(Err(error)) => refuse(&format!("no bindings of PHP's headers: {error}")),
        Err(why) => {
            let why = why.downcast_ref::<String>().map_or("bindgen panicked", String::as_str);
            refuse(&format!("no bindings of PHP's headers; libclang and clang's headers are needed (clang): {why}"))
        }
    };
    let _ = panic::take_hook();
    let text = bindings.to_string();
    let is_field = |name: &str| text.contains(&format!("pub {}:", name.trim_start_matches("field_")));
    present.extend(FIELDS.iter().filter(|name| is_field(name)));
    // For the build scripts of the crates that use this one.
    println!("cargo:known={} {}", NAMES.map(|(name, _)| name).join(" "), FIELDS.join(" "));
    println!("cargo:present={}", present.join(" "));
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo"));
    bindings.write_to_file(out.join("bindings.rs")).expect("write the bindings");
}
