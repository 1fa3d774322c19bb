//! Windows of sessions: what must hold of every step, and what changes on the way do.

use std::sync::Arc;

use cupel_engine::{Engine, ErrorCode, Format, NewAccount, Options, Session, SessionState};

use crate::talk::{
    FORMATS, Quarters, Random, accepted, engine, messages, request, turns, written_messages,
};

#[test]
fn every_window_is_valid_within_its_budget_and_holds_what_is_pinned_and_newest() {
    let mut trimmed = 0;
    for format in FORMATS {
        for seed in 0..8 {
            let random = &mut Random(seed);
            let budget = 120 + 60 * i64::try_from(random.below(8)).unwrap();
            let all = messages(format, &turns(random, 40));
            let engine = engine(budget);
            let mut session = engine.session();
            for count in 1..=all.len() {
                let text = request(format, &all[..count]);
                let step = match session.next(text.as_str()) {
                    Ok(step) => step,
                    Err(error) => {
                        assert_eq!(error.code(), ErrorCode::DoesNotFit, "{error}");
                        continue;
                    }
                };
                session.accept();
                assert!(step.summary.tokens_after <= budget);
                let problems = engine.validate(step.text.as_str()).unwrap();
                assert!(problems.is_valid, "{format} {seed} {count}: {problems:?}\n{}", step.text);
                let before = written_messages(&text);
                let kept: Vec<_> =
                    step.kept_messages.iter().map(|at| before[*at].clone()).collect();
                assert_eq!(kept, written_messages(&step.text), "the caller's own");
                assert!(step.kept_messages.is_sorted(), "in their order");
                assert_eq!(kept.last(), before.last(), "{format}: the newest is in it");
                let session = &step.session;
                assert_eq!(
                    session.cached_tokens + session.uncached_tokens,
                    step.summary.tokens_after
                );
                trimmed += usize::from(step.summary.messages_after < step.summary.messages_before);
            }
        }
    }
    assert!(trimmed > 800, "only {trimmed} windows were trimmed");
}

#[test]
fn a_session_fits_wherever_a_fresh_window_does() {
    let (mut fitted, mut refused) = (0, 0);
    for format in FORMATS {
        for seed in 0..6 {
            let random = &mut Random(100 + seed);
            let all = messages(format, &turns(random, 30));
            let engine = engine(1_000);
            let mut session = engine.session();
            for count in 1..=all.len() {
                let text = request(format, &all[..count]);
                let budget = 60 + i64::try_from(random.below(400)).unwrap();
                let options = Options::new().max_tokens(budget);
                let fresh = engine.session().next_with(text.as_str(), &options, None);
                let step = session.next_with(text.as_str(), &options, None);
                session.accept();
                assert_eq!(step.is_ok(), fresh.is_ok(), "{format} {seed} {count}: {step:?}");
                let Ok(step) = step else {
                    refused += 1;
                    continue;
                };
                assert_eq!(step.is_whole(), step.summary.fits_whole(), "{format} {seed} {count}");
                fitted += 1;
            }
        }
    }
    assert!(fitted > 300 && refused > 20, "{fitted} {refused}");
}

/// A conversation of an agent, to be changed.
fn conversation() -> Vec<Vec<String>> {
    messages(Format::OpenAiChat, &turns(&mut Random(5), 24))
}

fn text(turns: &[Vec<String>]) -> String {
    request(Format::OpenAiChat, turns)
}

#[test]
fn a_proposal_that_is_not_accepted_spends_nothing() {
    let all = conversation();
    let mut session = engine(400).session();
    for count in 1..20 {
        accepted(&mut session, &text(&all[..count]));
    }
    let state = session.state().cloned();
    let once = session.next(text(&all[..20])).unwrap();
    session.next(text(&all[..22])).unwrap();
    let again = session.next(text(&all[..20])).unwrap();
    assert_eq!(once, again);
    assert_eq!(session.state().cloned(), state);
    session.roll_back();
    assert!(!session.accept(), "nothing is proposed");
    assert!(session.next("{").is_err());
    assert!(!session.accept(), "what failed is no proposal");
    assert_eq!(session.state().cloned(), state);
}

#[test]
fn a_state_that_was_written_down_goes_on_as_if_nothing_had_happened() {
    let all = conversation();
    let engine = engine(400);
    let mut session = engine.session();
    for count in 1..=all.len() {
        let written = session.state().map(SessionState::to_json);
        let state = written.map(|text| SessionState::from_json(&text).unwrap());
        let mut resumed = state.map_or_else(|| engine.session(), |state| engine.resume(state));
        let step = accepted(&mut session, &text(&all[..count]));
        assert_eq!(step, accepted(&mut resumed, &text(&all[..count])));
        assert_eq!(step.text, accepted(&mut engine.session(), &step.text).text, "it fits");
    }
    let state = session.state().unwrap().to_json();
    assert!(!state.contains("word") && !state.contains("id_"), "no text: {state}");
}

