//! The providers' rules of what they keep of a request, and what that means for a window.

use cupel_chat::{CacheMarks, Format, MovedMark, Request};
use serde::{Deserialize, Serialize};

use super::{MarkRule, SessionSettings, SessionState};

/// A provider's rule of what it has in its prompt cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CacheRule {
    /// The beginning that the last request has too.
    Prefix {
        /// The least that is kept.
        least_tokens: i64,
        /// The cached tokens are a multiple of this.
        step_tokens: i64,
    },
    /// The text before a mark that the client set, and nothing else. A later request finds it from a mark
    /// that stands at most so many blocks behind it.
    Marks {
        /// Number of blocks before a mark that are looked at.
        blocks_back: usize,
        /// The least that is kept.
        least_tokens: i64,
    },
    /// Nothing.
    None,
}

impl CacheRule {
    /// The beginning, however short: what a window keeps by itself.
    pub const ANY_PREFIX: Self = Self::Prefix { least_tokens: 0, step_tokens: 1 };

    /// The rule of Anthropic: [prompt caching](https://docs.claude.com/en/docs/build-with-claude/prompt-caching).
    /// Some models keep nothing below 2,048 or 4,096 tokens; the head of an agent is larger than that.
    pub const ANTHROPIC: Self = Self::Marks { blocks_back: 20, least_tokens: 1_024 };

    /// The rule of OpenAI: [prompt caching](https://platform.openai.com/docs/guides/prompt-caching).
    pub const OPENAI: Self = Self::Prefix { least_tokens: 1_024, step_tokens: 128 };

    /// The rule of Gemini's implicit caching, with the minimum of its smaller models.
    pub const GEMINI: Self = Self::Prefix { least_tokens: 1_024, step_tokens: 1 };

    /// The rule of the provider that a format is spoken by.
    #[must_use]
    pub fn of(format: Format) -> Self {
        match format {
            Format::OpenAiChat | Format::OpenAiResponses => Self::OPENAI,
            Format::Anthropic => Self::ANTHROPIC,
            Format::Gemini => Self::GEMINI,
            _ => Self::ANY_PREFIX,
        }
    }

    /// Tokens that the provider keeps of so many at the beginning.
    #[must_use]
    pub fn kept_tokens(self, tokens: i64) -> i64 {
        match self {
            Self::Prefix { least_tokens, step_tokens } if tokens >= least_tokens => {
                tokens - tokens % step_tokens.max(1)
            }
            Self::Marks { least_tokens, .. } if tokens >= least_tokens => tokens,
            _ => 0,
        }
    }
}

/// The end of a beginning that the provider keeps, since a mark stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CacheEntry {
    /// Number of messages of the window that it holds; 0 where it holds the text before all messages.
    pub messages: usize,
    /// When it was last written or found, in seconds since 1970, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_at: Option<u64>,
}

/// The entries of a cache that goes by marks, and the marks of the request that may find them.
pub(super) struct MarkedCache {
    /// Ascending.
    entries: Vec<CacheEntry>,
    marks: CacheMarks,
    /// Blocks of each message.
    blocks: Vec<usize>,
    blocks_back: usize,
    /// Returns true if a mark can be put where an entry is.
    moves: bool,
    now: Option<u64>,
}

