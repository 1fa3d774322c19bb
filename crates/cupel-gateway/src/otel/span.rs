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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::otel::Parent;
    use crate::record::Figures;
    use crate::unfit::Unfit;

    fn attribute(span: &Value, key: &str) -> Option<Value> {
        let attributes = span["attributes"].as_array().unwrap().iter();
        let found = attributes.into_iter().find(|attribute| attribute["key"] == key)?;
        let value = &found["value"];
        Some(value.get("stringValue").or(value.get("intValue")).unwrap().clone())
    }

    fn answered() -> Record {
        Record { status: Some(200), outcome: Outcome::Answered, ..Record::for_tests(1) }
    }

    #[test]
    fn the_run_is_a_span_in_that_of_its_request_and_begins_with_it() {
        let record = Record {
            fitting: Duration::from_millis(3),
            duration: Duration::from_millis(50),
            model: Some("m".to_owned()),
            figures: Some(Figures::for_tests(false)),
            ..answered()
        };
        let [outer, inner] = of(&record);
        assert_eq!(outer["name"], "chat m");
        assert_eq!(
            (&inner["traceId"], &inner["parentSpanId"]),
            (&outer["traceId"], &outer["spanId"])
        );
        assert_eq!(outer["traceId"].as_str().unwrap().len(), 32);
        assert_eq!(outer["spanId"].as_str().unwrap().len(), 16);
        assert_ne!(outer["spanId"], inner["spanId"]);
        assert_eq!(outer.get("parentSpanId"), None);
        let times = |span: &Value| {
            [&span["startTimeUnixNano"], &span["endTimeUnixNano"]]
                .map(|time| time.as_str().unwrap().to_owned())
        };
        assert_eq!(times(&outer), ["2000000", "52000000"]);
        assert_eq!(times(&inner), ["2000000", "5000000"]);
        assert_eq!(attribute(&outer, "gen_ai.usage.input_tokens"), Some("600".into()));
        assert_eq!(attribute(&outer, "gen_ai.usage.cache_read.input_tokens"), Some("400".into()));
        assert_eq!(attribute(&inner, names::METRIC_TOKENS_IN), Some("900".into()));
        assert_eq!(attribute(&inner, names::EXCLUSION_COUNT), Some("3".into()));
    }

    #[test]
    fn a_request_is_in_the_trace_of_its_client() {
        let parent = Parent { trace: "t".to_owned(), span: "s".to_owned(), is_sampled: true };
        let [outer, inner] = of(&Record { parent: Some(parent), ..answered() });
        assert_eq!((&outer["traceId"], &inner["traceId"]), (&"t".into(), &"t".into()));
        assert_eq!(outer["parentSpanId"], "s");
    }

    #[test]
    fn a_span_is_an_error_unless_all_of_the_answer_came_and_it_was_none() {
        let code = |record: Record| of(&record)[0]["status"]["code"].clone();
        assert_eq!(code(answered()), 0);
        assert_eq!(code(Record { status: Some(399), ..answered() }), 0);
        assert_eq!(code(Record { status: Some(400), ..answered() }), 2);
        assert_eq!(code(Record { outcome: Outcome::BrokenOff, ..answered() }), 2);
    }

    #[test]
    fn a_span_has_codes_and_no_words_of_the_request() {
        let unfit = Some(Unfit::new("malformed-request", "SECRET"));
        let record = Record { unfit, conversation: Some("c".to_owned()), ..answered() };
        let [outer, _] = of(&record.showing("SECRET"));
        assert_eq!(attribute(&outer, names::ERROR_TYPE), Some("malformed-request".into()));
        assert_eq!(attribute(&outer, "gen_ai.conversation.id"), Some("c".into()));
        assert_eq!(attribute(&outer, "http.response.status_code"), Some("200".into()));
        assert!(!outer.to_string().contains("SECRET"));
    }
}
