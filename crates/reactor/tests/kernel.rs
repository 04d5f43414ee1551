//! Features of the kernel, tried out.

use spindle_reactor::{internal_fds, kernel};
use std::collections::BTreeSet;

#[test]
fn trying_leaves_no_descriptor_open() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let before = (open(), internal_fds());
    let features = kernel::try_features();
    assert_eq!((open(), internal_fds()), before);
    let names: BTreeSet<_> = features.iter().map(|feature| feature.name).collect();
    assert_eq!(names.len(), features.len(), "{features:?}");
}

#[test]
fn what_is_needed_works() {
    for feature in kernel::try_features().iter().filter(|feature| feature.needed) {
        assert_eq!(feature.outcome, Ok(()), "{feature:?}");
    }
}
