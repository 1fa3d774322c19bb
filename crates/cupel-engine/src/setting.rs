//! Everything that can be set, in one table: flags, `cupel.toml`, variables, keys of the gateway, keywords of
//! Python and documentation follow from it or are checked against it.

use cupel_chat::{Format, Pin, Rule};
use cupel_names::UnknownName;
use cupel_relevance::VectorFile;
use cupel_renderings::Shorten;
use serde_json::Value;

use crate::{
    DEFAULT_POLICY, EngineBuilder, EngineError, ErrorCode, NamedPolicy, Options, Superseded,
    ToolMode, read_renderings,
};

/// Something that can be set.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Setting {
    /// Its name as a flag behind two dashes, and in `cupel.toml`.
    pub name: &'static str,
    /// Its name as a keyword of Python and in JSON, which says the unit too.
    pub keyword: &'static str,
    /// Its type.
    pub kind: SettingKind,
    /// Default if nobody sets it.
    pub default: &'static str,
    /// Effect, in one sentence.
    pub summary: &'static str,
    /// True if `cupel.toml` and the environment may set it once for all calls of the command.
    pub in_file: bool,
    /// True if the file of a gateway may set it, by its name.
    pub in_gateway: bool,
    set: Option<SetOnce>,
    change: Option<Change>,
}

/// Sets something for all requests of an engine.
type SetOnce = fn(EngineBuilder, &Value) -> Result<EngineBuilder, EngineError>;

/// Sets something for one call.
type Change = fn(Options, &Value) -> Result<Options, EngineError>;

/// The type of a setting, with its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingKind {
    /// A text.
    Text,
    /// A policy: the name of one that is known, a description, or `[name, text of a file]`.
    Policy,
    /// So many tokens.
    Tokens,
    /// A share of 0 to 100.
    Percent,
    /// Yes or no.
    Switch,
    /// One of these.
    Choice(&'static [&'static str]),
    /// A list.
    List,
    /// An object.
    Object,
}

impl Setting {
    /// The variable of the environment that sets it for the command.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("CUPEL_{}", self.name.to_ascii_uppercase())
    }

    /// Returns true if an engine has it for all of its requests.
    #[must_use]
    pub fn is_of_engine(&self) -> bool {
        self.set.is_some()
    }

    /// Returns true if one call may change it.
    #[must_use]
    pub fn is_of_call(&self) -> bool {
        self.change.is_some()
    }

    /// The setting of this keyword.
    fn find(keyword: &str, is_meant: fn(&Self) -> bool) -> Result<&'static Self, EngineError> {
        let known = || SETTINGS.iter().filter(|setting| is_meant(setting));
        known().find(|setting| setting.keyword == keyword).ok_or_else(|| {
            let unknown = UnknownName::new("setting", keyword, known().map(|known| known.keyword));
            wrong(keyword, unknown.to_string())
        })
    }
}

const SHORTEN: [&str; 3] = ["off", "json", "all"];
const TOOLS: [&str; 3] = ["keep", "shorten", "choose"];

