//! Which strategies there are, and which options they take.

/// A strategy by name.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) options: &'static [(&'static str, Kind)],
}

/// What an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Number,
    Whole,
    Text,
    /// Numbers by name.
    Numbers,
    Scorer,
    Scorers,
}

use Kind::{Number, Numbers, Scorer, Scorers, Text, Whole};

macro_rules! catalogue {
    ($($name:literal: [$($option:ident $kind:ident),*],)*) => {
        &[$(Entry { name: $name, options: &[$((stringify!($option), $kind)),*] }),*]
    };
}

pub(super) const SCORERS: &[Entry] = catalogue! {
    "bm25": [
        k1 Number, b Number, idf_exponent Number, max_terms Whole, asking_weight Number,
        language Text, fields Numbers
    ],
    "widened": [
        k1 Number, b Number, idf_exponent Number, max_terms Whole, asking_weight Number,
        reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number, language Text, fields Numbers
    ],
    "neighbours": [
        scorer Scorer, share Number, own_exponent Number,
        reach_tokens Number, group_exponent Number, later Number,
        group_by Text, gap_seconds Number
    ],
    "group-lift": [scorer Scorer, share Number, group_by Text, gap_seconds Number],
    "fusion": [scorers Scorers, k Number],
    "sum": [scorers Scorers],
    "product": [scorers Scorers],
    "max-norm": [scorer Scorer],
    "when": [all_of Text, any_of Text, then Scorer, otherwise Scorer],
    "constant": [score Number],
    "live-values": [language Text, fields Numbers],
    "class-norm": [exponent Number],
    "length-norm": [exponent Number],
    "speaker": [factor Number],
    "dates": [month_factor Number, day_factor Number],
    "freshness": [gain Number, reach_tokens Number],
    "echo": [strength Number, language Text, fields Numbers],
    "vectors": [],
};

pub(super) const SLICERS: &[Entry] = catalogue! {
    "best-first": [],
    "mmr": [balance Number, similarity Text, language Text, fields Numbers],
};

/// The names of the scorers.
pub(super) const SCORER_NAMES: &[&str] = &names::<18>(SCORERS);

/// The names of the slicers.
pub(super) const SLICER_NAMES: &[&str] = &names::<2>(SLICERS);

const fn names<const N: usize>(entries: &[Entry]) -> [&'static str; N] {
    assert!(entries.len() == N, "every strategy has a name");
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = entries[at].name;
        at += 1;
    }
    names
}

/// The JSON Schema of the options of a strategy, by name.
#[cfg(feature = "schema")]
pub(super) fn schemas(name: &str) -> serde_json::Map<String, serde_json::Value> {
    use serde_json::json;

    let schema = |kind: Kind| match kind {
        Number => json!({ "type": "number" }),
        Whole => json!({ "type": "integer", "minimum": 1 }),
        Text => json!({ "type": "string" }),
        Numbers => json!({ "type": "object", "additionalProperties": { "type": "number" } }),
        Scorer => json!({ "$ref": "#/$defs/ScorerDescription" }),
        Scorers => json!({
            "type": "array",
            "minItems": 1,
            "items": { "$ref": "#/$defs/WeightedScorer" },
        }),
    };
    let entry = SCORERS.iter().chain(SLICERS).find(|entry| entry.name == name);
    let options = entry.map_or(&[][..], |entry| entry.options);
    options.iter().map(|(option, kind)| ((*option).to_owned(), schema(*kind))).collect()
}
