//! The engine's own time for a request, without Python: what `bench/speed.py` compares with.
//!
//! `engine_time FILE BUDGET ROUNDS` prints the fastest and the median round in milliseconds.

use std::time::Instant;
use std::{env, fs, process};

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [file, budget, rounds] = &arguments[..] else {
        eprintln!("engine_time FILE BUDGET ROUNDS");
        process::exit(2);
    };
    if let Err(error) = measure(file, budget, rounds) {
        eprintln!("{error}");
        process::exit(2);
    }
}

fn measure(file: &str, budget: &str, rounds: &str) -> Result<(), Box<dyn std::error::Error>> {
    let text = fs::read_to_string(file)?;
    let engine = cupel_engine::Engine::builder().max_tokens(budget.parse()?).build()?;
    let rounds: usize = rounds.parse()?;
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds.max(1) {
        let began = Instant::now();
        engine.select(text.as_str())?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    println!("{} {}", times[0], times[times.len() / 2]);
    Ok(())
}
