//! What is told of the workers: for Prometheus, and as JSON.

use super::board::Numbers;
use super::board::tallies::{BOUNDS, CLASSES, DURATION_CLASSES};
use super::limits;
use super::worker::{Stage, Worker};
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

/// What has happened since the command began.
#[derive(Default)]
pub struct History {
    /// What workers have counted that are gone.
    pub gone: Numbers,
    pub starts: u64,
    /// How often another one had to take the place of one, and why.
    pub ends: BTreeMap<Cow<'static, str>, u64>,
    pub reloads: u64,
    pub failed_reloads: u64,
}

/// What is kept of it over an upgrade.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    gone: Vec<u64>,
    starts: u64,
    ends: Vec<(String, u64)>,
    reloads: u64,
    failed_reloads: u64,
}

impl History {
    pub fn keep(&self) -> Kept {
        Kept {
            gone: self.gone.words(),
            starts: self.starts,
            ends: self.ends.iter().map(|(why, count)| (why.clone().into_owned(), *count)).collect(),
            reloads: self.reloads,
            failed_reloads: self.failed_reloads,
        }
    }

    pub fn adopt(kept: Kept) -> History {
        History {
            gone: Numbers::of(|at| kept.gone.get(at).copied().unwrap_or(0)),
            starts: kept.starts,
            ends: kept.ends.into_iter().map(|(why, count)| (why.into(), count)).collect(),
            reloads: kept.reloads,
            failed_reloads: kept.failed_reloads,
        }
    }

    pub fn ended(&mut self, why: &'static str) {
        *self.ends.entry(why.into()).or_default() += 1;
    }
}

#[derive(Serialize)]
pub struct Told {
    worker: usize,
    /// `None`: it was not yet forked.
    pid: Option<i32>,
    generation: u32,
    stage: &'static str,
    seconds: f64,
    memory_bytes: u64,
    #[serde(flatten)]
    numbers: Numbers,
}

impl Told {
    pub fn of(worker: &Worker, numbers: Numbers) -> Told {
        Told {
            worker: worker.number,
            pid: worker.pid().map(Pid::as_raw_pid),
            generation: worker.generation,
            stage: name(worker.stage),
            seconds: worker.began.elapsed().as_secs_f64(),
            memory_bytes: limits::memory(worker).unwrap_or(0),
            numbers,
        }
    }
}

fn name(stage: Stage) -> &'static str {
    match stage {
        Stage::Starting => "starting",
        Stage::Serving => "serving",
        Stage::Leaving => "leaving",
    }
}

/// All workers, and what runs beside them, as JSON.
pub fn status(
    workers: &[Told],
    programs: &[impl Serialize],
    addresses: &[String],
    began: Instant,
    is_stopping: bool,
) -> String {
    #[derive(Serialize)]
    struct Status<'a, P> {
        version: &'static str,
        pid: u32,
        seconds: f64,
        stopping: bool,
        addresses: &'a [String],
        workers: &'a [Told],
        programs: &'a [P],
    }
    let (pid, seconds) = (std::process::id(), began.elapsed().as_secs_f64());
    let version = env!("CARGO_PKG_VERSION");
    let status = Status { version, pid, seconds, stopping: is_stopping, addresses, workers, programs };
    serde_json::to_string(&status).unwrap_or_default() // numbers and fixed names
}

/// The samples of the histogram of durations, by the ends of their names, and their labels.
fn histogram(total: &Numbers) -> Vec<(String, f64)> {
    let mut count: u64 = 0;
    let mut samples = Vec::with_capacity(DURATION_CLASSES + 2);
    for (class, number) in total.durations.iter().enumerate() {
        count = count.saturating_add(*number); // workers may have written anything
        let bound = BOUNDS.get(class).map_or("+Inf".to_owned(), |bound| (*bound as f64 / 1e9).to_string());
        samples.push((format!("_bucket{{le=\"{bound}\"}}"), count as f64));
    }
    samples.push(("_sum".to_owned(), total.duration_sum as f64 / 1e9));
    samples.push(("_count".to_owned(), count as f64));
    samples
}

