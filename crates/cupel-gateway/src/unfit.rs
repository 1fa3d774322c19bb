//! Why a request goes on unread or unfitted, and which tokens it lacks.

use cupel_engine::EngineError;
use serde_json::{Value, json};

use crate::record::{bounded, cut};

/// Parts that are listed at most: a log line stays a line.
const MOST_PARTS: usize = 8;

/// Letters of a sentence that may quote the request, which may quote names of any length.
const LONGEST: usize = 1_000;

/// Why a request goes on unread, or unfitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// In one word, as in `malformed-request`.
    pub(crate) code: String,
    /// In a sentence, which may quote the request.
    pub(crate) detail: String,
    /// The tokens that are lacking, where that is why.
    pub(crate) shortfall: Option<Shortfall>,
}

/// Number of tokens that must be kept, and how many there is room for. Quotes nothing of the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shortfall {
    pub(crate) needed: i64,
    pub(crate) available: i64,
    /// Places in the request and their tokens, the largest first.
    pub(crate) parts: Vec<(String, i64)>,
}

impl Unfit {
    pub(crate) fn new(code: &str, detail: impl Into<String>) -> Self {
        Self { code: code.to_owned(), detail: cut(&detail.into(), LONGEST), shortfall: None }
    }

    /// Why the engine has no answer.
    pub(crate) fn of(error: &EngineError) -> Self {
        let shortfall = error.shortfall().map(|(needed, available)| {
            let mut parts: Vec<(String, i64)> =
                error.parts().iter().map(|part| (bounded(&part.path), part.tokens)).collect();
            parts.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
            parts.truncate(MOST_PARTS);
            Shortfall { needed, available, parts }
        });
        let detail = match &shortfall {
            Some(shortfall) => format!("{}{}", error.message(), shortfall.list()),
            None => error.message(),
        };
        Self { shortfall, ..Self::new(error.code().as_str(), detail) }
    }
}

impl Shortfall {
    /// Its parts in words, as in `; tools takes 9000, messages[5] takes 300`.
    fn list(&self) -> String {
        let parts = self.parts.iter().map(|(path, tokens)| format!("{path} takes {tokens}"));
        let parts = parts.collect::<Vec<_>>().join(", ");
        if parts.is_empty() { parts } else { format!("; {parts}") }
    }

    /// As the log has it.
    pub(crate) fn to_json(&self) -> Value {
        let parts =
            self.parts.iter().map(|(path, tokens)| json!({ "path": path, "tokens": tokens }));
        json!({
            "needed": self.needed,
            "available": self.available,
            "parts": parts.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortfall_lists_places_and_tokens() {
        let parts = vec![("tools".to_owned(), 900), ("messages[5]".to_owned(), 30)];
        let shortfall = Shortfall { needed: 930, available: 500, parts };
        assert_eq!(shortfall.list(), "; tools takes 900, messages[5] takes 30");
        let expected = json!({ "needed": 930, "available": 500, "parts": [
            { "path": "tools", "tokens": 900 }, { "path": "messages[5]", "tokens": 30 },
        ] });
        assert_eq!(shortfall.to_json(), expected);
        assert_eq!(Shortfall { parts: Vec::new(), ..shortfall }.list(), "");
    }
}
