//! What the command leaves to another program that is executed in the same process: an upgrade keeps the process, with its children and
//! its descriptors. What it knows of them is JSON in a file that is only in memory.
//!
//! ```text
//!   the old program: keep() of each part ── execve ── the new one: adopt() of each part, and a reload
//! ```

use super::process::{Descriptor, HANDOVER};
use super::{admin, beside, fpm, sockets, worker};
use crate::console;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::time::Duration;

/// Changes with the structs that are kept: another program that knows this one understands them. Its name stands in the variable, before
/// the number of the descriptor.
const FORM: &str = "1";

/// What asks, in place of the descriptor.
const ASKED: &str = "asked";

#[derive(Serialize, Deserialize)]
pub struct Handover {
    pub sockets: sockets::Kept,
    pub admin: admin::Kept,
    pub workers: Vec<worker::Kept>,
    pub beside: Vec<beside::Kept>,
    pub fpm: Option<fpm::Kept>,
    /// The longest time that a worker has taken to be ready.
    pub slowest: Duration,
}

impl Handover {
    /// What was left to this process, if it is the one that takes over.
    ///
    /// # Errors
    /// What was left is in another form, or cannot be read.
    pub fn given() -> Result<Option<Handover>, String> {
        let Some(given) = std::env::var_os(HANDOVER) else { return Ok(None) };
        let given = given.to_string_lossy();
        let (form, rest) = given.split_once(':').unwrap_or_default();
        if form != FORM {
            return Err("this version cannot take over from the one that runs: restart it".to_owned());
        }
        if rest == ASKED {
            return Ok(None);
        }
        let say = |error: io::Error| format!("what the command before this one has left: {}", console::reason(&error));
        let number = rest.parse().map_err(|_| say(io::ErrorKind::InvalidData.into()))?;
        let mut file = File::from(Descriptor::of(number).take().map_err(say)?);
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(say)?;
        serde_json::from_str(&text).map(Some).map_err(|error| say(error.into()))
    }

    /// The variable for the program that takes over, and a file that has to be open until that is executed.
    ///
    /// # Errors
    /// There is no memory.
    pub fn leave(&self) -> io::Result<(String, File)> {
        let mut file = File::from(memfd_create("spindle-handover", MemfdFlags::CLOEXEC)?);
        file.write_all(&serde_json::to_vec(self)?)?;
        Ok((format!("{FORM}:{}", Descriptor::keep(&file)?.number()), file))
    }
}

/// What the variable is for a program that is to say whether it could take over.
pub fn question() -> String {
    format!("{FORM}:{ASKED}")
}

/// Whether that is asked.
pub fn is_asked() -> bool {
    std::env::var_os(HANDOVER).is_some_and(|given| given == question().as_str())
}
