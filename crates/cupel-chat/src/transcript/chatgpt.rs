//! Exports of `ChatGPT`: conversations that are trees of messages, each with the one that is shown.
//!
//! An export names tools and their answers, but no ids of calls: an answer belongs to the call before it. What
//! the service adds by itself, as its system prompt, is not in it.

use std::borrow::Cow;
use std::collections::HashSet;

use super::notes::Notes;
use super::write::{beginning, list, object, quoted, request, text_block};
use super::{Conversation, ListedConversation, Source, TranscriptError};
use crate::json::{Json, Object};

pub(super) struct ChatGpt;

impl Source for ChatGpt {
    fn is_whole(&self, json: Json<'_>) -> bool {
        let first = match json.list() {
            Some(list) => list.first().copied(),
            None => Some(json),
        };
        let first = first.and_then(Json::object);
        first.is_some_and(|first| first.get("mapping").is_some_and(Json::is_object))
    }

    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let whole = Json::parse(text).map_err(|error| {
            let problem = if error.is_eof() { "the text ends too early" } else { "it is no JSON" };
            TranscriptError::new(problem, "export it again").on(error.line())
        })?;
        let mut conversations = Vec::new();
        for json in whole.list().unwrap_or_else(|| vec![whole]) {
            let Some(export) = json.object().filter(|export| export.has("mapping")) else {
                notes.skip("something that is no conversation", None);
                continue;
            };
            let text = |names: &[&'static str]| export.any_of(names).and_then(|(_, id)| id.str());
            let listed = ListedConversation {
                line: None,
                id: text(&["conversation_id", "id"]).unwrap_or_default().into_owned(),
                title: beginning(&text(&["title"]).unwrap_or_default()),
                messages: None,
            };
            let write = Box::new(move |notes: &mut Notes| Chat::read(&export, notes).write(notes));
            conversations.push(Conversation { listed, write });
        }
        Ok(conversations)
    }

    fn takes_last(&self) -> bool {
        false
    }
}

/// A message of the request to be.
struct Turn {
    role: &'static str,
    /// JSON: a text or a list.
    content: String,
    call: Option<Call>,
}

/// A call of a tool, and what the tool said.
struct Call {
    id: String,
    tool: String,
    arguments: String,
    answers: Vec<String>,
}

struct Chat<'t> {
    model: Option<Cow<'t, str>>,
    turns: Vec<Turn>,
}

impl<'t> Chat<'t> {
    fn read(export: &Object<'t>, notes: &mut Notes) -> Self {
        let model = export.str("default_model_slug");
        let mut chat = Self { model, turns: Vec::new() };
        for message in shown(export, notes) {
            chat.take_in(&message, notes);
        }
        chat
    }

    fn take_in(&mut self, message: &Object<'t>, notes: &mut Notes) {
        let author = message.get("author").and_then(Json::object).unwrap_or_default();
        let role = author.str("role").unwrap_or_default();
        let metadata = message.get("metadata").and_then(Json::object).unwrap_or_default();
        // The service gives no weight to what it takes out of the context again.
        if message.get("weight").and_then(Json::number) == Some(0.0) {
            return notes.skip("a message that the model no longer gets (weight 0)", None);
        }
        if let Some(files) = metadata.get("attachments").and_then(Json::list) {
            for _ in files {
                notes.skip("the text of an attached file, which is not in an export", None);
            }
        }
        let Some(content) = Content::read(message, notes) else { return };
        match &*role {
            "user" if content.is_context => self.push("system", content.write()),
            "user" => self.push("user", content.write()),
            "system" => self.push("system", content.write()),
            "assistant" => {
                let model = metadata.str("model_slug").filter(|model| model != "auto");
                self.model = model.or_else(|| self.model.take());
                let recipient = message.str("recipient").filter(|name| name != "all");
                match recipient {
                    Some(tool) => self.call(message, &tool, &content),
                    None => self.push("assistant", content.write()),
                }
            }
            "tool" => self.answer(&author, &content, notes),
            other => notes.skip(format!("a message of the unknown role `{other}`"), None),
        }
    }

    fn push(&mut self, role: &'static str, content: String) {
        self.turns.push(Turn { role, content, call: None });
    }

    fn call(&mut self, message: &Object<'t>, tool: &str, content: &Content) {
        let id =
            message.str("id").map_or_else(|| format!("call-{}", self.turns.len()), Cow::into_owned);
        let (tool, arguments) = (tool.to_owned(), content.words());
        let call = Some(Call { id, tool, arguments, answers: Vec::new() });
        self.turns.push(Turn { role: "assistant", content: String::new(), call });
    }

