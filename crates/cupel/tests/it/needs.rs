//! Items that cannot stand without others, through every slicer.

use cupel::*;

use crate::support::*;

/// A slicer of somebody's own, which knows nothing of needs: the best three that fit.
struct BestThree;

impl Slicer for BestThree {
    fn slice(
        &self,
        sorted: &[ScoredItem],
        budget: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        let mut left = budget.target_tokens();
        let mut taken = Vec::new();
        for scored in sorted {
            if taken.len() < 3 && scored.item.tokens() <= left {
                left -= scored.item.tokens();
                taken.push(scored.item.clone());
            }
        }
        Ok(taken)
    }
}

fn slicers() -> Vec<(&'static str, Box<dyn Slicer>)> {
    let quota = || {
        let entries = vec![
            QuotaEntry::new(kind("k"), 20.0, 60.0).unwrap(),
            QuotaEntry::new(kind("m"), 0.0, 80.0).unwrap(),
        ];
        QuotaSlice::new(entries, Box::new(GreedySlice)).unwrap()
    };
    let constrained = {
        let entry = CountQuotaEntry::new(kind("k"), 1, 3).unwrap();
        let knapsack = KnapsackSlice::new(1).unwrap();
        let degrade = ScarcityBehavior::Degrade;
        CountConstrainedKnapsackSlice::new(vec![entry], knapsack, degrade).unwrap()
    };
    vec![
        ("greedy", Box::new(GreedySlice)),
        ("knapsack", Box::new(KnapsackSlice::new(1).unwrap())),
        ("quota", Box::new(quota())),
        ("count quota", Box::new(counting(1, 4))),
        ("count-constrained knapsack", Box::new(constrained)),
        ("shortening", Box::new(ShorteningSlice)),
        ("somebody's own", Box::new(BestThree)),
    ]
}

/// The usual generator of linear congruence.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % limit
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

fn items(random: &mut Random) -> Vec<ContextItem> {
    let count = 1 + random.below(14);
    let mut items = Vec::new();
    for at in 0..count {
        // Some texts occur twice.
        let text = format!("text {}", if random.chance(10) { 0 } else { at });
        let tokens = if random.chance(3) { -1 } else { i64::try_from(random.below(60)).unwrap() };
        let mut item = hinted(&text, tokens, random.below(100) as f64 / 100.0)
            .kind(kind(["k", "m"][random.below(2)]))
            .pinned(random.chance(10));
        if random.chance(30) && tokens > 4 {
            let form = Rendering::new("r", format!("short {at}"), tokens / 3).unwrap();
            item = item.renderings(vec![form.with_share(0.5).unwrap()]);
        }
        items.push(item.build().unwrap());
    }
    items
}

fn needs(random: &mut Random, count: usize) -> Needs {
    let mut needs = Needs::none(count);
    for at in 0..count {
        while random.chance(35) {
            needs.add(at, random.below(count)).unwrap();
        }
    }
    needs
}

fn tokens_of(items: &[ContextItem], window: &[PlacedItem]) -> i64 {
    let tokens = |placed: &PlacedItem| match placed.rendering {
        Some(form) => items[placed.position].renderings()[form].tokens(),
        None => items[placed.position].tokens(),
    };
    window.iter().map(tokens).sum()
}

#[test]
fn no_window_has_an_item_without_what_it_needs() {
    let (mut windows, mut with_needs) = (0, 0);
    for seed in 0..400 {
        let random = &mut Random(seed);
        let items = items(random);
        let needs = needs(random, items.len());
        for overflow in [OverflowStrategy::Throw, OverflowStrategy::Truncate] {
            for (name, slicer) in slicers() {
                let pipeline = pipeline_with(slicer, overflow).with_needs(needs.clone());
                for tokens in (0..400).step_by(37) {
                    let window = match pipeline.window(&items, &budget(tokens)) {
                        Ok(window) => window,
                        Err(
                            CupelError::PinnedExceedsBudget { .. } | CupelError::PipelineConfig(_),
                        ) => continue,
                        // Counts come before the budget.
                        Err(CupelError::Overflow { .. }) if name.starts_with("count") => continue,
                        Err(error) => panic!("{name}, {seed}, {tokens}: {error}"),
                    };
                    let is_in = |at: usize| window.iter().any(|placed| placed.position == at);
                    assert!(needs.are_met(is_in), "{name}, {seed}, {tokens}: {window:?}");
                    assert!(tokens_of(&items, &window) <= tokens, "{name}, {seed}, {tokens}");
                    let pins = items.iter().enumerate().filter(|(_, item)| item.pinned());
                    let mut pins = pins.filter(|(_, item)| item.tokens() >= 0);
                    assert!(pins.all(|(at, _)| is_in(at)), "{name}, {seed}, {tokens}");
                    assert_eq!(window, pipeline.window(&items, &budget(tokens)).unwrap());
                    windows += 1;
                    with_needs +=
                        usize::from((0..items.len()).any(|at| {
                            is_in(at) && !items[at].pinned() && !needs.of(at).is_empty()
                        }));
                }
            }
        }
    }
    assert!(windows > 10_000 && with_needs > windows / 4, "{with_needs} of {windows}");
}

#[test]
fn where_nothing_is_needed_nothing_changes() {
    for seed in 0..200 {
        let items = items(&mut Random(seed));
        for (name, slicer) in slicers() {
            let plain = pipeline_with(slicer, OverflowStrategy::Truncate);
            let needing = plain.clone().with_needs(Needs::none(items.len()));
            for tokens in (0..400).step_by(37) {
                let (plain, needing) = (
                    plain.dry_run(&items, &budget(tokens)),
                    needing.dry_run(&items, &budget(tokens)),
                );
                match (plain, needing) {
                    (Ok(plain), Ok(needing)) => {
                        assert_eq!(plain.included, needing.included, "{name}, {seed}, {tokens}");
                        assert_eq!(plain.excluded, needing.excluded, "{name}, {seed}, {tokens}");
                    }
                    (plain, needing) => assert_eq!(plain.err(), needing.err()),
                }
            }
        }
    }
}

