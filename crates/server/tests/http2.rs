//! HTTP/2, with the client of another crate: streams at once, bodies, resets, limits, the end of a server.

mod world;

use bytes::Bytes;
use h2::client::{self, ResponseFuture, SendRequest};
use h2::{Reason, RecvStream, SendStream};
use http::{HeaderMap, Request, StatusCode};
use spindle_server::{Body, Exchange, FileOptions, Head, Root, Settings, Written};
use std::cell::RefCell;
use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use world::{Client, Event, SECOND, World, answer};

/// The socket of a client, which is polled again and again.
struct Socket(Client);

fn pending<T>(result: io::Result<T>) -> Poll<io::Result<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
        result => Poll::Ready(result),
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let count = pending(self.0.stream().read(buffer.initialize_unfilled()));
        count.map_ok(|count| buffer.advance(count))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        pending(self.0.stream().write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.finish();
        Poll::Ready(Ok(()))
    }
}

/// A connection of a client, and the server.
struct Http2<'a> {
    world: &'a World,
    connection: RefCell<Pin<Box<client::Connection<Socket, Bytes>>>>,
    ended: RefCell<Option<Result<(), h2::Error>>>,
    sender: RefCell<SendRequest<Bytes>>,
}

impl<'a> Http2<'a> {
    fn connect(world: &'a World) -> Http2<'a> {
        let mut handshake = pin!(client::handshake(Socket(world.client())));
        let cx = &mut Context::from_waker(Waker::noop());
        let (sender, connection) = world.until(|| match handshake.as_mut().poll(cx) {
            Poll::Ready(result) => Some(result.unwrap()),
            Poll::Pending => None,
        });
        Http2 {
            world,
            connection: RefCell::new(Box::pin(connection)),
            ended: RefCell::new(None),
            sender: RefCell::new(sender),
        }
    }

    fn step(&self) {
        if self.ended.borrow().is_none() {
            let cx = &mut Context::from_waker(Waker::noop());
            if let Poll::Ready(result) = self.connection.borrow_mut().as_mut().poll(cx) {
                *self.ended.borrow_mut() = Some(result);
            }
        }
    }

    fn until<T>(&self, mut what: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
        let cx = &mut Context::from_waker(Waker::noop());
        self.world.until(|| {
            self.step();
            match what(cx) {
                Poll::Ready(found) => Some(found),
                Poll::Pending => None,
            }
        })
    }

    /// Lets both sides do what they can do now. What one of them has sent has come to the other one, as it does on one machine.
    fn settle(&self) {
        for _ in 0..100 {
            self.step();
            self.world.step();
        }
    }

    fn send(&self, method: &str, path: &str, ends: bool) -> (ResponseFuture, SendStream<Bytes>) {
        self.until(|cx| self.sender.borrow_mut().poll_ready(cx)).unwrap();
        let request = Request::builder().method(method).uri(format!("http://test{path}")).body(()).unwrap();
        self.sender.borrow_mut().send_request(request, ends).unwrap()
    }

    fn response(&self, mut future: ResponseFuture) -> (StatusCode, RecvStream) {
        let response = self.until(|cx| Pin::new(&mut future).poll(cx)).unwrap();
        (response.status(), response.into_body())
    }

    fn text(&self, mut body: RecvStream) -> String {
        let mut all = Vec::new();
        loop {
            let Some(data) = self.until(|cx| body.poll_data(cx)) else { break };
            let data = data.unwrap();
            body.flow_control().release_capacity(data.len()).unwrap();
            all.extend_from_slice(&data);
        }
        String::from_utf8(all).unwrap()
    }
}

type Begun = Rc<RefCell<Vec<Rc<Exchange>>>>;

/// A server whose handlers do nothing; the test does it with the exchange.
fn held(settings: Settings) -> (World, Begun) {
    let begun = Begun::default();
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => list.borrow_mut().push(exchange),
        Event::Wake(_) => world.seen.borrow_mut().push("woken".into()),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, why) => {
            world.seen.borrow_mut().push(format!("{why:?}"));
            exchange.finish_handler();
        }
    });
    (world, begun)
}

