//! Values of a request that its answer used: the ids, paths, names and quoted words in it that stood there.
//!
//! No labels are needed: what the next call names and what was in the request must still be in the window.

use std::collections::{HashMap, HashSet};

use aho_corasick::{AhoCorasick, MatchKind};
use cupel_chat::Request;
use cupel_engine::handle;
use cupel_eval::stands_apart;
use cupel_relevance::need::for_each_value;
use memchr::memmem;

use crate::read::{Answer, Call};

/// More values than this are no question of what one answer needs.
const MOST_VALUES: usize = 256;
/// So many values are looked for one by one: what looks for all at once takes longer to make than that.
const FEW_VALUES: usize = 16;
/// So much is looked through at once.
const TEXTS_BYTES: usize = 1 << 16;
/// Quoted words within these bounds are names rather than prose.
const QUOTED: std::ops::RangeInclusive<usize> = 3..=40;

/// Values that an answer used.
#[derive(Debug, Clone, Default)]
pub(crate) struct Used {
    /// Number of messages the request had.
    pub(crate) messages: usize,
    /// The values, in the order of the answer.
    pub(crate) values: Vec<UsedValue>,
    /// The calls that were made before already, by what they are told by.
    pub(crate) repeated: Vec<UsedValue>,
    /// All calls, by what they are told by.
    pub(crate) calls: Vec<u64>,
}

/// A value, and the messages that have it.
#[derive(Debug, Clone)]
pub(crate) struct UsedValue {
    /// In small letters.
    pub(crate) value: String,
    pub(crate) messages: Vec<u32>,
}

impl UsedValue {
    /// Returns true if a window has it: in a message that it keeps as it is, or in one of those that it has
    /// shortened.
    pub(crate) fn is_in(&self, window: &Held<'_>) -> bool {
        let is_kept = |at: &u32| window.whole.binary_search(at).is_ok();
        self.messages.iter().any(is_kept)
            || window.rewritten.iter().any(|text| has(text, &self.value))
    }
}

/// Content of a window: messages as they are, in rising order, and the texts of shortened ones in small
/// letters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held<'w> {
    pub(crate) whole: &'w [u32],
    pub(crate) rewritten: &'w [String],
}

fn has(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, found)| stands_apart(text, at..at + found.len()))
}

impl Used {
    /// Values of a request that its answer used.
    pub(crate) fn by_answer(answer: &Answer, request: &Request) -> Self {
        Self::of(&answer.text, &answer.calls, request, request.message_count())
    }

