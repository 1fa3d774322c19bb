//! Which format is it? Every format says which names it knows; what others know contradicts it.

use std::cmp::Reverse;

use crate::document::{Body, Document, SAMPLE};
use crate::evidence::{Sign, signs};
use crate::json::{Json, Object};
use crate::{ChatError, Format, foreign};

pub(crate) fn detect(document: &Document<'_>) -> Result<Format, ChatError> {
    let json = match &document.body {
        Body::Lines(lines) => return detect_lines(lines),
        Body::One(json) => *json,
    };
    if json.is_list() {
        let elements = document.elements(json).unwrap_or_default();
        return detect_messages(document, &Object::default(), "", &elements);
    }
    let Some(top) = document.top() else {
        if json.str().is_some_and(|text| text.trim_start().starts_with(['{', '['])) {
            let problem = "this is a text that holds JSON".to_owned();
            let remedy = "give what it holds, as with `jq fromjson`".to_owned();
            return Err(ChatError::UnknownFormat { problem, remedy });
        }
        return unknown(format!("{} is no request", json.describe()));
    };
    if let Some(named) = foreign::of_object(&top) {
        return Err(named);
    }
    let lists = Format::ALL.into_iter().flat_map(|format| format.vocabulary().lists);
    let found = lists.copied().find_map(|name| Some((name, top.at_path(name)?)));
    match found {
        Some((name, list)) => match document.elements(list) {
            Some(elements) => detect_messages(document, &top, name, &elements),
            None => by_list_alone(name),
        },
        None if is_item(&top) => Ok(Format::ItemLines),
        None => match foreign::within(&top) {
            Some(named) => Err(named),
            None => unknown(
                "the object has none of the fields messages, input, contents, items".to_owned(),
            ),
        },
    }
}

fn unknown(problem: String) -> Result<Format, ChatError> {
    let remedy = format!("name its format: {}", Format::names());
    Err(ChatError::UnknownFormat { problem, remedy })
}

/// The first format whose messages are in this field.
fn by_list_alone(list: &str) -> Result<Format, ChatError> {
    let format = Format::ALL.into_iter().find(|format| format.vocabulary().lists.contains(&list));
    format.map_or_else(|| unknown(format!("no format has the field {list}")), Ok)
}

fn is_item(object: &Object<'_>) -> bool {
    let has_others = ["role", "type"].iter().any(|name| object.has(name));
    object.get("content").is_some_and(Json::is_text) && !has_others
}

