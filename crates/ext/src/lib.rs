//! Waits of PHP extensions in Rust that suspend the coroutine which has called them, where Spindle is loaded, and block the
//! thread where it is not.
//!
//! [`block_on`] polls a future on the stack of the coroutine. Its waker works on any thread, so the future may be one of any
//! runtime; with the feature `tokio` this crate has one, on a thread of its own:
//!
//! ```text
//! /// What a function of an extension calls. Other coroutines run meanwhile.
//! fn fetch(url: String) -> Result<String, Cancelled> {
//!     spindle_ext::block_on(spindle_ext::tokio::spawn(client::get(url)))
//! }
//! ```
//!
//! Nothing is linked: the functions are those of `include/spindle.h`, found at run time, and what is said there holds here.
//!
//! # Cancellation
//! A wait of a coroutine that is cancelled ends with [`Cancelled`]. What was waited for, a future or a job, has been given up by
//! then: a future is dropped before [`block_on`] returns. Return to PHP soon: the exception is thrown when the function has
//! returned, and further waits fail in the same way until then.
//!
//! # Stacks that are abandoned
//! A coroutine that is suspended when the script exits, or dies of a fatal error, is never resumed, and no destructor of its local
//! variables runs. The futures of [`block_on`] are on the heap, so they leak and nothing worse; those of [`spawn`] are dropped when the
//! request ends. Do not wait while something on the stack must be dropped for memory safety, as with scoped threads.
//!
//! # Panics
//! A panic must not leave a function that C code calls: it aborts the process there.
//!

#![deny(clippy::multiple_unsafe_ops_per_block)]

mod api;
mod block_on;
mod coroutine;
mod table;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use api::{
    Cancelled, Holds, Ready, Why, begin_wait, can_park, current, declare, is_cancelled, is_loaded, job, park, sleep,
    wait_fd, wake, without_switch,
};
pub use block_on::block_on;
pub use coroutine::spawn;