/// A row without its functions and places.
const fn row(
    names: [&'static str; 2],
    kind: SettingKind,
    default: &'static str,
    summary: &'static str,
) -> Setting {
    let [name, keyword] = names;
    let (in_file, in_gateway, set, change) = (false, false, None, None);
    Setting { name, keyword, kind, default, summary, in_file, in_gateway, set, change }
}

/// Everything that can be set.
pub const SETTINGS: [Setting; 21] = [
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.named_policy(policy("policy", value)?))),
        ..row(["policy", "policy"], SettingKind::Policy, DEFAULT_POLICY, "What is worth keeping.")
    },
    Setting {
        in_file: true,
        set: Some(|builder, value| Ok(builder.model(text("model", value)?))),
        change: Some(|options, value| Ok(options.model(text("model", value)?))),
        ..row(
            ["model", "model"],
            SettingKind::Text,
            "the request's own",
            "The model, for its tokenizer and window.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.tokenizer(text("tokenizer", value)?))),
        ..row(
            ["tokenizer", "tokenizer"],
            SettingKind::Text,
            "the model's",
            "The way in which tokens are counted.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|mut builder, value| {
            builder.limits.max = Some(tokens("max_tokens", value)?);
            Ok(builder)
        }),
        change: Some(|mut options, value| {
            options.limits.max = Some(tokens("max_tokens", value)?);
            Ok(options)
        }),
        ..row(
            ["max", "max_tokens"],
            SettingKind::Tokens,
            "the model's window",
            "The window, with the answer.",
        )
    },
    Setting {
        in_file: true,
        set: Some(|mut builder, value| {
            builder.limits.target = Some(tokens("target_tokens", value)?);
            Ok(builder)
        }),
        change: Some(|mut options, value| {
            options.limits.target = Some(tokens("target_tokens", value)?);
            Ok(options)
        }),
        ..row(
            ["target", "target_tokens"],
            SettingKind::Tokens,
            "all but the reserve",
            "The tokens to aim at.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|mut builder, value| {
            builder.limits.reserve = Some(tokens("output_reserve", value)?);
            Ok(builder)
        }),
        change: Some(|mut options, value| {
            options.limits.reserve = Some(tokens("output_reserve", value)?);
            Ok(options)
        }),
        ..row(
            ["reserve", "output_reserve"],
            SettingKind::Tokens,
            "by the request, or 4096",
            "The tokens that are left for the answer.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|mut builder, value| {
            builder.limits.margin_percent = Some(number("margin_percent", value)?);
            Ok(builder)
        }),
        change: Some(|mut options, value| {
            options.limits.margin_percent = Some(number("margin_percent", value)?);
            Ok(options)
        }),
        ..row(
            ["margin", "margin_percent"],
            SettingKind::Percent,
            "by the model's tokenizer",
            "The share that is left free because counts are estimates.",
        )
    },
    Setting {
        in_file: true,
        set: Some(|builder, value| {
            let choice = choice("superseded", value, &["keep", "drop"])?;
            let drops = choice == "drop";
            Ok(builder.superseded(if drops { Superseded::Drop } else { Superseded::Keep }))
        }),
        ..row(
            ["superseded", "superseded"],
            SettingKind::Choice(&["keep", "drop"]),
            "keep",
            "The fate of what something newer makes superfluous.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.shorten(shorten(value)?))),
        change: Some(|options, value| Ok(options.shorten(shorten(value)?))),
        ..row(
            ["shorten", "shorten"],
            SettingKind::Choice(&SHORTEN),
            "json, if it does not fit",
            "The results of tools that may go in shorter than they are.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.tools(tools(value)?))),
        change: Some(|options, value| Ok(options.tools(tools(value)?))),
        ..row(
            ["tools", "tools"],
            SettingKind::Choice(&TOOLS),
            "keep",
            "The tool definitions that may be shorter or go, where they take too much of the window.",
        )
    },
    Setting {
        in_file: true,
        set: Some(|builder, value| Ok(pins(value)?.into_iter().fold(builder, EngineBuilder::pin))),
        change: Some(|options, value| Ok(pins(value)?.into_iter().fold(options, Options::pin))),
        ..row(
            ["pin", "pins"],
            SettingKind::List,
            "nothing more",
            "What is kept, whatever it costs.",
        )
    },
    Setting {
        in_file: true,
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.rules(rules(value)?))),
        change: Some(|options, value| Ok(options.rules(rules(value)?))),
        ..row(
            ["rules", "rules"],
            SettingKind::List,
            "none",
            "Standing rules: the messages that state one are kept.",
        )
    },
    Setting {
        in_gateway: true,
        set: Some(|builder, value| Ok(builder.repair(switch("repair", value)?))),
        ..row(
            ["repair", "repair"],
            SettingKind::Switch,
            "no",
            "Repairs requests that their provider would refuse.",
        )
    },
    Setting {
        set: Some(|builder, value| Ok(builder.keep_caps(switch("keep_caps", value)?))),
        ..row(
            ["caps", "keep_caps"],
            SettingKind::Switch,
            "no",
            "Lets caps and quotas leave things out of a request that fits.",
        )
    },
    Setting {
        set: Some(|builder, value| Ok(builder.alternate(switch("alternate", value)?))),
        ..row(
            ["alternate", "alternate"],
            SettingKind::Switch,
            "no",
            "Never lets the user speak twice in a row.",
        )
    },
    Setting {
        set: Some(|builder, value| Ok(builder.handles(switch("handles", value)?))),
        ..row(
            ["handles", "handles"],
            SettingKind::Switch,
            "no",
            "Ends what is shortened with the handle of its original.",
        )
    },
    Setting {
        set: Some(|builder, value| Ok(builder.whole_turns(switch("whole_turns", value)?))),
        ..row(
            ["turns", "whole_turns"],
            SettingKind::Switch,
            "no",
            "Keeps or drops whole turns, but for the last one.",
        )
    },
    Setting {
        set: Some(|builder, value| {
            let name = text("format", value)?;
            let format: Result<Format, _> = name.parse();
            Ok(builder.format(format.map_err(|error| wrong("format", error.to_string()))?))
        }),
        ..row(["format", "format"], SettingKind::Text, "detected", "The format of all requests.")
    },
    Setting {
        change: Some(|options, value| Ok(options.query(text("query", value)?))),
        ..row(
            ["query", "query"],
            SettingKind::Text,
            "the user's last words",
            "What the window must answer.",
        )
    },
    Setting {
        change: Some(|options, value| Ok(options.renderings(read_renderings(&value.to_string())?))),
        ..row(
            ["renderings", "renderings"],
            SettingKind::List,
            "none",
            "Shorter forms that the caller made.",
        )
    },
    Setting {
        change: Some(|options, value| {
            let file = VectorFile::parse(&value.to_string());
            let refused = |rule: String| EngineError::new(ErrorCode::InvalidVectors, rule);
            Ok(options.vectors(file.map_err(|error| refused(error.to_string()))?))
        }),
        ..row(
            ["vectors", "vectors"],
            SettingKind::Object,
            "none",
            "Vectors of the messages and of the query.",
        )
    },
];

