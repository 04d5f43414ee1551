//! Files that the server sends itself: names, conditions, codings, jobs of other threads, files that change, clients that are slow
//! or leave.

mod world;

use spindle_server::{FileOptions, Root, Settings};
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;
use world::{Client, Event, SECOND, World};

/// A folder of files, and a server with it. Requests that are not answered with a file get `[METHOD PATH BODY]`.
struct Site {
    place: TempDir,
    world: World,
}

impl Site {
    fn new() -> Site {
        Site::with(Settings::default(), FileOptions::default())
    }

    fn with(settings: Settings, options: FileOptions) -> Site {
        // Where the build is, which is on a disk.
        let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let site = Site { world: World::echo(settings), place };
        fs::create_dir(site.root()).unwrap();
        fs::write(site.place.path().join("secret"), "secret").unwrap();
        site.world.server.add_files(Root::open("/", &site.root(), options).unwrap());
        site.world.server.log_requests();
        site
    }

    fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn ask(&self, method: &str, target: &str, headers: &str) -> Answer {
        let headers = if headers.is_empty() { String::new() } else { format!("{headers}\r\n") };
        let text =
            self.world.exchange(format!("{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n"));
        Answer(text)
    }

    fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, "")
    }

    /// Asks until the file has changed long enough ago to have validators, and returns its tag and its date.
    fn validators(&self, target: &str) -> (String, String) {
        self.world.until(|| {
            let answer = self.get(target);
            Some((answer.header("etag")?.to_owned(), answer.header("last-modified")?.to_owned()))
        })
    }
}

struct Answer(String);

impl Answer {
    fn status(&self) -> &str {
        self.0.split(' ').nth(1).unwrap_or("none")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let head = self.0.split("\r\n\r\n").next().unwrap();
        head.lines().find_map(|line| line.split_once(": ").filter(|(found, _)| *found == name)).map(|(_, value)| value)
    }

    fn body(&self) -> &str {
        self.0.split_once("\r\n\r\n").map_or("", |(_, body)| body)
    }

    #[track_caller]
    fn is(&self, status: &str, body: &str) {
        assert_eq!((self.status(), self.body()), (status, body), "{}", self.0);
    }
}

/// Removes a file from the kernel's memory.
fn evict(path: &Path) {
    use std::os::fd::AsRawFd;
    let file = File::open(path).unwrap();
    file.sync_all().unwrap();
    // SAFETY: an open descriptor.
    assert_eq!(unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) }, 0);
}

#[test]
fn files_are_sent_and_the_rest_is_the_handlers() {
    let site = Site::new();
    site.put("a.txt", "hello");
    site.put("b/index.html", "<p>");
    site.put("b c.weird", "x");
    site.put("empty.css", "");
    let answer = site.get("/a.txt?x=y");
    answer.is("200", "hello");
    assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.header("content-length"), Some("5"));
    assert_eq!(answer.header("accept-ranges"), Some("bytes"));
    site.get("/b/").is("200", "<p>");
    assert_eq!(site.get("/b%20c.weird").header("content-type"), Some("application/octet-stream"));
    let empty = site.get("/empty.css");
    empty.is("200", "");
    assert_eq!(
        (empty.header("content-length"), empty.header("content-type")),
        (Some("0"), Some("text/css; charset=utf-8"))
    );
    let head = site.ask("HEAD", "/a.txt", "");
    head.is("200", "");
    assert_eq!(head.header("content-length"), Some("5"));
    let redirect = site.get("/b?q=1");
    assert_eq!((redirect.status(), redirect.header("location")), ("301", Some("./b/?q=1")));
    for target in
        ["/nothing", "/nothing/", "/a.txt/", "/a.txt/b", "/", "/b/nothing", "//a.txt", "/b//index.html", "/B/"]
    {
        site.get(target).is("200", &format!("[GET {target} ]"));
    }
    site.ask("POST", "/a.txt", "Content-Length: 0").is("200", "[POST /a.txt ]");
    site.ask("GET", "/a.txt", "Upgrade: websocket\r\nConnection: upgrade").is("200", "[GET /a.txt ]");
    assert_eq!(site.world.server.stats().files, 6);
    let logged = site.world.logged.borrow();
    let first = &logged[0];
    assert_eq!((first.target.as_str(), first.status, first.bytes), ("/a.txt?x=y", 200, 5));
    assert_eq!(logged.len() as u64, site.world.server.stats().requests);
}

