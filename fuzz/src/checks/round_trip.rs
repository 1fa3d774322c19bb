//! From bytes to a value, and from a value to text and back.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// What the bytes are as JSON and as TOML, where they are any.
pub(super) fn readings<T: DeserializeOwned>(bytes: &[u8]) -> Vec<T> {
    let json = serde_json::from_slice(bytes).ok();
    let text = std::str::from_utf8(bytes).ok();
    let toml = text.and_then(|text| toml::from_str(text).ok());
    json.into_iter().chain(toml).collect()
}

pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a value that was read can be written as JSON")
}

pub(super) fn through_json<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = json(value);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}, in {text}"))
}

pub(super) fn through_toml<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = toml::to_string(value).expect("a value that was read can be written as TOML");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{error}\nin {text}"))
}
