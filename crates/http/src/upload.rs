//! The class `Async\Http\UploadedFile`.

use crate::errors::server_error;
use spindle_php::coroutine;
use spindle_zend::{Call, Class, Instance, Owned, PhpResult, State, Str, Type, Value, function_table, object_class};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The state of an object of the class. The file is removed with the object, unless it was moved.
#[derive(Default)]
pub struct UploadedFile {
    name: RefCell<Vec<u8>>,
    kind: RefCell<Vec<u8>>,
    path: RefCell<Option<PathBuf>>,
    /// The process that has made the file, and removes it.
    process: Cell<u32>,
    file: RefCell<Option<File>>,
    size: Cell<u64>,
    error: Cell<i64>,
}

/// No file was chosen (`UPLOAD_ERR_NO_FILE`).
pub const NO_FILE: i64 = 4;
/// It is larger than `upload_max_filesize` (`UPLOAD_ERR_INI_SIZE`).
pub const TOO_LARGE: i64 = 1;
/// There is no folder for it (`UPLOAD_ERR_NO_TMP_DIR`).
pub const NO_FOLDER: i64 = 6;
/// It cannot be written (`UPLOAD_ERR_CANT_WRITE`).
pub const CANNOT_WRITE: i64 = 7;

object_class!(static UPLOADED_FILE: UploadedFile);

function_table! {
    static METHODS = {
        c"name"() -> Type::STRING => |call| of(call, |this| Str::new(&*this.name.borrow()).into());
        c"type"() -> Type::STRING => |call| of(call, |this| Str::new(&*this.kind.borrow()).into());
        c"path"() -> Type::STRING.or_null() => |call| of(call, path);
        c"size"() -> Type::INT => |call| of(call, |this| i64::try_from(this.size.get()).unwrap_or(i64::MAX).into());
        c"error"() -> Type::INT => |call| of(call, |this| this.error.get().into());
        c"moveTo"(path: Type::STRING) -> Type::VOID => move_to;
    }
}

/// Registers the class. At module start.
pub fn register() {
    UPLOADED_FILE.declare(c"Async\\Http\\UploadedFile", METHODS, &[]);
}

impl State for UploadedFile {
    fn new(_: Class) -> UploadedFile {
        UploadedFile::default()
    }
}

impl Drop for UploadedFile {
    fn drop(&mut self) {
        self.remove();
    }
}

impl UploadedFile {
    fn remove(&self) {
        self.file.take();
        if let Some(path) = self.path.take()
            && self.process.get() == std::process::id()
        {
            let _ = std::fs::remove_file(path);
        }
    }

    /// Returns the number of its bytes.
    pub fn size(&self) -> u64 {
        self.size.get()
    }

    /// Writes a piece of it.
    pub fn write(&self, bytes: &[u8]) {
        if self.error.get() != 0 {
            return;
        }
        let written = self.file.borrow_mut().as_mut().map(|file| file.write_all(bytes));
        match written {
            Some(Ok(())) => self.size.set(self.size.get() + bytes.len() as u64),
            _ => self.fail(CANNOT_WRITE),
        }
    }

    /// Marks it as failed, with a number of PHP's (`UPLOAD_ERR_…`).
    pub fn fail(&self, error: i64) {
        self.error.set(error);
        self.size.set(0);
        self.remove();
    }

    /// All of it was received.
    pub fn close(&self) {
        self.file.take();
    }
}

/// Returns a new one, which is empty, in this folder.
pub fn make(name: &[u8], kind: &[u8], folder: &str) -> Owned<Instance<UploadedFile>> {
    let upload = UPLOADED_FILE.make();
    // Some clients send the path: what is behind the last separator is the name.
    let start = name.iter().rposition(|byte| matches!(byte, b'/' | b'\\')).map_or(0, |at| at + 1);
    *upload.name.borrow_mut() = name[start..].to_vec();
    *upload.kind.borrow_mut() = kind.to_vec();
    match create_file(folder) {
        Ok((file, path)) => {
            upload.process.set(std::process::id());
            *upload.file.borrow_mut() = Some(file);
            *upload.path.borrow_mut() = Some(path);
        }
        Err(error) => upload.fail(if error.kind() == io::ErrorKind::NotFound { NO_FOLDER } else { CANNOT_WRITE }),
    }
    upload
}

/// Creates a file with an unpredictable name.
fn create_file(folder: &str) -> io::Result<(File, PathBuf)> {
    use std::hash::{BuildHasher, RandomState};
    use std::os::unix::fs::OpenOptionsExt;
    for _ in 0..100 {
        let path = PathBuf::from(folder).join(format!("php{:016x}", RandomState::new().hash_one(0)));
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return file.map(|file| (file, path)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn of(call: Call, what: impl FnOnce(&UploadedFile) -> Value) -> PhpResult {
    Ok(what(call.this_of(&UPLOADED_FILE)))
}

fn path(this: &UploadedFile) -> Value {
    use std::os::unix::ffi::OsStrExt;
    this.path.borrow().as_ref().map(|path| Str::new(path.as_os_str().as_bytes())).into()
}

/// Moves the file by PHP's `rename()`, which respects `open_basedir` and copies to other file systems.
fn move_to(call: Call) -> PhpResult {
    let target: Value = call.passed().str(1)?.into();
    let this = call.this_of(&UPLOADED_FILE);
    let from = path(this);
    if from.as_str().is_none() {
        return Err(server_error("There is no uploaded file, or it was moved already"));
    }
    let moved = coroutine::call(&"rename".into(), &mut [from, target.clone()])?;
    if !moved.is_truthy() {
        return Err(server_error("The uploaded file cannot be moved there"));
    }
    this.path.take();
    let mask = coroutine::call(&"umask".into(), &mut [])?.as_long().unwrap_or(0o022);
    coroutine::call(&"chmod".into(), &mut [target, (0o666 & !mask).into()])?;
    Ok(Value::NULL)
}
