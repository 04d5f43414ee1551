//! The table of structured concurrency: every way for a coroutine or its scope to end, with every lifetime, awaiter,
//! handler, and inside `protect()` or not. Each outcome is stated once, in a row of [`TABLE`]; each combination is
//! driven and has to match the one row that fits it. docs/scopes.md shows the rows:
//! `UPDATE_DOCS=1 cargo test -p spindle-core --test outcomes` writes them there.

mod scopes_host;

use scopes_host::{Ends, Fate, For, GLOBAL, Handler, Host, Thrown, Way};
use spindle_core::sched::{CoroutineId, Disposal, Lifetime, ScopeId};
use std::path::Path;

/// The questions, and the answers that each can have.
const QUESTIONS: [(&str, &[&str]); 5] = [
    ("what happens", &WHAT),
    ("lifetime", &["Scope", "TopDown", "BottomUp"]),
    ("awaited", &["no", "it is", "its scope is"]),
    ("handler", &["none", "its own", "the parent's"]),
    ("in `protect()`", &["no", "yes"]),
];

const WHAT: [&str; 10] = [
    "it returns",
    "it throws",
    "it is cancelled",
    "its scope is cancelled",
    "its scope reaches a bound",
    "the parent scope is cancelled",
    "`dispose()`",
    "`disposeAfterTimeout()`, when the time has passed",
    "`disposeSafely()`",
    "the scope's object is destroyed",
];

const OUTCOMES: [&str; 8] = [
    "the coroutine",
    "its child",
    "its sibling",
    "the failure goes to",
    "its awaiter gets",
    "the scope's awaiter gets",
    "the scope is",
    "warnings",
];

/// Headings, and rows: first the answers that fit (`*`: any; `+`: or), then what comes of it (`-`: nothing).
const TABLE: [(&str, &str); 4] = [
    (
        "It returns",
        "it returns | Scope + BottomUp | * | * | * | returned | continues | continues | - | the result | the end | open | 0
         it returns | TopDown          | * | * | * | returned | cancelled | continues | - | the result | the end | open | 0",
    ),
    (
        "It throws",
        "it throws | Scope + BottomUp | it is | * | * | failed | continues | continues | its awaiter | the failure | - | open | 0
         it throws | TopDown | it is | * | * | failed | cancelled | continues | its awaiter | the failure | - | open | 0
         it throws | Scope + BottomUp | no + its scope is | its own | * | failed | continues | continues | the handler | - | the end | open | 0
         it throws | TopDown | no + its scope is | its own | * | failed | cancelled | continues | the handler | - | the end | open | 0
         it throws | * | its scope is | none + the parent's | * | failed | cancelled | cancelled | the scope's awaiter | - | the failure | cancelled | 0
         it throws | * | no | the parent's | * | failed | cancelled | cancelled | the parent's child handler | - | - | cancelled | 0
         it throws | * | no | none | * | failed | cancelled | cancelled | none: shutdown | - | - | cancelled, its parent too | 0",
    ),
    (
        "It is cancelled",
        "it is cancelled | Scope + BottomUp | * | * | no | cancelled | continues | continues | - | the cancellation | the end | open | 0
         it is cancelled | Scope + BottomUp | * | * | yes | cancelled after `protect()` | continues | continues | - | the cancellation | the end | open | 0
         it is cancelled | TopDown | * | * | no | cancelled | cancelled | continues | - | the cancellation | the end | open | 0
         it is cancelled | TopDown | * | * | yes | cancelled after `protect()` | cancelled after `protect()` | continues | - | the cancellation | the end | open | 0",
    ),
    (
        "Its scope ends",
        "its scope is cancelled + its scope reaches a bound | * | * | * | no | cancelled | cancelled | cancelled | - | the cancellation | the cancellation | cancelled | 0
         its scope is cancelled + its scope reaches a bound | * | * | * | yes | cancelled after `protect()` | cancelled | cancelled | - | the cancellation | the cancellation | cancelled | 0
         the parent scope is cancelled | * | * | * | no | cancelled | cancelled | cancelled | - | the cancellation | the cancellation | cancelled, its parent too | 0
         the parent scope is cancelled | * | * | * | yes | cancelled after `protect()` | cancelled | cancelled | - | the cancellation | the cancellation | cancelled, its parent too | 0
         `dispose()` + `disposeAfterTimeout()`, when the time has passed | * | * | * | no | cancelled | cancelled | cancelled | - | the cancellation | the cancellation | disposed and cancelled | 3
         `dispose()` + `disposeAfterTimeout()`, when the time has passed | * | * | * | yes | cancelled after `protect()` | cancelled | cancelled | - | the cancellation | the cancellation | disposed and cancelled | 3
         `disposeSafely()` | * | * | * | * | continues as a zombie | continues as a zombie | continues as a zombie | - | the result | the end | disposed | 3
         the scope's object is destroyed | Scope | * | * | * | continues as a zombie | continues as a zombie | continues as a zombie | - | the result | - | disposed | 3
         the scope's object is destroyed | TopDown | * | * | no | cancelled | cancelled | cancelled | - | the cancellation | - | cancelled | 0
         the scope's object is destroyed | TopDown | * | * | yes | cancelled after `protect()` | cancelled | cancelled | - | the cancellation | - | cancelled | 0
         the scope's object is destroyed | BottomUp | * | * | * | continues | continues | continues | - | the result | - | open | 0",
    ),
];

