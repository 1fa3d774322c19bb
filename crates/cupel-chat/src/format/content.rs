//! The content of messages: a text, or blocks. Providers differ in names, hardly in shape.

use cupel_names::UnknownName;
use cupel_tokens::{Detail, Image};

use crate::evidence::{Vocabulary, is_more_than_text};
use crate::file::{self, File, image_size};
use crate::json::{Json, Object};
use crate::message::{Content, Message, Nature, Piece, Role, Served};
use crate::path::Path;
use crate::rest::{push_rest, push_unknown};
use crate::text::{JsonText, Text};
use crate::validate::{Finding, Fix};

/// Results within results: how deep they are looked into. Deeper ones count as they are written.
const DEEPEST: usize = 4;

/// Reads the `content` of a message into its pieces and blocks. `own` takes the blocks that only
/// the format understands; others that are more than text must be known to it.
pub(crate) fn read(
    message: &mut Message,
    content: Option<Json<'_>>,
    path: Path<'_>,
    nature: Nature,
    vocabulary: &Vocabulary,
    mut own: impl FnMut(&mut Message, usize, Json<'_>, &Object<'_>) -> bool,
) {
    let Some(content) = content else { return };
    if let Some(text) = content.text() {
        push_text(&mut message.pieces, nature, text);
        return;
    }
    let Some(blocks) = content.list() else {
        let text = format!("must be a text or a list of blocks, got {}", content.describe());
        message.flaws.push(Finding::new(path, "content-type", text, "correct the content"));
        return;
    };
    for (index, block) in blocks.iter().enumerate() {
        let first = message.pieces.len();
        read_one(message, *block, index, path, nature, vocabulary, &mut own);
        for piece in &mut message.pieces[first..] {
            piece.block = Some(index);
        }
    }
    message.blocks = blocks.into_iter().map(JsonText::from).collect();
}

/// Reads one block of a content.
fn read_one(
    message: &mut Message,
    block: Json<'_>,
    index: usize,
    path: Path<'_>,
    nature: Nature,
    vocabulary: &Vocabulary,
    own: &mut impl FnMut(&mut Message, usize, Json<'_>, &Object<'_>) -> bool,
) {
    let Some(object) = block.object() else {
        match block.text() {
            Some(text) => push_text(&mut message.pieces, nature, text),
            None => message.flaws.push(Finding::new(
                path.at(index),
                "content-type",
                format!("must be a block, got {}", block.describe()),
                "correct the content",
            )),
        }
        return;
    };
    message.take_notes(&object);
    if !own(message, index, block, &object) {
        if let Some(flaw) = unknown_block(&object, path.at(index), vocabulary) {
            message.flaws.push(flaw);
        }
        if let Some(served) = served(&object, index) {
            message.served.push(served);
        }
        read_block(block, &object, nature, 0, &mut message.pieces);
    }
}

/// A block that is more than text, and that the format does not know.
fn unknown_block(object: &Object<'_>, path: Path<'_>, vocabulary: &Vocabulary) -> Option<Finding> {
    let strange = if let Some(kind) = object.str("type") {
        Some(kind.into_owned()).filter(|kind| !vocabulary.knows_block(kind))
    } else {
        let names = object.fields().map(|(name, _)| name);
        let mut strange = names.filter(|name| !vocabulary.knows_block_field(name));
        strange.find(|name| is_more_than_text(name)).map(str::to_owned)
    };
    let name = strange.filter(|name| is_more_than_text(name))?;
    let text = format!("the format does not have a block `{name}`");
    let remedy = "name the format that has it, or write it as this format does";
    Some(Finding::new(path, "unknown-block", text, remedy))
}

/// The call or the result that a block is, where the service answers the call by itself.
fn served(object: &Object<'_>, index: usize) -> Option<Served> {
    let kind = object.str("type")?;
    let (id, is_error) = if is_call(&kind) {
        (object.text("id"), false)
    } else if kind.ends_with("tool_result") {
        let id = object.any_of(&["tool_use_id", "tool_call_id"]).and_then(|(_, id)| id.text());
        (id, is_failure(object))
    } else {
        return None;
    };
    Some(Served { id: id.unwrap_or_default(), block: Some(index), is_error })
}

fn is_call(kind: &str) -> bool {
    matches!(
        kind,
        "tool_use" | "server_tool_use" | "mcp_tool_use" | "tool_call" | "server_tool_call"
    )
}

