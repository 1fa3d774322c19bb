//! JSON by its weightiest values.

use cupel::{Draft, Original, Renderer};

use crate::head_and_tail::SHARE_OF_BUDGET;
use crate::json::{Document, Selection, Tree};

/// JSON with its weightiest values only.
///
/// # What it does
///
/// Keeps of a JSON object or list, or of one on each line, what weighs most for its tokens, at 60,
/// 35, 18 and 8 % of them. What comes out is JSON again, minified: values with their keys, and in
/// place of what is left out `"…":n` as the last entry of an object, `"… n more"` as the last of a
/// list.
///
/// | value | weight |
/// |---|---|
/// | reference: letters and digits without a blank, at least 4 characters; 6 digits and more | 1 |
/// | date | 0.5 |
/// | at most 24 characters without a digit | 0.3 |
/// | other text | 0.15 |
/// | number from 10 on | 0.12 |
/// | smaller number | 0.05 |
/// | `true`, `false`, `null`, what is empty | 0.03 |
/// | what stood in the text before | 0.02 |
///
/// A reference or a date that is a key counts too, if it has three digits: it is kept even if nothing
/// behind it is. What a form keeps of the value is 0.9 · its share of the weights + 0.1 · its share of
/// the tokens; there, other text of more than 15 tokens weighs 0.01 a token, so that a form without a
/// long text does not claim to keep much.
///
/// # When to choose it
///
/// For results of tools, which are records: the values that later calls use weigh most.
///
/// # Steps
///
/// 1. Reads all values with their keys, and estimates what each costs.
/// 2. Sorts them by weight per cost.
/// 3. For each share, from the smallest: takes what fits, with the containers around it. What a
///    smaller share keeps, a larger one keeps.
/// 4. What is left of the share goes to the longest text that is left out, if it has 400 bytes or
///    more: `"its beginning […] its end"`, 70 and 30 %. If that is more than half of the form, the
///    form is offered as [`HeadAndTail`](crate::HeadAndTail) is: only where the whole is larger than
///    half the budget.
///
/// # Ties and edge cases
///
/// Of equals the first in the text wins. Numbers, strings and keys stay as they were written, also
/// those that occur twice. A mark of what was left out before is counted through: an object with
/// `"…":3` that loses two more ends in `"…":5`. Where `…` is a key of the text itself, the mark has
/// one dot more. What is nested more than 128 deep is one value. A form that is no shorter
/// than the document minified, or the same as a smaller form, is not offered; nor is any for a text
/// below 40 tokens or above 4 GB.
///
/// # Cost
///
/// n log n in the number of values, for the sort; all else is linear in the text.
///
/// # Example
///
/// ```
/// use cupel::{Original, Renderer};
/// use cupel_renderings::JsonLeaves;
///
/// let flight = |number: u32| {
///     format!(r#"{{"flight": "HAT{number}", "from": "JFK", "seats": {{"economy": {number}}}}}"#)
/// };
/// let text = format!("[{}]", [136, 201, 39, 112].map(flight).join(", "));
/// let drafts = JsonLeaves.render(&Original::new(&text, 100));
/// assert_eq!(drafts[1].name, "json 35 %");
/// assert_eq!(
///     drafts[1].content,
///     r#"[{"flight":"HAT136","from":"JFK","…":1},{"flight":"HAT201","from":"JFK","…":1},"… 2 more"]"#
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JsonLeaves;

/// Texts of fewer tokens are not worth it.
const LEAST_TOKENS: i64 = 40;

/// The shares in percent, from the smallest.
const PERCENT: [u8; 4] = [8, 18, 35, 60];

impl Renderer for JsonLeaves {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        Document::read(original.text).map_or_else(Vec::new, |document| drafts(&document, original))
    }
}

