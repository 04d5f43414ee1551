//! Handles that calls use without having them as arguments.

use crate::c;
use crate::handles::{
    groups,
    kinds::{Mode, own_property},
};
use spindle_zend::{Frame, Resource, Value};

/// Which of them the calls of an extension use.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    No,
    /// A default connection, where a function has a parameter `$connection` and is given none.
    Connection,
    /// The socket in a property of its objects: a clone has it, too.
    Socket,
    /// The files of a handle of cURL.
    Files,
    /// The streams that were bound to a statement.
    Bound,
}

impl Hidden {
    /// Returns that of the extension with this name.
    pub(crate) fn of(extension: &str) -> Hidden {
        match extension {
            "pgsql" => Hidden::Connection,
            "soap" => Hidden::Socket,
            "curl" => Hidden::Files,
            "pdo" => Hidden::Bound,
            _ => Hidden::No,
        }
    }

    /// Calls `with` with those of a call. `is_given`: it has a handle among its arguments, which it uses in this mode.
    pub(crate) fn handles(self, frame: Frame, is_given: bool, mode: Mode, mut with: impl FnMut(usize, Mode)) {
        match self {
            Hidden::No => {}
            Hidden::Connection => {
                if !is_given
                    && frame.function().is_some_and(|function| function.is_internal_with_parameter(c"connection"))
                    && let Some(link) = c::spindle_pgsql_link()
                {
                    with(groups::group_id(link.address()), mode);
                }
            }
            Hidden::Socket => {
                let socket = frame.this().map(|this| own_property(this, c"httpsocket"));
                if let Some(socket) = socket.as_ref().and_then(Value::as_resource) {
                    with(socket.address(), Mode::Both);
                }
            }
            // The library writes to files while others may, but not when they are closed.
            Hidden::Files => streams_within(&frame).for_each(|file| with(file.address(), Mode::Shared)),
            Hidden::Bound => streams_within(&frame).for_each(|stream| with(stream.address(), Mode::Both)),
        }
    }
}

/// Returns the streams that the object of a call, or its first argument, refers to.
fn streams_within(frame: &Frame) -> impl Iterator<Item = &Resource> {
    let first = frame.this().or_else(|| frame.arguments().first().and_then(|value| value.dereferenced().as_object()));
    first.into_iter().flat_map(|object| (0..).map_while(move |number| c::spindle_stream_within(object, number)))
}
