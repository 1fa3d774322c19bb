//! Rules of providers that a request breaks.

use std::fmt;

/// A rule of the provider that a request breaks.
///
/// # Example
///
/// ```
/// use cupel_chat::Request;
///
/// let text = r#"{"messages": [{"role": "tool", "tool_call_id": "c1", "content": "42"}]}"#;
/// let violations = Request::parse(text, None)?.validate();
/// assert_eq!(violations[0].rule, "orphan-result");
/// assert_eq!(
///     violations[0].to_string(),
///     "messages[0]: the result of `c1` has no call before it; remove it, or put its call back"
/// );
/// # Ok::<(), cupel_chat::ChatError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// Where, as in `messages[4]`; empty for the whole request.
    pub path: String,
    /// A stable name of the rule, as in `orphan-result`.
    pub rule: &'static str,
    /// Text of the violation.
    pub text: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}; {}", self.text, self.remedy)
    }
}

/// A violation, and what repairs it: whoever finds the one knows the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) violation: Violation,
    pub(crate) fix: Fix,
}

/// Repair of a violation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fix {
    /// Only its author can.
    ByHand,
    /// Drops a message.
    Drop(usize),
    /// Drops several messages.
    DropAll(Vec<usize>),
    /// Drops blocks of a message; the message itself if nothing is left of it.
    DropBlocks(usize, Vec<usize>),
    /// Puts the blocks of a message into another order.
    ReorderBlocks(usize, Vec<usize>),
    /// Gives a call of a message, by its place there, an id that its answer has too.
    NameCall(usize, usize),
    /// Gives an answer of a message the id of its call.
    NameAnswer(usize, usize),
    /// Moves a message behind another one and what was moved there before.
    MoveBehind { message: usize, target: usize },
}

impl Fix {
    /// Drops a block of a message, or the message if what is wrong is not one of its blocks.
    pub(crate) fn remove(message: usize, block: Option<usize>) -> Self {
        block.map_or(Self::Drop(message), |block| Self::DropBlocks(message, vec![block]))
    }
}

impl Finding {
    pub(crate) fn new(
        path: impl Into<String>,
        rule: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        let violation =
            Violation { path: path.into(), rule, text: text.into(), remedy: remedy.into() };
        Self { violation, fix: Fix::ByHand }
    }

    /// The same, repaired like this.
    pub(crate) fn fixed_by(mut self, fix: Fix) -> Self {
        self.fix = fix;
        self
    }
}
