//! The patcher in a shared library, loaded by a C program: PHP's situation, and the one in which
//! our own calls of the originals could be led astray.

mod patch_support;

use std::path::{Path, PathBuf};
use std::process::Command;

use patch_support::Fixtures;

/// The example `patch_lib`, which `cargo test` has built next to this program.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let path = program.ancestors().nth(2).unwrap().join("examples/libpatch_lib.so");
    assert!(path.exists(), "no {}: build it with --examples", path.display());
    path
}

fn run(host: &Path, how: &str) {
    let output = Command::new(host).arg(library()).arg(how).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{how}: {}\n{stdout}{stderr}", output.status);
    assert!(stdout.ends_with("host ok\n"), "{how}: {stdout}");
}

#[test]
fn a_pie_program_bound_at_load() {
    let fixtures = Fixtures::new("patch-host-pie");
    let flags = ["-fPIE", "-pie", "-Wl,-z,relro,-z,now", "-ldl"];
    let host = fixtures.compile("patch_host.c", "host-pie", &flags);
    run(&host, "deep");
    run(&host, "shallow");
}

#[test]
fn a_program_whose_stub_is_the_address_for_all() {
    let fixtures = Fixtures::new("patch-host-fixed");
    for (name, bind) in [("host-now", "-Wl,-z,now"), ("host-lazy", "-Wl,-z,lazy")] {
        let flags = ["-fno-pie", "-no-pie", "-fplt", "-DWANT_CANONICAL", bind, "-ldl"];
        let host = fixtures.compile("patch_host.c", name, &flags);
        run(&host, "deep");
        run(&host, "shallow");
    }
}