/// The metrics, in Prometheus' text format.
pub fn metrics(workers: &[Told], history: &History, lost: u64) -> String {
    let mut text = String::new();
    let mut metric = |name: &str, kind: &str, help: &str, samples: &[(String, f64)]| {
        let _ = write!(text, "# HELP spindle_{name} {help}\n# TYPE spindle_{name} {kind}\n"); // a String takes all
        for (labels, value) in samples {
            let _ = writeln!(text, "spindle_{name}{labels} {value}");
        }
    };
    let one = |value: u64| [(String::new(), value as f64)];
    let stages = ["starting", "serving", "leaving"].map(|stage| {
        let count = workers.iter().filter(|worker| worker.stage == stage).count();
        (format!("{{stage=\"{stage}\"}}"), count as f64)
    });
    metric("workers", "gauge", "Processes of workers.", &stages);
    metric("worker_starts_total", "counter", "Workers that were started.", &one(history.starts));
    let ends: Vec<_> = history.ends.iter().map(|(why, count)| (format!("{{why=\"{why}\"}}"), *count as f64)).collect();
    metric(
        "worker_restarts_total",
        "counter",
        "Workers whose place another one had to take, or that have crashed while they finished their requests.",
        &ends,
    );
    let reloads = [("done", history.reloads), ("failed", history.failed_reloads)]
        .map(|(result, count)| (format!("{{result=\"{result}\"}}"), count as f64));
    metric("reloads_total", "counter", "Reloads.", &reloads);
    metric("lines_lost_total", "counter", "Lines of the command that no one has read.", &one(lost));
    let mut total = history.gone;
    workers.iter().for_each(|worker| total.add(&worker.numbers));
    for (name, help, value) in [
        ("requests_total", "Requests that have begun.", total.requests),
        ("connections_total", "Connections that were accepted.", total.accepted),
        ("files_total", "Requests that were answered with a file.", total.files),
        ("refused_total", "Requests that were refused.", total.refused),
        ("cancelled_total", "Requests that were cancelled.", total.cancelled),
        ("handshakes_failed_total", "TLS handshakes that have failed.", total.handshakes_failed),
    ] {
        metric(name, "counter", help, &one(value));
    }
    let logs = ["access", "error"].into_iter().zip(total.lines_lost);
    let logs: Vec<_> = logs.map(|(log, count)| (format!("{{log=\"{log}\"}}"), count as f64)).collect();
    metric("log_lines_lost_total", "counter", "Lines of workers that no one has read.", &logs);
    let responses = CLASSES.iter().zip(total.responses);
    let responses: Vec<_> = responses.map(|(class, count)| (format!("{{class=\"{class}\"}}"), count as f64)).collect();
    metric("responses_total", "counter", "Requests that have ended, by the class of their status.", &responses);
    metric(
        "request_duration_seconds",
        "histogram",
        "Time from the end of a request's head to the end of its response, without WebSockets.",
        &histogram(&total),
    );
    let each = |value: &dyn Fn(&Told) -> f64| -> Vec<(String, f64)> {
        let labels = |told: &Told| Some(format!("{{worker=\"{}\",pid=\"{}\"}}", told.worker, told.pid?));
        workers.iter().filter_map(|told| Some((labels(told)?, value(told)))).collect()
    };
    metric("connections", "gauge", "Open connections.", &each(&|told| told.numbers.connections as f64));
    metric("requests_running", "gauge", "Requests that are being handled.", &each(&|told| told.numbers.running as f64));
    metric("requests_queued", "gauge", "Requests that wait for a handler.", &each(&|told| told.numbers.queued as f64));
    metric("websockets", "gauge", "Open WebSockets.", &each(&|told| told.numbers.websockets as f64));
    metric(
        "response_bytes_waiting",
        "gauge",
        "Bytes that wait for clients.",
        &each(&|told| told.numbers.waiting as f64),
    );
    metric(
        "worker_memory_bytes",
        "gauge",
        "Memory that a worker shares with no other.",
        &each(&|told| told.memory_bytes as f64),
    );
    metric("worker_seconds", "gauge", "Time since a worker was started.", &each(&|told| told.seconds));
    text
}

#[cfg(test)]
mod tests {
    use super::{DURATION_CLASSES, Numbers, histogram};

    #[test]
    fn numbers_that_make_no_sense_are_told() {
        let total = Numbers { durations: [u64::MAX / 2; DURATION_CLASSES], ..Numbers::default() };
        let samples: Vec<f64> = histogram(&total).into_iter().map(|(_, value)| value).collect();
        let buckets = &samples[..DURATION_CLASSES];
        assert!(buckets.is_sorted());
        assert_eq!(buckets.last(), samples.last());
    }
}
