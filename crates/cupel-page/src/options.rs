//! Options of a view.

use cupel_engine::NamedPolicy;

/// Amount of the texts that a page may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Texts {
    /// Whole texts, up to a limit a part.
    #[default]
    Full,
    /// The beginning of each part.
    Excerpts,
    /// None: sizes, scores and places alone. Words that earned a score and the question are texts too.
    None,
}

/// Options of a view.
///
/// ```
/// use cupel_engine::NamedPolicy;
/// use cupel_page::{Texts, ViewOptions};
///
/// let how = ViewOptions::new().title("request.json").texts(Texts::Excerpts);
/// let how = how.beside(NamedPolicy::find("chat")?).taste(true);
/// # Ok::<(), cupel_engine::EngineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ViewOptions {
    pub(crate) title: Option<String>,
    pub(crate) texts: Texts,
    pub(crate) beside: Vec<NamedPolicy>,
    pub(crate) taste: bool,
}

impl ViewOptions {
    /// Whole texts, no other policy.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title of the page, as the name of a file.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the amount of the texts that the page may hold.
    #[must_use]
    pub fn texts(mut self, texts: Texts) -> Self {
        self.texts = texts;
        self
    }

    /// Another policy whose windows are there to compare with. Of those for a request of more than 2,000
    /// messages, the first two are.
    #[must_use]
    pub fn beside(mut self, policy: NamedPolicy) -> Self {
        self.beside.push(policy);
        self
    }

    /// Opens a request that fits whole at a fifth of its tokens, so that there is something
    /// to see; the page says so. One that nothing is known of the window for opens so in any case.
    #[must_use]
    pub fn taste(mut self, taste: bool) -> Self {
        self.taste = taste;
        self
    }
}