/// What holds for every row, before them in the page.
const ABOUT: &str = "\
The coroutine in question has spawned a child; a sibling was spawned by the same scope. That scope has a parent scope, which is
independent. No coroutine catches a cancellation. A column is left out where its value is the same in all rows.

- With `BottomUp` a coroutine is complete, and its awaiters resume, when its child is complete; otherwise when it has ended.
- The scope of a handler does not finish before the handler has ended. An exception of the handler propagates to the parent.
- The scope is awaited by `awaitCompletion()`. A plain `await` of a cancelled scope waits for its end.
- An awaiter of a scope holds its object, so the object is not destroyed meanwhile.
- The end of the main coroutine never cancels the coroutines that it has spawned.
";

struct Row {
    fits: Vec<String>,
    comes: Vec<String>,
}

impl Row {
    fn read(line: &str) -> Row {
        let mut fits: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        assert_eq!(fits.len(), QUESTIONS.len() + OUTCOMES.len(), "{line}");
        let comes = fits.split_off(QUESTIONS.len());
        for (cell, (_, answers)) in fits.iter().zip(QUESTIONS) {
            assert!(cell == "*" || cell.split(" + ").all(|word| answers.contains(&word)), "{cell}");
        }
        Row { fits, comes }
    }

    fn fits(&self, case: &[&str]) -> bool {
        self.fits.iter().zip(case).all(|(cell, answer)| cell == "*" || cell.split(" + ").any(|word| word == *answer))
    }
}

fn rows() -> Vec<Row> {
    TABLE.iter().flat_map(|(_, rows)| rows.lines()).map(Row::read).collect()
}

/// Every combination of answers, but for one: who awaits a scope holds its object.
fn cases() -> Vec<Vec<&'static str>> {
    let mut cases = QUESTIONS.iter().fold(vec![Vec::new()], |cases, (_, answers)| {
        let longer = |case: &Vec<&'static str>| {
            answers.iter().map(|answer| case.iter().chain([answer]).copied().collect()).collect::<Vec<_>>()
        };
        cases.iter().flat_map(longer).collect()
    });
    cases.retain(|case| !(case[0] == "the scope's object is destroyed" && case[2] == "its scope is"));
    cases
}

/// One case, driven.
struct Play {
    host: Host,
    scope: ScopeId,
    parent: ScopeId,
    it: CoroutineId,
    child: CoroutineId,
    sibling: CoroutineId,
    protected: bool,
}

impl Play {
    fn begins(lifetime: &str, awaited: &str, handler: &str, protected: bool) -> Play {
        let mut host = Host::new();
        let lifetime = match lifetime {
            "Scope" => Lifetime::Scope,
            "TopDown" => Lifetime::TopDown,
            _ => Lifetime::BottomUp,
        };
        let parent = host.scope("parent", None, lifetime);
        let scope = host.scope("scope", Some(parent), lifetime);
        let it = host.member(scope, "it");
        let sibling = host.member(scope, "sibling");
        match handler {
            "its own" => host.own_handler(scope, Handler::Handles),
            "the parent's" => host.child_handler(parent, Handler::Handles),
            _ => {}
        }
        host.waits();
        host.turn_of(it);
        let child = host.child("child");
        if protected {
            host.shield();
        }
        host.waits();
        host.all_wait();
        if awaited != "no" {
            let waiter = host.member(GLOBAL, "waiter");
            host.body_mut(waiter).catches = true;
            host.turn_of(waiter);
            host.awaits(if awaited == "it is" { For::Coroutine(it) } else { For::Scope(scope, Way::Completion) }, None);
        }
        Play { host, scope, parent, it, child, sibling, protected }
    }

