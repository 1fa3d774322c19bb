//! Shorter forms: valid at every budget, and nothing else is touched.

use std::collections::BTreeSet;

use cupel::{
    ChronologicalPlacer, ContextBudget, CupelError, Draft, Original, Pipeline, RecencyScorer,
    Renderer, ShorteningSlice,
};
use cupel_chat::{
    CandidateOptions, Candidates, Format, OwnRendering, Request, Shortening, Target, Unused,
};
use cupel_renderings::{Shorten, Shortened, handle};
use serde_json::Value;

use crate::pipelines::Quarters;
use crate::sound::{EXAMPLES, example};
use crate::{checker, generate};

/// Cuts whatever it is given, however short.
struct Halves;

impl Renderer for Halves {
    fn render(&self, original: &Original<'_>) -> Vec<Draft> {
        let middle = (0..=original.text.len() / 2).rev();
        let middle = middle.clone().find(|at| original.text.is_char_boundary(*at)).unwrap_or(0);
        let half = &original.text[..middle];
        let stub = Draft::new("stub", "…", 0.02);
        match half {
            "" => vec![stub],
            half => vec![Draft::new("half", half, 0.6), stub],
        }
    }
}

fn pipeline() -> Pipeline {
    let builder = Pipeline::builder().scorer(RecencyScorer).slicer(ShorteningSlice);
    builder.placer(ChronologicalPlacer).deduplication(false).build().unwrap()
}

fn shortened(text: &str, format: Format, renderer: &dyn Renderer) -> Candidates {
    let request = Request::parse(text, Some(format)).unwrap();
    let mut candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
    let renderers = [renderer];
    let shortening = Shortening { renderers: &renderers, own: &[], only_pinned: false };
    assert!(candidates.shorten(&shortening, &Quarters).is_empty());
    candidates
}

/// A message without what its tools answered: what no shortening may touch.
fn without_results(format: Format, message: &str) -> Value {
    let mut message: Value = serde_json::from_str(message).unwrap();
    let is_result = |value: &Value| match format {
        Format::OpenAiChat | Format::Ollama | Format::Cohere => {
            value["role"] == "tool" || value["role"] == "function"
        }
        Format::LangChain => {
            let written = value.to_string();
            ["\"tool\"", "ToolMessage", "\"function\"", "FunctionMessage"]
                .iter()
                .any(|name| written.contains(name))
        }
        _ => true,
    };
    if !is_result(&message) {
        return message;
    }
    match format {
        Format::OpenAiChat | Format::Ollama | Format::Cohere => blank(&mut message, "/content"),
        Format::AiSdk | Format::Bedrock => {
            for at in 0..message["content"].as_array().map_or(0, Vec::len) {
                blank(&mut message, &format!("/content/{at}/output/value"));
                blank(&mut message, &format!("/content/{at}/toolResult/content"));
            }
        }
        Format::OpenAiResponses => blank(&mut message, "/output"),
        Format::LangChain => {
            for path in ["/content", "/data/content", "/kwargs/content"] {
                blank(&mut message, path);
            }
        }
        Format::Anthropic => {
            for at in 0..message["content"].as_array().map_or(0, Vec::len) {
                if message["content"][at]["type"] == "tool_result" {
                    blank(&mut message, &format!("/content/{at}/content"));
                }
            }
        }
        Format::Gemini => {
            for at in 0..message["parts"].as_array().map_or(0, Vec::len) {
                for name in ["functionResponse", "function_response"] {
                    blank(&mut message, &format!("/parts/{at}/{name}/response"));
                }
            }
        }
        _ => {}
    }
    message
}

/// Texts become nothing; what is no text, as an image, must stay.
fn blank(message: &mut Value, path: &str) {
    match message.pointer_mut(path) {
        Some(Value::Array(blocks)) => {
            for block in blocks {
                for path in ["/text", "/json", "/stdout", "/stderr", "/document/data"] {
                    blank(block, path);
                }
            }
        }
        Some(value @ Value::Object(_)) => *value = Value::Object(serde_json::Map::new()),
        Some(value) => *value = Value::Null,
        None => {}
    }
}

