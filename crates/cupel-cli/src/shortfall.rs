//! What an item that was left out would have taken.

use cupel::{ContextBudget, ContextItem, CupelError, Pipeline, Ranking};

/// What it takes to get an item in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shortfall {
    /// A budget that is so many tokens larger.
    Tokens(i64),
    /// A smaller budget of so many tokens: in this one, something else took its place.
    PushedOut(i64),
    /// No budget up to all tokens would do.
    Never,
}

/// Tries budgets on the same candidates, which are ranked once.
pub(crate) struct Simulation<'a> {
    ranking: Ranking<'a, 'a>,
    all_tokens: i64,
    pinned_tokens: i64,
}

impl<'a> Simulation<'a> {
    pub(crate) fn new(
        pipeline: &'a Pipeline,
        items: &'a [ContextItem],
    ) -> Result<Self, CupelError> {
        let sum = |is_counted: fn(&ContextItem) -> bool| {
            let counted = items.iter().filter(|item| is_counted(item));
            counted.fold(0_i64, |sum, item| sum.saturating_add(item.tokens().max(0)))
        };
        Ok(Self {
            ranking: pipeline.rank(items)?,
            all_tokens: sum(|_| true),
            pinned_tokens: sum(ContextItem::pinned),
        })
    }

    /// The smallest budget, with nothing set aside and up to all tokens, whose window holds the
    /// item.
    pub(crate) fn min_budget(&self, position: usize) -> Result<Option<i64>, CupelError> {
        self.ranking.min_budget_for(position, self.all_tokens)
    }

    /// What it takes to get the item into a window of this budget.
    pub(crate) fn shortfall(
        &self,
        position: usize,
        budget: &ContextBudget,
    ) -> Result<Shortfall, CupelError> {
        Ok(match self.min_budget(position)? {
            None => Shortfall::Never,
            Some(smallest) => match self.window_for(smallest, budget) - window(budget) {
                more if more > 0 => Shortfall::Tokens(more),
                _ => Shortfall::PushedOut(smallest),
            },
        })
    }

    /// The window that leaves, after this budget's reserved slots and safety margin, as much as a
    /// budget with nothing set aside.
    fn window_for(&self, plain: i64, budget: &ContextBudget) -> i64 {
        let scored = plain.saturating_sub(self.pinned_tokens).max(0);
        let share = 1.0 - budget.estimation_safety_margin_percent() / 100.0;
        let with_margin =
            if share > 0.0 { (scored as f64 / share).ceil() as i64 } else { i64::MAX };
        let slots = budget.total_reserved() - budget.output_reserve();
        with_margin.saturating_add(slots).saturating_add(plain - scored)
    }
}

/// What the budget leaves for items, pinned ones included.
pub(crate) fn window(budget: &ContextBudget) -> i64 {
    budget.target_tokens().min(budget.max_tokens() - budget.output_reserve())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cupel::{ChronologicalPlacer, ContextItemBuilder, GreedySlice, ReflexiveScorer};

    fn pipeline() -> Pipeline {
        let builder = Pipeline::builder().scorer(ReflexiveScorer).slicer(GreedySlice);
        builder.placer(ChronologicalPlacer).build().unwrap()
    }

    fn item(text: &str, tokens: i64, hint: f64) -> ContextItem {
        ContextItemBuilder::new(text, tokens).future_relevance_hint(hint).build().unwrap()
    }

    /// Raises the budget by what is said to be missing, and by one token less.
    #[test]
    fn so_many_tokens_more_and_not_one_less_let_an_item_in() {
        let items = [item("a", 30, 0.9), item("b", 50, 0.6), item("c", 41, 0.1)];
        let pipeline = pipeline();
        for (reserve, margin) in [(0, 0.0), (25, 0.0), (0, 15.0), (10, 33.0)] {
            let budget = |max: i64| {
                let budget = ContextBudget::builder(max).output_reserve(reserve);
                budget.estimation_safety_margin_percent(margin).build().unwrap()
            };
            let simulation = Simulation::new(&pipeline, &items).unwrap();
            let more = match simulation.shortfall(2, &budget(60)).unwrap() {
                Shortfall::Tokens(more) => more,
                other => panic!("{other:?}"),
            };
            let has_c = |max| {
                let window = pipeline.run(&items, &budget(max)).unwrap();
                window.iter().any(|item| item.content() == "c")
            };
            assert!(has_c(60 + more) && !has_c(60 + more - 1), "{reserve} {margin} {more}");
        }
    }

    #[test]
    fn a_copy_of_a_better_item_never_gets_in() {
        let items = [item("a", 30, 0.9), item("a", 30, 0.5)];
        let pipeline = pipeline();
        let simulation = Simulation::new(&pipeline, &items).unwrap();
        let budget = ContextBudget::builder(20).build().unwrap();
        assert_eq!(simulation.shortfall(1, &budget), Ok(Shortfall::Never));
    }
}
