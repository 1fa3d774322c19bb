//! Spans of requests.

use cupel_otel::names;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::{Value, json};

use super::{number, text};
use crate::record::{Outcome, Record};

fn random(bytes: usize) -> String {
    let mut random = vec![0; bytes];
    let _ = SystemRandom::new().fill(&mut random);
    crate::hash::hex(&random)
}

/// The span of a request, and in it that of the run that made it fit.
/// Both are below the span that the client says to be in.
pub(super) fn of(record: &Record) -> [Value; 2] {
    let (outer, inner) = (random(8), random(8));
    let parent = record.parent.as_ref();
    let trace = parent.map_or_else(|| random(16), |parent| parent.trace.clone());
    let begun = u128::from(record.time_ms) * 1_000_000;
    let ended = begun + record.duration.as_nanos();
    let model = record.model.as_deref().unwrap_or_default();
    let is_error =
        record.outcome != Outcome::Answered || record.status.is_some_and(|code| code >= 400);
    let mut attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", record.api.map_or("", crate::api::Api::provider)),
        text("gen_ai.request.model", model),
        text("cupel.request.id", &record.id),
        text("cupel.outcome", record.outcome.name()),
    ];
    if let Some(conversation) = &record.conversation {
        attributes.push(text("gen_ai.conversation.id", conversation));
    }
    if let Some(status) = record.status {
        attributes.push(number("http.response.status_code", i64::from(status)));
    }
    if let Some(unfit) = &record.unfit {
        attributes.push(text(names::ERROR_TYPE, &unfit.code));
    }
    let mut run = Vec::new();
    if let Some(figures) = &record.figures {
        attributes.push(number("gen_ai.usage.input_tokens", figures.tokens_after));
        attributes.push(number("gen_ai.usage.cache_read.input_tokens", figures.cached));
        run.push(number(names::BUDGET_MAX_TOKENS, figures.max));
        run.push(number(names::METRIC_TOKENS_IN, figures.tokens_before));
        run.push(number(names::METRIC_TOKENS_OUT, figures.tokens_after));
        let dropped = i64::try_from(figures.dropped).unwrap_or(i64::MAX);
        run.push(number(names::EXCLUSION_COUNT, dropped));
    }
    let run_ended = begun + record.fitting.as_nanos();
    let status = if is_error { json!({ "code": 2 }) } else { json!({ "code": 0 }) };
    let mut first = json!({
        "traceId": trace, "spanId": outer, "name": format!("chat {model}"), "kind": 3,
        "startTimeUnixNano": begun.to_string(), "endTimeUnixNano": ended.to_string(),
        "attributes": attributes, "status": status,
    });
    if let Some(parent) = parent {
        first["parentSpanId"] = parent.span.as_str().into();
    }
    [
        first,
        json!({
            "traceId": trace, "spanId": inner, "parentSpanId": outer, "name": names::PIPELINE,
            "kind": 1, "startTimeUnixNano": begun.to_string(),
            "endTimeUnixNano": run_ended.to_string(), "attributes": run,
        }),
    ]
}
