//! Random numbers for fair choices.

use spindle_zend::{PhpStatic, engine};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

static STATE: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// Returns a number below `end`, which is not 0. The setting `async.seed` repeats the sequence.
pub fn below(end: usize) -> usize {
    let mut state = STATE.get();
    if state == 0 {
        let seed = engine::setting(c"async.seed").trim().parse().unwrap_or(0_u64);
        state = if seed == 0 { RandomState::new().hash_one(0) | 1 } else { seed };
    }
    // xorshift64*: fair enough, and cheap.
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    STATE.set(state);
    (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end
}
