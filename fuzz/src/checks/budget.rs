use cupel::ContextBudget;

use super::round_trip::{json, readings, through_json, through_toml};

/// Bytes that are a budget, as JSON or as TOML, are the same budget after writing and reading it.
pub fn budget(bytes: &[u8]) {
    for budget in readings::<ContextBudget>(bytes) {
        for copy in [through_json(&budget), through_toml(&budget)] {
            assert_eq!(budget, copy);
            // Equality ignores how a kind is spelled; the text does not.
            assert_eq!(json(&budget), json(&copy));
        }
    }
}
