//! Makes a failing problem small enough to read.

use std::collections::BTreeSet;
use std::iter::successors;

use super::Problem;
use crate::oracle::{
    Budget, CountEntry, Item, Overflow, Placer, Policy, QuotaEntry, Scarcity, Scorer, Slicer,
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
    let plain = Item::new("", 0);
    let mut forms = vec![
        Item { kind: plain.kind, ..item.clone() },
        Item { source: plain.source, ..item.clone() },
        Item { priority: None, ..item.clone() },
        Item { tags: Vec::new(), ..item.clone() },
        Item { tags: item.tags.iter().skip(1).cloned().collect(), ..item.clone() },
        Item { metadata: plain.metadata, ..item.clone() },
        Item { timestamp: None, ..item.clone() },
        Item { future_relevance_hint: None, ..item.clone() },
        Item { pinned: false, ..item.clone() },
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
        Budget { estimation_safety_margin_percent: 0.0, ..budget.clone() },
        Budget { output_reserve: 0, ..budget.clone() },
    ];
    for output_reserve in lower(budget.output_reserve) {
        simpler.push(Budget { output_reserve, ..budget.clone() });
    }
    for kind in budget.reserved_slots.keys() {
        let mut fewer = budget.clone();
        fewer.reserved_slots.remove(kind);
        simpler.push(fewer);
    }
    let least = budget.target_tokens.max(budget.output_reserve);
    simpler.push(Budget { max_tokens: least, ..budget.clone() });
    for target_tokens in lower(budget.target_tokens) {
        simpler.push(Budget { target_tokens, ..budget.clone() });
        let max_tokens = budget.max_tokens - (budget.target_tokens - target_tokens);
        let output_reserve = budget.output_reserve.min(max_tokens);
        simpler.push(Budget { max_tokens, target_tokens, output_reserve, ..budget.clone() });
    }
    simpler.retain(|form| form != budget);
    simpler
}

fn simpler_policies(policy: &Policy) -> Vec<Policy> {
    let mut simpler = vec![
        Policy { placer: Placer::Chronological, ..policy.clone() },
        Policy { deduplication: false, ..policy.clone() },
        Policy { overflow: Overflow::Proceed, ..policy.clone() },
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
        Scorer::Composite { children } => simpler_composites(children),
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

fn simpler_composites(children: &[(Scorer, f64)]) -> Vec<Scorer> {
    let mut simpler = vec![Scorer::Reflexive];
    simpler.extend(children.iter().map(|(child, _)| child.clone()));
    if children.len() > 1 {
        for children in without_one(children) {
            simpler.push(Scorer::Composite { children });
        }
    }
    for (index, (child, weight)) in children.iter().enumerate() {
        let mut replacements: Vec<(Scorer, f64)> =
            simpler_scorers(child).into_iter().map(|child| (child, *weight)).collect();
        if *weight != 1.0 {
            replacements.push((child.clone(), 1.0));
        }
        for replacement in replacements {
            let mut children = children.to_vec();
            children[index] = replacement;
            simpler.push(Scorer::Composite { children });
        }
    }
    simpler
}

fn simpler_slicers(slicer: &Slicer) -> Vec<Slicer> {
    let mut simpler = match slicer {
        Slicer::Greedy => Vec::new(),
        Slicer::Knapsack { .. } => vec![Slicer::Knapsack { bucket_size: 1 }],
        Slicer::Quota { entries, inner } => simpler_quotas(entries, inner),
        Slicer::CountQuota { entries, inner, scarcity } => {
            simpler_count_quotas(entries, inner, *scarcity)
        }
        Slicer::CountConstrainedKnapsack { entries, bucket_size, scarcity } => {
            simpler_count_knapsacks(entries, *bucket_size, *scarcity)
        }
    };
    simpler.retain(|form| form != slicer);
    if *slicer != Slicer::Greedy {
        simpler.insert(0, Slicer::Greedy);
    }
    simpler
}

fn simpler_quotas(entries: &[QuotaEntry], inner: &Slicer) -> Vec<Slicer> {
    let mut simpler = vec![inner.clone()];
    for entries in without_one(entries) {
        simpler.push(Slicer::Quota { entries, inner: Box::new(inner.clone()) });
    }
    for inner in simpler_slicers(inner) {
        simpler.push(Slicer::Quota { entries: entries.to_vec(), inner: Box::new(inner) });
    }
    simpler
}

fn simpler_count_quotas(entries: &[CountEntry], inner: &Slicer, scarcity: Scarcity) -> Vec<Slicer> {
    let form = |entries: Vec<CountEntry>, inner: &Slicer, scarcity| Slicer::CountQuota {
        entries,
        inner: Box::new(inner.clone()),
        scarcity,
    };
    let mut simpler = vec![inner.clone(), form(entries.to_vec(), inner, Scarcity::Degrade)];
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
    bucket_size: i64,
    scarcity: Scarcity,
) -> Vec<Slicer> {
    let form = |entries: Vec<CountEntry>, bucket_size, scarcity| Slicer::CountConstrainedKnapsack {
        entries,
        bucket_size,
        scarcity,
    };
    let mut simpler = vec![
        form(entries.to_vec(), 1, scarcity),
        form(entries.to_vec(), bucket_size, Scarcity::Degrade),
    ];
    for entries in without_one(entries) {
        simpler.push(form(entries, bucket_size, scarcity));
    }
    simpler
}

/// Every list that lacks one of the elements.
fn without_one<T: Clone>(list: &[T]) -> Vec<Vec<T>> {
    (0..list.len()).map(|index| [&list[..index], &list[index + 1..]].concat()).collect()
}
