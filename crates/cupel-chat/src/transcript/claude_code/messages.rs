//! The messages of a request, as Claude Code makes them of its records: blocks of one answer come together
//! again, and the results of its calls follow it, in one message.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::notes::Notes;
use super::super::write::{list, object, quoted, text_block, with};
use super::{Kind, Log, answered, called};
use crate::json::Json;

/// The messages of a request.
pub(super) struct Messages<'l, 't> {
    log: &'l Log<'t>,
    built: Vec<Built>,
    /// Texts that the program added where no message of the user was yet.
    pending: Vec<String>,
    seen_answers: HashSet<Cow<'t, str>>,
    seen_calls: HashSet<Cow<'t, str>>,
}

/// A message; its parts are JSON.
struct Built {
    is_assistant: bool,
    /// The record that it begins with.
    record: usize,
    results: Vec<String>,
    /// Texts that the program put before the user's words.
    before: Vec<String>,
    blocks: Vec<String>,
    /// The content, where it is a text and nothing else.
    text: Option<String>,
}

impl Built {
    fn new(is_assistant: bool, record: usize) -> Self {
        let (results, before, blocks) = (Vec::new(), Vec::new(), Vec::new());
        Self { is_assistant, record, results, before, blocks, text: None }
    }

    fn write(&self) -> String {
        let role = if self.is_assistant { "assistant" } else { "user" };
        let has_more =
            !(self.results.is_empty() && self.before.is_empty() && self.blocks.is_empty());
        let content = match &self.text {
            Some(text) if !has_more => text.clone(),
            text => {
                let mut blocks = self.results.clone();
                blocks.extend_from_slice(&self.before);
                let text = text
                    .iter()
                    .map(|text| object(&[("type", quoted("text")), ("text", text.clone())]));
                blocks.extend(text);
                blocks.extend_from_slice(&self.blocks);
                list(&blocks)
            }
        };
        object(&[("role", quoted(role)), ("content", content)])
    }
}

impl<'l, 't> Messages<'l, 't> {
    pub(super) fn read(log: &'l Log<'t>, path: &[usize], notes: &mut Notes) -> Self {
        let (seen_answers, seen_calls) = (HashSet::new(), HashSet::new());
        let mut messages =
            Self { log, built: Vec::new(), pending: Vec::new(), seen_answers, seen_calls };
        for &at in path {
            match log.records[at].kind {
                Kind::User => messages.read_user(at),
                Kind::Assistant => messages.read_assistant(at),
                Kind::Attachment => messages.read_attachment(at, notes),
                Kind::LocalCommand => messages.read_command(at),
                Kind::Boundary | Kind::Link => {}
            }
        }
        messages
    }

    pub(super) fn count(&self) -> usize {
        self.built.len()
    }

    /// Takes off what the model said last: the request was sent before that. Returns the record of it.
    pub(super) fn cut_answer(&mut self) -> Option<usize> {
        let mut answer = None;
        while self.built.last().is_some_and(|message| message.is_assistant) {
            answer = self.built.pop().map(|message| message.record);
        }
        answer
    }

    pub(super) fn write(&self) -> Vec<String> {
        self.built.iter().map(Built::write).collect()
    }

    fn read_assistant(&mut self, at: usize) {
        let id = self.log.records[at].message.str("id");
        if id.is_some_and(|id| !self.seen_answers.insert(id)) {
            return;
        }
        let mut built = Built::new(true, at);
        let mut calls = Vec::new();
        for part in self.log.parts_of(at) {
            let record = &self.log.records[part];
            let text = record.message.get("content").filter(|content| content.is_text());
            built.blocks.extend(
                text.map(|text| {
                    object(&[("type", quoted("text")), ("text", text.raw().to_owned())])
                }),
            );
            for block in record.blocks() {
                if let Some(call) = called(block) {
                    if !self.seen_calls.insert(call.clone()) {
                        continue;
                    }
                    calls.push(call);
                }
                built.blocks.push(block.raw().to_owned());
            }
        }
        self.built.push(built);
        self.read_results(&calls);
    }

