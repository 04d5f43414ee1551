//! What a PHP has said about itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// As `probe.php` writes it.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub version: String,
    pub version_id: u32,
    pub sapi: String,
    pub zts: bool,
    pub debug: bool,
    pub binary: String,
    pub extension_dir: String,
    pub build: String,
    pub php_ini_loaded_file: String,
    pub php_ini_scanned_files: String,
    #[serde(deserialize_with = "map")]
    pub extensions: BTreeMap<String, String>,
    pub zend_extensions: Vec<String>,
    pub opcache: Option<Opcache>,
    pub xdebug: Option<Vec<String>>,
    pub mapped: Vec<PathBuf>,
    pub spindle: Option<String>,
    /// The outcome of two coroutines: empty if they behaved as they should.
    pub trial: Option<String>,
    /// What `php --ri spindle` prints.
    pub info: String,
}

#[derive(Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Opcache {
    pub loaded: bool,
    pub on: bool,
    pub jit: bool,
}

/// PHP writes an empty map as a list.
fn map<'de, D: serde::Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Map(BTreeMap<String, String>),
        List(Vec<String>),
    }
    Ok(match Either::deserialize(from)? {
        Either::Map(map) => map,
        Either::List(names) => names.into_iter().map(|name| (name, String::new())).collect(),
    })
}

/// Returns the rows about Spindle in what `php -i` prints.
fn own_section(text: &str) -> String {
    // A title is a line without a value; in HTML it has a tag.
    let is_title = |line: &&str| !line.trim().is_empty() && !line.contains(" => ");
    let lines = text.lines().skip_while(|line| *line != "spindle" && !line.contains("name=\"module_spindle\""));
    let rows = lines.skip(1).skip_while(|line| line.starts_with("<table>") || line.is_empty());
    rows.take_while(|line| !is_title(line)).map(|line| format!("{line}\n")).collect()
}

impl Facts {
    pub fn of_json(text: &[u8]) -> Option<Facts> {
        serde_json::from_slice(text).ok()
    }

    /// Reads them from what `php -i` prints, as text or as HTML.
    pub fn of_info(text: &str) -> Option<Facts> {
        let text = text.replace("</td><td class=\"v\">", " => ").replace("</td></tr>", "");
        let text = text.replace("<tr><td class=\"e\">", "").replace("  => ", " => ");
        let value = |name: &str| {
            let rows = text.lines().filter_map(|line| line.split_once(" => "));
            rows.filter(|(found, _)| found.trim() == name).map(|(_, value)| value.trim().to_owned()).next()
        };
        let version = value("PHP Version")?;
        let numbers: Vec<u32> = version.split(['.', '-']).map_while(|part| part.parse().ok()).collect();
        let number = |index: usize| numbers.get(index).copied().unwrap_or(0);
        let info = own_section(&text);
        let names = info.lines().filter_map(|line| line.strip_prefix("Extension ")?.split_once(" => "));
        Some(Facts {
            version_id: number(0) * 10_000 + number(1) * 100 + number(2),
            sapi: value("Server API").unwrap_or_default(),
            zts: value("Thread Safety").is_some_and(|value| value.starts_with("enabled")),
            debug: value("Debug Build").is_some_and(|value| value == "yes"),
            build: value("PHP Extension Build").unwrap_or_default(),
            extension_dir: value("extension_dir")
                .and_then(|both| Some(both.split(" => ").next()?.to_owned()))
                .unwrap_or_default(),
            php_ini_loaded_file: value("Loaded Configuration File").unwrap_or_default(),
            extensions: names.map(|(name, _)| (name.to_owned(), String::new())).collect(),
            spindle: info
                .lines()
                .find_map(|line| line.strip_prefix("Version => "))
                .map(|version| version.trim().to_owned()),
            xdebug: value("xdebug.mode").map(|both| both.split(" => ").take(1).map(str::to_owned).collect()),
            info,
            version,
            ..Facts::default()
        })
    }

    /// Where a setting can be written, for a message.
    pub fn ini(&self) -> &str {
        if self.php_ini_loaded_file.is_empty() { "a php.ini" } else { &self.php_ini_loaded_file }
    }

    /// The file of the module that is loaded.
    pub fn module_file(&self) -> Option<PathBuf> {
        let is_it =
            |path: &&PathBuf| path.file_name().is_some_and(|name| name == "spindle.so" || name == "libspindle.so");
        self.mapped.iter().find(is_it).cloned()
    }

    /// The rows of `php --ri spindle` whose names begin so, without that beginning.
    pub fn rows<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let rows = self.info.lines().filter_map(|line| line.split_once(" => "));
        rows.filter_map(move |(name, value)| Some((name.trim().strip_prefix(beginning)?, value.trim())))
    }
}
