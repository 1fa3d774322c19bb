//! Estimates beside the counts of the tokenizers that they stand for, on texts that were written for
//! this and that nothing was fitted on.

use std::fs;
use std::path::Path;

use cupel_tokens::{EstimateCounter, TokenCounter, TokenizerFamily};

/// The families, in the order of the counts below.
const FAMILIES: [TokenizerFamily; 6] = [
    TokenizerFamily::Claude,
    TokenizerFamily::Gemma,
    TokenizerFamily::Llama,
    TokenizerFamily::Qwen,
    TokenizerFamily::DeepSeek,
    TokenizerFamily::Mistral,
];

/// A file of `tests/samples`, and its tokens with the tokenizer of each family: Claude 2's, Gemma 3's,
/// Llama 3.1's, Qwen 3's, that of `DeepSeek` V3 and Mistral Nemo's. Counted with the Python package
/// `tokenizers` 0.23 as `len(Tokenizer.from_file(FILE).encode(TEXT, add_special_tokens=False).ids)`.
const EXACT: &[(&str, [i64; 6])] = &[
    ("arabic", [406, 156, 171, 167, 166, 126]),
    ("azerbaijani", [254, 153, 185, 193, 191, 148]),
    ("base64", [1_499, 1_476, 1_509, 1_553, 1_471, 1_590]),
    ("bengali", [427, 59, 308, 273, 102, 107]),
    ("chat", [102, 96, 101, 102, 98, 104]),
    ("chinese", [284, 168, 208, 158, 141, 231]),
    ("csv", [725, 942, 681, 898, 732, 909]),
    ("dutch", [163, 110, 137, 138, 124, 116]),
    ("emoji", [121, 88, 115, 102, 105, 133]),
    ("english", [168, 161, 163, 164, 163, 163]),
    ("french", [112, 90, 99, 99, 99, 87]),
    ("georgian", [221, 85, 353, 191, 140, 90]),
    ("german", [196, 144, 171, 171, 167, 145]),
    ("greek", [274, 98, 97, 208, 117, 90]),
    ("hebrew", [202, 105, 217, 91, 108, 102]),
    ("hex", [915, 1_369, 890, 1_365, 903, 1_380]),
    ("hindi", [253, 63, 124, 213, 139, 90]),
    ("html", [225, 216, 208, 215, 213, 222]),
    ("hungarian", [188, 133, 160, 163, 151, 132]),
    ("indonesian", [155, 86, 126, 126, 108, 112]),
    ("japanese", [307, 163, 203, 187, 197, 205]),
    ("json", [899, 1_056, 819, 990, 883, 1_052]),
    ("json_pretty", [677, 889, 679, 764, 695, 770]),
    ("korean", [309, 161, 172, 196, 198, 143]),
    ("log", [1_384, 1_894, 1_310, 1_834, 1_347, 1_845]),
    ("malay", [152, 94, 130, 130, 111, 114]),
    ("markdown", [182, 191, 172, 183, 174, 185]),
    ("persian", [329, 104, 109, 203, 137, 105]),
    ("polish", [146, 95, 111, 109, 103, 104]),
    ("python", [404, 436, 359, 363, 386, 390]),
    ("russian", [311, 174, 203, 219, 200, 187]),
    ("rust", [415, 439, 365, 369, 390, 387]),
    ("shell", [172, 173, 150, 151, 167, 165]),
    ("spanish", [106, 83, 99, 98, 96, 84]),
    ("sql", [181, 196, 153, 163, 170, 172]),
    ("swahili", [173, 140, 160, 161, 157, 153]),
    ("tamil", [443, 58, 316, 262, 118, 89]),
    ("thai", [335, 65, 96, 111, 79, 114]),
    ("turkish", [172, 102, 107, 119, 154, 121]),
    ("ukrainian", [156, 88, 89, 135, 117, 102]),
    ("uzbek", [192, 153, 180, 177, 172, 143]),
    ("vietnamese", [180, 69, 69, 74, 111, 79]),
    ("welsh", [200, 180, 191, 191, 186, 181]),
    ("yoruba", [222, 146, 170, 174, 181, 185]),
];

fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    fs::read_to_string(folder.join(name).with_extension("txt")).unwrap()
}

/// Share of texts whose exact count is above the estimate's upper bound times `percent`.
fn broken(family: usize, percent: u32) -> Vec<&'static str> {
    let estimate = EstimateCounter::like(FAMILIES[family]).times(percent);
    let breaks =
        |(name, exact): &&(&str, [i64; 6])| exact[family] > estimate.bounded(&sample(name)).at_most;
    EXACT.iter().filter(breaks).map(|&(name, _)| name).collect()
}

#[test]
fn bounds_hold_in_95_of_100_texts_for_every_family() {
    for (index, family) in FAMILIES.iter().enumerate() {
        let broken = broken(index, 100);
        assert!(broken.len() * 100 <= EXACT.len() * 5, "{family}: {broken:?}");
    }
}

#[test]
fn a_tokenizer_that_makes_half_as_many_again_breaks_its_bounds() {
    for (index, family) in FAMILIES.iter().enumerate() {
        let broken = broken(index, 67);
        assert!(broken.len() * 100 > EXACT.len() * 5, "{family}: the bounds are no bounds");
    }
}

#[test]
fn bounds_for_english_are_narrow() {
    for (name, exact) in EXACT.iter().filter(|(name, _)| ["english", "markdown"].contains(name)) {
        for (family, exact) in FAMILIES.into_iter().zip(exact) {
            let at_most = EstimateCounter::like(family).bounded(&sample(name)).at_most;
            assert!(at_most * 100 <= exact * 145, "{family}: {name}: {at_most} for {exact}");
        }
    }
}

#[test]
fn estimates_are_near_in_every_language() {
    for (name, exact) in EXACT {
        for (family, &exact) in FAMILIES.into_iter().zip(exact) {
            let tokens = EstimateCounter::like(family).count(&sample(name));
            let percent = tokens * 100 / exact;
            assert!((70..=150).contains(&percent), "{family}: {name}: {tokens} for {exact}");
        }
    }
}