#[test]
fn streams_are_answered_in_any_order() {
    let (world, begun) = held(Settings::default());
    let http = Http2::connect(&world);
    let requests: Vec<_> = (0..10).map(|number| http.send("GET", &format!("/{number}"), true).0).collect();
    http.until(|_| if begun.borrow().len() == 10 { Poll::Ready(()) } else { Poll::Pending });
    for exchange in begun.borrow_mut().drain(..).rev() {
        answer(&exchange, 200, exchange.head().uri.path());
        exchange.finish_handler();
    }
    for (number, request) in requests.into_iter().enumerate() {
        let (status, body) = http.response(request);
        assert_eq!((status.as_u16(), http.text(body)), (200, format!("/{number}")));
    }
    assert_eq!(world.server.stats().connections, 1);
}

/// A request that seems to be for one host to one reader, and for another one to another, is refused.
#[test]
fn a_request_has_one_host() {
    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    for (authority, host, status) in
        [("test", "test", 200), ("test", "TEST", 200), ("test", "other", 400), ("a@b", "a@b", 400)]
    {
        http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
        let request = Request::builder().uri(format!("http://{authority}/")).header("host", host).body(()).unwrap();
        let (response, _) = http.sender.borrow_mut().send_request(request, true).unwrap();
        assert_eq!(http.response(response).0, status, "{authority} {host}");
    }
}

/// RFC 9113, 8.2.1.
#[test]
fn values_have_no_blanks_around_them() {
    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    for (value, status) in [("a b", 200), ("", 200), (" a", 400), ("a ", 400), ("\ta", 400), ("a\t", 400), (" ", 400)] {
        http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
        let request = Request::builder().uri("http://test/").header("x", value).body(()).unwrap();
        let (response, _) = http.sender.borrow_mut().send_request(request, true).unwrap();
        assert_eq!(http.response(response).0, status, "{value:?}");
    }
    // Those that follow a body, too.
    world.seen.take();
    for (value, seen) in [("a", "[POST http://test/ ]"), ("a ", "body failed")] {
        let (_request, mut body) = http.send("POST", "/", false);
        let mut trailers = http::HeaderMap::new();
        trailers.insert("x", value.parse().unwrap());
        body.send_trailers(trailers).unwrap();
        http.until(|_| if world.seen.borrow().is_empty() { Poll::Pending } else { Poll::Ready(()) });
        assert_eq!(world.seen.take(), [seen]);
    }
}

#[test]
fn bodies_go_both_ways() {
    let world = World::echo(Settings { max_body_size: 100_000, ..Settings::default() });
    let http = Http2::connect(&world);
    let (request, mut body) = http.send("POST", "/", false);
    body.send_data(Bytes::from("a".repeat(20_000)), false).unwrap();
    body.send_data(Bytes::from("b".repeat(20_000)), true).unwrap();
    let (_, response) = http.response(request);
    assert_eq!(http.text(response).len(), 40_000 + "[POST http://test/ ]".len());

    // Larger than allowed: refused while it comes.
    let (request, mut body) = http.send("POST", "/", false);
    body.send_data(Bytes::from("a".repeat(60_000)), false).unwrap();
    body.send_data(Bytes::from("a".repeat(60_000)), false).unwrap();
    assert_eq!(http.response(request).0, StatusCode::PAYLOAD_TOO_LARGE);
}

/// Returns the reason with which a stream was reset before another request was answered.
fn reset(http: &Http2, body: &mut SendStream<Bytes>) -> Option<Reason> {
    let (request, _) = http.send("GET", "/", true);
    let _ = http.response(request);
    match body.poll_reset(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(reason) => Some(reason.unwrap()),
        Poll::Pending => None,
    }
}

/// A server that answers each request at once, and reads no body.
fn unread(settings: Settings) -> World {
    World::new(settings, |_, event| {
        if let Event::Begin(exchange) = event {
            answer(&exchange, 200, "not read");
            exchange.finish_handler();
        }
    })
}