impl MarkedCache {
    /// `None` if the request is not cached by marks of the client. An entry that was not used for the lifetime
    /// of the cache is gone, and so are all if the cache is `is_cold`.
    pub(super) fn new(
        settings: &SessionSettings,
        request: &Request,
        before: Option<&SessionState>,
        is_cold: bool,
        now: Option<u64>,
    ) -> Option<Self> {
        let moves = match settings.cache_marks {
            MarkRule::Off => return None,
            // With marks of its own the session needs none of the client's.
            MarkRule::Write if settings.cache_rule.is_none() => return None,
            rule => rule == MarkRule::Move,
        };
        let is_anthropic = request.format() == Format::Anthropic;
        let blocks_back = match settings.cache_rule {
            Some(CacheRule::Marks { blocks_back, .. }) if is_anthropic => blocks_back,
            None if is_anthropic => 20,
            _ => return None,
        };
        let lifetime = settings.cache_lifetime.as_secs();
        let marks = request.cache_marks();
        if marks.behind.is_empty() {
            return None;
        }
        let is_alive = |entry: &&CacheEntry| {
            let passed = now.zip(entry.used_at).map(|(now, used)| now.saturating_sub(used));
            passed.is_none_or(|seconds| seconds < lifetime)
        };
        let before = before.filter(|_| !is_cold);
        let entries = before.map_or(&[][..], |before| &before.cache_entries);
        let entries = entries.iter().filter(is_alive).copied().collect();
        let blocks = request.block_counts();
        let moves = moves && request.can_move_mark();
        Some(Self { entries, marks, blocks, blocks_back, moves, now })
    }

    /// The message of a window behind which a mark would find more than all marks do.
    pub(super) fn better_mark(&self, window: &[usize], unchanged: usize) -> Option<usize> {
        let entry = self.entry_within(unchanged).filter(|_| self.moves)?;
        let is_found = self.found(window, unchanged).is_some_and(|found| found >= entry);
        if is_found { None } else { window.get(entry.checked_sub(1)?).copied() }
    }

    /// Notes that a mark stands elsewhere.
    pub(super) fn note(&mut self, moved: MovedMark) {
        let marks = &mut self.marks.behind;
        marks.retain(|at| Some(*at) != moved.instead_of);
        marks.push(moved.behind);
        marks.sort_unstable();
    }

    /// The largest entry that holds no more than so many messages.
    fn entry_within(&self, messages: usize) -> Option<usize> {
        let within = self.entries.iter().map(|entry| entry.messages);
        within.filter(|entry| *entry <= messages).max()
    }

    /// Blocks of some messages.
    pub(super) fn blocks_of(&self, messages: &[usize]) -> usize {
        messages.iter().map(|message| self.blocks.get(*message).copied().unwrap_or(1)).sum()
    }

    /// Number of messages at the beginning of a window that the provider finds in its cache, of which the first
    /// `unchanged` are those of the window before. `None` if it does not even find the head.
    pub(super) fn found(&self, window: &[usize], unchanged: usize) -> Option<usize> {
        let head = self.entry_within(0).filter(|_| self.marks.in_head);
        let behind = self.positions_of_marks(window).filter_map(|mark| {
            let entry = self.entry_within(mark.min(unchanged))?;
            (self.blocks_of(&window[entry..mark]) <= self.blocks_back).then_some(entry)
        });
        behind.chain(head).max()
    }

    /// Number of messages of a window up to each mark.
    fn positions_of_marks(&self, window: &[usize]) -> impl Iterator<Item = usize> {
        let is_marked = |message: &usize| self.marks.behind.binary_search(message).is_ok();
        let marked = window.iter().enumerate().filter(move |(_, message)| is_marked(message));
        marked.map(|(at, _)| at + 1)
    }

    /// The entries once the window was sent.
    pub(super) fn entries_after(&self, window: &[usize], unchanged: usize) -> Vec<CacheEntry> {
        let found = self.found(window, unchanged);
        let mut fresh: Vec<usize> = self.positions_of_marks(window).chain(found).collect();
        fresh.extend(self.marks.in_head.then_some(0));
        let stale = self
            .entries
            .iter()
            .filter(|entry| entry.messages <= unchanged && !fresh.contains(&entry.messages));
        let mut entries: Vec<CacheEntry> = stale.copied().collect();
        let used = |messages| CacheEntry { messages, used_at: self.now };
        entries.extend(fresh.iter().copied().map(used));
        entries.sort_unstable_by_key(|entry| entry.messages);
        entries.dedup_by_key(|entry| entry.messages);
        entries
    }

