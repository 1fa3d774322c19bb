use std::collections::HashSet;

use crate::CupelError;

/// The needs of a list's items: for each position of a list, the positions that must be in if it
/// is.
///
/// A step of an agent needs the question that it belongs to; a message that was corrected needs its
/// correction. What is needed may stand before or behind, may be several, and may itself need more,
/// in a circle too.
///
/// # Example
///
/// ```
/// use cupel::{
///     ChronologicalPlacer, ContextBudget, ContextItemBuilder, GreedySlice, Needs, Pipeline,
///     ReflexiveScorer,
/// };
///
/// let item = |text, hint| ContextItemBuilder::new(text, 40).future_relevance_hint(hint).build();
/// let items = [item("question", 0.1)?, item("aside", 0.5)?, item("answer", 0.9)?];
/// let mut needs = Needs::none(items.len());
/// needs.add(2, 0)?;
/// let pipeline = Pipeline::builder()
///     .scorer(ReflexiveScorer).slicer(GreedySlice).placer(ChronologicalPlacer).build()?
///     .with_needs(needs);
/// let window = pipeline.run(&items, &ContextBudget::builder(80).build()?)?;
/// let texts: Vec<_> = window.iter().map(|item| item.content()).collect();
/// assert_eq!(texts, ["answer", "question"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    of: Vec<Vec<usize>>,
}

impl Needs {
    /// A list of so many items, none of which needs another.
    #[must_use]
    pub fn none(len: usize) -> Self {
        Self { of: vec![Vec::new(); len] }
    }

    /// Says that the item at a position needs another one. That something needs itself says nothing.
    ///
    /// # Errors
    ///
    /// [`CupelError::PipelineConfig`] if one of the positions is beyond the list.
    pub fn add(&mut self, position: usize, needed: usize) -> Result<(), CupelError> {
        let len = self.of.len();
        if let Some(beyond) = [position, needed].into_iter().find(|at| *at >= len) {
            let text = format!("needs: position {beyond} is beyond the {len} items");
            return Err(CupelError::PipelineConfig(text));
        }
        if position != needed && !self.of[position].contains(&needed) {
            self.of[position].push(needed);
        }
        Ok(())
    }

    /// Returns the length of the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// Returns true if no item needs another.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.of.iter().all(Vec::is_empty)
    }

    /// Returns the direct needs of the item at a position; nothing beyond the list.
    #[must_use]
    pub fn of(&self, position: usize) -> &[usize] {
        self.of.get(position).map_or(&[], Vec::as_slice)
    }

    /// Returns all that would have to come in with the item at a position, however far that goes, in the order in
    /// which it is found. What is there has all that it needs.
    #[must_use]
    pub fn missing(&self, position: usize, is_there: impl Fn(usize) -> bool) -> Vec<usize> {
        let absent = |at: usize| {
            self.of(at).iter().copied().filter(|needed| *needed != position && !is_there(*needed))
        };
        let mut missing: Vec<usize> = absent(position).collect();
        if missing.is_empty() {
            return missing;
        }
        let mut known: HashSet<usize> = missing.iter().copied().collect();
        let mut next = 0;
        while let Some(at) = missing.get(next).copied() {
            missing.extend(absent(at).filter(|needed| known.insert(*needed)));
            next += 1;
        }
        missing
    }

    /// Returns true if all that is there has what it needs.
    #[must_use]
    pub fn are_met(&self, is_there: impl Fn(usize) -> bool) -> bool {
        let lacks = |at: usize| !self.of[at].iter().all(|needed| is_there(*needed));
        !(0..self.of.len()).any(|at| is_there(at) && lacks(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(len: usize, pairs: &[(usize, usize)]) -> Needs {
        let mut needs = Needs::none(len);
        for (position, needed) in pairs {
            needs.add(*position, *needed).unwrap();
        }
        needs
    }

    #[test]
    fn what_is_needed_may_need_more_on_either_side() {
        let needs = needs(5, &[(2, 1), (1, 4), (2, 0)]);
        assert_eq!(needs.missing(2, |_| false), [1, 0, 4]);
        assert_eq!(needs.missing(2, |at| at == 1), [0]);
        assert_eq!(needs.missing(3, |_| false), [0; 0]);
    }

    #[test]
    fn circles_end() {
        let needs = needs(3, &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!(needs.missing(0, |_| false), [1, 2]);
        assert_eq!(needs.of(1), [2]);
        assert!(needs.are_met(|_| true) && needs.are_met(|_| false));
        assert!(!needs.are_met(|at| at != 2));
    }

    #[test]
    fn positions_beyond_the_list_are_refused() {
        let mut needs = Needs::none(2);
        let error = needs.add(0, 2).unwrap_err();
        assert_eq!(error.to_string(), "needs: position 2 is beyond the 2 items");
        assert!(needs.is_empty() && needs.of(7).is_empty());
    }
}
