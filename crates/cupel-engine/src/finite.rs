//! Numbers that JSON may have no word for: those become `null`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    number.is_finite().then_some(*number).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
