//! A text again, from pieces of the text that was read.

use std::ops::Range;

/// The elements of a list within a text, and what stands between them.
pub(crate) struct Splice<'t> {
    text: &'t str,
    /// Where each element is, ascending.
    elements: Vec<Range<usize>>,
}

impl<'t> Splice<'t> {
    pub(crate) fn new(text: &'t str, elements: Vec<Range<usize>>) -> Self {
        Self { text, elements }
    }

    /// The text with these elements only, in this order, each as `element` writes it.
    ///
    /// The text before the first, between and after the last element stays as it is, as far as it
    /// is needed; so all elements in their order give the whole text.
    pub(crate) fn compose<'e>(
        &'e self,
        order: impl IntoIterator<Item = usize>,
        mut element: impl FnMut(usize, &'e str, &mut String),
    ) -> String {
        let (Some(first), Some(last)) = (self.elements.first(), self.elements.last()) else {
            return self.text.to_owned();
        };
        let mut out = String::with_capacity(self.text.len());
        out.push_str(&self.text[..first.start]);
        for (slot, at) in order.into_iter().enumerate() {
            if let Some(before) = slot.checked_sub(1) {
                out.push_str(self.separator(before));
            }
            element(at, &self.text[self.elements[at].clone()], &mut out);
        }
        out.push_str(&self.text[last.end..]);
        out
    }

    /// The text with these elements only, as they are.
    pub(crate) fn keep(&self, order: impl IntoIterator<Item = usize>) -> String {
        self.compose(order, |_, element, out| out.push_str(element))
    }

    fn separator(&self, slot: usize) -> &'t str {
        match (self.elements.get(slot), self.elements.get(slot + 1)) {
            (Some(before), Some(after)) => &self.text[before.end..after.start],
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(text: &'static str) -> Splice<'static> {
        let at = |letter| text.find(letter).unwrap();
        Splice::new(text, ["a", "b", "c"].map(|letter| at(letter)..at(letter) + 1).into())
    }

    #[test]
    fn all_elements_in_order_give_the_text() {
        assert_eq!(splice("[ a ,b,\n c]").keep([0, 1, 2]), "[ a ,b,\n c]");
    }

    #[test]
    fn commas_go_with_what_is_left_out() {
        assert_eq!(splice("[ a,b, c ]").keep([1]), "[ b ]");
        assert_eq!(splice("[ a,b, c ]").keep([0, 2]), "[ a,c ]");
        assert_eq!(splice("[ a,b, c ]").keep([]), "[  ]");
    }

    #[test]
    fn any_order_will_do() {
        assert_eq!(splice("a\nb\r\nc\n").keep([2, 0]), "c\na\n");
    }
}
