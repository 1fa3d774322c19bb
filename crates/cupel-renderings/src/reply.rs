//! The beginning and the end of what the assistant said.

use cupel::{Draft, Original, Renderer};

use crate::head_and_tail::draft;

/// The beginning and the end of a reply, in steps fine enough that a share of the window is well used.
///
/// # What it does
///
/// Keeps 80 to 5 % of a text, 60 % of that from its beginning, 40 % from its end, around a mark that counts what
/// is left out.
///
/// # When to choose it
///
/// For the reply that the last turn answers, and for nothing else: "the second one please" needs the list, and
/// a list is known by its beginning. What is said otherwise goes in whole or not at all, so these forms are
/// offered to a contest only where the whole does not fit into the window.
///
/// # Ties and edge cases
///
/// As [`HeadAndTail`](crate::HeadAndTail), from 60 tokens on.
///
/// # Cost
///
/// Linear in the text, once for each of ten forms.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::Reply;
///
/// let lines: Vec<String> = (1..=40).map(|number| format!("{number}. a thing to buy")).collect();
/// let drafts = Reply.render(&Original::new(&lines.join("\n"), 240));
/// assert_eq!(drafts[4].name, "head and tail 30 %");
/// assert!(drafts[4].content.starts_with("1. a thing to buy\n2. a thing to buy\n"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reply;

/// Replies of fewer tokens stay whole.
const LEAST_TOKENS: i64 = 60;

/// The shares in percent, from the largest: no two neighbours differ by more than a third.
const PERCENT: [u8; 10] = [80, 65, 50, 40, 30, 22, 16, 11, 8, 5];

/// The share of the kept text that is its beginning.
const HEAD: f64 = 0.6;

impl Renderer for Reply {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        if original.tokens < LEAST_TOKENS {
            return Vec::new();
        }
        let drafts = PERCENT.iter().filter_map(|percent| draft(original, *percent, HEAD));
        drafts.map(|draft| draft.only_above(1.0)).collect()
    }
}
