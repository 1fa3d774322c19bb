//! Makes a failing problem small enough to read.

use std::collections::BTreeSet;
use std::iter::successors;

use super::Problem;
use crate::protocol::{
    Budget, CountEntry, Item, OverflowStrategy, Placer, Policy, Quota, ScarcityBehavior, Scorer,
    Slicer, WeightedScorer,
};

/// Simplifies `problem` as long as it still fails, and returns the simplest that was found.
///
/// Items are removed, their fields reset and their token counts lowered; the budget is lowered and
/// stripped; strategies are replaced by simpler ones. What comes out is as valid as what went in.
pub fn shrink(problem: Problem, mut fails: impl FnMut(&Problem) -> bool) -> Problem {
    let mut current = problem;
    // Every step is strictly simpler than the one before, so this ends.
    loop {
        let simpler = steps(&current).find(|step| fails(step));
        match simpler {
            Some(simpler) => current = simpler,
            None => return current,
        }
    }
}

/// Problems that are one step simpler, the biggest steps first.
///
/// Made one at a time: all of them together would fill the memory for a list of thousands.
fn steps(problem: &Problem) -> impl Iterator<Item = Problem> {
    let Problem { items, budget, policy } = problem;
    let with_items = move |items| Problem { items, budget: budget.clone(), policy: policy.clone() };
    let with_policy = move |policy| Problem { policy, ..problem.clone() };
    let with_budget = move |budget| Problem { budget, ..problem.clone() };
    let fewer = fewer_items(items).map(with_items);
    let policies = simpler_policies(policy).into_iter().map(with_policy);
    let budgets = simpler_budgets(budget).into_iter().map(with_budget);
    let simpler = simpler_items(items).map(with_items);
    fewer.chain(policies).chain(budgets).chain(simpler)
}

/// Without a half, a quarter, and so on down to a single item.
fn fewer_items(items: &[Item]) -> impl Iterator<Item = Vec<Item>> {
    let sizes = successors(Some(items.len().div_ceil(2)), |size| Some(size / 2));
    sizes.take_while(|size| *size > 0).flat_map(move |size| {
        let starts = (0..items.len()).step_by(size);
        starts.map(move |start| {
            let end = (start + size).min(items.len());
            [&items[..start], &items[end..]].concat()
        })
    })
}

fn simpler_items(items: &[Item]) -> impl Iterator<Item = Vec<Item>> {
    let forms = items.iter().enumerate().flat_map(move |(index, item)| {
        simpler_forms(item).into_iter().map(move |form| {
            let mut changed = items.to_vec();
            changed[index] = form;
            changed
        })
    });
    renamed(items).into_iter().chain(forms)
}

/// Short texts, equal where the texts were equal.
fn renamed(items: &[Item]) -> Vec<Vec<Item>> {
    let texts: BTreeSet<&str> = items.iter().map(|item| item.content.as_str()).collect();
    let mut renamed = items.to_vec();
    for item in &mut renamed {
        let rank = texts.iter().position(|text| *text == item.content).unwrap_or_default();
        item.content = format!("{rank}");
    }
    let length = |items: &[Item]| items.iter().map(|item| item.content.len()).sum::<usize>();
    if length(&renamed) < length(items) { vec![renamed] } else { Vec::new() }
}

fn simpler_forms(item: &Item) -> Vec<Item> {
    let mut forms = vec![
        Item { kind: None, ..item.clone() },
        Item { source: None, ..item.clone() },
        Item { priority: None, ..item.clone() },
        Item { tags: Vec::new(), ..item.clone() },
        Item { tags: item.tags.iter().skip(1).cloned().collect(), ..item.clone() },
        Item { metadata: [].into(), ..item.clone() },
        Item { timestamp: None, ..item.clone() },
        Item { future_relevance_hint: None, ..item.clone() },
        Item { pinned: None, ..item.clone() },
        Item { original_tokens: None, ..item.clone() },
    ];
    for tokens in lower(item.tokens) {
        forms.push(Item { tokens, ..item.clone() });
    }
    // A hint of NaN differs from itself, so fields are compared as text.
    forms.retain(|form| format!("{form:?}") != format!("{item:?}"));
    forms
}

/// Numbers nearer to zero, the nearest first.
fn lower(number: i64) -> Vec<i64> {
    if number == 0 {
        return Vec::new();
    }
    let sign = number.signum();
    let mut lower = vec![0, sign, number / 2, number - number / 8, number - sign];
    lower.retain(|candidate| candidate.unsigned_abs() < number.unsigned_abs());
    lower
}

fn simpler_budgets(budget: &Budget) -> Vec<Budget> {
    let mut simpler = vec![
        Budget { reserved_slots: [].into(), ..budget.clone() },
        Budget { estimation_safety_margin_percent: None, ..budget.clone() },
        Budget { output_reserve: None, ..budget.clone() },
    ];
    for output_reserve in lower(budget.output_reserve()) {
        simpler.push(Budget { output_reserve: Some(output_reserve), ..budget.clone() });
    }
    for kind in budget.reserved_slots.keys() {
        let mut fewer = budget.clone();
        fewer.reserved_slots.remove(kind);
        simpler.push(fewer);
    }
    let least = budget.target_tokens.max(budget.output_reserve());
    simpler.push(Budget { max_tokens: least, ..budget.clone() });
    for target_tokens in lower(budget.target_tokens) {
        simpler.push(Budget { target_tokens, ..budget.clone() });
        let max_tokens = budget.max_tokens - (budget.target_tokens - target_tokens);
        let output_reserve = budget.output_reserve.map(|tokens| tokens.min(max_tokens));
        simpler.push(Budget { max_tokens, target_tokens, output_reserve, ..budget.clone() });
    }
    simpler.retain(|form| form != budget);
    simpler
}

