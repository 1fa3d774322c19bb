//! Sessions: what must hold of every step, and what changes on the way do.

use std::sync::Arc;

use cupel_engine::{
    Engine, ErrorCode, Format, NewAccount, Options, Session, SessionSettings, SessionState, Step,
};
use cupel_tokens::TokenCounter;

/// A token for each four bytes: quick, and the same everywhere.
pub(crate) struct Quarters;

impl TokenCounter for Quarters {
    fn name(&self) -> &'static str {
        "quarters"
    }

    fn count(&self, text: &str) -> i64 {
        i64::try_from(text.len().div_ceil(4)).unwrap()
    }
}

fn engine(max_tokens: i64) -> Engine {
    Engine::builder().max_tokens(max_tokens).counter(Arc::new(Quarters)).build().unwrap()
}

/// Numbers that look like chance.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn words(&mut self, most: u64) -> String {
        let count = 1 + self.below(most);
        let words = (0..count).map(|_| format!("word{} id_{}", self.below(40), self.below(25)));
        words.collect::<Vec<_>>().join(" ")
    }
}

/// What somebody does in a conversation, whatever the format.
pub(crate) enum Turn {
    Asks(String),
    Says(String),
    Calls { arguments: String, result: String },
}

fn turns(random: &mut Random, count: usize) -> Vec<Turn> {
    let mut turns = vec![Turn::Asks(random.words(12))];
    while turns.len() < count {
        // Who has spoken waits for an answer.
        let has_spoken = matches!(turns.last(), Some(Turn::Says(_)));
        turns.push(match random.below(6) {
            _ if has_spoken => Turn::Asks(random.words(20)),
            0 => Turn::Asks(random.words(20)),
            1 => Turn::Says(random.words(20)),
            _ => Turn::Calls { arguments: random.words(4), result: random.words(60) },
        });
    }
    turns
}