impl EngineBuilder {
    /// Sets what an object of JSON says, by the [keywords](Setting::keyword) of [`SETTINGS`]. What is
    /// `null` stays as it is.
    ///
    /// ```
    /// use cupel_engine::Engine;
    ///
    /// let set = |text| Engine::builder().set_json(text).and_then(|builder| builder.build());
    /// assert_eq!(set(r#"{"policy": "chat", "max_tokens": 8000}"#)?.policy().name(), "chat");
    /// let error = set(r#"{"shorten": "some"}"#).unwrap_err();
    /// assert_eq!(error.to_string(), "shorten: must be \"off\", \"json\" or \"all\", got \"some\"");
    /// # Ok::<(), cupel_engine::EngineError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a name is not known or a value is of another type, with its path.
    pub fn set_json(self, settings: &str) -> Result<Self, EngineError> {
        self.set_all(&read_object(settings)?)
    }

    pub(crate) fn set_all(self, settings: &Value) -> Result<Self, EngineError> {
        entries(settings)?.try_fold(self, |builder, (keyword, value)| {
            let setting = Setting::find(keyword, Setting::is_of_engine)?;
            setting.set.map_or_else(|| Err(not_here(keyword)), |set| set(builder, value))
        })
    }
}

impl Options {
    /// Options in an object of JSON, by the [keywords](Setting::keyword) of [`SETTINGS`]. A field that is `null`
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// As [`EngineBuilder::set_json`].
    pub fn from_json(options: &str) -> Result<Self, EngineError> {
        Self::from_value(&read_object(options)?)
    }

    pub(crate) fn from_value(options: &Value) -> Result<Self, EngineError> {
        entries(options)?.try_fold(Self::new(), |options, (keyword, value)| {
            let setting = Setting::find(keyword, Setting::is_of_call)?;
            setting.change.map_or_else(|| Err(not_here(keyword)), |change| change(options, value))
        })
    }
}

fn read_object(text: &str) -> Result<Value, EngineError> {
    serde_json::from_str(text)
        .map_err(|error| EngineError::of_json(ErrorCode::InvalidArgument, &error))
}