/// Returns `true` if a result says that the tool failed: by a flag, by its status, or by what its content is.
pub(crate) fn is_failure(result: &Object<'_>) -> bool {
    let is_type_of_error =
        |content: Json<'_>| content.object()?.str("type").map(|kind| kind.ends_with("_error"));
    result.get("is_error").is_some_and(|flag| flag.raw() == "true")
        || result.str("status").is_some_and(|status| status == "error")
        || result.get("content").and_then(is_type_of_error).unwrap_or_default()
}

/// The pieces of content that stands within a block.
pub(crate) fn nested(content: Json<'_>, nature: Nature, depth: usize, pieces: &mut Vec<Piece>) {
    match content.list() {
        Some(blocks) if depth < DEEPEST => {
            for block in blocks {
                match block.object() {
                    Some(object) => read_block(block, &object, nature, depth + 1, pieces),
                    None => push_text(pieces, nature, as_written(block)),
                }
            }
        }
        _ => match content.object().filter(|object| depth < DEEPEST && object.has("type")) {
            Some(object) => read_block(content, &object, nature, depth + 1, pieces),
            None => push_text(pieces, nature, as_written(content)),
        },
    }
}

fn read_block(
    block: Json<'_>,
    object: &Object<'_>,
    nature: Nature,
    depth: usize,
    pieces: &mut Vec<Piece>,
) {
    let kind = object.str("type").unwrap_or_default();
    match kind.as_ref() {
        "image_url" | "input_image" | "image" => push_image(block, object, nature, pieces),
        // The AI SDK's: a file is an image if its type says so.
        "file" if is_image(object) => push_image(block, object, nature, pieces),
        "document" | "search_result" => read_document(block, object, nature, depth, pieces),
        "file" | "input_file" => push_file(block, object, Nature::Document, pieces),
        "input_audio" | "audio" | "video" | "media" => push_file(block, object, nature, pieces),
        // The service leaves it out again once the turn is over.
        "redacted_thinking" => push_rest(object, &["data"], nature, pieces),
        _ if is_call(&kind) => {
            let or_inner = |own: Nature| if nature == Nature::Words { own } else { nature };
            let (field, input) = object.any_of(&["input", "args"]).unzip();
            let name = object.text("name").unwrap_or_default();
            push_text(pieces, or_inner(Nature::Tool), name);
            let input = input.map(as_written).unwrap_or_default();
            push_text(pieces, or_inner(Nature::Arguments), input);
            push_rest(object, &["name", field.unwrap_or("input")], nature, pieces);
        }
        _ if kind.ends_with("tool_result") => {
            if let Some(content) = object.get("content") {
                nested(content, Nature::Answer, depth, pieces);
            }
            push_rest(object, &["content"], Nature::Answer, pieces);
        }
        _ => {
            const WORDS: [&str; 4] = ["text", "thinking", "reasoning", "refusal"];
            let words =
                WORDS.into_iter().filter(|name| object.get(name).is_some_and(Json::is_text));
            let words: Vec<&str> = words.collect();
            let is_thought = matches!(kind.as_ref(), "thinking" | "reasoning");
            let nature = match nature {
                Nature::Words if is_thought => Nature::Thought,
                nature => nature,
            };
            for name in &words {
                push_text(pieces, nature, object.text(name).unwrap_or_default());
            }
            push_rest(object, &words, nature, pieces);
        }
    }
}

/// A document or a search result: its title, and its text where that is plain.
fn read_document(
    block: Json<'_>,
    object: &Object<'_>,
    within: Nature,
    depth: usize,
    pieces: &mut Vec<Piece>,
) {
    let nature = Nature::Document;
    // Cohere's: a text, or fields. Its tools answer with them.
    if let Some(document) = object.get("document") {
        let nature = if within == Nature::Answer { within } else { nature };
        push_rest(object, &["document"], nature, pieces);
        match document.object() {
            Some(document) => {
                push_rest(&document, &["data"], nature, pieces);
                let data = document.get("data").map(as_written);
                push_text(pieces, nature, data.unwrap_or_default());
            }
            None => push_unknown(document, nature, pieces),
        }
        return;
    }
    push_rest(object, &["source", "content"], nature, pieces);
    let source = object.get("source").and_then(Json::object).unwrap_or_default();
    let is_plain = source.str("type").is_some_and(|kind| kind == "text");
    let text = object.get("content").or_else(|| source.get("content"));
    match text.or_else(|| source.get("data").filter(|_| is_plain)) {
        Some(text) => {
            nested(text, nature, depth, pieces);
            push_rest(&source, &["content", "data"], nature, pieces);
            // A search result names its source.
            let named = object.get("source").filter(|source| source.is_text());
            pieces.extend(named.and_then(Json::text).map(|name| Piece::text(nature, name)));
        }
        None => {
            push_file_itself(block, object, nature, pieces);
        }
    }
}

