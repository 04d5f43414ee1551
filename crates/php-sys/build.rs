//! Generates the bindings from the headers of the PHP that `php-config` (or `$PHP_CONFIG`) names, and compiles
//! the C glue against them.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// What versions of PHP differ in, and the first version that has it: names of `cfg` in Rust, and macros with the prefix
/// `SPINDLE_` in C. No other place compares version numbers. The names of versions are for the list of the engine's
/// globals alone, which changes with each.
const NAMES: [(&str, u32); 8] = [
    ("php83", 80300),
    ("php84", 80400),
    ("php85", 80500),
    // The engine checks each call against the end of its C stack.
    ("stack_limit", 80300),
    // Objects whose properties are initialised at the first access, and `http_get_last_response_headers()`.
    ("lazy_objects", 80400),
    ("http_headers", 80400),
    ("clone_with", 80500),
    // A registered shutdown function is the function, not its name.
    ("cached_shutdown_functions", 80500),
];

/// Globals that only some builds of the same version have, as distributions patch PHP: `cfg(field_NAME)`.
const FIELDS: [&str; 2] = ["field_delayed_oom", "field_interned_strings_fallible"];

fn php_config(argument: &str) -> String {
    let program = env::var("PHP_CONFIG").unwrap_or_else(|_| "php-config".into());
    let output = Command::new(&program).arg(argument).output();
    let output = output.unwrap_or_else(|e| panic!("cannot run {program} (install php-dev, or set PHP_CONFIG): {e}"));
    assert!(output.status.success(), "{program} {argument} failed");
    String::from_utf8(output.stdout).expect("php-config answers in UTF-8").trim().to_owned()
}

/// Ends the build with one sentence.
fn refuse(why: &str) -> ! {
    eprintln!("error: {why}");
    std::process::exit(1)
}

fn main() {
    println!("cargo:rerun-if-env-changed=PHP_CONFIG");
    for file in [
        "glue/wrapper.h",
        "glue/fibers.c",
        "glue/glue.c",
        "glue/generators.c",
        "glue/lazy.c",
        "glue/marks.c",
        "glue/request_end.c",
        "glue/streams.c",
        "glue/syntax.c",
        "glue/glue.h",
        "glue/spindle_arginfo.h",
    ] {
        println!("cargo:rerun-if-changed={file}");
    }
    let version: u32 = php_config("--vernum").parse().expect("a version number");
    if version < 80200 {
        refuse(&format!("Spindle needs PHP 8.2 or later, and php-config is that of {}", php_config("--version")));
    }
    let header = PathBuf::from(php_config("--include-dir")).join("main/php_config.h");
    let settings = std::fs::read_to_string(&header).unwrap_or_default();
    for (setting, what, option) in
        [("ZTS", "thread-safe (ZTS)", "--enable-zts"), ("ZEND_DEBUG", "debug", "--enable-debug")]
    {
        if settings.lines().any(|line| line.split_whitespace().eq(["#define", setting, "1"])) {
            let version = php_config("--version");
            refuse(&format!(
                "Spindle does not work with {what} builds of PHP, and the headers in {} are of one ({version}): set PHP_CONFIG to the \
                 php-config of a PHP that was configured without {option}",
                header.display(),
            ));
        }
    }
    let mut present: Vec<&str> = NAMES.iter().filter(|(_, from)| version >= *from).map(|(name, _)| *name).collect();
    let includes = php_config("--includes");
    let includes: Vec<&str> = includes.split_whitespace().collect();

    let mut glue = cc::Build::new();
    glue.file("glue/fibers.c")
        .file("glue/glue.c")
        .file("glue/generators.c")
        .file("glue/lazy.c")
        .file("glue/marks.c")
        .file("glue/request_end.c")
        .file("glue/streams.c")
        .file("glue/syntax.c")
        .opt_level(2)
        .warnings(true)
        .flag("-fvisibility=hidden");
    // The engine's own headers are not clean under -Wextra.
    glue.flag("-Wno-unused-parameter").flag("-Wno-sign-compare");
    let release = format!("\"{}\"", env!("CARGO_PKG_VERSION"));
    glue.define("PHP_SPINDLE_VERSION", release.as_str());
    for name in &present {
        glue.define(&format!("SPINDLE_{}", name.to_uppercase()), None);
    }
    for include in &includes {
        glue.flag(include);
    }
    glue.compile("spindle_php_glue");

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
        .allowlist_var("(gc_collect_cycles|std_object_handlers|sapi_module|module_registry)")
        .allowlist_type("(zend|php|sapi|zval|spindle|_zend).*")
        .opaque_type("_php_output_handler.*")
        .blocklist_function("(zend_)?(strtod|gcvt|dtoa).*")
        .blocklist_item("FP_.*")
        .derive_default(false)
        .layout_tests(false)
        .generate_comments(false)
        .prepend_enum_name(false)
        .generate()
        .expect("bindings of the PHP headers");
    let text = bindings.to_string();
    let is_field = |name: &str| text.contains(&format!("pub {}:", name.trim_start_matches("field_")));
    present.extend(FIELDS.iter().filter(|name| is_field(name)));
    // For the build scripts of the crates that use this one.
    println!("cargo:known={} {}", NAMES.map(|(name, _)| name).join(" "), FIELDS.join(" "));
    println!("cargo:present={}", present.join(" "));
    let out = PathBuf::from(env::var("OUT_DIR").expect("set by cargo"));
    bindings.write_to_file(out.join("bindings.rs")).expect("write the bindings");
}
