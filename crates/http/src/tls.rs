//! The class `Async\Http\Tls`.

use crate::errors::{server_error, value_error};
use spindle_server::{CertificateFiles, Tls as Core};
use spindle_zend::{
    Arguments, Array, Call, Class, Object, PhpResult, State, Str, Thrown, Type, Value, engine, exception,
    function_table, object_class,
};
use std::cell::OnceCell;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;

/// The state of an object of the class.
pub struct Tls(OnceCell<Rc<Core>>);

object_class!(pub static TLS: Tls);

const STATIC: Type = Type::class(c"Async\\Http\\Tls");

function_table! {
    static METHODS = {
        c"__construct"(certificate: Type::STRING, key: Type::STRING, options: Type::ARRAY => c"[]") -> Type::NONE => construct;
        c"add"(certificate: Type::STRING, key: Type::STRING) -> STATIC => |call| {
            let further = files(&call.passed())?;
            let this = call.this_of(&TLS);
            this.core()?.add(further).map_err(|error| server_error(&error.to_string()))?;
            Ok(this.object().into())
        };
        c"reload"() -> Type::VOID => |call| {
            call.this_of(&TLS).core()?.reload().map_err(|error| server_error(&error.to_string()))?;
            Ok(Value::NULL)
        };
    }
}

/// Registers the class. At module start.
pub fn register() {
    TLS.declare(c"Async\\Http\\Tls", METHODS, &[]);
}

impl State for Tls {
    fn new(_: Class) -> Tls {
        Tls(OnceCell::new())
    }
}

impl Tls {
    fn core(&self) -> Result<&Rc<Core>, Thrown> {
        self.0.get().ok_or_else(|| exception::throw_error("The Tls object was not constructed"))
    }
}

/// Returns the certificates of an object of the class.
///
/// # Errors
/// The constructor has not run.
pub fn of(object: &Object) -> Result<Rc<Core>, Thrown> {
    let this = TLS.of(object).ok_or_else(|| server_error("This is no Tls object"))?;
    this.core().cloned()
}

/// Returns the path of a file that the settings allow.
pub fn path(text: &Str) -> Result<PathBuf, Thrown> {
    let name = CString::new(text.as_bytes()).map_err(|_| value_error("The name of a file has a zero in it"))?;
    if !engine::may_open(&name) {
        return Err(server_error(&format!("The setting open_basedir does not allow the file {}", text.to_text())));
    }
    // The working directory may be another one when the file is read again.
    std::path::absolute(OsString::from_vec(name.into_bytes()))
        .map_err(|error| server_error(&format!("There is no file {}: {error}", text.to_text())))
}

fn files(arguments: &Arguments<'_>) -> Result<CertificateFiles, Thrown> {
    Ok(CertificateFiles { certificate: path(arguments.str(1)?)?, key: path(arguments.str(2)?)? })
}

/// Returns whether the options demand version 1.3.
fn is_13_only(options: &Array) -> Result<bool, Thrown> {
    let (mut is_13_only, mut position) = (false, 0);
    while let Some((key, value)) = options.next_from(&mut position) {
        let name = key.as_str().map_or(String::new(), Str::to_text);
        if name != "min_version" {
            return Err(value_error(&format!("There is no option \"{name}\"")));
        }
        is_13_only = match value.as_str().map(Str::to_text).as_deref() {
            Some("1.2") => false,
            Some("1.3") => true,
            _ => return Err(value_error("The option \"min_version\" must be \"1.2\" or \"1.3\"")),
        };
    }
    Ok(is_13_only)
}

fn construct(call: Call) -> PhpResult {
    let arguments = call.passed();
    let first = files(&arguments)?;
    let is_13_only = arguments.value(3).map(|_| arguments.array(3)).transpose()?.map_or(Ok(false), is_13_only)?;
    let core = Core::new(first, is_13_only).map_err(|error| server_error(&error.to_string()))?;
    if call.this_of(&TLS).0.set(Rc::new(core)).is_err() {
        return Err(server_error("The Tls object is constructed already"));
    }
    Ok(Value::NULL)
}
