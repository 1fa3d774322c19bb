//! Writes the vocabularies that the crate brings along, from those of another implementation.
//!
//! ```text
//! cargo run --release -p cupel-tokens --example vocabulary -- crates/cupel-tokens/data
//! ```

mod merges;

use std::path::Path;
use std::{env, fs, process};

fn main() {
    let Some(folder) = env::args().nth(1) else {
        eprintln!("vocabulary: no folder; name the one to write to");
        process::exit(2);
    };
    for (name, tokenizer) in
        [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())]
    {
        let path = Path::new(&folder).join(name).with_extension("merges");
        if let Err(cause) = fs::write(&path, merges::file(tokenizer)) {
            eprintln!("vocabulary: {}: {cause}", path.display());
            process::exit(2);
        }
    }
}