#[test]
fn a_connection_is_used_further() {
    let site = Site::new();
    site.put("a.txt", "first of them");
    let client = site.world.client();
    for _ in 0..3 {
        client.send(&site.world, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\nGET /other HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    site.world.until(|| (client.text().matches("[GET /other ]").count() == 3).then_some(()));
    assert_eq!(client.text().matches("first of them").count(), 3);
    // With a body that nobody reads.
    client.send(
        &site.world,
        "GET /a.txt HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabcGET /last HTTP/1.1\r\nHost: x\r\n\r\n",
    );
    client.expect(&site.world, "[GET /last ]");
    assert_eq!(site.world.server.stats().running, 0);
}

#[test]
fn nothing_else_is_sent() {
    for by_jobs in [false, true] {
        let site = Site::new();
        if by_jobs {
            let root = Root::open("/", &site.root(), FileOptions::default()).unwrap().without_openat2();
            site.world.server.replace_files(root);
        }
        site.put(".env", "secret");
        site.put(".git/config", "secret");
        site.put("index.php", "secret");
        site.put("a.PHP", "secret");
        site.put("a.php.bak", "secret");
        site.put("d/a.txt", "fine");
        symlink("../secret", site.root().join("out")).unwrap();
        symlink(site.place.path(), site.root().join("folder")).unwrap();
        symlink("..", site.root().join("up")).unwrap();
        symlink("/dev/zero", site.root().join("zero")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, site.root().join("fifo"), 0o600.into()).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(site.root().join("socket")).unwrap();
        for target in [
            "/../secret",
            "/d/../../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "/d/..%2f..%2fsecret",
            "/%2e%2e%2fsecret",
            "/..%5csecret",
            "/..%00/secret",
            "/out",
            "/folder/secret",
            "/up/secret",
            "/up/root/d/a.txt",
            "/zero",
            "/fifo",
            "/socket",
            "/.env",
            "/%2eenv",
            "/.git/config",
            "/index.php",
            "/index%2ephp",
            "/a.PHP",
            "/a.php.bak",
            "/d/./a.txt",
            "/d/../d/a.txt",
            "/d%2fa.txt",
            "/d",
            "/d/",
            "/secret%00.txt",
            "/%c0%ae%c0%ae/secret",
            "/....//secret",
        ] {
            let answer = site.get(target);
            answer.is("200", &format!("[GET {target} ]"));
        }
        site.get("/d/a.txt").is("200", "fine");
        assert_eq!(site.world.jobs(), 0);
    }
}

#[test]
fn links_within_the_folder_are_followed() {
    let site = Site::new();
    site.put("v1/a.txt", "one");
    symlink("v1", site.root().join("current")).unwrap();
    symlink("../v1/a.txt", site.put("b/x", "").with_file_name("a.txt")).unwrap();
    site.get("/current/a.txt").is("200", "one");
    site.get("/b/a.txt").is("200", "one");
}

#[test]
fn several_folders_are_looked_at_in_turn() {
    let site = Site::new();
    site.put("assets/a.txt", "of the first");
    let other = site.place.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.txt"), "of the second").unwrap();
    fs::write(other.join("b.txt"), "b").unwrap();
    fs::write(other.join("index.html"), "index").unwrap();
    fs::write(other.join(".dot"), "dot").unwrap();
    let options = FileOptions { index: None, dot_files: true, ..FileOptions::default() };
    site.world.server.add_files(Root::open("/assets/", &other, options).unwrap());
    site.get("/assets/a.txt").is("200", "of the first");
    site.get("/assets/b.txt").is("200", "b");
    site.get("/assets/.dot").is("200", "dot");
    for target in ["/b.txt", "/assets/", "/assets", "/assetsb.txt", "/other/b.txt"] {
        site.get(target).is("200", &format!("[GET {target} ]"));
    }
}

#[test]
fn a_folder_stays_the_same_when_it_is_replaced() {
    let site = Site::new();
    site.put("a.txt", "old");
    fs::rename(site.root(), site.place.path().join("moved")).unwrap();
    site.put("a.txt", "new");
    site.get("/a.txt").is("200", "old");
    assert!(Root::open("/", &site.place.path().join("nothing"), FileOptions::default()).is_err());
    assert!(Root::open("/", &site.place.path().join("secret"), FileOptions::default()).is_err());
}

#[test]
fn conditions_and_ranges() {
    let options = FileOptions { cache_control: Some("max-age=60".parse().unwrap()), ..FileOptions::default() };
    let site = Site::with(Settings::default(), options);
    let path = site.put("a.txt", "0123456789");
    // Just written, it could change again unseen.
    let fresh = site.get("/a.txt");
    let is_fresh = fs::metadata(path).unwrap().modified().unwrap().elapsed().unwrap() < Duration::from_secs(2);
    let is_known = |name| fresh.header(name).is_some();
    assert!(!is_fresh || !is_known("etag") && !is_known("last-modified"), "unless this machine stands still");
    let (tag, date) = site.validators("/a.txt");
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    let same = site.ask("GET", "/a.txt", &format!("If-None-Match: {tag}"));
    same.is("304", "");
    assert_eq!((same.header("etag"), same.header("cache-control")), (Some(tag.as_str()), Some("max-age=60")));
    assert_eq!((same.header("vary"), same.header("content-type")), (Some("Accept-Encoding"), None));
    assert_eq!(same.header("content-length"), None);
    site.ask("HEAD", "/a.txt", &format!("If-Modified-Since: {date}")).is("304", "");
    site.ask("GET", "/a.txt", "If-Match: \"other\"").is("412", "412 Precondition Failed\n");
    let part = site.ask("GET", "/a.txt", &format!("Range: bytes=2-4\r\nIf-Range: {tag}"));
    part.is("206", "234");
    assert_eq!((part.header("content-range"), part.header("content-length")), (Some("bytes 2-4/10"), Some("3")));
    site.ask("GET", "/a.txt", &format!("Range: bytes=-4\r\nIf-Range: {date}")).is("206", "6789");
    site.ask("GET", "/a.txt", "Range: bytes=2-4\r\nIf-Range: \"other\"").is("200", "0123456789");
    site.ask("GET", "/a.txt", "Range: bytes=0-1,3-4").is("200", "0123456789");
    let none = site.ask("GET", "/a.txt", "Range: bytes=10-");
    none.is("416", "416 Range Not Satisfiable\n");
    assert_eq!((none.header("content-range"), none.header("connection")), (Some("bytes */10"), Some("close")));
    let head = site.ask("HEAD", "/a.txt", "Range: bytes=2-4");
    assert_eq!((head.status(), head.header("content-length")), ("200", Some("10")));
    // Another file with the same size and an older date, as `rsync` may leave it.
    let before = fs::metadata(site.root().join("a.txt")).unwrap().modified().unwrap();
    let other = site.put("other", "9876543210");
    File::options().write(true).open(&other).unwrap().set_modified(before).unwrap();
    fs::rename(other, site.root().join("a.txt")).unwrap();
    site.ask("GET", "/a.txt", &format!("If-None-Match: {tag}")).is("200", "9876543210");
    site.ask("GET", "/a.txt", &format!("If-Modified-Since: {date}")).is("200", "9876543210");
    site.ask("GET", "/a.txt", &format!("Range: bytes=2-4\r\nIf-Range: {tag}")).is("200", "9876543210");
    assert_ne!(site.validators("/a.txt").0, tag);
}

#[test]
fn a_coding_is_chosen_of_those_that_there_are() {
    let site = Site::new();
    let plain = site.put("a.css", "plain");
    site.put("a.css.gz", "gzipped");
    site.put("a.css.br", "brotli");
    site.put("a.png", "png");
    site.put("a.png.gz", "gzipped");
    site.put("b.css", "plain");
    for (accepted, body, coding) in [
        ("", "plain", None),
        ("gzip", "gzipped", Some("gzip")),
        ("gzip, zstd, br", "brotli", Some("br")),
        ("gzip, br;q=0.5", "gzipped", Some("gzip")),
        ("zstd", "plain", None),
        ("gzip;q=0, *", "brotli", Some("br")),
        ("identity, gzip;q=0.9", "plain", None),
        ("gzip, identity;q=0", "gzipped", Some("gzip")),
    ] {
        let answer = site.ask("GET", "/a.css", &format!("Accept-Encoding: {accepted}"));
        answer.is("200", body);
        assert_eq!(answer.header("content-encoding"), coding, "{accepted}");
        assert_eq!(answer.header("content-type"), Some("text/css; charset=utf-8"));
        assert_eq!(answer.header("vary"), Some("Accept-Encoding"));
    }
    site.get("/a.css").is("200", "plain");
    let other = site.ask("GET", "/b.css", "Accept-Encoding: gzip, br");
    other.is("200", "plain");
    assert_eq!(other.header("vary"), Some("Accept-Encoding"));
    site.ask("GET", "/b.css", "Accept-Encoding: gzip, *;q=0").is("406", "406 Not Acceptable\n");
    let picture = site.ask("GET", "/a.png", "Accept-Encoding: gzip");
    picture.is("200", "png");
    assert_eq!(picture.header("vary"), None);
    let archive = site.ask("GET", "/a.css.gz", "Accept-Encoding: gzip");
    assert_eq!((archive.header("content-type"), archive.header("content-encoding")), (Some("application/gzip"), None));
    // Each has its own tag, and ranges are of what is sent.
    let (tag, _) = site.validators("/a.css");
    let encoded = site.ask("GET", "/a.css", &format!("Accept-Encoding: gzip\r\nIf-None-Match: {tag}"));
    encoded.is("200", "gzipped");
    assert_ne!(encoded.header("etag"), Some(tag.as_str()));
    site.ask("GET", "/a.css", "Accept-Encoding: gzip\r\nRange: bytes=0-3").is("206", "gzip");
    // One that was made of an older version is not sent.
    let file = File::options().write(true).open(plain).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(60)).unwrap();
    site.ask("GET", "/a.css", "Accept-Encoding: gzip, br").is("200", "plain");
    let off = FileOptions { precompressed: false, ..FileOptions::default() };
    site.world.server.replace_files(Root::open("/", &site.root(), off).unwrap());
    let answer = site.ask("GET", "/b.css", "Accept-Encoding: gzip, identity;q=0");
    answer.is("200", "plain");
    assert_eq!(answer.header("vary"), None);
}

/// A file of several pieces, each byte of which tells where it is.
fn large(length: usize) -> Vec<u8> {
    (0..length / 8).flat_map(|at| format!("{at:08}").into_bytes()).collect()
}

#[test]
fn a_large_file_is_read_as_the_client_takes_it() {
    let site = Site::new();
    let content = large(32 << 20);
    let path = site.put("large", &content);
    evict(&path);
    let client = site.world.client();
    client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    site.world.until(|| (site.world.logged.borrow().is_empty() && site.world.jobs() == 0).then_some(()));
    let body = client.rest(&site.world);
    assert!(body.split_once("\r\n\r\n").unwrap().1.as_bytes() == content);
    assert_eq!(site.world.logged.borrow()[0].bytes, content.len() as u64);
}

#[test]
fn what_is_not_in_memory_is_read_by_another_thread() {
    let site = Site::new();
    let path = site.put("cold", large(1 << 20));
    evict(&path);
    site.get("/other").is("200", "[GET /other ]"); // from now on the kernel knows that there is no such file
    site.world.hold_jobs(true);
    let client = site.world.client();
    client.send(&site.world, "GET /cold HTTP/1.1\r\nHost: x\r\nRange: bytes=500000-500007\r\n\r\n");
    site.world.until(|| (site.world.jobs() == 1).then_some(()));
    // Others are answered meanwhile.
    site.get("/other").is("200", "[GET /other ]");
    assert!(!client.text().contains("0062500"));
    site.world.hold_jobs(false);
    client.expect(&site.world, "00062500");
    // A client that leaves meanwhile.
    evict(&path);
    site.world.hold_jobs(true);
    let client = site.world.client();
    client.send(&site.world, "GET /cold HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.jobs() == 1).then_some(()));
    drop(client);
    site.world.until(|| (site.world.server.stats().connections == 1).then_some(()));
    site.world.hold_jobs(false);
    site.world.step();
    // Without threads the response is not completed.
    evict(&path);
    site.world.refuse_jobs();
    let answer = site.get("/cold");
    assert!(answer.body().len() < 1 << 20);
}

#[test]
fn what_cannot_be_looked_up_at_once_is_looked_up_by_another_thread() {
    let site = Site::with(Settings { queue_timeout: 5 * SECOND, ..Settings::default() }, FileOptions::default());
    site.put("a.txt", "a");
    let root = Root::open("/", &site.root(), FileOptions::default()).unwrap().without_openat2();
    site.world.server.replace_files(root);
    site.get("/a.txt").is("200", "a");
    site.get("/none").is("200", "[GET /none ]");
    site.world.hold_jobs(true);
    let clients: Vec<Client> = ["/a.txt", "/none"]
        .iter()
        .map(|target| {
            let client = site.world.client();
            client.send(&site.world, format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
            client
        })
        .collect();
    let leaves = site.world.client();
    leaves.send(&site.world, "GET /none HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.jobs() == 3).then_some(()));
    drop(leaves);
    site.world.until(|| (site.world.server.stats().connections == 2).then_some(()));
    let before = site.world.seen.borrow().len();
    site.world.hold_jobs(false);
    site.world.step();
    clients[0].expect(&site.world, "\r\n\r\na");
    clients[1].expect(&site.world, "[GET /none ]");
    assert_eq!(site.world.seen.borrow().len() - before, 1, "the handler of who has left is not called");
    // A disk that does not answer.
    site.world.hold_jobs(true);
    let client = site.world.client();
    client.send(&site.world, "GET /a.txt HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.jobs() == 1).then_some(()));
    site.world.advance(6 * SECOND);
    client.expect(&site.world, "503 Service Unavailable");
    site.world.hold_jobs(false);
    site.world.step();
    site.world.refuse_jobs();
    assert_eq!(site.get("/a.txt").status(), "503");
}

#[test]
fn a_file_that_changes_while_it_is_sent_breaks_the_connection() {
    type Change<'a> = (&'a str, &'a dyn Fn(&Path));
    let changes: [Change<'_>; 3] = [
        ("truncated", &|path| OpenOptions::new().write(true).open(path).unwrap().set_len(100).unwrap()),
        ("overwritten", &|path| OpenOptions::new().write(true).open(path).unwrap().write_all(b"x").unwrap()),
        ("grown", &|path| OpenOptions::new().append(true).open(path).unwrap().write_all(b"x").unwrap()),
    ];
    for (what, change) in changes {
        let site = Site::new();
        let length = 32 << 20; // more than sockets buffer
        let path = site.put("large", large(length));
        let client = site.world.client_without_wait();
        client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
        site.world.until(|| (site.world.server.stats().files == 1).then_some(()));
        change(&path);
        let text = client.rest(&site.world);
        let body = text.split_once("\r\n\r\n").unwrap().1;
        assert!(body.len() < length, "{what}: {} bytes", body.len());
        assert!(text.contains(&format!("content-length: {length}")), "{what}");
    }
    // One that is replaced or removed is sent to its end.
    let site = Site::new();
    let content = large(32 << 20);
    let path = site.put("large", &content);
    let client = site.world.client_without_wait();
    client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    site.world.until(|| (site.world.server.stats().files == 1).then_some(()));
    fs::rename(site.put("new", "new"), &path).unwrap();
    assert!(client.rest(&site.world).split_once("\r\n\r\n").unwrap().1.as_bytes() == content);
}

/// Returns how many open files of this process lie in a folder.
fn open_files(folder: &Path) -> usize {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    entries
        .filter(|entry| fs::read_link(entry.as_ref().unwrap().path()).is_ok_and(|to| to.parent() == Some(folder)))
        .count()
}

#[test]
fn a_client_that_takes_nothing_keeps_no_file_open() {
    let site = Site::with(Settings { write_timeout: 30 * SECOND, ..Settings::default() }, FileOptions::default());
    site.put("large", large(32 << 20));
    let client = site.world.client_without_wait();
    client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.server.stats().files == 1).then_some(()));
    assert_eq!(open_files(&site.root()), 1);
    site.world.advance(31 * SECOND);
    site.world.until(|| (site.world.server.stats().connections == 0).then_some(()));
    assert_eq!(open_files(&site.root()), 0);
    // Nor one that leaves.
    let client = site.world.client();
    client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.server.stats().files == 2).then_some(()));
    drop(client);
    site.world.until(|| (site.world.server.stats().connections == 0).then_some(()));
    assert_eq!(open_files(&site.root()), 0);
}

#[test]
fn files_under_way_are_sent_before_the_server_ends() {
    let site = Site::new();
    let content = large(32 << 20);
    site.put("large", &content);
    let client = site.world.client();
    client.send(&site.world, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    site.world.until(|| (site.world.server.stats().files == 1).then_some(()));
    site.world.server.drain(None);
    assert!(client.rest(&site.world).split_once("\r\n\r\n").unwrap().1.as_bytes() == content);
    drop(client);
    site.world.until(|| site.world.server.is_drained().then_some(()));
}

#[test]
fn files_take_no_place_of_a_handler() {
    let site = Site::new();
    site.put("a.txt", "a");
    let world = World::new(Settings { max_concurrency: 1, ..Settings::default() }, |world, event| {
        if let Event::Begin(_) = event {
            world.seen.borrow_mut().push("begun".into());
        }
    });
    world.server.add_files(Root::open("/", &site.root(), FileOptions::default()).unwrap());
    let client = world.client();
    client.send(&world, "GET /handler HTTP/1.1\r\nHost: x\r\n\r\n");
    world.until(|| (!world.seen.borrow().is_empty()).then_some(()));
    assert!(world.exchange("GET /a.txt HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ends_with("\r\n\r\na"));
}
