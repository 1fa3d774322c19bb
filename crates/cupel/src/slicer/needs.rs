//! Needs for slicers that do not know of them.

use std::collections::BTreeMap;

use super::{Form, Selection, SliceRequest, Walk};
use crate::model::{TokenSum, clamp_to_i64};
use crate::{Candidate, ContextBudget, CupelError, Needs};

/// Largest number of times a slicer is asked. The result so far is valid after each time.
const MOST_ROUNDS: usize = 12;

/// A selection in which every candidate has what it [needs](SliceRequest::needs), by a slicer that
/// does not know of needs: `select` is asked without them.
///
/// **Steps:** ask for a selection. If something in it lacks what it needs, that comes in first: the
/// slicer is asked again about the rest, with what is left of the budget. What cannot be had together
/// with all that it needs takes no further part. Once nothing is lacking, what came in for others that
/// are no longer selected goes again.
///
/// Quotas are the slicer's own affair, which what is needed comes in beside.
///
/// **Edge cases:** a selection in which nothing is lacking is returned as it is. What is needed goes in
/// whole, or as short as it can be if it does not fit whole. What is needed within a circle goes in
/// together or not at all.
///
/// # Errors
///
/// Those of `select`, the first time that it is asked.
pub fn select_with_needs(
    request: &SliceRequest<'_>,
    select: &dyn Fn(&SliceRequest<'_>) -> Result<Selection, CupelError>,
) -> Result<Selection, CupelError> {
    let first = select(&SliceRequest { needs: None, ..*request })?;
    match request.needs {
        Some(needs) if lacks_something(&first, needs, request.candidates.len()) => {
            Ok(Rounds::new(request, needs).run(first, select))
        }
        _ => Ok(first),
    }
}

/// Returns true if something was selected without what it needs. A selection that breaks the contract of
/// slicers is for the pipeline to refuse.
fn lacks_something(selection: &Selection, needs: &Needs, count: usize) -> bool {
    let mut is_in = vec![false; count];
    for at in &selection.selected {
        match is_in.get_mut(*at) {
            Some(flag) if !*flag => *flag = true,
            _ => return false,
        }
    }
    !needs.are_met(|at| is_in[at])
}

struct Rounds<'r> {
    request: &'r SliceRequest<'r>,
    needs: &'r Needs,
    /// Items that come in because others need them, and the rendering of each.
    brought: BTreeMap<usize, Option<usize>>,
    /// Items that take no further part.
    is_barred: Vec<bool>,
    /// The smallest growth of the target at which something would go another way; `None` if that is
    /// not known.
    margin: Option<i64>,
}

/// Result of a round.
struct Round {
    /// Items that were selected and have all they need, in the order in which they were taken.
    kept: Vec<(usize, Option<usize>)>,
    /// Other items that had to come in for those.
    brought: Vec<(usize, Option<usize>)>,
    /// Items that were selected and whose needs cannot be had.
    dropped: Vec<usize>,
}

impl<'r> Rounds<'r> {
    fn new(request: &'r SliceRequest<'r>, needs: &'r Needs) -> Self {
        let is_barred = vec![false; request.candidates.len()];
        Self { request, needs, brought: BTreeMap::new(), is_barred, margin: Some(i64::MAX) }
    }

