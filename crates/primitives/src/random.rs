//! Random numbers for fair choices.

use spindle_zend::{PhpStatic, engine};
use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};

static STATE: PhpStatic<Cell<u64>> = PhpStatic::new(Cell::new(0));

/// Returns a number from `start` on and below `end`, which is greater. The setting `async.seed` repeats the sequence.
#[inline]
pub fn from_to(start: usize, end: usize) -> usize {
    let count = end - start;
    if count == 1 {
        return start;
    }
    // The upper half of a product of 64 bits, instead of a remainder.
    start + ((u64::from(next()) * count as u64) >> 32) as usize
}

fn next() -> u32 {
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
    (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
}
