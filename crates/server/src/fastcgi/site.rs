//! A folder of scripts that a FastCGI server runs.

use super::backend::{Backend, Peer};
use super::script::{self, Found, Path};
use super::sendfile::Sendable;
use crate::event_loop::{EventLoop, Job};
use crate::files::beneath::Folder;
use crate::files::failure;
use http::StatusCode;
use rustix::io::Errno;
use std::future::poll_fn;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path;
use std::rc::Rc;

/// How a folder of scripts is served.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// The folder as the FastCGI server sees it, if that is in another place for it.
    pub document_root: Option<Vec<u8>>,
    /// What is not there is for `index.php`.
    pub front_controller: bool,
    /// How many requests the FastCGI server has at the same time. Further ones wait.
    pub connections: usize,
    /// How many connections are kept for further requests.
    pub keep: usize,
    /// Folders whose files scripts may have sent in their place, each with the URL that stands for it.
    pub sendfile: Vec<(String, path::PathBuf)>,
}

impl Default for SiteOptions {
    fn default() -> SiteOptions {
        SiteOptions { document_root: None, front_controller: true, connections: 64, keep: 0, sendfile: Vec::new() }
    }
}

/// A folder of scripts.
pub struct Site {
    /// What its URLs begin with, without a slash at the end.
    pub prefix: String,
    folder: Folder,
    /// The folder as the FastCGI server sees it.
    pub root: Vec<u8>,
    has_front: bool,
    /// The FastCGI server.
    pub backend: Rc<Backend>,
    /// Folders whose files scripts may have sent.
    pub sendable: Vec<Sendable>,
}

impl Site {
    /// Opens the folder for URLs that begin with `prefix`, which begins with a slash. `shown` is how lines of the error log name the
    /// FastCGI server.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn open(
        prefix: &str,
        (peer, shown): (Peer, &str),
        folder: &path::Path,
        options: SiteOptions,
    ) -> io::Result<Site> {
        let root = options
            .document_root
            .map_or_else(|| path::absolute(folder).map(|root| root.as_os_str().as_bytes().to_vec()), Ok)?;
        let root = root.strip_suffix(b"/").map_or(root.clone(), <[u8]>::to_vec);
        Ok(Site {
            prefix: prefix.trim_end_matches('/').to_owned(),
            folder: Folder::open(folder)?,
            root,
            has_front: options.front_controller,
            sendable: options
                .sendfile
                .iter()
                .map(|(prefix, folder)| Sendable::open(prefix, folder))
                .collect::<Result<_, _>>()?,
            backend: Backend::new(peer, shown, options.connections, options.keep),
        })
    }

    /// Returns the part of a path that follows the prefix in a URL; `None` if it is not one of this site.
    pub fn rest<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(&self.prefix)?;
        (rest.is_empty() && !path.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    /// Finds what a URL names, if that can be seen without waiting.
    pub fn find_cached(&self, rest: &str) -> Option<Found> {
        let path = match Path::read(rest) {
            Ok(path) => path,
            Err(status) => return Some(Found::Refused(status)),
        };
        match script::find(&self.folder, &path, self.has_front, &Folder::look_cached) {
            Ok(found) => Some(found),
            Err(Errno::AGAIN) => None,
            Err(errno) => Some(failed(errno)),
        }
    }

    /// Finds it on another thread.
    pub async fn find(&self, event_loop: &EventLoop, rest: &str) -> Found {
        let path = match Path::read(rest) {
            Ok(path) => path,
            Err(status) => return Found::Refused(status),
        };
        let (folder, has_front) = (self.folder.clone(), self.has_front);
        let job = Job::spawn(event_loop, move || script::find(&folder, &path, has_front, &Folder::look_beneath));
        match poll_fn(|cx| job.poll(cx)).await {
            Some(Ok(found)) => found,
            Some(Err(errno)) => failed(errno),
            None => Found::Refused(StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

fn failed(errno: Errno) -> Found {
    Found::Refused(failure(errno).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_has_the_urls_below_its_prefix() {
        let peer = Peer::Unix("/none".into());
        let open =
            |prefix| Site::open(prefix, (peer.clone(), ""), path::Path::new("/"), SiteOptions::default()).unwrap();
        let (all, blog) = (open("/"), open("/blog/"));
        assert_eq!(all.rest("/a/b"), Some("/a/b"));
        assert_eq!(all.rest("/"), Some("/"));
        assert_eq!(all.rest("*"), None);
        assert_eq!(blog.rest("/blog"), Some(""));
        assert_eq!(blog.rest("/blog/"), Some("/"));
        assert_eq!(blog.rest("/blog/a"), Some("/a"));
        for other in ["/blogs", "/", "/a/blog", "*", "/Blog/"] {
            assert_eq!(blog.rest(other), None, "{other}");
        }
        assert_eq!(all.root, b"");
    }
}
