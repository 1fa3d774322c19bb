//! Where to cut the window, and what is worth sending again behind the cut.
//!
//! Cutting off the end of a window costs nothing: what stands before the cut is in the provider's
//! cache. What stands behind it is paid for in full. So for each place to cut the window is filled
//! up again with what is worth its tokens, and the best of these windows is taken.

use std::cmp::Ordering;

use cupel::Worth;
use cupel::slicer::Form;

use super::cache::CutCost;
use super::fill::Filler;
use crate::prepare::Chosen;

/// At how many places a cut is tried, at most.
const MOST_CUTS: usize = 48;

/// Worth of room that is left, as a share of the cost of sending something again: the
/// next message then needs no cut. Chosen on runs of τ-bench and SWE-bench: half or twice as much moves their coverage by
/// a point and a half or less (docs/sessions.md).
const WORTH_OF_ROOM: f64 = 0.4;

/// Largest share of the window that is worth leaving free. Chosen with [`WORTH_OF_ROOM`], and as flat.
const MOST_ROOM: f64 = 0.2;

/// Messages that are in or out as a whole, in the order of the request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unit {
    pub(super) tokens: i64,
    /// As what it could be sent, the shortest first and the whole last; empty where it can only be
    /// whole.
    pub(super) forms: Vec<Form>,
    /// Form in which it was sent, if it stands in the window; form in which it must be sent, if it is pinned.
    pub(super) stands_as: Option<usize>,
    /// True if it must be in.
    pub(super) is_pinned: bool,
    /// True if the provider has never had it.
    pub(super) is_new: bool,
    /// True if it may be sent again.
    pub(super) competes: bool,
    /// The units without which it cannot stand.
    pub(super) needs: Vec<usize>,
    /// Blocks that the provider's cache counts.
    pub(super) blocks: usize,
}

impl Unit {
    /// One of its forms; the whole if it has no such form.
    pub(super) fn form(&self, rendering: Option<usize>) -> Form {
        let whole = Form { rendering: None, tokens: self.tokens, share: 1.0 };
        let known = self.forms.iter().find(|form| form.rendering == rendering);
        known.copied().unwrap_or(whole)
    }

    /// Form in which it stands.
    pub(super) fn standing(&self) -> Form {
        self.form(self.stands_as)
    }
}

/// Situation to decide about.
pub(super) struct Situation<'s> {
    /// All units of the request.
    pub(super) units: &'s [Unit],
    /// Worth of the units together.
    pub(super) worth: &'s Worth,
    /// The units of the window before, as far as it stands unchanged, in order.
    pub(super) window: &'s [usize],
    /// Tokens that units that are not pinned may cost together.
    pub(super) room: i64,
    /// Tokens that may be sent again.
    pub(super) credit: i64,
    /// The share of the average worth of a token that one must have to be sent again.
    pub(super) threshold: f64,
    /// Exponent of size for units that compete: their worth is divided by tokens to this power.
    pub(super) size_exponent: f64,
    /// Cost of a cut behind each unit of the window, where the cache goes by marks; empty elsewhere.
    pub(super) cuts: &'s [CutCost],
}

impl Situation<'_> {
    /// Tokens before a cut that the provider does not find.
    pub(super) fn lost_tokens(&self, prefix: usize) -> i64 {
        self.cuts.get(prefix).map_or(0, |cut| cut.lost_tokens)
    }

    /// Blocks that may be sent again behind a cut.
    pub(super) fn again_blocks(&self, prefix: usize) -> usize {
        self.cuts.get(prefix).map_or(usize::MAX, |cut| cut.again_blocks)
    }
}

/// Returns true if nothing of the window before stands, but for what must be in.
pub(super) fn is_first(units: &[Unit], window: &[usize]) -> bool {
    window.iter().all(|at| units[*at].is_pinned)
}