#[test]
fn with_a_larger_budget_that_does_not_hold_everything_nothing_moves() {
    let all = conversation();
    let engine = engine(400);
    let mut session = engine.session();
    for count in 1..20 {
        accepted(&mut session, &text(&all[..count]));
    }
    let before = session.state().unwrap().window.clone();
    let larger = Options::new().max_tokens(600);
    let step = session.next_with(text(&all[..20]), &larger, None).unwrap();
    assert!(step.summary.messages_after < step.summary.messages_before);
    assert_eq!(step.kept_messages[..before.len()], before);
    assert_eq!(step.session.unchanged_messages, before.len());
    assert!(step.session.cut.is_empty() && step.session.again.is_empty());
}

#[test]
fn with_a_smaller_budget_the_window_is_cut() {
    let all = conversation();
    let mut session = engine(800).session();
    for count in 1..20 {
        accepted(&mut session, &text(&all[..count]));
    }
    let smaller = Options::new().max_tokens(300);
    let step = session.next_with(text(&all[..20]), &smaller, None).unwrap();
    assert!(step.summary.tokens_after <= 300 && !step.session.cut.is_empty());
    assert_eq!(step.session.new_account, None);
    assert!(step.session.unchanged_messages > 0);
}

/// A session that has come a long way.
fn underway() -> (Vec<Vec<String>>, Session) {
    let all = conversation();
    let mut session = engine(400).session();
    for count in 1..20 {
        accepted(&mut session, &text(&all[..count]));
    }
    (all, session)
}

