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
    /// Whether only the caller may say something else here.
    pub(super) is_spoken: bool,
    spot: Spot,
}

/// What stands there in the request.
enum Spot {
    /// A JSON string.
    Text(JsonText),
    /// An object, which must stay one.
    Object(JsonText),
    /// A JSON string, the only thing in an object that the model reads as it is written.
    Field { object: JsonText, text: JsonText },
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
        match &self.spot {
            Spot::Text(json) | Spot::Object(json) | Spot::Field { text: json, .. } => {
                json.range_in(text)
            }
        }
    }

    /// What to write there, so that it says this.
    pub(super) fn written(&self, content: &str) -> String {
        match &self.spot {
            Spot::Text(_) | Spot::Field { .. } => as_json(content),
            Spot::Object(_) if is_object(content) => content.to_owned(),
            Spot::Object(_) => format!(r#"{{"result":{}}}"#, as_json(content)),
        }
    }

    /// What the model reads there then.
    pub(super) fn read(&self, content: &str) -> String {
        match &self.spot {
            Spot::Text(_) => content.to_owned(),
            Spot::Object(_) => self.written(content),
            Spot::Field { object, text } => {
                let (all, inner) = (object.view().raw(), text.view());
                let range = inner.span_in(all);
                format!("{}{}{}", &all[..range.start], as_json(content), &all[range.end..])
            }
        }
    }

    /// What it reads there now.
    pub(super) fn whole(&self) -> &str {
        match &self.spot {
            Spot::Text(_) | Spot::Object(_) => &self.text,
            Spot::Field { object, .. } => object.view().raw(),
        }
    }

    /// Whether a piece of the message is what stands here.
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

/// The texts of a result: itself, those of its blocks, or all of it where it is an object.
fn spots(body: Json<'_>) -> Vec<(Spot, Text)> {
    if let Some(spot) = text_spot(body) {
        return vec![spot];
    }
    if let Some(blocks) = body.list() {
        return blocks.into_iter().filter_map(block_spot).collect();
    }
    let Some(object) = body.object() else { return Vec::new() };
    let mut fields = object.fields();
    match (fields.next(), fields.next()) {
        // One text with a name is what the tool said.
        (Some((_, only)), None) if only.is_text() => {
            let text = sound_text(only).into_iter();
            let spot = || Spot::Field { object: body.into(), text: only.into() };
            text.map(|text| (spot(), text)).collect()
        }
        _ => vec![(Spot::Object(body.into()), body.raw_text())],
    }
}

/// The text of a block, if it is one of text and nothing else that could break.
fn block_spot(block: Json<'_>) -> Option<(Spot, Text)> {
    let object = block.object()?;
    let kind = object.str("type")?;
    let is_text = matches!(&*kind, "text" | "input_text" | "output_text");
    is_text.then(|| object.get("text").and_then(text_spot)).flatten()
}

fn text_spot(json: Json<'_>) -> Option<(Spot, Text)> {
    sound_text(json).map(|text| (Spot::Text(json.into()), text))
}

/// What a string says as Unicode has it: half a surrogate pair could not be written again.
fn sound_text(json: Json<'_>) -> Option<Text> {
    let is_sound = json.is_text() && serde_json::from_str::<String>(json.raw()).is_ok();
    is_sound.then(|| json.text()).flatten().filter(|text| !text.is_empty())
}

/// The words of an assistant that are one text and not signed.
fn words(message: &Message) -> Option<(Spot, Text)> {
    let object = message.json.view().object()?;
    let is_plain = message.role == Role::Assistant && message.blocks.is_empty();
    is_plain.then(|| object.get("content").and_then(text_spot)).flatten()
}
