//! A reader of JSON, as far as `cargo metadata` needs it.

/// A value. Numbers, booleans and null are not told apart: nothing asks for them.
#[derive(Debug, PartialEq)]
pub enum Json {
    Scalar,
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Returns the value of this text, or `None` if it is not JSON.
    pub fn parse(text: &str) -> Option<Json> {
        let mut reader = Reader { rest: text };
        let value = reader.value()?;
        reader.rest.trim_ascii_start().is_empty().then_some(value)
    }

    /// Returns the member of an object with this name.
    pub fn get(&self, name: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Returns the member of an object with this name, if it is a string.
    pub fn str(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the elements of the member of an object with this name, or none.
    pub fn array(&self, name: &str) -> &[Json] {
        match self.get(name) {
            Some(Json::Array(elements)) => elements,
            _ => &[],
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Skips white space and then this text, if it is what comes next.
    fn take(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.trim_ascii_start().strip_prefix(text)?;
        Some(())
    }

    fn value(&mut self) -> Option<Json> {
        self.rest = self.rest.trim_ascii_start();
        match self.rest.as_bytes().first()? {
            b'"' => self.string().map(Json::String),
            b'[' => self.list("[", "]", Self::value).map(Json::Array),
            b'{' => {
                let member = |reader: &mut Self| {
                    let name = reader.string()?;
                    reader.take(":")?;
                    Some((name, reader.value()?))
                };
                self.list("{", "}", member).map(Json::Object)
            }
            _ => {
                let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c)));
                let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
                self.rest = rest;
                (matches!(word, "null" | "true" | "false") || word.parse::<f64>().is_ok()).then_some(Json::Scalar)
            }
        }
    }

    fn list<T>(&mut self, open: &str, close: &str, element: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.take(open)?;
        let mut elements = Vec::new();
        while self.take(close).is_none() {
            if !elements.is_empty() {
                self.take(",")?;
            }
            elements.push(element(self)?);
        }
        Some(elements)
    }

    fn string(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut text = String::new();
        let mut chars = self.rest.chars();
        loop {
            let c = match chars.next()? {
                '"' => break,
                '\\' => match chars.next()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'b' => '\u{8}',
                    'f' => '\u{c}',
                    'u' => {
                        let (digits, rest) = chars.as_str().split_at_checked(4)?;
                        chars = rest.chars();
                        // Half of a surrogate pair is in no text that is asked for.
                        char::from_u32(u32::from_str_radix(digits, 16).ok()?).unwrap_or(char::REPLACEMENT_CHARACTER)
                    }
                    c => c,
                },
                c => c,
            };
            text.push(c);
        }
        self.rest = chars.as_str();
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn reads_what_cargo_metadata_prints() {
        let json =
            Json::parse(r#" {"packages": [{"name": "a\"\\\u00e4\n", "source": null, "n": -1.5e3}], "e": [], "o": {}}"#);
        let json = json.expect("this is JSON");
        let [package] = json.array("packages") else { panic!("one package") };
        assert_eq!(package.str("name"), Some("a\"\\ä\n"));
        assert_eq!(package.str("source"), None);
        assert_eq!(package.get("n"), Some(&Json::Scalar));
        assert_eq!((json.array("e"), json.get("o")), (&[][..], Some(&Json::Object(vec![]))));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in ["", "{", "[1 2]", "[1] 2", "\"a", "{\"a\" 1}", "nil", "[,1]"] {
            assert_eq!(Json::parse(text), None, "{text}");
        }
    }
}
