//! Extensions that keep the state of a running call in their module's globals: what such a call has changed there goes
//! with its coroutine.
//!
//! While one waits in `SoapClient::__call`, another one's would decode by the first one's types; the list that
//! `imap_search()` collects would be everybody's. So the globals are copied as such a call begins. Words that differ
//! when its coroutine is left are the call's own: they are what they were before while others run.

use crate::isolation::switch_hooks::{self, Aside, Turn};
use crate::zend::modules::module_name;
use spindle_php_sys as sys;
use std::cell::Cell;

/// As many words of globals as any of them has.
const WORDS: usize = 128;

/// Where the globals of such an extension are, how many words of them, and how many at their end point to what a call
/// uses up: it frees what an earlier one has left there, and makes its own.
unsafe fn globals_of(module: *const sys::zend_module_entry) -> Option<(*mut u64, usize, usize)> {
    // SAFETY: a loaded module; the table of settings has entries as long as PHP runs.
    let (globals, bytes, used_up) = unsafe {
        match module_name(module).as_str() {
            "imap" => ((*module).globals_ptr, (*module).globals_size, 0),
            "soap" => {
                // It does not tell PHP of its globals, but each setting knows the structure it is kept in. Behind this
                // one are four words, a table of seven, and two more; the last is the table of references, which a call
                // that has failed leaves behind.
                let name = c"soap.wsdl_cache_limit";
                let setting =
                    sys::zend_hash_str_find(sys::executor_globals.ini_directives, name.as_ptr(), name.count_bytes());
                let entry = setting.as_ref()?.value.ptr.cast::<sys::zend_ini_entry>().as_ref()?;
                (entry.mh_arg2, entry.mh_arg1 as usize + 8 + 13 * 8, 1)
            }
            _ => return None,
        }
    };
    (!globals.is_null() && (8..=WORDS * 8).contains(&bytes)).then(|| (globals.cast(), bytes / 8, used_up))
}

/// A call that is running, on the C stack of its coroutine.
#[repr(C)]
pub struct Kept {
    aside: Aside,
    globals: *mut u64,
    count: usize,
    /// So many of them, at the end, are this call's alone.
    used_up: usize,
    before: [u64; WORDS],
    left: [u64; WORDS],
    entities: (bool, bool),
}

/// Is this the name of such an extension?
pub(crate) fn concerns(module: &str) -> bool {
    matches!(module, "imap" | "soap")
}

type Switch = unsafe extern "C" fn(bool) -> bool;
struct Found(Cell<Option<Switch>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Found {}
/// ext/soap parses a description with external entities switched off for the whole process, so that no file that
/// others open can be parsed. This switch is ext/libxml's, and not among soap's globals.
static ENTITIES: Found = Found(Cell::new(None));

/// Looks for the switch. At activation.
pub fn find() {
    // SAFETY: a terminated name; the function has had this type since PHP 8.0.
    unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, c"php_libxml_disable_entity_loader".as_ptr());
        ENTITIES.0.set((!found.is_null()).then(|| std::mem::transmute::<*mut libc::c_void, Switch>(found)));
    }
}

/// Sets the switch, and returns what it was.
fn switch_entities(off: bool) -> bool {
    // SAFETY: ext/libxml's function: it stores a flag.
    ENTITIES.0.get().is_some_and(|switch| unsafe { switch(off) })
}

type Handler = unsafe extern "C" fn(*mut sys::zend_execute_data, *mut sys::zval);
type Call = (Handler, *mut sys::zend_execute_data, *mut sys::zval);

/// Calls a function that `concerns` has chosen, by the handler that it would have had.
pub(crate) unsafe fn keeping(handler: Handler, frame: *mut sys::zend_execute_data, result: *mut sys::zval) {
    // SAFETY: the running context; as many words as `globals_of` says. `kept` is forgotten when the call is over, also
    // by a bailout, which goes on from here: no destructor is skipped.
    unsafe {
        let module = (*(*frame).func).internal_function.module;
        let Some((globals, count, used_up)) = globals_of(module) else {
            return handler(frame, result);
        };
        let entities = switch_entities(false);
        switch_entities(entities);
        let aside = Aside::new(switched);
        let (before, left) = ([0; WORDS], [0; WORDS]);
        let mut kept = Kept { aside, globals, count, used_up, before, left, entities: (entities, entities) };
        // What an earlier call has left to be used up is this one's now, and nobody else's.
        kept.before.as_mut_ptr().copy_from_nonoverlapping(globals, count - used_up);
        switch_hooks::begin((&raw mut kept).cast());
        let mut call: Call = (handler, frame, result);
        let returned = sys::spindle_guarded(Some(make), (&raw mut call).cast());
        switch_hooks::end((&raw mut kept).cast());
        if !returned {
            sys::spindle_bailout();
        }
    }
}

unsafe extern "C" fn make(call: *mut std::ffi::c_void) {
    // SAFETY: as `keeping` has made it.
    unsafe {
        let (handler, frame, result) = *call.cast::<Call>();
        handler(frame, result);
    }
}

unsafe fn switched(aside: *mut Aside, turn: Turn) {
    // SAFETY: the beginning of a call that is running.
    unsafe {
        let call = &mut *aside.cast::<Kept>();
        match turn {
            Turn::Left => leave(call),
            Turn::GoesOn => go_on(call),
        }
    }
}

unsafe fn leave(call: &mut Kept) {
    for at in 0..call.count {
        // SAFETY: as many words as there are.
        unsafe {
            let word = call.globals.add(at);
            call.left[at] = *word;
            *word = call.before[at];
        }
    }
    call.entities.1 = switch_entities(call.entities.0);
}

/// What others have changed for good stays, and will be what it was before.
unsafe fn go_on(call: &mut Kept) {
    for at in 0..call.count {
        let changed = call.left[at] != call.before[at] || at >= call.count - call.used_up;
        // SAFETY: as `leave`.
        unsafe {
            let word = call.globals.add(at);
            call.before[at] = *word;
            if changed {
                *word = call.left[at];
            }
        }
    }
    let changed = call.entities.0 != call.entities.1;
    call.entities.0 = switch_entities(if changed { call.entities.1 } else { false });
    if !changed {
        switch_entities(call.entities.0);
    }
}
