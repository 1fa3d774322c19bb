//! Texts that are no request, and what they are: for a message that people can act on.

use cupel_chat::ChatError;

use crate::{EngineError, ErrorCode};

/// The error of a text that is no request: with what it is instead, if that is known.
pub(crate) fn unreadable(text: &str, error: ChatError) -> EngineError {
    let error = EngineError::from(error);
    let is_no_request =
        matches!(error.code(), ErrorCode::MalformedRequest | ErrorCode::UnknownFormat);
    match advice(text).filter(|_| is_no_request) {
        Some(advice) => error.with_remedy(advice),
        None => error,
    }
}

/// Says what a text is that cannot be read as a request, and what to do; `None` if nobody knows.
fn advice(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let first = text.lines().next().unwrap_or_default().trim();
    if first.starts_with("curl ") || first.starts_with("$ curl ") {
        return Some("this is a curl command; give what follows its -d or --data alone");
    }
    if text.starts_with(['{', '[']) {
        return of_brackets(text);
    }
    if first.starts_with("data:") || first.starts_with("event:") {
        return Some(
            "this is a stream of events, as services answer; give the request that was sent",
        );
    }
    if first.starts_with("<!") || first.starts_with("<html") || first.starts_with("<?xml") {
        return Some("this is a page of markup; give a request as JSON");
    }
    let is_code = |line: &str| {
        ["import ", "from ", "const ", "let ", "def ", "#!"]
            .iter()
            .any(|word| line.starts_with(word))
            || line.contains(" = [")
            || line.contains("= {")
            || line.contains(".create(")
    };
    if text.lines().take(20).any(|line| is_code(line.trim_start())) {
        return Some("this looks like a program; give the request that it sends, as JSON");
    }
    let is_yaml = |line: &str| {
        let key = line.trim_start_matches("- ").split_once(':').map(|(key, _)| key);
        key.is_some_and(|key| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        })
    };
    if first == "---" || is_yaml(first) && text.lines().count() > 1 {
        return Some("this looks like YAML; convert it to JSON first, as with `yq -o json`");
    }
    None
}

/// The same for what begins as JSON does.
fn of_brackets(text: &str) -> Option<&'static str> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let are_objects = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    if text.lines().count() > 1 && lines.clone().take(20).all(are_objects) {
        let is_message = |line: &str| line.contains("\"role\"") && !line.contains("\"messages\"");
        return Some(if lines.clone().take(20).all(is_message) {
            "each line is a message of its own; join them into a list, as with `jq -s .`"
        } else {
            "each line is JSON of its own; give them one by one, as with --lines"
        });
    }
    if are_objects(text) {
        return None;
    }
    let body = outside_of_strings(text);
    // Texts in single quotes are no strings to JSON, and may hold addresses.
    let is_address = |at: usize| body[..at].ends_with(':');
    if body.contains("/*") || body.match_indices("//").any(|(at, _)| !is_address(at)) {
        return Some("there is a comment in it, which JSON does not have; take it out");
    }
    let is_python = body.contains("True") || body.contains("False") || body.contains("None");
    if is_python || body.contains('\'') {
        return Some("this looks like the repr of Python; write it with json.dumps");
    }
    if has_bare_keys(&body) {
        return Some("this looks like JavaScript; write it with JSON.stringify");
    }
    let dense: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    if dense.contains(",}") || dense.contains(",]") {
        return Some(
            "there is a comma before a closing bracket, which JSON does not have; take it out",
        );
    }
    None
}

/// Returns true if a name without quotes stands where JSON wants a key in quotes.
fn has_bare_keys(body: &str) -> bool {
    let is_key = |part: &str| {
        let key = part.trim_start();
        let name: String = key.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        !name.is_empty() && key[name.len()..].trim_start().starts_with(':')
    };
    body.split(['{', ',']).skip(1).any(is_key)
}

/// The text without what is between double quotes.
fn outside_of_strings(text: &str) -> String {
    let (mut is_inside, mut is_escaped) = (false, false);
    let is_outside = |c: &char| {
        let was_inside = is_inside;
        match *c {
            '"' if !is_escaped => is_inside = !is_inside,
            _ => {}
        }
        is_escaped = *c == '\\' && !is_escaped;
        !was_inside && !is_inside
    };
    text.chars().filter(is_outside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_is_recognized() {
        for (text, word) in [
            ("curl https://api.openai.com/v1/chat/completions -d '{}'", "curl"),
            ("model: gpt-4o\nmessages:\n  - role: user\n", "YAML"),
            ("- role: user\n  content: Hello\n", "YAML"),
            ("---\nmodel: x\n", "YAML"),
            ("{'model': 'gpt-4o', 'messages': []}", "Python"),
            ("{\"stream\": False}", "Python"),
            ("{\"messages\": [{\"role\": \"user\"},]}", "comma"),
            ("{\"a\": 1,\n}", "comma"),
            ("{\"model\": \"x\"}\n{\"model\": \"y\"}\n", "--lines"),
            ("{\"role\": \"user\"}\n{\"role\": \"user\"}\n", "jq -s"),
            ("{'url': 'https://example.com'}", "Python"),
            ("{\n // it's mine\n \"messages\": []}", "comment"),
            ("{model: \"gpt-4o\", messages: []}", "JavaScript"),
            ("data: {\"id\":1}\n\ndata: [DONE]", "stream"),
            ("<!DOCTYPE html>\n<html>", "markup"),
            ("from openai import OpenAI\nclient = OpenAI()", "program"),
            ("messages = [{\"role\": \"user\"}]", "program"),
        ] {
            assert!(advice(text).is_some_and(|advice| advice.contains(word)), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_it_is_left_alone() {
        for text in [
            "",
            "Hello there",
            "{\"a\": \"it's None, True,]\"",
            "{\"a\": \"x\\\",]\"",
            "[1, 2",
            "[[\"a\",\"b\"],[\"c\",\"d\"]]",
            "{\"a\": {\"b\": [1, true]}}",
        ] {
            assert_eq!(advice(text), None, "{text}");
        }
    }
}
