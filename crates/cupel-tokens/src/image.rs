//! Tokens of an image.

/// Resolution at which the model is asked to look at an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Detail {
    /// As the provider likes. Counted as [`High`](Self::High): rather over than under.
    #[default]
    Auto,
    /// At a small version of it.
    Low,
    /// At the image as it is.
    High,
}

/// Size and detail of an image, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Image {
    /// Width and height in pixels. An image of unknown size is taken as 1024 by 1024.
    pub size: Option<(u32, u32)>,
    /// Resolution at which the model is asked to look.
    pub detail: Detail,
}

/// Rule by which a provider counts images.
///
/// ```
/// use cupel_tokens::{Detail, Image, ImageRule};
///
/// let gpt_4o = ImageRule::OpenAiTiles { base: 85, tile: 170 };
/// let photo = Image { size: Some((2048, 4096)), detail: Detail::High };
/// assert_eq!(gpt_4o.tokens(&photo), 1_105);
/// assert_eq!(gpt_4o.tokens(&Image { detail: Detail::Low, ..photo }), 85);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageRule {
    /// The same for every image.
    Fixed(i64),
    /// OpenAI, GPT-4o and its kind: the image is fitted into 2048 by 2048 pixels, its shorter side
    /// brought down to 768; then a base and so much for each tile of 512 by 512. Low detail costs
    /// the base alone.
    OpenAiTiles {
        /// Once an image.
        base: i64,
        /// For each tile.
        tile: i64,
    },
    /// OpenAI, small models and everything since GPT-5.2: one for each patch of 32 by 32 pixels, the
    /// image shrunk until its patches are within the budget; then a multiplier.
    OpenAiPatches {
        /// Most patches of an image.
        budget: i64,
        /// The multiplier, in percent.
        percent: i64,
    },
    /// Anthropic: one for each patch of 28 by 28 pixels, the image shrunk to a longest edge and to
    /// a most of patches.
    AnthropicPatches {
        /// Longest edge in pixels.
        edge: i64,
        /// Most patches of an image.
        budget: i64,
    },
    /// Google, Gemini 2.5 and before: 258 for an image of at most 384 by 384 pixels. Larger ones
    /// are cut into tiles, two thirds of the shorter side each way, of 258 each.
    GoogleTiles,
}

/// An image of unknown size is taken as one of this width and height.
const USUAL: (u32, u32) = (1024, 1024);

impl ImageRule {
    /// The tokens of an image.
    pub fn tokens(&self, image: &Image) -> i64 {
        let (width, height) = image.size.unwrap_or(USUAL);
        let (width, height) = (i64::from(width.max(1)), i64::from(height.max(1)));
        match *self {
            Self::Fixed(tokens) => tokens,
            Self::OpenAiTiles { base, .. } if image.detail == Detail::Low => base,
            Self::OpenAiTiles { base, tile } => {
                base.saturating_add(tile.saturating_mul(openai_tiles(width, height)))
            }
            Self::OpenAiPatches { budget, percent } => {
                let patches = openai_patches(width, height, budget);
                patches.saturating_mul(percent).saturating_add(99) / 100
            }
            Self::AnthropicPatches { edge, budget } => {
                let (width, height) = shrink(width, height, edge, width.max(height));
                squares(width, height, 28).min(budget)
            }
            Self::GoogleTiles => google_tiles(width, height) * 258,
        }
    }
}

fn openai_tiles(width: i64, height: i64) -> i64 {
    let (width, height) = shrink(width, height, 2048, width.max(height));
    let (width, height) = shrink(width, height, 768, width.min(height));
    squares(width, height, 512)
}

/// The published rule: shrink to the budget's area, then a little more, so that whole patches
/// cover it.
fn openai_patches(width: i64, height: i64, budget: i64) -> i64 {
    let all = squares(width, height, 32);
    if all <= budget {
        return all;
    }
    let (width, height) = (width as f64 / 32.0, height as f64 / 32.0);
    let shrunk = (budget.max(1) as f64 / (width * height)).sqrt();
    let (wide, high) = (width * shrunk, height * shrunk);
    let whole = (wide.floor() / wide).min(high.floor() / high);
    let patches = (wide * whole).round().max(1.0) * (high * whole).ceil().max(1.0);
    (patches as i64).min(budget)
}

fn google_tiles(width: i64, height: i64) -> i64 {
    if width <= 384 && height <= 384 {
        return 1;
    }
    squares(width, height, (width.min(height) * 2 / 3).max(1))
}

/// Width and height, made smaller such that `side`, one of them, is at most `most`.
fn shrink(width: i64, height: i64, most: i64, side: i64) -> (i64, i64) {
    if side <= most {
        return (width, height);
    }
    ((width * most / side).max(1), (height * most / side).max(1))
}

/// Number of squares of this side it takes to cover an area.
fn squares(width: i64, height: i64, side: i64) -> i64 {
    let along = |length: i64| (length + side - 1) / side;
    along(width).saturating_mul(along(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TILES: ImageRule = ImageRule::OpenAiTiles { base: 85, tile: 170 };
    const PATCHES: ImageRule = ImageRule::OpenAiPatches { budget: 1_536, percent: 100 };
    const CLAUDE: ImageRule = ImageRule::AnthropicPatches { edge: 1_568, budget: 1_568 };

    fn tokens(rule: ImageRule, width: u32, height: u32) -> i64 {
        rule.tokens(&Image { size: Some((width, height)), detail: Detail::High })
    }

    #[test]
    fn tiles_agree_with_the_examples_that_openai_publishes() {
        assert_eq!(tokens(TILES, 1_024, 1_024), 765);
        assert_eq!(tokens(TILES, 2_048, 4_096), 1_105);
        assert_eq!(tokens(TILES, 400, 300), 85 + 170);
    }

    #[test]
    fn patches_agree_with_the_examples_that_openai_publishes() {
        assert_eq!(tokens(PATCHES, 1_024, 1_024), 1_024);
        assert_eq!(tokens(PATCHES, 1_800, 2_400), 1_452);
    }

    #[test]
    fn a_multiplier_rounds_up() {
        let rule = ImageRule::OpenAiPatches { budget: 1_536, percent: 162 };
        assert_eq!(tokens(rule, 33, 1), 4);
    }

    #[test]
    fn claude_counts_patches_up_to_its_limit() {
        assert_eq!(tokens(CLAUDE, 200, 200), 64);
        assert_eq!(tokens(CLAUDE, 1_000, 1_000), 1_296);
        assert_eq!(tokens(CLAUDE, 8_000, 8_000), 1_568);
    }

    #[test]
    fn gemini_cuts_what_is_larger_than_384() {
        assert_eq!(tokens(ImageRule::GoogleTiles, 384, 384), 258);
        assert_eq!(tokens(ImageRule::GoogleTiles, 960, 540), 6 * 258);
    }

    #[test]
    fn low_detail_costs_the_base_and_auto_what_high_costs() {
        let low = Image { size: None, detail: Detail::Low };
        assert_eq!(TILES.tokens(&low), 85);
        assert_eq!(TILES.tokens(&Image::default()), 765);
    }

    #[test]
    fn the_strangest_sizes_stay_in_bounds() {
        for rule in [TILES, PATCHES, CLAUDE, ImageRule::GoogleTiles] {
            for size in [(0, 0), (0, u32::MAX), (u32::MAX, 1), (u32::MAX, u32::MAX)] {
                let tokens = rule.tokens(&Image { size: Some(size), detail: Detail::High });
                assert!(tokens > 0, "{rule:?} of {size:?}: {tokens}");
            }
        }
    }
}
