//! A request, read.

use std::fmt;
use std::sync::Arc;

use cupel_tokens::TokenCounter;

use crate::again::Earlier;
use crate::assemble::assemble;
use crate::conversation::Conversation;
use crate::detect::detect;
use crate::document::Document;
use crate::json::Json;
use crate::message::Message;
use crate::render::Splice;
use crate::repair::{self, Repair, RepairMode};
use crate::validate::Finding;
use crate::{CandidateOptions, Candidates, ChatError, Format, Rule, Statement, Violation};

/// A request, read but not copied: it shares its text.
///
/// It is its own: no lifetime ties it to the text that it was read from, it goes from thread to
/// thread, and a clone costs nothing worth speaking of. An `Arc<str>` is taken as it is; other texts
/// are copied once.
///
/// # Example
///
/// ```
/// use cupel_chat::{Format, Request};
///
/// let text = r#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "Hello"}]}"#;
/// let request = Request::parse(text, None)?;
/// assert_eq!(request.format(), Format::OpenAiChat);
/// assert_eq!(request.model(), Some("gpt-4o"));
/// assert_eq!(request.query().as_deref(), Some("Hello"));
/// assert!(request.validate().is_empty());
/// # Ok::<(), cupel_chat::ChatError>(())
/// ```
#[derive(Clone)]
pub struct Request {
    text: Arc<str>,
    format: Format,
    conversation: Arc<Conversation>,
}

impl Request {
    /// Reads a request of the given format, or of the one that it looks like.
    ///
    /// # Errors
    ///
    /// [`ChatError::Malformed`] if the text is not JSON or not of the shape that the format asks
    /// for, [`ChatError::UnknownFormat`] if no format is given and none is recognised. Rules that
    /// the request breaks are found by [`validate`](Self::validate).
    pub fn parse(text: impl Into<Arc<str>>, format: Option<Format>) -> Result<Self, ChatError> {
        Self::read(text.into(), format, None)
    }

    /// The same, for whoever has an earlier request of the conversation at hand: a message that stands
    /// in the same place as it is written there is not read again.
    ///
    /// ```
    /// use cupel_chat::Request;
    ///
    /// let first = Request::parse(r#"[{"role": "user", "content": "Hi"}]"#, None)?;
    /// let text = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]"#;
    /// let second = Request::parse_after(text, None, &first)?;
    /// assert_eq!(second.message_count(), 2);
    /// assert_eq!(second.query().as_deref(), Some("Hi"));
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_after(
        text: impl Into<Arc<str>>,
        format: Option<Format>,
        earlier: &Self,
    ) -> Result<Self, ChatError> {
        Self::read(text.into(), format, Some(earlier))
    }

    fn read(
        text: Arc<str>,
        format: Option<Format>,
        earlier: Option<&Self>,
    ) -> Result<Self, ChatError> {
        let mut document = Document::parse_shared(&text)?;
        let format = match format {
            Some(format) => format,
            None => detect(&document)?,
        };
        let earlier = earlier.filter(|earlier| earlier.format == format);
        document.earlier = earlier.map(|request| Earlier { request, text: &text });
        let conversation = Arc::new(format.dialect().read(&document)?);
        Ok(Self { text, format, conversation })
    }

    /// The format that it was read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Number of messages; of items, if it is a list of items.
    pub fn message_count(&self) -> usize {
        self.conversation.messages.len()
    }

    /// The model that it names.
    pub fn model(&self) -> Option<&str> {
        self.conversation.model.as_deref()
    }

    /// Number of tokens it lets the answer have.
    pub fn output_limit(&self) -> Option<i64> {
        self.conversation.output_limit
    }

    /// The index of the message in which the user last said something in words, however far back.
    /// A tool's answer is not the user's message.
    ///
    /// Of items, the last one that is tagged `role:user`.
    pub fn last_user_message(&self) -> Option<usize> {
        self.conversation.messages.iter().rposition(|message| message.user_words().is_some())
    }

    /// Last words of the user, and nothing else: the query that the window is for.
    ///
    /// However much an agent has done since, none of it speaks for the user; and neither do results
    /// of tools or documents that stand in the same message, unless there is nothing else in it.
    pub fn query(&self) -> Option<String> {
        self.conversation.messages.iter().rev().find_map(Message::user_words)
    }

    /// Returns who states which of these standing rules: parts that are always in, then messages of the system and
    /// the user, in their order.
    pub fn statements(&self, rules: &[Rule]) -> Vec<Statement> {
        self.conversation.statements(rules)
    }

    /// The rules of its provider that it breaks, in the order of the request.
    pub fn validate(&self) -> Vec<Violation> {
        self.findings().into_iter().map(|finding| finding.violation).collect()
    }

    /// The request, repaired as far as the mode allows, and what was done to it.
    ///
    /// Results that stand elsewhere move behind their call; calls and results without an id, or with one that
    /// nothing else has, are paired by order and name. With [`RepairMode::Drop`], results without a call,
    /// calls without a result and what may not stand at the beginning go. What the text still breaks, a
    /// new [`validate`](Self::validate) tells.
    pub fn repair(&self, mode: RepairMode) -> (String, Vec<Repair>) {
        repair::repair(self, mode)
    }

