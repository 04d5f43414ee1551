//! Compiles the C code, against the headers of the PHP that `php-config` (or `$PHP_CONFIG`) names.

fn main() {
    println!("cargo:rerun-if-changed=src/http.c");
    println!("cargo:rerun-if-env-changed=PHP_CONFIG");
    let config = std::env::var("PHP_CONFIG").unwrap_or_else(|_| "php-config".into());
    let output = std::process::Command::new(&config).arg("--includes").output().expect("php-config, of php-dev");
    let mut c = cc::Build::new();
    String::from_utf8_lossy(&output.stdout).split_whitespace().for_each(|include| _ = c.flag(include));
    c.flag("-Wno-unused-parameter").flag("-Wno-sign-compare").file("src/http.c").compile("acme_http_php");
}