#[test]
fn what_stands_before_all_messages_begins_a_new_account() {
    let (all, mut session) = underway();
    let plain = text(&all[..20]);
    let with = |what: &str| plain.replacen('{', &format!("{{{what},"), 1);
    let mut reason = |text: String, now| {
        let step = session.next_with(text, &Options::new(), now).unwrap();
        let cold = step.session.new_account.is_some_and(NewAccount::is_cold);
        assert_eq!(cold, step.session.cached_tokens == 0, "{:?}", step.session);
        step.session.new_account
    };
    assert_eq!(reason(plain.clone(), None), None);
    let tools = r#""tools":[{"type":"function","function":{"name":"get"}}]"#;
    assert_eq!(reason(with(tools), None), Some(NewAccount::HeadChanged));
    assert_eq!(reason(with(r#""model":"gpt-4o""#), None), Some(NewAccount::ModelChanged));
    // The system prompt is a message here: what stands behind it is edited history.
    let other_system = plain.replace("Be kind.", "Be rude.");
    assert_eq!(reason(other_system, None), Some(NewAccount::OtherConversation));
    let other =
        request(Format::OpenAiChat, &messages(Format::OpenAiChat, &turns(&mut Random(9), 4)));
    let other = other.replace("Be kind.", "Be brief.");
    assert_eq!(reason(other, None), Some(NewAccount::OtherConversation));
}

#[test]
fn when_the_provider_has_forgotten_the_window_is_chosen_anew() {
    let all = conversation();
    let mut session = engine(400).session();
    let mut step = |count: usize, now| {
        let step = session.next_with(text(&all[..count]), &Options::new(), Some(now)).unwrap();
        session.accept();
        step.session.new_account
    };
    assert_eq!(step(10, 1_000), Some(NewAccount::FirstStep));
    assert_eq!(step(11, 1_299), None);
    assert_eq!(step(12, 1_598), None, "counted from the last step");
    assert_eq!(step(13, 1_898), Some(NewAccount::CacheExpired));
}

#[test]
fn an_edit_cuts_at_the_first_change_and_says_where() {
    let (all, mut session) = underway();
    let window = session.state().unwrap().window.clone();
    let mut edited = all.clone();
    let last_kept = window[window.len() - 1];
    // One message a turn and one more for the system prompt is not so here: find the turn.
    let mut at = 1;
    let turn = edited.iter().position(|turn| {
        at += turn.len();
        at > last_kept
    });
    let turn = turn.unwrap();
    edited[turn] = vec![r#"{"role":"user","content":"something else"}"#.to_owned()];
    let step = session.next(text(&edited[..20])).unwrap();
    assert_eq!(step.session.new_account, Some(NewAccount::HistoryEdited));
    assert!(step.session.edited_at.is_some());
    assert!(step.session.cached_tokens > 0, "what stands before the edit is still cached");
    assert!(step.session.unchanged_messages < window.len());
}

#[test]
fn a_history_that_is_shorter_or_repeats_itself_goes_on() {
    let (all, mut session) = underway();
    let shorter = session.next(text(&all[..15])).unwrap();
    assert_eq!(shorter.session.new_account, None);
    assert!(shorter.session.unchanged_messages > 0);
    let mut repeating = all[..19].to_vec();
    repeating.push(repeating[0].clone());
    let step = session.next(text(&repeating)).unwrap();
    assert_eq!(step.session.new_account, None);
    assert_eq!(step.kept_messages.last(), Some(&repeating.concat().len()));
    let same = session.next(text(&all[..19])).unwrap();
    assert_eq!((same.session.arrived_tokens, same.session.uncached_tokens), (0, 0));
}

#[test]
fn what_is_superseded_is_not_sent_again_but_stays_while_it_is_cached() {
    let builder = Engine::builder().max_tokens(10_000).counter(Arc::new(Quarters));
    let engine = builder.superseded(cupel_engine::Superseded::Drop).build().unwrap();
    let read = |at: usize| {
        vec![
            format!(
                r#"{{"role":"assistant","tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"read_file","arguments":"{{\"path\":\"a.rs\"}}"}}}}]}}"#
            ),
            format!(
                r#"{{"role":"tool","tool_call_id":"c{at}","content":"fn main() {{}} // the same file, read again"}}"#
            ),
        ]
    };
    let ask = vec![r#"{"role":"user","content":"Look."}"#.to_owned()];
    let mut session = engine.session();
    accepted(&mut session, &text(&[ask.clone(), read(1)]));
    let step = accepted(&mut session, &text(&[ask, read(1), read(2)]));
    assert_eq!(step.superseded.len(), 1);
    assert_eq!(step.kept_messages.len(), 6, "what was sent costs nothing to keep");
}

#[test]
fn items_of_any_size_are_taken() {
    let huge = i64::MAX;
    let items = |count: usize| {
        let item = |at: usize| {
            let tokens = if at % 3 == 0 { huge } else { 40 };
            format!(r#"{{"content":"item {at}","tokens":{tokens}}}"#)
        };
        format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(","))
    };
    let mut session = engine(200).session();
    for count in 1..20 {
        let step = accepted(&mut session, &items(count));
        assert!(step.summary.tokens_after <= 200);
    }
    let pinned = r#"[{"content":"a","tokens":9223372036854775807,"pinned":true},
        {"content":"b","tokens":9223372036854775807,"pinned":true}]"#;
    assert_eq!(session.next(pinned).unwrap_err().code(), ErrorCode::DoesNotFit);
}

#[test]
fn ten_thousand_messages_are_one_session() {
    let random = &mut Random(77);
    let all = messages(Format::OpenAiChat, &turns(random, 6_500));
    let engine = engine(4_000);
    let mut session = engine.session();
    let mut kept = 0;
    for count in (1..all.len()).step_by(650).chain([all.len()]) {
        let step = accepted(&mut session, &text(&all[..count]));
        assert!(step.summary.tokens_after <= 4_000);
        kept = step.summary.messages_before;
    }
    assert!(kept > 10_000, "{kept}");
    assert!(session.state().unwrap().to_json().len() < 32 * kept, "a small state");
}

/// Talk about which the last question says nothing: the newest that fit, as without a session.
#[test]
fn a_first_window_is_filled_even_where_nothing_is_worth_much() {
    let said = |at: usize| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        format!(r#"{{"role":"{role}","content":"we spoke of gardens and of rain, number {at}"}}"#)
    };
    let mut messages: Vec<String> = (0..120).map(said).collect();
    messages.push(r#"{"role":"user","content":"qqq zzz?"}"#.to_owned());
    let text = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
    let engine = engine(800);
    let step = engine.session().next(text.as_str()).unwrap();
    let anew = engine.select(text.as_str()).unwrap();
    assert!(step.summary.tokens_after * 10 > anew.summary.tokens_after * 9, "{:?}", step.summary);
}

/// One turn of many has what is asked for; calls follow it, whose values say nothing of it.
#[test]
fn a_first_window_holds_what_the_question_asks_for() {
    let said = |at: usize| {
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        let fact = if at == 8 { "My parrot is called Salamanca." } else { "So it goes here." };
        format!(
            r#"{{"role":"{role}","content":"{fact} We spoke of gardens, rain and number {at}."}}"#
        )
    };
    let call = |at: usize| {
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"find","arguments":"{{\"id\": \"bed_{at}\"}}"}}}}]}},
            {{"role":"tool","tool_call_id":"c{at}","content":"bed_{} is free"}}"#,
            at + 1
        )
    };
    let mut messages: Vec<String> = (0..120).map(said).collect();
    messages.extend((0..4).map(call));
    messages.push(r#"{"role":"user","content":"What is my parrot called?"}"#.to_owned());
    let text = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
    let step = engine(400).session().next(text.as_str()).unwrap();
    assert!(step.kept_messages.contains(&8), "{:?}", step.kept_messages);
}
