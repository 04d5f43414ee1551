//! A FastCGI server that is scripted: one that answers in pieces, with nonsense, too early, too late, or not at all.

mod world;

use bytes::Bytes;
use spindle_server::{Address, Settings, Site, SiteOptions};
use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::rc::Rc;
use tempfile::TempDir;
use world::{Client, Event, SECOND, World};

const STDOUT: u8 = 6;
const STDERR: u8 = 7;
const GET: &str = "GET /a.php?x HTTP/1.1\r\nHost: x\r\n\r\n";
const HELLO: &[u8] = b"Content-Type: text/plain\r\n\r\nhello";

/// The server, the socket of its FastCGI server, and their folder.
struct Set {
    world: World,
    listener: UnixListener,
    _folder: TempDir,
}

/// A connection, as the FastCGI server sees it.
struct Peer {
    stream: UnixStream,
    got: RefCell<Vec<u8>>,
}

fn set(settings: Settings, options: SiteOptions) -> Set {
    set_at("/", settings, options, |_, event| assert!(!matches!(event, Event::Begin(_)), "it is for no handler"))
}

fn set_at(prefix: &str, settings: Settings, options: SiteOptions, handler: impl FnMut(&World, Event) + 'static) -> Set {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.php", "index.php"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let path = folder.path().join("socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let world = World::new(settings, handler);
    let peer = Address::parse(&format!("unix:{}", path.display())).unwrap().peer().unwrap();
    world.server.add_site(Site::open(prefix, (peer, "peer"), folder.path(), options).unwrap());
    Set { world, listener, _folder: folder }
}

fn record(kind: u8, content: &[u8]) -> Vec<u8> {
    let [high, low] = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[1, kind, 0, 1, high, low, 3, 0], content, b"pad"].concat()
}

fn end(status: u8) -> Vec<u8> {
    record(3, &[0, 0, 0, 0, status, 0, 0, 0])
}

impl Set {
    fn ask(&self, bytes: impl AsRef<[u8]>) -> Client {
        let client = self.world.client();
        client.send(&self.world, bytes);
        client
    }

    /// Accepts a connection, and reads a request on it to its end.
    fn accept(&self) -> Peer {
        let stream = self.world.until(|| self.listener.accept().ok()).0;
        stream.set_nonblocking(true).unwrap();
        let peer = Peer { stream, got: RefCell::default() };
        peer.request(&self.world);
        peer
    }

    fn answer(&self, client: &Client, wanted: &str) {
        self.world.until(|| client.text().contains(wanted).then_some(()));
    }
}

impl Peer {
    fn read(&self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            match (&self.stream).read(&mut bytes) {
                Ok(0) => return false,
                Ok(count) => self.got.borrow_mut().extend_from_slice(&bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_) => return false,
            }
        }
    }

    /// Reads until the empty record that ends the body.
    fn request(&self, world: &World) {
        world.until(|| {
            self.read();
            self.got.borrow().ends_with(&[1, 5, 0, 1, 0, 0, 0, 0]).then_some(())
        });
    }

    fn send(&self, world: &World, bytes: &[u8]) {
        (&self.stream).write_all(bytes).unwrap();
        world.step();
    }

    fn is_closed(&self) -> bool {
        !self.read()
    }
}

#[test]
fn a_response_may_come_byte_by_byte() {
    let set = set(Settings::default(), SiteOptions::default());
    let client = set.ask(GET);
    let peer = set.accept();
    let all = [
        &record(STDERR, b"a warning\n")[..],
        &record(STDOUT, &HELLO[..9]),
        &record(STDOUT, &HELLO[9..]),
        &record(STDOUT, b""),
        &end(0),
    ]
    .concat();
    for byte in all {
        peer.send(&set.world, &[byte]);
    }
    set.answer(&client, "hello");
    assert!(client.text().contains("200 OK"));
    assert_eq!(*set.world.seen.borrow(), ["a warning"]);
    set.world.until(|| peer.is_closed().then_some(()));
    set.world.until(|| (set.world.server.stats().running == 0).then_some(()));
}

