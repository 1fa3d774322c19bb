//! Claude Code's transcripts: a tree of records, one on each line.
//!
//! Each record names the one before it (`parentUuid`). The last request is the way from the last record back
//! to the first, or to the last compaction. Told by transcripts that version 2.1 wrote, beside the requests
//! that it sent meanwhile.

mod messages;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::lines::objects;
use super::notes::Notes;
use super::write::{beginning, quoted, request};
use super::{Conversation, ListedConversation, Source, TranscriptError};
use crate::json::{Json, Object};
use messages::Messages;

pub(super) struct ClaudeCode;

/// Records that the program writes for itself and never sends.
const UNSENT: [&str; 21] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "attribution-snapshot",
    "content-replacement",
    "custom-title",
    "file-history-snapshot",
    "fork-context-ref",
    "last-prompt",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "speculation-accept",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
];

/// The most branches whose messages are counted.
const MOST_COUNTED: usize = 64;

impl Source for ClaudeCode {
    fn has_record(&self, record: &Object<'_>) -> bool {
        let is_linked = record.has("parentUuid") && record.has("uuid");
        let is_own = record.has("sessionId") || record.has("leafUuid");
        record.str("type").is_some() && (is_linked || is_own)
    }

    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let log = Rc::new(Log::read(text, notes));
        let ends = log.ends();
        let conversations = ends.iter().enumerate().map(|(at, &end)| {
            let is_main = at + 1 == ends.len();
            // Going along each of many branches would take too long for a list that nobody reads.
            let listed = log.listed(end, is_main, is_main || ends.len() <= MOST_COUNTED);
            let log = Rc::clone(&log);
            Conversation { listed, write: Box::new(move |notes| log.write(end, notes)) }
        });
        Ok(conversations.collect())
    }
}

/// Meaning of a record for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Assistant,
    /// Text that the program adds by itself: files, reminders, lists of skills.
    Attachment,
    /// The output of a command that the user ran; it is sent as the user's.
    LocalCommand,
    /// The place where all that came before was summed up.
    Boundary,
    /// Record that is not sent, but stands between records that are.
    Link,
}

struct Record<'t> {
    line: usize,
    object: Object<'t>,
    kind: Kind,
    message: Object<'t>,
    parent: Option<usize>,
    is_side: bool,
}

impl<'t> Record<'t> {
    fn new(line: usize, object: Object<'t>) -> Self {
        let is_set = |name: &str| object.get(name).is_some_and(|value| value.raw() == "true");
        let kind = match object.str("type").as_deref() {
            // A summary is only shown on request, yet it is what the model gets.
            _ if is_set("isVirtual") || is_set("isApiErrorMessage") => Kind::Link,
            Some("user") if is_set("isVisibleInTranscriptOnly") && !is_set("isCompactSummary") => {
                Kind::Link
            }
            Some("user") => Kind::User,
            Some("assistant") => Kind::Assistant,
            Some("attachment") => Kind::Attachment,
            Some("system") => match object.str("subtype").as_deref() {
                Some("compact_boundary") => Kind::Boundary,
                Some("local_command") => Kind::LocalCommand,
                _ => Kind::Link,
            },
            _ => Kind::Link,
        };
        let message = object.get("message").and_then(Json::object).unwrap_or_default();
        let is_side = is_set("isSidechain");
        Self { line, object, kind, message, parent: None, is_side }
    }

    fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// The blocks of the message, if its content is a list.
    fn blocks(&self) -> Vec<Json<'t>> {
        self.message.get("content").and_then(Json::list).unwrap_or_default()
    }

    fn words(&self) -> Option<Cow<'t, str>> {
        let content = self.message.get("content")?;
        let text = |block: &Json<'t>| block.object()?.str("text");
        content.str().or_else(|| content.list()?.iter().find_map(text))
    }
}

/// All records of a file that stand in its tree.
struct Log<'t> {
    records: Vec<Record<'t>>,
    by_uuid: HashMap<Cow<'t, str>, usize>,
    /// Records by the message of the API that they are parts of: each block has its own.
    by_message: HashMap<Cow<'t, str>, Vec<usize>>,
    /// Records by the calls that they answer.
    by_call: HashMap<Cow<'t, str>, Vec<usize>>,
    /// Texts that were sent instead of long results, by their calls.
    replacements: HashMap<Cow<'t, str>, Json<'t>>,
    title: Option<String>,
    session: Option<String>,
}

