//! TLS: handshakes, certificates and their exchange, ends of connections, clients that leave or are slow.

mod secure;
mod world;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use rustls::{HandshakeKind, ProtocolVersion};
use secure::{ECDSA, Folder, RSA, Secure, config, world, world_with};
use spindle_server::{Body, CertificateFiles, Exchange, Head, Message, Received, Settings, Tls, Written};
use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;
use std::sync::Arc;
use world::{Event, SECOND, World, answer, answer_at_once};

const GET: &str = "GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n";
const LAST: &str = "GET /a HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n";
const ASK: &str = "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

#[test]
fn requests_are_answered_with_each_protocol_and_version() {
    for version in [12, 13] {
        for protocols in [&["http/1.1"][..], &[], &["http/1.1", "other"]] {
            let (world, _folder) = world(Settings::default());
            let client = Secure::new(&world, &Arc::new(config(protocols, Some(version))), "a.example");
            client.handshake(&world);
            client.send(&world, GET);
            client.expect(&world, "[GET /a ]");
            client.send(&world, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nxyz");
            client.expect(&world, "[POST /b xyz]");
            let expected = if version == 12 { ProtocolVersion::TLSv1_2 } else { ProtocolVersion::TLSv1_3 };
            assert_eq!(client.tls.borrow().protocol_version(), Some(expected));
            assert_eq!(client.tls.borrow().alpn_protocol(), protocols.first().map(|name| name.as_bytes()));
        }
    }
}

#[test]
fn the_handshake_decides_for_http_2() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::connect(&world, &["http/1.1", "h2"]);
    assert_eq!(client.tls.borrow().alpn_protocol(), Some(&b"h2"[..]));
    // Its settings come without anything that the client has sent; and they are all that it gets for HTTP/1.1.
    world.until(|| (client.bytes().get(3) == Some(&4)).then_some(()));
    client.send(&world, GET);
    assert!(!client.rest(&world).contains("HTTP/1.1"));
    // And the preface of HTTP/2 is no request where HTTP/1.1 was agreed on.
    let client = Secure::connect(&world, &["http/1.1"]);
    client.send(&world, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(client.rest(&world), "");
    assert!(world.seen.borrow().is_empty());
}

#[test]
fn a_client_whose_protocols_are_unknown_is_refused() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::new(&world, &Arc::new(config(&["other"], None)), "a.example");
    client.rest(&world);
    let failure = format!("{:?}", client.failure.borrow());
    assert!(failure.contains("NoApplicationProtocol"), "{failure}");
    drop(client);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}

/// hyper reads less at a time than a record has: the rest is there although the socket has nothing.
#[test]
fn what_was_decrypted_is_read_before_the_socket_is_waited_for() {
    let (world, _folder) = world(Settings::default());
    for size in [100, 8_192, 16_000] {
        let client = Secure::connect(&world, &[]);
        let body = "b".repeat(size);
        client.send(&world, format!("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n{body}"));
        client.expect(&world, &format!("[POST /b {body}]"));
        // Many requests in one record.
        client.send(&world, format!("{}{LAST}", GET.repeat(300)));
        assert_eq!(client.rest(&world).matches("[GET /a ]").count(), 301, "{size}");
    }
}

#[test]
fn bytes_that_come_one_by_one_are_a_handshake_and_a_request() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
    let trickle = || {
        let mut bytes = Vec::new();
        client.tls.borrow_mut().write_tls(&mut bytes).unwrap();
        for byte in bytes {
            (&client.stream).write_all(&[byte]).unwrap();
            world.step();
        }
    };
    world.until(|| {
        trickle();
        client.pull();
        (!client.tls.borrow().is_handshaking()).then_some(())
    });
    trickle();
    client.tls.borrow_mut().writer().write_all(GET.as_bytes()).unwrap();
    trickle();
    client.expect(&world, "[GET /a ]");
}