    /// Costs of cutting the window before behind each of its units: `units` are the messages and tokens
    /// of each, `new` the messages that no window had.
    pub(super) fn cuts(&self, units: &[(&[usize], i64)], new: &[usize]) -> Vec<CutCost> {
        let new_blocks = self.blocks_of(new);
        let ends: Vec<usize> = units
            .iter()
            .scan(0, |end, (messages, _)| {
                *end += messages.len();
                Some(*end)
            })
            .collect();
        let cost = |prefix: usize| {
            let end = prefix.checked_sub(1).map_or(0, |last| ends[last]);
            let entry = self.entry_within(end);
            let begin = ends.partition_point(|end| Some(*end) <= entry).min(prefix);
            let (gap, all) = (&units[begin..prefix], &units[..prefix]);
            let gap_blocks: usize = gap.iter().map(|(messages, _)| self.blocks_of(messages)).sum();
            let blocks = self.blocks_back.checked_sub(gap_blocks + new_blocks);
            let blocks = if self.moves { Some(usize::MAX) } else { blocks };
            let lost = if blocks.is_some() && entry.is_some() { gap } else { all };
            CutCost {
                lost_tokens: lost
                    .iter()
                    .fold(0, |sum: i64, (_, tokens)| sum.saturating_add(*tokens)),
                again_blocks: blocks.unwrap_or(0),
            }
        };
        (0..=units.len()).map(cost).collect()
    }
}

