//! Frequency alone, on easy and on hard spreads of tags: ours only, since its
//! cost depends on the spread.

use serde::Serialize;

use crate::data::{self, Tags};
use crate::measure::{Contestant, Timing, interleaved, once};
use crate::options::Options;
use crate::ours::Engine;
use crate::workload::{Call, Plan, Signal, Slicing};

pub struct Spread {
    pub name: &'static str,
    pub tags: Tags,
}

pub const SPREADS: [Spread; 4] = [
    Spread { name: "frequency alone, 200 tags", tags: Tags::FourOf(200) },
    Spread { name: "frequency alone, one tag on every item", tags: Tags::OneOnEvery },
    Spread { name: "frequency alone, one tag on half", tags: Tags::OneOnHalf },
    Spread { name: "frequency alone, 100,000 tags", tags: Tags::FourOf(100_000) },
];
pub const SIZES: [usize; 2] = [10_000, 100_000];

/// A whole run, greedy and U-shaped, with Frequency as its only signal.
pub const PLAN: Plan =
    Plan { signal: Signal::Frequency, slicing: Slicing::Greedy, call: Call::Run };

#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    pub workload: &'static str,
    pub items: usize,
    pub ours: Timing,
}

pub fn run(options: &Options) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    for spread in &SPREADS {
        for items in SIZES.into_iter().filter(|&items| options.wants(spread.name, items)) {
            let items = options.size(items);
            eprintln!("measuring {}, {items} items", spread.name);
            let engine = Engine::new(PLAN, data::rows(items, spread.tags));
            let (answer, first) = once(|| engine.run());
            assert_eq!(engine.flaw(&answer), None);
            let ours = Contestant::new(first, || engine.run());
            let ours = interleaved(vec![ours], options.effort())[0];
            outcomes.push(Outcome { workload: spread.name, items, ours });
        }
    }
    outcomes
}
