//! Batch files: a request on each line, with an id that its answer will have.
//!
//! The field of the request is the provider's: `body` (OpenAI, Mistral, Groq), `params` (Anthropic),
//! `request` (Gemini), `modelInput` (Bedrock). Lines that are requests themselves are taken too, where somebody
//! names the kind.

use std::borrow::Cow;

use super::lines::{Line, objects};
use super::notes::Notes;
use super::write::beginning;
use super::{Conversation, ListedConversation, Source, TranscriptError};
use crate::json::{Json, Object};

pub(super) struct Batch;

/// Fields that hold a request, each with those that name it.
const BODIES: [(&str, &[&str]); 4] = [
    ("body", &["custom_id"]),
    ("params", &["custom_id"]),
    ("request", &["key", "custom_id"]),
    ("modelInput", &["recordId"]),
];

/// Fields that hold an answer instead.
const ANSWERS: [&str; 4] = ["response", "result", "modelOutput", "error"];

/// Fields that a request may hold its messages in.
const MESSAGES: [&str; 5] = ["messages", "input", "contents", "prompt", "items"];

impl Source for Batch {
    fn has_record(&self, record: &Object<'_>) -> bool {
        let is_named = |ids: &[&str]| ids.iter().any(|id| record.has(id));
        let has_body = |body: &str| record.get(body).is_some_and(Json::is_object);
        let is_request = BODIES.iter().any(|(body, ids)| has_body(body) && is_named(ids));
        let is_vertex =
            record.get("request").is_some_and(|body| body.at_path("contents").is_some());
        is_request || is_vertex || is_answer(record)
    }

    fn is_whole(&self, json: Json<'_>) -> bool {
        let requests = json.at_path("requests").and_then(Json::list).unwrap_or_default();
        requests
            .first()
            .and_then(|first| first.object())
            .is_some_and(|first| self.has_record(&first))
    }

    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let requests: Vec<Line<'t>> = match whole_batch(text) {
            Some(list) => list,
            None => objects(text, notes),
        };
        let mut conversations = Vec::new();
        for line in &requests {
            match body_of(line) {
                Some(body) => conversations.push(conversation(line, body)),
                None if is_answer(&line.object) => {
                    notes.skip("an answer instead of a request", Some(line.number));
                }
                None => notes.skip("a line that holds no request", Some(line.number)),
            }
        }
        if conversations.is_empty() && requests.iter().any(|line| is_answer(&line.object)) {
            let problem = "these are the answers to a batch, not its requests";
            return Err(TranscriptError::new(problem, "give the file that was sent"));
        }
        Ok(conversations)
    }
}

/// The requests of a batch that is one value, as Anthropic's API takes it; their places count as lines.
fn whole_batch(text: &str) -> Option<Vec<Line<'_>>> {
    let list = Json::parse(text).ok()?.at_path("requests")?.list()?;
    let lines = list
        .into_iter()
        .enumerate()
        .filter_map(|(at, json)| Some(Line { number: at + 1, json, object: json.object()? }));
    Some(lines.collect())
}

/// The request of a line; the line itself, if it looks like one.
fn body_of<'t>(line: &Line<'t>) -> Option<Json<'t>> {
    let inner = |(body, _): &(&str, _)| line.object.get(body).filter(|body| body.is_object());
    let is_request = || MESSAGES.iter().any(|name| line.object.has(name));
    BODIES.iter().find_map(inner).or_else(|| is_request().then_some(line.json))
}

fn is_answer(record: &Object<'_>) -> bool {
    let is_named = ["custom_id", "recordId", "key"].iter().any(|id| record.has(id));
    is_named && ANSWERS.iter().any(|answer| record.get(answer).is_some())
}

