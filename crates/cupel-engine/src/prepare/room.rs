//! The second part of a prepared request: how much fits.

use cupel::ContextBudget;
use cupel_tokens::Model;

use super::read::{ReadRequest, model_given};
use super::tokens_of;
use crate::engine::Settings;
use crate::limits::{self, Doubt, Scale, Sources};
use crate::{EngineError, ErrorCode, Options};

/// Limits and budget of the window.
#[derive(Clone)]
pub(super) struct Room {
    /// Limits that contradict each other are an error only to calls that need a budget.
    pub(super) budget: Result<ContextBudget, EngineError>,
    /// Budgets of windows of other sizes.
    pub(super) scale: Scale,
}

impl Room {
    /// The room that the call, the engine, the model or the policy leave, in this order.
    pub(super) fn new(settings: &Settings, options: &Options, read: &ReadRequest) -> Self {
        let (model, request) = (read.model, read.candidates.request());
        // Whoever names a tokenizer knows how far to trust it.
        let is_trusted = settings.counter.is_some() && options.usage.is_none();
        let pinned = || {
            let items = read.candidates.items().iter();
            tokens_of(items.filter(|item| item.pinned()))
        };
        let texts = if is_trusted { None } else { read.bound() };
        let sources = Sources {
            model,
            output_limit: request.output_limit(),
            policy: settings.policy.description().budget.as_ref(),
            doubt: texts.map(|texts| Doubt { texts, pinned: pinned() }),
        };
        let limits = options.limits.or(settings.limits);
        let given = model_given(settings, options);
        let budget = limits::decide(limits, sources).and_then(|budget| {
            budget.ok_or_else(|| no_budget(given.or(request.model()), given.is_some()))
        });
        let is_policys = limits.max.is_none() && model.is_none() && budget.is_ok();
        let doubt = sources.doubt.filter(|_| !is_policys);
        let scale = Scale::of(budget.as_ref().ok(), limits, doubt);
        Self { budget, scale }
    }
}

fn no_budget(model: Option<&str>, is_given: bool) -> EngineError {
    let reason = match model {
        Some(model) if is_given => format!("the window of the model `{model}` is not known"),
        Some(model) => format!("the request names the model `{model}`, which is not known"),
        None => "the request names no model".to_owned(),
    };
    let rule = format!("how much fits? {reason}");
    let near = model.and_then(|name| Model::find(name).err()?.nearest());
    EngineError::new(ErrorCode::NoBudget, rule).with_remedy(match near.filter(|_| is_given) {
        Some(near) => format!("give the window in tokens, or a known model, as `{near}`"),
        None => "give the window in tokens, or a known model".to_owned(),
    })
}
