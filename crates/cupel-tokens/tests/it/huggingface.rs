//! A tokenizer from a file.

use std::fs;
use std::path::PathBuf;

use cupel_tokens::{HuggingFaceCounter, TokenCounter};

/// Writes a file of this test's own.
fn file(name: &str, content: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("huggingface");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

/// Five words, split at blanks; a special token; and a wish to cut and pad that must be ignored.
fn tokenizer(unknown: &str) -> String {
    format!(
        r#"{{
            "version": "1.0",
            "truncation": {{"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}},
            "padding": {{"strategy": {{"Fixed": 50}}, "direction": "Right", "pad_to_multiple_of": null,
                         "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}},
            "added_tokens": [{{"id": 5, "content": "<eot>", "single_word": false, "lstrip": false,
                               "rstrip": false, "normalized": false, "special": true}}],
            "normalizer": null,
            "pre_tokenizer": {{"type": "Whitespace"}},
            "post_processor": null,
            "decoder": null,
            "model": {{"type": "WordLevel", "unk_token": "{unknown}",
                       "vocab": {{"[UNK]": 0, "the": 1, "crane": 2, "lifts": 3, "boats": 4}}}}
        }}"#
    )
}

#[test]
fn a_file_counts_by_its_own_rules() {
    let path = file("words.json", &tokenizer("[UNK]"));
    let counter = HuggingFaceCounter::from_file(&path).unwrap();
    assert_eq!(counter.count(""), 0);
    assert_eq!(counter.count("the crane lifts the boats"), 5);
    assert_eq!(counter.name(), path.display().to_string());
    assert!(!counter.is_estimate());
}

#[test]
fn special_tokens_in_a_text_are_ordinary_text() {
    let counter = HuggingFaceCounter::from_file(file("special.json", &tokenizer("[UNK]"))).unwrap();
    assert_eq!(counter.count("the <eot>"), 4);
}

#[test]
fn a_text_that_the_tokenizer_refuses_is_estimated() {
    let counter =
        HuggingFaceCounter::from_file(file("refuses.json", &tokenizer("[NONE]"))).unwrap();
    assert_eq!(counter.count("the crane"), 2);
    assert!(counter.count("the gondola") >= 2);
}

#[test]
fn errors_name_the_file_and_the_cause() {
    let missing = HuggingFaceCounter::from_file("no/such/tokenizer.json").unwrap_err();
    let text = missing.to_string();
    assert!(text.starts_with("no/such/tokenizer.json: cannot read the tokenizer: "), "{text}");
    assert_eq!(missing.path(), std::path::Path::new("no/such/tokenizer.json"));

    let path = file("broken.json", "{\"version\": \"1.0\",\n");
    let text = HuggingFaceCounter::from_file(&path).unwrap_err().to_string();
    let start = format!("{}: not a Hugging Face tokenizer.json: ", path.display());
    assert!(text.starts_with(&start), "{text}");
    assert!(text.ends_with("; give the tokenizer.json that comes with a model"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}
