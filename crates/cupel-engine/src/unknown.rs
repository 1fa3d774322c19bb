//! One wording for names that nobody knows.

use cupel_tokens::nearest_name;

/// What to say of a name that is not known: the nearest one, or else all of them.
///
/// ```
/// let known = ["auto", "chat"];
/// assert_eq!(
///     cupel_engine::unknown("policy", "caht", &known),
///     "unknown policy `caht`; did you mean `chat`?"
/// );
/// assert_eq!(
///     cupel_engine::unknown("policy", "x", &known),
///     "unknown policy `x`; known are auto, chat"
/// );
/// ```
#[must_use]
pub fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    format!("unknown {what} `{name}`; {}", hint(name, known))
}

/// The nearest name, or else all of them.
pub(crate) fn hint(name: &str, known: &[&str]) -> String {
    match nearest_name(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", known.join(", ")),
    }
}
