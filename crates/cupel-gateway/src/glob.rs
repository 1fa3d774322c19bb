//! Names of models with `*` for anything.

/// Returns true if a name is what a pattern means, ignoring case.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, inner)) = parts.split_last() else { return rest.is_empty() };
    for part in inner {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_anything() {
        for (pattern, name) in [
            ("gpt-4o", "GPT-4o"),
            ("gpt-*", "gpt-4o"),
            ("*", ""),
            ("*4*o*", "gpt-4o"),
            ("a*a", "aa"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("gpt-4", "gpt-4o"), ("gpt-*x", "gpt-4o"), ("a*a", "a"), ("", "a"), ("*ab*b", "ab")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }
}
