//! Folders whose files the server sends itself, without a handler.
//!
//! A file that the kernel has in memory is opened and read in place; for any other, a thread of the event loop does it, so that a
//! slow disk delays no other request. What is not a file goes to the handler.

pub mod beneath;
mod conditions;
pub mod name;
pub mod sending;

pub use name::is_code;

use crate::encoding::{Coding, preferred};
use crate::response::{Body, Head, refusal};
use beneath::Folder;
use conditions::{Outcome, Validators, content_range, evaluate};
use http::header::{self, HeaderMap};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use name::Name;
use rustix::fs::{FileType, Stat, fstat};
use rustix::io::Errno;
use sending::{File, modified};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How the files of a folder are sent.
#[derive(Clone, Debug)]
pub struct FileOptions {
    /// The file that is sent for a folder.
    pub index: Option<String>,
    /// The value of `Cache-Control`.
    pub cache_control: Option<HeaderValue>,
    /// `style.css.br`, `.zst` or `.gz` is sent in place of `style.css` to clients that accept it.
    pub precompressed: bool,
    /// Files and folders whose names begin with a dot are sent too.
    pub dot_files: bool,
}

impl Default for FileOptions {
    fn default() -> FileOptions {
        FileOptions { index: Some("index.html".to_owned()), cache_control: None, precompressed: true, dot_files: false }
    }
}

/// A folder whose files are sent.
pub struct Root {
    prefix: String,
    folder: Folder,
    options: FileOptions,
}

impl Root {
    /// Opens the folder for URLs that begin with `prefix`, which begins with a slash.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn open(prefix: &str, path: &Path, mut options: FileOptions) -> io::Result<Root> {
        options.index = options.index.filter(|index| !is_code(index.as_bytes()));
        let folder = Folder::open(path)?;
        Ok(Root { prefix: prefix.trim_end_matches('/').to_owned(), folder, options })
    }

    /// Looks for files as on kernels without `openat2`. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn without_openat2(self) -> Root {
        Root { folder: self.folder.without_openat2(), ..self }
    }
}

/// How long a file must not have changed to have validators: longer than the steps of the file system's clock, and than the
/// second of `Last-Modified`.
const SETTLED: Duration = Duration::from_secs(2);

/// The codings that are looked for, the one with the smallest files first.
const PRECOMPRESSED: [Coding; 3] = [Coding::Brotli, Coding::Zstd, Coding::Gzip];

/// What there is below a folder.
pub enum Found {
    File {
        fd: OwnedFd,
        stat: Stat,
        coding: Coding,
    },
    /// A folder with an index, whose URL has a trailing slash.
    Folder,
    /// There is no coding of it that the client accepts.
    NotAcceptable,
    /// The system has failed.
    Failed(StatusCode),
    Nothing,
}

/// One place where the file may be.
pub struct Place {
    root: Arc<Root>,
    name: Name,
    /// The codings that the client accepts, the best one first.
    codings: Vec<Coding>,
}

/// The result of looking for the file of a request.
pub enum Lookup {
    /// There is none: the request is for a handler.
    None,
    /// The response.
    Response(Head, Body),
    /// It cannot be found without blocking: [`Place::find`] is to be called on another thread.
    Blocked(Vec<Place>),
}

/// Looks for the file of a request, without blocking.
pub fn look_up(roots: &[Arc<Root>], head: &Parts) -> Lookup {
    let path = head.uri.path();
    let places = roots.iter().filter_map(|root| {
        let name = name::below(&root.prefix, path, root.options.dot_files)?;
        let codings = codings(root, &name, &head.headers);
        Some(Place { root: Arc::clone(root), name, codings })
    });
    let mut places = places.peekable();
    while let Some(place) = places.peek() {
        match place.open(&Folder::open_cached) {
            Ok(Found::Nothing) => drop(places.next()),
            Ok(found) => {
                let (head, body) = place.response(head, found);
                return Lookup::Response(head, body);
            }
            Err(_) => return Lookup::Blocked(places.collect()),
        }
    }
    Lookup::None
}

/// Returns the codings in which a file may be sent, the best one first. What follows no coding at all is not looked for.
fn codings(root: &Root, name: &Name, headers: &HeaderMap) -> Vec<Coding> {
    if !root.options.precompressed || !is_compressible(content_type(root.file_of(name))) {
        return vec![Coding::Identity];
    }
    let mut offered = [PRECOMPRESSED.as_slice(), &[Coding::Identity]].concat();
    let mut accepted = Vec::with_capacity(offered.len());
    while let Some(best) = preferred(headers.get_all(header::ACCEPT_ENCODING), &offered) {
        accepted.push(best);
        if best == Coding::Identity {
            break;
        }
        offered.retain(|coding| *coding != best);
    }
    accepted
}

