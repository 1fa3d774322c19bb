use super::hull::{Form, hull};
use super::{Selection, SliceRequest, Slicer, Walk, slice_by_selecting};
use crate::order::positions_descending;
use crate::{Candidate, ContextBudget, ContextItem, CupelError, ScoredItem};

/// Fills the budget with the best items, in shorter forms where the whole is not worth its tokens.
///
/// **When to choose it:** items carry [renderings](crate::Rendering), and scores say what an item is
/// worth as a whole.
///
/// **Steps:** of each item's forms those stay that are worth their tokens: the upper hull over tokens
/// and the share of the value that they keep. An item enters at its rank, which is its score, in the
/// smallest of them. It grows to the next where its score, times what that adds for a token as a share
/// of what the first form gave for one, comes in turn. What does not fit is skipped. Room that is left
/// is given to the best first: each takes the form that keeps most of what fits, and items that
/// are not in yet any form that does.
///
/// **Ties and edge cases:** among equal scores the earlier item comes first, and an item enters before
/// another grows. A target of 0 takes nothing. Without renderings, items are in or out, best first.
///
/// **Cost:** one sort of all forms.
///
/// # Example
///
/// ```
/// use cupel::{ContextBudget, ContextItemBuilder, Rendering, ScoredItem, ShorteningSlice, Slicer};
///
/// let item = |text: &str, tokens, score| {
///     let summary = Rendering::new("summary", "in short", 10)?.with_share(0.6)?;
///     let item = ContextItemBuilder::new(text, tokens).renderings(vec![summary]).build()?;
///     Ok::<_, cupel::CupelError>(ScoredItem { item, score })
/// };
/// let sorted = [item("first", 60, 0.9)?, item("second", 60, 0.5)?];
/// let kept = ShorteningSlice.slice(&sorted, &ContextBudget::builder(75).build()?)?;
/// // Both are in: the better one whole, the other as its summary.
/// assert_eq!((kept[0].content(), kept[1].content()), ("first", "in short"));
/// assert_eq!(kept[1].rendered_as(), Some("summary"));
/// # Ok::<(), cupel::CupelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ShorteningSlice;

impl Slicer for ShorteningSlice {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        slice_by_selecting(self, sorted, budget)
    }

    fn select(&self, request: &SliceRequest<'_>) -> Result<Selection, CupelError> {
        if request.is_empty() {
            return Ok(Selection::default());
        }
        let scores = request.candidates.iter().map(Candidate::score);
        let order = positions_descending(scores).into_iter().map(|at| at as usize);
        Ok(shorten_best_first(request, &order.collect::<Vec<_>>()))
    }
}

/// The selection of a [`ShorteningSlice`], for slicers with an order of their own: positions of the
/// candidates, best first.
#[must_use]
pub fn shorten_best_first(request: &SliceRequest<'_>, order: &[usize]) -> Selection {
    let target = request.budget.target_tokens();
    Contest::new(request.candidates, order, target).run(target)
}

struct Contest<'a> {
    candidates: &'a [Candidate<'a>],
    /// Positions, best first.
    order: &'a [usize],
    /// The forms of each in order, and their hull.
    forms: Vec<Vec<Form>>,
    hulls: Vec<Vec<Form>>,
}

/// An item enters, or grows: the rank of the item, and which form of its hull it takes.
struct Step {
    rank: usize,
    form: usize,
    key: f64,
}

