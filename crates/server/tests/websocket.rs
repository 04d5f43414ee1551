//! WebSockets: handshakes, frames as raw bytes, limits, time limits, clients that leave.

mod world;

use bytes::Bytes;
use spindle_server::{Exchange, Handshake, Message, Received, Settings, WebSocket, Written};
use std::cell::RefCell;
use std::rc::Rc;
use world::{Client, Event, SECOND, World, answer};

const ASK: &str = "GET /chat HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

fn frame(first: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match content.len() {
        length @ 0..126 => bytes.push(0x80 | length as u8),
        length @ 126..65536 => {
            bytes.push(0x80 | 126);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
        }
        length => {
            bytes.push(0x80 | 127);
            bytes.extend_from_slice(&(length as u64).to_be_bytes());
        }
    }
    let mask = [1, 2, 3, 4];
    bytes.extend_from_slice(&mask);
    bytes.extend(content.iter().enumerate().map(|(at, byte)| byte ^ mask[at % 4]));
    bytes
}

fn close(code: u16) -> Vec<u8> {
    frame(0x88, &code.to_be_bytes())
}

/// What was sent after the head of the answer.
fn frames(client: &Client) -> Vec<u8> {
    let bytes = client.bytes();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |at| at + 4);
    bytes[end..].to_vec()
}

fn expect(world: &World, client: &Client, expected: &[u8]) {
    let mut found = Vec::new();
    world.until(|| {
        found = frames(client);
        (found.len() >= expected.len()).then_some(())
    });
    assert_eq!(found, expected);
}

fn socket(exchange: &Rc<Exchange>) -> Rc<WebSocket> {
    exchange.websocket().unwrap()
}

/// Does what an echoing handler does when something may have changed.
fn echo(world: &World, exchange: &Rc<Exchange>) {
    let web = socket(exchange);
    while web.has_room() {
        match web.receive() {
            Received::Pending => return,
            Received::Closed => {
                world.seen.borrow_mut().push(format!("closed {:?}", web.close_frame()));
                return exchange.finish_handler();
            }
            Received::Message(message) => {
                let text = String::from_utf8_lossy(&message.data).chars().take(20).collect::<String>();
                world.seen.borrow_mut().push(format!("{text} {}", message.data.len()));
                web.send(message);
            }
        }
    }
}

fn echoing(settings: Settings) -> World {
    World::new(settings, |world, event| match event {
        Event::Begin(exchange) => match exchange.upgrade(Some("chat").filter(|_| exchange.head().uri == "/chat")) {
            Ok(_) => echo(world, &exchange),
            Err(why) => {
                world.seen.borrow_mut().push(format!("{why:?}"));
                answer(&exchange, if why == Handshake::NotAsked { 426 } else { 400 }, "no");
                exchange.finish_handler();
            }
        },
        Event::Wake(exchange) => echo(world, &exchange),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, why) => {
            world.seen.borrow_mut().push(format!("cancelled: {why:?}"));
            exchange.finish_handler();
        }
    })
}

fn open(world: &World) -> Client {
    let client = world.client();
    client.send(world, format!("{ASK}\r\n"));
    client.expect(world, "\r\n\r\n");
    client
}

fn seen(world: &World, what: &str) {
    world.until(|| world.seen.borrow().iter().any(|seen| seen == what).then_some(()));
}

fn is_quiet(world: &World) {
    world.until(|| {
        let stats = world.server.stats();
        (stats.running == 0 && stats.websockets == 0).then_some(())
    });
}

