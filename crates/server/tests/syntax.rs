//! What HTTP/1.1 demands of requests: what must be refused, and what must be understood.

mod world;

use spindle_server::Settings;
use world::{Event, World, answer};

/// Sends bytes, and returns the statuses of all answers, what handlers have seen, and whether the connection was closed.
fn ask(bytes: &[u8]) -> (String, String, bool) {
    let world = World::echo(Settings::default());
    let client = world.client();
    client.send(&world, bytes);
    for _ in 0..5 {
        world.step();
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    let is_closed = client.is_closed();
    let text = client.text();
    let statuses: Vec<&str> =
        text.match_indices("HTTP/1.").map(|(at, _)| text[at..].split(' ').nth(1).unwrap_or_default()).collect();
    let seen = world.seen.borrow().join("");
    (statuses.join(" "), seen, is_closed)
}

fn head(lines: &str) -> Vec<u8> {
    format!("GET / HTTP/1.1\r\nHost: x\r\n{lines}\r\n").into_bytes()
}

fn post(lines: &str, body: &str) -> Vec<u8> {
    format!("POST / HTTP/1.1\r\nHost: x\r\n{lines}\r\n{body}").into_bytes()
}

fn chunked(body: &str) -> Vec<u8> {
    post("Transfer-Encoding: chunked\r\n", body)
}

#[test]
fn what_must_be_refused_is() {
    let line = |line: &str| format!("{line}\r\nHost: x\r\n\r\n").into_bytes();
    let host = |host: &str| format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes();
    let length = |length: &str| post(&format!("Content-Length: {length}\r\n"), "abcde");
    let coding = |coding: &str| post(&format!("Transfer-Encoding: {coding}\r\n"), "5\r\nabcde\r\n0\r\n\r\n");
    let mut cases = Vec::new();
    for one in [
        "GET HTTP/1.1",
        "GET  HTTP/1.1",
        "GET / HTTP/1",
        "GET / HTTP/01.1",
        "GET / HTTP/1.01",
        "GET / HTTP/ 1.1",
        "GET / HTTP/1 .1",
        "GET / http/1.1",
        "GET /",
        "GET / HTTP/2.0",
        "GET / HTTP/1.1 x",
        "GET\t/\tHTTP/1.1",
        "G\u{e9}T / HTTP/1.1",
        "GET /a\0b HTTP/1.1",
        "GET /a\x7fb HTTP/1.1",
        "GET * HTTP/1.1",
        "GET a HTTP/1.1",
        "GET  / HTTP/1.1",
        "G(T / HTTP/1.1",
        " GET / HTTP/1.1",
    ] {
        cases.push(line(one));
    }
    for one in ["a@b", "x/y", "", "a, b", "x y", "a:b:c", "x:99999", "x?", "x#", "[::1", "a\\b", "x:8o", "x\u{e9}"] {
        cases.push(host(one));
    }
    cases.push(line("GET http://a@b/ HTTP/1.1"));
    cases.push(line("GET http:///a HTTP/1.1"));
    for one in [
        "abc",
        "+5",
        "-5",
        "-0",
        "5_0",
        "0o5",
        "0x5",
        "5 5",
        "",
        "5,6",
        "5, 6",
        "5\0",
        "1e1",
        "5;",
        "99999999999999999999",
    ] {
        cases.push(length(one));
    }
    cases.push(post("Content-Length: 5\r\nContent-Length: 6\r\n", "abcde"));
    for one in [
        "",
        "identity",
        "gzip",
        "xchunked",
        "chunked, gzip",
        "chunked\x0b",
        "chunked\x0c",
        "chunked\0",
        "chunked;q=1",
        "\"chunked\"",
        "chunked, chunked",
        "chunked\r\n ",
        "chu\r\n nked",
    ] {
        cases.push(coding(one));
    }
    cases.push(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"));
    for one in [
        "A : b\r\n",
        ": b\r\n",
        "A\r\n",
        "A b: c\r\n",
        "A[]: b\r\n",
        "A\t: b\r\n",
        "\u{e9}: b\r\n",
        " A: b\r\n",
        "A: b\r\n c\r\n",
        "A: b\rc\r\n",
        "A: b\0\r\n",
        "A: b\x01\r\n",
        "A: b\x7f\r\n",
        "A\0: b\r\n",
        "Host: x\r\n",
        "Host: y\r\n",
    ] {
        cases.push(head(one));
    }
    for one in [
        "0x5\r\nabcde\r\n0\r\n\r\n",
        "5_0\r\nabcde\r\n0\r\n\r\n",
        " 5\r\nabcde\r\n0\r\n\r\n",
        "5\r\nabcde0\r\n\r\n",
        "5\r\nabcdefg\r\n0\r\n\r\n",
        "-5\r\nabcde\r\n0\r\n\r\n",
        "5;a\rb\r\nabcde\r\n0\r\n\r\n",
        "5\rabcde\r0\r\r",
        "5\nabcde\n0\n\n",
        "5\r\nabcde\n0\r\n\r\n",
        "\r\nabcde\r\n0\r\n\r\n",
        "g\r\nabcde\r\n0\r\n\r\n",
        "10000000000000005\r\nabcde\r\n0\r\n\r\n",
        "5\r\nabcde\r\n0\r\n a: b\r\n\r\n",
        "5\r\nabcde\r\n0\r\na b: c\r\n\r\n",
        "5\r\nabcde\r\n0\r\n: c\r\n\r\n",
        "5\r\nabcde\r\n",
        "5\r\nabc",
    ] {
        cases.push(chunked(one));
    }
    let mut wrong = Vec::new();
    for bytes in cases {
        let (status, seen, _) = ask(&bytes);
        let is_refused = status.is_empty() || status.starts_with('4') || status.starts_with('5');
        if !is_refused || seen.contains('[') {
            wrong.push(format!("{:?}: {status} {seen}", String::from_utf8_lossy(&bytes)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Those for which the standard demands this status.
#[test]
fn what_must_be_answered_with_400_is() {
    let cases = [
        head("A : b\r\n"),
        head("A: b\r\n c\r\n"),
        head("Host: x\r\n"),
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n".to_vec(),
        post("Content-Length: abc\r\n", "abcde"),
        post("Content-Length: 5\r\nContent-Length: 6\r\n", "abcde"),
        post("Transfer-Encoding: chunked, gzip\r\n", "0\r\n\r\n"),
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"GET a HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
        b"\x80\x81\x82\x83\r\n\r\n".to_vec(),
    ];
    for bytes in cases {
        let (status, _, is_closed) = ask(&bytes);
        assert_eq!((status.as_str(), is_closed), ("400", true), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn what_must_be_understood_is() {
    let cases: [(&[u8], &str); 21] = [
        (&post("Transfer-Encoding: , chunked\r\n", "0\r\n\r\n"), "[POST / ]"),
        (b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", "[OPTIONS * ]"),
        (b"GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n", "[GET http://x/a ]"),
        (b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "[GET / ]"),
        (b"GET / HTTP/1.0\r\n\r\n", "[GET / ]"),
        (b"GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "[GET / ]"),
        (b"GET / HTTP/1.1\r\nHost: x:8080\r\n\r\n", "[GET / ]"),
        (b"GET / HTTP/1.1\r\nHost: xn--4ca.example.\r\n\r\n", "[GET / ]"),
        (b"GET / HTTP/1.1\r\nHost: a_b%20\r\n\r\n", "[GET / ]"),
        (&post("Content-Length: 5\r\n", "abcde"), "[POST / abcde]"),
        (&post("Content-Length:   5  \r\n", "abcde"), "[POST / abcde]"),
        (&post("Content-Length: 0\r\n", ""), "[POST / ]"),
        (&post("", ""), "[POST / ]"),
        (&chunked("5\r\nabcde\r\n0\r\n\r\n"), "[POST / abcde]"),
        (&chunked("A\r\nabcdefghij\r\n1\r\nk\r\n0\r\n\r\n"), "[POST / abcdefghijk]"),
        (&chunked("0\r\n\r\n"), "[POST / ]"),
        (&chunked("5;a=b;c=\"d\"\r\nabcde\r\n0\r\nA: b\r\n\r\n"), "[POST / abcde]"),
        (&chunked("005\r\nabcde\r\n000\r\n\r\n"), "[POST / abcde]"),
        (&post("Transfer-Encoding: Chunked\r\n", "0\r\n\r\n"), "[POST / ]"),
        (&head("A:\r\nB: \t c \t\r\nC: \u{e9}\r\n"), "[GET / ]"),
        (&head("Upgrade: other\r\nConnection: upgrade\r\n"), "[GET / ]"),
    ];
    for (bytes, expected) in cases {
        let (status, seen, _) = ask(bytes);
        assert_eq!((status.as_str(), seen.as_str()), ("200", expected), "{:?}", String::from_utf8_lossy(bytes));
    }
}

/// After which nothing must be read as a request.
#[test]
fn connections_are_closed_where_what_follows_is_not_certain() {
    let next = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n";
    let cases = [
        post("Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
        post("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n", "0\r\n\r\n"),
        b"CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n".to_vec(),
        post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
        head("Connection: close\r\n"),
        head("Connection: Close\r\n"),
        b"GET / HTTP/1.0\r\n\r\n".to_vec(),
    ];
    for bytes in cases {
        let (status, seen, is_closed) = ask(&[&bytes[..], next.as_bytes()].concat());
        assert!(
            !seen.contains("next") && is_closed,
            "{:?}: {status} {seen} {is_closed}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

/// With a target that names the host, a header that names another one is ignored.
#[test]
fn a_request_has_one_host() {
    let world = World::new(Settings::default(), |world, event| {
        if let Event::Begin(exchange) = event {
            let hosts: Vec<_> =
                exchange.head().headers.get_all("host").iter().map(|host| format!("{host:?}")).collect();
            world.seen.borrow_mut().push(hosts.join(" "));
            answer(&exchange, 200, "");
            exchange.finish_handler();
        }
    });
    world.exchange("GET http://a.example:81/ HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n");
    world.exchange("GET / HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n");
    assert_eq!(*world.seen.borrow(), ["\"a.example:81\"", "\"b.example\""]);
}
