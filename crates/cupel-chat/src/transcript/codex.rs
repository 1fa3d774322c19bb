//! Codex's rollouts: a record on each line, of which `response_item`s are what the model read and wrote.
//!
//! Told by rollouts that version 0.169 wrote, beside the requests that it sent meanwhile. The first releases
//! wrote items without a record around them; these are read too.

use std::borrow::Cow;

use super::lines::objects;
use super::notes::Notes;
use super::write::{beginning, object, quoted, request, without};
use super::{Conversation, ListedConversation, Source, TranscriptError};
use crate::json::{Json, Object};

pub(super) struct Codex;

/// Records that say something about the run, and nothing to the model.
const UNSENT: [&str; 3] = ["event_msg", "token_usage_record", "world_state"];

/// Fields of items that Codex keeps for itself.
const OWN_FIELDS: [&str; 1] = ["internal_chat_message_metadata_passthrough"];

/// Beginnings of messages that the program writes in the user's name: no turn begins with them.
const PROGRAMS_OWN: [&str; 7] = [
    "# AGENTS.md instructions",
    "<environment_context>",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
];

impl Source for Codex {
    fn has_record(&self, record: &Object<'_>) -> bool {
        let is_record = record.get("payload").is_some_and(Json::is_object)
            && record.str("type").is_some()
            && record.has("timestamp");
        let is_early_head =
            record.has("instructions") && record.has("timestamp") && record.has("id");
        is_record || is_early_head || record.str("record_type").is_some()
    }

    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let mut rollout = Rollout::default();
        for line in objects(text, notes) {
            rollout.take_in(line.number, &line.object, notes);
        }
        let words = rollout.items.iter().find_map(Item::turn_words);
        let listed = ListedConversation {
            line: None,
            id: rollout.id.clone().unwrap_or_default(),
            title: beginning(&words.unwrap_or_default()),
            messages: Some(rollout.items.len()),
        };
        let write = Box::new(move |notes: &mut Notes| rollout.write(notes));
        Ok(vec![Conversation { listed, write }])
    }
}

#[derive(Default)]
struct Rollout<'t> {
    id: Option<String>,
    model: Option<Cow<'t, str>>,
    instructions: Option<Json<'t>>,
    items: Vec<Item<'t>>,
    input_tokens: Option<i64>,
}

/// An item of the history.
#[derive(Clone)]
struct Item<'t> {
    object: Object<'t>,
    /// The item where it is not as it was written.
    made: Option<String>,
}

impl<'t> Item<'t> {
    fn is(&self, name: &str, value: &str) -> bool {
        self.object.str(name).is_some_and(|own| own == value)
    }

    fn is_users(&self) -> bool {
        self.is("type", "message") && self.is("role", "user")
    }

    /// The words that a turn of the user begins with.
    fn turn_words(&self) -> Option<Cow<'t, str>> {
        let content = self.object.get("content").filter(|_| self.is_users())?;
        let text = |block: Json<'t>| block.object()?.str("text");
        let words = content.list()?.into_iter().find_map(text)?;
        let is_own = PROGRAMS_OWN.iter().any(|start| words.trim_start().starts_with(start));
        (!is_own).then_some(words)
    }

    /// Returns true if the model put it out: a request ends before that.
    fn is_output(&self) -> bool {
        let kind = self.object.str("type").unwrap_or_default();
        match &*kind {
            "message" => self.is("role", "assistant"),
            "reasoning" => true,
            kind => kind.ends_with("_call"),
        }
    }
}

impl<'t> Rollout<'t> {
    fn take_in(&mut self, line: usize, record: &Object<'t>, notes: &mut Notes) {
        let kind = record.str("type").unwrap_or_default();
        let Some(payload) = record.get("payload").and_then(Json::object) else {
            return self.take_in_early(line, record, notes);
        };
        match &*kind {
            "session_meta" => self.begin(&payload),
            "turn_context" => self.model = payload.str("model").or_else(|| self.model.take()),
            "response_item" => self.push(payload, notes, line),
            "compacted" => self.compact(&payload, notes, line),
            "event_msg" if payload.str("type").is_some_and(|kind| kind == "thread_rolled_back") => {
                let turns = payload.get("num_turns").and_then(Json::whole_number).unwrap_or(1);
                self.roll_back(turns);
            }
            "event_msg" if payload.str("type").is_some_and(|kind| kind == "token_count") => {
                let tokens = payload
                    .get("info")
                    .and_then(|info| info.at_path("last_token_usage.input_tokens")?.whole_number());
                self.input_tokens = tokens.or(self.input_tokens);
            }
            known if UNSENT.contains(&known) => {}
            unknown => {
                notes.skip(format!("a record of the unknown type `{unknown}`"), Some(line));
            }
        }
    }

