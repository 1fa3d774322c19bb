//! Files that hold conversations and are no requests: transcripts of agents, exports, batches, lists of
//! resources. One file a kind.

mod batch;
mod chatgpt;
mod claude_code;
mod codex;
mod lines;
mod mcp;
mod notes;
mod write;

use std::fmt;
use std::str::FromStr;

use cupel_names::UnknownName;
use thiserror::Error;

use crate::json::{Json, Object};
use lines::records;
use notes::Notes;

/// Makes a kind of each row: its documentation, its variant, its name, what people call it, and what reads it.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $name:literal, $called:literal, $source:expr;)*) => {
        /// A kind of file that holds conversations and is no request.
        ///
        /// # Example
        ///
        /// ```
        /// use cupel_chat::TranscriptKind;
        ///
        /// let line = r#"{"custom_id": "a", "body": {"messages": []}}"#;
        /// assert_eq!(TranscriptKind::detect(line), Some(TranscriptKind::Batch));
        /// assert_eq!(TranscriptKind::detect(r#"{"messages": []}"#), None);
        /// assert_eq!("codex".parse(), Ok(TranscriptKind::Codex));
        /// ```
        #[non_exhaustive]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum TranscriptKind {
            $($(#[$doc])* $kind,)*
        }

        impl TranscriptKind {
            /// All kinds.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The name of the kind.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// The kind in words, as in `a transcript of Claude Code`.
            #[must_use]
            pub fn called(self) -> &'static str {
                match self {
                    $(Self::$kind => $called,)*
                }
            }

            fn source(self) -> &'static dyn Source {
                match self {
                    $(Self::$kind => &$source,)*
                }
            }
        }
    };
}

kinds! {
    /// Claude Code's transcripts, `~/.claude/projects/…/*.jsonl`.
    ClaudeCode = "claude-code", "a transcript of Claude Code", claude_code::ClaudeCode;
    /// Codex's rollouts, `~/.codex/sessions/…/rollout-*.jsonl`.
    Codex = "codex", "a rollout of Codex", codex::Codex;
    /// Exports of `ChatGPT`, `conversations.json`.
    ChatGpt = "chatgpt", "an export of ChatGPT", chatgpt::ChatGpt;
    /// Batch files: a request on each line, with an id of its own.
    Batch = "batch", "a batch of requests", batch::Batch;
    /// MCP resources: what `resources/list` and `resources/read` answer.
    McpResources = "mcp-resources", "a list of MCP resources", mcp::McpResources;
}

/// Knowledge of one kind of transcript.
trait Source: Sync {
    /// Returns true if a line is of this kind for sure.
    fn has_record(&self, _: &Object<'_>) -> bool {
        false
    }

    /// Returns true if a text that is one JSON value is of this kind for sure.
    fn is_whole(&self, _: Json<'_>) -> bool {
        false
    }

    /// The conversations of a file, in its order.
    fn open<'t>(
        &self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError>;

    /// Returns true if the last conversation is meant where nobody chooses one.
    fn takes_last(&self) -> bool {
        true
    }
}

/// Writes the last request of a conversation, and notes what is not in it.
type WriteRequest<'t> = dyn FnOnce(&mut Notes) -> Result<String, TranscriptError> + 't;

/// One conversation of a file, and how to write its last request.
struct Conversation<'t> {
    listed: ListedConversation,
    write: Box<WriteRequest<'t>>,
}

/// One conversation of a file, as [`TranscriptKind::list`] tells it.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedConversation {
    /// The line that it stands on, where each line has its own.
    pub line: Option<usize>,
    /// Its id in the file.
    pub id: String,
    /// Its title, or how it begins.
    pub title: String,
    /// Number of messages it has, where that is known without writing it.
    pub messages: Option<usize>,
}

/// Which conversation of a file is meant.
#[non_exhaustive]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Pick {
    /// The last one; of an export, the only one.
    #[default]
    Last,
    /// The one that stands on this line, from 1.
    Line(usize),
    /// The one with this number in the list, from 1, this id, or this title.
    Named(String),
}

/// The last request of a conversation that is no request itself.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedRequest {
    /// The kind of file that it comes from.
    pub kind: TranscriptKind,
    /// The request, as JSON.
    pub text: String,
    /// Notes about records that were left out, or that are not as they were sent.
    pub notes: Vec<String>,
}

