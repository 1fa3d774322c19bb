//! Values can be shared between threads, and strategies as well.

use cupel::*;

fn shareable<T: Send + Sync>() {}

#[test]
fn every_value_and_strategy_is_send_and_sync() {
    shareable::<ContextItem>();
    shareable::<ContextItemBuilder>();
    shareable::<ContextBudget>();
    shareable::<ContextKind>();
    shareable::<ContextSource>();
    shareable::<OverflowStrategy>();
    shareable::<ScoredItem>();
    shareable::<CupelError>();
    shareable::<SelectionReport>();
    shareable::<Pipeline>();
    shareable::<PipelineBuilder>();
    shareable::<Policy>();
    shareable::<PolicyBuilder>();
    shareable::<CompositeScorer>();
    shareable::<DecayScorer>();
    shareable::<ScaledScorer>();
    shareable::<QuotaSlice>();
    shareable::<CountQuotaSlice>();
    shareable::<CountConstrainedKnapsackSlice>();
}

#[test]
fn a_handle_is_one_pointer() {
    assert_eq!(size_of::<ContextItem>(), size_of::<usize>());
}

#[test]
fn the_null_collector_has_no_size() {
    assert_eq!(size_of::<NullTraceCollector>(), 0);
}

#[test]
fn traits_are_object_safe_and_collectors_need_not_be_sized() {
    let strategies: (Box<dyn Scorer>, Box<dyn Slicer>, Box<dyn Placer>) =
        (Box::new(RecencyScorer), Box::new(GreedySlice), Box::new(UShapedPlacer));
    let pipeline = Pipeline::builder()
        .scorer(strategies.0)
        .slicer(strategies.1)
        .placer(strategies.2)
        .build()
        .unwrap();
    let collector: &mut dyn TraceCollector = &mut NullTraceCollector::default();
    let budget = ContextBudget::builder(1).build().unwrap();
    assert_eq!(pipeline.run_traced(&[], &budget, collector), Ok(vec![]));
}
