//! HTTP/1.1 as raw bytes: framing, limits, time limits, pipelining, clients that leave.

mod world;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use spindle_server::{Body, Exchange, Head, Incoming, Proxies, Reason, Settings, Written};
use std::cell::RefCell;
use std::rc::Rc;
use world::{Event, SECOND, World, answer};

fn status(response: &str) -> &str {
    response.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn a_request_is_answered() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "GET /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n");
    let text = client.expect(&world, "[GET /a?b=c ]");
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("content-length: 13\r\n"), "{text}");
    assert!(text.contains("date: "), "{text}");
    // It stays open for the next one.
    client.send(&world, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
    client.expect(&world, "[POST /b xyz]");
    assert!(!client.is_closed());
    assert_eq!(world.server.stats().connections, 1);
    assert_eq!(world.server.stats().running, 0);
}

#[test]
fn a_target_of_a_host_and_a_query_has_a_path() {
    let world = World::echo(Settings::default());
    for (target, seen) in [("http://b?x", "http://b/?x"), ("http://b", "http://b/"), ("http://b/?x", "http://b/?x")] {
        world.exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        assert_eq!(world.seen.take(), [format!("[GET {seen} ]")]);
    }
}

/// Returns the response to a request whose handler gives this reason phrase, and headers by which proxies send a file.
fn answered(proxies: Proxies, status: u16, reason: &'static [u8]) -> String {
    let world = World::new(Settings { proxies, ..Settings::default() }, move |_, event| {
        if let Event::Begin(exchange) = event {
            if !reason.is_empty() {
                exchange.set_reason(reason);
            }
            let mut headers = HeaderMap::new();
            for name in ["x-sendfile", "x-accel-redirect", "x-lighttpd-send-file", "x-other"] {
                headers.insert(HeaderName::from_static(name), HeaderValue::from_static("/srv/secret"));
            }
            let head = Head { status: StatusCode::from_u16(status).unwrap(), headers };
            exchange.respond(head, Body::Empty);
            exchange.finish_handler();
        }
    });
    world.exchange("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
}

#[test]
fn a_reason_phrase_is_that_of_the_handler() {
    for (status, reason, line) in [
        (299, &b"Whatever it is"[..], "HTTP/1.1 299 Whatever it is\r\n"),
        (404, b"Gone fishing", "HTTP/1.1 404 Gone fishing\r\n"),
        (299, b"", "HTTP/1.1 299 \r\n"),
        (404, b"a\r\nB: c", "HTTP/1.1 404 Not Found\r\n"),
    ] {
        let text = answered(Proxies::default(), status, reason);
        assert!(text.starts_with(line), "{text}");
    }
}

#[test]
fn where_a_proxy_finds_a_file_is_for_a_proxy() {
    let text = answered(Proxies::default(), 200, b"");
    assert_eq!(text.matches("/srv/secret").count(), 1, "{text}");
    let proxies = Proxies { networks: vec!["127.0.0.1/32".parse().unwrap()], ..Proxies::default() };
    assert_eq!(answered(proxies, 200, b"").matches("/srv/secret").count(), 4);
}

#[test]
fn requests_may_be_pipelined() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(
        &world,
        "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    let text = client.expect(&world, "[GET /3 ]");
    let (one, two) = (text.find("[GET /1 ]").unwrap(), text.find("[POST /2 hi]").unwrap());
    assert!(one < two && two < text.find("[GET /3 ]").unwrap());
}

/// What may be read as one request by a proxy and as two by a server is refused, or is read as the standard demands.
#[test]
fn ambiguous_framing_smuggles_nothing() {
    let refused = [
        ("two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
        ("a list of lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3, 4\r\n\r\nabcd"),
        ("a negative length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
        ("a signed length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +3\r\n\r\nabc"),
        ("a hexadecimal length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x3\r\n\r\nabc"),
        ("an overflowing length", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n"),
        ("a space before the colon", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc"),
        ("a folded header", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"),
        ("an unknown coding", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
        ("chunked that is not last", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
        ("a coding in HTTP/1.0", "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        ("no host", "GET / HTTP/1.1\r\n\r\n"),
        ("two hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
        ("a carriage return in a value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n"),
        ("a zero in a value", "GET / HTTP/1.1\r\nHost: x\r\nA: b\0c\r\n\r\n"),
        ("a space in a name", "GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n"),
        ("a space in the target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("an unknown version", "GET / HTTP/3.7\r\nHost: x\r\n\r\n"),
        ("an empty name", "GET / HTTP/1.1\r\nHost: x\r\n: c\r\n\r\n"),
    ];
    for (what, bytes) in refused {
        let world = World::echo(Settings::default());
        let text = world.exchange(bytes);
        let is_refused = text.is_empty() || status(&text).starts_with('4') || status(&text) == "501";
        assert!(is_refused, "{what}: {text}");
        assert!(world.seen.borrow().iter().all(|seen| !seen.starts_with('[')), "{what}: {:?}", world.seen.borrow());
    }
}

#[test]
fn a_coding_beside_a_length_wins_and_the_rest_is_no_request() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(
        &world,
        "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n",
    );
    client.expect(&world, "[POST /a GET /]");
    assert_eq!(world.seen.borrow().len(), 1);
}

#[test]
fn malformed_chunks_end_the_body_as_a_failure() {
    let bodies = [
        "x\r\nabc\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n",
        "-1\r\n",
        "3;a\rb\r\nabc\r\n",
    ];
    for body in bodies {
        let world = World::echo(Settings::default());
        let client = world.client();
        client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{body}"));
        client.rest(&world);
        assert!(!world.seen.borrow().iter().any(|seen| seen.starts_with('[')), "{body:?}: {:?}", world.seen.borrow());
        assert_eq!(world.server.stats().running, 0, "{body:?}");
    }
}

#[test]
fn chunks_trailers_and_continue() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
    client.expect(&world, "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(&world, "3\r\nabc\r\n2;name=value\r\nde\r\n0\r\nA: b\r\n\r\n");
    client.expect(&world, "[POST / abcde]");
}

#[test]
fn what_is_too_large_is_refused_before_it_comes() {
    let settings = Settings { max_body_size: 10, ..Settings::default() };
    let world = World::echo(settings.clone());
    let text = world.exchange("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n");
    assert_eq!(status(&text), "413", "{text}");
    assert!(!text.contains("100 Continue"));
    assert!(world.seen.borrow().is_empty());

    let world = World::echo(settings);
    let client = world.client();
    client.send(
        &world,
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n8\r\n12345678\r\n",
    );
    let text = client.rest(&world);
    assert_eq!(status(&text), "413", "{text}");

    let world = World::echo(Settings { max_header_size: 8192, ..Settings::default() });
    let text = world.exchange(format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(20_000)));
    assert_eq!(status(&text), "431", "{text}");
    assert!(world.seen.borrow().is_empty());

    let world = World::echo(Settings::default());
    let many = (0..200).map(|number| format!("A{number}: b\r\n")).collect::<String>();
    let text = world.exchange(format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n"));
    assert_eq!(status(&text), "431", "{text}");
}

/// A reset could overtake the answer.
#[test]
fn what_a_refused_client_still_sends_is_read() {
    let world = World::echo(Settings { max_header_size: 8192, ..Settings::default() });
    let client = world.client();
    client.send(&world, format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(100_000)));
    client.expect(&world, "431");
    client.finish();
    client.rest(&world);
    assert!(!client.is_reset());
}

#[test]
fn a_slow_head_is_cut_off() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\n");
    for _ in 0..9 {
        world.advance(SECOND);
        client.send(&world, "A: b\r\n");
    }
    assert!(!client.is_closed());
    world.advance(SECOND);
    client.rest(&world);
    assert_eq!(world.server.stats().connections, 0);

    // One without any bytes, too.
    let client = world.client();
    world.advance(10 * SECOND);
    client.rest(&world);
}

#[test]
fn a_slow_head_of_a_later_request_is_cut_off() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.expect(&world, "[GET / ]");
    world.advance(60 * SECOND);
    assert!(!client.is_closed(), "it may be idle for longer");
    client.send(&world, "GET / HTTP");
    world.advance(10 * SECOND);
    client.rest(&world);
}

#[test]
fn idle_connections_are_closed() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.expect(&world, "[GET / ]");
    world.advance(74 * SECOND);
    assert!(!client.is_closed());
    world.advance(SECOND);
    client.rest(&world);
}

#[test]
fn a_slow_body_is_cut_off() {
    let world = World::echo(Settings { request_timeout: 0, ..Settings::default() });
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na");
    world.advance(29 * SECOND);
    assert!(world.seen.borrow().is_empty());
    world.advance(SECOND);
    client.rest(&world);
    assert!(world.seen.borrow().iter().any(|seen| seen == "body failed" || seen == "cancelled: SlowBody"));

    // One that trickles: a byte now and then is not enough.
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\na");
    for _ in 0..10 {
        world.advance(10 * SECOND);
        client.send(&world, "a");
    }
    client.rest(&world);
    assert_eq!(world.server.stats().running, 0);
}

#[test]
fn what_has_come_is_read_before_the_time_is_judged() {
    let world = World::echo(Settings { request_timeout: 0, ..Settings::default() });
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\n");
    client.send_meanwhile("Host: x\r\n\r\n");
    world.advance(60 * SECOND);
    client.expect(&world, "[GET / ]");

    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
    client.send_meanwhile("cd");
    world.advance(60 * SECOND);
    client.expect(&world, "[POST / abcd]");

    client.send_meanwhile("GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
    world.advance(600 * SECOND);
    client.expect(&world, "[GET /later ]");

    // What is too late nevertheless.
    client.send(&world, "GET / HTTP/1.1\r\n");
    client.send_meanwhile("Host: x\r\n");
    world.advance(60 * SECOND);
    client.rest(&world);
}

/// A server whose handlers do nothing; the test does it with the exchange.
fn held(settings: Settings) -> (World, Rc<RefCell<Vec<Rc<Exchange>>>>) {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => list.borrow_mut().push(exchange),
        Event::Wake(_) => world.seen.borrow_mut().push("woken".into()),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, why) => {
            world.seen.borrow_mut().push(format!("{why:?}"));
            if why == Reason::Disconnected {
                exchange.finish_handler();
            }
        }
    });
    (world, begun)
}

#[test]
fn a_client_that_leaves_cancels_its_handler() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    drop(client);
    world.until(|| (*world.seen.borrow() == ["Disconnected"]).then_some(()));
    assert_eq!(world.server.stats().running, 0);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    answer(&exchange, 200, "nobody gets this");
    world.step();
    assert_eq!(world.open_descriptors(), 1, "the listener");
}

#[test]
fn a_handler_that_takes_too_long_is_cancelled_and_then_answered_for() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    world.advance(59 * SECOND);
    assert!(world.seen.borrow().is_empty());
    world.advance(SECOND);
    assert_eq!(*world.seen.borrow(), ["Timeout"]);
    world.advance(5 * SECOND);
    let text = client.rest(&world);
    assert_eq!(status(&text), "503", "{text}");
    assert_eq!(world.server.stats().running, 1, "it still runs");
    begun.borrow()[0].finish_handler();
    assert_eq!(world.server.stats().running, 0);
}

#[test]
fn requests_wait_for_a_handler_in_order() {
    let (world, begun) = held(Settings { max_concurrency: 1, ..Settings::default() });
    let clients: Vec<_> = (0..3).map(|_| world.client()).collect();
    for (number, client) in clients.iter().enumerate() {
        client.send(&world, format!("GET /{number} HTTP/1.1\r\nHost: x\r\n\r\n"));
        let there = number + 1;
        world.until(|| (world.server.stats().requests == there as u64).then_some(()));
    }
    assert_eq!((begun.borrow().len(), world.server.stats().queued), (1, 2));
    let first = begun.borrow_mut().remove(0);
    answer(&first, 200, "first");
    first.finish_handler();
    clients[0].expect(&world, "first");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    assert_eq!(begun.borrow()[0].head().uri.path(), "/1");
    world.advance(5 * SECOND);
    let text = clients[2].rest(&world);
    assert_eq!(status(&text), "503", "{text}");
    assert!(text.contains("retry-after: "), "{text}");
    assert_eq!(world.server.stats().queued, 0);
}

#[test]
fn the_time_of_a_queued_request_begins_with_its_handler() {
    let (world, begun) =
        held(Settings { max_concurrency: 1, request_timeout: 2 * SECOND, queue_timeout: 0, ..Settings::default() });
    let clients: Vec<_> = (0..2).map(|_| world.client()).collect();
    for (number, client) in clients.iter().enumerate() {
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let there = number + 1;
        world.until(|| (world.server.stats().requests == there as u64).then_some(()));
    }
    let first = begun.borrow_mut().remove(0);
    world.hold_up(SECOND * 3 / 2); // it computes
    answer(&first, 200, "first");
    first.finish_handler();
    clients[0].expect(&world, "first");
    let second = world.until(|| begun.borrow().first().cloned());
    world.advance(SECOND);
    assert_eq!(second.cancelled(), None);
    world.advance(SECOND);
    assert_eq!(second.cancelled(), Some(Reason::Timeout));
}

#[test]
fn a_request_that_would_wait_too_long_is_refused_at_once() {
    let (world, begun) = held(Settings { max_concurrency: 1, ..Settings::default() });
    let come = || {
        let before = world.server.stats().requests;
        let client = world.client();
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        world.until(|| (world.server.stats().requests > before).then_some(()));
        client
    };
    let end = || {
        world.until(|| (begun.borrow().len() == 1).then_some(()));
        let exchange = begun.borrow_mut().remove(0);
        answer(&exchange, 200, "answered");
        exchange.finish_handler();
        world.step();
    };
    // Five a second, of which twelve wait: two and a half seconds. Twenty more are too many.
    let mut clients: Vec<_> = (0..13).map(|_| come()).collect();
    for _ in 0..20 {
        world.advance(SECOND / 5);
        end();
        clients.push(come());
    }
    assert_eq!((world.server.stats().queued, world.server.stats().refused), (12, 0));
    let more: Vec<_> = (0..20).map(|_| come()).collect();
    let refused = world.server.stats().refused;
    assert!((5..=9).contains(&refused), "{refused} refused");
    let text = more[19].expect(&world, "\r\n\r\n");
    assert_eq!(status(&text), "503", "{text}");
    assert!(text.contains("retry-after: "), "{text}");
    // The others are answered in time, and when the queue has been empty, nothing is known any more.
    while world.server.stats().queued > 0 {
        world.advance(SECOND / 5);
        end();
    }
    end();
    assert_eq!(world.server.stats().refused, refused);
    let _stands_still: Vec<_> = (0..100).map(|_| come()).collect();
    assert_eq!((world.server.stats().queued, world.server.stats().refused), (99, refused));
}

#[test]
fn a_response_is_written_as_fast_as_the_client_takes_it() {
    let (world, begun) = held(Settings { write_window: 64 << 10, ..Settings::default() });
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: Vec::new() });
    let mut written = 0;
    let piece = Bytes::from(vec![b'a'; 16 << 10]);
    // Until the buffers of the system are full.
    let mut idle = 0;
    while idle < 50 {
        if exchange.has_room() {
            exchange.write(piece.clone());
            written += piece.len();
            idle = 0;
        } else {
            idle += 1;
        }
        world.step();
    }
    assert!(written < 64 << 20, "{written}");
    world.seen.borrow_mut().clear();
    world.until(|| {
        client.fill();
        world.seen.borrow().iter().any(|seen| seen == "woken").then_some(())
    });
    exchange.complete(None);
    exchange.finish_handler();
    let total = world.until(|| Some(client.bytes()).filter(|all| all.ends_with(b"0\r\n\r\n")));
    assert!(total.iter().filter(|byte| **byte == b'a').count() >= written);
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let (world, begun) = held(Settings { write_window: 64 << 10, ..Settings::default() });
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: Vec::new() });
    let mut idle = 0;
    while idle < 50 {
        if exchange.has_room() {
            exchange.write(Bytes::from(vec![0; 16 << 10]));
            idle = 0;
        } else {
            idle += 1;
        }
        world.step();
    }
    world.advance(30 * SECOND);
    assert_eq!(*world.seen.borrow(), ["Disconnected", "woken"]);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    assert_eq!(exchange.write(Bytes::from_static(b"more")), Written::Gone);
}

