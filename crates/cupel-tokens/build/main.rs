//! Turns the vocabularies in `data`, which hold what a byte pair encoding is and nothing more, into
//! tables that a count reads as they are. So nothing has to be worked out when a program starts.

mod classes;
#[path = "../src/openai/layout.rs"]
mod layout;
mod merges;
#[path = "../src/openai/pairs.rs"]
mod pairs;
mod steps;

use std::path::Path;
use std::{env, fs, io};

use merges::Merges;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=data");
    println!("cargo::rerun-if-changed=src/openai/layout.rs");
    println!("cargo::rerun-if-changed=src/openai/pairs.rs");
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    let out = Path::new(&out);
    fs::write(out.join("classes"), classes::table())?;
    for name in ["o200k_base", "cl100k_base"] {
        let merges = Merges::read(&fs::read(format!("data/{name}.merges"))?);
        let (steps, tokens) = steps::tables(&merges);
        fs::write(out.join(format!("{name}.steps")), u64s(&steps))?;
        fs::write(out.join(format!("{name}.tokens")), u32s(&tokens))?;
        fs::write(out.join(format!("{name}.parts")), u64s(&parts(&merges)))?;
        fs::write(out.join(format!("{name}.pairs")), u64s(&pairs::table(&merges.parts)))?;
        fs::write(out.join(format!("{name}.filter")), pairs::filter(&merges.parts))?;
    }
    Ok(())
}

/// The parts of each token.
fn parts(merges: &Merges) -> Vec<u64> {
    merges.parts.iter().map(|&(left, right)| u64::from(left) << 32 | u64::from(right)).collect()
}

fn u64s(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn u32s(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
