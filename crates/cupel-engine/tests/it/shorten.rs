//! Results that go in shorter than they are.

use std::collections::HashMap;
use std::sync::Arc;

use cupel_engine::{
    Draft, Engine, EngineBuilder, ErrorCode, Format, Limits, Options, Original, OwnRendering,
    Renderer, Shorten, Step, Target, handle,
};
use serde_json::{Value, json};

/// So many orders, as a tool gives them.
fn orders(from: usize, count: usize) -> String {
    let order = |at: usize| {
        json!({"order_id": format!("W{:07}", at * 7_919), "status": "delivered",
            "note": "left at the door, as the customer had asked", "paid": true, "parts": at % 9})
    };
    let orders: Vec<Value> = (from..from + count).map(order).collect();
    serde_json::to_string_pretty(&json!({ "orders": orders })).unwrap()
}

/// A call with its result.
fn call(id: usize, arguments: &str, result: &str) -> [Value; 2] {
    let function = json!({"name": "list_orders", "arguments": arguments});
    [
        json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": format!("c{id}"), "type": "function", "function": function}]}),
        json!({"role": "tool", "tool_call_id": format!("c{id}"), "content": result}),
    ]
}

fn request(messages: &[Value]) -> String {
    json!({ "messages": messages }).to_string()
}

/// Three calls, then the user again.
fn talk() -> String {
    let mut messages = vec![json!({"role": "user", "content": "Which of my orders are late?"})];
    for at in 0..3 {
        messages.extend(call(at, &format!("{{\"page\": {at}}}"), &orders(at * 40, 30)));
    }
    messages.push(json!({"role": "assistant", "content": "None of them."}));
    messages.push(json!({"role": "user", "content": "And W0007919?"}));
    request(&messages)
}

/// One call whose result is larger than any budget here, and nothing after it.
fn ends_with(result: &str) -> String {
    let user = json!({"role": "user", "content": "Which of my orders are late?"});
    request(&[vec![user], call(1, "{}", result).to_vec()].concat())
}

fn builder(max_tokens: i64) -> EngineBuilder {
    Engine::builder().tokenizer("o200k_base").max_tokens(max_tokens)
}