#[test]
fn where_too_much_waits_a_client_is_closed() {
    for limit in [8 << 20, 0] {
        let (world, begun) = held(Settings { max_buffered: limit, ..Settings::default() });
        let client = world.client();
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let exchange = world.until(|| begun.borrow_mut().pop());
        let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
        exchange.respond(head, Body::Full(Bytes::from(vec![0; 32 << 20])));
        exchange.finish_handler();
        world.step();
        assert_eq!(world.server.stats().connections, usize::from(limit == 0));
        assert_eq!(world.server.stats().waiting, if limit == 0 { 32 << 20 } else { 0 });
    }
}

#[test]
fn a_client_that_resets_is_noticed_behind_a_body_that_nobody_reads() {
    let (world, begun) = held(Settings { max_body_size: 1 << 40, ..Settings::default() });
    let client = world.client();
    client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", 1_u64 << 40));
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    // Until the system takes no more.
    let mut refused = 0;
    while refused < 50 {
        let taken = std::io::Write::write(&mut client.stream(), &[0; 65536]);
        refused = if taken.is_ok() { 0 } else { refused + 1 };
        world.step();
    }
    assert!(world.seen.borrow().is_empty());
    client.reset();
    world.until(|| (*world.seen.borrow() == ["Disconnected"]).then_some(()));
}