#[test]
fn the_rest_of_a_body_that_nobody_reads_is_discarded() {
    let settings = Settings { discard_size: 256 << 10, discard_timeout: 2 * SECOND, ..Settings::default() };
    let world = unread(settings);
    let http = Http2::connect(&world);
    let (request, mut body) = http.send("POST", "/", false);
    let (_, response) = http.response(request);
    assert_eq!(http.text(response), "not read");
    assert_eq!(reset(&http, &mut body), None, "a client may forget the response when its stream is reset");
    body.send_data(Bytes::from("a".repeat(50_000)), false).unwrap();
    assert_eq!(reset(&http, &mut body), None);
    body.send_data(Bytes::from("a"), true).unwrap();
    assert_eq!(reset(&http, &mut body), None);

    // One that does not end is reset without an error: after so many bytes,
    let (request, mut body) = http.send("POST", "/", false);
    let _ = http.response(request);
    body.send_data(Bytes::from(vec![b'a'; 300 << 10]), false).unwrap();
    assert_eq!(http.until(|cx| body.poll_reset(cx)).unwrap(), Reason::NO_ERROR);

    // or after so long.
    let (request, mut body) = http.send("POST", "/", false);
    let _ = http.response(request);
    world.advance(2 * SECOND - 1);
    assert_eq!(reset(&http, &mut body), None);
    world.advance(1);
    assert_eq!(http.until(|cx| body.poll_reset(cx)).unwrap(), Reason::NO_ERROR);
    assert_eq!(world.server.stats().connections, 1);
}

#[test]
fn a_stop_does_not_wait_for_what_nobody_reads() {
    for drips in [true, false] {
        let world = unread(Settings::default());
        let http = Http2::connect(&world);
        let (request, mut body) = http.send("POST", "/", false);
        let _ = http.response(request);
        world.server.drain(None);
        world.step();
        for _ in 0..2 {
            if drips {
                body.send_data(Bytes::from("a"), false).unwrap();
            }
            http.settle();
            assert_eq!(world.server.stats().connections, 1);
            world.advance(SECOND);
        }
        http.settle();
        assert_eq!(world.server.stats().connections, 0, "drips: {drips}");
    }
}

#[test]
fn a_body_that_is_discarded_ends_with_its_connection() {
    let world = unread(Settings::default());
    let http = Http2::connect(&world);
    let (request, _body) = http.send("POST", "/", false);
    let _ = http.response(request);
    drop(http);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    assert_eq!(world.server.next_deadline(), None);
}

#[test]
fn the_body_of_a_request_that_is_refused_is_discarded() {
    let world = unread(Settings::default());
    let http = Http2::connect(&world);
    http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
    let request = Request::post("http://test/").header("content-length", 9 << 20).body(()).unwrap();
    let (request, mut body) = http.sender.borrow_mut().send_request(request, false).unwrap();
    assert_eq!(http.response(request).0, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(reset(&http, &mut body), None);
}

#[test]
fn a_stream_that_is_reset_cancels_its_handler_and_no_other() {
    let (world, begun) = held(Settings::default());
    let http = Http2::connect(&world);
    let (_first, mut body) = http.send("POST", "/first", false);
    let (second, _) = http.send("GET", "/second", true);
    http.until(|_| if begun.borrow().len() == 2 { Poll::Ready(()) } else { Poll::Pending });
    body.send_reset(Reason::CANCEL);
    http.until(|_| if *world.seen.borrow() == ["Disconnected"] { Poll::Ready(()) } else { Poll::Pending });
    assert_eq!(world.server.stats().running, 1);
    let exchange = begun.borrow_mut().remove(1);
    answer(&exchange, 200, "second");
    exchange.finish_handler();
    let (_, response) = http.response(second);
    assert_eq!(http.text(response), "second");
}

#[test]
fn a_handler_waits_for_a_stream_that_is_not_read() {
    let (world, begun) = held(Settings { write_window: 64 << 10, write_timeout: 30 * SECOND, ..Settings::default() });
    let http = Http2::connect(&world);
    let (request, _) = http.send("GET", "/", true);
    http.until(|_| if begun.borrow().len() == 1 { Poll::Ready(()) } else { Poll::Pending });
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: Vec::new() });
    let (_, _body) = http.response(request);
    let (mut idle, mut written) = (0, 0);
    while idle < 50 {
        if exchange.has_room() {
            exchange.write(Bytes::from(vec![b'a'; 16 << 10]));
            (idle, written) = (0, written + (16 << 10));
        } else {
            idle += 1;
        }
        http.step();
        world.step();
    }
    assert!(written < 4 << 20, "{written}");
    world.advance(30 * SECOND);
    assert!(world.seen.borrow().contains(&"Disconnected".to_owned()), "{:?}", world.seen.borrow());
    assert_eq!(world.server.stats().running, 0);
}

