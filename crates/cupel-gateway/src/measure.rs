//! Counts measured against what the provider reported: for one conversation, model, upstream and set of
//! keys each.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::learnt::Whose;
use crate::usage::Reported;

/// Most conversations whose measure is remembered; the longest unused go first.
const MOST_ENTRIES: usize = 1_000;

/// Possible error of a reported count for the next request, in percent, as the engine has it for
/// counts that are scaled by a usage.
const MARGIN_PERCENT: i128 = 3;

/// Tokens of a request: as counted here, and as its provider reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measure {
    counted: i64,
    reported: i64,
}

impl Measure {
    /// `None` if the report cannot be believed: less than half or more than twice of what was counted;
    /// or less at all, unless `may_be_less`. A server that drops what it has no room for reports what is
    /// left, and a larger request would lose more.
    pub(crate) fn new(counted: i64, reported: i64, may_be_less: bool) -> Option<Self> {
        let least = if may_be_less { counted / 2 } else { counted };
        let is_sound = counted > 0 && reported >= least.max(1) && reported / 2 <= counted;
        is_sound.then_some(Self { counted, reported })
    }

    /// The tokens as counted here that come to at most so many of the provider's. What comes on top of
    /// the request that was reported is taken as it is counted, where counts are too high: it may be of
    /// another kind.
    pub(crate) fn room(self, tokens: i64) -> i64 {
        let (counted, tokens) = (i128::from(self.counted), i128::from(tokens));
        let reported = (i128::from(self.reported) * (100 + MARGIN_PERCENT) + 99) / 100;
        let room = if counted > reported && tokens > reported {
            counted + tokens - reported
        } else {
            tokens * counted / reported
        };
        i64::try_from(room).unwrap_or(i64::MAX)
    }
}

/// The conversation that a measure is of. Keys stand in it, so that no client moves another's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MeasuredConversation {
    pub(crate) conversation: String,
    pub(crate) whose: Whose,
}

/// A request that was sent and whose answer has not said yet what it came to.
#[derive(Debug, Clone)]
pub(crate) struct Unmeasured {
    pub(crate) of: MeasuredConversation,
    pub(crate) counted: i64,
    /// Tokens that should be in the provider's cache.
    pub(crate) cached: i64,
    /// True if a report below the count is believed.
    pub(crate) may_be_less: bool,
    /// True if limits are converted by what is reported.
    pub(crate) converts: bool,
}

/// A report that does not agree with what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Disagreement {
    /// Less was read from the cache than its rule says, in so many steps of the conversation in a row.
    CacheShort { expected: i64, reported: i64, steps: u32 },
    /// The upstream seems to have dropped a part of the request without a word.
    Truncated { counted: i64, reported: i64 },
}

impl Disagreement {
    /// The disagreement in words.
    pub(crate) fn text(self) -> String {
        match self {
            Self::CacheShort { expected, reported, steps } => format!(
                "{steps} steps in a row the provider had less in its cache than its rule says: \
                 {reported} tokens, expected {expected}"
            ),
            Self::Truncated { counted, reported } => format!(
                "the upstream reports {reported} tokens of about {counted}: it seems to drop what it has no room \
                 for; give it a larger context, or the gateway its window"
            ),
        }
    }

    /// Its name in log and metrics.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::CacheShort { .. } => "cache-short",
            Self::Truncated { .. } => "truncated",
        }
    }
}

/// Steps in a row from which on a cache that holds less than it should is no accident: entries may be
/// evicted, and requests at the same time do not see each other's.
const LASTING_STEPS: u32 = 3;

/// The part of a request, in percent, that a cache may hold less than it should: counts are estimates.
const CACHE_TOLERANCE_PERCENT: i64 = 10;

/// The least part of a request, in percent of its count, that a server reports which has dropped nothing.
/// Estimates of English, code and JSON are some 10 % off at most; this leaves three times that.
const LEAST_REPORTED_PERCENT: i64 = 65;

