//! Why a PHP is not supported, and why it does not load the module: one line on what is there and what is needed.

use super::facts::Facts;

/// Returns the problems of this PHP.
pub fn of_php(facts: &Facts) -> Vec<String> {
    let version = &facts.version;
    let mut problems = Vec::new();
    if facts.version_id < 80_200 {
        problems.push(format!("this is PHP {version}: Spindle needs PHP 8.2 or later"));
    }
    if facts.zts {
        problems
            .push(format!("this PHP {version} is thread-safe (ZTS): Spindle needs one without thread safety (NTS)"));
    }
    if facts.debug {
        problems.push(format!("this PHP {version} is a debug build: Spindle needs one built without --enable-debug"));
    }
    problems
}

/// Returns why the module was not loaded, from PHP's messages. `None` if none of them concerns it.
pub fn of_module(messages: &str, facts: &Facts) -> Option<String> {
    let about: Vec<_> = messages.lines().filter(|line| line.to_ascii_lowercase().contains("spindle")).collect();
    if let Some(line) = about.iter().find(|line| line.contains("Spindle cannot be loaded together with")) {
        let start = line.find("Spindle cannot").unwrap_or(0);
        return Some(without_place(&line[start..]).to_owned());
    }
    if let Some(line) = about.iter().find(|line| line.contains("because conflicting module")) {
        let other = line
            .split("conflicting module ")
            .nth(1)
            .and_then(|rest| rest.split('"').nth(1))
            .unwrap_or("another extension");
        return Some(format!(
            "Spindle cannot be loaded together with {other}: both switch stacks below the engine. Load one of them"
        ));
    }
    if messages.contains("Unable to initialize module") && !about.is_empty() {
        let after = |word: &str| {
            let text = messages.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
            text.into_iter().find_map(|line| Some(line.strip_prefix(word)?.to_owned()))
        };
        let module = after("Module compiled with ")?;
        let php = after("PHP compiled with ").unwrap_or_else(|| facts.build.clone());
        return Some(for_another(&module, &php, facts));
    }
    let line =
        about.iter().find(|line| line.contains("Unable to load dynamic library") || line.contains("Failed loading"))?;
    Some(of_loader(line, facts))
}

fn for_another(module: &str, php: &str, facts: &Facts) -> String {
    format!(
        "the module is for another PHP: it was built for {module}, and PHP {} is built with {php}; \
         build it with this PHP's php-config, or take the package for this version",
        facts.version
    )
}

/// Returns the build that the module in this file is for, such as `API20220829,NTS`.
fn build_of(file: &str) -> Option<String> {
    const LONGEST: usize = "API20220829,NTS,debug".len();
    let bytes = std::fs::read(file).ok()?;
    let is_number = |text: &[u8]| text.len() == 8 && text.iter().all(u8::is_ascii_digit);
    let starts =
        bytes.windows(12).position(|text| text.starts_with(b"API") && is_number(&text[3..11]) && text[11] == b',')?;
    let text =
        bytes[starts..].iter().take(LONGEST).take_while(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte));
    Some(text.collect())
}

/// Explains what the dynamic linker says.
fn of_loader(line: &str, facts: &Facts) -> String {
    let needs = |what: &str, why: &str| format!("PHP cannot load the module: {what}; {why}");
    // PHP tries the name as it is and with its folder and `.so`; the first message is about a file that was there, if one was.
    let tried = line.split_once("(tried: ").map_or(line, |(_, tried)| tried);
    let reasons: Vec<_> = tried.split("), ").filter_map(|part| Some(part.split_once(" (")?.1)).collect();
    let reason =
        reasons.iter().find(|reason| !reason.contains("No such file")).or(reasons.first()).copied().unwrap_or(line);
    let reason = without_place(reason).trim_end_matches(')');
    let file = reason.split(": ").next().unwrap_or_default();
    let build = build_of(file).filter(|build| !facts.build.is_empty() && *build != facts.build);
    if let Some(build) = build.filter(|_| reason.contains("undefined symbol")) {
        return for_another(&build, &facts.build, facts);
    }
    if let Some((_, symbol)) = reason.split_once("undefined symbol: ") {
        if ["core_globals", "executor_globals", "compiler_globals", "basic_globals", "sapi_globals"].contains(&symbol)
            || facts.zts
        {
            return needs(
                reason,
                "it is built for a PHP without thread safety (NTS), and this one is thread-safe (ZTS)",
            );
        }
        return needs(
            reason,
            "it is built for another version of PHP, or of a library: build it with this PHP's php-config",
        );
    }
    if reason.contains("GLIBC_") || reason.contains("GCC_") {
        return needs(reason, "it was built on a newer distribution: build it on this one");
    }
    if ["ELFCLASS", "invalid ELF header", "wrong ELF", "Exec format", "file too short"]
        .iter()
        .any(|part| reason.contains(part))
    {
        return needs(reason, "it is for another processor, or no shared object");
    }
    if reason.contains("libc.musl") || reason.contains("ld-linux") || reason.contains("libc.so") {
        return needs(reason, "it is built for another C library (glibc and musl differ)");
    }
    if reason.contains("No such file") && std::path::Path::new(file).is_file() {
        return needs(reason, "the file is there: it is for another processor");
    }
    if reason.contains("No such file") {
        return format!("PHP's configuration loads a Spindle that is not there: {reason}; 'make install' installs it");
    }
    needs(reason, "build it with this PHP's php-config")
}