    /// A record as the first releases wrote it: the item itself.
    fn take_in_early(&mut self, line: usize, record: &Object<'t>, notes: &mut Notes) {
        if record.str("record_type").is_some() {
            return;
        }
        if record.str("type").is_some() {
            self.push(record.clone(), notes, line);
        } else if record.has("timestamp") && record.has("id") {
            self.begin(record);
        } else {
            notes.skip("a record without a type", Some(line));
        }
    }

    /// A rollout that goes on from another has the head of that one too; its own comes first.
    fn begin(&mut self, head: &Object<'t>) {
        if self.id.is_none() {
            self.id = head.str("id").map(Cow::into_owned);
        }
        let own = head.get("base_instructions").and_then(|own| own.at_path("text"));
        let instructions = own.or_else(|| head.get("instructions")).filter(|text| text.is_text());
        self.instructions = self.instructions.or(instructions);
    }

    fn push(&mut self, item: Object<'t>, notes: &mut Notes, line: usize) {
        // Codex's own note of the state of the folder.
        if item.str("type").is_some_and(|kind| kind == "ghost_snapshot") {
            return;
        }
        if item.str("type").is_none() {
            return notes.skip("an item without a type", Some(line));
        }
        self.items.push(Item { object: item, made: None });
    }

    /// All that came before is replaced: by what the record has, or by what the user said and the summary.
    fn compact(&mut self, payload: &Object<'t>, notes: &mut Notes, line: usize) {
        if let Some(history) = payload.get("replacement_history").and_then(Json::list) {
            self.items.clear();
            for item in history {
                match item.object() {
                    Some(item) => self.push(item, notes, line),
                    None => notes.skip("an item that is no object", Some(line)),
                }
            }
            return;
        }
        self.items.retain(Item::is_users);
        notes.say(format!(
            "line {line}: the history after this compaction is made of what the user said and the summary"
        ));
        if let Some(summary) = payload.get("message").filter(|summary| summary.is_text()) {
            let text =
                object(&[("type", quoted("input_text")), ("text", summary.raw().to_owned())]);
            let made = object(&[
                ("type", quoted("message")),
                ("role", quoted("user")),
                ("content", format!("[{text}]")),
            ]);
            self.items.push(Item { object: Object::default(), made: Some(made) });
        }
    }

    /// Takes back the last turns of the user.
    fn roll_back(&mut self, turns: i64) {
        for _ in 0..turns {
            let Some(start) = self.items.iter().rposition(|item| item.turn_words().is_some())
            else {
                return;
            };
            self.items.truncate(start);
        }
    }

