//! What the library did, in the oracle's words.

use cupel::{
    CupelError, ExclusionReason, InclusionReason, PipelineStage, SelectionReport,
    StageTraceSnapshot,
};
use cupel_conformance::oracle::{
    Error, Excluded, Exclusion, Included, Inclusion, OverflowEvent, Report, Run, Shortfall, Stage,
    StageCount,
};

use crate::case::Library;

/// A library's run. Stage counts come from a collector's snapshots, all else from the report.
pub(crate) fn run(
    library: &Library,
    output: Vec<usize>,
    report: &SelectionReport,
    snapshots: &[StageTraceSnapshot],
) -> Run {
    Run { output, report: self::report(library, report, snapshots) }
}

fn report(library: &Library, report: &SelectionReport, snapshots: &[StageTraceSnapshot]) -> Report {
    let included = report.included.iter().map(|included| Included {
        index: library.position(&included.item),
        score: included.score,
        reason: inclusion(included.reason),
    });
    let excluded = report.excluded.iter().map(|excluded| Excluded {
        index: library.position(&excluded.item),
        score: excluded.score,
        reason: exclusion(&excluded.reason),
    });
    let shortfalls = report.count_requirement_shortfalls.iter().map(|shortfall| Shortfall {
        kind: shortfall.kind.clone(),
        required_count: shortfall.required_count,
        satisfied_count: shortfall.satisfied_count,
    });
    Report {
        included: included.collect(),
        excluded: excluded.collect(),
        total_candidates: report.total_candidates,
        total_tokens_considered: report.total_tokens_considered,
        shortfalls: shortfalls.collect(),
        overflow: report.overflow.as_ref().map(|event| overflow(library, event)),
        stages: snapshots.iter().map(|snapshot| stage_count(library, snapshot)).collect(),
    }
}

fn overflow(library: &Library, event: &cupel::OverflowEvent) -> OverflowEvent {
    assert_eq!(event.budget, library.budget, "an overflow event carries the caller's budget");
    OverflowEvent {
        tokens_over_budget: event.tokens_over_budget,
        items: library.positions(&event.overflowing_items),
    }
}

fn stage_count(library: &Library, snapshot: &StageTraceSnapshot) -> StageCount {
    assert_eq!(snapshot.excluded_count, snapshot.excluded.len());
    StageCount {
        stage: stage(snapshot.stage),
        count_in: snapshot.item_count_in,
        count_out: snapshot.item_count_out,
        excluded: library.positions(snapshot.excluded.iter().map(|excluded| &excluded.item)),
    }
}

fn stage(stage: PipelineStage) -> Stage {
    match stage {
        PipelineStage::Classify => Stage::Classify,
        PipelineStage::Score => Stage::Score,
        PipelineStage::Deduplicate => Stage::Deduplicate,
        PipelineStage::Slice => Stage::Slice,
        PipelineStage::Place => Stage::Place,
        other => panic!("no run has a stage {other:?}"),
    }
}

fn inclusion(reason: InclusionReason) -> Inclusion {
    match reason {
        InclusionReason::Scored => Inclusion::Scored,
        InclusionReason::Pinned => Inclusion::Pinned,
        InclusionReason::ZeroToken => Inclusion::ZeroToken,
        other => panic!("no run includes an item for {other:?}"),
    }
}

fn exclusion(reason: &ExclusionReason) -> Exclusion {
    match reason.clone() {
        ExclusionReason::NegativeTokens { tokens } => Exclusion::NegativeTokens { tokens },
        ExclusionReason::Deduplicated { deduplicated_against } => {
            Exclusion::Deduplicated { deduplicated_against }
        }
        ExclusionReason::BudgetExceeded { item_tokens, available_tokens } => {
            Exclusion::BudgetExceeded { item_tokens, available_tokens }
        }
        ExclusionReason::PinnedOverride { displaced_by } => {
            Exclusion::PinnedOverride { displaced_by }
        }
        ExclusionReason::CountCapExceeded { kind, cap, count } => {
            Exclusion::CountCapExceeded { kind, cap, count }
        }
        other => panic!("no built-in stage excludes an item for {other:?}"),
    }
}

/// The library's error; texts that nothing prescribes are left out.
pub(crate) fn error(error: CupelError) -> Error {
    let error = match error {
        CupelError::PinnedExceedsBudget { pinned_tokens, available } => {
            Error::PinnedExceedsBudget { pinned_tokens, available }
        }
        CupelError::Overflow { merged_tokens, target_tokens } => {
            Error::Overflow { merged_tokens, target_tokens }
        }
        CupelError::TableTooLarge { candidates, capacity, cells } => {
            Error::TableTooLarge { candidates, capacity, cells }
        }
        CupelError::SlicerConfig(text) => Error::Slicer(text),
        // The guards of the simulations share their variant with other complaints.
        CupelError::PipelineConfig(text) if text.contains("monotonic") => Error::NotMonotonic(text),
        CupelError::PipelineConfig(text) | CupelError::InvalidBudget(text) => Error::Argument(text),
        other => panic!("no run fails with {other:?}"),
    };
    comparable(error)
}

/// The error without what every implementation words for itself.
pub(crate) fn comparable(error: Error) -> Error {
    match error {
        Error::Argument(_) => Error::Argument(String::new()),
        Error::Slicer(text) if !text.starts_with("CountConstrainedKnapsackSlice") => {
            Error::Slicer(String::new())
        }
        error => error,
    }
}

/// The oracle's run as a library would tell it that cannot tell the clones of a handle apart.
pub(crate) fn by_handle(library: &Library, mut run: Run) -> Run {
    let first = |index: &mut usize| *index = library.first(*index);
    run.output.iter_mut().for_each(first);
    run.report.included.iter_mut().for_each(|entry| first(&mut entry.index));
    run.report.excluded.iter_mut().for_each(|entry| first(&mut entry.index));
    run.report.overflow.iter_mut().flat_map(|event| &mut event.items).for_each(first);
    run.report.stages.iter_mut().flat_map(|stage| &mut stage.excluded).for_each(first);
    run
}
