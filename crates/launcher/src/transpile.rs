//! `spindle transpile`: plain PHP in place of the operators.

use crate::console::{self, Status};
use crate::tree::{self, Tree};
use lexopt::{Arg, Parser, ValueExt};
use spindle_syntax::{Options, Start, Version, rewrite};
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const HELP: &str = "\
Usage: spindle transpile [OPTION]... FILE
       spindle transpile [OPTION]... --output-dir DIR FILE...
       spindle transpile [OPTION]... --check FILE...

Puts plain PHP in place of the operators spawn, await and suspend, and of
closures without parentheses: for tools that know only PHP. To run, what comes
out still needs the extension. Every line keeps its number. A file that has none
of them comes out as it is, byte for byte.

One FILE is printed. '-' is standard input; './-' is a file of that name.

  --output-dir DIR  writes each FILE to the same path in DIR; prints nothing.
                    FILE is a relative path without '..'. Folders are made as
                    needed, and files that are there already are replaced, but
                    never one that is read.
  --check           prints and writes nothing: the exit status tells whether the
                    operators are used as they must be
  --php VERSION     whose syntax the files have: 8.2, 8.3, 8.4 or 8.5; without
                    it the newest of them
  --short-tags      '<?' opens PHP code, as with PHP's setting short_open_tag
  -h, --help        prints this

Errors go to standard error as FILE:LINE:COLUMN: MESSAGE, the first one of each
file. Lines and columns count from 1, columns in bytes. Only the operators are
looked at; what else is wrong 'php -l' says of what comes out. A FILE with an
error is not printed or written, and the others are.

Exit status:
  0    all is fine
  1    a file has an error, or cannot be read or written
  2    the arguments are wrong, and nothing was done
  141  nobody reads the output any more
";

/// The lexer takes sources shorter than this.
const TOO_LARGE: u64 = 1 << 32;

struct Request {
    check: bool,
    output_dir: Option<OsString>,
    options: Options,
    inputs: Vec<OsString>,
}

/// Runs the command. `Err` is an error in the arguments.
pub fn run(arguments: &mut Parser) -> Result<Status, String> {
    let Some(request) = parse(arguments).map_err(|error| error.to_string())? else {
        return Ok(console::print(HELP.as_bytes()));
    };
    let tree = request.tree()?;
    let mut status = Status::Fine;
    for input in &request.inputs {
        let outcome = request.transpile(input, tree.as_ref()).unwrap_or_else(|Refusal(line)| {
            console::complain(&line);
            Status::Failed
        });
        if outcome != Status::Fine {
            status = outcome;
        }
    }
    Ok(status)
}

/// `None` when help is wanted.
fn parse(arguments: &mut Parser) -> Result<Option<Request>, lexopt::Error> {
    let options = Options { version: Version::V8_5, short_tags: false, start: Start::Html };
    let mut request = Request { check: false, output_dir: None, options, inputs: Vec::new() };
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("check") => request.check = true,
            Arg::Long("output-dir") => request.output_dir = Some(arguments.value()?),
            Arg::Long("php") => request.options.version = arguments.value()?.parse_with(version)?,
            Arg::Long("short-tags") => request.options.short_tags = true,
            Arg::Short('h') | Arg::Long("help") => return Ok(None),
            Arg::Value(input) => request.inputs.push(input),
            option => return Err(option.unexpected()),
        }
    }
    Ok(Some(request))
}

fn version(text: &str) -> Result<Version, &'static str> {
    match text {
        "8.2" => Ok(Version::V8_2),
        "8.3" => Ok(Version::V8_3),
        "8.4" => Ok(Version::V8_4),
        "8.5" => Ok(Version::V8_5),
        _ => Err("--php takes 8.2, 8.3, 8.4 or 8.5"),
    }
}

/// Why there is no plain PHP of a file: a line for standard error.
struct Refusal(Vec<u8>);

impl Refusal {
    fn new(place: &OsStr, reason: &str) -> Refusal {
        Refusal([place.as_bytes(), b": ", console::one_line(reason).as_bytes()].concat())
    }

    fn io(path: &OsStr, error: &io::Error) -> Refusal {
        Refusal::new(path, &console::reason(error))
    }
}

impl Request {
    /// Checks that the arguments fit together. Returns the folder for the output, unless that is printed.
    fn tree(&self) -> Result<Option<Tree>, String> {
        if self.inputs.is_empty() {
            return Err("no FILE given ('-' is standard input)".to_string());
        }
        let Some(dir) = &self.output_dir else {
            if self.inputs.len() > 1 && !self.check {
                return Err("several FILEs need --output-dir DIR or --check: only one is printed".to_string());
            }
            return Ok(None);
        };
        if self.check {
            return Err("--check writes nothing, --output-dir does: give one of them".to_string());
        }
        if dir.is_empty() {
            return Err("--output-dir is empty".to_string());
        }
        for input in &self.inputs {
            if input == "-" {
                return Err("standard input has no path to be given in --output-dir".to_string());
            }
            if tree::relative(Path::new(input)).is_none() {
                return Err(format!(
                    "'{}' would not be in --output-dir: give relative paths without '..'",
                    input.to_string_lossy()
                ));
            }
        }
        Ok(Some(Tree::new(Path::new(dir), &self.inputs)))
    }

    fn transpile(&self, input: &OsStr, tree: Option<&Tree>) -> Result<Status, Refusal> {
        let (source, metadata) = read(input).map_err(|error| Refusal::io(input, &error))?;
        let rewritten = rewrite(&source, self.options).map_err(|error| {
            let place = error.position(&source);
            let mut name = input.to_os_string();
            name.push(format!(":{}:{}", place.line, place.column));
            Refusal::new(&name, &error.message)
        })?;
        let plain = rewritten.as_deref().unwrap_or(&source);
        match tree {
            _ if self.check => Ok(Status::Fine),
            None => Ok(console::print(plain)),
            Some(tree) => {
                let mode = metadata.map_or(0o666, |metadata| metadata.permissions().mode());
                tree.write(Path::new(input), plain, mode)
                    .map_err(|(path, error)| Refusal::io(path.as_os_str(), &error))?;
                Ok(Status::Fine)
            }
        }
    }
}

/// A file's text, and what is known of the file.
fn read(input: &OsStr) -> io::Result<(Vec<u8>, Option<Metadata>)> {
    if input == "-" {
        return Ok((read_all(io::stdin().lock())?, None));
    }
    let file = File::open(input)?;
    let metadata = file.metadata()?;
    if metadata.is_file() && metadata.len() >= TOO_LARGE {
        return Err(too_large());
    }
    Ok((read_all(file)?, Some(metadata)))
}

fn read_all(from: impl Read) -> io::Result<Vec<u8>> {
    let mut source = Vec::new();
    from.take(TOO_LARGE).read_to_end(&mut source)?;
    if source.len() as u64 >= TOO_LARGE { Err(too_large()) } else { Ok(source) }
}

fn too_large() -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, "too large: 4 GiB or more")
}