#[test]
fn a_client_that_takes_nothing_of_its_streams_keeps_no_connection() {
    for is_whole in [true, false] {
        let (world, begun) =
            held(Settings { write_window: 64 << 10, write_timeout: 30 * SECOND, ..Settings::default() });
        let http = Http2::connect(&world);
        let (request, _) = http.send("GET", "/", true);
        http.until(|_| if begun.borrow().len() == 1 { Poll::Ready(()) } else { Poll::Pending });
        let exchange = begun.borrow_mut().remove(0);
        let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
        // The client's windows are 64 KiB, and it opens no more.
        let piece = Bytes::from(vec![b'a'; 16 << 10]);
        exchange.respond(head, Body::Stream { trailers: Vec::new() });
        for _ in 0..30 {
            exchange.write(piece.clone());
            http.step();
            world.step();
        }
        let (_, _body) = http.response(request);
        if is_whole {
            exchange.complete(None);
            exchange.finish_handler();
            // So nothing of this one is taken.
            let (_second, _) = http.send("GET", "/", true);
            http.until(|_| if begun.borrow().len() == 1 { Poll::Ready(()) } else { Poll::Pending });
            let second = begun.borrow_mut().remove(0);
            let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
            second.respond(head, Body::Stream { trailers: Vec::new() });
            second.write(Bytes::from_static(b"whole"));
            second.complete(None);
            second.finish_handler();
            // Where the first one ends, hyper has room for the second, and takes it.
            world.advance(30 * SECOND);
            http.step();
        } else {
            assert!(!exchange.has_room());
        }
        world.advance(30 * SECOND);
        for time in [75, 5] {
            http.step();
            world.advance(time * SECOND);
        }
        assert_eq!(world.server.stats().connections, 0, "{is_whole}");
    }
}

/// Answers the next request with so many bytes.
fn answer_with(http: &Http2<'_>, begun: &Begun, count: usize, is_stream: bool) -> ResponseFuture {
    let (request, _) = http.send("GET", "/", true);
    http.until(|_| if begun.borrow().is_empty() { Poll::Pending } else { Poll::Ready(()) });
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    let bytes = Bytes::from(vec![b'a'; count]);
    if is_stream {
        exchange.respond(head, Body::Stream { trailers: Vec::new() });
        exchange.write(bytes);
        exchange.complete(None);
    } else {
        exchange.respond(head, Body::Full(bytes));
    }
    exchange.finish_handler();
    request
}

#[test]
fn where_too_much_waits_the_client_is_closed_that_takes_nothing() {
    for is_stream in [false, true] {
        let (world, begun) = held(Settings { max_buffered: 1 << 20, ..Settings::default() });
        let (slow, other) = (Http2::connect(&world), Http2::connect(&world));
        // Its windows are 64 KiB, and it opens no more.
        let _requests: Vec<_> = (0..3).map(|_| answer_with(&slow, &begun, 320 << 10, is_stream)).collect();
        world.step();
        let waiting = world.server.stats().waiting;
        assert!((800 << 10..1 << 20).contains(&waiting), "{waiting}");
        world.hold_up(2 * SECOND);
        let request = answer_with(&other, &begun, 320 << 10, is_stream);
        let (_, body) = other.response(request);
        assert_eq!(other.text(body).len(), 320 << 10);
        assert_eq!((world.server.stats().connections, world.server.stats().waiting), (1, 0));
    }
}

#[test]
fn where_too_much_waits_handlers_wait() {
    let (world, begun) = held(Settings { max_buffered: 1 << 20, ..Settings::default() });
    let (slow, other) = (Http2::connect(&world), Http2::connect(&world));
    let _requests: Vec<_> = (0..3).map(|_| answer_with(&slow, &begun, 320 << 10, false)).collect();
    let (_request, _) = other.send("GET", "/", true);
    other.until(|_| if begun.borrow().is_empty() { Poll::Pending } else { Poll::Ready(()) });
    let exchange = begun.borrow_mut().remove(0);
    let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
    exchange.respond(head, Body::Stream { trailers: Vec::new() });
    assert_eq!(exchange.write(Bytes::from(vec![b'a'; 10 << 10])), Written::Ok);
    assert_eq!(exchange.write(Bytes::from(vec![b'a'; 100 << 10])), Written::Full);
    assert!(world.seen.borrow().is_empty());
    // When what it has written is taken, it may write more.
    world.until(|| (*world.seen.borrow() == ["woken"]).then_some(()));
    assert!(exchange.has_room());
}

