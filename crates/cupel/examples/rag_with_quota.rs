//! Retrieved passages and memories share a window: no kind crowds out the other, and the best
//! passages stand at both ends.
//!
//! `cargo run --example rag_with_quota`

use cupel::{
    ContextBudget, ContextItem, ContextItemBuilder, ContextKind, CupelError, GreedySlice, Pipeline,
    QuotaEntry, QuotaSlice, ReflexiveScorer, UShapedPlacer, kind_diversity, quota_utilization,
};

fn candidates() -> Result<Vec<ContextItem>, CupelError> {
    let mut items = Vec::new();
    for passage in 1..=8 {
        // A retriever's similarity is a ready-made score.
        let similarity = 1.0 - f64::from(passage) / 10.0;
        items.push(
            ContextItemBuilder::new(format!("passage {passage}"), 60)
                .kind(ContextKind::document())
                .future_relevance_hint(similarity)
                .build()?,
        );
    }
    for (fact, similarity) in [("the user is called Kim", 0.3), ("answers must be in French", 0.2)]
    {
        items.push(
            ContextItemBuilder::new(fact, 15)
                .kind(ContextKind::memory())
                .future_relevance_hint(similarity)
                .build()?,
        );
    }
    Ok(items)
}

fn quotas() -> Result<QuotaSlice, CupelError> {
    let entries = vec![
        QuotaEntry::new(ContextKind::memory(), 10.0, 30.0)?,
        QuotaEntry::new(ContextKind::document(), 0.0, 90.0)?,
    ];
    QuotaSlice::new(entries, Box::new(GreedySlice))
}

fn main() -> Result<(), CupelError> {
    let pipeline = Pipeline::builder()
        .scorer(ReflexiveScorer)
        .slicer(quotas()?)
        .placer(UShapedPlacer)
        .build()?;
    let budget = ContextBudget::builder(320).build()?;
    let report = pipeline.dry_run(&candidates()?, &budget)?;

    for included in &report.included {
        println!("{:.1}  {}", included.score, included.item.content());
    }
    println!("{} kinds", kind_diversity(&report));
    for quota in quota_utilization(&report, &quotas()?, &budget) {
        println!("{}: {:.0} % of the budget, at most {} %", quota.kind, quota.actual, quota.cap);
    }
    Ok(())
}
