//! Descriptors of the whole process are counted: no other test may run in it, also where `cargo test` runs those of a file at
//! once.

use spindle_reactor::{internal_fds, kernel};

#[test]
fn trying_leaves_no_descriptor_open() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = (open(), internal_fds());
    let _ = kernel::try_features();
    assert_eq!((open(), internal_fds()), before);
}
