//! Compares estimates with exact counts, on texts of your own: how far off they are on average, how
//! far off they may be as they say, and how often that holds. Below the table, for each tokenizer,
//! is how many rows keep the bound in 95 of 100 texts, and which do not.
//!
//! The folder has a folder for each script, that has a folder for each language, with texts in it:
//!
//! ```text
//! cargo bench -p cupel-tokens --features huggingface --bench calibrate -- \
//!     texts claude=claude/tokenizer.json gemma=gemma-3/tokenizer.json
//! ```
//!
//! The families `openai`, `gpt-4` and `gpt-4o` need no file: they are the encodings that are built
//! in, the latter two by the estimate for tokenizers of which nothing is known.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process};

use cupel_tokens::{
    Encoding, EstimateCounter, HuggingFaceCounter, OpenAiCounter, TokenCounter, TokenizerFamily,
};

/// Texts are cut to lengths between these, in tokens of `o200k_base`.
const LENGTHS: [(usize, usize); 2] = [(50, 500), (500, 5_000)];

/// So many texts of each language and length.
const TEXTS: usize = 40;

/// Bounds are for so many of 100 texts.
const KEPT: usize = 95;

/// An exact tokenizer, and the estimate for it.
struct Pair {
    name: String,
    exact: Box<dyn TokenCounter>,
    estimate: EstimateCounter,
}

/// Figures of the texts of a row for a pair.
struct Cell {
    /// Mean error of the estimate, in percent of the exact count.
    bias: f64,
    /// Mean distance of the bound above the estimate, in percent of the estimate.
    margin: f64,
    /// Texts of 100 that keep the bound.
    kept: usize,
}

fn main() {
    if let Err(cause) = run() {
        eprintln!("calibrate: {cause}");
        process::exit(2);
    }
}

fn run() -> Result<(), String> {
    let mut arguments = env::args().skip(1);
    let folder = arguments.next().ok_or("no folder; name the one with the texts")?;
    let pairs: Vec<Pair> = arguments.map(|argument| pair(&argument)).collect::<Result<_, _>>()?;
    if pairs.is_empty() {
        return Err("no tokenizer; name some, as in gemma=tokenizer.json or gpt-4".to_owned());
    }
    let names: Vec<&str> = pairs.iter().map(|pair| pair.name.as_str()).collect();
    println!("| script | language | tokens | {} |", names.join(" | "));
    println!("|---|---|---:|{}", "---:|".repeat(pairs.len()));
    let mut rows = Vec::new();
    for script in entries(Path::new(&folder))? {
        for language in entries(&script)? {
            let texts = entries(&language)?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
            for length in LENGTHS {
                let texts = cut(&texts, length);
                if !texts.is_empty() {
                    rows.push(row(&script, &language, length, &texts, &pairs));
                }
            }
        }
    }
    summarize(&pairs, &rows);
    Ok(())
}

/// Reads `family=file` or the name of an encoding's model.
fn pair(argument: &str) -> Result<Pair, String> {
    let (name, file) = argument.split_once('=').unwrap_or((argument, ""));
    let built_in = |encoding| Box::new(OpenAiCounter::new(encoding));
    let family = TokenizerFamily::ALL.into_iter().find(|family| family.name() == name);
    let exact: Box<dyn TokenCounter> = match name {
        "openai" | "gpt-4o" => built_in(Encoding::O200kBase),
        "gpt-4" => built_in(Encoding::Cl100kBase),
        _ if family.is_none() => return Err(format!("{name}: no family of tokenizers")),
        _ => Box::new(HuggingFaceCounter::from_file(file).map_err(|error| error.to_string())?),
    };
    let estimate = EstimateCounter::like(family.unwrap_or(TokenizerFamily::Unknown));
    Ok(Pair { name: name.to_owned(), exact, estimate })
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |cause: io::Error| format!("{}: {cause}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths: io::Result<Vec<PathBuf>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(failed)?;
    paths.sort();
    Ok(paths)
}

fn read(file: &PathBuf) -> Result<String, String> {
    fs::read_to_string(file).map_err(|cause| format!("{}: {cause}", file.display()))
}

/// Parts of the texts of about these lengths, spread over all of them, some of each length.
fn cut(texts: &[String], (shortest, longest): (usize, usize)) -> Vec<&str> {
    let counter = OpenAiCounter::new(Encoding::O200kBase);
    let mut parts = Vec::new();
    for text in texts {
        let tokens = counter.count(text).max(1) as usize;
        let each = TEXTS.div_ceil(texts.len());
        for index in 0..each {
            let share = index as f64 / each as f64;
            let length = shortest as f64 * (longest as f64 / shortest as f64).powf(share);
            let bytes = (text.len() as f64 * length / tokens as f64) as usize;
            if bytes > text.len() {
                break;
            }
            let start =
                boundary(text, ((text.len() - bytes) as f64 * (share * 7.0).fract()) as usize);
            parts.push(text[start..boundary(text, start + bytes)].trim());
        }
    }
    parts
}

/// The first blank at or after a place.
fn boundary(text: &str, at: usize) -> usize {
    let at = (at..text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len());
    text[at..].find(char::is_whitespace).filter(|&after| after < 200).map_or(at, |after| at + after)
}

/// Prints a row; gives its name and what it says about each pair.
fn row(
    script: &Path,
    language: &Path,
    length: (usize, usize),
    texts: &[&str],
    pairs: &[Pair],
) -> (String, Vec<Cell>) {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (script, language) = (name(script), name(language));
    let cells: Vec<Cell> = pairs.iter().map(|pair| cell(pair, texts)).collect();
    let shown: Vec<String> = cells
        .iter()
        .map(|cell| format!("{:+.0} %, ≤ +{:.0} %: {}", cell.bias, cell.margin, cell.kept))
        .collect();
    println!("| {script} | {language} | {}–{} | {} |", length.0, length.1, shown.join(" | "));
    (format!("{language} {}–{}", length.0, length.1), cells)
}

fn cell(pair: &Pair, texts: &[&str]) -> Cell {
    let (mut bias, mut margin, mut kept) = (0.0, 0.0, 0);
    for text in texts {
        let exact = pair.exact.count(text);
        let estimate = pair.estimate.bounded(text);
        bias += (estimate.tokens as f64 / exact.max(1) as f64 - 1.0) * 100.0;
        margin += estimate.margin_percent();
        kept += usize::from(exact <= estimate.at_most);
    }
    let count = texts.len() as f64;
    Cell { bias: bias / count, margin: margin / count, kept: kept * 100 / texts.len() }
}

/// Number of rows that keep the bound, and which do not.
fn summarize(pairs: &[Pair], rows: &[(String, Vec<Cell>)]) {
    println!();
    for (index, pair) in pairs.iter().enumerate() {
        let broken: Vec<String> = rows
            .iter()
            .filter(|(_, cells)| cells[index].kept < KEPT)
            .map(|(name, cells)| format!("{name} ({})", cells[index].kept))
            .collect();
        let (name, all) = (&pair.name, rows.len());
        if broken.is_empty() {
            println!("- {name}: all {all} rows");
        } else {
            let kept = all - broken.len();
            println!("- {name}: {kept} of {all} rows; not {}", broken.join(", "));
        }
    }
}
