//! Seeded items: the same rows on every machine, in every run.

/// How tags are spread over the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tags {
    /// Four out of this many.
    FourOf(u32),
    /// One tag that every item bears, and three out of 200.
    OneOnEvery,
    /// One tag that every second item bears; the rest of the four out of 200.
    OneOnHalf,
}

/// The usual spread: four tags out of 200.
pub const USUAL_TAGS: Tags = Tags::FourOf(200);

const KINDS: [&str; 5] = ["Message", "Document", "ToolOutput", "Memory", "SystemPrompt"];
const TAGS_PER_ITEM: usize = 4;
const BYTES_PER_TOKEN: usize = 4;
const SEED: u64 = 0x00C0_FFEE;
const FIRST_TIMESTAMP: i64 = 1_700_000_000;

/// One item before any library has seen it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub text: String,
    pub tokens: i64,
    pub kind: &'static str,
    pub tags: Vec<String>,
    /// Seconds since 1970, distinct, in no order.
    pub timestamp: i64,
    pub priority: i64,
    pub hint: f64,
}

/// `count` rows of 50 to 150 tokens, four bytes of distinct text a token.
pub fn rows(count: usize, tags: Tags) -> impl Iterator<Item = Row> {
    let mut random = Random(SEED);
    let moments = random.permutation(count);
    moments.into_iter().map(move |moment| {
        let tokens = 50 + random.below(101);
        Row {
            text: text(&mut random, tokens as usize * BYTES_PER_TOKEN),
            tokens: i64::from(tokens),
            kind: KINDS[random.below(KINDS.len() as u32) as usize],
            tags: tags.pick(&mut random),
            timestamp: FIRST_TIMESTAMP + i64::from(moment),
            priority: i64::from(random.below(100)),
            hint: random.unit(),
        }
    })
}

impl Tags {
    fn pick(self, random: &mut Random) -> Vec<String> {
        let (shared, others) = match self {
            Self::FourOf(others) => (false, others),
            Self::OneOnEvery => (true, 200),
            Self::OneOnHalf => (random.below(2) == 0, 200),
        };
        let mut tags = Vec::with_capacity(TAGS_PER_ITEM);
        if shared {
            tags.push("shared".to_owned());
        }
        while tags.len() < TAGS_PER_ITEM {
            let tag = format!("tag-{}", random.below(others));
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }
}

/// Words of lower-case letters, `bytes` long in all.
fn text(random: &mut Random, bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    while text.len() < bytes {
        let mut letters = random.next();
        for _ in 0..8.min(bytes - text.len()) {
            let letter = (letters & 31) as u8;
            text.push(if letter < 26 { char::from(b'a' + letter) } else { ' ' });
            letters >>= 5;
        }
    }
    text
}

/// Texts of about so many bytes, made of words as people use them: few often, many rarely.
pub fn prose(count: usize, bytes: usize) -> Vec<String> {
    let vocabulary = vocabulary();
    let mut random = Random(SEED);
    let mut text = || {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            text.push_str(&vocabulary[random.rank(vocabulary.len())]);
            text.push(' ');
        }
        text
    };
    (0..count).map(|_| text()).collect()
}

const VOCABULARY: usize = 30_000;

/// Made-up words of two to twelve letters.
fn vocabulary() -> Vec<String> {
    let mut random = Random(SEED + 1);
    let mut word = || {
        let letters = 2 + random.below(11);
        (0..letters).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
    };
    (0..VOCABULARY).map(|_| word()).collect()
}

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u32) -> u32 {
        (((self.next() >> 32) * u64::from(end)) >> 32) as u32
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `count`: n is drawn about as often as 1 / (n + 1), as words are by rank.
    fn rank(&mut self, count: usize) -> usize {
        ((count as f64).powf(self.unit()) as usize - 1).min(count - 1)
    }

    /// The numbers below `count`, shuffled.
    fn permutation(&mut self, count: usize) -> Vec<u32> {
        let mut numbers: Vec<u32> = (0..count as u32).collect();
        for last in (1..numbers.len()).rev() {
            let other = self.below(last as u32 + 1) as usize;
            numbers.swap(last, other);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_same_rows_come_every_time() {
        assert!(rows(50, USUAL_TAGS).eq(rows(50, USUAL_TAGS)));
    }

    #[test]
    fn texts_and_timestamps_are_distinct_and_sizes_as_promised() {
        let rows: Vec<Row> = rows(2_000, USUAL_TAGS).collect();
        let texts: HashSet<_> = rows.iter().map(|row| &row.text).collect();
        let timestamps: HashSet<_> = rows.iter().map(|row| row.timestamp).collect();
        assert_eq!((texts.len(), timestamps.len()), (2_000, 2_000));

        let bytes = rows.iter().map(|row| row.text.len()).sum::<usize>() / rows.len();
        assert!((390..=410).contains(&bytes), "{bytes} bytes on average");
        assert!(rows.iter().all(|row| (50..=150).contains(&row.tokens) && row.tags.len() == 4));
    }

    #[test]
    fn a_shared_tag_is_on_every_item_or_on_about_half() {
        let share = |tags| {
            let shared = |row: &Row| row.tags.iter().any(|tag| tag == "shared");
            rows(1_000, tags).filter(shared).count()
        };
        assert_eq!(share(Tags::OneOnEvery), 1_000);
        assert!((400..=600).contains(&share(Tags::OneOnHalf)));
        assert_eq!(share(USUAL_TAGS), 0);
    }
}
