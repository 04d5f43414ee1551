//! What is known of a request when it is over, for an access log.

use http::header::{self, HeaderMap, HeaderName};
use http::request::Parts;
use http::{Method, Version};

/// The status of a request without a response: its client had left before, or its handler has failed to give one.
pub const NO_RESPONSE: u16 = 499;

/// A request that is over.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The address of the client, and its port.
    pub client: (String, u16),
    /// The method.
    pub method: Method,
    /// Path and query.
    pub target: String,
    /// `https` or `http`.
    pub scheme: &'static str,
    /// The version.
    pub version: Version,
    /// Headers of the request, as they were sent.
    pub host: Option<Vec<u8>>,
    /// See `host`.
    pub referer: Option<Vec<u8>>,
    /// See `host`.
    pub agent: Option<Vec<u8>>,
    /// The status of the response, or 499.
    pub status: u16,
    /// How many bytes of the response's body were sent: without its coding, and without the messages of a WebSocket.
    pub bytes: u64,
    /// How long it has taken, from the end of the request's head on, in nanoseconds.
    pub duration: u64,
}

impl Entry {
    /// Returns how many bytes its texts have.
    #[must_use]
    pub fn size(&self) -> usize {
        let headers = [&self.host, &self.referer, &self.agent];
        let headers: usize = headers.into_iter().flatten().map(Vec::len).sum();
        self.client.0.len() + self.method.as_str().len() + self.target.len() + headers
    }

    pub(crate) fn new(client: (&str, u16), scheme: &'static str, head: &Parts, status: u16, bytes: u64) -> Entry {
        let text = |name: HeaderName| value(&head.headers, name);
        let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes().to_vec());
        Entry {
            client: (client.0.to_owned(), client.1),
            method: head.method.clone(),
            target: head.uri.path_and_query().map_or_else(|| "*".to_owned(), ToString::to_string),
            scheme,
            version: head.version,
            host: authority.or_else(|| text(header::HOST)),
            referer: text(header::REFERER),
            agent: text(header::USER_AGENT),
            status,
            bytes,
            duration: 0,
        }
    }
}

fn value(headers: &HeaderMap, name: HeaderName) -> Option<Vec<u8>> {
    headers.get(name).map(|value| value.as_bytes().to_vec())
}
