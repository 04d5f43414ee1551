//! Compressed responses: which are, that they decode to what was written and when, and what they cost others.

mod world;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use spindle_server::{Body, Exchange, Head, Settings, Written};
use std::cell::{Cell, RefCell};
use std::io::Read;
use std::rc::Rc;
use world::{Client, Event, SECOND, World};

fn settings() -> Settings {
    Settings { compression: true, write_timeout: 0, ..Settings::default() }
}

/// Text that does not repeat itself.
fn text(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        b'a' + (state >> 33) as u8 % 20
    };
    (0..length).map(|_| letter()).collect()
}

/// A server whose handlers do nothing; the test does it with the exchange.
fn held(settings: Settings) -> (World, Rc<RefCell<Vec<Rc<Exchange>>>>) {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => list.borrow_mut().push(exchange),
        Event::Wake(_) => world.seen.borrow_mut().push("woken".into()),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, _) => exchange.finish_handler(),
    });
    (world, begun)
}

fn head(lines: &[(&'static str, &str)]) -> Head {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("text/html; charset=utf-8"));
    for (name, value) in lines {
        let value = HeaderValue::from_str(value).unwrap();
        if *name == "content-type" {
            headers.insert(*name, value);
        } else {
            headers.append(*name, value);
        }
    }
    Head { status: StatusCode::OK, headers }
}

fn ask(world: &World, begun: &RefCell<Vec<Rc<Exchange>>>, client: &Client, request: &str) -> Rc<Exchange> {
    client.send(world, request);
    world.until(|| begun.borrow_mut().pop())
}

fn get(accept: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: {accept}\r\n\r\n")
}

/// Splits what has come into a head and a body, which is chunked or ends with the connection.
fn parts(bytes: &[u8]) -> (String, Vec<u8>, bool) {
    let at = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
    let head = String::from_utf8_lossy(&bytes[..at]).to_ascii_lowercase();
    if !head.contains("transfer-encoding: chunked") {
        return (head, bytes[at..].to_vec(), true);
    }
    let (mut rest, mut body) = (&bytes[at..], Vec::new());
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap(), 16).unwrap();
        if length == 0 {
            return (head, body, true);
        }
        if rest.len() < end + 2 + length {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + length]);
        rest = rest.get(end + 4 + length..).unwrap_or_default();
    }
    (head, body, false)
}

/// Decodes as much as can be.
fn decode(head: &str, body: &[u8]) -> (Vec<u8>, bool) {
    let coding = head.lines().find_map(|line| line.strip_prefix("content-encoding: ")).unwrap_or("identity");
    let mut out = Vec::new();
    let is_whole = match coding {
        "gzip" => flate2::read::GzDecoder::new(body).read_to_end(&mut out).is_ok(),
        "br" => brotli::Decompressor::new(body, 4096).read_to_end(&mut out).is_ok(),
        "zstd" => zstd::stream::read::Decoder::new(body).unwrap().read_to_end(&mut out).is_ok(),
        _ => std::io::copy(&mut &*body, &mut out).is_ok(),
    };
    (out, is_whole)
}

fn response(world: &World, client: &Client) -> (String, Vec<u8>) {
    let (head, body, _) = world.until(|| {
        let bytes = client.bytes();
        bytes.windows(4).any(|four| four == b"\r\n\r\n").then(|| parts(&bytes)).filter(|(head, body, is_end)| {
            let declared = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            *is_end && declared.is_none_or(|length| length.parse::<usize>().unwrap() <= body.len())
        })
    });
    (head, body)
}

const CODINGS: [&str; 3] = ["gzip", "br", "zstd"];

