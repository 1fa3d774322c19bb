//! The beginning and the end of a text.

use cupel::{Draft, Original, Renderer};

use crate::thousands::{with_commas, without_commas};

/// The beginning and the end of a text.
///
/// # What it does
///
/// Keeps 50, 25, 10 and 4 % of a text, 70 % of that from its beginning, 30 % from its end, by whole
/// lines. Between them stands `[… 312 tokens left out …]` on a line of its own. A share s of the text
/// is taken to keep s^0.8 of its value.
///
/// # When to choose it
///
/// Where a text does not fit otherwise: its forms are offered only where the whole is larger than
/// half the budget. Measured on what agents needed later, half of a text keeps
/// little more than half of what is needed, and of code less.
///
/// # Ties and edge cases
///
/// Where whole lines would be less than half of what may be kept, as in texts of a few long lines, a
/// line is cut between two characters. What a text says was left out of it before is counted
/// through, if the new gap takes in the old one. Texts of fewer than 200 tokens stay whole, and a form
/// that would hold little but the mark is not offered.
///
/// # Cost
///
/// Linear in the text.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::HeadAndTail;
///
/// let lines: Vec<String> = (1..=100).map(|number| format!("line {number} of the log")).collect();
/// let drafts = HeadAndTail.render(&Original::new(&lines.join("\n"), 600));
/// assert_eq!(drafts[2].name, "head and tail 10 %");
/// assert_eq!(
///     drafts[2].content,
///     "line 1 of the log\nline 2 of the log\nline 3 of the log\nline 4 of the log\n\
///      line 5 of the log\n[… 559 tokens left out …]\nline 99 of the log\nline 100 of the log"
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeadAndTail;

/// Texts of fewer tokens stay whole.
const LEAST_TOKENS: i64 = 200;

/// The shares in percent, from the largest.
const PERCENT: [u8; 4] = [50, 25, 10, 4];

/// A text smaller than this share of the budget is better left whole.
pub(crate) const SHARE_OF_BUDGET: f64 = 0.5;

/// The share of the kept text that is its beginning.
const HEAD: f64 = 0.7;

/// About as long as the mark at the gap, in bytes; what is kept must be worth more than it.
const MARK_LENGTH: usize = 40;

impl Renderer for HeadAndTail {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        if original.tokens < LEAST_TOKENS {
            return Vec::new();
        }
        let drafts = PERCENT.iter().filter_map(|percent| draft(original, *percent, HEAD));
        drafts.map(|draft| draft.only_above(SHARE_OF_BUDGET)).collect()
    }
}

/// So much of a text, and of that so much from its beginning.
pub(crate) fn draft(original: &Original<'_>, percent: u8, head: f64) -> Option<Draft> {
    let Original { text, tokens, .. } = *original;
    let share = f64::from(percent) / 100.0;
    let room = ((text.len() as f64 * share) as usize).checked_sub(MARK_LENGTH)?;
    if room < MARK_LENGTH {
        return None;
    }
    let head_room = (room as f64 * head) as usize;
    let head = &text[..head_end(text, head_room)];
    let tail = &text[tail_start(text, room - head_room).max(head.len())..];
    let gap = &text[head.len()..text.len() - tail.len()];
    let tokens = u64::try_from(tokens).unwrap_or(0);
    let gap_tokens = (tokens as f64 * gap.len() as f64 / text.len() as f64).round() as u64;
    let left_out = marks(gap).fold(gap_tokens, u64::saturating_add);
    let content = join(head, &mark(left_out), tail);
    (content.len() < text.len())
        .then(|| Draft::new(format!("head and tail {percent} %"), content, share.powf(0.8)))
}

/// Where a beginning of at most `room` bytes ends.
fn head_end(text: &str, room: usize) -> usize {
    let cut = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    match text[..cut].rfind('\n').map(|at| at + 1) {
        Some(end) if end >= room / 2 => end,
        _ => out_of_mark(text, cut).0,
    }
}

