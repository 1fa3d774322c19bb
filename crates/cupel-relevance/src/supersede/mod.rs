//! Items that a newer one makes superfluous: found before the pipeline runs.

mod calls;
mod near;
mod reads;
mod reminders;

use std::fmt;

use cupel::{ContextItem, CupelError};

use crate::grouping::in_time;
use crate::parameter;

/// Finds items that a newer one makes superfluous. The latest wins.
///
/// | what | is superseded by |
/// |---|---|
/// | a read of a file: a tool result with a tag `path:…` | a newer result of the same tool (tag `tool:…`) for the same path. With a tag `lines:10-40` only by one that has all of these lines; lines of the same file are different reads otherwise |
/// | calls of tools: those of its [parts](cupel::Part), or those that its results name by id; without parts lines `name arguments` in the text of an item with a tag `tool:name`, or of the item that shares its tag `call:…` | newer calls with the same names and arguments, all of them |
/// | a system message among the others, as a reminder that an agent sends after every step | a newer one that begins with the same eight words, digits aside |
/// | a text of at least ten words | a newer one that shares at least 90 % of its runs of three words, and mentions every value (id, date, number) that it does |
///
/// Pinned items are never superseded. Items are in the order of their times if all have one, else as
/// listed.
///
/// **Cost:** a pass over the texts, and one comparison or a few for each item: near-copies are
/// looked for only among texts that share one of their rarest runs of words.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, ContextKind};
/// use cupel_relevance::supersede::{Outdated, Supersession};
///
/// let read = |text: &str| {
///     ContextItemBuilder::new(text, 20)
///         .kind(ContextKind::tool_output())
///         .tags(vec!["tool:read_file".into(), "path:src/lib.rs".into()])
///         .build()
/// };
/// let items = [read("fn a() {}")?, read("fn a() {}\nfn b() {}")?];
///
/// let (kept, found) = Supersession::default().apply(&items, Outdated::Drop);
/// assert_eq!(kept.len(), 1);
/// assert_eq!(found[0].to_string(), "item 0 is superseded by item 1: `src/lib.rs` was read again");
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Supersession {
    reads: bool,
    calls: bool,
    reminders: bool,
    near_duplicates: Option<f64>,
}

impl Default for Supersession {
    /// Looks for everything.
    fn default() -> Self {
        Self { reads: true, calls: true, reminders: true, near_duplicates: Some(0.9) }
    }
}

/// An item that a newer one makes superfluous, by their positions in the list.
#[derive(Debug, Clone, PartialEq)]
pub struct Superseded {
    /// The superfluous item.
    pub older: usize,
    /// Position of the item that supersedes it.
    pub newer: usize,
    /// Why.
    pub why: Reason,
}

/// Why an item is superseded.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// The same file was read again.
    ReadAgain {
        /// The file.
        path: String,
    },
    /// The same call was made again.
    CalledAgain {
        /// The name of the tool.
        tool: String,
    },
    /// A newer system message of the same kind followed.
    RemindedAgain,
    /// A newer text says nearly the same.
    NearDuplicate {
        /// The share of runs of words that both have.
        similarity: f64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReadAgain { path } => write!(f, "`{path}` was read again"),
            Self::CalledAgain { tool } => write!(f, "the same call of `{tool}` was made again"),
            Self::RemindedAgain => f.write_str("a newer system message of its kind followed"),
            Self::NearDuplicate { similarity } => {
                write!(f, "the texts are alike to {:.0} %", similarity * 100.0)
            }
        }
    }
}

impl fmt::Display for Superseded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {} is superseded by item {}: {}", self.older, self.newer, self.why)
    }
}

/// Treatment of superseded items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Outdated {
    /// They stay, and are only reported.
    Keep,
    /// They go: the latest wins.
    #[default]
    Drop,
}

impl Supersession {
    /// Looks for reminders alone: nobody wants an old one, whatever else may be outdated.
    #[must_use]
    pub fn reminders() -> Self {
        Self { reads: false, calls: false, reminders: true, near_duplicates: None }
    }

