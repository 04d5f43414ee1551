//! Passes on what spindle-php-sys found out about the PHP version.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let names = |which: &str| std::env::var(format!("DEP_SPINDLE_PHP_GLUE_{which}")).unwrap_or_default();
    for name in names("KNOWN").split_whitespace() {
        println!("cargo:rustc-check-cfg=cfg({name})");
    }
    for name in names("PRESENT").split_whitespace() {
        println!("cargo:rustc-cfg={name}");
    }
}
