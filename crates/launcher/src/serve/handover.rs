//! What the command leaves to another program that is executed in the same process: an upgrade keeps the process, with its children and
//! its descriptors. What it knows of them is JSON in a file that is only in memory.
//!
//! ```text
//!   the old program: keep() of each part ── execve ── the new one: adopt() of each part, and a reload
//! ```

use super::process::{Descriptor, HANDOVER};
use super::{admin, beside, fpm, process, report, sockets, worker};
use crate::console;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::RawFd;
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
    /// The numbers of the workers, and what was counted.
    pub board: Descriptor,
    pub history: report::Kept,
    /// How long the command has run.
    pub age: Duration,
    /// The longest time that a worker has taken to be ready.
    pub slowest: Duration,
    /// How many generations, one after the other, did not get the time to be ready.
    pub given_up: u32,
    /// The descriptors that the command was started with, and its programs are.
    pub inherited: Vec<RawFd>,
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
        if let Some(asked) = rest.strip_prefix(ASKED) {
            return understands(asked).map(|()| None);
        }
        let say = |error: io::Error| format!("what the command before this one has left: {}", console::reason(&error));
        let number = rest.parse().map_err(|_| say(io::ErrorKind::InvalidData.into()))?;
        let mut file = File::from(Descriptor::of(number).take().map_err(say)?);
        let mut text = String::new();
        file.rewind().and_then(|()| file.read_to_string(&mut text)).map_err(say)?;
        let given: Handover = serde_json::from_str(&text).map_err(|error| say(error.into()))?;
        // PHP is started before all is taken.
        process::keep_descriptors(&given.inherited).map_err(say)?;
        Ok(Some(given))
    }

    /// Removes what the command before this one would have removed at its end.
    pub fn discard(self) {
        drop(sockets::Sockets::adopt(self.sockets));
        drop(admin::Admin::adopt(self.admin));
        self.fpm.iter().for_each(fpm::Kept::discard);
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
pub fn question(open: RawFd) -> String {
    format!("{FORM}:{ASKED}:{}:{open}", std::process::id())
}

/// Whether what is executed in its place becomes this process, with its descriptors: a script may start another one, or close them.
fn understands(asked: &str) -> Result<(), String> {
    let mut numbers = asked.split(':').skip(1).map(str::parse::<i32>);
    let (Some(Ok(parent)), Some(Ok(open))) = (numbers.next(), numbers.next()) else {
        return Err("this version cannot take over from the one that runs: restart it".to_owned());
    };
    if rustix::process::getppid().map(|pid| pid.as_raw_pid()) != Some(parent) {
        return Err(
            "what is in its place starts it as another process: that has to execute it, as by 'exec'".to_owned()
        );
    }
    if !process::inheritable().is_ok_and(|numbers| numbers.contains(&open)) {
        return Err("what is in its place closes descriptors before it executes it".to_owned());
    }
    Ok(())
}

/// Whether that is asked.
pub fn is_asked() -> bool {
    std::env::var_os(HANDOVER).is_some_and(|given| given.to_string_lossy().starts_with(&format!("{FORM}:{ASKED}:")))
}
