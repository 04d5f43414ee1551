//! What fails when, and what has failed.
//!
//! Calls come from several threads and from signal handlers: counters and the log are atomic and take no lock.

use crate::calls::Call;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// A fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// It fails with this `errno` (or returns this code, if that is how the call fails).
    Error(i32),
    /// Less is read or written than was asked for.
    Short,
    /// `poll`: everything is said to be ready.
    Ready,
    /// `epoll_wait`: an event comes again.
    Stale,
}

const SHORT: i32 = 10_000;
const READY: i32 = 10_001;
const STALE: i32 = 10_002;

/// The names of the plan. (`EAI_…` are negative, so one table holds all.)
const NAMES: &[(&str, i32)] = &[
    ("short", SHORT),
    ("ready", READY),
    ("stale", STALE),
    ("EINTR", libc::EINTR),
    ("EAGAIN", libc::EAGAIN),
    ("EIO", libc::EIO),
    ("ENOSPC", libc::ENOSPC),
    ("ENOMEM", libc::ENOMEM),
    ("EMFILE", libc::EMFILE),
    ("ENFILE", libc::ENFILE),
    ("EPIPE", libc::EPIPE),
    ("ECONNRESET", libc::ECONNRESET),
    ("ECONNREFUSED", libc::ECONNREFUSED),
    ("ECONNABORTED", libc::ECONNABORTED),
    ("ENETUNREACH", libc::ENETUNREACH),
    ("ETIMEDOUT", libc::ETIMEDOUT),
    ("EPERM", libc::EPERM),
    ("ENOSYS", libc::ENOSYS),
    ("ENOLCK", libc::ENOLCK),
    ("EOPNOTSUPP", libc::EOPNOTSUPP),
    ("EINVAL", libc::EINVAL),
    ("EAI_AGAIN", libc::EAI_AGAIN),
    ("EAI_MEMORY", libc::EAI_MEMORY),
    ("EAI_FAIL", libc::EAI_FAIL),
];

impl What {
    fn code(self) -> i32 {
        match self {
            Self::Error(code) => code,
            Self::Short => SHORT,
            Self::Ready => READY,
            Self::Stale => STALE,
        }
    }

