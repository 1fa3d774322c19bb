use std::fmt;

use super::Reserved;

/// Why a slicer chose as it did: what it saw in the request as a whole, and what each item added.
///
/// Positions are those of the list that was asked about: of the candidates where a
/// [`Slicer`](crate::Slicer) answers, of the caller's items where a
/// [`Ranking`](crate::Ranking) does.
///
/// # Example
///
/// ```
/// use cupel::{Gain, SliceExplanation, SliceSignal};
///
/// let calls = SliceSignal::new("calls", 0.5, "half of the candidates are calls");
/// let far = SliceSignal::new("question_age", 310.0, "the user last spoke 310 tokens ago");
/// let gains = vec![Gain { position: 3, gain: 0.25 }];
/// let signals = vec![calls, far];
/// let explanation = SliceExplanation { signals, gains, ..SliceExplanation::default() };
/// assert_eq!(
///     explanation.to_string(),
///     "half of the candidates are calls; the user last spoke 310 tokens ago"
/// );
/// assert_eq!(explanation.gain(3), Some(0.25));
/// assert_eq!(explanation.gain(0), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SliceExplanation {
    /// Signals that the slicer went by, strongest first.
    pub signals: Vec<SliceSignal>,
    /// Gain of each item, in ascending order of positions.
    pub gains: Vec<Gain>,
    /// Items that were kept before the rest competed, and why.
    pub reserved: Vec<Reserved>,
    /// Notes on single items, by position, in a few words.
    pub notes: Vec<(usize, String)>,
}

/// Something about a request as a whole that decided how it was sliced.
#[derive(Debug, Clone, PartialEq)]
pub struct SliceSignal {
    /// A stable name for programs.
    pub name: &'static str,
    /// Strength of the signal.
    pub value: f64,
    /// Sentence for people.
    pub text: String,
}

impl SliceSignal {
    /// A signal by its name, its value and what that means.
    pub fn new(name: &'static str, value: f64, text: impl Into<String>) -> Self {
        Self { name, value, text: text.into() }
    }
}

/// Gain of an item when it was taken; of an item that was left out, the gain that it would
/// still add.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// Its position.
    pub position: usize,
    /// Gain, in the slicer's own measure.
    pub gain: f64,
}

impl SliceExplanation {
    /// Gain of the item at a position, if the slicer tells it.
    #[must_use]
    pub fn gain(&self, position: usize) -> Option<f64> {
        let found = self.gains.binary_search_by_key(&position, |gain| gain.position);
        found.ok().map(|at| self.gains[at].gain)
    }
}

/// The signals in one line.
impl fmt::Display for SliceExplanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, signal) in self.signals.iter().enumerate() {
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{}", signal.text)?;
        }
        Ok(())
    }
}
