//! Numbers as people read them.

/// A whole number with commas between the thousands.
pub(crate) fn grouped(number: i64) -> String {
    let digits = number.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if number < 0 {
        text.push('-');
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The same for a number of things.
pub(crate) fn grouped_count(count: usize) -> String {
    grouped(i64::try_from(count).unwrap_or(i64::MAX))
}

/// A number of things with their name: `1 message`, `2 messages`.
pub(crate) fn counted(count: usize, singular: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {singular}{ending}", grouped_count(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let pairs = [(0, "0"), (999, "999"), (1_000, "1,000"), (-61_203, "-61,203")];
        for (number, text) in pairs {
            assert_eq!(grouped(number), text);
        }
        assert_eq!(grouped(i64::MIN), "-9,223,372,036,854,775,808");
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!(counted(1, "message"), "1 message");
        assert_eq!(counted(0, "message"), "0 messages");
    }
}
