//! Compiles the module's entry against the headers of the PHP that `php-config` (or `$PHP_CONFIG`) names.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PHP_CONFIG");
    println!("cargo:rerun-if-changed=src/module.c");
    let program = env::var("PHP_CONFIG").unwrap_or_else(|_| "php-config".into());
    let output = Command::new(&program).arg("--includes").output();
    let output = output.unwrap_or_else(|e| panic!("cannot run {program} (install php-dev, or set PHP_CONFIG): {e}"));
    assert!(output.status.success(), "{program} --includes failed");
    let includes = String::from_utf8(output.stdout).expect("php-config answers in UTF-8");
    let mut module = cc::Build::new();
    module.file("src/module.c").opt_level(2).warnings(true);
    module.flag("-Wno-unused-parameter").flag("-Wno-sign-compare");
    for include in includes.split_whitespace() {
        module.flag(include);
    }
    module.compile("spindle_faults_module");
}