fn contents(text: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(text).unwrap();
    let messages = request["messages"].as_array().unwrap();
    messages.iter().map(|m| m["content"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn json_is_shortened_by_itself_only_where_nothing_fits_otherwise() {
    let engine = builder(400).build().unwrap();
    let too_long = ends_with(&orders(0, 60));
    let selection = engine.select(too_long.as_str()).unwrap();
    let [shortened] = &selection.shortened[..] else { panic!("{:?}", selection.shortened) };
    assert_eq!((shortened.message, shortened.tool.as_str()), (2, "list_orders"));
    assert!(shortened.tokens_after < shortened.tokens_before && shortened.tokens_after <= 400);
    assert!(shortened.values_after.unwrap() < shortened.values_before.unwrap());
    assert!(selection.summary.tokens_after <= 400);
    let result = &contents(&selection.text)[2];
    assert!(serde_json::from_str::<Value>(result).is_ok(), "{result}");
    // What can do without is in or out as a whole.
    let selection = engine.select(talk()).unwrap();
    assert!(selection.shortened.is_empty() && selection.rewritten.is_empty());
    // Whoever says so gets nothing but whole messages.
    let off = builder(400).shorten(Shorten::Off).build().unwrap();
    assert_eq!(off.select(too_long).unwrap_err().code(), ErrorCode::DoesNotFit);
    // Other text has no such rescue, unless asked for.
    let prose = ends_with(&"The parcel stood in the rain all night long.\n".repeat(300));
    assert_eq!(engine.select(prose.as_str()).unwrap_err().code(), ErrorCode::DoesNotFit);
    let all = engine.select_with(prose, &Options::new().shorten(Shorten::All)).unwrap();
    assert!(all.shortened[0].name.starts_with("head and tail"), "{:?}", all.shortened);
}

#[test]
fn more_is_kept_of_more_results() {
    let ids =
        |text: &str| (0..120).filter(|at| text.contains(&format!("W{:07}", at * 7_919))).count();
    let request = talk();
    for tokens in [600, 1_000, 1_500] {
        let whole = builder(tokens).build().unwrap().select(request.as_str()).unwrap();
        let engine = builder(tokens).shorten(Shorten::Json).build().unwrap();
        let shorter = engine.select(request.as_str()).unwrap();
        assert!(!shorter.shortened.is_empty(), "{tokens}");
        assert!(ids(&shorter.text) > ids(&whole.text), "{tokens}");
        assert!(shorter.summary.tokens_after <= tokens);
        // The messages that changed are handed out one by one, too.
        let written: Vec<Value> = serde_json::from_str::<Value>(&shorter.text).unwrap()["messages"]
            .as_array()
            .unwrap()
            .clone();
        for (index, json) in &shorter.rewritten {
            let at = shorter.kept_messages.iter().position(|kept| kept == index).unwrap();
            assert_eq!(written[at], serde_json::from_str::<Value>(json).unwrap());
        }
    }
    let all = builder(100_000).shorten(Shorten::All).build().unwrap();
    assert_eq!(all.select(request.as_str()).unwrap().text, request, "what fits stays whole");
}

#[test]
fn explain_tells_what_is_left_and_when_it_would_be_whole() {
    let engine = builder(900).shorten(Shorten::Json).build().unwrap();
    let explanation = engine.explain(talk(), &Options::new()).unwrap();
    let kept = explanation.kept.iter().find(|kept| kept.shortened.is_some()).unwrap();
    let shortened = kept.shortened.as_ref().unwrap();
    assert!(shortened.tokens < kept.part.tokens);
    assert!(!shortened.name.is_empty() && !shortened.texts.is_empty());
    let whole_at = shortened.whole_at.unwrap();
    let position = kept.part.position;
    let is_shortened = |tokens: i64| {
        let windows = engine.windows(talk(), &[tokens], &Options::new()).unwrap().windows;
        assert!(windows[0].kept.contains(&position), "{tokens}");
        windows[0].shortened.iter().any(|short| short.position == position)
    };
    assert!(whole_at > 900 && !is_shortened(whole_at) && is_shortened(900));
}

#[test]
fn policies_and_single_calls_can_ask_for_it() {
    let policy = "scorers = [\"recency\"]\nslicer = \"shortening\"\nshorten = \"json\"";
    let engine = builder(600).policy_text("mine", policy).build().unwrap();
    assert!(!engine.select(talk()).unwrap().shortened.is_empty());
    let off = engine.select_with(talk(), &Options::new().shorten(Shorten::Off)).unwrap();
    assert!(off.shortened.is_empty());
    let wrong = builder(600).policy_text("mine", policy.replace("json", "some")).build();
    assert_eq!(wrong.unwrap_err().rule(), "must be one of off, json, all, got \"some\"");
}

#[test]
fn summaries_are_used_for_the_text_that_they_were_made_of() {
    let summary = |id: &str, of: &str, content: &str| OwnRendering {
        target: Target::Call(id.to_owned()),
        hash: Some(handle(of)),
        name: "summary".to_owned(),
        content: content.to_owned(),
        tokens: None,
        share: Some(0.9),
    };
    let given = [
        summary("c0", &orders(0, 30), "Thirty orders from W0000000 on, all delivered."),
        summary("c1", "an older text", "Something else."),
    ];
    let engine = builder(300).build().unwrap();
    let options = Options::new().renderings(given);
    let selection = engine.select_with(talk(), &options).unwrap();
    assert!(selection.text.contains("Thirty orders from"), "{}", selection.text);
    assert!(!selection.text.contains("Something else"));
    let [unused] = &selection.unused_renderings[..] else { panic!("{selection:?}") };
    assert_eq!(
        unused.to_string(),
        "the rendering of call c1 is not used: the text was changed since it was made"
    );
}

/// Looks summaries up by the hash of the text.
struct Store(HashMap<String, &'static str>);

impl Renderer for Store {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        let found = self.0.get(&handle(original.text)).copied();
        found.map(|text| Draft::new("summary", text, 0.9)).into_iter().collect()
    }
}

#[test]
fn a_renderer_of_ones_own_is_asked_for_every_result() {
    let store = Store(HashMap::from([(handle(&orders(40, 30)), "Page two, all is well.")]));
    let engine = builder(300).renderer(Arc::new(store)).build().unwrap();
    let selection = engine.select(talk()).unwrap();
    assert!(selection.text.contains("Page two, all is well."), "{}", selection.text);
    let original = engine.original(talk(), &selection.shortened[0].handle).unwrap();
    assert_eq!(original, Some(orders(40, 30)));
    assert_eq!(engine.original(talk(), "cupel:0000000000000000").unwrap(), None);
}

/// The messages of a step as they are written.
fn written(step: &Step) -> Vec<String> {
    let request: Value = serde_json::from_str(&step.text).unwrap();
    request["messages"].as_array().unwrap().iter().map(Value::to_string).collect()
}

#[test]
fn in_a_session_a_form_stays_as_it_was_sent_until_the_cut_passes_it() {
    let engine = builder(1_200).shorten(Shorten::All).build().unwrap();
    let mut session = engine.session();
    let mut messages = vec![json!({"role": "user", "content": "Check all my orders."})];
    let mut before: Vec<String> = Vec::new();
    let (mut shortened_steps, mut standing) = (0, 0);
    for at in 0..40 {
        let result = orders(at * 5, 4 + at % 9);
        messages.extend(call(at, &format!("{{\"after\": \"W{:07}\"}}", at * 5 * 7_919), &result));
        let text = request(&messages);
        let step = session.next(text.as_str()).unwrap();
        assert_eq!(engine.validate(step.text.as_str()).unwrap().violations, []);
        assert!(step.summary.tokens_after <= 1_200);
        let now = written(&step);
        let unchanged = step.session.unchanged_messages;
        assert_eq!(now[..unchanged], before[..unchanged], "step {at}");
        shortened_steps += usize::from(!step.shortened.is_empty());
        standing += step
            .rewritten
            .iter()
            .filter(|(index, _)| step.kept_messages[..unchanged].contains(index))
            .count();
        let account = step.session.account;
        let bound = account.head_tokens as f64 + 1.3 * account.arrived_tokens as f64;
        let uncached = account.uncached_tokens - account.overdrawn_tokens;
        assert!(uncached as f64 <= bound, "step {at}: {uncached} > {bound}");
        before = now;
        session.accept();
        if at == 20 {
            // Another process goes on.
            let state = session.state().unwrap().to_json();
            assert!(!state.contains("delivered"), "no texts in it");
            let state = cupel_engine::SessionState::from_json(&state).unwrap();
            session = engine.resume(state);
        }
    }
    assert!(shortened_steps > 10, "{shortened_steps} steps had something shorter");
    assert!(standing > 10, "{standing} shorter messages stood where they were");
}

#[test]
fn when_forms_are_no_longer_made_what_was_shorter_does_not_stand() {
    let engine = builder(700).shorten(Shorten::All).build().unwrap();
    let mut session = engine.session();
    let first = session.next(talk()).unwrap();
    assert!(!first.shortened.is_empty());
    let index = first.rewritten[0].0;
    session.accept();
    let state = session.state().unwrap().clone();
    let off = builder(700).shorten(Shorten::Off).build().unwrap();
    let step = off.resume(state).next(talk()).unwrap();
    assert!(step.shortened.is_empty());
    let kept: Vec<usize> = step.kept_messages[..step.session.unchanged_messages].to_vec();
    assert!(!kept.contains(&index), "{kept:?}");
}

#[test]
fn a_format_that_has_no_tools_has_nothing_to_shorten() {
    let engine = builder(40).shorten(Shorten::All).format(Format::Items);
    let engine = engine.limits(Limits::of(40)).build().unwrap();
    let text = r#"[{"content":"a b c","tokens":30},{"content":"d","tokens":20,"renderings":[{"name":"s","content":"e","tokens":5}]}]"#;
    let selection = engine.select(text).unwrap();
    assert!(selection.summary.tokens_after <= 40);
    assert_eq!(selection.kept_messages.len(), 2, "{}", selection.text);
    assert_eq!(selection.shortened.len(), 1);
}