#[test]
fn bodies_are_as_fast_as_the_slower_side() {
    let written = Rc::new(RefCell::new((0, 0)));
    let count = Rc::clone(&written);
    let write = move |exchange: &Rc<Exchange>| {
        while count.borrow().0 < 400 && exchange.has_room() {
            let mut count = count.borrow_mut();
            count.0 += 1;
            count.1 += usize::from(exchange.write(Bytes::from(vec![b'x'; 100_000])) == Written::Full);
        }
        if count.borrow().0 == 400 && !exchange.is_over() && exchange.has_room() {
            exchange.complete(None);
            exchange.finish_handler();
        }
    };
    let (world, _folder) = world_with(Settings::default(), move |_, event| match event {
        Event::Begin(exchange) => {
            let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
            assert!(exchange.respond(head, Body::Stream { trailers: Vec::new() }));
            write(&exchange);
        }
        Event::Wake(exchange) => write(&exchange),
        Event::Cancel(..) | Event::Log(_) | Event::Slow(..) => panic!("it was cancelled"),
    });
    let client = Secure::connect(&world, &[]);
    client.send(&world, LAST);
    // The client takes nothing: the handler stops.
    let mut before = 0;
    world.until(|| {
        let now = written.borrow().0;
        (std::mem::replace(&mut before, now) == now && now > 0).then_some(())
    });
    for _ in 0..100 {
        world.step();
    }
    assert!(written.borrow().0 < 200, "{:?}", written.borrow());
    let text = client.rest(&world);
    assert_eq!(text.matches('x').count(), 40_000_000);
    assert!(client.is_whole.get());
    assert!(written.borrow().1 > 10, "{:?}", written.borrow());
}

/// No limit but that for a client that takes nothing: there is a deadline only while that is so.
fn only_blocked() -> Settings {
    Settings { header_timeout: 0, keep_alive: 0, request_timeout: 0, websocket_ping: 0, ..Settings::default() }
}

/// What was encrypted last waits for the client, with nothing behind it that would push it on.
#[test]
fn what_waits_encrypted_at_the_end_is_sent() {
    let begun = Rc::new(RefCell::new(None));
    let exchange = Rc::clone(&begun);
    let (world, _folder) = world_with(only_blocked(), move |_, event| {
        if let Event::Begin(exchange) = event {
            *begun.borrow_mut() = Some(exchange);
        }
    });
    for is_websocket in [false, true] {
        let client = Secure::connect(&world, &[]);
        client.send(&world, if is_websocket { ASK } else { "GET / HTTP/1.0\r\n\r\n" });
        let exchange: Rc<Exchange> = exchange.take().unwrap();
        let web = is_websocket.then(|| exchange.upgrade(None).unwrap());
        if !is_websocket {
            let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
            exchange.respond(head, Body::Stream { trailers: Vec::new() });
        }
        let mut size = 0;
        while world.server.next_deadline().is_none() {
            let data = Bytes::from(vec![0xfe; 30_000]);
            match &web {
                Some(web) => drop(web.send(Message { data, is_binary: true })),
                None => drop(exchange.write(data)),
            }
            size += 30_000;
            world.step();
        }
        if !is_websocket {
            exchange.complete(None);
            exchange.finish_handler();
            client.rest(&world);
            assert!(client.is_whole.get());
        }
        world.until(|| (client.bytes().iter().filter(|byte| **byte == 0xfe).count() >= size).then_some(()));
        drop(client);
        world.until(|| {
            if is_websocket {
                exchange.finish_handler();
            }
            (world.server.stats().connections == 0).then_some(())
        });
    }
}

#[test]
fn a_large_body_is_received() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::connect(&world, &[]);
    client.send(&world, "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\nConnection: close\r\n\r\n");
    client.send(&world, vec![b'y'; 5_000_000]);
    assert_eq!(client.rest(&world).matches('y').count(), 5_000_000);
}