    /// Sets whether files that were read again count.
    #[must_use]
    pub fn with_reads(mut self, reads: bool) -> Self {
        self.reads = reads;
        self
    }

    /// Sets whether calls that were made again count.
    #[must_use]
    pub fn with_calls(mut self, calls: bool) -> Self {
        self.calls = calls;
        self
    }

    /// From which likeness on a text is a near-copy, or `None` for no near-copies.
    ///
    /// # Errors
    ///
    /// [`CupelError::ScorerConfig`] if the likeness is not above 0.5 and at most 1.
    pub fn with_near_duplicates(mut self, likeness: Option<f64>) -> Result<Self, CupelError> {
        if let Some(likeness) = likeness {
            parameter::above_half("likeness", likeness)?;
        }
        self.near_duplicates = likeness;
        Ok(self)
    }

    /// Superseded items, in the order of their positions. Each item is reported at most
    /// once, and what supersedes it is not superseded itself.
    #[must_use]
    pub fn find(&self, items: &[ContextItem]) -> Vec<Superseded> {
        let mut found = Found::new(items);
        if self.reads {
            reads::find(&mut found);
        }
        if self.calls {
            calls::find(&mut found);
        }
        if self.reminders {
            reminders::find(&mut found);
        }
        if let Some(likeness) = self.near_duplicates {
            near::find(&mut found, likeness);
        }
        found.settled()
    }

    /// The items that are left, and what was found.
    #[must_use]
    pub fn apply(
        &self,
        items: &[ContextItem],
        outdated: Outdated,
    ) -> (Vec<ContextItem>, Vec<Superseded>) {
        let found = self.find(items);
        let mut is_dropped = vec![false; items.len()];
        if outdated == Outdated::Drop {
            for superseded in &found {
                is_dropped[superseded.older] = true;
            }
        }
        let kept = items.iter().zip(&is_dropped).filter(|(_, is_dropped)| !**is_dropped);
        (kept.map(|(item, _)| item.clone()).collect(), found)
    }
}

/// Items that were found so far.
struct Found<'i> {
    items: &'i [ContextItem],
    /// Positions, newest first.
    newest_first: Vec<usize>,
    by_older: Vec<Option<(usize, Reason)>>,
}

impl<'i> Found<'i> {
    fn new(items: &'i [ContextItem]) -> Self {
        let newest_first = in_time(items).into_iter().rev().map(|at| at as usize).collect();
        Self { items, newest_first, by_older: vec![None; items.len()] }
    }

    /// Positions of items that are still in, newest first.
    fn current(&self) -> Vec<usize> {
        self.newest_first.iter().copied().filter(|at| self.is_current(*at)).collect()
    }

    fn is_current(&self, position: usize) -> bool {
        self.by_older[position].is_none()
    }

    fn note(&mut self, older: usize, newer: usize, why: Reason) {
        if !self.items[older].pinned() && older != newer {
            self.by_older[older].get_or_insert((newer, why));
        }
    }

