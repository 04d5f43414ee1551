//! Classifies internal functions: which handles they use, and how. This is decided once per function, from names and
//! extensions; the table is in `verdicts`.

use crate::c;
use crate::handles::{
    calls::{self, CallRecord},
    declared, groups,
    hidden::Hidden,
    kinds::{CallKind, Flags, Mode, kind_of_calls, mode},
    persistent::Asked,
    verdicts::{self, Verdict},
};
use crate::isolation::{globals, sapi};
use rustc_hash::FxBuildHasher;
use spindle_php_sys as sys;
use spindle_zend::{Extension, Frame, Function, Object, PhpStatic, Resource, Str, Value, engine};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Functions on sockets and other handles that return what is in memory, or must take effect while another call waits.
const NEVER_WAIT: &[&str] = &["curl_multi_getcontent"];
/// The prefix of the names of functions that never wait, or leave that to their trampoline.
const NEVER_WAITING: &[u8] = b"curl_multi_";
/// Functions of clients that wait for messages without having sent a request.
const ONLY_WAIT: &[&str] = &["pgsqlgetnotify", "getnotify", "curl_multi_select", "mysqli_poll", "poll"];
/// Methods that are named like the engine's magic methods but are not: a SoapClient communicates with its server in
/// them.
const NOT_MAGIC: &[&str] = &["__call", "__soapcall", "__dorequest"];
/// Extensions whose handles are created from an object that is no connection, and may wait for one another.
const OWN_CONNECTIONS: &[&str] = &["zmq"];
/// Extensions whose library aborts the process if a wait fails, except with `EINTR`.
const ACCEPTS_SIGNALS_ONLY: &[&str] = &["zmq"];

/// Functions of the kind `Exclusive` may be there: their extension has been looked up.
static ANY_EXCLUSIVE: PhpStatic<Cell<bool>> = PhpStatic::new(Cell::new(false));

/// Data about an extension, determined once for all its functions.
pub(crate) struct Module {
    pub(crate) extension: Option<Extension>,
    name: String,
    verdict: Verdict,
    /// Its calls keep state in its globals (see `globals`).
    pub(crate) keeps_globals: bool,
}

impl Module {
    pub(crate) fn of(extension: Option<Extension>) -> Module {
        let name = name_of(extension);
        if verdicts::has_exclusive(&name) {
            ANY_EXCLUSIVE.set(true);
        }
        let verdict = if extension.is_none() { Verdict::Alone } else { verdicts::of_module(&name) };
        Module { extension, verdict, keeps_globals: globals::concerns(&name), name }
    }

    /// Its functions get their trampolines: what it holds is settled.
    pub(crate) fn is_being_used(&self) {
        let is_temporary = self.extension.is_some_and(|extension| extension.raw().type_ == sys::MODULE_TEMPORARY as u8);
        declared::use_of(&self.name, is_temporary);
    }

    /// Returns `true` if its objects use connections, which are shared with objects created from them.
    pub(crate) fn has_handles(&self) -> bool {
        self.verdict == Verdict::Handles
    }

    /// Returns `true` if its objects are values in memory, as those of SPL.
    pub(crate) fn holds_values(&self) -> bool {
        matches!(self.name.as_str(), "spl" | "ds")
    }

    /// Returns `true` if the table of verdicts has no entry for it.
    pub(crate) fn is_unknown(&self) -> bool {
        self.verdict == Verdict::Alone
    }
}

/// Returns the name of an extension in lower case, or an empty text.
pub(crate) fn name_of(extension: Option<Extension>) -> String {
    extension.map_or(String::new(), Extension::name)
}

fn has(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window.eq_ignore_ascii_case(part))
}

/// Returns the function's name, which functions in the engine's tables always have.
fn name_bytes(function: &Function) -> &[u8] {
    function.name().map_or(b"", |name| name.as_bytes())
}

fn lower_name(function: Function) -> String {
    String::from_utf8_lossy(name_bytes(&function)).to_ascii_lowercase()
}

