//! Connections of HTTP/1.1 that have been idle for a while have no buffers.

mod secure;
mod world;

use secure::Secure;
use spindle_server::Settings;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use world::{Client, SECOND, World};

/// Counts the bytes that each thread has allocated.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    let _ = LIVE.try_with(|live| live.set(live.get() + change));
}

// SAFETY: all is the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller's block and layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const GET: &str = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// Has a connection answered, and lets it be idle for as long as it keeps its buffers.
fn idle(world: &World) -> Client {
    let client = world.client();
    client.send(world, GET);
    client.expect(world, "[GET /a ]");
    world.advance(SECOND);
    client
}

fn answers(world: &World, client: &Client, count: usize) {
    world.until(|| (client.text().matches("HTTP/1.1 200 OK").count() == count).then_some(()));
}

#[test]
fn an_idle_connection_has_no_buffers() {
    let world = World::echo(Settings::default());
    let _first = idle(&world);
    let before = LIVE.get();
    let clients: Vec<_> = (0..100).map(|_| world.client()).collect();
    for client in &clients {
        client.send(&world, GET);
        client.expect(&world, "[GET /a ]");
        client.forget();
    }
    world.seen.take();
    let (heavy, light) = (LIVE.get() - before, {
        world.advance(SECOND);
        LIVE.get() - before
    });
    assert!(heavy > 100 * 16_000, "what is it about? {heavy}");
    assert!(light < 100 * 2_500, "{light} bytes for 100 connections");
    assert_eq!(world.server.stats().connections, 101);
}

#[test]
fn of_many_connections_few_have_buffers() {
    let world = World::echo(Settings::default());
    let ask = || {
        let client = world.client();
        client.send(&world, GET);
        client.expect(&world, "[GET /a ]");
        client.forget();
        client
    };
    let first: Vec<_> = (0..1024).map(|_| ask()).collect();
    world.seen.take();
    let before = LIVE.get();
    let clients: Vec<_> = (0..100).map(|_| ask()).collect();
    world.seen.take();
    let grown = LIVE.get() - before;
    assert!(grown < 100 * 2_500, "{grown} bytes for 100 connections");
    // They are used further, also with the next request in the same bytes.
    clients[0].send(&world, GET.repeat(40));
    answers(&world, &clients[0], 40);
    // Those that have buffers lose them later.
    let before = LIVE.get();
    world.advance(SECOND);
    let given = before - LIVE.get();
    assert!(given > 1000 * 16_000, "{given} bytes");
    drop(first);
}