fn detect_lines(lines: &[Json<'_>]) -> Result<Format, ChatError> {
    let sample = lines.iter().take(SAMPLE).filter_map(|line| line.object());
    if sample.into_iter().all(|object| object.has("content") && !object.has("role")) {
        return Ok(Format::ItemLines);
    }
    unknown("there is a JSON value on each line, but they are not items".to_owned())
}

fn detect_messages<'t>(
    document: &Document<'t>,
    top: &Object<'t>,
    list: &str,
    elements: &[Json<'t>],
) -> Result<Format, ChatError> {
    if let Some(named) = foreign::of_messages(elements) {
        return Err(named);
    }
    let is_bare = list.is_empty();
    let mut sample = document.sample(elements).map(|(_, object)| object);
    if list == "items" || is_bare && sample.any(is_item) {
        return Ok(Format::Items);
    }
    let is_message = |(_, object): (usize, &Object<'_>)| {
        ["role", "type", "content", "parts", "lc"].iter().any(|name| object.has(name))
    };
    if is_bare && !document.sample(elements).any(is_message) {
        return unknown("the list has nothing that tells its format".to_owned());
    }
    let signs = signs(document, top, list, elements);
    let is_telling =
        |sign: &&Sign<'_>| Format::ALL.into_iter().any(|format| format.vocabulary().owns(sign));
    let telling: Vec<&Sign<'_>> = signs.iter().filter(is_telling).collect();
    let possible = Format::ALL
        .into_iter()
        .filter(|format| !format.has_free_order() && may_be_in(list, *format))
        .filter(|format| telling.iter().all(|sign| format.vocabulary().knows(sign)));
    let rank = |format: &Format| {
        let vocabulary = format.vocabulary();
        // What a provider is named by tells whose a block is that several have.
        let borrowed = if vocabulary.is_named(top) {
            0
        } else {
            telling.iter().filter(|sign| !vocabulary.owns(sign)).count()
        };
        // Of equals the first of the table is taken.
        (borrowed, Reverse(vocabulary.hints(top)))
    };
    let Some(format) = possible.min_by_key(rank) else {
        return unknown(contradiction(list, &telling));
    };
    let is_strange = |sign: &&Sign<'_>| sign.must_be_known() && !format.vocabulary().knows(sign);
    match signs.iter().find(is_strange) {
        Some(sign) => unknown(format!("{sign}, which no known format has")),
        None => Ok(format),
    }
}

/// Returns true if a format has its messages in this field; a bare list may be any format's.
fn may_be_in(list: &str, format: Format) -> bool {
    list.is_empty() || format.vocabulary().lists.contains(&list)
}

/// Two signs that no format has both of; or one that does not go with where the messages are.
fn contradiction(list: &str, signs: &[&Sign<'_>]) -> String {
    let knowing = |sign: &Sign<'_>| {
        let formats = Format::ALL.into_iter().filter(|format| may_be_in(list, *format));
        formats.filter(|format| format.vocabulary().owns(sign)).collect::<Vec<Format>>()
    };
    // The first is the format that most people know it from.
    let named = |sign: &Sign<'_>| {
        let first =
            knowing(sign).first().map_or_else(String::new, |format| format!(" of {format}"));
        format!("{sign}{first}")
    };
    for (at, sign) in signs.iter().enumerate() {
        let formats = knowing(sign);
        if formats.is_empty() {
            return format!("{sign}, but the messages are in `{list}`");
        }
        let clash = signs[..at]
            .iter()
            .find(|other| !formats.iter().any(|format| format.vocabulary().knows(other)));
        if let Some(other) = clash {
            return format!("{}, but {}: no format has both", named(other), named(sign));
        }
    }
    let names: Vec<String> = signs.iter().map(ToString::to_string).collect();
    format!("no format has all of this: {}", names.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_format(text: &str, format: Format) {
        assert_eq!(Format::detect(text), Some(format), "{text}");
    }

    #[test]
    fn whole_requests_are_told_apart_by_their_fields() {
        assert_format(r#"{"model":"gpt-4o","messages":[]}"#, Format::OpenAiChat);
        assert_format(r#"{"system":"x","messages":[]}"#, Format::Anthropic);
        assert_format(r#"{"messages":[],"tools":[{"input_schema":{}}]}"#, Format::Anthropic);
        assert_format(r#"{"input":"hi"}"#, Format::OpenAiResponses);
        assert_format(r#"{"contents":[]}"#, Format::Gemini);
        assert_format(r#"{"items":[]}"#, Format::Items);
        assert_format(r#"{"messages":[{"type":"human","content":"x"}]}"#, Format::LangChain);
    }

    #[test]
    fn the_shape_decides_whatever_the_model_is_called() {
        for model in ["claude-sonnet-4-5", "anthropic/claude-opus-5", "gemini-3-pro", "gpt-4o"] {
            let request = |rest: &str| format!(r#"{{"model":"{model}",{rest}}}"#);
            let chat = r#""messages":[{"role":"user","content":"x"}]"#;
            assert_format(&request(chat), Format::OpenAiChat);
            let system =
                r#""messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]"#;
            assert_format(&request(system), Format::OpenAiChat);
            let tools = r#""messages":[{"role":"user","content":[{"type":"thinking"}]},
                {"role":"tool","tool_call_id":"a","content":"x"}]"#;
            assert_format(&request(tools), Format::OpenAiChat);
            let functions = format!(
                r#"{chat},"stop_sequences":["x"],"tools":[{{"type":"function","function":{{"name":"f"}}}}]"#
            );
            assert_format(&request(&functions), Format::OpenAiChat);
            assert_format(&request(&format!(r#"{chat},"system":"s""#)), Format::Anthropic);
            assert_format(&request(r#""contents":[]"#), Format::Gemini);
        }
    }

    #[test]
    fn a_model_decides_between_formats_that_nothing_contradicts() {
        let turns =
            r#""messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]"#;
        let request = |rest: &str| format!("{{{rest},{turns}}}");
        let claude = r#""model":"claude-sonnet-4-5""#;
        assert_format(&request(&format!(r#"{claude},"max_tokens":9"#)), Format::Anthropic);
        assert_format(&request(claude), Format::OpenAiChat);
        for name in ["anthropic/claude-sonnet-4.5", "gpt-4o"] {
            let model = format!(r#""model":"{name}","max_tokens":9"#);
            assert_format(&request(&model), Format::OpenAiChat);
        }
        for name in ["mcp_servers", "context_management", "system", "container", "stop_sequences"] {
            let field = format!(r#""max_tokens":9,"{name}":"x""#);
            assert_format(&request(&field), Format::Anthropic);
        }
        let system =
            r#""messages":[{"role":"system","content":"s"},{"role":"user","content":"x"}]"#;
        assert_format(&format!(r#"{{{claude},"max_tokens":9,{system}}}"#), Format::OpenAiChat);
    }

    #[track_caller]
    fn assert_refused(text: &str, problem: &str) {
        let error = detect(&Document::parse(text).unwrap()).unwrap_err();
        assert_eq!(error.problem(), problem, "{text}");
    }

    #[test]
    fn a_list_that_mixes_formats_is_refused_with_two_signs() {
        assert_refused(
            r#"{"messages":[{"role":"user","content":"x"},
                {"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},
                {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}]}"#,
            "messages[1] has the field `tool_calls` of openai-chat, but \
             messages[2].content[0] is a block of the type `tool_result` of anthropic: no \
             format has both",
        );
    }

    #[test]
    fn calls_results_and_files_of_an_unknown_format_are_refused_by_name() {
        for (block, name) in [
            (r#"{"toolbox":{"id":"a"}}"#, "block with the field `toolbox`"),
            (r#"{"type":"tool_invocation"}"#, "block of the type `tool_invocation`"),
            (r#"{"type":"hologram_file"}"#, "block of the type `hologram_file`"),
        ] {
            assert_refused(
                &format!(
                    r#"[{{"role":"user","content":"x"}},{{"role":"user","content":[{block}]}}]"#
                ),
                &format!("[1].content[0] is a {name}, which no known format has"),
            );
        }
        assert_format(
            r#"[{"role":"user","content":[{"type":"poem","text":"x"}]}]"#,
            Format::OpenAiChat,
        );
    }

    #[test]
    fn parts_of_others_are_not_geminis() {
        assert_refused(
            r#"[{"role":"user","parts":[{"type":"poem_file","content":"hi"}]}]"#,
            "[0].parts[0] is a part of the type `poem_file`, which no known format has",
        );
    }

    #[test]
    fn bare_lists_are_told_apart_by_their_messages() {
        assert_format(r#"[{"role":"user","content":"x"}]"#, Format::OpenAiChat);
        assert_format(r#"[{"role":"user","parts":[]}]"#, Format::Gemini);
        assert_format(r#"[{"type":"ai","data":{}}]"#, Format::LangChain);
        assert_format(r#"[{"lc":1,"id":[]}]"#, Format::LangChain);
        assert_format(r#"[{"type":"reasoning"}]"#, Format::OpenAiResponses);
        assert_format(
            r#"[{"role":"user","content":[{"type":"input_text"}]}]"#,
            Format::OpenAiResponses,
        );
        assert_format(r#"[{"role":"user","content":[{"type":"tool_result"}]}]"#, Format::Anthropic);
        assert_format(r#"[{"content":"x","tokens":1}]"#, Format::Items);
    }

    #[test]
    fn items_may_stand_on_lines() {
        assert_format("{\"content\":\"a\"}\n{\"content\":\"b\"}", Format::ItemLines);
        assert_format(r#"{"content":"a","tokens":3}"#, Format::ItemLines);
    }

    #[test]
    fn what_looks_like_nothing_is_nothing() {
        for text in ["[]", "3", "{\"a\":1}", "nonsense", "{\"role\":\"user\"}\n{\"role\":\"user\"}"]
        {
            assert_eq!(Format::detect(text), None, "{text}");
        }
    }
}
