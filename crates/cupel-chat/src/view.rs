//! Messages of a request as texts, for searches.

use crate::Request;
use crate::derive::content;
use crate::message::Message;

/// A message of a [`Request`], whatever its format.
#[derive(Clone, Copy)]
pub struct MessageView<'r>(&'r Message);

impl Request {
    /// Its messages, in order.
    ///
    /// ```
    /// use cupel_chat::Request;
    ///
    /// let text = r#"[{"role": "user", "content": "List it."}, {"role": "assistant", "tool_calls": [
    ///     {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}]"#;
    /// let request = Request::parse(text, None)?;
    /// let texts: Vec<String> = request.messages().map(|message| message.text()).collect();
    /// assert_eq!(texts, ["List it.", "ls {}"]);
    /// assert!(request.messages().any(|message| message.calls().eq([("ls", "{}")])));
    /// # Ok::<(), cupel_chat::ChatError>(())
    /// ```
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = MessageView<'_>> + ExactSizeIterator {
        self.conversation().messages.iter().map(MessageView)
    }
}

impl<'r> MessageView<'r> {
    /// Role of the speaker: `system`, `user`, `assistant`, `tool` or `unknown`.
    #[must_use]
    pub fn role(self) -> &'static str {
        self.0.role.name()
    }

    /// Text that the model reads in it, line by line; calls as name and arguments.
    #[must_use]
    pub fn text(self) -> String {
        match &self.0.item {
            Some(item) => item.content().to_owned(),
            None => content(std::iter::once(self.0)),
        }
    }

    /// The calls that it makes: name and arguments.
    pub fn calls(self) -> impl Iterator<Item = (&'r str, &'r str)> {
        self.0.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str()))
    }
}

impl std::fmt::Debug for MessageView<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageView").field("role", &self.role()).finish_non_exhaustive()
    }
}
