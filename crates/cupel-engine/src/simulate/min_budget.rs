//! The smallest budget that keeps a message.

use serde::{Deserialize, Serialize};

use crate::scan::Scan;
use crate::{EngineError, ErrorCode, Part, Prepared, Schema};

/// The smallest budget that keeps a message, with nothing set aside but the margin for estimates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MinBudget {
    /// `cupel/1`.
    pub schema: Schema,
    /// Bundle that the message is in or out with.
    pub part: Part,
    /// The smallest budget whose window holds it; absent if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_budget: Option<i64>,
    /// The smallest budget above that whose window does not hold it, since something larger took
    /// its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_again_at: Option<i64>,
    /// True if every budget was tried at which a window can change. If not, a smaller one may do.
    pub is_exact: bool,
    /// True if token counts are estimates.
    #[serde(default)]
    pub is_estimate: bool,
    /// Tokens of the request.
    pub total_tokens: i64,
}

impl Prepared {
    /// The smallest budget that keeps a message.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::UnknownMessage`] if there is no such message, and whatever the policy refuses.
    pub fn min_budget(&self, message: usize) -> Result<MinBudget, EngineError> {
        let position = self.position_of(message)?;
        let ranking = self.pipeline().rank(self.items()).map_err(|error| self.failed(error))?;
        let scan = Scan::of_all(self, &ranking)?;
        let fate = scan.fate(position);
        Ok(MinBudget {
            schema: Schema,
            part: Part::of(self.candidates(), position),
            min_budget: fate.first.map(|plain| self.budget_for(plain)),
            out_again_at: fate.lost.map(|plain| self.budget_for(plain)),
            is_exact: scan.is_exact,
            is_estimate: self.candidates().is_estimate(),
            total_tokens: self.candidates().total_tokens(),
        })
    }

    /// The candidate that holds a message.
    fn position_of(&self, message: usize) -> Result<usize, EngineError> {
        let holds = |at: &usize| self.candidates().bundle(*at).message_indices().contains(&message);
        (0..self.items().len()).find(holds).ok_or_else(|| {
            let count = self.request().message_count();
            let rule = if message < count {
                format!("message {message} was dropped as superseded")
            } else {
                format!("there is no message {message}: the request has {count}, counted from 0")
            };
            EngineError::new(ErrorCode::UnknownMessage, rule)
        })
    }
}
