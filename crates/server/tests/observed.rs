//! What an operator sees of requests: their ids, which of them are slow, and the numbers that the command reads.

mod world;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use spindle_server::{Board, Entry, Exchange, Proxies, Settings};
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use world::{Event, SECOND, World, answer};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Trusts clients of this machine if `is_trusted`.
fn proxies(is_trusted: bool) -> Proxies {
    let networks = if is_trusted { vec!["127.0.0.0/8".parse().unwrap()] } else { Vec::new() };
    Proxies { networks, ..Proxies::default() }
}

/// A server whose handler answers with the id of the request.
fn telling(settings: Settings) -> World {
    let world = World::new(settings, |world, event| {
        if let Event::Begin(exchange) = event {
            world.seen.borrow_mut().push(exchange.id());
            exchange.set_coroutine(7);
            answer(&exchange, 200, "fine");
            exchange.finish_handler();
        }
    });
    world.server.log_requests();
    world
}

fn ask(world: &World, headers: &str) -> (String, Entry, String) {
    let response = world.exchange(format!("GET / HTTP/1.1\r\nHost: x\r\n{headers}Connection: close\r\n\r\n"));
    let entry = world.until(|| world.logged.borrow_mut().pop());
    (world.seen.borrow_mut().pop().unwrap_or_default(), entry, response.to_ascii_lowercase())
}

#[test]
fn each_request_has_an_id_of_its_own() {
    let world = telling(Settings::default());
    let (first, entry, response) = ask(&world, "");
    assert_eq!((first.len(), &entry.id, entry.trace, entry.coroutine), (32, &first, None, 7));
    assert!(!response.contains("x-request-id"));
    let (second, entry, _) = ask(&world, &format!("traceparent: 00-{TRACE}-00f067aa0ba902b7-01\r\n"));
    assert_eq!((&entry.id, entry.trace.as_deref()), (&second, Some(TRACE)));
    assert_ne!(first, second);
    // Refused before it has a handler.
    world.exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    let refused = world.until(|| world.logged.borrow_mut().pop());
    assert_eq!((refused.status, refused.id.len(), refused.coroutine), (400, 32, 0));
    assert!(![first, second].contains(&refused.id));
}

#[test]
fn an_id_is_taken_from_trusted_proxies_alone() {
    for (is_trusted, header, is_taken) in
        [(true, "abc-1", true), (false, "abc-1", false), (true, "two words", false), (true, "a\"b", false)]
    {
        let world = telling(Settings { proxies: proxies(is_trusted), ..Settings::default() });
        let (id, entry, _) = ask(&world, &format!("X-Request-Id: {header}\r\n"));
        assert_eq!((id == header, id == entry.id), (is_taken, true), "{is_trusted} {header}");
    }
}

#[test]
fn clients_are_told_the_id_if_that_is_wanted() {
    let world = telling(Settings { send_request_id: true, proxies: proxies(true), ..Settings::default() });
    let (id, _, response) = ask(&world, "");
    assert_eq!(response.matches(&format!("\r\nx-request-id: {id}\r\n")).count(), 1, "{response}");
    let refused = world.exchange("GET / HTTP/1.1\r\nX-Request-Id: Its-own\r\nConnection: close\r\n\r\n");
    assert!(refused.starts_with("HTTP/1.1 400 ") && refused.contains("\r\nx-request-id: Its-own\r\n"), "{refused}");
    let key = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let world = World::new(Settings { send_request_id: true, ..Settings::default() }, |_, event| {
        if let Event::Begin(exchange) = event {
            assert!(exchange.upgrade(None).is_ok());
        }
    });
    let client = world.client();
    client.send(&world, format!("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n{key}\r\n"));
    world.until(|| client.text().contains("\r\n\r\n").then_some(()));
    assert!(
        client.text().starts_with("HTTP/1.1 101 ") && client.text().contains("x-request-id: "),
        "{}",
        client.text()
    );
}

type Begun = Rc<RefCell<Vec<Rc<Exchange>>>>;

/// A server whose handlers do nothing, and say when they are slow.
fn slow(settings: Settings) -> (World, Begun) {
    let begun = Begun::default();
    let held = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => held.borrow_mut().push(exchange),
        Event::Slow(exchange, duration) => {
            world.seen.borrow_mut().push(format!("{} {}", exchange.head().uri, duration / SECOND));
        }
        Event::Cancel(exchange, _) => exchange.finish_handler(),
        _ => {}
    });
    (world, begun)
}

