//! The only edge from this layer upwards, which the list `floors` declares: what higher layers do at the moments of a
//! coroutine's life. Direct calls, which cost nothing more.

pub use crate::moments::*;
