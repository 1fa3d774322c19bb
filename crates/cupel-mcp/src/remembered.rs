//! Requests and texts that tools were asked about, so that what they shortened or left out can be had back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// The most requests, and the most bytes of all of them: the oldest goes first.
const MOST: usize = 32;
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The latest requests and texts, newest first.
#[derive(Debug, Default)]
pub(crate) struct Remembered(Mutex<VecDeque<Arc<str>>>);

impl Remembered {
    /// Remembers a text; one that is larger than everything may be is not.
    pub(crate) fn push(&self, text: &Arc<str>) {
        if text.len() > MOST_BYTES {
            return;
        }
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.retain(|known| known != text);
        texts.push_front(Arc::clone(text));
        let mut bytes = 0_usize;
        let kept = texts.iter().take(MOST).take_while(|text| {
            bytes = bytes.saturating_add(text.len());
            bytes <= MOST_BYTES
        });
        let kept = kept.count();
        texts.truncate(kept);
    }

    /// All of them, newest first.
    pub(crate) fn all(&self) -> Vec<Arc<str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay() {
        let remembered = Remembered::default();
        for number in 0..MOST + 3 {
            remembered.push(&Arc::from(number.to_string()));
        }
        remembered.push(&Arc::from("10"));
        let all = remembered.all();
        assert_eq!((all.len(), &*all[0], &*all[1], &*all[MOST - 1]), (MOST, "10", "34", "3"));
        let large: Arc<str> = "x".repeat(MOST_BYTES - 2).into();
        remembered.push(&large);
        assert_eq!(remembered.all(), [large, Arc::from("10")]);
    }
}