#[test]
fn messages_are_echoed_and_the_closing_handshake_is_answered() {
    let world = echoing(Settings::default());
    let client = open(&world);
    let head = client.text();
    assert!(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"), "{head}");
    for line in [
        "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=",
        "upgrade: websocket",
        "connection: upgrade",
        "sec-websocket-protocol: chat",
    ] {
        assert!(head.contains(line), "{line} in {head}");
    }
    assert!(!head.contains("content-length") && !head.contains("transfer-encoding"), "{head}");
    client.send(&world, frame(0x81, b"hello"));
    expect(&world, &client, b"\x81\x05hello");
    assert_eq!(world.server.stats().websockets, 1);
    client.send(&world, close(1000));
    expect(&world, &client, b"\x81\x05hello\x88\x02\x03\xe8");
    seen(&world, "closed Some((1000, \"\"))");
    is_quiet(&world);
    client.finish();
    client.rest(&world);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    assert!(!client.is_reset());
    assert!(!world.seen.borrow().iter().any(|seen| seen.starts_with("cancelled")));
}

#[test]
fn it_is_logged_at_its_end() {
    let world = echoing(Settings::default());
    world.server.log_requests();
    let client = open(&world);
    client.send(&world, frame(0x81, b"hello"));
    expect(&world, &client, b"\x81\x05hello");
    assert!(world.logged.borrow().is_empty());
    world.advance(7 * SECOND);
    client.send(&world, close(1000));
    let entry = world.until(|| world.logged.borrow_mut().pop());
    assert_eq!((entry.status, entry.bytes, entry.duration), (101, 0, 7 * SECOND));
    drop(client);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
    assert!(world.logged.borrow().is_empty());
}

#[test]
fn what_comes_with_the_handshake_is_read() {
    let world = echoing(Settings::default());
    let client = world.client();
    client
        .send(&world, [format!("{ASK}\r\n").as_bytes(), &frame(0x81, b"early"), &frame(0x82, &[7; 300])[..9]].concat());
    client.expect(&world, "early");
    client.send(&world, &frame(0x82, &[7; 300])[9..]);
    expect(&world, &client, &[b"\x81\x05early\x82\x7e\x01\x2c".as_slice(), &[7; 300]].concat());
}

#[test]
fn wrong_handshakes_are_refused() {
    let wrong = [
        ("426", ASK.replace("Version: 13", "Version: 8")),
        ("426", ASK.replace("Upgrade: websocket", "Upgrade: h3")),
        ("426", ASK.replace("keep-alive, Upgrade", "keep-alive")),
        ("426", ASK.replace("HTTP/1.1", "HTTP/1.0")),
        ("426", ASK.replace("GET", "POST")),
        ("400", ASK.replace("Sec-WebSocket-Version: 13\r\n", "")),
        ("400", ASK.replace("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZQ==")),
        ("400", ASK.replace("dGhlIHNhbXBsZSBub25jZQ==", "dGhl!HNhbXBsZSBub25jZQ==")),
        ("400", format!("{ASK}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n")),
        ("400", ASK.replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "")),
        ("400", format!("{ASK}Content-Length: 5\r\n")),
    ];
    for (status, request) in wrong {
        let world = echoing(Settings::default());
        let client = world.client();
        client.send(&world, format!("{request}\r\n"));
        let text = client.expect(&world, "\r\n\r\n");
        assert_eq!(text.split(' ').nth(1), Some(status), "{request}: {text}");
        assert!(status != "426" || text.to_lowercase().contains("upgrade: websocket"), "{text}");
        is_quiet(&world);
    }
}

#[test]
fn fragments_are_joined_with_control_frames_between_them() {
    let world = echoing(Settings::default());
    let client = open(&world);
    for part in [frame(0x01, b"ab"), frame(0x89, b"ping"), frame(0x00, b"\xc3"), frame(0x8a, b""), frame(0x80, b"\xa4")]
    {
        for byte in part {
            client.send(&world, [byte]);
        }
    }
    expect(&world, &client, b"\x8a\x04ping\x81\x04ab\xc3\xa4");
}

#[test]
fn what_breaks_the_protocol_is_answered_with_a_code_and_cancels() {
    let large = Settings { websocket_message: 100, websocket_frame: 80, ..Settings::default() };
    let broken: [(u16, Vec<u8>); 16] = [
        (1002, close(1005)), // codes that nobody may send
        (1002, close(999)),
        (1002, close(2999)),
        (1002, [close(1006), close(1000)].concat()),
        (1002, b"\x81\x05hello".to_vec()),                               // not masked
        (1002, frame(0xc1, b"a")),                                       // a reserved bit
        (1002, frame(0x83, b"a")),                                       // a reserved code
        (1002, frame(0x8b, b"a")),                                       // a reserved control code
        (1002, frame(0x09, b"a")),                                       // a fragmented ping
        (1002, frame(0x80, b"a")),                                       // a continuation of nothing
        (1002, [frame(0x01, b"a"), frame(0x81, b"b")].concat()),         // a message in another one
        (1002, frame(0x88, b"a")),                                       // half of a code
        (1007, frame(0x81, b"\xff\xfe")),                                // no UTF-8
        (1009, frame(0x82, &[0; 81])),                                   // a large frame
        (1009, [frame(0x02, &[0; 80]), frame(0x80, &[0; 80])].concat()), // a large message
        (1009, b"\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0".to_vec()), // a frame of 2^63 bytes
    ];
    for (code, bytes) in broken {
        let world = echoing(large.clone());
        let client = open(&world);
        client.send(&world, &bytes);
        world.until(|| (frames(&client).len() > 3).then_some(()));
        let found = frames(&client);
        assert_eq!((found[0], &found[2..4]), (0x88, &code.to_be_bytes()[..]), "{bytes:?}");
        seen(&world, "cancelled: Disconnected");
        is_quiet(&world);
        client.finish();
        client.rest(&world);
        assert!(!client.is_reset(), "{bytes:?}");
    }
}