#[test]
fn it_is_used_further() {
    let world = World::echo(Settings::default());
    let client = idle(&world);
    client.send(&world, GET);
    answers(&world, &client, 2);
    // In pieces, with a head that is larger than what is read first, with a body, and several at once.
    world.advance(SECOND);
    for byte in GET.as_bytes() {
        client.send(&world, [*byte]);
    }
    answers(&world, &client, 3);
    world.advance(SECOND);
    client.send(&world, format!("GET /a HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "b".repeat(20_000)));
    answers(&world, &client, 4);
    world.advance(SECOND);
    let body = "c".repeat(10_000);
    client.send(&world, format!("POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n{body}{GET}"));
    answers(&world, &client, 6);
    assert!(client.text().contains(&format!("[POST /b {body}]")));
    world.advance(SECOND);
    client.send(&world, "GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    client.rest(&world);
    answers(&world, &client, 7);
}

#[test]
fn what_came_with_the_last_request_is_the_next_one() {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, format!("{GET}{}", &GET[..20]));
    answers(&world, &client, 1);
    world.advance(SECOND);
    client.send(&world, &GET[20..]);
    answers(&world, &client, 2);
    // It has the time of a head.
    client.send(&world, format!("{GET}{}", &GET[..20]));
    answers(&world, &client, 3);
    world.advance(SECOND);
    world.advance(10 * SECOND);
    assert_eq!(world.server.stats().connections, 0);
}

#[test]
fn it_ends_as_others_do() {
    let settings = Settings { keep_alive: 75 * SECOND, ..Settings::default() };
    // The client closes it,
    let world = World::echo(settings.clone());
    let client = idle(&world);
    client.finish();
    client.rest(&world);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    // it is idle for too long, of a head only a part comes, or the server stops.
    let client = idle(&world);
    world.advance(73 * SECOND);
    assert_eq!(world.server.stats().connections, 1);
    world.advance(SECOND);
    client.rest(&world);
    let client = idle(&world);
    client.send(&world, &GET[..20]);
    world.advance(9 * SECOND);
    assert_eq!(world.server.stats().connections, 1);
    world.advance(SECOND);
    client.rest(&world);
    let (client, late) = (idle(&world), idle(&world));
    late.send_meanwhile(GET);
    world.server.drain(None);
    client.rest(&world);
    answers(&world, &late, 2);
    late.rest(&world);
    assert!(!client.is_reset() && !late.is_reset());
    drop((client, late));
    world.until(|| world.server.is_drained().then_some(()));
    assert_eq!(world.open_descriptors(), 0);
}

#[test]
fn it_makes_room() {
    let world = World::echo(Settings { max_connections: 1, ..Settings::default() });
    let first = idle(&world);
    let second = world.client_without_wait();
    first.rest(&world);
    second.send(&world, GET);
    answers(&world, &second, 1);
}

#[test]
fn connections_with_tls_leave_nothing() {
    let (world, _folder) = secure::world(Settings::default());
    let mut live = Vec::new();
    for _ in 0..4 {
        let clients: Vec<_> = (0..50).map(|_| Secure::connect(&world, &[])).collect();
        for client in &clients {
            client.send(&world, GET);
            client.expect(&world, "[GET /a ]");
        }
        drop(clients);
        world.until(|| (world.server.stats().connections == 0).then_some(()));
        world.advance(SECOND);
        world.seen.take();
        live.push(LIVE.get());
    }
    // In the first rounds tables grow.
    assert_eq!(live[2], live[3], "{live:?}");
}

#[test]
fn memory_is_given_back_when_many_have_left() {
    let world = World::echo(Settings::default());
    let left = |count: usize| {
        let clients: Vec<_> = (0..count).map(|_| world.client()).collect();
        drop(clients);
        world.until(|| (world.server.stats().connections == 0).then_some(()));
    };
    left(255);
    world.advance(SECOND);
    assert_eq!(world.releases(), 0);
    left(300);
    assert_eq!(world.releases(), 1);
    left(300);
    assert_eq!(world.releases(), 1, "once in a second");
    assert!(world.server.next_deadline().is_some());
    world.advance(SECOND);
    assert_eq!(world.releases(), 2);
    assert_eq!(world.server.next_deadline(), None);
}

#[test]
fn with_tls_it_is_as_without() {
    let (world, _folder) = secure::world(Settings { keep_alive: 75 * SECOND, ..Settings::default() });
    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.expect(&world, "[GET /a ]");
    for count in 2..4 {
        world.advance(SECOND);
        client.send(&world, &GET[..20]);
        client.send(&world, &GET[20..]);
        world.until(|| (client.text().matches("[GET /a ]").count() == count).then_some(()));
    }
    client.send(&world, format!("{GET}{}", &GET[..20]));
    world.until(|| (client.text().matches("[GET /a ]").count() == 4).then_some(()));
    world.advance(SECOND);
    client.send(&world, &GET[20..]);
    world.until(|| (client.text().matches("[GET /a ]").count() == 5).then_some(()));
    // It is told that the connection is closed.
    world.advance(SECOND);
    world.advance(75 * SECOND);
    client.rest(&world);
    assert!(client.is_whole.get());

    let client = Secure::connect(&world, &[]);
    client.send(&world, GET);
    client.expect(&world, "[GET /a ]");
    world.advance(SECOND);
    client.finish(&world);
    client.rest(&world);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}