/// Tries budgets, and says how many windows had something shorter.
fn try_budgets(text: &str, candidates: &Candidates, budgets: impl Iterator<Item = i64>) -> usize {
    let format = candidates.request().format();
    let pipeline = pipeline().with_needs(candidates.needs());
    let ranking = pipeline.rank(candidates.items()).unwrap();
    let before = checker::messages(format, text).unwrap();
    let mut tried = BTreeSet::new();
    for budget in budgets {
        let limits = ContextBudget::builder(budget).build().unwrap();
        let window = match ranking.window(&limits) {
            Ok(window) => window,
            Err(CupelError::PinnedExceedsBudget { .. }) => continue,
            Err(error) => panic!("{budget}: {error}"),
        };
        let kept: Vec<(usize, Option<usize>)> =
            window.iter().map(|placed| (placed.position, placed.rendering)).collect();
        let output = candidates.render_forms(&kept);
        if !tried.insert(kept.clone()) {
            continue;
        }
        let context = || format!("{budget}: kept {kept:?} of\n{text}\ngave\n{output}");
        assert_eq!(checker::problems(format, &output), [""; 0], "{}", context());

        let positions: Vec<usize> = kept.iter().map(|(at, _)| *at).collect();
        let order = candidates.kept_messages(&positions);
        let rewritten = candidates.rewritten(&kept);
        let after = checker::messages(format, &output).unwrap();
        assert_eq!(after.len(), order.len(), "{}", context());
        for (index, now) in order.iter().zip(&after) {
            match rewritten.iter().find(|(at, _)| at == index) {
                None => assert_eq!(*now, before[*index], "{}", context()),
                Some((_, json)) => {
                    assert_eq!(now, json, "{}", context());
                    let kept = without_results(format, now);
                    assert_eq!(kept, without_results(format, before[*index]), "{}", context());
                }
            }
        }
        assert_eq!(
            checker::surroundings(format, &output),
            checker::surroundings(format, text),
            "{}",
            context()
        );
        let again = Request::parse(output.as_str(), Some(format)).unwrap();
        assert_eq!(again.validate(), [], "{}", context());
        let counted = again.candidates(&Quarters, &CandidateOptions::default()).unwrap();
        assert!(counted.total_tokens() <= budget, "{}", context());
    }
    tried.iter().filter(|kept| kept.iter().any(|(_, form)| form.is_some())).count()
}

#[test]
fn every_format_stays_valid_at_every_budget() {
    for format in Format::ALL.into_iter().filter(|format| has_results(*format)) {
        let mut shorter = 0;
        for seed in 0..60 {
            let text = generate::request(format, seed);
            let candidates = shortened(&text, format, &Halves);
            let all = candidates.total_tokens() + 1;
            shorter += try_budgets(&text, &candidates, 0..=all);
        }
        assert!(shorter > 50, "{format}: only {shorter} windows had something shorter");
    }
}

#[test]
fn examples_stay_valid_with_the_renderers_of_the_box() {
    for (name, format) in EXAMPLES {
        let text = example(name);
        let candidates = shortened(&text, format, &Shortened::new(Shorten::All));
        let all = candidates.total_tokens();
        try_budgets(&text, &candidates, (0..all).step_by(13).chain([all]));
    }
}

#[test]
fn what_fits_whole_is_the_callers_text() {
    for format in Format::ALL.into_iter().filter(|format| !format.has_free_order()) {
        for seed in 0..40 {
            let text = generate::request(format, seed);
            let candidates = shortened(&text, format, &Halves);
            let all: Vec<(usize, Option<usize>)> =
                (0..candidates.items().len()).map(|at| (at, None)).collect();
            assert_eq!(candidates.render_forms(&all), text);
            assert!(candidates.rewritten(&all).is_empty());
        }
    }
}