#[test]
fn what_a_client_accepts_is_what_it_gets() {
    let cases = [
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("x-gzip", "gzip"),
        ("zstd;q=0.1, gzip;q=0.2", "gzip"),
        ("*", "zstd"),
        ("br;q=0, *;q=0", ""),
        ("deflate", ""),
        ("identity", ""),
        ("", ""),
    ];
    for (accept, coding) in cases {
        for (length, is_stream) in [(1024, false), (300_000, false), (1000, true), (300_000, true), (0, true)] {
            let (world, begun) = held(settings());
            let client = world.client();
            let exchange = ask(&world, &begun, &client, &get(accept));
            let data = Bytes::from(text(length));
            if is_stream {
                exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
                exchange.write(data.clone());
                exchange.complete(None);
            } else {
                exchange.respond(head(&[]), Body::Full(data.clone()));
            }
            exchange.finish_handler();
            let (head, body) = response(&world, &client);
            let found = head.lines().find_map(|line| line.strip_prefix("content-encoding: ")).unwrap_or_default();
            assert_eq!((found, decode(&head, &body)), (coding, (data.to_vec(), true)), "{accept} {length} {is_stream}");
            assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
            assert!(coding.is_empty() || !head.contains("content-length"), "{head}");
            assert!(coding.is_empty() || length < 1000 || body.len() < length * 3 / 4, "{}", body.len());
            assert!(!client.is_closed());
        }
    }
}

/// A request, the status, length and headers of its response, and whether that depends on what is accepted.
type Case<'a> = (&'a str, u16, usize, &'a [(&'static str, &'a str)], bool);

#[test]
fn what_must_not_be_compressed_is_not() {
    let (world, begun) = held(settings());
    let client = world.client();
    let accept = "Host: x\r\nAccept-Encoding: gzip, br, zstd\r\n";
    let request = format!("GET / HTTP/1.1\r\n{accept}\r\n");
    let spied = format!("GET / HTTP/1.1\r\n{accept}Cookie: a=b\r\nSec-Fetch-Site: cross-site\r\n\r\n");
    let cases: [Case<'_>; 15] = [
        (&request, 200, 5000, &[("content-type", "image/png")], false),
        (&request, 200, 5000, &[("content-type", "text/event-stream")], false),
        (&request, 200, 5000, &[("content-encoding", "gzip")], false),
        (&request, 200, 5000, &[("content-encoding", "identity")], false),
        (&request, 200, 5000, &[("cache-control", "private, No-Transform")], false),
        (&request, 200, 5000, &[("content-range", "bytes 0-4999/5000")], false),
        (&request, 200, 5000, &[("repr-digest", "sha-256=:aaaa:")], false),
        (&request, 200, 1023, &[], false),
        (&request, 206, 5000, &[], false),
        (&request, 204, 0, &[], false),
        (&request, 304, 0, &[], true),
        (&request, 200, 5000, &[("vary", "*")], false),
        (&spied, 200, 5000, &[], true),
        (&spied, 200, 5000, &[("vary", "Accept-encoding")], true),
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 200, 5000, &[], true),
    ];
    for (request, status, length, lines, varies) in cases {
        let client = world.client();
        let exchange = ask(&world, &begun, &client, request);
        let head = Head { status: StatusCode::from_u16(status).unwrap(), ..head(lines) };
        exchange.respond(head, Body::Full(Bytes::from(text(length))));
        exchange.finish_handler();
        let (head, body) = response(&world, &client);
        assert!(body.len() == length || lines == [("vary", "*")], "{lines:?} {status}");
        assert_eq!(head.matches("vary: accept-encoding\r\n").count(), usize::from(varies), "{head}");
    }
    // Whose response ends with the connection.
    let exchange = ask(&world, &begun, &client, &format!("GET / HTTP/1.0\r\n{accept}\r\n"));
    exchange.respond(head(&[]), Body::Full(Bytes::from(text(5000))));
    exchange.finish_handler();
    client.rest(&world);
    assert_eq!(parts(&client.bytes()).1, text(5000));
}