/// Removes PHP's ` in Unknown on line 0`.
fn without_place(text: &str) -> &str {
    text.split(" in Unknown on line").next().unwrap_or(text).trim()
}

#[cfg(test)]
mod tests {
    use super::{Facts, of_module};

    fn why(messages: &str) -> String {
        of_module(messages, &Facts { version: "8.4.1".to_owned(), ..Facts::default() }).unwrap_or_default()
    }

    #[test]
    fn a_module_for_another_version() {
        let text = "PHP Warning:  PHP Startup: spindle: Unable to initialize module\nModule compiled with module API=20220829\n\
                    PHP    compiled with module API=20240924\nThese options need to match\n in Unknown on line 0\n";
        let why = why(text);
        assert!(
            why.contains("built for module API=20220829, and PHP 8.4.1 is built with module API=20240924;"),
            "{why}"
        );
        assert!(!why.contains('\n'));
    }

    #[test]
    fn a_module_that_the_linker_refuses() {
        let line = |reason: &str| {
            format!(
                "PHP Warning:  PHP Startup: Unable to load dynamic library 'spindle.so' (tried: /usr/lib/php/spindle.so \
                 (/usr/lib/php/spindle.so: {reason}), /usr/lib/php/spindle.so.so (/usr/lib/php/spindle.so.so: cannot open \
                 shared object file: No such file or directory)) in Unknown on line 0"
            )
        };
        for (reason, part) in [
            ("undefined symbol: core_globals", "this one is thread-safe"),
            ("undefined symbol: zend_call_known_fcc", "another version of PHP"),
            ("/lib/libc.so.6: version `GLIBC_2.38' not found (required by x)", "newer distribution"),
            ("wrong ELF class: ELFCLASS32", "another processor"),
            ("invalid ELF header", "another processor"),
            ("Error loading shared library ld-linux-x86-64.so.2: No such file", "PHP cannot load"),
        ] {
            let why = why(&line(reason));
            assert!(why.contains(part) || reason.contains("ld-linux"), "{reason}: {why}");
            assert!(!why.contains("Unknown on line"), "{why}");
        }
    }

    #[test]
    fn a_module_that_says_what_it_was_built_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"..API1,..API20220829,NTS\0..").unwrap();
        let path = file.path().display();
        let line = format!(
            "Unable to load dynamic library 'spindle' (tried: {path} ({path}: undefined symbol: zend_new)) in Unknown on line 0"
        );
        let facts = Facts { version: "8.4.1".to_owned(), build: "API20240924,NTS".to_owned(), ..Facts::default() };
        let why = of_module(&line, &facts).unwrap();
        assert!(
            why.contains("it was built for API20220829,NTS, and PHP 8.4.1 is built with API20240924,NTS;"),
            "{why}"
        );
        let line =
            line.replace("undefined symbol: zend_new", "cannot open shared object file: No such file or directory");
        assert!(of_module(&line, &facts).unwrap().ends_with("it is for another processor"));
    }

    #[test]
    fn a_module_that_is_not_there() {
        let text = "PHP Warning:  PHP Startup: Unable to load dynamic library 'spindle' (tried: /x/spindle (/x/spindle: cannot open \
                    shared object file: No such file or directory), /x/spindle.so (/x/spindle.so: cannot open shared object \
                    file: No such file or directory)) in Unknown on line 0";
        assert!(why(text).contains("a Spindle that is not there: /x/spindle: cannot open"), "{}", why(text));
    }

    #[test]
    fn another_extension_that_switches_stacks() {
        let text = "PHP Warning:  Spindle cannot be loaded together with swoole: both switch stacks below the engine. Load one of \
                    them in Unknown on line 0\n";
        assert_eq!(
            why(text),
            "Spindle cannot be loaded together with swoole: both switch stacks below the engine. Load one of them"
        );
    }

    #[test]
    fn another_extension_that_was_loaded_before() {
        let text = "PHP Warning:  Cannot load module \"spindle\" because conflicting module \"swow\" is already loaded in Unknown on \
                    line 0\n";
        assert!(why(text).starts_with("Spindle cannot be loaded together with swow: "), "{}", why(text));
    }

    #[test]
    fn messages_about_other_extensions() {
        assert_eq!(
            why(
                "PHP Warning:  PHP Startup: Unable to load dynamic library 'redis' (tried: /x (no)) in Unknown on line 0"
            ),
            ""
        );
        assert_eq!(why(""), "");
    }
}
