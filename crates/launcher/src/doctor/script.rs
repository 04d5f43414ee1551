//! Runs a script, or boots an application, and collects what has blocked its event loop.

use super::Request;
use super::php::{in_words, with_module};
use super::report::{Application, Block, Found, Report, Script};
use crate::console;
use serde::Deserialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const APPLICATION: &str = include_str!("application.php");

/// A line of `async.block_log`.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Blocked {
        blocked_ms: u64,
        file: String,
        line: u64,
        function: String,
        system_call: String,
        library: String,
    },
    Watched {
        #[serde(rename = "watched_above_ms")]
        _limit: u64,
    },
}

/// Runs the script of the request, with its output where it belongs.
pub fn run(request: &Request, report: &mut Report) {
    let Some(php) = report.php.as_ref() else { return };
    if php.sapi != "cli" {
        report.problems.push(format!(
            "a script is run by PHP's command line (cli), and this is {}: --php names another one",
            php.sapi
        ));
        return;
    }
    let (log, found) = match (tempfile::NamedTempFile::new(), tempfile::NamedTempFile::new()) {
        (Ok(log), Ok(found)) => (log, found),
        (Err(error), _) | (_, Err(error)) => {
            return report.problems.push(format!("no temporary file: {}", console::reason(&error)));
        }
    };
    let mut command = Command::new(&php.file);
    if report.module.by.as_deref() == Some("this command")
        && let Some(file) = &report.module.file
    {
        command.arg("-d").arg(with_module(file));
    }
    command.arg("-d").arg(format!("async.block_warning_ms={}", request.limit));
    // The script may change its folder. In quotes, for the path may have characters that mean something in an ini file.
    let place = std::path::absolute(log.path()).unwrap_or_else(|_| log.path().to_path_buf());
    command.arg("-d").arg(format!("async.block_log=\"{}\"", place.display()));
    if request.instances.is_some() {
        command.arg("-d").arg("opcache.enable_cli=1"); // as 'spindle serve' has it
        command.arg("-r").arg(APPLICATION.trim_start_matches("<?php\n")).arg("--").arg(found.path());
        command.arg(std::path::absolute(&request.script[0]).unwrap_or_else(|_| request.script[0].clone().into()));
    } else {
        command.arg("-f").arg(&request.script[0]).arg("--");
    }
    command.args(&request.script[1..]);
    if request.json {
        command.stdout(Stdio::from(std::io::stderr()));
    }
    // A user who ends a script with ^C wants its report: the script gets the signal too, and handles it as it does.
    let ignored = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let _ = signal_hook::flag::register(signal, Arc::clone(&ignored)); // without it there is no report
    }
    let status = match command.status() {
        Ok(status) => status,
        Err(error) => return report.problems.push(format!("{}: {}", php.file.display(), console::reason(&error))),
    };
    let text = String::from_utf8_lossy(&fs::read(log.path()).unwrap_or_default()).into_owned();
    let lines: Vec<Line> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let application = request.instances.map(|instances| {
        let found = fs::read(found.path()).ok().and_then(|text| serde_json::from_slice::<Found>(&text).ok());
        Application { instances, found: found.unwrap_or_else(|| Found::without("it ends PHP")) }
    });
    report.script = Some(Script {
        file: request.script[0].to_string_lossy().into_owned(),
        ended: in_words(status),
        succeeded: status.success(),
        application,
        spawned: !lines.is_empty(),
        limit_ms: request.limit,
        blocks: places(lines),
    });
}

/// Adds up what was found at the same place; the one that cost most comes first.
fn places(lines: Vec<Line>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines {
        let Line::Blocked { blocked_ms, file, line, function, system_call, library } = line else { continue };
        let is_same = |block: &&mut Block| {
            (&block.file, block.line, &block.function) == (&file, line, &function)
                && (&block.system_call, &block.library) == (&system_call, &library)
        };
        match blocks.iter_mut().find(is_same) {
            Some(block) => {
                block.times += 1;
                block.total_ms += blocked_ms;
                block.longest_ms = block.longest_ms.max(blocked_ms);
            }
            None => {
                let advice = advice(&function, &system_call);
                let (times, total_ms, longest_ms) = (1, blocked_ms, blocked_ms);
                blocks.push(Block { file, line, function, system_call, library, times, total_ms, longest_ms, advice });
            }
        }
    }
    blocks.sort_by_key(|block| std::cmp::Reverse(block.total_ms));
    blocks
}

fn advice(function: &str, system_call: &str) -> &'static str {
    if !system_call.is_empty() {
        "it waits in a way that Spindle does not see: use it for shorter times, or in a process of its own"
    } else if !function.is_empty() {
        "an internal function that computes, and cannot be suspended: call it with less, or in a process of its own"
    } else {
        "PHP code that computes: call Async\\suspend() in its loop"
    }
}