impl<'t> Log<'t> {
    fn read(text: &'t str, notes: &mut Notes) -> Self {
        let mut log = Self {
            records: Vec::new(),
            by_uuid: HashMap::new(),
            by_message: HashMap::new(),
            by_call: HashMap::new(),
            replacements: HashMap::new(),
            title: None,
            session: None,
        };
        for line in objects(text, notes) {
            log.take_in(line.number, line.object, notes);
        }
        log.link(notes);
        log
    }

    fn take_in(&mut self, line: usize, object: Object<'t>, notes: &mut Notes) {
        let kind = object.str("type").unwrap_or_default();
        match &*kind {
            "summary" | "custom-title" | "ai-title" => {
                let title = object.any_of(&["summary", "customTitle", "title", "aiTitle"]);
                self.title = title.and_then(|(_, title)| title.str()).map(Cow::into_owned);
            }
            "content-replacement" => self.replace(&object),
            "user" | "assistant" | "attachment" | "system" => {}
            known if UNSENT.contains(&known) => {}
            "" => notes.skip("a record without a type", Some(line)),
            unknown => {
                notes.skip(format!("a record of the unknown type `{unknown}`"), Some(line));
            }
        }
        if self.session.is_none() {
            self.session = object.str("sessionId").map(Cow::into_owned);
        }
        let Some(uuid) = object.str("uuid") else { return };
        let record = Record::new(line, object);
        let at = self.records.len();
        if record.kind == Kind::Assistant {
            if let Some(id) = record.message.str("id") {
                self.by_message.entry(id).or_default().push(at);
            }
        }
        if record.kind == Kind::User {
            for call in record.blocks().iter().filter_map(|block| answered(*block)) {
                self.by_call.entry(call).or_default().push(at);
            }
        }
        self.by_uuid.insert(uuid, at);
        self.records.push(record);
    }

    fn replace(&mut self, record: &Object<'t>) {
        let replacements = record.get("replacements").and_then(Json::list).unwrap_or_default();
        for replacement in replacements.iter().filter_map(|json| json.object()) {
            let text = replacement.get("replacement").filter(|text| text.is_text());
            if let Some((call, text)) = replacement.str("toolUseId").zip(text) {
                self.replacements.insert(call, text);
            }
        }
    }

    fn link(&mut self, notes: &mut Notes) {
        for at in 0..self.records.len() {
            let Some(parent) = self.records[at].object.str("parentUuid") else { continue };
            let found = self.by_uuid.get(&parent).copied().filter(|parent| *parent != at);
            if found.is_none() && self.records[at].is_message() {
                let line = self.records[at].line;
                notes.say(format!(
                    "line {line} follows a record that is not in the file: what came before is missing"
                ));
            }
            self.records[at].parent = found;
        }
    }

    /// The last messages of all branches, in the order of the file; the main one last.
    fn ends(&self) -> Vec<usize> {
        let mut is_covered = vec![false; self.records.len()];
        let mut ends = Vec::new();
        let are_all_side =
            self.records.iter().filter(|record| record.is_message()).all(|record| record.is_side);
        let main = (0..self.records.len()).rev().find(|at| {
            let record = &self.records[*at];
            record.is_message() && (are_all_side || !record.is_side)
        });
        for at in main.into_iter().chain((0..self.records.len()).rev()) {
            if !is_covered[at] && self.records[at].is_message() {
                ends.push(at);
                self.cover(at, &mut is_covered);
            }
        }
        ends.reverse();
        ends
    }

