//! Candidates that were made before: in a conversation that grows, nearly all of them.

use chrono::{DateTime, Utc};
use cupel::ContextItem;

use crate::grouping::Group;
use crate::weigh::Weight;
use crate::{Bundle, CandidateOptions, Candidates, Request};

/// Which candidates of an earlier request are those of this one.
pub(crate) struct Known<'e> {
    earlier: Option<&'e Candidates>,
    /// For each group, the position of the same group there.
    positions: Vec<Option<usize>>,
}

impl<'e> Known<'e> {
    /// Candidates that were made with other options are none of these.
    pub(crate) fn of(
        request: &Request,
        options: &CandidateOptions,
        groups: &[Group],
        earlier: Option<&'e Candidates>,
    ) -> Self {
        let is_alike = |earlier: &&Candidates| {
            earlier.options == *options && earlier.request.format() == request.format()
        };
        let Some(earlier) = earlier.filter(is_alike) else {
            return Self { earlier: None, positions: Vec::new() };
        };
        let count = request.known_messages(&earlier.request);
        let mut begins = vec![None; count];
        for (at, bundle) in earlier.bundles.iter().enumerate() {
            if let Some(place) = bundle.messages.first().and_then(|first| begins.get_mut(*first)) {
                *place = Some(at);
            }
        }
        let position = |group: &Group| {
            let at = (*begins.get(*group.messages.first()?)?)?;
            let is_same = group.messages.last() < Some(&count)
                && earlier.bundles[at].messages == group.messages;
            is_same.then_some(at)
        };
        let positions = groups.iter().map(position).collect();
        Self { earlier: Some(earlier), positions }
    }

    fn at(&self, group: usize) -> Option<(&'e Candidates, usize)> {
        Some((self.earlier?, (*self.positions.get(group)?)?))
    }

    /// Tokens of a group, the beginning of the answer left out.
    pub(crate) fn weight(&self, group: usize) -> Option<Weight> {
        self.at(group).map(|(earlier, at)| earlier.weights[at])
    }

    /// The candidate that a group is. One that has shorter forms is made again, and then shortened.
    pub(crate) fn candidate(
        &self,
        at: usize,
        group: &Group,
        weight: Weight,
        time: Option<DateTime<Utc>>,
    ) -> Option<(ContextItem, Bundle)> {
        let (earlier, at) = self.at(at)?;
        let (item, bundle) = (&earlier.items[at], &earlier.bundles[at]);
        let is_same = item.tokens() == weight.total
            && item.timestamp() == time
            && item.pinned() == group.pin.is_some()
            && item.renderings().is_empty();
        let bundle =
            || Bundle { needs: group.needs.clone(), pin: group.pin.clone(), ..bundle.clone() };
        is_same.then(|| (item.clone(), bundle()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Words;

    fn message(at: usize) -> String {
        match at % 4 {
            0 => format!(r#"{{"role":"user","content":"say\n {at}"}}"#),
            1 => format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{at}","function":{{"name":"f","arguments":"{at} x"}}}}]}}"#
            ),
            2 => format!(
                r#"{{"role":"tool","tool_call_id":"c{}","content":[{{"type":"text","text":"found {at}"}}]}}"#,
                at - 1
            ),
            _ => format!(r#"{{"role":"assistant","content":"done {at}"}}"#),
        }
    }

    fn request(messages: &[String], earlier: Option<&Request>) -> Request {
        let text = format!(r#"{{"n":{},"messages":[{}]}}"#, messages.len(), messages.join(" ,"));
        match earlier {
            Some(earlier) => Request::parse_after(text, None, earlier).unwrap(),
            None => Request::parse(text, None).unwrap(),
        }
    }

    fn shown(candidates: &Candidates) -> String {
        format!(
            "{:?} {:?} {:?} {} {:?}",
            candidates.items(),
            candidates.bundles(),
            candidates.weights,
            candidates.total_tokens(),
            candidates.request().fingerprints()
        )
    }

    #[test]
    fn a_request_that_grows_or_changes_is_what_it_would_be_by_itself() {
        let mut messages: Vec<String> = (0..40).map(message).collect();
        let options = CandidateOptions::default();
        let first = request(&messages[..17], None);
        let mut earlier = first.candidates(&Words, &options).unwrap();
        for (count, edited) in [(17, None), (20, None), (33, Some(8)), (28, None), (40, Some(0))] {
            if let Some(edited) = edited {
                messages[edited] = r#"{"role":"user","content":"something else"}"#.to_owned();
            }
            let grown = request(&messages[..count], Some(earlier.request()));
            let alone = request(&messages[..count], None);
            let after = grown.candidates_after(&Words, &options, &earlier).unwrap();
            let anew = alone.candidates(&Words, &options).unwrap();
            assert_eq!(shown(&after), shown(&anew), "{count} messages");
            assert_eq!(after.render(&[0, 3, 4]), anew.render(&[0, 3, 4]));
            assert_eq!(grown.query(), alone.query());
            let known = grown.known_messages(earlier.request());
            assert_eq!(known, edited.unwrap_or(count.min(earlier.request().message_count())));
            earlier = after;
        }
    }

    #[test]
    fn what_stays_the_same_is_the_same_item_and_other_options_make_others() {
        let messages: Vec<String> = (0..24).map(message).collect();
        let options = CandidateOptions::default();
        let first = request(&messages[..20], None).candidates(&Words, &options).unwrap();
        let grown = request(&messages, Some(first.request()));
        let after = grown.candidates_after(&Words, &options, &first).unwrap();
        let is_same = |at: usize| after.items()[at].is_same_item(&first.items()[at]);
        assert!(is_same(0) && is_same(1) && is_same(8), "nothing happened to them");
        assert!(!is_same(12), "it was the last that the user said, and pinned");
        let options = CandidateOptions { pins: vec!["0".parse().unwrap()], ..options };
        let pinned = grown.candidates_after(&Words, &options, &first).unwrap();
        let anew = grown.candidates(&Words, &options).unwrap();
        assert_eq!(shown(&pinned), shown(&anew));
        assert!(!pinned.items()[1].is_same_item(&first.items()[1]));
    }

    #[test]
    fn a_message_that_is_broken_is_told_at_its_new_place() {
        let broken = r#"{"role":"tool","content":"x"}"#.to_owned();
        let first = request(&[message(0), broken.clone()], None);
        let second = request(&[message(0), broken, message(4)], Some(&first));
        assert_eq!(second.validate()[0].path, "messages[1].tool_call_id");
    }
}