/// What hyper has read beyond a request keeps it from reading on, and so from seeing the end of the connection.
#[test]
fn a_client_that_leaves_is_noticed_behind_what_came_with_its_request() {
    let requests = [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\nG",
        "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n\0",
        "GET / HTTP/1.0\r\n\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody!",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\nPOST",
    ];
    for request in requests {
        for (more, leave) in [
            ("", (|_| None) as fn(world::Client) -> Option<world::Client>),
            ("", |client| {
                client.finish();
                Some(client)
            }),
            ("", |client| {
                client.reset();
                None
            }),
            ("more", |client| {
                client.reset();
                None
            }),
            ("more", |client| {
                client.finish();
                Some(client)
            }),
        ] {
            for is_read in [false, true] {
                let (world, begun) = held(Settings::default());
                let client = world.client();
                client.send(&world, request);
                let exchange = world.until(|| begun.borrow_mut().pop());
                if is_read {
                    world.until(|| matches!(exchange.read(), Incoming::End).then_some(()));
                }
                client.send(&world, more);
                assert!(world.seen.borrow().is_empty(), "{request:?}");
                let _half_open = leave(client);
                world.until(|| (*world.seen.borrow() == ["Disconnected"]).then_some(()));
                world.until(|| (world.server.stats().connections == 0).then_some(()));
                assert!(begun.borrow().is_empty(), "{request:?}");
            }
        }
    }
}

