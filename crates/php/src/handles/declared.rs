//! What extensions have declared of themselves at their start: what their calls hold while they are suspended. It takes the place of
//! the table in `verdicts`.

use crate::handles::{kinds::CallKind, verdicts::Verdict};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What calls hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// The whole extension.
    All,
    /// The handles among their arguments.
    Handles,
    /// Nothing.
    Nothing,
}

/// The declarations of one extension.
#[derive(Default)]
struct Declared {
    of_all: Option<Holds>,
    /// By lower-case names: `name`, or `class::name`.
    of_functions: HashMap<String, Holds>,
    /// Its functions have their trampolines.
    is_used: bool,
}

/// By lower-case names of extensions. A lock and no `PhpStatic`: extensions start before there is a thread of PHP's to speak of.
static DECLARED: Mutex<Option<HashMap<String, Declared>>> = Mutex::new(None);

fn all() -> MutexGuard<'static, Option<HashMap<String, Declared>>> {
    DECLARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records a declaration. Returns `false` if the extension's functions have been classified already.
pub fn declare(extension: &str, function: Option<String>, holds: Holds) -> bool {
    let mut all = all();
    let declared = all.get_or_insert_default().entry(extension.to_owned()).or_default();
    if declared.is_used {
        return false;
    }
    match function {
        Some(function) => _ = declared.of_functions.insert(function, holds),
        None => declared.of_all = Some(holds),
    }
    true
}

/// Records that an extension's functions are being classified: declarations come too late from here on, until it is loaded again.
pub(crate) fn use_of(extension: &str, is_temporary: bool) {
    if !is_temporary {
        all().get_or_insert_default().entry(extension.to_owned()).or_default().is_used = true;
    }
}

/// Returns an extension's declaration of all its functions.
pub(crate) fn of_module(extension: &str) -> Option<Verdict> {
    let holds = all().as_ref()?.get(extension)?.of_all?;
    Some(match holds {
        Holds::All => Verdict::Alone,
        Holds::Handles => Verdict::Handles,
        Holds::Nothing => Verdict::Plain,
    })
}

/// Returns an extension's declaration of one of its functions, by its lower-case name.
pub(crate) fn of_function(extension: &str, class: Option<&[u8]>, name: &str) -> Option<CallKind> {
    let all = all();
    let declared = all.as_ref()?.get(extension)?;
    if declared.of_functions.is_empty() {
        return None;
    }
    let class = class.map(|class| String::from_utf8_lossy(class).to_ascii_lowercase());
    let name = class.map_or_else(|| name.to_owned(), |class| format!("{class}::{name}"));
    declared.of_functions.get(&name).map(|holds| match holds {
        Holds::All => CallKind::Alone,
        Holds::Handles => CallKind::Handle,
        Holds::Nothing => CallKind::Plain,
    })
}
