//! What a run decided, and why.

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Indices of the selected items, in placed order.
    pub output: Vec<usize>,
    /// Every decision.
    pub report: Report,
}

/// Every decision of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Selected items, in placed order.
    pub included: Vec<Included>,
    /// All other items, best score first, ties in the order of exclusion.
    pub excluded: Vec<Excluded>,
    /// Number of items given.
    pub total_candidates: usize,
    /// Tokens of all items given.
    pub total_tokens_considered: i64,
    /// Count requirements that too few candidates could meet.
    pub shortfalls: Vec<Shortfall>,
    /// Present only when the selection went over the target and the strategy was to proceed.
    pub overflow: Option<OverflowEvent>,
    /// Items in and out of the five reported stages, in stage order.
    pub stages: Vec<StageCount>,
}

/// A selected item.
#[derive(Debug, Clone, PartialEq)]
pub struct Included {
    /// Index in the caller's list.
    pub index: usize,
    /// Its score; 1.0 when pinned.
    pub score: f64,
    /// Why it is there.
    pub reason: Inclusion,
}

/// An item that was not selected.
#[derive(Debug, Clone, PartialEq)]
pub struct Excluded {
    /// Index in the caller's list.
    pub index: usize,
    /// Its score; 0.0 when it was dropped before scoring.
    pub score: f64,
    /// Why it is not there.
    pub reason: Exclusion,
}

/// Why an item was selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inclusion {
    /// By its score.
    Scored,
    /// It was pinned.
    Pinned,
    /// It costs nothing.
    ZeroToken,
}

/// Why an item was not selected: the reasons that the built-in stages give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// Negative token count.
    NegativeTokens {
        /// The count.
        tokens: i64,
    },
    /// Same text as a better item.
    Deduplicated {
        /// The text.
        deduplicated_against: String,
    },
    /// It did not fit, or was not worth its place.
    BudgetExceeded {
        /// Tokens of the item.
        item_tokens: i64,
        /// Tokens that were left.
        available_tokens: i64,
    },
    /// It would have fitted had nothing been pinned.
    PinnedOverride {
        /// Text of the largest pinned item.
        displaced_by: String,
    },
    /// Its kind had its full number of items.
    CountCapExceeded {
        /// The kind as the item spells it.
        kind: String,
        /// The most items of the kind.
        cap: usize,
        /// Items of the kind selected by then.
        count: usize,
    },
}

/// A count requirement that too few candidates could meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The kind as the entry spells it.
    pub kind: String,
    /// Items required.
    pub required_count: usize,
    /// Items committed.
    pub satisfied_count: usize,
}

/// The selection went over the target and was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverflowEvent {
    /// Tokens above the target.
    pub tokens_over_budget: i64,
    /// Indices of all merged items, in merged order.
    pub items: Vec<usize>,
}

/// The stages that a report speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Partition into pinned and scoreable.
    Classify,
    /// Score.
    Score,
    /// Drop equal texts.
    Deduplicate,
    /// Fit the budget.
    Slice,
    /// Merge and order.
    Place,
}

/// Items that entered and left a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageCount {
    /// The stage.
    pub stage: Stage,
    /// Items that entered it.
    pub count_in: usize,
    /// Items that left it.
    pub count_out: usize,
    /// Indices of the items that it excluded, in the order in which they entered it.
    pub excluded: Vec<usize>,
}
