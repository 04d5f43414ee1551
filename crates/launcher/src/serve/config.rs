//! The file `spindle.toml`: options, as keys.

use super::options::{Form, SPECS, Spec};
use super::settings::Given;
use crate::console;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The size of a file. A larger one is no such file, and would keep the command from its workers while it is read at a reload.
const MOST_BYTES: u64 = 256 << 10;

/// The table of programs that `run` is a list of. That of `every` has its name.
const PROCESS: &str = "process";

type Key<'i> = Spanned<Cow<'i, str>>;

/// Reads the options in a file, or `None` if there is no such file. `shown` is its name in messages, relative to which are the paths in it.
pub fn read(file: &Path, shown: &Path) -> Result<Option<Vec<Given>>, String> {
    let name = shown.display();
    match fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        // What is read again at a reload must still be there, and not be waited for.
        Ok(found) if !found.is_file() && file != Path::new("/dev/null") => return Err(format!("{name} is not a file")),
        Ok(found) if found.len() > MOST_BYTES => return Err(format!("{name} has more than {} KB", MOST_BYTES >> 10)),
        _ => {}
    }
    let text = fs::read(file).map_err(|error| format!("{name}: {}", console::reason(&error)))?;
    let text = String::from_utf8(text).map_err(|_| format!("{name} is not text in UTF-8"))?;
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect();
    let source = Source { breaks, shown };
    let table = DeTable::parse(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        format!("{}: {}", source.place(at), error.message())
    })?;
    let mut given = Vec::new();
    for (key, value) in in_order(table.get_ref()) {
        source.option(key, value, &mut given)?;
    }
    Ok(Some(given))
}

/// Returns the entries as they are written, so that what is wrong first is said.
fn in_order<'a, 'i>(table: &'a DeTable<'i>) -> Vec<(&'a Key<'i>, &'a Spanned<DeValue<'i>>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

struct Source<'a> {
    /// Where its lines end.
    breaks: Vec<usize>,
    shown: &'a Path,
}