#[test]
fn a_client_that_leaves_cancels() {
    let world = echoing(Settings::default());
    for half in [false, true] {
        world.seen.borrow_mut().clear();
        let client = open(&world);
        client.send(&world, frame(0x81, b"hello"));
        expect(&world, &client, b"\x81\x05hello");
        if half {
            client.send(&world, &frame(0x81, b"hello")[..4]);
        }
        drop(client);
        seen(&world, "cancelled: Disconnected");
        is_quiet(&world);
        world.until(|| (world.server.stats().connections == 0).then_some(()));
    }
}

/// A handler of these tests that only sends, or waits for something else.
fn sending(settings: Settings, of: Rc<RefCell<Option<Rc<WebSocket>>>>) -> World {
    World::new(settings, move |world, event| match event {
        Event::Begin(exchange) => *of.borrow_mut() = exchange.upgrade(None).ok(),
        Event::Wake(_) => world.seen.borrow_mut().push("woken".into()),
        Event::Log(_) | Event::Slow(..) => {}
        Event::Cancel(exchange, why) => {
            world.seen.borrow_mut().push(format!("cancelled: {why:?}"));
            exchange.finish_handler();
        }
    })
}

#[test]
fn a_handler_that_takes_no_messages_is_cancelled_by_a_close() {
    let world = sending(Settings::default(), Rc::default());
    let client = open(&world);
    client.send(&world, close(1001));
    seen(&world, "cancelled: Disconnected");
    is_quiet(&world);
}

#[test]
fn a_handler_ahead_of_its_client_waits() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 1000, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    let message = Message { data: Bytes::from(vec![7; 1 << 20]), is_binary: true };
    let (mut count, mut written) = (0, Written::Ok);
    while written == Written::Ok {
        written = web.send(message.clone());
        count += 1;
        world.step();
        if written == Written::Full && web.has_room() {
            written = Written::Ok; // the system has taken it
        }
        assert!(count < 100);
    }
    world.seen.borrow_mut().clear(); // the system has taken some of it meanwhile
    assert!(!web.has_room());
    world.step();
    assert!(world.seen.borrow().is_empty());
    // A flood of pings is not answered meanwhile, so that the answers need no memory.
    let pings: Vec<u8> = (0..1000).flat_map(|_| frame(0x89, &[1; 100])).collect();
    client.send(&world, &pings);
    let total = count * ((1 << 20) + 10) + 1000 * 102;
    world.until(|| (frames(&client).len() == total).then_some(()));
    seen(&world, "woken");
    assert!(web.has_room());
    let invalid = Message { data: Bytes::from_static(b"\xff"), is_binary: false };
    assert_eq!(web.send(invalid), Written::TooMuch);
    assert_eq!(web.ping(Bytes::from(vec![0; 126])), Written::TooMuch);
}

#[test]
fn a_client_ahead_of_its_handler_waits() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 10_000, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    client.stream().set_nonblocking(false).unwrap();
    let (sender, count) = (client.stream().try_clone().unwrap(), 400);
    let writing = std::thread::spawn(move || {
        for _ in 0..count {
            std::io::Write::write_all(&mut &sender, &frame(0x82, &[7; 100_000])).unwrap();
        }
    });
    for _ in 0..1000 {
        world.step(); // 40 MB are under way: what is read of them is bounded
    }
    std::thread::sleep(std::time::Duration::from_millis(20));
    world.step();
    assert!(!writing.is_finished());
    // And it does not count as gone, although nothing is heard of it.
    world.advance(300 * SECOND);
    world.advance(300 * SECOND);
    let mut taken = 0;
    world.until(|| {
        while let Received::Message(message) = web.receive() {
            taken += message.data.len();
        }
        (taken == count * 100_000).then_some(())
    });
    writing.join().unwrap();
}