impl<'a> Contest<'a> {
    fn new(candidates: &'a [Candidate<'a>], order: &'a [usize], target: i64) -> Self {
        let forms: Vec<Vec<Form>> =
            order.iter().map(|at| Form::all(candidates[*at].item(), target)).collect();
        let hulls = forms.iter().map(|forms| hull(forms, None)).collect();
        Self { candidates, order, forms, hulls }
    }

    fn run(&self, target: i64) -> Selection {
        let mut walk = Walk::new(target);
        let mut taken: Vec<Option<Form>> = vec![None; self.order.len()];
        let mut entered = Vec::new();
        for Step { rank, form, .. } in self.steps() {
            let next = self.hulls[rank][form];
            // Whoever could not take a step takes none after it.
            let stands_at = form.checked_sub(1).map(|before| self.hulls[rank][before]);
            if taken[rank] == stands_at && walk.takes(grown(next, stands_at)) {
                if stands_at.is_none() {
                    entered.push(rank);
                }
                taken[rank] = Some(next);
            }
        }
        self.give_the_rest(&mut walk, &mut taken, &mut entered);
        self.selection(&entered, &taken).until(walk.next_target())
    }

    /// All steps, best first. Where scores are equal to the last bit, order decides.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for (rank, hull) in self.hulls.iter().enumerate() {
            let score = self.candidates[self.order[rank]].score();
            let first = hull[0].slope_from(None);
            for form in 0..hull.len() {
                let slope = hull[form].slope_from(form.checked_sub(1).map(|before| &hull[before]));
                let ratio = if form == 0 || first.is_infinite() { 1.0 } else { slope / first };
                // A score below zero falls by growing, too.
                let key = if score < 0.0 { score / ratio } else { score * ratio };
                steps.push(Step { rank, form, key });
            }
        }
        // The sort is stable: an item enters before it grows, and before those behind it do.
        steps.sort_by(|a, b| {
            let growth = (a.form > 0).cmp(&(b.form > 0));
            crate::compare_scores(a.key, b.key).then(growth)
        });
        steps
    }

    /// Gives the tokens that are left to the best first: the form that keeps most of what still fits.
    fn give_the_rest(&self, walk: &mut Walk, taken: &mut [Option<Form>], entered: &mut Vec<usize>) {
        for (rank, has) in taken.iter_mut().enumerate() {
            let is_more = |form: &&Form| has.is_none_or(|has| form.share > has.share);
            let larger = self.forms[rank].iter().rev().take_while(is_more);
            let fits = larger.copied().find(|form| walk.takes(grown(*form, *has)));
            if let Some(form) = fits {
                if has.is_none() {
                    entered.push(rank);
                }
                *has = Some(form);
            }
        }
    }

    fn selection(&self, entered: &[usize], taken: &[Option<Form>]) -> Selection {
        let mut selection = Selection::of(entered.iter().map(|rank| self.order[*rank]).collect());
        selection.shortened = entered
            .iter()
            .filter_map(|rank| Some((self.order[*rank], taken[*rank]?.rendering?)))
            .collect();
        selection
    }
}

