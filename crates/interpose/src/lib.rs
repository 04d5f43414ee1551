//! Blocking libc calls of PHP, its extensions and their libraries, turned into suspension points.
//!
//! Each hook has the name and the contract of the libc function it stands for: same result, `errno`, partial
//! counts and side effects. Outside a coroutine ([`host::inside`]) it is a plain call of the original.

pub mod books;
mod file_io;
pub mod files;
pub mod flocks;
pub mod host;
pub mod hostent;
mod io;
pub mod load;
pub mod locks;
pub mod names;
pub mod net;
pub mod patch;
mod php_cell;
pub mod pins;
pub mod poll;
pub mod process;
pub mod resolver;
pub mod rw;
pub mod signals;
pub mod system;
pub mod table;
pub mod time;
pub mod wait;
