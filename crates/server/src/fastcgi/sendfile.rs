//! Files that a script has sent in its place, by `X-Accel-Redirect` or `X-Sendfile`: those below declared folders.

use crate::files::name::{self, Name};
use crate::files::{FileOptions, Place, Root};
use crate::response::SENDFILE_HEADERS;
use http::header::{HeaderMap, HeaderName};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A folder whose files scripts may have sent.
pub struct Sendable {
    /// What `X-Accel-Redirect` begins with, without a slash at the end.
    prefix: String,
    /// What `X-Sendfile` begins with: the path as it was declared, and without symbolic links.
    paths: Vec<Vec<u8>>,
    root: Arc<Root>,
}

impl Sendable {
    /// Opens the folder.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(prefix: &str, folder: &Path) -> io::Result<Sendable> {
        let options = FileOptions { index: None, precompressed: false, ..FileOptions::default() };
        let root = Arc::new(Root::open(prefix, folder, options)?);
        let paths = [std::path::absolute(folder)?, std::fs::canonicalize(folder)?];
        let text = |path: &std::path::PathBuf| {
            let bytes = path.as_os_str().as_bytes();
            bytes.strip_suffix(b"/").unwrap_or(bytes).to_vec()
        };
        Ok(Sendable { prefix: prefix.trim_end_matches('/').to_owned(), paths: paths.iter().map(text).collect(), root })
    }

    /// Returns the file that a header names, if it is one of this folder.
    fn name(&self, header: &HeaderName, value: &[u8]) -> Option<Name> {
        if *header == SENDFILE_HEADERS[0] {
            let url = std::str::from_utf8(value).ok()?;
            return name::below(&self.prefix, url.split('?').next()?, false).filter(|name| !name.is_folder);
        }
        self.paths.iter().find_map(|path| name::of_path(value.strip_prefix(&**path)?))
    }
}

/// Returns the header that names a file, and its value.
pub fn asked(headers: &HeaderMap) -> Option<(&HeaderName, &[u8])> {
    SENDFILE_HEADERS.iter().find_map(|name| Some((name, headers.get(name)?.as_bytes())))
}

/// Returns the places in these folders where the file that a header names may be.
pub fn places(folders: &[Sendable], headers: &HeaderMap) -> Vec<Place> {
    let Some((header, value)) = asked(headers) else { return Vec::new() };
    folders.iter().filter_map(|one| Some(Place::plain(&one.root, one.name(header, value)?))).collect()
}
