//! Compares estimates with exact counts, for texts that are given as files.
//!
//! ```text
//! cargo run -p cupel-tokens --example calibrate -- crates/cupel-tokens/tests/samples/*
//! ```

use std::{env, fs, process};

use cupel_tokens::{Encoding, EstimateCounter, OpenAiCounter, TokenCounter};

fn main() {
    let files: Vec<String> = env::args().skip(1).collect();
    if files.is_empty() {
        eprintln!("calibrate: no files; name some texts to compare on");
        process::exit(2);
    }
    println!(
        "| text | o200k_base | estimate | ÷ o200k_base | ÷ cl100k_base | chars/4 ÷ o200k_base |"
    );
    println!("|---|---:|---:|---:|---:|---:|");
    for file in files {
        match fs::read_to_string(&file) {
            Ok(text) => print_row(&file, &text),
            Err(cause) => {
                eprintln!("calibrate: {file}: {cause}");
                process::exit(2);
            }
        }
    }
}

fn print_row(file: &str, text: &str) {
    let name = file.rsplit('/').next().unwrap_or(file);
    let o200k = OpenAiCounter::new(Encoding::O200kBase).count(text);
    let cl100k = OpenAiCounter::new(Encoding::Cl100kBase).count(text);
    let estimate = EstimateCounter::new().count(text);
    let quarter = text.chars().count() as f64 / 4.0;
    println!(
        "| {name} | {o200k} | {estimate} | {:.2} | {:.2} | {:.2} |",
        estimate as f64 / o200k as f64,
        estimate as f64 / cl100k as f64,
        quarter / o200k as f64,
    );
}
