//! Passes on what spindle-php-sys found out about the PHP version, and how the module is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // PHP unloads modules when it ends. Destructors of libraries run after that, and may call through an entry that
    // could not be taken back, as /proc is not to be seen after a chroot.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    for name in ["php83", "php84", "php85"] {
        println!("cargo:rustc-check-cfg=cfg({name})");
        if std::env::var(format!("DEP_SPINDLE_PHP_GLUE_{}", name.to_uppercase())).is_ok() {
            println!("cargo:rustc-cfg={name}");
        }
    }
}