impl Unmeasured {
    /// Tokens of the provider that should be in the cache beyond those that it reports.
    fn cache_short(&self, said: Reported) -> Option<i64> {
        let cached = said.cached?;
        let expected = said.scaled(self.cached, self.counted);
        let tolerated = said.tokens / 100 * CACHE_TOLERANCE_PERCENT;
        (expected.saturating_sub(cached) > tolerated.max(1_024)).then_some(expected)
    }

    fn is_truncated(&self, said: Reported) -> bool {
        !self.may_be_less && said.tokens < self.counted / 100 * LEAST_REPORTED_PERCENT
    }
}

/// The last measure of each conversation.
#[derive(Debug, Default)]
pub(crate) struct Measures(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    entries: BTreeMap<MeasuredConversation, (Entry, u64)>,
    /// Which was used when, the oldest first.
    used: BTreeMap<u64, MeasuredConversation>,
    tick: u64,
}

#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    measure: Option<Measure>,
    /// Steps in a row in which the cache had less than it should.
    cache_short: u32,
}

impl Measures {
    /// The last measure of a conversation.
    pub(crate) fn get(&self, of: &MeasuredConversation) -> Option<Measure> {
        let kept = &mut *self.lock();
        let (entry, _) = *kept.entries.get(of)?;
        kept.put(of, entry);
        entry.measure
    }

