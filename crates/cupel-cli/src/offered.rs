//! Values that completions offer, where others are taken too: names of models, policies and formats.

use std::ffi::OsStr;
use std::str::FromStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use cupel_engine::{Format, TranscriptKind, models, policies};

/// Reads any value that can be read, and offers some.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Offered<T> {
    names: fn() -> Vec<String>,
    read: fn(&str) -> Result<T, String>,
}

/// Any model, with those of the table offered.
pub(crate) const MODELS: Offered<String> = Offered {
    names: || models().models.into_iter().map(|model| model.name).collect(),
    read: |name| Ok(name.to_owned()),
};

/// A preset or a file, with presets offered.
pub(crate) const POLICIES: Offered<String> = Offered {
    names: || policies().policies.into_iter().map(|policy| policy.name).collect(),
    read: |name| Ok(name.to_owned()),
};

/// A format.
pub(crate) const FORMATS: Offered<Format> = Offered {
    names: || Format::ALL.map(|format| format.name().to_owned()).to_vec(),
    read: |name| Format::from_str(name).map_err(|error| error.to_string()),
};

/// A kind of file that holds conversations.
pub(crate) const KINDS: Offered<TranscriptKind> = Offered {
    names: || TranscriptKind::ALL.map(|kind| kind.name().to_owned()).to_vec(),
    read: |name| TranscriptKind::from_str(name).map_err(|error| error.to_string()),
};

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Offered<T> {
    type Value = T;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<T, Error> {
        let read = self.read;
        StringValueParser::new().try_map(move |text| read(&text)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}
