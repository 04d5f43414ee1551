//! The PROXY protocol: the client that a proxy tells, whom it is believed, and what comes instead of a header.

mod secure;
mod world;

use secure::{ECDSA, Folder, Secure, config};
use spindle_server::{Address, Listener, Proxies, Settings, Tls};
use std::rc::Rc;
use std::sync::Arc;
use world::{Client, Event, SECOND, World, answer};

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const FORWARDED: &str = "GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 6.6.6.6\r\n\r\n";

fn world(trusted: &[&str], tls: Option<Rc<Tls>>) -> World {
    let networks = trusted.iter().map(|network| network.parse().unwrap()).collect();
    let settings = Settings { proxies: Proxies { networks, ..Proxies::default() }, ..Settings::default() };
    let mut listener = Listener::bind(&Address::parse("127.0.0.1:0").unwrap()).unwrap();
    listener.expect_proxies();
    let world = World::at(listener, settings, tls, |world, event| {
        if let Event::Begin(exchange) = event {
            let (address, port) = exchange.client();
            world.seen.borrow_mut().push(format!("{address} {port}"));
            answer(&exchange, 200, "fine");
            exchange.finish_handler();
        }
    });
    world.server.log_requests();
    world
}

fn binary(command: u8, family: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [b"\r\n\r\n\0\r\nQUIT\n", &[command, family][..], &length, content].concat()
}

/// What the handler and the log are told; nothing if no handler has run.
fn told(world: &World, bytes: &[u8]) -> String {
    let client = world.client();
    client.send(world, bytes);
    world.until(|| (client.is_closed() || client.text().contains("fine")).then_some(()));
    let told = world.seen.borrow_mut().pop().unwrap_or_default();
    if !told.is_empty() {
        let logged = world.until(|| world.logged.borrow_mut().pop());
        assert_eq!(format!("{} {}", logged.client.0, logged.client.1), told);
    }
    told
}

