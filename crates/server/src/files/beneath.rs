//! Opening files below a folder, and nowhere else: the kernel refuses what leads out of it.

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

/// How a file is opened: opening a FIFO does not block, and a terminal does not become the controlling one.
const OPEN: OFlags =
    OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::LARGEFILE);

/// How something is opened that is only looked at, which need not be readable.
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);

/// How a folder is opened, which need not be readable.
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How often the kernel is asked again when folders are renamed meanwhile.
const TRIES: usize = 16;

/// A folder.
#[derive(Clone)]
pub struct Folder {
    fd: Arc<OwnedFd>,
    /// The kernel has `openat2` (Linux 5.6), and lets it be used.
    has_openat2: bool,
}

impl Folder {
    /// Opens a folder. It stays the same when it is renamed.
    ///
    /// # Errors
    /// It cannot be opened, or is none.
    pub fn open(path: &Path) -> Result<Folder, Errno> {
        let fd = rustix::fs::open(path, FOLDER, Mode::empty())?;
        let has_openat2 = openat2(&fd, ".", FOLDER, Mode::empty(), BENEATH).is_ok();
        Ok(Folder { fd: Arc::new(fd), has_openat2 })
    }

    /// As if the kernel had no `openat2`.
    pub fn without_openat2(mut self) -> Folder {
        self.has_openat2 = false;
        self
    }

    /// Opens what this path names below the folder, if no folder has to be read for it: otherwise the error is `EAGAIN`.
    ///
    /// # Errors
    /// See [`open_beneath`](Folder::open_beneath).
    pub fn open_cached(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.cached(path, OPEN)
    }

    /// The same, to be looked at.
    ///
    /// # Errors
    /// See [`open_beneath`](Folder::open_beneath).
    pub fn look_cached(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.cached(path, LOOK)
    }

    fn cached(&self, path: &[u8], how: OFlags) -> Result<OwnedFd, Errno> {
        if !self.has_openat2 {
            return Err(Errno::AGAIN);
        }
        match openat2(&*self.fd, path, how, Mode::empty(), BENEATH | ResolveFlags::CACHED) {
            Err(Errno::INVAL) => Err(Errno::AGAIN), // before Linux 5.12
            opened => opened,
        }
    }

    /// Opens what this path names below the folder. Symbolic links are followed as long as they lead nowhere else; without
    /// `openat2` none are. May block.
    ///
    /// # Errors
    /// There is no such file, or it is not below the folder.
    pub fn open_beneath(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.beneath(path, OPEN)
    }

    /// The same, to be looked at.
    ///
    /// # Errors
    /// See [`open_beneath`](Folder::open_beneath).
    pub fn look_beneath(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        self.beneath(path, LOOK)
    }

    fn beneath(&self, path: &[u8], how: OFlags) -> Result<OwnedFd, Errno> {
        if !self.has_openat2 {
            return self.walk(path, how);
        }
        for _ in 0..TRIES {
            match openat2(&*self.fd, path, how, Mode::empty(), BENEATH) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                opened => return opened,
            }
        }
        Err(Errno::AGAIN)
    }

    /// Opens one component after the other, and follows no link. No component is `..`.
    fn walk(&self, path: &[u8], last: OFlags) -> Result<OwnedFd, Errno> {
        let mut at = None::<OwnedFd>;
        let mut components = path.split(|byte| *byte == b'/').peekable();
        while let Some(name) = components.next() {
            if name.is_empty() || name == b".." {
                return Err(Errno::INVAL);
            }
            let folder = at.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            let is_last = components.peek().is_none();
            let how = if is_last { last } else { FOLDER };
            at = Some(openat(folder, name, how | OFlags::NOFOLLOW, Mode::empty())?);
        }
        at.ok_or(Errno::INVAL)
    }
}

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_is_below_the_folder_is_opened() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        fs::write(root.join("a/b/c"), "c").unwrap();
        symlink("../a/b/c", root.join("a/inside")).unwrap();
        symlink("../secret", root.join("out")).unwrap();
        symlink("../../secret", root.join("a/out")).unwrap();
        symlink(root.join("a/b/c"), root.join("absolute")).unwrap();
        symlink("..", root.join("up")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        let folder = Folder::open(&root).unwrap();
        assert!(folder.has_openat2, "this kernel has openat2");
        let bare = folder.clone().without_openat2();
        for path in
            ["out", "a/out", "absolute", "up/secret", "up", "loop", "magic/etc/passwd", "nothing", "a/b/c/d", "a/.."]
        {
            if path != "a/.." {
                assert!(folder.open_beneath(path.as_bytes()).is_err(), "{path}");
                assert!(folder.open_cached(path.as_bytes()).is_err(), "{path}");
            }
            assert!(bare.open_beneath(path.as_bytes()).is_err(), "{path}, without openat2");
        }
        for path in ["a/b/c", "a"] {
            assert!(folder.open_beneath(path.as_bytes()).is_ok(), "{path}");
            assert!(bare.open_beneath(path.as_bytes()).is_ok(), "{path}, without openat2");
        }
        assert!(folder.open_beneath(b"a/inside").is_ok());
        assert!(bare.open_beneath(b"a/inside").is_err(), "links are not followed");
        assert_eq!(bare.open_cached(b"a").unwrap_err(), Errno::AGAIN);
    }
}