#[test]
fn silent_clients_are_pinged_and_then_gone() {
    let world = echoing(Settings { websocket_ping: 30 * SECOND, ..Settings::default() });
    let client = open(&world);
    world.advance(29 * SECOND);
    assert!(frames(&client).is_empty());
    world.advance(SECOND);
    expect(&world, &client, b"\x89\x00");
    client.send(&world, frame(0x8a, b""));
    world.advance(29 * SECOND);
    expect(&world, &client, b"\x89\x00");
    world.advance(SECOND);
    expect(&world, &client, b"\x89\x00\x89\x00");
    world.advance(30 * SECOND);
    seen(&world, "cancelled: Disconnected");
    client.rest(&world);
}

#[test]
fn a_client_that_does_not_answer_a_close_is_cut_off() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings::default(), Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    web.close(4000, "enough");
    web.close(4001, "again");
    expect(&world, &client, b"\x88\x08\x0f\xa0enough");
    assert_eq!(web.send(Message { data: Bytes::from_static(b"a"), is_binary: false }), Written::Gone);
    assert!(matches!(web.receive(), Received::Closed));
    client.send(&world, frame(0x81, b"late"));
    world.advance(4 * SECOND);
    assert!(!client.is_closed());
    world.advance(SECOND);
    client.rest(&world);
    is_quiet(&world);
}

#[test]
fn draining_closes_web_sockets() {
    let world = echoing(Settings::default());
    let client = open(&world);
    world.server.drain(None);
    world.until(|| (frames(&client).len() > 4).then_some(()));
    assert_eq!(&frames(&client)[2..4], &1001_u16.to_be_bytes());
    client.send(&world, close(1001));
    client.finish();
    client.rest(&world);
    world.until(|| world.server.is_drained().then_some(()));
}

#[test]
fn web_sockets_take_no_place_of_a_handler() {
    let world = echoing(Settings { max_concurrency: 1, queue_timeout: 0, ..Settings::default() });
    let clients: Vec<Client> = (0..5).map(|_| open(&world)).collect();
    assert_eq!(world.server.stats().websockets, 5);
    drop(clients);
    is_quiet(&world);
    open(&world);
}

/// A generator of numbers that need not be good, but be the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

/// Random frames, valid ones and broken ones, in random pieces: there is always an end, and nothing is left.
#[test]
fn random_bytes_break_nothing() {
    let mut random = Random(1);
    let firsts = [0x81, 0x82, 0x01, 0x02, 0x00, 0x80, 0x89, 0x8a, 0x88, 0x83, 0xc1, 0x09];
    let world =
        echoing(Settings { websocket_message: 5000, websocket_frame: 3000, write_window: 2000, ..Settings::default() });
    for round in 0..300 {
        let client = open(&world);
        let mut bytes = Vec::new();
        for _ in 0..random.below(30) {
            let length = [0, 1, 2, 125, 126, 1000, 2999, 3001][random.below(8)];
            let letter = if random.below(8) == 0 { 0xff } else { b'a' };
            let weight = if random.below(4) == 0 { firsts.len() } else { 3 };
            bytes.extend(frame(firsts[random.below(weight)], &vec![letter; length]));
            if random.below(20) == 0 {
                bytes.truncate(bytes.len() - 1);
            }
            if random.below(20) == 0 && !bytes.is_empty() {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
        }
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((random.below(700) + 1).min(rest.len()));
            client.send(&world, piece);
            client.fill();
            rest = after;
        }
        if round % 3 == 0 {
            client.send(&world, close(1000));
        }
        drop(client);
        is_quiet(&world);
    }
    world.advance(10 * SECOND);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}

#[test]
fn a_flood_of_pings_is_not_read_while_the_answers_are_not() {
    let world = sending(Settings { write_window: 1000, ..Settings::default() }, Rc::default());
    let client = open(&world);
    let pings: Vec<u8> = (0..1000).flat_map(|_| frame(0x89, &[1; 125])).collect();
    let (mut sent, mut refused) = (0, 0);
    while refused < 20 {
        match std::io::Write::write(&mut client.stream(), &pings) {
            Ok(count) => (sent, refused) = (sent + count, 0),
            Err(_) => refused += 1, // it has no more room
        }
        world.step();
        assert!(sent < 100 << 20, "everything is read");
    }
}

