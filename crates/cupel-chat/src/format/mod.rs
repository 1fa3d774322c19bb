//! The formats of requests, one file each.

mod ai_sdk;
mod ai_sdk_ui;
mod anthropic;
mod bedrock;
mod cohere;
pub(crate) mod content;
mod gemini;
mod items;
mod langchain;
mod ollama;
mod openai_chat;
mod openai_responses;

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;
use cupel_tokens::{Model, Overheads, TokenizerFamily};
use thiserror::Error;

use crate::ChatError;
use crate::conversation::Conversation;
use crate::document::Document;
use crate::evidence::Vocabulary;
use crate::grouping::{Group, TakenApart};
use crate::pairing::{IdScope, check_unique_ids};
use crate::validate::Finding;

/// Makes a format of each row: its documentation, its variant, its name, and what knows it. Everything else
/// about a format is asked of its [`Dialect`].
macro_rules! formats {
    ($($(#[$doc:meta])* $format:ident = $name:literal, $dialect:expr;)*) => {
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
            $($(#[$doc])* $format,)*
        }

        impl Format {
            /// All formats.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$format),*];

            /// The name of the format.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$format => $name,)*
                }
            }

            pub(crate) fn dialect(self) -> &'static dyn Dialect {
                match self {
                    $(Self::$format => &$dialect,)*
                }
            }
        }
    };
}

// Where nothing in a request tells two formats apart, the first of them is taken.
formats! {
    /// OpenAI Chat Completions, and all who speak it.
    OpenAiChat = "openai-chat", openai_chat::OpenAiChat;
    /// OpenAI Responses.
    OpenAiResponses = "openai-responses", openai_responses::OpenAiResponses;
    /// Anthropic Messages.
    Anthropic = "anthropic", anthropic::Anthropic;
    /// Gemini contents.
    Gemini = "gemini", gemini::Gemini;
    /// The AI SDK's `ModelMessage`s.
    AiSdk = "ai-sdk", ai_sdk::AiSdk;
    /// The AI SDK's `UIMessage`s.
    AiSdkUi = "ai-sdk-ui", ai_sdk_ui::AiSdkUi;
    /// Amazon Bedrock Converse.
    Bedrock = "bedrock", bedrock::Bedrock;
    /// Ollama's `/api/chat`.
    Ollama = "ollama", ollama::Ollama;
    /// Cohere's chat, version 2.
    Cohere = "cohere", cohere::Cohere;
    /// LangChain message dumps.
    LangChain = "langchain", langchain::LangChain;
    /// Cupel's own items, as a list.
    Items = "items", items::Items;
    /// Cupel's own items, one on each line.
    ItemLines = "items-jsonl", items::Items;
}

impl Format {
    /// The format of a text, if it is JSON that is one of them for sure.
    ///
    /// Roles, fields of messages, types of blocks and tool definitions are proof: what another format
    /// knows contradicts a format that does not. Fields beside the messages and the model only decide
    /// between formats that nothing contradicts, since gateways take any of them in any shape. What
    /// nothing tells apart is taken for Chat Completions. A list that mixes formats, or has calls, results
    /// or files of an unknown one, is none.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        crate::detect::detect(&Document::parse(text).ok()?).ok()
    }

    /// Returns true if what is selected is written in the order in which it was placed. Messages stay in
    /// the order of the request; items have no order of their own.
    #[must_use]
    pub fn has_free_order(self) -> bool {
        self.dialect().has_free_order()
    }

    /// All names, as people list them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The family that most models of the format belong to, if its tokenizer is not public: then counts
    /// for no model are estimates.
    #[must_use]
    pub fn implied_family(self) -> Option<TokenizerFamily> {
        self.dialect().implied_family()
    }

    /// Tokens that the provider of a model adds to the texts of a request in this format; `None` where the
    /// format itself knows better.
    #[must_use]
    pub fn overheads_of(self, model: &Model) -> Option<Overheads> {
        self.dialect().overheads_of(model)
    }

    pub(crate) fn vocabulary(self) -> &'static Vocabulary {
        self.dialect().vocabulary()
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

/// Knowledge of one format.
pub(crate) trait Dialect: Sync {
    /// Reads a request.
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError>;

    /// Finds the rules of the provider that a conversation breaks, beside the flaws that reading
    /// found in single messages. Where a format has no rules of its own, ids are unique in a message and
    /// results directly follow their calls.
    fn check(&self, conversation: &Conversation, findings: &mut Vec<Finding>) {
        check_unique_ids(conversation, IdScope::Message, findings);
        conversation.pairing().check(conversation, true, findings);
    }

    /// Which messages stay together, in the order of their first message, and what they need. Whatever a
    /// conversation without findings is left with when groups without a pin go, and none stays without
    /// what it needs, must be without findings too.
    fn group(&self, conversation: &Conversation, apart: TakenApart) -> Vec<Group>;

    /// The names that prove the format, and what else it knows.
    fn vocabulary(&self) -> &'static Vocabulary;

    /// The tokens that the provider counts beside texts, where no model is known.
    fn overheads(&self) -> Overheads;

    /// The same for a model; `None` where [`overheads`](Self::overheads) hold for any model.
    fn overheads_of(&self, model: &Model) -> Option<Overheads> {
        Some(model.overheads())
    }

    /// The family that most models of the format belong to, if its tokenizer is not public.
    fn implied_family(&self) -> Option<TokenizerFamily> {
        None
    }

    /// Returns true if messages may bear marks that tell the provider's cache what to keep.
    fn marks_cache(&self) -> bool {
        false
    }

    /// Returns true if what is selected is written in the order in which it was placed.
    fn has_free_order(&self) -> bool {
        false
    }
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
             ai-sdk, ai-sdk-ui, bedrock, ollama, cohere, langchain, items, items-jsonl"
        );
    }

    #[test]
    fn a_format_is_shown_by_its_name_and_an_unknown_one_has_a_code() {
        assert_eq!(format!("{:>10}", Format::Gemini), "    gemini");
        assert_eq!(
            Format::names(),
            "openai-chat, openai-responses, anthropic, gemini, ai-sdk, ai-sdk-ui, bedrock, ollama, cohere, \
             langchain, items, items-jsonl"
        );
        assert_eq!("yaml".parse::<Format>().unwrap_err().code(), "unknown-format");
    }
}
