//! Tokens of files that are attached to a request.

use crate::{Detail, Image, ImageRule};

/// Size and type of an attached file, as far as they are known. Text files are texts, and images are
/// [`Image`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Attachment {
    /// A document of so many pages, as a PDF.
    Pages(u64),
    /// Sound of so many milliseconds.
    Sound(u64),
    /// A film of so many milliseconds.
    Film(u64),
    /// A file of so many bytes, of which nothing else is known.
    Bytes(u64),
    /// A document that is only named, by an address or an id.
    Elsewhere,
}

/// A document that is only named is taken as one of so many pages.
const USUAL_PAGES: u64 = 10;

/// Bytes for a token of an attached file that is not known to be text.
const BYTES_PER_TOKEN: u64 = 4;

/// A page as an image: US letter at 150 dots per inch.
const PAGE: Image = Image { size: Some((1_275, 1_650)), detail: Detail::High };

/// Rule by which a provider counts attached files.
///
/// | | a page | a second of sound | a second of film |
/// |---|---|---:|---:|
/// | [`OPENAI`](Self::OPENAI) | 3,000ᵃ for its text, and its image | 10 | 300ᵃ |
/// | [`ANTHROPIC`](Self::ANTHROPIC) | 3,000 for its text, and its image | 32ᵃ | 300ᵃ |
/// | [`GEMINI`](Self::GEMINI) | 560 | 32 | 300 |
/// | [`GEMINI_BEFORE_3`](Self::GEMINI_BEFORE_3) | 258 | 32 | 300 |
///
/// ᵃ Nothing is published; an assumption, chosen rather over than under.
///
/// - Anthropic publishes 1,500 to 3,000 tokens of text for a page, and counts each page as an image
///   too. OpenAI does the same with pages, without a figure for the text.
/// - OpenAI publishes a token for 100 ms of what a user says.
/// - Google publishes 258 for a page, 560 since Gemini 3, without its text; 32 for a second of sound; and
///   263 to 300 for a second of film with its sound.
///
/// A document that is only named counts as one of ten pages, and a file of an unknown sort a token
/// for every four bytes: rather over than under.
///
/// ```
/// use cupel_tokens::{Attachment, Overheads};
///
/// let gemini = Overheads::gemini();
/// assert_eq!(gemini.attachment_tokens(&Attachment::Pages(12)), 12 * 560);
/// assert_eq!(gemini.attachment_tokens(&Attachment::Sound(1_500)), 48);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AttachmentRule {
    /// For each page, beside its image.
    pub per_page: i64,
    /// True if each page counts as an image as well.
    pub pages_are_images: bool,
    /// For each second of sound.
    pub per_sound_second: i64,
    /// For each second of film.
    pub per_film_second: i64,
}

impl AttachmentRule {
    /// OpenAI.
    pub const OPENAI: Self = Self {
        per_page: 3_000,
        pages_are_images: true,
        per_sound_second: 10,
        per_film_second: 300,
    };
    /// Anthropic, and whatever else publishes nothing.
    pub const ANTHROPIC: Self = Self { per_sound_second: 32, ..Self::OPENAI };
    /// Google, Gemini 3 and later.
    pub const GEMINI: Self = Self { per_page: 560, pages_are_images: false, ..Self::ANTHROPIC };
    /// Google, Gemini 2.5 and before.
    pub const GEMINI_BEFORE_3: Self = Self { per_page: 258, ..Self::GEMINI };
    /// Nothing counts.
    pub const NONE: Self =
        Self { per_page: 0, pages_are_images: false, per_sound_second: 0, per_film_second: 0 };

    /// The tokens of an attached file, where images count like this.
    pub fn tokens(&self, attachment: &Attachment, images: &ImageRule) -> i64 {
        let page = if self.pages_are_images { images.tokens(&PAGE) } else { 0 };
        let (amount, each, unit) = match *attachment {
            Attachment::Pages(pages) => (pages, self.per_page.saturating_add(page), 1),
            Attachment::Elsewhere => (USUAL_PAGES, self.per_page.saturating_add(page), 1),
            Attachment::Sound(milliseconds) => (milliseconds, self.per_sound_second, 1_000),
            Attachment::Film(milliseconds) => (milliseconds, self.per_film_second, 1_000),
            Attachment::Bytes(bytes) => (bytes, i64::from(*self != Self::NONE), BYTES_PER_TOKEN),
        };
        let total = u128::from(amount) * u128::try_from(each).unwrap_or(0);
        i64::try_from(total.div_ceil(u128::from(unit))).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Model, Overheads};

    fn tokens(model: &str, attachment: Attachment) -> i64 {
        Model::find(model).unwrap().overheads().attachment_tokens(&attachment)
    }

    #[test]
    fn pages_count_as_published() {
        assert_eq!(tokens("gemini-2.5-pro", Attachment::Pages(10)), 2_580);
        assert_eq!(tokens("gemini-3-pro", Attachment::Pages(10)), 5_600);
        assert_eq!(tokens("claude-sonnet-4-5", Attachment::Pages(2)), 2 * (3_000 + 1_568));
        assert!(tokens("gpt-4o", Attachment::Pages(1)) > 3_000);
    }

    #[test]
    fn seconds_count_as_published_and_a_second_begun_counts_in_part() {
        assert_eq!(tokens("gpt-4o", Attachment::Sound(60_000)), 600);
        assert_eq!(tokens("gpt-4o", Attachment::Sound(101)), 2);
        assert_eq!(tokens("gemini-3-pro", Attachment::Sound(60_000)), 1_920);
        assert_eq!(tokens("gemini-3-pro", Attachment::Film(10_000)), 3_000);
    }

    #[test]
    fn nothing_that_is_attached_is_free() {
        for model in Model::all() {
            for attachment in [Attachment::Elsewhere, Attachment::Bytes(1), Attachment::Pages(1)] {
                assert!(tokens(model.name, attachment) > 0, "{} {attachment:?}", model.name);
            }
        }
        assert_eq!(Overheads::none().attachment_tokens(&Attachment::Bytes(9)), 0);
    }

    #[test]
    fn the_largest_file_stays_in_bounds() {
        for attachment in [Attachment::Pages(u64::MAX), Attachment::Film(u64::MAX)] {
            assert!(tokens("claude-opus-5", attachment) > 0);
        }
    }
}
