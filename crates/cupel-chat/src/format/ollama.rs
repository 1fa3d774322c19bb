//! Ollama's `/api/chat`.
//!
//! As Chat Completions, but calls have no ids: a result belongs to a call by its name and its order. Images
//! stand beside the content.

use cupel_tokens::{Image, Overheads, TokenizerFamily};

use super::Dialect;
use super::openai_chat::{CHAT_ROLES, ChatReader};
use crate::ChatError;
use crate::conversation::{Conversation, Fixed};
use crate::document::Document;
use crate::evidence::{FUNCTION_TOOL, OBJECT_ARGUMENTS, Vocabulary};
use crate::file::image_size;
use crate::grouping::{Group, TakenApart, exchanges};
use crate::json::{Json, Object};
use crate::message::{Content, Message, Nature, Piece};
use crate::path::Path;

const VOCABULARY: Vocabulary = Vocabulary {
    lists: &["messages"],
    roles: &CHAT_ROLES,
    fields: &["tool_calls", "tool_call_id", "tool_name", "images", "thinking"],
    tools: &[FUNCTION_TOOL, OBJECT_ARGUMENTS],
    settings: &["think", "format"],
    own_settings: &["options", "keep_alive"],
    ..Vocabulary::NONE
};

const READER: ChatReader = ChatReader {
    vocabulary: &VOCABULARY,
    roles: &CHAT_ROLES,
    needs_ids: false,
    names_of_tool: &["tool_name", "name"],
    others: &["images"],
};

pub(crate) struct Ollama;

impl Dialect for Ollama {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let listing = document.listing(VOCABULARY.lists)?;
        let top = &listing.top;
        let limit = top.get("options").and_then(|options| options.at_path("num_predict"));
        let mut conversation = Conversation {
            list: listing.path.to_owned(),
            model: top.text("model").map(|name| name.to_string()),
            output_limit: limit.and_then(Json::whole_number).filter(|limit| *limit > 0),
            ..Conversation::default()
        };
        if let Some(tools) = top.get("tools") {
            let tools = Fixed::tools("tools", tools, &mut conversation.flaws);
            conversation.fixed.push(tools);
        }
        let read = ["messages", "tools"];
        conversation.read_others("", top, &read);
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
    let mut message = READER.read(json, object, at, path);
    for image in object.get("images").and_then(Json::list).unwrap_or_default() {
        let size = image.str().and_then(|file| image_size(&file));
        let content = Content::Image(Image { size, ..Image::default() }, image.into());
        message.pieces.push(Piece::new(Nature::Words, content));
    }
    message
}
