//! The output folder. Nothing is written outside of it, files appear only when they are complete, and no file that was read is
//! replaced.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

pub struct Tree {
    dir: PathBuf,
    /// The files that are read, by device and number.
    inputs: HashSet<(u64, u64)>,
}

/// A path that could not be written, and why.
type Failure = (PathBuf, io::Error);

impl Tree {
    /// A file of `inputs` that cannot be found cannot be replaced either; reading it reports that.
    pub fn new(dir: &Path, inputs: &[OsString]) -> Tree {
        let inputs = inputs.iter().filter_map(|input| identity(Path::new(input))).collect();
        Tree { dir: dir.to_path_buf(), inputs }
    }

    /// Writes what is to have the path `input` in this folder. Of `mode` it has the permissions, but not more than the
    /// process's umask allows.
    pub fn write(&self, input: &Path, text: &[u8], mode: u32) -> Result<(), Failure> {
        let relative = relative(input).ok_or_else(|| (input.to_path_buf(), refused("would not be in the folder")))?;
        let folder = self.make_folder(relative.parent())?;
        let path = self.dir.join(&relative);
        if identity(&path).is_some_and(|output| self.inputs.contains(&output)) {
            return Err((path, refused("is one of the files that are read: it is not replaced")));
        }
        put(&folder, &path, text, mode).map_err(|error| (path, error))
    }

    /// Below the folder itself, which is wherever the user says, a link would lead out of it.
    fn make_folder(&self, below: Option<&Path>) -> Result<PathBuf, Failure> {
        let mut path = self.dir.clone();
        fs::create_dir_all(&path).map_err(|error| (path.clone(), error))?;
        for name in below.into_iter().flatten() {
            path.push(name);
            let made = match fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => is_folder(&path),
                made => made,
            };
            made.map_err(|error| (path.clone(), error))?;
        }
        Ok(path)
    }
}

/// The path as one below a folder; `None` when it may lead out of it.
pub fn relative(path: &Path) -> Option<PathBuf> {
    let mut below = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => below.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(below)
}

fn is_folder(path: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(path)?.file_type();
    if kind.is_dir() {
        Ok(())
    } else if kind.is_symlink() {
        Err(refused("is a symbolic link, which is not followed"))
    } else {
        Err(refused("Not a directory"))
    }
}

fn refused(why: &str) -> io::Error {
    io::Error::other(why)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Beside it first, under a name of its own, then in its place.
fn put(folder: &Path, path: &Path, text: &[u8], mode: u32) -> io::Result<()> {
    let (mut file, temporary) = create_beside(folder, mode)?;
    let written = file.write_all(text).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary); // the first error is the one to report
    }
    written
}

fn create_beside(folder: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut attempt = 0;
    loop {
        let path = folder.join(format!(".spindle.{}.{attempt}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode & 0o777).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Left by a process that was killed and had this number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}
