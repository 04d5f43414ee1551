//! Which script a URL names: one that is there, below the folder of its site, and nothing else.
//!
//! Only what ends with `.php`, and is a file where the URL says, is run. A URL that names nothing is for the script in front of all,
//! `index.php`. No part of a name is tried in place of the whole: `/uploads/picture.jpg/x.php` names a file that there is not.

use crate::files::beneath::Folder;
use crate::files::failure;
use http::StatusCode;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The script of a folder, and that in front of all.
const INDEX: &[u8] = b"index.php";

/// What a request is for.
#[derive(PartialEq, Eq, Debug)]
pub enum Found {
    Script(Script),
    /// A folder, whose URL has no slash at its end.
    Folder,
    /// Nothing that is run.
    Refused(StatusCode),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// Its path from the folder of the site on.
    pub name: Vec<u8>,
    /// What follows it in the URL, with a slash, or nothing.
    pub info: Vec<u8>,
}

/// A path of a URL, decoded and without dots, as nginx has it.
#[derive(PartialEq, Eq, Debug)]
pub struct Path {
    parts: Vec<Vec<u8>>,
    /// It has a slash at its end.
    is_folder: bool,
    /// It may name a file: no part of it has a slash, a backslash or a control character that is encoded.
    is_plain: bool,
}

impl Path {
    /// Reads what follows the prefix of a site.
    ///
    /// # Errors
    /// It is no path.
    pub fn read(text: &str) -> Result<Path, StatusCode> {
        let (mut parts, mut part, mut is_plain) = (Vec::new(), Vec::new(), true);
        let mut bytes = text.bytes();
        loop {
            let byte = bytes.next();
            match byte {
                None | Some(b'/') => {
                    let is_name = !matches!(&*part, b"" | b"." | b"..");
                    let part = std::mem::take(&mut part);
                    if is_name {
                        parts.push(part);
                    } else if part == b".." {
                        drop(parts.pop().ok_or(StatusCode::BAD_REQUEST)?);
                    }
                    if byte.is_none() {
                        return Ok(Path { parts, is_folder: !is_name, is_plain });
                    }
                }
                Some(b'%') => {
                    let mut digit = || char::from(bytes.next()?).to_digit(16);
                    let (Some(high), Some(low)) = (digit(), digit()) else { return Err(StatusCode::BAD_REQUEST) };
                    let decoded = (high * 16 + low) as u8;
                    if decoded == 0 {
                        return Err(StatusCode::BAD_REQUEST);
                    }
                    is_plain &= !matches!(decoded, b'/' | b'\\') && !decoded.is_ascii_control();
                    part.push(decoded);
                }
                Some(byte) => {
                    is_plain &= byte != b'\\' && !byte.is_ascii_control();
                    part.push(byte);
                }
            }
        }
    }

    /// Returns the parts after the one with this number, with slashes, or nothing.
    fn after(&self, number: usize) -> Vec<u8> {
        let mut info = Vec::new();
        for part in &self.parts[number + 1..] {
            info.push(b'/');
            info.extend_from_slice(part);
        }
        if self.is_folder {
            info.push(b'/');
        }
        info
    }

    /// Returns `true` if one of the first `count` parts begins with a dot.
    fn is_hidden(&self, count: usize) -> bool {
        let is_known = |number: usize, part: &[u8]| number == 0 && part == b".well-known";
        self.parts[..count].iter().enumerate().any(|(number, part)| part.starts_with(b".") && !is_known(number, part))
    }
}

/// Looks at a file, as [`Folder::look_cached`] and [`Folder::look_beneath`] do.
pub type Looking<'a> = &'a dyn Fn(&Folder, &[u8]) -> Result<OwnedFd, Errno>;

enum Kind {
    File,
    Folder,
    Nothing,
}

fn kind(folder: &Folder, name: &[u8], look: Looking<'_>) -> Result<Kind, Errno> {
    let fd = match look(folder, name) {
        Ok(fd) => fd,
        Err(errno) if failure(errno).is_some() => return Err(errno),
        Err(_) => return Ok(Kind::Nothing),
    };
    Ok(match FileType::from_raw_mode(fstat(&fd)?.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        _ => Kind::Nothing,
    })
}

