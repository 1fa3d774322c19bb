//! The word lists of ten languages, on phrases that their author had not seen.
//!
//! Each file has six lists: messages that are a correction, a rule or a courtesy, and near misses of each. They were
//! written by somebody who did not know the lists. `PHRASES=show` prints the table and every phrase that is missed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use cupel_relevance::{Ear, Language, Talk};

const LANGUAGES: [(&str, Language); 10] = [
    ("en", Language::English),
    ("de", Language::German),
    ("fr", Language::French),
    ("es", Language::Spanish),
    ("it", Language::Italian),
    ("pt", Language::Portuguese),
    ("nl", Language::Dutch),
    ("ru", Language::Russian),
    ("zh", Language::Chinese),
    ("ja", Language::Japanese),
];

/// The purpose of a list: its name, and what a message is taken for where the list finds it.
const LISTS: [(&str, Talk); 3] =
    [("correction", Talk::Correction), ("rule", Talk::Rule), ("courtesy", Talk::Courtesy)];

/// Of what was found how much is right, and of what there is how much was found, in percent.
fn precision_and_recall(code: &str, language: Language, name: &str, meant: Talk) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/phrases/{code}.toml"));
    let text = fs::read_to_string(&path).unwrap();
    let lists: BTreeMap<String, Vec<String>> = toml::from_str(&text).unwrap();
    let ear = Ear::for_language(Some(language));
    // A correction may well state a rule, and weighs as much.
    let is_found = |phrase: &String| match meant {
        Talk::Rule => ear.talk(phrase) >= Talk::Rule,
        meant => ear.talk(phrase) == meant,
    };
    let shows = std::env::var_os("PHRASES").is_some();
    let found = |list: &str, expected: bool| {
        let phrases = &lists[list];
        assert!(phrases.len() >= 40, "{code} {list}");
        for phrase in phrases.iter().filter(|phrase| shows && is_found(phrase) != expected) {
            println!("  {code} {list}: {phrase}");
        }
        phrases.iter().filter(|phrase| is_found(phrase)).count() as f64
    };
    let (right, wrong) = (found(name, true), found(&format!("not_{name}"), false));
    let all = lists[name].len() as f64;
    (100.0 * right / (right + wrong).max(1.0), 100.0 * right / all)
}

#[test]
fn lists_find_what_others_wrote() {
    let mut table =
        String::from("language  correction  rule      courtesy   (precision / recall, %)\n");
    let mut means = [(0.0, 0.0); 3];
    for (code, language) in LANGUAGES {
        write!(table, "{code:<10}").unwrap();
        for ((name, meant), mean) in LISTS.into_iter().zip(&mut means) {
            let (precision, recall) = precision_and_recall(code, language, name, meant);
            mean.0 += precision / LANGUAGES.len() as f64;
            mean.1 += recall / LANGUAGES.len() as f64;
            write!(table, "{precision:>3.0} / {recall:<6.0}").unwrap();
        }
        table.push('\n');
    }
    println!("{table}{means:.0?}");
    let [correction, rule, courtesy] = means;
    assert!(correction.0 >= 80.0 && correction.1 >= 45.0, "{table}");
    assert!(rule.0 >= 75.0 && rule.1 >= 62.0, "{table}");
    assert!(courtesy.0 >= 97.0 && courtesy.1 >= 48.0, "{table}");
}
