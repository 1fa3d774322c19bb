//! Names for texts that were left out.

use std::hash::Hasher;

use siphasher::sip::SipHasher13;

/// A stable name of a text.
#[must_use]
pub fn handle(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("cupel:{:016x}", hasher.finish())
}