#[test]
fn nonsense_and_ends_before_time_are_answered_with_502() {
    let head = |text: &[u8]| [record(STDOUT, text), end(0)].concat();
    for (bytes, why) in [
        (b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), "it does not speak FastCGI"),
        (record(9, b""), "it does not speak FastCGI"),
        (vec![1, STDOUT, 0, 2, 0, 0, 0, 0], "it does not speak FastCGI"),
        (head(b"no header: x\r\n\r\n"), "its response has a header with a wrong name"),
        (head(b"Status: 1\r\n\r\n"), "its response has no valid status"),
        (head(b"Content-Type: text/plain\r\n"), "its response has no head"),
        (end(0), "its response has no head"),
        (record(STDOUT, &vec![b'x'; 65_535]), ""),
        (head(b"Status: 200 Fine\r\nContent-Length: 9\r\n\r\nshort"), "its response is shorter than it declares"),
        (Vec::new(), "closed the connection before its response"),
        (record(STDOUT, b"Content-Type: te"), "closed the connection before its response"),
    ] {
        let set = set(Settings::default(), SiteOptions::default());
        let client = set.ask(GET);
        let peer = set.accept();
        peer.send(&set.world, &bytes);
        if why.is_empty() {
            peer.send(&set.world, &record(STDOUT, b"yyyyy"));
        } else {
            drop(peer);
        }
        set.answer(&client, "HTTP/1.1 502 Bad Gateway\r\n"); // not with the phrase of the script
        let seen = set.world.seen.borrow().join("\n");
        assert!(seen.starts_with("FastCGI server peer: ") && seen.contains(why), "{seen}: {why}");
    }
}

#[test]
fn an_end_in_the_middle_is_noticed_by_the_client() {
    for last in [&b""[..], &end(3), b"nonsense"] {
        let set = set(Settings::default(), SiteOptions::default());
        let client = set.ask(GET);
        let peer = set.accept();
        peer.send(&set.world, &record(STDOUT, HELLO));
        set.answer(&client, "hello");
        peer.send(&set.world, last);
        drop(peer);
        let text = client.rest(&set.world);
        assert!(!text.ends_with("0\r\n\r\n"), "{text}");
    }
}

#[test]
fn a_request_that_is_refused_has_503() {
    let set = set(Settings::default(), SiteOptions::default());
    let client = set.ask(GET);
    set.accept().send(&set.world, &end(2));
    set.answer(&client, "503 Service Unavailable");
}

#[test]
fn a_kept_connection_is_used_again_until_it_is_closed() {
    let set = set(Settings::default(), SiteOptions { keep: 1, ..SiteOptions::default() });
    let answer = [record(STDOUT, HELLO), end(0)].concat();
    let client = set.ask(GET);
    let peer = set.accept();
    assert_eq!(peer.got.borrow()[10], 1, "it is asked to keep the connection");
    peer.send(&set.world, &answer);
    set.answer(&client, "hello");
    let client = set.ask(GET);
    peer.got.take();
    peer.request(&set.world);
    peer.send(&set.world, &answer);
    set.answer(&client, "hello");
    drop(peer);
    let client = set.ask(GET);
    let peer = set.accept();
    // What follows the end belongs to no request.
    peer.send(&set.world, &[&answer[..], b"x"].concat());
    set.answer(&client, "hello");
    set.world.until(|| peer.is_closed().then_some(()));
}

#[test]
fn a_request_is_not_sent_again_that_may_have_run() {
    let set = set(Settings::default(), SiteOptions { keep: 1, ..SiteOptions::default() });
    let client = set.ask(GET);
    let peer = set.accept();
    peer.send(&set.world, &[record(STDOUT, HELLO), end(0)].concat());
    set.answer(&client, "hello");
    let client = set.ask(GET.replace("GET", "POST"));
    peer.got.take();
    peer.request(&set.world);
    drop(peer);
    set.answer(&client, "502 Bad Gateway");
    assert!(set.listener.accept().is_err());
}

