//! Compiles the C code, against the headers of the PHP that `php-config` names.

fn main() {
    println!("cargo:rerun-if-changed=src/futures.c");
    let output = std::process::Command::new("php-config").arg("--includes").output().expect("php-config, of php-dev");
    let mut c = cc::Build::new();
    String::from_utf8_lossy(&output.stdout).split_whitespace().for_each(|include| _ = c.flag(include));
    c.flag("-Wno-unused-parameter").flag("-Wno-sign-compare").file("src/futures.c").compile("authors_futures_php");
}