impl Root {
    /// Returns the name that decides about the type.
    fn file_of<'a>(&'a self, name: &'a Name) -> &'a [u8] {
        if name.is_folder { self.options.index.as_deref().unwrap_or_default().as_bytes() } else { &name.path }
    }
}

type Opening<'a> = &'a dyn Fn(&Folder, &[u8]) -> Result<OwnedFd, Errno>;

impl Place {
    /// The place of a file as it is.
    pub fn plain(root: &Arc<Root>, name: Name) -> Place {
        Place { root: Arc::clone(root), name, codings: vec![Coding::Identity] }
    }

    /// Opens the first file that there is. It may block.
    pub fn find(places: Vec<Place>) -> Option<(Place, Found)> {
        places.into_iter().find_map(|place| match place.open(&Folder::open_beneath) {
            Ok(Found::Nothing) => None,
            Ok(found) => Some((place, found)),
            Err(errno) => Some((place, failed(errno))),
        })
    }

    /// Returns the response to a request with this head.
    pub fn response(&self, head: &Parts, found: Found) -> (Head, Body) {
        match found {
            Found::File { fd, stat, coding } => of_file(self, &head.method, &head.headers, fd, &stat, coding),
            Found::Folder => to_folder(head.uri.path(), head.uri.query()),
            Found::NotAcceptable => plain(StatusCode::NOT_ACCEPTABLE),
            Found::Failed(status) => plain(status),
            Found::Nothing => plain(StatusCode::NOT_FOUND),
        }
    }

    /// Opens the file, or says what else there is.
    ///
    /// # Errors
    /// `EAGAIN`: that cannot be seen without waiting.
    fn open(&self, open: Opening<'_>) -> Result<Found, Errno> {
        let (root, name) = (&self.root, &self.name);
        let index = root.options.index.as_deref();
        let below = |index: &str| {
            let folder = &name.path;
            if folder.is_empty() { index.as_bytes().to_vec() } else { [folder, index.as_bytes()].join(&b'/') }
        };
        let path = match (name.is_folder, index) {
            (false, _) if name.path.is_empty() => {
                return self.folder(index.map(below), open);
            }
            (false, _) => name.path.clone(),
            (true, Some(index)) => below(index),
            (true, None) => return Ok(Found::Nothing),
        };
        match self.open_path(&path, open)? {
            Opened::Regular(fd, stat) => self.choose(&path, fd, stat, open),
            Opened::Folder if !name.is_folder => self.folder(index.map(below), open),
            Opened::Folder | Opened::Nothing => Ok(Found::Nothing),
            Opened::Failed(status) => Ok(Found::Failed(status)),
        }
    }

    fn folder(&self, index: Option<Vec<u8>>, open: Opening<'_>) -> Result<Found, Errno> {
        let Some(index) = index else { return Ok(Found::Nothing) };
        let is_there = matches!(self.open_path(&index, open)?, Opened::Regular(..));
        Ok(if is_there { Found::Folder } else { Found::Nothing })
    }

    fn open_path(&self, path: &[u8], open: Opening<'_>) -> Result<Opened, Errno> {
        let fd = match open(&self.root.folder, path) {
            Ok(fd) => fd,
            Err(Errno::AGAIN) => return Err(Errno::AGAIN),
            Err(errno) => {
                return Ok(match failed(errno) {
                    Found::Failed(status) => Opened::Failed(status),
                    _ => Opened::Nothing,
                });
            }
        };
        let stat = fstat(&fd)?;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Opened::Regular(fd, stat),
            FileType::Directory => Opened::Folder,
            _ => Opened::Nothing,
        })
    }

    /// Chooses the file with the best coding.
    fn choose(&self, path: &[u8], fd: OwnedFd, stat: Stat, open: Opening<'_>) -> Result<Found, Errno> {
        for coding in &self.codings {
            let extension: &[u8] = match coding {
                Coding::Identity => return Ok(Found::File { fd, stat, coding: *coding }),
                Coding::Brotli => b".br",
                Coding::Zstd => b".zst",
                Coding::Gzip => b".gz",
            };
            // One that is older was made of something else.
            if let Opened::Regular(fd, encoded) = self.open_path(&[path, extension].concat(), open)?
                && modified(&encoded) >= modified(&stat)
            {
                return Ok(Found::File { fd, stat: encoded, coding: *coding });
            }
        }
        Ok(Found::NotAcceptable)
    }
}

enum Opened {
    Regular(OwnedFd, Stat),
    Folder,
    Nothing,
    Failed(StatusCode),
}

/// Maps an error from opening a file.
fn failed(errno: Errno) -> Found {
    failure(errno).map_or(Found::Nothing, Found::Failed)
}

