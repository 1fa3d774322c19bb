//! Cohere's chat, version 2.
//!
//! As Chat Completions, with documents: beside the messages, and as what tools answer.

use cupel_tokens::{Overheads, TokenizerFamily};

use super::Dialect;
use super::openai_chat::{CHAT_ROLES, ChatReader};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::{FUNCTION_TOOL, TEXT_ARGUMENTS, Vocabulary};
use crate::grouping::{Group, TakenApart, exchanges};
use crate::json::{Json, Object};
use crate::message::Message;
use crate::path::Path;

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    roles: &CHAT_ROLES,
    fields: &["tool_calls", "tool_call_id", "tool_plan", "citations"],
    blocks: &["text", "image_url"],
    foreign: &["document", "thinking"],
    tools: &[FUNCTION_TOOL, TEXT_ARGUMENTS],
    settings: &[
        "frequency_penalty",
        "k",
        "logprobs",
        "p",
        "presence_penalty",
        "priority",
        "response_format",
        "seed",
        "thinking",
    ],
    own_settings: &["documents", "citation_options", "safety_mode", "strict_tools"],
    models: &["command-", "c4ai-"],
    ..Vocabulary::NONE
};

const READER: ChatReader = ChatReader {
    vocabulary: &VOCABULARY,
    roles: &CHAT_ROLES,
    needs_ids: true,
    names_of_tool: &["name"],
    others: &["citations"],
};

pub(crate) struct Cohere;

impl Dialect for Cohere {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(VOCABULARY.lists)?;
        let top = &listing.top;
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: top.get("max_tokens").and_then(Json::whole_number),
            ..Conversation::default()
        };
        if let Some(tools) = top.get("tools") {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        }
        conversation.read_others("", top, &["messages", "tools"]);
        conversation.read_messages(document, listing.elements, read_message);
        Ok(conversation)
    }

    fn group(&self, conversation: &Conversation, _: TakenApart) -> Vec<Group> {
        exchanges(conversation)
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::open_weights()
    }

    fn implied_family(&self) -> Option<TokenizerFamily> {
        Some(TokenizerFamily::Unknown)
    }
}

fn read_message(json: Json<'_>, object: &Object<'_>, at: usize, path: Path<'_>) -> Message {
    READER.read(json, object, at, path)
}
