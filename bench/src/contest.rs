//! One workload at one size: every contestant is checked once, then all are
//! timed in turn, then the targets are judged.

use std::time::Duration;

use serde::Serialize;

use crate::data::{self, USUAL_TAGS};
use crate::floor::floor;
use crate::measure::{Contestant, Timing, interleaved, once};
use crate::options::Options;
use crate::rig::Rig;
use crate::workload::{Case, FloorTarget, PublishedTarget, WORKLOADS, Workload};
use crate::{ours, published};

#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub workload: &'static str,
    pub items: usize,
    pub floor: Option<Timing>,
    pub ours: Timing,
    pub published: Option<Timing>,
    pub published_not_run: Option<&'static str>,
    pub rig_memory: Option<Timing>,
    pub rig_memory_with_copy: Option<Timing>,
    pub ours_to_floor: Option<Ratio>,
    pub published_to_ours: Option<Ratio>,
    /// True if the published crate gave the same answer.
    pub same_answer: Option<bool>,
}

/// A quotient of two times and what it should be.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    pub value: f64,
    pub bound: Option<Bound>,
    pub met: Option<bool>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    AtMost(f64),
    AtMostBetter { at_most: f64, better: f64 },
    AtLeast(f64),
}

/// All workloads that the options want, in the order of the table.
pub fn run(options: &Options) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for workload in WORKLOADS {
        let mut ratios = Vec::new();
        for case in workload.cases {
            if !options.wants(workload.name, case.items) {
                continue;
            }
            eprintln!("measuring {}, {} items", workload.name, options.size(case.items));
            let timings = Timings::of(workload, case, options);
            let outcome = timings.judged(workload, case, options, &ratios);
            ratios.extend(outcome.ours_to_floor.map(|ratio| (case.items, ratio.value)));
            outcomes.push(outcome);
        }
    }
    outcomes
}

struct Timings {
    floor: Option<Timing>,
    ours: Timing,
    published: Option<Timing>,
    rig_memory: Option<Timing>,
    rig_memory_with_copy: Option<Timing>,
    same_answer: Option<bool>,
}

impl Timings {
    fn of(workload: &Workload, case: &Case, options: &Options) -> Self {
        let rows = || data::rows(options.size(case.items), USUAL_TAGS);
        let ours = ours::Engine::new(workload.plan, rows());
        let published = matches!(case.published, PublishedTarget::AtLeast(_))
            .then(|| published::Engine::new(workload.plan, rows()));
        let rig = (case.items <= workload.rig_up_to).then(|| Rig::new(rows()));
        let floored = !matches!(case.floor, FloorTarget::NotCompared);

        // Every answer is looked at once; a slow contestant is not run again.
        let (answer, first) = once(|| ours.run());
        honest("ours", ours.flaw(&answer));
        let mut contestants = vec![Contestant::new(first, || ours.run())];
        let mut same_answer = None;
        if let Some(published) = &published {
            let (theirs, first) = once(|| published.run());
            honest("published", published.flaw(&theirs));
            same_answer = Some(theirs.texts() == answer.texts());
            contestants.push(Contestant::new(first, || published.run()));
        }
        if floored {
            assert_eq!(floor(ours.items()).len(), ours.items().len() / 4, "the floor's quarter");
            contestants.push(Contestant::new(Duration::ZERO, || floor(ours.items())));
        }
        if let Some(rig) = &rig {
            honest("rig-memory", rig.flaw(&rig.apply(rig.copy())));
            contestants
                .push(Contestant::self_timed(Duration::ZERO, |runs| rig.time_without_copy(runs)));
            contestants.push(Contestant::new(Duration::ZERO, || rig.apply(rig.copy())));
        }
        drop(answer);

        let mut timings = interleaved(contestants, options.effort()).into_iter();
        let mut next = |present: bool| if present { timings.next() } else { None };
        Self {
            ours: next(true).expect("ours is always timed"),
            published: next(published.is_some()),
            floor: next(floored),
            rig_memory: next(rig.is_some()),
            rig_memory_with_copy: next(rig.is_some()),
            same_answer,
        }
    }

    /// `ratios` are those to the floor at the sizes before, for targets that refer to one.
    fn judged(
        self,
        workload: &Workload,
        case: &Case,
        options: &Options,
        ratios: &[(usize, f64)],
    ) -> Outcome {
        let floor_bound = match case.floor {
            FloorTarget::AtMost(at_most) => Some(Bound::AtMost(at_most)),
            FloorTarget::AtMostBetter { at_most, better } => {
                Some(Bound::AtMostBetter { at_most, better })
            }
            FloorTarget::TwiceThatAt(items) => ratios
                .iter()
                .find(|(size, _)| *size == items)
                .map(|(_, ratio)| Bound::AtMost(2.0 * ratio)),
            FloorTarget::NotCompared => None,
        };
        let (published_bound, published_not_run) = match case.published {
            PublishedTarget::AtLeast(at_least) => (Some(Bound::AtLeast(at_least)), None),
            PublishedTarget::NotRun(why) => (None, Some(why)),
        };
        // A target belongs to its size: small stand-ins are not judged.
        let bound = |bound: Option<Bound>| bound.filter(|_| !options.quick);
        let ratio = |over: Timing, under: Timing, to: Option<Bound>| {
            Ratio::new(over.best_seconds / under.best_seconds, bound(to))
        };
        Outcome {
            workload: workload.name,
            items: options.size(case.items),
            ours_to_floor: self.floor.map(|floor| ratio(self.ours, floor, floor_bound)),
            published_to_ours: self.published.map(|one| ratio(one, self.ours, published_bound)),
            floor: self.floor,
            ours: self.ours,
            published: self.published,
            published_not_run,
            rig_memory: self.rig_memory,
            rig_memory_with_copy: self.rig_memory_with_copy,
            same_answer: self.same_answer,
        }
    }
}

impl Ratio {
    pub(crate) fn new(value: f64, bound: Option<Bound>) -> Self {
        let met = bound.map(|bound| match bound {
            Bound::AtMost(at_most) | Bound::AtMostBetter { at_most, .. } => value <= at_most,
            Bound::AtLeast(at_least) => value >= at_least,
        });
        Self { value, bound, met }
    }
}

/// A contestant that did not do the job must not be timed at all.
fn honest(who: &str, flaw: Option<String>) {
    if let Some(flaw) = flaw {
        panic!("{who}: {flaw}");
    }
}
