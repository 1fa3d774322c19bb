//! A message as all formats see it: who speaks, what it costs, what it calls and answers.

use std::ops::{Deref, DerefMut};

use cupel_tokens::Image;

use crate::annotations::Notes;
use crate::file::File;
use crate::grouping::PinReason;
use crate::json::{Json, Object};
use crate::path::Path;
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

/// Role of the speaker.
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
    /// Number of roles.
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
///
/// A hostile request has as many as fit into it, so that what few messages have is kept aside
/// ([`Extras`]), and read as if it stood here.
pub(crate) struct Message {
    pub(crate) json: JsonText,
    pub(crate) role: Role,
    /// Role in the words of the format, or the type of the element.
    pub(crate) native_role: Text,
    pub(crate) pieces: Vec<Piece>,
    /// The blocks of its content, where that is a list.
    pub(crate) blocks: Vec<JsonText>,
    pub(crate) bond: Bond,
    pub(crate) extras: Option<Box<Extras>>,
}

/// Fields beside words that few messages have. Writing to them takes memory, so look before you write.
#[derive(Default)]
pub(crate) struct Extras {
    /// The `name` of whoever speaks.
    pub(crate) speaker: Option<Text>,
    pub(crate) calls: Vec<Call>,
    pub(crate) answers: Vec<Answer>,
    /// The calls that the service answers by itself, and their results.
    pub(crate) served: Vec<Served>,
    /// Why it must stay, if it must.
    pub(crate) stays: Option<PinReason>,
    pub(crate) notes: Notes,
    pub(crate) flaws: Vec<Finding>,
    /// The item itself, where the format is Cupel's own.
    pub(crate) item: Option<cupel::ContextItem>,
}

impl Extras {
    const NONE: &'static Self = &Self {
        speaker: None,
        calls: Vec::new(),
        answers: Vec::new(),
        served: Vec::new(),
        stays: None,
        notes: Notes::NONE,
        flaws: Vec::new(),
        item: None,
    };
}

impl Deref for Message {
    type Target = Extras;

    fn deref(&self) -> &Extras {
        self.extras.as_deref().unwrap_or(Extras::NONE)
    }
}

impl DerefMut for Message {
    fn deref_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}

impl Message {
    pub(crate) fn new(json: impl Into<JsonText>, role: Role, native_role: Text) -> Self {
        Self {
            json: json.into(),
            role,
            native_role,
            pieces: Vec::new(),
            blocks: Vec::new(),
            bond: Bond::None,
            extras: None,
        }
    }

    /// Takes in what an object says about the message: the message itself, or one of its blocks.
    pub(crate) fn take_notes(&mut self, object: &Object<'_>) {
        let mut notes = Notes::default();
        notes.take_in(object);
        if notes != Notes::NONE {
            self.notes.merge(&notes);
        }
    }

    /// Gives back memory that it took while it was read.
    pub(crate) fn shrunk(mut self) -> Self {
        self.pieces.shrink_to_fit();
        self.blocks.shrink_to_fit();
        if let Some(extras) = &mut self.extras {
            extras.calls.shrink_to_fit();
            extras.answers.shrink_to_fit();
            extras.served.shrink_to_fit();
        }
        self
    }

    pub(crate) fn of_no_object(json: Json<'_>, at: usize, path: Path<'_>) -> Self {
        let mut message = Self::new(json, Role::Unknown, Text::Name("unknown"));
        let text = format!("must be an object, got {}", json.describe());
        let finding = Finding::new(path, "message-type", text, "give each message as an object");
        message.flaws.push(finding.fixed_by(Fix::Drop(at)));
        message
    }

    /// Returns true if the user says something in this message, beside answers of tools.
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

    /// Returns true if the message is the user's own and nothing but that.
    pub(crate) fn opens_turn(&self) -> bool {
        self.role == Role::User && self.answers.is_empty()
    }
}

/// Bond between messages beyond calls and answers.
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
    /// True if the provider insists on an answer.
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
    /// Content of the result, where it may be shortened.
    pub(crate) body: Option<JsonText>,
    /// True if the tool says that it failed.
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
    /// True if it is a result that says that it failed.
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

/// Nature of a piece for the reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Words that somebody says.
    Words,
    /// The model's reasoning before it speaks or calls.
    Thought,
    /// The name of a tool that the service calls by itself.
    Tool,
    /// The arguments of the call.
    Arguments,
    /// Answer of a tool.
    Answer,
    /// Document that is read.
    Document,
    /// Text beside all that.
    Aside,
}

/// Content of a piece.
pub(crate) enum Content {
    Text(Text),
    Image(Image, JsonText),
    /// Sound, documents and other files.
    File(Box<File>, JsonText),
    /// Something that stands for what the service has, and cannot be counted from here.
    Opaque(JsonText),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use crate::testing::read;

    /// Requests may have as many messages as their bytes allow: each takes little beside its text.
    #[test]
    fn a_message_of_words_takes_few_bytes() {
        assert!(size_of::<Message>() <= 144, "{}", size_of::<Message>());
        assert!(size_of::<Piece>() <= 80, "{}", size_of::<Piece>());
        let openai = r#"[{"role":"user","content":"a"}]"#;
        let blocks = r#"[{"role":"user","content":[{"type":"text","text":"a"}]}]"#;
        let gemini = r#"[{"role":"user","parts":[{"text":"a"}]}]"#;
        let responses = r#"[{"type":"message","role":"user","content":"a"}]"#;
        for (text, format) in [
            (openai, Format::OpenAiChat),
            (blocks, Format::OpenAiChat),
            (openai, Format::Anthropic),
            (blocks, Format::Anthropic),
            (gemini, Format::Gemini),
            (responses, Format::OpenAiResponses),
        ] {
            let request = read(text, format);
            let message = &request.conversation().messages[0];
            assert!(message.extras.is_none(), "{format:?}: {text}");
            assert_eq!((message.pieces.capacity(), message.pieces.len()), (1, 1), "{format:?}");
        }
    }

    #[test]
    fn what_few_messages_have_is_read_as_if_it_stood_there() {
        let text = r#"[{"role":"user","name":"ann","content":"a"},{"role":"user","content":"b"}]"#;
        let request = read(text, Format::OpenAiChat);
        let speaker = |at: usize| request.conversation().messages[at].speaker.as_deref();
        assert_eq!((speaker(0), speaker(1)), (Some("ann"), None));
    }
}
