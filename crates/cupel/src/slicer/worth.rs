use std::collections::BTreeMap;

use crate::Candidate;

/// Worth of items together, as a slicer sees it: each has something of its own, and holds
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
    /// The shorter forms of items, by position.
    forms: BTreeMap<usize, Vec<FormWorth>>,
    /// Share of a form's worth that goes by the values that it names.
    named: f64,
}

/// Worth of a shorter form of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct FormWorth {
    /// The share of the item's value that it is said to keep.
    pub share: f64,
    /// The numbers of the values that it still names.
    pub values: Box<[u32]>,
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
            for form in candidate.item().renderings() {
                worth.push_form(form.share_of(candidate.tokens()), []);
            }
        }
        worth
    }

    /// Adds an item with what it is worth by itself, and the numbers of the values that it holds.
    pub fn push(&mut self, own: f64, values: impl IntoIterator<Item = u32>) {
        self.own.push(own);
        self.held.extend(values);
        self.ends.push(self.held.len());
    }

    /// Adds a shorter form to the item that was pushed last, in the order of its
    /// [renderings](crate::ContextItem::renderings).
    pub fn push_form(&mut self, share: f64, values: impl IntoIterator<Item = u32>) {
        if let Some(last) = self.len().checked_sub(1) {
            let values = values.into_iter().collect();
            self.forms.entry(last).or_default().push(FormWorth { share, values });
        }
    }

    /// The same, where so much of what a form is worth goes by the values that it names, and the rest
    /// by the share that it is said to keep; nothing by its values otherwise.
    #[must_use]
    pub fn with_named_share(self, named: f64) -> Self {
        Self { named, ..self }
    }

    /// The shorter forms of the item at a position.
    #[must_use]
    pub fn forms(&self, position: usize) -> &[FormWorth] {
        self.forms.get(&position).map_or(&[], |forms| forms)
    }

    /// Gain of the item at a position in one of its forms, or whole, where values are covered or not
    /// and a form that keeps the share `has` is there already.
    ///
    /// ```
    /// use cupel::Worth;
    ///
    /// let mut worth = Worth::of_values(vec![1.0, 2.0]).with_named_share(0.5);
    /// worth.push(1.0, [0, 1]);
    /// worth.push_form(0.4, [0]);
    /// assert_eq!(worth.gain(0, None, 0.0, |_| true), 4.0);
    /// // A share of its own worth, half of what it names, half of its share of all.
    /// assert!((worth.gain(0, Some(0), 0.0, |_| true) - (0.4 + 0.5 + 0.6)).abs() < 1e-12);
    /// assert_eq!(worth.gain(0, None, 0.0, |value| value == 1), 3.0);
    /// ```
    #[must_use]
    pub fn gain(
        &self,
        position: usize,
        form: Option<usize>,
        has: f64,
        is_open: impl Fn(u32) -> bool,
    ) -> f64 {
        let sum = |values: &[u32]| {
            let open = values.iter().filter(|value| is_open(**value));
            open.fold(0.0, |sum, value| sum + self.of_value(*value))
        };
        let whole = sum(self.values(position));
        let form = form.and_then(|form| self.forms(position).get(form));
        let (share, named) = form.map_or((1.0, whole), |form| (form.share, sum(&form.values)));
        let more = (share - has).max(0.0);
        if more >= 1.0 {
            return self.own(position) + whole;
        }
        more * self.own(position) + self.named * named + (1.0 - self.named) * more * whole
    }

    /// The values that the item at a position covers in one of its forms, or whole.
    #[must_use]
    pub fn values_of(&self, position: usize, form: Option<usize>) -> &[u32] {
        let form = form.and_then(|form| self.forms(position).get(form));
        form.map_or_else(|| self.values(position), |form| &form.values)
    }

    /// The same, with what the pinned items are worth that do not stand at the very beginning: what
    /// the end of a request is worth tells what a token is worth now.
    #[must_use]
    pub fn with_pinned(self, worth: f64) -> Self {
        Self { pinned: Some(worth), ..self }
    }

    /// Worth of the pinned items behind the beginning; `None` if that is not known.
    #[must_use]
    pub fn pinned(&self) -> Option<f64> {
        self.pinned
    }

    /// Number of items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// Worth of the item at a position, its values apart.
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

    /// Worth of a value; 0 for one that was not declared.
    #[must_use]
    pub fn of_value(&self, value: u32) -> f64 {
        self.by_value.get(value as usize).copied().unwrap_or(0.0)
    }

    /// Number of values there are.
    #[must_use]
    pub fn value_count(&self) -> usize {
        self.by_value.len()
    }

    /// Worth of the item at a position in an empty window.
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
        let mut worth = Self {
            pinned: self.pinned,
            named: self.named,
            ..Self::of_values(self.by_value.clone())
        };
        for at in from {
            match at {
                Some(at) => {
                    worth.push(self.own(at), self.values(at).iter().copied());
                    for FormWorth { share, values } in self.forms(at) {
                        worth.push_form(*share, values.iter().copied());
                    }
                }
                None => worth.push(0.0, []),
            }
        }
        worth
    }
}
