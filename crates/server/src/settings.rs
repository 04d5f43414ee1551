//! Limits, times, and whom the server trusts.

use crate::board::Board;
use crate::forwarded::Proxies;
use std::rc::Rc;

/// How the lines of the owner's error log look.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LogFormat {
    /// As PHP has them, after the request to which they belong.
    #[default]
    Text,
    /// An object of JSON each.
    Json,
    /// `name=value`, with spaces between.
    Logfmt,
}

/// The limits of a server. Times are in nanoseconds, 0 for none.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many connections are accepted; then idle ones are closed, and others wait in the kernel's queue.
    pub max_connections: usize,
    /// How many handlers run at the same time. Further requests wait in order of arrival.
    pub max_concurrency: usize,
    /// How many requests an instance of an application serves before another one takes its place; 0 for no limit. For what runs the
    /// handlers: the server has no instances.
    pub instance_requests: u64,
    /// How long a request waits for a handler; then it is refused with status 503.
    pub queue_timeout: u64,
    /// How long the head of a request may take, from its first byte; that of the first one, from the start of the connection.
    pub header_timeout: u64,
    /// How long a handler waits for the next bytes of a body; then the request is refused with status 408.
    pub body_timeout: u64,
    /// The bytes a second at which a body has to arrive on average, while a handler waits for it.
    pub min_body_rate: u64,
    /// How long a connection without requests stays open.
    pub keep_alive: u64,
    /// How long a handler may take until its response begins; then it is cancelled.
    pub request_timeout: u64,
    /// How long a cancelled handler may take until the client is answered without it.
    pub cancel_grace: u64,
    /// How long a handler may take until its response begins without being told that it is slow.
    pub slow_request: u64,
    /// How long other requests may take after one has ended with a fatal error; 0 for no time at all.
    pub fatal_grace: u64,
    /// How long connections that wait for a request may still begin one when the server is stopped. Those that have had none have five
    /// times as long.
    pub idle_grace: u64,
    /// How long a client may take no data of a response; then the connection is closed.
    pub write_timeout: u64,
    /// How many bytes of a response are buffered before its handler has to wait.
    pub write_window: usize,
    /// How many bytes of responses may wait for their clients, of all connections together. Beyond it those are closed that take
    /// nothing.
    pub max_buffered: usize,
    /// The size of a request's head; more is refused with status 431.
    pub max_header_size: usize,
    /// The number of a request's header lines; more are refused with status 431.
    pub max_headers: usize,
    /// The size of a request's body; more is refused with status 413.
    pub max_body_size: u64,
    /// How many unread bytes of a body are discarded after the response, which the client might not get otherwise.
    pub discard_size: u64,
    /// How long they are discarded.
    pub discard_timeout: u64,
    /// How many streams of HTTP/2 a connection may have at the same time.
    pub h2_streams: u32,
    /// How many streams that the client has reset may wait to be accepted; then the connection is closed.
    pub h2_reset_streams: usize,
    /// How many errors of a client are answered with a reset; then the connection is closed.
    pub h2_local_resets: usize,
    /// How many bytes are buffered for each stream of HTTP/2.
    pub h2_send_buffer: usize,
    /// The size of a request's decoded head with HTTP/2.
    pub h2_header_list: u32,
    /// The size of a message on a WebSocket; the WebSocket is closed with code 1009 because of a larger one.
    pub websocket_message: usize,
    /// The size of a frame of one.
    pub websocket_frame: usize,
    /// After how long a silent client of a WebSocket is sent a ping; after twice as long it counts as gone.
    pub websocket_ping: u64,
    /// Responses are compressed, if their clients accept that.
    pub compression: bool,
    /// The size from which on they are.
    pub compression_size: usize,
    /// Responses have the id of their request.
    pub send_request_id: bool,
    /// How lines of the error log look. For what writes them: the server has no such log.
    pub error_log: LogFormat,
    /// The number of this process among those that serve, for logs; 0 if it has none.
    pub worker: u32,
    /// The proxies that are trusted to name the client.
    pub proxies: Proxies,
    /// Where this worker and the others that accept connections of its sockets tell how many they have.
    pub board: Option<Rc<Board>>,
}

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            max_connections: 10_000,
            max_concurrency: 512,
            instance_requests: 0,
            queue_timeout: 5 * SECOND,
            header_timeout: 10 * SECOND,
            body_timeout: 30 * SECOND,
            min_body_rate: 128,
            keep_alive: 75 * SECOND,
            request_timeout: 60 * SECOND,
            cancel_grace: 5 * SECOND,
            slow_request: 0,
            fatal_grace: 30 * SECOND,
            idle_grace: 0,
            write_timeout: 30 * SECOND,
            write_window: 256 << 10,
            max_buffered: 256 << 20,
            max_header_size: 64 << 10,
            max_headers: 100,
            max_body_size: 8 << 20,
            discard_size: 64 << 20,
            discard_timeout: 30 * SECOND,
            h2_streams: 128,
            h2_reset_streams: 20,
            h2_local_resets: 1024,
            h2_send_buffer: 400 << 10,
            h2_header_list: 16 << 10,
            websocket_message: 1 << 20,
            websocket_frame: 1 << 20,
            websocket_ping: 30 * SECOND,
            compression: false,
            compression_size: 1024,
            send_request_id: false,
            error_log: LogFormat::Text,
            worker: 0,
            proxies: Proxies::default(),
            board: None,
        }
    }
}
