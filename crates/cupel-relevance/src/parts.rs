//! The typed parts of an item's text: those that it has, or those that its tags tell.

use std::borrow::Cow;
use std::ops::Range;

use cupel::{ContextItem, ContextKind, Part, PartKind, Rendering, Speaker};
use serde::de::IgnoredAny;

use crate::grouping::tag_value;

/// The parts of an item's text.
pub(crate) fn parts_of(item: &ContextItem) -> Cow<'_, [Part]> {
    given_or_told(item, item.content(), item.parts())
}

/// The parts of a shorter form of an item's text.
pub(crate) fn parts_of_form<'i>(item: &'i ContextItem, form: &'i Rendering) -> Cow<'i, [Part]> {
    given_or_told(item, form.content(), form.parts())
}

pub(crate) fn is_call(part: &Part) -> bool {
    matches!(part.kind, PartKind::Called { .. })
}

pub(crate) fn is_result(part: &Part) -> bool {
    matches!(part.kind, PartKind::Returned { .. })
}

pub(crate) fn has_tag(item: &ContextItem, tag: &str) -> bool {
    item.tags().iter().any(|own| own == tag)
}

fn given_or_told<'i>(item: &ContextItem, text: &str, given: &'i [Part]) -> Cow<'i, [Part]> {
    if given.is_empty() { told(item, text).into() } else { given.into() }
}

/// The parts of a text of which only tags tell what it is. An item of the tool's role, or of the kind
/// of tool output, is a result. Elsewhere a call is a line that begins with the name of a tool of the
/// item, a tag `tool:…`, and goes on with its arguments, which may be an object of several lines; what
/// follows the first call and is none is what came back.
fn told(item: &ContextItem, text: &str) -> Vec<Part> {
    let mut ids = tag_values(item, "call");
    let tools: Vec<&str> = tag_values(item, "tool").collect();
    let has_results = has_tag(item, "role:tool") || *item.kind() == ContextKind::tool_output();
    let is_result_alone = has_tag(item, "role:tool") && !has_tag(item, "role:assistant");
    let returned = |id: Option<&str>, range: Range<usize>| {
        let kind = PartKind::Returned { call: id.unwrap_or_default().into(), is_error: false };
        Part { range, kind }
    };
    if is_result_alone {
        let all = returned(ids.next(), 0..text.len());
        let others = ids.map(|id| returned(Some(id), text.len()..text.len()));
        return std::iter::once(all).chain(others).collect();
    }
    let mut parts: Vec<Part> = calls(text, &tools)
        .into_iter()
        .map(|(range, tool)| {
            let arguments = (range.start + tool + 1).min(range.end)..range.end;
            let (id, tool) =
                (ids.next().unwrap_or_default().into(), range.start..range.start + tool);
            Part { range, kind: PartKind::Called { tool, id, arguments } }
        })
        .collect();
    let by = match tag_value(item, "role") {
        Some("system") => Speaker::System,
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        Some("tool") => Speaker::Tool,
        _ => Speaker::Other,
    };
    let first_call = parts.first().map(|call| call.range.start);
    let between = gaps(text, &parts);
    parts.extend(between.into_iter().map(|range| match first_call {
        Some(first) if range.start > first => returned(None, range),
        None if has_results => returned(tag_value(item, "call"), range),
        _ => Part { range, kind: PartKind::Said { by } },
    }));
    parts.sort_by_key(|part| part.range.start);
    parts
}

/// Returns the gaps between parts, without the line breaks at their edges.
fn gaps(text: &str, parts: &[Part]) -> Vec<Range<usize>> {
    let behind = |part: &Part| {
        let end = part.range.end;
        end + usize::from(text[end..].starts_with('\n'))
    };
    let starts = std::iter::once(0).chain(parts.iter().map(behind));
    let ends = parts.iter().map(|part| part.range.start.saturating_sub(1)).chain([text.len()]);
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end).collect()
}

