#![doc = include_str!("../README.md")]

mod baseline;
#[cfg(feature = "arrow")]
mod batch;
mod check;
mod conversations;
mod cost;
#[cfg(feature = "files")]
mod files;
mod judge;
mod outcome;
mod place;
#[cfg_attr(
    not(feature = "files"),
    allow(dead_code, unused_imports, reason = "times and columns are asked for by files alone")
)]
mod read;
mod record;
mod replay;
mod results;
mod runs;
mod sessions;
mod settings;
mod summary;
mod used;

#[cfg(feature = "arrow")]
pub use batch::results_batch;
pub use check::{CheckReport, Checking, LostRule, Moved, Tolerances, WayCheck};
pub use cost::{PriceList, Tariff};
#[cfg(feature = "files")]
pub use files::{Batch, FindError, LARGEST_ROW, LogReader, OutputError, ResultWriter, find_logs};
pub use outcome::{
    Coverage, ProblemKind, RequestOutcome, RowOutcome, RowProblem, Sent, ToolSeen, WindowOutcome,
};
pub use place::Place;
pub use read::{
    Answer, Call, Columns, Entry, InvalidColumns, LoggedRequest, RowContent, RowError, read_row,
};
pub use record::{
    Record, RecordError, RecordHead, RecordedPolicy, RecordedRequest, RecordedWindow,
};
pub use replay::{LogRow, Outcomes, Replay};
pub use results::{ResultRow, result_rows};
pub use settings::{ReplayedPolicy, Settings, Way};
#[cfg(feature = "schema")]
pub use summary::json_schemas;
pub use summary::{
    Comparison, Counted, CountedTokens, Dollars, NoRecommendation, Problem, Promise,
    Recommendation, Rows, Share, SplitCost, Splits, Summary, Summing, WaySummary, Worst, WorstText,
};
