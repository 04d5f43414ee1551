//! Extensions that keep the state of a call in progress in their module's globals: what such a call has changed there
//! travels with its coroutine.
//!
//! Otherwise, while one coroutine waits in `SoapClient::__call`, another one would decode by the first one's types, and
//! the list that `imap_search()` collects would be shared. So the globals are copied when such a call begins. Words
//! that differ when its coroutine is suspended belong to the call: they get their previous values while others run.

use super::calls::{self, CallState};
use super::foreign::foreign;
use spindle_zend::{Extension, Function, PhpStatic, engine};
use std::cell::Cell;

/// The maximal number of words of globals.
const WORDS: usize = 128;

/// The globals of such an extension.
#[derive(Clone, Copy)]
struct Globals {
    words: &'static [Cell<u64>],
    /// The number of words, at the end, that point to what a call consumes: it frees what an earlier call has left
    /// there, and creates its own.
    used_up: usize,
}

/// Returns the globals of such an extension.
fn globals_of(extension: Extension) -> Option<Globals> {
    let (first, bytes, used_up) = match extension.name().as_str() {
        "imap" => (extension.raw().globals_ptr, extension.raw().globals_size, 0),
        "soap" => {
            // The extension does not register its globals with PHP, but each setting knows the structure that it is
            // kept in. After this one follow four words, a table of seven, and two more; the last is the table of
            // references, which a failed call leaves behind.
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

/// A call in progress.
struct Call {
    globals: Globals,
    /// The values of the words before the call, and when its coroutine was suspended.
    before: [Cell<u64>; WORDS],
    saved: [Cell<u64>; WORDS],
    /// The same for the switch of external entities.
    entities: Cell<(bool, bool)>,
}

/// Returns `true` if this is the name of such an extension.
pub(crate) fn concerns(module: &str) -> bool {
    matches!(module, "imap" | "soap")
}

foreign! {
    /// ext/soap parses a description with external entities disabled for the whole process, so that other coroutines
    /// could not parse files meanwhile. This switch belongs to ext/libxml, and is not among soap's globals.
    struct Entities {
        switch = c"php_libxml_disable_entity_loader": extern "C" fn(bool) -> bool,
    }
}

static ENTITIES: PhpStatic<Cell<Option<Entities>>> = PhpStatic::new(Cell::new(None));

/// Looks up the switch, at activation.
pub fn find() {
    ENTITIES.set(Entities::find());
}

/// Sets the switch, and returns its previous value.
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
        let (before, saved) = ([const { Cell::new(0) }; WORDS], [const { Cell::new(0) }; WORDS]);
        // What an earlier call has left to be consumed belongs to this one now.
        let kept = globals.words.len() - globals.used_up;
        for (before, word) in before.iter().zip(&globals.words[..kept]) {
            before.set(word.get());
        }
        Call { globals, before, saved, entities: Cell::new((entities, entities)) }
    }

    /// Returns each word with its value before the call and the one when the coroutine was suspended.
    fn words(&self) -> impl Iterator<Item = (&Cell<u64>, &Cell<u64>, &Cell<u64>)> {
        self.globals
            .words
            .iter()
            .zip(&self.before)
            .zip(&self.saved)
            .map(|((word, before), saved)| (word, before, saved))
    }
}

impl CallState for Call {
    fn suspend(&self) {
        for (word, before, saved) in self.words() {
            saved.set(word.replace(before.get()));
        }
        let (before, _) = self.entities.get();
        self.entities.set((before, switch_entities(before)));
    }

    /// Permanent changes by others become the previous values.
    fn resume(&self) {
        let used_up_from = self.globals.words.len() - self.globals.used_up;
        for (at, (word, before, saved)) in self.words().enumerate() {
            let changed = saved.get() != before.get() || at >= used_up_from;
            before.set(word.get());
            if changed {
                word.set(saved.get());
            }
        }
        let (before, saved) = self.entities.get();
        let changed = before != saved;
        let now = switch_entities(changed && saved);
        self.entities.set((now, saved));
        if !changed {
            switch_entities(now);
        }
    }
}
