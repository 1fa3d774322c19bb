//! How many megabytes a second each counter takes, on one core and on all.
//!
//! ```text
//! cargo run --release -p cupel-tokens --example throughput -- README.md
//! ```

use std::time::Instant;
use std::{env, fs, process};

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, TokenCounter};

/// Texts are repeated to about this many bytes.
const ENOUGH: usize = 10_000_000;

fn main() {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("throughput: no files; name some texts to count");
        process::exit(2);
    }
    println!("| text | counter | first call | one core | all cores |");
    println!("|---|---|---:|---:|---:|");
    for file in files {
        match fs::read_to_string(&file) {
            Ok(text) if !text.is_empty() => measure(&file, &text),
            Ok(_) => eprintln!("throughput: {file}: empty"),
            Err(cause) => eprintln!("throughput: {file}: {cause}"),
        }
    }
}

fn measure(file: &str, text: &str) {
    let long = text.repeat(ENOUGH.div_ceil(text.len()));
    let counters: [&dyn TokenCounter; 3] = [
        &OpenAiCounter::new(Encoding::O200kBase),
        &OpenAiCounter::new(Encoding::Cl100kBase),
        &EstimateCounter::new(),
    ];
    for counter in counters {
        let first = seconds(|| counter.count("a"));
        let megabytes = long.len() as f64 / 1e6;
        let one = megabytes / seconds(|| counter.count(&long));
        let all = megabytes / seconds(|| counter.count_all(&[&long])[0]);
        let name = counter.name();
        println!("| {file} | {name} | {:.1} ms | {one:.0} MB/s | {all:.0} MB/s |", first * 1e3);
    }
}

fn seconds(count: impl FnOnce() -> i64) -> f64 {
    let start = Instant::now();
    std::hint::black_box(count());
    start.elapsed().as_secs_f64()
}
