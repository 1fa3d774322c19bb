//! Candidates of a request: bundles, their pins, weights and times.

use chrono::{DateTime, Utc};
use cupel::{ContextItem, CupelError};
use cupel_tokens::{Overheads, TokenCounter};

use crate::alternate::join_turns;
use crate::annotations::timeline;
use crate::conversation::Conversation;
use crate::derive::{fixed_item, group_item};
use crate::grouping::{Group, PinReason, TakenApart, pin_needed};
use crate::known::Known;
use crate::message::Message;
use crate::shorten::forms_of_item;
use crate::weigh::{Scale, Weight};
use crate::{Bundle, CandidateOptions, Candidates, ChatError, Request};

/// Makes candidates of a request that breaks no rule.
pub(crate) fn assemble(
    request: &Request,
    counter: &dyn TokenCounter,
    options: &CandidateOptions,
    earlier: Option<&Candidates>,
) -> Result<Candidates, ChatError> {
    let conversation = request.conversation();
    let dialect = request.format().dialect();
    let apart = if options.whole_turns { TakenApart::LastTurn } else { TakenApart::EveryTurn };
    let mut groups = dialect.group(conversation, apart);
    if options.alternate && !request.format().has_free_order() {
        groups = join_turns(conversation, groups)?;
    }
    pin_groups(conversation, &mut groups, options)?;
    pin_needed(&mut groups);
    let overheads = match options.overheads {
        Some(overheads) if !request.format().has_free_order() => overheads,
        _ => dialect.overheads(),
    };
    let known = Known::of(request, options, &groups, earlier);
    let weights = weigh(conversation, &groups, &overheads, counter, &known);
    let primed = primed(conversation, &groups, overheads.reply_priming, weights.clone());
    let counts_all = conversation.messages.iter().all(|message| message.item.is_none());
    let is_estimate = weights.iter().any(|weight| weight.is_estimate)
        || counter.is_estimate() && (counts_all || weights.iter().any(|w| w.total > 0));
    let mut candidates = Candidates {
        request: request.clone(),
        items: Vec::with_capacity(weights.len()),
        bundles: Vec::with_capacity(weights.len()),
        weights,
        options: options.clone(),
        is_estimate,
        total_tokens: 0,
    };
    build(&mut candidates, conversation, groups, &primed, &known)
        .map_err(|error| unbuildable(&error))?;
    let tokens = candidates.items.iter().map(|item| item.tokens().max(0));
    candidates.total_tokens = tokens.fold(0, i64::saturating_add);
    Ok(candidates)
}

fn build(
    candidates: &mut Candidates,
    conversation: &Conversation,
    groups: Vec<Group>,
    weights: &[Weight],
    known: &Known<'_>,
) -> Result<(), CupelError> {
    let mut weights = weights.iter();
    let times = times(conversation, &groups);
    let mut times = times.into_iter();
    for (fixed, weight) in conversation.fixed.iter().zip(weights.by_ref()) {
        let time = times.next().flatten();
        candidates.items.push(fixed_item(fixed, *weight, time)?);
        candidates.bundles.push(Bundle::of_fixed(fixed, weight.total));
    }
    for (at, (group, weight)) in groups.into_iter().zip(weights).enumerate() {
        let time = times.next().flatten();
        if let Some((item, bundle)) = known.candidate(at, &group, *weight, time) {
            candidates.items.push(item);
            candidates.bundles.push(bundle);
            continue;
        }
        let item = group_item(conversation, &group, *weight, time)?;
        let of_item = group.messages.first().filter(|_| !item.renderings().is_empty());
        let forms = of_item.map(|at| forms_of_item(&candidates.request, *at, &item));
        let bundle = Bundle::of_group(conversation, group, item.tokens());
        candidates.bundles.push(Bundle { forms: forms.unwrap_or_default(), ..bundle });
        candidates.items.push(item);
    }
    Ok(())
}

/// Kinds and texts are never empty here, so that nothing can be refused but what a reader let
/// through by mistake; then it is reported.
fn unbuildable(error: &CupelError) -> ChatError {
    ChatError::Malformed {
        line: 1,
        column: 1,
        path: String::new(),
        problem: error.to_string(),
        remedy: "correct the request".to_owned(),
    }
}