/// Additional tokens of a form beside those of the form that is taken already.
fn grown(form: Form, has: Option<Form>) -> i64 {
    form.tokens.saturating_sub(has.map_or(0, |has| has.tokens))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{empty_inputs_give_nothing, scored};
    use super::*;
    use crate::{ContextItemBuilder, Rendering};

    fn with_forms(name: &str, tokens: i64, score: f64, forms: &[(i64, f64)]) -> ScoredItem {
        let renderings = forms.iter().map(|(tokens, share)| {
            let text = format!("{name}/{tokens}");
            Rendering::new("r", text, *tokens).and_then(|form| form.with_share(*share)).unwrap()
        });
        let item = ContextItemBuilder::new(name, tokens).renderings(renderings.collect());
        ScoredItem { item: item.build().unwrap(), score }
    }

    #[track_caller]
    fn assert_slice(items: &[ScoredItem], tokens: i64, expected: &[&str]) {
        let budget = ContextBudget::builder(tokens).build().unwrap();
        let kept = ShorteningSlice.slice(items, &budget).unwrap();
        assert_eq!(kept.iter().map(ContextItem::content).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_empty_list_and_a_target_of_zero_give_nothing() {
        empty_inputs_give_nothing(&ShorteningSlice);
    }

    #[test]
    fn without_renderings_the_best_are_taken_whatever_their_size() {
        let items = [scored("a", 40, 0.9), scored("b", 30, 0.8), scored("c", 10, 0.1)];
        assert_slice(&items, 50, &["a", "c"]);
        assert_slice(&items, 80, &["a", "b", "c"]);
        assert_slice(&items, 39, &["b"]);
    }

    #[test]
    fn items_enter_small_and_grow_as_there_is_room() {
        // Slopes of a: .5/10 = .05, then .4/40 = .01, then .1/50 = .002; so its steps are worth
        // .8, .16 and .032. b is in or out at .5.
        let items = [with_forms("a", 100, 0.8, &[(10, 0.5), (50, 0.9)]), scored("b", 30, 0.5)];
        assert_slice(&items, 9, &[]);
        assert_slice(&items, 39, &["a/10"]);
        assert_slice(&items, 40, &["a/10", "b"]);
        assert_slice(&items, 80, &["a/50", "b"]);
        assert_slice(&items, 130, &["a", "b"]);
    }

    #[test]
    fn room_that_is_left_is_given_to_forms_that_are_not_on_the_hull() {
        let items = [with_forms("a", 100, 0.8, &[(10, 0.5), (20, 0.51)])];
        assert_slice(&items, 19, &["a/10"]);
        assert_slice(&items, 20, &["a/20"]);
        let steep_later = [with_forms("a", 100, 0.8, &[(10, 0.01), (20, 0.9)])];
        assert_slice(&steep_later, 15, &["a/10"]);
    }

    #[test]
    fn odd_scores_are_ordered_not_fatal() {
        let forms: &[(i64, f64)] = &[(1, 0.5)];
        for score in [f64::NAN, f64::NEG_INFINITY, -0.5, -0.0, 0.0] {
            let items = [with_forms("odd", 10, score, forms), scored("good", 10, 0.5)];
            let kept = ShorteningSlice
                .slice(&items, &ContextBudget::builder(11).build().unwrap())
                .unwrap();
            assert_eq!(kept.len(), 2, "{score}");
            let whole = ShorteningSlice
                .slice(&items, &ContextBudget::builder(20).build().unwrap())
                .unwrap();
            assert!(whole.iter().all(|item| item.rendered_as().is_none()), "{score}");
        }
    }

    #[test]
    fn nothing_comes_before_what_is_worth_all_the_world() {
        let items = [with_forms("all", 10, f64::INFINITY, &[(1, 0.5)]), scored("good", 10, 0.5)];
        assert_slice(&items, 11, &["all"]);
    }

    /// The best total of scores times shares, by trying everything.
    fn optimum(items: &[ScoredItem], left: i64) -> f64 {
        let Some((first, rest)) = items.split_first() else { return 0.0 };
        let with = Form::all(&first.item, 0).into_iter().filter(|form| form.tokens <= left);
        with.map(|form| first.score * form.share + optimum(rest, left - form.tokens))
            .fold(optimum(rest, left), f64::max)
    }

    /// Checks the share of the optimum that the slicer reaches: on average over many small problems, and at worst.
    #[test]
    fn little_is_lost_to_the_optimum() {
        let mut seed = 7_u64;
        let mut random = |below: u32| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        let (mut sum, mut worst, mut problems) = (0.0, 1.0_f64, 0);
        for _ in 0..300 {
            let items: Vec<ScoredItem> = (0..5)
                .map(|at| {
                    let tokens = 20 + i64::from(random(80));
                    let forms: Vec<(i64, f64)> = [(8, 0.3), (4, 0.5), (2, 0.8)]
                        .map(|(part, share)| {
                            (tokens / part, share * (0.7 + f64::from(random(3)) / 10.0))
                        })
                        .into();
                    with_forms(
                        &at.to_string(),
                        tokens,
                        0.05 + f64::from(random(95)) / 100.0,
                        &forms,
                    )
                })
                .collect();
            let budget = 20 + i64::from(random(150));
            let best = optimum(&items, budget);
            if best <= 0.0 {
                continue;
            }
            let kept = ShorteningSlice
                .slice(&items, &ContextBudget::builder(budget).build().unwrap())
                .unwrap();
            let reached: f64 = kept
                .iter()
                .map(|kept| {
                    let name = kept.content().split('/').next().unwrap();
                    let of = items.iter().find(|item| item.item.content() == name).unwrap();
                    let forms = Form::all(&of.item, 0);
                    let form = forms.iter().find(|form| form.tokens == kept.tokens()).unwrap();
                    of.score * form.share
                })
                .sum();
            assert!(reached <= best + 1e-9, "more than the best: {reached} > {best}");
            sum += reached / best;
            worst = worst.min(reached / best);
            problems += 1;
        }
        let average = sum / f64::from(problems);
        println!("of the optimum: {average:.4} on average, {worst:.4} at worst, of {problems}");
        assert!(average > 0.93 && worst > 0.55, "{average} on average, {worst} at worst");
    }

    #[test]
    fn maximal_token_counts_do_not_wrap() {
        let items = [
            with_forms("a", i64::MAX, 0.9, &[(i64::MAX - 1, 0.9)]),
            with_forms("b", i64::MAX, 0.8, &[(1, 0.1)]),
        ];
        assert_slice(&items, i64::MAX, &["a"]);
    }
}