/// Returns the kind of calls of a function that has a name; `None` if it needs no trampoline.
pub(crate) fn kind_of(function: Function, module: &Module) -> Option<CallKind> {
    let name = name_bytes(&function);
    let mut room = [0; 64];
    let Some(lower) = room.get_mut(..name.len()) else { return Some(CallKind::Alone) };
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = std::str::from_utf8(lower).unwrap_or_default();
    let class = function.class();
    if let Some(entry) = verdicts::of_function(&module.name, class.as_ref().map(|class| class.name().as_bytes()), name)
    {
        return entry;
    }
    let is = |list: &[&str]| list.contains(&name);
    let constructs = name == "__construct";
    match module.verdict {
        Verdict::Free => None,
        Verdict::Plain => Some(CallKind::Plain),
        Verdict::Alone => Some(CallKind::Alone),
        Verdict::Handles if class.is_some_and(|class| class.is_or_extends(engine::throwable_class())) => None,
        Verdict::Handles if is(NEVER_WAIT) => Some(CallKind::Plain),
        Verdict::Handles if constructs || name.contains("pconnect") => Some(CallKind::Makes),
        Verdict::Handles if name.starts_with("__") && !is(NOT_MAGIC) => Some(CallKind::Plain),
        Verdict::Handles if name == "close" || name.len() > 6 && name.ends_with("_close") => Some(CallKind::Closes),
        Verdict::Handles => Some(CallKind::Handle),
    }
}

/// Returns when a function that has a name may have marked objects and arrays as in use.
pub(crate) fn flags_of(function: Function, module: &Module, kind: Option<CallKind>) -> Flags {
    let name = lower_name(function);
    let class = function.class().map(|class| class.name().to_text());
    if verdicts::never_flags(&module.name, class.as_deref(), &name) {
        return Flags::Never;
    }
    match (module.verdict, kind) {
        _ if verdicts::flags_while_it_writes(&module.name, &name) => Flags::Always,
        (_, Some(CallKind::Alone)) => Flags::Always,
        (_, Some(kind)) if kind != CallKind::Handle && kind != CallKind::Makes => Flags::Never,
        _ => Flags::AroundCallbacks,
    }
}

/// Data about an extension.
#[derive(Clone, Copy)]
struct About {
    /// The key of the whole extension.
    key: usize,
    verdict: Verdict,
    /// Whether it has functions of the kind `Exclusive`.
    has_exclusive: bool,
    /// What its calls use that they are not given.
    hidden: Hidden,
    /// Whether its globals are exchanged with a native PHP request.
    is_of_requests: bool,
}

/// Extensions that have been looked up, by their addresses. `dl()` adds some, and the request's end removes these: then another
/// one may get the same address.
static KNOWN: PhpStatic<RefCell<HashMap<usize, About, FxBuildHasher>>> =
    PhpStatic::new(RefCell::new(HashMap::with_hasher(FxBuildHasher)));

fn known(extension: Option<Extension>) -> About {
    *KNOWN.borrow_mut().entry(address(extension)).or_insert_with(|| {
        let name = name_of(extension);
        About {
            key: first_of_family(extension, &name),
            verdict: verdicts::of_module(&name),
            has_exclusive: verdicts::has_exclusive(&name),
            hidden: Hidden::of(&name),
            is_of_requests: verdicts::is_of_requests(&name),
        }
    })
}

/// Forgets what is known of extensions, because some may have been removed.
pub(crate) fn forget_extensions() {
    KNOWN.borrow_mut().clear();
}

fn address(extension: Option<Extension>) -> usize {
    extension.map_or(0, Extension::address)
}

/// Returns the key of a whole extension.
pub(crate) fn key_of_extension(extension: Option<Extension>) -> usize {
    let about = known(extension);
    if about.is_of_requests { key_of_request().unwrap_or(about.key) } else { about.key }
}

/// Returns the key of what belongs to the request of the running coroutine, if that has one of its own.
fn key_of_request() -> Option<usize> {
    let request = sapi::live_pointer().addr();
    (request != 0).then_some(request)
}

fn first_of_family(extension: Option<Extension>, name: &str) -> usize {
    let family = verdicts::family(name);
    let first = if family == name { None } else { Extension::find(family) };
    address(first.or(extension))
}

/// Returns the running function if it is an internal one.
fn running_function() -> Option<Function> {
    Frame::current()?.function().filter(|function| function.is_internal())
}