    /// Values that the newest message of the assistant used of the text before it: so a request tells what
    /// the one before it was good for. `None` if no such message is there.
    pub(crate) fn by_newest_turn(request: &Request) -> Option<Self> {
        let at = request.messages().rposition(|message| message.role() == "assistant")?;
        let newest = request.messages().nth(at)?;
        let call = |(name, arguments): (&str, &str)| Call {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let calls: Vec<Call> = newest.calls().map(call).collect();
        (at > 0).then(|| Self::of(&newest.text(), &calls, request, at))
    }

    fn of(said: &str, calls: &[Call], request: &Request, before: usize) -> Self {
        let values = match calls {
            [] => values_said(said),
            calls => values_called(calls),
        };
        let hashes: Vec<u64> = calls.iter().map(hash).collect();
        Self {
            messages: before,
            values: found(values, request, before),
            repeated: repeated(&hashes, request, before),
            calls: hashes,
        }
    }
}

/// Hash of a call.
fn hash(call: &Call) -> u64 {
    // The same arguments are the same call, however they are spaced.
    let arguments: String =
        call.arguments.chars().filter(|letter| !letter.is_whitespace()).collect();
    fingerprint(&format!("{} {arguments}", call.name))
}

/// A number by which a text is known again, on any machine and in any version.
pub(crate) fn fingerprint(text: &str) -> u64 {
    let handle = handle(text);
    let digits = handle.rsplit(':').next().unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or_default()
}

/// Those of the calls that the request has already made.
fn repeated(calls: &[u64], request: &Request, before: usize) -> Vec<UsedValue> {
    if calls.is_empty() {
        return Vec::new();
    }
    let mut made: HashMap<u64, Vec<u32>> = HashMap::new();
    for (at, message) in request.messages().take(before).enumerate() {
        for (name, arguments) in message.calls() {
            let call = Call { name: name.to_owned(), arguments: arguments.to_owned() };
            made.entry(hash(&call)).or_default().push(at as u32);
        }
    }
    let again = calls.iter().filter_map(|call| made.get(call));
    again.map(|messages| UsedValue { value: String::new(), messages: messages.clone() }).collect()
}

/// The values of all arguments.
fn values_called(calls: &[Call]) -> Vec<String> {
    let mut values = Values::default();
    for call in calls {
        match serde_json::from_str(&call.arguments) {
            Ok(json) => push_leaves(&json, &mut values),
            Err(_) => for_each_value(&call.arguments, |value| values.push(value)),
        }
    }
    values.list
}

/// Adds the values of arguments, each once: a short string is a value as a whole, a long one is prose or code, whose values count.
fn push_leaves(json: &serde_json::Value, values: &mut Values) {
    match json {
        serde_json::Value::String(text) if QUOTED.contains(&text.len()) => values.push(text),
        serde_json::Value::String(text) => for_each_value(text, |value| values.push(value)),
        serde_json::Value::Number(number) => {
            for_each_value(&number.to_string(), |value| values.push(value));
        }
        serde_json::Value::Array(list) => list.iter().for_each(|json| push_leaves(json, values)),
        serde_json::Value::Object(fields) => {
            fields.values().for_each(|json| push_leaves(json, values));
        }
        _ => {}
    }
}

/// The values of what was said, and the words that it quotes.
fn values_said(said: &str) -> Vec<String> {
    let mut values = Values::default();
    for_each_value(said, |value| values.push(value));
    for mark in ['`', '"'] {
        for quoted in said.split(mark).skip(1).step_by(2) {
            let is_name = QUOTED.contains(&quoted.len()) && !quoted.contains('\n');
            if is_name && quoted.chars().any(char::is_alphanumeric) {
                values.push(quoted);
            }
        }
    }
    values.list
}

/// Values in small letters, each once, in order of appearance.
#[derive(Default)]
struct Values {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Values {
    fn push(&mut self, value: &str) {
        let value = value.trim().to_lowercase();
        if self.list.len() < MOST_VALUES && !value.is_empty() && self.seen.insert(value.clone()) {
            self.list.push(value);
        }
    }
}

/// Those of the values that stand in the first messages, and where. Instructions take no part: they are
/// always there.
fn found(values: Vec<String>, request: &Request, before: usize) -> Vec<UsedValue> {
    let Some(finder) = Finder::of(&values) else { return Vec::new() };
    let mut places: Vec<Vec<u32>> = vec![Vec::new(); values.len()];
    let mut texts = Texts::default();
    for (at, message) in request.messages().take(before).enumerate() {
        if message.role() == "system" {
            continue;
        }
        texts.push(at as u32, &message.text());
        if texts.all.len() >= TEXTS_BYTES {
            finder.look_through(&texts, &mut places);
            texts.clear();
        }
    }
    finder.look_through(&texts, &mut places);
    drop(finder);
    let all = values.into_iter().zip(places).filter(|(_, messages)| !messages.is_empty());
    all.map(|(value, messages)| UsedValue { value, messages }).collect()
}

/// Messages in small letters, one behind the other.
#[derive(Default)]
struct Texts {
    all: String,
    /// Which message, and where it ends.
    ends: Vec<(u32, usize)>,
}

impl Texts {
    fn push(&mut self, at: u32, text: &str) {
        let start = self.all.len();
        if text.is_ascii() {
            self.all.push_str(text);
            self.all[start..].make_ascii_lowercase();
        } else {
            self.all.push_str(&text.to_lowercase());
        }
        self.ends.push((at, self.all.len()));
    }

    fn clear(&mut self) {
        self.all.clear();
        self.ends.clear();
    }

    /// A message by its place here: which it is, where it begins, what it says.
    fn message(&self, place: usize) -> (u32, usize, &str) {
        let start = if place == 0 { 0 } else { self.ends[place - 1].1 };
        let (at, end) = self.ends[place];
        (at, start, &self.all[start..end])
    }
}

/// Looks for values.
enum Finder<'v> {
    /// For each by itself.
    Few(Vec<memmem::Finder<'v>>),
    /// For all at once.
    Many(AhoCorasick),
}

impl<'v> Finder<'v> {
    fn of(values: &'v [String]) -> Option<Self> {
        match values.len() {
            0 => None,
            1..=FEW_VALUES => Some(Self::Few(values.iter().map(memmem::Finder::new).collect())),
            _ => {
                let builder = AhoCorasick::builder().match_kind(MatchKind::Standard).build(values);
                builder.ok().map(Self::Many)
            }
        }
    }

