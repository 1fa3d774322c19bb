//! Treatment of messages that something newer makes superfluous.

/// Treatment of superseded messages: an older read of the same file, the same call made
/// again, a text that a newer one repeats nearly word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Superseded {
    /// It competes like everything else.
    #[default]
    Keep,
    /// It is left out, and named in the answer.
    Drop,
}
