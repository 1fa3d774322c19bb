//! Scorers by relevance to the query.
//!
//! | scorer | reads | score |
//! |---|---|---|
//! | [`Bm25Scorer`] | words | how much of the query's weight the text has |
//! | [`WidenedScorer`] | words, order, groups | the same over the text and what stands around it |
//! | [`VectorScorer`] | the caller's vectors | cosine with the query's vector |
//! | [`NeighbourScorer`] | order, groups | inner score, and a part of what stands around it |
//! | [`StretchScorer`] | order, groups, lengths | inner score, and in a long talk that of the stretch |
//! | [`GroupLiftScorer`] | groups | inner score, and a part of its group's best |
//! | [`SumScorer`], [`ProductScorer`], [`MaxNormScorer`] | their children | sum, product, divided by the maximum |
//! | [`WhenScorer`], [`ConstantScorer`] | the list; nothing | one scorer or another; the same for all |
//! | [`LiveValuesScorer`] | ids and numbers | how many were last mentioned here |
//! | [`ClassNormScorer`], [`LengthNormScorer`] | class, tokens | a factor that makes short and long comparable |
//! | [`SpeakerScorer`], [`AddressedScorer`], [`DateScorer`] | speaker, role, time | a factor, where the query names them |
//! | [`EchoScorer`] | words | a factor, where the text repeats the query |

mod addressed;
mod bm25;
mod combine;
mod constant;
mod dates;
mod echo;
mod group_lift;
mod kernel;
#[cfg(feature = "word-vectors")]
mod like_text;
mod live_values;
mod named_date;
mod neighbours;
mod norm;
mod numbered_month;
mod speaker;
mod stretch;
mod vectors;
mod when;
mod widened;

use cupel::{ContextItem, ItemList, Scorer};

pub use addressed::AddressedScorer;
pub use bm25::{Bm25Parameters, Bm25Scorer, TermContribution};
pub use combine::{MaxNormScorer, ProductScorer, SumScorer};
pub use constant::ConstantScorer;
pub use dates::DateScorer;
pub use echo::EchoScorer;
pub use group_lift::GroupLiftScorer;
pub use kernel::Kernel;
#[cfg(feature = "word-vectors")]
pub use like_text::LikeTextScorer;
pub use live_values::LiveValuesScorer;
pub use neighbours::{NeighbourParameters, NeighbourScorer, NeighbourShare};
pub use norm::{ClassNormScorer, LengthNormScorer};
pub use speaker::SpeakerScorer;
pub use stretch::StretchScorer;
pub(crate) use stretch::{STRETCH_KERNEL, STRETCH_WEIGHT};
pub(crate) use vectors::unit_vector;
pub use vectors::{ItemVectors, VectorScorer};
pub use when::{Condition, WhenScorer};
pub use widened::WidenedScorer;

/// Implements [`Scorer::score`] for every scorer of whole lists. An item that is not in the list has
/// no score: NaN, which sorts last.
fn score_in_list(scorer: &dyn Scorer, item: &ContextItem, all_items: &[ContextItem]) -> f64 {
    let scores = scores_of(scorer, &ItemList::new(all_items));
    crate::identity::position(item, all_items).map_or(f64::NAN, |position| scores[position])
}

fn scores_of(scorer: &dyn Scorer, items: &ItemList<'_>) -> Vec<f64> {
    let mut scores = vec![0.0; items.len()];
    scorer.score_all(items, &mut scores);
    scores
}
