//! The head of a response, and what its body is made of.

use crate::compress::Compressed;
use crate::files::sending::{File, Sending};
use crate::pipe::Pipe;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode, Version};
use hyper::ext::ReasonPhrase;
use std::rc::Rc;

/// The status and the headers of a response.
#[derive(Debug)]
pub struct Head {
    /// The status.
    pub status: StatusCode,
    /// The headers. The server sets those about the connection and the length of the body.
    pub headers: HeaderMap,
}

impl Head {
    pub(crate) fn with_body<T>(self, body: T) -> Response<T> {
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }
}

/// The body of a response.
pub enum Body {
    /// Nothing.
    Empty,
    /// All of it.
    Full(Bytes),
    /// What [`Exchange::write`](crate::Exchange::write) writes. `trailers`: headers may follow it.
    Stream {
        /// The headers that may follow it.
        trailers: Vec<HeaderName>,
    },
    /// A file.
    File(File),
}

/// The content of a body.
pub enum Content {
    /// Nothing.
    Empty,
    /// All of it.
    Full(Bytes),
    /// What is written to a pipe.
    Stream(Rc<Pipe>),
    /// A file.
    File(Rc<Sending>),
    /// What is compressed as it is sent.
    Compressed(Box<Compressed>),
}

impl Content {
    /// Returns `true` if hyper has taken all of it.
    pub fn is_sent(&self) -> bool {
        match self {
            Content::Empty => true,
            Content::Full(_) => false,
            Content::Stream(pipe) => pipe.is_end(),
            Content::File(file) => file.left() == 0,
            Content::Compressed(body) => body.is_end(),
        }
    }
}

/// The reason phrase of a status that has none.
pub static NO_REASON: ReasonPhrase = ReasonPhrase::from_static(b"");

/// Headers that tell a proxy to send a file. Other clients must not see its path.
pub static SENDFILE_HEADERS: [HeaderName; 4] = [
    HeaderName::from_static("x-accel-redirect"),
    HeaderName::from_static("x-sendfile"),
    HeaderName::from_static("x-lighttpd-send-file"),
    HeaderName::from_static("x-lighttpd-sendfile"),
];

/// Headers that the server sets itself. A handler's values for the connection and the length are taken into account.
pub static MANAGED_HEADERS: [HeaderName; 6] = [
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::TE,
    HeaderName::from_static("keep-alive"),
];

/// Gives a response the version of a request of HTTP/1.0: otherwise hyper adds that the connection stays open even where the
/// response says that it does not.
pub fn copy_version<T>(response: &mut Response<T>, request: &Parts) {
    if request.version == Version::HTTP_10 && response.headers().contains_key(header::CONNECTION) {
        *response.version_mut() = Version::HTTP_10;
    }
}

/// Returns the length that the headers of a response declare.
pub fn declared_length(headers: &HeaderMap) -> Option<u64> {
    let mut values = headers.get_all(header::CONTENT_LENGTH).iter();
    let text = values.next()?.to_str().ok()?;
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

/// Sets the length of a body that is not sent.
pub fn set_length(headers: &mut HeaderMap, length: Option<u64>) {
    if let Some(length) = length {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
}

/// Returns a short answer for a request that no handler answers.
pub fn refusal(status: StatusCode) -> (Head, Body) {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    // A client whose CONNECT was refused may send data for the tunnel.
    if status.is_client_error() || matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::NOT_IMPLEMENTED) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let text = format!("{} {}\n", status.as_u16(), status.canonical_reason().unwrap_or("Error"));
    (Head { status, headers }, Body::Full(Bytes::from(text)))
}
