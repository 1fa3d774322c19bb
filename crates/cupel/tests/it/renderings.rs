//! Items that can go in shorter.

use cupel::{
    ChronologicalPlacer, ContextBudget, ContextItem, ContextItemBuilder, CupelError, GreedySlice,
    InclusionReason, OverflowStrategy, Pipeline, ReflexiveScorer, Rendering, ShorteningSlice,
    Slicer,
};

fn form(text: &str, tokens: i64, share: f64) -> Rendering {
    Rendering::new(text, text, tokens).and_then(|form| form.with_share(share)).unwrap()
}

fn item(text: &str, tokens: i64, hint: f64, renderings: Vec<Rendering>) -> ContextItemBuilder {
    ContextItemBuilder::new(text, tokens).future_relevance_hint(hint).renderings(renderings)
}

fn pipeline(slicer: impl Slicer + 'static) -> Pipeline {
    let builder = Pipeline::builder().scorer(ReflexiveScorer).slicer(slicer);
    builder.placer(ChronologicalPlacer).build().unwrap()
}

fn budget(tokens: i64) -> ContextBudget {
    ContextBudget::builder(tokens).build().unwrap()
}

fn contents(window: &[ContextItem]) -> Vec<&str> {
    window.iter().map(ContextItem::content).collect()
}

fn items() -> Vec<ContextItem> {
    let builders = [
        item("report", 100, 0.9, vec![form("in short", 10, 0.6)]),
        item("note", 30, 0.5, Vec::new()),
    ];
    builders.map(|builder| builder.build().unwrap()).into()
}

#[test]
fn the_window_holds_what_was_chosen_and_the_report_says_so() {
    let (pipeline, items) = (pipeline(ShorteningSlice), items());
    assert_eq!(contents(&pipeline.run(&items, &budget(45)).unwrap()), ["in short", "note"]);
    let window = pipeline.window(&items, &budget(45)).unwrap();
    let renderings: Vec<_> = window.iter().map(|placed| placed.rendering).collect();
    assert_eq!(renderings, [Some(0), None]);
    let report = pipeline.dry_run(&items, &budget(45)).unwrap();
    let reasons: Vec<_> = report.included.iter().map(|included| included.reason).collect();
    assert_eq!(reasons, [InclusionReason::Shortened, InclusionReason::Scored]);
    let shortened = &report.included[0];
    assert_eq!((shortened.position, shortened.rendering), (Some(0), Some(0)));
    assert_eq!(shortened.item.rendered_as(), Some("in short"));
    assert_eq!((shortened.item.tokens(), shortened.item.original_tokens()), (10, Some(100)));
    assert_eq!(report.total_tokens_considered, 130);
    assert_eq!(contents(&pipeline.run(&items, &budget(130)).unwrap()), ["report", "note"]);
}

#[test]
fn slicers_that_know_nothing_of_forms_take_items_whole_or_not_at_all() {
    let (pipeline, items) = (pipeline(GreedySlice), items());
    assert_eq!(contents(&pipeline.run(&items, &budget(45)).unwrap()), ["note"]);
    let report = pipeline.dry_run(&items, &budget(130)).unwrap();
    assert!(report.included.iter().all(|included| included.reason == InclusionReason::Scored));
}

#[test]
fn what_is_pinned_is_shortened_only_if_it_does_not_fit() {
    let pinned = |text, tokens, forms| item(text, tokens, 0.0, forms).pinned(true).build().unwrap();
    let items = [
        pinned("rules", 20, Vec::new()),
        pinned("result", 200, vec![form("stub", 5, 0.02), form("half", 100, 0.7)]),
        item("note", 30, 0.5, Vec::new()).build().unwrap(),
    ];
    for slicer in [Box::new(GreedySlice) as Box<dyn Slicer>, Box::new(ShorteningSlice)] {
        let pipeline = pipeline(slicer);
        let window = |tokens| pipeline.run(&items, &budget(tokens)).map(|w| w.len());
        let texts = |tokens| {
            let window = pipeline.run(&items, &budget(tokens)).unwrap();
            contents(&window).join(" ")
        };
        assert_eq!(texts(250), "rules result note");
        assert_eq!(texts(220), "rules result");
        assert_eq!(texts(219), "rules half note");
        assert_eq!(texts(150), "rules half note");
        // The note needs room as well.
        assert_eq!(texts(149), "rules stub note");
        assert_eq!(texts(55), "rules stub note");
        assert_eq!(texts(54), "rules stub");
        assert_eq!(texts(25), "rules stub");
        assert_eq!(
            window(24),
            Err(CupelError::PinnedExceedsBudget { pinned_tokens: 25, available: 24 })
        );
        let alone = pipeline.run(&items[..2], &budget(120)).unwrap();
        assert_eq!(contents(&alone), ["rules", "half"], "nothing else needs the room");
        let report = pipeline.dry_run(&items, &budget(119)).unwrap();
        let stub = report.included.iter().find(|i| i.item.content() == "stub").unwrap();
        assert_eq!((stub.reason, stub.score), (InclusionReason::Pinned, 1.0));
        assert_eq!(stub.item.rendered_as(), Some("stub"));
    }
}

