use crate::Candidate;

/// What items are worth together, as a slicer sees it: each has something of its own, and holds
/// values that count once, however many items hold them.
///
/// For whoever fills a window by rules of their own, as one that must keep what was sent before.
/// Positions are those of the list that was asked about: of the candidates where a
/// [`Slicer`](crate::Slicer) answers, of the caller's items where a [`Ranking`](crate::Ranking)
/// does.
///
/// # Example
///
/// ```
/// use cupel::Worth;
///
/// let mut worth = Worth::of_values(vec![0.5, 2.0]);
/// worth.push(0.1, [0]);
/// worth.push(0.2, [0, 1]);
/// assert_eq!(worth.own(1), 0.2);
/// assert_eq!(worth.alone(1), 0.2 + 0.5 + 2.0);
/// assert_eq!(worth.values(0), [0]);
/// assert_eq!(worth.with_pinned(0.7).pinned(), Some(0.7));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Worth {
    by_value: Vec<f64>,
    own: Vec<f64>,
    held: Vec<u32>,
    ends: Vec<usize>,
    pinned: Option<f64>,
}

impl Worth {
    /// Nothing yet, and what each value is worth, by number.
    #[must_use]
    pub fn of_values(by_value: Vec<f64>) -> Self {
        Self { by_value, ..Self::default() }
    }

    /// Scores, as far as they are positive numbers.
    #[must_use]
    pub fn of_scores(candidates: &[Candidate<'_>]) -> Self {
        let mut worth = Self::default();
        for candidate in candidates {
            let score = candidate.score();
            worth.push(if score.is_finite() { score.max(0.0) } else { 0.0 }, []);
        }
        worth
    }

    /// Adds an item with what it is worth by itself, and the numbers of the values that it holds.
    pub fn push(&mut self, own: f64, values: impl IntoIterator<Item = u32>) {
        self.own.push(own);
        self.held.extend(values);
        self.ends.push(self.held.len());
    }

    /// The same, with what the pinned items are worth that do not stand at the very beginning: what
    /// the end of a request is worth tells what a token is worth now.
    #[must_use]
    pub fn with_pinned(self, worth: f64) -> Self {
        Self { pinned: Some(worth), ..self }
    }

    /// What the pinned items behind the beginning are worth; `None` if that is not known.
    #[must_use]
    pub fn pinned(&self) -> Option<f64> {
        self.pinned
    }

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// What the item at a position is worth, its values apart.
    #[must_use]
    pub fn own(&self, position: usize) -> f64 {
        self.own[position]
    }

    /// The numbers of the values that the item at a position holds.
    #[must_use]
    pub fn values(&self, position: usize) -> &[u32] {
        let start = if position == 0 { 0 } else { self.ends[position - 1] };
        &self.held[start..self.ends[position]]
    }

    /// What a value is worth; 0 for one that nobody declared.
    #[must_use]
    pub fn of_value(&self, value: u32) -> f64 {
        self.by_value.get(value as usize).copied().unwrap_or(0.0)
    }

    /// How many values there are.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.by_value.len()
    }

    /// What the item at a position is worth in an empty window.
    #[must_use]
    pub fn alone(&self, position: usize) -> f64 {
        let values = self.values(position).iter();
        values.fold(self.own(position), |sum, value| sum + self.of_value(*value))
    }

    /// The same for a list of so many items, in which the item at a position here stands at
    /// `positions[position]`; the others are worth nothing.
    pub(crate) fn within(&self, count: usize, positions: &[u32]) -> Self {
        let mut from = vec![None; count];
        for (at, position) in positions.iter().enumerate().take(self.len()) {
            from[*position as usize] = Some(at);
        }
        let mut worth = Self { pinned: self.pinned, ..Self::of_values(self.by_value.clone()) };
        for at in from {
            match at {
                Some(at) => worth.push(self.own(at), self.values(at).iter().copied()),
                None => worth.push(0.0, []),
            }
        }
        worth
    }
}
