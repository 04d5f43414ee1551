//! Features of the kernel, tried out.

use spindle_reactor::kernel;
use std::collections::BTreeSet;

#[test]
fn each_feature_has_a_name_of_its_own() {
    let features = kernel::try_features();
    let names: BTreeSet<_> = features.iter().map(|feature| feature.name).collect();
    assert_eq!(names.len(), features.len(), "{features:?}");
}

#[test]
fn what_is_needed_works() {
    for feature in kernel::try_features().iter().filter(|feature| feature.needed) {
        assert_eq!(feature.outcome, Ok(()), "{feature:?}");
    }
}
