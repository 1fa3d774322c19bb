//! Words for tests.

use cupel_tokens::TokenCounter;

use crate::message::Content;
use crate::{CandidateOptions, Format, RepairMode, Request};

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

/// The labels of all candidates, with what they need; those that are pinned with a star.
#[track_caller]
pub(crate) fn labels(text: &str, format: Format) -> Vec<String> {
    let request = read(text, format);
    let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
    let needs = candidates.needs();
    let label = |at: usize| {
        let bundle = candidates.bundle(at);
        let star = if bundle.pin_reason().is_some() { "*" } else { "" };
        let needed = needs.of(at).iter().map(|at| format!(" > {}", candidates.bundle(*at).path()));
        format!("{star}{}{}", bundle.label(), needed.collect::<String>())
    };
    (0..candidates.bundles().len()).map(label).collect()
}

/// Violations of a request, with the names of the rules.
#[track_caller]
pub(crate) fn violations(text: &str, format: Format) -> Vec<String> {
    let violations = read(text, format).validate();
    violations.iter().map(|violation| format!("{} ({})", violation, violation.rule)).collect()
}

/// The request after its repair, which must have worked, and what was done.
#[track_caller]
pub(crate) fn repaired(text: &str, format: Format) -> (String, Vec<String>) {
    let (repaired, repairs) = read(text, format).repair(RepairMode::Drop);
    assert_eq!(read(&repaired, format).validate(), [], "{repaired}");
    (repaired, repairs.iter().map(ToString::to_string).collect())
}

/// The pieces of a message that cost tokens, each with its nature.
#[track_caller]
pub(crate) fn pieces(text: &str, format: Format, message: usize) -> Vec<String> {
    let request = read(text, format);
    let pieces = request.conversation().messages[message].pieces.iter();
    let written = pieces.map(|piece| match &piece.content {
        Content::Text(text) => format!("{:?}: {}", piece.nature, text.as_str()),
        Content::Image(image, _) => format!("{:?} image, {:?}", piece.nature, image.detail),
        Content::File(..) => format!("{:?} file", piece.nature),
        Content::Opaque(_) => format!("{:?} reference", piece.nature),
    });
    written.collect()
}