impl Source<'_> {
    fn place(&self, at: usize) -> String {
        let line = self.breaks.partition_point(|end| *end < at) + 1;
        format!("{}, line {line}", self.shown.display())
    }

    fn folder(&self) -> &Path {
        self.shown.parent().unwrap_or(Path::new(""))
    }

    fn unknown(&self, key: &Key<'_>, known: impl Iterator<Item = &'static str>) -> String {
        let name = key.get_ref();
        let near = known.map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
        let nearest = near.filter(|(near, _)| *near >= 0.5).max_by(|one, other| one.0.total_cmp(&other.0));
        let hint = nearest
            .map_or("'spindle serve --help' lists them".to_owned(), |(_, known)| format!("did you mean '{known}'?"));
        format!("unknown key '{name}' in {}: {hint}", self.place(key.span().start))
    }

    /// Appends what a key says.
    fn option(&self, key: &Key<'_>, value: &Spanned<DeValue<'_>>, given: &mut Vec<Given>) -> Result<(), String> {
        let keys = || SPECS.iter().filter(|spec| !spec.key.is_empty());
        if let ("every" | PROCESS, DeValue::Table(table)) = (&**key.get_ref(), value.get_ref()) {
            return self.programs(key, table, given);
        }
        let spec = keys().find(|spec| spec.key == key.get_ref());
        let spec = spec.ok_or_else(|| match &**key.get_ref() {
            PROCESS => format!("process in {} takes tables: [process.NAME]", self.place(key.span().start)),
            _ => self.unknown(key, keys().map(|spec| spec.key).chain([PROCESS])),
        })?;
        let from = format!("{} in {}", spec.key, self.place(key.span().start));
        let mut add = |first, from| given.push(Given { spec, first, second: OsString::new(), from });
        match (spec.form, value.get_ref()) {
            (Form::Flag, DeValue::Boolean(false)) => {}
            (Form::Flag, DeValue::Boolean(true)) => add(OsString::new(), from),
            (Form::Many, DeValue::Array(list)) => {
                for item in list {
                    let from = format!("{} in {}", spec.key, self.place(item.span().start));
                    let text = scalar(item.get_ref()).ok_or_else(|| wrong(&from, spec, item))?;
                    add(self.placed(spec, &text, &from)?, from);
                }
            }
            (Form::Named, DeValue::Table(table)) => self.named(spec, table, given)?,
            (Form::Pair, DeValue::Table(table)) => given.push(self.pair(spec, table, from)?),
            (Form::One | Form::Many, single) if !single.is_bool() => {
                let text = scalar(single).ok_or_else(|| wrong(&from, spec, value))?;
                add(self.placed(spec, &text, &from)?, from);
            }
            _ => return Err(wrong(&from, spec, value)),
        }
        Ok(())
    }

    /// Appends the entries of a table such as `[set]`.
    fn named(&self, spec: &'static Spec, table: &DeTable<'_>, given: &mut Vec<Given>) -> Result<(), String> {
        for (key, value) in in_order(table) {
            let name = key.get_ref();
            let from = format!("{}.{name} in {}", spec.key, self.place(key.span().start));
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(format!("{from} is no name"));
            }
            let kind = value.get_ref().type_str();
            let takes =
                || format!("{from} takes a text, a number, a boolean or a list of those, not a value of type {kind}");
            let text = listed(value.get_ref()).ok_or_else(takes)?;
            let second = self.placed(spec, &text, &from)?;
            given.push(Given { spec, first: name.to_string().into(), second, from });
        }
        Ok(())
    }

    /// Appends the programs of `[process.NAME]` and `[every.NAME]`, as `--run` and `--every` take them.
    fn programs(&self, kind: &Key<'_>, table: &DeTable<'_>, given: &mut Vec<Given>) -> Result<(), String> {
        let (option, more) = if kind.get_ref() == PROCESS { ("run", "count") } else { ("every", "time") };
        for (name, value) in in_order(table) {
            let from = format!("{}.{} in {}", kind.get_ref(), name.get_ref(), self.place(name.span().start));
            if name.get_ref().contains(['=', '*', '\0']) {
                return Err(format!("{from} is no name"));
            }
            let table = value.get_ref().as_table().ok_or_else(|| format!("{from} is no table"))?;
            if let Some((other, _)) =
                in_order(table).into_iter().find(|(key, _)| !["command", more].contains(&&**key.get_ref()))
            {
                return Err(self.unknown(other, ["command", more].into_iter()));
            }
            let text = |key: &str| {
                let Some(value) = table.get(key).map(Spanned::get_ref) else { return Ok(None) };
                let (is_fine, takes) =
                    if key == "count" { (value.is_integer(), "number") } else { (value.is_str(), "text") };
                let kind = value.type_str();
                let wrong = || format!("{from} takes a {takes} as its {key}, not a value of type {kind}");
                if is_fine { Ok(scalar(value)) } else { Err(wrong()) }
            };
            let command = text("command")?.ok_or_else(|| format!("{from} has no command"))?;
            let value = match (option, text(more)?) {
                ("run", None) => format!("{}={command}", name.get_ref()),
                ("run", Some(count)) => format!("{}*{count}={command}", name.get_ref()),
                (_, Some(time)) if !time.contains(char::is_whitespace) => {
                    format!("{}={time} {command}", name.get_ref())
                }
                _ => return Err(format!("{from} has no time, as 30s, 5m or 1h")),
            };
            let spec = SPECS.iter().find(|spec| spec.key == option).ok_or("there is no such option")?;
            given.push(Given { spec, first: self.placed(spec, &value, &from)?, second: OsString::new(), from });
        }
        Ok(())
    }

    /// Takes `cert` and `key`.
    fn pair(&self, spec: &'static Spec, table: &DeTable<'_>, from: String) -> Result<Given, String> {
        let names = ["cert", "key"];
        if let Some((other, _)) = in_order(table).into_iter().find(|(name, _)| !names.contains(&&**name.get_ref())) {
            return Err(self.unknown(other, names.into_iter()));
        }
        let [first, second] = names.map(|name| {
            let text = table.get(name).and_then(|value| value.get_ref().as_str()).filter(|text| !text.is_empty());
            let takes = || format!("{from} takes {{ cert = FILE, key = FILE }}");
            text.ok_or_else(takes).and_then(|text| self.placed(spec, text, &from))
        });
        Ok(Given { spec, first: first?, second: second?, from })
    }

    /// Returns the value of a text, which may be a path.
    fn placed(&self, spec: &Spec, text: &str, from: &str) -> Result<OsString, String> {
        if text.contains('\0') {
            return Err(format!("{from} has a character that no argument can have"));
        }
        Ok((spec.place)(self.folder(), text.as_ref()))
    }
}

fn wrong(from: &str, spec: &Spec, value: &Spanned<DeValue<'_>>) -> String {
    let takes = match spec.form {
        Form::Flag => "true or false",
        Form::One => "a text or a number",
        Form::Many => "a list of texts",
        Form::Named => "a table of texts, numbers, booleans and lists of those",
        Form::Pair => "{ cert = FILE, key = FILE }",
    };
    format!("{from} takes {takes}, not a value of type {}", value.get_ref().type_str())
}

/// Returns a value as the command line has it.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            let decimal = i128::from_str_radix(number.as_str(), number.radix()).map(|number| number.to_string());
            Some(decimal.unwrap_or_else(|_| number.to_string()))
        }
        DeValue::Float(number) => number.as_str().parse().ok().map(|number: f64| number.to_string()),
        DeValue::Boolean(is_true) => Some(is_true.to_string()),
        _ => None,
    }
}

/// Returns the same for values that may be lists.
fn listed(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Array(list) => {
            let texts: Option<Vec<_>> = list.iter().map(|item| scalar(item.get_ref())).collect();
            texts.map(|texts| texts.join(","))
        }
        value => scalar(value),
    }
}
