//! Which program php-fpm is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Finds the php-fpm of this version of PHP, or the one that is named.
///
/// # Errors
/// There is none.
pub fn find(named: Option<&OsStr>, version: u32, folder: &Path) -> Result<PathBuf, String> {
    let (major, minor) = (version / 10_000, version / 100 % 100);
    let names = named
        .map_or_else(|| vec![format!("php-fpm{major}.{minor}").into(), "php-fpm".into()], |name| vec![name.to_owned()]);
    // It is often where only the PATH of root leads to.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> =
        std::env::split_paths(&path).chain(["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from)).collect();
    let is_program = |file: &PathBuf| file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok();
    let places = names.iter().flat_map(|name| match Path::new(name).components().count() {
        1 => folders.iter().map(|place| folder.join(place).join(name)).collect(),
        _ => vec![folder.join(name)],
    });
    let found = places.into_iter().find(is_program);
    found.ok_or_else(|| match named {
        Some(name) => format!("--fpm: there is no program '{}'", name.to_string_lossy()),
        None => "there is no php-fpm, which classic mode needs: --fpm names one".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::find;
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn the_program_is_looked_for() {
        let of = |name: &str| find(Some(OsStr::new(name)), 80_200, Path::new("/"));
        assert_eq!(of("bin/sh"), Ok("/bin/sh".into()));
        assert!(of("sh").is_ok());
        assert_eq!(of("no-such-program"), Err("--fpm: there is no program 'no-such-program'".to_owned()));
        assert_eq!(of("/etc/passwd"), Err("--fpm: there is no program '/etc/passwd'".to_owned()));
    }
}