    fn write(mut self, notes: &mut Notes) -> Result<String, TranscriptError> {
        while self.items.last().is_some_and(Item::is_output) {
            self.items.pop();
        }
        if self.items.is_empty() {
            let problem = "nothing was sent to the model in it";
            return Err(TranscriptError::new(problem, "give another rollout"));
        }
        let mut fields = Vec::new();
        fields.extend(self.model.map(|model| ("model", quoted(&model))));
        let instructions = self.instructions.map(|text| ("instructions", text.raw().to_owned()));
        let is_whole = instructions.is_some();
        fields.extend(instructions);
        notes.say(if is_whole {
            "the tool definitions are not in a rollout"
        } else {
            "the instructions and the tool definitions are not in this rollout"
        });
        if let Some(tokens) = self.input_tokens {
            notes.say(format!("the provider counted {tokens} input tokens for the last request"));
        }
        let item = |item: &Item<'_>| match &item.made {
            Some(made) => made.clone(),
            None => without(&item.object, &OWN_FIELDS),
        };
        let items: Vec<String> = self.items.iter().map(item).collect();
        Ok(request(&fields, "input", &items))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Format, Pick, Request, TranscriptKind};

    fn record(kind: &str, payload: &str) -> String {
        format!(r#"{{"timestamp":"2026-01-01T00:00:00Z","type":"{kind}","payload":{payload}}}"#)
            + "\n"
    }

    fn item(payload: &str) -> String {
        record("response_item", payload)
    }

    fn said(role: &str, text: &str) -> String {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}","text":"{text}"}}]}}"#
        )
    }

    const META: &str = r#"{"id":"r1","base_instructions":{"text":"Be brief."}}"#;

    #[track_caller]
    fn import(text: &str) -> (Vec<String>, Vec<String>) {
        assert_eq!(TranscriptKind::detect(text), Some(TranscriptKind::Codex));
        let imported = TranscriptKind::Codex.import(text, &Pick::Last).unwrap();
        let request = Request::parse(imported.text.as_str(), None).unwrap();
        assert_eq!(request.format(), Format::OpenAiResponses);
        assert_eq!(request.validate(), []);
        let lines = imported.text.lines().filter(|line| line.starts_with("  {"));
        (lines.map(|line| line.trim().trim_end_matches(',').to_owned()).collect(), imported.notes)
    }

    #[test]
    fn items_are_what_was_sent_and_the_last_answer_is_not() {
        let text = record("session_meta", META)
            + &record("turn_context", r#"{"model":"gpt-5.1-codex"}"#)
            + &item(
                r#"{"type":"message","role":"user","internal_chat_message_metadata_passthrough":{"a":1},"content":[{"type":"input_text","text":"Go"}]}"#,
            )
            + &record("event_msg", r#"{"type":"agent_message"}"#)
            + &item(r#"{"type":"reasoning","summary":[],"content":null,"encrypted_content":"e"}"#)
            + &item(r#"{"type":"function_call","call_id":"c","name":"sh","arguments":"{}"}"#)
            + &item(r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#)
            + &record(
                "event_msg",
                r#"{"type":"token_count","info":{"last_token_usage":{"input_tokens":88}}}"#,
            )
            + &item(&said("assistant", "Done"))
            + &record("oracle", "{}");
        let (items, notes) = import(&text);
        assert_eq!(
            items,
            [
                r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"Go"}]}"#,
                r#"{"type":"reasoning","summary":[],"encrypted_content":"e"}"#,
                r#"{"type":"function_call","call_id":"c","name":"sh","arguments":"{}"}"#,
                r#"{"type":"function_call_output","call_id":"c","output":"ok"}"#,
            ]
        );
        assert_eq!(
            notes,
            [
                "the tool definitions are not in a rollout",
                "the provider counted 88 input tokens for the last request",
                "skipped on line 10: a record of the unknown type `oracle`",
            ]
        );
        let listed = TranscriptKind::Codex.list(&text).unwrap();
        assert_eq!((listed[0].id.as_str(), listed[0].title.as_str()), ("r1", "Go"));
    }

    #[test]
    fn a_compaction_replaces_what_came_before() {
        let before = record("session_meta", META)
            + &item(&said("user", "Long ago"))
            + &item(&said("assistant", "Yes"));
        let history = format!(
            r#"{{"message":"In short","replacement_history":[{}]}}"#,
            said("user", "In short")
        );
        let (items, _) = import(
            &(before.clone() + &record("compacted", &history) + &item(&said("user", "Next"))),
        );
        assert_eq!(items, [said("user", "In short"), said("user", "Next")]);
        let (items, notes) = import(&(before + &record("compacted", r#"{"message":"In short"}"#)));
        assert_eq!(items, [said("user", "Long ago"), said("user", "In short")]);
        assert!(
            notes[0].starts_with("line 4: the history after this compaction is made of"),
            "{notes:?}"
        );
    }

    #[test]
    fn turns_that_were_taken_back_are_gone() {
        let text = record("session_meta", META)
            + &item(&said("user", "One"))
            + &item(&said("assistant", "1"))
            + &item(&said("user", "Two"))
            + &item(&said("user", "<environment_context>x"))
            + &record("event_msg", r#"{"type":"thread_rolled_back","num_turns":1}"#)
            + &item(&said("user", "Three"));
        let (items, _) = import(&text);
        assert_eq!(items, [said("user", "One"), said("assistant", "1"), said("user", "Three")]);
    }

    #[test]
    fn early_rollouts_have_items_without_records() {
        let text = r#"{"id":"r0","timestamp":"2025-05-01T00:00:00Z","instructions":"Be brief."}"#
            .to_owned()
            + "\n{\"record_type\":\"state\"}\n"
            + &said("user", "Hi")
            + "\n"
            + &said("assistant", "Ho");
        assert_eq!(import(&text).0, [said("user", "Hi")]);
    }
}
