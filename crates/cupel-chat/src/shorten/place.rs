//! Where a request may be shortened.

use std::ops::Range;

use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::{Content, Message, Nature, Piece, Role};
use crate::text::{JsonText, Text};

/// A text of the request that another may stand in for.
pub(super) struct Place {
    pub(super) message: usize,
    /// The call that it answers; of an assistant's words nothing.
    pub(super) id: Text,
    /// The tool that it came from.
    pub(super) tool: Text,
    pub(super) text: Text,
    /// True if only the caller may say something else here.
    pub(super) is_spoken: bool,
    spot: Spot,
}

/// Value at that place of the request.
struct Spot {
    /// Value that is written anew: a JSON string, or an object, which must stay one.
    json: JsonText,
    /// The object that the model reads it in, as it is written.
    around: Option<JsonText>,
}

impl Place {
    /// All places of a message: what tools answered, and what the assistant says.
    pub(super) fn of(conversation: &Conversation, message: usize) -> Vec<Self> {
        let known = &conversation.messages[message];
        let mut places = Vec::new();
        for answer in &known.answers {
            let Some(body) = &answer.body else { continue };
            let tool = answer.name.clone().or_else(|| tool_of(conversation, message, &answer.id));
            for (spot, text) in spots(body.view()) {
                let (id, tool) = (answer.id.clone(), tool.clone().unwrap_or_default());
                places.push(Self { message, id, tool, text, is_spoken: false, spot });
            }
        }
        if places.is_empty() {
            places.extend(words(known).map(|(spot, text)| Self {
                message,
                id: Text::default(),
                tool: Text::default(),
                text,
                is_spoken: true,
                spot,
            }));
        }
        places
    }

    /// Where it stands in the text of the request.
    pub(super) fn range_in(&self, text: &str) -> Range<usize> {
        self.spot.json.range_in(text)
    }

    /// JSON to write there for this content.
    pub(super) fn written(&self, content: &str) -> String {
        match self.spot.json.view().is_object() {
            false => as_json(content),
            true if is_object(content) => content.to_owned(),
            true => format!(r#"{{"result":{}}}"#, as_json(content)),
        }
    }

    /// Text that the model then reads there.
    pub(super) fn read(&self, content: &str) -> String {
        let inner = self.spot.json.view();
        match &self.spot.around {
            Some(around) => {
                let all = around.view().raw();
                let range = inner.span_in(all);
                format!("{}{}{}", &all[..range.start], self.written(content), &all[range.end..])
            }
            None if inner.is_object() => self.written(content),
            None => content.to_owned(),
        }
    }

    /// Text that the model reads there now.
    pub(super) fn whole(&self) -> &str {
        self.spot.around.as_ref().map_or(&self.text, |around| around.view().raw())
    }

    /// Returns true if a piece of the message is what stands here.
    pub(super) fn is(&self, piece: &Piece) -> bool {
        let nature = if self.is_spoken { Nature::Words } else { Nature::Answer };
        piece.nature == nature
            && matches!(&piece.content, Content::Text(text) if text.as_str() == self.whole())
    }
}

fn as_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_object(text: &str) -> bool {
    text.starts_with('{') && Json::parse(text).is_ok_and(Json::is_object)
}

/// The name of the call that an answer belongs to.
fn tool_of(conversation: &Conversation, message: usize, id: &str) -> Option<Text> {
    let before = conversation.messages[..message].iter().rev();
    let mut calls = before.flat_map(|message| &message.calls);
    calls.find(|call| call.id.as_str() == id).map(|call| call.name.clone())
}

/// The texts of a result: itself, or those of its blocks.
fn spots(body: Json<'_>) -> Vec<(Spot, Text)> {
    match body.list() {
        Some(blocks) => blocks.into_iter().flat_map(block_spots).collect(),
        None => spot_within(body).into_iter().collect(),
    }
}

/// The texts of a block that is text, data or a document, and nothing that could break.
fn block_spots(block: Json<'_>) -> Vec<(Spot, Text)> {
    let Some(object) = block.object() else { return Vec::new() };
    let of = |names: &[&str]| {
        let values = names.iter().filter_map(|name| object.get(name));
        values.filter_map(spot).collect()
    };
    match object.str("type").as_deref() {
        Some("text" | "input_text" | "output_text") => of(&["text"]),
        // Cohere's documents: a text or fields, and beside them an id.
        Some("document") => {
            let data = object.get("document").and_then(|document| document.object()?.get("data"));
            data.and_then(spot_within).into_iter().collect()
        }
        Some(_) => Vec::new(),
        // Bedrock's blocks, and the output of a shell.
        None => of(&["text", "json", "stdout", "stderr"]),
    }
}

/// A text, or the one that an object has under one name and nothing beside it: that is what the tool said.
fn only_text(value: Json<'_>) -> Option<Json<'_>> {
    let only = match value.object() {
        Some(object) => {
            let mut fields = object.fields();
            let (_, only) = fields.next()?;
            fields.next().is_none().then_some(only)?
        }
        None => value,
    };
    Some(only).filter(|only| only.is_text())
}

/// A text or an object that is written anew, and what it says.
fn spot(json: Json<'_>) -> Option<(Spot, Text)> {
    let text = if json.is_object() { Some(json.raw_text()) } else { sound_text(json) };
    text.map(|text| (Spot { json: json.into(), around: None }, text))
}

/// The same, or the only text of an object, which the model reads as it is written.
fn spot_within(json: Json<'_>) -> Option<(Spot, Text)> {
    let only = only_text(json).unwrap_or(json);
    let around = only.is_text() && json.is_object();
    let (found, text) = spot(only)?;
    Some((Spot { around: around.then(|| json.into()), ..found }, text))
}

/// Text of a string as Unicode has it: half a surrogate pair could not be written again.
fn sound_text(json: Json<'_>) -> Option<Text> {
    let is_sound = json.is_text() && serde_json::from_str::<String>(json.raw()).is_ok();
    is_sound.then(|| json.text()).flatten().filter(|text| !text.is_empty())
}

/// The words of an assistant that are one text and not signed.
fn words(message: &Message) -> Option<(Spot, Text)> {
    let object = message.json.view().object()?;
    let is_plain = message.role == Role::Assistant && message.blocks.is_empty();
    is_plain.then(|| object.get("content").filter(|body| body.is_text()).and_then(spot)).flatten()
}
