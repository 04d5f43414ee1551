//! The lines of the error log: each says to which request it belongs.

use serde_json::Value as Json;
use spindle_php::{coroutine, error_log};
use spindle_server::{Exchange, LogFormat, Settings};
use spindle_zend::PhpStatic;
use std::cell::Cell;
use std::ffi::c_int;
use std::fmt::Write;

/// `LOG_WARNING` of syslog.
const WARNING: c_int = 4;

/// The request to which what is logged belongs.
pub struct Subject {
    id: String,
    trace: Option<String>,
    method: String,
    target: String,
    coroutine: u64,
}

impl Subject {
    /// Returns the request of an exchange, in which this coroutine runs.
    pub fn of(exchange: &Exchange, coroutine: u64) -> Subject {
        let head = exchange.head();
        Subject {
            id: exchange.id(),
            trace: exchange.trace().map(str::to_owned),
            method: head.method.as_str().to_owned(),
            target: head.uri.path_and_query().map_or("*", |target| target.as_str()).to_owned(),
            coroutine,
        }
    }
}

#[derive(Clone, Copy)]
struct Kind {
    format: LogFormat,
    worker: u32,
}

struct Log {
    kind: Cell<Kind>,
    subject: Cell<fn() -> Option<Subject>>,
}

static LOG: PhpStatic<Log> =
    PhpStatic::new(Log { kind: Cell::new(Kind { format: LogFormat::Text, worker: 0 }), subject: Cell::new(|| None) });

/// From now on lines say to which request they belong, which `subject` returns, in the format of these settings.
pub fn watch(settings: &Settings, subject: fn() -> Option<Subject>) {
    let kind = Kind { format: settings.error_log, worker: settings.worker };
    LOG.kind.set(kind);
    LOG.subject.set(subject);
    let format = |message: &[u8], severity| {
        let subject = coroutine::is_in_request().then(|| (LOG.subject.get())()).flatten();
        let kind = LOG.kind.get();
        match kind.format {
            LogFormat::Text => subject.map(|subject| [kind.prefix(&subject).as_bytes(), message].concat()),
            _ => Some(kind.line(&String::from_utf8_lossy(message), severity, subject.as_ref()).into_bytes()),
        }
    };
    let missing = move |lost| {
        let (lines, are) = if lost == 1 { ("line", "is") } else { ("lines", "are") };
        let of = if kind.worker > 0 { format!(" of worker {}", kind.worker) } else { String::new() };
        kind.line(
            &format!("{lost} {lines}{of} {are} missing here, as standard error was not read in time"),
            WARNING,
            None,
        )
    };
    error_log::watch(format, Box::new(missing));
}

/// Writes a warning that belongs to a request which need not be the running one, or to none. Error handlers of PHP code are not called.
pub fn warn(subject: Option<&Subject>, message: &str) {
    error_log::write(&LOG.kind.get().line(message, WARNING, subject), WARNING);
}

/// Writes what a FastCGI server or its script says of a request. As plain text it can neither begin a line of its own, which would look
/// like one of another request, nor control a terminal.
pub fn warn_of(subject: &Subject, message: &[u8]) {
    let text = String::from_utf8_lossy(message);
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => plain.push_str("\n  "),
            '\t' => plain.push(character),
            _ if character.is_control() => plain.extend(character.escape_unicode()),
            _ => plain.push(character),
        }
    }
    warn(Some(subject), if LOG.kind.get().format == LogFormat::Text { &plain } else { &text });
}

impl Kind {
    fn prefix(self, subject: &Subject) -> String {
        let mut text = format!("[request {}", subject.id);
        if self.worker > 0 {
            let _ = write!(text, ", worker {}", self.worker);
        }
        if subject.coroutine > 0 {
            let _ = write!(text, ", coroutine #{}", subject.coroutine);
        }
        text + "] "
    }

    fn line(self, message: &str, severity: c_int, subject: Option<&Subject>) -> String {
        if self.format == LogFormat::Text {
            return subject.map_or(String::new(), |subject| self.prefix(subject)) + message;
        }
        let level = match severity {
            ..=3 => "error",
            WARNING => "warning",
            5 => "notice",
            _ => "info",
        };
        let text = |text: &str| Json::from(text);
        let of = |what: fn(&Subject) -> Json| subject.map_or(Json::Null, what);
        // The access log has the same names.
        let fields = [
            ("time", error_log::time().into()),
            ("level", text(level)),
            ("message", text(message)),
            ("method", of(|subject| subject.method.as_str().into())),
            ("target", of(|subject| subject.target.as_str().into())),
            ("request_id", of(|subject| subject.id.as_str().into())),
            ("trace_id", of(|subject| subject.trace.as_deref().into())),
            ("worker", Some(self.worker).filter(|worker| *worker > 0).into()),
            ("coroutine", of(|subject| Some(subject.coroutine).filter(|coroutine| *coroutine > 0).into())),
        ];
        match self.format {
            LogFormat::Logfmt => logfmt(&fields),
            _ => format!("{{{}}}", fields.map(|(name, value)| format!("\"{name}\":{value}")).join(",")),
        }
    }
}

/// Returns the fields that are there as `name=value`: texts as they are, or as in JSON if they have anything but letters, digits and
/// `_./:@+-`.
fn logfmt(fields: &[(&str, Json)]) -> String {
    let is_plain = |text: &&str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:@+-".contains(&byte))
    };
    let fields = fields.iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| match value.as_str() {
        Some(text) if is_plain(&text) => format!("{name}={text}"),
        _ => format!("{name}={value}"),
    });
    fields.collect::<Vec<_>>().join(" ")
}