#[test]
fn a_client_that_sends_on_meanwhile_is_not_read_and_then_noticed() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\nG");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let (mut sent, mut refused) = (0, 0);
    while refused < 50 {
        match std::io::Write::write(&mut client.stream(), &[b'a'; 65536]) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) => refused += 1,
        }
        assert!(sent < 64 << 20, "all of it is read");
        world.step();
    }
    assert!(world.seen.borrow().is_empty());
    client.reset();
    world.until(|| (*world.seen.borrow() == ["Disconnected"]).then_some(()));
}

/// Watching for the end takes nothing of what follows.
#[test]
fn the_rest_of_a_request_that_began_with_the_one_before_is_read_when_that_is_answered() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\nPOST /2 HTTP/1.1\r\nHo");
    for _ in 0..3 {
        let exchange = world.until(|| begun.borrow_mut().pop());
        client.send(&world, "st: x\r\nContent-Length: 2\r\n\r\nhiPOST /3 HTTP/1.1\r\nHo");
        answer(&exchange, 200, &format!("[{}]", exchange.head().uri));
        exchange.finish_handler();
    }
    let text = client.expect(&world, "[/3]");
    assert!(text.contains("[/1]") && text.contains("[/2]"), "{text}");
}

#[test]
fn a_response_that_lists_close_closes_the_connection() {
    for (lines, closes) in [
        (&["close"][..], true),
        (&["Close"], true),
        (&["close, TE"], true),
        (&["te ,\tCLOSE"], true),
        (&[",close,"], true),
        (&["keep-alive", "close"], true),
        (&["keep-alive"], false),
        (&["closed"], false),
        (&["x-close, not close"], false),
        (&[""], false),
    ] {
        let world = World::new(Settings::default(), move |_, event| {
            if let Event::Begin(exchange) = event {
                let mut headers = HeaderMap::new();
                for line in lines {
                    headers.append("connection", HeaderValue::from_static(line));
                }
                exchange.respond(Head { status: StatusCode::OK, headers }, Body::Full(Bytes::from_static(b"answer")));
                exchange.finish_handler();
            }
        });
        let client = world.client();
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let text = client.expect(&world, "answer");
        assert_eq!(text.contains("connection: close\r\n"), closes, "{lines:?}: {text}");
        if closes {
            client.rest(&world);
        } else {
            assert!(!text.contains("connection:"), "{lines:?}: {text}");
            client.forget();
            client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            client.expect(&world, "answer");
        }
    }
}