#[test]
fn a_client_that_takes_what_waits_is_not_closed() {
    let (world, begun) = held(Settings { max_buffered: 1 << 20, ..Settings::default() });
    let http = Http2::connect(&world);
    let request = answer_with(&http, &begun, 1536 << 10, false);
    world.step();
    assert!(world.server.stats().waiting > 1 << 20);
    let (_, body) = http.response(request);
    assert_eq!(http.text(body).len(), 1536 << 10);
    // But if it is twice as much, one has to leave.
    let other = Http2::connect(&world);
    let _request = answer_with(&other, &begun, 3 << 20, false);
    world.step();
    assert_eq!((world.server.stats().connections, world.server.stats().waiting), (1, 0));
}

#[test]
fn streams_that_are_reset_at_once_close_the_connection() {
    let (world, _begun) = held(Settings::default());
    let http = Http2::connect(&world);
    for _ in 0..2000 {
        if http.ended.borrow().is_some() {
            break;
        }
        let cx = &mut Context::from_waker(Waker::noop());
        if !matches!(http.sender.borrow_mut().poll_ready(cx), Poll::Ready(Ok(()))) {
            http.step();
            continue;
        }
        let request = Request::builder().uri("http://test/").body(()).unwrap();
        let sent = http.sender.borrow_mut().send_request(request, true);
        if let Ok((_, mut body)) = sent {
            body.send_reset(Reason::CANCEL);
        }
        http.step(); // the server sees nothing yet
    }
    http.until(|_| if world.server.stats().running == 0 { Poll::Ready(()) } else { Poll::Pending });
    assert!(world.server.stats().requests < 1500, "{:?}", world.server.stats());
}

