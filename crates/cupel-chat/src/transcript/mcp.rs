//! MCP resources: what a server answers to `resources/list` and `resources/read`, alone, in a JSON-RPC message,
//! or several of them in a list or on lines. They become items; annotations stay as they are.

use std::borrow::Cow;
use std::collections::HashMap;

use super::lines::objects;
use super::notes::Notes;
use super::write::{object, quoted};
use super::{Conversation, ListedConversation, Source, TranscriptError};
use crate::file::decode_text;
use crate::json::{Json, Object};

pub(super) struct McpResources;

impl Source for McpResources {
    fn is_whole(&self, json: Json<'_>) -> bool {
        let first = match json.list() {
            Some(list) => list.first().copied(),
            None => Some(json),
        };
        first.and_then(Json::object).is_some_and(|first| resources(&first).is_some())
    }

    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let answers = match Json::parse(text) {
            Ok(whole) => whole.list().unwrap_or_else(|| vec![whole]),
            Err(_) => objects(text, notes).into_iter().map(|line| line.json).collect(),
        };
        let mut shelf = Shelf::default();
        for (at, answer) in answers.into_iter().filter_map(Json::object).enumerate() {
            match resources(&answer) {
                Some(found) => shelf.take_in(found),
                None => notes.skip("an answer without resources", Some(at + 1)),
            }
        }
        let listed = ListedConversation {
            line: None,
            id: String::new(),
            title: "resources".to_owned(),
            messages: Some(shelf.resources.len()),
        };
        let write = Box::new(move |notes: &mut Notes| shelf.write(notes));
        Ok(vec![Conversation { listed, write }])
    }
}

/// The resources of an answer, listed or read.
fn resources<'t>(answer: &Object<'t>) -> Option<Vec<Object<'t>>> {
    let inner = answer.get("result").and_then(Json::object);
    let answer = inner.as_ref().unwrap_or(answer);
    let (_, list) = answer.any_of(&["resources", "contents"])?;
    let found: Vec<Object<'t>> = list.list()?.into_iter().filter_map(Json::object).collect();
    found.first().is_some_and(|first| first.has("uri")).then_some(found)
}

/// Resources by their URI, in the order in which they came first.
#[derive(Default)]
struct Shelf<'t> {
    resources: Vec<Resource<'t>>,
    by_uri: HashMap<Cow<'t, str>, usize>,
}

#[derive(Default)]
struct Resource<'t> {
    uri: Cow<'t, str>,
    /// Entry of a list about it.
    about: Option<Object<'t>>,
    /// Its own contents; of several parts, all.
    contents: Vec<Object<'t>>,
}

impl<'t> Shelf<'t> {
    fn take_in(&mut self, found: Vec<Object<'t>>) {
        for object in found {
            let uri = object.str("uri").unwrap_or_default();
            let at = *self.by_uri.entry(uri.clone()).or_insert_with(|| {
                self.resources.push(Resource { uri, ..Resource::default() });
                self.resources.len() - 1
            });
            let resource = &mut self.resources[at];
            if object.has("text") || object.has("blob") {
                resource.contents.push(object);
            } else {
                resource.about = Some(object);
            }
        }
    }

    fn write(self, notes: &mut Notes) -> Result<String, TranscriptError> {
        let are_read = self.resources.iter().any(|resource| !resource.contents.is_empty());
        if !are_read {
            notes.say("no resource was read: each item is what the list says of it");
        }
        let items: Vec<String> =
            self.resources.iter().filter_map(|resource| resource.item(are_read, notes)).collect();
        if items.is_empty() {
            let problem = "no resource has a text";
            return Err(TranscriptError::new(problem, "give what `resources/read` answers"));
        }
        Ok(format!("{{\"items\": [\n  {}\n ]}}\n", items.join(",\n  ")))
    }
}

