//! Numbers as people read them.

/// A number with a comma before every three digits, as `1,214`.
pub(crate) fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number that was written so; nothing if it was not.
pub(crate) fn without_commas(text: &str) -> Option<u64> {
    let number: u64 = text.replace(',', "").parse().ok()?;
    (with_commas(number) == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_before_every_three_digits() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (1_214, "1,214"), (12_345_678, "12,345,678")]
        {
            assert_eq!(with_commas(number), text);
            assert_eq!(without_commas(text), Some(number));
        }
        assert_eq!(with_commas(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn what_nobody_writes_so_is_no_number() {
        for text in ["", ",", "1,2", "1000", "+1", "-1", "1,000,", "18,446,744,073,709,551,616"] {
            assert_eq!(without_commas(text), None, "{text}");
        }
    }
}