/// Cost of a cut where the cache goes by marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CutCost {
    /// Tokens before the cut that the provider does not find.
    pub(super) lost_tokens: i64,
    /// Blocks that may be sent again behind the cut, so that the newest mark still finds what is before it.
    pub(super) again_blocks: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(marked: &[usize], count: usize) -> Request {
        let message = |at: usize| {
            let role = if at % 2 == 0 { "user" } else { "assistant" };
            let mark =
                if marked.contains(&at) { r#","cache_control":{"type":"ephemeral"}"# } else { "" };
            let block = format!(r#"{{"type":"text","text":"t{at}"{mark}}}"#);
            format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"x"}},{block}]}}"#)
        };
        let messages: Vec<String> = (0..count).map(message).collect();
        let text = format!(
            r#"{{"system":[{{"type":"text","text":"s","cache_control":{{"type":"ephemeral"}}}}],"messages":[{}]}}"#,
            messages.join(",")
        );
        Request::parse(text, Some(Format::Anthropic)).unwrap()
    }

    fn cache_by(
        rule: MarkRule,
        marked: &[usize],
        count: usize,
        entries: &[(usize, u64)],
    ) -> MarkedCache {
        let entry =
            |(messages, at): &(usize, u64)| CacheEntry { messages: *messages, used_at: Some(*at) };
        let before = SessionState {
            cache_entries: entries.iter().map(entry).collect(),
            ..SessionState::default()
        };
        let request = request(marked, count);
        let settings = SessionSettings { cache_marks: rule, ..SessionSettings::default() };
        MarkedCache::new(&settings, &request, Some(&before), false, Some(1_000)).unwrap()
    }

    fn cache(marked: &[usize], count: usize, entries: &[(usize, u64)]) -> MarkedCache {
        cache_by(MarkRule::Keep, marked, count, entries)
    }

    #[test]
    fn the_rules_of_providers_round_down() {
        let rounded =
            |rule: CacheRule| [1_023, 1_024, 1_200].map(|tokens| rule.kept_tokens(tokens));
        assert_eq!(rounded(CacheRule::OPENAI), [0, 1_024, 1_152]);
        assert_eq!(rounded(CacheRule::ANTHROPIC), [0, 1_024, 1_200]);
        assert_eq!(rounded(CacheRule::ANY_PREFIX), [1_023, 1_024, 1_200]);
        assert_eq!(rounded(CacheRule::None), [0; 3]);
    }

    #[test]
    fn an_entry_is_found_from_a_mark_at_most_twenty_blocks_behind_it() {
        let all: Vec<usize> = (0..30).collect();
        let found = |entry: usize| cache(&[29], 30, &[(0, 990), (entry, 990)]).found(&all, 30);
        assert_eq!(found(20), Some(20), "ten messages of two blocks are behind it");
        assert_eq!(found(19), Some(0), "the head has a mark of its own");
        assert_eq!(cache(&[29], 30, &[(25, 990)]).found(&all, 24), None, "it was cut off");
        assert_eq!(cache(&[29], 30, &[(25, 700)]).found(&all, 30), None, "it is forgotten");
    }

    #[test]
    fn a_mark_is_moved_to_an_entry_that_none_finds() {
        let all: Vec<usize> = (0..30).collect();
        let entries = [(0, 990), (5, 990)];
        let better = |rule, marked: &[usize]| {
            let mut cache = cache_by(rule, marked, 30, &entries);
            let message = cache.better_mark(&all, 30);
            if let Some(behind) = message {
                cache.note(request(marked, 30).mark_behind(behind, &all).unwrap());
            }
            (message, cache.found(&all, 30))
        };
        assert_eq!(better(MarkRule::Keep, &[29]), (None, Some(0)));
        assert_eq!(better(MarkRule::Move, &[29]), (Some(4), Some(5)));
        assert_eq!(better(MarkRule::Move, &[14, 29]), (None, Some(5)), "a mark finds it");
        assert_eq!(better(MarkRule::Move, &[3, 29]), (Some(4), Some(5)));
        let cut = cache_by(MarkRule::Move, &[29], 30, &entries);
        assert_eq!(cut.better_mark(&all, 4), None, "the entry is behind the cut");
        let units: [(&[usize], i64); 2] = [(&[], 50), (&[0, 1, 2, 3, 4], 10)];
        let new: Vec<usize> = (5..30).collect();
        assert_eq!(cut.cuts(&units, &new)[2], CutCost { lost_tokens: 0, again_blocks: usize::MAX });
    }

    #[test]
    fn entries_are_those_before_the_cut_and_those_at_the_marks() {
        let window = [0, 1, 2, 7, 8];
        let cache = cache(&[8], 9, &[(0, 900), (2, 800), (3, 800), (6, 800)]);
        let entry = |messages, at| CacheEntry { messages, used_at: Some(at) };
        let after = [entry(0, 1_000), entry(2, 800), entry(3, 1_000), entry(5, 1_000)];
        assert_eq!(cache.entries_after(&window, 3), after);
    }

    #[test]
    fn a_cut_loses_what_stands_behind_the_last_entry_before_it() {
        let cache = cache(&[8], 9, &[(0, 990), (2, 990)]);
        let units: [(&[usize], i64); 4] = [(&[], 50), (&[0, 1], 10), (&[2, 3], 20), (&[4, 5], 30)];
        let cuts = cache.cuts(&units, &[6, 7, 8]);
        let lost: Vec<i64> = cuts.iter().map(|cut| cut.lost_tokens).collect();
        assert_eq!(lost, [0, 0, 0, 20, 50]);
        let blocks: Vec<usize> = cuts.iter().map(|cut| cut.again_blocks).collect();
        assert_eq!(blocks, [14, 14, 14, 10, 6]);
    }

    #[test]
    fn a_cut_loses_all_where_the_new_messages_are_too_many_to_find_it() {
        let cache = cache(&[14], 15, &[(0, 990), (2, 990)]);
        let units: [(&[usize], i64); 2] = [(&[], 50), (&[0, 1], 10)];
        let new: Vec<usize> = (2..15).collect();
        assert_eq!(cache.cuts(&units, &new)[2], CutCost { lost_tokens: 60, again_blocks: 0 });
    }
}