    /// Puts an answer to the call of this tool since the user spoke, or else the last call.
    fn answer(&mut self, author: &Object<'t>, content: &Content, notes: &mut Notes) {
        let name = author.str("name").unwrap_or_default();
        let since = self.turns.iter().rposition(|turn| turn.role == "user").map_or(0, |at| at + 1);
        let calls = self.turns[since..].iter_mut().rev().filter_map(|turn| turn.call.as_mut());
        let mut calls: Vec<&mut Call> = calls.collect();
        let own = calls.iter().position(|call| call.tool == *name && call.answers.is_empty());
        let own = own.or_else(|| calls.iter().position(|call| call.tool == *name));
        let own = own.or_else(|| (!calls.is_empty()).then_some(0));
        if let Some(at) = own {
            calls[at].answers.push(content.words());
            return;
        }
        let what = format!(
            "that `{name}` was called, which is not in the export; its answer is a message of the system"
        );
        notes.skip(what, None);
        self.push("system", content.write());
    }

    fn write(mut self, notes: &mut Notes) -> Result<String, TranscriptError> {
        while self.turns.last().is_some_and(Turn::is_answer) {
            self.turns.pop();
        }
        if self.turns.is_empty() {
            let problem = "nothing was sent to the model in it";
            return Err(TranscriptError::new(problem, "choose another conversation"));
        }
        notes.say("the system prompt and the tool definitions are not in an export");
        let messages: Vec<String> = self.turns.iter().flat_map(|turn| turn.write(notes)).collect();
        let model = self.model.filter(|model| model != "auto");
        let fields: Vec<(&str, String)> =
            model.map(|model| ("model", quoted(&model))).into_iter().collect();
        Ok(request(&fields, "messages", &messages))
    }
}

impl Turn {
    /// Returns true if the model said it and nothing followed.
    fn is_answer(&self) -> bool {
        let has_answers = self.call.as_ref().is_some_and(|call| !call.answers.is_empty());
        self.role == "assistant" && !has_answers
    }

    fn write(&self, notes: &mut Notes) -> Vec<String> {
        let said = |content: String| object(&[("role", quoted(self.role)), ("content", content)]);
        let Some(call) = &self.call else { return vec![said(self.content.clone())] };
        if call.answers.is_empty() {
            let text = format!(
                "that this called `{}`: it has no answer, and is what the assistant said",
                call.tool
            );
            notes.skip(text, None);
            return vec![said(quoted(&call.arguments))];
        }
        let function =
            object(&[("name", quoted(&call.tool)), ("arguments", quoted(&call.arguments))]);
        let tool_call = object(&[
            ("id", quoted(&call.id)),
            ("type", quoted("function")),
            ("function", function),
        ]);
        let assistant = object(&[
            ("role", quoted("assistant")),
            ("content", "null".to_owned()),
            ("tool_calls", list(&[tool_call])),
        ]);
        let tool = object(&[
            ("role", quoted("tool")),
            ("tool_call_id", quoted(&call.id)),
            ("content", quoted(&call.answers.join("\n"))),
        ]);
        vec![assistant, tool]
    }
}

/// The messages of the branch that is shown, in order.
fn shown<'t>(export: &Object<'t>, notes: &mut Notes) -> Vec<Object<'t>> {
    let mapping = export.get("mapping").and_then(Json::object).unwrap_or_default();
    let nodes: std::collections::HashMap<&str, Object<'t>> =
        mapping.fields().filter_map(|(name, node)| Some((name, node.object()?))).collect();
    let is_leaf = |node: &Object<'_>| {
        node.get("children").and_then(Json::list).is_none_or(|children| children.is_empty())
    };
    let current = export.str("current_node").filter(|node| nodes.contains_key(&**node));
    let mut next = current.or_else(|| {
        notes.say("the export does not say which branch is shown: the last one is taken");
        let is_last =
            |(_, node): &(&str, Json<'_>)| node.object().is_some_and(|node| is_leaf(&node));
        let leaves: Vec<&str> = mapping.fields().filter(is_last).map(|(name, _)| name).collect();
        leaves.last().map(|name| Cow::Owned((*name).to_owned()))
    });
    let mut messages = Vec::new();
    let mut seen = HashSet::new();
    while let Some(node) = next.as_deref().and_then(|name| nodes.get(name)) {
        if !seen.insert(next.clone()) {
            break;
        }
        messages.extend(node.get("message").and_then(Json::object));
        next = node.str("parent");
    }
    messages.reverse();
    messages
}

/// Content of a message.
struct Content {
    parts: Vec<Part>,
    /// Set for what the user told the service about themselves, beside the conversation.
    is_context: bool,
}