#[test]
fn headers_tell_what_is_sent() {
    let (world, begun) = held(settings());
    for (tag, expected) in [("\"a\"", "w/\"a\""), ("W/\"a\"", "w/\"a\"")] {
        for method in ["GET", "HEAD"] {
            let client = world.client();
            let exchange = ask(&world, &begun, &client, &get("gzip").replace("GET", method));
            let lines = [("etag", tag), ("accept-ranges", "bytes"), ("content-length", "5000"), ("vary", "Cookie")];
            let body = if method == "HEAD" { Body::Empty } else { Body::Full(Bytes::from(text(5000))) };
            exchange.respond(head(&lines), body);
            exchange.finish_handler();
            let (head, body) = response(&world, &client);
            assert!(head.contains(&format!("etag: {expected}\r\n")), "{head}");
            assert!(head.contains("vary: cookie\r\nvary: accept-encoding\r\n"), "{head}");
            assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
            assert!(!head.contains("content-length") && !head.contains("accept-ranges"), "{head}");
            assert_eq!(body.is_empty(), method == "HEAD");
        }
    }
    // A handler may set a length, which is that of what it writes.
    let client = world.client();
    let exchange = ask(&world, &begun, &client, &get("br"));
    exchange.respond(head(&[("content-length", "2000")]), Body::Stream { trailers: Vec::new() });
    assert_eq!(exchange.write(Bytes::from(text(2001))), Written::TooMuch);
    exchange.write(Bytes::from(text(1999)));
    client.expect(&world, "\r\n\r\n");
    assert!(!exchange.complete(None), "it is too short");
    exchange.finish_handler();
    client.rest(&world);
    assert!(!parts(&client.bytes()).2);
}

/// What a handler has written comes before it waits for anything.
#[test]
fn nothing_is_held_back() {
    for coding in CODINGS {
        let (world, begun) = held(settings());
        let client = world.client();
        let exchange = ask(&world, &begun, &client, &get(coding));
        let name = HeaderName::from_static("x-sum");
        exchange.respond(head(&[]), Body::Stream { trailers: vec![name.clone()] });
        let mut expected = Vec::new();
        for piece in [&b"a"[..], b"second line\n", &text(100_000), b"", b"z"] {
            exchange.write(Bytes::copy_from_slice(piece));
            expected.extend_from_slice(piece);
            world.until(|| {
                let bytes = client.bytes();
                let (head, body, _) = bytes.windows(4).any(|four| four == b"\r\n\r\n").then(|| parts(&bytes))?;
                (decode(&head, &body).0 == expected).then_some(())
            });
        }
        exchange.complete(Some(HeaderMap::from_iter([(name, HeaderValue::from_static("42"))])));
        exchange.finish_handler();
        let (head, body) = response(&world, &client);
        assert_eq!(decode(&head, &body), (expected, true));
        assert!(!client.is_closed());
    }
}

#[test]
fn a_response_that_is_not_completed_is_seen_to_be_incomplete() {
    for coding in CODINGS {
        let (world, begun) = held(settings());
        let client = world.client();
        let exchange = ask(&world, &begun, &client, &get(coding));
        exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
        exchange.write(Bytes::from(text(5000)));
        client.expect(&world, "\r\n\r\n");
        exchange.finish_handler();
        client.rest(&world);
        let (head, body, is_end) = parts(&client.bytes());
        assert!(!is_end && !decode(&head, &body).1);
    }
}

#[test]
fn a_handler_ahead_of_its_client_waits() {
    let (world, begun) = held(Settings { write_window: 64 << 10, ..settings() });
    let client = world.client();
    let exchange = ask(&world, &begun, &client, &get("zstd"));
    exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
    let (piece, mut written, mut idle) = (Bytes::from(text(16 << 10)), 0, 0);
    while idle < 50 {
        // A client would decode each piece to something else.
        if exchange.has_room() {
            let mut piece = piece.to_vec();
            piece.rotate_left(written % 16_000);
            written += piece.len();
            exchange.write(Bytes::from(piece));
            idle = 0;
        } else {
            idle += 1;
        }
        world.step();
        assert!(written < 256 << 20, "nobody waits");
    }
    world.seen.borrow_mut().clear();
    world.until(|| {
        client.fill();
        world.seen.borrow().iter().any(|seen| seen == "woken").then_some(())
    });
    exchange.complete(None);
    exchange.finish_handler();
    let (head, body) = response(&world, &client);
    assert_eq!(decode(&head, &body).0.len(), written);
}

