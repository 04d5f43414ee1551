//! Which file a URL names.

/// The extensions of source code, which is never sent.
const CODE: &[&str] = &["inc", "phar", "php", "php3", "php4", "php5", "php7", "php8", "phps", "pht", "phtml"];

/// A file below a folder, as a URL names it.
#[derive(PartialEq, Eq, Debug)]
pub struct Name {
    /// The path from the folder on. It has no component that is empty, `.` or `..`; empty: the folder itself.
    pub path: Vec<u8>,
    /// The URL has a trailing slash.
    pub is_folder: bool,
}

/// Resolves the path of a URL below a prefix that has no trailing slash. Returns `None` if it is not below the
/// prefix, or is no path of a file that is sent:
///
/// - a component that is empty, `.` or `..`, also if it is encoded. Browsers have resolved them; and a URL that begins with two
///   slashes would lead elsewhere in a redirect. One that begins with a dot, unless `dot_files` is set;
/// - a slash, a backslash or a control character that is encoded, or something that is no encoding;
/// - the name of code.
pub fn below(prefix: &str, path: &str, dot_files: bool) -> Option<Name> {
    let rest = path.strip_prefix(prefix)?;
    let Some(rest) = rest.strip_prefix('/') else {
        return rest.is_empty().then(|| Name { path: Vec::new(), is_folder: false });
    };
    let is_folder = rest.is_empty() || rest.ends_with('/');
    let mut decoded = Vec::with_capacity(rest.len());
    if !rest.is_empty() {
        for component in rest.strip_suffix('/').unwrap_or(rest).split('/') {
            if !decoded.is_empty() {
                decoded.push(b'/');
            }
            let start = decoded.len();
            decode(component.as_bytes(), &mut decoded)?;
            if !is_sent(&decoded[start..], dot_files) {
                return None;
            }
        }
    }
    Some(Name { path: decoded, is_folder })
}

/// Resolves the rest of a path of this system that is below a folder, in the same way. Nothing in it is encoded.
pub fn of_path(rest: &[u8]) -> Option<Name> {
    let path = rest.strip_prefix(b"/")?;
    let is_fine = |part: &[u8]| is_sent(part, false) && !part.iter().any(u8::is_ascii_control);
    path.split(|byte| *byte == b'/').all(is_fine).then(|| Name { path: path.to_vec(), is_folder: false })
}

fn decode(text: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => {
                let digits = [*bytes.next()?, *bytes.next()?].map(|digit| char::from(digit).to_digit(16));
                let [Some(high), Some(low)] = digits else { return None };
                (high * 16 + low) as u8
            }
            other => *other,
        };
        if matches!(byte, b'/' | b'\\') || byte.is_ascii_control() {
            return None;
        }
        to.push(byte);
    }
    Some(())
}

fn is_sent(name: &[u8], dot_files: bool) -> bool {
    let is_name = !matches!(name, b"" | b"." | b"..");
    is_name && (dot_files || !name.starts_with(b".")) && !is_code(name)
}

/// Returns `true` if a file of this name has code of PHP.
#[must_use]
pub fn is_code(name: &[u8]) -> bool {
    // Also in `index.php.bak` and `index.php~`, which editors leave, and in `index.php.gz`.
    let mut extensions = name.split(|byte| *byte == b'.').skip(1);
    extensions.any(|extension| {
        let extension = extension.strip_suffix(b"~").unwrap_or(extension);
        CODE.iter().any(|code| extension.eq_ignore_ascii_case(code.as_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<String> {
        below("", path, false).map(|name| {
            let path = String::from_utf8_lossy(&name.path).into_owned();
            if name.is_folder { format!("{path}/") } else { path }
        })
    }

    #[test]
    fn names_are_decoded_once() {
        for (path, name) in [
            ("/", "/"),
            ("/a", "a"),
            ("/a/", "a/"),
            ("/a/b.txt", "a/b.txt"),
            ("/a%20b", "a b"),
            ("/%41", "A"),
            ("/a+b", "a+b"),
            ("/%25", "%"),
            ("/%252e%252e/x", "%2e%2e/x"),
            ("/%C3%A4", "\u{e4}"),
            ("/a..b", "a..b"),
            ("/a:b@c", "a:b@c"),
            ("/a.", "a."),
        ] {
            assert_eq!(of(path).as_deref(), Some(name), "{path}");
        }
    }

    #[test]
    fn what_would_leave_the_folder_or_is_ambiguous_is_no_name() {
        let paths = "/.. /../x /a/.. /a/../b /. /./a /a/. // //a /a//b /a// /%2e%2e/x /%2E./x /a/%2e%2e /%2e /a%2fb \
            /..%2f..%2fetc /%2Fetc /a%5cb /..%5c.. /a\\b /\\evil /a%00 /%00 /a%0ab /a%7f /% /a%2 /a%zz /%+1 /%-1 /%%41 * x http://x/";
        for path in paths.split_ascii_whitespace() {
            assert_eq!(below("", path, true), None, "{path}");
        }
    }

    #[test]
    fn hidden_files_are_sent_only_if_that_is_wanted() {
        for path in ["/.env", "/.git/config", "/a/.htpasswd", "/%2eenv", "/...", "/..a"] {
            assert_eq!(of(path), None, "{path}");
            assert!(below("", path, true).is_some(), "{path}");
        }
    }

    #[test]
    fn code_is_not_sent() {
        let paths = "/index.php /index.PHP /a.pHp /index.php~ /index.php.bak /index.php.gz /a.phtml /a.phar /a.php5 /a.inc \
            /index%2ephp /index.%70hp /a.php.txt /a.php/x.txt /.php";
        for path in paths.split_ascii_whitespace() {
            assert_eq!(below("", path, true), None, "{path}");
        }
        for path in ["/php", "/a.phpx", "/php.txt", "/graph"] {
            assert!(of(path).is_some(), "{path}");
        }
    }

    #[test]
    fn paths_of_the_system() {
        let of = |path: &str| of_path(path.as_bytes()).map(|name| String::from_utf8(name.path).unwrap());
        assert_eq!(of("/a/b c%20.zip").as_deref(), Some("a/b c%20.zip"));
        for path in ["", "a", "/", "//a", "/a/", "/../a", "/a/../b", "/.env", "/a.php", "/a\0"] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn a_prefix_ends_with_a_component() {
        let of =
            |path| below("/assets", path, false).map(|name| (String::from_utf8(name.path).unwrap(), name.is_folder));
        assert_eq!(of("/assets/a.css"), Some(("a.css".into(), false)));
        assert_eq!(of("/assets/"), Some((String::new(), true)));
        assert_eq!(of("/assets"), Some((String::new(), false)));
        for path in ["/assetsx", "/assets2/a", "/", "/asset", "/other/assets/a", "/assets//a", "/assets/../a"] {
            assert_eq!(of(path), None, "{path}");
        }
    }
}
