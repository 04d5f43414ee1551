//! Responses of HTTP/1.1 that are given before the body of the request was read: what is said of the connection, what is still
//! read, and when that ends.

mod world;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use spindle_server::{Body, Exchange, Head, Incoming, Settings, Written};
use std::cell::RefCell;
use std::rc::Rc;
use world::{Client, Event, SECOND, World, answer};

/// A server whose handlers read nothing, and answer at once.
fn unread(settings: Settings) -> World {
    World::new(settings, |_, event| {
        if let Event::Begin(exchange) = event {
            answer(&exchange, 401, "not read");
            exchange.finish_handler();
        }
    })
}

/// A server whose handlers do nothing; the test does it with the exchange.
fn held(settings: Settings) -> (World, Rc<RefCell<Vec<Rc<Exchange>>>>) {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |_, event| {
        if let Event::Begin(exchange) = event {
            list.borrow_mut().push(exchange);
        }
    });
    (world, begun)
}

/// Has a request answered whose body has not come as a whole.
fn early(world: &World) -> Client {
    let client = world.client();
    client.send(world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\nbegin");
    let text = client.expect(world, "not read");
    assert!(text.contains("connection: close\r\n"), "{text}");
    client
}

#[test]
fn a_connection_is_used_on_if_the_body_has_come() {
    let bodies = [
        "Content-Length: 4\r\n\r\nbody",
        "Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\nA: trailer\r\n\r\n",
    ];
    for body in bodies {
        for is_stream in [false, true] {
            let (world, begun) = held(Settings::default());
            let client = world.client();
            for _ in 0..2 {
                client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\n{body}"));
                let exchange = world.until(|| begun.borrow_mut().pop());
                if is_stream {
                    exchange.respond(Head { status: StatusCode::OK, headers: HeaderMap::new() }, stream());
                    world.step();
                    exchange.write(Bytes::from_static(b"the answer"));
                    exchange.complete(None);
                } else {
                    answer(&exchange, 200, "the answer");
                }
                exchange.finish_handler();
                let text = client.expect(&world, "the answer");
                assert!(!text.contains("connection: close"), "{body:?}: {text}");
                client.forget();
            }
        }
    }
}

fn stream() -> Body {
    Body::Stream { trailers: Vec::new() }
}

#[test]
fn what_has_come_in_many_pieces_does_not_hold_the_answer_up() {
    let world = unread(Settings::default());
    let chunks = "1\r\nx\r\n".repeat(100);
    let text =
        world.exchange(format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n"));
    assert!(text.contains("connection: close") && text.contains("not read"), "{text}");
}

#[test]
fn a_client_that_still_sends_gets_the_answer() {
    let world = unread(Settings::default());
    let client = early(&world);
    client.send(&world, vec![b'a'; 7_999_995]);
    client.finish();
    client.rest(&world);
    assert!(!client.is_reset());
    world.until(|| (world.server.stats().connections == 0).then_some(()));

    // Also one that is refused before there is a handler, and one whose handler has read more than it may.
    let world = World::echo(Settings { max_body_size: 10, ..Settings::default() });
    for head in ["Content-Length: 8000000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n7A1200\r\n"] {
        let client = world.client();
        client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\n{head}"));
        client.send(&world, vec![b'a'; 8_000_000]);
        let text = client.expect(&world, "413");
        assert!(text.contains("connection: close\r\n"), "{text}");
        client.finish();
        client.rest(&world);
        assert!(!client.is_reset(), "{head}");
    }
}

#[test]
fn a_client_that_waits_to_be_asked_for_the_body_is_not_asked() {
    let world = unread(Settings::default());
    let text = world.exchange("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
    assert!(text.starts_with("HTTP/1.1 401") && text.contains("connection: close\r\n"), "{text}");
}

#[test]
fn a_client_of_http_1_0_is_told_so_too() {
    let world = unread(Settings { max_body_size: 9_000_000, ..Settings::default() });
    for length in [8_000_000, 10_000_000] {
        let head = format!("POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: {length}\r\n\r\n");
        let text = world.exchange(head);
        assert!(text.contains("connection: close\r\n") && !text.contains("keep-alive"), "{text}");
    }
}

#[test]
fn what_a_client_still_sends_is_limited() {
    // Its size,
    let world = unread(Settings { discard_size: 100_000, ..Settings::default() });
    let client = early(&world);
    client.send(&world, vec![b'a'; 100_000]);
    assert_eq!(world.server.stats().connections, 1);
    client.send(&world, vec![b'a'; 100_000]);
    world.until(|| (world.server.stats().connections == 0).then_some(()));

    // the time that it takes,
    let world = unread(Settings::default());
    let client = early(&world);
    for _ in 0..29 {
        world.advance(SECOND);
        client.send(&world, "a");
    }
    assert_eq!(world.server.stats().connections, 1);
    world.advance(SECOND);
    world.until(|| (world.server.stats().connections == 0).then_some(()));

    // and how long nothing comes.
    let client = early(&world);
    world.advance(5 * SECOND - 1);
    assert_eq!(world.server.stats().connections, 1);
    world.advance(1);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    drop(client);

    // A server that stops does not wait for long.
    let client = early(&world);
    world.server.drain(None);
    for _ in 0..2 {
        client.send(&world, "a");
        world.advance(SECOND);
    }
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}

#[test]
fn those_that_have_their_answers_make_room() {
    let world = unread(Settings { max_connections: 2, ..Settings::default() });
    let _first = early(&world);
    let idle = world.client();
    idle.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
    idle.expect(&world, "not read");
    // First those that wait for nothing.
    let _third = early(&world);
    assert!(idle.is_closed() && world.server.stats().connections == 2);
    let _fourth = early(&world);
    assert_eq!(world.server.stats().connections, 2);
}

#[test]
fn a_handler_may_go_on_reading_while_it_answers() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
    client.send(&world, vec![b'a'; 100]);
    let exchange = world.until(|| begun.borrow_mut().pop());
    exchange.respond(Head { status: StatusCode::OK, headers: HeaderMap::new() }, stream());
    world.step();
    let mut sent = vec![b'a'; 100];
    for part in 0..30_u8 {
        client.send(&world, vec![part; 9_990]);
        sent.extend_from_slice(&[part; 9_990]);
    }
    client.send(&world, vec![b'z'; 200]);
    sent.extend_from_slice(&[b'z'; 200]);
    let mut read = Vec::new();
    world.until(|| match exchange.read() {
        Incoming::Data(bytes) => {
            read.extend_from_slice(&bytes);
            None
        }
        Incoming::Pending => None,
        Incoming::End => Some(()),
        failed => panic!("{failed:?}"),
    });
    assert_eq!(read, sent);
    assert_eq!(exchange.write(Bytes::from_static(b"all read")), Written::Ok);
    exchange.complete(None);
    exchange.finish_handler();
    let text = client.rest(&world);
    assert!(text.contains("connection: close") && text.contains("all read"), "{text}");
    assert!(!client.is_reset());
}

#[test]
fn the_connection_of_a_handler_that_reads_while_it_answers_is_used_on() {
    // All of the body; a part of it; and so little that the client sends more than is dropped.
    // Also where a field only looks as if the connection were to be closed.
    let cases =
        [(300_000, 0, ""), (1000, 1 << 20, ""), (1000, 1 << 20, "Connection: closet, disclose\r\n"), (1000, 1000, "")];
    for (read, dropped, field) in cases {
        let (world, begun) = held(Settings { discard_size: dropped, ..Settings::default() });
        let client = world.client();
        client.send(&world, format!("POST / HTTP/1.1\r\nHost: x\r\n{field}Content-Length: 300000\r\n\r\n"));
        let exchange = world.until(|| begun.borrow_mut().pop());
        assert!(matches!(exchange.read(), Incoming::Pending));
        exchange.respond(Head { status: StatusCode::OK, headers: HeaderMap::new() }, stream());
        world.step();
        client.send(&world, vec![b'a'; 1000]);
        let mut count = 0;
        let mut read_on = || {
            if let Incoming::Data(bytes) = exchange.read() {
                count += bytes.len();
            }
            (count >= read).then_some(())
        };
        if read > 1000 {
            client.send(&world, vec![b'a'; 299_000]);
        }
        world.until(&mut read_on);
        exchange.write(Bytes::from_static(b"written"));
        exchange.complete(None);
        exchange.finish_handler();
        let text = client.expect(&world, "written\r\n0\r\n\r\n");
        assert!(!text.contains("connection: close"), "{text}");
        if read == 1000 {
            client.send(&world, vec![b'a'; 299_000]);
        }
        client.send(&world, "GET /next HTTP/1.1\r\nHost: x\r\n\r\n");
        if dropped == 1000 {
            client.finish();
            client.rest(&world);
            assert!(begun.borrow().is_empty());
            continue;
        }
        let exchange = world.until(|| begun.borrow_mut().pop());
        answer(&exchange, 200, "the next one");
        exchange.finish_handler();
        client.expect(&world, "the next one");
    }
}

#[test]
fn who_reads_on_after_the_answer_does_not_take_a_part_for_the_whole() {
    let (world, begun) = held(Settings::default());
    let client = world.client();
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\nbegin");
    let exchange = world.until(|| begun.borrow_mut().pop());
    answer(&exchange, 200, "the answer");
    client.expect(&world, "the answer");
    let mut last = Incoming::Pending;
    world.until(|| {
        last = exchange.read();
        (!matches!(last, Incoming::Data(_) | Incoming::Pending)).then_some(())
    });
    assert!(matches!(last, Incoming::Failed), "{last:?}");
    exchange.finish_handler();
}
