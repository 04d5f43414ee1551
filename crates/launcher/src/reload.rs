//! `spindle reload`: has a `spindle serve` replace its workers, and waits until they have taken over.

use crate::admin;
use crate::console::{self, Status};
use lexopt::Parser;

const HELP: &str = "\
Usage: spindle reload [--binary] SOCKET

Has a 'spindle serve' start PHP anew, with the code that is there now, and waits
until that has taken over. SOCKET is what it was given as --admin unix:SOCKET.

  --binary    with the 'spindle' that is there now, too: an upgrade
  -h, --help  prints this

Exit status:
  0  the new PHP has taken over
  1  the old one goes on, as a line on standard error says, or there is none
";

/// Runs the command.
pub fn run(arguments: &mut Parser) -> Status {
    admin::run(arguments, "reload", HELP, Some("binary"), |socket, is_binary| {
        Ok(match admin::ask(socket, if is_binary { "POST /upgrade" } else { "POST /reload" }, None)? {
            Some((true, _)) => Status::Fine,
            Some((false, why)) => {
                console::complain(why.trim_end().as_bytes());
                Status::Failed
            }
            None => admin::fails("it has ended before the reload was done"),
        })
    })
}