/// All responses together are compressed for a limited time in a turn, and each has its share.
#[test]
fn large_responses_leave_turns_to_others() {
    for is_stream in [false, true] {
        let (world, begun) = held(Settings { write_window: 64 << 20, ..settings() });
        let data = Bytes::from(text(2 << 20));
        let clients: Vec<Client> = (0..6).map(|_| world.client()).collect();
        let exchanges: Vec<_> = clients.iter().map(|client| ask(&world, &begun, client, &get("zstd"))).collect();
        for exchange in exchanges {
            if is_stream {
                exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
                exchange.write(data.clone());
                exchange.complete(None);
            } else {
                exchange.respond(head(&[]), Body::Full(data.clone()));
            }
            exchange.finish_handler();
        }
        let begin = |client: &Client| client.bytes().len() > 10_000;
        let mut turns = 0;
        while !clients.iter().all(begin) {
            world.turn();
            turns += 1;
            assert!(turns < 100, "some get nothing");
        }
        // Another one need not wait for them.
        let other = world.client_without_wait();
        let mut turns = 0;
        other.stream().set_nonblocking(true).unwrap();
        std::io::Write::write_all(&mut other.stream(), get("").as_bytes()).unwrap();
        let exchange = loop {
            world.turn();
            turns += 1;
            assert!(turns < 20, "it is kept waiting");
            while let Some(event) = world.next_event() {
                if let Event::Begin(exchange) = event {
                    begun.borrow_mut().push(exchange);
                }
            }
            if let Some(exchange) = begun.borrow_mut().pop() {
                break exchange;
            }
        };
        exchange.finish_handler();
        let turns = Cell::new(0);
        while !clients.iter().all(|client| client.bytes().ends_with(b"0\r\n\r\n")) {
            world.turn();
            turns.set(turns.get() + 1);
        }
        assert!(turns.get() > 60, "{} turns", turns.get());
        for client in &clients {
            let (head, body) = response(&world, client);
            assert!(decode(&head, &body) == (data.to_vec(), true));
        }
    }
}

#[test]
fn few_responses_have_a_compressor_at_a_time() {
    let (world, begun) = held(settings());
    let mut held = Vec::new();
    for index in 0..65 {
        let client = world.client();
        let exchange = ask(&world, &begun, &client, &get("gzip"));
        exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
        exchange.write(Bytes::from_static(b"some of it"));
        let text = client.expect(&world, "\r\n\r\n");
        assert_eq!(text.contains("content-encoding"), index < 64, "{index}");
        held.push((client, exchange));
    }
    // One whose client leaves, and one that ends, leave room.
    drop(held.remove(0));
    let (client, exchange) = held.remove(0);
    exchange.complete(None);
    exchange.finish_handler();
    response(&world, &client);
    world.until(|| (world.server.stats().running == 63).then_some(()));
    for is_compressed in [true, true, false] {
        let client = world.client();
        let exchange = ask(&world, &begun, &client, &get("gzip"));
        exchange.respond(head(&[]), Body::Stream { trailers: Vec::new() });
        let text = client.expect(&world, "\r\n\r\n");
        assert_eq!(text.contains("content-encoding"), is_compressed);
        held.push((client, exchange));
    }
}

#[test]
fn what_was_sent_is_logged() {
    let (world, begun) = held(settings());
    world.server.log_requests();
    let client = world.client();
    let exchange = ask(&world, &begun, &client, &get("gzip"));
    exchange.respond(head(&[]), Body::Full(Bytes::from(vec![b'a'; 100_000])));
    exchange.finish_handler();
    let (_, body) = response(&world, &client);
    let entry = world.until(|| world.logged.borrow_mut().pop());
    assert_eq!(entry.bytes, body.len() as u64);
    world.advance(SECOND);
}

/// A response that is not begun can be replaced: the one that comes instead is judged anew.
#[test]
fn a_response_that_is_taken_back_is_forgotten() {
    let (world, begun) = held(settings());
    let client = world.client();
    let exchange = ask(&world, &begun, &client, &get("gzip"));
    exchange.respond(head(&[]), Body::Full(Bytes::from(text(5000))));
    assert!(exchange.withdraw_response());
    exchange.respond(head(&[("content-type", "image/png")]), Body::Full(Bytes::from(text(5000))));
    exchange.finish_handler();
    let (head, body) = response(&world, &client);
    assert!(!head.contains("content-encoding") && body == text(5000), "{head}");
}
