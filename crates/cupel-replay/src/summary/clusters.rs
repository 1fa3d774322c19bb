//! Sums by conversation: requests of one conversation resemble each other, so that it is conversations that
//! tell how sure a mean is.

use std::collections::BTreeMap;

/// So many conversations are told apart; of a larger log several are added up as one, which tells the mean as
/// surely and takes no more memory.
const MOST: u64 = 1 << 16;

/// Sums and counts by conversation.
#[derive(Debug, Clone, Default)]
pub(super) struct Clusters {
    by_conversation: BTreeMap<u64, (f64, f64)>,
}

/// A mean over requests, and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClusteredMean {
    pub(super) mean: f64,
    /// Its standard error, by conversations.
    pub(super) error: f64,
    pub(super) conversations: usize,
}

impl Clusters {
    pub(super) fn add(&mut self, conversation: u64, value: f64) {
        let is_full = self.by_conversation.len() as u64 >= MOST;
        let key = if is_full && !self.by_conversation.contains_key(&conversation) {
            let folded = conversation % MOST;
            *self.by_conversation.range(folded..).next().map_or(&folded, |(key, _)| key)
        } else {
            conversation
        };
        let sums = self.by_conversation.entry(key).or_default();
        sums.0 += value;
        sums.1 += 1.0;
    }

    /// The sums of conversations.
    pub(super) fn sums(&self) -> impl Iterator<Item = f64> {
        self.by_conversation.values().map(|(sum, _)| *sum)
    }

    /// The mean of all values, with the standard error of a ratio of sums over clusters.
    pub(super) fn mean(&self) -> Option<ClusteredMean> {
        let count: f64 = self.by_conversation.values().map(|(_, count)| count).sum();
        let sum: f64 = self.by_conversation.values().map(|(sum, _)| sum).sum();
        let conversations = self.by_conversation.len();
        if conversations == 0 {
            return None;
        }
        let mean = sum / count;
        let squares: f64 =
            self.by_conversation.values().map(|(sum, count)| (sum - mean * count).powi(2)).sum();
        let clusters = conversations as f64;
        let error = if conversations > 1 {
            (squares * clusters / (clusters - 1.0)).sqrt() / count
        } else {
            0.0
        };
        Some(ClusteredMean { mean, error, conversations })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_requests_have_the_error_of_a_mean() {
        let mut clusters = Clusters::default();
        for at in 0..400 {
            clusters.add(at, f64::from(u8::from(at % 4 != 0)));
        }
        let mean = clusters.mean().unwrap();
        // √(0.75 · 0.25 / 399)
        assert!(
            (mean.mean - 0.75).abs() < 1e-12 && (mean.error - 0.021_678).abs() < 1e-5,
            "{mean:?}"
        );
    }

    #[test]
    fn requests_that_are_the_same_all_through_a_conversation_count_once() {
        let mut clusters = Clusters::default();
        for at in 0..400_u64 {
            let conversation = at % 4;
            clusters.add(conversation, if conversation == 0 { 0.0 } else { 1.0 });
        }
        let mean = clusters.mean().unwrap();
        // √(0.75 · 0.25 / 3): four conversations, not four hundred requests.
        assert_eq!(mean.conversations, 4);
        assert!((mean.error - 0.25).abs() < 1e-12, "{mean:?}");
    }
}
