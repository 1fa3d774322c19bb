use cupel::ContextItem;

use super::round_trip::{readings, through_json, through_toml};
use crate::compare::same_fields;

/// Bytes that are an item, as JSON or as TOML, are the same item after writing and reading it.
pub fn item(bytes: &[u8]) {
    for item in readings::<ContextItem>(bytes) {
        for copy in [through_json(&item), through_toml(&item)] {
            if let Err(what) = same_fields(&item, &copy) {
                panic!("{what}");
            }
        }
    }
}