#[test]
fn a_request_is_sent_again_that_may_run_twice() {
    for (method, seen, is_repeated) in [
        ("GET", &b""[..], true),
        ("OPTIONS", b"", true),
        ("PUT", b"", false),
        ("GET", &record(STDERR, b"begun"), false),
    ] {
        let set = set(Settings::default(), SiteOptions { keep: 1, ..SiteOptions::default() });
        let answer = [record(STDOUT, HELLO), end(0)].concat();
        let client = set.ask(GET);
        let peer = set.accept();
        peer.send(&set.world, &answer);
        set.answer(&client, "hello");
        let client = set.ask(GET.replace("GET", method));
        peer.got.take();
        peer.request(&set.world);
        peer.send(&set.world, seen);
        drop(peer);
        if is_repeated {
            let peer = set.accept();
            // Only once on a connection that is new.
            drop(peer);
        }
        set.answer(&client, "502 Bad Gateway");
        assert!(set.listener.accept().is_err());
    }
}

#[test]
fn time_and_clients_that_leave_close_the_connection() {
    let settings = Settings { request_timeout: 10 * SECOND, queue_timeout: 3 * SECOND, ..Settings::default() };
    let set = set(settings, SiteOptions { connections: 1, ..SiteOptions::default() });
    let slow = set.ask(GET);
    let peer = set.accept();
    let queued = set.ask(GET);
    set.world.until(|| (set.world.server.stats().running == 2).then_some(()));
    set.world.advance(4 * SECOND);
    set.answer(&queued, "503 Service Unavailable");
    set.world.advance(7 * SECOND);
    set.answer(&slow, "504 Gateway Timeout");
    set.world.until(|| peer.is_closed().then_some(()));
    let leaves = set.ask(GET);
    let peer = set.accept();
    let next = set.ask(GET);
    drop(leaves);
    set.world.until(|| peer.is_closed().then_some(()));
    set.accept().send(&set.world, &[record(STDOUT, HELLO), end(0)].concat()); // it has the place
    set.answer(&next, "hello");
}