/// Finds what a path names below a folder. `has_front`: what is not there is for the script in front.
///
/// # Errors
/// The system has failed, or with `EAGAIN`, it cannot be seen without waiting.
pub fn find(folder: &Folder, path: &Path, has_front: bool, look: Looking<'_>) -> Result<Found, Errno> {
    let script = |name: Vec<u8>, info| Found::Script(Script { name, info });
    let is_file = |name: &[u8]| kind(folder, name, look).map(|kind| matches!(kind, Kind::File));
    let number = path.parts.iter().position(|part| path.is_plain && part.ends_with(b".php"));
    // What follows a script names no file.
    if path.is_hidden(number.map_or(path.parts.len(), |number| number + 1)) {
        return Ok(Found::Refused(StatusCode::FORBIDDEN));
    }
    if path.is_plain {
        if let Some(number) = number {
            let name = path.parts[..=number].join(&b'/');
            return Ok(if is_file(&name)? {
                script(name, path.after(number))
            } else {
                Found::Refused(StatusCode::NOT_FOUND)
            });
        }
        let name = path.parts.join(&b'/');
        let found = if name.is_empty() { Kind::Folder } else { kind(folder, &name, look)? };
        match found {
            Kind::Folder if !path.is_folder => return Ok(Found::Folder),
            Kind::Folder => {
                let index = path.parts.iter().map(Vec::as_slice).chain([INDEX]).collect::<Vec<_>>().join(&b'/');
                let is_there = is_file(&index)?;
                return Ok(if is_there { script(index, Vec::new()) } else { Found::Refused(StatusCode::FORBIDDEN) });
            }
            // One that is not sent, as code, or for which another method is used.
            Kind::File if !path.is_folder => return Ok(Found::Refused(StatusCode::NOT_FOUND)),
            Kind::File | Kind::Nothing => {}
        }
    }
    Ok(if has_front && is_file(INDEX)? {
        script(INDEX.to_vec(), Vec::new())
    } else {
        Found::Refused(StatusCode::NOT_FOUND)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn of(folder: &Folder, url: &str) -> String {
        let path = match Path::read(url) {
            Ok(path) => path,
            Err(status) => return status.as_u16().to_string(),
        };
        let found = find(folder, &path, true, &Folder::look_beneath).unwrap();
        assert_eq!(
            find(&folder.clone().without_openat2(), &path, true, &Folder::look_beneath).unwrap(),
            found,
            "{url}"
        );
        match found {
            Found::Script(script) => {
                format!("{} {}", String::from_utf8_lossy(&script.name), String::from_utf8_lossy(&script.info))
            }
            Found::Folder => "folder".to_owned(),
            Found::Refused(status) => status.as_u16().to_string(),
        }
    }

    #[test]
    fn only_scripts_that_are_there_are_run() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        for folder in ["admin", "uploads", "empty", "odd.php", ".git", ".well-known"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "index.php",
            "a.php",
            "admin/index.php",
            "admin/b.php",
            "uploads/x.jpg",
            "odd.php/c.php",
            ".git/x.php",
            "a.inc",
            ".well-known/w.php",
            "c d.php",
            "a.php.bak",
        ] {
            fs::write(root.join(file), "").unwrap();
        }
        fs::write(place.path().join("secret.php"), "").unwrap();
        symlink("../secret.php", root.join("out.php")).unwrap();
        symlink("..", root.join("up")).unwrap();
        let folder = Folder::open(&root).unwrap();
        for (url, found) in [
            ("/", "index.php "),
            ("", "index.php "),
            ("/a.php", "a.php "),
            ("/a.php/", "a.php /"),
            ("/a.php/b/c%20d/", "a.php /b/c d/"),
            ("/a.php/b.php", "a.php /b.php"),
            ("/a.php/.env/..b", "a.php /.env/..b"),
            ("/.a/a.php/b", "403"),
            ("/a.php/.b%2fc", "403"),
            ("//a.php", "a.php "),
            ("/admin//./b.php", "admin/b.php "),
            ("/admin/../a.php", "a.php "),
            ("/%61.%70hp", "a.php "),
            ("/c%20d.php", "c d.php "),
            ("/admin/", "admin/index.php "),
            ("/admin/.", "admin/index.php "),
            ("/admin", "folder"),
            ("/empty/", "403"),
            ("/post/name/", "index.php "),
            ("/post%2fname", "index.php "),
            ("/%e4", "index.php "),
            ("/.well-known/x", "index.php "),
            ("/.well-known/w.php", ".well-known/w.php "),
            ("/a.php~", "index.php "),
            ("/a.PHP", "index.php "),
            // What is not run.
            ("/b.php", "404"),
            ("/uploads/x.jpg/y.php", "404"),
            ("/uploads/x.jpg%00.php", "400"),
            ("/uploads/x.jpg", "404"),
            ("/uploads/x.jpg/", "index.php "),
            ("/uploads/x.jpg%2fy.php", "index.php "),
            ("/uploads/x.jpg%5cy.php", "index.php "),
            ("/a.php%0a", "index.php "),
            ("/a.inc", "404"),
            ("/a.php.bak", "404"),
            ("/odd.php/c.php", "404"),
            ("/out.php", "404"),
            ("/up/secret.php", "404"),
            ("/up/root/a.php", "404"),
            ("/..", "400"),
            ("/../secret.php", "400"),
            ("/%2e%2e/secret.php", "400"),
            ("/admin/../../secret.php", "400"),
            ("/..%2fsecret.php", "403"),
            ("/.git/x.php", "403"),
            ("/.env", "403"),
            ("/a/.well-known/x", "403"),
            ("/.php", "403"),
            ("/%", "400"),
            ("/%4", "400"),
            ("/%zz", "400"),
        ] {
            assert_eq!(of(&folder, url), found, "{url}");
        }
        // Where the system fails, it is not known whether there is one.
        for (url, errno) in
            [("/a.php", Errno::MFILE), ("/post/name", Errno::NFILE), ("/admin/", Errno::IO), ("/", Errno::AGAIN)]
        {
            let path = Path::read(url).unwrap();
            assert_eq!(find(&folder, &path, true, &|_, _| Err(errno)), Err(errno), "{url}");
        }
        fs::remove_file(root.join("index.php")).unwrap();
        assert_eq!(of(&folder, "/post/name"), "404");
        assert_eq!(of(&folder, "/"), "403");
    }
}