    /// The results of calls, in their order, wherever they stand.
    fn read_results(&mut self, calls: &[Cow<'t, str>]) {
        let mut built: Option<Built> = None;
        for call in calls {
            let Some(&at) = self.log.by_call.get(call).and_then(|answers| answers.last()) else {
                continue;
            };
            let blocks = self.log.records[at].blocks();
            let result = blocks.into_iter().find(|block| answered(*block).as_ref() == Some(call));
            let built = built.get_or_insert_with(|| Built::new(false, at));
            built.results.extend(result.map(|result| self.result(call, result)));
        }
        self.built.extend(built);
    }

    fn result(&self, call: &str, block: Json<'t>) -> String {
        match (self.log.replacements.get(call), block.object()) {
            (Some(replacement), Some(block)) => with(&block, "content", replacement.raw()),
            _ => block.raw().to_owned(),
        }
    }

    fn read_user(&mut self, at: usize) {
        let record = &self.log.records[at];
        let mut built = Built::new(false, at);
        built.text = record
            .message
            .get("content")
            .filter(|content| content.is_text())
            .map(|text| text.raw().to_owned());
        let mut has_results = false;
        for block in record.blocks() {
            match answered(block) {
                Some(call) if self.seen_calls.contains(&call) => has_results = true,
                Some(_) => built.results.push(block.raw().to_owned()),
                None => built.blocks.push(block.raw().to_owned()),
            }
        }
        if built.text.is_none() && built.blocks.is_empty() && built.results.is_empty() {
            return;
        }
        // What stands beside results goes where they went.
        let answers = self.built.last_mut();
        match answers.filter(|last| has_results && !last.is_assistant) {
            Some(answers) => answers.blocks.append(&mut built.blocks),
            None => self.push_user(built),
        }
    }

    fn push_user(&mut self, mut built: Built) {
        built.before.append(&mut self.pending);
        self.built.push(built);
    }

    fn read_command(&mut self, at: usize) {
        let mut built = Built::new(false, at);
        let content =
            self.log.records[at].object.get("content").filter(|content| content.is_text());
        built.text = content.map(|text| text.raw().to_owned());
        if built.text.is_some() {
            self.push_user(built);
        }
    }

    /// Reads an attachment of the program: it has no words in the transcript, only its parts.
    fn read_attachment(&mut self, at: usize, notes: &mut Notes) {
        let record = &self.log.records[at];
        let attachment = record.object.get("attachment").and_then(Json::object).unwrap_or_default();
        let kind = attachment.str("type").unwrap_or_default();
        let Some(text) = attached_text(&attachment) else {
            notes.skip(
                format!("an attachment `{kind}`, whose text is not in the transcript"),
                Some(record.line),
            );
            return;
        };
        let text = format!("<system-reminder>\n{text}\n</system-reminder>");
        let Some(last) = self.built.last_mut().filter(|last| !last.is_assistant) else {
            self.pending.push(text_block(&text));
            return;
        };
        match last.results.pop() {
            Some(result) => last.results.push(with_text(&result, &text)),
            None => last.before.push(text_block(&text)),
        }
    }
}

/// The text of an attachment: its content, the file that it is, or the lines that it adds.
fn attached_text(attachment: &crate::json::Object<'_>) -> Option<String> {
    if let Some(content) = attachment.get("content") {
        let file = || {
            let text = content.at_path("file.content")?.str()?;
            let name = attachment.str("filename").unwrap_or_default();
            Some(format!("{name}\n{text}"))
        };
        return content.str().map(Cow::into_owned).or_else(file).filter(|text| !text.is_empty());
    }
    let lines = attachment.get("addedLines")?.list()?;
    let lines: Vec<Cow<'_, str>> = lines.into_iter().filter_map(Json::str).collect();
    Some(lines.join("\n")).filter(|text| !text.is_empty())
}

/// A result with a text behind its own, as the program sends it.
fn with_text(result: &str, text: &str) -> String {
    let Some(block) = Json::parse(result).ok().and_then(Json::object) else {
        return result.to_owned();
    };
    let content = block.get("content");
    let content = if let Some(blocks) = content.and_then(Json::list) {
        let own = blocks.into_iter().map(|block| block.raw().to_owned());
        list(&own.chain([text_block(text)]).collect::<Vec<_>>())
    } else {
        let own = content.and_then(Json::str).unwrap_or_default();
        quoted(&format!("{own}\n\n{text}"))
    };
    with(&block, "content", &content)
}
