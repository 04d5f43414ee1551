//! `spindle status`: what a `spindle serve` is doing: its workers, what runs beside them, and each request with where it is.

use crate::admin;
use crate::console::{self, Status, one_line};
use lexopt::Parser;
use serde_json::Value;
use std::fmt::Write;

const HELP: &str = "\
Usage: spindle status SOCKET

Prints what a 'spindle serve' is doing: its workers, the programs beside them,
and each request, the oldest first, with its age, how far it is, and where its
coroutines are. SOCKET is what it was given as --admin unix:SOCKET.

  -h, --help  prints this

Exit status:
  0  it has been printed
  1  it has not: a line on standard error says why
";

/// Runs the command.
pub fn run(arguments: &mut Parser) -> Status {
    admin::run(arguments, "status", HELP, None, |socket, _| {
        let mut asked = Vec::new();
        for path in ["GET /status", "GET /requests"] {
            match admin::ask(socket, path, Some(admin::PATIENCE))? {
                Some((true, body)) => asked.push(serde_json::from_str(&body).unwrap_or(Value::Null)),
                Some((false, why)) => return Ok(admin::fails(why.trim_end())),
                None => return Ok(admin::fails("it has ended")),
            }
        }
        Ok(console::print(text(&asked[0], &asked[1]).as_bytes()))
    })
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}

/// A text as a terminal may have it.
fn word(value: &Value) -> String {
    one_line(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

fn duration(seconds: &Value) -> String {
    let seconds = seconds.as_f64().unwrap_or(0.0);
    let whole = seconds as u64;
    match whole {
        0..60 => format!("{seconds:.1} s"),
        60..3_600 => format!("{} min", whole / 60),
        3_600..172_800 => format!("{} h {} min", whole / 3_600, whole / 60 % 60),
        _ => format!("{} days", whole / 86_400),
    }
}

fn text(status: &Value, requests: &Value) -> String {
    let mut text = String::new();
    // A String takes all.
    let _ = write!(text, "process {}, up for {}", status["pid"], duration(&status["seconds"]));
    each(&status["addresses"]).for_each(|address| text += &format!(", at {}", word(address)));
    text += if status["stopping"] == true { ", stopping\n" } else { "\n" };
    for worker in each(&status["workers"]) {
        let memory = worker["memory_bytes"].as_f64().unwrap_or(0.0) / 1e6;
        let process = worker["pid"].as_i64().map_or(String::new(), |pid| format!("process {pid}, "));
        let _ = writeln!(
            text,
            "worker {}: {process}{} for {}, {memory:.1} MB, connections {}, requests {}, running {}, queued {}",
            worker["worker"],
            word(&worker["stage"]),
            duration(&worker["seconds"]),
            worker["connections"],
            worker["requests"],
            worker["running"],
            worker["queued"],
        );
    }
    for program in each(&status["programs"]) {
        let (name, stage) = (word(&program["name"]), word(&program["stage"]));
        let _ = write!(text, "{name}: {stage}");
        if let Some(pid) = program["pid"].as_i64() {
            let _ = write!(text, " for {}, process {pid}", duration(&program["seconds"]));
        }
        let _ = writeln!(text, ", starts {}, failures {}", program["starts"], program["failures"]);
    }
    for worker in each(&requests["silent"]) {
        let _ = writeln!(text, "worker {}, process {}, does not say what it is doing", worker["worker"], worker["pid"]);
    }
    for request in each(&requests["requests"]) {
        let _ = writeln!(
            text,
            "\n{} {}, {} for {}: worker {}, request {}, from {}",
            word(&request["method"]),
            word(&request["target"]),
            word(&request["stage"]),
            duration(&request["seconds"]),
            request["worker"],
            word(&request["id"]),
            word(&request["client"]),
        );
        let places = request["where"].as_str().unwrap_or_default();
        places.lines().for_each(|line| text += &format!("{}\n", one_line(line)));
    }
    match requests["more"].as_u64() {
        None | Some(0) => {}
        Some(more) => text += &format!("\nand {more} more requests\n"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{duration, text};
    use serde_json::{Value, json};

    #[test]
    fn durations() {
        for (seconds, expected) in
            [(0.04, "0.0 s"), (59.94, "59.9 s"), (60.0, "1 min"), (7_260.0, "2 h 1 min"), (172_800.0, "2 days")]
        {
            assert_eq!(duration(&seconds.into()), expected);
        }
    }

    #[test]
    fn nothing_reaches_the_terminal_as_it_is() {
        let told = text(&Value::Null, &json!({"requests": [{"target": "/\u{1b}[2J", "where": "  #1\u{7}\n    at x"}]}));
        assert!(told.contains("/\\u{1b}[2J") && told.contains("  #1\\u{7}\n    at x\n"), "{told}");
    }
}
