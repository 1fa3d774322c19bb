//! A request as all formats see it: messages, and what is no message.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::document::Document;
use crate::format::content;
use crate::json::{Json, Object};
use crate::message::{Message, Nature, Piece, Role};
use crate::pairing::Pairing;
use crate::path::Path;
use crate::rest::has_text;
use crate::text::JsonText;
use crate::uncounted::is_read;
use crate::validate::Finding;

/// A request as its format reads it.
#[derive(Default)]
pub(crate) struct Conversation {
    /// System prompt and tool definitions that are no messages.
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) messages: Vec<Message>,
    /// The path of the list of messages; empty if the list is all there is.
    pub(crate) list: String,
    /// The model that the request names.
    pub(crate) model: Option<String>,
    /// Limit of the answer that the request sets.
    pub(crate) output_limit: Option<i64>,
    /// True if the service knows of more messages than the request has.
    pub(crate) has_stored_messages: bool,
    /// True if a system prompt may stand among the messages, where it has a field of its own.
    pub(crate) takes_system_messages: bool,
    /// True if the last turn must begin with reasoning.
    pub(crate) wants_reasoning: bool,
    /// Flaws in parts that are no messages.
    pub(crate) flaws: Vec<Finding>,
    /// See [`pairing`](Self::pairing).
    pub(crate) pairing: OnceLock<Pairing>,
}

impl Conversation {
    /// Which answer belongs to which call: for whoever checks and whoever groups the messages, once they
    /// are read.
    pub(crate) fn pairing(&self) -> &Pairing {
        self.pairing.get_or_init(|| Pairing::of(&self.messages))
    }

    /// Reads the elements of the list, each by itself; one that is no object is a flaw.
    pub(crate) fn read_messages<'t>(
        &mut self,
        document: &Document<'t>,
        elements: Vec<Json<'t>>,
        read: for<'j> fn(Json<'j>, &Object<'j>, usize, Path<'_>) -> Message,
    ) {
        let list = Path::from(&self.list);
        let object = |at: usize, json: Json<'t>| match document.sampled(at, json) {
            Some(object) => Some(Cow::Borrowed(object)),
            None => json.object().map(Cow::Owned),
        };
        let read_again = |at: usize, json: Json<'t>| match object(at, json) {
            Some(object) => read(json, &object, at, list.at(at)),
            None => Message::of_no_object(json, at, list.at(at)),
        };
        let messages = elements.into_iter().enumerate().map(|(at, json)| {
            let known = document.earlier.and_then(|earlier| earlier.message(&self.list, at, json));
            known.unwrap_or_else(|| read_again(at, json).shrunk())
        });
        self.messages = messages.collect();
    }

    /// Takes in what else the model reads beside the messages, as the schema of the answer: it counts,
    /// as it is written, and is never left out.
    pub(crate) fn read_others(&mut self, prefix: &str, object: &Object<'_>, read: &[&str]) {
        for (name, value) in object.fields() {
            if is_read(name) && !read.contains(&name) && has_text(value) {
                let pieces = vec![Piece::text(Nature::Words, content::as_written(value))];
                let (path, part) = (format!("{prefix}{name}"), FixedPart::Other);
                self.fixed.push(Fixed { path, part, pieces, definitions: Vec::new(), list: None });
            }
        }
    }

    /// The path of a message.
    pub(crate) fn path(&self, index: usize) -> String {
        Path::from(&self.list).at(index).into()
    }

    /// Which message a path leads to, if it leads to one.
    pub(crate) fn index_in(&self, path: &str) -> Option<usize> {
        let (index, _) = path.strip_prefix(&self.list)?.strip_prefix('[')?.split_once(']')?;
        index.parse().ok()
    }
}

/// A part that is never left out.
pub(crate) struct Fixed {
    pub(crate) path: String,
    pub(crate) part: FixedPart,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) definitions: Vec<JsonText>,
    /// The list that holds the definitions.
    pub(crate) list: Option<JsonText>,
}

impl Fixed {
    /// A system prompt: a text or blocks.
    pub(crate) fn instructions(path: impl Into<String>, prompt: Json<'_>) -> Self {
        let mut pieces = Vec::new();
        content::nested(prompt, Nature::Words, 0, &mut pieces);
        let (path, part) = (path.into(), FixedPart::Instructions);
        Self { path, part, pieces, definitions: Vec::new(), list: None }
    }

    /// Anything else that the model reads, as it is written.
    pub(crate) fn other(path: impl Into<String>, json: Json<'_>) -> Self {
        let pieces = vec![Piece::text(Nature::Words, content::as_written(json))];
        Self {
            path: path.into(),
            part: FixedPart::Other,
            pieces,
            definitions: Vec::new(),
            list: None,
        }
    }

    /// A list of tool definitions.
    pub(crate) fn tools(
        path: impl Into<String>,
        tools: Json<'_>,
        flaws: &mut Vec<Finding>,
    ) -> Self {
        let path = path.into();
        let definitions = tools.list().unwrap_or_else(|| {
            let text = format!("must be a list, got {}", tools.describe());
            let remedy = "give the tool definitions as a list";
            flaws.push(Finding::new(&path, "tools-type", text, remedy));
            Vec::new()
        });
        let part = FixedPart::Tools;
        let definitions = definitions.into_iter().map(JsonText::from).collect();
        Self { path, part, pieces: Vec::new(), definitions, list: Some(tools.into()) }
    }
}

/// Kind of a fixed part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FixedPart {
    Instructions,
    Tools,
    /// Anything else that the model may read, as the schema of its answer.
    Other,
}

impl FixedPart {
    /// The name by which tags and pins know it.
    pub(crate) fn role(self) -> &'static str {
        match self {
            Self::Instructions => Role::System.name(),
            Self::Tools => "tools",
            Self::Other => "other",
        }
    }
}