/// An image, and what is said beside it.
pub(crate) fn push_image(
    block: Json<'_>,
    object: &Object<'_>,
    nature: Nature,
    pieces: &mut Vec<Piece>,
) {
    let content = Content::Image(image(object), block.into());
    pieces.push(Piece::new(nature, content));
    const READ: [&str; 9] = [
        "image_url",
        "source",
        "data",
        "base64",
        "bytes",
        "image",
        "source_type",
        "url",
        "mediaType",
    ];
    push_rest(object, &READ, nature, pieces);
    for holder in ["image_url", "source"] {
        if let Some(holder) = object.get(holder).and_then(Json::object) {
            push_rest(&holder, &["data", "bytes"], nature, pieces);
        }
    }
}

fn is_image(file: &Object<'_>) -> bool {
    file.str("mediaType").is_some_and(|kind| kind.starts_with("image/"))
}

/// A file, and what is said beside it.
pub(crate) fn push_file(
    block: Json<'_>,
    object: &Object<'_>,
    nature: Nature,
    pieces: &mut Vec<Piece>,
) {
    let mut read = file::FIELDS.to_vec();
    read.extend(push_file_itself(block, object, nature, pieces));
    push_rest(object, &read, nature, pieces);
}

/// Returns the field that holds the file, if it is not the block itself.
fn push_file_itself(
    block: Json<'_>,
    object: &Object<'_>,
    nature: Nature,
    pieces: &mut Vec<Piece>,
) -> Option<&'static str> {
    let (file, holder) = File::of(object);
    pieces.push(Piece::new(nature, Content::File(Box::new(file), block.into())));
    let (name, holder) = holder?;
    let mut read = file::FIELDS.to_vec();
    // A text that stands for the file is the file.
    read.extend((name == "data").then_some("text"));
    push_rest(&holder, &read, nature, pieces);
    Some(name)
}

/// Image of a content block: its detail, and its size if the file is there.
pub(crate) fn image(object: &Object<'_>) -> Image {
    let url = object.get("image_url");
    let nested = url.and_then(Json::object).unwrap_or_default();
    let source = object.any_of(&["source", "data"]).and_then(|(_, source)| source.object());
    let source = source.unwrap_or_default();
    let detail = object.str("detail").or_else(|| nested.str("detail"));
    let detail = match detail.as_deref() {
        Some("low") => Detail::Low,
        Some("high" | "original") => Detail::High,
        _ => Detail::Auto,
    };
    let file = url
        .and_then(Json::str)
        .or_else(|| nested.str("url"))
        .or_else(|| source.str("data"))
        .or_else(|| source.str("bytes"))
        .or_else(|| object.str("image"))
        .or_else(|| object.str("data"))
        .or_else(|| object.str("base64"))
        .or_else(|| object.str("url"));
    Image { detail, size: file.and_then(|file| image_size(&file)) }
}

/// A value as text: what a text says, and of everything else how it is written.
pub(crate) fn as_written(json: Json<'_>) -> Text {
    json.text().unwrap_or_else(|| json.raw_text())
}

pub(crate) fn push_text(pieces: &mut Vec<Piece>, nature: Nature, text: Text) {
    if !text.is_empty() {
        pieces.push(Piece::text(nature, text));
    }
}