    /// The request as candidates for a pipeline.
    ///
    /// # Errors
    ///
    /// [`ChatError::Invalid`] if the request breaks rules of its provider, and
    /// [`ChatError::Pin`] if a pin matches no message.
    pub fn candidates(
        &self,
        counter: &dyn TokenCounter,
        options: &CandidateOptions,
    ) -> Result<Candidates, ChatError> {
        self.candidates_from(counter, options, None)
    }

    /// The same, for whoever has the candidates of an earlier request at hand, made with the same
    /// counter: those that are the same are not made and not counted again, and their items are the
    /// [same](cupel::ContextItem::is_same_item).
    ///
    /// # Errors
    ///
    /// As [`candidates`](Self::candidates).
    pub fn candidates_after(
        &self,
        counter: &dyn TokenCounter,
        options: &CandidateOptions,
        earlier: &Candidates,
    ) -> Result<Candidates, ChatError> {
        self.candidates_from(counter, options, Some(earlier))
    }

    fn candidates_from(
        &self,
        counter: &dyn TokenCounter,
        options: &CandidateOptions,
        earlier: Option<&Candidates>,
    ) -> Result<Candidates, ChatError> {
        let mut violations = self.validate();
        if options.lacks_thinking {
            violations.retain(|violation| violation.rule != "missing-thinking");
        }
        if !violations.is_empty() {
            return Err(ChatError::Invalid { violations });
        }
        assemble(self, counter, options, earlier)
    }

    pub(crate) fn findings(&self) -> Vec<Finding> {
        let conversation = &self.conversation;
        let mut findings = conversation.flaws.clone();
        if conversation.messages.is_empty() && !self.format.has_free_order() {
            let text = "the request has no messages";
            let path = conversation.list.clone();
            findings.push(Finding::new(path, "no-messages", text, "add a message of the user"));
        }
        for message in &conversation.messages {
            findings.extend(message.flaws.iter().cloned());
        }
        self.format.dialect().check(conversation, &mut findings);
        findings.sort_by_key(|finding| conversation.index_in(&finding.violation.path));
        findings
    }

    pub(crate) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The text that it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same, to hold on to without the request.
    pub fn shared_text(&self) -> Arc<str> {
        self.text.clone()
    }

    /// A field that stands beside the messages, as it is written: for whoever needs one that no format reads.
    ///
    /// ```
    /// use cupel_chat::Request;
    ///
    /// let text = r#"{"messages": [{"role": "user", "content": "Hi"}], "session": {"id": "a"}}"#;
    /// let request = Request::parse(text, None)?;
    /// assert_eq!(request.field("session"), Some(r#"{"id": "a"}"#));
    /// assert_eq!(request.field("id"), None);
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    pub fn field(&self, name: &str) -> Option<&str> {
        let text = self.text.strip_prefix('\u{feff}').unwrap_or(&self.text);
        Json::known(None, text.trim()).object()?.get(name).map(Json::raw)
    }

    /// The text, cut at its messages.
    pub(crate) fn splice(&self) -> Splice<'_> {
        let messages = self.conversation.messages.iter();
        Splice::new(&self.text, messages.map(|message| message.json.range_in(&self.text)).collect())
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("format", &self.format)
            .field("message_count", &self.message_count())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use crate::Format;
    use crate::testing::read;

    #[test]
    fn the_question_is_what_the_user_said_last_however_far_back() {
        let text = r#"[{"role":"user","content":"first"},{"role":"assistant","content":"a"},
            {"role":"user","content":[{"type":"text","text":"why?"},{"type":"file","file":{"file_data":"data:text/plain,long"}}]},
            {"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f","arguments":"because"}}]},
            {"role":"tool","tool_call_id":"1","content":"tool output"},
            {"role":"assistant","content":"I see."}]"#;
        let request = read(text, Format::OpenAiChat);
        assert_eq!(request.query().as_deref(), Some("why?"));
        assert_eq!(request.last_user_message(), Some(2));
    }

    #[test]
    fn results_and_unknown_fields_are_not_the_users_words() {
        let text = r#"[{"role":"user","content":"why?"},
            {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},
            {"role":"user","note":"x","content":[{"type":"tool_result","tool_use_id":"a","content":"tool output"}]}]"#;
        let request = read(text, Format::Anthropic);
        assert_eq!(
            (request.query().as_deref(), request.last_user_message()),
            (Some("why?"), Some(0))
        );
    }

    #[test]
    fn where_the_user_only_shows_something_the_words_before_count() {
        let text = r#"[{"role":"user","content":"what is this?"},
            {"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org"}}]}]"#;
        assert_eq!(read(text, Format::OpenAiChat).query().as_deref(), Some("what is this?"));
        assert_eq!(
            read(r#"[{"role":"assistant","content":"a"}]"#, Format::OpenAiChat).query(),
            None
        );
    }
}
