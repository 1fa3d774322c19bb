//! Class of each character, as far as the patterns of the encodings ask for it.

use regex_syntax::hir::{Class, HirKind};

/// One bit for each kind; `src/openai/classes.rs` has their names. The Unicode tables are those of
/// the engine that other implementations match with.
const KINDS: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", 1),
    (r"\p{Ll}", 2),
    (r"[\p{Lm}\p{Lo}]", 4),
    (r"\p{M}", 8),
    (r"\p{N}", 16),
    (r"\s", 32),
    (r"[\r\n]", 64),
];

/// For each 256 code points the number of a page, then the pages: kinds, in the order of the code
/// points. Most pages are alike, and there once.
pub(crate) fn table() -> Vec<u8> {
    let mut kinds = vec![0u8; char::MAX as usize + 1];
    for (pattern, kind) in KINDS {
        for (first, last) in ranges(pattern) {
            kinds[first as usize..=last as usize].iter_mut().for_each(|entry| *entry |= kind);
        }
    }
    let mut pages: Vec<&[u8]> = Vec::new();
    let mut table: Vec<u8> = kinds
        .chunks(256)
        .map(|page| {
            let known = pages.iter().position(|known| known == &page);
            known.unwrap_or_else(|| {
                pages.push(page);
                pages.len() - 1
            }) as u8
        })
        .collect();
    assert!(pages.len() <= 256, "the number of a page is one byte");
    table.extend(pages.concat());
    table
}

/// The characters of a class, as ranges with both ends in them.
fn ranges(pattern: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(pattern).expect("the patterns above are valid");
    match parsed.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        other => unreachable!("a class of characters, not {other:?}"),
    }
}
