//! How fast a source is looked at, taken apart and rewritten.
//!
//!     cargo run --release -p spindle-syntax --example speed -- [--rounds N] FILE…
//!     cargo run --release -p spindle-syntax --example speed -- --print FILE
//!
//! Nanoseconds for a byte of the files, each time the least of N rounds (40) for a file: `may_use()`, which is all that
//! most files pay; the lexer alone; `rewrite()` as it is called; and of the file with a word in a comment at its end, so that
//! all of it is skimmed, or taken apart. With --print, what a file becomes.

use spindle_syntax::{Lexer, Options, Start, Version, may_use, rewrite, rewrite_at_length};
use std::hint::black_box;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const OPTIONS: Options = Options { version: Version::V8_2, short_tags: false, start: Start::Html };

/// What is measured: its name, whether it is given the word at the end, and what it does.
type Measure = (&'static str, bool, fn(&[u8]) -> usize);

const MEASURES: [Measure; 5] = [
    ("may_use", false, |source| usize::from(may_use(source, OPTIONS))),
    ("lexer", false, |source| Lexer::new(source, OPTIONS).map(|token| token.kind as usize).sum()),
    ("rewrite", false, rewritten),
    ("rewrite, skimmed", true, rewritten),
    ("rewrite, taken apart", true, |source| {
        rewrite_at_length(source, OPTIONS).ok().flatten().map_or(0, |text| text.len())
    }),
];

fn rewritten(source: &[u8]) -> usize {
    rewrite(source, OPTIONS).ok().flatten().map_or(0, |text| text.len())
}

struct File {
    text: Vec<u8>,
    with_word: Vec<u8>,
    /// The least of each measure.
    nanoseconds: [u64; MEASURES.len()],
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut rounds = 40;
    match arguments.first().map(String::as_str) {
        Some("--print") if arguments.len() == 2 => return print(&arguments[1]),
        Some("--rounds") if arguments.len() > 2 => {
            rounds = arguments[1].parse().expect("--rounds takes a number");
            arguments.drain(..2);
        }
        None | Some("--print" | "--rounds") => {
            eprintln!("usage: speed [--rounds N] FILE... | speed --print FILE");
            return ExitCode::from(2);
        }
        Some(_) => {}
    }
    let mut files: Vec<File> = arguments.iter().map(|path| read(path)).collect();
    for _ in 0..rounds {
        // All files in between: what the processor has learnt of one is gone when it comes again.
        for file in &mut files {
            for ((_, with_word, measured), least) in MEASURES.iter().zip(&mut file.nanoseconds) {
                let source = if *with_word { &file.with_word } else { &file.text };
                let start = Instant::now();
                black_box(measured(black_box(source)));
                *least = (*least).min(start.elapsed().as_nanos() as u64);
            }
        }
    }
    let bytes: usize = files.iter().map(|file| file.text.len()).sum();
    let walked = files.iter().filter(|file| may_use(&file.text, OPTIONS)).count();
    let changed = files.iter().filter(|file| rewritten(&file.text) > 0).count();
    println!("{} files, {bytes} bytes; {walked} are looked at closely, {changed} rewritten", files.len());
    for (i, (name, ..)) in MEASURES.iter().enumerate() {
        let sum: u64 = files.iter().map(|file| file.nanoseconds[i]).sum();
        let each = sum as f64 / bytes as f64;
        println!("{name:24}{each:8.3} ns/byte {:8.0} MB/s", 1000.0 / each);
    }
    ExitCode::SUCCESS
}

fn read(path: &str) -> File {
    let text = std::fs::read(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let with_word = [&text, &b"\n// await x\n"[..]].concat();
    File { text, with_word, nanoseconds: [u64::MAX; MEASURES.len()] }
}

fn print(path: &str) -> ExitCode {
    let source = read(path).text;
    match rewrite(&source, OPTIONS) {
        Ok(plain) => {
            std::io::stdout().write_all(&plain.unwrap_or(source)).expect("somebody reads it");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}:{}: {error}", error.position(&source).line);
            ExitCode::FAILURE
        }
    }
}
