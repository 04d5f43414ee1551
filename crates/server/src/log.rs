//! Entries of the access log.

use crate::conn::Connection;
use crate::ended::NO_RESPONSE;
use crate::forwarded::Origin;
use crate::identity;
use http::header::{self, HeaderMap, HeaderName};
use http::request::Parts;
use http::{Method, Version};

/// A request that has ended.
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
    /// The host that the client has asked for, as it or a trusted proxy says.
    pub host: Option<Vec<u8>>,
    /// A header of the request, as it was sent.
    pub referer: Option<Vec<u8>>,
    /// See `referer`.
    pub agent: Option<Vec<u8>>,
    /// The status of the response, or 499.
    pub status: u16,
    /// How many bytes of the response's body were sent: compressed, if it was, without its framing, and without the messages of a WebSocket.
    pub bytes: u64,
    /// How long it has taken since the end of the request's head, in nanoseconds.
    pub duration: u64,
    /// The id of the request, and that of the trace that it is a part of, as its client says.
    pub id: String,
    /// See `id`.
    pub trace: Option<String>,
    /// The number of the coroutine that has handled it; 0: there was none.
    pub coroutine: u64,
    /// The number of this process among those that serve; 0 if it has none.
    pub worker: u32,
}

impl Entry {
    /// Returns how many bytes its texts have.
    #[must_use]
    pub fn size(&self) -> usize {
        let headers = [&self.host, &self.referer, &self.agent];
        let headers: usize = headers.into_iter().flatten().map(Vec::len).sum();
        self.client.0.len() + self.method.as_str().len() + self.target.len() + self.id.len() + headers
    }

    /// Creates the entry of a request, without its response.
    pub(crate) fn new(connection: &Connection, origin: Option<&Origin>, head: &Parts, id: String) -> Entry {
        let text = |name: HeaderName| value(&head.headers, name);
        let authority = head.uri.authority().map(|authority| authority.as_str().as_bytes().to_vec());
        let host = origin.and_then(|origin| origin.host.clone()).map(String::into_bytes);
        let (client, port) = connection.client_of(origin);
        Entry {
            client: (client.to_owned(), port),
            method: head.method.clone(),
            target: head.uri.path_and_query().map_or_else(|| "*".to_owned(), ToString::to_string),
            scheme: connection.scheme_of(origin),
            version: head.version,
            host: host.or(authority).or_else(|| text(header::HOST)),
            referer: text(header::REFERER),
            agent: text(header::USER_AGENT),
            status: NO_RESPONSE,
            bytes: 0,
            duration: 0,
            id,
            trace: identity::trace(&head.headers).map(str::to_owned),
            coroutine: 0,
            worker: connection.worker(),
        }
    }
}

fn value(headers: &HeaderMap, name: HeaderName) -> Option<Vec<u8>> {
    headers.get(name).map(|value| value.as_bytes().to_vec())
}