/// Returns `true` if the running call is in the middle of a client's exchange with its server. Plain streams and
/// sockets do not count: user code decides what is sent on them.
pub fn is_in_exchange() -> bool {
    let call = (!engine::has_bailed_out()).then(|| calls::running().next()).flatten();
    // Without a frame, a handle is freed, or `foreach` goes on to the next row; a stream may be that of a large object.
    if call.is_some_and(|call| call.frame().is_none_or(uses_stream_of_handle)) {
        return true;
    }
    running_function().is_some_and(|function| {
        matches!(
            kind_of_calls(Some(function)),
            CallKind::Handle
                | CallKind::Makes
                | CallKind::Closes
                | CallKind::Alone
                | CallKind::Sends
                | CallKind::Exclusive
        ) && !function.extension().is_some_and(|extension| extension.is_named(&["standard", "sockets", "spl"]))
            && !ONLY_WAIT.contains(&lower_name(function).as_str())
    })
}

/// Returns `true` if a call uses a stream that was made from a handle, and has its connection.
fn uses_stream_of_handle(frame: Frame) -> bool {
    let first = frame.arguments().first().and_then(|value| value.dereferenced().as_resource());
    groups::has_resources() && first.is_some_and(|stream| groups::group_of_resource(stream).is_some())
}

/// Returns `true` if the running function never waits on stock PHP, and its callers rely on nothing else running meanwhile.
pub fn never_waits() -> bool {
    running_function().is_some_and(|function| name_bytes(&function).starts_with(NEVER_WAITING))
}

/// Returns `true` if the running code must not yield, although it may wait: it is in the middle of a function that never waits, or in a
/// callback of one.
pub fn must_not_yield() -> bool {
    never_waits() || is_performing()
}

/// Returns `true` if a call of `curl_multi_exec()` is in progress.
pub(crate) fn is_performing() -> bool {
    let performs =
        |call: &CallRecord| call.frame().is_some_and(|frame| kind_of_calls(frame.function()) == CallKind::Performs);
    !engine::has_bailed_out() && calls::running().any(performs)
}

/// Returns `true` if the running function works on streams or sockets of user code.
pub fn works_on_streams() -> bool {
    running_function()
        .and_then(Function::extension)
        .is_some_and(|extension| extension.is_named(&["standard", "sockets"]))
}

/// Returns `true` if a call is on a stream in memory, which never waits.
pub(crate) fn is_in_memory(frame: Option<Frame>) -> bool {
    frame.is_some_and(|frame| frame.arguments().first().is_some_and(Value::is_stream_in_memory))
}

/// Returns the name of a call for messages: `PDO::query()`.
pub(crate) fn name_of_call(frame: Option<Frame>) -> String {
    let Some(function) = frame.and_then(Frame::function) else { return "a call".to_owned() };
    let Some(name) = function.name() else { return "a call".to_owned() };
    let class = function.class().map_or(String::new(), |class| format!("{}::", class.name().to_text()));
    format!("{class}{}()", name.to_text())
}

/// The keys of PDO drivers without a verdict: the addresses of these entries.
static DRIVERS: PhpStatic<RefCell<BTreeMap<Vec<u8>, Box<u64>>>> = PhpStatic::new(RefCell::new(BTreeMap::new()));

/// Returns the key of all connections of the driver of `new PDO(…)`, if the driver has no verdict.
pub(crate) fn key_of_driver(frame: Frame) -> Option<usize> {
    if name_of(extension_of_call(frame)) != "pdo" {
        return None;
    }
    let source = frame.arguments().first()?.as_str()?.as_bytes();
    let driver = source.split(|byte| *byte == b':').next().unwrap_or_default();
    if verdicts::PDO_DRIVERS.iter().any(|known| known.as_bytes() == driver) {
        return None;
    }
    let mut drivers = DRIVERS.borrow_mut();
    Some(std::ptr::from_ref::<u64>(drivers.entry(driver.to_vec()).or_default()) as usize)
}

/// Returns `true` if handles created by functions of this extension have connections of their own, whatever they are
/// created from.
pub(crate) fn makes_own_connections(extension: Option<Extension>) -> bool {
    extension.is_some_and(|extension| extension.is_named(OWN_CONNECTIONS))
}

/// Returns `true` if a cancelled wait of the running call must fail with `EINTR`.
pub fn accepts_signals_only() -> bool {
    running_function().and_then(Function::extension).is_some_and(|extension| extension.is_named(ACCEPTS_SIGNALS_ONLY))
}

/// Returns `true` if user code can wait for a child again after this wait. It cannot when a process handle is closed or
/// freed, which happens in PHP code (a resource's end) or in a function of ext/standard.
pub fn waits_for_child_again() -> bool {
    running_function().filter(|function| function.name().is_some()).is_some_and(|function| {
        !function.extension().is_some_and(|extension| extension.is_named(&["standard"]))
            || name_bytes(&function) == b"proc_get_status"
    })
}

