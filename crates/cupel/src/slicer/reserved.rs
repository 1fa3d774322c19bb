/// An item that a [`Slicer`](crate::Slicer) keeps before the rest competes, and why.
///
/// The position is that of the list that was asked about: of the candidates where a slicer answers, of the
/// caller's items where a [`Ranking`](crate::Ranking) does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// Its position.
    pub position: usize,
    /// The rendering that it goes in as; `None` for the whole.
    pub rendering: Option<usize>,
    /// The reason, in a few words that follow "kept:".
    pub why: String,
}
