//! The formats of requests, one file each.

mod anthropic;
pub(crate) mod content;
mod gemini;
mod items;
mod langchain;
mod openai_chat;
mod openai_responses;

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;
use cupel_tokens::Overheads;
use thiserror::Error;

use crate::ChatError;
use crate::conversation::Conversation;
use crate::document::Document;
use crate::grouping::{Group, TakenApart};
use crate::validate::Finding;

/// A format of requests.
///
/// # Example
///
/// ```
/// use cupel_chat::Format;
///
/// assert_eq!("anthropic".parse(), Ok(Format::Anthropic));
/// assert_eq!(Format::detect(r#"{"contents": [{"parts": []}]}"#), Some(Format::Gemini));
/// assert_eq!(
///     "antropic".parse::<Format>().unwrap_err().to_string(),
///     "unknown format `antropic`; did you mean `anthropic`?"
/// );
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// OpenAI Chat Completions, and all who speak it.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini contents.
    Gemini,
    /// LangChain message dumps.
    LangChain,
    /// Cupel's own items, as a list.
    Items,
    /// Cupel's own items, one on each line.
    ItemLines,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 7] = [
        Self::OpenAiChat,
        Self::OpenAiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::LangChain,
        Self::Items,
        Self::ItemLines,
    ];

    /// The name of the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::LangChain => "langchain",
            Self::Items => "items",
            Self::ItemLines => "items-jsonl",
        }
    }

    /// The format of a text, if it is JSON that looks like one of them. The shape decides, never the
    /// model: gateways take any model in any shape.
    ///
    /// Messages that Chat Completions and Anthropic would write alike are taken for Chat
    /// Completions.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        crate::detect::detect(&Document::parse(text).ok()?).ok()
    }

    /// Whether what is selected is written in the order in which it was placed. Messages stay in
    /// the order of the request; items have no order of their own.
    #[must_use]
    pub fn has_free_order(self) -> bool {
        matches!(self, Self::Items | Self::ItemLines)
    }

    /// All names, as people list them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    pub(crate) fn dialect(self) -> &'static dyn Dialect {
        match self {
            Self::OpenAiChat => &openai_chat::OpenAiChat,
            Self::OpenAiResponses => &openai_responses::OpenAiResponses,
            Self::Anthropic => &anthropic::Anthropic,
            Self::Gemini => &gemini::Gemini,
            Self::LangChain => &langchain::LangChain,
            Self::Items | Self::ItemLines => &items::Items,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no format has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown format `{name}`; {hint}")]
pub struct UnknownFormat {
    name: String,
    hint: String,
}

impl UnknownFormat {
    pub(crate) const CODE: &'static str = "unknown-format";

    /// A stable name of what went wrong: `unknown-format`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        Self::CODE
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if let Some(format) = Self::ALL.into_iter().find(|format| format.name() == name) {
            return Ok(format);
        }
        let hint = UnknownName::new("format", name, Self::ALL.map(Self::name)).hint();
        Err(UnknownFormat { name: name.to_owned(), hint })
    }
}

/// What a format has to know.
pub(crate) trait Dialect: Sync {
    /// Reads a request.
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError>;

    /// Finds the rules of the provider that a conversation breaks, beside the flaws that reading
    /// found in single messages.
    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>);

    /// Which messages stay together, in the order of their first message, and what they need. Whatever a
    /// conversation without findings is left with when groups without a pin go, and none stays without
    /// what it needs, must be without findings too.
    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group>;

    /// What the provider counts beside texts.
    fn overheads(&self) -> Overheads;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.name().parse(), Ok(format));
        }
    }

    #[test]
    fn a_name_that_is_near_none_gets_the_list() {
        assert_eq!(
            "yaml".parse::<Format>().unwrap_err().to_string(),
            "unknown format `yaml`; known are openai-chat, openai-responses, anthropic, gemini, \
             langchain, items, items-jsonl"
        );
    }

    #[test]
    fn a_format_is_shown_by_its_name_and_an_unknown_one_has_a_code() {
        assert_eq!(format!("{:>10}", Format::Gemini), "    gemini");
        assert_eq!(
            Format::names(),
            "openai-chat, openai-responses, anthropic, gemini, langchain, items, items-jsonl"
        );
        assert_eq!("yaml".parse::<Format>().unwrap_err().code(), "unknown-format");
    }
}
