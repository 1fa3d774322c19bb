//! Counts measured against what the provider reported: for one conversation, model, upstream and set of
//! keys each.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::learnt::Whose;

/// Most conversations whose measure is remembered; the longest unused go first.
const MOST_ENTRIES: usize = 1_000;

/// How far off what was reported may be for the next request, in percent, as the engine has it for
/// counts that are scaled by a usage.
const MARGIN_PERCENT: i128 = 3;

/// What a request came to: as it was counted here, and as its provider reported.
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
    /// Whether a report below the count is believed.
    pub(crate) may_be_less: bool,
}

/// The last measure of each conversation.
#[derive(Debug, Default)]
pub(crate) struct Measures(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    entries: BTreeMap<MeasuredConversation, (Measure, u64)>,
    /// Which was used when, the oldest first.
    used: BTreeMap<u64, MeasuredConversation>,
    tick: u64,
}

impl Measures {
    /// The last measure of a conversation.
    pub(crate) fn get(&self, of: &MeasuredConversation) -> Option<Measure> {
        let kept = &mut *self.lock();
        let (measure, _) = *kept.entries.get(of)?;
        kept.put(of, measure);
        Some(measure)
    }

    /// Notes what the provider reported. What cannot be believed leaves the conversation without measure.
    pub(crate) fn set(&self, sent: &Unmeasured, reported: i64) {
        let kept = &mut *self.lock();
        match Measure::new(sent.counted, reported, sent.may_be_less) {
            Some(measure) => kept.put(&sent.of, measure),
            None => kept.remove(&sent.of),
        }
        while kept.entries.len() > MOST_ENTRIES {
            let Some((_, oldest)) = kept.used.pop_first() else { break };
            kept.entries.remove(&oldest);
        }
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
    fn put(&mut self, of: &MeasuredConversation, measure: Measure) {
        self.remove(of);
        self.tick += 1;
        self.entries.insert(of.clone(), (measure, self.tick));
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
        Unmeasured { of, counted: 100, may_be_less: true }
    }

    #[test]
    fn a_measure_is_of_one_conversation_and_its_keys() {
        let measures = Measures::default();
        measures.set(&sent(of("a", "k")), 90);
        assert_eq!(measures.get(&of("a", "k")), Measure::new(100, 90, true));
        assert_eq!(measures.get(&of("a", "other")), None);
        assert_eq!(measures.get(&of("b", "k")), None);
        measures.set(&sent(of("a", "k")), 9);
        assert_eq!(measures.get(&of("a", "k")), None, "what is not believed");
        measures.set(&sent(of("a", "k")), 80);
        measures.clear();
        assert_eq!(measures.get(&of("a", "k")), None);
    }

    #[test]
    fn the_longest_unused_goes_first() {
        let measures = Measures::default();
        for number in 0..MOST_ENTRIES {
            measures.set(&sent(of(&number.to_string(), "k")), 90);
        }
        assert!(measures.get(&of("0", "k")).is_some());
        measures.set(&sent(of("new", "k")), 90);
        assert!(measures.get(&of("0", "k")).is_some() && measures.get(&of("new", "k")).is_some());
        assert_eq!(measures.get(&of("1", "k")), None);
    }
}
