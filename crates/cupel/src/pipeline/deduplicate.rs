//! Stage 3: of items with the same text, byte for byte, the best one survives.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

use super::fate::Exclusion;
use super::score::Scored;
use crate::diagnostics::ExclusionReason;
use crate::model::NumberTable;
use crate::order::descending_key;

/// Which items survive. Numbers count the items that were scored.
pub(super) struct Unique {
    /// In input order.
    pub(super) survivors: Vec<u32>,
    /// Each dropped item with the survivor of the same text, in input order.
    duplicates: Vec<(u32, u32)>,
}

/// An item that others need survives in any case: they need it where it stands.
pub(super) fn deduplicate(
    scored: &Scored<'_>,
    enabled: bool,
    is_needed: Option<&[bool]>,
) -> Unique {
    let all = 0..scored.len() as u32;
    if !enabled {
        return Unique { survivors: all.collect(), duplicates: Vec::new() };
    }
    let firsts = first_twins(scored);
    if all.clone().eq(firsts.iter().copied()) {
        return Unique { survivors: firsts, duplicates: Vec::new() };
    }
    let best = best_twins(&firsts, &scored.scores);
    let (mut survivors, mut duplicates) = (Vec::new(), Vec::new());
    for (index, first) in all.zip(firsts) {
        match best[first as usize] {
            survivor if survivor == index => survivors.push(index),
            _ if is_needed
                .is_some_and(|needed| needed[scored.position(index as usize) as usize]) =>
            {
                survivors.push(index);
            }
            survivor => duplicates.push((index, survivor)),
        }
    }
    Unique { survivors, duplicates }
}

/// For each item the first one of the same text, often itself.
///
/// Reading every text to the end would take most of a run's time. A hash of its length and a few
/// of its bytes tells nearly all texts apart; only those that look alike are compared in full.
fn first_twins(scored: &Scored<'_>) -> Vec<u32> {
    let state = RandomState::default();
    let text = |index: u32| scored.item(index as usize).content();
    let all = 0..scored.len() as u32;
    // In a pass of its own, so that the processor can wait for several texts at once.
    let samples: Vec<u64> = all.clone().map(|index| sample(text(index), &state)).collect();
    let mut first_of_sample = NumberTable::with_capacity(samples.len());
    // For those that look like another, but are not.
    let mut first_of_text: HashMap<&str, u32, _> = HashMap::with_hasher(state);
    let firsts = all.map(|index| {
        let sample = samples[index as usize];
        let first = first_of_sample
            .find_or_insert(sample, index, |other| samples[other as usize] == sample);
        if first == index || text(first) == text(index) {
            return first;
        }
        *first_of_text.entry(text(index)).or_insert(index)
    });
    firsts.collect()
}

/// A hash of a text's length, beginning, middle and end: the same for equal texts, and rarely the
/// same for others.
fn sample(text: &str, state: &RandomState) -> u64 {
    const PIECE: usize = 16;
    let bytes = text.as_bytes();
    let mut hasher = state.build_hasher();
    hasher.write_usize(bytes.len());
    if bytes.len() <= 3 * PIECE {
        hasher.write(bytes);
    } else {
        for start in [0, bytes.len() / 2, bytes.len() - PIECE] {
            hasher.write(&bytes[start..start + PIECE]);
        }
    }
    hasher.finish()
}

/// At the place of each first twin, the one with the highest score; on a tie the earliest.
fn best_twins(firsts: &[u32], scores: &[f64]) -> Vec<u32> {
    let key = |index: u32| descending_key(scores[index as usize]);
    let mut best = firsts.to_vec();
    for (index, first) in (0..).zip(firsts) {
        let best = &mut best[*first as usize];
        if key(index) < key(*best) {
            *best = index;
        }
    }
    best
}

impl Unique {
    pub(super) fn len(&self) -> usize {
        self.survivors.len()
    }

    pub(super) fn exclusions<'a>(
        &self,
        scored: &Scored<'a>,
    ) -> impl Iterator<Item = Exclusion<'a>> {
        self.duplicates.iter().map(|(duplicate, survivor)| repeats(scored, *duplicate, *survivor))
    }
}

/// An item that is out because another one of the same text is in.
pub(super) fn repeats<'a>(scored: &Scored<'a>, duplicate: u32, survivor: u32) -> Exclusion<'a> {
    let duplicate = duplicate as usize;
    Exclusion {
        position: scored.position(duplicate),
        item: scored.item(duplicate),
        score: scored.scores[duplicate],
        reason: ExclusionReason::Deduplicated {
            deduplicated_against: scored.item(survivor as usize).content().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::classify::classify;
    use super::*;
    use crate::{ContextItem, ContextItemBuilder};

    fn unique(texts: &[&str], scores: &[f64]) -> (Vec<u32>, Vec<(u32, u32)>) {
        let build = |text: &&str| ContextItemBuilder::new(*text, 1).build().unwrap();
        let items: Vec<ContextItem> = texts.iter().map(build).collect();
        let classified = classify(&items).unwrap();
        let scored = Scored { classified, scores: scores.to_vec() };
        let Unique { survivors, duplicates } = deduplicate(&scored, true, None);
        (survivors, duplicates)
    }

    #[test]
    fn texts_that_only_look_alike_are_all_kept() {
        // Of one length, and the same where samples are taken.
        let text = |letter: &str| format!("{}{letter}{}", "x".repeat(20), "x".repeat(80));
        let (a, b, c) = (text("a"), text("b"), text("c"));
        let state = RandomState::default();
        assert_eq!(sample(&a, &state), sample(&b, &state));
        assert_eq!(unique(&[&a, &b, &c], &[0.0; 3]), (vec![0, 1, 2], vec![]));
        let twice = unique(&[&a, &b, &c, &b, &a, &c], &[0.1, 0.2, 0.3, 0.2, 0.5, 0.1]);
        assert_eq!(twice, (vec![1, 2, 4], vec![(0, 4), (3, 1), (5, 2)]));
    }

    #[test]
    fn texts_of_every_length_are_told_apart_and_found_again() {
        let text: String = ('a'..='z').cycle().take(200).collect();
        let texts: Vec<&str> = (1..200).map(|len| &text[..len]).collect();
        let count = texts.len() as u32;
        let twice = [&texts[..], &texts[..]].concat();
        let (survivors, duplicates) = unique(&twice, &vec![0.5; twice.len()]);
        assert!(survivors.into_iter().eq(0..count));
        assert!(duplicates.into_iter().eq((count..2 * count).zip(0..count)));
    }

    #[test]
    fn the_best_of_equal_texts_survives_and_on_a_tie_the_first() {
        assert_eq!(unique(&["a", "a", "a"], &[0.1, 0.9, 0.9]), (vec![1], vec![(0, 1), (2, 1)]));
        assert_eq!(unique(&["a", "a"], &[f64::NAN, f64::NEG_INFINITY]), (vec![1], vec![(0, 1)]));
        assert_eq!(unique(&["a", "a"], &[-0.0, 0.0]), (vec![0], vec![(1, 0)]));
    }
}
