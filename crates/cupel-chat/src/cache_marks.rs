//! Marks for the provider's cache, where it wants to be told what to keep.

use std::ops::Range;

use crate::conversation::Conversation;
use crate::json::Json;
use crate::message::{Message, Role};
use crate::text::JsonText;
use crate::{Candidates, Request};

/// Number of marks Anthropic takes in a request.
const MOST_MARKS: usize = 4;

const MARK: &str = r#""cache_control":{"type":"ephemeral"}"#;

/// Depth to which marks of the caller are looked for.
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

/// A mark that is put where the provider has kept something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MovedMark {
    /// The message that it stands behind.
    pub behind: usize,
    /// The message that loses its mark for it; `None` if there is room for one more.
    pub instead_of: Option<usize>,
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
        let is_marked = |message: &Message| {
            let last = message.blocks.last().map(JsonText::view).and_then(Json::object);
            last.is_some_and(|block| block.get("cache_control").is_some_and(Json::is_object))
        };
        CacheMarks {
            in_head: self.beside_messages().into_iter().any(|text| count_of(text) > 0),
            behind: (0..messages.len()).filter(|at| is_marked(&messages[*at])).collect(),
        }
    }

    /// The mark that a window of these messages can have behind one of them, if it can: there are less than
    /// four, or an older message than the last that is marked gives its mark away. Marks beside the messages
    /// stay where they are.
    #[must_use]
    pub fn mark_behind(&self, message: usize, window: &[usize]) -> Option<MovedMark> {
        let messages = &self.conversation().messages;
        with_mark(messages.get(message)?.json.view(), MARK)?;
        let beside = self.beside_messages().map(count_of);
        let inside = window.iter().map(|at| count_of(messages[*at].json.view().raw()));
        let count: usize = beside.into_iter().chain(inside).sum();
        if count < MOST_MARKS {
            return Some(MovedMark { behind: message, instead_of: None });
        }
        let marked = self.cache_marks().behind.into_iter();
        let marked: Vec<usize> = marked.filter(|at| window.contains(at)).collect();
        let instead_of = *marked.first().filter(|_| marked.len() > 1 && count == MOST_MARKS)?;
        without_mark(messages[instead_of].json.view())?;
        Some(MovedMark { behind: message, instead_of: Some(instead_of) })
    }

    /// Returns true if there is a mark to move, or room for one more.
    #[must_use]
    pub fn can_move_mark(&self) -> bool {
        let count = count_of(self.text());
        count < MOST_MARKS || count == MOST_MARKS && self.cache_marks().behind.len() > 1
    }

    /// The text before the messages, and behind them.
    fn beside_messages(&self) -> [&str; 2] {
        let messages = &self.conversation().messages;
        let range = |at: Option<&Message>| at.map(|message| message.json.range_in(self.text()));
        let begin = range(messages.first()).map_or(0, |range| range.start);
        let end = range(messages.last()).map_or(0, |range| range.end);
        [&self.text()[..begin], &self.text()[end..]]
    }

    /// Blocks of each message, as the provider's cache counts them: a text is one.
    #[must_use]
    pub fn block_counts(&self) -> Vec<usize> {
        let messages = self.conversation().messages.iter();
        messages.map(|message| message.blocks.len().max(1)).collect()
    }

    /// Blocks of the model's last reply and of what came after it.
    #[must_use]
    pub fn newest_step_blocks(&self) -> usize {
        let messages = &self.conversation().messages;
        let reply = messages.iter().rposition(|message| message.role == Role::Assistant);
        self.block_counts().iter().skip(reply.unwrap_or(0)).sum()
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
                marked.extend(with_mark(message, MARK).map(|text| (*index, text)));
            }
        }
        self.compose_with(order, &marked, &rewritten)
    }

    /// As [`render_forms`](Self::render_forms), with a mark of the caller moved.
    ///
    /// It keeps for as long as the mark that follows it, so that none that keeps for longer stands behind it.
    pub fn render_moved(&self, kept: &[(usize, Option<usize>)], moved: MovedMark) -> String {
        let positions: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
        let order = self.kept_messages(&positions);
        let rewritten = self.rewritten(kept);
        let messages = &self.request.conversation().messages;
        let text_of = |index: usize| {
            let known = rewritten.iter().find(|(at, _)| *at == index);
            known.map_or(messages[index].json.view(), |(_, text)| Json::known(None, text))
        };
        let later = self.request.cache_marks().behind.into_iter();
        let mut later = later.filter(|at| *at > moved.behind && order.contains(at));
        let next = later.next().and_then(|at| mark_of(text_of(at)));
        let next =
            next.map_or_else(|| MARK.to_owned(), |value| format!("\"cache_control\":{value}"));
        let put = with_mark(text_of(moved.behind), &next).map(|text| (moved.behind, text));
        let from = moved.instead_of.and_then(|at| Some((at, without_mark(text_of(at))?)));
        let marked: Vec<(usize, String)> = put.into_iter().chain(from).collect();
        self.compose_with(order, &marked, &rewritten)
    }

    /// The request with these messages, of which some are written otherwise: as the first list has them, or
    /// else the second.
    fn compose_with(
        &self,
        order: Vec<usize>,
        marked: &[(usize, String)],
        rewritten: &[(usize, String)],
    ) -> String {
        let of = |list: &'_ [(usize, String)], index: usize| {
            list.iter().position(|(at, _)| *at == index)
        };
        self.request.splice().compose(order, |index, element, out| {
            let written = of(marked, index).map(|at| &marked[at].1);
            let written = written.or_else(|| of(rewritten, index).map(|at| &rewritten[at].1));
            out.push_str(written.map_or(element, String::as_str));
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

/// Number of marks a text has at most.
fn count_of(json: &str) -> usize {
    json.matches("\"cache_control\"").count()
}

/// The mark of a message's last block.
fn mark_of(message: Json<'_>) -> Option<&str> {
    let last = *message.object()?.get("content")?.list()?.last()?;
    last.object()?.get("cache_control").map(Json::raw)
}

/// A message without the mark on its last block; `None` if it has none there.
fn without_mark(message: Json<'_>) -> Option<String> {
    let last = *message.object()?.get("content")?.list()?.last()?;
    let cut = member_range(last, "cache_control", message.raw())?;
    let all = message.raw();
    Some(format!("{}{}", &all[..cut.start], &all[cut.end..]))
}

/// Where in a text a member of an object stands, with one comma beside it.
fn member_range(object: Json<'_>, name: &str, text: &str) -> Option<Range<usize>> {
    let whole = object.span_in(text);
    let object = object.object()?;
    let fields: Vec<(_, Json<'_>)> = object.fields().collect();
    let at = fields.iter().position(|(known, _)| *known == name)?;
    let end = fields[at].1.span_in(text).end;
    if let Some(before) = at.checked_sub(1) {
        return Some(fields[before].1.span_in(text).end..end);
    }
    let comma = fields.get(1).and_then(|_| text[end..].find(',')).map_or(end, |at| end + at + 1);
    Some(whole.start + 1..comma)
}

/// A request's text without any mark for the provider's cache.
///
/// ```
/// let text = r#"{"system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}], "messages": []}"#;
/// let without = cupel_chat::without_cache_marks(text);
/// assert_eq!(without, r#"{"system": [{"type": "text", "text": "s"}], "messages": []}"#);
/// ```
#[must_use]
pub fn without_cache_marks(text: &str) -> String {
    let mut cuts: Vec<Range<usize>> = Vec::new();
    if let Ok(top) = Json::parse(text) {
        find_marks(top, text, 0, &mut cuts);
    }
    cuts.sort_unstable_by_key(|cut| cut.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for cut in cuts {
        out.push_str(&text[from..cut.start.max(from)]);
        from = cut.end.max(from);
    }
    out.push_str(&text[from..]);
    out
}

fn find_marks(json: Json<'_>, text: &str, depth: usize, cuts: &mut Vec<Range<usize>>) {
    if depth > DEEPEST_MARK || count_of(json.raw()) == 0 {
        return;
    }
    for value in json.list().unwrap_or_default() {
        find_marks(value, text, depth + 1, cuts);
    }
    let Some(object) = json.object() else { return };
    for (name, value) in object.fields() {
        match name {
            "cache_control" => cuts.extend(member_range(json, "cache_control", text)),
            // What a tool takes is its own.
            "input" | "input_schema" => {}
            _ => find_marks(value, text, depth + 1, cuts),
        }
    }
}

/// A message with a mark on its last block; `None` if it has one or cannot bear one.
fn with_mark(message: Json<'_>, mark: &str) -> Option<String> {
    let content = message.object()?.get("content")?;
    let (raw, all) = (content.raw(), message.raw());
    let start = content.span_in(all).start;
    let (before, after) = (&all[..start], &all[start + raw.len()..]);
    if let Some(text) = content.str() {
        let block = format!(r#"[{{"type":"text","text":{raw},{mark}}}]"#);
        return (!text.trim().is_empty()).then(|| format!("{before}{block}{after}"));
    }
    let last = *content.list()?.last()?;
    let object = last.object()?;
    let kind = object.str("type").unwrap_or_default();
    let is_empty = kind == "text" && object.str("text").is_none_or(|text| text.trim().is_empty());
    if kind.is_empty() || object.has("cache_control") || is_empty || kind.contains("thinking") {
        return None;
    }
    let end = last.span_in(all).end;
    let (body, rest) = (all[..end].strip_suffix('}')?, &all[end..]);
    Some(format!("{body},{mark}}}{rest}"))
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
    fn a_block_that_is_none_bears_no_mark() {
        for block in ["{}", "{ }", r#"{"text":"x"}"#, r#"{"type":"text","text":""}"#] {
            let text = format!(
                r#"{{"messages":[{{"role":"user","content":[{{"type":"text","text":"a"}},{block}]}}]}}"#
            );
            let marked = super::with_mark(
                crate::json::Json::parse(&text)
                    .unwrap()
                    .at_path("messages")
                    .unwrap()
                    .list()
                    .unwrap()[0],
                super::MARK,
            );
            assert_eq!(marked, None, "{block}");
        }
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

    fn moved(text: &str, behind: usize, window: &[usize]) -> Option<String> {
        let request = read(text, Format::Anthropic);
        let mark = request.mark_behind(behind, window)?;
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        let all: Vec<(usize, Option<usize>)> =
            (0..candidates.items().len()).map(|at| (at, None)).collect();
        Some(candidates.render_moved(&all, mark))
    }

    /// Three turns; the system prompt has so many marks, and the messages such.
    fn talk(head: usize, marks: [&str; 3]) -> String {
        let block = |text: &str, mark: &str| {
            let mark =
                if mark.is_empty() { String::new() } else { format!(r#","cache_control":{mark}"#) };
            format!(r#"{{"type":"text","text":"{text}"{mark}}}"#)
        };
        let system: Vec<String> = (0..head).map(|_| block("s", SHORT)).collect();
        let roles = ["user", "assistant", "user"].iter().zip(marks);
        let messages: Vec<String> = roles
            .map(|(role, mark)| format!(r#"{{"role":"{role}","content":[{}]}}"#, block("m", mark)))
            .collect();
        format!(r#"{{"system":[{}],"messages":[{}]}}"#, system.join(","), messages.join(","))
    }

    const SHORT: &str = r#"{"type":"ephemeral"}"#;
    const LONG: &str = r#"{"type":"ephemeral","ttl":"1h"}"#;

    #[test]
    fn a_mark_that_is_moved_keeps_for_as_long_as_the_one_behind_it() {
        let all = [0, 1, 2];
        let out = moved(&talk(0, ["", "", LONG]), 0, &all).unwrap();
        assert_eq!(out, talk(0, [LONG, "", LONG]), "there is room for one more");
        let out = moved(&talk(2, ["", SHORT, SHORT]), 0, &all).unwrap();
        assert_eq!(out, talk(2, [SHORT, "", SHORT]), "the older one of the messages goes");
        assert_eq!(moved(&talk(3, ["", "", SHORT]), 0, &all), None, "the newest one stays");
        assert_eq!(moved(&talk(3, [SHORT, "", SHORT]), 1, &all), None, "five are the client's");
        assert_eq!(moved(&talk(1, [SHORT, "", ""]), 0, &all), None, "it has one");
    }

    #[test]
    fn all_marks_go_and_nothing_else() {
        let data = r#"{"cache_control":{"a":1}}"#;
        let text = |mark: &str, first: &str| {
            format!(
                r#"{{"tools":[{{"name":"f","input_schema":{data}{mark}}}],"system":[{{{first}"type":"text","text":"s"}}],
                "messages":[{{"role":"user","content":[{{"type":"tool_use","input":{data}{mark}}},
                {{"type":"tool_result","content":[{{"type":"text","text":"\"cache_control\":{{}}"{mark} }}]}}]}}]}}"#
            )
        };
        let marked =
            text(r#", "cache_control": {"type": "ephemeral"}"#, r#""cache_control":null ,"#);
        assert_eq!(crate::without_cache_marks(&marked), text("", ""));
        assert_eq!(crate::without_cache_marks(r#"{"cache_control":{}}"#), "{}");
        assert_eq!(crate::without_cache_marks("no JSON"), "no JSON");
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