fn simpler_policies(policy: &Policy) -> Vec<Policy> {
    let mut simpler = vec![
        Policy { placer: Placer::Chronological, ..policy.clone() },
        Policy { deduplication: Some(false), ..policy.clone() },
        Policy { overflow_strategy: Some(OverflowStrategy::Proceed), ..policy.clone() },
    ];
    simpler.retain(|form| form != policy);
    for slicer in simpler_slicers(&policy.slicer) {
        simpler.push(Policy { slicer, ..policy.clone() });
    }
    for scorer in simpler_scorers(&policy.scorer) {
        simpler.push(Policy { scorer, ..policy.clone() });
    }
    simpler
}

fn simpler_scorers(scorer: &Scorer) -> Vec<Scorer> {
    match scorer {
        Scorer::Reflexive | Scorer::RawHint => Vec::new(),
        Scorer::Composite { scorers } => simpler_composites(scorers),
        Scorer::Scaled { inner } => {
            let mut simpler = vec![Scorer::Reflexive, (**inner).clone()];
            for inner in simpler_scorers(inner) {
                simpler.push(Scorer::Scaled { inner: Box::new(inner) });
            }
            simpler
        }
        _ => vec![Scorer::Reflexive],
    }
}

fn simpler_composites(children: &[WeightedScorer]) -> Vec<Scorer> {
    let mut simpler = vec![Scorer::Reflexive];
    simpler.extend(children.iter().map(|child| child.scorer.clone()));
    if children.len() > 1 {
        for scorers in without_one(children) {
            simpler.push(Scorer::Composite { scorers });
        }
    }
    for (index, child) in children.iter().enumerate() {
        let with = |scorer| WeightedScorer { weight: child.weight, scorer };
        let mut replacements: Vec<WeightedScorer> =
            simpler_scorers(&child.scorer).into_iter().map(with).collect();
        if child.weight != 1.0 {
            replacements.push(WeightedScorer { weight: 1.0, scorer: child.scorer.clone() });
        }
        for replacement in replacements {
            let mut scorers = children.to_vec();
            scorers[index] = replacement;
            simpler.push(Scorer::Composite { scorers });
        }
    }
    simpler
}

fn simpler_slicers(slicer: &Slicer) -> Vec<Slicer> {
    let mut simpler = match slicer {
        Slicer::Greedy => Vec::new(),
        Slicer::Knapsack { .. } => vec![Slicer::Knapsack { bucket_size: Some(1) }],
        Slicer::Quota { quotas, inner } => simpler_quotas(quotas, inner),
        Slicer::CountQuota { entries, inner, scarcity_behavior } => {
            simpler_count_quotas(entries, inner, *scarcity_behavior)
        }
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity_behavior } => {
            simpler_count_knapsacks(entries, *bucket_size, *scarcity_behavior)
        }
    };
    simpler.retain(|form| form != slicer);
    if *slicer != Slicer::Greedy {
        simpler.insert(0, Slicer::Greedy);
    }
    simpler
}

fn simpler_quotas(quotas: &[Quota], inner: &Slicer) -> Vec<Slicer> {
    let mut simpler = vec![inner.clone()];
    for quotas in without_one(quotas) {
        simpler.push(Slicer::Quota { quotas, inner: Box::new(inner.clone()) });
    }
    for inner in simpler_slicers(inner) {
        simpler.push(Slicer::Quota { quotas: quotas.to_vec(), inner: Box::new(inner) });
    }
    simpler
}

fn simpler_count_quotas(
    entries: &[CountEntry],
    inner: &Slicer,
    scarcity: Option<ScarcityBehavior>,
) -> Vec<Slicer> {
    let form = |entries: Vec<CountEntry>, inner: &Slicer, scarcity_behavior| Slicer::CountQuota {
        entries,
        inner: Box::new(inner.clone()),
        scarcity_behavior,
    };
    let mut simpler = vec![inner.clone(), form(entries.to_vec(), inner, None)];
    for entries in without_one(entries) {
        simpler.push(form(entries, inner, scarcity));
    }
    for inner in simpler_slicers(inner) {
        simpler.push(form(entries.to_vec(), &inner, scarcity));
    }
    simpler
}

fn simpler_count_knapsacks(
    entries: &[CountEntry],
    bucket_size: Option<i64>,
    scarcity: Option<ScarcityBehavior>,
) -> Vec<Slicer> {
    let form = |entries: Vec<CountEntry>, bucket_size, scarcity_behavior| {
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity_behavior }
    };
    let mut simpler =
        vec![form(entries.to_vec(), Some(1), scarcity), form(entries.to_vec(), bucket_size, None)];
    for entries in without_one(entries) {
        simpler.push(form(entries, bucket_size, scarcity));
    }
    simpler
}

/// Every list that lacks one of the elements.
fn without_one<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    (0..list.len()).map(|index| [&list[..index], &list[index + 1..]].concat()).collect()
}
