//! The command line, the same for both programs.

use crate::measure::{self, Effort};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    #[default]
    Text,
    Markdown,
    Json,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub filters: Vec<String>,
    pub quick: bool,
    pub format: Format,
    pub help: bool,
}

pub const HELP: &str = "\
Usage: cargo run --release --manifest-path bench/Cargo.toml -- [OPTIONS] [FILTER]...

Without options: every workload at every size, then Frequency alone, relevance, telemetry, memory.

  FILTER       only rows of this size (a number) or with this in their name (a text);
               several filters must all hold: `greedy 10000`, `frequency`, `memory 1000000`
  --quick      small sizes and two rounds: shows that everything runs, judges no time
  --markdown   tables for a README
  --json       everything that was measured, as one JSON document
  --help       this text

`--bin memory` runs the memory part alone, with the same options.
";

impl Options {
    pub fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--quick" => options.quick = true,
                "--markdown" => options.format = Format::Markdown,
                "--json" => options.format = Format::Json,
                "--help" | "-h" => options.help = true,
                flag if flag.starts_with('-') => return Err(format!("unknown option {flag}")),
                _ => options.filters.push(argument),
            }
        }
        Ok(options)
    }

    /// From the process's own arguments; leaves with the help or with an error.
    pub fn from_command_line() -> Self {
        match Self::parse(std::env::args().skip(1)) {
            Ok(options) if options.help => {
                print!("{HELP}");
                std::process::exit(0);
            }
            Ok(options) => options,
            Err(error) => {
                eprint!("{error}\n\n{HELP}");
                std::process::exit(2);
            }
        }
    }

    pub fn wants(&self, name: &str, items: usize) -> bool {
        self.filters.iter().all(|filter| match filter.parse::<usize>() {
            Ok(size) => size == items,
            Err(_) => name.contains(filter.as_str()),
        })
    }

    pub fn effort(&self) -> Effort {
        if self.quick { measure::QUICK } else { measure::FULL }
    }

    /// A workload's size, or a small one in its place.
    pub fn size(&self, items: usize) -> usize {
        if self.quick { 2 * items.isqrt() } else { items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn filters_and_options_come_in_any_order() {
        let options = parse(&["--json", "greedy", "--quick", "1000"]).unwrap();
        assert_eq!((options.format, options.quick), (Format::Json, true));
        assert!(options.wants("recency, greedy", 1_000));
        assert!(!options.wants("recency, greedy", 10_000));
        assert!(!options.wants("recency, knapsack", 1_000));
    }

    #[test]
    fn no_filter_wants_everything() {
        assert!(parse(&[]).unwrap().wants("recency, greedy", 100));
    }

    #[test]
    fn unknown_options_are_refused() {
        assert!(parse(&["--fast"]).unwrap_err().contains("--fast"));
    }
}