/// Bytes of frames that have no payload but these few, as many as the system takes at once.
fn flood(world: &World, kind: u8, payload: &[u8]) -> Client {
    let client = world.client();
    client.send(world, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    let mut frame = vec![0, 0, u8::try_from(payload.len()).unwrap(), kind, 0, 0, 0, 0, 0];
    frame.extend_from_slice(payload);
    let bytes = frame.repeat(1 << 14);
    let mut sent = 0;
    while sent < 1 << 20 {
        match client.stream().write(&bytes[sent % frame.len()..]) {
            Ok(count) => sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent > 300 << 10, "only {sent} bytes have room");
    client
}

/// What is sent as quickly as it is read would otherwise be all that the server does.
#[test]
fn a_client_that_sends_without_end_leaves_turns_to_others() {
    let pong = [b'x'; 8];
    for (kind, payload) in [(0xbe, &[][..]), (0x06, &pong), (0x08, &[0, 0, 0, 1])] {
        let world = World::echo(Settings::default());
        let flooding = flood(&world, kind, payload);
        let mut interrupted = 0;
        for _ in 0..100 {
            world.turn();
            interrupted += u32::from(world.server.has_work());
            flooding.fill(); // the answers to pings
        }
        assert!(interrupted > 3, "what has come is read in {interrupted} turns and one");
        assert_eq!(world.server.stats().connections, 1);
    }
}

#[test]
fn a_request_has_so_many_header_lines() {
    let world = World::echo(Settings { max_headers: 10, ..Settings::default() });
    let http = Http2::connect(&world);
    let ask = |name: &str, count: usize| {
        http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
        let mut request = Request::builder().uri("http://test/");
        for number in 0..count {
            request = request.header(name, format!("a={number}"));
        }
        let (response, _) = http.sender.borrow_mut().send_request(request.body(()).unwrap(), true).unwrap();
        http.response(response).0.as_u16()
    };
    assert_eq!([ask("a", 10), ask("a", 11)], [200, 431]);
    // Clients make a line of each cookie.
    assert_eq!(ask("cookie", 30), 200);
}

#[test]
fn a_head_that_is_too_large_never_reaches_a_handler() {
    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
    let request = Request::builder().uri("http://test/").header("a", "b".repeat(20_000)).body(()).unwrap();
    if let Ok((mut response, _)) = http.sender.borrow_mut().send_request(request, true) {
        let refused = http.until(|cx| Pin::new(&mut response).poll(cx));
        assert!(refused.map_or(true, |response| response.status() == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE));
    }
    assert!(world.seen.borrow().is_empty());
}

#[test]
fn an_idle_connection_is_closed_and_one_in_use_drains() {
    let (world, begun) = held(Settings::default());
    let http = Http2::connect(&world);
    let (request, _) = http.send("GET", "/", true);
    http.until(|_| if begun.borrow().len() == 1 { Poll::Ready(()) } else { Poll::Pending });
    world.server.drain(None);
    for _ in 0..20 {
        http.step();
        world.step();
    }
    let exchange = begun.borrow_mut().remove(0);
    answer(&exchange, 200, "late");
    exchange.finish_handler();
    let (_, body) = http.response(request);
    assert_eq!(http.text(body), "late");
    http.until(|_| if world.server.is_drained() { Poll::Ready(()) } else { Poll::Pending });

    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    let (request, _) = http.send("GET", "/", true);
    let _ = http.response(request);
    world.advance(75 * SECOND);
    http.until(|_| if world.server.stats().connections == 0 { Poll::Ready(()) } else { Poll::Pending });
}

#[test]
fn a_connection_that_begins_no_stream_is_closed() {
    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    world.advance(10 * SECOND);
    http.until(|_| if world.server.stats().connections == 0 { Poll::Ready(()) } else { Poll::Pending });
}

#[test]
fn a_client_that_takes_nothing_keeps_no_file_open() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("large"), vec![b'x'; 1 << 20]).unwrap();
    let world = World::echo(Settings { write_timeout: 30 * SECOND, ..Settings::default() });
    world.server.add_files(Root::open("/", place.path(), FileOptions::default()).unwrap());
    let http = Http2::connect(&world);
    let is_open = || {
        let entries = std::fs::read_dir("/proc/self/fd").unwrap();
        entries
            .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
            .any(|path| path == place.path().join("large"))
    };
    let (request, _) = http.send("GET", "/large", true);
    let (status, mut body) = http.response(request);
    // The window is full. A thread has read it where the file system has no other way, as that in memory.
    http.until(|_| if body.flow_control().available_capacity() > 0 { Poll::Pending } else { Poll::Ready(()) });
    assert_eq!((status.as_u16(), is_open()), (200, true));
    // Another stream is used meanwhile, so the connection stays.
    world.advance(31 * SECOND);
    let (other, _) = http.send("GET", "/other", true);
    assert_eq!(http.response(other).0.as_u16(), 200);
    // A thread may be reading it.
    http.until(|_| if is_open() { Poll::Pending } else { Poll::Ready(()) });
    // What it takes then is incomplete.
    let ended = loop {
        match http.until(|cx| body.poll_data(cx)) {
            Some(Ok(data)) => body.flow_control().release_capacity(data.len()).unwrap(),
            Some(Err(error)) => break error.is_reset(),
            None => break false,
        }
    };
    assert!(ended);
}

#[test]
fn a_body_comes_although_nothing_says_to_continue() {
    let world = World::echo(Settings::default());
    let http = Http2::connect(&world);
    http.until(|cx| http.sender.borrow_mut().poll_ready(cx)).unwrap();
    let request =
        Request::builder().method("POST").uri("http://test/").header("expect", "100-continue").body(()).unwrap();
    let (response, mut body) = http.sender.borrow_mut().send_request(request, false).unwrap();
    http.step();
    body.send_data(Bytes::from_static(b"abc"), true).unwrap();
    let (status, text) = http.response(response);
    assert_eq!((status, http.text(text).as_str()), (StatusCode::OK, "[POST http://test/ abc]"));
}

#[test]
fn a_connection_that_sends_no_request_makes_room() {
    let world = World::echo(Settings { max_connections: 1, ..Settings::default() });
    let first = world.client();
    first.send(&world, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
    first.send(&world, b"\0\0\x06\x01\x05\0\0\0\x01\x82\x84\x86\x41\x01x");
    first.expect(&world, "[GET http://x/ ]");
    world.turn();
    let second = world.client_without_wait();
    // That bytes have come keeps it open until they are read, and no longer if they are a ping.
    world.turn_after(|| first.send_meanwhile(b"\0\0\x08\x06\0\0\0\0\0the ping"));
    first.rest(&world);
    assert!(!first.is_reset());
    second.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    second.expect(&world, "[GET / ]");
}
