//! The command `spindle`: tools for programs that use Spindle. Each command is a module.
#![deny(unsafe_code)]

mod admin;
mod console;
mod doctor;
mod reload;
mod serve;
mod status;
mod transpile;
mod tree;

use console::Status;
use lexopt::Arg;
use std::process::ExitCode;

const HELP: &str = "\
Usage: spindle COMMAND [ARGUMENT]...

Commands:
  serve          an HTTP server with a PHP file that handles its requests
  reload         new code for 'serve', without a pause
  status         what 'serve' is doing, and where each request is
  doctor         whether Spindle works in a PHP, and what blocks a script
  transpile      plain PHP in place of the operators spawn, await and suspend

Options:
  -h, --help     prints this; 'spindle COMMAND --help' tells about a command
  -V, --version  prints the version
";

fn main() -> ExitCode {
    let mut arguments = lexopt::Parser::from_env();
    let status = match run(&mut arguments) {
        Ok(status) => status,
        Err(Usage { message, help }) => {
            console::complain(format!("spindle: {}; see '{help}'", console::one_line(&message)).as_bytes());
            Status::Usage
        }
    };
    status.into()
}

/// An error in the arguments.
struct Usage {
    message: String,
    /// The command whose help explains it.
    help: &'static str,
}

fn run(arguments: &mut lexopt::Parser) -> Result<Status, Usage> {
    let usage = |message| Usage { message, help: "spindle --help" };
    match arguments.next().map_err(|error| usage(error.to_string()))? {
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(console::print(HELP.as_bytes())),
        Some(Arg::Short('V') | Arg::Long("version")) => {
            Ok(console::print(concat!("spindle ", env!("CARGO_PKG_VERSION"), "\n").as_bytes()))
        }
        Some(Arg::Value(command)) if command == "transpile" => {
            transpile::run(arguments).map_err(|message| Usage { message, help: "spindle transpile --help" })
        }
        Some(Arg::Value(command)) if command == "serve" => Ok(serve::run(arguments)),
        Some(Arg::Value(command)) if command == "reload" => Ok(reload::run(arguments)),
        Some(Arg::Value(command)) if command == "status" => Ok(status::run(arguments)),
        Some(Arg::Value(command)) if command == "doctor" => {
            doctor::run(arguments).map_err(|message| Usage { message, help: "spindle doctor --help" })
        }
        Some(Arg::Value(command)) => Err(usage(format!("unknown command '{}'", command.to_string_lossy()))),
        Some(option) => Err(usage(option.unexpected().to_string())),
        None => Err(usage("no command given".to_string())),
    }
}