#[test]
fn the_client_is_the_one_that_the_proxy_tells() {
    let world = world(&["127.0.0.1/32"], None);
    let four = binary(0x21, 0x11, &[1, 2, 3, 4, 127, 0, 0, 1, 0x1f, 0x90, 0, 80, 4, 0, 1, 9]);
    let mapped = [&[0; 10][..], &[255, 255, 1, 2, 3, 4], &[0; 16], &[0x1f, 0x90, 0, 80]].concat();
    let cases: [(&[u8], &str); 4] = [
        (b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 80\r\n", "1.2.3.4 8080"),
        (b"PROXY TCP6 2001:db8::1 ::1 8080 80\r\n", "2001:db8::1 8080"),
        (&four, "1.2.3.4 8080"),
        (&binary(0x21, 0x21, &mapped), "1.2.3.4 8080"),
    ];
    for (header, client) in cases {
        for request in [GET, FORWARDED] {
            // What the client of the proxy says is believed only if that is a proxy that is trusted, too.
            assert_eq!(told(&world, &[header, request.as_bytes()].concat()), client);
        }
    }
    let inner = b"PROXY TCP4 127.0.0.1 127.0.0.1 8080 80\r\n";
    assert_eq!(told(&world, &[inner, FORWARDED.as_bytes()].concat()), "6.6.6.6 0");
    assert_eq!(told(&world, &[&four, &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x07\0\0\0\0\0"[..]].concat()), "");
}

#[test]
fn a_proxy_that_does_not_know_the_client_stands_for_it() {
    let world = world(&["127.0.0.1/32"], None);
    let headers = [
        b"PROXY UNKNOWN\r\n".to_vec(),
        binary(0x21, 0, &[]),
        binary(0x21, 0x31, &[b'/'; 216]),
        binary(0x21, 0x12, &[1, 2, 3, 4, 127, 0, 0, 1, 0x1f, 0x90, 0, 80]),
    ];
    for header in headers {
        for request in [GET, FORWARDED] {
            let told = told(&world, &[&header, request.as_bytes()].concat());
            assert!(told.starts_with("127.0.0.1 ") && !told.ends_with(" 0"), "{told}");
        }
    }
    // The proxy itself is trusted.
    assert_eq!(told(&world, &[&binary(0x20, 0, &[]), FORWARDED.as_bytes()].concat()), "6.6.6.6 0");
}

#[test]
fn nothing_else_is_accepted() {
    let world = world(&["127.0.0.1/32"], None);
    for bytes in [
        GET.as_bytes(),
        b"PROXY TCP4 1.2.3.4\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 80 GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 80\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
        &binary(0x31, 0x11, &[0; 12]),
        b"\x16\x03\x01",
    ] {
        assert_eq!(told(&world, bytes), "", "{bytes:?}");
    }
    // A second header is the client's.
    let twice = [b"PROXY TCP4 1.2.3.4 127.0.0.1 1 2\r\nPROXY TCP4 6.6.6.6 127.0.0.1 1 2\r\n", GET.as_bytes()].concat();
    assert_eq!(told(&world, &twice), "");
    world.advance(3 * SECOND); // that was answered, and the rest of what comes is read for a while
    world.until(|| (world.open_descriptors() == 1).then_some(()));
}

#[test]
fn who_is_not_trusted_is_not_heard() {
    let world = world(&["10.0.0.0/8"], None);
    let header = [b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 80\r\n", GET.as_bytes()].concat();
    assert_eq!(told(&world, &header), "");
}

#[test]
fn a_header_has_the_time_of_a_head() {
    let world = world(&["127.0.0.1/32"], None);
    let header = b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 80\r\n";
    for length in [0, 1, header.len() - 1] {
        let client = world.client();
        client.send(&world, &header[..length]);
        world.advance(9 * SECOND);
        assert!(!client.is_closed());
        world.advance(2 * SECOND);
        assert_eq!(client.rest(&world), "");
    }
    // Byte by byte it may come.
    let client = world.client();
    for byte in [&header[..], GET.as_bytes()].concat() {
        client.send(&world, [byte]);
    }
    client.expect(&world, "fine");
    // One that leaves, and a server that stops, wait for nothing.
    for length in 0..header.len() {
        let client: Client = world.client();
        client.send(&world, &header[..length]);
        drop(client);
    }
    world.until(|| (world.server.stats().connections == 1).then_some(()));
    let waiting = world.client();
    waiting.send(&world, &header[..10]);
    world.server.drain(None);
    waiting.rest(&world);
}

#[test]
fn it_comes_before_tls() {
    let folder = Folder::new();
    let tls = Tls::new(folder.make("a", ECDSA, &["a.example"]), false).unwrap();
    let world = world(&["127.0.0.1/32"], Some(Rc::new(tls)));
    for protocols in [&["http/1.1"][..], &[]] {
        let client = Secure::new(&world, &Arc::new(config(protocols, None)), "a.example");
        // Together with the begin of the handshake, as it may come.
        let mut first = b"PROXY TCP4 1.2.3.4 127.0.0.1 8080 443\r\n".to_vec();
        client.tls.borrow_mut().write_tls(&mut first).unwrap();
        std::io::Write::write_all(&mut &client.stream, &first).unwrap();
        client.handshake(&world);
        client.send(&world, GET);
        client.expect(&world, "fine");
        assert_eq!(world.seen.borrow_mut().pop().unwrap(), "1.2.3.4 8080");
    }
    // Within TLS it is the client's.
    let client = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
    std::io::Write::write_all(&mut &client.stream, b"PROXY UNKNOWN\r\n").unwrap();
    client.handshake(&world);
    client.send(&world, format!("PROXY TCP4 6.6.6.6 127.0.0.1 1 2\r\n{GET}"));
    assert!(client.rest(&world).starts_with("HTTP/1.1 400"));
    // And without it there is no handshake.
    let client = Secure::new(&world, &Arc::new(config(&[], None)), "a.example");
    client.push();
    world.until(|| {
        client.pull();
        client.is_closed.get().then_some(())
    });
    assert_eq!(world.server.stats().handshakes_failed, 0);
}
