//! Operators in the source: it is rewritten as it is compiled, below opcache, which keeps what comes of it.
//!
//! `highlight_file()`, the tokenizer and the like read sources themselves, and see them as they are.

use memchr::memmem;
use spindle_php_sys as sys;
use spindle_syntax::{Options, Start, SyntaxError, Version, plain, rewrite};
use std::cell::Cell;
use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};

type CompileFile = unsafe extern "C" fn(*mut sys::zend_file_handle, i32) -> *mut sys::zend_op_array;

struct Original(Cell<Option<CompileFile>>);
// SAFETY: used on the PHP thread only.
unsafe impl Sync for Original {}
static ORIGINAL: Original = Original(Cell::new(None));

const VERSION: Version = if cfg!(php85) {
    Version::V8_5
} else if cfg!(php84) {
    Version::V8_4
} else if cfg!(php83) {
    Version::V8_3
} else {
    Version::V8_2
};

fn is_on() -> bool {
    // SAFETY: read after module start.
    unsafe { sys::spindle_settings.syntax }
}

fn options(start: Start) -> Options {
    // SAFETY: a global of the engine's.
    let short_tags = unsafe { sys::compiler_globals.short_tags };
    Options { version: VERSION, short_tags, start }
}

/// Wraps the compiler. At module start, so that opcache, which wraps it when all modules have started, is around this.
pub fn install() {
    if is_on() {
        // SAFETY: module start, one thread; the original is kept and called.
        unsafe {
            ORIGINAL.0.set(sys::zend_compile_file);
            sys::zend_compile_file = Some(compile_file);
        }
    }
}

/// Puts the original back, at module shutdown, where ours still stands.
pub fn remove() {
    // SAFETY: module shutdown, on the PHP thread.
    unsafe {
        if sys::zend_compile_file.is_some_and(|f| f as usize == compile_file as *const () as usize) {
            sys::zend_compile_file = ORIGINAL.0.get();
        }
    }
}

unsafe extern "C" fn compile_file(file: *mut sys::zend_file_handle, kind: i32) -> *mut sys::zend_op_array {
    let Some(original) = ORIGINAL.0.get() else { return null_mut() };
    // SAFETY: the engine's own arguments. Reading the file may run PHP code (of a stream wrapper) and bail out; nothing
    // is held then. Where the memory limit leaves no room for the new text, the list of edits is lost. The pieces are as
    // long together as the room.
    unsafe {
        if is_archive(file) || sys::spindle_files_are_recoded() {
            return original(file, kind);
        }
        let (mut text, mut length) = (null(), 0);
        if !sys::spindle_file_source(file, &mut text, &mut length) {
            return original(file, kind);
        }
        // PHP's own buffers may be larger than what we count with.
        if length > u32::MAX as usize {
            return original(file, kind);
        }
        match plain(std::slice::from_raw_parts(text.cast(), length), options(Start::Html)) {
            Ok(None) => {
                sys::spindle_source_has_grown(0); // a bailout while the one before was parsed has left it
                original(file, kind)
            }
            Ok(Some(plain)) => {
                let total = plain.length();
                let room = sys::spindle_file_room(total);
                let mut end: *mut u8 = room.cast();
                for piece in plain.pieces() {
                    end.copy_from_nonoverlapping(piece.as_ptr(), piece.len());
                    end = end.add(piece.len());
                }
                drop(plain);
                sys::spindle_file_replace(file, room, total);
                sys::spindle_source_has_grown(total - length);
                let code = original(file, kind);
                sys::spindle_source_has_grown(0);
                code
            }
            Err(error) => {
                let opened = (*file).opened_path;
                let name = if opened.is_null() { (*file).filename } else { opened };
                refuse(name, std::slice::from_raw_parts(text.cast(), length), error);
                null_mut()
            }
        }
    }
}

/// Will the phar extension, to which the name says enough to look, put a reader of its own in the place of this file? It
/// does so for archives that are no PHP up to their contents.
unsafe fn is_archive(file: *mut sys::zend_file_handle) -> bool {
    // SAFETY: a file has a name.
    let name = unsafe { crate::zend::zv::bytes((*file).filename) };
    let is_named = memchr::memchr_iter(b'.', name).any(|at| name[at..].starts_with(b".phar"));
    if !is_named || memmem::find(name, b"://").is_some() {
        return false;
    }
    let (path, mut head) = (Path::new(OsStr::from_bytes(name)), Vec::with_capacity(512));
    if !path.is_file() {
        return false; // what is no file can be read once
    }
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
    let text = head.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_text = text.len() == head.len() || memmem::find(text, b"__HALT_COMPILER();").is_some();
    read.is_ok() && (!is_text || head.starts_with(b"\x1f\x8b") || head.starts_with(b"BZh"))
}

/// Throws what is wrong with an operator, as the compiler throws what is wrong with the rest.
unsafe fn refuse(file: *mut sys::zend_string, source: &[u8], error: SyntaxError) {
    let line = error.position(source).line as u32;
    let message = CString::new(error.message.replace('\0', "\\0")).unwrap_or_default();
    drop(error.message);
    // SAFETY: a file's name, and a terminated text that is copied. It may bail out when there is no code to throw in; the
    // text is lost then, and the process is about to end.
    unsafe { sys::spindle_parse_error(file, line, message.as_ptr()) };
}

/// What is to be compiled in place of a string.
pub enum Source {
    /// The string itself.
    Same,
    /// This one, with a reference.
    Other(*mut sys::zend_string),
    /// Nothing: something was thrown.
    Refused,
}

/// Looks at what `eval()` and the like are about to compile.
///
/// # Safety
/// The arguments of the engine's `zend_compile_string`.
pub unsafe fn of_string(
    source: *mut sys::zend_string,
    name: *const i8,
    position: sys::zend_compile_position,
) -> Source {
    // SAFETY: the caller's promise.
    unsafe {
        let text = crate::zend::zv::bytes(source);
        if !is_on() || text.len() > u32::MAX as usize {
            return Source::Same;
        }
        let inside = position == sys::ZEND_COMPILE_POSITION_AFTER_OPEN_TAG;
        match rewrite(text, options(if inside { Start::Script } else { Start::Html })) {
            Ok(None) => Source::Same,
            Ok(Some(plain)) => Source::Other(sys::spindle_string_new(plain.as_ptr().cast(), plain.len())),
            Err(error) => {
                let name = CStr::from_ptr(name);
                let file = sys::spindle_string_new(name.as_ptr(), name.count_bytes());
                refuse(file, text, error);
                sys::spindle_string_release(file);
                Source::Refused
            }
        }
    }
}
