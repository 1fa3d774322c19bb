//! Every workload with its sizes and its targets, as data.

/// How items are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    Recency,
    Reflexive,
    Frequency,
    /// Recency, priority, kind and frequency, weighted 4 : 3 : 2 : 1.
    FourSignals,
    /// Scaled recency and scaled frequency in equal parts.
    ScaledPair,
}

/// How scored items are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slicing {
    Greedy,
    Knapsack { bucket: i64 },
    QuotaOverGreedy,
}

/// What the user asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Run,
    TracedByItem,
    FindMinBudget,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub signal: Signal,
    pub slicing: Slicing,
    pub call: Call,
}

/// How much more than the floor we may take.
#[derive(Clone, Copy, Debug)]
pub enum FloorTarget {
    AtMost(f64),
    AtMostBetter {
        at_most: f64,
        better: f64,
    },
    /// Twice the ratio that this run measured for the same workload at another size.
    TwiceThatAt(usize),
    /// The floor does not do this job.
    NotCompared,
}

/// Number of times our time the published crate takes.
#[derive(Clone, Copy, Debug)]
pub enum PublishedTarget {
    AtLeast(f64),
    NotRun(&'static str),
}

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub items: usize,
    pub floor: FloorTarget,
    pub published: PublishedTarget,
}

#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub name: &'static str,
    pub plan: Plan,
    /// Whether rig-memory's token window does this job too, and up to which size it is run.
    pub rig_up_to: usize,
    pub cases: &'static [Case],
}

/// Kind, required and largest share of the target in percent.
pub const QUOTAS: [(&str, f64, f64); 3] =
    [("SystemPrompt", 5.0, 15.0), ("Document", 20.0, 40.0), ("Message", 20.0, 50.0)];

pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "recency, greedy",
        plan: Plan { signal: Signal::Recency, slicing: Slicing::Greedy, call: Call::Run },
        rig_up_to: 10_000,
        cases: &[
            case(100, FloorTarget::AtMost(1.5), PublishedTarget::AtLeast(10.0)),
            case(1_000, FloorTarget::AtMost(1.5), PublishedTarget::AtLeast(20.0)),
            case(10_000, FloorTarget::AtMost(2.0), PublishedTarget::AtLeast(150.0)),
            case(1_000_000, FloorTarget::TwiceThatAt(10_000), NOT_RUN_QUADRATIC),
        ],
    },
    Workload {
        name: "reflexive, greedy",
        plan: Plan { signal: Signal::Reflexive, slicing: Slicing::Greedy, call: Call::Run },
        rig_up_to: 0,
        cases: &[
            case(100, FloorTarget::AtMost(1.5), PublishedTarget::AtLeast(10.0)),
            case(1_000, FloorTarget::AtMost(1.5), PublishedTarget::AtLeast(10.0)),
            case(10_000, FloorTarget::AtMost(2.0), PublishedTarget::AtLeast(12.0)),
        ],
    },
    Workload {
        name: "recency + priority + kind + frequency, greedy",
        plan: Plan { signal: Signal::FourSignals, slicing: Slicing::Greedy, call: Call::Run },
        rig_up_to: 0,
        cases: &[
            case(1_000, FloorTarget::AtMost(5.0), PublishedTarget::AtLeast(200.0)),
            case(10_000, FloorTarget::AtMost(5.0), PublishedTarget::AtLeast(2_000.0)),
        ],
    },
    Workload {
        name: "scaled(recency) + scaled(frequency), greedy",
        plan: Plan { signal: Signal::ScaledPair, slicing: Slicing::Greedy, call: Call::Run },
        rig_up_to: 0,
        cases: &[case(10_000, FloorTarget::AtMost(6.0), NOT_RUN_CANNOT_FINISH)],
    },
    Workload {
        name: "recency, knapsack (bucket 100)",
        plan: Plan {
            signal: Signal::Recency,
            slicing: Slicing::Knapsack { bucket: 100 },
            call: Call::Run,
        },
        rig_up_to: 0,
        cases: &[case(
            10_000,
            FloorTarget::AtMostBetter { at_most: 10.0, better: 5.0 },
            PublishedTarget::AtLeast(30.0),
        )],
    },
    Workload {
        name: "recency, quota over greedy",
        plan: Plan { signal: Signal::Recency, slicing: Slicing::QuotaOverGreedy, call: Call::Run },
        rig_up_to: 0,
        cases: &[case(10_000, FloorTarget::AtMost(3.0), PublishedTarget::AtLeast(100.0))],
    },
    Workload {
        name: "find_min_budget_for, four signals",
        plan: Plan {
            signal: Signal::FourSignals,
            slicing: Slicing::Greedy,
            call: Call::FindMinBudget,
        },
        rig_up_to: 0,
        cases: &[case(1_000, FloorTarget::NotCompared, PublishedTarget::AtLeast(1_000.0))],
    },
    Workload {
        name: "run_traced at item level, recency, greedy",
        plan: Plan { signal: Signal::Recency, slicing: Slicing::Greedy, call: Call::TracedByItem },
        rig_up_to: 0,
        cases: &[case(1_000, FloorTarget::AtMost(3.0), PublishedTarget::AtLeast(15.0))],
    },
];

const NOT_RUN_QUADRATIC: PublishedTarget = PublishedTarget::NotRun("not run: quadratic");
const NOT_RUN_CANNOT_FINISH: PublishedTarget = PublishedTarget::NotRun("cannot finish");

const fn case(items: usize, floor: FloorTarget, published: PublishedTarget) -> Case {
    Case { items, floor, published }
}
