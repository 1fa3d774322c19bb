//! What a misspelt name may have meant.

/// The error for a name that nobody knows: what is near it, or else what is known.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let hint = nearest(name, known).map(|near| format!("; did you mean \"{near}\"?"));
    let known = known.join(", ");
    format!("unknown {what} \"{name}\"; known are {known}{}", hint.unwrap_or_default())
}

/// The known name that is most like the given one, if any is like it at all. The first wins a tie.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Option<&'n str> {
    let name = name.to_lowercase();
    let likeness = |known: &str| strsim::jaro_winkler(&name, known);
    let mut best: Option<(&str, f64)> = None;
    for candidate in known {
        let score = likeness(candidate);
        if score >= 0.8 && best.is_none_or(|(_, most)| score > most) {
            best = Some((candidate, score));
        }
    }
    best.map(|(near, _)| near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_is_recognised() {
        let known = ["recency", "priority", "kind", "reflexive"];
        assert_eq!(nearest("recncy", &known), Some("recency"));
        assert_eq!(nearest("Reccency", &known), Some("recency"));
        assert_eq!(nearest("prioritys", &known), Some("priority"));
        assert_eq!(nearest("bm25", &known), None);
        assert_eq!(nearest("", &known), None);
    }

    #[test]
    fn what_is_known_is_listed_either_way() {
        assert_eq!(unknown("x", "aa", &["b"]), "unknown x \"aa\"; known are b");
        let text = "unknown x \"beet\"; known are beta, gamma; did you mean \"beta\"?";
        assert_eq!(unknown("x", "beet", &["beta", "gamma"]), text);
    }
}
