//! The windows of all budgets, small enough to send.

use cupel_engine::Survey;
use serde::{Deserialize, Serialize};

/// The windows of all budgets, as what changes from one to the next: columns of equal length.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WindowTable {
    /// The sizes at which the window changes, ascending; the first holds what must be kept.
    pub at: Vec<i64>,
    /// Tokens that each budget leaves for the request.
    pub room: Vec<i64>,
    /// Tokens of each window.
    pub tokens: Vec<i64>,
    /// Messages that come in.
    pub joined: Vec<Vec<Entry>>,
    /// Messages that go out.
    pub left: Vec<Vec<usize>>,
    /// The whole window in its order, where that is not the order of the request; else empty. An empty
    /// list if that is so for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Vec<usize>>,
    /// True if the windows between two sizes are known: they are that of the smaller one.
    pub is_exact: bool,
}

/// A part of a window, whole or with the number of its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// The whole.
    Whole(usize),
    /// A shorter form.
    Form(usize, usize),
}

/// The windows of another policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BesideView {
    /// Its name.
    pub policy: String,
    /// Its windows.
    pub windows: WindowTable,
}

impl WindowTable {
    pub(crate) fn of(survey: &Survey) -> Self {
        let changes = &survey.changes;
        let is_ordered = changes.iter().all(|change| change.order.is_empty());
        let entries = |joined: &[cupel_engine::Joined]| {
            let entry = |one: &cupel_engine::Joined| match one.form {
                None => Entry::Whole(one.position),
                Some(form) => Entry::Form(one.position, form),
            };
            joined.iter().map(entry).collect()
        };
        Self {
            at: changes.iter().map(|change| change.max_tokens).collect(),
            room: changes.iter().map(|change| change.room).collect(),
            tokens: changes.iter().map(|change| change.tokens).collect(),
            joined: changes.iter().map(|change| entries(&change.joined)).collect(),
            left: changes.iter().map(|change| change.left.clone()).collect(),
            order: if is_ordered {
                Vec::new()
            } else {
                changes.iter().map(|change| change.order.clone()).collect()
            },
            is_exact: survey.is_exact,
        }
    }

    /// The forms that parts have in any of the windows, each once, in order.
    pub(crate) fn forms(&self) -> Vec<(usize, usize)> {
        let entries = self.joined.iter().flatten();
        let mut forms: Vec<(usize, usize)> = entries
            .filter_map(|entry| match entry {
                Entry::Form(position, form) => Some((*position, *form)),
                Entry::Whole(_) => None,
            })
            .collect();
        forms.sort_unstable();
        forms.dedup();
        forms
    }

    /// The parts of the window of a size, in the order of the request; `None` if it does not hold what
    /// must be kept.
    #[must_use]
    pub fn window(&self, size: i64) -> Option<Vec<Entry>> {
        let count = self.at.partition_point(|at| *at <= size);
        if count == 0 {
            return None;
        }
        let mut window: std::collections::BTreeMap<usize, Entry> =
            std::collections::BTreeMap::new();
        for (joined, left) in self.joined.iter().zip(&self.left).take(count) {
            for position in left {
                window.remove(position);
            }
            window.extend(joined.iter().map(|entry| (entry.position(), *entry)));
        }
        Some(window.into_values().collect())
    }
}

impl Entry {
    /// Position of the message.
    #[must_use]
    pub fn position(self) -> usize {
        match self {
            Self::Whole(position) | Self::Form(position, _) => position,
        }
    }
}