/// Returns true if a format has results that may be shortened; those of UI messages are parts of what the assistant says.
fn has_results(format: Format) -> bool {
    !format.has_free_order() && format != Format::AiSdkUi
}

/// A request of each format with one call and its result, which is this JSON text.
fn with_result(format: Format, result: &str) -> String {
    let as_text = Value::from(result).to_string();
    match format {
        Format::OpenAiChat => format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"get","arguments":"{{\"id\":\"x-1\"}}"}}}}]}},
            {{"role":"tool","tool_call_id":"c1","content":{as_text}}},
            {{"role":"user","content":"and?"}}]}}"#
        ),
        Format::OpenAiResponses => format!(
            r#"{{"input":[{{"role":"user","content":"go"}},
            {{"type":"reasoning","id":"r1","summary":[],"encrypted_content":"zz"}},
            {{"type":"function_call","call_id":"c1","name":"get","arguments":"{{}}"}},
            {{"type":"function_call_output","call_id":"c1","output":{as_text}}},
            {{"role":"user","content":"and?"}}]}}"#
        ),
        Format::Anthropic => format!(
            r#"{{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"sig"}},{{"type":"tool_use","id":"c1","name":"get","input":{{"id":"x-1"}}}}]}},
            {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c1","is_error":false,"content":[{{"type":"text","text":{as_text}}}]}}]}},
            {{"role":"assistant","content":"ok"}},{{"role":"user","content":"and?"}}]}}"#
        ),
        Format::Gemini => format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},
            {{"role":"model","parts":[{{"functionCall":{{"name":"get","args":{{}}}},"thoughtSignature":"sig"}}]}},
            {{"role":"user","parts":[{{"functionResponse":{{"name":"get","response":{result}}}}}]}},
            {{"role":"model","parts":[{{"text":"ok"}}]}},{{"role":"user","parts":[{{"text":"and?"}}]}}]}}"#
        ),
        Format::LangChain => format!(
            r#"[{{"type":"human","data":{{"content":"go"}}}},
            {{"type":"ai","data":{{"content":"","tool_calls":[{{"name":"get","args":{{}},"id":"c1"}}]}}}},
            {{"type":"tool","data":{{"content":{as_text},"tool_call_id":"c1"}}}},
            {{"type":"human","data":{{"content":"and?"}}}}]"#
        ),
        Format::Ollama => format!(
            r#"{{"messages":[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":"","tool_calls":[{{"function":{{"name":"get","arguments":{{"id":"x-1"}}}}}}]}},
            {{"role":"tool","tool_name":"get","content":{as_text}}},
            {{"role":"user","content":"and?"}}]}}"#
        ),
        Format::Cohere => with_result(Format::OpenAiChat, result),
        Format::AiSdk => format!(
            r#"[{{"role":"user","content":"go"}},
            {{"role":"assistant","content":[{{"type":"tool-call","toolCallId":"c1","toolName":"get","input":{{}}}}]}},
            {{"role":"tool","content":[{{"type":"tool-result","toolCallId":"c1","toolName":"get","output":{{"type":"json","value":{result}}}}}]}},
            {{"role":"assistant","content":"ok"}},{{"role":"user","content":"and?"}}]"#
        ),
        Format::Bedrock => format!(
            r#"[{{"role":"user","content":[{{"text":"go"}}]}},
            {{"role":"assistant","content":[{{"toolUse":{{"toolUseId":"c1","name":"get","input":{{}}}}}}]}},
            {{"role":"user","content":[{{"toolResult":{{"toolUseId":"c1","content":[{{"json":{result}}}]}}}}]}},
            {{"role":"assistant","content":[{{"text":"ok"}}]}},{{"role":"user","content":[{{"text":"and?"}}]}}]"#
        ),
        other => panic!("{other} has no tools"),
    }
}

