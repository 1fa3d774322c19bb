//! The one trait.

use crate::{Count, parallel};

/// Counts the tokens of a text.
///
/// Write your own with two methods; or wrap a function in a [`SuppliedCounter`](crate::SuppliedCounter).
///
/// ```
/// use cupel_tokens::TokenCounter;
///
/// struct Words;
///
/// impl TokenCounter for Words {
///     fn name(&self) -> &str {
///         "words"
///     }
///
///     fn count(&self, text: &str) -> i64 {
///         text.split_whitespace().count() as i64
///     }
/// }
///
/// assert_eq!(Words.count("two words"), 2);
/// assert_eq!(Words.count_all(&["one", "", "and three more"]), [1, 0, 3]);
/// ```
pub trait TokenCounter: Send + Sync {
    /// Name of this counter for people, as in `o200k_base` or `estimate`.
    fn name(&self) -> &str;

    /// The tokens of one text; none for an empty one.
    fn count(&self, text: &str) -> i64;

    /// Returns true if counts are estimates. What is computed from them should be reported as such.
    fn is_estimate(&self) -> bool {
        false
    }

    /// The tokens of one text, with what they are at most.
    ///
    /// Exact counters have nothing to add; those that estimate say how far off they may be, if they
    /// know.
    fn bounded(&self, text: &str) -> Count {
        Count::exact(self.count(text))
    }

    /// A place at or after byte `from` where `text` may be cut, such that the counts of both parts
    /// add up to the count of the whole. `None` where the counter knows of no such place.
    ///
    /// Only [`count_all`](Self::count_all) asks, to share out one very long text among threads.
    fn cut(&self, text: &str, from: usize) -> Option<usize> {
        let _ = (text, from);
        None
    }

    /// The tokens of each text, in the order given.
    ///
    /// Long inputs are counted on several threads. The result does not depend on how many.
    fn count_all(&self, texts: &[&str]) -> Vec<i64> {
        parallel::count_all(self, texts)
    }
}

macro_rules! forward_counter {
    ($($pointer:ty),*) => {$(
        impl<C: TokenCounter + ?Sized> TokenCounter for $pointer {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn count(&self, text: &str) -> i64 {
                (**self).count(text)
            }

            fn is_estimate(&self) -> bool {
                (**self).is_estimate()
            }

            fn bounded(&self, text: &str) -> Count {
                (**self).bounded(text)
            }

            fn cut(&self, text: &str, from: usize) -> Option<usize> {
                (**self).cut(text, from)
            }

            fn count_all(&self, texts: &[&str]) -> Vec<i64> {
                (**self).count_all(texts)
            }
        }
    )*};
}

forward_counter!(&C, Box<C>);