    fn happens(&mut self, what: &str) {
        let (host, scope) = (&mut self.host, self.scope);
        match what {
            "it returns" | "it throws" => {
                host.resume(self.it);
                if std::mem::take(&mut self.protected) {
                    host.unshield();
                }
                host.ends(if what == "it returns" { Ends::Returns } else { Ends::Throws("boom") });
            }
            "it is cancelled" => host.cancels(self.it, "stop"),
            "its scope is cancelled" => assert!(host.cancels_scope(scope, "stop")),
            "the parent scope is cancelled" => assert!(host.cancels_scope(self.parent, "stop")),
            "its scope reaches a bound" => {
                host.set_deadline(scope, 10);
                host.time_passes(10);
            }
            "`dispose()`" => _ = host.disposes(scope, Disposal::Cancel),
            "`disposeSafely()`" => _ = host.disposes(scope, Disposal::Safely),
            "`disposeAfterTimeout()`, when the time has passed" => {
                host.disposes(scope, Disposal::Until(10));
                host.time_passes(9);
                self.settles();
                let host = &mut self.host;
                assert!([self.it, self.child, self.sibling].iter().all(|co| host.body(*co).ended.is_none()));
                assert!(host.zombies().is_empty());
                host.time_passes(1);
            }
            "the scope's object is destroyed" => host.object_dies(scope),
            _ => panic!("{what}"),
        }
    }

    /// Runs all until none is ready. One with nothing to do parks; the waiter has got what it waited for.
    fn settles(&mut self) {
        self.host.run(|host, co| if host.name(co) == "waiter" { host.ends(Ends::Returns) } else { host.waits() });
    }

    fn leaves_protect(&mut self) {
        if !self.protected {
            return;
        }
        assert!(self.host.body(self.it).ended.is_none(), "nothing reaches it inside");
        self.host.resume(self.it);
        self.host.unshield();
        if let Some(word) = self.host.take_cancellation() {
            self.host.throws(Thrown::Cancellation(word));
        } else {
            self.host.waits();
        }
    }

    fn became(&self, co: CoroutineId, before: bool) -> &'static str {
        match self.host.body(co).ended {
            Some(Ends::Returns) => "returned",
            Some(Ends::Throws(_)) => "failed",
            Some(Ends::Cancelled(_)) if before => "cancelled",
            Some(Ends::Cancelled(_)) => "cancelled after `protect()`",
            None if self.host.is_zombie(co) => "continues as a zombie",
            None => "continues",
        }
    }

    fn scope_is(&self) -> &'static str {
        let (host, scope) = (&self.host, self.scope);
        match (host.is_disposed(scope), host.is_cancelled(scope), host.is_cancelled(self.parent)) {
            (false, false, false) => "open",
            (false, true, false) => "cancelled",
            (false, true, true) => "cancelled, its parent too",
            (true, true, false) => "disposed and cancelled",
            (true, false, false) => "disposed",
            other => panic!("{other:?}"),
        }
    }

    fn failure_went_to(&self) -> &'static str {
        let fates: Vec<Fate> = self.host.fates.values().flatten().copied().collect();
        match fates[..] {
            [] => "-",
            [Fate::Awaiters] => "its awaiter",
            [Fate::Handler(at)] if at == self.scope => "the handler",
            [Fate::ChildHandler(at)] if at == self.parent => "the parent's child handler",
            [Fate::Waiters(at)] if at == self.scope => "the scope's awaiter",
            [Fate::Unhandled] => "none: shutdown",
            _ => panic!("{fates:?}"),
        }
    }

    /// What the waiter got, if there is one and it has ended.
    fn waiter_got(&self, normally: &'static str) -> &'static str {
        if self.host.said("waiter returns").is_empty() {
            return "-";
        }
        match self.host.got.iter().find(|(name, _)| *name == "waiter") {
            None => normally,
            Some((_, Thrown::Failure("boom"))) => "the failure",
            Some((_, Thrown::Cancellation(_))) => "the cancellation",
            other => panic!("{other:?}"),
        }
    }

    /// Who is left returns; then nothing is left of the scopes.
    fn ends(&mut self, object_is_there: bool) {
        for co in [self.it, self.child, self.sibling] {
            if self.host.body(co).ended.is_none() {
                self.host.wakes(co);
            }
        }
        self.host.all_return();
        if object_is_there {
            self.host.object_dies(self.scope);
        }
        self.host.object_dies(self.parent);
        assert_eq!(self.host.who("gone"), ["scope", "parent"]);
    }
}