#[test]
fn a_slow_handshake_is_cut_off() {
    for (hello, requests) in [(0, 0), (100, 0), (usize::MAX, 0), (usize::MAX, 1)] {
        let (world, _folder) = world(Settings { header_timeout: 10 * SECOND, ..Settings::default() });
        let client = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
        let mut bytes = Vec::new();
        client.tls.borrow_mut().write_tls(&mut bytes).unwrap();
        (&client.stream).write_all(&bytes[..bytes.len().min(hello)]).unwrap();
        world.advance(6 * SECOND);
        if requests > 0 {
            client.handshake(&world);
            client.send(&world, "GET / HTTP/1.1\r\nHos");
        }
        assert_eq!(world.server.stats().connections, 1);
        world.advance(4 * SECOND + 1);
        assert_eq!(world.server.stats().connections, 0, "{hello} {requests}");
        assert_eq!(world.open_descriptors(), 1);
    }
}

#[test]
fn handshakes_count_as_connections() {
    let (world, _folder) = world(Settings { max_connections: 2, ..Settings::default() });
    let config = Arc::new(config(&[], None));
    let (one, two) = (Secure::new(&world, &config, "a.example"), Secure::new(&world, &config, "a.example"));
    let three = world.client_without_wait();
    for _ in 0..20 {
        world.step();
    }
    assert_eq!(world.server.stats().accepted, 2);
    drop((one, two));
    world.until(|| (world.server.stats().accepted == 3).then_some(()));
    drop(three);
}

#[test]
fn what_is_no_tls_is_refused() {
    let (world, _folder) = world(Settings::default());
    for request in [GET, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &format!("POST / HTTP/1.1\r\n{}", "a".repeat(100_000))] {
        let answer = world.exchange(request);
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{answer}");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())) && body.contains("https"), "{answer}");
    }
    // An alert, and no answer: the first byte is that of a record, or nobody's.
    for request in [&b"\x16\x03\x01\x00\x04\x01\0\0\0"[..], b"\0\0\0\0\0\0\0\0", b"ssh-2.0\r\n\r\n"] {
        let client = world.client();
        client.send(&world, request);
        client.rest(&world);
        assert_eq!(client.bytes().first(), Some(&21), "{request:?}: {:?}", client.bytes());
    }
    assert!(world.seen.borrow().is_empty());
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}

#[test]
fn a_client_may_leave_at_each_byte_of_the_handshake() {
    let (world, _folder) = world(Settings::default());
    let config = Arc::new(config(&[], None));
    let mut length = 0;
    for step in (0..).step_by(37) {
        let client = Secure::new(&world, &config, "a.example");
        let mut bytes = Vec::new();
        client.tls.borrow_mut().write_tls(&mut bytes).unwrap();
        (&client.stream).write_all(&bytes[..step.min(bytes.len())]).unwrap();
        world.step();
        length = bytes.len();
        if step >= length {
            break;
        }
    }
    assert!(length > 100);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    assert_eq!(world.open_descriptors(), 1);
}

#[test]
fn a_whole_response_is_told_from_one_that_was_cut() {
    let begun = Rc::new(RefCell::new(None));
    let exchange = Rc::clone(&begun);
    let (world, _folder) = world_with(Settings::default(), move |_, event| {
        if let Event::Begin(exchange) = event {
            let head = Head { status: StatusCode::OK, headers: HeaderMap::new() };
            exchange.respond(head, Body::Stream { trailers: Vec::new() });
            exchange.write(Bytes::from_static(b"some of it"));
            *begun.borrow_mut() = Some(exchange);
        }
    });
    for (is_whole, half_closes) in [(true, false), (false, false), (false, true)] {
        let client = Secure::connect(&world, &[]);
        // HTTP/1.0 has nothing but the end of the connection.
        client.send(&world, "GET / HTTP/1.0\r\n\r\n");
        client.expect(&world, "some of it");
        let exchange: Rc<Exchange> = exchange.take().unwrap();
        if half_closes {
            client.tls.borrow_mut().send_close_notify();
            client.flush(&world);
        } else {
            if is_whole {
                exchange.complete(None);
            }
            exchange.finish_handler();
        }
        let text = client.rest(&world);
        assert!(text.ends_with("some of it") && !text.contains("content-length"), "{text}");
        assert_eq!(client.is_whole.get(), is_whole);
        exchange.finish_handler();
    }
}

/// A protocol that was asked for, and is not spoken, changes nothing.
#[test]
fn a_response_to_a_request_for_an_upgrade_is_whole() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::connect(&world, &[]);
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n");
    let text = client.rest(&world);
    assert!(text.ends_with("[GET / ]") && client.is_whole.get(), "{text}");
}