#[test]
fn a_close_before_the_handshake_is_sent_is_the_only_one() {
    let world = World::new(Settings::default(), |_, event| match event {
        Event::Begin(exchange) => exchange.upgrade(None).unwrap().close(1000, ""),
        Event::Cancel(exchange, _) => exchange.finish_handler(),
        Event::Wake(_) | Event::Log(_) | Event::Slow(..) => {}
    });
    let client = world.client();
    client.send(&world, [format!("{ASK}\r\n").as_bytes(), &frame(0x81, b"early")].concat());
    expect(&world, &client, b"\x88\x02\x03\xe8");
    client.send(&world, close(1000));
    client.finish();
    client.rest(&world);
    assert_eq!(frames(&client), b"\x88\x02\x03\xe8");
}

/// Sends bytes without a turn of the server.
fn push(client: &Client, bytes: &[u8]) {
    client.stream().set_nonblocking(false).unwrap();
    std::io::Write::write_all(&mut client.stream(), bytes).unwrap();
    client.stream().set_nonblocking(true).unwrap();
}

#[test]
fn a_message_in_many_pieces_leaves_turns_to_others() {
    let world = echoing(Settings::default());
    let client = open(&world);
    let count = 40_000;
    let pieces: Vec<u8> = (0..count).flat_map(|_| frame(0x00, b"a")).collect();
    push(&client, &[frame(0x01, b"a"), pieces, frame(0x80, b"a")].concat());
    let mut turns = 0;
    let (frame, size) = (7, 64 << 10);
    while world.next_event().is_none() {
        world.turn();
        turns += 1;
        assert!(turns < 10_000);
    }
    assert!(turns >= count * frame / size, "{turns}");
}

#[test]
fn fragments_without_content_are_counted() {
    let world = echoing(Settings::default());
    let client = open(&world);
    let message = |empty: usize| {
        let fragments = (0..empty).flat_map(|at| frame(if at == 0 { 0x01 } else { 0x00 }, b""));
        fragments.chain(frame(0x80, b"abc")).collect::<Vec<u8>>()
    };
    for _ in 0..3 {
        for piece in message(100).chunks(5) {
            client.send(&world, piece);
        }
    }
    // Frames with content are no such fragments, of whatever size, and neither are messages without it.
    for length in [1, 125, 126, 65535, 65536] {
        client.send(&world, frame(0x82, &vec![0; length]));
        client.fill();
    }
    client.send(&world, (0..200).flat_map(|_| frame(0x81, b"")).collect::<Vec<u8>>());
    client.send(&world, (0..200).flat_map(|_| frame(0x8a, b"")).collect::<Vec<u8>>());
    world.until(|| (world.seen.borrow().iter().filter(|seen| *seen == " 0").count() == 200).then_some(()));
    assert_eq!(world.seen.borrow().iter().filter(|seen| *seen == "abc 3").count(), 3);
    let before = frames(&client).len();
    client.send(&world, &message(101)[..101 * 6]);
    world.until(|| (frames(&client).len() > before + 3).then_some(()));
    assert_eq!(&frames(&client)[before..][2..4], &1008_u16.to_be_bytes());
    seen(&world, "cancelled: Disconnected");

    // Also if the end of the message comes with them.
    let world = echoing(Settings::default());
    let client = open(&world);
    client.send(&world, message(101));
    seen(&world, "cancelled: Disconnected");
}

#[test]
fn messages_are_read_while_the_client_takes_none() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 64 << 20, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    for _ in 0..20 {
        web.send(Message { data: Bytes::from(vec![7; 1 << 20]), is_binary: true });
    }
    world.step();
    push(&client, &(0..300).flat_map(|_| frame(0x81, b"a")).collect::<Vec<u8>>());
    let mut count = 0;
    world.until(|| {
        while let Received::Message(_) = web.receive() {
            count += 1;
        }
        (count == 300).then_some(())
    });
    assert!(frames(&client).len() < 20 << 20);
}

/// A client whose messages have filled the queue of a handler that takes none of them, and that has sent more.
fn ahead(world: &World, settings: &Settings, more: usize) -> Client {
    let client = open(world);
    push(&client, &frame(0x82, &vec![7; settings.write_window]));
    world.step();
    push(&client, &(0..more).flat_map(|_| frame(0x82, &[7; 100])).collect::<Vec<u8>>());
    world.step();
    client
}

