//! Marks for the provider's cache, where it wants to be told what to keep.

use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::Message;
use crate::text::JsonText;
use crate::{Candidates, Request};

/// How many marks Anthropic takes in a request.
const MOST_MARKS: usize = 4;

const MARK: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// How deep marks of the caller are looked for.
const DEEPEST_MARK: usize = 6;

/// Where a request has marks for the provider's cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheMarks {
    /// True if something beside the messages has one, as the system prompt.
    pub in_head: bool,
    /// The messages whose last block has one, ascending.
    pub behind: Vec<usize>,
}

impl Request {
    /// The marks for the provider's cache that the client set.
    ///
    /// ```
    /// use cupel_chat::{Format, Request};
    ///
    /// let text = r#"{"system": "s", "messages": [{"role": "user", "content": [
    ///     {"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]}]}"#;
    /// let marks = Request::parse(text, Some(Format::Anthropic))?.cache_marks();
    /// assert_eq!((marks.in_head, marks.behind), (false, vec![0]));
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    #[must_use]
    pub fn cache_marks(&self) -> CacheMarks {
        let messages = &self.conversation().messages;
        let range = |at: Option<&Message>| at.map(|message| message.json.range_in(self.text()));
        let begin = range(messages.first()).map_or(0, |range| range.start);
        let end = range(messages.last()).map_or(0, |range| range.end);
        let beside = [&self.text()[..begin], &self.text()[end..]];
        let is_marked = |message: &Message| {
            let last = message.blocks.last().map(JsonText::view).and_then(Json::object);
            last.is_some_and(|block| block.get("cache_control").is_some_and(Json::is_object))
        };
        CacheMarks {
            in_head: beside.iter().any(|text| text.contains("\"cache_control\"")),
            behind: (0..messages.len()).filter(|at| is_marked(&messages[*at])).collect(),
        }
    }

    /// Blocks of each message, as the provider's cache counts them: a text is one.
    #[must_use]
    pub fn block_counts(&self) -> Vec<usize> {
        let messages = self.conversation().messages.iter();
        messages.map(|message| message.blocks.len().max(1)).collect()
    }
}

impl Candidates {
    /// As [`render_forms`](Self::render_forms), with a mark for the provider's cache behind each of these
    /// messages, as far as there may be more marks.
    ///
    /// Only Anthropic's requests have such marks; others are rendered as they are. Marks of the caller
    /// stay and are never more than four together with new ones, of which the last are dropped. A new
    /// mark keeps for five minutes, so it is never put before one of the caller's that keeps for an
    /// hour. Where a message cannot bear a mark, since it ends with thinking or says nothing, it gets
    /// none.
    pub fn render_marked(&self, kept: &[(usize, Option<usize>)], behind: &[usize]) -> String {
        let positions: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
        let order = self.kept_messages(&positions);
        if !self.request.format().dialect().marks_cache() {
            return self.render_forms(kept);
        }
        let rewritten = self.rewritten(kept);
        let written = |index: usize| {
            let known = rewritten.iter().find(|(at, _)| *at == index);
            known.map(|(_, text)| text.as_str())
        };
        let conversation = self.request.conversation();
        let own = OwnMarks::of(self.request.text(), conversation, &order);
        let mut marked: Vec<(usize, String)> = Vec::new();
        for index in behind.iter().rev().filter(|index| order.contains(index)) {
            let is_late = own.last_hour.is_none_or(|last| *index > last);
            if is_late && own.count + marked.len() < MOST_MARKS {
                let message = conversation.messages[*index].json.view();
                let message = written(*index).map_or(message, |text| Json::known(None, text));
                marked.extend(with_mark(message).map(|text| (*index, text)));
            }
        }
        self.request.splice().compose(order, |index, element, out| {
            let text = marked.iter().find(|(at, _)| *at == index).map(|(_, text)| text.as_str());
            out.push_str(text.or_else(|| written(index)).unwrap_or(element));
        })
    }
}

/// The marks that the caller has put already.
struct OwnMarks {
    count: usize,
    /// The last message with a mark that keeps for an hour.
    last_hour: Option<usize>,
}

impl OwnMarks {
    fn of(text: &str, conversation: &Conversation, kept: &[usize]) -> Self {
        let mut own = Self { count: 0, last_hour: None };
        let top = Json::parse(text).ok().and_then(Json::object).unwrap_or_default();
        for (name, value) in top.fields() {
            if name != "messages" {
                own.add(value, None, 0);
            }
        }
        for index in kept {
            own.add(conversation.messages[*index].json.view(), Some(*index), 0);
        }
        own
    }

