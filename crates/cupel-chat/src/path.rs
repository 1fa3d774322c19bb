//! Where a value stands, written out only if somebody has to be told.

use std::fmt;

/// The way to a value, as in `messages[3].content`.
#[derive(Clone, Copy)]
pub(crate) struct Path<'p> {
    parent: Option<&'p Path<'p>>,
    step: Step<'p>,
}

#[derive(Clone, Copy)]
enum Step<'p> {
    Name(&'p str),
    Index(usize),
}

impl<'p> Path<'p> {
    /// A way that begins here, as it is written; empty for a bare list.
    pub(crate) fn from(name: &'p str) -> Self {
        Self { parent: None, step: Step::Name(name) }
    }

    /// An element of the list that this leads to.
    pub(crate) fn at(&'p self, index: usize) -> Self {
        Self { parent: Some(self), step: Step::Index(index) }
    }

    /// A field of the object that this leads to.
    pub(crate) fn field(&'p self, name: &'p str) -> Self {
        Self { parent: Some(self), step: Step::Name(name) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(f, "{parent}")?;
        }
        match (self.step, self.parent) {
            (Step::Name(name), None) => f.write_str(name),
            (Step::Name(name), Some(_)) => write!(f, ".{name}"),
            (Step::Index(index), _) => write!(f, "[{index}]"),
        }
    }
}

impl From<Path<'_>> for String {
    fn from(path: Path<'_>) -> Self {
        path.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_dots_and_elements_brackets() {
        let (bare, named) = (Path::from(""), Path::from("messages"));
        assert_eq!(bare.at(3).to_string(), "[3]");
        assert_eq!(named.at(0).field("content").at(12).to_string(), "messages[0].content[12]");
    }
}