    /// Notes what the provider reported, and says where that does not agree with what was sent. What cannot
    /// be believed leaves the conversation without measure.
    pub(crate) fn set(&self, sent: &Unmeasured, said: Reported) -> Option<Disagreement> {
        let kept = &mut *self.lock();
        let before = kept.entries.get(&sent.of).map(|(entry, _)| *entry).unwrap_or_default();
        let measure = Measure::new(sent.counted, said.tokens, sent.may_be_less);
        let expected = sent.cache_short(said);
        let cache_short = if expected.is_some() { before.cache_short.saturating_add(1) } else { 0 };
        kept.put(&sent.of, Entry { measure: measure.filter(|_| sent.converts), cache_short });
        while kept.entries.len() > MOST_ENTRIES {
            let Some((_, oldest)) = kept.used.pop_first() else { break };
            kept.entries.remove(&oldest);
        }
        let (counted, reported) = (sent.counted, said.tokens);
        let truncated = Disagreement::Truncated { counted, reported };
        if sent.is_truncated(said) {
            return Some(truncated);
        }
        let (expected, reported) = expected.zip(said.cached)?;
        let short = Disagreement::CacheShort { expected, reported, steps: cache_short };
        (cache_short >= LASTING_STEPS).then_some(short)
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn put(&mut self, of: &MeasuredConversation, entry: Entry) {
        self.remove(of);
        self.tick += 1;
        self.entries.insert(of.clone(), (entry, self.tick));
        self.used.insert(self.tick, of.clone());
    }

    fn remove(&mut self, of: &MeasuredConversation) {
        if let Some((_, used)) = self.entries.remove(of) {
            self.used.remove(&used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_believed_within_bounds() {
        let is_believed = |counted, reported, less| Measure::new(counted, reported, less).is_some();
        assert!(is_believed(100, 50, true) && !is_believed(100, 49, true));
        assert!(is_believed(100, 201, false) && !is_believed(100, 202, false));
        assert!(is_believed(100, 100, false) && !is_believed(100, 99, false));
        assert!(!is_believed(0, 0, true) && !is_believed(1, 0, true) && !is_believed(-1, -1, true));
        assert!(!is_believed(1, i64::MAX, true));
    }

    #[test]
    fn counts_that_are_too_high_leave_more_room_and_those_too_low_less() {
        let high = Measure::new(14_000, 10_000, true).unwrap();
        assert_eq!(high.room(10_300), 14_000, "the same request, with the margin");
        assert_eq!(high.room(20_300), 24_000, "what comes on top is taken as counted");
        assert_eq!(high.room(5_150), 7_000);
        let low = Measure::new(10_000, 11_000, false).unwrap();
        assert_eq!(low.room(11_330), 10_000);
        assert_eq!(low.room(22_660), 20_000);
        assert_eq!(low.room(0), 0);
        assert_eq!(Measure::new(i64::MAX, i64::MAX, true).unwrap().room(103), 99, "rounded down");
        assert_eq!(Measure::new(4, 2, true).unwrap().room(i64::MAX), i64::MAX);
    }

    fn of(conversation: &str, key: &str) -> MeasuredConversation {
        let whose = Whose::new("default", Some("m"), &[key.to_owned()]);
        MeasuredConversation { conversation: conversation.to_owned(), whose }
    }

    fn sent(of: MeasuredConversation) -> Unmeasured {
        Unmeasured { of, counted: 100, cached: 0, may_be_less: true, converts: true }
    }

    fn tokens(tokens: i64) -> Reported {
        Reported { tokens, cached: None }
    }

    #[test]
    fn a_cache_that_lastingly_has_less_than_it_should_is_told() {
        let measures = Measures::default();
        let sent =
            Unmeasured { counted: 20_000, cached: 16_000, converts: false, ..sent(of("a", "k")) };
        let told = |cached| {
            let told = measures.set(&sent, Reported { tokens: 10_000, cached });
            told.map(|told| (told.code(), told.text()))
        };
        assert_eq!(told(Some(6_977)), None, "8,000 of the provider's tokens should be there");
        assert_eq!(told(Some(6_000)), None);
        assert_eq!(told(Some(6_000)), None);
        let (code, text) = told(Some(6_000)).unwrap();
        assert_eq!(code, "cache-short");
        assert!(
            text.starts_with("3 steps in a row") && text.ends_with("6000 tokens, expected 8000")
        );
        assert_eq!(told(None), None, "who does not tell is not blamed");
        assert_eq!(told(Some(0)), None, "a row begins anew");
        assert_eq!(measures.get(&of("a", "k")), None, "nothing is converted");
    }

    #[test]
    fn a_server_that_drops_a_part_is_told() {
        let local = Unmeasured { counted: 8_000, may_be_less: false, ..sent(of("a", "k")) };
        let told = |reported: i64| Measures::default().set(&local, tokens(reported));
        let truncated = Disagreement::Truncated { counted: 8_000, reported: 4_096 };
        assert_eq!(told(4_096), Some(truncated));
        assert_eq!(told(5_200), None);
        let known = Unmeasured { may_be_less: true, ..local.clone() };
        assert_eq!(Measures::default().set(&known, tokens(4_096)), None, "it would refuse");
    }

    #[test]
    fn a_measure_is_of_one_conversation_and_its_keys() {
        let measures = Measures::default();
        measures.set(&sent(of("a", "k")), tokens(90));
        assert_eq!(measures.get(&of("a", "k")), Measure::new(100, 90, true));
        assert_eq!(measures.get(&of("a", "other")), None);
        assert_eq!(measures.get(&of("b", "k")), None);
        measures.set(&sent(of("a", "k")), tokens(9));
        assert_eq!(measures.get(&of("a", "k")), None, "what is not believed");
        measures.set(&sent(of("a", "k")), tokens(80));
        measures.clear();
        assert_eq!(measures.get(&of("a", "k")), None);
    }

    #[test]
    fn the_longest_unused_goes_first() {
        let measures = Measures::default();
        for number in 0..MOST_ENTRIES {
            measures.set(&sent(of(&number.to_string(), "k")), tokens(90));
        }
        assert!(measures.get(&of("0", "k")).is_some());
        measures.set(&sent(of("new", "k")), tokens(90));
        assert!(measures.get(&of("0", "k")).is_some() && measures.get(&of("new", "k")).is_some());
        assert_eq!(measures.get(&of("1", "k")), None);
    }
}