/// Returns `true` if the running function is `error_log()`, which also writes to files of user code's choice.
pub fn is_writing_a_log() -> bool {
    running_function().is_some_and(|function| name_bytes(&function) == b"error_log")
}

/// Returns `true` if the running function reads the file with this path from its beginning to its end and closes it:
/// `file_get_contents()` or `file()` of this very path. For another path, a wrapper may open a file of its own and keep it.
pub fn reads_whole(path: &[u8]) -> bool {
    let Some(function) = running_function().filter(|function| function.class().is_none()) else { return false };
    matches!(name_bytes(&function), b"file_get_contents" | b"file")
        && Frame::current().is_some_and(|frame| {
            let arguments = frame.arguments();
            let first = arguments.first().and_then(|value| value.dereferenced().as_str());
            // The fourth is an offset.
            arguments.len() <= 3 && first.is_some_and(|name| name.as_bytes() == path)
        })
}

/// Returns the extension of the nearest internal class that an object is an instance of; `None` for objects of user
/// classes only.
pub(crate) fn extension_of(object: &Object) -> Option<Extension> {
    let class = object.class().and_parents().find(|class| class.is_internal())?;
    let extension = class.extension();
    // The connections of a pool are handles of the extension whose class theirs extends. Their classes are final: a class of this
    // module that code may extend is no connection.
    let is_connection = is_spindle(extension) && class.raw().ce_flags & sys::ZEND_ACC_FINAL != 0;
    match class.parent().filter(|_| is_connection) {
        Some(base) => base.extension(),
        None => extension,
    }
}

/// Returns `true` if an object is a handle of an extension: if its class is, or extends, one of that extension. `Pdo\Pgsql` is of
/// the driver's extension, and of that of `PDO`. A class of this module that extends another one is what it says itself.
pub(crate) fn is_of(object: &Object, extension: Option<Extension>) -> bool {
    let its = extension_of(object);
    its == extension
        || extension.is_some()
            && !is_spindle(its)
            && object.class().and_parents().any(|class| class.is_internal() && class.extension() == extension)
}

/// Returns `true` if the extension is this module, whose functions and iterators wait without locks.
pub(crate) fn is_spindle(extension: Option<Extension>) -> bool {
    extension.is_some_and(|extension| std::ptr::eq(extension.raw(), &raw const sys::spindle_module_entry))
}

/// Returns the extension of the called function.
pub(crate) fn extension_of_call(frame: Frame) -> Option<Extension> {
    frame.function()?.extension()
}

/// Returns `true` if the first argument of a call is an object of this module, for which the function has called a method.
pub(crate) fn has_called_for(frame: Frame) -> bool {
    let first = frame.arguments().first().and_then(|value| value.dereferenced().as_object());
    frame.this().is_none() && first.is_some_and(|object| is_spindle(extension_of(object)))
}

pub(crate) fn name_has(function: Function, part: &str) -> bool {
    has(name_bytes(&function), part.as_bytes())
}

/// Returns the key of the stream that a call uses, if a few steps show that there are no other handles: `fread()` and the like are
/// called most often.
#[inline(always)]
pub(crate) fn only_stream(frame: Frame, kind: CallKind) -> Option<usize> {
    if !matches!(kind, CallKind::Reads | CallKind::Writes | CallKind::Stream) || frame.this().is_some() {
        return None;
    }
    let (first, others) = frame.arguments().split_first()?;
    let stream = first.as_resource()?;
    let hold_nothing = others.iter().all(|value| value.type_number() < sys::IS_OBJECT);
    let is_alone = hold_nothing && !is_context(stream) && !groups::has_resources() && !ANY_EXCLUSIVE.get();
    is_alone.then(|| stream.address())
}

/// Calls `with` with each handle of a call of an internal function, and how it is used. A key passed with
/// `Mode::Shared` is not a connection's.
#[inline]
pub(crate) fn handles(frame: Frame, kind: CallKind, mut with: impl FnMut(usize, Mode)) {
    match only_stream(frame, kind) {
        Some(stream) => with(stream, mode(frame, kind)),
        None => all_handles(frame, kind, with),
    }
}