#[test]
fn trailers_follow_a_body() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\nTE: trailers\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    let name = HeaderName::from_static("x-sum");
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: vec![name.clone()] });
    exchange.write(Bytes::from_static(b"data"));
    let mut trailers = HeaderMap::new();
    trailers.insert(name, HeaderValue::from_static("42"));
    exchange.complete(Some(trailers));
    exchange.finish_handler();
    let text = client.expect(&world, "x-sum: 42\r\n");
    assert!(text.contains("trailer: x-sum\r\n"), "{text}");
}

#[test]
fn a_response_that_is_not_completed_is_seen_to_be_incomplete() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: Vec::new() });
    exchange.write(Bytes::from_static(b"part"));
    exchange.finish_handler();
    let text = client.rest(&world);
    assert!(!text.ends_with("0\r\n\r\n"), "{text}");

    // No response at all.
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    begun.borrow()[0].finish_handler();
    assert_eq!(client.rest(&world), "");
}

#[test]
fn a_declared_length_is_kept() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    let exchange = begun.borrow_mut().remove(0);
    let mut headers = HeaderMap::new();
    headers.insert("content-length", HeaderValue::from_static("4"));
    headers.insert("transfer-encoding", HeaderValue::from_static("chunked"));
    exchange.respond(Head { status: StatusCode::OK, headers }, Body::Stream { trailers: Vec::new() });
    assert_eq!(exchange.write(Bytes::from_static(b"abc")), Written::Ok);
    assert_eq!(exchange.write(Bytes::from_static(b"de")), Written::TooMuch);
    assert_eq!(exchange.write(Bytes::from_static(b"d")), Written::Ok);
    exchange.complete(None);
    exchange.finish_handler();
    let text = client.expect(&world, "abcd");
    assert!(text.contains("content-length: 4\r\n") && !text.contains("chunked"), "{text}");
}

#[test]
fn no_body_where_none_is_allowed() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    for (method, code, length) in [("HEAD", 200, Some(4)), ("GET", 204, None), ("GET", 304, None)] {
        client.send(&world, format!("{method} / HTTP/1.1\r\nHost: x\r\n\r\n"));
        world.until(|| (begun.borrow().len() == 1).then_some(()));
        let exchange = begun.borrow_mut().remove(0);
        let before = client.text().len();
        answer(&exchange, code, "body");
        exchange.finish_handler();
        let text = world.until(|| Some(client.text()).filter(|text| text[before..].ends_with("\r\n\r\n")));
        let text = &text[before..];
        assert!(!text.contains("body"), "{text}");
        match length {
            Some(length) => assert!(text.contains(&format!("content-length: {length}\r\n")), "{text}"),
            None => assert!(!text.contains("content-length: 4"), "{text}"),
        }
    }
}

#[test]
fn a_server_drains() {
    let (world, begun) = held(Settings::default());
    let (idle, busy) = (world.client(), world.client());
    busy.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    world.server.drain(Some(10 * SECOND));
    idle.rest(&world);
    assert!(std::net::TcpStream::connect(&world.address).is_err(), "it listens no more");
    assert!(!world.server.is_drained());
    let exchange = begun.borrow_mut().remove(0);
    answer(&exchange, 200, "late");
    exchange.finish_handler();
    let text = busy.rest(&world);
    assert!(text.contains("late") && text.contains("connection: close"), "{text}");
    drop(busy);
    world.until(|| world.server.is_drained().then_some(()));
}

#[test]
fn a_request_that_does_not_come_to_an_end_does_not_outlast_a_drain() {
    let world = World::echo(Settings { idle_grace: SECOND, cancel_grace: 5 * SECOND, ..Settings::default() });
    let begun = world.client();
    begun.send(&world, "GET /1 HTTP/1.1\r\nHost");
    world.server.drain(Some(2 * SECOND));
    world.advance(2 * SECOND - 1);
    assert!(!begun.is_closed());
    world.advance(1);
    assert_eq!(begun.rest(&world), "");
    drop(begun);
    world.until(|| world.server.is_drained().then_some(()));
}

