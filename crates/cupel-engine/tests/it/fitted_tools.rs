//! Tools that make room for the messages: what goes, what stays, and what a session does with it.

use cupel_engine::{
    Engine, EngineBuilder, ErrorCode, Format, NewAccount, Options, Request, Rule, Selection,
    Session, SessionState, Step, ToolFate, ToolMode,
};
use serde_json::{Value, json};

use crate::tools::requests;

/// Tools of a harbour, each with a long description and a parameter of its own.
const WORK: [(&str, &str); 8] = [
    ("get_tides", "Looks up high and low water of a harbour."),
    ("order_soup", "Orders soup from the kitchen."),
    ("paint_wall", "Paints a wall in a colour."),
    ("book_berth", "Reserves a berth for a boat."),
    ("play_music", "Plays a song in the hall."),
    ("water_plants", "Waters the plants on the terrace."),
    ("feed_cat", "Feeds the cat of the harbour master."),
    ("count_sheep", "Counts the sheep behind the dyke."),
];

fn tool((name, what): (&str, &str)) -> Value {
    let long = format!(
        "{what} Use it when somebody asks for that. {}",
        "It may take a while. ".repeat(12)
    );
    let said = format!("The one that is meant. {}", "As people say it. ".repeat(8));
    json!({"type": "function", "function": {"name": name, "description": long, "parameters": {"type": "object",
        "title": "Arguments", "properties": {"which": {"type": "string", "description": said}}, "required": ["which"]}}})
}

fn said(role: &str, words: &str) -> Value {
    json!({"role": role, "content": words})
}

fn call(name: &str, id: &str) -> [Value; 2] {
    let function = json!({"name": name, "arguments": "{\"which\": \"all\"}"});
    let calls = json!([{"id": id, "type": "function", "function": function}]);
    [
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "tool", "tool_call_id": id, "content": "done, and the wind blows from the west"}),
    ]
}

fn talk(turns: usize) -> Vec<Value> {
    (0..turns)
        .flat_map(|at| {
            let words =
                format!("Note number {at}: the boats came in late, with nets and crates of fish.");
            [said("user", &words), said("assistant", "Noted.")]
        })
        .collect()
}

fn request(messages: &[Value]) -> String {
    let tools: Vec<Value> = WORK.into_iter().map(tool).collect();
    json!({"tools": tools, "messages": messages}).to_string()
}

fn engine(max_tokens: i64, mode: ToolMode) -> Engine {
    builder(max_tokens, mode).build().unwrap()
}

fn builder(max_tokens: i64, mode: ToolMode) -> EngineBuilder {
    Engine::builder().tokenizer("cl100k_base").max_tokens(max_tokens).tools(mode)
}