    /// Adds the messages that have each of the values.
    fn look_through(&self, texts: &Texts, places: &mut [Vec<u32>]) {
        match self {
            Self::Few(finders) => {
                for (finder, places) in finders.iter().zip(places) {
                    look_for(finder, texts, places);
                }
            }
            Self::Many(finder) => {
                for place in 0..texts.ends.len() {
                    let (at, _, text) = texts.message(place);
                    for hit in finder.find_overlapping_iter(text) {
                        let places = &mut places[hit.pattern().as_usize()];
                        if places.last() != Some(&at) && stands_apart(text, hit.start()..hit.end())
                        {
                            places.push(at);
                        }
                    }
                }
            }
        }
    }
}

fn look_for(finder: &memmem::Finder<'_>, texts: &Texts, places: &mut Vec<u32>) {
    let mut from = 0;
    while let Some(hit) = finder.find(&texts.all.as_bytes()[from..]) {
        let hit = from + hit;
        let (at, start, text) = texts.message(texts.ends.partition_point(|(_, end)| *end <= hit));
        let range = hit - start..hit - start + finder.needle().len();
        // Two messages that stand beside each other here do not make a value.
        if range.end <= text.len() && stands_apart(text, range) {
            places.push(at);
            from = start + text.len();
        } else {
            from = hit + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: &str = r#"[{"role":"system","content":"Tell SYS-1."},
        {"role":"user","content":"Where is parcel PX-7 of Ann Lee?"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"find","arguments":"{\"id\": \"PX-7\"}"}}]},
        {"role":"tool","tool_call_id":"1","content":"px-7 is in /srv/depot/12.txt"}]"#;

    fn used(answer: &Answer) -> Used {
        let request = Request::parse(REQUEST, None).unwrap();
        Used::by_answer(answer, &request)
    }

    #[test]
    fn values_of_calls_that_stood_in_the_request_were_used_and_others_not() {
        let arguments =
            r#"{"path": "/srv/depot/12.txt", "who": "Ann Lee", "new": "QQ-9", "rule": "SYS-1"}"#;
        let call = Call { name: "read".to_owned(), arguments: arguments.to_owned() };
        let used = used(&Answer { text: "PX-7".to_owned(), calls: vec![call] });
        let values: Vec<(&str, &[u32])> =
            used.values.iter().map(|used| (&*used.value, &*used.messages)).collect();
        assert_eq!(values, [("/srv/depot/12.txt", &[3][..]), ("ann lee", &[1])]);
        assert!(used.repeated.is_empty());
    }

    #[test]
    fn values_and_quoted_words_of_what_was_said_count_where_nothing_was_called() {
        let used =
            used(&Answer { text: "PX-7 is in the `depot`, not PX-70.".to_owned(), calls: vec![] });
        let values: Vec<&str> = used.values.iter().map(|used| &*used.value).collect();
        assert_eq!(values, ["px-7", "depot"]);
        assert_eq!(used.values[0].messages, [1, 2, 3]);
    }

    #[test]
    fn few_values_and_many_are_found_in_the_same_messages() {
        let messages: Vec<serde_json::Value> = (0..40)
            .map(|at| {
                let filler = "x ".repeat(2_000);
                let text = format!("ID-{at} ÄB-{at} {filler}xa-a-a, ends with ID-{}", at * 2);
                serde_json::json!({ "role": "user", "content": text })
            })
            .collect();
        let text = serde_json::Value::from(messages).to_string();
        let request = Request::parse(text, None).unwrap();
        let values: Vec<String> =
            (0..40).flat_map(|at| [format!("id-{at}"), format!("äb-{at}")]).collect();
        let messages = |used: Vec<UsedValue>| -> Vec<(String, Vec<u32>)> {
            used.into_iter().map(|used| (used.value, used.messages)).collect()
        };
        let many = messages(found(values.clone(), &request, 40));
        assert_eq!(many[8], ("id-4".to_owned(), vec![2, 4]));
        assert_eq!(many[9], ("äb-4".to_owned(), vec![4]));
        let few: Vec<_> = values
            .chunks(FEW_VALUES)
            .flat_map(|values| messages(found(values.to_vec(), &request, 40)))
            .collect();
        assert_eq!(few, many);
        // Not over the end of a message nor as a part of a word, but where it overlaps such a part.
        let values = ["id-0id-1", "-a-a, e", "a-a"].map(str::to_owned).to_vec();
        let all: Vec<u32> = (0..40).collect();
        assert_eq!(messages(found(values, &request, 40)), [("a-a".to_owned(), all)]);
    }

    #[test]
    fn a_call_that_was_made_before_is_known_again_however_it_is_spaced() {
        let call = Call { name: "find".to_owned(), arguments: "{\"id\":\"PX-7\"}".to_owned() };
        let used = used(&Answer { text: String::new(), calls: vec![call] });
        assert_eq!(used.repeated.len(), 1);
        assert_eq!(used.repeated[0].messages, [2]);
    }

    #[test]
    fn the_newest_turn_tells_what_the_request_before_was_good_for() {
        let request = Request::parse(REQUEST, None).unwrap();
        let used = Used::by_newest_turn(&request).unwrap();
        assert_eq!((used.messages, used.values.len()), (2, 1));
        assert_eq!(used.values[0].messages, [1]);
    }
}