/// Forty orders with ids, as tools write them.
fn orders() -> String {
    let order = |at: usize| {
        format!(
            r#"{{ "order_id": "W{:07}", "status": "delivered", "note": "left at the door, as usual", "paid": true }}"#,
            at * 77_123
        )
    };
    format!(r#"{{ "orders": [{}] }}"#, (0..40).map(order).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_json_result_keeps_its_ids_in_every_format() {
    for format in Format::ALL.into_iter().filter(|format| has_results(*format)) {
        let text = with_result(format, &orders());
        let candidates = shortened(&text, format, &Shortened::new(Shorten::Json));
        let with_forms = candidates.items().iter().position(|item| !item.renderings().is_empty());
        let at = with_forms.unwrap_or_else(|| panic!("{format}: nothing to shorten"));
        let item = &candidates.items()[at];
        let names: Vec<&str> = item.renderings().iter().map(cupel::Rendering::name).collect();
        assert!(names.contains(&"json 35 %") && names.contains(&"stub"), "{format}: {names:?}");
        for (form, rendering) in item.renderings().iter().enumerate() {
            let kept: Vec<(usize, Option<usize>)> = (0..candidates.items().len())
                .map(|other| (other, (other == at).then_some(form)))
                .collect();
            let output = candidates.render_forms(&kept);
            assert_eq!(checker::problems(format, &output), [""; 0], "{format}: {output}");
            let edit = candidates.edits(&kept)[0];
            assert_eq!(edit.tool, "get");
            assert_eq!(edit.handle, handle(&candidates.request().shortenable()[0].text));
            assert_eq!(candidates.request().original(&edit.handle).unwrap().len(), orders().len());
            // What the item says it costs is what the request costs.
            let again = Request::parse(output.as_str(), Some(format)).unwrap();
            let counted = again.candidates(&Quarters, &CandidateOptions::default()).unwrap();
            let others = candidates.total_tokens() - item.tokens();
            assert_eq!(counted.total_tokens(), others + rendering.tokens(), "{format}: {output}");
            if rendering.name() == "json 35 %" {
                assert!(output.contains("W0077123"), "{format}: {output}");
            }
        }
    }
}

#[test]
fn the_callers_own_words_are_taken_for_what_they_were_made_of() {
    let text = with_result(Format::OpenAiChat, &orders());
    let request = Request::parse(text.as_str(), None).unwrap();
    let own = |target: Target, hash: &str, content: &str| OwnRendering {
        target,
        hash: Some(hash.to_owned()),
        name: "summary".to_owned(),
        content: content.to_owned(),
        tokens: None,
        share: Some(0.8),
    };
    let right = handle(&orders());
    let given = [
        own(Target::Call("c1".into()), &right, "Forty orders, all delivered."),
        own(Target::Call("c1".into()), "cupel:0000000000000000", "Something else."),
        own(Target::Call("c9".into()), &right, "Nobody called."),
        own(Target::Message(2), &right, &"much longer ".repeat(1_000)),
        own(Target::Message(0), &handle("go"), "The user wants something."),
    ];
    let mut candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
    let shortening = Shortening { renderers: &[], own: &given, only_pinned: false };
    let unused = candidates.shorten(&shortening, &Quarters);
    assert_eq!(
        unused,
        [
            (1, Unused::Changed),
            (2, Unused::NoTarget),
            (3, Unused::NotShorter),
            (4, Unused::NoTarget),
        ]
    );
    let item = candidates.items().iter().find(|item| !item.renderings().is_empty()).unwrap();
    assert_eq!(item.renderings().len(), 1);
    assert!(item.renderings()[0].content().contains("Forty orders"));
}

#[test]
fn half_a_surrogate_pair_is_left_alone() {
    let text = with_result(Format::OpenAiChat, "x").replace("\"x\"", r#""cut \ud83d here""#);
    let candidates = shortened(&text, Format::OpenAiChat, &Halves);
    assert!(candidates.items().iter().all(|item| item.renderings().is_empty()));
}

#[test]
fn items_bring_their_own_forms() {
    let text = r#"[{"content": "a long report", "tokens": 100, "renderings": [{"name": "summary", "content": "short", "tokens": 5}]},
        {"content": "note", "tokens": 10}]"#;
    let request = Request::parse(text, Some(Format::Items)).unwrap();
    let candidates = request.candidates(&Quarters, &CandidateOptions::default()).unwrap();
    let output = candidates.render_forms(&[(0, Some(0)), (1, None)]);
    assert!(output.starts_with(r#"[{"content": "short", "tokens": 5, "renderings""#), "{output}");
    assert_eq!(candidates.render_forms(&[(0, None), (1, None)]), text);
}

/// Says of every text that it was left out.
struct LeftOut;

impl Renderer for LeftOut {
    fn render(&self, _: &Original<'_>) -> Vec<Draft> {
        vec![Draft::new("stub", "…", 0.02)]
    }
}

#[test]
fn results_are_shortened_in_every_shape_that_their_format_has() {
    let long = "one two three four five six seven eight nine ten";
    let call = |format| match format {
        Format::Bedrock => {
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"c","name":"f","input":{}}}]}"#
        }
        Format::AiSdk => {
            r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{}}]}"#
        }
        Format::OpenAiResponses => {
            r#"{"type":"shell_call","call_id":"c","action":{"commands":["ls"]}}"#
        }
        _ => {
            r#"{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}"#
        }
    };
    let result = |format, body: &str| match format {
        Format::Bedrock => {
            format!(
                r#"{{"role":"user","content":[{{"toolResult":{{"toolUseId":"c","content":{body}}}}}]}}"#
            )
        }
        Format::AiSdk => format!(
            r#"{{"role":"tool","content":[{{"type":"tool-result","toolCallId":"c","toolName":"f","output":{body}}}]}}"#
        ),
        Format::OpenAiResponses => {
            format!(r#"{{"type":"shell_call_output","call_id":"c","output":{body}}}"#)
        }
        _ => format!(r#"{{"role":"tool","tool_call_id":"c","content":{body}}}"#),
    };
    let cases = [
        (Format::Cohere, r#"[{"type":"document","document":{"id":"d","data":"LONG"}}]"#, 1),
        (Format::Cohere, r#"[{"type":"document","document":{"data":{"output":"LONG"}}}]"#, 1),
        (
            Format::Cohere,
            r#"[{"type":"document","document":{"data":OBJECT}},{"type":"text","text":"LONG"}]"#,
            2,
        ),
        (Format::Bedrock, r#"[{"text":"LONG"},{"json":OBJECT}]"#, 2),
        (
            Format::AiSdk,
            r#"{"type":"content","value":[{"type":"text","text":"LONG"},{"type":"text","text":"LONG"}]}"#,
            2,
        ),
        (Format::AiSdk, r#"{"type":"json","value":OBJECT}"#, 1),
        (
            Format::OpenAiResponses,
            r#"[{"stdout":"LONG","stderr":"LONG","outcome":{"type":"exit","exit_code":0}}]"#,
            2,
        ),
    ];
    for (format, body, count) in cases {
        let with = |text: &str, object: &str| {
            let body = body.replace("LONG", text).replace("OBJECT", object);
            format!(
                r#"{{"messages":[{{"role":"user","content":[{{"text":"go","type":"text"}}]}},{},{}]}}"#,
                call(format),
                result(format, &body)
            )
        };
        let list = |text: String| match format {
            Format::OpenAiResponses => text.replacen("messages", "input", 1),
            Format::Bedrock => text.replace(r#","type":"text""#, ""),
            _ => text,
        };
        let text = list(with(long, &format!(r#"{{"a":"{long}","b":2}}"#)));
        let candidates = shortened(&text, format, &LeftOut);
        let request = Request::parse(&*text, Some(format)).unwrap();
        assert_eq!(request.shortenable().len(), count, "{text}");
        let kept: Vec<(usize, Option<usize>)> = candidates
            .items()
            .iter()
            .enumerate()
            .map(|(at, item)| (at, (!item.renderings().is_empty()).then_some(0)))
            .collect();
        assert_eq!(candidates.render_forms(&kept), list(with("…", r#"{"result":"…"}"#)), "{text}");
    }
}
