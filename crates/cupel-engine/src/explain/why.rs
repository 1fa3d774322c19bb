//! Why something is out.

use std::collections::HashMap;

use cupel::{ContextBudget, ExcludedItem, ExclusionReason, SelectionReport};
use serde::{Deserialize, Serialize};

use crate::Prepared;
use crate::prepare::tokens_of;

/// Why something is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reason", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Why {
    /// Better scored messages left too little room.
    NoRoom {
        /// The tokens that were left.
        left: i64,
    },
    /// There is too little room for it and what it needs.
    NoRoomForNeeds {
        /// The tokens that were left.
        left: i64,
        /// Its cost with all that it needs and that is not in.
        tokens: i64,
        /// The positions of what it needs and that is not in.
        needs: Vec<usize>,
        /// Where that is.
        paths: Vec<String>,
    },
    /// There is room, but not in the part of the window that its kind has.
    ShareUsedUp,
    /// Messages that must be kept leave too little room, whatever else is in the window.
    PinsLeaveNoRoom {
        /// The tokens that were left.
        left: i64,
        /// The tokens of all that must be kept.
        pinned: i64,
    },
    /// Something with the same text is in.
    SameText {
        /// The position of that one, if it is in the window.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        position: Option<usize>,
        /// Where that one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// The policy takes only so many of its kind.
    TooManyOfKind {
        /// The kind.
        kind: String,
        /// Largest number that may be in.
        cap: usize,
    },
    /// Another reason of the specification.
    Other {
        /// Its name there.
        name: String,
        /// Text of the reason.
        text: String,
    },
}

/// Turns the reasons of a report into those of a request.
pub(crate) struct Reasons<'a> {
    prepared: &'a Prepared,
    left: i64,
    pinned: i64,
    /// Where the kept items are, by their texts.
    kept: HashMap<&'a str, usize>,
    is_kept: Vec<bool>,
}

impl<'a> Reasons<'a> {
    pub(crate) fn new(
        prepared: &'a Prepared,
        report: &'a SelectionReport,
        budget: &ContextBudget,
    ) -> Self {
        let has_copies = report
            .excluded
            .iter()
            .any(|out| matches!(out.reason, ExclusionReason::Deduplicated { .. }));
        let mut is_kept = vec![false; prepared.items().len()];
        for position in report.included.iter().filter_map(|kept| kept.position) {
            is_kept[position] = true;
        }
        let kept = report.included.iter().filter(|_| has_copies);
        let kept = kept.filter_map(|kept| Some((kept.item.content(), kept.position?)));
        Self {
            prepared,
            left: super::room::left(report, budget),
            pinned: tokens_of(prepared.items().iter().filter(|item| item.pinned())),
            kept: kept.collect(),
            is_kept,
        }
    }

    pub(crate) fn of(&self, excluded: &ExcludedItem) -> Why {
        match &excluded.reason {
            ExclusionReason::BudgetExceeded { item_tokens, available_tokens }
                if *item_tokens > excluded.item.tokens() =>
            {
                let candidates = self.prepared.candidates();
                let missing = |at| self.prepared.needs().missing(at, |at| self.is_kept[at]);
                let needs = excluded.position.map(missing).unwrap_or_default();
                let paths = needs.iter().map(|at| candidates.bundle(*at).path().to_owned());
                let left = (*available_tokens).max(0);
                Why::NoRoomForNeeds { left, tokens: *item_tokens, paths: paths.collect(), needs }
            }
            ExclusionReason::BudgetExceeded { item_tokens, available_tokens }
                if item_tokens <= available_tokens =>
            {
                Why::ShareUsedUp
            }
            ExclusionReason::BudgetExceeded { available_tokens, .. } => {
                Why::NoRoom { left: (*available_tokens).max(0) }
            }
            ExclusionReason::PinnedOverride { .. } => {
                Why::PinsLeaveNoRoom { left: self.left, pinned: self.pinned }
            }
            ExclusionReason::Deduplicated { deduplicated_against } => {
                let position = self.kept.get(deduplicated_against.as_str()).copied();
                let path = |at: usize| self.prepared.candidates().bundle(at).path().to_owned();
                Why::SameText { position, path: position.map(path) }
            }
            ExclusionReason::CountCapExceeded { kind, cap, .. } => {
                Why::TooManyOfKind { kind: kind.clone(), cap: *cap }
            }
            reason => Why::Other { name: reason.name().to_owned(), text: reason.to_string() },
        }
    }
}
