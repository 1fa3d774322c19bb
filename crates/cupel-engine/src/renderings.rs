//! Shorter forms that the caller made, as a file.

use cupel_chat::{OwnRendering, Target};
use serde::Deserialize;

use crate::{EngineError, ErrorCode};

/// Reads a list of shorter forms that somebody made of texts of a request, as JSON:
///
/// ```
/// let text = r#"[{"call": "toolu_1", "hash": "cupel:88ce4f35a3c88b8c", "name": "summary",
///     "content": "Two orders, both paid.", "share": 0.7}]"#;
/// let renderings = cupel_engine::read_renderings(text)?;
/// assert_eq!(renderings[0].content, "Two orders, both paid.");
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
///
/// Each is for the answer to a call, by `call`, or for what a message says, by `message`, its index.
/// `hash` is the [handle](crate::handle) of the text that it was made of: of any other text it is not
/// used. `name`, `tokens` and `share` may be left out: then it is called `summary`, its tokens are
/// counted, and what it keeps of the value is the root of its share of the tokens.
///
/// # Errors
///
/// [`ErrorCode::InvalidRenderings`] with the path to what is wrong, or its place in the text.
pub fn read_renderings(text: &str) -> Result<Vec<OwnRendering>, EngineError> {
    let wrong = |rule: String| EngineError::new(ErrorCode::InvalidRenderings, rule);
    let rows: Vec<serde_json::Value> = serde_json::from_str(text).map_err(|error| {
        wrong(format!("must be a JSON list of renderings: {error}"))
            .at_place(error.line(), error.column())
            .with_remedy("give a list of objects with call or message, hash and content")
    })?;
    let read = |(at, row): (usize, serde_json::Value)| {
        let row: Row = serde_json::from_value(row)
            .map_err(|error| wrong(error.to_string()).at_path(format!("[{at}]")))?;
        row.rendering().map_err(|(field, rule)| wrong(rule).at_path(format!("[{at}].{field}")))
    };
    rows.into_iter().enumerate().map(read).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    call: Option<String>,
    message: Option<usize>,
    hash: String,
    #[serde(default = "summary")]
    name: String,
    content: String,
    tokens: Option<i64>,
    share: Option<f64>,
}

fn summary() -> String {
    "summary".to_owned()
}

impl Row {
    fn rendering(self) -> Result<OwnRendering, (&'static str, String)> {
        let Self { call, message, hash, name, content, tokens, share } = self;
        let target = match (call, message) {
            (Some(id), None) => Target::Call(id),
            (None, Some(index)) => Target::Message(index),
            (None, None) => return Err(("call", "call or message is required".to_owned())),
            _ => return Err(("call", "give call or message, not both".to_owned())),
        };
        if content.is_empty() {
            return Err(("content", "must be non-empty".to_owned()));
        }
        if name.trim().is_empty() {
            return Err(("name", "must not be empty or blank".to_owned()));
        }
        if let Some(tokens) = tokens.filter(|tokens| *tokens < 0) {
            return Err(("tokens", format!("must not be negative, got {tokens}")));
        }
        if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(("share", format!("must be within 0 and 1, got {share}")));
        }
        Ok(OwnRendering { target, hash: Some(hash), name, content, tokens, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> EngineError {
        read_renderings(text).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        assert_eq!(error("{}").code(), ErrorCode::InvalidRenderings);
        assert_eq!(error("[\n1,").location(), Some((2, 2)));
        let row = |more: &str| format!(r#"[{{"hash":"h","content":"x"{more}}}]"#);
        for (more, path, rule) in [
            ("", "[0].call", "call or message is required"),
            (r#","call":"a","message":1"#, "[0].call", "give call or message, not both"),
            (r#","call":"a","share":1.5"#, "[0].share", "must be within 0 and 1, got 1.5"),
            (r#","call":"a","tokens":-1"#, "[0].tokens", "must not be negative, got -1"),
            (r#","call":"a","name":" ""#, "[0].name", "must not be empty or blank"),
        ] {
            let error = error(&row(more));
            assert_eq!((error.path(), error.rule()), (Some(path), rule));
        }
        assert!(error(&row(r#","cal":"a""#)).rule().contains("unknown field `cal`"));
        assert_eq!(error(r#"[{"call":"a","hash":"h","content":""}]"#).path(), Some("[0].content"));
    }
}
