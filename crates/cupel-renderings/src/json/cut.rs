//! A long text of which only the beginning and the end are kept.

/// Part of an entry's text that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(super) entry: u32,
    /// At most so many bytes, as they are written, quotes not counted.
    pub(super) bytes: usize,
}

/// Stands where something was left out of a text.
const GAP: &str = " […] ";

/// Share of the kept text that is its beginning, in percent.
const HEAD: usize = 70;

/// Appends a JSON string of which so many bytes may be kept, with its quotes.
pub(super) fn push_cut(json: &str, bytes: usize, text: &mut String) {
    let inner = json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(json);
    // In this order, as the product of a large text might not fit.
    let head_room = bytes / 100 * HEAD + bytes % 100 * HEAD / 100;
    let tail_room = bytes - head_room;
    let (mut head, mut tail, mut at) = (0, inner.len(), 0);
    while at < inner.len() {
        if at <= head_room {
            head = at;
        }
        if inner.len() - at <= tail_room {
            tail = at;
            break;
        }
        at += character_length(&inner.as_bytes()[at..]);
    }
    text.push('"');
    text.push_str(&inner[..head]);
    text.push_str(GAP);
    text.push_str(&inner[tail.max(head)..]);
    text.push('"');
}

/// Number of bytes the first character takes, as it is written. Both halves of one beyond the
/// basic plane belong together.
fn character_length(written: &[u8]) -> usize {
    match written {
        [
            b'\\',
            b'u',
            b'd' | b'D',
            b'8' | b'9' | b'a' | b'b' | b'A' | b'B',
            _,
            _,
            b'\\',
            b'u',
            ..,
        ] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\' | 0xC0..=0xDF, ..] => 2,
        [0xE0..=0xEF, ..] => 3,
        [0xF0..=0xFF, ..] => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(json: &str, bytes: usize) -> String {
        let mut text = String::new();
        push_cut(json, bytes, &mut text);
        text
    }

    #[test]
    fn beginning_and_end_are_kept_by_whole_characters() {
        assert_eq!(cut("\"0123456789abcdefghij\"", 10), "\"0123456 […] hij\"");
        assert_eq!(cut("\"0123456789abcdefghij\"", 0), "\" […] \"");
        // 7 and 3 bytes: three letters of 2 bytes, and one.
        assert_eq!(cut("\"éééééééééé\"", 10), "\"ééé […] é\"");
        // An escape of 6 bytes, and none; the halves of one character stay together.
        assert_eq!(cut(r#""\u00e9\u00e9\u00e9\u00e9""#, 10), r#""\u00e9 […] ""#);
        assert_eq!(cut(r#""\n\n\n\n\n\n\\\"""#, 10), r#""\n\n\n […] \"""#);
        assert_eq!(cut(r#""\ud83d\ude00\ud83d\ude00 end""#, 12), r#"" […]  end""#);
        // Half a character alone is one of its own.
        assert_eq!(cut(r#""\ud83dabcdefghijkl""#, 10), r#""\ud83da […] jkl""#);
    }
}
