//! Messages that are in or out as a whole, as data.

use cupel_chat::{Bundle, Candidates, PinReason, Repair, Violation};
use cupel_names::{excerpt, letters};
use serde::{Deserialize, Serialize};

/// Enough to recognise a text by, on any screen.
const LONGEST_EXCERPT: usize = 241;

/// Messages that are in or out together, or a part of the request that is always in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Part {
    /// Its position among the candidates.
    pub position: usize,
    /// Where it is in the request, as in `messages[3..6]` or `tools`.
    pub path: String,
    /// Description, as in `assistant, 2 tool results`.
    pub what: String,
    /// The indices of its messages in the request's own list; none for a fixed part.
    pub messages: Vec<usize>,
    /// Its kind, as in `ToolOutput`.
    pub kind: String,
    /// Tokens of the part.
    pub tokens: i64,
    /// Why it is always in, if it is, as in `last user turn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<String>,
    /// Beginning of the text, on one line.
    pub excerpt: String,
}

impl Part {
    pub(crate) fn of(candidates: &Candidates, position: usize) -> Self {
        let (bundle, item) = (candidates.bundle(position), &candidates.items()[position]);
        Self {
            position,
            path: bundle.path().to_owned(),
            what: bundle.summary().to_owned(),
            messages: bundle.message_indices().to_vec(),
            kind: item.kind().as_str().to_owned(),
            tokens: item.tokens(),
            pinned: pinned(bundle, item.pinned()),
            excerpt: excerpt(item.content(), LONGEST_EXCERPT, letters),
        }
    }

    /// Path and nature in one, as in `messages[3..6]: assistant, 2 tool results`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}: {}", self.path, self.what)
    }
}

fn pinned(bundle: &Bundle, is_pinned: bool) -> Option<String> {
    is_pinned.then(|| bundle.pin_reason().map_or("pinned".into(), PinReason::text).into_owned())
}

/// A rule of the provider that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleBroken {
    /// Where, as in `messages[4]`; empty for the whole request.
    pub path: String,
    /// A stable name of the rule, as in `orphan-result`.
    pub rule: String,
    /// Text of the violation.
    pub text: String,
    /// Remedy: what to do about it.
    pub remedy: String,
}

impl From<Violation> for RuleBroken {
    fn from(violation: Violation) -> Self {
        let Violation { path, rule, text, remedy, .. } = violation;
        Self { path, rule: rule.to_owned(), text, remedy }
    }
}

impl std::fmt::Display for RuleBroken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        write!(f, "{}; {}", self.text, self.remedy)
    }
}

/// Something that was done to a request, to repair it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RepairDone {
    /// Where, in the request as it was.
    pub path: String,
    /// Change, as in `dropped messages[3]`.
    pub action: String,
    /// The rule that asked for it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// True if something that was said, called or answered is gone.
    #[serde(default)]
    pub is_loss: bool,
}

impl From<Repair> for RepairDone {
    fn from(repair: Repair) -> Self {
        let Repair { path, action, rule, reason, is_loss, .. } = repair;
        Self { path, action, rule: rule.to_owned(), reason, is_loss }
    }
}

impl std::fmt::Display for RepairDone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.action, self.reason)
    }
}

/// Something that did not compete, since something newer makes it superfluous.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Outdated {
    /// Message that was dropped.
    pub older: String,
    /// Message that stands for it.
    pub newer: String,
    /// The messages that were dropped.
    pub messages: Vec<usize>,
    /// Why, in a few words.
    pub why: String,
}

impl std::fmt::Display for Outdated {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "dropped {}: {} in {}", self.older, self.why, self.newer)
    }
}