/// Decision about a window.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Number of units of the window before that stay as they are.
    pub(super) prefix: usize,
    /// The units behind them, ascending, and which of their renderings is sent; `None` for the whole.
    pub(super) behind: Vec<Chosen>,
    /// Tokens that the provider has had before and has to be paid for again: what is sent again, and what
    /// stands before the cut and is not found.
    pub(super) again_tokens: i64,
    /// Least worth of a token that is sent again.
    pub(super) price: f64,
}

impl Plan {
    /// The whole window, ascending.
    pub(super) fn window(&self, before: &[usize], units: &[Unit]) -> Vec<Chosen> {
        let stays = before[..self.prefix].iter().map(|at| (*at, units[*at].stands_as));
        stays.chain(self.behind.iter().copied()).collect()
    }

    /// Returns true if a unit is behind the cut.
    pub(super) fn is_behind(&self, at: usize) -> bool {
        self.behind.binary_search_by_key(&at, |(unit, _)| *unit).is_ok()
    }
}

/// The best window, or `None` if not even what is pinned can be had.
pub(super) fn plan(situation: &Situation<'_>) -> Option<Plan> {
    let mut filler = Filler::new(situation);
    let window = situation.window;
    // The head is never cut: it is in every request, and all else stands behind it.
    let first = window.iter().take_while(|at| situation.units[**at].is_pinned).count();
    // Where nothing stands, nothing is sent again: all that fits is taken.
    let threshold = if is_first(situation.units, window) { 0.0 } else { situation.threshold };
    let price = threshold * filler.average_worth();
    // The price is the same behind every cut: what can never pay it need not be looked at for each.
    filler.forget_cheap(price);
    let mut best: Option<(Rank, Plan)> = None;
    // The last place comes first, and a later find must be better: of equals the one wins that keeps most of
    // what the provider has.
    for prefix in cuts(first, window.len()) {
        let Some(fill) = filler.within_credit(prefix, price) else { continue };
        // Room ahead saves the next cut. It counts up to a share of the window, or an empty window would be
        // the best of all.
        let room_ahead = (fill.left_tokens as f64).min(MOST_ROOM * situation.room as f64);
        // What stands before the cut and is not found in the cache is paid for like what is sent again.
        let lost_tokens = situation.lost_tokens(prefix);
        let again_tokens = fill.again_tokens.saturating_add(lost_tokens);
        let paid_tokens = fill.paid_tokens.saturating_add(lost_tokens);
        let rank = Rank {
            overdraft: again_tokens.saturating_sub(situation.credit).max(0),
            score: fill.worth + price * (WORTH_OF_ROOM * room_ahead - paid_tokens as f64),
        };
        let is_better = best.as_ref().is_none_or(|(known, _)| rank.cmp(known).is_gt());
        if is_better {
            let behind = fill.behind;
            best = Some((rank, Plan { prefix, behind, again_tokens, price }));
        }
    }
    best.map(|(_, plan)| plan)
}

/// The places to try, the last first.
fn cuts(first: usize, last: usize) -> impl Iterator<Item = usize> {
    // Filling takes time for each unit, and the cuts of two neighbours differ little: of a long window a few places
    // are tried. The first is always among them, since it alone may send everything again.
    let count = last - first + 1;
    let stride = count.div_ceil(MOST_CUTS);
    (0..count).rev().step_by(stride).chain((stride > 1).then_some(0)).map(move |at| first + at)
}

/// Rank of a window: one that stays within its credit before one that does not.
#[derive(Debug, Clone, Copy)]
struct Rank {
    overdraft: i64,
    score: f64,
}

