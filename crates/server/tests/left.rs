//! Handlers that go on although their clients have left, or have their whole response.

mod world;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use spindle_server::{Body, Exchange, Head, Settings};
use std::cell::RefCell;
use std::rc::Rc;
use world::{Event, SECOND, World};

/// A server whose handlers do nothing, also when their clients leave.
fn held_without_clients(settings: Settings) -> (World, Rc<RefCell<Vec<Rc<Exchange>>>>) {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let list = Rc::clone(&begun);
    let world = World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => list.borrow_mut().push(exchange),
        Event::Cancel(_, why) => world.seen.borrow_mut().push(format!("{why:?}")),
        Event::Wake(_) | Event::Log(_) | Event::Slow(..) => {}
    });
    world.goes_on.set(true);
    (world, begun)
}

#[test]
fn a_handler_that_goes_on_without_its_client_is_cancelled_when_its_time_has_passed() {
    for is_draining in [false, true] {
        let (world, begun) = held_without_clients(Settings { request_timeout: 10 * SECOND, ..Settings::default() });
        let client = world.client();
        client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        world.until(|| (begun.borrow().len() == 1).then_some(()));
        drop(client);
        world.until(|| (*world.seen.borrow() == ["Disconnected"]).then_some(()));
        let exchange = begun.borrow_mut().remove(0);
        if is_draining {
            world.server.drain(Some(SECOND));
        }
        world.step();
        assert!(world.server.next_deadline().is_some() && world.seen.borrow().len() == 1);
        world.advance(if is_draining { SECOND } else { 10 * SECOND });
        let why = if is_draining { "Shutdown" } else { "Timeout" };
        assert_eq!(*world.seen.borrow(), ["Disconnected", why]);
        world.advance(60 * SECOND);
        assert_eq!(*world.seen.borrow(), ["Disconnected", why], "once");
        assert_eq!(world.server.stats().cancelled, 1);
        exchange.finish_handler();
    }
}

#[test]
fn a_handler_that_goes_on_after_its_response_is_cancelled_at_the_end_of_a_drain_only() {
    let (world, begun) = held_without_clients(Settings { request_timeout: 10 * SECOND, ..Settings::default() });
    let client = world.client();
    client.send(&world, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let exchange = world.until(|| begun.borrow_mut().pop());
    exchange
        .respond(Head { status: StatusCode::OK, headers: HeaderMap::new() }, Body::Full(Bytes::from_static(b"done")));
    client.expect(&world, "done");
    drop(client);
    world.advance(60 * SECOND);
    assert!(world.seen.borrow().is_empty());
    world.server.drain(Some(SECOND));
    world.advance(SECOND);
    assert_eq!(*world.seen.borrow(), ["Shutdown"]);
    exchange.finish_handler();
    assert!(world.server.is_drained());
}
