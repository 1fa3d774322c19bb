//! `cargo run --release --manifest-path bench/Cargo.toml`: every table.

#![forbid(unsafe_code)]

use cupel_bench::options::{Format, Options};
use cupel_bench::{contest, frequency, memory, relevance, report, telemetry};

fn main() {
    let options = Options::from_command_line();
    if cfg!(debug_assertions) && !options.quick {
        eprintln!("warning: this is a debug build; its times say nothing");
    }

    let contest = contest::run(&options);
    let frequency = frequency::run(&options);
    let relevance = relevance::run(&options);
    let telemetry = telemetry::run(&options);
    let memory = memory::run_program(&options).unwrap_or_else(|error| {
        eprintln!("no memory figures: {error}");
        std::process::exit(1);
    });

    if options.format == Format::Json {
        let all = serde_json::json!({
            "time": contest, "frequency": frequency, "relevance": relevance, "telemetry": telemetry,
            "memory": memory,
        });
        println!("{}", report::json(&all));
        return;
    }
    let tables = [
        report::contest(&contest),
        report::frequency(&frequency),
        report::relevance(&relevance),
        report::telemetry(&telemetry),
        report::memory(&memory),
    ];
    for table in tables.iter().filter(|table| !table.is_empty()) {
        println!("{}", table.render(options.format));
    }
}