#[test]
fn a_client_that_leaves_is_noticed_while_nothing_is_read() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let settings = Settings { write_window: 1000, ..Settings::default() };
    let world = sending(settings.clone(), Rc::clone(&of));
    // 300 are more than is taken of one that has left.
    for (more, is_in_order) in [(0, false), (50, false), (300, true), (50, true)] {
        world.seen.borrow_mut().clear();
        let client = ahead(&world, &settings, more);
        let web = of.borrow().clone().unwrap();
        for _ in 0..10 {
            world.advance(300 * SECOND);
        }
        assert_eq!(world.server.stats().websockets, 1);
        if is_in_order {
            push(&client, &close(1000));
        }
        drop(client);
        if is_in_order && more < 300 {
            assert!(matches!(web.receive(), Received::Message(_)));
            world.until(|| web.is_closed().then_some(()));
            let mut count = 0;
            while let Received::Message(_) = web.receive() {
                count += 1;
            }
            assert_eq!((count, web.close_frame()), (more, Some((1000, String::new()))));
            assert!(world.seen.borrow().iter().all(|seen| !seen.starts_with("cancelled")));
            return;
        }
        seen(&world, "cancelled: Disconnected");
        world.until(|| (world.server.stats().connections == 0).then_some(()));
        is_quiet(&world);
    }
}

#[test]
fn a_close_is_answered_although_the_queue_is_full() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let settings = Settings { write_window: 1000, ..Settings::default() };
    let world = sending(settings.clone(), Rc::clone(&of));
    let client = ahead(&world, &settings, 100);
    let web = of.borrow().clone().unwrap();
    web.close(1000, "");
    expect(&world, &client, b"\x88\x02\x03\xe8");
    client.send(&world, close(1000));
    world.until(|| web.close_frame());
    client.finish();
    client.rest(&world);
    assert!(!client.is_reset());
}

#[test]
fn a_client_behind_is_not_gone_because_its_pong_is_not_read() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 1000, write_timeout: 0, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    world.advance(30 * SECOND);
    expect(&world, &client, b"\x89\x00");
    web.send(Message { data: Bytes::from(vec![7; 64 << 20]), is_binary: true });
    world.step();
    push(&client, &frame(0x8a, b""));
    world.advance(30 * SECOND);
    world.advance(30 * SECOND);
    assert!(!web.is_closed());
    world.until(|| (frames(&client).len() == 2 + 10 + (64 << 20)).then_some(()));
    world.step();
    // It is asked again.
    world.advance(30 * SECOND);
    world.advance(30 * SECOND);
    world.until(|| frames(&client).ends_with(b"\x89\x00").then_some(()));
    world.advance(30 * SECOND);
    seen(&world, "cancelled: Disconnected");
}

#[test]
fn a_client_that_closes_and_takes_nothing_is_cut_off() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 64 << 20, write_timeout: 0, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    web.send(Message { data: Bytes::from(vec![7; 32 << 20]), is_binary: true });
    client.send(&world, close(1000));
    world.until(|| web.is_closed().then_some(()));
    assert_eq!(world.server.stats().connections, 1);
    world.advance(5 * SECOND);
    world.until(|| (world.server.stats().connections == 0).then_some(()));
}

/// A close is what the client says: also the code with which a broken protocol is answered.
#[test]
fn the_code_of_a_close_is_told() {
    for code in [1000, 1002, 1003, 1011, 3000, 4999] {
        let world = echoing(Settings::default());
        let client = open(&world);
        let bytes = [frame(0x81, b"a"), close(code)].concat();
        for byte in bytes {
            client.send(&world, [byte]);
        }
        seen(&world, &format!("closed Some(({code}, \"\"))"));
        is_quiet(&world);
    }
}

/// Small messages take much more memory than they have bytes.
#[test]
fn small_messages_in_the_queue_count_what_they_take() {
    let of: Rc<RefCell<Option<Rc<WebSocket>>>> = Rc::default();
    let world = sending(Settings { write_window: 100_000, ..Settings::default() }, Rc::clone(&of));
    let client = open(&world);
    let web = of.borrow().clone().unwrap();
    let pings = frame(0x89, &[0; 125]);
    for _ in 0..2000 {
        push(&client, &frame(0x82, b"a"));
        world.step();
        push(&client, &pings);
        world.step();
    }
    let (mut count, mut capacity) = (0, 0);
    while let Received::Message(message) = web.receive() {
        count += 1;
        // Of a buffer that is shared nothing else can be appended to.
        capacity += message.data.try_into_mut().map_or(usize::MAX, |data| data.capacity());
    }
    assert!((500..1000).contains(&count) && capacity < 50_000, "{count} {capacity}");
}