/// The turns as messages, each turn by itself.
pub(crate) fn messages(format: Format, turns: &[Turn]) -> Vec<Vec<String>> {
    let call = |at: usize, arguments: &str, result: &str| match format {
        Format::Anthropic => vec![
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"c{at}","name":"get","input":{{"q":"{arguments}"}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{at}","content":"{result}"}}]}}"#
            ),
        ],
        Format::Gemini => vec![
            format!(
                r#"{{"role":"model","parts":[{{"functionCall":{{"name":"get","args":{{"q":"{arguments}"}}}}}}]}}"#
            ),
            format!(
                r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"get","response":{{"r":"{result}"}}}}}}]}}"#
            ),
        ],
        Format::OpenAiResponses => vec![
            format!(
                r#"{{"type":"function_call","call_id":"c{at}","name":"get","arguments":"{arguments}"}}"#
            ),
            format!(r#"{{"type":"function_call_output","call_id":"c{at}","output":"{result}"}}"#),
        ],
        Format::LangChain => vec![
            format!(
                r#"{{"type":"ai","data":{{"content":"","tool_calls":[{{"id":"c{at}","name":"get","args":{{"q":"{arguments}"}}}}]}}}}"#
            ),
            format!(r#"{{"type":"tool","data":{{"content":"{result}","tool_call_id":"c{at}"}}}}"#),
        ],
        _ => vec![
            format!(
                r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"c{at}","type":"function","function":{{"name":"get","arguments":"{arguments}"}}}}]}}"#
            ),
            format!(r#"{{"role":"tool","tool_call_id":"c{at}","content":"{result}"}}"#),
        ],
    };
    let said = |role: &str, text: &str| match format {
        Format::Gemini => {
            let role = if role == "assistant" { "model" } else { role };
            format!(r#"{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#)
        }
        Format::LangChain => {
            let kind = if role == "assistant" { "ai" } else { "human" };
            format!(r#"{{"type":"{kind}","data":{{"content":"{text}"}}}}"#)
        }
        _ => format!(r#"{{"role":"{role}","content":"{text}"}}"#),
    };
    let written = turns.iter().enumerate().map(|(at, turn)| match turn {
        Turn::Asks(text) => vec![said("user", text)],
        Turn::Says(text) => vec![said("assistant", text)],
        Turn::Calls { arguments, result } => call(at, arguments, result),
    });
    written.collect()
}

pub(crate) fn request(format: Format, turns: &[Vec<String>]) -> String {
    let list = turns.concat().join(",");
    match format {
        Format::Anthropic => format!(r#"{{"system":"Be kind.","messages":[{list}]}}"#),
        Format::Gemini => format!(r#"{{"contents":[{list}]}}"#),
        Format::OpenAiResponses => format!(r#"{{"instructions":"Be kind.","input":[{list}]}}"#),
        Format::LangChain => format!("[{list}]"),
        _ => format!(r#"{{"messages":[{{"role":"system","content":"Be kind."}},{list}]}}"#),
    }
}

pub(crate) const FORMATS: [Format; 5] = [
    Format::OpenAiChat,
    Format::Anthropic,
    Format::Gemini,
    Format::OpenAiResponses,
    Format::LangChain,
];

/// The elements of the list of messages, as they are written.
pub(crate) fn written_messages(text: &str) -> Vec<serde_json::Value> {
    let request: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = ["messages", "input", "contents"].iter().find_map(|name| request.get(name));
    list.unwrap_or(&request).as_array().unwrap().clone()
}

fn accepted(session: &mut Session, text: &str) -> Step {
    let step = session.next(text).unwrap();
    assert!(session.accept());
    step
}

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

/// Anthropic's cache, by its rule: entries are beginnings that end at a mark, a mark finds one at most twenty
/// blocks back. Returns how many messages are found; `None` if not even the head is.
fn found_by_marks(entries: &mut Vec<Vec<String>>, messages: &[serde_json::Value]) -> Option<usize> {
    let strip = |message: &serde_json::Value| {
        let text = message.to_string();
        text.replace(r#""cache_control":{"type":"ephemeral"},"#, "")
    };
    let plain: Vec<String> = messages.iter().map(strip).collect();
    let blocks = |message: &serde_json::Value| message["content"].as_array().map_or(1, Vec::len);
    let is_marked = |at: &usize| messages[*at].to_string().contains("cache_control");
    let marks: Vec<usize> = (0..plain.len()).filter(is_marked).map(|at| at + 1).collect();
    let found = marks.iter().filter_map(|mark| {
        let entry =
            entries.iter().filter(|entry| plain[..*mark].starts_with(entry)).map(Vec::len).max()?;
        let back: usize = messages[entry..*mark].iter().map(blocks).sum();
        (back <= 20).then_some(entry)
    });
    let head = (!entries.is_empty()).then_some(0);
    let found = found.chain(head).max();
    entries.push(Vec::new());
    entries.extend(marks.iter().map(|mark| plain[..*mark].to_vec()));
    found
}

#[test]
fn where_the_cache_goes_by_marks_the_figures_are_those_of_its_rule_and_cuts_are_found() {
    const MARK: &str = r#","cache_control":{"type":"ephemeral"}}]}"#;
    let random = &mut Random(7);
    let mut steps =
        vec![r#"{"role":"user","content":[{"type":"text","text":"Look through it"}]}"#.to_owned()];
    for at in 0..40 {
        let (said, size) = (random.words(3), 4 + random.below(60));
        steps.push(format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{said}"}},{{"type":"tool_use","id":"c{at}","name":"read","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{at}","content":"{}"}}]}}"#,
            random.words(size)
        ));
    }
    let (mut entries, mut uncached, mut arrived) = (Vec::new(), 0, 0);
    let (mut trimmed, mut as_told) = (0, 0);
    let mut session = engine(1_500).session();
    for count in 1..=steps.len() {
        // The client's mark moves on with the newest message.
        let list = steps[..count].join(",");
        let list = format!("{}{MARK}", list.strip_suffix("}]}").unwrap());
        let request = |list: &str| {
            format!(
                r#"{{"system":[{{"type":"text","text":"Be kind.","cache_control":{{"type":"ephemeral"}}}}],"messages":[{list}]}}"#
            )
        };
        let step = accepted(&mut session, &request(&list));
        let window = written_messages(&step.text);
        let found = found_by_marks(&mut entries, &window);
        let text = request(
            &window[..found.unwrap_or(0)]
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(","),
        );
        let cached = match found {
            None => 0,
            Some(0) => step.session.cached_tokens.min(20),
            Some(_) => engine(1_500).count(text, &Options::default()).unwrap().total_tokens,
        };
        // A window that was cut and comes back finds more than a session remembers.
        assert!(step.session.cached_tokens <= cached, "step {count}");
        as_told += usize::from(step.session.cached_tokens == cached);
        uncached += step.session.uncached_tokens;
        arrived += step.session.arrived_tokens;
        trimmed += usize::from(!step.is_whole());
    }
    assert!(trimmed > 15 && as_told > 35, "{trimmed} {as_told}");
    assert!(uncached * 10 <= arrived * 13 + 200, "{uncached} uncached of {arrived} that arrived");
}

/// What a session sends is counted here from its windows alone.
#[test]
fn uncached_tokens_are_bounded_by_what_arrived() {
    let (mut sessions, mut steps, mut overdrawn) = (0, 0, 0);
    for seed in 0..60 {
        let random = &mut Random(1_000 + seed);
        let budget = 150 + 50 * i64::try_from(random.below(12)).unwrap();
        let all = messages(Format::OpenAiChat, &turns(random, 60));
        let engine = engine(budget);
        let mut session = engine.session();
        let (mut before, mut uncached, mut last) = (Vec::new(), 0, None);
        for count in 1..=all.len() {
            let text = request(Format::OpenAiChat, &all[..count]);
            let Ok(step) = session.next(text.as_str()) else { continue };
            session.accept();
            steps += 1;
            let shared = step.kept_messages.iter().zip(&before).take_while(|(a, b)| a == b).count();
            let counted = engine.count(text.as_str(), &Options::new()).unwrap();
            let is_shared = |messages: &[usize]| {
                messages.iter().all(|at| step.kept_messages[..shared].contains(at))
            };
            let sent = counted
                .parts
                .iter()
                .filter(|part| part.messages.iter().all(|at| step.kept_messages.contains(at)));
            let fresh = sent.filter(|part| before.is_empty() || !is_shared(&part.messages));
            let fresh: i64 = fresh.map(|part| part.tokens).sum();
            assert_eq!(step.session.uncached_tokens, fresh);
            uncached += fresh;
            before = step.kept_messages.clone();
            last = Some(step.session.account);
        }
        let Some(account) = last else { continue };
        sessions += 1;
        assert_eq!(account.uncached_tokens, uncached);
        let bound = account.head_tokens as f64
            + 1.3 * account.arrived_tokens as f64
            + account.overdrawn_tokens as f64;
        // What the answer begins with counts with the last turn of the user, which changes.
        let slack = 3.0 * f64::from(steps);
        assert!(uncached as f64 <= bound + slack, "{uncached} of {bound}: {account:?}");
        overdrawn += usize::from(account.overdrawn_tokens > 0);
    }
    assert!(sessions > 40 && steps > 1_500, "{sessions} sessions, {steps} steps");
    assert!(overdrawn * 10 < sessions, "{overdrawn} of {sessions} sessions overdrew");
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
fn what_fits_again_goes_out_as_it_came_and_the_account_says_what_that_cost() {
    for format in FORMATS {
        let all = messages(format, &turns(&mut Random(3), 12));
        let text = request(format, &all);
        let mut session = engine(400).session();
        let cut = accepted(&mut session, &text);
        assert!(cut.summary.messages_after < cut.summary.messages_before, "{format}");
        let larger = Options::new().max_tokens(100_000);
        let step = session.next_with(text.as_str(), &larger, None).unwrap();
        assert_eq!(step.text, text, "{format}");
        let again: i64 = step.session.again.iter().map(|again| again.part.tokens).sum();
        assert!(again > 0, "{format}");
        assert!(step.session.account.overdrawn_tokens > 0, "{format}: {:?}", step.session.account);
        assert_eq!(
            step.session.uncached_tokens + step.session.cached_tokens,
            step.summary.tokens_before
        );
        session.accept();
        // From then on all of it stands.
        let step = session.next_with(text.as_str(), &larger, None).unwrap();
        assert_eq!((step.text.as_str(), step.session.again.len()), (text.as_str(), 0), "{format}");
    }
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
fn marks_for_the_cache_are_written_on_request_only() {
    let all = messages(Format::Anthropic, &turns(&mut Random(5), 24));
    let plain = engine(400).session();
    let mut settings = SessionSettings::default();
    settings.cache_marks = true;
    let (mut plain, mut marked) = (plain.clone(), plain.with_settings(settings));
    for count in 1..=all.len() {
        let text = request(Format::Anthropic, &all[..count]);
        let (plain, marked) = (accepted(&mut plain, &text), accepted(&mut marked, &text));
        assert_eq!(plain.kept_messages, marked.kept_messages);
        assert!(!plain.text.contains("cache_control"));
        let marks = marked.text.matches("cache_control").count();
        assert_eq!(marks, marked.session.breakpoints.len());
        assert!((1..=4).contains(&marks), "{marks}");
        let last = written_messages(&marked.text).pop().unwrap();
        assert!(last.to_string().contains("cache_control"), "the end is marked: {last}");
    }
}

#[test]
fn prices_are_the_callers_or_the_models() {
    let text = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Hello"}]}"#;
    let of_model = engine(100).session().next(text).unwrap().session.prices.unwrap();
    let mut settings = SessionSettings::default();
    settings.prices = Some(cupel_tokens::Prices::new(8_000_000, 1_000_000, 2_000_000));
    let mut session = engine(100).session().with_settings(settings);
    let step = session.next(text).unwrap().session;
    let own = step.prices.unwrap();
    assert_ne!(own.input, of_model.input);
    let usage = cupel_engine::Usage::new(1_000_000, 3_000_000);
    assert_eq!(own.dollars(usage), 7.0);
    let unknown = r#"[{"role":"user","content":"Hello"}]"#;
    assert_eq!(engine(100).session().next(unknown).unwrap().session.prices, None);
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
