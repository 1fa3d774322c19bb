//! Costs of a session: the provider's cache, the account, marks and prices.

use cupel_engine::{Format, MarkRule, Options, SessionSettings};

use crate::talk::{FORMATS, Random, accepted, engine, messages, request, turns, written_messages};

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

/// Counts the uncached tokens of a session from its windows alone.
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
fn marks_for_the_cache_are_written_on_request_only() {
    let all = messages(Format::Anthropic, &turns(&mut Random(5), 24));
    let plain = engine(400).session();
    let mut settings = SessionSettings::default();
    settings.cache_marks = MarkRule::Write;
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
