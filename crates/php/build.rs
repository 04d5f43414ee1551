//! Passes on what spindle-php-sys found out about the PHP version.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["php83", "php84", "php85"] {
        println!("cargo:rustc-check-cfg=cfg({name})");
        if std::env::var(format!("DEP_SPINDLE_PHP_GLUE_{}", name.to_uppercase())).is_ok() {
            println!("cargo:rustc-cfg={name}");
        }
    }
}
