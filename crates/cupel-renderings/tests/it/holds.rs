//! Invariants of all forms of a text. The fuzzer puts any bytes to the same check.

use cupel::{Draft, Original, Renderer};
use cupel_renderings::{
    HeadAndTail, JsonLeaves, MinifiedJson, Shorten, Shortened, Stub, handle, value_count,
};
use serde::de::IgnoredAny;

use super::node::Node;

/// So many that every text is worth shortening.
const TOKENS: i64 = 1_000;

/// Every form of the text is shorter and the same each time, parses if it is JSON, tells what was
/// left out, and keeps no more than a larger form; and so is every form of a form.
///
/// # Panics
///
/// Panics if something of this does not hold.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    check_forms(&text);
    for draft in forms(&Shortened::new(Shorten::All), &text) {
        check_forms(&draft.content);
    }
}

fn check_forms(text: &str) {
    check_json(text);
    check_head_and_tail(text);
    for stub in forms(&Stub, text) {
        assert_eq!(Stub::handle_in(&stub.content), Some(handle(text).as_str()));
        assert_eq!(forms(&Stub, &stub.content), [], "a stub of a stub");
    }
}

/// The forms of a text, each of which is shorter and within bounds.
fn forms(renderer: &dyn Renderer, text: &str) -> Vec<Draft> {
    let original = Original::new(text, TOKENS).from_tool("a_tool");
    let drafts = renderer.render(&original);
    assert_eq!(drafts, renderer.render(&original), "not the same again");
    for draft in &drafts {
        assert!(draft.content.len() < text.len(), "not shorter: {draft:?} of {text}");
        assert!((0.0..=1.0).contains(&draft.share), "{draft:?}");
    }
    drafts
}

fn check_json(text: &str) {
    let minified = forms(&MinifiedJson, text);
    let leaves = forms(&JsonLeaves, text);
    let Some(count) = value_count(text) else {
        assert!(minified.is_empty() && leaves.is_empty(), "forms of what is no JSON: {text}");
        return;
    };
    for draft in &minified {
        assert_eq!(value_count(&draft.content), Some(count));
        assert_eq!(forms(&MinifiedJson, &draft.content), [], "minified twice");
        assert_eq!(Node::read(&draft.content), Node::read(without_mark(text)));
    }
    // From the largest to the smallest: each is a part of the one before.
    let mut whole = without_mark(text);
    let mut values = count;
    for draft in &leaves {
        assert!(parses(&draft.content), "{draft:?} of {text}");
        let kept = value_count(&draft.content).unwrap_or(0);
        assert!(kept <= values, "{kept} of {values} values: {draft:?}");
        if let Some(all) = Node::read(whole) {
            let part = Node::read(&draft.content).expect("what was read before can be read again");
            assert!(part.is_part_of(&all), "no part: {draft:?} of {whole}");
        }
        (whole, values) = (&draft.content, kept);
    }
}

fn check_head_and_tail(text: &str) {
    for draft in forms(&HeadAndTail, text) {
        let mut lines = draft.content.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some((*end - line.len(), *end))
        });
        let is_gap = |(start, end): (usize, usize)| {
            let (head, rest) = draft.content.split_at(start);
            let (mark, tail) = rest.split_at(end - start);
            mark.starts_with("[… ")
                && mark.trim_end().ends_with(" tokens left out …]")
                && text.starts_with(head.strip_suffix('\n').unwrap_or(head))
                && text.ends_with(tail)
        };
        assert!(lines.any(is_gap), "no gap: {draft:?} of {text}");
    }
}

/// A text without a byte order mark, which no reader of JSON takes.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns true if this is one JSON document, or several.
fn parses(text: &str) -> bool {
    serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>().all(|value| value.is_ok())
}
