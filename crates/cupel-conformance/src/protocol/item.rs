//! Items and budgets as requests carry them: what the vector does not say is absent.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::number;

/// A candidate. Its identity is its position in the request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The text.
    pub content: String,
    /// Token count.
    pub tokens: i64,
    /// Kind; `Message` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Origin; `Chat` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Importance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Metadata.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// When the item was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<DateTime<Utc>>,
    /// The caller's own relevance estimate.
    #[serde(default, with = "number::optional", skip_serializing_if = "Option::is_none")]
    pub future_relevance_hint: Option<f64>,
    /// True if the item is always in the output; `false` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// Token count before some earlier shortening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original_tokens: Option<i64>,
}

impl Item {
    /// An item of which nothing but text and tokens is said.
    pub fn new(content: impl Into<String>, tokens: i64) -> Self {
        Self { content: content.into(), tokens, ..Self::default() }
    }

    /// Its kind, said or not.
    pub fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or("Message")
    }

    /// Returns true if it is always in the output.
    pub fn is_pinned(&self) -> bool {
        self.pinned.unwrap_or(false)
    }
}

/// A budget.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Hard ceiling.
    pub max_tokens: i64,
    /// Tokens that the selection aims at.
    pub target_tokens: i64,
    /// Tokens kept for the model's answer; 0 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_reserve: Option<i64>,
    /// Tokens set aside per kind.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reserved_slots: BTreeMap<String, i64>,
    /// Percentage taken off the effective budget; 0.0 if absent.
    #[serde(default, with = "number::optional", skip_serializing_if = "Option::is_none")]
    pub estimation_safety_margin_percent: Option<f64>,
}

impl Budget {
    /// A budget whose maximum and target are `tokens`.
    pub fn of(tokens: i64) -> Self {
        Self { max_tokens: tokens, target_tokens: tokens, ..Self::default() }
    }

    /// Tokens kept for the model's answer, said or not.
    pub fn output_reserve(&self) -> i64 {
        self.output_reserve.unwrap_or(0)
    }

    /// Percentage taken off the effective budget, said or not.
    pub fn safety_margin_percent(&self) -> f64 {
        self.estimation_safety_margin_percent.unwrap_or(0.0)
    }
}
