//! The two readings of the monotonic clock.

use spindle_reactor::Reactor;

#[test]
fn the_last_tick_is_in_the_past_and_is_followed_by_others() {
    let start = Reactor::now();
    assert!(Reactor::recently() <= Reactor::now());
    while Reactor::recently() <= start {
        assert!(Reactor::recently() <= Reactor::now());
        std::thread::yield_now();
    }
}
