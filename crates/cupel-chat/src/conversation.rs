//! A request as all formats see it: fixed parts, and messages with calls and answers.

use cupel_tokens::Image;

use crate::annotations::Notes;
use crate::file::File;
use crate::format::content;
use crate::grouping::PinReason;
use crate::json::{Json, Object};
use crate::rest::has_text;
use crate::text::{JsonText, Text};
use crate::uncounted::is_setting;
use crate::validate::{Finding, Fix};

/// What a format made of a request.
#[derive(Default)]
pub(crate) struct Conversation {
    /// System prompt and tool definitions that are no messages.
    pub(crate) fixed: Vec<Fixed>,
    pub(crate) messages: Vec<Message>,
    /// The path of the list of messages; empty if the list is all there is.
    pub(crate) list: String,
    /// The model that the request names.
    pub(crate) model: Option<String>,
    /// How long the request lets the answer be.
    pub(crate) output_limit: Option<i64>,
    /// Whether the service knows of more messages than the request has.
    pub(crate) has_stored_messages: bool,
    /// Whether a system prompt may stand among the messages, where it has a field of its own.
    pub(crate) takes_system_messages: bool,
    /// Whether the last turn must begin with reasoning.
    pub(crate) wants_reasoning: bool,
    /// What is wrong with parts that are no messages.
    pub(crate) flaws: Vec<Finding>,
}

impl Conversation {
    /// Reads the elements of the list, each by itself; one that is no object is a flaw.
    pub(crate) fn read_messages(
        &mut self,
        elements: Vec<Json<'_>>,
        read: impl Fn(Json<'_>, &Object<'_>, usize, &str) -> Message,
    ) {
        for (at, json) in elements.into_iter().enumerate() {
            let path = self.path(at);
            self.messages.push(match json.object() {
                Some(object) => read(json, &object, at, &path),
                None => Message::of_no_object(json, at, path),
            });
        }
    }

    /// Takes in what stands beside the messages and no rule knows, as the schema of the answer: it
    /// counts, as it is written, and is never left out.
    pub(crate) fn read_others(&mut self, prefix: &str, object: &Object<'_>, read: &[&str]) {
        for (name, value) in object.fields() {
            let is_known = read.contains(&name.as_ref()) || is_setting(&name);
            if !is_known && has_text(value) {
                let pieces = vec![Piece::text(Nature::Words, content::as_written(value))];
                let (path, part) = (format!("{prefix}{name}"), FixedPart::Other);
                self.fixed.push(Fixed { path, part, pieces, definitions: Vec::new() });
            }
        }
    }

    /// The path of a message.
    pub(crate) fn path(&self, index: usize) -> String {
        format!("{}[{index}]", self.list)
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
}

impl Fixed {
    /// A system prompt: a text or blocks.
    pub(crate) fn instructions(path: impl Into<String>, prompt: Json<'_>) -> Self {
        let mut pieces = Vec::new();
        content::nested(prompt, Nature::Words, 0, &mut pieces);
        let (path, part) = (path.into(), FixedPart::Instructions);
        Self { path, part, pieces, definitions: Vec::new() }
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
        Self { path, part, pieces: Vec::new(), definitions }
    }
}

/// What a fixed part is.
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

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Role {
    System,
    User,
    Assistant,
    Tool,
    #[default]
    Unknown,
}

impl Role {
    /// The name by which tags and pins know the role, whatever the format calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Unknown => "unknown",
        }
    }
}

/// One element of the request's list.
pub(crate) struct Message {
    pub(crate) json: JsonText,
    pub(crate) role: Role,
    /// What the format calls the role, or the type of the element.
    pub(crate) native_role: Text,
    /// The `name` of whoever speaks.
    pub(crate) speaker: Option<Text>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) calls: Vec<Call>,
    pub(crate) answers: Vec<Answer>,
    /// The blocks of its content, where that is a list.
    pub(crate) blocks: Vec<JsonText>,
    pub(crate) bond: Bond,
    /// Why it must stay, if it must.
    pub(crate) stays: Option<PinReason>,
    pub(crate) notes: Notes,
    pub(crate) flaws: Vec<Finding>,
    /// The item itself, where the format is Cupel's own.
    pub(crate) item: Option<cupel::ContextItem>,
}

