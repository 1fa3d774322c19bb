//! One line of a list of requests.

use serde::{Deserialize, Serialize};

/// Some lines of the list, and the run of the server that they are of.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rows {
    /// Another one at each start of the server: numbers begin anew with it, and so does the list.
    pub instance: String,
    /// The lines, by ascending number. One whose number was there before takes its place.
    pub rows: Vec<Row>,
}

/// One line of the list: a request, and in short what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Row {
    /// Its number, from 1.
    pub id: u64,
    /// When it came, in milliseconds since 1970.
    pub time_ms: u64,
    /// The model that it names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The conversation that it is a step of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Part of an agent that sent it, if that is told apart from the agent itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<RowCaller>,
    /// Which step of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Its first words, where texts may be shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Tokens of the request as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_before: Option<i64>,
    /// Tokens of the request as it went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_after: Option<i64>,
    /// Number of messages that went on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<usize>,
    /// Number that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<usize>,
    /// Number of tokens the provider has in its cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_prefix: Option<i64>,
    /// Outcome for the request.
    pub status: RowStatus,
    /// The status of the answer, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// Further remark, as the reason that it could not be fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// True if it can be opened.
    pub has_view: bool,
}

/// Part of an agent that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RowCaller {
    /// An agent that another one started.
    SubAgent,
    /// A request beside the work, as for a title.
    SideCall,
}

/// Outcome for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RowStatus {
    /// It fits, and went on byte for byte.
    #[default]
    Whole,
    /// It was made to fit.
    Fitted,
    /// It could not be read or fitted, and went on as it was.
    Passed,
    /// It was refused here.
    Refused,
    /// The upstream could not be reached, or broke off.
    Failed,
}
