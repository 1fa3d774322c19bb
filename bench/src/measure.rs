//! Times several contestants in turn, so that a busy moment of the machine
//! hits all of them, and keeps the best round of each.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs its job this often and says how long that took.
pub type Job<'a> = Box<dyn FnMut(u32) -> Duration + 'a>;

pub struct Contestant<'a> {
    job: Job<'a>,
    /// How long the run took whose answer was checked.
    first: Duration,
}

/// Time of one run.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Timing {
    pub best_seconds: f64,
    pub median_seconds: f64,
    pub rounds: usize,
    pub runs_per_round: u32,
}

/// How much time a measurement may take.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// A round repeats the job until it takes this long.
    pub round: Duration,
    pub fewest_rounds: usize,
    pub most_rounds: usize,
    /// All rounds of one contestant, beyond the fewest.
    pub total: Duration,
    /// A job that takes longer is not repeated: its checked run is the only round.
    pub once: Duration,
}

pub const FULL: Effort = Effort {
    round: Duration::from_millis(5),
    fewest_rounds: 5,
    most_rounds: 60,
    total: Duration::from_millis(1_500),
    once: Duration::from_millis(2_500),
};

pub const QUICK: Effort = Effort {
    round: Duration::from_micros(100),
    fewest_rounds: 2,
    most_rounds: 2,
    total: Duration::from_millis(10),
    once: Duration::from_millis(200),
};

impl<'a> Contestant<'a> {
    /// A job whose answer is dropped within the time.
    pub fn new<T>(first: Duration, mut job: impl FnMut() -> T + 'a) -> Self {
        let job = move |runs| {
            let start = Instant::now();
            for _ in 0..runs {
                black_box(job());
            }
            start.elapsed()
        };
        Self { job: Box::new(job), first }
    }

    /// A job that keeps its own time.
    pub fn self_timed(first: Duration, job: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self { job: Box::new(job), first }
    }
}

/// Calls `job` once and says how long it took.
pub fn once<T>(job: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let answer = job();
    (answer, start.elapsed())
}

/// Round by round, every contestant in turn; one timing each, in their order.
pub fn interleaved(contestants: Vec<Contestant<'_>>, effort: Effort) -> Vec<Timing> {
    let mut all: Vec<Rounds<'_>> =
        contestants.into_iter().map(|one| Rounds::calibrated(one, effort)).collect();
    for round in 0..effort.most_rounds {
        for one in &mut all {
            one.play(round);
        }
    }
    all.into_iter().map(Rounds::timing).collect()
}

struct Rounds<'a> {
    job: Job<'a>,
    runs: u32,
    planned: usize,
    seconds: Vec<f64>,
}

impl<'a> Rounds<'a> {
    /// Finds how many runs fill a round, and how many rounds the time allows.
    fn calibrated(contestant: Contestant<'a>, effort: Effort) -> Self {
        let Contestant { mut job, first } = contestant;
        if first > effort.once {
            return Self { job, runs: 1, planned: 0, seconds: vec![first.as_secs_f64()] };
        }
        let (mut runs, mut took) = (1, job(1));
        while took < effort.round {
            runs *= 2;
            took = job(runs);
        }
        let affordable = (effort.total.as_secs_f64() / took.as_secs_f64()) as usize;
        let planned = affordable.clamp(effort.fewest_rounds, effort.most_rounds);
        Self { job, runs, planned, seconds: Vec::with_capacity(planned) }
    }

    fn play(&mut self, round: usize) {
        if round < self.planned {
            let took = (self.job)(self.runs);
            self.seconds.push(took.as_secs_f64() / f64::from(self.runs));
        }
    }

    fn timing(mut self) -> Timing {
        self.seconds.sort_unstable_by(f64::total_cmp);
        Timing {
            best_seconds: self.seconds[0],
            median_seconds: self.seconds[self.seconds.len() / 2],
            rounds: self.seconds.len(),
            runs_per_round: self.runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contestant_gets_its_timing_in_order() {
        let slow = Contestant::self_timed(Duration::ZERO, |runs| Duration::from_millis(3) * runs);
        let fast = Contestant::self_timed(Duration::ZERO, |runs| Duration::from_micros(2) * runs);
        let timings = interleaved(vec![slow, fast], QUICK);
        assert_eq!(timings[0].runs_per_round, 1);
        assert_eq!(timings[1].runs_per_round, 64);
        assert!((timings[0].best_seconds - 0.003).abs() < 1e-9);
        assert!((timings[1].best_seconds - 0.000_002).abs() < 1e-9);
    }

    #[test]
    fn a_long_job_is_not_repeated() {
        let first = Duration::from_secs(9);
        let long = Contestant::self_timed(first, |_| unreachable!("would take too long"));
        let timing = interleaved(vec![long], FULL)[0];
        assert_eq!((timing.rounds, timing.best_seconds), (1, 9.0));
    }
}