/// Pins what the caller asks for, what states a rule, and what says of itself that it is required.
fn pin_groups(
    conversation: &Conversation,
    groups: &mut [Group],
    CandidateOptions { pins, rules, .. }: &CandidateOptions,
) -> Result<(), ChatError> {
    let stated = conversation.statements(rules);
    let stated = |messages: &[usize]| {
        let is_in = |at: usize| messages.binary_search(&at).is_ok();
        stated.iter().find(|statement| statement.message.is_some_and(is_in))
    };
    let mut is_used: Vec<bool> = pins.iter().map(|pin| pin.is_fixed_part(conversation)).collect();
    for group in groups {
        let mut is_asked = false;
        for at in &group.messages {
            let message = &conversation.messages[*at];
            for (pin, is_used) in pins.iter().zip(&mut is_used) {
                let matches = pin.matches(*at, message);
                *is_used |= matches;
                is_asked |= matches;
            }
        }
        if group.messages.iter().any(|at| conversation.messages[*at].notes.is_required) {
            group.pin(PinReason::Required);
        }
        if let Some(statement) = stated(&group.messages) {
            group.pin(PinReason::Rule(rules[statement.rule].clone()));
        }
        if is_asked {
            group.pin(PinReason::Asked);
        }
    }
    match pins.iter().zip(is_used).find(|(_, is_used)| !is_used) {
        Some((pin, _)) => Err(pin.unmatched(conversation)),
        None => Ok(()),
    }
}

/// The weight of each fixed part, then of each group.
fn weigh(
    conversation: &Conversation,
    groups: &[Group],
    overheads: &Overheads,
    counter: &dyn TokenCounter,
    known: &Known<'_>,
) -> Vec<Weight> {
    let mut scale = Scale::new(overheads, counter);
    for fixed in &conversation.fixed {
        scale.put_fixed(fixed);
    }
    for (at, group) in groups.iter().enumerate() {
        match known.weight(at) {
            Some(weight) => scale.put_known(weight),
            None => {
                scale.put_messages(group.messages.iter().map(|at| &conversation.messages[*at]));
            }
        }
    }
    scale.weigh()
}

/// The weights with the beginning of the answer, which counts as part of the last user turn, or of the
/// end.
fn primed(
    conversation: &Conversation,
    groups: &[Group],
    reply_priming: i64,
    mut weights: Vec<Weight>,
) -> Vec<Weight> {
    let primed = groups.iter().rposition(|group| group.pin == Some(PinReason::LastUserTurn));
    let primed =
        primed.map_or(weights.len().checked_sub(1), |at| Some(conversation.fixed.len() + at));
    if let Some(weight) = primed.and_then(|at| weights.get_mut(at)) {
        weight.total = weight.total.saturating_add(reply_priming);
    }
    weights
}

/// A time for each fixed part and each group. Items have the times that they are given, unless none
/// of them has one.
fn times(conversation: &Conversation, groups: &[Group]) -> Vec<Option<DateTime<Utc>>> {
    let of_group = |group: &Group| {
        group.messages.iter().filter_map(|at| time(&conversation.messages[*at])).max()
    };
    let mut given: Vec<Option<DateTime<Utc>>> = vec![None; conversation.fixed.len()];
    given.extend(groups.iter().map(of_group));
    let are_items = conversation.messages.iter().any(|message| message.item.is_some());
    if are_items && given.iter().any(Option::is_some) {
        return given;
    }
    timeline(&given).into_iter().map(Some).collect()
}