/// Plays a case; says what came of it.
fn played(case: &[&str]) -> Vec<String> {
    let &[what, lifetime, awaited, handler, protect] = case else { panic!("{case:?}") };
    let mut play = Play::begins(lifetime, awaited, handler, protect == "yes");
    play.happens(what);
    let scope_is = play.scope_is();
    play.settles();
    let cos = [play.it, play.child, play.sibling];
    let before = cos.map(|co| play.host.body(co).ended.is_some());
    let told_at_once = play.waiter_got("");
    play.leaves_protect();
    play.settles();
    let mut became: Vec<String> =
        cos.iter().zip(before).map(|(co, before)| play.became(*co, before).to_owned()).collect();

    // Complete with its body's end; with `BottomUp` when its child is, too.
    let (it, child) = (play.host.body(play.it), play.host.body(play.child));
    let holds = lifetime == "BottomUp" && !child.complete;
    assert_eq!(it.complete, it.ended.is_some() && !holds, "{case:?}");
    assert!(child.complete == child.ended.is_some());

    play.ends(what != "the scope's object is destroyed");
    let completes = |name: &str| play.host.log.iter().position(|line| *line == format!("{name} complete"));
    assert!(lifetime != "BottomUp" || completes("it") > completes("child"), "{case:?}");
    let [awaiter, scopes] = match awaited {
        "no" => ["-"; 2],
        "it is" => [play.waiter_got("the result"), "-"],
        _ => ["-", play.waiter_got("the end")],
    };
    assert!(scopes == "the end" || scopes == told_at_once || awaited != "its scope is", "it has to be told at once");
    let warnings = play.host.said("warning of").len();
    let rest = [play.failure_went_to(), awaiter, scopes, scope_is, &warnings.to_string()].map(str::to_owned);
    became.extend(rest);
    became
}

#[test]
fn each_case_ends_as_its_one_row_says() {
    let rows = rows();
    let mut wrong = Vec::new();
    for case in cases() {
        let fitting: Vec<_> = rows.iter().filter(|row| row.fits(&case)).collect();
        let [row] = fitting[..] else { panic!("{case:?} fits {} rows", fitting.len()) };
        let came = played(&case);
        for ((outcome, said), came) in OUTCOMES.iter().zip(&row.comes).zip(&came) {
            // What nobody is there to get, a row for all may say nevertheless.
            let not_asked = match *outcome {
                "its awaiter gets" => case[2] != "it is",
                "the scope's awaiter gets" => case[2] != "its scope is",
                _ => false,
            };
            if said != came && !not_asked {
                wrong.push(format!("{case:?}: {outcome}: {came}, and not: {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn there_are_as_many_cases_as_answers_make() {
    assert_eq!(cases().len(), 10 * 3 * 3 * 3 * 2 - 3 * 3 * 2);
}

// --- the page -------------------------------------------------------------------------------------------------------

const BEGIN: &str = "<!-- the table of outcomes, made by crates/core/tests/outcomes.rs -->\n";
const END: &str = "<!-- end of the table of outcomes -->\n";

fn shown(cell: &str) -> String {
    match cell {
        "*" => "any".to_owned(),
        "-" => "–".to_owned(),
        cell => cell.replace(" + ", "; "),
    }
}

fn markdown() -> String {
    let mut text = format!("\n{ABOUT}");
    for (heading, rows) in TABLE {
        let rows: Vec<Vec<String>> =
            rows.lines().map(Row::read).map(|row| row.fits.into_iter().chain(row.comes).collect()).collect();
        let titles: Vec<&str> = QUESTIONS.iter().map(|(title, _)| *title).chain(OUTCOMES).collect();
        let same = |n: &usize| rows.iter().all(|row| row[*n] == rows[0][*n]);
        let silent = |n: &usize| same(n) && (*n < QUESTIONS.len() || ["-", "0"].contains(&rows[0][*n].as_str()));
        let columns: Vec<usize> = (0..titles.len()).filter(|n| !silent(n)).collect();
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        text += &format!("\n### {heading}\n\n");
        text += &line(columns.iter().map(|n| titles[*n].to_owned()).collect());
        text += &format!("|{}\n", "---|".repeat(columns.len()));
        for row in &rows {
            text += &line(columns.iter().map(|n| shown(&row[*n])).collect());
        }
    }
    text + "\n"
}

#[test]
fn scopes_md_shows_the_rows() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/scopes.md");
    let page = std::fs::read_to_string(&path).expect("docs/scopes.md");
    let (before, rest) = page.split_once(BEGIN).expect("the line before the table");
    let (_, after) = rest.split_once(END).expect("the line after the table");
    let wanted = format!("{before}{BEGIN}{}{END}{after}", markdown());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).expect("docs/scopes.md is written");
        return;
    }
    assert_eq!(
        page, wanted,
        "docs/scopes.md is not up to date: UPDATE_DOCS=1 cargo test -p spindle-core --test outcomes"
    );
}
