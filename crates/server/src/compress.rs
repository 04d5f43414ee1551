//! Responses that are compressed as they are sent: which of them, and the bodies of those.
//!
//! A compressor has up to two megabytes, so few responses have one at a time; and it runs on the server's only thread, so
//! all together do little in a turn.

use crate::encoding::{self, Coding, has_word};
use crate::pipe::{Incomplete, Pipe};
use crate::settings::Settings;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use http::{StatusCode, Version};
use http_body::Frame;
use std::cell::{Cell, RefCell};
use std::io::{self, Write};
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

/// How many responses are compressed at a time. Others are sent as they are.
const MOST: usize = 64;
/// How many bytes are compressed in a turn, of all responses, and in one call. The slowest coding does 30 megabytes a second.
const TURN: usize = 128 << 10;
const SLICE: usize = 32 << 10;

/// The codings, the preferred one first. Measured on 100 kB of HTML, against gzip: zstd is four times as fast, and equally small;
/// Brotli is a tenth smaller, and takes a third longer.
const OFFERED: [Coding; 4] = [Coding::Zstd, Coding::Brotli, Coding::Gzip, Coding::Identity];
const ZSTD_LEVEL: i32 = 3;
/// The window, as a power of two. It decides how much memory is taken.
const ZSTD_WINDOW: u32 = 17;
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW: u32 = 18;
const BROTLI_BUFFER: usize = 4096;
const GZIP_LEVEL: u32 = 5;

/// Types that become smaller, besides `text/*`, `*+json` and `*+xml`.
const TYPES: [&str; 14] = [
    "application/json",
    "application/javascript",
    "application/xml",
    "application/wasm",
    "application/x-javascript",
    "application/x-ndjson",
    "application/jsonl",
    "application/graphql",
    "application/rtf",
    "application/vnd.ms-fontobject",
    "font/otf",
    "font/ttf",
    "image/bmp",
    "image/x-icon",
];

/// Headers of responses whose bytes are not to be changed, or were hashed.
const UNCHANGED: [&str; 6] =
    ["content-encoding", "content-range", "content-md5", "digest", "content-digest", "repr-digest"];

/// What the responses of a server share.
#[derive(Default)]
pub struct Compressing {
    /// How many responses have a compressor.
    count: Rc<Cell<usize>>,
    /// The number of this turn, and how many bytes are left in it.
    turn: Cell<u64>,
    left: Cell<usize>,
    /// Responses that got nothing in this turn.
    waiting: RefCell<Vec<Waker>>,
}

impl Compressing {
    /// A turn begins.
    pub fn begin_turn(&self) {
        self.turn.set(self.turn.get() + 1);
        self.left.set(TURN);
    }