/// The lines of a text that are calls of these tools, with the length of the tool's name.
fn calls(text: &str, tools: &[&str]) -> Vec<(Range<usize>, usize)> {
    let (mut calls, mut start, mut objects_close) = (Vec::new(), 0, true);
    while start < text.len() && !tools.is_empty() {
        let rest = &text[start..];
        let line = rest.find('\n').unwrap_or(rest.len());
        let name = rest[..line].find(' ').unwrap_or(line);
        let mut end = line;
        if tools.contains(&&rest[..name]) {
            let arguments = rest[name..].trim_start_matches(' ');
            if objects_close && arguments.starts_with('{') {
                let closing = end_of_object(arguments);
                // One that never closes would be looked for by every call after it.
                objects_close = closing.is_some();
                end = closing.map_or(end, |closing| rest.len() - arguments.len() + closing);
            }
            calls.push((start..start + end, name));
        }
        // Behind an object its line may go on.
        start += end + usize::from(rest[end..].starts_with('\n'));
    }
    calls
}

/// Where the JSON object ends that a text begins with.
fn end_of_object(text: &str) -> Option<usize> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some(values.byte_offset())
}

/// The values of all tags of a name.
fn tag_values<'i>(item: &'i ContextItem, name: &'static str) -> impl Iterator<Item = &'i str> {
    item.tags().iter().filter_map(move |tag| tag.strip_prefix(name)?.strip_prefix(':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{build, item};

    /// The parts of a text with these tags, each as its kind and text.
    fn told(text: &str, tags: &[&str]) -> Vec<(char, String)> {
        let items = build([item(text).tags(tags.iter().map(|tag| (*tag).to_owned()).collect())]);
        let shown = |part: &Part| {
            let kind = match &part.kind {
                PartKind::Said { .. } => 's',
                PartKind::Called { .. } => 'c',
                _ => 'r',
            };
            (kind, part.of(text).to_owned())
        };
        parts_of(&items[0]).iter().map(shown).collect()
    }

    fn owned(parts: &[(char, &str)]) -> Vec<(char, String)> {
        parts.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect()
    }

    #[test]
    fn what_is_said_called_and_returned_is_told_apart_by_the_names_of_tools() {
        let text =
            "I look.\nlsx is none\nls {\"a\": 1}\ncat {\n \"b\": \"}\"\n}\nfile one\nls\nls {} éß";
        let expected = [
            ('s', "I look.\nlsx is none"),
            ('c', "ls {\"a\": 1}"),
            ('c', "cat {\n \"b\": \"}\"\n}"),
            ('r', "file one"),
            ('c', "ls"),
            ('c', "ls {}"),
            ('r', " éß"),
        ];
        assert_eq!(told(text, &["tool:ls", "tool:cat"]), owned(&expected));
    }

    #[test]
    fn arguments_that_never_close_end_with_their_line() {
        let expected = [('c', "ls {\"a"), ('c', "ls {}"), ('r', "out")];
        assert_eq!(told("ls {\"a\nls {}\nout", &["tool:ls"]), owned(&expected));
    }

    #[test]
    fn braces_and_quotes_in_strings_of_arguments_close_nothing() {
        let call = "ls {\"a\": \"{ [ \\\"}\",\n \"b\": [1]}";
        let told = told(&format!("{call}\nout"), &["tool:ls"]);
        assert_eq!(told, owned(&[('c', call), ('r', "out")]));
    }

    #[test]
    fn objects_of_several_lines_are_arguments_of_calls_alone() {
        let expected = [('s', "note {\n1}"), ('c', "ls {}"), ('r', "out {\n2}")];
        assert_eq!(told("note {\n1}\nls {}\nout {\n2}", &["tool:ls"]), owned(&expected));
    }

    #[test]
    fn without_tools_everything_is_said_and_a_result_alone_has_no_calls() {
        assert_eq!(told("ls {}\nout", &[]), owned(&[('s', "ls {}\nout")]));
        let tags = ["role:tool", "tool:ls", "call:1"];
        assert_eq!(told("ls {}\nout", &tags), owned(&[('r', "ls {}\nout")]));
    }

    #[test]
    fn given_parts_count_and_not_what_the_text_looks_like() {
        let text = "ls {}";
        let given = vec![Part { range: 0..5, kind: PartKind::Attached }];
        let tags = vec!["tool:ls".into()];
        let items = build([item(text).tags(tags).parts(given.clone())]);
        assert_eq!(*parts_of(&items[0]), given);
    }
}