    fn run(
        mut self,
        first: Selection,
        select: &dyn Fn(&SliceRequest<'_>) -> Result<Selection, CupelError>,
    ) -> Selection {
        let shortfalls = first.shortfalls.clone();
        let mut selection = first;
        let mut rounds = 1;
        loop {
            self.until(selection.next_target);
            let round = self.round(&selection);
            let is_settled = self.settle(&round);
            // A slicer that refuses what is left has had its say.
            let next = if is_settled || rounds == MOST_ROUNDS { None } else { self.ask(select) };
            let Some(next) = next else {
                let selection = Selection { shortfalls, ..selection };
                return self.finish(round, selection);
            };
            selection = next;
            rounds += 1;
        }
    }

    fn tokens(&self, (at, rendering): (usize, Option<usize>)) -> i64 {
        let candidate = &self.request.candidates[at];
        let form = rendering.and_then(|form| candidate.item().renderings().get(form));
        form.map_or_else(|| candidate.tokens(), crate::Rendering::tokens)
    }

    fn brought_tokens(&self) -> TokenSum {
        self.brought.iter().map(|(at, form)| self.tokens((*at, *form))).sum()
    }

    /// Tokens of the target that are left beside the items that come in for others.
    fn left(&self, tokens: i64) -> i64 {
        clamp_to_i64((i128::from(tokens) - self.brought_tokens().0).max(0))
    }

    /// Notes up to which target the slicer would choose the same. Every round's target grows as the
    /// request's does.
    fn until(&mut self, next_target: Option<i64>) {
        let target = self.left(self.request.budget.target_tokens());
        let margin = next_target.map(|next| next.saturating_sub(target));
        self.margin = self.margin.zip(margin).map(|(known, margin)| known.min(margin));
    }

    /// Asks about what neither came in for others nor is barred.
    fn ask(
        &self,
        select: &dyn Fn(&SliceRequest<'_>) -> Result<Selection, CupelError>,
    ) -> Option<Selection> {
        let is_open = |at: &usize| !self.is_barred[*at] && !self.brought.contains_key(at);
        let open: Vec<usize> = (0..self.is_barred.len()).filter(is_open).collect();
        let candidates: Vec<Candidate<'_>> =
            open.iter().map(|at| self.request.candidates[*at]).collect();
        let budget = self.request.budget;
        let max = self.left(budget.max_tokens());
        let budget = ContextBudget::plain(max, self.left(budget.target_tokens()).min(max));
        let part = select(&self.request.with(&candidates, &budget)).ok()?;
        if !part.is_within(open.len()) {
            return None;
        }
        let next_target = part.next_target;
        let mut selection = Selection { next_target, ..Selection::default() };
        selection.absorb(part, &open);
        Some(selection)
    }

    /// Takes what was selected in its order, each with what it lacks, as far as the budget goes.
    fn round(&mut self, selection: &Selection) -> Round {
        let mut chosen: BTreeMap<usize, Option<usize>> =
            selection.selected.iter().map(|at| (*at, None)).collect();
        for (at, form) in &selection.shortened {
            chosen.insert(*at, Some(*form));
        }
        let mut is_in = vec![false; self.is_barred.len()];
        for at in self.brought.keys() {
            is_in[*at] = true;
        }
        let mut walk = Walk::new(self.left(self.request.budget.target_tokens()));
        let mut round = Round { kept: Vec::new(), brought: Vec::new(), dropped: Vec::new() };
        for at in &selection.selected {
            if !is_in[*at] && !self.take(*at, &chosen, &mut is_in, &mut walk, &mut round) {
                round.dropped.push(*at);
            }
        }
        // What was too dear may have become cheaper, since others brought what it needs.
        for at in std::mem::take(&mut round.dropped) {
            if !is_in[at] && !self.take(at, &chosen, &mut is_in, &mut walk, &mut round) {
                round.dropped.push(at);
            }
        }
        let missing = walk.next_target().saturating_sub(walk.target());
        self.margin = self.margin.map(|margin| margin.min(missing));
        round
    }

    /// Takes a candidate with what it lacks, if that can be had.
    fn take(
        &self,
        at: usize,
        chosen: &BTreeMap<usize, Option<usize>>,
        is_in: &mut [bool],
        walk: &mut Walk,
        round: &mut Round,
    ) -> bool {
        let missing = self.needs.missing(at, |needed| is_in[needed]);
        if missing.iter().any(|needed| self.is_barred[*needed]) {
            return false;
        }
        let as_chosen = |at: usize| chosen.get(&at).copied();
        let whole = |at: usize| (at, as_chosen(at).flatten());
        let shortest = |at: usize| (at, as_chosen(at).unwrap_or_else(|| self.shortest(at)));
        let together = |form: &dyn Fn(usize) -> (usize, Option<usize>)| {
            let all = missing.iter().chain([&at]).map(|at| self.tokens(form(*at)));
            all.sum::<TokenSum>().clamped()
        };
        let form: &dyn Fn(usize) -> (usize, Option<usize>) = if walk.takes(together(&whole)) {
            &whole
        } else if walk.takes(together(&shortest)) {
            &shortest
        } else {
            return false;
        };
        for at in missing.iter().copied().chain([at]) {
            is_in[at] = true;
            let list = if as_chosen(at).is_some() { &mut round.kept } else { &mut round.brought };
            list.push(form(at));
        }
        true
    }

    fn shortest(&self, at: usize) -> Option<usize> {
        let target = self.request.budget.target_tokens();
        let forms = Form::all(self.request.candidates[at].item(), target);
        forms.first().and_then(|form| form.rendering)
    }

    /// Learns from a round; `true` if there is nothing left to learn.
    fn settle(&mut self, round: &Round) -> bool {
        if round.brought.is_empty() && round.dropped.is_empty() {
            return self.bar_what_came_for_nothing(round);
        }
        self.brought.extend(round.brought.iter().copied());
        // What was brought must be able to stand without what the slicer chose this time.
        let kept: BTreeMap<usize, Option<usize>> = round.kept.iter().copied().collect();
        for at in round.brought.iter().map(|(at, _)| *at) {
            for needed in self.needs.missing(at, |needed| self.brought.contains_key(&needed)) {
                self.brought.insert(needed, kept.get(&needed).copied().flatten());
            }
        }
        for at in &round.dropped {
            self.is_barred[*at] = true;
        }
        false
    }

    /// Bars items that came in for others that did not come, and all that would bring them again;
    /// `true` if there is no such thing.
    fn bar_what_came_for_nothing(&mut self, round: &Round) -> bool {
        let idle = self.idle(round);
        for at in &idle {
            self.brought.remove(at);
        }
        let mut is_in = vec![false; self.is_barred.len()];
        for at in self.brought.keys().chain(round.kept.iter().map(|(at, _)| at)) {
            is_in[*at] = true;
        }
        for at in (0..is_in.len()).filter(|_| !idle.is_empty()) {
            let brings = |needed: &usize| idle.binary_search(needed).is_ok();
            if !is_in[at] && self.needs.missing(at, |needed| is_in[needed]).iter().any(brings) {
                self.is_barred[at] = true;
            }
        }
        idle.is_empty()
    }

    /// Items that came in for others and that nothing kept needs, ascending.
    fn idle(&self, round: &Round) -> Vec<usize> {
        let mut is_needed = vec![false; self.is_barred.len()];
        let mut open: Vec<usize> = round.kept.iter().map(|(at, _)| *at).collect();
        while let Some(at) = open.pop() {
            for needed in self.needs.of(at) {
                if !std::mem::replace(&mut is_needed[*needed], true) {
                    open.push(*needed);
                }
            }
        }
        self.brought.keys().copied().filter(|at| !is_needed[*at]).collect()
    }

    fn finish(mut self, round: Round, last: Selection) -> Selection {
        self.brought.extend(round.brought.iter().copied());
        for at in self.idle(&round) {
            self.brought.remove(&at);
        }
        for (at, _) in &round.kept {
            self.brought.remove(at);
        }
        let brought = self.brought.into_iter();
        let all: Vec<(usize, Option<usize>)> = brought.chain(round.kept).collect();
        let mut is_in = vec![false; self.is_barred.len()];
        for (at, _) in &all {
            is_in[*at] = true;
        }
        let target = self.request.budget.target_tokens();
        let mut excluded = last.excluded;
        excluded.retain(|(at, _)| !is_in.get(*at).copied().unwrap_or_default());
        Selection {
            shortened: all.iter().filter_map(|(at, form)| Some((*at, (*form)?))).collect(),
            selected: all.into_iter().map(|(at, _)| at).collect(),
            excluded,
            shortfalls: last.shortfalls,
            next_target: self.margin.map(|margin| target.saturating_add(margin)),
        }
    }
}
