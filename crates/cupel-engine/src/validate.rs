//! Would the provider accept this request?

use cupel_chat::{RepairMode, Request};
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
    /// True if it breaks no rule.
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
    /// Repairs of the request.
    pub repairs: Vec<RepairDone>,
    /// Rules that it still breaks.
    pub violations: Vec<RuleBroken>,
    /// Losses with which those are repaired as well, if the caller allows it.
    #[serde(default)]
    pub losses: Vec<RepairDone>,
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

pub(crate) fn repair(request: &Request, mode: RepairMode) -> Result<Repaired, EngineError> {
    let (text, repairs) = request.repair(mode);
    let again = Request::parse(text.as_str(), Some(request.format()))?;
    let violations = broken(&again);
    let losses = if violations.is_empty() { Vec::new() } else { again.repair(RepairMode::Drop).1 };
    Ok(Repaired {
        schema: Schema,
        format: request.format().name().to_owned(),
        text,
        repairs: repairs.into_iter().map(RepairDone::from).collect(),
        violations,
        losses: losses.into_iter().map(RepairDone::from).collect(),
    })
}

/// The remedies of a request that breaks rules.
pub(crate) const REPAIR: &str = "repair it";
pub(crate) const DROP: &str = "repair it, and drop what cannot be kept";

/// Remedy for a request that breaks rules: repair it, where that helps, and lose something only
/// where nothing else does.
pub(crate) fn remedy(settings: &Settings, request: &Request) -> &'static str {
    let helps = |mode: RepairMode| {
        repair(request, mode).is_ok_and(|repaired| repaired.violations.is_empty())
    };
    match settings.repair {
        None if helps(RepairMode::Keep) => REPAIR,
        None | Some(RepairMode::Keep) if helps(RepairMode::Drop) => DROP,
        _ => "correct it by hand",
    }
}

fn broken(request: &Request) -> Vec<RuleBroken> {
    request.validate().into_iter().map(RuleBroken::from).collect()
}
