//! Headers from PHP code and for PHP code. A header that would break the protocol is an error.

use crate::errors::value_error;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use spindle_server::Exchange;
use spindle_zend::{Array, Owned, Str, Thrown, Value, exception};

/// Returns the name of a header.
///
/// # Errors
/// `ValueError` if it is none.
pub fn name(name: &[u8]) -> Result<HeaderName, Thrown> {
    HeaderName::from_bytes(name).map_err(|_| value_error(&format!("\"{}\" is not the name of a header", shown(name))))
}

/// Returns the value of a header.
///
/// # Errors
/// `ValueError` if it has a line break, a zero or another control character.
pub fn value(name: &HeaderName, value: &[u8]) -> Result<HeaderValue, Thrown> {
    let trimmed = value.trim_ascii();
    HeaderValue::from_bytes(trimmed).map_err(|_| {
        value_error(&format!(
            "The value of the header {name} must not contain line breaks, zeros or control characters"
        ))
    })
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(40).flat_map(char::escape_default).collect()
}

/// Returns the value of a header: a string or a number.
fn value_of(header: &HeaderName, of: &Value) -> Result<HeaderValue, Thrown> {
    if let Some(text) = of.as_str() {
        return value(header, text.as_bytes());
    }
    if let Some(number) = of.as_long() {
        return Ok(HeaderValue::from(number));
    }
    Err(exception::throw_error(&format!("The value of a header must be a string or an int, {} given", of.type_name())))
}

/// How many headers of different names a response can have. The type has a limit of 24,576, and panics above it, in hyper too.
const MAX: usize = 4096;

/// Adds a header. Returns `false` if there are too many.
pub fn append(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) -> bool {
    (headers.keys_len() < MAX || headers.contains_key(&name)) && headers.try_append(name, value).is_ok()
}

/// Sets or adds the values of a header; an array has several.
///
/// # Errors
/// They are no header.
pub fn set(headers: &mut HeaderMap, of: &[u8], values: &Value, replace: bool) -> Result<(), Thrown> {
    let name = name(of)?;
    let Some(list) = values.as_array() else {
        let one = value_of(&name, values)?;
        if replace {
            headers.remove(&name);
        }
        return add(headers, name, one);
    };
    let (mut all, mut position) = (Vec::with_capacity(list.len()), 0);
    while let Some((_, one)) = list.next_from(&mut position) {
        all.push(value_of(&name, one)?);
    }
    if replace {
        headers.remove(&name);
    }
    all.into_iter().try_for_each(|one| add(headers, name.clone(), one))
}

fn add(headers: &mut HeaderMap, name: HeaderName, value: HeaderValue) -> Result<(), Thrown> {
    if append(headers, name, value) { Ok(()) } else { Err(value_error("There are too many headers")) }
}

/// Adds the headers of an array: names, and a value or an array of values for each.
///
/// # Errors
/// They are no headers.
pub fn add_all(headers: &mut HeaderMap, all: &Array) -> Result<(), Thrown> {
    let mut position = 0;
    while let Some((key, values)) = all.next_from(&mut position) {
        let Some(name) = key.as_str() else {
            return Err(value_error("Headers must have their names as keys"));
        };
        set(headers, name.as_bytes(), values, false)?;
    }
    Ok(())
}

/// Returns all values of a header, joined as one line.
pub fn line(headers: &HeaderMap, name: &HeaderName) -> Option<Value> {
    let mut values = headers.get_all(name).iter();
    let first = values.next()?;
    let Some(second) = values.next() else { return Some(Str::new(first.as_bytes()).into()) };
    let separator: &[u8] = if name == header::COOKIE { b"; " } else { b", " };
    let mut line = first.as_bytes().to_vec();
    for value in std::iter::once(second).chain(values) {
        line.extend_from_slice(separator);
        line.extend_from_slice(value.as_bytes());
    }
    Some(Str::new(line).into())
}

/// Returns an array of names in lower case, with a list of values for each.
pub fn to_array(headers: &HeaderMap) -> Owned<Array> {
    let mut all = Array::new(headers.keys_len());
    for name in headers.keys() {
        let mut values = Array::new(1);
        headers.get_all(name).iter().for_each(|value| values.push(Str::new(value.as_bytes()).into()));
        all.set_key(&name.as_str().into(), values.into());
    }
    all
}

/// Returns the host that the client has asked for.
pub fn host(exchange: &Exchange) -> Value {
    let head = exchange.head();
    match (exchange.origin().and_then(|origin| origin.host.as_deref()), head.uri.authority()) {
        (Some(host), _) => host.into(),
        (None, Some(authority)) => authority.as_str().into(),
        (None, None) => line(&head.headers, &header::HOST).unwrap_or_else(|| "".into()),
    }
}

/// Decodes `%41`.
pub fn decoded(text: &[u8]) -> Vec<u8> {
    let hex = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (mut decoded, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let digits = text.get(at + 1).zip(text.get(at + 2)).filter(|_| *byte == b'%');
        match digits.and_then(|(high, low)| Some(hex(*high)? << 4 | hex(*low)?)) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}