enum Part {
    Text(String),
    Image(String),
}

impl Content {
    /// The content of a message, if it says something to the model.
    fn read(message: &Object<'_>, notes: &mut Notes) -> Option<Self> {
        let content = message.get("content")?.object()?;
        let kind = content.str("content_type").unwrap_or_default();
        let fields = |names: &[&str]| {
            let texts = names.iter().filter_map(|name| content.str(name));
            let texts = texts.filter(|text| !text.trim().is_empty());
            texts.map(|text| Part::Text(text.into_owned())).collect::<Vec<Part>>()
        };
        let parts = match &*kind {
            "text" | "multimodal_text" => parts(&content, notes),
            "code" | "execution_output" | "computer_output" => fields(&["text"]),
            "system_error" => fields(&["name", "text"]),
            "tether_quote" => fields(&["title", "url", "text"]),
            "tether_browsing_display" => fields(&["result", "summary"]),
            "user_editable_context" => fields(&["user_profile", "user_instructions"]),
            "model_editable_context" => fields(&["model_set_context"]),
            "thoughts" | "reasoning_recap" => {
                notes.skip("a thought, which the model does not get again", None);
                return None;
            }
            other => {
                let known = fields(&["text"]);
                let known = if known.is_empty() { parts(&content, notes) } else { known };
                if known.is_empty() {
                    notes.skip(
                        format!("a message with content of the unknown type `{other}`"),
                        None,
                    );
                }
                known
            }
        };
        let is_context = kind == "user_editable_context";
        (!parts.is_empty()).then_some(Self { parts, is_context })
    }

    /// The texts, and images by their names.
    fn words(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(Part::words).collect();
        texts.join("\n")
    }

    fn write(&self) -> String {
        if self.parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return quoted(&self.words());
        }
        let block = |part: &Part| match part {
            Part::Text(text) => text_block(text),
            Part::Image(url) => object(&[
                ("type", quoted("image_url")),
                ("image_url", object(&[("url", quoted(url))])),
            ]),
        };
        list(&self.parts.iter().map(block).collect::<Vec<_>>())
    }
}

impl Part {
    fn words(&self) -> &str {
        match self {
            Self::Text(text) | Self::Image(text) => text,
        }
    }
}