/// Returns the status for an error of the system; `None` if there is no such file, it is not below the folder, it must not be read, it
/// is a socket, …
pub fn failure(errno: Errno) -> Option<StatusCode> {
    match errno {
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Some(StatusCode::SERVICE_UNAVAILABLE),
        Errno::IO | Errno::STALE | Errno::UCLEAN => Some(StatusCode::INTERNAL_SERVER_ERROR),
        _ => None,
    }
}

/// Returns a short answer, after which the connection is used further.
pub fn plain(status: StatusCode) -> (Head, Body) {
    let (mut head, body) = refusal(status);
    head.headers.remove(header::CONNECTION);
    (head, body)
}

/// Redirects to the URL of a folder, from which its pages' relative links are right. The location is relative too: a proxy may have
/// removed what the path had begun with.
pub fn to_folder(path: &str, query: Option<&str>) -> (Head, Body) {
    let last = path.rsplit('/').next().unwrap_or_default();
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let (mut head, body) = plain(StatusCode::MOVED_PERMANENTLY);
    match HeaderValue::from_str(&format!("./{last}/{query}")) {
        Ok(location) => head.headers.insert(header::LOCATION, location),
        Err(_) => return plain(StatusCode::NOT_FOUND),
    };
    (head, body)
}

fn of_file(
    place: &Place,
    method: &Method,
    request: &HeaderMap,
    fd: OwnedFd,
    stat: &Stat,
    coding: Coding,
) -> (Head, Body) {
    let options = &place.root.options;
    let content_type = content_type(place.root.file_of(&place.name));
    let length = u64::try_from(stat.st_size).unwrap_or(0);
    let validators = validators(stat, coding, SystemTime::now());
    let mut headers = HeaderMap::with_capacity(8);
    if options.precompressed && is_compressible(content_type) {
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    if let Some(value) = &options.cache_control {
        headers.insert(header::CACHE_CONTROL, value.clone());
    }
    if let Some(validators) = &validators {
        for (name, text) in [(header::ETAG, &validators.tag), (header::LAST_MODIFIED, &validators.date())] {
            if let Ok(value) = HeaderValue::from_str(text) {
                headers.insert(name, value);
            }
        }
    }
    let outcome = evaluate(method, request, validators.as_ref(), length);
    let (status, part) = match outcome {
        Outcome::NotModified => return (Head { status: StatusCode::NOT_MODIFIED, headers }, Body::Empty),
        Outcome::Failed => return plain(StatusCode::PRECONDITION_FAILED),
        Outcome::NotSatisfiable => {
            let (mut head, body) = plain(StatusCode::RANGE_NOT_SATISFIABLE);
            if let Some(range) = content_range(None, length) {
                head.headers.insert(header::CONTENT_RANGE, range);
            }
            return (head, body);
        }
        Outcome::Whole => (StatusCode::OK, 0..length),
        Outcome::Part(part) => {
            if let Some(range) = content_range(Some(&part), length) {
                headers.insert(header::CONTENT_RANGE, range);
            }
            (StatusCode::PARTIAL_CONTENT, part)
        }
    };
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    }
    let charset = if content_type.starts_with("text/") { "; charset=utf-8" } else { "" };
    if let Ok(value) = HeaderValue::from_str(&[content_type, charset].concat()) {
        headers.insert(header::CONTENT_TYPE, value);
    }
    (Head { status, headers }, Body::File(File::new(fd, part, stat)))
}

/// Returns the validators of this version of a file. They are made of the time of its last change (`ctime`), which is also new
/// for a file that replaces it with an older date and the same size.
fn validators(stat: &Stat, coding: Coding, now: SystemTime) -> Option<Validators> {
    let (seconds, nanoseconds) = (u64::try_from(stat.st_ctime).ok()?, stat.st_ctime_nsec);
    let changed = UNIX_EPOCH + Duration::new(seconds, u32::try_from(nanoseconds).ok()?);
    if now.duration_since(changed).ok()? < SETTLED {
        return None;
    }
    let suffix = if coding == Coding::Identity { "" } else { coding.name() };
    let (modified, fraction) = modified(stat);
    let tag = format!("\"{seconds:x}.{nanoseconds:x}-{modified:x}.{fraction:x}-{:x}{suffix}\"", stat.st_size);
    Some(Validators { tag, modified: seconds })
}

/// Returns the type of a file by its name.
fn content_type(path: &[u8]) -> &'static str {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let extension =
        name.iter().rposition(|byte| *byte == b'.').and_then(|at| std::str::from_utf8(&name[at + 1..]).ok());
    extension.and_then(|it| mime_guess::from_ext(it).first_raw()).unwrap_or("application/octet-stream")
}

/// Returns `true` if files of a type become smaller by a coding.
fn is_compressible(content_type: &str) -> bool {
    let parts = ["json", "javascript", "xml", "wasm", "manifest", "ttf", "otf", "fontobject", "sql", "rtf", "icon"];
    content_type.starts_with("text/") || parts.iter().any(|part| content_type.contains(part))
}