    fn add(&mut self, json: Json<'_>, message: Option<usize>, depth: usize) {
        if depth > DEEPEST_MARK || !json.raw().contains("cache_control") {
            return;
        }
        for value in json.list().unwrap_or_default() {
            self.add(value, message, depth + 1);
        }
        for (name, value) in json.object().unwrap_or_default().fields() {
            if name != "cache_control" {
                self.add(value, message, depth + 1);
            } else if value.is_object() {
                self.count += 1;
                let keeps = value.at_path("ttl").and_then(Json::str);
                if keeps.is_some_and(|ttl| ttl == "1h") {
                    self.last_hour = self.last_hour.max(message);
                }
            }
        }
    }
}

/// A message with a mark on its last block; `None` if it has one or cannot bear one.
fn with_mark(message: Json<'_>) -> Option<String> {
    let content = message.object()?.get("content")?;
    let (raw, all) = (content.raw(), message.raw());
    let start = content.span_in(all).start;
    let (before, after) = (&all[..start], &all[start + raw.len()..]);
    if let Some(text) = content.str() {
        let block = format!(r#"[{{"type":"text","text":{raw},{MARK}}}]"#);
        return (!text.trim().is_empty()).then(|| format!("{before}{block}{after}"));
    }
    let last = *content.list()?.last()?;
    let object = last.object()?;
    let kind = object.str("type").unwrap_or_default();
    let is_empty = kind == "text" && object.str("text").is_none_or(|text| text.trim().is_empty());
    if object.has("cache_control") || is_empty || kind.contains("thinking") {
        return None;
    }
    let end = last.span_in(all).end;
    let (body, rest) = (all[..end].strip_suffix('}')?, &all[end..]);
    Some(format!("{body},{MARK}}}{rest}"))
}

#[cfg(test)]
mod tests {
    use crate::testing::{Words, read};
    use crate::{CandidateOptions, Format};

    fn marked(text: &str, behind: &[usize]) -> String {
        let candidates =
            read(text, Format::Anthropic).candidates(&Words, &CandidateOptions::default()).unwrap();
        let all: Vec<(usize, Option<usize>)> =
            (0..candidates.items().len()).map(|at| (at, None)).collect();
        candidates.render_marked(&all, behind)
    }

    #[test]
    fn a_mark_is_put_on_the_last_block_and_nothing_else_changes() {
        let text = r#"{"messages": [{"role": "user", "content": "a \"b\""},
            {"role": "assistant", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d"} ]}]}"#;
        assert_eq!(marked(text, &[]), text);
        let both = r#"{"messages": [{"role": "user", "content": [{"type":"text","text":"a \"b\"","cache_control":{"type":"ephemeral"}}]},
            {"role": "assistant", "content": [{"type": "text", "text": "c"}, {"type": "text", "text": "d","cache_control":{"type":"ephemeral"}} ]}]}"#;
        assert_eq!(marked(text, &[0, 1]), both);
        assert_eq!(marked(both, &[0, 1]), both, "marked already");
    }

    fn count(text: &str) -> usize {
        text.matches("cache_control").count()
    }

    #[test]
    fn there_are_never_more_than_four() {
        let message = |role: &str| format!(r#"{{"role":"{role}","content":"x"}}"#);
        let list = ["user", "assistant", "user", "assistant", "user"].map(message).join(",");
        let text = format!(
            r#"{{"system":[{{"type":"text","text":"s","cache_control":{{"type":"ephemeral"}}}}],
            "tools":[{{"name":"f","input_schema":{{}},"cache_control":{{"type":"ephemeral"}}}}],"messages":[{list}]}}"#
        );
        let out = marked(&text, &[0, 2, 4]);
        assert_eq!(count(&out), 4);
        assert!(
            out.contains(r#"{"role":"user","content":"x"},{"role":"assistant""#),
            "the first went"
        );
        assert_eq!(count(&marked(&text, &[])), 2);
    }

    #[test]
    fn five_minutes_never_stand_before_an_hour() {
        let text = r#"{"messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":[{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}]},
            {"role":"user","content":"c"}]}"#;
        let out = marked(text, &[0, 2]);
        assert!(out.contains(r#""content":"a""#) && count(&out) == 2, "{out}");
    }

    #[test]
    fn what_cannot_bear_a_mark_gets_none() {
        let text = r#"{"messages":[{"role":"user","content":"a"},
            {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]}]}"#;
        assert_eq!(count(&marked(text, &[1, 2, 9])), 2);
        let other = read(r#"[{"role":"user","content":"a"}]"#, Format::OpenAiChat);
        let other = other.candidates(&Words, &CandidateOptions::default()).unwrap();
        assert_eq!(other.render_marked(&[(0, None)], &[0]), other.render(&[0]));
    }
}