fn entries(object: &Value) -> Result<impl Iterator<Item = (&String, &Value)>, EngineError> {
    let entries = match object {
        Value::Null => None,
        Value::Object(entries) => Some(entries),
        other => return Err(mismatch("", "an object", other)),
    };
    Ok(entries.into_iter().flatten().filter(|(_, value)| !value.is_null()))
}

fn wrong(path: &str, rule: impl Into<String>) -> EngineError {
    let error = EngineError::new(ErrorCode::InvalidArgument, rule);
    if path.is_empty() { error } else { error.at_path(path) }
}

fn not_here(keyword: &str) -> EngineError {
    wrong(keyword, "cannot be set here")
}

fn mismatch(path: &str, expected: &str, value: &Value) -> EngineError {
    wrong(path, format!("must be {expected}, got {value}"))
}

fn text(path: &str, value: &Value) -> Result<String, EngineError> {
    value.as_str().map(str::to_owned).ok_or_else(|| mismatch(path, "a text", value))
}

fn tokens(path: &str, value: &Value) -> Result<i64, EngineError> {
    value.as_i64().ok_or_else(|| mismatch(path, "a whole number of tokens", value))
}

fn number(path: &str, value: &Value) -> Result<f64, EngineError> {
    value.as_f64().ok_or_else(|| mismatch(path, "a number", value))
}

fn switch(path: &str, value: &Value) -> Result<bool, EngineError> {
    value.as_bool().ok_or_else(|| mismatch(path, "true or false", value))
}

fn choice<'v>(path: &str, value: &'v Value, known: &[&str]) -> Result<&'v str, EngineError> {
    let chosen = value.as_str().filter(|name| known.contains(name));
    chosen.ok_or_else(|| {
        let (last, before) = known.split_last().unwrap_or((&"", &[]));
        let before = before.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        mismatch(path, &format!("{before} or {last:?}"), value)
    })
}

fn list<'v>(path: &str, value: &'v Value) -> Result<&'v [Value], EngineError> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| mismatch(path, "a list", value))
}

fn shorten(value: &Value) -> Result<Shorten, EngineError> {
    let name = choice("shorten", value, &SHORTEN)?;
    let known = Shorten::ALL.into_iter().find(|known| known.name() == name);
    known.ok_or_else(|| mismatch("shorten", "a way to shorten", value))
}

fn tools(value: &Value) -> Result<ToolMode, EngineError> {
    let name = choice("tools", value, &TOOLS)?;
    name.parse().map_err(|_| mismatch("tools", "a way with tools", value))
}

fn pins(value: &Value) -> Result<Vec<Pin>, EngineError> {
    let pin = |(at, value): (usize, &Value)| {
        let path = format!("pins[{at}]");
        match value {
            Value::String(text) => text.parse().map_err(|error| wrong(&path, format!("{error}"))),
            other => {
                let index = other.as_u64().and_then(|index| usize::try_from(index).ok());
                index.map(Pin::Index).ok_or_else(|| mismatch(&path, "an index or a text", other))
            }
        }
    };
    list("pins", value)?.iter().enumerate().map(pin).collect()
}

fn rules(value: &Value) -> Result<Vec<Rule>, EngineError> {
    let mut rules = Vec::new();
    for (at, value) in list("rules", value)?.iter().enumerate() {
        let path = format!("rules[{at}]");
        let before = rules.len();
        rules.extend(Rule::lines(&text(&path, value)?));
        if rules.len() == before {
            let rule = "has no rules; give each on a line of its own that does not begin with `#`";
            return Err(wrong(&path, rule));
        }
    }
    Ok(rules)
}

/// A policy: the name of one that is known, a description, or what reports call it and the text of its file.
pub(crate) fn policy(path: &str, value: &Value) -> Result<NamedPolicy, EngineError> {
    match value {
        Value::String(name) => NamedPolicy::find(name),
        Value::Object(fields) => {
            let name = fields.get("name").and_then(Value::as_str).unwrap_or("policy");
            NamedPolicy::read(name, &value.to_string())
        }
        Value::Array(pair) => match &pair[..] {
            [Value::String(name), Value::String(text)] => NamedPolicy::read(name, text),
            _ => Err(mismatch(path, "a name and the text of a file", value)),
        },
        other => Err(mismatch(path, "a name or a description", other)),
    }
}
