//! Cupel's own items, as a list or one on each line.
//!
//! Fields that the library does not know stay in the text and are otherwise passed over. An item
//! without tokens is counted.

use cupel::wire::{self, ReadError};
use cupel::{ContextItem, PathSegment};
use cupel_tokens::{Model, Overheads};

use super::Dialect;
use crate::ChatError;
use crate::conversation::Conversation;
use crate::document::{Body, Document};
use crate::evidence::Vocabulary;
use crate::grouping::{Group, PinReason, TakenApart, singly};
use crate::json::{Json, Object};
use crate::message::{Message, Nature, Piece, Role};
use crate::validate::Finding;

const VOCABULARY: Vocabulary = Vocabulary { lists: &["items"], ..Vocabulary::NONE };

pub(crate) struct Items;

impl Dialect for Items {
    fn read(&self, document: &Document<'_>) -> Result<Conversation, ChatError> {
        let (list, elements) = match &document.body {
            Body::Lines(lines) => (String::new(), lines.clone()),
            Body::One(json) if is_item(*json) => (String::new(), vec![*json]),
            Body::One(_) => {
                let listing = document.listing(&["items"])?;
                (listing.path.to_owned(), listing.elements)
            }
        };
        let mut conversation = Conversation { list, ..Conversation::default() };
        for (at, json) in elements.into_iter().enumerate() {
            let message = read_item(document, json, conversation.path(at))?;
            conversation.messages.push(message);
        }
        Ok(conversation)
    }

    fn check(&self, _: &Conversation, _: &mut Vec<Finding>) {}

    fn group(&self, conversation: &Conversation, _: TakenApart) -> Vec<Group> {
        let mut groups = singly(conversation);
        for (group, message) in groups.iter_mut().zip(&conversation.messages) {
            if message.item.as_ref().is_some_and(ContextItem::pinned) {
                group.pin(PinReason::Required);
            }
        }
        groups
    }

    fn vocabulary(&self) -> &'static Vocabulary {
        &VOCABULARY
    }

    fn overheads(&self) -> Overheads {
        Overheads::none()
    }

    /// Items are counted as they are.
    fn overheads_of(&self, _: &Model) -> Option<Overheads> {
        None
    }

    fn has_free_order(&self) -> bool {
        true
    }
}

fn is_item(json: Json<'_>) -> bool {
    json.object().is_some_and(|object| object.has("content") && !object.has("items"))
}

fn read_item(document: &Document<'_>, json: Json<'_>, path: String) -> Result<Message, ChatError> {
    let Some(object) = json.object() else {
        let problem = format!("must be an object, got {}", json.describe());
        return Err(document.malformed(json, path, &problem, "give each item as an object"));
    };
    let known = known_fields(&object);
    let item: ContextItem = wire::read(&mut serde_json::Deserializer::from_str(&known))
        .map_err(|error| refusal(document, json, &object, &path, &error))?;
    let role = role_of(&item);
    let mut message = Message::new(json, role, item.kind().as_str().to_owned().into());
    message.take_notes(&object);
    if object.get("tokens").is_none() {
        message.pieces.extend(object.text("content").map(|text| Piece::text(Nature::Words, text)));
    }
    message.item = Some(item);
    Ok(message)
}

/// The item as the library reads it: what it knows, and no tokens where none are given.
fn known_fields(object: &Object<'_>) -> String {
    let mut fields: Vec<String> = object
        .fields()
        .filter(|(name, _)| ContextItem::is_field(name))
        .map(|(name, value)| format!("\"{name}\":{}", value.raw()))
        .collect();
    if object.get("tokens").is_none() {
        fields.retain(|field| !field.starts_with("\"tokens\""));
        fields.push("\"tokens\":0".to_owned());
    }
    format!("{{{}}}", fields.join(","))
}

/// Error of the library about an item, at the field that it names.
fn refusal(
    document: &Document<'_>,
    json: Json<'_>,
    object: &Object<'_>,
    path: &str,
    error: &ReadError<serde_json::Error>,
) -> ChatError {
    let remedy = "correct the item";
    let problem = match error {
        ReadError::Value(problem) => problem,
        other => return document.malformed(json, path.to_owned(), &other.to_string(), remedy),
    };
    // The rule about empty texts names the field in its own words.
    let field = match problem.path() {
        none if none.is_empty() && problem.rule().starts_with("content ") => "content".to_owned(),
        field => field,
    };
    let first = match problem.segments().first() {
        Some(PathSegment::Field(name)) => name,
        _ => field.as_str(),
    };
    let place = object.get(first).unwrap_or(json);
    let path = if field.is_empty() { path.to_owned() } else { format!("{path}.{field}") };
    document.malformed(place, path, problem.rule(), remedy)
}