#[test]
fn failed_handshakes_are_counted() {
    let (world, folder) = world(Settings::default());
    let failed = |count: u64| world.until(|| (world.server.stats().handshakes_failed == count).then_some(()));
    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.expect(&world, "[GET /a ]");
    failed(0);
    world.exchange("GET / HTTP/1.1\r\n\r\n");
    failed(1);
    world.exchange([22, 3, 1, 255, 255, 0]);
    failed(2);
    drop(world.client());
    failed(3);
    let silent = world.client();
    world.advance(11 * SECOND);
    silent.rest(&world);
    failed(4);
    drop(folder);
}

#[test]
fn idle_clients_are_told_that_the_connection_is_closed() {
    let (world, _folder) = world(Settings { keep_alive: 75 * SECOND, ..Settings::default() });
    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.expect(&world, "[GET /a ]");
    world.advance(60 * SECOND);
    // This is nothing of HTTP.
    client.tls.borrow_mut().refresh_traffic_keys().unwrap();
    client.send(&world, "");
    world.advance(14 * SECOND);
    assert_eq!(world.server.stats().connections, 1);
    world.advance(2 * SECOND);
    assert_eq!(world.server.stats().connections, 0);
    client.rest(&world);
    assert!(client.is_whole.get());
    // One that begins a request in time has the time of a head for it.
    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.expect(&world, "[GET /a ]");
    world.advance(74 * SECOND);
    client.send(&world, &GET[..10]);
    world.advance(9 * SECOND);
    client.send(&world, &GET[10..]);
    world.until(|| (client.text().matches("[GET /a ]").count() == 2).then_some(()));
}