/// Why no request can be read from a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{problem}; {remedy}", at(*line))]
pub struct TranscriptError {
    line: Option<usize>,
    problem: String,
    remedy: String,
}

fn at(line: Option<usize>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

impl TranscriptError {
    /// A stable name of what went wrong: `unreadable-transcript`.
    pub const CODE: &'static str = "unreadable-transcript";

    fn new(problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { line: None, problem: problem.into(), remedy: remedy.into() }
    }

    fn on(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The line of the place, from 1, where there is one.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Problem, without the place and the remedy.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The remedy.
    #[must_use]
    pub fn remedy(&self) -> &str {
        &self.remedy
    }
}

impl TranscriptKind {
    /// The kind of a text, if it is one of them for sure. A request is none.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        /// Number of lines that are looked at: agents begin their files with records of many types.
        const SAMPLE: usize = 64;
        let text = text.trim_start_matches('\u{feff}').trim();
        let first = text.lines().next().unwrap_or_default();
        if !first.starts_with(['{', '[']) {
            return None;
        }
        let has = |record: &Object<'_>| {
            Self::ALL.into_iter().find(|kind| kind.source().has_record(record))
        };
        let is_object = |line: &str| Json::parse(line).ok().is_some_and(Json::is_object);
        if is_object(first) {
            let mut sample = records(text).take(SAMPLE).filter_map(|(_, read)| read.ok());
            let found = sample.find_map(|json| has(&json.object()?));
            if found.is_some() || text.lines().nth(1).is_some() {
                return found.or_else(|| Self::detect_lines(text));
            }
        }
        let whole = Json::parse(text).ok()?;
        Self::ALL.into_iter().find(|kind| kind.source().is_whole(whole))
    }

    /// Several values of a kind that is mostly one, as answers of a server that were appended to a file.
    fn detect_lines(text: &str) -> Option<Self> {
        let (_, first) = records(text).next()?;
        let first = first.ok()?;
        Self::ALL.into_iter().find(|kind| kind.source().is_whole(first))
    }

    /// The conversations of a text of this kind.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn list(self, text: &str) -> Result<Vec<ListedConversation>, TranscriptError> {
        let conversations = self.open(text, &mut Notes::default())?;
        Ok(conversations.into_iter().map(|conversation| conversation.listed).collect())
    }

    /// The last request of a conversation in a text of this kind: what the model was sent before its last
    /// answer, as far as the file tells.
    ///
    /// ```
    /// use cupel_chat::{Pick, TranscriptKind};
    ///
    /// let text = "{\"custom_id\":\"a\",\"body\":{\"model\":\"gpt-4o\",\"messages\":[]}}\n\
    ///             {\"custom_id\":\"b\",\"body\":{\"model\":\"gpt-5\",\"messages\":[]}}\n";
    /// let imported = TranscriptKind::Batch.import(text, &Pick::Last)?;
    /// assert_eq!(imported.text, r#"{"model":"gpt-5","messages":[]}"#);
    /// let imported = TranscriptKind::Batch.import(text, &Pick::Named("a".into()))?;
    /// assert_eq!(imported.text, r#"{"model":"gpt-4o","messages":[]}"#);
    /// # Ok::<(), cupel_chat::TranscriptError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no request in it, or not the one that was asked for.
    pub fn import(self, text: &str, pick: &Pick) -> Result<ImportedRequest, TranscriptError> {
        let mut notes = Notes::default();
        let mut conversations = self.open(text, &mut notes)?;
        let at = self.position(&conversations, pick)?;
        let conversation = conversations.swap_remove(at);
        drop(conversations);
        let text = (conversation.write)(&mut notes)?;
        Ok(ImportedRequest { kind: self, text, notes: notes.finish() })
    }

    fn open<'t>(
        self,
        text: &'t str,
        notes: &mut Notes,
    ) -> Result<Vec<Conversation<'t>>, TranscriptError> {
        let text = text.trim_start_matches('\u{feff}');
        let conversations = self.source().open(text, notes)?;
        if conversations.is_empty() {
            let problem = format!("as {}, it has no conversation", self.called());
            return Err(TranscriptError::new(problem, "give another file, or name its kind"));
        }
        Ok(conversations)
    }

    fn position(
        self,
        conversations: &[Conversation<'_>],
        pick: &Pick,
    ) -> Result<usize, TranscriptError> {
        let listed = || conversations.iter().map(|conversation| &conversation.listed);
        match pick {
            Pick::Last if conversations.len() == 1 || self.source().takes_last() => {
                Ok(conversations.len() - 1)
            }
            Pick::Last => {
                let problem = format!("there are {} conversations", conversations.len());
                Err(TranscriptError::new(problem, "choose one by its number, id or title"))
            }
            Pick::Line(line) => {
                let position = listed().position(|listed| listed.line == Some(*line));
                position.ok_or_else(|| {
                    let problem = format!("line {line} has no request");
                    let count = conversations.len();
                    TranscriptError::new(problem, format!("choose one of the {count} requests"))
                })
            }
            Pick::Named(name) => {
                let position = named(&listed().collect::<Vec<_>>(), name);
                position.map_err(|problem| {
                    TranscriptError::new(problem, "choose one by its number, id or title")
                })
            }
        }
    }

    /// All names, as people list them.
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

/// The one that a name means: an id, a title, a number, or the beginning of an id.
fn named(listed: &[&ListedConversation], name: &str) -> Result<usize, String> {
    let only = |matches: &dyn Fn(&ListedConversation) -> bool| {
        let mut found = (0..listed.len()).filter(|at| matches(listed[*at]));
        found.next().map(|at| (at, found.count() + 1))
    };
    /// Ids are long; this much of one tells it.
    const BEGINNING: usize = 4;
    let by_id = only(&|listed| listed.id == name);
    let by_title = || only(&|listed| listed.title.eq_ignore_ascii_case(name));
    let by_number = || {
        let number = name.parse::<usize>().ok()?.checked_sub(1)?;
        (number < listed.len()).then_some((number, 1))
    };
    let by_beginning = || only(&|listed| name.len() >= BEGINNING && listed.id.starts_with(name));
    match by_id.or_else(by_title).or_else(by_number).or_else(by_beginning) {
        Some((at, 1)) => Ok(at),
        Some((_, many)) => Err(format!("{many} conversations are called `{name}`")),
        None => Err(format!("none of {} conversations is called `{name}`", listed.len())),
    }
}

impl fmt::Display for TranscriptKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no kind of transcript has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown kind `{name}`; {hint}")]
pub struct UnknownTranscriptKind {
    name: String,
    hint: String,
}

impl FromStr for TranscriptKind {
    type Err = UnknownTranscriptKind;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(kind);
        }
        let hint = UnknownName::new("kind", name, Self::ALL.map(Self::name)).hint();
        Err(UnknownTranscriptKind { name: name.to_owned(), hint })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_a_near_one_is_suggested() {
        for kind in TranscriptKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert_eq!(
            "claudecode".parse::<TranscriptKind>().unwrap_err().to_string(),
            "unknown kind `claudecode`; did you mean `claude-code`?"
        );
    }

    #[test]
    fn requests_and_items_are_no_transcripts() {
        for text in [
            "",
            "nonsense",
            r#"{"model":"gpt-4o","messages":[{"role":"user","content":"x"}]}"#,
            r#"{"contents":[{"parts":[{"text":"x"}]}]}"#,
            r#"[{"role":"user","content":"x"}]"#,
            "{\"content\":\"a\"}\n{\"content\":\"b\"}",
            "{\n \"messages\": []\n}",
            "{\"messages\":[]}\n{\"messages\":[]}",
        ] {
            assert_eq!(TranscriptKind::detect(text), None, "{text}");
        }
    }

    #[test]
    fn a_conversation_is_chosen_by_id_title_number_or_beginning() {
        let listed = |id: &str, title: &str| ListedConversation {
            line: None,
            id: id.into(),
            title: title.into(),
            messages: None,
        };
        let all = [listed("abcd-1", "Trip"), listed("efgh-2", "Cake"), listed("efgi-3", "cake")];
        let all: Vec<&ListedConversation> = all.iter().collect();
        assert_eq!(named(&all, "efgh-2"), Ok(1));
        assert_eq!(named(&all, "trip"), Ok(0));
        assert_eq!(named(&all, "3"), Ok(2));
        assert_eq!(named(&all, "abcd"), Ok(0));
        assert_eq!(named(&all, "Cake").unwrap_err(), "2 conversations are called `Cake`");
        assert_eq!(named(&all, "4").unwrap_err(), "none of 3 conversations is called `4`");
        assert_eq!(named(&all, "0").unwrap_err(), "none of 3 conversations is called `0`");
    }
}
