//! The files of the tree.

use std::{fs, io, path::Path};

/// Folders that are not part of the sources.
pub const SKIPPED: &[&str] = &[".git", "build", "target"];

/// Returns the paths of all files, from the root, in order.
pub fn files(root: &Path) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    collect(root, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(root: &Path, folder: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if entry.file_type()?.is_dir() { collect(root, &path, found)? } else { found.push(path) }
    }
    Ok(())
}