impl Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        other.overdraft.cmp(&self.overdraft).then(self.score.total_cmp(&other.score))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{known, new, pinned, situation, worth};
    use super::*;

    fn whole(units: &[usize]) -> Vec<Chosen> {
        units.iter().map(|at| (*at, None)).collect()
    }

    #[test]
    fn a_unit_is_whole_where_it_has_no_such_form() {
        let short = Form { rendering: Some(2), tokens: 3, share: 0.4 };
        let unit = Unit { forms: vec![short], stands_as: Some(2), ..known(10) };
        let all = Form { rendering: None, tokens: 10, share: 1.0 };
        assert_eq!((unit.form(Some(2)), unit.form(Some(1)), unit.form(None)), (short, all, all));
        assert_eq!(unit.standing(), short);
        assert_eq!(known(10).standing(), all);
    }

    #[test]
    fn a_window_of_nothing_but_pins_is_a_first_one() {
        let units = [pinned(1), known(1)];
        assert!(is_first(&units, &[]) && is_first(&units, &[0]));
        assert!(!is_first(&units, &[0, 1]) && !is_first(&units, &[1]));
    }

    #[test]
    fn a_window_is_what_stays_as_it_stood_and_what_is_sent_behind_it() {
        let units = [Unit { stands_as: Some(3), ..known(1) }, known(1), known(1), known(1)];
        let behind = vec![(2, Some(1)), (3, None)];
        let plan = Plan { prefix: 1, behind, again_tokens: 0, price: 0.0 };
        assert_eq!(plan.window(&[0, 1], &units), [(0, Some(3)), (2, Some(1)), (3, None)]);
        assert_eq!([0, 1, 2, 3].map(|at| plan.is_behind(at)), [false, false, true, true]);
    }

    #[test]
    fn every_place_behind_the_head_is_tried_from_the_last_on() {
        let cuts = |first, last| cuts(first, last).collect::<Vec<_>>();
        assert_eq!(cuts(2, 5), [5, 4, 3, 2]);
        assert_eq!(cuts(3, 3), [3]);
        let most = cuts(1, MOST_CUTS);
        assert_eq!((most.len(), most[0], most[MOST_CUTS - 1]), (MOST_CUTS, MOST_CUTS, 1));
    }

    #[test]
    fn of_many_places_a_few_are_tried_and_the_first_and_the_last_always() {
        for last in [48, 49, 100, 10_000] {
            let tried: Vec<usize> = cuts(0, last).collect();
            assert!(tried.len() <= MOST_CUTS + 1 && tried.len() > MOST_CUTS / 2, "{last}");
            assert_eq!((tried[0], tried[tried.len() - 1]), (last, 0));
            assert!(tried.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn a_first_window_takes_whatever_fits_and_a_later_one_only_what_is_worth_its_tokens() {
        let worth = worth(&[0.0, 10.0, 0.125]);
        let units = [pinned(5), new(10), new(10)];
        let first = Situation { room: 20, ..situation(&units, &worth, &[0]) };
        let plan = super::plan(&first).unwrap();
        assert_eq!((plan.prefix, plan.behind, plan.price), (1, whole(&[1, 2]), 0.0));

        let units = [known(5), new(10), new(10)];
        let later = Situation { room: 20, ..situation(&units, &worth, &[0]) };
        let plan = super::plan(&later).unwrap();
        assert_eq!((plan.prefix, plan.behind), (1, whole(&[1])));
        assert_eq!(plan.price, 0.5 * 10.125 / 20.0);
    }

    #[test]
    fn the_end_of_a_window_goes_where_the_room_is_worth_more() {
        let units = [known(60), known(20), new(20)];
        let little = worth(&[6.0, 0.1, 4.0]);
        let plan = super::plan(&situation(&units, &little, &[0, 1])).unwrap();
        assert_eq!((plan.prefix, plan.behind), (1, whole(&[2])));
        let more = worth(&[6.0, 0.6, 4.0]);
        let plan = super::plan(&situation(&units, &more, &[0, 1])).unwrap();
        assert_eq!((plan.prefix, plan.behind), (2, whole(&[2])));
    }

    #[test]
    fn room_beyond_a_fifth_of_the_window_is_worth_nothing() {
        let units = [known(50), new(10)];
        let worth = worth(&[0.5, 10.0]);
        let plan = super::plan(&situation(&units, &worth, &[0])).unwrap();
        assert_eq!((plan.prefix, plan.behind), (1, whole(&[1])), "40 are free as it is");
    }

    #[test]
    fn of_windows_that_are_equally_good_the_longest_stays() {
        let units = [known(10), known(10), new(10)];
        let worth = worth(&[1.0, 0.0, 1.0]);
        let free = Situation { threshold: 0.0, ..situation(&units, &worth, &[0, 1]) };
        assert_eq!(super::plan(&free).unwrap().prefix, 2);
    }

    #[test]
    fn a_window_within_its_credit_goes_before_a_better_one_that_is_not() {
        let units = [known(40), pinned(10), new(20)];
        let worth = worth(&[0.0, 0.0, 5.0]);
        let of = |credit| {
            let situation = Situation { room: 60, credit, ..situation(&units, &worth, &[0, 1]) };
            super::plan(&situation).unwrap()
        };
        let (poor, rich) = (of(9), of(10));
        assert_eq!((poor.prefix, poor.behind, poor.again_tokens), (2, whole(&[2]), 0));
        assert_eq!((rich.prefix, rich.behind, rich.again_tokens), (0, whole(&[1, 2]), 10));
    }

    #[test]
    fn what_must_be_in_is_sent_again_beyond_the_credit_if_there_is_no_other_way() {
        let units = [known(90), pinned(10), Unit { needs: vec![1], is_pinned: true, ..new(20) }];
        let worth = worth(&[1.0, 0.0, 0.0]);
        let tight = Situation { room: 80, ..situation(&units, &worth, &[0, 1]) };
        let plan = super::plan(&tight).unwrap();
        assert_eq!((plan.prefix, plan.behind, plan.again_tokens), (0, whole(&[1, 2]), 10));
    }

    #[test]
    fn there_is_no_plan_where_what_is_pinned_needs_more_than_the_room() {
        let units = [new(50), Unit { needs: vec![0], ..pinned(1) }];
        let worth = worth(&[1.0, 1.0]);
        let of = |room| super::plan(&Situation { room, ..situation(&units, &worth, &[]) });
        assert_eq!(of(49), None);
        assert_eq!(of(50).unwrap().behind, whole(&[0, 1]));
    }

    #[test]
    fn what_is_cached_is_not_sent_again_though_it_might_be() {
        let units = [known(10), known(10), new(10)];
        let worth = worth(&[5.0; 3]);
        let rich = Situation { credit: 100, ..situation(&units, &worth, &[0, 1]) };
        let plan = super::plan(&rich).unwrap();
        assert_eq!((plan.prefix, plan.behind, plan.again_tokens), (2, whole(&[2]), 0));
    }

    #[test]
    fn behind_a_cut_no_more_blocks_are_sent_again_than_the_cache_looks_back_over() {
        let units = [known(10), known(10), Unit { blocks: 2, ..known(10) }, new(10)];
        let worth = worth(&[1.0, 2.0, 9.0, 1.0]);
        let behind = |again_blocks| {
            let cuts = [CutCost { lost_tokens: 0, again_blocks }; 2];
            let rich = Situation { credit: 100, ..situation(&units, &worth, &[0]) };
            Filler::new(&Situation { cuts: &cuts, ..rich }).within_credit(1, 0.0).unwrap().behind
        };
        assert_eq!(behind(0), whole(&[3]), "what is new was never in the cache");
        assert_eq!(behind(1), whole(&[1, 3]));
        assert_eq!(behind(2), whole(&[2, 3]));
        assert_eq!(behind(3), whole(&[1, 2, 3]));
    }

    #[test]
    fn what_a_cut_loses_is_paid_for_as_what_is_sent_again() {
        let units = [known(10), known(10), new(10)];
        let worth = worth(&[1.0, 9.0, 1.0]);
        let of = |lost_tokens| {
            let cuts = [CutCost { lost_tokens, again_blocks: 9 }; 2];
            let rich = Situation { credit: 15, threshold: 0.0, ..situation(&units, &worth, &[0]) };
            super::plan(&Situation { cuts: &cuts, ..rich }).unwrap()
        };
        let (within, beyond) = (of(5), of(6));
        assert_eq!((within.behind, within.again_tokens), (whole(&[1, 2]), 15));
        assert_eq!((beyond.behind, beyond.again_tokens), (whole(&[2]), 6));
    }
}
