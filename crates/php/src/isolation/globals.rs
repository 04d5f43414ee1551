//! Extensions that keep the state of a running call in their module's globals: what such a call has changed there goes
//! with its coroutine.
//!
//! While one waits in `SoapClient::__call`, another one's would decode by the first one's types; the list that
//! `imap_search()` collects would be everybody's. So the globals are copied as such a call begins. Words that differ
//! when its coroutine is left are the call's own: they are what they were before while others run.

use super::calls::{self, CallState};
use super::foreign::foreign;
use spindle_zend::{Extension, Function, PhpStatic, engine};
use std::cell::Cell;

/// As many words of globals as any of them has.
const WORDS: usize = 128;

/// The globals of such an extension.
#[derive(Clone, Copy)]
struct Globals {
    words: &'static [Cell<u64>],
    /// So many of them, at the end, point to what a call uses up: it frees what an earlier one has left there, and makes its
    /// own.
    used_up: usize,
}

/// Returns the globals of such an extension.
fn globals_of(extension: Extension) -> Option<Globals> {
    let (first, bytes, used_up) = match extension.name().as_str() {
        "imap" => (extension.raw().globals_ptr, extension.raw().globals_size, 0),
        "soap" => {
            // It does not tell PHP of its globals, but each setting knows the structure it is kept in. Behind this
            // one are four words, a table of seven, and two more; the last is the table of references, which a call
            // that has failed leaves behind.
            let setting = engine::setting_entry(c"soap.wsdl_cache_limit")?;
            (setting.mh_arg2, setting.mh_arg1 as usize + 8 + 13 * 8, 1)
        }
        _ => return None,
    };
    if first.is_null() || !(8..=WORDS * 8).contains(&bytes) {
        return None;
    }
    // SAFETY: as many words as there are, which last as long as the process, and which only the PHP thread uses.
    let words = unsafe { std::slice::from_raw_parts(first.cast::<Cell<u64>>(), bytes / 8) };
    Some(Globals { words, used_up })
}

/// A call that is running.
struct Call {
    globals: Globals,
    /// What the words were before it, and what they were when its coroutine was left.
    before: [Cell<u64>; WORDS],
    left: [Cell<u64>; WORDS],
    /// The same of the switch of external entities.
    entities: Cell<(bool, bool)>,
}

/// Is this the name of such an extension?
pub(crate) fn concerns(module: &str) -> bool {
    matches!(module, "imap" | "soap")
}

foreign! {
    /// ext/soap parses a description with external entities switched off for the whole process, so that no file that others
    /// open can be parsed. This switch is ext/libxml's, and not among soap's globals.
    struct Entities {
        switch = c"php_libxml_disable_entity_loader": extern "C" fn(bool) -> bool,
    }
}

static ENTITIES: PhpStatic<Cell<Option<Entities>>> = PhpStatic::new(Cell::new(None));

/// Looks for the switch. At activation.
pub fn find() {
    ENTITIES.set(Entities::find());
}

/// Sets the switch, and returns what it was.
fn switch_entities(off: bool) -> bool {
    ENTITIES.get().is_some_and(|entities| (entities.switch)(off))
}

/// Makes a call of a function that [`concerns`] has chosen.
pub(crate) fn keeping(function: Option<Function>, call: impl FnOnce()) {
    let Some(globals) = function.and_then(|function| function.extension()).and_then(globals_of) else {
        return call();
    };
    calls::during(&Call::begin(globals), call);
}

impl Call {
    fn begin(globals: Globals) -> Call {
        let entities = switch_entities(false);
        switch_entities(entities);
        let (before, left) = ([const { Cell::new(0) }; WORDS], [const { Cell::new(0) }; WORDS]);
        // What an earlier call has left to be used up is this one's now, and no other's.
        let kept = globals.words.len() - globals.used_up;
        for (before, word) in before.iter().zip(&globals.words[..kept]) {
            before.set(word.get());
        }
        Call { globals, before, left, entities: Cell::new((entities, entities)) }
    }

    /// Each word, what it was before, and what it was when the coroutine was left.
    fn words(&self) -> impl Iterator<Item = (&Cell<u64>, &Cell<u64>, &Cell<u64>)> {
        self.globals.words.iter().zip(&self.before).zip(&self.left).map(|((word, before), left)| (word, before, left))
    }
}

impl CallState for Call {
    fn leave(&self) {
        for (word, before, left) in self.words() {
            left.set(word.replace(before.get()));
        }
        let (before, _) = self.entities.get();
        self.entities.set((before, switch_entities(before)));
    }

    /// What others have changed for good stays, and will be what it was before.
    fn resume(&self) {
        let used_up_from = self.globals.words.len() - self.globals.used_up;
        for (at, (word, before, left)) in self.words().enumerate() {
            let changed = left.get() != before.get() || at >= used_up_from;
            before.set(word.get());
            if changed {
                word.set(left.get());
            }
        }
        let (before, left) = self.entities.get();
        let changed = before != left;
        let now = switch_entities(changed && left);
        self.entities.set((now, left));
        if !changed {
            switch_entities(now);
        }
    }
}