    /// Marks all that a branch has, and what came before its compactions.
    fn cover(&self, end: usize, is_covered: &mut [bool]) {
        let mut open = vec![end];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut is_covered[at], true) {
                continue;
            }
            let record = &self.records[at];
            let before = record.object.str("logicalParentUuid");
            open.extend(before.and_then(|uuid| self.by_uuid.get(&uuid)).copied());
            open.extend(record.parent);
            open.extend(self.parts_of(at));
            let calls = record.blocks();
            for call in calls.iter().filter_map(|block| called(*block)) {
                open.extend(self.by_call.get(&call).into_iter().flatten());
            }
        }
    }

    /// All records of the message of the API that a record is a part of.
    fn parts_of(&self, at: usize) -> Vec<usize> {
        let id = self.records[at].message.str("id");
        id.and_then(|id| self.by_message.get(&id)).cloned().unwrap_or_else(|| vec![at])
    }

    /// The records from the first, or the last compaction, to this one.
    fn path_to(&self, end: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut is_seen = vec![false; self.records.len()];
        let mut next = Some(end);
        while let Some(at) = next.filter(|at| !std::mem::replace(&mut is_seen[*at], true)) {
            path.push(at);
            let is_boundary = self.records[at].kind == Kind::Boundary;
            next = if is_boundary { None } else { self.records[at].parent };
        }
        path.reverse();
        self.insert_preserved(&mut path);
        self.append_attachments(end, &mut path);
        path
    }

    /// Appends the program's attachments to the last message, which they depend on.
    fn append_attachments(&self, end: usize, path: &mut Vec<usize>) {
        let mut last = end;
        for (at, record) in self.records.iter().enumerate().skip(end + 1) {
            if record.kind == Kind::Attachment && record.parent == Some(last) {
                path.push(at);
                last = at;
            }
        }
    }

    /// Messages that a compaction left as they were follow its summary.
    fn insert_preserved(&self, path: &mut Vec<usize>) {
        let Some(first) = path.first().map(|first| &self.records[*first]) else { return };
        let Some(kept) = first.object.get("compactMetadata") else { return };
        let Some(kept) = kept.at_path("preservedMessages").and_then(Json::object) else { return };
        let position = |uuid: Cow<'t, str>| self.by_uuid.get(&uuid).copied();
        let anchor = kept.str("anchorUuid").and_then(position);
        let uuids = kept.any_of(&["allUuids", "uuids"]).and_then(|(_, list)| list.list());
        let uuids = uuids.unwrap_or_default().into_iter().filter_map(Json::str);
        let known: HashSet<usize> = path.iter().copied().collect();
        let preserved: Vec<usize> =
            uuids.filter_map(position).filter(|at| !known.contains(at)).collect();
        let place = anchor.and_then(|anchor| path.iter().position(|at| *at == anchor));
        let place = place.map_or(1, |place| place + 1);
        path.splice(place..place, preserved);
    }

    fn listed(&self, end: usize, is_main: bool, is_counted: bool) -> ListedConversation {
        let record = &self.records[end];
        let own = |name: &str| record.object.str(name).map(Cow::into_owned);
        let id = match (record.is_side, is_main) {
            (true, _) => own("agentId"),
            (false, true) => self.session.clone(),
            (false, false) => None,
        };
        let path = if is_counted { self.path_to(end) } else { vec![end] };
        let first =
            path.iter().map(|at| &self.records[*at]).find(|record| record.kind == Kind::User);
        let title = self.title.clone().filter(|_| is_main);
        let words = || beginning(&first.and_then(Record::words).unwrap_or_default());
        let messages = || Messages::read(self, &path, &mut Notes::default()).count();
        ListedConversation {
            line: None,
            id: id.or_else(|| own("uuid")).unwrap_or_default(),
            title: title.unwrap_or_else(words),
            messages: is_counted.then(messages),
        }
    }

    fn write(&self, end: usize, notes: &mut Notes) -> Result<String, TranscriptError> {
        let path = self.path_to(end);
        let mut messages = Messages::read(self, &path, notes);
        let answer = messages.cut_answer();
        if messages.count() == 0 {
            let problem = "nothing was sent to the model in it";
            return Err(TranscriptError::new(problem, "choose another conversation"));
        }
        let records = path.iter().rev().map(|at| &self.records[*at]);
        let model = records
            .filter_map(|record| record.message.str("model"))
            .find(|model| !model.starts_with('<'));
        let mut fields = Vec::new();
        fields.extend(model.map(|model| ("model", quoted(&model))));
        // Says whose format it is; the prompt itself is not in the file.
        fields.push(("system", "[]".to_owned()));
        notes.say("the system prompt and the tool definitions are not in a transcript");
        if let Some(tokens) = answer.and_then(|at| input_tokens(&self.records[at].message)) {
            notes.say(format!("the provider counted {tokens} input tokens for all of it"));
        }
        Ok(request(&fields, "messages", &messages.write()))
    }
}

/// Tokens that the provider counted, with those that were in its cache.
fn input_tokens(message: &Object<'_>) -> Option<i64> {
    let usage = message.get("usage")?.object()?;
    let names = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let counts = names.iter().filter_map(|name| usage.get(name)?.whole_number());
    Some(counts.fold(0, i64::saturating_add)).filter(|tokens| *tokens > 0)
}

/// The call that a block answers.
fn answered(block: Json<'_>) -> Option<Cow<'_, str>> {
    let block = block.object()?;
    (block.str("type")? == "tool_result").then(|| block.str("tool_use_id"))?
}

/// The id of a call.
fn called(block: Json<'_>) -> Option<Cow<'_, str>> {
    let block = block.object()?;
    (block.str("type")? == "tool_use").then(|| block.str("id"))?
}

#[cfg(test)]
mod tests;