fn time(message: &Message) -> Option<DateTime<Utc>> {
    message.item.as_ref().and_then(ContextItem::timestamp).or(message.notes.time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Words, read};
    use crate::{Format, Pin};
    use cupel_tokens::Image;

    /// Tags, kinds and the like of all candidates.
    fn shown<T>(text: &str, format: Format, show: impl Fn(&ContextItem) -> T) -> Vec<T> {
        let request = read(text, format);
        let candidates = request.candidates(&Words, &CandidateOptions::default()).unwrap();
        candidates.items().iter().map(show).collect()
    }

    const CALL: &str = r#"[
        {"role":"user","name":"ann","content":"go on","session_id":"s1"},
        {"role":"assistant","content":"Yes.","tool_calls":[{"id":"c","function":{"name":"ls","arguments":"-a"}}]},
        {"role":"tool","tool_call_id":"c","content":"one two three"},
        {"role":"user","content":"well?"}]"#;

    #[test]
    fn tags_tell_roles_speakers_tools_calls_and_sessions() {
        let tags = shown(CALL, Format::OpenAiChat, |item| item.tags().join(" "));
        assert_eq!(
            tags,
            [
                "role:user speaker:ann session:s1",
                "role:assistant tool:ls call:c role:tool",
                "role:user"
            ]
        );
    }

    #[test]
    fn texts_are_joined_and_calls_written_with_their_arguments() {
        let texts = shown(CALL, Format::OpenAiChat, |item| item.content().to_owned());
        assert_eq!(texts, ["go on", "Yes.\nls -a\none two three", "well?"]);
    }

    #[test]
    fn tokens_are_texts_overheads_and_the_beginning_of_the_answer() {
        let overheads = Overheads::openai_chat();
        let tokens = shown(CALL, Format::OpenAiChat, ContextItem::tokens);
        let frame = overheads.per_message;
        let call = overheads.per_tool_call + overheads.per_tool_result;
        assert_eq!(
            tokens,
            [
                frame + overheads.per_name + 3,
                2 * frame + call + 6,
                frame + 1 + overheads.reply_priming
            ]
        );
    }

    #[test]
    fn kinds_follow_what_a_bundle_is_made_of() {
        let kinds = shown(CALL, Format::OpenAiChat, |item| item.kind().to_string());
        assert_eq!(kinds, ["Message", "ToolOutput", "Message"]);
        let result = "word ".repeat(40);
        let turns = format!(
            r#"[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":[{{"type":"tool_use","id":"a","name":"f","input":{{}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"a","content":"{result}"}}]}},
            {{"role":"assistant","content":"done"}},
            {{"role":"user","content":[{{"type":"document","title":"{result}","source":{{"type":"text","data":"{result}"}}}}]}},
            {{"role":"assistant","content":"read"}},
            {{"role":"user","content":"bye"}}]"#
        );
        let options = CandidateOptions { whole_turns: true, ..Default::default() };
        let candidates = read(&turns, Format::Anthropic).candidates(&Words, &options).unwrap();
        let kinds = candidates.items().iter().map(|item| item.kind().to_string());
        assert_eq!(kinds.collect::<Vec<_>>(), ["ToolOutput", "Document", "Message"]);
    }

    #[test]
    fn images_are_counted_by_their_rule_and_told_apart() {
        let text = r#"[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/1.png","detail":"low"}}]},
            {"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.org/2.png"}}]}]"#;
        let overheads = Overheads::openai_chat();
        let tokens = shown(text, Format::OpenAiChat, ContextItem::tokens);
        let low = Image { detail: cupel_tokens::Detail::Low, ..Image::default() };
        assert_eq!(tokens[0], overheads.per_message + overheads.image_tokens(&low));
        let texts = shown(text, Format::OpenAiChat, |item| item.content().to_owned());
        assert!(texts[0].starts_with("(image ") && texts[0] != texts[1], "{texts:?}");
    }

    #[test]
    fn what_cannot_be_counted_makes_an_estimate() {
        let text = r#"[{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}]"#;
        let request = read(text, Format::OpenAiChat);
        let options = CandidateOptions::default();
        assert!(request.candidates(&Words, &options).unwrap().is_estimate());
        let request = read(CALL, Format::OpenAiChat);
        assert!(!request.candidates(&Words, &options).unwrap().is_estimate());
    }

    #[test]
    fn pins_by_index_role_and_field_hold() {
        let text = r#"[{"role":"user","content":"a","meta":{"keep":true}},{"role":"assistant","content":"b"},
            {"role":"user","content":"c"},{"role":"assistant","content":"d"},{"role":"user","content":"e"}]"#;
        let request = read(text, Format::OpenAiChat);
        let pinned = |pin: &str| {
            let options =
                CandidateOptions { pins: vec![pin.parse().unwrap()], ..Default::default() };
            let candidates = request.candidates(&Words, &options).unwrap();
            let pinned: Vec<usize> =
                candidates.pinned().iter().flat_map(|bundle| bundle.messages.clone()).collect();
            pinned
        };
        assert_eq!(pinned("2"), [2, 4]);
        assert_eq!(pinned("role:assistant"), [1, 3, 4]);
        assert_eq!(pinned("field:meta.keep=true"), [0, 4]);
        assert_eq!(pinned("words:C"), [2, 4]);
        let refused = |pin: Pin| {
            let options = CandidateOptions { pins: vec![pin], ..Default::default() };
            request.candidates(&Words, &options).err().unwrap().to_string()
        };
        assert_eq!(
            refused(Pin::Index(9)),
            "pin `9`: the request has 5 messages; give an index from 0 to 4"
        );
        assert_eq!(
            refused(Pin::Words("b".into())),
            "pin `words:b`: no message of the system or the user has these words; give words that one \
             has, or name a rule, which nobody has to state"
        );
    }

    #[test]
    fn an_mcp_priority_of_one_pins_and_others_are_priorities() {
        let text = r#"[
            {"role":"user","content":[{"type":"text","text":"a","annotations":{"priority":1}}]},
            {"role":"user","content":[{"type":"text","text":"b","annotations":{"priority":0.5}}]},
            {"role":"user","content":"c"}]"#;
        let shown = shown(text, Format::OpenAiChat, |item| (item.pinned(), item.priority()));
        assert_eq!(shown, [(true, Some(100)), (false, Some(50)), (true, None)]);
    }

    #[test]
    fn a_broken_request_makes_no_candidates() {
        let text =
            r#"[{"role":"tool","tool_call_id":"x","content":"?"},{"role":"user","content":"a"}]"#;
        let request = read(text, Format::OpenAiChat);
        let error = request.candidates(&Words, &CandidateOptions::default()).err().unwrap();
        assert_eq!(
            error.to_string(),
            "the request breaks a rule of its provider: [0]: the result of `x` has no call before \
             it; remove it, or put its call back"
        );
    }
}