    /// A turn ends. Responses that got nothing in it come first in the next one: the others wake themselves.
    pub fn end_turn(&self) {
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// The place of one response among those that are compressed.
struct Place(Rc<Cell<usize>>);

impl Place {
    fn new(count: &Rc<Cell<usize>>) -> Option<Place> {
        if count.get() >= MOST {
            return None;
        }
        count.set(count.get() + 1);
        Some(Place(Rc::clone(count)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Returns `true` for a type of content that becomes smaller. A stream of events does not count: those are short, and a client that
/// gets none for long would keep a compressor.
fn is_compressible(content_type: &HeaderValue) -> bool {
    let Ok(text) = content_type.to_str() else { return false };
    let name = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_text = name.starts_with("text/") && name != "text/event-stream";
    is_text || name.ends_with("+json") || name.ends_with("+xml") || TYPES.contains(&name.as_str())
}

/// Returns `true` if a page of another site has caused a request that carries a user's credentials. Such a page could guess a secret
/// in the response from its compressed length, if it also has a say in what else is in it (BREACH).
fn is_cross_site(request: &HeaderMap) -> bool {
    let has_credentials = request.contains_key(header::COOKIE) || request.contains_key(header::AUTHORIZATION);
    has_credentials && request.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
}

/// Decides whether a response is compressed, and sets its headers for that. `length` is that of its body, if it is known.
pub fn negotiate(
    settings: &Settings,
    compressing: &Compressing,
    request: &Parts,
    status: StatusCode,
    headers: &mut HeaderMap,
    length: Option<u64>,
) -> Option<Chosen> {
    if !settings.compression || request.version < Version::HTTP_11 {
        return None;
    }
    if status == StatusCode::NOT_MODIFIED {
        vary(headers); // as the response to which it refers may
        return None;
    }
    let has_body = !status.is_informational()
        && !matches!(status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT | StatusCode::PARTIAL_CONTENT);
    let is_large = length.is_none_or(|length| length >= settings.compression_size as u64);
    let may_change = !UNCHANGED.iter().any(|name| headers.contains_key(*name))
        && !has_word(headers, header::CACHE_CONTROL, "no-transform");
    if !has_body || !is_large || !may_change || !headers.get(header::CONTENT_TYPE).is_some_and(is_compressible) {
        return None;
    }
    vary(headers);
    let accepted = request.headers.get_all(header::ACCEPT_ENCODING);
    let coding = encoding::preferred(accepted, &OFFERED).filter(|coding| *coding != Coding::Identity)?;
    if is_cross_site(&request.headers) {
        return None;
    }
    let place = Place::new(&compressing.count)?;
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    headers.remove(header::ACCEPT_RANGES); // they would be ranges of what is sent
    weaken(headers);
    Some(Chosen { coding, place })
}

/// Adds to `Vary` that the response depends on what the client accepts.
fn vary(headers: &mut HeaderMap) {
    if !has_word(headers, header::VARY, "accept-encoding") && !has_word(headers, header::VARY, "*") {
        headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
}

/// Makes the entity tag a weak one: a strong one would name bytes that are not sent.
fn weaken(headers: &mut HeaderMap) {
    let Some(tag) = headers.get(header::ETAG).filter(|tag| !tag.as_bytes().starts_with(b"W/")) else { return };
    match HeaderValue::from_bytes(&[b"W/", tag.as_bytes()].concat()) {
        Ok(weak) => headers.insert(header::ETAG, weak),
        Err(_) => headers.remove(header::ETAG),
    };
}

/// The coding of a response that is to be compressed.
pub struct Chosen {
    coding: Coding,
    place: Place,
}

enum Encoder {
    Gzip(GzEncoder<Vec<u8>>),
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
}

impl Encoder {
    fn new(coding: Coding) -> io::Result<Encoder> {
        let out = Vec::new();
        Ok(match coding {
            Coding::Zstd => {
                let mut encoder = zstd::stream::write::Encoder::new(out, ZSTD_LEVEL)?;
                encoder.window_log(ZSTD_WINDOW)?;
                Encoder::Zstd(encoder)
            }
            Coding::Brotli => {
                let encoder = brotli::CompressorWriter::new(out, BROTLI_BUFFER, BROTLI_QUALITY, BROTLI_WINDOW);
                Encoder::Brotli(Box::new(encoder))
            }
            Coding::Gzip | Coding::Identity => Encoder::Gzip(GzEncoder::new(out, Compression::new(GZIP_LEVEL))),
        })
    }

    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Gzip(encoder) => encoder,
            Encoder::Brotli(encoder) => encoder,
            Encoder::Zstd(encoder) => encoder,
        }
    }

    /// Takes what was compressed.
    fn take(&mut self) -> Vec<u8> {
        std::mem::take(match self {
            Encoder::Gzip(encoder) => encoder.get_mut(),
            Encoder::Brotli(encoder) => encoder.get_mut(),
            Encoder::Zstd(encoder) => encoder.get_mut(),
        })
    }

    fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Encoder::Gzip(encoder) => encoder.finish(),
            Encoder::Brotli(encoder) => Ok(encoder.into_inner()),
            Encoder::Zstd(encoder) => encoder.finish(),
        }
    }
}

/// What is compressed.
pub enum Source {
    /// All of it.
    Full(Bytes),
    /// What is written to a pipe.
    Stream(Rc<Pipe>),
}

impl Source {
    /// Returns the next piece, or the trailers; `None` at the end.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        match self {
            Source::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Source::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Source::Stream(pipe) => pipe.poll(cx),
        }
    }
}

/// A compressed body.
pub struct Compressed {
    compressing: Rc<Compressing>,
    source: Source,
    coding: Coding,
    encoder: Option<Encoder>,
    /// What was taken from the source, and not yet compressed.
    rest: Bytes,
    /// The encoder holds data that was not flushed.
    needs_flush: bool,
    /// The last turn in which something of it was compressed.
    turn: u64,
    /// The source has ended, and so has the coding.
    has_ended: bool,
    trailers: Option<HeaderMap>,
    _place: Place,
}

impl Compressed {
    pub fn new(compressing: &Rc<Compressing>, chosen: Chosen, source: Source) -> Compressed {
        Compressed {
            compressing: Rc::clone(compressing),
            source,
            coding: chosen.coding,
            encoder: None,
            rest: Bytes::new(),
            needs_flush: false,
            turn: 0,
            has_ended: false,
            trailers: None,
            _place: chosen.place,
        }
    }