#[test]
fn overflow_counts_what_goes_in() {
    let slicer = ShorteningSlice;
    let pipeline = Pipeline::builder()
        .scorer(ReflexiveScorer)
        .slicer(slicer)
        .placer(ChronologicalPlacer)
        .overflow_strategy(OverflowStrategy::Throw)
        .build()
        .unwrap();
    let items = items();
    for tokens in 0..=130 {
        let window = pipeline.run(&items, &budget(tokens)).unwrap();
        assert!(window.iter().map(ContextItem::tokens).sum::<i64>() <= tokens, "{tokens}");
    }
}

#[test]
fn sweeps_see_every_window() {
    let pinned = item("pin", 50, 0.0, vec![form("p", 9, 0.2)]).pinned(true).build().unwrap();
    let more = item("third", 41, 0.4, vec![form("3a", 4, 0.1), form("3b", 21, 0.8)]);
    let items: Vec<ContextItem> =
        items().into_iter().chain([pinned, more.build().unwrap()]).collect();
    let pipeline = pipeline(ShorteningSlice);
    let ranking = pipeline.rank(&items).unwrap();
    let steps: Vec<_> = ranking.sweep(0, 300).map(Result::unwrap).collect();
    let mut at = 0;
    for tokens in 0..=300 {
        if steps.get(at + 1).is_some_and(|(budget, _)| *budget <= tokens) {
            at += 1;
        }
        assert_eq!(steps[at].1, ranking.window(&budget(tokens)).ok(), "{tokens}");
    }
    assert!(steps.len() < 200, "{}", steps.len());
}

/// A slicer that breaks its contract.
struct Chooses(Vec<(usize, usize)>);

impl Slicer for Chooses {
    fn slice(
        &self,
        _: &[cupel::ScoredItem],
        _: &ContextBudget,
    ) -> Result<Vec<ContextItem>, CupelError> {
        Ok(Vec::new())
    }

    fn select(&self, _: &cupel::SliceRequest<'_>) -> Result<cupel::Selection, CupelError> {
        let mut selection = cupel::Selection::of(vec![0]);
        selection.shortened.clone_from(&self.0);
        Ok(selection)
    }
}

#[test]
fn a_form_that_is_not_there_is_refused() {
    for shortened in [vec![(0, 1)], vec![(1, 0)], vec![(9, 0)], vec![(0, 0), (0, 0)]] {
        let error = pipeline(Chooses(shortened.clone())).run(&items(), &budget(50)).unwrap_err();
        assert_eq!(error.code(), "slicer_config", "{shortened:?}");
        assert!(error.to_string().contains("rendering"), "{error}");
    }
    let window = pipeline(Chooses(vec![(0, 0)])).run(&items(), &budget(50)).unwrap();
    assert_eq!(contents(&window), ["in short"]);
}

#[cfg(feature = "serde")]
mod written {
    use super::*;

    #[test]
    fn renderings_survive_the_way_through_json() {
        let text = r#"{"content":"report","tokens":100,"renderings":[{"name":"summary","content":"in short","tokens":10,"share":0.6},{"name":"stub","content":"(gone)","tokens":2}]}"#;
        let item: ContextItem = serde_json::from_str(text).unwrap();
        assert_eq!(item.renderings().len(), 2);
        assert_eq!(item.renderings()[1].share(), None);
        let again: ContextItem =
            serde_json::from_str(&serde_json::to_string(&item).unwrap()).unwrap();
        assert_eq!(again, item);
        let short = item.rendered(0).unwrap();
        let written = serde_json::to_string(&short).unwrap();
        assert!(written.contains(r#""rendered_as":"summary""#), "{written}");
        assert_eq!(serde_json::from_str::<ContextItem>(&written).unwrap(), short);
    }

    #[test]
    fn whole_items_are_written_as_ever() {
        let item = ContextItemBuilder::new("a", 1).build().unwrap();
        let written = serde_json::to_string(&item).unwrap();
        assert!(!written.contains("render"), "{written}");
    }

    #[test]
    fn wrong_renderings_are_named() {
        let error = |rendering: &str| {
            let text = format!(r#"{{"content":"a","tokens":9,"renderings":[{rendering}]}}"#);
            serde_json::from_str::<ContextItem>(&text).unwrap_err().to_string()
        };
        let of = |share: &str| error(&format!(r#"{{"name":"x","content":"y","tokens":1{share}}}"#));
        assert!(of(r#","share":2"#).contains("renderings[0]"), "{}", of(r#","share":2"#));
        assert!(of(r#","share":2"#).contains("must be within 0 and 1, got 2"));
        assert!(of(r#","shard":1"#).contains("shard"));
        assert!(error(r#"{"name":"x","content":"","tokens":1}"#).contains("non-empty"));
        assert!(error(r#"{"name":"x","content":"y","tokens":-1}"#).contains("negative, got -1"));
    }

    #[test]
    fn reports_with_shortened_items_are_read_again() {
        let report = pipeline(ShorteningSlice).dry_run(&items(), &budget(45)).unwrap();
        let written = serde_json::to_string(&report).unwrap();
        assert!(written.contains(r#""reason":"Shortened""#), "{written}");
        let again: cupel::SelectionReport = serde_json::from_str(&written).unwrap();
        assert_eq!(again, report);
    }

    #[test]
    fn a_policy_may_ask_for_it_by_name() {
        let text = r#"{"scorers":["reflexive"],"slicer":"shortening","placer":"chronological"}"#;
        let description: cupel::PolicyDescription = serde_json::from_str(text).unwrap();
        let pipeline = Pipeline::from(description.build().unwrap());
        assert_eq!(contents(&pipeline.run(&items(), &budget(45)).unwrap()), ["in short", "note"]);
    }
}