/// Begins a message with its role, which is one of `taken`; of any other, the flaw offers `known`.
pub(crate) fn read_role(
    json: Json<'_>,
    object: &Object<'_>,
    path: Path<'_>,
    taken: &[&str],
    known: &[&'static str],
) -> Message {
    let native_role = object.text("role").unwrap_or_default();
    let role = match native_role.as_ref() {
        name if !taken.contains(&name) => Role::Unknown,
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" | "tool-call" => Role::Assistant,
        "tool" | "function" | "tool-response" => Role::Tool,
        _ => Role::Unknown,
    };
    let mut message = Message::new(json, role, native_role);
    message.take_notes(object);
    if role == Role::Unknown {
        message.flaws.push(role_flaw(path, "role", object.get("role"), known));
    }
    message
}

/// Flaw of a message's role, whose known roles are these.
pub(crate) fn role_flaw(
    path: Path<'_>,
    field: &str,
    role: Option<Json<'_>>,
    known: &[&'static str],
) -> Finding {
    let path = path.field(field);
    let Some(role) = role else {
        let remedy = format!("give one of {}", known.join(", "));
        return Finding::new(path, "missing-role", "is required", remedy);
    };
    let name = role.text().unwrap_or_default();
    let remedy = UnknownName::new("role", &name, known.iter().copied()).hint();
    Finding::new(path, "unknown-role", format!("unknown role {}", role.describe()), remedy)
}

/// A message without the content that its role asks for.
pub(crate) fn missing(path: Path<'_>, fix: Fix) -> Finding {
    Finding::new(path, "missing-content", "is required", "add it, or remove the message")
        .fixed_by(fix)
}

/// A call or a result in a message of the wrong role.
pub(crate) fn misplaced(path: Path<'_>, what: &str, home: Role, fix: Fix) -> Finding {
    let text = format!("{what} may only stand in a message of role {}", home.name());
    Finding::new(path, "misplaced-block", text, "move it there, or remove it").fixed_by(fix)
}

#[cfg(test)]
mod tests {
    use super::DEEPEST;
    use crate::Format::Anthropic;

    /// The pieces of a block in a message of the assistant.
    #[track_caller]
    fn pieces(block: &str) -> Vec<String> {
        let text = format!(r#"[{{"role":"assistant","content":[{block}]}}]"#);
        crate::testing::pieces(&text, Anthropic, 0)
    }

    #[test]
    fn a_block_is_words_an_answer_or_a_document_by_its_type() {
        for (block, expected) in [
            (r#"{"type":"text","text":"a"}"#, &["Words: a"][..]),
            (r#"{"type":"thinking","thinking":"hm"}"#, &["Thought: hm"]),
            (r#"{"type":"redacted_thinking","data":"x"}"#, &[]),
            (
                r#"{"type":"server_tool_use","id":"s","name":"web","input":{"q":"x"}}"#,
                &["Tool: web", r#"Arguments: {"q":"x"}"#],
            ),
            (
                r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"text","text":"r"}]}"#,
                &["Answer: r"],
            ),
            (r#"{"type":"input_audio","input_audio":{"data":"","format":"mp3"}}"#, &["Words file"]),
            (r#"{"type":"file","file":{"file_data":""}}"#, &["Document file"]),
            (r#"{"type":"image","source":{"type":"url","url":"u"}}"#, &["Words image, Auto"]),
        ] {
            assert_eq!(pieces(block)[..], *expected, "{block}");
        }
    }

    #[test]
    fn a_plain_text_source_is_read_and_any_other_is_a_file() {
        let document = |kind: &str| {
            pieces(&format!(
                r#"{{"type":"document","source":{{"type":"{kind}","media_type":"text/plain","data":"words"}}}}"#
            ))
        };
        assert!(document("text").contains(&"Document: words".to_owned()));
        let file = document("base64");
        assert!(file.contains(&"Document file".to_owned()), "{file:?}");
        assert!(!file.contains(&"Document: words".to_owned()), "{file:?}");
    }

    #[test]
    fn an_image_says_how_closely_to_look_at_it() {
        for (detail, expected) in [
            ("low", "Low"),
            ("high", "High"),
            ("original", "High"),
            ("auto", "Auto"),
            ("x", "Auto"),
        ] {
            let inside =
                format!(r#"{{"type":"image_url","image_url":{{"url":"u","detail":"{detail}"}}}}"#);
            let beside = format!(r#"{{"type":"input_image","image_url":"u","detail":"{detail}"}}"#);
            for block in [inside, beside] {
                assert_eq!(pieces(&block)[0], format!("Words image, {expected}"), "{block}");
            }
        }
    }

    #[test]
    fn blocks_in_blocks_are_read_to_a_depth_and_counted_as_written_below_it() {
        let wrapped = |wrap: fn(&str) -> String, levels: usize| {
            (0..levels).fold(r#"{"type":"text","text":"x"}"#.to_owned(), |inner, _| wrap(&inner))
        };
        let in_list = |inner: &str| format!(r#"{{"type":"a_tool_result","content":[{inner}]}}"#);
        let bare = |inner: &str| format!(r#"{{"type":"a_tool_result","content":{inner}}}"#);
        assert_eq!(pieces(&wrapped(in_list, DEEPEST)), ["Answer: x"]);
        assert_eq!(pieces(&wrapped(bare, DEEPEST)), ["Answer: x"]);
        let written = r#"{"type":"text","text":"x"}"#;
        assert_eq!(pieces(&wrapped(in_list, DEEPEST + 1)), [format!("Answer: [{written}]")]);
        assert_eq!(pieces(&wrapped(bare, DEEPEST + 1)), [format!("Answer: {written}")]);
        let untyped = r#"{"text":"x"}"#;
        assert_eq!(pieces(&bare(untyped)), [format!("Answer: {untyped}")]);
    }
}
