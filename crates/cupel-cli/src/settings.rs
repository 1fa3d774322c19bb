//! Settings where flags say nothing: the environment, then `cupel.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use cupel_engine::{Pin, Rule, SETTINGS, Setting};
use cupel_names::UnknownName;

use crate::error::{Failure, cause};
use crate::rules;

/// The name of the file, looked for in the current folder and those above it.
const FILE: &str = "cupel.toml";

/// Everything that can be set once for all calls.
pub(crate) fn in_file() -> impl Iterator<Item = &'static Setting> {
    SETTINGS.iter().filter(|setting| setting.in_file)
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A variable of the environment.
    Variable(String),
    /// A file.
    File(PathBuf),
    /// A record, which has what held where it was made.
    #[cfg(feature = "replay")]
    Record(PathBuf),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => f.write_str(name),
            Self::File(path) => path.display().fmt(f),
            #[cfg(feature = "replay")]
            Self::Record(path) => path.display().fmt(f),
        }
    }
}

/// A value, and where it comes from. Pins are separated by commas, rules by line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    /// As it is written.
    pub(crate) text: String,
    /// Where it is written.
    pub(crate) origin: Origin,
}

/// What holds where flags say nothing.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    /// Those that are set, by name.
    values: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Reads the environment, and the nearest `cupel.toml`.
    pub(crate) fn find() -> Result<Self, Failure> {
        let mut settings = Self::default();
        let folder = std::env::current_dir().unwrap_or_default();
        let file = folder.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file());
        if let Some(path) = file {
            let text = fs::read_to_string(&path).map_err(|error| {
                Failure::cannot(format!("{}: cannot read: {}", path.display(), cause(&error)))
            })?;
            settings.read(&path, &text)?;
        }
        for setting in in_file() {
            let name = setting.variable();
            if let Some(text) = variable(&name)? {
                let value = Value { text, origin: Origin::Variable(name) };
                settings.values.insert(setting.name, value);
            }
        }
        Ok(settings)
    }

    fn read(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        let wrong = |problem: String| Failure::cannot(format!("{}: {problem}", path.display()));
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let message = error.message().lines().collect::<Vec<_>>().join("; ");
            Failure::cannot(format!("{}:{line}: {message}", path.display()))
        })?;
        for (name, value) in &table {
            let setting = named(name).map_err(|unknown| wrong(unknown.to_string()))?;
            let text = written(name, value).map_err(wrong)?;
            let value = Value { text, origin: Origin::File(path.to_path_buf()) };
            self.values.insert(setting.name, value);
        }
        Ok(())
    }

    /// What a record keeps of them: all but what it has a place for already.
    #[cfg(feature = "replay")]
    pub(crate) fn recorded(&self) -> BTreeMap<String, String> {
        let names = in_file().map(|setting| setting.name);
        let kept = names.filter(|name| !["policy", "max"].contains(name));
        let text = |name: &str| match name {
            "rules" => self.recorded_rules(),
            name => self.path(name),
        };
        kept.filter_map(|name| Some((name.to_owned(), text(name)?))).collect()
    }

    /// The texts of files of rules, wherever the files stand later.
    #[cfg(feature = "replay")]
    fn recorded_rules(&self) -> Option<String> {
        let rules = self.rules().ok().filter(|rules| !rules.is_empty())?;
        Some(rules.iter().map(Rule::as_str).collect::<Vec<_>>().join("\n"))
    }

    /// What a record keeps of them, and nothing else.
    #[cfg(feature = "replay")]
    pub(crate) fn of_record(
        path: &Path,
        recorded: &BTreeMap<String, String>,
    ) -> Result<Self, Failure> {
        let mut settings = Self::default();
        for (name, text) in recorded {
            let setting = named(name)
                .map_err(|unknown| Failure::cannot(format!("{}:1: {unknown}", path.display())))?;
            let origin = Origin::Record(path.to_path_buf());
            settings.values.insert(setting.name, Value { text: text.clone(), origin });
        }
        Ok(settings)
    }

    /// The value of a setting, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The text of a setting.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|value| value.text.clone())
    }

    /// The text of a setting that may be a path: a file's paths are relative to the file.
    pub(crate) fn path(&self, name: &str) -> Option<String> {
        let value = self.get(name)?;
        let Origin::File(file) = &value.origin else { return Some(value.text.clone()) };
        let beside = file.parent().map(|folder| folder.join(&value.text));
        let found = beside.filter(|path| path.is_file());
        Some(found.map_or(value.text.clone(), |path| path.display().to_string()))
    }

    /// A setting, read as its flag is read.
    pub(crate) fn parsed<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Failure> {
        let Some(Value { text, origin }) = self.get(name) else { return Ok(None) };
        parse(text).map(Some).map_err(|error| {
            Failure::cannot(format!("{origin}: {name}: invalid value `{text}`: {error}"))
        })
    }

    /// What to pin.
    pub(crate) fn pins(&self) -> Result<Vec<Pin>, Failure> {
        let parse = |text: &str| {
            let pins = text.split(',').map(str::trim).filter(|pin| !pin.is_empty());
            pins.map(|pin| pin.parse().map_err(|error| format!("{error}"))).collect()
        };
        Ok(self.parsed("pin", parse)?.unwrap_or_default())
    }

    /// The standing rules; a file's paths are relative to the file.
    pub(crate) fn rules(&self) -> Result<Vec<Rule>, Failure> {
        let Some(Value { text, origin }) = self.get("rules") else { return Ok(Vec::new()) };
        let named: Vec<Rule> = Rule::lines(text).collect();
        let folder = match origin {
            #[cfg(feature = "replay")]
            Origin::Record(_) => return Ok(named),
            Origin::Variable(_) => Path::new(""),
            Origin::File(file) => file.parent().unwrap_or(Path::new("")),
        };
        let beside = |rule: &Rule| {
            let path = Some(folder.join(rule.as_str())).filter(|path| path.is_file());
            path.map_or_else(|| rule.to_string(), |path| path.display().to_string())
        };
        let named: Vec<String> = named.iter().map(beside).collect();
        rules::read(named.iter().map(String::as_str))
    }
}