    /// Returns `true` if all of it was taken.
    pub fn is_end(&self) -> bool {
        self.has_ended && self.trailers.is_none()
    }

    /// Polls for the next frame. When the source has nothing more for now, the encoder is flushed, so that no data waits in it
    /// while the handler does.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Incomplete>>> {
        if self.has_ended {
            return Poll::Ready(self.trailers.take().map(|trailers| Ok(Frame::trailers(trailers))));
        }
        let encoded = ready!(self.encode(cx));
        Poll::Ready(Some(encoded.map(|bytes| Frame::data(Bytes::from(bytes)))))
    }

    fn encode(&mut self, cx: &mut Context<'_>) -> Poll<Result<Vec<u8>, Incomplete>> {
        let mut encoder = match self.encoder.take() {
            Some(encoder) => encoder,
            None => Encoder::new(self.coding).map_err(|_| Incomplete)?,
        };
        loop {
            if self.rest.is_empty() {
                match self.source.poll(cx) {
                    Poll::Pending => {
                        if self.needs_flush {
                            self.needs_flush = false;
                            encoder.as_write().flush().map_err(|_| Incomplete)?;
                        }
                        let out = encoder.take();
                        self.encoder = Some(encoder);
                        return if out.is_empty() { Poll::Pending } else { Poll::Ready(Ok(out)) };
                    }
                    Poll::Ready(Some(Err(incomplete))) => return Poll::Ready(Err(incomplete)),
                    Poll::Ready(end) => match end.and_then(Result::ok).map(Frame::into_data) {
                        Some(Ok(bytes)) => {
                            self.rest = bytes;
                            continue;
                        }
                        end => {
                            self.trailers = end.and_then(Result::err).and_then(|frame| frame.into_trailers().ok());
                            self.has_ended = true;
                            return Poll::Ready(encoder.finish().map_err(|_| Incomplete));
                        }
                    },
                }
            }
            let compressing = &self.compressing;
            let count = self.rest.len().min(SLICE).min(compressing.left.get());
            if count == 0 {
                if self.turn == compressing.turn.get() {
                    cx.waker().wake_by_ref();
                } else {
                    compressing.waiting.borrow_mut().push(cx.waker().clone());
                }
                self.encoder = Some(encoder);
                return Poll::Pending;
            }
            compressing.left.set(compressing.left.get() - count);
            self.turn = compressing.turn.get();
            encoder.as_write().write_all(&self.rest.split_to(count)).map_err(|_| Incomplete)?;
            self.needs_flush = true;
            let out = encoder.take();
            if !out.is_empty() {
                self.encoder = Some(encoder);
                return Poll::Ready(Ok(out));
            }
        }
    }
}