fn conversation<'t>(line: &Line<'t>, body: Json<'t>) -> Conversation<'t> {
    let record = &line.object;
    let id = ["custom_id", "recordId", "key"].iter().find_map(|id| record.str(id));
    let url = record.str("url");
    let model = body.at_path("model").and_then(Json::str);
    let title: Vec<Cow<'_, str>> = [url.clone(), model].into_iter().flatten().collect();
    let listed = ListedConversation {
        line: Some(line.number),
        id: id.unwrap_or_default().into_owned(),
        title: beginning(&title.join(" · ")),
        messages: messages_of(body),
    };
    let number = line.number;
    let write = move |_: &mut Notes| match url.as_deref().and_then(no_chat) {
        Some(what) => {
            let problem = format!("the request asks for {what}, which is no chat");
            Err(TranscriptError::new(problem, "choose another line").on(number))
        }
        None => Ok(body.raw().to_owned()),
    };
    Conversation { listed, write: Box::new(write) }
}

fn messages_of(body: Json<'_>) -> Option<usize> {
    let body = body.object()?;
    MESSAGES.iter().find_map(|name| body.get(name)?.list()).map(|list| list.len())
}

/// Kind of answer of an endpoint, where that is no message.
fn no_chat(url: &str) -> Option<&'static str> {
    let kinds =
        [("embeddings", "embeddings"), ("moderations", "a moderation"), ("images", "images")];
    kinds.into_iter().find(|(part, _)| url.contains(part)).map(|(_, what)| what)
}

#[cfg(test)]
mod tests {
    use crate::{Pick, TranscriptKind};

    const OPENAI: &str = r#"{"custom_id": "r-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "gpt-4o", "messages": [{"role": "user", "content": "one"}]}}
{"custom_id": "r-2", "method": "POST", "url": "/v1/responses", "body": {"model": "gpt-5", "input": "two"}}

{"custom_id": "r-3", "method": "POST", "url": "/v1/embeddings", "body": {"model": "e", "input": "three"}}
{"custom_id": "r-4", "method": "POST", "url": "/v1/chat/compl"#;

    #[track_caller]
    fn import(text: &str, pick: &Pick) -> Result<(String, Vec<String>), String> {
        let kind = TranscriptKind::detect(text).unwrap_or(TranscriptKind::Batch);
        assert_eq!(kind, TranscriptKind::Batch);
        let imported = kind.import(text, pick).map_err(|error| error.to_string())?;
        Ok((imported.text, imported.notes))
    }

    #[test]
    fn a_line_is_chosen_and_a_half_written_one_is_told() {
        let (text, notes) = import(OPENAI, &Pick::Line(1)).unwrap();
        assert_eq!(
            text,
            r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "one"}]}"#
        );
        assert_eq!(notes, ["skipped on line 5: a line that is not whole"]);
        assert_eq!(
            import(OPENAI, &Pick::Named("r-2".into())).unwrap().0,
            r#"{"model": "gpt-5", "input": "two"}"#
        );
        assert_eq!(
            import(OPENAI, &Pick::Last).unwrap_err(),
            "line 4: the request asks for embeddings, which is no chat; choose another line"
        );
        assert_eq!(
            import(OPENAI, &Pick::Line(3)).unwrap_err(),
            "line 3 has no request; choose one of the 3 requests"
        );
    }

    #[test]
    fn every_provider_has_its_own_field() {
        for (text, request) in [
            (
                r#"{"custom_id":"a","params":{"max_tokens":1,"messages":[]}}"#,
                r#"{"max_tokens":1,"messages":[]}"#,
            ),
            (r#"{"key":"a","request":{"contents":[]}}"#, r#"{"contents":[]}"#),
            (r#"{"request":{"contents":[]}}"#, r#"{"contents":[]}"#),
            (r#"{"recordId":"a","modelInput":{"messages":[]}}"#, r#"{"messages":[]}"#),
            (
                "{\"requests\":[\n{\"custom_id\":\"a\",\"params\":{\"messages\":[]}}]}",
                r#"{"messages":[]}"#,
            ),
        ] {
            assert_eq!(import(text, &Pick::Last).unwrap().0, request, "{text}");
        }
    }

    #[test]
    fn answers_are_no_requests() {
        for text in [
            r#"{"id":"b","custom_id":"a","response":{"status_code":200,"body":{}},"error":null}"#,
            r#"{"custom_id":"a","result":{"type":"succeeded","message":{}}}"#,
        ] {
            assert_eq!(
                import(text, &Pick::Last).unwrap_err(),
                "these are the answers to a batch, not its requests; give the file that was sent"
            );
        }
    }
}
