//! Trees of `OpenAssistant`: each reply of an assistant answers the messages above it.

use serde_json::{Value, json};

use super::answer::Answer;
use super::chat::{self, Asked};
use super::row::{Row, first_text};
use super::table::Reader;
use super::{LoggedRequest, RowContent, RowError};

pub(super) const TREE: Reader = Reader {
    called: "a tree of OpenAssistant",
    proves: |row| row.has("message_tree_id") && (row.is_object("prompt") || row.has("message_id")),
    read,
    columns: &["message_tree_id", "prompt", "message_id", "parent_id", "text", "role"],
};

/// Deeper than any tree is.
const DEEPEST: usize = 64;

fn read(row: &Row<'_>) -> Result<RowContent, RowError> {
    if row.has("message_id") {
        return Err(RowError::new(
            "is a single message of OpenAssistant's flat table; give the file of trees, whose rows have a `prompt`",
        ));
    }
    let mut content = RowContent::default();
    let tree = row.text_of("message_tree_id");
    walk(&row.value("prompt"), &mut Vec::new(), tree.as_deref().unwrap_or_default(), &mut content);
    Ok(content)
}

fn walk(node: &Value, above: &mut Vec<Value>, tree: &str, content: &mut RowContent) {
    let text = &node["text"];
    if node["role"] == "assistant" && !above.is_empty() {
        let input = Value::Array(above.clone());
        let request = chat::request("prompt", &Asked { input: Some(&input), ..Asked::default() });
        // Replies to one message are branches, each a conversation of its own.
        let branch = first_text(node, &["message_id"]).unwrap_or_default();
        content.entries.push(request.map(|request| {
            LoggedRequest {
                request,
                answer: Answer::of(text),
                conversation: Some(format!("{tree} {branch}")),
                ..LoggedRequest::default()
            }
            .into()
        }));
    }
    let role = if node["role"] == "assistant" { "assistant" } else { "user" };
    above.push(json!({ "role": role, "content": text }));
    if above.len() < DEEPEST {
        for reply in node["replies"].as_array().into_iter().flatten() {
            walk(reply, above, tree, content);
        }
    }
    above.pop();
}