    /// With each item referred to the one that is left in the end. Whoever supersedes is newer, so
    /// that following them ends.
    fn settled(self) -> Vec<Superseded> {
        let last = |mut newer: usize| {
            while let Some((next, _)) = &self.by_older[newer] {
                newer = *next;
            }
            newer
        };
        let found = self.by_older.iter().enumerate();
        found
            .filter_map(|(older, entry)| {
                let (newer, why) = entry.as_ref()?;
                Some(Superseded { older, newer: last(*newer), why: why.clone() })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{at_minute, build, item, texts};
    use cupel::{ContextItemBuilder, ContextKind, Part, PartKind};

    fn result(text: &str, tags: &[&str]) -> ContextItemBuilder {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        item(text).kind(ContextKind::tool_output()).tags(tags)
    }

    fn pairs(items: &[ContextItem]) -> Vec<(usize, usize)> {
        let found = Supersession::default().find(items);
        found.iter().map(|superseded| (superseded.older, superseded.newer)).collect()
    }

    fn read(path: &str, lines: &str) -> ContextItemBuilder {
        let (path, lines) = (format!("path:{path}"), format!("lines:{lines}"));
        if lines == "lines:" {
            return result("x", &["tool:read", &path]);
        }
        result("x", &["tool:read", &path, &lines])
    }

    #[test]
    fn a_file_that_was_read_again_is_superseded_by_the_latest_read() {
        let items = build([read("a", ""), read("b", ""), read("a", ""), read("a", "")]);
        assert_eq!(pairs(&items), [(0, 3), (2, 3)]);
    }

    #[test]
    fn lines_are_different_reads_unless_contained() {
        let rows = [("10-20", "30-40"), ("10-20", "15-40"), ("10-20", "10-20"), ("12", "10-20")];
        let expected = [false, false, true, true];
        for ((older, newer), is_superseded) in rows.into_iter().zip(expected) {
            let items = build([read("a", older), read("a", newer)]);
            assert_eq!(pairs(&items).len(), usize::from(is_superseded), "{older} {newer}");
        }
        assert_eq!(pairs(&build([read("a", "10-20"), read("a", "")])), [(0, 1)]);
        assert_eq!(pairs(&build([read("a", ""), read("a", "10-20")])), []);
        assert_eq!(pairs(&build([read("a", "x"), read("a", "x")])), []);
    }

    #[test]
    fn other_tools_and_documents_are_no_reads() {
        let items = build([
            result("x", &["tool:read", "path:a"]),
            result("x", &["tool:edit", "path:a"]),
            item("fn a").kind(ContextKind::document()).tags(vec!["path:a".into()]),
            item("fn b").kind(ContextKind::document()).tags(vec!["path:a".into()]),
        ]);
        assert_eq!(pairs(&items), []);
    }

    #[test]
    fn the_order_is_that_of_time() {
        let newer = read("a", "").timestamp(at_minute(9));
        let items = build([newer, read("a", "").timestamp(at_minute(1))]);
        assert_eq!(pairs(&items), [(1, 0)]);
    }

    #[test]
    fn pinned_items_stay_but_can_supersede() {
        let items = build([read("a", "").pinned(true), read("a", ""), read("a", "").pinned(true)]);
        assert_eq!(pairs(&items), [(1, 2)]);
    }

    #[test]
    fn a_call_with_the_same_arguments_supersedes_however_they_are_written() {
        let weather = |city: &str, answer: &str| {
            result(&format!("weather {{\n \"city\": \"{city} {{\" }}\n{answer}"), &["tool:weather"])
        };
        let items =
            build([weather("Rome", "sun"), weather("Oslo", "rain"), weather("Rome", "fog")]);
        let found = Supersession::default().find(&items);
        let text = "item 0 is superseded by item 2: the same call of `weather` was made again";
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [text]);
    }

    #[test]
    fn several_calls_are_superseded_only_together() {
        let both = result("a 1\nb 2", &["tool:a", "tool:b"]);
        let items = build([both, result("a 1", &["tool:a"])]);
        assert_eq!(pairs(&items), []);
        let both = result("a 1\nb 2", &["tool:a", "tool:b"]);
        let items = build([both, result("a 1", &["tool:a"]), result("b 2\n3", &["tool:b"])]);
        assert_eq!(pairs(&items), [(0, 1)]);
    }

    #[test]
    fn a_call_and_its_result_may_be_items_apart() {
        let ask = |id: &str, arguments: &str| {
            item(&format!("find {arguments}")).tags(vec!["tool:find".into(), format!("call:{id}")])
        };
        let answer = |id: &str| result("found", &["tool:find", &format!("call:{id}")]);
        let same = build([ask("1", "x"), answer("1"), ask("2", "x"), answer("2")]);
        assert_eq!(pairs(&same), [(1, 3)]);
        let other = build([ask("1", "x"), answer("1"), ask("2", "y"), answer("2")]);
        assert_eq!(pairs(&other), []);
    }

    #[test]
    fn a_result_that_prints_a_call_is_no_call() {
        let run = |command: &str, output: &str| {
            let text = format!("run {command}\n{output}");
            let (tool, arguments) = (0..3, 4..4 + command.len());
            let returned = PartKind::Returned { call: "c".into(), is_error: false };
            let parts = vec![
                Part {
                    range: 0..arguments.end,
                    kind: PartKind::Called { tool, id: "c".into(), arguments: arguments.clone() },
                },
                Part { range: arguments.end + 1..text.len(), kind: returned },
            ];
            result(&text, &["role:assistant", "tool:run", "role:tool"]).parts(parts)
        };
        let make = r#"{"cmd": "make"}"#;
        let items =
            build([run(make, "2 errors"), run(r#"{"cmd": "cat log"}"#, &format!("run {make}"))]);
        assert_eq!(pairs(&items), []);
        assert_eq!(pairs(&build([run(make, "2 errors"), run(make, "done")])), [(0, 1)]);
    }

    const NOTE: &str = "The rollout of the new billing service to the northern region begins on Monday \
        morning, and everybody who is on call should read the notes of the last rollout before it.";

    #[test]
    fn a_text_that_was_said_again_nearly_alike_is_superseded() {
        let again = NOTE.replace("everybody", "Everybody").replace("before it.", "before it!");
        let other = NOTE.replace("northern", "southern").replace("Monday", "Friday");
        let items = texts(&[NOTE, "lunch at noon", &again, &other]);
        let found = Supersession::default().find(&items);
        let why = Reason::NearDuplicate { similarity: 1.0 };
        assert_eq!(found, [Superseded { older: 0, newer: 2, why }]);
        assert_eq!(
            found[0].to_string(),
            "item 0 is superseded by item 2: the texts are alike to 100 %"
        );
    }

    #[test]
    fn texts_with_different_values_are_different() {
        let long = NOTE.repeat(3);
        let of_order = |order: &str| format!("{long} Order {order}.");
        assert_eq!(pairs(&texts(&[&of_order("7731"), &of_order("7732")])), []);
        assert_eq!(pairs(&texts(&[&of_order("7731"), &of_order("7731 again")])), [(0, 1)]);
    }

    #[test]
    fn short_texts_are_never_near_duplicates() {
        assert_eq!(pairs(&texts(&["Yes, I think so.", "Yes, I think so!"])), []);
    }

    #[test]
    fn many_copies_are_superseded_by_the_last() {
        let copies: Vec<String> =
            (0..500).map(|copy| format!("{NOTE} {}", "!".repeat(copy))).collect();
        let items = texts(&copies.iter().map(String::as_str).collect::<Vec<_>>());
        let found = pairs(&items);
        assert!(found.iter().copied().eq((0..499).map(|older| (older, 499))));
    }

    #[test]
    fn superseded_items_are_kept_or_dropped_as_told() {
        let items = build([read("a", ""), item("y"), read("a", "")]);
        let finder = Supersession::default();
        let (kept, found) = finder.apply(&items, Outdated::Keep);
        assert_eq!((kept.len(), found.len()), (3, 1));
        let (kept, found) = finder.apply(&items, Outdated::Drop);
        assert!(kept[0].is_same_item(&items[1]) && kept[1].is_same_item(&items[2]));
        assert_eq!((kept.len(), found.len()), (2, 1));
    }

    #[test]
    fn each_search_can_be_switched_off() {
        let items = build([read("a", ""), read("a", ""), item(NOTE), item(&NOTE.to_uppercase())]);
        let found = |finder: &Supersession| finder.find(&items).len();
        let all = Supersession::default();
        assert_eq!(found(&all), 2);
        assert_eq!(found(&all.clone().with_reads(false)), 1);
        assert_eq!(found(&all.clone().with_calls(false)), 2);
        assert_eq!(found(&all.clone().with_near_duplicates(None).unwrap()), 1);
        let error = all.with_near_duplicates(Some(0.5)).unwrap_err();
        assert_eq!(error.to_string(), "likeness: must be above 0.5 and at most 1, got 0.5");
    }

    #[test]
    fn an_empty_list_has_nothing_to_supersede() {
        assert_eq!(pairs(&[]), []);
    }
}
