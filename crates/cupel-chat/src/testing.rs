//! Words for tests.

use cupel_tokens::TokenCounter;

use crate::{CandidateOptions, Format, Request};

/// Counts words.
pub(crate) struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> i64 {
        i64::try_from(text.split_whitespace().count()).unwrap()
    }
}

#[track_caller]
pub(crate) fn read(text: &str, format: Format) -> Request {
    Request::parse(text, Some(format)).unwrap()
}

/// The labels of all candidates; those that are pinned with a star.
#[track_caller]
pub(crate) fn labels(text: &str, format: Format) -> Vec<String> {
    let request = read(text, format);
    let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
    let label = |bundle: &crate::Bundle| {
        let star = if bundle.pin_reason().is_some() { "*" } else { "" };
        format!("{star}{}", bundle.label())
    };
    candidates.bundles().iter().map(label).collect()
}

/// What is wrong with a request, with the names of the rules.
#[track_caller]
pub(crate) fn violations(text: &str, format: Format) -> Vec<String> {
    let violations = read(text, format).validate();
    violations.iter().map(|violation| format!("{} ({})", violation, violation.rule)).collect()
}

/// The request after its repair, which must have worked, and what was done.
#[track_caller]
pub(crate) fn repaired(text: &str, format: Format) -> (String, Vec<String>) {
    let (repaired, repairs) = read(text, format).repair();
    assert_eq!(read(&repaired, format).validate(), [], "{repaired}");
    (repaired, repairs.iter().map(ToString::to_string).collect())
}