/// The setting of this name.
fn named(name: &str) -> Result<&'static Setting, UnknownName<'_>> {
    let found = in_file().find(|setting| setting.name == name);
    found.ok_or_else(|| UnknownName::new("setting", name, in_file().map(|setting| setting.name)))
}

fn variable(name: &str) -> Result<Option<String>, Failure> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::cannot(format!("{name}: is not UTF-8; only text can be read")))
        }
    }
}

/// A value as a flag would be given.
fn written(name: &str, value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Array(list) if ["pin", "rules"].contains(&name) => {
            let texts = list.iter().map(|value| written(name, value));
            let between = if name == "pin" { "," } else { "\n" };
            Ok(texts.collect::<Result<Vec<_>, _>>()?.join(between))
        }
        other => Err(format!("{name}: must be a text or a number, got {}", other.type_str())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        match settings.read(Path::new("cupel.toml"), text) {
            Ok(()) => Ok(settings),
            Err(Failure::CannotRun(text)) => Err(text),
            Err(other) => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn numbers_texts_and_lists_of_pins_are_read() {
        let settings = read("max = 8000\nmargin = \"10%\"\npin = [3, \"role:tool\"]").unwrap();
        assert_eq!(settings.text("max").as_deref(), Some("8000"));
        assert_eq!(settings.parsed("margin", cupel_engine::parse_margin), Ok(Some(10.0)));
        assert_eq!(settings.pins(), Ok(vec![Pin::Index(3), Pin::Role("tool".into())]));
        assert_eq!(settings.get("policy"), None);
    }

    #[test]
    fn a_list_of_rules_keeps_its_commas_and_may_be_empty() {
        let rules = |text: &str| {
            let rules = read(text).unwrap().rules().unwrap();
            rules.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let listed = rules("rules = [\"never, ever: tabs\", \"# a remark\", \"be brief\"]");
        assert_eq!(listed, ["never, ever: tabs", "be brief"]);
        assert_eq!(rules("rules = \"be brief\""), ["be brief"]);
        assert_eq!(rules("rules = []"), [""; 0]);
    }

    #[test]
    fn what_is_wrong_is_named_with_file_and_setting() {
        assert_eq!(
            read("polcy = \"chat\"").unwrap_err(),
            "cupel.toml: unknown setting `polcy`; did you mean `policy`?"
        );
        assert_eq!(
            read("max = [1]").unwrap_err(),
            "cupel.toml: max: must be a text or a number, got array"
        );
        assert!(read("max = 1\nmax").unwrap_err().starts_with("cupel.toml:2: "));
        let settings = read("max = \"lots\"").unwrap();
        let error = settings.parsed("max", cupel_engine::parse_tokens).unwrap_err();
        assert_eq!(
            error,
            Failure::cannot(
                "cupel.toml: max: invalid value `lots`: not a number of tokens; write it as 8000 \
                 or 8k"
            )
        );
    }
}