fn begin(world: &World, begun: &Begun, path: &str) -> world::Client {
    let (client, before) = (world.client(), begun.borrow().len());
    client.send(world, format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"));
    world.until(|| (begun.borrow().len() > before).then_some(()));
    client
}

#[test]
fn a_slow_request_is_told_once() {
    let (world, begun) = slow(Settings { slow_request: 2 * SECOND, request_timeout: 0, ..Settings::default() });
    let first = begin(&world, &begun, "/first");
    world.advance(SECOND);
    let second = begin(&world, &begun, "/second");
    // The loop is woken for it.
    assert_eq!(world.server.next_deadline(), Some(1002 * SECOND));
    world.advance(SECOND);
    assert_eq!(*world.seen.borrow(), ["/first 2"]);
    assert_eq!(world.server.next_deadline(), Some(1003 * SECOND));
    answer(&begun.borrow()[1], 200, "in time");
    world.advance(5 * SECOND);
    assert_eq!(*world.seen.borrow(), ["/first 2"], "the other has answered");
    drop((first, second));
}

#[test]
fn without_the_option_none_is_slow() {
    let (world, begun) = slow(Settings { request_timeout: 0, ..Settings::default() });
    let _client = begin(&world, &begun, "/");
    world.advance(1000 * SECOND);
    assert!(world.seen.borrow().is_empty());
}

#[test]
fn who_sees_that_a_handler_runs_may_say_that_it_is_slow() {
    let (world, begun) = slow(Settings { slow_request: 2 * SECOND, request_timeout: 0, ..Settings::default() });
    let _client = begin(&world, &begun, "/computes");
    let exchange = Rc::clone(&begun.borrow()[0]);
    assert_eq!(exchange.notice_slow(1001 * SECOND), None);
    assert_eq!(exchange.notice_slow(1003 * SECOND), Some(3 * SECOND));
    assert_eq!(exchange.notice_slow(1004 * SECOND), None);
    world.advance(5 * SECOND);
    assert!(world.seen.borrow().is_empty());
}

#[test]
fn what_has_ended_is_counted_on_the_board() {
    let memory = memfd_create("board", MemfdFlags::ALLOW_SEALING).unwrap();
    ftruncate(&memory, 512).unwrap();
    fcntl_add_seals(&memory, SealFlags::SHRINK).unwrap();
    let file = File::from(memory.try_clone().unwrap());
    let board = Some(Rc::new(Board::open(memory, 0).unwrap()));
    let (world, begun) = slow(Settings { board, request_timeout: 0, ..Settings::default() });
    let numbers = |first: usize, count: usize| -> Vec<u64> {
        let mut bytes = vec![0; count * 8];
        file.read_exact_at(&mut bytes, first as u64 * 8).unwrap();
        bytes.chunks(8).map(|number| u64::from_ne_bytes(number.try_into().unwrap())).collect()
    };
    for (status, time) in [(200, 1_000_000), (201, 1_000_001), (302, 40 * SECOND), (404, 30 * SECOND), (500, 0)] {
        let client = begin(&world, &begun, "/");
        world.hold_up(time);
        let exchange = begun.borrow_mut().pop().unwrap();
        answer(&exchange, status, "x");
        exchange.finish_handler();
        client.expect(&world, "x");
    }
    let client = begin(&world, &begun, "/none");
    let exchange = begun.borrow_mut().pop().unwrap();
    world.hold_up(SECOND);
    exchange.finish_handler();
    assert!(!client.rest(&world).contains("HTTP"));
    // Refused without a handler; and a WebSocket, whose duration does not count.
    world.exchange("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
    let key = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let client = world.client();
    client.send(&world, format!("GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\n{key}\r\n"));
    let exchange = world.until(|| begun.borrow_mut().pop());
    assert!(exchange.upgrade(None).is_ok());
    world.until(|| client.text().contains("\r\n\r\n").then_some(()));
    world.hold_up(SECOND);
    exchange.finish_handler();
    world.advance(1);
    assert_eq!(numbers(16, 6), [1, 2, 1, 2, 1, 1]);
    let mut expected = vec![0; 15];
    (expected[0], expected[1], expected[9], expected[13], expected[14]) = (3, 1, 1, 1, 1);
    assert_eq!(numbers(22, 15), expected);
    assert_eq!(numbers(37, 1), [71 * SECOND + 2_000_001]);
}