#[test]
fn connections_may_still_begin_a_request_for_a_while_when_a_server_drains() {
    let world = World::echo(Settings { idle_grace: SECOND, keep_alive: 0, ..Settings::default() });
    let [used, kept, light, unused, begun, late, silent] = [(); 7].map(|()| world.client());
    light.send(&world, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    light.expect(&world, "[GET /1 ]");
    world.advance(2 * SECOND); // it has no buffers any more
    used.send(&world, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    used.expect(&world, "[GET /1 ]");
    kept.send(&world, "GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
    kept.expect(&world, "[GET /1 ]");
    begun.send(&world, "GET /2 HTTP/1.1\r\n");
    world.server.drain(Some(10 * SECOND));
    world.advance(SECOND - 1);
    for client in [&used, &light, &unused] {
        client.send(&world, "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
        let text = client.rest(&world);
        assert!(
            text.contains("[GET /2 ]") && text.ends_with("[GET /2 ]") && text.contains("connection: close"),
            "{text}"
        );
    }
    // One that has just been made has longer: its client does not expect a close, and would not send the request again.
    world.advance(1);
    assert!(kept.rest(&world).ends_with("[GET /1 ]"));
    world.advance(4 * SECOND - 1);
    late.send(&world, "GET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
    let text = late.rest(&world);
    assert!(text.contains("[GET /2 ]") && text.contains("connection: close"), "{text}");
    assert!(!silent.is_closed());
    world.advance(1);
    assert_eq!(silent.rest(&world), "");
    // A head of which a part has come is not lost.
    begun.send(&world, "Host: x\r\n\r\n");
    let text = begun.rest(&world);
    assert!(text.contains("[GET /2 ]") && text.contains("connection: close"), "{text}");
    drop((used, kept, light, unused, begun, late, silent));
    world.until(|| world.server.is_drained().then_some(()));
}

#[test]
fn a_second_drain_that_is_shorter_leaves_no_time_to_begin_a_request() {
    let world = World::echo(Settings { idle_grace: SECOND, ..Settings::default() });
    let client = world.client();
    world.server.drain(Some(10 * SECOND));
    world.step();
    assert!(!client.is_closed());
    world.server.drain(Some(0));
    world.step();
    assert_eq!(client.rest(&world), "");
}

#[test]
fn a_server_that_does_not_drain_in_time_cancels_its_handlers() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    world.server.drain(Some(10 * SECOND));
    world.step();
    world.advance(10 * SECOND);
    assert_eq!(*world.seen.borrow(), ["Shutdown"]);
    world.advance(5 * SECOND);
    client.rest(&world);
    begun.borrow()[0].finish_handler();
    world.until(|| world.server.is_drained().then_some(()));
}

/// Two connections that are idle, the first for longer.
fn two_idle(world: &World) -> (world::Client, world::Client) {
    let clients = (world.client(), world.client());
    for client in [&clients.0, &clients.1] {
        client.send(world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client.expect(world, "[GET / ]");
        world.advance(1);
    }
    clients
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let world = World::echo(Settings { max_connections: 2, ..Settings::default() });
    let (first, second) = two_idle(&world);
    let third = std::net::TcpStream::connect(&world.address).unwrap();
    first.rest(&world);
    world.until(|| (world.server.stats().connections == 2).then_some(()));
    assert!(!second.is_closed());
    drop(third);
}

#[test]
fn a_connection_on_which_a_request_has_come_makes_no_room() {
    let world = World::echo(Settings { max_connections: 2, ..Settings::default() });
    let (first, second) = two_idle(&world);
    // The server learns first that there is a third client, and finds the request by itself.
    let third = world.client_without_wait();
    world.turn_after(|| first.send_meanwhile("GET /again HTTP/1.1\r\nHost: x\r\n\r\n"));
    first.expect(&world, "[GET /again ]");
    second.rest(&world);
    assert!(!first.is_closed() && !second.is_reset());
    third.send(&world, "GET /third HTTP/1.1\r\nHost: x\r\n\r\n");
    third.expect(&world, "[GET /third ]");
}

#[test]
fn a_request_that_comes_before_its_connection_makes_room_is_answered() {
    let world = World::echo(Settings { max_connections: 1, ..Settings::default() });
    let first = world.client();
    first.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    first.expect(&world, "[GET / ]");
    let second = world.client_without_wait();
    // It is the only one that is idle. Another one may have the place when this request is answered, too.
    world.turn_after(|| first.send_meanwhile("GET /again HTTP/1.1\r\nHost: x\r\n\r\n"));
    second.send(&world, "GET /second HTTP/1.1\r\nHost: x\r\n\r\n");
    second.expect(&world, "[GET /second ]");
    assert!(first.rest(&world).contains("[GET /again ]"));
    assert!(!first.is_reset());
}

#[test]
fn a_connection_makes_room_when_it_becomes_idle() {
    let (world, begun) = held(Settings { max_connections: 1, ..Settings::default() });
    let first = world.client();
    first.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    let exchange = world.until(|| begun.borrow_mut().pop());
    let second = world.client_without_wait();
    second.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    answer(&exchange, 200, "done");
    exchange.finish_handler();
    assert!(first.rest(&world).ends_with("done"));
    let exchange = world.until(|| begun.borrow_mut().pop());
    answer(&exchange, 200, "done, too");
    exchange.finish_handler();
    second.expect(&world, "done, too");
}

#[test]
fn a_request_that_has_come_is_answered_although_its_connection_was_idle_for_too_long() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    client.expect(&world, "[GET / ]");
    world.turn();
    client.send_meanwhile("GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
    world.hold_up(Settings::default().keep_alive);
    world.server.turn();
    client.expect(&world, "[GET /again ]");
}

#[test]
fn requests_that_have_come_are_answered_when_the_server_drains() {
    let world = World::echo(Settings::default());
    let (idle, new) = (world.client(), world.client());
    idle.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    idle.expect(&world, "[GET / ]");
    idle.send_meanwhile("GET /again HTTP/1.1\r\nHost: x\r\n\r\n");
    new.send_meanwhile("GET /first HTTP/1.1\r\nHost: x\r\n\r\n");
    world.server.drain(None);
    world.server.turn();
    assert!(idle.rest(&world).contains("[GET /again ]"));
    assert!(new.rest(&world).contains("[GET /first ]"));
}

#[test]
fn a_thousand_clients_leave_nothing_behind() {
    let (world, begun) = held(Settings::default());
    for round in 0..1000 {
        let client = world.client();
        match round % 4 {
            0 => client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
            1 => client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"),
            2 => client.send(&world, "GET / HT"),
            _ => {}
        }
        drop(client);
        if round % 16 == 15 {
            world.until(|| (world.server.stats().connections == 0).then_some(()));
        }
    }
    world.until(|| (world.server.stats().running == 0).then_some(()));
    assert_eq!(world.open_descriptors(), 1);
    let left: Vec<_> = begun.borrow_mut().drain(..).map(|exchange| Rc::strong_count(&exchange)).collect();
    assert!(left.iter().all(|count| *count == 1), "{left:?}");
}

#[test]
fn every_request_is_logged_once() {
    let world = World::new(Settings { max_body_size: 10, ..Settings::default() }, |world, event| match event {
        Event::Begin(exchange) if exchange.head().uri == "/wait" => world.seen.borrow_mut().push("waits".into()),
        Event::Begin(exchange) if exchange.head().uri == "/none" => exchange.finish_handler(),
        Event::Begin(exchange) | Event::Wake(exchange) => world::echo(world, &exchange),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, _) => exchange.finish_handler(),
    });
    world.exchange("GET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(world.logged.borrow().is_empty(), "nobody has asked for it");
    world.server.log_requests();
    let head = "Host: x\r\nReferer: r\r\nUser-Agent: \"a\"\r\nConnection: close\r\n";
    let expect = |status: u16, bytes: u64, what: &str| {
        let entry = world.until(|| world.logged.borrow_mut().pop());
        assert_eq!((entry.status, entry.bytes, entry.target.as_str()), (status, bytes, what));
        assert!(world.logged.borrow().is_empty());
        assert!(entry.client.0 == "127.0.0.1" && entry.client.1 > 0);
        entry
    };
    world.exchange(format!("GET /a?b HTTP/1.1\r\n{head}\r\n"));
    let entry = expect(200, "[GET /a?b ]".len() as u64, "/a?b");
    assert_eq!(
        (entry.referer.unwrap(), entry.agent.unwrap(), entry.host.unwrap()),
        (b"r".to_vec(), b"\"a\"".to_vec(), b"x".to_vec())
    );
    world.exchange(format!("HEAD /a HTTP/1.1\r\n{head}\r\n"));
    expect(200, 0, "/a");
    world.exchange(format!("POST /large HTTP/1.1\r\n{head}Content-Length: 11\r\n\r\n"));
    expect(413, "413 Payload Too Large\n".len() as u64, "/large");
    world.exchange(format!("GET /none HTTP/1.1\r\n{head}\r\n"));
    expect(499, 0, "/none");
    let client = world.client();
    client.send(&world, format!("GET /wait HTTP/1.1\r\n{head}\r\n"));
    world.until(|| world.seen.borrow().iter().any(|seen| seen == "waits").then_some(()));
    world.advance(3 * SECOND);
    drop(client);
    assert_eq!(expect(499, 0, "/wait").duration, 3 * SECOND);
}

/// With HTTP/1.0 a body ends with the connection. What is not complete must not look like it.
#[test]
fn an_incomplete_response_of_http_1_0_is_seen_to_be_incomplete() {
    let cases = ["fails", "half-closes", "takes nothing", "stops", "whole"];
    for case in cases {
        let (world, begun) = held(Settings { write_window: 64 << 10, ..Settings::default() });
        let client = world.client();
        client.send(&world, "GET / HTTP/1.0\r\n\r\n");
        world.until(|| (begun.borrow().len() == 1).then_some(()));
        let exchange = begun.borrow_mut().remove(0);
        let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
        exchange.respond(head, Body::Stream { trailers: Vec::new() });
        exchange.write(Bytes::from_static(b"some of it"));
        if case != "takes nothing" {
            client.expect(&world, "some of it");
        }
        match case {
            "fails" => exchange.finish_handler(),
            "half-closes" => client.finish(),
            "takes nothing" => {
                let mut idle = 0;
                while idle < 50 {
                    if exchange.has_room() {
                        exchange.write(Bytes::from(vec![0; 16 << 10]));
                        idle = 0;
                    } else {
                        idle += 1;
                    }
                    world.step();
                }
                exchange.complete(None); // what is buffered is not sent any more
                exchange.finish_handler();
                world.advance(31 * SECOND);
            }
            "stops" => world.server.close(),
            _ => {
                exchange.complete(None);
                exchange.finish_handler();
            }
        }
        client.rest(&world);
        assert_eq!(client.is_reset(), case != "whole", "{case}");
    }
}

/// hyper has taken all of the response, and the client takes the rest later than an idle connection is closed.
#[test]
fn the_rest_of_a_response_is_sent_however_slowly() {
    for unread in [false, true] {
        // Nothing but a client that takes nothing has a time limit here.
        let timeouts = Settings { write_timeout: 1 << 50, header_timeout: 0, queue_timeout: 0, ..Settings::default() };
        let timeouts = Settings { request_timeout: 0, body_timeout: 0, ..timeouts };
        let (world, begun) = held(Settings { max_body_size: 100 << 20, ..timeouts });
        let client = world.client();
        let length = if unread { 100 << 20 } else { 0 };
        client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"));
        world.until(|| (begun.borrow().len() == 1).then_some(()));
        let exchange = begun.borrow_mut().remove(0);
        let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
        exchange.respond(head, Body::Stream { trailers: Vec::new() });
        world.step();
        let mut written = 0;
        while world.server.next_deadline().is_none() {
            exchange.write(Bytes::from(vec![b'a'; 16 << 10]));
            written += 16 << 10;
            world.step();
        }
        exchange.complete(None);
        exchange.finish_handler();
        world.step();
        assert!(exchange.is_over() && written > 64 << 10, "{written}");
        world.advance(1000 * SECOND);
        let all =
            world.until(|| Some(client.bytes()).filter(|all| all.ends_with(b"\r\n0\r\n\r\n") || client.is_closed()));
        assert!(all.len() > written, "{} of {written}", all.len());
    }
}

#[test]
fn what_is_refused_is_logged_as_what_is_handled() {
    let networks = vec!["127.0.0.1/32".parse().unwrap()];
    let proxies = Proxies { networks, ..Proxies::default() };
    let world = World::echo(Settings { max_body_size: 10, proxies, ..Settings::default() });
    world.server.log_requests();
    let forwarded = "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: shop.example\r\n";
    for (length, status) in [(1, 200), (11, 413)] {
        let head = format!(
            "POST / HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n{forwarded}Content-Length: {length}\r\n\r\n"
        );
        world.exchange(format!("{head}{}", "x".repeat(length)));
        let entry = world.until(|| world.logged.borrow_mut().pop());
        let host = entry.host.as_deref().map(String::from_utf8_lossy);
        assert_eq!((entry.status, entry.client.0.as_str(), entry.scheme), (status, "1.2.3.4", "https"));
        assert_eq!(host.as_deref(), Some("shop.example"));
    }
}

/// A server whose handlers go on although they are asked to end.
fn stubborn(settings: Settings) -> (World, Rc<RefCell<Vec<Rc<Exchange>>>>) {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => list.borrow_mut().push(exchange),
        Event::Wake(exchange) => world.seen.borrow_mut().push(format!("{:?} {}", exchange.read(), exchange.has_room())),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(_, why) => world.seen.borrow_mut().push(format!("{why:?}")),
    });
    (world, begun)
}

#[test]
fn a_handler_that_waits_for_a_client_is_woken_when_that_has_left() {
    let is_over = |world: &World| world.seen.borrow().len() == 2;

    // One that reads, and goes on until the server closes the connection.
    let (world, begun) = stubborn(Settings::default());
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    let exchange = world.until(|| begun.borrow_mut().pop());
    assert!(matches!(exchange.read(), Incoming::Pending));
    world.server.drain(Some(0));
    world.step();
    world.advance(Settings::default().cancel_grace);
    world.until(|| is_over(&world).then_some(()));
    assert_eq!(world.seen.take(), ["Shutdown", "Failed true"]);
    exchange.finish_handler();

    // Also if the response is complete, which is all that the client wants.
    let (world, begun) = stubborn(Settings::default());
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    let exchange = world.until(|| begun.borrow_mut().pop());
    assert!(matches!(exchange.read(), Incoming::Pending));
    answer(&exchange, 200, "complete");
    client.expect(&world, "complete");
    world.until(|| (*world.seen.borrow() == ["Failed true"]).then_some(()));
    exchange.finish_handler();
    world.seen.take();

    // One that writes more than the client takes.
    let (world, begun) = stubborn(Settings { write_window: 1 << 20, ..Settings::default() });
    let write = |client: &world::Client| {
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        let exchange = world.until(|| begun.borrow_mut().pop());
        let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
        exchange.respond(head, Body::Stream { trailers: Vec::new() });
        let mut is_full = 0;
        while is_full < 10 {
            world.step(); // until the system takes no more
            is_full = if exchange.write(Bytes::from(vec![0; 1 << 20])) == Written::Full { is_full + 1 } else { 0 };
        }
        world.seen.take();
        exchange
    };
    let client = world.client();
    let exchange = write(&client);
    drop(client);
    world.until(|| is_over(&world).then_some(()));
    assert_eq!(world.seen.take(), ["Disconnected", "End true"]);
    assert_eq!(exchange.write(Bytes::from_static(b"more")), Written::Gone);
    exchange.finish_handler();

    let client = world.client();
    let exchange = write(&client);
    world.advance(Settings::default().write_timeout);
    world.until(|| is_over(&world).then_some(()));
    assert_eq!(world.seen.take(), ["Disconnected", "End true"]);
    exchange.finish_handler();
}