    fn of(code: i32) -> Self {
        match code {
            SHORT => Self::Short,
            READY => Self::Ready,
            STALE => Self::Stale,
            code => Self::Error(code),
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum When {
    Call(u64),
    /// Of a million.
    Share(u64),
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    when: When,
    what: What,
}

#[derive(Default, Debug)]
struct Plan {
    rules: BTreeMap<Call, Vec<Rule>>,
    seed: u64,
    pid: u32,
}

const LOGGED: usize = 8192;

static PLAN: OnceLock<Plan> = OnceLock::new();
static ARMED: AtomicBool = AtomicBool::new(false);
static MADE: [AtomicU64; Call::COUNT] = [const { AtomicU64::new(0) }; Call::COUNT];
/// The call, its number and the code of each fault, as many as fit. All are counted.
static LOG: [(AtomicU32, AtomicU32, AtomicU32); LOGGED] =
    [const { (AtomicU32::new(0), AtomicU32::new(0), AtomicU32::new(0)) }; LOGGED];
static INJECTED: AtomicUsize = AtomicUsize::new(0);

fn rule(text: &str) -> Option<(Call, Rule)> {
    let (call, rest) = text.split_once(':')?;
    let (when, what) = rest.split_once('=')?;
    let call = Call::named(call)?;
    let when = match when.strip_suffix('%') {
        Some(share) => When::Share((share.parse::<f64>().ok()? * 10_000.0) as u64),
        None => When::Call(when.parse().ok()?),
    };
    let &(_, code) = NAMES.iter().find(|(name, _)| *name == what)?;
    Some((call, Rule { when, what: What::of(code) }))
}

/// Reads the plan from the environment, once.
pub fn read() -> Result<(), String> {
    if PLAN.get().is_some() {
        return Ok(());
    }
    let mut plan = Plan { pid: std::process::id(), ..Plan::default() };
    let text = std::env::var("SPINDLE_FAULTS").unwrap_or_default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (call, rule) = rule(part).ok_or_else(|| format!("SPINDLE_FAULTS: {part} is no rule"))?;
        plan.rules.entry(call).or_default().push(rule);
    }
    if let Ok(seed) = std::env::var("SPINDLE_FAULTS_SEED") {
        plan.seed = seed.parse().map_err(|_| format!("SPINDLE_FAULTS_SEED: {seed} is no number"))?;
    }
    let _ = PLAN.set(plan); // only this thread does so
    // SAFETY: the handler is a function of this module, which PHP unloads only when the process ends.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    Ok(())
}

/// A child has a life of its own: what it does before it becomes another program is not in the plan.
extern "C" fn in_child() {
    disarm();
}

pub fn arm() {
    ARMED.store(true, Ordering::Relaxed);
}

pub fn disarm() {
    ARMED.store(false, Ordering::Relaxed);
}

/// The same for the same seed, call and number, whatever else happens.
fn dice(seed: u64, call: Call, number: u64, rule: usize) -> u64 {
    let mut x = seed ^ (call as u64) << 48 ^ (rule as u64) << 40 ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb] {
        x = (x ^ x >> 30).wrapping_mul(factor);
    }
    x ^ x >> 31
}

/// Counts a call and returns the fault that the plan has for it. `possible`: whether the call, with its arguments, can fail
/// so.
pub fn decide(call: Call, possible: impl Fn(What) -> bool) -> Option<What> {
    if !ARMED.load(Ordering::Relaxed) {
        return None;
    }
    let number = MADE[call as usize].fetch_add(1, Ordering::Relaxed) + 1;
    let plan = PLAN.get()?;
    let rules = plan.rules.get(&call)?.iter().enumerate();
    let planned = |rule: &Rule, i| match rule.when {
        When::Call(wanted) => wanted == number,
        When::Share(share) => dice(plan.seed, call, number, i) % 1_000_000 < share,
    };
    let (_, rule) = rules.into_iter().find(|(i, rule)| planned(rule, *i) && possible(rule.what))?;
    let at = INJECTED.fetch_add(1, Ordering::Relaxed);
    if let Some((what, which, code)) = LOG.get(at) {
        what.store(call as u32, Ordering::Relaxed);
        which.store(number as u32, Ordering::Relaxed);
        code.store(rule.what.code() as u32, Ordering::Relaxed);
    }
    Some(rule.what)
}

/// Writes what happened to the file that the environment names.
pub fn report() -> std::io::Result<()> {
    let Some(_) = PLAN.get().filter(|plan| plan.pid == std::process::id()) else { return Ok(()) };
    let Ok(path) = std::env::var("SPINDLE_FAULTS_REPORT") else { return Ok(()) };
    let mut text = Vec::new();
    for call in Call::ALL {
        let made = MADE[*call as usize].load(Ordering::Relaxed);
        if made > 0 {
            writeln!(text, "calls {} {made}", call.name())?;
        }
    }
    let injected = INJECTED.load(Ordering::Relaxed);
    for (call, number, code) in &LOG[..injected.min(LOGGED)] {
        let call = Call::ALL[call.load(Ordering::Relaxed) as usize].name();
        let code = code.load(Ordering::Relaxed) as i32;
        let what = NAMES.iter().find(|(_, known)| *known == code).map_or("?", |(name, _)| name);
        writeln!(text, "injected {call} {} {what}", number.load(Ordering::Relaxed))?;
    }
    if injected > LOGGED {
        writeln!(text, "more {}", injected - LOGGED)?;
    }
    std::fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules() {
        let (call, Rule { when, what }) = rule("recv:3=ECONNRESET").unwrap();
        assert_eq!((call, what), (Call::recv, What::Error(libc::ECONNRESET)));
        assert!(matches!(when, When::Call(3)));
        let (_, Rule { when, what }) = rule("poll:0.5%=ready").unwrap();
        assert!(matches!(when, When::Share(5000)));
        assert_eq!(what, What::Ready);
        for wrong in ["recv", "recv:3", "recv:x=EIO", "recv:3=ENOTHING", "nothing:3=EIO", "recv:3%%=EIO"] {
            assert!(rule(wrong).is_none(), "{wrong}");
        }
    }

    #[test]
    fn a_share_is_that_share_and_the_same_for_the_same_seed() {
        let hits = |seed| (1..10_000).filter(|n| dice(seed, Call::read, *n, 0) % 1_000_000 < 300_000).count();
        assert!((2_700..3_300).contains(&hits(7)), "{}", hits(7));
        assert_eq!(dice(7, Call::read, 5, 0), dice(7, Call::read, 5, 0));
        assert_ne!(dice(7, Call::read, 5, 0), dice(8, Call::read, 5, 0));
        assert_ne!(dice(7, Call::read, 5, 0), dice(7, Call::write, 5, 0));
    }
}
