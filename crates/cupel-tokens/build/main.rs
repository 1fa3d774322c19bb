//! Turns the vocabularies in `data`, which hold what a byte pair encoding is and nothing more, into
//! tables that a count reads as they are. So nothing has to be worked out when a program starts.

mod classes;
#[path = "../src/openai/layout.rs"]
mod layout;
#[path = "../src/openai/merges.rs"]
mod merges;
#[path = "../src/openai/pairs.rs"]
mod pairs;
#[path = "../src/openai/steps.rs"]
mod steps;

use std::path::Path;
use std::{env, fs, io};

use merges::Merges;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=data");
    for shared in ["layout", "merges", "pairs", "steps"] {
        println!("cargo::rerun-if-changed=src/openai/{shared}.rs");
    }
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let out = Path::new(&out);
    fs::write(out.join("classes"), classes::table())?;
    for name in ["o200k_base", "cl100k_base"] {
        let file = fs::read(format!("data/{name}.merges"))?;
        fs::write(out.join(format!("{name}.sum")), layout::sum(&file).to_le_bytes())?;
        // Where no tables are in the program, they are made once they are needed.
        let is_whole = env::var_os("CARGO_FEATURE_COMPACT").is_none();
        if is_whole && env::var_os("CARGO_FEATURE_VOCABULARIES").is_some() {
            tables(out, name, &file)?;
        }
    }
    Ok(())
}

fn tables(out: &Path, name: &str, file: &[u8]) -> io::Result<()> {
    let merges =
        Merges::read(file).ok_or_else(|| io::Error::other("a token is made of later ones"))?;
    let (steps, tokens) = steps::tables(&merges);
    fs::write(out.join(format!("{name}.steps")), u64s(&steps))?;
    fs::write(out.join(format!("{name}.tokens")), u32s(&tokens))?;
    fs::write(out.join(format!("{name}.parts")), u64s(&merges.numbers()))?;
    fs::write(out.join(format!("{name}.pairs")), u64s(&pairs::table(&merges.parts)))?;
    fs::write(out.join(format!("{name}.filter")), pairs::filter(&merges.parts))
}

fn u64s(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
