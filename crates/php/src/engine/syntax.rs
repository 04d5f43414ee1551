//! Rewrites the operators in sources when they are compiled, below opcache, which stores the result.
//!
//! `highlight_file()`, the tokenizer and the like read sources themselves, without the rewriting.

use crate::settings;
use memchr::memmem;
use spindle_syntax::{Options, Start, SyntaxError, Version, plain, rewrite};
use spindle_zend::{
    Function, Hook, Owned, SourceFile, Str, engine,
    hooks::{COMPILE_FILE, CompileFile},
    source::{self, NewText},
    sys,
};
use std::ffi::{CStr, CString, OsStr, c_int};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

static COMPILE_FILE_HOOK: Hook<CompileFile> = Hook::new(&COMPILE_FILE, compile_file);

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
    settings::current().syntax
}

fn options(start: Start) -> Options {
    Options { version: VERSION, short_tags: engine::has_short_tags(), start }
}

/// Hooks the compiler, at module start, so that opcache, which hooks it after the start of all modules, is around this
/// hook.
pub fn install() {
    if is_on() {
        COMPILE_FILE_HOOK.install();
    }
}

/// Restores the original at module shutdown, except where others have replaced the hook.
pub fn remove() {
    COMPILE_FILE_HOOK.remove();
}

/// Compiles a file whose operators are rewritten first. Reading it may run PHP code (of a stream wrapper) and bail out;
/// nothing is held then. If the memory limit leaves no room for the new text, the list of edits leaks.
extern "C" fn compile_file(mut file: SourceFile<'_>, kind: c_int) -> Option<Function> {
    let original = COMPILE_FILE_HOOK.original()?;
    if is_archive(&file) || source::are_recoded() {
        return original(file, kind);
    }
    // PHP's buffers may be larger than the rewriter's offsets can express.
    let Some(text) = file.text().filter(|text| text.len() <= u32::MAX as usize) else {
        return original(file, kind);
    };
    match plain(text, options(Start::Html)) {
        Ok(None) => {
            source::set_growth(0); // a bailout during the previous parse may have left a value
            original(file, kind)
        }
        Ok(Some(plain)) => {
            let growth = plain.length() - text.len();
            let mut new = NewText::new(plain.length());
            plain.pieces().for_each(|piece| new.push(piece));
            drop(plain);
            file.replace_text(new);
            source::set_growth(growth);
            let code = original(file, kind);
            source::set_growth(0);
            code
        }
        Err(error) => {
            refuse(file.opened_path().or(file.name())?, text, error);
            None
        }
    }
}

/// Returns `true` if the phar extension will replace the reader of this file with its own. It does so for files with
/// certain names that are archives without PHP code at the start.
fn is_archive(file: &SourceFile<'_>) -> bool {
    let name = file.name().map_or(&[][..], Str::as_bytes);
    let is_named = memchr::memchr_iter(b'.', name).any(|at| name[at..].starts_with(b".phar"));
    if !is_named || memmem::find(name, b"://").is_some() {
        return false;
    }
    let (path, mut head) = (Path::new(OsStr::from_bytes(name)), Vec::with_capacity(512));
    if !path.is_file() {
        return false; // what is not a file can be read only once
    }
    let read = File::open(path).and_then(|file| file.take(512).read_to_end(&mut head));
    let text = head.split(|byte| *byte == 0).next().unwrap_or_default();
    let is_text = text.len() == head.len() || memmem::find(text, b"__HALT_COMPILER();").is_some();
    read.is_ok() && (!is_text || head.starts_with(b"\x1f\x8b") || head.starts_with(b"BZh"))
}

/// Throws the error about an operator as the compiler throws its own. It may bail out when there is no code in which to
/// throw; the text leaks then, and the process is about to end.
fn refuse(file: &Str, text: &[u8], error: SyntaxError) {
    let line = error.position(text).line as u32;
    let message = CString::new(error.message.replace('\0', "\\0")).unwrap_or_default();
    drop(error.message);
    source::throw_parse_error(file, line, &message);
}

/// The source that is compiled in place of a string.
pub enum Source {
    /// The string itself.
    Same,
    /// Another string.
    Other(Owned<Str>),
    /// Nothing: an exception was thrown.
    Refused,
}

/// Returns the source that is compiled in place of the string of an `eval()` or the like.
pub fn of_string(string: &Str, name: &CStr, position: sys::zend_compile_position) -> Source {
    let text = string.as_bytes();
    if !is_on() || text.len() > u32::MAX as usize {
        return Source::Same;
    }
    let is_inside = position == sys::ZEND_COMPILE_POSITION_AFTER_OPEN_TAG;
    match rewrite(text, options(if is_inside { Start::Script } else { Start::Html })) {
        Ok(None) => Source::Same,
        Ok(Some(plain)) => Source::Other(Str::new(&plain)),
        Err(error) => {
            let file = Str::new(name.to_bytes());
            refuse(&file, text, error);
            Source::Refused
        }
    }
}
