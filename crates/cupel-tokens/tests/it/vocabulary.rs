//! The vocabularies are those of another implementation, token for token.

#[path = "../../examples/vocabulary/merges.rs"]
mod merges;

use std::fs;
use std::path::Path;

use cupel_tokens::Encoding;

#[test]
fn the_files_hold_what_another_implementation_has() {
    let peers = [
        (Encoding::O200kBase, bpe_openai::o200k_base()),
        (Encoding::Cl100kBase, bpe_openai::cl100k_base()),
    ];
    for (encoding, peer) in peers {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(encoding.name());
        let ours = fs::read(path.with_extension("merges")).unwrap();
        assert!(ours == merges::file(peer), "{encoding} differs: write it again");
    }
}