/// A chain in both directions: the step needs its question, the question its correction.
#[test]
fn chains_come_in_together_or_not_at_all() {
    let items = [item("question", 20, 0.1), item("step", 10, 0.9), item("correction", 20, 0.1)];
    let mut needs = Needs::none(3);
    needs.add(1, 0).unwrap();
    needs.add(0, 2).unwrap();
    let pipeline = greedy().with_needs(needs);
    let kept = |tokens| {
        let window = pipeline.window(&items, &budget(tokens)).unwrap();
        let mut kept: Vec<usize> = window.iter().map(|placed| placed.position).collect();
        kept.sort_unstable();
        kept
    };
    assert_eq!(kept(50), [0, 1, 2]);
    assert_eq!(kept(49), [0, 2]);
    assert_eq!(kept(39), [2]);
}

#[test]
fn room_that_a_dear_need_would_take_goes_to_others() {
    let items = [item("long question", 90, 0.1), item("step", 10, 0.9), item("aside", 60, 0.3)];
    let mut needs = Needs::none(3);
    needs.add(1, 0).unwrap();
    let window = greedy().with_needs(needs).run(&items, &budget(80)).unwrap();
    assert_eq!(contents(&window), ["aside"]);
}

#[test]
fn what_pinned_items_need_is_in_or_the_run_fails() {
    let items = [item("question", 30, 0.0), pinned("step", 10), item("aside", 30, 0.9)];
    let mut needs = Needs::none(3);
    needs.add(1, 0).unwrap();
    let pipeline = greedy().with_needs(needs);
    assert_eq!(contents(&pipeline.run(&items, &budget(40)).unwrap()), ["step", "question"]);
    let error = pipeline.run(&items, &budget(39)).unwrap_err();
    assert!(matches!(error, CupelError::PinnedExceedsBudget { .. }), "{error}");
}

#[test]
fn what_others_need_is_no_duplicate() {
    let items = [item("go on", 5, 0.9), item("go on", 5, 0.1), item("step", 5, 0.8)];
    let mut needs = Needs::none(3);
    needs.add(2, 1).unwrap();
    let window = greedy().with_needs(needs).window(&items, &budget(15)).unwrap();
    assert_eq!(window.len(), 3);
    let without = greedy().window(&items, &budget(15)).unwrap();
    assert_eq!(without.len(), 2);
}

#[test]
fn the_report_counts_what_an_item_needs_with_it() {
    let items = [item("question", 90, 0.1), item("step", 10, 0.9)];
    let mut needs = Needs::none(2);
    needs.add(1, 0).unwrap();
    let report = greedy().with_needs(needs).dry_run(&items, &budget(50)).unwrap();
    assert_eq!(*reason(&report, "step"), does_not_fit(100, 50));
    assert_eq!(*reason(&report, "question"), does_not_fit(90, 50));
}

#[test]
fn every_entry_point_heeds_needs_and_refuses_another_list() {
    let items = [item("question", 20, 0.1), item("step", 10, 0.9)];
    let mut needs = Needs::none(2);
    needs.add(1, 0).unwrap();
    let pipeline = greedy().with_needs(needs);
    let ranking = pipeline.rank(&items).unwrap();
    assert_eq!(ranking.min_budget_for(1, 100).unwrap(), Some(30));
    let smallest = pipeline.find_min_budget_for(&items, &budget(1), &items[1], 100).unwrap();
    assert_eq!(smallest, Some(30));
    let marginal = pipeline.get_marginal_items(&items, &budget(30), 5).unwrap();
    assert_eq!(contents(&marginal), ["step"]);
    let report = pipeline.dry_run_with_policy(&items, &budget(29), greedy().policy()).unwrap();
    assert_eq!(included(&report), ["question"]);
    let error = pipeline.run(&items[..1], &budget(30)).unwrap_err().to_string();
    assert_eq!(error, "needs: they are those of a list of 2 items, got 1");
    assert!(pipeline.rank(&items[..1]).is_err());
}

/// Against every budget by itself.
#[test]
fn each_window_of_a_sweep_holds_up_to_the_next() {
    for seed in 0..60 {
        let random = &mut Random(seed);
        let items = items(random);
        let pipeline = greedy().with_needs(needs(random, items.len()));
        let Ok(ranking) = pipeline.rank(&items) else { continue };
        let steps: Vec<_> = ranking.sweep(0, 500).map(Result::unwrap).collect();
        let mut at = 0;
        for tokens in 0..=500 {
            if steps.get(at + 1).is_some_and(|(budget, _)| *budget <= tokens) {
                at += 1;
            }
            assert_eq!(steps[at].1, ranking.window(&budget(tokens)).ok(), "{seed}: {tokens}");
        }
    }
}

#[cfg(feature = "stream")]
#[test]
fn a_stream_has_no_needs() {
    let mut needs = Needs::none(2);
    needs.add(0, 1).unwrap();
    let pipeline = greedy().with_needs(needs);
    let stream = futures_util::stream::iter([item("a", 1, 0.5), item("b", 1, 0.5)]);
    let limit = budget(10);
    let run = pipeline.run_stream(stream, &limit, StreamSlice::default());
    let error = futures_executor::block_on(run).unwrap_err().to_string();
    assert_eq!(error, "needs: a stream has no positions that items could need");
}
