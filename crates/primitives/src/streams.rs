//! Channels of the lines or chunks of a stream, and streams of a channel's values.

use crate::arguments::{fails, number};
use crate::channel::{self, CHANNEL, Shared};
use spindle_php::coroutine;
use spindle_zend::{Call, PhpResult, Thrown, Value, argument_error, exception};
use std::rc::Rc;

fn stream_of(value: Option<&Value>) -> Result<Value, Thrown> {
    match value.filter(|value| value.as_resource().is_some()) {
        Some(stream) => Ok(stream.clone()),
        None => Err(argument_error(1, true, "must be a stream")),
    }
}

/// Reads a stream into a channel. Closes the channel when dropped, whether or not it has run.
struct Reader {
    stream: Value,
    /// The size of chunks; 0 for lines.
    chunk: usize,
    channel: Rc<Shared>,
}

impl Reader {
    /// Reads until the end of the stream.
    ///
    /// # Errors
    /// A read has thrown, the channel is closed, or the coroutine is cancelled.
    fn read(&self) -> Result<(), Thrown> {
        loop {
            let read = match self.chunk {
                0 => coroutine::call(&"fgets".into(), &mut [self.stream.clone()])?,
                chunk => coroutine::call(&"fread".into(), &mut [self.stream.clone(), (chunk as i64).into()])?,
            };
            match read.as_str() {
                Some(text) if !text.as_bytes().is_empty() => channel::send(&self.channel, read, None)?,
                _ => return Ok(()),
            }
        }
    }

    /// Reads, and closes the channel. A failure is the receivers'; if they have closed the channel, there are none.
    fn run(&self) -> PhpResult {
        let reason = match self.read() {
            Ok(()) => None,
            Err(thrown) if exception::is_exit_in_flight() => return Err(thrown),
            Err(_) => exception::take(),
        };
        self.channel.set_reader(None);
        self.channel.close(reason);
        Ok(Value::NULL)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if self.channel.is_closed() || coroutine::is_over() {
            return;
        }
        self.channel.set_reader(None);
        let text = "The coroutine that reads the stream was cancelled before it began";
        exception::put_aside(|| self.channel.close(Some(coroutine::new_cancellation(text))));
    }
}

/// `Channel::fromStream()`: a channel of the lines of a stream, or of chunks of at most this size, which a coroutine reads.
pub fn from_stream(call: Call) -> PhpResult {
    let arguments = call.passed();
    let stream = stream_of(arguments.value(1))?;
    let (chunk, capacity) = (number(&arguments, 2, 0, 0)?, number(&arguments, 3, 0, 0)?);
    let channel = channel::make(capacity);
    let reader = Reader { stream, chunk, channel: Rc::clone(channel::shared(&channel)) };
    let coroutine = coroutine::spawn(move || reader.run())?;
    channel::shared(&channel).set_reader(Some(coroutine));
    Ok(channel.into())
}

/// `Channel::toStream()`: writes all values to a stream until the channel is closed, and returns the number of bytes.
pub fn to_stream(call: Call) -> PhpResult {
    let arguments = call.passed();
    let stream = stream_of(arguments.value(1))?;
    let separator = if arguments.value(2).is_some() { arguments.str(2)?.as_bytes().to_vec() } else { Vec::new() };
    let this = channel::shared(call.this_of(&CHANNEL));
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
    this.ended()?;
    Ok(written.into())
}
