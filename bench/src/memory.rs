//! What is measured by the `memory` program: the most bytes that a run holds
//! beyond its input, the returned window included. It is a program of its own
//! because counting every allocation would slow the timed one down.

use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::data::{Tags, USUAL_TAGS};
use crate::frequency;
use crate::options::Options;
use crate::workload::{Call, Plan, Signal, Slicing};

/// Something to run once under the counting allocator.
pub struct Subject {
    pub name: &'static str,
    pub items: usize,
    pub tags: Tags,
    pub plan: Plan,
    pub published: bool,
    pub bytes_per_item_below: Option<f64>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub workload: String,
    pub items: usize,
    pub peak_bytes: usize,
    pub bytes_per_item: f64,
    pub below: Option<f64>,
    pub met: Option<bool>,
}

const RECENCY: Plan = Plan { signal: Signal::Recency, slicing: Slicing::Greedy, call: Call::Run };

/// Every subject that the options want.
pub fn subjects(options: &Options) -> Vec<Subject> {
    let recency = |items, published, bytes_per_item_below| Subject {
        name: (if published { "recency, greedy, published" } else { "recency, greedy" }),
        items,
        tags: USUAL_TAGS,
        plan: RECENCY,
        published,
        bytes_per_item_below,
    };
    let frequency = |spread: &frequency::Spread, items| Subject {
        name: spread.name,
        items,
        tags: spread.tags,
        plan: frequency::PLAN,
        published: false,
        bytes_per_item_below: None,
    };

    let mut subjects = vec![
        recency(10_000, true, None),
        recency(10_000, false, None),
        recency(1_000_000, false, Some(100.0)),
    ];
    for spread in &frequency::SPREADS {
        subjects.extend(frequency::SIZES.map(|items| frequency(spread, items)));
    }
    subjects.retain(|subject| options.wants(&format!("memory, {}", subject.name), subject.items));
    subjects
}

impl Outcome {
    pub fn new(subject: &Subject, options: &Options, peak_bytes: usize) -> Self {
        let items = options.size(subject.items);
        let bytes_per_item = peak_bytes as f64 / items as f64;
        let below = subject.bytes_per_item_below.filter(|_| !options.quick);
        let met = below.map(|below| bytes_per_item < below);
        Self { workload: subject.name.to_owned(), items, peak_bytes, bytes_per_item, below, met }
    }
}

/// Builds and runs the `memory` program with the same filter, and reads what it says.
pub fn run_program(options: &Options) -> Result<Vec<Outcome>, String> {
    if subjects(options).is_empty() {
        return Ok(Vec::new());
    }
    eprintln!("measuring memory");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--bin", "memory", "--manifest-path"]).arg(manifest);
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    command.args(["--", "--json"]).args(options.quick.then_some("--quick")).args(&options.filters);

    let output = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("the memory program ended with {}", output.status));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
