//! How the module is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // PHP unloads modules when it ends. Destructors of libraries run after that, and may call through an entry that
    // could not be taken back, as /proc is not to be seen after a chroot.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
