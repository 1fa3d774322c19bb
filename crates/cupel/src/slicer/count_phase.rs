//! The steps that both count quotas share: satisfy the counts, fill the rest, apply the caps.

use std::collections::HashMap;

use super::kind_index::{self, KindIndex};
use super::{CountQuotaEntry, QuotaConstraint, ScarcityBehavior, Selection, SliceRequest};
use crate::diagnostics::{CountRequirementShortfall, ExclusionReason};
use crate::model::TokenSum;
use crate::order::descending_key;
use crate::{Candidate, ContextBudget, ContextKind, CupelError};

/// Entries with what to do when they cannot be met: what both count quotas consist of.
#[derive(Debug, Clone)]
pub(super) struct CountPhase {
    /// The slicer's name, for messages.
    slicer: &'static str,
    entries: Vec<CountQuotaEntry>,
    scarcity: ScarcityBehavior,
}

impl CountPhase {
    /// Refuses entries of the same kind.
    pub(super) fn new(
        slicer: &'static str,
        entries: Vec<CountQuotaEntry>,
        scarcity: ScarcityBehavior,
    ) -> Result<Self, CupelError> {
        match kind_index::distinct(entries.iter().map(CountQuotaEntry::kind)) {
            Ok(_) => Ok(Self { slicer, entries, scarcity }),
            Err(kind) => Err(CupelError::SlicerConfig(format!(
                "entries: kind `{kind}` occurs more than once; give each kind one entry"
            ))),
        }
    }

    pub(super) fn entries(&self) -> &[CountQuotaEntry] {
        &self.entries
    }

    pub(super) fn scarcity(&self) -> ScarcityBehavior {
        self.scarcity
    }

    pub(super) fn cap_map(&self) -> HashMap<ContextKind, usize> {
        self.entries.iter().map(|entry| (entry.kind().clone(), entry.cap_count())).collect()
    }

    pub(super) fn constraints(&self) -> Vec<QuotaConstraint> {
        self.entries.iter().map(CountQuotaEntry::constraint).collect()
    }

    /// Commits the best items of each required kind, lets `fill` choose among the rest, and drops
    /// what exceeds a cap. `fill` returns positions among the candidates that it was given, in
    /// the order in which the caps shall see them.
    pub(super) fn select(
        &self,
        request: &SliceRequest<'_>,
        fill: impl FnOnce(&SliceRequest<'_>) -> Result<Selection, CupelError>,
    ) -> Result<Selection, CupelError> {
        if request.is_empty() {
            return Ok(Selection::default());
        }
        let kinds = self.kinds();
        let mut committed = self.satisfy(&kinds, request)?;
        let rest: Vec<usize> =
            (0..request.candidates.len()).filter(|at| !committed.is_taken[*at]).collect();
        let candidates: Vec<Candidate<'_>> =
            rest.iter().map(|at| request.candidates[*at]).collect();
        let target = i128::from(request.budget.target_tokens()) - committed.tokens.0;
        let max = request.budget.max_tokens();
        let budget = ContextBudget::plain(max, crate::model::clamp_to_i64(target).min(max));
        let mut filled = Selection::default();
        filled.absorb(fill(&request.with(&candidates, &budget))?, &rest);
        self.cap(&kinds, request, &mut committed, filled);
        Ok(committed.selection)
    }

    /// Shortfalls of required kinds that are not present at all.
    pub(super) fn absent_kinds(
        &self,
        is_present: &dyn Fn(&ContextKind) -> bool,
    ) -> Result<Vec<CountRequirementShortfall>, CupelError> {
        let absent = self.entries.iter().filter(|entry| !is_present(entry.kind()));
        let shortfalls =
            absent.map(|entry| self.shortfall(entry, 0)).collect::<Result<Vec<_>, _>>()?;
        Ok(shortfalls.into_iter().flatten().collect())
    }

    fn kinds(&self) -> KindIndex<'_> {
        // Constructors refuse duplicates, so numbers are positions in the list of entries.
        kind_index::distinct(self.entries.iter().map(CountQuotaEntry::kind)).unwrap_or_default()
    }

    fn satisfy(
        &self,
        kinds: &KindIndex<'_>,
        request: &SliceRequest<'_>,
    ) -> Result<Committed, CupelError> {
        let mut pools: Vec<Vec<usize>> = vec![Vec::new(); self.entries.len()];
        for (at, candidate) in request.candidates.iter().enumerate() {
            if let Some(entry) = kinds.get(candidate.item().kind()) {
                pools[entry].push(at);
            }
        }
        let mut committed = Committed::new(self.entries.len(), request.candidates.len());
        for (number, entry) in self.entries.iter().enumerate() {
            if request.only_kind.is_some_and(|kind| kind != entry.kind()) {
                continue;
            }
            let pool = &mut pools[number];
            pool.sort_by_key(|at| descending_key(request.candidates[*at].score()));
            pool.truncate(entry.require_count());
            for at in pool.iter() {
                committed.take(*at, request.candidates[*at].tokens());
            }
            committed.counts[number] = pool.len();
            committed.selection.shortfalls.extend(self.shortfall(entry, pool.len())?);
        }
        Ok(committed)
    }

    fn shortfall(
        &self,
        entry: &CountQuotaEntry,
        satisfied: usize,
    ) -> Result<Option<CountRequirementShortfall>, CupelError> {
        if satisfied >= entry.require_count() {
            return Ok(None);
        }
        let (kind, required) = (entry.kind(), entry.require_count());
        match self.scarcity {
            ScarcityBehavior::Degrade => Ok(Some(CountRequirementShortfall {
                kind: kind.as_str().to_owned(),
                required_count: required,
                satisfied_count: satisfied,
            })),
            ScarcityBehavior::Throw => Err(CupelError::SlicerConfig(format!(
                "{}: candidate pool for kind '{kind}' has {satisfied} items but RequireCount is \
                 {required}.",
                self.slicer
            ))),
        }
    }

    fn cap(
        &self,
        kinds: &KindIndex<'_>,
        request: &SliceRequest<'_>,
        committed: &mut Committed,
        filled: Selection,
    ) {
        let selection = &mut committed.selection;
        selection.excluded.extend(filled.excluded);
        selection.shortfalls.extend(filled.shortfalls);
        for at in filled.selected {
            let kind = request.candidates[at].item().kind();
            let Some(number) = kinds.get(kind) else {
                selection.selected.push(at);
                continue;
            };
            let (count, cap) = (committed.counts[number], self.entries[number].cap_count());
            if count < cap {
                selection.selected.push(at);
                committed.counts[number] += 1;
            } else {
                let kind = kind.as_str().to_owned();
                let reason = ExclusionReason::CountCapExceeded { kind, cap, count };
                selection.excluded.push((at, reason));
            }
        }
    }
}

/// Items that the first phase took.
struct Committed {
    selection: Selection,
    /// Items taken, by entry.
    counts: Vec<usize>,
    tokens: TokenSum,
    is_taken: Vec<bool>,
}

impl Committed {
    fn new(entries: usize, candidates: usize) -> Self {
        Self {
            selection: Selection::default(),
            counts: vec![0; entries],
            tokens: TokenSum::default(),
            is_taken: vec![false; candidates],
        }
    }

    fn take(&mut self, at: usize, tokens: i64) {
        self.selection.selected.push(at);
        self.tokens.add(tokens);
        self.is_taken[at] = true;
    }
}
