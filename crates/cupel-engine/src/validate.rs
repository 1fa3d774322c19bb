//! Would the provider accept this request?

use cupel_chat::Request;
use serde::{Deserialize, Serialize};

use crate::engine::Settings;
use crate::{EngineError, RepairDone, RuleBroken, Schema};

/// The rules of its provider that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Validation {
    /// `cupel/1`.
    pub schema: Schema,
    /// The format that it was read as.
    pub format: String,
    /// Whether it breaks none.
    pub is_valid: bool,
    /// The rules, in the order of the request.
    pub violations: Vec<RuleBroken>,
}

/// A request, repaired as far as it can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Repaired {
    /// `cupel/1`.
    pub schema: Schema,
    /// The format that it was read as.
    pub format: String,
    /// The request.
    pub text: String,
    /// What was done to it.
    pub repairs: Vec<RepairDone>,
    /// What could not be repaired.
    pub violations: Vec<RuleBroken>,
}

pub(crate) fn validate(request: &Request) -> Validation {
    let violations: Vec<RuleBroken> = broken(request);
    Validation {
        schema: Schema,
        format: request.format().name().to_owned(),
        is_valid: violations.is_empty(),
        violations,
    }
}

pub(crate) fn repair(request: &Request) -> Result<Repaired, EngineError> {
    let (text, repairs) = request.repair();
    let violations = broken(&Request::parse(text.as_str(), Some(request.format()))?);
    Ok(Repaired {
        schema: Schema,
        format: request.format().name().to_owned(),
        text,
        repairs: repairs.into_iter().map(RepairDone::from).collect(),
        violations,
    })
}

/// What to do with a request that breaks rules: repair it, where that helps.
pub(crate) fn remedy(settings: &Settings, request: &Request) -> &'static str {
    let helps = || repair(request).is_ok_and(|repaired| repaired.violations.is_empty());
    if !settings.repair && helps() { "repair it" } else { "correct it by hand" }
}

fn broken(request: &Request) -> Vec<RuleBroken> {
    request.validate().into_iter().map(RuleBroken::from).collect()
}
