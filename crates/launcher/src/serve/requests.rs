//! Which requests there are. The workers know, so all are asked, and who asks is told what they say within a second: one whose event loop
//! stands still does not get to it.

use super::worker::{Stage, Worker};
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long workers may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// How many are told of one worker, which is more than `serve.php` sends.
const MOST: usize = 2_000;

/// A worker that was asked.
struct Asked {
    worker: usize,
    pid: i32,
    requests: Vec<Value>,
    /// How many it has not told.
    more: u64,
    has_answered: bool,
}

/// A question to all workers.
pub struct Asking {
    until: Instant,
    asked: Vec<Asked>,
}

impl Asking {
    pub fn begin(workers: &mut [Worker], now: Instant) -> Asking {
        let some = workers.iter_mut().filter(|worker| worker.stage != Stage::Starting && !worker.is_silent);
        let asked = some.map(|worker| {
            worker.ask_for_requests();
            let (worker, pid) = (worker.number, worker.raw_pid());
            Asked { worker, pid, requests: Vec::new(), more: 0, has_answered: false }
        });
        Asking { until: now + PATIENCE, asked: asked.collect() }
    }

    /// A worker has said this of one request: an object of JSON.
    pub fn tell(&mut self, pid: i32, request: &[u8]) {
        let Some(asked) = self.of(pid) else { return };
        if let Ok(Value::Object(mut request)) = serde_json::from_slice(request)
            && asked.requests.len() < MOST
        {
            request.insert("worker".to_owned(), asked.worker.into());
            request.insert("pid".to_owned(), pid.into());
            asked.requests.push(request.into());
        }
    }

    /// A worker has said that this was all, or how many there are besides.
    pub fn end(&mut self, pid: i32, more: &[u8]) {
        if let Some(asked) = self.of(pid) {
            asked.more = std::str::from_utf8(more).ok().and_then(|more| more.parse().ok()).unwrap_or(0);
            asked.has_answered = true;
        }
    }

    /// A worker has ended.
    pub fn gone(&mut self, pid: i32) {
        self.asked.retain(|asked| asked.pid != pid);
    }

    fn of(&mut self, pid: i32) -> Option<&mut Asked> {
        self.asked.iter_mut().find(|asked| asked.pid == pid && !asked.has_answered)
    }

    /// Returns when those that have not answered are waited for no longer.
    pub fn due(&self) -> Instant {
        self.until
    }

    pub fn is_done(&self, now: Instant) -> bool {
        now >= self.until || self.asked.iter().all(|asked| asked.has_answered)
    }

    /// All requests as JSON, the oldest first, and the workers that have not answered.
    pub fn json(self) -> String {
        #[derive(Serialize)]
        struct Silent {
            worker: usize,
            pid: i32,
        }
        #[derive(Serialize)]
        struct All {
            requests: Vec<Value>,
            more: u64,
            silent: Vec<Silent>,
        }
        let mut all = All { requests: Vec::new(), more: 0, silent: Vec::new() };
        for asked in self.asked {
            all.more = all.more.saturating_add(asked.more);
            if !asked.has_answered {
                all.silent.push(Silent { worker: asked.worker, pid: asked.pid });
            }
            all.requests.extend(asked.requests);
        }
        let age = |request: &Value| request["seconds"].as_f64().unwrap_or(0.0);
        all.requests.sort_by(|one, other| age(other).total_cmp(&age(one)));
        serde_json::to_string(&all).unwrap_or_default() // numbers, and what was JSON
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, Asking, PATIENCE};
    use serde_json::{Value, json};
    use std::time::Instant;

    #[test]
    fn what_workers_say_is_put_together() {
        let asked = |worker, pid| Asked { worker, pid, requests: Vec::new(), more: 0, has_answered: false };
        let now = Instant::now();
        let mut asking = Asking { until: now + PATIENCE, asked: vec![asked(1, 10), asked(2, 20), asked(3, 30)] };
        asking.tell(10, br#"{"id":"a","seconds":0.5}"#);
        for nonsense in [&b"[]"[..], b"{", b"", b"\xff", b"1"] {
            asking.tell(10, nonsense);
        }
        asking.tell(20, br#"{"id":"b","seconds":2,"worker":9}"#);
        asking.tell(40, br#"{"id":"of no worker"}"#);
        asking.end(10, b"0");
        asking.tell(10, br#"{"id":"late"}"#);
        asking.end(20, b"17");
        assert!(!asking.is_done(now) && asking.is_done(now + PATIENCE));
        asking.gone(30);
        assert!(asking.is_done(now));
        asking.asked.push(asked(4, 40));
        let told: Value = serde_json::from_str(&asking.json()).unwrap();
        let expected = json!({
            "requests": [{"id": "b", "seconds": 2, "worker": 2, "pid": 20}, {"id": "a", "seconds": 0.5, "worker": 1, "pid": 10}],
            "more": 17,
            "silent": [{"worker": 4, "pid": 40}],
        });
        assert_eq!(told, expected);
    }
}
