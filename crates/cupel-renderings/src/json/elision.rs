//! Marks of what was left out: `"…": 3` in an object, `"… 3 more"` at the end of a list.

/// The longest number that is taken for a count, so that sums of them cannot overflow.
const LONGEST_COUNT: usize = 15;

/// Number of entries an object's entry says were left out, if it is a mark.
pub(super) fn in_object(key: &str, value: &str) -> Option<u64> {
    dots(key).and_then(|_| count(value))
}

/// Number of elements a list's last element says were left out, if it is a mark.
pub(super) fn in_list(value: &str) -> Option<u64> {
    count(value.strip_prefix("\"… ")?.strip_suffix(" more\"")?)
}

/// Number of dots a key is, if it is nothing else.
pub(super) fn dots(key: &str) -> Option<usize> {
    let inner = key.strip_prefix('"')?.strip_suffix('"')?;
    let (mut rest, mut dots) = (inner, 0);
    while let Some(after) = rest.strip_prefix('…').or_else(|| rest.strip_prefix("\\u2026")) {
        (rest, dots) = (after, dots + 1);
    }
    (rest.is_empty() && dots > 0).then_some(dots)
}

fn count(digits: &str) -> Option<u64> {
    let is_count = (1..=LONGEST_COUNT).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    if is_count { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_from_what_looks_like_them() {
        assert_eq!(in_object("\"…\"", "3"), Some(3));
        assert_eq!(in_object("\"\\u2026…\"", "12"), Some(12));
        for (key, value) in [
            ("\"…\"", "\"3\""),
            ("\"…\"", "-3"),
            ("\"…\"", "3.0"),
            ("\"… \"", "3"),
            ("\"\"", "3"),
            ("\"…\"", "0"),
        ] {
            assert_eq!(in_object(key, value), None, "{key}: {value}");
        }
        assert_eq!(in_list("\"… 3 more\""), Some(3));
        for value in [
            "\"… more\"",
            "\"… 03 more\"",
            "\"… 3 more \"",
            "\"…\"",
            "3",
            "\"… 1234567890123456 more\"",
        ] {
            assert_eq!(in_list(value), None, "{value}");
        }
    }
}