#[test]
fn a_stopped_server_says_goodbye() {
    for protocols in [&["h2"][..], &["http/1.1"]] {
        let (world, _folder) = world(Settings::default());
        let client = Secure::connect(&world, protocols);
        if protocols[0] == "http/1.1" {
            client.send(&world, GET);
            client.expect(&world, "[GET /a ]");
        } else {
            client.send(&world, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0");
        }
        world.server.drain(None);
        if protocols[0] == "h2" {
            // It asks whether the client has seen that it goes away.
            let ping = world.until(|| {
                let bytes = client.bytes();
                bytes
                    .windows(9)
                    .position(|head| head == b"\0\0\x08\x06\0\0\0\0\0")
                    .and_then(|at| bytes[at..].get(..17).map(<[u8]>::to_vec))
            });
            client.send(&world, [&ping[..4], b"\x01", &ping[5..]].concat());
        }
        client.rest(&world);
        assert!(client.is_whole.get(), "{protocols:?}");
        drop(client);
        world.until(|| world.server.is_drained().then_some(()));
    }
}

#[test]
fn a_handshake_does_not_hold_up_a_server_that_stops() {
    let (world, _folder) = world(Settings::default());
    let client = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
    client.push();
    world.step();
    world.server.drain(None);
    world.until(|| world.server.is_drained().then_some(()));
}

#[test]
fn a_client_that_leaves_ends_its_request() {
    // With the end of the session, without, while the body is awaited, and behind the start of another request.
    let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n";
    let more = &format!("{GET}G");
    for (is_orderly, request) in [(true, GET), (false, GET), (true, post), (false, post), (true, more), (false, more)] {
        let left = Rc::new(RefCell::new(Vec::new()));
        let seen = Rc::clone(&left);
        let (world, _folder) = world_with(Settings::default(), move |_, event| match event {
            Event::Begin(exchange) => drop(exchange.read()),
            Event::Cancel(exchange, why) => {
                seen.borrow_mut().push(why);
                exchange.finish_handler();
            }
            Event::Wake(_) | Event::Log(_) | Event::Slow(..) => {}
        });
        let client = Secure::connect(&world, &[]);
        client.send(&world, request);
        world.until(|| (world.server.stats().running == 1).then_some(()));
        if is_orderly {
            client.finish(&world)
        } else {
            client.cut()
        }
        world.until(|| (world.server.stats().running == 0).then_some(()));
        assert_eq!(left.borrow().len(), 1);
        world.until(|| {
            client.work();
            (world.server.stats().connections == 0).then_some(())
        });
    }
}

#[test]
fn clients_get_the_certificate_of_the_host_they_ask_for() {
    let folder = Folder::new();
    let tls = Tls::new(folder.make("a", ECDSA, &["a.example"]), false).unwrap();
    tls.add(folder.make("b", ECDSA, &["b.example", "*.b.example", "UPPER.example"])).unwrap();
    tls.add(folder.make("c", ECDSA, &["c.b.example"])).unwrap();
    tls.add(folder.make("rsa", RSA, &["a.example"])).unwrap();
    let world = World::with_tls(Settings::default(), Some(Rc::new(tls)), answer_at_once);
    let config = Arc::new(config(&[], None));
    let cases = [
        ("a.example", "a"),
        ("b.example", "b"),
        ("any.b.example", "b"),
        ("c.b.example", "c"),
        ("Upper.Example", "b"),
        // None has these: the first.
        ("two.labels.b.example", "a"),
        ("b.example.com", "a"),
        ("example", "a"),
        ("127.0.0.1", "a"),
    ];
    for (host, name) in cases {
        let client = Secure::new(&world, &config, host);
        client.handshake(&world);
        assert!(client.certificate() == folder.certificate(name), "{host}");
    }
    // A client that knows no other keys.
    let mut provider = rustls::crypto::ring::default_provider();
    provider.cipher_suites.retain(|suite| format!("{:?}", suite.suite()).contains("ECDHE_RSA"));
    let only_rsa = secure::config_with(provider);
    for host in ["a.example", "b.example"] {
        let client = Secure::new(&world, &Arc::new(only_rsa.clone()), host);
        client.handshake(&world);
        assert!(client.certificate() == folder.certificate("rsa"), "{host}");
    }
}

#[test]
fn certificates_are_replaced_while_connections_go_on() {
    let folder = Folder::new();
    let tls = Rc::new(Tls::new(folder.make("a", ECDSA, &["a.example"]), false).unwrap());
    let world = World::with_tls(Settings::default(), Some(Rc::clone(&tls)), answer_at_once);
    let (before, old) = (folder.certificate("a"), Secure::connect(&world, &[]));
    old.send(&world, GET);
    old.expect(&world, "[GET /a ]");
    let halfway = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
    folder.make("a", RSA, &["a.example"]);
    let new = Secure::connect(&world, &[]);
    assert!(new.certificate() == before, "the files were not asked for");
    tls.reload().unwrap();
    let new = Secure::connect(&world, &[]);
    assert!(new.certificate() == folder.certificate("a") && new.certificate() != before);
    // What was accepted before goes on with the old one.
    halfway.handshake(&world);
    assert!(halfway.certificate() == before);
    old.send(&world, GET);
    world.until(|| (old.text().matches("[GET /a ]").count() == 2).then_some(()));
    // Files that are wrong change nothing.
    let after = folder.certificate("a");
    std::fs::write(folder.path("a.key"), "nothing").unwrap();
    assert!(tls.reload().is_err());
    assert!(tls.add(folder.files("a")).is_err());
    let new = Secure::connect(&world, &[]);
    assert!(new.certificate() == after);
    folder.make("a", ECDSA, &["a.example"]);
    tls.reload().unwrap(); // what could not be added is not asked for
    assert!(Secure::connect(&world, &[]).certificate() == folder.certificate("a"));
}

#[test]
fn clients_resume_their_sessions() {
    for version in [12, 13] {
        let folder = Folder::new();
        let tls = Rc::new(Tls::new(folder.make("a", ECDSA, &["a.example"]), false).unwrap());
        let world = World::with_tls(Settings::default(), Some(Rc::clone(&tls)), answer_at_once);
        let config = Arc::new(config(&[], Some(version)));
        for expected in [HandshakeKind::Full, HandshakeKind::Resumed, HandshakeKind::Resumed] {
            let client = Secure::new(&world, &config, "a.example");
            client.handshake(&world);
            client.send(&world, GET);
            client.expect(&world, "[GET /a ]");
            assert_eq!(client.tls.borrow().handshake_kind(), Some(expected), "{version}");
            tls.reload().unwrap();
        }
    }
}

#[test]
fn a_version_may_be_demanded() {
    let folder = Folder::new();
    let tls = Tls::new(folder.make("a", ECDSA, &["a.example"]), true).unwrap();
    let world = World::with_tls(Settings::default(), Some(Rc::new(tls)), answer_at_once);
    let client = Secure::new(&world, &Arc::new(config(&[], Some(12))), "a.example");
    client.rest(&world);
    assert!(format!("{:?}", client.failure.borrow()).contains("ProtocolVersion"), "{:?}", client.failure.borrow());
    let client = Secure::connect(&world, &[]);
    assert_eq!(client.tls.borrow().protocol_version(), Some(ProtocolVersion::TLSv1_3));
}

#[test]
fn files_that_are_wrong_are_refused_in_one_line() {
    let folder = Folder::new();
    let fine = folder.make("a", ECDSA, &["a.example"]);
    let other = folder.make("b", RSA, &["b.example"]);
    folder.openssl("ec -in a.key -aes256 -passout pass:x -out older.key");
    folder.openssl("pkcs8 -topk8 -in a.key -passout pass:x -out newer.key");
    folder.openssl("ecparam -name secp521r1 -genkey -noout -out p521.key");
    std::fs::write(folder.path("empty"), "").unwrap();
    std::fs::write(folder.path("open"), "-----BEGIN CERTIFICATE-----\nMIIB\n").unwrap();
    std::fs::write(folder.path("bad"), "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n").unwrap();
    std::fs::write(folder.path("badkey"), "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n").unwrap();
    let (a, key) = (&fine.certificate, &fine.key);
    let at = |name: &str| folder.path(name);
    let cases = [
        (at("none"), key.clone(), "The certificate {none} cannot be read: No such file or directory (os error 2)"),
        (a.clone(), at("none"), "The key {none} cannot be read: No such file or directory (os error 2)"),
        (folder.path(""), key.clone(), "The certificate {} cannot be read: Is a directory (os error 21)"),
        (at("empty"), key.clone(), "There is no certificate in {empty}"),
        (key.clone(), key.clone(), "There is no certificate in {a.key}"),
        (a.clone(), at("empty"), "There is no key in {empty}"),
        (a.clone(), a.clone(), "There is no key in {a.pem}"),
        (at("open"), key.clone(), "{open} is no file in PEM format: "),
        (at("bad"), key.clone(), "The first certificate in {bad} is malformed: "),
        (a.clone(), at("badkey"), "The key in {badkey} is malformed, or of a kind that is not supported"),
        (a.clone(), at("p521.key"), "The key in {p521.key} is malformed, or of a kind that is not supported"),
        (a.clone(), at("older.key"), "The key in {older.key} is encrypted"),
        (a.clone(), at("newer.key"), "The key in {newer.key} is encrypted"),
        (a.clone(), other.key, "The key in {b.key} is not that of the first certificate in {a.pem}"),
    ];
    for (certificate, key, expected) in cases {
        let text = Tls::new(CertificateFiles { certificate, key }, false).unwrap_err().to_string();
        let expected = expected.replace('{', &format!("{}/", folder.0.path().display())).replace('}', "");
        assert!(text == expected || expected.ends_with(": ") && text.starts_with(&expected), "{text}\n{expected}");
        assert!(!text.contains('\n'), "{text}");
    }
    // Both in one file, in any order.
    let both = [std::fs::read(key).unwrap(), std::fs::read(a).unwrap()].concat();
    std::fs::write(folder.path("both"), both).unwrap();
    Tls::new(CertificateFiles { certificate: at("both"), key: at("both") }, false).unwrap();
}

#[test]
fn a_websocket_is_as_without() {
    let (world, _folder) = world_with(Settings::default(), |_, event| match event {
        Event::Begin(exchange) | Event::Wake(exchange) => {
            let web = exchange.websocket().unwrap_or_else(|| exchange.upgrade(None).unwrap());
            while web.has_room() {
                match web.receive() {
                    Received::Message(message) => drop(web.send(message)),
                    Received::Closed => return exchange.finish_handler(),
                    Received::Pending => return,
                }
            }
        }
        Event::Cancel(exchange, _) => exchange.finish_handler(),
        Event::Log(_) | Event::Slow(..) => {}
    });
    let client = Secure::connect(&world, &[]);
    // The first message is in one record with the request.
    client.send(&world, [ASK.as_bytes(), b"\x81\x85\0\0\0\0hello"].concat());
    client.expect(&world, "\x05hello");
    // The client sends much, and takes nothing meanwhile.
    let large = [&b"\x82\xff\0\0\0\0\0\x0d\xbb\xa0\0\0\0\0"[..], &vec![0xfe; 900_000]].concat();
    let mut rest: &[u8] = &large.repeat(30);
    let mut stuck = 0;
    while stuck < 100 {
        let mut tls = client.tls.borrow_mut();
        let count = tls.writer().write(&rest[..rest.len().min(30_000)]).unwrap();
        drop(tls);
        rest = &rest[count..];
        client.push();
        world.step();
        stuck = if count == 0 { stuck + 1 } else { 0 };
    }
    assert!(!rest.is_empty(), "no back-pressure");
    world.until(|| {
        let count = client.tls.borrow_mut().writer().write(&rest[..rest.len().min(30_000)]).unwrap();
        rest = &rest[count..];
        client.work();
        rest.is_empty().then_some(())
    });
    world.until(|| (client.bytes().iter().filter(|byte| **byte == 0xfe).count() == 27_000_000).then_some(()));
    client.send(&world, b"\x88\x82\0\0\0\0\x03\xe8");
    client.rest(&world);
    assert!(client.is_whole.get());
    assert_eq!(world.server.stats().websockets, 0);
}

#[test]
fn the_log_and_handlers_know_the_scheme() {
    let (world, _folder) = world_with(Settings { max_body_size: 3, ..Settings::default() }, |world, event| {
        if let Event::Begin(exchange) = event {
            world.seen.borrow_mut().push(format!("{} {}", exchange.scheme(), exchange.local() == world.address));
            answer(&exchange, 200, "");
            exchange.finish_handler();
        }
    });
    world.server.log_requests();
    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.send(&world, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n1234");
    client.rest(&world);
    assert_eq!(*world.seen.borrow(), ["https true"]);
    let logged: Vec<_> = world.logged.borrow().iter().map(|entry| (entry.status, entry.scheme)).collect();
    assert_eq!(logged, [(200, "https"), (413, "https")]);
}

/// What is cut off in the middle of a record, or changed, is never read as a request.
#[test]
fn what_is_damaged_is_not_read() {
    let (world, _folder) = world(Settings::default());
    for damage in 0..3 {
        let client = Secure::connect(&world, &[]);
        client.tls.borrow_mut().writer().write_all(GET.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        client.tls.borrow_mut().write_tls(&mut bytes).unwrap();
        let length = bytes.len();
        match damage {
            0 => bytes.truncate(length - 1),
            1 => bytes[20] ^= 1,
            _ => bytes[length - 1] ^= 1,
        }
        (&client.stream).write_all(&bytes).unwrap();
        client.cut();
        let text = client.rest(&world);
        assert!(!text.contains("[GET"), "{damage}: {text}");
    }
    // The client is told so, by HTTP/2 as well.
    for protocol in ["http/1.1", "h2"] {
        let client = Secure::connect(&world, &[protocol]);
        world.until(|| (protocol != "h2" || !client.bytes().is_empty()).then_some(()));
        client.tls.borrow_mut().writer().write_all(GET.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        client.tls.borrow_mut().write_tls(&mut bytes).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        (&client.stream).write_all(&bytes).unwrap();
        client.rest(&world);
        let failure = format!("{:?}", client.failure.borrow());
        assert!(failure.contains("BadRecordMac"), "{protocol}: {failure}");
    }
    assert!(world.seen.borrow().is_empty());
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}