/// Role of an item's speaker, as far as the item says so.
fn role_of(item: &ContextItem) -> Role {
    let tagged = item.tags().iter().find_map(|tag| tag.strip_prefix("role:"));
    match tagged {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        Some("system") => Role::System,
        _ => Role::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use crate::Format::{ItemLines, Items};
    use crate::testing::{Words, labels, read};
    use crate::{CandidateOptions, Format, Request};

    #[test]
    fn items_are_read_with_what_the_library_does_not_know() {
        let text = r#"{"items": [
            {"content": "a b", "own": {"x": 1}, "kind": "Document"},
            {"content": "c", "tokens": 7, "pinned": true, "tags": ["role:user"]},
            {"content": "d", "tokens": 1, "annotations": {"priority": 1, "audience": ["user"]}}]}"#;
        assert_eq!(
            labels(text, Items),
            ["items[0]: Document", "*items[1]: Message", "*items[2]: Message"]
        );
        let request = read(text, Items);
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        let tokens: Vec<i64> = candidates.items().iter().map(cupel::ContextItem::tokens).collect();
        assert_eq!(tokens, [2, 7, 1]);
        assert_eq!(candidates.items()[2].priority(), Some(100));
        assert_eq!(candidates.items()[2].tags(), ["audience:user"]);
        assert_eq!(request.query().as_deref(), Some("c"));
    }

    #[test]
    fn items_are_written_in_the_order_given() {
        let text = "{\"content\":\"a\"}\r\n{\"content\":\"b\"}\r\n{\"content\":\"c\"}\r\n";
        let request = read(text, ItemLines);
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        assert_eq!(candidates.render(&[2, 0]), "{\"content\":\"c\"}\r\n{\"content\":\"a\"}\r\n");
        assert_eq!(candidates.render(&[0, 1, 2]), text);
    }

    #[track_caller]
    fn assert_refused(text: &str, format: Format, message: &str) {
        assert_eq!(Request::parse(text, Some(format)).err().unwrap().to_string(), message);
    }

    #[test]
    fn wrong_fields_are_named_with_line_and_path() {
        assert_refused(
            "{\"content\":\"a\"}\n{\"content\":\"b\",\"tokens\":\"x\"}",
            ItemLines,
            "line 2, column 25: [1].tokens: must be a whole number, got \"x\"; correct the item",
        );
        assert_refused(
            r#"[{"content":"a","tags":["x",3]}]"#,
            Items,
            "line 1, column 24: [0].tags[1]: must be a text, got 3; correct the item",
        );
        assert_refused(
            r#"[{"tokens":3}]"#,
            Items,
            "line 1, column 2: [0].content: is required; correct the item",
        );
        assert_refused(
            r#"[{"content":""}]"#,
            Items,
            "line 1, column 13: [0].content: content must be non-empty; correct the item",
        );
    }

    #[test]
    fn one_item_is_a_list_of_one_unless_it_has_items() {
        assert_eq!(read(r#"{"content":"a"}"#, Items).message_count(), 1);
        let both = r#"{"content":"a note","items":[{"content":"a"},{"content":"b"}]}"#;
        assert_eq!(read(both, Items).message_count(), 2);
        assert!(Request::parse(r#"{"texts":[]}"#, Some(Items)).is_err());
    }

    #[test]
    fn a_tag_says_who_speaks() {
        use crate::message::Role;
        for (tag, role) in [
            ("role:user", Role::User),
            ("role:assistant", Role::Assistant),
            ("role:tool", Role::Tool),
            ("role:system", Role::System),
            ("role:clown", Role::Unknown),
            ("user", Role::Unknown),
        ] {
            let request = read(&format!(r#"[{{"content":"a","tags":["x","{tag}"]}}]"#), Items);
            assert_eq!(request.conversation().messages[0].role, role, "{tag}");
        }
    }
}