impl<'t> Resource<'t> {
    fn item(&self, are_read: bool, notes: &mut Notes) -> Option<String> {
        if are_read && self.contents.is_empty() {
            notes.skip("a resource that is listed and was not read", None);
            return None;
        }
        let texts: Vec<Cow<'t, str>> =
            self.contents.iter().filter_map(|content| text_of(content, notes)).collect();
        let text = if are_read { texts.join("\n") } else { self.description() };
        if text.trim().is_empty() {
            return None;
        }
        let fields = |name: &str| {
            let own = self.contents.iter().chain(&self.about);
            own.filter_map(|object| object.get(name)).map(|value| value.raw().to_owned()).next()
        };
        let mut item = vec![
            ("content", quoted(&text)),
            ("kind", quoted("Document")),
            ("uri", quoted(&self.uri)),
        ];
        for name in ["name", "title", "mimeType", "annotations"] {
            item.extend(fields(name).map(|value| (name, value)));
        }
        Some(object(&item))
    }

    /// Title or name, description and URI.
    fn description(&self) -> String {
        let about = self.about.clone().unwrap_or_default();
        let title = about.str("title").or_else(|| about.str("name"));
        let parts = [title, about.str("description"), Some(self.uri.clone())];
        let parts: Vec<Cow<'t, str>> = parts.into_iter().flatten().collect();
        parts.join("\n")
    }
}

/// The text of a part: its own, or that of bytes that are a text.
fn text_of<'t>(content: &Object<'t>, notes: &mut Notes) -> Option<Cow<'t, str>> {
    let kind = content.str("mimeType").unwrap_or_default();
    let text = content.str("text").or_else(|| {
        let is_text = kind.starts_with("text/") || kind.ends_with("json") || kind.ends_with("xml");
        let blob = content.str("blob").filter(|_| is_text)?;
        decode_text(&blob).map(Cow::Owned)
    });
    if text.is_none() {
        notes.skip(format!("a resource of the type `{kind}`, which is no text"), None);
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::testing::Words;
    use crate::{CandidateOptions, Format, Pick, Request, TranscriptKind};

    const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resources":[
        {"uri":"file:///a.md","name":"a","description":"About a","annotations":{"audience":["user"],"priority":1,"lastModified":"2025-01-12T15:00:58Z"}},
        {"uri":"file:///b.png","name":"b"}]}}"#;

    #[track_caller]
    fn import(text: &str) -> (Request, Vec<String>) {
        assert_eq!(TranscriptKind::detect(text), Some(TranscriptKind::McpResources));
        let imported = TranscriptKind::McpResources.import(text, &Pick::Last).unwrap();
        let request = Request::parse(imported.text.as_str(), None).unwrap();
        assert_eq!(request.format(), Format::Items);
        (request, imported.notes)
    }

    #[test]
    fn annotations_become_priority_tags_time_and_a_pin() {
        let (request, notes) = import(LISTED);
        assert_eq!(notes, ["no resource was read: each item is what the list says of it"]);
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        let [first, second] = candidates.items() else { panic!("two items") };
        assert_eq!(first.content(), "a\nAbout a\nfile:///a.md");
        assert_eq!((first.priority(), first.pinned()), (Some(100), true));
        assert_eq!(first.tags(), ["audience:user"]);
        assert_eq!(
            first.timestamp().map(|time| time.to_rfc3339()).as_deref(),
            Some("2025-01-12T15:00:58+00:00")
        );
        assert!(!second.pinned());
    }

    #[test]
    fn what_was_read_has_the_annotations_of_its_list() {
        let read = r#"{"contents":[{"uri":"file:///a.md","text":"All of a"},{"uri":"x:c","mimeType":"text/plain","blob":"aGkgdGhlcmU="},{"uri":"x:d","mimeType":"image/png","blob":"aGk="}]}"#;
        let (request, notes) = import(&format!("{}\n{read}", LISTED.replace('\n', "")));
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        let texts: Vec<&str> = candidates.items().iter().map(cupel::ContextItem::content).collect();
        assert_eq!(texts, ["All of a", "hi there"]);
        assert!(candidates.items()[0].pinned());
        assert_eq!(
            notes,
            [
                "skipped: a resource that is listed and was not read",
                "skipped: a resource of the type `image/png`, which is no text"
            ]
        );
        let binary = r#"{"contents":[{"uri":"x:d","mimeType":"image/png","blob":"aGk="}]}"#;
        let error = TranscriptKind::McpResources.import(binary, &Pick::Last).unwrap_err();
        assert_eq!(error.problem(), "no resource has a text");
    }
}