fn parts(content: &Object<'_>, notes: &mut Notes) -> Vec<Part> {
    let mut found = Vec::new();
    for part in content.get("parts").and_then(Json::list).unwrap_or_default() {
        if let Some(text) = part.str() {
            if !text.trim().is_empty() {
                found.push(Part::Text(text.into_owned()));
            }
            continue;
        }
        let part = part.object().unwrap_or_default();
        let kind = part.str("content_type").unwrap_or_default();
        match (&*kind, part.str("asset_pointer"), part.str("text")) {
            ("image_asset_pointer", Some(pointer), _) => {
                found.push(Part::Image(pointer.into_owned()));
            }
            (_, _, Some(text)) => found.push(Part::Text(text.into_owned())),
            _ => notes.skip(format!("a part `{kind}`, which is not in an export"), None),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::{Format, Pick, Request, TranscriptKind};

    fn node(id: &str, parent: &str, role: &str, rest: &str, content: &str) -> String {
        format!(
            r#""{id}":{{"id":"{id}","parent":"{parent}","children":["?"],"message":{{"id":"m-{id}","author":{{"role":"{role}","name":"python"}},{rest}"content":{content}}}}}"#
        )
    }

    fn text(words: &str) -> String {
        format!(r#"{{"content_type":"text","parts":["{words}"]}}"#)
    }

    fn export(current: &str, nodes: &[String]) -> String {
        format!(
            r#"[{{"title":"A trip","id":"t","current_node":"{current}","default_model_slug":"gpt-4o","mapping":{{"root":{{"message":null,"parent":null,"children":[]}},{}}}}}]"#,
            nodes.join(",")
        )
    }

    #[track_caller]
    fn import(text: &str) -> (Vec<String>, Vec<String>) {
        assert_eq!(TranscriptKind::detect(text), Some(TranscriptKind::ChatGpt));
        let imported = TranscriptKind::ChatGpt.import(text, &Pick::Last).unwrap();
        let request = Request::parse(imported.text.as_str(), None).unwrap();
        assert_eq!((request.format(), request.model()), (Format::OpenAiChat, Some("gpt-4o")));
        assert_eq!(request.validate(), []);
        let lines = imported.text.lines().filter(|line| line.starts_with("  {"));
        (lines.map(|line| line.trim().trim_end_matches(',').to_owned()).collect(), imported.notes)
    }

    #[test]
    fn the_branch_that_is_shown_is_taken() {
        let nodes = [
            node("a", "root", "user", "", &text("Where?")),
            node("b", "a", "assistant", "", &text("There.")),
            node("c", "b", "user", "", &text("Edited away")),
            node("d", "b", "user", "", &text("And then?")),
            node("e", "d", "assistant", "", &text("Home.")),
        ];
        let (messages, notes) = import(&export("e", &nodes));
        assert_eq!(
            messages,
            [
                r#"{"role":"user","content":"Where?"}"#,
                r#"{"role":"assistant","content":"There."}"#,
                r#"{"role":"user","content":"And then?"}"#
            ]
        );
        assert_eq!(notes, ["the system prompt and the tool definitions are not in an export"]);
    }

    #[test]
    fn answers_of_tools_belong_to_the_call_before_them() {
        let code = r#"{"content_type":"code","text":"print(1)"}"#;
        let output =
            |text: &str| format!(r#"{{"content_type":"execution_output","text":"{text}"}}"#);
        let nodes = [
            node("a", "root", "tool", "", &text("from nowhere")),
            node("b", "a", "user", "", &text("Count")),
            node("c", "b", "assistant", r#""recipient":"python","#, code),
            node("d", "c", "tool", "", &output("1")),
            node("e", "d", "tool", "", &output("2")),
            node("f", "e", "assistant", r#""recipient":"bio","#, code),
            node("g", "f", "user", "", &text("Thanks")),
        ];
        let (messages, notes) = import(&export("g", &nodes));
        assert_eq!(
            messages,
            [
                r#"{"role":"system","content":"from nowhere"}"#,
                r#"{"role":"user","content":"Count"}"#,
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"m-c","type":"function","function":{"name":"python","arguments":"print(1)"}}]}"#,
                r#"{"role":"tool","tool_call_id":"m-c","content":"1\n2"}"#,
                r#"{"role":"assistant","content":"print(1)"}"#,
                r#"{"role":"user","content":"Thanks"}"#,
            ]
        );
        assert_eq!(notes.len(), 3, "{notes:?}");
    }

    #[test]
    fn pictures_thoughts_and_what_has_no_weight() {
        let picture = r#"{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"file-service://f"},"Look",{"content_type":"audio_asset_pointer"}]}"#;
        let nodes = [
            node(
                "a",
                "root",
                "user",
                "",
                r#"{"content_type":"user_editable_context","user_profile":"Ann","user_instructions":"brief"}"#,
            ),
            node("b", "a", "user", "", picture),
            node("c", "b", "assistant", "", r#"{"content_type":"thoughts","thoughts":[]}"#),
            node("d", "c", "user", r#""weight":0.0,"#, &text("forgotten")),
            node("e", "d", "user", "", r#"{"content_type":"riddle"}"#),
        ];
        let (messages, notes) =
            import(&export("gone", &nodes).replace(r#""children":["?"]"#, r#""children":[]"#));
        assert_eq!(
            messages,
            [
                r#"{"role":"system","content":"Ann\nbrief"}"#,
                r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"file-service://f"}},{"type":"text","text":"Look"}]}"#,
            ]
        );
        assert_eq!(
            notes,
            [
                "the export does not say which branch is shown: the last one is taken",
                "the system prompt and the tool definitions are not in an export",
                "skipped: a part `audio_asset_pointer`, which is not in an export",
                "skipped: a thought, which the model does not get again",
                "skipped: a message that the model no longer gets (weight 0)",
                "skipped: a message with content of the unknown type `riddle`",
            ]
        );
    }

    #[test]
    fn of_several_conversations_one_must_be_chosen() {
        let one = export("a", &[node("a", "root", "user", "", &text("Hi"))]);
        let two = format!(
            "[{},{}]",
            one.trim_matches(['[', ']']),
            one.trim_matches(['[', ']']).replace("A trip", "A cake")
        );
        let kind = TranscriptKind::ChatGpt;
        assert_eq!(
            kind.import(&two, &Pick::Last).unwrap_err().to_string(),
            "there are 2 conversations; choose one by its number, id or title"
        );
        assert!(kind.import(&two, &Pick::Named("a cake".into())).is_ok());
        let titles: Vec<String> =
            kind.list(&two).unwrap().into_iter().map(|one| one.title).collect();
        assert_eq!(titles, ["A trip", "A cake"]);
        let error = kind.import(&one[..40], &Pick::Last).unwrap_err();
        assert_eq!(error.to_string(), "line 1: the text ends too early; export it again");
    }
}
