//! What the hooks add to opening, reading and closing cached files of 2 KiB (ns each), and to free locks.

#[path = "../tests/common/mod.rs"]
mod common;

use spindle_interpose::hooks::{fd, file, rw, sync::mutex};
use std::ffi::CString;
use std::time::Instant;

const FILES: usize = 1_000;
const PASSES: usize = 50;

fn measure(name: &str, mut each: impl FnMut(usize)) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..PASSES {
        let start = Instant::now();
        (0..FILES).for_each(&mut each);
        best = best.min(start.elapsed().as_nanos() as f64 / FILES as f64);
    }
    println!("{name:<40} {best:8.1} ns");
    best
}

fn main() {
    let _test = common::Test::new();
    let directory = std::env::args().nth(1).unwrap_or_else(|| "target".into());
    let directory = format!("{directory}/files-cost-{}", std::process::id());
    std::fs::create_dir(&directory).expect("a directory");
    let names: Vec<CString> = (0..FILES).map(|i| CString::new(format!("{directory}/{i}")).expect("a name")).collect();
    names.iter().for_each(|name| std::fs::write(name.to_str().expect("text"), [b'x'; 2048]).expect("a file"));
    let mut buffer = [0u8; 8192];
    let at = buffer.as_mut_ptr().cast::<libc::c_void>();
    // SAFETY: C strings, and a buffer of the size that is passed; each descriptor is closed.
    let plain = measure("open, fstat, read, read, close", |i| unsafe {
        let fd = libc::open(names[i].as_ptr(), libc::O_RDONLY);
        let mut stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat);
        while libc::read(fd, at, 8192) > 0 {}
        libc::close(fd);
    });
    // SAFETY: as above.
    let hooked = measure("hooked", |i| unsafe {
        let fd = file::open(names[i].as_ptr(), libc::O_RDONLY, 0);
        let mut stat = std::mem::zeroed();
        libc::fstat(fd, &mut stat);
        while rw::read(fd, at, 8192) > 0 {}
        fd::close(fd);
    });
    println!("{:<40} {:8.2}", "ratio", hooked / plain);
    // SAFETY: as above; the descriptor is closed.
    unsafe {
        let fd = libc::open(names[0].as_ptr(), libc::O_RDWR);
        measure("pread 2 KiB", |_| assert!(libc::pread(fd, at, 2048, 0) == 2048));
        measure("hooked", |_| assert!(rw::pread(fd, at, 2048, 0) == 2048));
        measure("pwrite 2 KiB", |_| assert!(libc::pwrite(fd, at, 2048, 0) == 2048));
        measure("hooked", |_| assert!(rw::pwrite(fd, at, 2048, 0) == 2048));
        libc::close(fd);
        let mut pair = [0; 2];
        libc::pipe(pair.as_mut_ptr());
        measure("pipe write and read of 100 bytes", |_| {
            libc::write(pair[1], at, 100);
            libc::read(pair[0], at, 100);
        });
        measure("hooked", |_| {
            rw::write(pair[1], at, 100);
            rw::read(pair[0], at, 100);
        });
    }
    let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
    let mutex = &raw mut mutex;
    // SAFETY: a valid mutex.
    measure("mutex lock and unlock", |_| unsafe {
        libc::pthread_mutex_lock(mutex);
        libc::pthread_mutex_unlock(mutex);
    });
    // SAFETY: a valid mutex.
    measure("hooked", |_| unsafe {
        mutex::pthread_mutex_lock(mutex);
        mutex::pthread_mutex_unlock(mutex);
    });
    let _ = std::fs::remove_dir_all(directory);
}