fn names(text: &str) -> Vec<String> {
    let request: Value = serde_json::from_str(text).unwrap();
    let tools = request["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

fn left_out(selection: &Selection) -> Vec<&str> {
    let tools = selection.tools.iter().filter(|tool| tool.fate == ToolFate::LeftOut);
    tools.map(|tool| tool.name.as_str()).collect()
}

#[test]
fn what_fits_goes_out_byte_for_byte_whatever_tools_may_become() {
    let text = request(&[said("user", "When is high water?")]);
    for mode in ToolMode::ALL {
        let selection = engine(20_000, mode).select(text.as_str()).unwrap();
        assert_eq!((selection.text.as_str(), selection.tools.len()), (text.as_str(), 0), "{mode}");
    }
}

#[test]
fn tools_are_no_shorter_than_what_lets_everything_in() {
    let mut messages = talk(10);
    messages.push(said("user", "When is high water?"));
    let text = request(&messages);
    let all = engine(100_000, ToolMode::Keep).select(text.as_str()).unwrap().summary.tokens_after;
    let mut steps: Vec<String> = Vec::new();
    for max in (1..).map(|at| all - 5 * at) {
        let selection = engine(max, ToolMode::Shorten).select(text.as_str()).unwrap();
        assert_eq!(selection.summary.tokens_before, all, "what the caller's request costs");
        assert!(selection.summary.tokens_after <= max);
        if selection.summary.messages_after < selection.summary.messages_before {
            break;
        }
        steps.extend(selection.tools[0].step.clone());
    }
    steps.dedup();
    // By OpenAI's rule titles cost nothing, so that `examples` frees nothing here.
    assert_eq!(steps, ["sentences", "schema", "defaults", "bare"]);
}

#[test]
fn a_request_whose_tools_alone_are_too_many_is_made_to_fit() {
    let text = request(&[said("user", "When is high water?")]);
    let kept = engine(200, ToolMode::Keep).select(text.as_str()).unwrap_err();
    assert_eq!(kept.code(), ErrorCode::DoesNotFit);
    let short = engine(200, ToolMode::Shorten).select(text.as_str()).unwrap_err();
    assert_eq!(short.code(), ErrorCode::DoesNotFit, "no definition may go");
    let chosen = engine(200, ToolMode::Choose).select(text.as_str()).unwrap();
    assert!(chosen.summary.tokens_after <= 200, "{:?}", chosen.summary);
    assert!(names(&chosen.text).contains(&"get_tides".to_owned()), "{:?}", chosen.tools);
    assert_eq!(chosen.tools.len(), WORK.len(), "every one is told of");
    assert!(chosen.summary.tokens_after > 150, "no room is left unused");
    // One is always there: no provider takes an empty list.
    let list = engine(75, ToolMode::Choose).tools(text.as_str(), &Options::new()).unwrap();
    let room = list.shared_tokens + list.tools[0].short_tokens + 20;
    let one = engine(room, ToolMode::Choose).select(text.as_str()).unwrap();
    assert_eq!(names(&one.text), ["get_tides"]);
}

#[test]
fn what_was_called_named_or_forced_is_never_left_out() {
    let mut messages = vec![said("system", "Use feed_cat at noon.")];
    messages.extend(call("count_sheep", "c1"));
    messages.extend(talk(3));
    messages.push(said("user", "Please play_music, then say when the boat can have its place."));
    let mut request: Value = serde_json::from_str(&request(&messages)).unwrap();
    request["tool_choice"] = json!({"type": "function", "function": {"name": "order_soup"}});
    let engine =
        builder(330, ToolMode::Choose).rules([Rule::new("never paint_wall at night").unwrap()]);
    let selection = engine.build().unwrap().select(request.to_string()).unwrap();
    let kept = names(&selection.text);
    for needed in ["feed_cat", "count_sheep", "play_music", "order_soup", "paint_wall"] {
        assert!(kept.iter().any(|name| name == needed), "{needed}: {:?}", selection.tools);
    }
    assert!(left_out(&selection).contains(&"water_plants"), "{:?}", selection.tools);
    let why =
        |name: &str| selection.tools.iter().find(|tool| tool.name == name).unwrap().why.clone();
    assert_eq!(why("count_sheep"), "it was called");
    assert_eq!(why("paint_wall"), "a standing rule names it");
}

#[test]
fn a_window_with_other_tools_is_valid_in_every_format_and_its_messages_are_untouched() {
    for (format, whole) in requests() {
        let engine = Engine::builder().tokenizer("cl100k_base").format(format);
        let engine = engine.tools(ToolMode::Choose).build().unwrap();
        let list = engine.tools(whole.to_string(), &Options::new()).unwrap();
        // Room for the question and one short tool.
        let room = list.shared_tokens + list.tools[0].short_tokens + 25;
        let options = Options::new().max_tokens(room);
        let selection = engine.select_with(whole.to_string(), &options).unwrap();
        assert_eq!(left_out(&selection).len(), 1, "{format}: {:?}", selection.tools);
        let again = Request::parse(selection.text.as_str(), Some(format)).unwrap();
        assert!(again.validate().is_empty(), "{format}: {}", selection.text);
        let mut window: Value = serde_json::from_str(&selection.text).unwrap();
        let mut whole = whole;
        for request in [&mut window, &mut whole] {
            for list in ["tools", "toolConfig"] {
                request.as_object_mut().unwrap().remove(list);
            }
        }
        assert_eq!(window, whole, "{format}");
    }
}

#[test]
fn a_policy_may_say_what_becomes_of_tools_and_a_call_may_say_otherwise() {
    let text = request(&[said("user", "When is high water?")]);
    let policy = "scorers = [\"recency\"]\ntools = \"choose\"";
    let engine =
        Engine::builder().tokenizer("cl100k_base").max_tokens(200).policy_text("mine", policy);
    let engine = engine.build().unwrap();
    assert!(!engine.select(text.as_str()).unwrap().tools.is_empty());
    let keep = Options::new().tools(ToolMode::Keep);
    let error = engine.select_with(text.as_str(), &keep).unwrap_err();
    assert_eq!(error.code(), ErrorCode::DoesNotFit);
}

#[test]
fn an_explanation_tells_of_every_tool() {
    let text = request(&[said("user", "When is high water?")]);
    let tools = |mode| engine(110, mode).explain(text.as_str(), &Options::new());
    let chosen = tools(ToolMode::Choose).unwrap().tools;
    assert_eq!(chosen.len(), WORK.len());
    assert_eq!(chosen[0].why, "it is near the question");
    assert!(chosen[0].tokens_after < chosen[0].tokens_before);
    let whole = engine(9_000, ToolMode::Choose).explain(text.as_str(), &Options::new()).unwrap();
    assert!(whole.tools.iter().all(|tool| tool.fate == ToolFate::Whole), "{:?}", whole.tools);
}

fn next(session: &mut Session, messages: &[Value]) -> Step {
    let step = session.next(request(messages)).unwrap();
    assert!(session.accept());
    step
}

/// A session whose tools take too much: the step, and the messages so far.
fn session_with_chosen_tools() -> (Session, Vec<Value>) {
    let mut session = engine(420, ToolMode::Choose).session();
    let mut messages = talk(3);
    messages.push(said("user", "When is high water?"));
    let first = next(&mut session, &messages);
    assert!(!first.tools.is_empty());
    assert!(!names(&first.text).contains(&"feed_cat".to_owned()), "{:?}", first.tools);
    messages.extend(call("get_tides", "c1"));
    (session, messages)
}

#[test]
fn a_session_sends_the_same_tools_step_after_step() {
    let (mut session, mut messages) = session_with_chosen_tools();
    let tools = |text: &str| serde_json::from_str::<Value>(text).unwrap()["tools"].to_string();
    let first = next(&mut session, &messages);
    assert_eq!(first.session.new_account, None, "the choice was made with the first step");
    for at in 0..4 {
        messages.extend(call("get_tides", &format!("d{at}")));
        let step = next(&mut session, &messages);
        assert_eq!(tools(&step.text), tools(&first.text));
        assert_eq!(step.session.new_account, None);
    }
}

#[test]
fn a_tool_that_is_needed_later_is_added_at_the_end_and_the_account_says_so() {
    let (mut session, mut messages) = session_with_chosen_tools();
    let before = names(&next(&mut session, &messages).text);
    messages.push(said("user", "Now feed_cat, please."));
    let step = next(&mut session, &messages);
    assert_eq!(step.session.new_account, Some(NewAccount::ToolsChanged));
    assert_eq!(step.session.cached_tokens, 0, "all stands behind the tools");
    let after = names(&step.text);
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.last().map(String::as_str), Some("feed_cat"));
    // It stays, as it stood, when nobody speaks of it any more; also for a session that was written down.
    let state = SessionState::from_json(&session.state().unwrap().to_json()).unwrap();
    let mut again = session.engine().resume(state);
    messages.extend(call("feed_cat", "c9"));
    let later = next(&mut again, &messages);
    assert_eq!((names(&later.text), later.session.new_account), (after, None));
}

#[test]
fn tools_of_a_session_go_out_whole_again_when_all_fits() {
    let (mut session, messages) = session_with_chosen_tools();
    let text = request(&messages);
    let options = Options::new().max_tokens(20_000);
    let step = session.next_with(text.as_str(), &options, None).unwrap();
    assert_eq!((step.text, step.tools.len()), (text, 0));
    assert_eq!(step.session.new_account, Some(NewAccount::ToolsChanged));
}

#[test]
fn the_choice_is_made_anew_when_the_cache_is_cold() {
    let (mut session, mut messages) = session_with_chosen_tools();
    let at = |session: &mut Session, messages: &[Value], now: u64| {
        let step = session.next_with(request(messages), &Options::new(), Some(now)).unwrap();
        assert!(session.accept());
        step
    };
    at(&mut session, &messages, 1_000);
    messages.push(said("user", "Please count_sheep."));
    let grown = at(&mut session, &messages, 1_010);
    assert_eq!(names(&grown.text).last().map(String::as_str), Some("count_sheep"));
    messages.push(said("assistant", "There are nine."));
    messages.push(said("user", "And then feed_cat."));
    let anew = at(&mut session, &messages, 90_000);
    let places: Vec<_> = WORK.iter().map(|(name, _)| *name).collect();
    let place = |name: &String| places.iter().position(|place| place == name);
    assert!(names(&anew.text).iter().map(place).is_sorted(), "in the order of the request");
}

#[test]
fn formats_that_have_no_tools_are_as_they_were() {
    let text = json!(talk(20)).to_string();
    let window = |mode| engine(100, mode).select(text.as_str()).unwrap().text;
    assert_eq!(window(ToolMode::Choose), window(ToolMode::Keep));
    let format = Some(Format::OpenAiChat);
    assert_eq!(Request::parse(text.as_str(), format).unwrap().tools(&[]).len(), 0);
}
