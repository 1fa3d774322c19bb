//! Cupel's own items: each has a text; there are no rules between them.

use serde_json::Value;

use super::text;

pub(crate) fn problems(items: &[Value]) -> Vec<String> {
    let empty = items.iter().enumerate().filter(|(_, item)| text(item, "content").is_empty());
    empty.map(|(index, _)| format!("{index}: no content")).collect()
}

#[cfg(test)]
mod tests {
    use cupel_chat::Format::{ItemLines, Items};

    use super::super::assert_problems;

    #[test]
    fn an_item_needs_a_text() {
        assert_problems(Items, r#"[{"content":"a"},{"tokens":1}]"#, &["1: no content"]);
        assert_problems(ItemLines, "{\"content\":\"a\"}\n\n{}\n", &["1: no content"]);
    }
}
