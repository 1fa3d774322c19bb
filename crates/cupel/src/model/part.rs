//! The typed stretches of an item's text.

use std::ops::Range;

/// A stretch of an item's text, and what it is: words, a tool call, a tool result.
///
/// Whoever makes items of a conversation knows who speaks where; parts hand that on, so that nobody has to
/// guess it from the text. They are optional: the specification's stages never read them, they are not
/// written, and two items that differ in them alone are equal.
///
/// # Example
///
/// ```
/// use cupel::{ContextItemBuilder, Part, PartKind};
///
/// let text = "ls {\"path\": \"src\"}\nlib.rs";
/// let called = PartKind::Called { tool: 0..2, id: "call_1".into(), arguments: 3..18 };
/// let returned = PartKind::Returned { call: "call_1".into(), is_error: false };
/// let parts = vec![Part { range: 0..18, kind: called }, Part { range: 19..25, kind: returned }];
/// let item = ContextItemBuilder::new(text, 12).parts(parts).build()?;
/// let texts: Vec<&str> = item.parts().iter().map(|part| part.of(item.content())).collect();
/// assert_eq!(texts, ["ls {\"path\": \"src\"}", "lib.rs"]);
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Part {
    /// The bytes of the item's text that it covers.
    pub range: Range<usize>,
    /// Its kind.
    pub kind: PartKind,
}

impl Part {
    /// Returns its stretch of the text that it is a part of; nothing if it is not one of that text.
    #[must_use]
    pub fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.range.clone()).unwrap_or_default()
    }
}

/// The kind of a [`Part`].
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PartKind {
    /// Words that somebody says.
    Said {
        /// The speaker's role.
        by: Speaker,
    },
    /// The model's reasoning before it speaks or calls.
    Thought,
    /// A tool call.
    Called {
        /// The bytes of the text that name the tool.
        tool: Range<usize>,
        /// The id by which its result names it; empty where the provider pairs by order.
        id: Box<str>,
        /// The bytes of the text that are its arguments.
        arguments: Range<usize>,
    },
    /// The result of a tool call, or a piece of it.
    Returned {
        /// The id of the call; empty where the provider pairs by order.
        call: Box<str>,
        /// True if the tool says that it failed.
        is_error: bool,
    },
    /// A document, an image or another file.
    Attached,
    /// Fields that stand beside all that.
    Beside,
}

/// The role of whoever speaks.
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// Instructions of the program.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, outside of a result.
    Tool,
    /// Anybody else.
    Other,
}