#[test]
fn an_answer_before_the_body_was_read_is_passed_on() {
    let set = set(Settings::default(), SiteOptions::default());
    let body = vec![b'b'; 6 << 20];
    let client = set.ask(format!("POST /a.php HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len()));
    let mut rest = Bytes::from(body);
    while !rest.is_empty() {
        client.send(&set.world, rest.split_to(rest.len().min(64 << 10)));
    }
    let stream = set.world.until(|| set.listener.accept().ok()).0;
    let peer = Peer { stream, got: RefCell::default() };
    let large = vec![b'l'; 60_000];
    peer.send(&set.world, &record(STDOUT, HELLO));
    peer.stream.set_nonblocking(true).unwrap();
    // It writes without reading: were all of the body sent first, both would wait for ever.
    let mut out = record(STDOUT, &large).repeat(20);
    out.extend(end(0));
    let mut at = 0;
    set.world.until(|| {
        if let Ok(count) = (&peer.stream).write(&out[at..]) {
            at += count;
        }
        client.text();
        (at == out.len()).then_some(())
    });
    set.world.until(|| client.text().ends_with("\r\n0\r\n\r\n").then_some(()));
}

#[test]
fn a_server_that_is_not_there_has_a_second_to_come_back() {
    let set = set(Settings::default(), SiteOptions::default());
    let path = set._folder.path().join("socket");
    std::fs::remove_file(&path).unwrap();
    let client = set.ask(GET);
    set.world.until(|| (set.world.server.stats().running == 1).then_some(()));
    for _ in 0..10 {
        set.world.advance(SECOND / 20);
    }
    let back = UnixListener::bind(&path).unwrap();
    back.set_nonblocking(true).unwrap();
    set.world.advance(SECOND / 20);
    let stream = set.world.until(|| back.accept().ok()).0;
    (&stream).write_all(&[record(STDOUT, HELLO), end(0)].concat()).unwrap();
    set.answer(&client, "hello");
    drop(back);
    std::fs::remove_file(&path).unwrap();
    let client = set.ask(GET);
    set.world.until(|| (set.world.server.stats().running == 1).then_some(()));
    set.world.advance(2 * SECOND);
    set.answer(&client, "502 Bad Gateway");
}

#[test]
fn a_body_that_is_slow_takes_no_place_of_a_script() {
    let set = set(Settings { max_concurrency: 2, queue_timeout: 0, ..Settings::default() }, SiteOptions::default());
    let stats = || set.world.server.stats();
    let begun = |length: usize| {
        format!("POST /a.php HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{}", "x".repeat(1000))
    };
    let mut large: Vec<_> = (0..2).map(|_| set.ask(begun(100_000))).collect();
    let _small: Vec<_> = (0..3).map(|_| set.ask(begun(2000))).collect();
    set.world.until(|| (stats().running == 5).then_some(()));
    // Not more of those that are large than there are places, as each has some memory.
    let third = set.ask(begun(100_000));
    set.world.until(|| (stats().queued == 1).then_some(()));
    for _ in 0..2 {
        let client = set.ask(GET);
        set.accept().send(&set.world, &[record(STDOUT, HELLO), end(0)].concat());
        set.answer(&client, "hello");
    }
    assert_eq!((stats().running, stats().queued), (5, 1));
    let first = large.remove(0);
    first.send(&set.world, vec![b'x'; 99_000]);
    set.world.until(|| (stats().running == 6).then_some(()));
    third.send(&set.world, vec![b'x'; 99_000]);
    let peers = [set.accept(), set.accept()];
    // Their bodies are there: now they have the places.
    let waits = set.ask(GET);
    set.world.until(|| (stats().queued == 1).then_some(()));
    for peer in peers {
        peer.send(&set.world, &[record(STDOUT, HELLO), end(0)].concat());
    }
    set.answer(&first, "hello");
    set.answer(&third, "hello");
    set.accept().send(&set.world, &[record(STDOUT, HELLO), end(0)].concat());
    set.answer(&waits, "hello");
}

#[test]
fn a_limit_of_handlers_is_none_of_scripts() {
    let begun = Rc::new(RefCell::new(Vec::new()));
    let to = Rc::clone(&begun);
    let settings = Settings { max_concurrency: 2, queue_timeout: 0, ..Settings::default() };
    let set = set_at("/s", settings, SiteOptions::default(), move |_, event| {
        if let Event::Begin(exchange) = event {
            to.borrow_mut().push(exchange);
        }
    });
    let (world, stats) = (&set.world, || set.world.server.stats());
    let (script, handler) = (GET.replace("/a", "/s/a"), GET.replace("/a", "/h"));
    let finish = |peer: Peer, client: &Client| {
        peer.send(world, &[record(STDOUT, HELLO), end(0)].concat());
        set.answer(client, "hello");
    };
    world.server.limit_handlers(1);
    // A script that runs takes no place of a handler.
    let first = set.ask(&script);
    let peer = set.accept();
    let handled = set.ask(&handler);
    world.until(|| (begun.borrow().len() == 1).then_some(()));
    // Two run, which is all. Of those that wait, a script goes before a handler, which has to wait for the other one.
    let waits = set.ask(&handler);
    world.until(|| (stats().queued == 1).then_some(()));
    let second = set.ask(&script);
    world.until(|| (stats().queued == 2).then_some(()));
    finish(peer, &first);
    finish(set.accept(), &second);
    assert_eq!((stats().running, stats().queued, begun.borrow().len()), (1, 1, 1));
    // A script begins at once, although there is a handler, and another one waits.
    let third = set.ask(&script);
    finish(set.accept(), &third);
    for client in [handled, waits] {
        let exchange = world.until(|| begun.borrow_mut().pop());
        world::answer(&exchange, 200, "handled");
        exchange.finish_handler();
        set.answer(&client, "handled");
    }
}

#[test]
fn the_time_of_a_script_does_not_begin_while_its_body_comes() {
    let settings = Settings { request_timeout: 10 * SECOND, min_body_rate: 0, ..Settings::default() };
    let set = set(settings, SiteOptions::default());
    let client = set.ask("POST /a.php HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n");
    set.world.until(|| (set.world.server.stats().running == 1).then_some(()));
    for _ in 0..4 {
        set.world.advance(6 * SECOND);
        set.world.hold_jobs(true);
        client.send(&set.world, vec![b'x'; 256 << 10]);
        set.world.until(|| (set.world.jobs() == 1).then_some(())); // it is there, and to be written to a file
        set.world.hold_jobs(false);
        set.world.step();
    }
    let peer = set.accept();
    set.world.advance(9 * SECOND);
    peer.send(&set.world, &[record(STDOUT, HELLO), end(0)].concat());
    set.answer(&client, "hello");
}
