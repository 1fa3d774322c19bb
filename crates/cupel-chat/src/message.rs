//! A message as all formats see it: who speaks, what it costs, what it calls and answers.

use cupel_tokens::Image;

use crate::annotations::Notes;
use crate::file::File;
use crate::grouping::PinReason;
use crate::json::Json;
use crate::path::Path;
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

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
    /// How many there are.
    pub(crate) const COUNT: usize = Self::Unknown as usize + 1;

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

    /// The tag of what is said in the role.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::System => "role:system",
            Self::User => "role:user",
            Self::Assistant => "role:assistant",
            Self::Tool => "role:tool",
            Self::Unknown => "role:unknown",
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
    /// The calls that the service answers by itself, and their results.
    pub(crate) served: Vec<Served>,
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
            served: Vec::new(),
            blocks: Vec::new(),
            bond: Bond::None,
            stays: None,
            notes: Notes::default(),
            flaws: Vec::new(),
            item: None,
        }
    }

    pub(crate) fn of_no_object(json: Json<'_>, at: usize, path: Path<'_>) -> Self {
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
        texts_of(&self.pieces, nature)
    }

    /// The words of the system or the user in this message; of an item its text.
    pub(crate) fn instructing_words(&self) -> Option<String> {
        let is_theirs = matches!(self.role, Role::System | Role::User);
        is_theirs.then(|| match &self.item {
            Some(item) => item.content().to_owned(),
            None => self.texts_of(Nature::Words),
        })
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

/// A call of a tool. Its id is empty where it has none.
pub(crate) struct Call {
    pub(crate) id: Text,
    pub(crate) name: Text,
    pub(crate) arguments: Text,
    /// Whether the provider insists on an answer.
    pub(crate) needs_answer: bool,
    /// Which block of the message it is, if it is one.
    pub(crate) block: Option<usize>,
    /// Where its id is written, if the provider wants one.
    pub(crate) id_place: Option<IdPlace>,
}

/// Where the id of a call is written, or should be.
pub(crate) struct IdPlace {
    /// The object that has the field.
    pub(crate) holder: JsonText,
    pub(crate) field: &'static str,
}

impl IdPlace {
    pub(crate) fn new(holder: Json<'_>, field: &'static str) -> Self {
        Self { holder: holder.into(), field }
    }
}

/// The answer to a call. Without an id, it belongs to a call by its order and its name.
pub(crate) struct Answer {
    pub(crate) id: Text,
    pub(crate) name: Option<Text>,
    /// Which block of the message it is, if it is one.
    pub(crate) block: Option<usize>,
    /// What came back, where it may be shortened.
    pub(crate) body: Option<JsonText>,
    /// Whether the tool says that it failed.
    pub(crate) is_error: bool,
    /// Where its id is written, if the provider wants one.
    pub(crate) id_place: Option<IdPlace>,
}

/// A call that the service answers by itself, or the result of one: no message has to answer it, and
/// its texts are pieces of the message.
pub(crate) struct Served {
    pub(crate) id: Text,
    /// Which block of the message it is, if it is one.
    pub(crate) block: Option<usize>,
    /// Whether it is a result that says that it failed.
    pub(crate) is_error: bool,
}

/// Something that costs tokens.
pub(crate) struct Piece {
    pub(crate) nature: Nature,
    pub(crate) content: Content,
    /// Which block of the message it stands in, if its content is a list.
    pub(crate) block: Option<usize>,
}

/// The texts of this nature, line by line.
pub(crate) fn texts_of(pieces: &[Piece], nature: Nature) -> String {
    let pieces = pieces.iter().filter(|piece| piece.nature == nature);
    let texts = pieces.filter_map(|piece| match &piece.content {
        Content::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

impl Piece {
    pub(crate) fn text(nature: Nature, text: Text) -> Self {
        Self::new(nature, Content::Text(text))
    }

    pub(crate) fn new(nature: Nature, content: Content) -> Self {
        Self { nature, content, block: None }
    }
}

/// What a piece is to the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// What somebody says.
    Words,
    /// The model's reasoning before it speaks or calls.
    Thought,
    /// The name of a tool that the service calls by itself.
    Tool,
    /// The arguments of the call.
    Arguments,
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