impl Message {
    pub(crate) fn new(json: Json<'_>, role: Role, native_role: Text) -> Self {
        Self {
            json: json.into(),
            role,
            native_role,
            speaker: None,
            pieces: Vec::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            blocks: Vec::new(),
            bond: Bond::None,
            stays: None,
            notes: Notes::default(),
            flaws: Vec::new(),
            item: None,
        }
    }

    fn of_no_object(json: Json<'_>, at: usize, path: String) -> Self {
        let mut message = Self::new(json, Role::Unknown, Text::Name("unknown"));
        let text = format!("must be an object, got {}", json.describe());
        let finding = Finding::new(path, "message-type", text, "give each message as an object");
        message.flaws.push(finding.fixed_by(Fix::Drop(at)));
        message
    }

    /// Whether the user says something in this message, beside answers of tools.
    pub(crate) fn has_user_words(&self) -> bool {
        let is_word = |piece: &Piece| matches!(piece.nature, Nature::Words | Nature::Document);
        self.role == Role::User && (self.answers.is_empty() || self.pieces.iter().any(is_word))
    }

    /// The user's words in this message; of an item its text.
    pub(crate) fn user_words(&self) -> Option<String> {
        if !self.has_user_words() {
            return None;
        }
        let words = self.item.as_ref().map(|item| item.content().to_owned());
        let words = words.unwrap_or_else(|| self.texts_of(Nature::Words));
        let words = if words.is_empty() { self.texts_of(Nature::Document) } else { words };
        Some(words).filter(|words| !words.trim().is_empty())
    }

    fn texts_of(&self, nature: Nature) -> String {
        let pieces = self.pieces.iter().filter(|piece| piece.nature == nature);
        let texts = pieces.filter_map(|piece| match &piece.content {
            Content::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether the message is the user's own and nothing but that.
    pub(crate) fn opens_turn(&self) -> bool {
        self.role == Role::User && self.answers.is_empty()
    }
}

/// What binds a message beyond calls and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bond {
    None,
    /// It is reasoning, or begins with it.
    Reasoning,
    /// It is a call that the service answers by itself.
    BuiltIn,
    /// It stands for something that the request does not show.
    Reference,
}

/// A call of a tool.
pub(crate) struct Call {
    pub(crate) id: Text,
    pub(crate) name: Text,
    pub(crate) arguments: Text,
    /// Whether the provider insists on an answer.
    pub(crate) needs_answer: bool,
    /// Which block of the message it is, if it is one.
    pub(crate) block: Option<usize>,
}

/// The answer to a call.
pub(crate) struct Answer {
    pub(crate) id: Text,
    pub(crate) name: Option<Text>,
    /// Which block of the message it is, if it is one.
    pub(crate) block: Option<usize>,
}

/// Something that costs tokens.
pub(crate) struct Piece {
    pub(crate) nature: Nature,
    pub(crate) content: Content,
}

impl Piece {
    pub(crate) fn text(nature: Nature, text: Text) -> Self {
        Self { nature, content: Content::Text(text) }
    }
}

/// What a piece is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// What somebody says.
    Words,
    /// What a tool answers.
    Answer,
    /// What is read.
    Document,
    /// What stands beside all that.
    Aside,
}

/// What a piece consists of.
pub(crate) enum Content {
    Text(Text),
    Image(Image, JsonText),
    /// Sound, documents and other files.
    File(File, JsonText),
    /// Something that stands for what the service has, and cannot be counted from here.
    Opaque(JsonText),
}
