//! Measures each counter beside `bpe-openai`: the first call, which reads the vocabulary, and
//! megabytes a second on one core and on all.
//!
//! ```text
//! cargo run --release -p cupel-tokens --example throughput -- README.md
//! ```

use std::time::Instant;
use std::{env, fs, process};

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, SuppliedCounter, TokenCounter};

/// Texts are repeated to about this many bytes.
const ENOUGH: usize = 1_000_000;

fn main() {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("throughput: no files; name some texts to count");
        process::exit(2);
    }
    println!("| text | counter | first call | one core | all cores |");
    println!("|---|---|---:|---:|---:|");
    for (name, text) in hard_texts() {
        measure(name, &text);
    }
    for file in files {
        match fs::read_to_string(&file) {
            Ok(text) if !text.is_empty() => {
                measure(&file, &text.repeat(ENOUGH.div_ceil(text.len())));
            }
            Ok(_) => eprintln!("throughput: {file}: empty"),
            Err(cause) => eprintln!("throughput: {file}: {cause}"),
        }
    }
}

/// A megabyte each of what makes some tokenizers slow.
fn hard_texts() -> [(&'static str, String); 4] {
    let mut state = 1u64;
    let mut random = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + ((state >> 33) % 26) as u8)
    };
    [
        ("the letter a", "a".repeat(1_000_000)),
        ("letters at random", std::iter::repeat_with(&mut random).take(1_000_000).collect()),
        ("=", "=".repeat(1_000_000)),
        ("blanks, then a letter", format!("{}x", " ".repeat(1_000_000))),
    ]
}

fn measure(name: &str, text: &str) {
    let o200k_peer = SuppliedCounter::new("bpe-openai o200k_base", |text| {
        i64::try_from(bpe_openai::o200k_base().count(text)).unwrap_or(i64::MAX)
    });
    let cl100k_peer = SuppliedCounter::new("bpe-openai cl100k_base", |text| {
        i64::try_from(bpe_openai::cl100k_base().count(text)).unwrap_or(i64::MAX)
    });
    let counters: [&dyn TokenCounter; 5] = [
        &OpenAiCounter::new(Encoding::O200kBase),
        &o200k_peer,
        &OpenAiCounter::new(Encoding::Cl100kBase),
        &cl100k_peer,
        &EstimateCounter::new(),
    ];
    for counter in counters {
        let first = seconds(|| counter.count("a"));
        let megabytes = text.len() as f64 / 1e6;
        let one = megabytes / best_seconds(|| counter.count(text));
        let all = megabytes / best_seconds(|| counter.count_all(&[text])[0]);
        let counter = counter.name();
        println!("| {name} | {counter} | {:.1} ms | {one:.1} MB/s | {all:.1} MB/s |", first * 1e3);
    }
}

/// The best of a few: others may be at work on the machine.
fn best_seconds(count: impl Fn() -> i64) -> f64 {
    (0..5).map(|_| seconds(&count)).fold(f64::INFINITY, f64::min)
}

fn seconds(count: impl FnOnce() -> i64) -> f64 {
    let start = Instant::now();
    std::hint::black_box(count());
    start.elapsed().as_secs_f64()
}