/// Where an end of at most `room` bytes begins.
fn tail_start(text: &str, room: usize) -> usize {
    let first = text.len().saturating_sub(room);
    let cut = (first..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    if text[..cut].ends_with('\n') {
        return cut;
    }
    match text[cut..].find('\n').map(|at| cut + at + 1) {
        Some(start) if text.len() - start >= room / 2 => start,
        _ => out_of_mark(text, cut).1,
    }
}

/// The places before and behind a position that do not lie within a mark: the position itself,
/// unless its line is one.
fn out_of_mark(text: &str, at: usize) -> (usize, usize) {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    if marked(&text[start..end]).is_some() { (start, (end + 1).min(text.len())) } else { (at, at) }
}

fn join(head: &str, mark: &str, tail: &str) -> String {
    let mut text = String::with_capacity(head.len() + mark.len() + tail.len() + 2);
    text.push_str(head);
    if !head.is_empty() && !head.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(mark);
    if !tail.starts_with('\n') && !tail.starts_with("\r\n") {
        text.push('\n');
    }
    text.push_str(tail);
    text
}

fn mark(tokens: u64) -> String {
    format!("[… {} tokens left out …]", with_commas(tokens))
}

/// Number of tokens a line says were left out, if it is a mark.
fn marked(line: &str) -> Option<u64> {
    without_commas(line.strip_prefix("[… ")?.strip_suffix(" tokens left out …]")?)
}

/// Marks of a text, in turn.
fn marks(text: &str) -> impl Iterator<Item = u64> {
    text.lines().filter_map(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drafts(text: &str, tokens: i64) -> Vec<Draft> {
        HeadAndTail.render(&Original::new(text, tokens))
    }

    fn numbered(lines: usize) -> String {
        let lines: Vec<String> = (0..lines).map(|number| format!("line {number:04}\n")).collect();
        lines.concat()
    }

    #[test]
    fn lines_stay_whole_and_the_gap_says_what_is_missing() {
        // 1,000 lines of 10 bytes. At 4 %: 400 - 40 = 360 bytes, of which 252 are 25 lines, 108 are 10.
        let drafts = drafts(&numbered(1_000), 3_000);
        let names: Vec<&str> = drafts.iter().map(|draft| draft.name.as_str()).collect();
        assert_eq!(names, [50, 25, 10, 4].map(|percent| format!("head and tail {percent} %")));
        let lines: Vec<&str> = drafts[3].content.lines().collect();
        assert_eq!(lines.len(), 25 + 1 + 10);
        assert_eq!(lines[24..27], ["line 0024", "[… 2,895 tokens left out …]", "line 0990"]);
        assert!(drafts.iter().all(|draft| draft.only_above == Some(0.5)));
        assert!((drafts[1].share - 0.329_877).abs() < 1e-6, "{}", drafts[1].share);
    }

    #[test]
    fn short_texts_stay_whole() {
        assert_eq!(drafts(&numbered(1_000), 199), []);
        // 4 % of 1,900 bytes are less than two marks; of 300 bytes, even a quarter is.
        assert_eq!(drafts(&numbered(190), 570).len(), 3);
        assert_eq!(drafts(&numbered(30), 200).len(), 1);
        assert_eq!(drafts("", 200), []);
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        for letter in ["x", "é", "日", "𝄞"] {
            let text = letter.repeat(3_000);
            for draft in drafts(&text, 1_000) {
                let lines: Vec<&str> = draft.content.split('\n').collect();
                assert_eq!(lines.len(), 3, "{draft:?}");
                assert!(marked(lines[1]).is_some());
                let kept = lines[0].len() + lines[2].len();
                assert!(text.starts_with(lines[0]) && text.ends_with(lines[2]));
                assert!(kept * 100 > text.len() * 2, "{kept} of {}", text.len());
            }
        }
    }

    #[test]
    fn a_gap_within_the_new_gap_is_counted_through() {
        let first = drafts(&numbered(1_000), 3_000).remove(0).content;
        // 4,960 bytes: 3,472 are 347 lines, 1,488 are 148 lines.
        assert!(first.contains("[… 1,515 tokens left out …]"), "{first}");
        let tokens = 1_500;
        for draft in drafts(&first, tokens) {
            assert!(draft.content.len() < first.len());
            let marks: Vec<u64> = marks(&draft.content).collect();
            let kept = draft.content.lines().count() - 1;
            let lost = 495 - kept as u64;
            assert_eq!(marks.len(), 1);
            let expected = 1_515 + lost * 1_500 / 495;
            assert!(marks[0].abs_diff(expected) <= 10, "{marks:?} for {expected}");
        }
    }

    #[test]
    fn a_mark_is_never_cut() {
        let long = "x".repeat(2_000);
        let text = format!("{long}\n{}\n{long}", mark(1_000));
        let mark_length = mark(1_000).len();
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (before, behind) = out_of_mark(&text, at);
            let is_within = (2_001..=2_001 + mark_length).contains(&at);
            let expected = if is_within { (2_001, 2_001 + mark_length + 1) } else { (at, at) };
            assert_eq!((before, behind), expected);
        }
    }
}