/// The document at all shares, the largest first.
pub(crate) fn drafts(document: &Document<'_>, original: &Original<'_>) -> Vec<Draft> {
    if original.tokens < LEAST_TOKENS {
        return Vec::new();
    }
    let Some(tree) = Tree::read(document) else { return Vec::new() };
    let selection = Selection::new(&tree, &PERCENT.map(|percent| f64::from(percent) / 100.0));
    let mut drafts = Vec::new();
    let mut before = (0, None);
    for ((place, percent), kept) in (0..).zip(PERCENT).zip(selection.kept()) {
        if (kept.entries, kept.cut) == before {
            continue;
        }
        before = (kept.entries, kept.cut);
        let content = tree.write(&selection, place);
        if content.len() < tree.tight_length() {
            let share = 0.9 * kept.worth_share + 0.1 * kept.cost_share;
            let draft = Draft::new(format!("json {percent} %"), content, share);
            // What is head and tail for the most part is worth as little.
            drafts.push(if kept.is_mostly_cut { draft.only_above(SHARE_OF_BUDGET) } else { draft });
        }
    }
    drafts.reverse();
    drafts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of a text by their percentage.
    fn forms(text: &str) -> Vec<(String, String)> {
        let drafts = JsonLeaves.render(&Original::new(text, 1_000));
        drafts.into_iter().map(|draft| (draft.name, draft.content)).collect()
    }

    fn form(text: &str, percent: u8) -> String {
        let name = format!("json {percent} %");
        let found = forms(text).into_iter().find(|(found, _)| *found == name);
        found.map(|(_, content)| content).unwrap_or_default()
    }

    fn references(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("\"R{number:03}\"")).collect()
    }

    #[test]
    fn a_share_holds_as_many_equals_as_fit() {
        // Each of the hundred costs 4 tokens, the list 2 and its mark 3: 402 tokens as it is.
        // 8 % are 32.1 tokens, less 5 for list and mark: 6 values. 18 %: 16, 35 %: 33, 60 %: 59.
        let all = references(100);
        let drafts = JsonLeaves.render(&Original::new(&format!("[{}]", all.join(",")), 402));
        for (draft, (percent, kept)) in
            drafts.iter().rev().zip([(8, 6), (18, 16), (35, 33), (60, 59)])
        {
            assert_eq!(draft.name, format!("json {percent} %"));
            let expected = format!("[{},\"… {} more\"]", all[..kept].join(","), 100 - kept);
            assert_eq!(draft.content, expected);
        }
        assert_eq!(drafts.len(), 4);
        assert!(drafts.iter().all(|draft| draft.only_above.is_none()));
        // 0.9 · 6 of 100 + 0.1 · 29 tokens of 402.
        assert!(
            (drafts[3].share - (0.054 + 0.1 * 29.0 / 402.0)).abs() < 1e-9,
            "{}",
            drafts[3].share
        );
    }

    #[test]
    fn what_weighs_more_for_its_tokens_comes_first() {
        let words: Vec<String> = ('a'..='t').map(|letter| format!("\"R{letter}aa\"")).collect();
        let mixed = references(20)
            .into_iter()
            .zip(words)
            .flat_map(|(id, word)| [word, id, "\"R001\"".to_owned()]);
        let text = format!("[{}]", mixed.collect::<Vec<_>>().join(","));
        // A reference and its repeats cost 4 tokens each, a word 3.75: 237 as it is. Less 5 for list
        // and mark, 8 % are 13.9 tokens, 18 % 37.6, 35 % 77.9 and 60 % 137.1.
        for (percent, references, words) in [(8, 3, 0), (18, 9, 0), (35, 19, 0), (60, 20, 15)] {
            let short = form(&text, percent);
            assert_eq!(short.matches("\"R0").count(), references, "{short}");
            assert_eq!(short.matches("aa\"").count(), words, "{short}");
            assert_eq!(short.matches("\"R001\"").count(), 1, "{short}");
        }
    }

    #[test]
    fn a_key_that_is_a_reference_is_kept_without_what_is_behind_it() {
        let cards: Vec<String> = (100..120)
            .map(|number| {
                format!(r#""card_{number}": {{"number of payments": {{"first": 1, "last": 2}}}}"#)
            })
            .collect();
        let short = form(&format!("{{{}}}", cards.join(", ")), 18);
        assert!(short.starts_with(r#"{"card_100":{"…":1},"card_101":{"…":1},"#), "{short}");
    }

    #[test]
    fn of_a_long_text_beginning_and_end_are_kept() {
        let output =
            (0..300).map(|number| format!("line {number}\\n")).collect::<Vec<_>>().concat();
        let text = format!(r#"{{"exit_code": 0, "id": "run_812", "output": "{output}"}}"#);
        let drafts = JsonLeaves.render(&Original::new(&text, 1_000));
        assert_eq!(drafts.len(), 4);
        for (draft, percent) in drafts.iter().zip([60, 35, 18, 8]) {
            let head = r#"{"exit_code":0,"id":"run_812","output":"line 0\nline 1\nline 2\nli"#;
            assert!(draft.content.starts_with(head), "{draft:?}");
            assert!(draft.content.contains(" […] "), "{draft:?}");
            assert_eq!(draft.only_above, Some(0.5));
            assert!(draft.content.ends_with(r#"line 298\nline 299\n"}"#), "{draft:?}");
            let actual = draft.content.len() * 100 / text.len();
            assert!(actual.abs_diff(percent) <= 3, "{actual} % for {percent} %");
            let share = f64::from(u32::try_from(percent).unwrap()) / 100.0;
            assert!((draft.share - share.powf(0.8)).abs() < 0.1, "{} for {percent} %", draft.share);
        }
    }

    #[test]
    fn without_its_long_texts_little_is_kept() {
        let long = "so it goes ".repeat(30);
        let texts =
            (0..50).map(|number| format!(r#"{{"id": "R{number}", "text": "{long}{number}"}}"#));
        let text = format!("[{}]", texts.collect::<Vec<_>>().join(","));
        let drafts = JsonLeaves.render(&Original::new(&text, 5_000));
        let smallest = drafts.last().unwrap();
        assert_eq!(smallest.name, "json 8 %");
        assert!(smallest.share < 0.6, "{}", smallest.share);
    }

    #[test]
    fn marks_are_counted_through() {
        let all = references(40);
        let list = format!("[{},\"… 7 more\"]", all.join(","));
        let short = form(&list, 18);
        assert_eq!(short, format!("[{},\"… {} more\"]", all[..6].join(","), 34 + 7));
        let fields: Vec<String> =
            all.iter().enumerate().map(|(at, value)| format!("\"{at:02}\":{value}")).collect();
        let object = format!("{{\"…\":9,{},\"…\":2}}", fields.join(","));
        let short = form(&object, 18);
        let kept = short.matches("\"R").count();
        assert_eq!(short, format!("{{{},\"…\":{}}}", fields[..kept].join(","), 40 - kept + 11));
    }

    #[test]
    fn a_key_of_dots_that_is_no_mark_stays_apart_from_the_mark() {
        let fields: Vec<String> =
            references(40).into_iter().map(|value| format!("\"…\":{value}")).collect();
        let short = form(&format!("{{{}}}", fields.join(",")), 18);
        assert!(short.starts_with(r#"{"…":"R001","…":"R002","#), "{short}");
        assert!(
            short.ends_with(&format!("\"……\":{}}}", 40 - short.matches("\"R").count())),
            "{short}"
        );
    }

    #[test]
    fn lines_are_a_list_without_brackets() {
        let lines: Vec<String> =
            references(40).into_iter().map(|value| format!("{{\"id\": {value}}}")).collect();
        let short = form(&lines.join("\n"), 35);
        let mut kept: Vec<&str> = short.lines().collect();
        let mark = format!("\"… {} more\"", 41 - kept.len());
        assert_eq!(kept.pop(), Some(mark.as_str()));
        assert_eq!(kept[..2], [r#"{"id":"R001"}"#, r#"{"id":"R002"}"#]);
        let shorter = form(&short, 35);
        assert!(shorter.lines().count() < short.lines().count(), "{shorter}");
        assert!(
            shorter.ends_with(&format!("\"… {} more\"", 41 - shorter.lines().count())),
            "{shorter}"
        );
    }

    #[test]
    fn depth_does_not_matter() {
        let nest = |depth: usize, inner: &str| {
            format!("{}{inner}{}", "{\"a\": [".repeat(depth), "]}".repeat(depth))
        };
        let deep = nest(50_000, "\"R001\"");
        let text = format!("[{},{deep}, {deep}]", references(50_000).join(","));
        for (name, content) in forms(&text) {
            assert!(serde_json::from_str::<serde::de::IgnoredAny>(&content).is_ok(), "{name}");
        }
        assert!(!forms(&text).is_empty());
        // One value that is the whole text: nothing can be left out.
        assert_eq!(forms(&deep), []);
    }

    #[test]
    fn what_is_short_or_no_record_has_no_forms() {
        let text = format!("[{}]", references(100).join(","));
        assert!(JsonLeaves.render(&Original::new(&text, 39)).is_empty());
        assert!(!JsonLeaves.render(&Original::new(&text, 40)).is_empty());
        for text in ["", "null", "12", "\"text\"", "{}", "[]", "[1", "[1]"] {
            assert_eq!(forms(text), [], "{text}");
        }
    }

    #[test]
    fn values_and_keys_stay_as_they_were_written() {
        let odd = r#""k\u00e9\ud800":"R\/0001\ud83d""#;
        let fill: Vec<String> =
            (0..40).map(|number| format!("\"f{number}\": {number}.50e0")).collect();
        let short = form(&format!("{{{odd}, {}, {odd}}}", fill.join(", ")), 18);
        assert!(short.starts_with(&format!("{{{odd},")), "{short}");
        assert!(short.contains(".50e0"), "{short}");
    }
}
