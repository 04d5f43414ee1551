//! Channels of the lines or chunks of a stream, and streams of a channel's values.

use crate::channel::{self, CHANNEL};
use crate::{fails, number};
use spindle_php::coroutine;
use spindle_zend::{Call, PhpResult, Thrown, Value, argument_error, exception};

fn stream_of(value: Option<&Value>) -> Result<Value, Thrown> {
    match value.filter(|value| value.as_resource().is_some()) {
        Some(stream) => Ok(stream.clone()),
        None => Err(argument_error(1, true, "must be a stream")),
    }
}

/// `Channel::fromStream()`: a channel of the lines of a stream, or of chunks of at most this size, which a coroutine reads.
pub fn from_stream(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 3)?;
    let stream = stream_of(arguments.value(1))?;
    let (chunk, capacity) = (number(&arguments, 2, 0, 0)?, number(&arguments, 3, 0, 0)?);
    let channel = channel::make(capacity);
    let target = channel.clone();
    coroutine::spawn(move || {
        let read = || -> Result<(), Thrown> {
            loop {
                let read = match chunk {
                    0 => coroutine::call(&"fgets".into(), &mut [stream.clone()])?,
                    chunk => coroutine::call(&"fread".into(), &mut [stream.clone(), (chunk as i64).into()])?,
                };
                match read.as_str() {
                    Some(text) if !text.as_bytes().is_empty() => {
                        if channel::send(&target, read, None).is_err() {
                            return Err(Thrown::is_in_flight());
                        }
                    }
                    _ => return Ok(()),
                }
            }
        };
        match read() {
            Ok(()) => target.close(None),
            Err(thrown) if exception::is_exit_in_flight() => return Err(thrown),
            Err(_) => {
                let reason = exception::take();
                // Whoever has closed the channel wants no more; any other failure is the receivers'.
                let is_closed = target.is_closed();
                if !is_closed {
                    target.close(reason);
                }
            }
        }
        Ok(Value::NULL)
    })?;
    Ok(channel.into())
}

/// `Channel::toStream()`: writes all values to a stream until the channel is closed, and returns the number of bytes.
pub fn to_stream(call: Call) -> PhpResult {
    let arguments = call.arguments(1, 2)?;
    let stream = stream_of(arguments.value(1))?;
    let separator = if arguments.value(2).is_some() { arguments.str(2)?.as_bytes().to_vec() } else { Vec::new() };
    let this = call.this_of(&CHANNEL);
    let mut written = 0_i64;
    while let Some(value) = channel::receive(this, None)? {
        let text = coroutine::call(&"strval".into(), &mut [value])?;
        let mut bytes = text.as_str().map(|text| text.as_bytes().to_vec()).unwrap_or_default();
        bytes.extend_from_slice(&separator);
        let count = bytes.len() as i64;
        let mut rest = bytes;
        while !rest.is_empty() {
            let part = spindle_zend::Str::new(&rest).into();
            let result = coroutine::call(&"fwrite".into(), &mut [stream.clone(), part])?;
            match result.as_long() {
                Some(count) if count > 0 => drop(rest.drain(..(count as usize).min(rest.len()))),
                _ => return Err(fails("The stream cannot be written to")),
            }
        }
        written += count;
    }
    Ok(written.into())
}