fn all_handles(frame: Frame, kind: CallKind, mut with: impl FnMut(usize, Mode)) {
    if kind.holds_nothing() {
        return;
    }
    let extension = extension_of_call(frame);
    if kind == CallKind::Body {
        return with(key_of_request().unwrap_or_else(|| key_of_extension(extension)), Mode::Both);
    }
    if matches!(kind, CallKind::Alone | CallKind::Exclusive) {
        with(key_of_extension(extension), Mode::Both);
    } else if ANY_EXCLUSIVE.get() && known(extension).has_exclusive {
        with(key_of_extension(extension), Mode::Shared);
    }
    let of_streams = matches!(kind, CallKind::Reads | CallKind::Writes | CallKind::Stream);
    let mode = mode(frame, kind);
    let of_object = |object: &Object| {
        let is_its_own = is_of(object, extension);
        if is_its_own && of_streams {
            Some(object.address()) // ext/sockets
        } else if is_its_own || kind == CallKind::Alone && extension_of(object).is_some() && !is_value(object) {
            Some(groups::group_id(object.address()))
        } else {
            None
        }
    };
    // What has another handle's connection does not close that: it is closed in its turn.
    let used_as = |is_its_own: bool| if mode == Mode::Close && !is_its_own { Mode::Both } else { mode };
    let mut is_given = false;
    if let Some(this) = frame.this()
        && let Some(key) = of_object(this)
    {
        is_given = true;
        with(key, used_as(key == this.address()));
    }
    for value in frame.arguments().iter().map(Value::dereferenced) {
        if let Some(object) = value.as_object() {
            if let Some(key) = of_object(object) {
                is_given = true;
                with(key, used_as(key == object.address()));
            }
        } else if let Some(resource) = value.as_resource().filter(|resource| !is_context(resource)) {
            let stream = filtered_stream(resource);
            match groups::group_of_resource(stream) {
                Some(group) => with(group, if of_streams { Mode::Both } else { used_as(false) }),
                None => with(stream.address(), mode),
            }
        }
    }
    known(extension).hidden.handles(frame, is_given, mode, with);
}

/// Returns the stream of a filter, and other resources as they are.
fn filtered_stream(resource: &Resource) -> &Resource {
    c::spindle_stream_of_filter(resource).unwrap_or(resource)
}

/// Returns `true` for stream contexts, which are no handles: each stream opened with one is a handle of its own.
fn is_context(resource: &Resource) -> bool {
    resource.type_number() == c::php_le_stream_context()
}

/// Returns `true` for closures and other objects of the engine, which any number of calls may use at the same time.
fn is_value(object: &Object) -> bool {
    known(extension_of(object)).verdict == Verdict::Free
}

/// Returns the request of a call for a persistent connection; `None` if it makes none.
pub(crate) fn persistent_request(frame: Frame) -> Option<Asked> {
    /// `PDO::ATTR_PERSISTENT`.
    const PDO_PERSISTENT: u64 = 12;
    /// `STREAM_CLIENT_PERSISTENT`.
    const STREAM_PERSISTENT: i64 = 1;
    let name = frame.function().map(lower_name)?;
    let extension = name_of(extension_of_call(frame));
    let mut persistent = name.contains("pconnect") || name == "pfsockopen";
    let mut hasher = DefaultHasher::new();
    // The classes of PDO's drivers ask as PDO does.
    extension.split('_').next().hash(&mut hasher);
    let of = hasher.finish();
    for (index, argument) in frame.arguments().iter().enumerate() {
        if let Some(text) = argument.as_str() {
            let text = text.to_text();
            persistent |= index == 0
                && match extension.as_str() {
                    "mysqli" => text.starts_with("p:"),
                    "memcached" => !text.is_empty(), // its persistent_id
                    _ => false,
                };
            text.hash(&mut hasher);
        } else if let Some(number) = argument.as_long() {
            persistent |= index == 4 && name == "stream_socket_client" && number & STREAM_PERSISTENT != 0;
            number.hash(&mut hasher);
        } else if extension.starts_with("pdo")
            && let Some(options) = argument.as_array()
            && let Some(value) = options.at(PDO_PERSISTENT).map(Value::dereferenced)
        {
            persistent |= value.is_truthy();
            value.as_str().map(Str::as_bytes).hash(&mut hasher); // a name of its own
        }
    }
    persistent.then(|| Asked { of, what: hasher.finish() })
}
